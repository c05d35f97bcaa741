// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The functions of NVTX. Each library that was built with NVTX has tables of functions. At its first call it
 * loads the library of NVTX_INJECTION64_PATH and calls InitializeInjectionNvtx2(), which fills its tables,
 * also from several threads at once. Libraries that use the payload extension call
 * InitializeInjectionNvtxExtension() in addition. Until a table is filled, and while nothing is recorded, its
 * functions do nothing. Layouts are those of NVTX 3, as documented.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <wchar.h>

#include "inject.h"
#include "nvtx.h"

/* NVTX_NO_PUSH_POP_TRACKING: the depth that a function returns if it is unknown. */
#define NO_DEPTH (-2)
/* Maximum number of bytes that are read of a text without a length. */
#define TEXT_ROOM 4097U
/* Maximum number of ranges that are started and not yet ended. */
#define STARTED_MAX 65536U

enum { TABLES = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE, MESSAGE_REGISTERED };
enum { PAYLOAD_LAST = 6, PAYLOAD_EXTENDED = (int32_t)0xdfbd0009, COLOUR_ARGB = 1 };
/* The payload extension, and the compatible versions of it: the functions of 0x0103 are the same. */
enum { MODULE_PAYLOAD = 2, PAYLOAD_FIRST_VERSION = 0x0103, PAYLOAD_LAST_VERSION = 0x0104 };

/* nvtxEventAttributes; only its first @size bytes exist */
struct attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *wide;
		uintptr_t registered;
	} message;
};

_Static_assert(sizeof(struct attributes) == 48 && offsetof(struct attributes, message) == 40,
	       "nvtxEventAttributes");

/* nvtxExportTableCallbacks */
struct callbacks {
	size_t size;
	int (*table)(uint32_t module, void (***table[])(void), unsigned int *size);
};

int InitializeInjectionNvtx2(const void *(*get)(uint32_t id)) __attribute__((visibility("default")));

/* nvtxExtModuleSegment_t and nvtxExtModuleInfo_t */
struct segment {
	size_t id;
	size_t slots;
	void (**slot)(void);
};

struct module {
	uint16_t version;
	uint16_t size;
	uint16_t id;
	uint16_t compatible;
	size_t segments;
	const struct segment *segment;
	void *get;
	const void *info;
};

_Static_assert(sizeof(struct module) == 40, "nvtxExtModuleInfo_t");

int InitializeInjectionNvtxExtension(const struct module *m) __attribute__((visibility("default")));

static _Atomic uint64_t lost, lost_fields, cuts, strays;

