// SPDX-License-Identifier: GPL-2.0
/*
 * Events as text: the lines of `events`, and the `emit` file that turns text
 * into an event. Both work from the rows of events.def.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define GRT_EVENT_TABLE_ROWS
#include <grtrace/event_table.h>

#include "core.h"

/* Most events for which one line of `emit` may stand. */
#define EMIT_COUNT_MAX 1000000

const char *grtrace_event_name(unsigned int type)
{
	return type < GRT_EV_MAX ? grt_event_table[type].name : NULL;
}

const char *grtrace_fate_name(unsigned int fate)
{
	return grt_fate_names[fate];
}

const char *grtrace_engine_name(unsigned int engine)
{
	return engine < GRT_ENGINE_MAX && grt_engine_names[engine] ? grt_engine_names[engine] :
								     grt_engine_names[GRT_ENGINE_UNKNOWN];
}

int grtrace_event_by_name(const char *name)
{
	int i;

	for (i = 0; i < GRT_EV_MAX; i++)
		if (grt_event_table[i].name && !strcasecmp(name, grt_event_table[i].name))
			return i;
	return -EINVAL;
}

int grtrace_engine_by_name(const char *name)
{
	int i;

	for (i = 0; i < GRT_ENGINE_MAX; i++)
		if (grt_engine_names[i] && !strcmp(name, grt_engine_names[i]))
			return i;
	return -EINVAL;
}

static u64 text_field_value(const struct grt_field *f, const void *e)
{
	const void *at = e + f->offset;

	switch (f->size) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	case 4:
		return f->kind == GRT_FIELD_SIGNED ? (u64)(s64)*(const s32 *)at : *(const u32 *)at;
	default:
		return *(const u64 *)at;
	}
}

static void text_field_set_value(const struct grt_field *f, void *e, u64 value)
{
	memcpy(e + f->offset, &value, f->size); /* little-endian, as the format is */
}

/* A program can choose any name, so no character of it may end the text or affect a terminal. */
static int text_print_string(char *buf, size_t size, const char *text, size_t room)
{
	size_t len = strnlen(text, room), i;
	int n = 0;

	for (i = 0; i < len; i++) {
		unsigned char c = text[i];
		bool plain = c >= ' ' && c < 0x7f && c != '"' && c != '\\';

		n += scnprintf(buf + n, size - n, plain ? "%c" : "\\%03o", c);
	}
	return n;
}

static int text_print_field(char *buf, size_t size, const struct grt_field *f, const struct grt_event *e)
{
	u64 value;
	int n;

	if (f->kind == GRT_FIELD_STR) {
		n = scnprintf(buf, size, " %s=\"", f->name);
		n += text_print_string(buf + n, size - n, (const char *)e + f->offset, f->size);
		return n + scnprintf(buf + n, size - n, "\"");
	}
	value = text_field_value(f, e);
	switch (f->kind) {
	case GRT_FIELD_ENGINE:
		return scnprintf(buf, size, " %s=%s", f->name, grtrace_engine_name(value));
	case GRT_FIELD_HEX:
		return scnprintf(buf, size, " %s=0x%llx", f->name, value);
	case GRT_FIELD_SIGNED:
		return scnprintf(buf, size, " %s=%lld", f->name, (s64)value);
	default:
		return scnprintf(buf, size, " %s=%llu", f->name, value);
	}
}

static int text_print_fields(char *buf, size_t size, const struct grt_field *f, const struct grt_event *e)
{
	int n = 0;

	for (; f->name; f++)
		n += text_print_field(buf + n, size - n, f, e);
	return n;
}

/**
 * grtrace_event_print - an event as a line
 * @buf: gets the line, with newline
 * @size: of @buf; enough for every event of events.def with 512
 * Return: bytes without the NUL
 */
int grtrace_event_print(char *buf, size_t size, const struct grt_event *e, unsigned int cpu)
{
	const struct grt_event_desc *d = &grt_event_table[e->type & (GRT_EV_MAX - 1)];
	u32 ns;
	u64 s = div_u64_rem(e->time, NSEC_PER_SEC, &ns);
	int n = scnprintf(buf, size, "%llu.%09u [%03u] %s", s, ns, cpu, d->title);

	n += text_print_fields(buf + n, size - n, grt_common_fields, e);
	n += text_print_fields(buf + n, size - n, d->fields(), e);
	return n + scnprintf(buf + n, size - n, "\n");
}

