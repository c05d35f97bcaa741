// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The export of all events as JSON lines, see lines/event_json.h. */
#include <errno.h>

#include "base/outbuf.h"
#include "export.h"
#include "lines/event_json.h"

/** struct jsonl - the export */
struct jsonl {
	struct grt_outbuf out;
	struct grt_event_json *events;
};

static int jsonl_begin(struct grt_export *x)
{
	struct jsonl *f = x->state = calloc(1, sizeof(*f));

	if (!f || grt_event_json_new(&f->events))
		return -ENOMEM;
	return grt_outbuf_init(&f->out, x->fd);
}

static int jsonl_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	struct jsonl *f = x->state;
	int ret = grt_event_json_see(f->events, e, 0);
	char *p;

	if (ret || !x->shown)
		return ret;
	p = grt_event_json_put(f->events, grt_outbuf_room(&f->out, GRT_EVENT_JSON_MAX), e, cpu, 0);
	grt_outbuf_take(&f->out, grt_format_text(p, "}\n", 2));
	return f->out.error;
}

static int jsonl_end(struct grt_export *x, const struct grt_health *h)
{
	return grt_outbuf_flush(&((struct jsonl *)x->state)->out);
}

static void jsonl_free(struct grt_export *x)
{
	struct jsonl *f = x->state;

	if (!f)
		return;
	grt_event_json_free(f->events);
	grt_outbuf_fini(&f->out);
	free(f);
}

const struct grt_export_format grt_export_jsonl = {
	.begin = jsonl_begin,
	.event = jsonl_event,
	.end = jsonl_end,
	.free = jsonl_free,
};
