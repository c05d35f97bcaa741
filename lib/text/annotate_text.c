// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Text that grtrace annotate and grtrace merge print, and older tools like
 * them:
 *
 *	[sec.frac] EVENT key=value key=value
 *	[sec.frac] CPU|GPU EVENT            key=value, key=value
 *	sec.frac  [CPU]  comm(pid) event key=value   <arrow> note
 *	sec.frac  [GPU]  ctx=0xN event seq=N key=value   <arrow> note
 *
 * A value is a word; comm and a few others may hold blanks and end where the
 * next known key begins. What those writers escape (\xNN, \\) is undone.
 */
#include "text_input.h"

#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "codes/engine.h"
#include "base/scan.h"
#include "base/lines_in.h"
#include "trace/field.h"

#define DRM_MAJOR 226
#define ARROW "\xe2\x86\x90"
/* The name that the kernel's tools write if they do not know the real one. */
#define NO_COMM "<...>"
#define TEXT_MAX 64

/** enum key - keys that several events have; keys of one event are in events.def */
enum key {
	KEY_PID,
	KEY_TID,
	KEY_COMM,
	KEY_PROCESS,
	KEY_CTX,
	KEY_SEQ,
	KEY_ENGINE,
	KEY_RING,
	KEY_RING_NAME,
	KEY_DRIVER,
	KEY_DEV,
	KEY_DEVICE,
	KEY_FLAGS,
	KEY_SAMPLE,
	KEY_DERIVED, /* follows from other events */
	KEYS,
	KEY_FIELD, /* of the event */
};

/* Longest key with the = after it. */
#define KEY_MAX 16U

static const struct word {
	const char *text;
	uint8_t len;
	uint16_t id;
} keys[] = {
#define WORD(text, id)                         \
	{                                      \
		(text), sizeof(text) - 1, (id) \
	}
	WORD("pid", KEY_PID),
	WORD("tid", KEY_TID),
	WORD("comm", KEY_COMM),
	WORD("process", KEY_PROCESS),
	WORD("ctx", KEY_CTX),
	WORD("ctx_id", KEY_CTX),
	WORD("seq", KEY_SEQ),
	WORD("seqno", KEY_SEQ),
	WORD("engine", KEY_ENGINE),
	WORD("ring", KEY_RING),
	WORD("ring_name", KEY_RING_NAME),
	WORD("driver", KEY_DRIVER),
	WORD("dev", KEY_DEV),
	WORD("device", KEY_DEVICE),
	WORD("flags", KEY_FLAGS),
	WORD("sample", KEY_SAMPLE),
	WORD("name", KEY_DERIVED),
	WORD("duration_ns", KEY_DERIVED),
	WORD("since_ioctl_ns", KEY_DERIVED),
	WORD("since_submit_ns", KEY_DERIVED),
	WORD("t_sched_ns", KEY_DERIVED),
	WORD("t_queue_ns", KEY_DERIVED),
	WORD("t_exec_ns", KEY_DERIVED),
	WORD("t_complete_ns", KEY_DERIVED),
	WORD("t_total_ns", KEY_DERIVED),
	WORD("t_wait_ns", KEY_DERIVED),
/* fields of events, some of which are the same */
#define GRT_U(bits, name, base, help) WORD(#name, KEY_FIELD),
#define GRT_I(bits, name, help) WORD(#name, KEY_FIELD),
#define GRT_STR(size, name, help) WORD(#name, KEY_FIELD),
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) fields
#include <grtrace/events.def>
#undef GRT_EVENT
#undef GRT_STR
#undef GRT_I
#undef GRT_U
#undef WORD
};
#define KEY_WORDS (sizeof(keys) / sizeof(keys[0]))
_Static_assert(KEY_WORDS < UINT16_MAX, "their places are 16 bits");

static const struct word events[] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) {#NAME, sizeof(#NAME) - 1, (id)},
#include <grtrace/events.def>
#undef GRT_EVENT
};
#define EVENT_WORDS (sizeof(events) / sizeof(events[0]))

#define SLOTS 1024U
_Static_assert(KEY_WORDS < SLOTS, "there is always an empty one");
/* Keys of a line whose order is remembered; the element after them is never set. */
#define ORDER 24U

