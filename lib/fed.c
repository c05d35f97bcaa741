// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Most GPU work is handed out when its event is read: then it stands in the record of this event.
 */
#include "fed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "base/feed.h"
#include "cuda/launches.h"
#include "jobs/jobs.h"
#include "trace/packet.h"

enum fed_kind {
	FED_EVENT,
	FED_BEYOND,
	FED_LATE,
	FED_IMAGE,
	FED_WORK,
	FED_NOTHING,
	FED_JOB,
	FED_HELD,
	FED_STRAY,
	FED_READ,
	FED_FINISH,
};

/**
 * struct fed_work - GPU work
 * @launch: valid with @launched; its image is that of the thread that writes
 * @image: number of the image of the work
 * @how: enum grt_launched_how
 * @raw: bits of the groups that get the event itself, before what was joined
 * @handed: it was joined
 * @event: the event
 */
struct fed_work {
	struct grt_launch launch;
	uint32_t image;
	uint8_t how : 4;
	uint8_t outside : 1;
	uint8_t launched : 1;
	uint8_t handed : 1;
	uint8_t raw;
	uint64_t event[];
};

/**
 * struct fed_group - a group of analyses
 * @bit: of its reader
 * @event: its callbacks by class
 * @image: its process images by the number that they have in the thread that reads the trace
 * @ret: the first result of an analysis that is not 0; nothing is done after it
 */
struct fed_group {
	struct grt_analyses a;
	unsigned int bit;
	int (*event[GRT_CLASSES])(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu);
	struct grt_image **image;
	uint32_t images, room;
	int ret;
};

/**
 * struct grt_fed - the groups
 * @by_class: bits of the groups whose analyses take events of a class
 * @beyond, @late, @works, @jobs: those that take these events, GPU work, jobs
 * @event: the event that is being joined; @work: its record in the batch @turn if it is GPU work, else NULL
 * @known: the process images of who joins, NULL: nobody; @images: number of those whose FED_IMAGE was written
 */
struct grt_fed {
	struct grt_feed *feed;
	struct fed_group group[GRT_FEED_READERS_MAX];
	unsigned int groups;
	unsigned int by_class[GRT_CLASSES];
	unsigned int beyond, late, works, jobs;
	const struct grt_event *event;
	struct fed_work *work;
	uint64_t turn;
	const struct grt_images *known;
	uint32_t images;
};

/* --------------------------------------------------------------- readers */

static int fed_take_image(struct fed_group *g, const struct grt_event *e)
{
	struct grt_image *image = grt_launches_image(g->a.launches, e);

	if (!image || grt_grow(&g->image, &g->room, g->images + 1, 8))
		return -ENOMEM;
	g->image[g->images++] = image;
	return 0;
}

static int fed_take_event(struct fed_group *g, const struct grt_event *e)
{
	return g->event[grt_class_of[e->type]](&g->a.c, e, 0);
}

static int fed_take_work(struct fed_group *g, const struct fed_work *w)
{
	const struct grt_event *e = (const void *)w->event;
	int ret = w->raw & g->bit ? fed_take_event(g, e) : 0;
	struct grt_launch launch;

	if (ret || !w->handed || !g->a.launches)
		return ret;
	if (w->launched) {
		launch = w->launch;
		launch.image = g->image[w->image];
	}
	return grt_analyses_work(&g->a, e, g->image[w->image], w->launched ? &launch : NULL,
				 (enum grt_launched_how)w->how, w->outside);
}

static int fed_take_nothing(struct fed_group *g, const struct fed_work *w)
{
	struct grt_launch launch = w->launch;

	launch.image = g->image[w->image];
	return grt_analyses_nothing(&g->a, &launch);
}

static int fed_take_finish(struct fed_group *g, const struct grt_launches_count *count)
{
	if (g->a.launches)
		grt_launches_counted(g->a.launches, count);
	return grt_analyses_end(&g->a);
}

static inline int fed_take_record(struct fed_group *g, const struct grt_feed_record *r)
{
	const void *p = r->payload;

	switch (r->kind) {
	case FED_EVENT:
		return fed_take_event(g, p);
	case FED_BEYOND:
		return g->a.c.beyond(&g->a.c, p, 0);
	case FED_LATE:
		return g->a.c.late(&g->a.c, p, 0);
	case FED_IMAGE:
		return fed_take_image(g, p);
	case FED_WORK:
		return fed_take_work(g, p);
	case FED_NOTHING:
		return fed_take_nothing(g, p);
	case FED_JOB:
		return grt_analyses_job(&g->a, p);
	case FED_HELD:
		return grt_analyses_held(&g->a, p);
	case FED_STRAY:
		return grt_analyses_stray(&g->a, p);
	case FED_READ:
		return grt_analyses_read(&g->a);
	}
	return fed_take_finish(g, p);
}

