// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Writes a tree of stacks for pprof: profile.proto of github.com/google/pprof (message Profile, version of
 * 2024), packed by gzip if zlib is available. A sample is a stack. Its values are the weight, and the one
 * before in a comparison; or all known weights of the stack. Labels have its process, device, stream, graph,
 * range, rank and control group.
 */
#include "flamegraph_parts.h"

#include <stdio.h>
#ifdef GRT_HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/protobuf.h"

/* Field numbers of profile.proto */
enum pprof_profile {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING_TABLE = 6,
	PPROF_COMMENT = 13,
	PPROF_DEFAULT_SAMPLE_TYPE = 14,
};
enum pprof_value_type { PPROF_TYPE = 1, PPROF_UNIT = 2 };
enum pprof_sample { PPROF_LOCATION_ID = 1, PPROF_VALUE = 2, PPROF_LABEL = 3 };
enum pprof_label { PPROF_KEY = 1, PPROF_STR = 2 };
enum pprof_location { PPROF_ID = 1, PPROF_LINE = 4 };
enum pprof_line { PPROF_FUNCTION_ID = 1, PPROF_LINE_NUMBER = 2 };
enum pprof_function { PPROF_NAME = 2, PPROF_FILENAME = 4 };

#define PACK_ROOM (64U << 10)
/* Bytes for a stack with the most frames, and its labels. */
#define SAMPLE_MAX (GRT_STACKS_DEPTH_MAX * 5U + 1024U)
#define LEVELS_MAX 8U

/**
 * struct pprof - the profile on its way
 * @in: not yet packed
 * @strings: how many there are in the table so far; the first is empty
 * @key, @levels: labels of the outermost frames
 */
struct pprof {
	struct flamegraph *f;
	uint8_t in[PACK_ROOM];
	size_t used;
	uint64_t strings;
	uint64_t key[LEVELS_MAX];
	unsigned int levels;
#ifdef GRT_HAVE_ZLIB
	z_stream z;
#endif
};

/* --------------------------------------------------------------- gzip */

#ifdef GRT_HAVE_ZLIB
/* 15 bits of window, as zlib's default; 16 more for gzip's header */
#define GZIP_WINDOW (15 + 16)

static int pprof_pack_begin(struct pprof *p)
{
	return deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) ==
			       Z_OK
		       ? 0
		       : -ENOMEM;
}

static void pprof_pack(struct pprof *p, bool last)
{
	int ret;

	p->z.next_in = p->in;
	p->z.avail_in = (uInt)p->used;
	do {
		p->z.next_out = (uint8_t *)grt_outbuf_room(&p->f->out, PACK_ROOM);
		p->z.avail_out = PACK_ROOM;
		ret = deflate(&p->z, last ? Z_FINISH : Z_NO_FLUSH);
		grt_outbuf_take(&p->f->out, (char *)p->z.next_out);
	} while (p->z.avail_in || (last && ret == Z_OK) || !p->z.avail_out);
	p->used = 0;
}

static void pprof_pack_end(struct pprof *p)
{
	deflateEnd(&p->z);
}
#else
static int pprof_pack_begin(struct pprof *p)
{
	return 0;
}

static void pprof_pack(struct pprof *p, bool last)
{
	char *to = grt_outbuf_room(&p->f->out, PACK_ROOM);

	memcpy(to, p->in, p->used);
	grt_outbuf_take(&p->f->out, to + p->used);
	p->used = 0;
}

static void pprof_pack_end(struct pprof *p)
{
}
#endif

/* Return: memory for a message of at most @bytes; pprof_take() ends it. */
static uint8_t *pprof_room(struct pprof *p, size_t bytes)
{
	if (p->used + bytes > PACK_ROOM)
		pprof_pack(p, false);
	return p->in + p->used;
}

static void pprof_take(struct pprof *p, const uint8_t *end)
{
	p->used = (size_t)(end - p->in);
}

/* -------------------------------------------------------------- parts */

/* Adds a text to the table of strings. Return: its number */
static uint64_t pprof_string(struct pprof *p, const char *text, size_t len)
{
	size_t n = len < PACK_ROOM / 2 ? len : PACK_ROOM / 2;

	pprof_take(p, grt_pb_bytes(pprof_room(p, n + GRT_PB_MESSAGE_MAX), PPROF_STRING_TABLE, text, n));
	return p->strings++;
}

