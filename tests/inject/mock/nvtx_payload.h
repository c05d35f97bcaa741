/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client of NVTX's payload extension where NVIDIA's headers are not: its interface as far
 * as mock/extended.c uses it, which is compiled with those headers, too, where they are. The
 * slots of its functions are 0 until the injected library has filled them.
 */
#ifndef TESTS_INJECT_MOCK_NVTX_PAYLOAD_H
#define TESTS_INJECT_MOCK_NVTX_PAYLOAD_H

#include "nvtx.h"

typedef void *nvtxDomainHandle_t;
typedef void *nvtxStringHandle_t;
typedef uint64_t nvtxRangeId_t;

#define NVTX_PAYLOAD_TYPE_EXT ((int32_t)0xDFBD0009)
#define NVTX_MESSAGE_TYPE_ASCII 1
#define NVTX_VERSION 3

typedef struct {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType;
	int32_t reserved0;
	union {
		uint64_t ullValue;
	} payload;
	int32_t messageType;
	union {
		const char *ascii;
	} message;
} nvtxEventAttributes_t;

typedef struct {
	uint64_t schemaId;
	size_t size;
	const void *payload;
} nvtxPayloadData_t;

typedef struct {
	uint64_t flags;
	uint64_t type;
	const char *name;
	const char *description;
	uint64_t arrayOrUnionDetail;
	uint64_t offset;
	const void *semantics;
	const void *reserved;
} nvtxPayloadSchemaEntry_t;

typedef struct {
	uint64_t fieldMask;
	const char *name;
	uint64_t type;
	uint64_t flags;
	const nvtxPayloadSchemaEntry_t *entries;
	size_t numEntries;
	size_t payloadStaticSize;
	size_t packAlign;
	uint64_t schemaId;
	void *extension;
} nvtxPayloadSchemaAttr_t;

typedef struct {
	const char *name;
	uint64_t value;
	int8_t isFlag;
} nvtxPayloadEnum_t;

typedef struct {
	uint64_t fieldMask;
	const char *name;
	const nvtxPayloadEnum_t *entries;
	size_t numEntries;
	size_t sizeOfEnum;
	uint64_t schemaId;
	void *extension;
} nvtxPayloadEnumAttr_t;

static struct {
	uint64_t (*schema)(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t *);
	uint64_t (*enumeration)(nvtxDomainHandle_t, const nvtxPayloadEnumAttr_t *);
	void (*mark)(nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t);
	int (*push)(nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t);
	int (*pop)(nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t);
	uint64_t (*start)(nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t);
	void (*end)(nvtxDomainHandle_t, uint64_t, const nvtxPayloadData_t *, size_t);
	uint8_t (*is_enabled)(nvtxDomainHandle_t);
	void (*more[55])(void);
} nvtx_slots;

struct nvtx_module {
	uint16_t version;
	uint16_t size;
	uint16_t module;
	uint16_t compatible;
	size_t segments;
	const struct {
		size_t id;
		size_t slots;
		void *slot;
	} * segment;
	void *get;
	const void *info;
};

/* As the headers do within the first call of either kind. */
static void nvtx_load_all(void)
{
	static const __typeof__(*((struct nvtx_module *)0)->segment) segment = {0, 63, &nvtx_slots};
	static const struct nvtx_module module = {3, sizeof(module), 2, 0x0104, 1, &segment, NULL, NULL};
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*init)(const struct nvtx_module *) = NULL;

	nvtx_load();
	if (library)
		*(void **)&init = dlsym(library, "InitializeInjectionNvtxExtension");
	if (init && !init(&module))
		memset(&nvtx_slots, 0, sizeof(nvtx_slots));
}

#define SLOT(name, ...) (nvtx_slots.name ? nvtx_slots.name(__VA_ARGS__) : 0)
#define SLOT_DO(name, ...)                            \
	do {                                          \
		if (nvtx_slots.name)                  \
			nvtx_slots.name(__VA_ARGS__); \
	} while (0)

#define nvtxInitialize(reserved) nvtx_load_all()
#define nvtxDomainCreateA(name) NVTX(domain_create, name)
#define nvtxDomainRegisterStringA(domain, text) NVTX(domain_register, domain, text)
#define nvtxRangePushA(name) NVTX(push_a, name)
#define nvtxRangePop() NVTX(pop)
#define nvtxDomainRangePushEx(domain, a) NVTX(domain_push, domain, (const struct nvtx_attributes *)(a))
#define nvtxDomainMarkEx(domain, a) NVTX_DO(domain_mark, domain, (const struct nvtx_attributes *)(a))
#define nvtxDomainRangePop(domain) NVTX(domain_pop, domain)
#define nvtxPayloadSchemaRegister(domain, a) SLOT(schema, domain, a)
#define nvtxPayloadEnumRegister(domain, a) SLOT(enumeration, domain, a)
#define nvtxMarkPayload(domain, p, n) SLOT_DO(mark, domain, p, n)
#define nvtxRangePushPayload(domain, p, n) SLOT(push, domain, p, n)
#define nvtxRangePopPayload(domain, p, n) SLOT(pop, domain, p, n)
#define nvtxRangeStartPayload(domain, p, n) SLOT(start, domain, p, n)
#define nvtxRangeEndPayload(domain, id, p, n) SLOT_DO(end, domain, id, p, n)
#define nvtxDomainIsEnabled(domain) SLOT(is_enabled, domain)

#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME (1 << 1)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE (1 << 2)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES (1 << 4)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES (1 << 5)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE (1 << 6)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT (1 << 7)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID (1 << 8)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME (1 << 1)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES (1 << 2)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES (1 << 3)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE (1 << 4)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID (1 << 5)
#define NVTX_PAYLOAD_SCHEMA_TYPE_STATIC 1
#define NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC 2
#define NVTX_PAYLOAD_SCHEMA_TYPE_UNION 3
#define NVTX_PAYLOAD_SCHEMA_ID_STATIC_START (1 << 24)
#define NVTX_PAYLOAD_ENTRY_FLAG_POINTER (1 << 1)
#define NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE (1 << 4)
#define NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED (2 << 4)
#define NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX (3 << 4)
#define NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY (1 << 8)
#define NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE (1 << 10)
#define NVTX_PAYLOAD_ENTRY_TYPE_CHAR 1
#define NVTX_PAYLOAD_ENTRY_TYPE_UCHAR 2
#define NVTX_PAYLOAD_ENTRY_TYPE_SHORT 3
#define NVTX_PAYLOAD_ENTRY_TYPE_INT 5
#define NVTX_PAYLOAD_ENTRY_TYPE_INT8 11
#define NVTX_PAYLOAD_ENTRY_TYPE_UINT32 16
#define NVTX_PAYLOAD_ENTRY_TYPE_INT64 17
#define NVTX_PAYLOAD_ENTRY_TYPE_UINT64 18
#define NVTX_PAYLOAD_ENTRY_TYPE_FLOAT 19
#define NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE 20
#define NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE 21
#define NVTX_PAYLOAD_ENTRY_TYPE_SIZE 22
#define NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY 68
#define NVTX_PAYLOAD_ENTRY_TYPE_CSTRING 75
#define NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE 80
#define NVTX_TYPE_PAYLOAD_SCHEMA_RAW 1023

#endif /* TESTS_INJECT_MOCK_NVTX_PAYLOAD_H */