/** struct pattern - a key and its =, as two words, and which of their bits count */
struct pattern {
	uint64_t text[2];
	uint64_t mask[2];
};

/** enum what - what to do with the value of a key */
enum what {
	NOT_KNOWN, /* skipped; the key does not end a text before it */
	DERIVED,   /* passed over */
	COMMON,	   /* remembered by enum key */
	COMMON_LONG,
	UNSIGNED, /* a field of the record */
	SIGNED,
	STRING,
};

/** struct action - what to do with a key's value, and its offset in the record, or the enum key */
struct action {
	uint8_t what;
	uint8_t size;
	uint16_t at;
};

/**
 * struct step - a key of the previous line: its @pattern of @len bytes, its meaning, and its place plus 1 (0:
 * none)
 */
struct step {
	struct pattern pattern;
	struct action action;
	uint8_t len;
	uint16_t place;
};

/**
 * struct annotate - tables, and what the lines before looked like
 * @key_slot, @event_slot: places of words, by a hash of them; plus 1, 0: empty
 * @action: of each event, what a key means
 * @step: of each event, the keys that the last line had; the next one will have
 *	the same
 * @last, @follower: the event before, and what followed each event when it came
 *	last, as places in the table plus 1
 */
struct annotate {
	bool made;
	uint16_t key_slot[SLOTS];
	uint16_t event_slot[SLOTS];
	struct action action[GRT_EV_MAX][KEY_WORDS];
	struct step step[GRT_EV_MAX][ORDER + 1];
	uint8_t last;
	uint8_t follower[EVENT_WORDS + 1];
};

/**
 * struct facts - the contents of a line
 * @has: bits of enum key
 */
struct facts {
	uint64_t time;
	uint64_t number[KEYS];
	struct grt_span text[KEYS];
	uint32_t has;
	union {
		struct grt_event e;
		char room[GRT_RECORD_MAX];
	};
};

/* ----------------------------------------------------------------- words */

/* Upper and lower case are the same. */
static inline unsigned int annotate_text_place_of(const char *text, size_t len)
{
	unsigned int first = (unsigned char)text[0] | 32, last = (unsigned char)text[len - 1] | 32,
		     inner = (unsigned char)text[len / 2] | 32;

	return ((unsigned int)len * 7 + first * 5 + last * 17 + inner * 3) % SLOTS;
}

static const struct word *find_word(const uint16_t slot[SLOTS], const struct word *words, const char *text,
				    size_t len)
{
	if (!len)
		return NULL;
	for (unsigned int at = annotate_text_place_of(text, len); slot[at]; at = (at + 1) % SLOTS) {
		const struct word *w = &words[slot[at] - 1];

		if (w->len == len && (!memcmp(w->text, text, len) || !strncasecmp(w->text, text, len)))
			return w;
	}
	return NULL;
}

static void place_words(uint16_t slot[SLOTS], const struct word *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned int at = annotate_text_place_of(words[i].text, words[i].len);

		if (find_word(slot, words, words[i].text, words[i].len))
			continue;
		while (slot[at])
			at = (at + 1) % SLOTS;
		slot[at] = (uint16_t)(i + 1);
	}
}

static struct action action_of_field(const struct grt_field *f)
{
	struct action a = {.what = UNSIGNED, .size = (uint8_t)f->size, .at = f->offset};

	if (f->kind == GRT_FIELD_STR)
		a.what = STRING;
	else if (f->kind == GRT_FIELD_SIGNED)
		a.what = SIGNED;
	return a;
}

static struct action action_of_key(const struct word *w)
{
	struct action a = {.what = COMMON, .at = w->id};

	if (w->id == KEY_FIELD)
		a.what = NOT_KNOWN;
	else if (w->id == KEY_DERIVED)
		a.what = DERIVED;
	else if (w->id == KEY_COMM || w->id == KEY_PROCESS)
		a.what = COMMON_LONG;
	return a;
}