/**
 * struct emit_line - one parsed line of `emit`
 * @ev: the event, with room for any payload
 * @count: how many events; the seqno of each is one higher
 */
struct emit_line {
	union {
		struct grt_event e;
		u8 bytes[GRT_RECORD_MAX];
	} ev;
	u64 count;
};

static const struct grt_field *text_find_field(const struct grt_field *f, const char *name)
{
	for (; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

/* Negative numbers are only accepted for signed fields. */
static int text_parse_number(const struct grt_field *f, const char *text, u64 *value)
{
	unsigned int bits = f->size * 8;
	s64 sv;
	int err;

	if (f->kind != GRT_FIELD_SIGNED) {
		err = kstrtou64(text, 0, value);
		return err ?: bits < 64 && *value >> bits ? -ERANGE : 0;
	}
	err = kstrtos64(text, 0, &sv);
	*value = sv;
	return err ?: bits < 64 && (sv < -(1LL << (bits - 1)) || sv >= 1LL << (bits - 1)) ? -ERANGE : 0;
}

static int text_parse_engine(const char *text, u64 *value)
{
	int engine = grtrace_engine_by_name(text);

	if (engine < 0)
		return kstrtou64(text, 0, value) ?: *value >= GRT_ENGINE_MAX ? -ERANGE : 0;
	*value = engine;
	return 0;
}

static int text_parse_word(struct emit_line *l, char *word)
{
	const struct grt_event_desc *d = &grt_event_table[l->ev.e.type];
	const struct grt_field *f;
	char *text = word;
	u64 value;
	int err;

	word = strsep(&text, "=");
	if (!text)
		return -EINVAL;
	if (!strcmp(word, "count")) {
		err = kstrtou64(text, 0, &l->count);
		return err ?: !l->count || l->count > EMIT_COUNT_MAX ? -ERANGE : 0;
	}
	f = text_find_field(grt_common_fields, word) ?: text_find_field(d->fields(), word);
	if (!f || f->kind == GRT_FIELD_STR || !strcmp(word, "sample"))
		return -EINVAL;
	err = f->kind == GRT_FIELD_ENGINE ? text_parse_engine(text, &value)
					  : text_parse_number(f, text, &value);
	if (!err)
		text_field_set_value(f, &l->ev, value);
	return err;
}

/* submit ring=0 ctx=0x1234 seqno=42 engine=graphics */
static int text_parse_line(struct emit_line *l, char *line)
{
	char *word;
	int type, err;

	memset(l, 0, sizeof(*l));
	l->count = 1;
	l->ev.e.ring = GRT_RING_NONE;
	type = grtrace_event_by_name(strsep(&line, " \t"));
	if (type < 0 || type == GRT_EV_NAME)
		return -EINVAL;
	l->ev.e.type = type;
	while ((word = strsep(&line, " \t"))) {
		err = *word ? text_parse_word(l, word) : 0;
		if (err)
			return err;
	}
	l->ev.e.flags |= GRT_FLAG_INJECTED;
	return 0;
}

static int text_emit_line(const struct emit_line *l)
{
	struct emit_line copy;
	u64 i;

	for (i = 0; i < l->count; i++) {
		copy = *l;
		copy.ev.e.seqno += i;
		grtrace_emit(&copy.ev.e);
		if (!(i & 1023)) {
			if (fatal_signal_pending(current))
				return -EINTR;
			cond_resched();
		}
	}
	return 0;
}

/* Emits every line once; @emit false: only checks them. */
static int text_do_lines(char *text, bool emit)
{
	struct emit_line l;
	char *line;
	int err = 0;

	while (!err && (line = strsep(&text, "\n"))) {
		line = strim(line);
		if (!*line)
			continue;
		err = text_parse_line(&l, line);
		if (!err && emit)
			err = text_emit_line(&l);
	}
	return err;
}

/* Checks all lines first, so that nothing is emitted if one is wrong. */
static ssize_t text_emit_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)
{
	char *text, *again;
	int err;

	if (count > PAGE_SIZE)
		return -E2BIG;
	text = memdup_user_nul(from, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	again = kstrdup(text, GFP_KERNEL);
	if (!again)
		err = -ENOMEM;
	else
		err = text_do_lines(text, false) ?: text_do_lines(again, true);
	kfree(again);
	kfree(text);
	return err ?: count;
}

const struct file_operations grtrace_emit_fops = {
	.owner = THIS_MODULE,
	.open = nonseekable_open,
	.write = text_emit_write,
};
