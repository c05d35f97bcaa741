// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * NVTX's payload extension: programs register schemas, the layouts of their structs, and
 * attach such structs to ranges and marks. Here a schema becomes a list of fields at fixed
 * places, and the fields of a struct are read while the program's call runs, because the
 * struct may be gone afterwards. Layouts are those of the extension's version 0x0104, as
 * documented in nvToolsExtPayload.h.
 *
 * Numbers, characters, texts and enumerations are read. Everything else (arrays, nested
 * structs, unions, pointers) is counted, and so is what follows it, if its place is unknown.
 */
#include <errno.h>
#include <string.h>

#include "inject.h"
#include "nvtx.h"
#include "reserve.h"

#define SCHEMAS_MAX 4096U
#define SCHEMA_SLOTS (SCHEMAS_MAX * 2)
#define FIELDS_MAX 65536U
#define VALUES_MAX 65536U
/*
 * Maximum number of fields of a schema, of values of an enumeration, and of structs of an event; further ones
 * are not read.
 */
#define ENTRIES_MAX 64U
#define NAMES_OF_ENUM_MAX 256U
#define PAYLOADS_MAX 16U
/* Fields after this offset in a struct are not read. */
#define PLACE_MAX 65536U
#define TEXT_MAX 4096U
/* Ids below ID_STATIC are types; ids from ID_DYNAMIC on are assigned here. */
#define ID_STATIC (1ULL << 24)
#define ID_DYNAMIC (1ULL << 32)

/* nvtxPayloadSchemaAttr_t, and the bits of @mask that say which members are set */
enum {
	HAS_NAME = 1 << 1,
	SCHEMA_HAS_TYPE = 1 << 2,
	SCHEMA_HAS_ENTRIES = 1 << 4 | 1 << 5,
	SCHEMA_HAS_SIZE = 1 << 6,
	SCHEMA_HAS_PACK = 1 << 7,
	SCHEMA_HAS_ID = 1 << 8,
};
enum { SCHEMA_STATIC = 1, SCHEMA_DYNAMIC = 2 };

struct entry {
	uint64_t flags;
	uint64_t type;
	const char *name;
	const char *description;
	uint64_t detail;
	uint64_t offset;
	const void *semantics;
	const void *reserved;
};

struct nvtx_schema {
	uint64_t mask;
	const char *name;
	uint64_t type;
	uint64_t flags;
	const struct entry *entry;
	size_t entries;
	size_t size;
	size_t pack;
	uint64_t id;
	void *extension;
};

/* nvtxPayloadEnumAttr_t */
enum { ENUM_HAS_VALUES = 1 << 2 | 1 << 3, ENUM_HAS_SIZE = 1 << 4, ENUM_HAS_ID = 1 << 5 };