static void annotate_text_plan_event(struct annotate *a, unsigned int type)
{
	const struct grt_field *f = grt_event_table[type].fields();

	for (size_t i = 0; i < KEY_WORDS; i++)
		a->action[type][i] = action_of_key(&keys[i]);
	for (; f->name; f++) {
		const struct word *w = find_word(a->key_slot, keys, f->name, strlen(f->name));

		a->action[type][w - keys] = action_of_field(f);
	}
}

static struct annotate *annotate_text_state_of(struct grt_text *t)
{
	struct annotate *a = grt_text_state(t);

	if (a->made)
		return a;
	place_words(a->key_slot, keys, KEY_WORDS);
	place_words(a->event_slot, events, EVENT_WORDS);
	for (size_t i = 0; i < EVENT_WORDS; i++)
		annotate_text_plan_event(a, events[i].id);
	a->made = true;
	return a;
}

static inline bool is_word_char(char c)
{
	return (unsigned char)((c | 32) - 'a') < 26 || grt_is_digit(c) || c == '_';
}

static struct grt_span scan_word(const char **p, const char *end)
{
	struct grt_span word = {*p, 0};

	while (*p < end && is_word_char(**p))
		++*p;
	word.len = (size_t)(*p - word.at);
	return word;
}

/* ------------------------------------------------------------------ keys */

/*
 * Finds a key in the tables for this event and for all events. Return: its place, KEY_WORDS: it is another
 * word
 */
static size_t find_key(const struct annotate *a, const struct facts *f, struct grt_span key)
{
	const struct word *w = key.len < KEY_MAX ? find_word(a->key_slot, keys, key.at, key.len) : NULL;

	if (!w || a->action[f->e.type][w - keys].what == NOT_KNOWN)
		return KEY_WORDS;
	return (size_t)(w - keys);
}

/*
 * Whether the key that the previous line had here is here again. As many bytes can be read, and the end of
 * the line is in no pattern.
 */
static inline bool is_step(const struct step *s, const char *p)
{
	uint64_t text[2];

	memcpy(text, p, KEY_MAX);
	return s->place && !(((text[0] ^ s->pattern.text[0]) & s->pattern.mask[0]) |
			     ((text[1] ^ s->pattern.text[1]) & s->pattern.mask[1]));
}

_Static_assert(KEY_MAX <= GRT_LINE_AHEAD, "patterns are compared at any byte of a line");

static void set_step(struct step *s, const struct annotate *a, const struct facts *f, size_t key)
{
	char text[KEY_MAX] = "", mask[KEY_MAX] = "";

	memcpy(text, keys[key].text, keys[key].len);
	text[keys[key].len] = '=';
	memset(mask, 0xff, keys[key].len + 1U);
	memcpy(s->pattern.text, text, KEY_MAX);
	memcpy(s->pattern.mask, mask, KEY_MAX);
	s->action = a->action[f->e.type][key];
	s->len = (uint8_t)(keys[key].len + 1);
	s->place = (uint16_t)(key + 1);
}

/* Parses the key at *p if it is that of @s; *p moves after its =. Return: whether it is */
static bool scan_key(struct annotate *a, const struct facts *f, const char **p, const char *end,
		     struct step *s)
{
	struct grt_span key = scan_word(p, end);
	size_t found;

	if (*p == end || **p != '=' || !key.len)
		return false;
	++*p;
	found = find_key(a, f, key);
	s->place = 0;
	if (found < KEY_WORDS)
		set_step(s, a, f, found);
	return found < KEY_WORDS;
}

/* ---------------------------------------------------------------- values */

/* Return: the end of a value with blanks: the next known key. */
static const char *end_of_long(const struct annotate *a, const struct facts *f, const char *value,
			       const char *end, const struct step *next)
{
	const char *at, *key;

	/* mostly the key that followed in the last line */
	at = memchr(value, '=', (size_t)(end - value));
	if (at && next->place) {
		key = at + 1 - next->len;
		if (key > value && key[-1] == ' ' && is_step(next, key)) {
			key--;
			return key > value && key[-1] == ',' ? key - 1 : key;
		}
	}
	for (; at; at = memchr(at + 1, '=', (size_t)(end - at - 1))) {
		for (key = at; key > value && is_word_char(key[-1]); key--)
			;
		if (key > value && key[-1] == ' ' &&
		    find_key(a, f, (struct grt_span){key, (size_t)(at - key)}) < KEY_WORDS) {
			key--;
			return key > value && key[-1] == ',' ? key - 1 : key;
		}
	}
	return end;
}

