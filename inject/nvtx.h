/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * NVTX: ranges and marks of the program. nvtx.c has the functions that the program
 * calls, nvtx_names.c the names of ranges, nvtx_payload.c the fields of extended payloads,
 * and launch.c their entries in the rings.
 */
#ifndef GRT_INJECT_NVTX_H
#define GRT_INJECT_NVTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most open ranges of a thread; deeper pushes are only counted. */
#define NVTX_OPEN_MAX 128U
/* Number of counters for pushes beyond the limit, which the domains of a thread share. */
#define NVTX_DOMAINS 16U
/* Most addresses of texts that a thread has used recently. */
#define NVTX_RECENT 64U

/** enum nvtx_kind - kinds of ring entries; no call has these numbers */
enum nvtx_kind {
	NVTX_PUSHED = 0xff00,
	NVTX_STARTED,
	NVTX_MARKED,
	NVTX_UNENDED, /* pushed; its end was not seen, as of one that is open when its thread ends */
	NVTX_FIELD,   /* of an extended payload */
};

/**
 * struct nvtx_range - a range, or a mark
 * @name, @domain: numbers of nvtx_names.c
 * @node: its chain; for a started range, the thread that ended it
 * @depth: number of ranges around it, in its domain
 * @cut: name or chain is incomplete
 *
 * In the entry of an NVTX_FIELD: @begin is that of its range, @payload the value, @payload_type a
 * NVTX_FIELD_*, @name the number of the field, @node that of its text in nvtx_names.c, @depth its place in
 * the event, @cut: it was given at the end of the range
 */
struct nvtx_range {
	uint64_t begin;
	uint64_t payload;
	uint32_t name;
	uint32_t domain;
	uint32_t node;
	uint32_t category;
	uint32_t colour;
	uint16_t depth;
	uint8_t payload_type;
	bool cut;
};

/**
 * struct nvtx_thread - data of each thread
 * @depth: number of used elements of @open
 * @over: pushes beyond the limit, by domain
 * @recent: numbers of names by the address of their text, which may have changed
 */
struct nvtx_thread {
	uint32_t depth;
	uint32_t over[NVTX_DOMAINS];
	struct {
		const char *at;
		uint32_t name;
	} recent[NVTX_RECENT];
	struct nvtx_range open[NVTX_OPEN_MAX];
};

/** nvtx_chain - the chain of open ranges of a thread, 0: none */
static inline uint32_t nvtx_chain(const struct nvtx_thread *t)
{
	return t->depth ? t->open[t->depth - 1].node : 0;
}

/** nvtx_ranges - the number of these ranges */
static inline uint16_t nvtx_ranges(const struct nvtx_thread *t)
{
	uint32_t n = t->depth;

	if (n == NVTX_OPEN_MAX)
		for (unsigned int i = 0; i < NVTX_DOMAINS; i++)
			n += t->over[i];
	return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}

struct packets;

/* ---------------------------------------------------------- nvtx_names.c */

/** nvtx_names_init - Return: 0 or -ENOMEM */
int nvtx_names_init(void);

/** nvtx_names_reset - marks all names as unwritten, for another recording of the process */
void nvtx_names_reset(void);

/** nvtx_name - the number of a text, 0 if there is no room; @cut: set if the text was cut or had no room */
uint32_t nvtx_name(const char *text, size_t length, bool *cut);

/** nvtx_text - the number of a text that is not the name of a range; 0: none, or no room, of which most is
 * kept for names */
uint32_t nvtx_text(const char *text, size_t length);

/** nvtx_text_of - the text of a number */
const char *nvtx_text_of(uint32_t number);

/** nvtx_name_known - whether a name has this number */
bool nvtx_name_known(uint64_t number);

/** nvtx_name_is - whether a name has this text */
bool nvtx_name_is(uint32_t name, const char *text);

/** nvtx_chain_of - the chain of a range within another chain; if there is no room, sets @cut and returns
 * @outer */
uint32_t nvtx_chain_of(uint32_t outer, uint32_t domain, uint32_t name, bool *cut);

/** nvtx_name_category - sets the name of a category */
void nvtx_name_category(uint32_t domain, uint32_t category, uint32_t name);

/** nvtx_define - writes new names and chains; for the writer */
void nvtx_define(void);

/** nvtx_string - the number of a name's STRING record, 0: none; for the writer */
uint32_t nvtx_string(uint32_t name);

/** nvtx_category_name - the number of the name of a category, 0: none */
uint32_t nvtx_category_name(uint32_t domain, uint32_t category);

/* -------------------------------------------------------- nvtx_payload.c */

/* Most fields of an event; the others are counted. */
#define NVTX_FIELDS_MAX 32U

