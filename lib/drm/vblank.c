// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The sums of vblank.h. */
#include "vblank.h"

#include "base/keyed.h"

/* Octaves of all histograms together: 4 MiB. */
#define OCTAVES 1024U
/* A longer jump is no gap between frames: the counter began again. */
#define JUMP_MAX (1U << 30)

struct grt_vblank {
	struct grt_keyed crtcs;
	struct grt_keyed asked; /* elements are stamps */
	uint32_t octaves;
	struct grt_vblank_count count;
};

/* Return: 0 with the CRTC; NULL: there are too many; or -ENOMEM */
static int get_crtc(struct grt_vblank *v, const struct grt_event *e, uint32_t crtc, struct grt_crtc **out)
{
	struct grt_key key = {{e->device, crtc}};
	void *found;
	int ret = grt_keyed_get_or_count(&v->crtcs, &key, &v->count.over, &found);

	*out = found;
	if (!*out)
		return ret;
	(*out)->crtc = crtc;
	(*out)->device = e->device;
	return 0;
}

static void vblank_follow(struct grt_crtc *c, const struct grt_ev_vblank *ev)
{
	uint32_t frames = ev->vseq - c->last_vseq;

	if (!frames || frames > JUMP_MAX || ev->stamp <= c->last_stamp) {
		c->back++;
		return;
	}
	c->missed += frames - 1;
	c->span_frames += frames;
	c->span_ns += ev->stamp - c->last_stamp;
}

static void add_since(struct grt_vblank *v, struct grt_hist *h, uint64_t *late, uint64_t from, uint64_t to)
{
	uint64_t ns = to - from;

	*late += ns > GRT_VBLANK_LATE_NS;
	grt_hist_add(h, ns, GRT_WEIGHT_ONE, false, &v->octaves);
}

/* A precise time stamp is that of the begin of scan-out, which may be later than the interrupt. */
static void add_since_vblank(struct grt_vblank *v, struct grt_crtc *c, uint64_t delivered)
{
	c->ahead += delivered < c->last_stamp;
	if (delivered >= c->last_stamp)
		add_since(v, &c->since_vblank, &c->late_vblank, c->last_stamp, delivered);
}

/* Takes the VBLANK of a frame whose events were delivered before it was reported. */
static void settle_early(struct grt_vblank *v, struct grt_crtc *c)
{
	for (uint32_t i = 0; i < c->earlies && c->early_vseq == c->last_vseq; i++)
		add_since_vblank(v, c, c->early[i]);
	c->earlies = 0;
}

static void hold_early(struct grt_crtc *c, uint32_t vseq, uint64_t time)
{
	if (c->early_vseq != vseq)
		c->earlies = 0;
	c->early_vseq = vseq;
	if (c->earlies < GRT_VBLANK_EARLY_MAX)
		c->early[c->earlies++] = time;
}

static int vblank_on_vblank(struct grt_vblank *v, const struct grt_event *e)
{
	const struct grt_ev_vblank *ev = (const struct grt_ev_vblank *)e;
	struct grt_crtc *c;
	int r = get_crtc(v, e, ev->crtc, &c);

	if (r || !c)
		return r;
	if (c->frames++)
		vblank_follow(c, ev);
	c->precise += !!ev->high_prec;
	c->last_stamp = ev->stamp;
	c->last_vseq = ev->vseq;
	settle_early(v, c);
	return 0;
}

static struct grt_key vblank_request_key(const struct grt_event *e, uint64_t file, uint32_t crtc,
					 uint32_t vseq)
{
	return (struct grt_key){{e->device, file, crtc, vseq}};
}

static int on_queued(struct grt_vblank *v, const struct grt_event *e)
{
	const struct grt_ev_vblank_queued *ev = (const struct grt_ev_vblank_queued *)e;
	struct grt_key key = vblank_request_key(e, ev->file, ev->crtc, ev->vseq);
	struct grt_crtc *c;
	void *at;
	int r = get_crtc(v, e, ev->crtc, &c);

	if (r || !c)
		return r;
	c->asked++;
	if (grt_keyed_find(&v->asked, &key)) {
		v->count.repeated++;
		return 0;
	}
	r = grt_keyed_get_or_replace(&v->asked, &key, &v->count.forgotten, &at);
	if (!r)
		*(uint64_t *)at = e->time;
	return r;
}

static int on_delivered(struct grt_vblank *v, const struct grt_event *e)
{
	const struct grt_ev_vblank_delivered *ev = (const struct grt_ev_vblank_delivered *)e;
	struct grt_key key = vblank_request_key(e, ev->file, ev->crtc, ev->vseq);
	uint64_t *asked;
	struct grt_crtc *c;
	int r = get_crtc(v, e, ev->crtc, &c);

	if (r || !c)
		return r;
	if (!ev->vseq) {
		c->no_frame++;
		return 0;
	}
	c->delivered++;
	if (c->frames && c->last_vseq == ev->vseq)
		add_since_vblank(v, c, e->time);
	else
		hold_early(c, ev->vseq, e->time);
	asked = grt_keyed_find(&v->asked, &key);
	if (!asked)
		return 0;
	c->joined++;
	add_since(v, &c->since_asked, &c->late_asked, *asked, e->time);
	grt_keyed_remove(&v->asked, asked);
	return 0;
}

int grt_vblank_event(struct grt_vblank *v, const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_VBLANK:
		return vblank_on_vblank(v, e);
	case GRT_EV_VBLANK_QUEUED:
		return on_queued(v, e);
	case GRT_EV_VBLANK_DELIVERED:
		return on_delivered(v, e);
	default:
		return 0;
	}
}

int grt_vblank_new(struct grt_vblank **out, uint32_t asked)
{
	struct grt_vblank *v = calloc(1, sizeof(*v));

	*out = v;
	if (!v)
		return -ENOMEM;
	grt_keyed_init(&v->crtcs, sizeof(struct grt_crtc), GRT_VBLANK_CRTCS_MAX);
	grt_keyed_init(&v->asked, sizeof(uint64_t), asked ? asked : GRT_VBLANK_ASKED_MAX);
	v->octaves = OCTAVES;
	return 0;
}

struct grt_vblank_count grt_vblank_count(const struct grt_vblank *v)
{
	struct grt_vblank_count count = v->count;

	count.open = v->asked.used;
	return count;
}

const struct grt_crtc *grt_vblank_each(const struct grt_vblank *v, const struct grt_crtc *last)
{
	return last ? grt_keyed_next(&v->crtcs, last) : grt_keyed_oldest(&v->crtcs);
}

bool grt_vblank_rate(const struct grt_crtc *c, uint64_t *mhz)
{
	unsigned __int128 scaled = (unsigned __int128)c->span_frames * 1000000000000ULL;

	if (!c->span_ns)
		return false;
	scaled = (scaled + c->span_ns / 2) / c->span_ns;
	*mhz = scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
	return true;
}

void grt_vblank_free(struct grt_vblank *v)
{
	if (!v)
		return;
	for (struct grt_crtc *c = grt_keyed_oldest(&v->crtcs); c; c = grt_keyed_next(&v->crtcs, c)) {
		grt_hist_free(&c->since_asked);
		grt_hist_free(&c->since_vblank);
	}
	grt_keyed_free(&v->crtcs);
	grt_keyed_free(&v->asked);
	free(v);
}