static inline const char *end_of_word(const char *value, const char *end)
{
	const char *p = value;

	while (p < end && *p != ' ' && *p != ',')
		p++;
	return p;
}

/* Undoes \xNN and \\. Return: bytes written, at most @room */
static size_t unescape(char *dst, size_t room, struct grt_span s)
{
	const char *p = s.at, *end = s.at + s.len;
	size_t used = 0;

	while (p < end && used < room) {
		if (end - p >= 4 && p[0] == '\\' && p[1] == 'x' && grt_hex_digit(p[2]) < 16 &&
		    grt_hex_digit(p[3]) < 16) {
			dst[used++] = (char)(grt_hex_digit(p[2]) << 4 | grt_hex_digit(p[3]));
			p += 4;
		} else {
			p += end - p >= 2 && p[0] == '\\' && p[1] == '\\';
			dst[used++] = *p++;
		}
	}
	return used;
}

/* Return: a text without its escapes, up to a NUL. */
static struct grt_span plain(char buf[TEXT_MAX], struct grt_span s)
{
	if (memchr(s.at, '\\', s.len))
		s = (struct grt_span){buf, unescape(buf, TEXT_MAX, s)};
	return (struct grt_span){s.at, strnlen(s.at, s.len)};
}

/* As grt_scan_hex(), for a number that begins with 0x */
static inline bool scan_hex(const char **p, const char *end, uint64_t *v)
{
	const char *q = *p + 2;
	unsigned int n = grt_scan_hex_digits(q, v), more = 0;
	uint64_t low;

	if (n == 8)
		more = grt_scan_hex_digits(q + 8, &low);
	if (more)
		*v = *v << 4 * more | low;
	if (more == 8 && grt_hex_digit(q[16]) < 16)
		return grt_scan_hex(p, end, v);
	*p = q + n + more;
	return n > 0;
}

/* As grt_scan_number() for the text of a line; the digits end at the line's end at the latest. */
static inline bool scan_number(const char **p, const char *end, uint64_t *v)
{
	if (**p == '0' && ((*p)[1] | 32) == 'x')
		return scan_hex(p, end, v);
	return grt_scan_line_u64(p, end, v);
}

static void set_signed(struct facts *f, const struct action *a, int64_t n)
{
	int64_t top = (int64_t)(UINT64_MAX >> (65 - 8 * a->size));

	n = n > top ? top : n < -top - 1 ? -top - 1 : n;
	memcpy(f->room + a->at, &n, a->size);
}

static inline void set_number(struct facts *f, const struct action *a, uint64_t n)
{
	uint32_t half = grt_u32(n);
	uint16_t quarter = n > UINT16_MAX ? UINT16_MAX : (uint16_t)n;

	if (a->size == sizeof(half))
		memcpy(f->room + a->at, &half, sizeof(half));
	else if (a->size == sizeof(n))
		memcpy(f->room + a->at, &n, sizeof(n));
	else
		memcpy(f->room + a->at, &quarter, sizeof(quarter));
}

static inline void set_common(struct facts *f, unsigned int key, const char *value, const char *end,
			      uint64_t n)
{
	f->has |= 1U << key;
	f->text[key] = (struct grt_span){value, (size_t)(end - value)};
	f->number[key] = n;
}

static void set_key(struct facts *f, unsigned int key, struct grt_span value)
{
	const char *p = value.at;
	uint64_t n = 0;

	scan_number(&p, value.at + value.len, &n);
	set_common(f, key, value.at, value.at + value.len, n);
}

