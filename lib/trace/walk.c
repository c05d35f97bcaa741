// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The walk over a file's headers. It uses the same cursor as reading does, so
 * both agree on where packets are.
 */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define NO_INDEX UINT16_MAX

struct walk_state {
	struct grt_walk *w;
	struct grt_stream st;
	uint16_t index[GRT_CPU_MAX]; /* of a CPU in w->cpu */
};

static struct grt_walk_cpu *find_cpu(struct walk_state *ws, uint32_t cpu)
{
	struct grt_walk *w = ws->w;

	if (ws->index[cpu] != NO_INDEX)
		return &w->cpu[ws->index[cpu]];
	if (grt_grow_one(&w->cpu, w->cpus))
		return NULL;
	ws->index[cpu] = (uint16_t)w->cpus;
	w->cpu[w->cpus] = (struct grt_walk_cpu){.cpu = cpu, .start = UINT64_MAX, .first_skip = GRT_SKIP_NONE};
	return &w->cpu[w->cpus++];
}

/* Without memory for these positions, reading is slower and has the same result. */
static void note_skip(struct grt_skips *s, struct grt_walk_cpu *c, uint64_t start, uint64_t end)
{
	if (!s || s->full)
		return;
	s->full = s->n == GRT_SKIPS_MAX || grt_grow_one(&s->skip, s->n);
	if (s->full)
		return;
	s->skip[s->n] = (struct grt_skip){start, GRT_SKIP_NONE};
	if (c->first_skip == GRT_SKIP_NONE)
		c->first_skip = s->n;
	else
		s->skip[c->last_skip].next = s->n;
	c->last_skip = s->n++;
	s->end = end;
}

static int note_packet(struct walk_state *ws)
{
	const struct grt_packet *p = &ws->st.packet;
	struct grt_walk_cpu *c = find_cpu(ws, p->cpu_id);
	uint64_t start = ws->st.packet_end - p->packet_size / 8;

	if (!c)
		return -ENOMEM;
	if (c->start == UINT64_MAX) {
		c->start = start;
		ws->w->earlier += p->begin.emitted;
	}
	c->end = ws->st.packet_end;
	if (c->content < p->content_size / 8)
		c->content = p->content_size / 8;
	if (ws->w->first > p->timestamp_begin)
		ws->w->first = p->timestamp_begin;
	if (ws->w->last < p->timestamp_end)
		ws->w->last = p->timestamp_end;
	ws->w->end = ws->st.packet_end;
	ws->w->emitted += p->end.emitted - c->emitted;
	c->emitted = p->end.emitted;
	note_skip(ws->w->skips, c, start, c->end);
	return 0;
}

static int walk_packets(struct walk_state *ws, uint64_t size)
{
	int ret;

	while ((ret = grt_stream_next(&ws->st)) > 0) {
		/* after the first packet, the input is known to be a trace, and all of it is searched */
		ws->st.limit = size;
		ws->st.at = GRT_AT_RECORDS;
		ret = note_packet(ws);
		if (ret)
			return ret;
	}
	return ret;
}

static int no_trace(const char *label, struct grt_err *err)
{
	return grt_err_set(err, -EINVAL, "no packet header was found in it",
			   "file PATH, which prints its type", "%s: not a file of packets", label);
}

/* The first header is checked on its own: its format decides whether the rest can be understood. */
static int judge_first(struct grt_stream *st, const char *label, enum grt_packet_look *look,
		       struct grt_err *err)
{
	struct grt_packet p = {.magic = 0};
	ssize_t n = grt_parts_read(st->parts, &st->cursor, &p, sizeof(p), 0);

	if (n < 0)
		return grt_err_set(err, (int)n, strerror((int)-n), NULL, "%s: cannot read", label);
	*look = grt_packet_look(&p);
	if (*look != GRT_LOOK_OTHER_FORMAT || n < (ssize_t)offsetof(struct grt_packet, header_size))
		return 0;
	return grt_err_set(err, -EPROTO, "it was written by another version of grtrace",
			   "use the version that wrote it", "%s: format %u, this tool reads %u..%u", label,
			   p.format, GRT_FORMAT_MIN, GRT_FORMAT);
}

static int conclude(struct walk_state *ws, const char *label, struct grt_err *err)
{
	const struct grt_stream *st = &ws->st;
	bool lost = st->lost_from != UINT64_MAX;

	ws->w->cut = lost && (st->lost_cut || st->lost_zero);
	if (!ws->w->cpus && lost && !st->lost_cut)
		return no_trace(label, err);
	return 0;
}

static int walk_walk(struct walk_state *ws, uint64_t size, struct grt_err *err)
{
	enum grt_packet_look look = GRT_LOOK_GARBAGE;
	int ret = judge_first(&ws->st, ws->st.label, &look, err);

	if (ret)
		return ret;
	/* if a file does not begin with a packet, only its beginning is searched for one */
	ws->st.limit = look == GRT_LOOK_PACKET || size < GRT_PACKET_MAX ? size : GRT_PACKET_MAX;
	ret = grt_stream_init(&ws->st, GRT_STREAM_BUF_MIN);
	if (!ret)
		ret = walk_packets(ws, size);
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "%s: cannot read", ws->st.label);
	return conclude(ws, ws->st.label, err);
}

int grt_walk(struct grt_walk *w, const struct grt_parts *parts, const char *label, struct grt_health *h,
	     struct grt_err *err)
{
	struct walk_state *ws = calloc(1, sizeof(*ws));
	int ret;

	*w = (struct grt_walk){.first = UINT64_MAX};
	if (!ws)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot read", label);
	memset(ws->index, 0xff, sizeof(ws->index));
	w->skips = calloc(1, sizeof(*w->skips));
	ws->w = w;
	ws->st.mode = GRT_STREAM_HEADERS;
	ws->st.health = h;
	ws->st.label = label;
	ws->st.parts = parts;
	ws->st.read = grt_stream_read_file;
	ret = walk_walk(ws, parts->size, err);
	grt_stream_fini(&ws->st);
	free(ws);
	return ret;
}
