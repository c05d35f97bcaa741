// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Launches are stored by id, see launch_pages.h. Work whose launch has not arrived yet (the work may have
 * ended before the call returned) waits, at most until the end of the trace.
 */
#include "launches.h"

#include <errno.h>
#include <string.h>

#include <grtrace/event.h>
#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "base/sized.h"
#include "codes/cuda_codes.h"
#include "launch_pages.h"

/* ----------------------------------------------------------- graph nodes */

/*
 * The code that created the nodes of CUDA graphs. Work of an executable graph has the id of
 * a clone. A chain of clones leads to the original node, which the program created by
 * capturing a stream or by a function call, and whose stack was recorded then.
 *
 * A program may create any number of graphs: the oldest nodes of all processes are
 * dropped, 80 bytes each.
 */

/* At most 320 MiB. */
#define GRT_GRAPH_NODES_MAX (1U << 22)

/** struct grt_graph_nodes - set up by graph_nodes_init(); @gone: dropped nodes */
struct grt_graph_nodes {
	struct grt_keyed nodes;
	uint64_t gone;
};

/*
 * A clone gets the stack of its origin when it is made, so that finding it is one
 * step: origins come before their clones.
 */

struct graph_node {
	uint32_t stack;
};

static struct grt_key graph_nodes_key(uint32_t image, uint64_t id)
{
	return (struct grt_key){{image, id}};
}

/* Begins without nodes. */
static void graph_nodes_init(struct grt_graph_nodes *g)
{
	grt_keyed_init(&g->nodes, sizeof(struct graph_node), GRT_GRAPH_NODES_MAX);
}

/*
 * The stack of the code that created the original node of @id; 0: unknown, or @id is 0
 */
static uint32_t graph_nodes_stack(const struct grt_graph_nodes *g, uint32_t image, uint64_t id)
{
	const struct grt_key key = graph_nodes_key(image, id);
	const struct graph_node *node = id ? grt_keyed_find(&g->nodes, &key) : NULL;

	return node ? node->stack : 0;
}

/* Processes a GRAPH_NODE of the process image @image. Return: 0 or -ENOMEM. */
static int graph_nodes_event(struct grt_graph_nodes *g, uint32_t image, const struct grt_ev_graph_node *e)
{
	const struct grt_key key = graph_nodes_key(image, e->id);
	uint32_t stack = e->source ? graph_nodes_stack(g, image, e->source) : e->node;
	void *node;
	int ret;

	if (!stack)
		return 0;
	ret = grt_keyed_get_or_replace(&g->nodes, &key, &g->gone, &node);
	if (!ret)
		((struct graph_node *)node)->stack = stack;
	return ret;
}

/* Frees and empties it. */
static void graph_nodes_free(struct grt_graph_nodes *g)
{
	grt_keyed_free(&g->nodes);
}

/* -------------------------------------------------------------- launches */

/**
 * struct caller - properties that many launches have in common
 * @how: @call, @failed and @captured, for comparisons
 */
struct caller {
	uint32_t tid;
	uint32_t context;
	uint32_t range;
	uint32_t how;
	uint16_t call;
	uint8_t kind;
	bool failed;
	bool captured;
};

/* The last callers, by thread. */
#define RECENT_CALLERS 16U

/* Most work that waits; a trace without launches would otherwise take all memory. */
#define WAITS_MAX (1U << 30)

/**
 * struct waiting - work without a launch so far; its key is the image, the correlation id, and the number of
 * the work among those of both
 * @image: number of the image
 * @others: number 0: how many further ones there were
 */
struct waiting {
	uint32_t image;
	uint32_t others;
	union {
		struct grt_event e;
		struct grt_ev_gpu_kernel kernel;
		struct grt_ev_gpu_copy copy;
		struct grt_ev_gpu_sync sync;
	};
};