/* Parses the most frequent kind of value: a number and a blank or a comma. Return: whether it is one */
static inline bool annotate_text_take_number(struct facts *f, const struct action *a, const char **p,
					     const char *end)
{
	const char *q = *p;
	uint64_t n;

	if (!scan_number(&q, end, &n) || (*q != ' ' && *q != ',' && q < end))
		return false;
	if (a->what == UNSIGNED)
		set_number(f, a, n);
	else if (a->what == COMMON)
		set_common(f, a->at, *p, q, n);
	else if (a->what == SIGNED)
		set_signed(f, a, n > INT64_MAX ? INT64_MAX : (int64_t)n);
	*p = q;
	return true;
}

/* Parses any other value. */
static void set_value(struct facts *f, const struct action *a, struct grt_span value)
{
	const char *p = value.at, *end = value.at + value.len;
	const struct grt_unknown *u;
	uint64_t n;
	int64_t s;

	if (a->what == COMMON || a->what == COMMON_LONG) {
		set_key(f, a->at, value);
	} else if (a->what == STRING) {
		memset(f->room + a->at, 0, a->size);
		unescape(f->room + a->at, a->size, value);
	} else if (a->what == SIGNED && grt_scan_s64(&p, end, &s)) {
		set_signed(f, a, s);
	} else if (a->what == UNSIGNED && grt_scan_number(&p, end, &n)) {
		set_number(f, a, n);
	} else if (grt_span_is(value, "-") && (u = grt_unknown_of(f->e.type, a->at))) {
		memcpy(f->room + a->at, &u->value, a->size);
	}
}

/* Parses a value that is not a plain number; the next step has the key that may end it. */
static const char *scan_value(const struct annotate *a, struct facts *f, const char *p, const char *end,
			      const struct step *s)
{
	bool is_long = s->action.what == COMMON_LONG || s->action.what == STRING;
	struct grt_span value = {p, 0};

	p = is_long ? end_of_long(a, f, p, end, s + 1) : end_of_word(p, end);
	value.len = (size_t)(p - value.at);
	set_value(f, &s->action, value);
	return p;
}

static inline const char *skip_separators(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == ',' || *p == '\t'))
		p++;
	return p;
}

/* Keys and values, and words without a value; the last step is that of all keys that have none of their own.
 */
static void scan_pairs(struct annotate *a, struct facts *f, const char *p, const char *end)
{
	struct step *s = a->step[f->e.type], *last = s + ORDER - 1;

	for (p = skip_separators(p, end); p < end; p = skip_separators(p, end), s += s < last) {
		if (is_step(s, p))
			p += s->len;
		else if (!scan_key(a, f, &p, end, s)) {
			p = end_of_word(p, end);
			continue;
		}
		if (s->action.what == COMMON_LONG || s->action.what == STRING ||
		    !annotate_text_take_number(f, &s->action, &p, end))
			p = scan_value(a, f, p, end, s);
	}
}

/* ---------------------------------------------------------------- events */

static uint8_t annotate_text_engine_of(struct grt_span name)
{
	for (unsigned int i = 0; i < GRT_ENGINE_MAX; i++)
		if (grt_engine_names[i] && strlen(grt_engine_names[i]) == name.len &&
		    !strncasecmp(grt_engine_names[i], name.at, name.len))
			return (uint8_t)i;
	return (uint8_t)grt_engine_of_ring(name.at, name.len);
}

static bool annotate_text_has(const struct facts *f, unsigned int key)
{
	return f->has >> key & 1;
}

static bool annotate_text_is_number(struct grt_span s)
{
	const char *p = s.at;
	uint64_t n;

	return grt_scan_u64(&p, s.at + s.len, &n) && p == s.at + s.len;
}

/* Without any of these keys, there is no ring or device. */
#define RING_KEYS (1U << KEY_RING | 1U << KEY_RING_NAME | 1U << KEY_ENGINE)
#define DEVICE_KEYS (1U << KEY_DEV | 1U << KEY_DEVICE)