static void nvtx_count(_Atomic uint64_t *n)
{
	atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

void nvtx_lose(void)
{
	nvtx_count(&lost);
}

uint64_t nvtx_lost(void)
{
	return atomic_exchange(&lost, 0);
}

void nvtx_lose_field(void)
{
	nvtx_count(&lost_fields);
}

uint64_t nvtx_lost_fields(void)
{
	return atomic_exchange(&lost_fields, 0);
}

uint64_t nvtx_cut(void)
{
	return atomic_load(&cuts);
}

uint64_t nvtx_stray(void)
{
	return atomic_load(&strays);
}

/* ----------------------------------------------------------------- texts */

/* Finds the number of a text. If the thread used the same address before, comparing the texts is enough. */
static uint32_t nvtx_ascii(struct nvtx_thread *t, const char *text, bool *cut)
{
	unsigned int at = (unsigned int)((uintptr_t)text ^ (uintptr_t)text >> 6) % NVTX_RECENT;
	uint32_t name;

	if (!text)
		return 0;
	if (t && t->recent[at].at == text && nvtx_name_is(t->recent[at].name, text))
		return t->recent[at].name;
	name = nvtx_name(text, strnlen(text, TEXT_ROOM), cut);
	if (t && name && !*cut) {
		t->recent[at].at = text;
		t->recent[at].name = name;
	}
	return name;
}

static size_t nvtx_utf8(char *to, uint32_t c)
{
	size_t n = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return nvtx_utf8(to, 0xfffd);
	to[0] = (char)(lead[n] | c >> 6 * n);
	for (size_t i = 1; i <= n; i++)
		to[i] = (char)(0x80 | (c >> 6 * (n - i) & 0x3f));
	return n + 1;
}

static uint32_t nvtx_wide(const wchar_t *text, bool *cut)
{
	char room[TEXT_ROOM + 4];
	size_t n = 0;

	if (!text)
		return 0;
	while (*text && n < TEXT_ROOM - 1)
		n += nvtx_utf8(room + n, (uint32_t)*text++);
	*cut = *text;
	return nvtx_name(room, n, cut);
}

/* A valid handle is the number of a name, which a function here returned. */
static uint32_t nvtx_handle(uintptr_t handle)
{
	return nvtx_name_known(handle) ? (uint32_t)handle : 0;
}

/* ------------------------------------------------------------ attributes */

#define HAS(a, member) ((a)->size >= offsetof(struct attributes, member) + sizeof((a)->member))

static uint32_t nvtx_message(struct nvtx_thread *t, const struct attributes *a, bool *cut)
{
	if (!HAS(a, message))
		return 0;
	switch (a->message_type) {
	case MESSAGE_ASCII:
		return nvtx_ascii(t, a->message.ascii, cut);
	case MESSAGE_WIDE:
		return nvtx_wide(a->message.wide, cut);
	case MESSAGE_REGISTERED:
		return nvtx_handle(a->message.registered);
	}
	return 0;
}

static void nvtx_take_attributes(struct nvtx_range *r, struct nvtx_thread *t, const struct attributes *a)
{
	r->category = HAS(a, category) ? a->category : 0;
	r->colour = HAS(a, colour) && a->colour_type == COLOUR_ARGB ? a->colour : 0;
	if (HAS(a, payload) && a->payload_type > 0 && a->payload_type <= PAYLOAD_LAST) {
		r->payload_type = (uint8_t)a->payload_type;
		/* for shorter types, the other bytes are undefined */
		r->payload = a->payload_type > 3 ? (uint32_t)a->payload : a->payload;
	}
	r->name = nvtx_message(t, a, &r->cut);
}

/**
 * struct said - the forms in which a call passes a name; all NULL: no name
 * @payload, @payloads: of the extension
 */
struct said {
	const char *ascii;
	const wchar_t *wide;
	const struct attributes *attributes;
	const struct nvtx_payload *payload;
	size_t payloads;
};

/* Takes the payloads from the attributes of the call. */
static void nvtx_find_payloads(struct said *s)
{
	const struct attributes *a = s->attributes;

	if (!a || !HAS(a, payload) || a->payload_type != PAYLOAD_EXTENDED)
		return;
	s->payload = (const struct nvtx_payload *)(uintptr_t)a->payload;
	s->payloads = a->reserved > 0 ? (size_t)a->reserved : 0;
}

/*
 * Reads the payloads now, because they are valid only until the call returns; they are stored together with
 * the event.
 */
static void nvtx_read_fields(struct nvtx_fields *f, struct nvtx_range *r, const struct said *s)
{
	f->n = f->name = f->category = f->colour = 0;
	f->at_end = false;
	nvtx_payload_read(f, r->domain, s->payload, s->payloads);
	r->name = r->name ?: f->name;
	r->category = r->category ?: f->category;
	r->colour = r->colour ?: f->colour;
}

static void nvtx_put_fields(const struct nvtx_fields *f, uint64_t begin, uint64_t now, uint32_t tid)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct nvtx_range r = {.begin = begin,
					     .payload = f->field[i].value,
					     .payload_type = f->field[i].type,
					     .name = f->field[i].number,
					     .node = f->field[i].text,
					     .depth = (uint16_t)i,
					     .cut = f->at_end};

		nvtx_thread_put_field(&r, now, tid);
	}
}

/* Stores the payloads that a call attaches to the end of a range. */
static void nvtx_put_end_fields(const struct nvtx_range *r, const struct said *s, uint32_t tid)
{
	struct nvtx_fields f;

	if (!s->payloads)
		return;
	f.n = f.name = 0;
	f.at_end = true;
	nvtx_payload_read(&f, r->domain, s->payload, s->payloads);
	nvtx_put_fields(&f, r->begin, clock_monotonic(), tid);
}

static struct nvtx_range nvtx_begin(struct nvtx_thread *t, uintptr_t domain, const struct said *s)
{
	struct nvtx_range r = {.domain = nvtx_handle(domain)};

	if (s->attributes)
		nvtx_take_attributes(&r, t, s->attributes);
	else
		r.name = s->ascii ? nvtx_ascii(t, s->ascii, &r.cut) : nvtx_wide(s->wide, &r.cut);
	return r;
}

