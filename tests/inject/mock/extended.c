// SPDX-License-Identifier: GPL-2.0
/*
 * extended SCENE: a program that uses NVTX's payload extension, and writes into the file of
 * RANGES_LOG the lines that tests/inject/records prints of its recording. With
 * NVTX_HEADERS it is compiled with NVIDIA's headers, else with mock/nvtx_payload.h.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef NVTX_HEADERS
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#else
#include "nvtx_payload.h"
#endif
#include "mock.h"

int cudaRuntimeGetVersion(int *version);

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define SCHEMA_FIELDS                                                                \
	(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | \
	 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES)

static FILE *log_file;
static nvtxDomainHandle_t domain;

static int tid(void)
{
	return (int)syscall(SYS_gettid);
}

#define say(...)                                        \
	do {                                            \
		if (log_file)                           \
			fprintf(log_file, __VA_ARGS__); \
	} while (0)

/* A field: "SCHEMA NAME TYPE:BITS:STRING:TEXT END" */
static void field(int index, const char *what)
{
	say("P %d %d %d %s\n", getpid(), tid(), index, what);
}

static void range(const char *name, int depth, const char *chain)
{
	say("R %d %d 1 library %s %d %s 0:- 0 0:0\n", getpid(), tid(), name, depth, chain);
}

static void launch(const char *chain, int n)
{
	mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "_Z6kernelPfS_i");
	say("X %d %d %s %d\n", getpid(), tid(), chain, n);
}

static uint64_t schema_of(const char *name, const nvtxPayloadSchemaEntry_t *e, size_t n, uint64_t mask,
			  size_t size, uint64_t id)
{
	nvtxPayloadSchemaAttr_t a = {.fieldMask = SCHEMA_FIELDS | mask,
				     .name = name,
				     .type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
				     .entries = e,
				     .numEntries = n,
				     .payloadStaticSize = size,
				     .packAlign = 1,
				     .schemaId = id};

	return nvtxPayloadSchemaRegister(domain, &a);
}

static uint64_t operations(void)
{
	static const nvtxPayloadEnum_t values[] = {{"Sum", 0, 0}, {"Max", 2, 0}};
	const nvtxPayloadEnumAttr_t a = {
		.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
		.name = "operation",
		.entries = values,
		.numEntries = N(values),
		.sizeOfEnum = 4,
		.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1};

	return nvtxPayloadEnumRegister(domain, &a);
}

/* -------------------------------------------------- as NCCL: attributes, and a pop with a payload */

struct collective {
	uint64_t communicator;
	size_t bytes;
	int operation;
	int root;
};

static uint64_t collective_schema(void)
{
	static nvtxPayloadSchemaEntry_t e[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "communicator", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "bytes", NULL, 0, offsetof(struct collective, bytes), NULL,
		 NULL},
		{0, 0, "operation", NULL, 0, offsetof(struct collective, operation), NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "root", NULL, 0, offsetof(struct collective, root), NULL,
		 NULL},
	};

	e[2].type = operations();
	return schema_of("collective", e, N(e),
			 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
				 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID,
			 sizeof(struct collective), NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 2);
}

static nvtxEventAttributes_t attributes(const char *name, const nvtxPayloadData_t *p, int n)
{
	nvtxEventAttributes_t a;

	memset(&a, 0, sizeof(a));
	a.version = NVTX_VERSION;
	a.size = sizeof(a);
	a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	a.reserved0 = n;
	a.payload.ullValue = (uint64_t)(uintptr_t)p;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = name;
	return a;
}