static void set_ring(struct grt_text *t, struct facts *f)
{
	char name_buf[TEXT_MAX], driver_buf[TEXT_MAX];
	struct grt_span driver = {"", 0}, name = {"", 0};
	uint8_t engine = GRT_ENGINE_UNKNOWN;

	f->e.ring = GRT_RING_NONE;
	if (!(f->has & RING_KEYS))
		return;
	if (annotate_text_has(f, KEY_DRIVER))
		driver = plain(driver_buf, f->text[KEY_DRIVER]);
	if (annotate_text_has(f, KEY_RING_NAME))
		name = plain(name_buf, f->text[KEY_RING_NAME]);
	if (annotate_text_has(f, KEY_RING) && annotate_text_is_number(f->text[KEY_RING])) {
		f->e.ring = grt_u32(f->number[KEY_RING]);
		if (name.len)
			grt_text_name(t, GRT_NAME_RING, f->e.ring, f->time, name.at, name.len, driver.at,
				      driver.len);
		engine = (uint8_t)grt_engine_of_ring(name.at, name.len);
	} else if (annotate_text_has(f, KEY_RING)) {
		name = plain(name_buf, f->text[KEY_RING]);
		if (name.len)
			f->e.ring =
				grt_text_ring(t, f->time, name.at, name.len, driver.at, driver.len, &engine);
	}
	f->e.engine =
		annotate_text_has(f, KEY_ENGINE) ? annotate_text_engine_of(f->text[KEY_ENGINE]) : engine;
}

/* The number of a DRM node follows from its name. */
static uint32_t node_number(struct grt_span node)
{
	const char *p = node.at, *end = node.at + node.len;
	uint64_t minor;

	if (!GRT_SCAN_WORD(&p, end, "renderD") && !GRT_SCAN_WORD(&p, end, "card"))
		return 0;
	if (!grt_scan_u64(&p, end, &minor) || p != end || minor > 0xfffff)
		return 0;
	return DRM_MAJOR << 20 | (uint32_t)minor;
}

static void set_device(struct grt_text *t, struct facts *f)
{
	char node_buf[TEXT_MAX], driver_buf[TEXT_MAX];
	struct grt_span node = {"", 0}, driver = {"", 0};

	if (!(f->has & DEVICE_KEYS))
		return;
	if (annotate_text_has(f, KEY_DEV)) {
		node = plain(node_buf, f->text[KEY_DEV]);
		f->e.device = node_number(node);
	}
	if (annotate_text_has(f, KEY_DEVICE))
		f->e.device = grt_u32(f->number[KEY_DEVICE]);
	if (annotate_text_has(f, KEY_DRIVER))
		driver = plain(driver_buf, f->text[KEY_DRIVER]);
	if (f->e.device && node.len)
		grt_text_name(t, GRT_NAME_DEVICE, f->e.device, f->time, node.at, node.len, driver.at,
			      driver.len);
}

static void set_thread(struct grt_text *t, struct facts *f)
{
	char comm_buf[TEXT_MAX], process_buf[TEXT_MAX];
	struct grt_span comm, process = {NULL, 0};

	f->e.pid = annotate_text_has(f, KEY_PID) ? grt_u32(f->number[KEY_PID]) : 0;
	f->e.tid = annotate_text_has(f, KEY_TID) ? grt_u32(f->number[KEY_TID]) : f->e.pid;
	if (!annotate_text_has(f, KEY_COMM) || !f->e.tid)
		return;
	comm = plain(comm_buf, f->text[KEY_COMM]);
	if (grt_span_is(comm, NO_COMM))
		return;
	/* without a name of its own, a process has that of its first thread */
	if (annotate_text_has(f, KEY_PROCESS))
		process = plain(process_buf, f->text[KEY_PROCESS]);
	else if (f->e.tid == f->e.pid)
		process = comm;
	grt_text_name(t, GRT_NAME_THREAD, f->e.tid, f->time, comm.at, comm.len, process.at, process.len);
}

static void annotate_text_put_event(struct grt_text *t, struct facts *f)
{
	f->e.time = f->time;
	f->e.ctx = annotate_text_has(f, KEY_CTX) ? f->number[KEY_CTX] : 0;
	f->e.seqno = annotate_text_has(f, KEY_SEQ) ? f->number[KEY_SEQ] : 0;
	f->e.flags = annotate_text_has(f, KEY_FLAGS) ? (uint16_t)f->number[KEY_FLAGS] : 0;
	f->e.sample = annotate_text_has(f, KEY_SAMPLE) ? (uint8_t)f->number[KEY_SAMPLE] : 0;
	set_thread(t, f);
	set_ring(t, f);
	set_device(t, f);
	grt_text_put(t, &f->e, 0);
}