/* ---------------------------------------------------------- push and pop */

/* Return: the position of the innermost open range of a domain, from 1; 0: none */
static uint32_t nvtx_innermost(const struct nvtx_thread *t, uint32_t domain)
{
	uint32_t at = t->depth;

	while (at && t->open[at - 1].domain != domain)
		at--;
	return at;
}

static void nvtx_see_window(uint32_t name, bool begins)
{
	if (capture.name && name == capture.name)
		capture_range(begins);
}

/* Handles a range or a mark with payloads; apart, to keep the path without payloads fast. */
static void __attribute__((noinline))
nvtx_push_fields(struct nvtx_thread *t, struct nvtx_range *r, const struct said *s)
{
	struct nvtx_fields f;

	nvtx_read_fields(&f, r, s);
	r->node = nvtx_chain_of(nvtx_chain(t), r->domain, r->name, &r->cut);
	r->begin = clock_monotonic();
	nvtx_put_fields(&f, r->begin, r->begin, 0);
}

static int nvtx_push(uintptr_t domain, struct said s)
{
	struct nvtx_thread *t = nvtx_thread_enter();
	struct nvtx_range *r;
	uint32_t around;
	int depth;

	if (!t)
		return NO_DEPTH;
	if (t->depth == NVTX_OPEN_MAX) {
		depth = (int)(NVTX_OPEN_MAX + t->over[nvtx_handle(domain) % NVTX_DOMAINS]++);
		nvtx_lose();
		nvtx_thread_leave();
		return depth;
	}
	r = &t->open[t->depth];
	*r = nvtx_begin(t, domain, &s);
	around = nvtx_innermost(t, r->domain);
	depth = around ? t->open[around - 1].depth + 1 : 0;
	r->depth = (uint16_t)depth;
	nvtx_find_payloads(&s);
	if (s.payloads) {
		nvtx_push_fields(t, r, &s);
	} else {
		r->node = nvtx_chain_of(nvtx_chain(t), r->domain, r->name, &r->cut);
		r->begin = clock_monotonic();
	}
	t->depth++;
	nvtx_thread_leave();
	nvtx_see_window(r->name, true);
	return depth;
}

/*
 * Removes a range that is not the last one, because another domain has pushed since. The ranges inside it
 * stay open, in chains without it.
 */
static void nvtx_take_out(struct nvtx_thread *t, uint32_t at)
{
	struct nvtx_range *r;

	t->depth--;
	memmove(&t->open[at], &t->open[at + 1], (t->depth - at) * sizeof(*r));
	for (r = &t->open[at]; r < &t->open[t->depth]; r++)
		r->node = nvtx_chain_of(r == t->open ? 0 : r[-1].node, r->domain, r->name, &r->cut);
}

static int nvtx_pop_with(uintptr_t handle, struct said s)
{
	struct nvtx_thread *t = nvtx_thread_enter();
	uint32_t domain, at, name = 0;
	int depth = -1;

	if (!t)
		return NO_DEPTH;
	domain = nvtx_handle(handle);
	at = nvtx_innermost(t, domain);
	if (t->over[domain % NVTX_DOMAINS]) {
		depth = (int)(NVTX_OPEN_MAX + --t->over[domain % NVTX_DOMAINS]);
	} else if (at) {
		depth = t->open[at - 1].depth;
		name = t->open[at - 1].name;
		nvtx_put_end_fields(&t->open[at - 1], &s, 0);
		nvtx_thread_put(NVTX_PUSHED, &t->open[at - 1], 0);
		nvtx_take_out(t, at - 1);
	} else {
		nvtx_count(&strays);
	}
	nvtx_thread_leave();
	nvtx_see_window(name, false);
	return depth;
}

static int nvtx_pop(uintptr_t handle)
{
	return nvtx_pop_with(handle, (struct said){.ascii = NULL});
}

/* ---------------------------------------------------- ranges of the library */

bool nvtx_open(uint32_t domain, uint32_t name, bool cut)
{
	struct nvtx_thread *t = nvtx_thread_enter();
	struct nvtx_range *r;
	uint32_t around;

	if (!t)
		return false;
	if (t->depth == NVTX_OPEN_MAX) {
		nvtx_lose();
		nvtx_thread_leave();
		return false;
	}
	around = nvtx_innermost(t, domain);
	r = &t->open[t->depth];
	*r = (struct nvtx_range){.domain = domain,
				 .name = name,
				 .depth = around ? (uint16_t)(t->open[around - 1].depth + 1) : 0,
				 .cut = cut};
	r->node = nvtx_chain_of(nvtx_chain(t), domain, name, &r->cut);
	r->begin = clock_monotonic();
	t->depth++;
	nvtx_thread_leave();
	return true;
}