static void collectives(void)
{
	const uint64_t schema = collective_schema();
	struct collective c = {.communicator = 0xfeedULL << 40, .bytes = 1048576, .operation = 2, .root = -1};
	const nvtxPayloadData_t p = {schema, sizeof(c), &c};
	nvtxEventAttributes_t a = attributes("AllReduce", &p, 1), mark = attributes("done", &p, 1);

	printf("schema %d\n", schema == NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 2);
	nvtxRangePushA("step");
	for (int i = 0; i < 3; i++) {
		c.operation = i;
		nvtxDomainRangePushEx(domain, &a);
		field(0, "collective communicator 1:feed0000000000:-:71755228340289536 0");
		field(1, "collective bytes 1:100000:-:1048576 0");
		field(2, i == 0	  ? "collective operation 5:0:Sum:Sum 0"
			 : i == 1 ? "collective operation 5:1:-:1 0"
				  : "collective operation 5:2:Max:Max 0");
		field(3, "collective root 2:ffffffffffffffff:-:-1 0");
		launch("/-:step/library:AllReduce", 2);
		c.bytes++;
		printf("depth %d\n", nvtxRangePopPayload(domain, &p, 1));
		field(0, "collective communicator 1:feed0000000000:-:71755228340289536 1");
		field(1, "collective bytes 1:100001:-:1048577 1");
		field(2, i == 0	  ? "collective operation 5:0:Sum:Sum 1"
			 : i == 1 ? "collective operation 5:1:-:1 1"
				  : "collective operation 5:2:Max:Max 1");
		field(3, "collective root 2:ffffffffffffffff:-:-1 1");
		c.bytes--;
		range("AllReduce", 0, "/-:step/library:AllReduce");
		launch("/-:step", 1);
	}
	nvtxDomainMarkEx(domain, &mark);
	field(0, "collective communicator 1:feed0000000000:-:71755228340289536 0");
	field(1, "collective bytes 1:100000:-:1048576 0");
	field(2, "collective operation 5:2:Max:Max 0");
	field(3, "collective root 2:ffffffffffffffff:-:-1 0");
	say("M %d %d library done /-:step\n", getpid(), tid());
	nvtxRangePop();
	say("R %d %d 1 - step 0 /-:step 0:- 0 0:0\n", getpid(), tid());
}

/* ----------------------------------------------------------- the functions with payloads, and all types */

struct all {
	nvtxStringHandle_t message;
	char letter;
	short small;
	signed char tiny;
	float real;
	double exact;
	char text[8];
	unsigned char last;
	nvtxStringHandle_t registered;
	const char *pointed;
	uint32_t category;
};

/* Without offsets: the places are those that the compiler gives them. */
static const nvtxPayloadSchemaEntry_t of_all[] = {
	{NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
	 "message", NULL, 0, 0, NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "letter", NULL, 0, 0, NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_SHORT, "small", NULL, 0, 0, NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_INT8, "tiny", NULL, 0, 0, NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "real", NULL, 0, 0, NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "exact", NULL, 0, 0, NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 8, 0, NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_UCHAR, "last", NULL, 0, 0, NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, NULL, NULL, 0, 0, NULL, NULL},
	{NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY |
		 NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
	 NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "pointed", NULL, 0, 0, NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "category", NULL, 0, 0, NULL, NULL},
};

static void fields_of_all(int end)
{
	static const char *const lines[] = {"all letter 4:0:x:x",
					    "all small 2:fffffffffffffffe:-:-2",
					    "all tiny 2:ffffffffffffff80:-:-128",
					    "all real 3:3ff8000000000000:-:1.5",
					    "all exact 3:400921fb54442d18:-:3.1415926535897931",
					    "all text 4:0:eight:eight",
					    "all last 1:ff:-:255",
					    "all - 4:0:registered:registered",
					    "all pointed 4:0:far%20away:far%20away"};
	char line[128];

	if (end)
		field(0, "all message 4:0:named:named 1");
	for (int i = 0; i < (int)N(lines); i++) {
		snprintf(line, sizeof(line), "%s %d", lines[i], end);
		field(i + end, line);
	}
	if (end)
		field((int)N(lines) + 1, "all category 1:7:-:7 1");
}

static void functions(void)
{
	struct all v = {.message = nvtxDomainRegisterStringA(domain, "named"),
			.registered = nvtxDomainRegisterStringA(domain, "registered"),
			.letter = 'x',
			.small = -2,
			.tiny = -128,
			.real = 1.5F,
			.exact = 3.14159265358979311599796346854,
			.text = "eight",
			.last = 255,
			.pointed = "far away",
			.category = 7};
	uint64_t schema = schema_of("all", of_all, N(of_all), 0, 0, 0), id;
	const nvtxPayloadData_t p = {schema, sizeof(v), &v};
	char more[64];

	printf("schema %d\n", schema >= 1ULL << 32);
	printf("enabled %d\n", nvtxDomainIsEnabled(domain));
	printf("depth %d\n", nvtxRangePushPayload(domain, &p, 1));
	fields_of_all(0);
	printf("depth %d\n", nvtxRangePushPayload(domain, &p, 1));
	fields_of_all(0);
	launch("/library:named/library:named", 2);
	printf("depth %d\n", nvtxRangePopPayload(domain, NULL, 0));
	printf("depth %d\n", nvtxDomainRangePop(domain));
	for (int depth = 1; depth >= 0; depth--) {
		snprintf(more, sizeof(more), "named %d %s", depth,
			 depth ? "/library:named/library:named" : "/library:named");
		say("R %d %d 1 library %s 7:- 0 0:0\n", getpid(), tid(), more);
	}
	printf("depth %d\n", nvtxRangePopPayload(domain, &p, 1));
	nvtxMarkPayload(domain, &p, 1);
	fields_of_all(0);
	say("M %d %d library named -\n", getpid(), tid());
	id = nvtxRangeStartPayload(domain, &p, 1);
	fields_of_all(0);
	nvtxRangeEndPayload(domain, id, &p, 1);
	fields_of_all(1);
	say("R %d %d 2 library named 0 - 7:- 0 0:0\n", getpid(), tid());
}