static void begin_record(struct annotate *a, struct facts *f, const struct word *w)
{
	memset(f->room, 0, grt_event_table[w->id].size);
	f->e.type = w->id;
	if (w->id == GRT_EV_IOCTL_ENTER)
		((struct grt_ev_ioctl_enter *)f->room)->fd = -1;
	else if (w->id == GRT_EV_COMPLETE)
		((struct grt_ev_complete *)f->room)->status = GRT_STATUS_UNKNOWN;
	else if (w->id == GRT_EV_FENCE)
		((struct grt_ev_fence *)f->room)->status = GRT_STATUS_UNKNOWN;
	a->last = (uint8_t)(w - events + 1);
}

/*
 * Return: whether the event that followed last time follows again; its record is begun then, and *p is after
 * it.
 */
static bool guess_event(struct annotate *a, struct facts *f, const char **p, const char *end)
{
	unsigned int place = a->follower[a->last];
	const struct word *w = &events[place ? place - 1 : 0];

	if (!place || end - *p <= w->len + 1 || **p != ' ' || (*p)[w->len + 1] != ' ' ||
	    memcmp(*p + 1, w->text, w->len))
		return false;
	begin_record(a, f, w);
	*p += w->len + 1;
	return true;
}

/* Whether a name is that of an event, whose record is begun then. NAME has no text form. */
static bool annotate_text_begin_event(struct annotate *a, struct facts *f, struct grt_span name)
{
	const struct word *w = find_word(a->event_slot, events, name.at, name.len);

	if (!w || w->id == GRT_EV_NAME)
		return false;
	a->follower[a->last] = (uint8_t)(w - events + 1);
	begin_record(a, f, w);
	return true;
}

/* ----------------------------------------------------------------- lines */

/* A line for people, in which a word before the event is the thread or the job's context. */
static enum grt_text_line line_pretty_cpu(struct grt_text *t, struct annotate *a, struct facts *f,
					  const char *p, const char *end)
{
	const char *comm = p, *open = p, *q;
	struct grt_span name;
	uint64_t pid;

	while ((open = memchr(open, '(', (size_t)(end - open)))) {
		q = ++open;
		if (!grt_scan_u64(&q, end, &pid) || !GRT_SCAN_WORD(&q, end, ") "))
			continue;
		name = scan_word(&q, end);
		if (!annotate_text_begin_event(a, f, name))
			continue;
		set_key(f, KEY_PID, (struct grt_span){open, (size_t)(end - open)});
		f->text[KEY_COMM] = (struct grt_span){comm, (size_t)(open - 1 - comm)};
		f->has |= 1U << KEY_COMM;
		scan_pairs(a, f, q, end);
		annotate_text_put_event(t, f);
		return GRT_LINE_DONE;
	}
	return GRT_LINE_BAD;
}

static enum grt_text_line line_pretty_gpu(struct grt_text *t, struct annotate *a, struct facts *f,
					  const char *p, const char *end)
{
	struct grt_span ctx = {NULL, 0}, word;

	if (GRT_SCAN_WORD(&p, end, "ctx=")) {
		grt_scan_token(&p, end, &ctx);
		grt_scan_blanks(&p, end);
	}
	word = scan_word(&p, end);
	if (!annotate_text_begin_event(a, f, word)) {
		if (word.len && (p == end || *p == ' '))
			grt_text_unknown(t, word.at, word.len);
		return word.len && (p == end || *p == ' ') ? GRT_LINE_DONE : GRT_LINE_BAD;
	}
	if (ctx.at)
		set_key(f, KEY_CTX, ctx);
	scan_pairs(a, f, p, end);
	annotate_text_put_event(t, f);
	return GRT_LINE_DONE;
}