void nvtx_close(uint32_t domain, bool seen)
{
	struct nvtx_thread *t = nvtx_thread_enter();
	uint32_t at;

	if (!t)
		return;
	at = nvtx_innermost(t, domain);
	if (at) {
		nvtx_thread_put(seen ? NVTX_PUSHED : NVTX_UNENDED, &t->open[at - 1], 0);
		nvtx_take_out(t, at - 1);
	}
	nvtx_thread_leave();
}

/* ----------------------------------------------------------------- marks */

static void nvtx_mark(uintptr_t domain, struct said s)
{
	struct nvtx_thread *t = nvtx_thread_enter();
	struct nvtx_fields f;
	struct nvtx_range r;

	if (!t)
		return;
	r = nvtx_begin(t, domain, &s);
	nvtx_find_payloads(&s);
	nvtx_read_fields(&f, &r, &s);
	r.node = nvtx_chain(t);
	r.depth = (uint16_t)t->depth;
	r.begin = clock_monotonic();
	nvtx_put_fields(&f, r.begin, r.begin, 0);
	nvtx_thread_put(NVTX_MARKED, &r, 0);
	nvtx_thread_leave();
}

/* --------------------------------------------------------- start and end */

/**
 * struct started - a place for a started range
 * @turn: twice the number of earlier uses of the place, plus 1 while it is in use
 * @next: number of the next free place, plus 1
 */
struct started {
	struct nvtx_range range;
	uint32_t tid;
	uint32_t next;
	_Atomic uint32_t turn;
};

static struct started *started;
/*
 * started_used: number of places that were ever used. started_free: the first free place, plus 1, and in the
 * upper bits a number that changes with each use.
 */
static _Atomic uint32_t started_used;
static _Atomic uint64_t started_free;

static struct started *started_take(void)
{
	uint64_t head = atomic_load(&started_free), next;
	uint32_t at = atomic_load(&started_used);

	while ((uint32_t)head) {
		next = ((head >> 32) + 1) << 32 | started[(uint32_t)head - 1].next;
		if (atomic_compare_exchange_weak(&started_free, &head, next))
			return &started[(uint32_t)head - 1];
	}
	do {
		if (at == STARTED_MAX)
			return NULL;
	} while (!atomic_compare_exchange_weak(&started_used, &at, at + 1));
	return &started[at];
}

static void started_give(struct started *s)
{
	uint64_t head = atomic_load(&started_free), next;

	do {
		s->next = (uint32_t)head;
		next = ((head >> 32) + 1) << 32 | (uint32_t)(s - started + 1);
	} while (!atomic_compare_exchange_weak(&started_free, &head, next));
}

static uint64_t nvtx_start(uintptr_t domain, struct said s)
{
	struct nvtx_thread *t = nvtx_thread_enter();
	struct started *place = t ? started_take() : NULL;
	struct nvtx_fields f;
	uint32_t turn, name;

	if (!place) {
		if (t) {
			nvtx_lose();
			nvtx_thread_leave();
		}
		return 0;
	}
	place->range = nvtx_begin(t, domain, &s);
	nvtx_find_payloads(&s);
	nvtx_read_fields(&f, &place->range, &s);
	place->tid = nvtx_thread_id();
	place->range.begin = clock_monotonic();
	nvtx_put_fields(&f, place->range.begin, place->range.begin, 0);
	turn = atomic_load_explicit(&place->turn, memory_order_relaxed) + 1;
	name = place->range.name;
	atomic_store_explicit(&place->turn, turn, memory_order_release);
	nvtx_thread_leave();
	nvtx_see_window(name, true);
	return (uint64_t)turn << 32 | (uint32_t)(place - started + 1);
}

/* Frees a place. Return: false: the range with this turn does not use it */
static bool started_end(uint32_t at, uint32_t turn)
{
	return turn & 1 && at - 1 < atomic_load(&started_used) &&
	       atomic_compare_exchange_strong(&started[at - 1].turn, &turn, turn + 1);
}