/** struct grt_launches - @outside: see grt_launches_outside() */
struct grt_launches {
	struct grt_launches_sink sink;
	int (*outside)(void *arg, const struct grt_event *e, const struct grt_image *image,
		       const struct grt_launch *launch, enum grt_launched_how how);
	uint64_t from, to;
	bool no_stacks;
	struct grt_images images;
	struct grt_hash_key key;
	struct grt_launch_pages pages;
	struct caller *caller;
	uint32_t callers;
	uint32_t recent_caller[RECENT_CALLERS];
	struct grt_index caller_index;
	struct grt_graph_nodes graph_nodes;
	struct grt_keyed waiting;
	struct grt_launches_count count;
};

int grt_launches_new_sized(struct grt_launches **out, const struct grt_launches_sink *sink, size_t size)
{
	struct grt_launches *l = calloc(1, sizeof(*l));

	*out = l;
	if (!l)
		return -ENOMEM;
	if (sink)
		grt_sized_copy(&l->sink, sizeof(l->sink), sink, size);
	grt_launch_pages_init(&l->pages, !l->sink.no_begin);
	grt_launches_within(l, 0, UINT64_MAX);
	l->key = grt_hash_key_new();
	grt_images_init(&l->images);
	graph_nodes_init(&l->graph_nodes);
	grt_keyed_init(&l->waiting, sizeof(struct waiting), WAITS_MAX);
	return 0;
}

void grt_launches_within(struct grt_launches *l, uint64_t from, uint64_t to)
{
	l->from = from;
	l->to = to;
}

void grt_launches_without_stacks(struct grt_launches *l)
{
	l->no_stacks = true;
}

void grt_launches_outside(struct grt_launches *l,
			  int (*work)(void *arg, const struct grt_event *e, const struct grt_image *image,
				      const struct grt_launch *launch, enum grt_launched_how how))
{
	l->outside = work;
}

/*
 * Finds a launch. Return: its place in *@page; -ENOENT: there is none, *@page is the page of its id or NULL;
 * or another negative errno
 */
static inline int find_entry(struct grt_launches *l, uint32_t image, uint64_t correlation,
			     enum grt_launch_recent recent, struct grt_launch_page **page)
{
	unsigned int at = correlation % GRT_LAUNCH_PAGE_IDS;
	int ret;

	*page = NULL;
	if (!correlation)
		return -ENOENT;
	ret = grt_launch_pages_find(&l->pages, image, correlation, recent, page);
	if (ret)
		return ret;
	if (!*page || !((*page)->present[at / 64] >> at % 64 & 1))
		return -ENOENT;
	return (*page)->place[at];
}

/* @p: the page of its id; NULL: there is none yet */
static int launches_add_entry(struct grt_launches *l, uint32_t image, struct grt_launch_page *p,
			      const struct grt_ev_launch *e, const struct grt_launch_entry *entry)
{
	int ret = p ? 0 : grt_launch_pages_add(&l->pages, image, e->correlation, &p);

	return ret ?: grt_launch_pages_put(&l->pages, p, e->correlation, entry, e->begin);
}

/* -------------------------------------------------------------- callers */

static bool same_caller(const void *owner, uint32_t id, const void *key)
{
	const struct caller *c = &((const struct grt_launches *)owner)->caller[id], *k = key;

	return c->tid == k->tid && c->context == k->context && c->range == k->range && c->how == k->how;
}

/* @k: without its kind */
static __attribute__((noinline)) int find_caller(struct grt_launches *l, const struct caller *k,
						 uint32_t *number)
{
	uint32_t tag =
		grt_hash(&l->key, (uint64_t)k->tid << 32 | k->context, (uint64_t)k->range << 18 | k->how);

	const struct grt_cuda_call *row;

	*number = grt_index_find(&l->caller_index, tag, same_caller, l, k);
	if (*number != GRT_NOWHERE)
		return 0;
	if (l->callers == GRT_LAUNCH_CALLERS_MAX || grt_grow_one(&l->caller, l->callers))
		return -ENOMEM;
	row = grt_cuda_call(k->call);
	l->caller[l->callers] = *k;
	l->caller[l->callers].kind = row ? row->kind : GRT_CUDA_KIND_NONE;
	*number = l->callers++;
	return grt_index_add(&l->caller_index, tag, *number);
}