struct named_value {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

struct nvtx_enum {
	uint64_t mask;
	const char *name;
	const struct named_value *value;
	size_t values;
	size_t size;
	uint64_t id;
	void *extension;
};

_Static_assert(sizeof(struct entry) == 64 && sizeof(struct nvtx_schema) == 80 &&
		       sizeof(struct named_value) == 24 && sizeof(struct nvtx_enum) == 56 &&
		       sizeof(struct nvtx_payload) == 24,
	       "structs of the payload extension");

/* Flags of an entry. */
enum {
	FLAG_POINTER = 1 << 1,
	FLAG_OFFSET = 1 << 2 | 1 << 3,
	FLAG_ARRAY = 7 << 4,
	ARRAY_FIXED = 1 << 4,
	ARRAY_TO_ZERO = 2 << 4,
	FLAG_DEEP_COPY = 1 << 8,
	FLAG_MEANING = 3 << 10,
	IS_MESSAGE = 1 << 10,
};

/* How a field is read: as a number, or as a text of some bytes, up to its end, or where a pointer points. */
enum {
	AS_NOTHING,
	AS_UNSIGNED,
	AS_SIGNED,
	AS_FLOAT,
	AS_HANDLE,
	AS_ENUM,
	AS_TEXT,
	AS_TEXT_TO_ZERO,
	AS_TEXT_AT
};

/* NVTX_PAYLOAD_ENTRY_TYPE_*: the type's size and how it is read; @texts: an array of it is a text */
static const struct type {
	uint8_t size;
	uint8_t as;
	bool texts;
} types[] = {
	[1] = {1, AS_TEXT, true},	[2] = {1, AS_UNSIGNED, false},	[3] = {2, AS_SIGNED, false},
	[4] = {2, AS_UNSIGNED, false},	[5] = {4, AS_SIGNED, false},	[6] = {4, AS_UNSIGNED, false},
	[7] = {8, AS_SIGNED, false},	[8] = {8, AS_UNSIGNED, false},	[9] = {8, AS_SIGNED, false},
	[10] = {8, AS_UNSIGNED, false}, [11] = {1, AS_SIGNED, false},	[12] = {1, AS_UNSIGNED, false},
	[13] = {2, AS_SIGNED, false},	[14] = {2, AS_UNSIGNED, false}, [15] = {4, AS_SIGNED, false},
	[16] = {4, AS_UNSIGNED, false}, [17] = {8, AS_SIGNED, false},	[18] = {8, AS_UNSIGNED, false},
	[19] = {4, AS_FLOAT, false},	[20] = {8, AS_FLOAT, false},	[21] = {16, AS_NOTHING, false},
	[22] = {8, AS_UNSIGNED, false}, [23] = {8, AS_UNSIGNED, false}, [24] = {4, AS_NOTHING, false},
	[25] = {1, AS_TEXT, true},	[26] = {2, AS_NOTHING, false},	[27] = {4, AS_NOTHING, false},
	[32] = {1, AS_UNSIGNED, false}, [33] = {16, AS_NOTHING, false}, [34] = {16, AS_NOTHING, false},
	[42] = {2, AS_NOTHING, false},	[43] = {4, AS_FLOAT, false},	[44] = {8, AS_FLOAT, false},
	[45] = {16, AS_NOTHING, false}, [50] = {2, AS_NOTHING, false},	[52] = {4, AS_NOTHING, false},
	[68] = {4, AS_UNSIGNED, false}, [69] = {4, AS_UNSIGNED, false}, [70] = {8, AS_UNSIGNED, false},
	[71] = {4, AS_UNSIGNED, false}, [72] = {8, AS_UNSIGNED, false}, [73] = {4, AS_UNSIGNED, false},
	[74] = {8, AS_UNSIGNED, false}, [75] = {0, AS_NOTHING, true},	[76] = {0, AS_NOTHING, true},
	[80] = {8, AS_HANDLE, false},
};
#define TYPES (sizeof(types) / sizeof(types[0]))

enum { TYPE_CATEGORY = 68, TYPE_COLOUR = 69, TYPE_TEXT = 75, TYPE_UTF8 = 76 };

/**
 * struct field - a field of a schema
 * @of: number of the schema
 * @length: bytes; 0: a text without a fixed length
 * @type: as in the program's entry
 */
struct field {
	uint32_t offset;
	uint16_t length;
	uint8_t as;
	uint8_t type;
	bool is_message;
	uint32_t name;
	uint32_t of;
	uint32_t enumeration;
};

/**
 * struct schema - a layout, or an enumeration of @size bytes; it does not change once its number is in @slot
 * @first, @n: its elements of @field, or of @value
 * @unread: number of entries that are not a field
 */
struct schema {
	uint64_t id;
	uint64_t size;
	uint32_t domain;
	uint32_t name;
	uint32_t first;
	uint32_t n;
	uint32_t unread;
	bool is_enum;
};

struct value {
	uint64_t value;
	uint32_t name;
};

static struct {
	struct schema *schema;
	_Atomic uint32_t *slot;
	struct field *field;
	struct value *value;
	_Atomic uint32_t schemas;
	_Atomic uint32_t fields;
	_Atomic uint32_t values;
	_Atomic uint64_t unread;
} all;

/*
 * The first fields describe structs that consist of one value of a type; the number of the field is the type.
 */
static void payload_init_types(void)
{
	for (uint32_t i = 0; i < TYPES; i++) {
		all.field[i] = (struct field){.length = types[i].size, .as = types[i].as, .type = (uint8_t)i};
		if (types[i].texts)
			all.field[i].as = AS_TEXT_TO_ZERO;
	}
	atomic_store(&all.fields, TYPES);
}

int nvtx_payload_init(void)
{
	all.schema = reserve_memory((SCHEMAS_MAX + 1) * sizeof(*all.schema));
	all.slot = reserve_memory(SCHEMA_SLOTS * sizeof(*all.slot));
	all.field = reserve_memory(FIELDS_MAX * sizeof(*all.field));
	all.value = reserve_memory(VALUES_MAX * sizeof(*all.value));
	if (!all.schema || !all.slot || !all.field || !all.value)
		return -ENOMEM;
	payload_init_types();
	return 0;
}

uint64_t nvtx_payload_unread(void)
{
	return atomic_load(&all.unread);
}

void nvtx_payload_reset(void)
{
	atomic_store(&all.unread, 0);
}

/* ---------------------------------------------------------------- schemas */

/* Reserves @n numbers. Return: the first of them; @most: there are not enough */
static uint32_t payload_take(_Atomic uint32_t *used, uint32_t n, uint32_t most)
{
	uint32_t at = atomic_load(used);

	do {
		if (at > most || n > most - at)
			return most;
	} while (!atomic_compare_exchange_weak(used, &at, at + n));
	return at;
}

static uint32_t payload_hash(uint32_t domain, uint64_t id)
{
	return (uint32_t)(((id ^ (uint64_t)domain << 40) * 0x9e3779b97f4a7c15ULL) >> 32);
}

static bool payload_is(const struct schema *s, uint32_t domain, uint64_t id)
{
	return s->id == id && s->domain == domain;
}

static const struct schema *payload_find(uint32_t domain, uint64_t id)
{
	uint32_t at = payload_hash(domain, id), there;

	while ((there = atomic_load_explicit(&all.slot[at % SCHEMA_SLOTS], memory_order_acquire))) {
		if (payload_is(&all.schema[there], domain, id))
			return &all.schema[there];
		at++;
	}
	return NULL;
}

/* Enters a schema by its id. If an id is registered again, the last schema is valid. */
static void payload_enter(uint32_t number)
{
	const struct schema *s = &all.schema[number];
	uint32_t at = payload_hash(s->domain, s->id), there = 0;

	while (!atomic_compare_exchange_strong(&all.slot[at % SCHEMA_SLOTS], &there, number)) {
		if (payload_is(&all.schema[there], s->domain, s->id)) {
			atomic_store(&all.slot[at % SCHEMA_SLOTS], number);
			return;
		}
		there = 0;
		at++;
	}
}

static uint32_t payload_name(const char *text)
{
	return text ? nvtx_text(text, strnlen(text, TEXT_MAX)) : 0;
}

/* Return: the number of a new schema; 0: there is no room */
static uint32_t payload_new(uint32_t domain, const char *name)
{
	uint32_t number = payload_take(&all.schemas, 1, SCHEMAS_MAX) + 1;

	if (number > SCHEMAS_MAX)
		return 0;
	all.schema[number] = (struct schema){.domain = domain, .name = payload_name(name)};
	return number;
}

/* Return: the id that the program chose, or a new one */
static uint64_t payload_id(uint32_t number, bool has_id, uint64_t id)
{
	return has_id && id >= ID_STATIC && id < ID_DYNAMIC ? id : ID_DYNAMIC + number;
}

/**
 * struct place - the offset of the next entry of a schema
 * @known: false after an entry of unknown size
 */
struct place {
	uint64_t at;
	uint64_t pack;
	bool known;
};

static bool payload_is_text(const struct entry *e)
{
	return e->type < TYPES && types[e->type].texts;
}

/* Finds out how an entry is read. Return: its size; 0: unknown */
static uint64_t payload_kind_of(const struct entry *e, const struct schema *nested, uint8_t *as)
{
	uint64_t size = e->type < TYPES ? types[e->type].size : nested && nested->is_enum ? nested->size : 0;
	uint64_t array = e->flags & FLAG_ARRAY;
	bool text = payload_is_text(e), sized = e->type == TYPE_TEXT || e->type == TYPE_UTF8;

	*as = AS_NOTHING;
	if (e->flags & FLAG_OFFSET)
		return 0;
	if (e->flags & FLAG_POINTER) {
		if (sized && e->flags & FLAG_DEEP_COPY)
			*as = AS_TEXT_AT;
		return sizeof(void *);
	}
	if (text && array == ARRAY_TO_ZERO && !e->detail) {
		*as = AS_TEXT_TO_ZERO;
		return 0;
	}
	if (array == ARRAY_FIXED || (!array && sized)) {
		if (e->detail > TEXT_MAX || (!e->detail && sized))
			return 0;
		*as = text ? AS_TEXT : AS_NOTHING;
		return text ? e->detail : e->detail * size;
	}
	if (!array)
		*as = e->type < TYPES ? types[e->type].as : size ? AS_ENUM : AS_NOTHING;
	return array ? 0 : size;
}

static uint64_t payload_alignment(const struct entry *e, uint64_t size, uint64_t pack)
{
	uint64_t own = e->flags & FLAG_POINTER ? sizeof(void *)
		       : e->type < TYPES       ? types[e->type].size
					       : size;

	own = payload_is_text(e) && !(e->flags & FLAG_POINTER) ? 1 : own;
	return pack && pack < own ? pack : own ?: 1;
}

/* Moves to the offset of an entry. Return: whether the offset is known */
static bool payload_go_to(struct place *p, const struct entry *e, uint64_t size)
{
	uint64_t align = payload_alignment(e, size, p->pack);

	if (e->offset) {
		p->at = e->offset;
		p->known = true;
	} else if (p->known) {
		p->at = (p->at + align - 1) / align * align;
	}
	p->known = p->known && p->at <= PLACE_MAX;
	return p->known;
}

/* Converts an entry to a field. Return: false: the entry is not a field that can be read */
static bool payload_compile(struct field *f, const struct schema *s, struct place *p, const struct entry *e)
{
	const struct schema *nested = e->type >= ID_STATIC ? payload_find(s->domain, e->type) : NULL;
	uint64_t size;
	bool known;

	*f = (struct field){.type = e->type < TYPES ? (uint8_t)e->type : 0};
	size = payload_kind_of(e, nested, &f->as);
	known = payload_go_to(p, e, size);
	f->offset = known ? (uint32_t)p->at : 0;
	f->length = (uint16_t)size;
	p->at += size;
	p->known = known && size;
	if (!known || f->as == AS_NOTHING || (s->size && f->offset + size > s->size))
		return false;
	f->is_message = (e->flags & FLAG_MEANING) == IS_MESSAGE;
	f->name = payload_name(e->name);
	f->of = (uint32_t)(s - all.schema);
	f->enumeration = f->as == AS_ENUM ? (uint32_t)(nested - all.schema) : 0;
	return true;
}

static void payload_compile_all(struct schema *s, const struct nvtx_schema *a)
{
	uint32_t n = a->entries < ENTRIES_MAX ? (uint32_t)a->entries : ENTRIES_MAX;
	struct place p = {.known = true, .pack = a->mask & SCHEMA_HAS_PACK ? a->pack : 0};

	s->unread = a->entries > ENTRIES_MAX;
	s->first = payload_take(&all.fields, n, FIELDS_MAX);
	if (s->first == FIELDS_MAX) {
		s->unread += n;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		if (payload_compile(&all.field[s->first + s->n], s, &p, &a->entry[i]))
			s->n++;
		else
			s->unread++;
}

uint64_t nvtx_payload_schema(uint32_t domain, const struct nvtx_schema *a)
{
	uint32_t number = a ? payload_new(domain, a->mask & HAS_NAME ? a->name : NULL) : 0;
	struct schema *s = &all.schema[number];

	if (!number)
		return 0;
	s->id = payload_id(number, a->mask & SCHEMA_HAS_ID, a->id);
	s->size = a->mask & SCHEMA_HAS_SIZE ? a->size : 0;
	if ((a->mask & SCHEMA_HAS_ENTRIES) == SCHEMA_HAS_ENTRIES && a->mask & SCHEMA_HAS_TYPE && a->entry &&
	    (a->type == SCHEMA_STATIC || a->type == SCHEMA_DYNAMIC)) {
		s->size = a->type == SCHEMA_DYNAMIC ? 0 : s->size;
		payload_compile_all(s, a);
	} else {
		s->unread = 1;
	}
	payload_enter(number);
	return s->id;
}

uint64_t nvtx_payload_enum(uint32_t domain, const struct nvtx_enum *a)
{
	uint32_t number = a ? payload_new(domain, a->mask & HAS_NAME ? a->name : NULL) : 0, n = 0;
	struct schema *s = &all.schema[number];

	if (!number)
		return 0;
	s->id = payload_id(number, a->mask & ENUM_HAS_ID, a->id);
	s->is_enum = true;
	s->size = a->mask & ENUM_HAS_SIZE && a->size <= 8 && !(a->size & (a->size - 1)) ? a->size : 0;
	if ((a->mask & ENUM_HAS_VALUES) == ENUM_HAS_VALUES && a->value)
		n = a->values < NAMES_OF_ENUM_MAX ? (uint32_t)a->values : NAMES_OF_ENUM_MAX;
	s->first = payload_take(&all.values, n, VALUES_MAX);
	s->n = s->first == VALUES_MAX ? 0 : n;
	for (uint32_t i = 0; i < s->n; i++)
		all.value[s->first + i] =
			(struct value){.value = a->value[i].value, .name = payload_name(a->value[i].name)};
	payload_enter(number);
	return s->id;
}

/* --------------------------------------------------------------- an event */

static uint64_t payload_bits(const uint8_t *at, size_t bytes, bool is_signed)
{
	uint64_t v = 0;

	memcpy(&v, at, bytes);
	if (is_signed && bytes < 8 && v >> (8 * bytes - 1))
		v |= UINT64_MAX << 8 * bytes;
	return v;
}

static uint64_t payload_float(const uint8_t *at, size_t bytes)
{
	double number;
	float small;
	uint64_t v;

	if (bytes == sizeof(number))
		return payload_bits(at, bytes, false);
	memcpy(&small, at, sizeof(small));
	number = (double)small;
	memcpy(&v, &number, sizeof(v));
	return v;
}

/* Return: the name of a value of an enumeration; 0: the enumeration does not have the value */
static uint32_t payload_value_name(const struct schema *s, uint64_t value)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (all.value[s->first + i].value == value)
			return all.value[s->first + i].name;
	return 0;
}

static bool payload_read_text(struct nvtx_field *to, const char *text, size_t room)
{
	size_t length = text ? strnlen(text, room < TEXT_MAX ? room : TEXT_MAX) : 0;

	to->type = NVTX_FIELD_TEXT;
	to->text = text && length < TEXT_MAX ? nvtx_text(text, length) : 0;
	return to->text;
}

static const char *payload_pointer(const uint8_t *at)
{
	const char *text;

	memcpy(&text, at, sizeof(text));
	return text;
}

/* Return: whether the value could be read */
static bool payload_read_value(struct nvtx_field *to, const struct field *f, const uint8_t *at, size_t room)
{
	switch (f->as) {
	case AS_UNSIGNED:
	case AS_SIGNED:
		to->type = f->as == AS_SIGNED ? NVTX_FIELD_SIGNED : NVTX_FIELD_UNSIGNED;
		to->value = payload_bits(at, f->length, f->as == AS_SIGNED);
		return true;
	case AS_FLOAT:
		to->type = NVTX_FIELD_DOUBLE;
		to->value = payload_float(at, f->length);
		return true;
	case AS_ENUM:
		to->type = NVTX_FIELD_ENUM;
		to->value = payload_bits(at, f->length, false);
		to->text = payload_value_name(&all.schema[f->enumeration], to->value);
		return true;
	case AS_HANDLE:
		to->type = NVTX_FIELD_TEXT;
		to->value = payload_bits(at, f->length, false);
		to->text = nvtx_name_known(to->value) ? (uint32_t)to->value : 0;
		to->value = 0;
		return to->text;
	case AS_TEXT:
		return payload_read_text(to, (const char *)at, f->length);
	case AS_TEXT_TO_ZERO:
		return payload_read_text(to, (const char *)at, room);
	case AS_TEXT_AT:
		return payload_read_text(to, payload_pointer(at), TEXT_MAX);
	}
	return false;
}

/*
 * Uses a field as the category, colour or name of the event instead of as one of its fields; not at the end
 * of a range, when these do not change any more. Return: whether it was used
 */
static bool payload_attribute(struct nvtx_fields *to, const struct field *f, const struct nvtx_field *v)
{
	if (to->at_end)
		return false;
	if (f->type == TYPE_CATEGORY)
		to->category = (uint32_t)v->value;
	else if (f->type == TYPE_COLOUR)
		to->colour = (uint32_t)v->value;
	else if (f->is_message && v->type == NVTX_FIELD_TEXT && !to->name)
		to->name = v->text;
	else
		return false;
	return true;
}

/* Reads a field of a struct. Return: the number of fields that could not be read, 0 or 1 */
static uint64_t payload_read_field(struct nvtx_fields *to, uint32_t number, const struct nvtx_payload *p,
				   uint64_t size)
{
	const struct field *f = &all.field[number];
	struct nvtx_field *v = &to->field[to->n];

	if (to->n == NVTX_FIELDS_MAX || f->offset >= size || f->length > size - f->offset)
		return 1;
	*v = (struct nvtx_field){.number = number};
	if (!payload_read_value(v, f, (const uint8_t *)p->data + f->offset, size - f->offset))
		return 1;
	to->n += !payload_attribute(to, f, v);
	return 0;
}

static uint64_t payload_read(struct nvtx_fields *to, uint32_t domain, const struct nvtx_payload *p)
{
	const struct schema *s;
	uint64_t size, unread;

	if (!p->data || !p->schema)
		return 1;
	if (p->schema < ID_STATIC)
		return p->schema < TYPES ? payload_read_field(to, (uint32_t)p->schema, p, p->size) : 1;
	s = payload_find(domain, p->schema);
	if (!s || s->is_enum)
		return 1;
	size = s->size && s->size < p->size ? s->size : p->size;
	unread = s->unread;
	for (uint32_t i = 0; i < s->n; i++)
		unread += payload_read_field(to, s->first + i, p, size);
	return unread;
}

void nvtx_payload_read(struct nvtx_fields *to, uint32_t domain, const struct nvtx_payload *p, size_t n)
{
	uint64_t unread = n && (!p || n > PAYLOADS_MAX);

	for (size_t i = 0; p && i < n && i < PAYLOADS_MAX; i++)
		unread += payload_read(to, domain, &p[i]);
	if (unread)
		atomic_fetch_add_explicit(&all.unread, unread, memory_order_relaxed);
}

/* ------------------------------------------------------------- the writer */

uint32_t nvtx_field_name(uint32_t number, uint32_t *schema)
{
	*schema = number < FIELDS_MAX ? all.schema[all.field[number].of].name : 0;
	return number < FIELDS_MAX ? all.field[number].name : 0;
}