static void nvtx_end_with(uint64_t id, struct said s)
{
	struct nvtx_thread *t = nvtx_thread_enter();
	struct started *place;
	uint32_t name = 0;

	if (!t)
		return;
	if (started_end((uint32_t)id, (uint32_t)(id >> 32))) {
		place = &started[(uint32_t)id - 1];
		name = place->range.name;
		place->range.node = nvtx_thread_id();
		nvtx_put_end_fields(&place->range, &s, place->tid);
		nvtx_thread_put(NVTX_STARTED, &place->range, place->tid);
		started_give(place);
	} else {
		nvtx_count(&strays);
	}
	nvtx_thread_leave();
	nvtx_see_window(name, false);
}

static void nvtx_end(uint64_t id)
{
	nvtx_end_with(id, (struct said){.ascii = NULL});
}

/* --------------------------------------------------- the client's tables */

/* Makes the three forms of a call: with attributes, with a text, and with a wide text. */
#define CORE_CALLS(result, call)                                       \
	static result core_##call##_ex(const struct attributes *a)     \
	{                                                              \
		return nvtx_##call(0, (struct said){.attributes = a}); \
	}                                                              \
	static result core_##call##_a(const char *text)                \
	{                                                              \
		return nvtx_##call(0, (struct said){.ascii = text});   \
	}                                                              \
	static result core_##call##_w(const wchar_t *text)             \
	{                                                              \
		return nvtx_##call(0, (struct said){.wide = text});    \
	}

CORE_CALLS(void, mark)
CORE_CALLS(uint64_t, start)
CORE_CALLS(int, push)

static int core_pop(void)
{
	return nvtx_pop(0);
}

/* Registers a name that belongs to no range, such as that of a domain. */
static uintptr_t nvtx_register(struct said s)
{
	bool cut = false;

	if (!inject_is_on() && !dormant_is())
		return 0;
	return s.ascii ? nvtx_ascii(NULL, s.ascii, &cut) : nvtx_wide(s.wide, &cut);
}

static void core_category_a(uint32_t category, const char *text)
{
	nvtx_name_category(0, category, (uint32_t)nvtx_register((struct said){.ascii = text}));
}

static void core_category_w(uint32_t category, const wchar_t *text)
{
	nvtx_name_category(0, category, (uint32_t)nvtx_register((struct said){.wide = text}));
}

static void domain_mark_ex(uintptr_t domain, const struct attributes *a)
{
	nvtx_mark(domain, (struct said){.attributes = a});
}

static uint64_t domain_start_ex(uintptr_t domain, const struct attributes *a)
{
	return nvtx_start(domain, (struct said){.attributes = a});
}

static void domain_end(uintptr_t domain, uint64_t id)
{
	nvtx_end(id);
}

static int domain_push_ex(uintptr_t domain, const struct attributes *a)
{
	return nvtx_push(domain, (struct said){.attributes = a});
}

static void domain_category_a(uintptr_t domain, uint32_t category, const char *text)
{
	nvtx_name_category(nvtx_handle(domain), category,
			   (uint32_t)nvtx_register((struct said){.ascii = text}));
}

static void domain_category_w(uintptr_t domain, uint32_t category, const wchar_t *text)
{
	nvtx_name_category(nvtx_handle(domain), category,
			   (uint32_t)nvtx_register((struct said){.wide = text}));
}

static uintptr_t domain_register_a(uintptr_t domain, const char *text)
{
	return nvtx_register((struct said){.ascii = text});
}

static uintptr_t domain_register_w(uintptr_t domain, const wchar_t *text)
{
	return nvtx_register((struct said){.wide = text});
}

static uintptr_t domain_create_a(const char *text)
{
	return nvtx_register((struct said){.ascii = text});
}

static uintptr_t domain_create_w(const wchar_t *text)
{
	return nvtx_register((struct said){.wide = text});
}

/** struct row - a function and its number in a table */
struct row {
	unsigned int number;
	void (*function)(void);
};

#define ROW(number, function)                      \
	{                                          \
		number, (void (*)(void))(function) \
	}

/* Functions that are missing here (resources, names of threads) have no effect. */
static const struct row core[] = {
	ROW(1, core_mark_ex),	  ROW(2, core_mark_a),
	ROW(3, core_mark_w),	  ROW(4, core_start_ex),
	ROW(5, core_start_a),	  ROW(6, core_start_w),
	ROW(7, nvtx_end),	  ROW(8, core_push_ex),
	ROW(9, core_push_a),	  ROW(10, core_push_w),
	ROW(11, core_pop),	  ROW(12, core_category_a),
	ROW(13, core_category_w), {0, NULL},
};