static void types(void)
{
	const struct __attribute__((packed)) {
		char c;
		uint64_t number;
	} packed = {'c', 1234567890123456789ULL};
	static const nvtxPayloadSchemaEntry_t e[] = {
		{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "c", NULL, 1, 0,
		 NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "number", NULL, 0, 0, NULL, NULL},
	};
	const int64_t alone = -5;
	const nvtxPayloadData_t p[] = {
		{schema_of("packed", e, N(e), NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT, 0, 0), sizeof(packed),
		 &packed},
		{NVTX_PAYLOAD_ENTRY_TYPE_INT64, sizeof(alone), &alone},
		{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX,
		 "a text of its own, which is longer than the shown part of it, by far"},
	};

	nvtxMarkPayload(domain, p, N(p));
	field(0, "packed c 4:0:c:c 0");
	field(1, "packed number 1:112210f47de98115:-:1234567890123456789 0");
	field(2, "- - 2:fffffffffffffffb:-:-5 0");
	field(3,
	      "- - 4:0:a%20text%20of%20its%20own,%20which%20is%20longer%20than%20the%20shown%20part%20of%20it,%20by%20far:"
	      "a%20text%20of%20its%20own,%20which%20is%20longer%20than%20the%20shown%20part%20of%20it,%20b 0");
	say("M %d %d library - -\n", getpid(), tid());
}

/* ----------------------------------------------------- what cannot be read: it is counted, and nothing is
 * guessed */

static unsigned long unread;

static void wrong(uint64_t schema, size_t size, const void *data, unsigned int n)
{
	const nvtxPayloadData_t p = {schema, size, data};

	nvtxMarkPayload(domain, &p, 1);
	say("M %d %d library - -\n", getpid(), tid());
	unread += n;
}

static void hostile(void)
{
	static nvtxPayloadSchemaEntry_t many[64];
	static const nvtxPayloadSchemaEntry_t mixed[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE, "long", NULL, 0, 0, NULL, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT, "array", NULL, 3, 0,
		 NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "behind", NULL, 0, 0, NULL, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_POINTER, NVTX_PAYLOAD_ENTRY_TYPE_INT, "pointer", NULL, 0, 0, NULL,
		 NULL},
		{0, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9, "itself", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "somewhere", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "far", NULL, 0, 1ULL << 60, NULL, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_INT, "varies", NULL, 1,
		 40, NULL, NULL},
		{0, 9999, "unknown", NULL, 0, 40, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "handle", NULL, 0, 48, NULL, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "endless", NULL,
		 1ULL << 60, 56, NULL, NULL},
	};
	static const uint64_t data[8] = {0, 0, 0, 0x700000000000000ULL, 0, 0, 0x7fff12345678ULL, 0};
	nvtxPayloadSchemaAttr_t a = {.fieldMask = SCHEMA_FIELDS,
				     .name = "union",
				     .type = NVTX_PAYLOAD_SCHEMA_TYPE_UNION,
				     .entries = mixed,
				     .numEntries = 2};
	nvtxPayloadData_t p[17];
	uint64_t id;

	for (size_t i = 0; i < N(many); i++)
		many[i] = (nvtxPayloadSchemaEntry_t){.type = NVTX_PAYLOAD_ENTRY_TYPE_UCHAR, .name = "one"};
	/* it is nested in itself, and one that is nested in the other way round */
	id = schema_of("mixed", mixed, N(mixed), NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID, 0,
		       NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9);
	schema_of("mixed", mixed, N(mixed), NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID, 0,
		  NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9);
	field(0, "mixed behind 2:7000000:-:117440512 0");
	wrong(id, 1ULL << 60, data, 10);
	wrong(id, 4, data, 11);
	wrong(id, 0, data, 11);
	wrong(id, 64, NULL, 1);
	wrong(nvtxPayloadSchemaRegister(domain, &a), 64, data, 1);
	wrong(123456789, 64, data, 1);
	wrong(1ULL << 50, 64, data, 1);
	wrong(0, 64, data, 1);
	wrong(NVTX_TYPE_PAYLOAD_SCHEMA_RAW, 1ULL << 60, data, 1);
	wrong(operations(), 4, data, 1);
	printf("none %d\n", (int)nvtxPayloadSchemaRegister(domain, NULL));
	printf("none %d\n", (int)nvtxPayloadEnumRegister(domain, NULL));
	a.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
	a.entries = NULL;
	a.numEntries = SIZE_MAX;
	wrong(nvtxPayloadSchemaRegister(domain, &a), SIZE_MAX, data, 1);
	a.entries = many;
	for (int i = 0; i < 32; i++)
		field(i, i == 31 ? "union one 1:7:-:7 0" : "union one 1:0:-:0 0");
	/* 64 of SIZE_MAX fields are looked at, and 32 of them are kept */
	wrong(nvtxPayloadSchemaRegister(domain, &a), SIZE_MAX, data, 32 + 1);
	nvtxMarkPayload(domain, NULL, 5);
	say("M %d %d library - -\n", getpid(), tid());
	nvtxMarkPayload((nvtxDomainHandle_t)0x7ffff00000, NULL, SIZE_MAX);
	say("M %d %d - - -\n", getpid(), tid());
	for (size_t i = 0; i < N(p); i++)
		p[i] = (nvtxPayloadData_t){NVTX_PAYLOAD_ENTRY_TYPE_UCHAR, 1, data};
	nvtxMarkPayload(domain, p, N(p));
	for (int i = 0; i < 16; i++)
		field(i, "- - 1:0:-:0 0");
	say("M %d %d library - -\n", getpid(), tid());
	unread += 3;
	printf("unread %lu\n", unread);
}