/* A thread often repeats the same call. */
static int intern_caller(struct grt_launches *l, const struct caller *k, uint32_t *number)
{
	uint32_t *recent = &l->recent_caller[k->tid % RECENT_CALLERS];
	int ret = 0;

	*number = *recent;
	if (*number >= l->callers || !same_caller(l, *number, k))
		ret = find_caller(l, k, number);
	*recent = *number;
	return ret;
}

static inline __attribute__((always_inline)) void launch_by(const struct grt_launches *l, uint32_t image,
							    const struct grt_launch_entry *e,
							    struct grt_launch *out)
{
	const struct caller *c = &l->caller[e->caller];

	*out = (struct grt_launch){
		.image = l->images.image[image],
		.node = e->node,
		.tid = c->tid,
		.context = c->context,
		.size = sizeof(struct grt_launch),
		.call = c->call,
		.kind = c->kind,
		.failed = c->failed,
		.captured = c->captured,
		.range = c->range,
	};
}

static inline void launch_of(const struct grt_launches *l, const struct grt_launch_page *p,
			     uint64_t correlation, int place, struct grt_launch *out)
{
	launch_by(l, p->image, &p->entry[place], out);
	out->correlation = correlation;
	out->begin = p->begin ? p->begin[place] : 0;
}

/* ----------------------------------------------------------------- work */

static uint64_t correlation_of(const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_GPU_KERNEL:
		return ((const struct grt_ev_gpu_kernel *)e)->correlation;
	case GRT_EV_GPU_COPY:
		return ((const struct grt_ev_gpu_copy *)e)->correlation;
	}
	return ((const struct grt_ev_gpu_sync *)e)->correlation;
}

static uint64_t launches_graph_node_of(const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_GPU_KERNEL:
		return ((const struct grt_ev_gpu_kernel *)e)->graph_node;
	case GRT_EV_GPU_COPY:
		return ((const struct grt_ev_gpu_copy *)e)->graph_node;
	}
	return 0;
}

static bool is_by_gpu(const struct grt_event *e)
{
	return e->type == GRT_EV_GPU_KERNEL && ((const struct grt_ev_gpu_kernel *)e)->by_gpu;
}

/*
 * Return: whether an event is outside of the examined time: by the time of the work if it is known, else by
 * that of the event.
 */
static inline bool is_outside(const struct grt_launches *l, const struct grt_event *e)
{
	uint64_t start, end;

	switch (e->type) {
	case GRT_EV_GPU_KERNEL:
		start = ((const struct grt_ev_gpu_kernel *)e)->start;
		end = ((const struct grt_ev_gpu_kernel *)e)->end;
		break;
	case GRT_EV_GPU_COPY:
		start = ((const struct grt_ev_gpu_copy *)e)->start;
		end = ((const struct grt_ev_gpu_copy *)e)->end;
		break;
	default:
		start = ((const struct grt_ev_gpu_sync *)e)->start;
		end = ((const struct grt_ev_gpu_sync *)e)->end;
	}
	if (!start)
		return e->time < l->from || e->time > l->to;
	return start > l->to || (end && end < l->from);
}

static void launches_count_stack(struct grt_launches *l, uint32_t node, enum grt_stack_reach reach)
{
	l->count.with_stack += reach > GRT_STACK_NONE;
	l->count.stack_cut += reach == GRT_STACK_CUT;
	l->count.stack_none += node && reach == GRT_STACK_NONE;
}

static enum grt_stack_reach launches_reach(const struct grt_launches *l, uint32_t image, uint32_t node)
{
	return l->no_stacks ? GRT_STACK_NONE : grt_image_reach(l->images.image[image], node);
}