static const struct row core2[] = {
	ROW(1, domain_mark_ex),	   ROW(2, domain_start_ex),    ROW(3, domain_end),
	ROW(4, domain_push_ex),	   ROW(5, nvtx_pop),	       ROW(8, domain_category_a),
	ROW(9, domain_category_w), ROW(10, domain_register_a), ROW(11, domain_register_w),
	ROW(12, domain_create_a),  ROW(13, domain_create_w),   {0, NULL},
};

static bool nvtx_fill(const struct callbacks *c, uint32_t module, const struct row *rows)
{
	void (***table)(void) = NULL;
	unsigned int size = 0;

	if (!c->table(module, &table, &size) || !table)
		return false;
	for (; rows->function; rows++)
		if (rows->number < size && table[rows->number])
			*table[rows->number] = rows->function;
	return true;
}

int InitializeInjectionNvtx2(const void *(*get)(uint32_t id))
{
	const struct callbacks *c = get ? get(TABLES) : NULL;
	bool filled;

	if (!c || c->size < sizeof(*c) || !c->table || !inject_begin_ranges())
		return 0;
	filled = nvtx_fill(c, MODULE_CORE, core);
	return nvtx_fill(c, MODULE_CORE2, core2) || filled;
}

/* ------------------------------------------------- the payload extension */

#define SAID(array, n)                              \
	(struct said)                               \
	{                                           \
		.payload = (array), .payloads = (n) \
	}

static bool extension_is_heard(void)
{
	return inject_is_on() || dormant_is();
}

static uint64_t extension_schema(uintptr_t domain, const struct nvtx_schema *a)
{
	return extension_is_heard() ? nvtx_payload_schema(nvtx_handle(domain), a) : 0;
}

static uint64_t extension_enum(uintptr_t domain, const struct nvtx_enum *a)
{
	return extension_is_heard() ? nvtx_payload_enum(nvtx_handle(domain), a) : 0;
}

static void extension_mark(uintptr_t domain, const struct nvtx_payload *p, size_t n)
{
	nvtx_mark(domain, SAID(p, n));
}

static int extension_push(uintptr_t domain, const struct nvtx_payload *p, size_t n)
{
	return nvtx_push(domain, SAID(p, n));
}

static int extension_pop(uintptr_t domain, const struct nvtx_payload *p, size_t n)
{
	return nvtx_pop_with(domain, SAID(p, n));
}

static uint64_t extension_start(uintptr_t domain, const struct nvtx_payload *p, size_t n)
{
	return nvtx_start(domain, SAID(p, n));
}

static void extension_end(uintptr_t domain, uint64_t id, const struct nvtx_payload *p, size_t n)
{
	nvtx_end_with(id, SAID(p, n));
}

static uint8_t extension_is_enabled(uintptr_t domain)
{
	return extension_is_heard();
}

/* Scopes have no effect: they belong to counters and deferred events, which are not recorded. */
static const struct row extension[] = {
	ROW(0, extension_schema), ROW(1, extension_enum),	ROW(2, extension_mark),
	ROW(3, extension_push),	  ROW(4, extension_pop),	ROW(5, extension_start),
	ROW(6, extension_end),	  ROW(7, extension_is_enabled), {0, NULL},
};

int InitializeInjectionNvtxExtension(const struct module *m)
{
	if (!m || m->size < sizeof(*m) || m->id != MODULE_PAYLOAD || m->compatible < PAYLOAD_FIRST_VERSION ||
	    m->compatible > PAYLOAD_LAST_VERSION || !m->segments || !m->segment || !m->segment->slot ||
	    !inject_begin_ranges())
		return 0;
	for (const struct row *r = extension; r->function; r++)
		if (r->number < m->segment->slots)
			m->segment->slot[r->number] = r->function;
	return 1;
}