static enum grt_text_line annotate_text_line_pretty(struct grt_text *t, struct facts *f, const char *p,
						    const char *end)
{
	struct annotate *a = annotate_text_state_of(t);
	const char *arrow;
	bool cpu;

	grt_scan_blanks(&p, end);
	cpu = GRT_SCAN_WORD(&p, end, "[CPU]");
	if (!cpu && !GRT_SCAN_WORD(&p, end, "[GPU]"))
		return GRT_LINE_BAD;
	grt_scan_blanks(&p, end);
	arrow = grt_find_text(p, end, ARROW, sizeof(ARROW) - 1);
	end = arrow ? arrow : end;
	while (end > p && end[-1] == ' ')
		end--;
	return cpu ? line_pretty_cpu(t, a, f, p, end) : line_pretty_gpu(t, a, f, p, end);
}

static bool annotate_text_is_source(struct grt_span word)
{
	return word.len == 3 && (!memcmp(word.at, "CPU", 3) || !memcmp(word.at, "GPU", 3));
}

/* Return: the word that names the event, without the source before it; *p is after it. */
static struct grt_span annotate_text_scan_event(const char **p, const char *end)
{
	struct grt_span word;

	grt_scan_blanks(p, end);
	word = scan_word(p, end);
	if (annotate_text_is_source(word) && *p < end && grt_is_blank(**p)) {
		grt_scan_blanks(p, end);
		word = scan_word(p, end);
	}
	return word;
}

static enum grt_text_line line_bracket(struct grt_text *t, struct facts *f, const char *p, const char *end)
{
	struct annotate *a = annotate_text_state_of(t);
	struct grt_span name;

	if (!grt_scan_line_stamp(&p, end, &f->time) || !grt_scan_char(&p, end, ']'))
		return GRT_LINE_BAD;
	if (!guess_event(a, f, &p, end)) {
		name = annotate_text_scan_event(&p, end);
		if (!name.len || (p < end && !grt_is_blank(*p)))
			return GRT_LINE_BAD;
		if (!annotate_text_begin_event(a, f, name)) {
			grt_text_unknown(t, name.at, name.len);
			return GRT_LINE_DONE;
		}
	}
	scan_pairs(a, f, p, end);
	annotate_text_put_event(t, f);
	return GRT_LINE_DONE;
}

static enum grt_text_line annotate_line(struct grt_text *t, const char *line, const char *end)
{
	const char *p = line;
	struct facts f;

	f.has = 0;
	grt_scan_blanks(&p, end);
	if (p == end || *p == '#')
		return GRT_LINE_SKIP;
	if (grt_scan_char(&p, end, '[')) {
		grt_scan_blanks(&p, end);
		return line_bracket(t, &f, p, end);
	}
	return grt_scan_stamp(&p, end, &f.time) ? annotate_text_line_pretty(t, &f, p, end) : GRT_LINE_BAD;
}

static bool annotate_time(const char *line, const char *end, uint64_t *ns, size_t *hint)
{
	grt_scan_blanks(&line, end);
	grt_scan_char(&line, end, '[');
	grt_scan_blanks(&line, end);
	return grt_scan_line_stamp(&line, end, ns);
}

static bool annotate_text_is_event(struct grt_span word)
{
	for (size_t i = 0; i < EVENT_WORDS; i++)
		if (events[i].len == word.len && !memcmp(events[i].text, word.at, word.len))
			return true;
	return false;
}

/* Only a known event makes a line certain, because kernel messages have the same beginning. */
static bool annotate_takes(const char *line, const char *end)
{
	const char *p = line;
	uint64_t ns;

	grt_scan_blanks(&p, end);
	if (grt_scan_char(&p, end, '[')) {
		grt_scan_blanks(&p, end);
		return grt_scan_stamp(&p, end, &ns) && grt_scan_char(&p, end, ']') &&
		       annotate_text_is_event(annotate_text_scan_event(&p, end)) &&
		       (p == end || grt_is_blank(*p));
	}
	return grt_scan_stamp(&p, end, &ns) &&
	       (GRT_SCAN_WORD(&p, end, "  [CPU]  ") || GRT_SCAN_WORD(&p, end, "  [GPU]  "));
}

const struct grt_text_format grt_text_annotate_text = {
	.name = "annotate_text",
	.takes = annotate_takes,
	.time = annotate_time,
	.line = annotate_line,
	.state_size = sizeof(struct annotate),
};