/* Called once for each of its stacks. */
static void see_stack(struct grt_launches *l, uint32_t image, uint32_t node, enum grt_stack_reach reach)
{
	struct grt_image *i = l->images.image[image];

	if (reach <= GRT_STACK_NONE || i->node[node - 1].launched)
		return;
	i->node[node - 1].launched = true;
	l->count.stacks++;
}

static void count_how(struct grt_launches *l, const struct grt_event *e, enum grt_launched_how how)
{
	if (e->type == GRT_EV_GPU_SYNC) {
		l->count.syncs_matched += how == GRT_LAUNCHED_MATCHED;
		return;
	}
	l->count.matched += how == GRT_LAUNCHED_MATCHED;
	l->count.by_gpu += how == GRT_LAUNCHED_BY_GPU;
	l->count.unknown += how == GRT_LAUNCHED_UNKNOWN;
}

static int hand_out_alone(struct grt_launches *l, const struct grt_event *e, uint32_t image,
			  enum grt_launched_how how, bool outside)
{
	typeof(l->outside) work = outside ? l->outside : l->sink.work;

	if (!outside)
		count_how(l, e, how);
	return work ? work(l->sink.arg, e, l->images.image[image], NULL, how) : 0;
}

/* No further work will come of a call. @seen: some came */
static bool launches_is_nothing(const struct grt_launch *launch, bool seen)
{
	return !seen && !launch->failed && !launch->captured && launch->call != GRT_CUDA_PROBED &&
	       (launch->kind == GRT_CUDA_KIND_KERNEL || launch->kind == GRT_CUDA_KIND_GRAPH);
}

/* A flush had taken it for a call without work. */
static void launches_take_back(struct grt_launches *l, const struct grt_launch_page *p, uint64_t correlation,
			       int place)
{
	unsigned int at = correlation % GRT_LAUNCH_PAGE_IDS;
	struct grt_launch launch;

	if (!(p->ended[at / 64] >> at % 64 & 1) || p->entry[place].seen || p->entry[place].outside)
		return;
	launch_by(l, p->image, &p->entry[place], &launch);
	l->count.nothing -= launches_is_nothing(&launch, false);
}

static void launches_count_matched(struct grt_launches *l, const struct grt_event *e, uint32_t node,
				   enum grt_stack_reach reach)
{
	count_how(l, e, GRT_LAUNCHED_MATCHED);
	if (e->type != GRT_EV_GPU_SYNC && !l->no_stacks)
		launches_count_stack(l, node, reach);
}

/*
 * A launch with work needs no flush, so its page need not come back for one: but a stack may still get its
 * frames, and a probed function counts as itself.
 */
static void launches_end_seen(struct grt_launches *l, struct grt_launch_page *p, unsigned int at,
			      const struct grt_launch_entry *e, enum grt_stack_reach reach)
{
	if ((e->node && !l->no_stacks && reach <= GRT_STACK_NONE) ||
	    l->caller[e->caller].call == GRT_CUDA_PROBED)
		return;
	if (!e->outside)
		see_stack(l, p->image, e->node, reach);
	p->ended[at / 64] |= 1ULL << at % 64;
}

static int launches_hand_out(struct grt_launches *l, const struct grt_event *e, struct grt_launch_page *p,
			     int place, bool outside)
{
	uint64_t graph_node = launches_graph_node_of(e);
	typeof(l->outside) work = outside ? l->outside : l->sink.work;
	struct grt_launch_entry *entry = &p->entry[place];
	enum grt_stack_reach reach;
	struct grt_launch launch;

	launches_take_back(l, p, correlation_of(e), place);

	/* a stack that comes after its launch: their time stamps are from two clocks */
	if (!entry->node)
		entry->node = grt_images_stack(&l->images, p->image, correlation_of(e));
	reach = launches_reach(l, p->image, entry->node);
	launches_end_seen(l, p, correlation_of(e) % GRT_LAUNCH_PAGE_IDS, entry, reach);
	entry->seen = true;
	p->changed = true;
	if (!outside)
		launches_count_matched(l, e, entry->node, reach);
	if (!work)
		return 0;
	launch_of(l, p, correlation_of(e), place, &launch);
	launch.first = !outside && !entry->handed;
	entry->handed |= !outside;
	if (graph_node)
		launch.origin = graph_nodes_stack(&l->graph_nodes, p->image, graph_node);
	return work(l->sink.arg, e, launch.image, &launch, GRT_LAUNCHED_MATCHED);
}