static void fed_take(void *arg, const struct grt_feed_record *r, const struct grt_feed_record *end)
{
	struct fed_group *g = arg;

	for (; r != end && !g->ret; r = grt_feed_next(r))
		if (r->readers & g->bit)
			g->ret = fed_take_record(g, r);
}

/* ----------------------------------------------------------------- setup */

int grt_fed_new(struct grt_fed **out, unsigned int threads)
{
	struct grt_fed *f = calloc(1, sizeof(*f));

	*out = f;
	if (f && grt_feed_new(&f->feed, threads)) {
		free(f);
		*out = NULL;
	}
	return *out ? 0 : -ENOMEM;
}

/* Whom what goes to, once the analyses of a group are known. */
static void fed_aim(struct grt_fed *f, struct fed_group *g)
{
	const struct grt_analyses *a = &g->a;

#define GRT_CLASS(name, help, see)              \
	g->event[GRT_CLASS_##name] = a->c.name; \
	if (a->c.name)                          \
		f->by_class[GRT_CLASS_##name] |= g->bit;
#include <grtrace/classes.def>
#undef GRT_CLASS
	f->beyond |= a->c.beyond ? g->bit : 0;
	f->late |= a->c.late ? g->bit : 0;
	f->works |= a->launches ? g->bit : 0;
	for (int i = 0; i < GRT_ANALYSES; i++)
		if (a->on[i] && grt_analysis_needs_jobs(grt_analysis_rows[i]))
			f->jobs |= g->bit;
}

static bool fed_any(const struct grt_analyses *a)
{
	for (int i = 0; i < GRT_ANALYSES; i++)
		if (a->on[i])
			return true;
	return false;
}

int grt_fed_take(struct grt_fed *f, struct grt_analyses *a, unsigned int turns)
{
	struct fed_group *g = &f->group[f->groups];
	int ret;

	g->a = (struct grt_analyses){.pass = a->pass, .fed = true};
	memcpy(g->a.parts, a->parts, sizeof(a->parts));
	memcpy(g->a.on, a->on, sizeof(a->on));
	grt_analyses_keep(&g->a, turns);
	if (!fed_any(&g->a))
		return 0;
	grt_analyses_keep(a, ~turns);
	a->feeds = f;
	f->groups++;
	ret = grt_analyses_join(&g->a) ?: grt_analyses_begin(&g->a);
	if (ret)
		return ret;
	grt_analyses_consume(&g->a);
	g->bit = grt_feed_reader(f->feed, fed_take, g);
	fed_aim(f, g);
	return 0;
}

int grt_fed_collect(struct grt_fed *f, struct grt_analyses *a)
{
	int ret = 0;

	grt_feed_end(f->feed);
	for (unsigned int i = 0; i < f->groups; i++) {
		ret = ret ?: f->group[i].ret;
		grt_analyses_adopt(a, &f->group[i].a);
	}
	return ret;
}

void grt_fed_free(struct grt_fed *f)
{
	if (!f)
		return;
	grt_feed_free(f->feed);
	for (unsigned int i = 0; i < f->groups; i++) {
		grt_analyses_free(&f->group[i].a);
		free(f->group[i].image);
	}
	free(f);
}

bool grt_fed_takes(const struct grt_fed *f, enum grt_class class)
{
	return f->by_class[class];
}

bool grt_fed_takes_beyond(const struct grt_fed *f, bool late)
{
	return late ? f->late : f->beyond;
}

bool grt_fed_joins(const struct grt_fed *f)
{
	return f->works;
}

void grt_fed_launches(struct grt_fed *f, const struct grt_launches *l)
{
	f->known = l ? grt_launches_images(l) : NULL;
}

bool grt_fed_shows(const struct grt_fed *f, enum grt_class class)
{
	for (unsigned int i = 0; i < f->groups; i++)
		if (grt_analyses_shows(&f->group[i].a, class))
			return true;
	return false;
}

void grt_fed_within(struct grt_fed *f, uint64_t from, uint64_t to)
{
	for (unsigned int i = 0; i < f->groups; i++)
		grt_analyses_within(&f->group[i].a, from, to);
}

void grt_fed_span(struct grt_fed *f, uint64_t first, uint64_t last)
{
	for (unsigned int i = 0; i < f->groups; i++)
		grt_analyses_span(&f->group[i].a, first, last);
}

/* ---------------------------------------------------------------- writer */

static void fed_put_event(struct grt_fed *f, enum fed_kind kind, unsigned int readers,
			  const struct grt_event *e)
{
	memcpy(grt_feed_put(f->feed, kind, readers, e->size), e, e->size);
}

/* If the process image of the event is new, it has the next number, here and in the groups. */
static inline void fed_see_image(struct grt_fed *f, const struct grt_event *e)
{
	if (!f->known || f->known->images == f->images)
		return;
	f->images = f->known->images;
	fed_put_event(f, FED_IMAGE, f->works, e);
}

void grt_fed_event(struct grt_fed *f, const struct grt_event *e)
{
	const unsigned int readers = f->by_class[grt_class_of[e->type]];

	if (readers)
		fed_put_event(f, FED_EVENT, readers, e);
}

static bool fed_is_work(const struct grt_event *e)
{
	return e->type == GRT_EV_GPU_KERNEL || e->type == GRT_EV_GPU_COPY || e->type == GRT_EV_GPU_SYNC;
}

static struct fed_work *fed_put_work(struct grt_fed *f, const struct grt_event *e, unsigned int raw)
{
	struct fed_work *w = grt_feed_put(f->feed, FED_WORK, raw | f->works, (uint32_t)sizeof(*w) + e->size);

	w->raw = (uint8_t)raw;
	w->handed = false;
	memcpy(w->event, e, e->size);
	return w;
}

void grt_fed_launch(struct grt_fed *f, const struct grt_event *e)
{
	const unsigned int raw = f->by_class[GRT_CLASS_launch];

	f->event = e;
	f->work = NULL;
	if (f->known && fed_is_work(e)) {
		f->work = fed_put_work(f, e, raw);
		f->turn = f->feed->full;
	} else if (raw) {
		fed_put_event(f, FED_EVENT, raw, e);
	}
}

void grt_fed_beyond(struct grt_fed *f, const struct grt_event *e, bool late)
{
	const unsigned int readers = late ? f->late : f->beyond;

	f->event = e;
	f->work = NULL;
	if (readers)
		fed_put_event(f, late ? FED_LATE : FED_BEYOND, readers, e);
}

void grt_fed_joined(struct grt_fed *f, const struct grt_event *e)
{
	fed_see_image(f, e);
	f->event = NULL;
}

/* The groups must know its image before they get work or a launch. */
static bool fed_is_new(const struct grt_fed *f, const struct grt_image *image)
{
	return image->number >= f->images;
}

void grt_fed_work(struct grt_fed *f, const struct grt_event *e, const struct grt_image *image,
		  const struct grt_launch *launch, enum grt_launched_how how, bool outside)
{
	struct fed_work *w = e == f->event && f->turn == f->feed->full ? f->work : NULL;

	if (fed_is_new(f, image)) {
		fed_see_image(f, f->event);
		w = NULL;
	}
	w = w ?: fed_put_work(f, e, 0);
	if (launch)
		w->launch = *launch;
	w->image = image->number;
	w->how = (uint8_t)how & 15;
	w->outside = outside;
	w->launched = !!launch;
	w->handed = true;
}

void grt_fed_nothing(struct grt_fed *f, const struct grt_launch *launch)
{
	struct fed_work *w;

	if (fed_is_new(f, launch->image))
		fed_see_image(f, f->event);
	w = grt_feed_put(f->feed, FED_NOTHING, f->works, sizeof(*w));
	w->launch = *launch;
	w->image = launch->image->number;
}

void grt_fed_job(struct grt_fed *f, const struct grt_job *job, bool held)
{
	if (f->jobs)
		memcpy(grt_feed_put(f->feed, held ? FED_HELD : FED_JOB, f->jobs, sizeof(*job)), job,
		       sizeof(*job));
}

void grt_fed_stray(struct grt_fed *f, const struct grt_event *e)
{
	if (f->jobs)
		fed_put_event(f, FED_STRAY, f->jobs, e);
}

static unsigned int fed_all(const struct grt_fed *f)
{
	return (1U << f->groups) - 1;
}

void grt_fed_read(struct grt_fed *f)
{
	grt_feed_put(f->feed, FED_READ, fed_all(f), 0);
}

void grt_fed_finish(struct grt_fed *f, const struct grt_launches *l)
{
	const struct grt_launches_count count =
		l ? grt_launches_count(l) : (struct grt_launches_count){.launches = 0};

	memcpy(grt_feed_put(f->feed, FED_FINISH, fed_all(f), sizeof(count)), &count, sizeof(count));
}