static uint64_t pprof_word(struct pprof *p, const char *text)
{
	return pprof_string(p, text, strlen(text));
}

/* pprof knows these words as units, and prints all others as they are. */
static const char *pprof_unit(const char *unit)
{
	static const struct {
		const char *ours, *theirs;
	} rows[] = {{"ns", "nanoseconds"},
		    {"us", "microseconds"},
		    {"B", "bytes"},
		    {"launches", "count"},
		    {"", "count"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(unit, rows[i].ours))
			return rows[i].theirs;
	return unit;
}

static void pprof_put_type(struct pprof *p, const char *word, const char *suffix, const char *of_unit,
			   bool first, bool estimated)
{
	char type[64];
	uint64_t name, unit;
	uint8_t *at, *message;

	snprintf(type, sizeof(type), "%s%s%s", estimated ? "estimated_" : "", word, suffix);
	name = pprof_word(p, type);
	unit = pprof_word(p, pprof_unit(of_unit));
	at = pprof_room(p, GRT_PB_MESSAGE_MAX + 2 * GRT_PB_NUMBER_MAX);
	message = grt_pb_open(at, PPROF_SAMPLE_TYPE);
	at = grt_pb_number(message, PPROF_TYPE, name);
	pprof_take(p, grt_pb_close(message, grt_pb_number(at, PPROF_UNIT, unit)));
	if (first)
		pprof_take(p,
			   grt_pb_number(pprof_room(p, GRT_PB_NUMBER_MAX), PPROF_DEFAULT_SAMPLE_TYPE, name));
}

/* Which weights a sample has, in their order. */
static const struct {
	enum grt_stacks_side side;
	const char *word;
	const char *unit;
} pprof_sides[] = {
	{GRT_STACKS_NOW, "time", "ns"},
	{GRT_STACKS_LAUNCHES, "launches", "launches"},
	{GRT_STACKS_BYTES, "bytes", "B"},
	{GRT_STACKS_WALL, "wall", "ns"},
};
#define PPROF_SIDES (sizeof(pprof_sides) / sizeof(pprof_sides[0]))

/* Return: whether the side has weights; a side without any is not in the file. */
static bool pprof_has_side(const struct pprof *p, unsigned int i)
{
	return !i || grt_stacks_total(p->f->s, pprof_sides[i].side);
}

static void pprof_put_types(struct pprof *p)
{
	const struct grt_flamegraph_look *look = p->f->look;
	const char *word = look->weight ? look->weight : "weight";

	if (grt_stacks_compared(p->f->s))
		pprof_put_type(p, word, "_before", look->unit, false, look->estimated);
	if (!look->labels)
		pprof_put_type(p, word, "", look->unit, true, look->estimated);
	for (unsigned int i = 0; i < PPROF_SIDES && look->labels; i++)
		if (pprof_has_side(p, i))
			pprof_put_type(p, pprof_sides[i].word, "", pprof_sides[i].unit, !i,
				       look->estimated && pprof_sides[i].side != GRT_STACKS_WALL);
}

static void pprof_put_comment(struct pprof *p, const char *text)
{
	uint64_t number = pprof_word(p, text);

	pprof_take(p, grt_pb_number(pprof_room(p, GRT_PB_NUMBER_MAX), PPROF_COMMENT, number));
}

/* Writes a label for each kind of the outermost frames. */
static void pprof_put_keys(struct pprof *p)
{
	const char *word = p->f->look->levels ? p->f->look->levels : "";

	for (size_t n; *word && p->levels < LEVELS_MAX; word += n, word += *word == ' ') {
		n = strcspn(word, " ");
		p->key[p->levels++] = pprof_string(p, word, n);
	}
}

/* Return: the id of a text of the tree as a string, function and location. */
static uint64_t pprof_id(uint32_t name)
{
	return (uint64_t)name + 1;
}

static void pprof_put_location(struct pprof *p, uint32_t name)
{
	const struct flamegraph_place place = flamegraph_place(p->f->s, name);
	uint64_t function = pprof_id(name), file = 0;
	uint8_t *at, *message, *line;

	if (place.file) {
		function = pprof_string(p, place.function, place.function_len);
		file = pprof_string(p, place.file, place.file_len);
	}
	at = pprof_room(p, 3 * GRT_PB_MESSAGE_MAX + 6 * GRT_PB_NUMBER_MAX);
	message = grt_pb_open(at, PPROF_FUNCTION);
	at = grt_pb_number(message, PPROF_ID, pprof_id(name));
	at = grt_pb_number(at, PPROF_NAME, function);
	if (file)
		at = grt_pb_number(at, PPROF_FILENAME, file);
	at = grt_pb_close(message, at);
	message = grt_pb_open(at, PPROF_LOCATION);
	at = grt_pb_number(message, PPROF_ID, pprof_id(name));
	line = grt_pb_open(at, PPROF_LINE);
	at = grt_pb_number(line, PPROF_FUNCTION_ID, pprof_id(name));
	if (place.line)
		at = grt_pb_number(at, PPROF_LINE_NUMBER, place.line);
	pprof_take(p, grt_pb_close(message, grt_pb_close(line, at)));
}

/* Return: whether the frame of a label means that there is no value. */
static bool pprof_is_none(const struct pprof *p, uint32_t name)
{
	size_t len;
	const char *text = grt_stacks_text(p->f->s, name, &len);

	return len == 1 && *text == '-';
}

static uint8_t *pprof_format_values(const struct pprof *p, uint8_t *at, uint32_t node)
{
	const struct grt_stacks *s = p->f->s;

	if (!p->f->look->labels) {
		if (grt_stacks_compared(s))
			at = grt_pb_number(at, PPROF_VALUE, grt_stacks_weight(s, node, GRT_STACKS_BEFORE));
		return grt_pb_number(at, PPROF_VALUE, grt_stacks_weight(s, node, GRT_STACKS_NOW));
	}
	for (unsigned int i = 0; i < PPROF_SIDES; i++)
		if (pprof_has_side(p, i))
			at = grt_pb_number(at, PPROF_VALUE, grt_stacks_weight(s, node, pprof_sides[i].side));
	return at;
}

static uint8_t *pprof_format_labels(const struct pprof *p, uint8_t *at, const uint32_t *frame, uint32_t depth)
{
	uint8_t *label;

	for (unsigned int i = 0; i < p->levels && i < depth; i++) {
		if (i < p->f->look->labels && pprof_is_none(p, frame[i]))
			continue;
		label = grt_pb_open(at, PPROF_LABEL);
		at = grt_pb_number(label, PPROF_KEY, p->key[i]);
		at = grt_pb_close(label, grt_pb_number(at, PPROF_STR, pprof_id(frame[i])));
	}
	return at;
}

static int pprof_put_sample(void *arg, uint32_t node, const uint32_t *frame, uint32_t depth)
{
	struct pprof *p = arg;
	uint8_t *message = grt_pb_open(pprof_room(p, SAMPLE_MAX), PPROF_SAMPLE), *ids, *at;

	ids = at = grt_pb_open(message, PPROF_LOCATION_ID);
	for (uint32_t i = depth; i > p->f->look->labels; i--)
		at = grt_pb_varint(at, pprof_id(frame[i - 1]));
	at = grt_pb_close(ids, at);
	at = pprof_format_values(p, at, node);
	at = pprof_format_labels(p, at, frame, depth);
	pprof_take(p, grt_pb_close(message, at));
	return p->f->out.error;
}

/* Strings come before messages that use their numbers; those of the tree's texts have the tree's numbers. */
static int pprof_put(struct pprof *p)
{
	const struct grt_notes *notes = p->f->look->notes;
	uint32_t names = grt_stacks_names(p->f->s);
	const char *text;
	size_t len;

	pprof_word(p, "");
	for (uint32_t i = 0; i < names; i++) {
		text = grt_stacks_text(p->f->s, i, &len);
		pprof_string(p, text, len);
	}
	pprof_put_types(p);
	if (p->f->look->about && *p->f->look->about)
		pprof_put_comment(p, p->f->look->about);
	for (unsigned int i = 0; notes && i < notes->n; i++)
		pprof_put_comment(p, notes->text[i]);
	pprof_put_keys(p);
	for (uint32_t i = 0; i < names; i++)
		pprof_put_location(p, i);
	return flamegraph_each_stack(p->f, pprof_put_sample, p);
}

int flamegraph_pprof(struct flamegraph *f)
{
	struct pprof *p = calloc(1, sizeof(*p));
	int ret = -ENOMEM;

	if (!p)
		return ret;
	p->f = f;
	ret = pprof_pack_begin(p);
	if (!ret) {
		ret = pprof_put(p);
		pprof_pack(p, true);
		pprof_pack_end(p);
	}
	free(p);
	return ret;
}