static struct waiting *launches_waiting(const struct grt_launches *l, uint32_t image, uint64_t correlation,
					uint32_t number)
{
	const struct grt_key key = {{image, correlation, number}};

	return grt_keyed_find(&l->waiting, &key);
}

static int keep_waiting(struct grt_launches *l, const struct grt_event *e, uint32_t image)
{
	struct waiting *first = launches_waiting(l, image, correlation_of(e), 0), *w;
	const struct grt_key key = {{image, correlation_of(e), first ? ++first->others : 0}};
	void *found;

	if (grt_keyed_get(&l->waiting, &key, &found))
		return -ENOMEM;
	w = found;
	w->image = image;
	/* a record of a newer version may be longer */
	memcpy(&w->kernel, e, e->size < sizeof(w->kernel) ? e->size : sizeof(w->kernel));
	return 0;
}

static int launches_end_wait(struct grt_launches *l, const struct waiting *w)
{
	bool outside = is_outside(l, &w->e);
	struct grt_launch_page *p;
	int place = find_entry(l, w->image, correlation_of(&w->e), GRT_RECENT_WORK, &p);

	if (place >= 0)
		return launches_hand_out(l, &w->e, p, place, outside);
	return place == -ENOENT ? hand_out_alone(l, &w->e, w->image, GRT_LAUNCHED_UNKNOWN, outside) : place;
}

/*
 * The launch for which work has waited has arrived. If stacks come separately, the launch's own stack may
 * come after it.
 */
static int launches_end_waits_of(struct grt_launches *l, uint32_t image, uint64_t correlation, uint32_t node)
{
	struct waiting *w = !l->waiting.used || (!node && l->images.stacks_apart)
				    ? NULL
				    : launches_waiting(l, image, correlation, 0);
	uint32_t others = w ? w->others : 0;
	struct waiting one;
	int ret = 0;

	for (uint32_t i = 0; w && i <= others && !ret; i++) {
		w = launches_waiting(l, image, correlation, i);
		if (!w)
			break;
		one = *w;
		grt_keyed_remove(&l->waiting, w);
		ret = launches_end_wait(l, &one);
	}
	return ret;
}

static void count_span(struct grt_launches *l, uint64_t start, uint64_t end, uint64_t *sum)
{
	l->count.no_stamps += !start && !end;
	l->count.open += start && !end;
	if (start && end > start)
		*sum += end - start;
}

static void count_work(struct grt_launches *l, const struct grt_event *e)
{
	const struct grt_ev_gpu_kernel *k = (const void *)e;
	const struct grt_ev_gpu_copy *c = (const void *)e;

	l->count.kernels += e->type == GRT_EV_GPU_KERNEL;
	l->count.copies += e->type == GRT_EV_GPU_COPY;
	l->count.syncs += e->type == GRT_EV_GPU_SYNC;
	if (e->type == GRT_EV_GPU_KERNEL)
		count_span(l, k->start, k->end, &l->count.kernel_ns);
	if (e->type == GRT_EV_GPU_COPY)
		count_span(l, c->start, c->end, &l->count.copy_ns);
}