/* As type in PAYLOAD. */
enum { NVTX_FIELD_UNSIGNED = 1, NVTX_FIELD_SIGNED, NVTX_FIELD_DOUBLE, NVTX_FIELD_TEXT, NVTX_FIELD_ENUM };

/** struct nvtx_payload - nvtxPayloadData_t: a struct of the program, and the id of its schema */
struct nvtx_payload {
	uint64_t schema;
	size_t size;
	const void *data;
};

/**
 * struct nvtx_field - a field's value
 * @number: see nvtx_field_name()
 * @text: number of a text in nvtx_names.c, 0: none
 */
struct nvtx_field {
	uint64_t value;
	uint32_t number;
	uint32_t text;
	uint8_t type;
};

/**
 * struct nvtx_fields - the fields of an event, and what they say about the event itself; 0: nothing
 * @at_end: they belong to the end of a range, whose name is not changed any more
 */
struct nvtx_fields {
	uint32_t n;
	uint32_t name;
	uint32_t category;
	uint32_t colour;
	bool at_end;
	struct nvtx_field field[NVTX_FIELDS_MAX];
};

struct nvtx_schema;
struct nvtx_enum;

/** nvtx_payload_init - Return: 0 or -ENOMEM */
int nvtx_payload_init(void);

/** nvtx_payload_reset - forgets the count, for another recording */
void nvtx_payload_reset(void);

/** nvtx_payload_schema, nvtx_payload_enum - register a schema or an enumeration. Return: its id, 0: no place
 */
uint64_t nvtx_payload_schema(uint32_t domain, const struct nvtx_schema *a);
uint64_t nvtx_payload_enum(uint32_t domain, const struct nvtx_enum *a);

/** nvtx_payload_read - adds the fields of @n payloads to @to, and counts those that cannot be read */
void nvtx_payload_read(struct nvtx_fields *to, uint32_t domain, const struct nvtx_payload *p, size_t n);

/** nvtx_payload_unread - as fields_unread in PROCESS */
uint64_t nvtx_payload_unread(void);

/** nvtx_field_name - the name of a field and of its schema, as numbers of nvtx_names.c; for the writer */
uint32_t nvtx_field_name(uint32_t number, uint32_t *schema);

/* ---------------------------------------------------------------- nvtx.c */

/** nvtx_write - writes the record of an entry; for the writer */
void nvtx_write(struct packets *p, uint16_t kind, const struct nvtx_range *r, uint64_t end, uint32_t tid);

/**
 * nvtx_write_started - writes records of started ranges without an end; @to: returns the stream for a time
 */
void nvtx_write_started(struct packets *(*to)(uint64_t time));

/**
 * nvtx_open - the calling thread begins a range that the library knows of. @domain, @name: numbers of
 * nvtx_names.c; @cut: the name is not the whole one
 * Return: false if nothing is recorded, or the thread has too many open ranges, which is counted
 */
bool nvtx_open(uint32_t domain, uint32_t name, bool cut);

/** nvtx_close - ends the calling thread's innermost range of the domain. @seen: it ends now, else it ended
 * at an unknown time */
void nvtx_close(uint32_t domain, bool seen);

/** nvtx_lose_field - counts a field that is not recorded */
void nvtx_lose_field(void);

/** nvtx_lost_fields - the number of these since the last call; for the writer */
uint64_t nvtx_lost_fields(void);

/** nvtx_lose - counts a range or mark that is not recorded */
void nvtx_lose(void);

/** nvtx_lost - the number of these since the last call; for the writer */
uint64_t nvtx_lost(void);

/** nvtx_cut, nvtx_stray - as ranges_cut and ranges_stray in PROCESS */
uint64_t nvtx_cut(void);
uint64_t nvtx_stray(void);

/* -------------------------------------------------------------- launch.c */

/**
 * nvtx_thread_enter - the data of the calling thread, which must not be in two such functions at once
 * Return: NULL if nothing is recorded
 */
struct nvtx_thread *nvtx_thread_enter(void);

/** nvtx_thread_leave - call this after each nvtx_thread_enter() that did not return NULL */
void nvtx_thread_leave(void);

/**
 * nvtx_thread_put - adds an entry that ends now, between nvtx_thread_enter() and nvtx_thread_leave(). @tid:
 * 0: the calling thread
 */
void nvtx_thread_put(uint16_t kind, const struct nvtx_range *r, uint32_t tid);

/**
 * nvtx_thread_put_field - adds an NVTX_FIELD at the time @now, between nvtx_thread_enter() and
 * nvtx_thread_leave(). @tid: 0: the calling thread
 */
void nvtx_thread_put_field(const struct nvtx_range *r, uint64_t now, uint32_t tid);

/** nvtx_thread_id - tid of the calling thread, between nvtx_thread_enter() and nvtx_thread_leave() */
uint32_t nvtx_thread_id(void);

#endif /* GRT_INJECT_NVTX_H */