/* More schemas than there is room for, and more texts than payloads may have. */
static void full(void)
{
	static const nvtxPayloadSchemaEntry_t one = {
		0, NVTX_PAYLOAD_ENTRY_TYPE_UCHAR, "one", NULL, 0, 0, NULL, NULL};
	unsigned long given = 0;
	nvtxPayloadData_t p;
	struct timespec rest = {.tv_nsec = 300000000};
	char text[32];

	for (int i = 0; i < 10000; i++)
		given += schema_of("s", &one, 1, 0, 0, 0) != 0;
	printf("schemas %lu\n", given);
	for (int i = 0; i < 200000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		p = (nvtxPayloadData_t){NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, text};
		nvtxMarkPayload(domain, &p, 1);
	}
	/* the writer takes what waits in the ring */
	nanosleep(&rest, NULL);
	nvtxRangePushA("a name of its own 1");
	nvtxRangePop();
}

/* ------------------------------------------------------------------- cost */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/* ns of a push and a pop: the least of many rounds that leave the writer its time. */
static double cost_of(const nvtxEventAttributes_t *a)
{
	struct timespec rest = {.tv_nsec = 3000000};
	uint64_t least = UINT64_MAX, begun, took;

	for (int i = 0; i < 200; i++, nanosleep(&rest, NULL)) {
		begun = now();
		for (int n = 0; n < 100; n++) {
			nvtxDomainRangePushEx(domain, a);
			nvtxDomainRangePop(domain);
		}
		took = now() - begun;
		least = took < least ? took : least;
	}
	return (double)least / 100;
}

static void cost(void)
{
	struct collective c = {.communicator = 1, .bytes = 2};
	const nvtxPayloadData_t p = {collective_schema(), sizeof(c), &c};
	nvtxEventAttributes_t with = attributes("AllReduce", &p, 1),
			      without = attributes("AllReduce", NULL, 0);
	double a = cost_of(&without), b = cost_of(&with);

	printf("push+pop %.1f ns without a struct, %.1f ns with one of 4 fields: %.1f ns more\n", a, b,
	       b - a);
}

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = {
	{"collectives", collectives}, {"functions", functions}, {"types", types},
	{"hostile", hostile},	      {"full", full},		{"cost", cost},
};

int main(int argc, char **argv)
{
	const char *log = getenv("RANGES_LOG");
	int runtime;

	if (argc < 2 || cudaRuntimeGetVersion(&runtime))
		return 2;
	log_file = log ? fopen(log, "a") : NULL;
	if (log_file)
		setvbuf(log_file, NULL, _IOLBF, 0);
	nvtxInitialize(NULL);
	cuInit(0);
	domain = nvtxDomainCreateA("library");
	for (size_t i = 0; i < N(scenes); i++)
		if (!strcmp(argv[1], scenes[i].name)) {
			scenes[i].play();
			return 0;
		}
	return 2;
}