static int take_work(struct grt_launches *l, const struct grt_event *e)
{
	struct grt_image *i = grt_images_of(&l->images, e);
	bool outside = is_outside(l, e);
	struct grt_launch_page *p;
	int place;

	if (!i)
		return -ENOMEM;
	if (!outside)
		count_work(l, e);
	place = find_entry(l, i->number, correlation_of(e), GRT_RECENT_WORK, &p);
	if (place >= 0)
		return launches_hand_out(l, e, p, place, outside);
	if (place != -ENOENT)
		return place;
	if (is_by_gpu(e))
		return hand_out_alone(l, e, i->number, GRT_LAUNCHED_BY_GPU, outside);
	return keep_waiting(l, e, i->number);
}

/* ------------------------------------------------------------- launches */

/* Ends a call, for which no further work comes. @seen: it had work */
static int end_call(struct grt_launches *l, const struct grt_launch *launch, bool seen)
{
	/* a probed function counts as itself: no work comes of it */
	bool nothing = launches_is_nothing(launch, seen);

	l->count.nothing += nothing;
	if ((!nothing && launch->call != GRT_CUDA_PROBED) || !l->sink.nothing)
		return 0;
	return l->sink.nothing(l->sink.arg, launch);
}

/* No work can refer to this call, so it is not stored. */
static int take_unnumbered(struct grt_launches *l, uint32_t image, const struct grt_ev_launch *e,
			   const struct grt_launch_entry *entry)
{
	struct grt_launch launch;

	if (entry->outside)
		return 0;
	launch_by(l, image, entry, &launch);
	launch.begin = l->sink.no_begin ? 0 : e->begin;
	see_stack(l, image, entry->node, launches_reach(l, image, entry->node));
	return end_call(l, &launch, false);
}

static int launches_take_launch(struct grt_launches *l, const struct grt_ev_launch *e)
{
	struct grt_image *i = grt_images_of(&l->images, &e->e);
	bool failed = e->result != 0, captured = e->e.flags & GRT_FLAG_CAPTURED;
	struct caller c = {.tid = e->e.tid,
			   .context = e->context,
			   .range = e->range,
			   .call = e->call,
			   .failed = failed,
			   .captured = captured,
			   .how = (uint32_t)e->call << 2 | (uint32_t)failed << 1 | captured};
	struct grt_launch_entry entry = {.node = e->node};
	struct grt_launch_page *p;
	uint32_t caller;
	int place;

	if (i && !entry.node)
		entry.node = grt_images_stack(&l->images, i->number, e->correlation);
	if (!i || intern_caller(l, &c, &caller))
		return -ENOMEM;
	entry.caller = caller & (GRT_LAUNCH_CALLERS_MAX - 1);
	entry.outside = e->e.time < l->from || e->begin > l->to;
	if (!entry.outside) {
		l->count.launches++;
		l->count.failed += c.failed;
		l->count.captured += c.captured;
	}
	place = find_entry(l, i->number, e->correlation, GRT_RECENT_LAUNCH, &p);
	if (place != -ENOENT) {
		l->count.doubled += place >= 0;
		return place < 0 ? place : 0;
	}
	l->count.probed += !entry.outside && c.call == GRT_CUDA_PROBED;
	if (!e->correlation)
		return take_unnumbered(l, i->number, e, &entry);
	return launches_add_entry(l, i->number, p, e, &entry)
		       ?: launches_end_waits_of(l, i->number, e->correlation, entry.node);
}

static bool is_work(uint16_t type)
{
	return type == GRT_EV_GPU_KERNEL || type == GRT_EV_GPU_COPY || type == GRT_EV_GPU_SYNC;
}

static int launches_take_node(struct grt_launches *l, const struct grt_event *e)
{
	const struct grt_image *i = grt_images_of(&l->images, e);

	return i ? graph_nodes_event(&l->graph_nodes, i->number, (const struct grt_ev_graph_node *)e)
		 : -ENOMEM;
}

int grt_launches_event(struct grt_launches *l, const struct grt_event *e)
{
	if (e->type == GRT_EV_LAUNCH)
		return launches_take_launch(l, (const struct grt_ev_launch *)e);
	if (is_work(e->type))
		return take_work(l, e);
	if (e->type == GRT_EV_GRAPH_NODE)
		return launches_take_node(l, e);
	return grt_images_event(&l->images, e);
}