int nvtx_init(void)
{
	void *at = mmap(NULL, STARTED_MAX * sizeof(*started), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return -1;
	started = at;
	return nvtx_names_init() ?: nvtx_payload_init();
}

void nvtx_reset(void)
{
	atomic_store(&lost, 0);
	atomic_store(&cuts, 0);
	atomic_store(&strays, 0);
	atomic_store(&lost_fields, 0);
	nvtx_payload_reset();
	nvtx_names_reset();
}

/* ------------------------------------------------------------ the writer */

static void nvtx_write_mark(struct packets *p, const struct nvtx_range *r, uint64_t end, uint32_t tid)
{
	struct grt_ev_mark m;

	event_init(&m.e, GRT_EV_MARK, sizeof(m), end);
	m.e.tid = tid;
	m.payload = r->payload;
	m.node = r->node;
	m.domain = nvtx_string(r->domain);
	m.name = nvtx_string(r->name);
	m.category = r->category;
	m.category_name = nvtx_string(nvtx_category_name(r->domain, r->category));
	m.colour = r->colour;
	m.payload_type = r->payload_type;
	m.cut = r->cut;
	m.ranges = r->depth;
	packets_put(p, &m.e);
}

static void nvtx_write_range(struct packets *p, uint16_t kind, const struct nvtx_range *r, uint64_t end,
			     uint32_t tid)
{
	bool began = kind == NVTX_STARTED;
	struct grt_ev_range v;

	event_init(&v.e, GRT_EV_RANGE, sizeof(v), end);
	v.e.tid = tid;
	v.begin = r->begin;
	v.end = kind == NVTX_UNENDED || (began && !r->node) ? 0 : end;
	v.payload = r->payload;
	v.node = began ? 0 : r->node;
	v.domain = nvtx_string(r->domain);
	v.name = nvtx_string(r->name);
	v.category = r->category;
	v.category_name = nvtx_string(nvtx_category_name(r->domain, r->category));
	v.colour = r->colour;
	v.depth = r->depth;
	v.ended_by = began ? r->node : kind == NVTX_UNENDED ? 0 : tid;
	v.payload_type = r->payload_type;
	v.kind = began ? 2 : 1;
	v.cut = r->cut;
	packets_put(p, &v.e);
}

/* Prints a value without its name, as reports show it. The whole text of a long value is a string. */
static void nvtx_print_value(char *to, size_t room, const struct grt_ev_payload *v, const char *text)
{
	double number;

	memcpy(&number, &v->value, sizeof(number));
	if (v->value_type == NVTX_FIELD_TEXT || text)
		snprintf(to, room, "%s", text ?: "");
	else if (v->value_type == NVTX_FIELD_SIGNED)
		snprintf(to, room, "%" PRId64, (int64_t)v->value);
	else if (v->value_type == NVTX_FIELD_DOUBLE)
		snprintf(to, room, "%.17g", number);
	else
		snprintf(to, room, "%" PRIu64, (uint64_t)v->value);
}

static void nvtx_write_field(struct packets *p, const struct nvtx_range *r, uint64_t end, uint32_t tid)
{
	uint32_t schema, name = nvtx_field_name(r->name, &schema);
	struct grt_ev_payload v;

	event_init(&v.e, GRT_EV_PAYLOAD, sizeof(v), end);
	v.e.tid = tid;
	v.begin = r->begin;
	v.value = r->payload;
	v.schema = nvtx_string(schema);
	v.name = nvtx_string(name);
	v.whole = nvtx_string(r->node);
	v.index = r->depth;
	v.value_type = r->payload_type;
	v.at_end = r->cut;
	nvtx_print_value(v.text, sizeof(v.text), &v, r->node ? nvtx_text_of(r->node) : NULL);
	inject.fields++;
	packets_put(p, &v.e);
}

void nvtx_write(struct packets *p, uint16_t kind, const struct nvtx_range *r, uint64_t end, uint32_t tid)
{
	if (kind == NVTX_FIELD) {
		nvtx_write_field(p, r, end, tid);
		return;
	}
	inject.ranges++;
	if (r->cut)
		nvtx_count(&cuts);
	if (kind == NVTX_MARKED)
		nvtx_write_mark(p, r, end, tid);
	else
		nvtx_write_range(p, kind, r, end, tid);
}

void nvtx_write_started(struct packets *(*to)(uint64_t time))
{
	uint32_t n = started ? atomic_load(&started_used) : 0;
	uint64_t now = clock_monotonic();

	for (uint32_t i = 1; i <= n; i++)
		if (started_end(i, atomic_load(&started[i - 1].turn)))
			nvtx_write(to(now), NVTX_STARTED, &started[i - 1].range, now, started[i - 1].tid);
}
