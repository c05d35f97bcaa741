// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Events as JSON lines, see jsonl.h, and the export of all of them. */
#include "jsonl.h"

#include <errno.h>

#include <grtrace/event_table.h>

#include "trace/names.h"
#include "base/escape.h"
#include "trace/field.h"
#include "export.h"
#include "base/outbuf.h"

static char *put_string(char *p, const char *text, size_t length)
{
	*p++ = '"';
	p += grt_escape(GRT_ESCAPE_JSON, p, GRT_ESCAPED_MAX(length), text, length);
	*p++ = '"';
	return p;
}

static inline char *put_key(char *p, const char *key)
{
	p = grt_format_word(p, ",\"");
	p = grt_format_word(p, key);
	return grt_format_word(p, "\":");
}

static char *put_field(char *p, const struct grt_field *f, const struct grt_event *e)
{
	const char *at = (const char *)e + f->offset;
	unsigned int unused = 64 - 8 * f->size;
	uint64_t v = 0;

	if (f->kind == GRT_FIELD_STR)
		return put_string(p, at, f->size);
	memcpy(&v, at, f->size);
	if (grt_field_is_unknown(f, e,
				 f->kind == GRT_FIELD_SIGNED ? (int64_t)(v << unused) >> unused : (int64_t)v))
		return grt_format_word(p, "null");
	if (f->kind == GRT_FIELD_SIGNED)
		return grt_format_s64(p, (int64_t)(v << unused) >> unused);
	if (f->kind == GRT_FIELD_ENGINE && v < GRT_ENGINE_MAX && grt_engine_names[v])
		return grt_format_word(grt_format_word(grt_format_word(p, "\""), grt_engine_names[v]), "\"");
	return grt_format_u64(p, v);
}

static char *put_fields(char *p, const struct grt_field *f, const struct grt_event *e)
{
	for (; f && f->name; f++) {
		p = put_key(p, f->name);
		p = put_field(p, f, e);
	}
	return p;
}

static char *put_name(char *p, const char *key, const char *text, size_t size)
{
	return text ? put_string(put_key(p, key), text, size) : p;
}

char *grt_jsonl_line(char *p, const struct grt_event *e, uint32_t cpu, const struct grt_jsonl_names *names)
{
	const struct grt_event_desc *d = e->type < GRT_EV_MAX ? &grt_event_table[e->type] : NULL;
	const struct grt_ev_name *sizes = NULL;

	p = grt_format_u64(grt_format_word(p, "{\"time\":"), e->time);
	p = grt_format_u64(put_key(p, "cpu"), cpu);
	p = put_key(p, "type");
	if (d && d->name)
		p = grt_format_word(grt_format_word(grt_format_word(p, "\""), d->title), "\"");
	else
		p = grt_format_u64(p, e->type);
	p = grt_format_u64(put_key(p, "size"), e->size);
	p = put_fields(p, grt_common_fields, e);
	p = put_name(p, "ring_name", names->ring, sizeof(sizes->name));
	p = put_name(p, "driver", names->driver, sizeof(sizes->owner));
	p = put_name(p, "comm", names->comm, sizeof(sizes->name));
	p = put_name(p, "process", names->process, sizeof(sizes->owner));
	p = put_fields(p, d && d->name ? d->fields() : NULL, e);
	return grt_format_word(p, "}\n");
}

/** struct jsonl - the export */
struct jsonl {
	struct grt_outbuf out;
	struct grt_names names;
};

static int jsonl_begin(struct grt_export *x)
{
	struct jsonl *f = x->state = calloc(1, sizeof(*f));

	return f ? grt_outbuf_init(&f->out, x->fd) : -ENOMEM;
}

static int jsonl_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	struct jsonl *f = x->state;
	uint32_t ring, thread;
	struct grt_jsonl_names names = {0};
	int ret = e->type == GRT_EV_NAME ? grt_names_add(&f->names, (const struct grt_ev_name *)e) : 0;

	if (ret)
		return ret;
	ring = e->ring == GRT_RING_NONE ? 0 : grt_names_find(&f->names, GRT_NAME_RING, e->ring);
	thread = e->tid ? grt_names_find(&f->names, GRT_NAME_THREAD, e->tid) : 0;
	if (ring) {
		names.ring = f->names.name[ring].name;
		names.driver = f->names.name[ring].owner;
	}
	if (thread) {
		names.comm = f->names.name[thread].name;
		names.process = f->names.name[thread].owner;
	}
	grt_outbuf_take(&f->out, grt_jsonl_line(grt_outbuf_room(&f->out, GRT_JSONL_MAX), e, cpu, &names));
	return f->out.error;
}

static int jsonl_end(struct grt_export *x, const struct grt_health *h)
{
	(void)h;
	return grt_outbuf_flush(&((struct jsonl *)x->state)->out);
}

static void jsonl_free(struct grt_export *x)
{
	struct jsonl *f = x->state;

	if (!f)
		return;
	grt_names_free(&f->names);
	grt_outbuf_fini(&f->out);
	free(f);
}

const struct grt_export_format grt_export_jsonl = {
	.begin = jsonl_begin,
	.event = jsonl_event,
	.end = jsonl_end,
	.free = jsonl_free,
};