/* -------------------------------------------------------------- the end */

static int end_waits(struct grt_launches *l)
{
	int ret = 0;

	for (const struct waiting *w = grt_keyed_oldest(&l->waiting); w && !ret;
	     w = grt_keyed_next(&l->waiting, w))
		ret = launches_end_wait(l, w);
	grt_keyed_free(&l->waiting);
	grt_keyed_init(&l->waiting, sizeof(struct waiting), WAITS_MAX);
	return ret;
}

static int end_launch(struct grt_launches *l, const struct grt_launch_page *p, unsigned int at)
{
	const struct grt_launch_entry *e = &p->entry[p->place[at]];
	struct grt_launch launch;

	if (e->outside)
		return 0;
	launch_of(l, p, p->number << GRT_LAUNCH_PAGE_BITS | at, p->place[at], &launch);
	see_stack(l, p->image, e->node, launches_reach(l, p->image, e->node));
	return end_call(l, &launch, e->seen);
}

/* Ends the launches of a page that no flush has processed. */
static int end_page(struct grt_launches *l, struct grt_launch_page *p)
{
	int ret = 0;

	for (unsigned int i = 0; i < GRT_LAUNCH_PAGE_IDS / 64; i++)
		for (uint64_t left; !ret && (left = p->present[i] & ~p->ended[i]);) {
			unsigned int bit = (unsigned int)__builtin_ctzll(left);

			p->ended[i] |= 1ULL << bit;
			ret = end_launch(l, p, 64 * i + bit);
		}
	p->open = ret != 0;
	return ret;
}

/* Counts losses as the last records of the processes report them. */
static void launches_count_losses(struct grt_launches *l)
{
	l->count.launches_lost = l->count.gpu_lost = l->count.no_end = 0;
	for (uint32_t i = 0; i < l->images.images; i++) {
		const struct grt_image *m = l->images.image[i];

		l->count.launches_lost += m->process.launches_lost;
		l->count.gpu_lost += m->process.gpu_lost;
		l->count.no_end += m->process.what && m->process.what != 3 && !m->refused;
	}
}

int grt_launches_flush_work(struct grt_launches *l)
{
	return end_waits(l);
}

int grt_launches_flush(struct grt_launches *l)
{
	struct grt_launch_page *p;
	int ret = end_waits(l);

	for (uint32_t i = 0; i < l->pages.pages && !ret; i++) {
		ret = grt_launch_pages_open(&l->pages, i, &p);
		if (!ret && p)
			ret = end_page(l, p);
	}
	launches_count_losses(l);
	return ret;
}

void grt_launches_counted(struct grt_launches *l, const struct grt_launches_count *count)
{
	l->count = *count;
}

const struct grt_images *grt_launches_images(const struct grt_launches *l)
{
	return &l->images;
}

struct grt_image *grt_launches_image(struct grt_launches *l, const struct grt_event *e)
{
	return grt_images_of(&l->images, e);
}

const struct grt_device *grt_launches_device(struct grt_launches *l, const struct grt_image *image,
					     uint32_t gpu)
{
	return grt_devices_of(&l->images.devices, image->number, gpu);
}

void grt_launches_count_sized(const struct grt_launches *l, struct grt_launches_count *out, size_t size)
{
	struct grt_launches_count n = l->count;

	n.undefined = l->images.dropped;
	grt_sized_copy(out, size, &n, sizeof(n));
}

void grt_launches_free(struct grt_launches *l)
{
	if (!l)
		return;
	free(l->caller);
	grt_keyed_free(&l->waiting);
	grt_launch_pages_free(&l->pages);
	grt_index_free(&l->caller_index);
	grt_images_free(&l->images);
	graph_nodes_free(&l->graph_nodes);
	free(l);
}
