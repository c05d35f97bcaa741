// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The sums of memory.h. A function below and its row in the table at the end say what a type of event adds.
 */
#include "memory.h"

#include <string.h>

/* Octaves of the histogram of sizes: all that exist. */
#define OCTAVES GRT_HIST_OCTAVES
/* Length of the first slices, ns; it doubles whenever there are too many slices. */
#define SLICE_NS (1ULL << 20)

struct grt_memory {
	struct grt_keyed objects;
	struct grt_keyed processes;
	struct grt_tally moves;
	struct grt_tally shrinks;
	struct grt_hist sizes;
	uint32_t octaves;
	struct grt_mem_object
		top[GRT_MEMORY_TOP]; /* objects that no longer exist, those with most bindings first */
	struct grt_mem_slice slice[GRT_MEMORY_SLICES];
	unsigned int slices;
	uint64_t first;
	uint64_t width;
	struct grt_mem_count count;
};

static void add_amount(struct grt_mem_amount *a, uint64_t bytes)
{
	a->objects++;
	a->bytes += bytes;
}

/* Inserts an object into the list of those with most bindings, in order; the last one may be dropped. */
static void insert_top(struct grt_mem_object top[GRT_MEMORY_TOP], const struct grt_mem_object *o)
{
	unsigned int at = GRT_MEMORY_TOP;

	if (o->binds < 2)
		return;
	while (at && top[at - 1].binds < o->binds)
		at--;
	if (at == GRT_MEMORY_TOP)
		return;
	memmove(&top[at + 1], &top[at], (GRT_MEMORY_TOP - 1 - at) * sizeof(top[0]));
	top[at] = *o;
}

static void drop_object(struct grt_memory *m, struct grt_mem_object *o)
{
	insert_top(m->top, o);
	grt_keyed_remove(&m->objects, o);
}

static struct grt_key object_key(const struct grt_event *e, uint64_t object)
{
	return (struct grt_key){{e->device, object}};
}

/*
 * Finds the object, or adds it if it is unknown; it may replace the one that was seen first. Return: 0 or
 * -ENOMEM
 */
static int get_object(struct grt_memory *m, const struct grt_event *e, uint64_t object,
		      struct grt_mem_object **out)
{
	struct grt_key key = object_key(e, object);
	void *found;
	int r = grt_keyed_get(&m->objects, &key, &found);

	if (r == -ENOSPC) {
		m->count.forgotten++;
		drop_object(m, grt_keyed_oldest(&m->objects));
		r = grt_keyed_get(&m->objects, &key, &found);
	}
	if (r)
		return r;
	*out = found;
	(*out)->object = object;
	(*out)->device = e->device;
	return 0;
}

/* Return: 0 with the process; NULL: there are too many; or -ENOMEM */
static int memory_get_process(struct grt_memory *m, uint32_t pid, uint32_t tid, struct grt_mem_process **out)
{
	struct grt_key key = {{pid}};
	void *found;
	int ret = grt_keyed_get_or_count(&m->processes, &key, NULL, &found);

	*out = found;
	if (!*out)
		return ret;
	(*out)->pid = pid;
	(*out)->tid = tid;
	return 0;
}

/* Time over slices */

static void join_slices(struct grt_mem_slice *to, const struct grt_mem_slice *a,
			const struct grt_mem_slice *b)
{
	struct grt_mem_slice s = a->used ? *a : *b;

	if (a->used && b->used) {
		s.bytes_min = a->bytes_min < b->bytes_min ? a->bytes_min : b->bytes_min;
		s.bytes_max = a->bytes_max > b->bytes_max ? a->bytes_max : b->bytes_max;
		s.bytes_end = b->bytes_end;
		s.objects = b->objects;
	}
	*to = s;
}

static void widen_slices(struct grt_memory *m)
{
	unsigned int half = GRT_MEMORY_SLICES / 2;

	for (unsigned int i = 0; i < half; i++)
		join_slices(&m->slice[i], &m->slice[2 * i], &m->slice[2 * i + 1]);
	memset(&m->slice[half], 0, half * sizeof(m->slice[0]));
	m->slices = (m->slices + 1) / 2;
	m->width *= 2;
}

static void note_live(struct grt_memory *m, uint64_t time)
{
	const struct grt_mem_amount *live = &m->count.live;
	struct grt_mem_slice *s;
	uint64_t at;

	if (!m->slices)
		m->first = time;
	at = time > m->first ? time - m->first : 0;
	while (at / m->width >= GRT_MEMORY_SLICES)
		widen_slices(m);
	s = &m->slice[at / m->width];
	if (at / m->width >= m->slices)
		m->slices = (unsigned int)(at / m->width) + 1;
	if (!s->used || live->bytes < s->bytes_min)
		s->bytes_min = live->bytes;
	if (!s->used || live->bytes > s->bytes_max)
		s->bytes_max = live->bytes;
	s->bytes_end = live->bytes;
	s->objects = live->objects;
	s->used = true;
}

static void note_least(uint64_t *least, uint64_t now, bool first)
{
	if (first || now < *least)
		*least = now;
}

static void note_most(uint64_t *most, uint64_t now)
{
	if (now > *most)
		*most = now;
}

static void live_changed(struct grt_memory *m, uint64_t time)
{
	struct grt_mem_count *c = &m->count;
	bool first = c->created.objects == 1 && !c->destroyed.objects;

	note_least(&c->live_min.bytes, c->live.bytes, first);
	note_least(&c->live_min.objects, c->live.objects, first);
	note_most(&c->live_max.bytes, c->live.bytes);
	note_most(&c->live_max.objects, c->live.objects);
	note_live(m, time);
}

/* Events */

/* Ends an object. If its number is used again, its end may have had no record. */
static int destroy(struct grt_memory *m, struct grt_mem_object *o, uint64_t time)
{
	struct grt_mem_process *p;
	int r;

	if (!o->created) {
		m->count.older++;
		drop_object(m, o);
		return 0;
	}
	r = memory_get_process(m, o->pid, o->tid, &p);
	if (r)
		return r;
	if (p)
		add_amount(&p->destroyed, o->bytes);
	add_amount(&m->count.destroyed, o->bytes);
	m->count.live.objects--;
	m->count.live.bytes -= o->bytes;
	drop_object(m, o);
	live_changed(m, time);
	return 0;
}

static void count_placement(struct grt_mem_count *c, const struct grt_ev_mem_create *ev)
{
	if (ev->wanted & GRT_AMDGPU_DOMAIN_VRAM)
		add_amount(&c->vram_wanted, ev->bytes);
	if ((ev->wanted & GRT_AMDGPU_DOMAIN_VRAM) && ev->placed == GRT_AMDGPU_TYPE_GTT)
		add_amount(&c->vram_in_gtt, ev->bytes);
	if (ev->mflags & GRT_AMDGPU_CPU_ACCESS)
		add_amount(&c->cpu_visible, ev->bytes);
}

static int on_create(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_create *ev = (const struct grt_ev_mem_create *)e;
	struct grt_key key = object_key(e, ev->object);
	struct grt_mem_object *o = grt_keyed_find(&m->objects, &key);
	struct grt_mem_process *p;
	int r = o ? destroy(m, o, e->time) : 0;

	if (!r)
		r = get_object(m, e, ev->object, &o);
	if (!r)
		r = memory_get_process(m, e->pid, e->tid, &p);
	if (r)
		return r;
	*o = (struct grt_mem_object){.object = ev->object,
				     .bytes = ev->bytes,
				     .device = e->device,
				     .pid = e->pid,
				     .tid = e->tid,
				     .created = true,
				     .sized = true};
	if (p)
		add_amount(&p->created, ev->bytes);
	else
		m->count.over++;
	add_amount(&m->count.created, ev->bytes);
	add_amount(&m->count.live, ev->bytes);
	count_placement(&m->count, ev);
	live_changed(m, e->time);
	return 0;
}

static int on_destroy(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_destroy *ev = (const struct grt_ev_mem_destroy *)e;
	struct grt_key key = object_key(e, ev->object);
	struct grt_mem_object *o = grt_keyed_find(&m->objects, &key);

	if (o)
		return destroy(m, o, e->time);
	m->count.older++;
	return 0;
}

static int on_move(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_move *ev = (const struct grt_ev_mem_move *)e;
	struct grt_key object = object_key(e, ev->object), way = {{ev->from, ev->to}};
	const struct grt_mem_object *o = ev->bytes ? NULL : grt_keyed_find(&m->objects, &object);
	uint64_t bytes = o && o->sized ? o->bytes : ev->bytes;

	m->count.moves++;
	m->count.unsized_moves += !bytes;
	return grt_tally_add(&m->moves, &way, bytes, e->time);
}

static int on_bind(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_bind *ev = (const struct grt_ev_mem_bind *)e;
	struct grt_mem_object *o;
	int r = get_object(m, e, ev->object, &o);

	if (r)
		return r;
	if (!o->sized) {
		o->bytes = ev->bytes;
		o->sized = true;
	}
	m->count.binds++;
	m->count.rebinds += o->binds++ > 0;
	grt_hist_add(&m->sizes, ev->bytes, GRT_WEIGHT_ONE, false, &m->octaves);
	return 0;
}

static int on_unbind(struct grt_memory *m, const struct grt_event *e)
{
	m->count.unbinds++;
	return 0;
}

static int on_fault(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_fault *ev = (const struct grt_ev_mem_fault *)e;

	m->count.faults[!!ev->gtt][!!ev->writing]++;
	return 0;
}

static int memory_on_shrink(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_shrink *ev = (const struct grt_ev_mem_shrink *)e;
	struct grt_key key = {{ev->mflags}};

	m->count.shrinks++;
	return grt_tally_add(&m->shrinks, &key, ev->target, e->time);
}

static int (*const handlers[GRT_EV_MAX])(struct grt_memory *m, const struct grt_event *e) = {
	[GRT_EV_MEM_CREATE] = on_create,
	[GRT_EV_MEM_DESTROY] = on_destroy,
	[GRT_EV_MEM_MOVE] = on_move,
	[GRT_EV_MEM_BIND] = on_bind,
	[GRT_EV_MEM_UNBIND] = on_unbind,
	[GRT_EV_MEM_FAULT] = on_fault,
	[GRT_EV_MEM_SHRINK] = memory_on_shrink,
};

int grt_memory_event(struct grt_memory *m, const struct grt_event *e)
{
	return e->type < GRT_EV_MAX && handlers[e->type] ? handlers[e->type](m, e) : 0;
}

/* Results */

int grt_memory_new(struct grt_memory **out, uint32_t objects)
{
	struct grt_memory *m = calloc(1, sizeof(*m));

	*out = m;
	if (!m)
		return -ENOMEM;
	grt_keyed_init(&m->objects, sizeof(struct grt_mem_object),
		       objects ? objects : GRT_MEMORY_OBJECTS_MAX);
	grt_keyed_init(&m->processes, sizeof(struct grt_mem_process), GRT_MEMORY_PROCESSES_MAX);
	grt_tally_init(&m->moves, GRT_MEMORY_KINDS_MAX);
	grt_tally_init(&m->shrinks, GRT_MEMORY_KINDS_MAX);
	m->octaves = OCTAVES;
	m->width = SLICE_NS;
	return 0;
}

const struct grt_mem_count *grt_memory_count(const struct grt_memory *m)
{
	return &m->count;
}

const struct grt_tally *grt_memory_moves(const struct grt_memory *m)
{
	return &m->moves;
}

const struct grt_tally *grt_memory_shrinks(const struct grt_memory *m)
{
	return &m->shrinks;
}

const struct grt_hist *grt_memory_bind_sizes(const struct grt_memory *m)
{
	return &m->sizes;
}

unsigned int grt_memory_top(const struct grt_memory *m, struct grt_mem_object top[GRT_MEMORY_TOP])
{
	unsigned int n = 0;

	memcpy(top, m->top, sizeof(m->top));
	for (struct grt_mem_object *o = grt_keyed_oldest(&m->objects); o; o = grt_keyed_next(&m->objects, o))
		insert_top(top, o);
	while (n < GRT_MEMORY_TOP && top[n].binds)
		n++;
	return n;
}

static int64_t memory_growth(const struct grt_mem_process *p)
{
	return (int64_t)(p->created.bytes - p->destroyed.bytes);
}

static int by_growth(const void *a, const void *b)
{
	const struct grt_mem_process *x = *(void *const *)a, *y = *(void *const *)b;

	if (memory_growth(x) != memory_growth(y))
		return memory_growth(x) > memory_growth(y) ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

int grt_memory_processes(const struct grt_memory *m, const struct grt_mem_process ***out, uint32_t *n)
{
	*n = m->processes.used;
	return grt_keyed_list(&m->processes, by_growth, (void ***)out);
}

unsigned int grt_memory_slices(const struct grt_memory *m, struct grt_mem_slice slice[GRT_MEMORY_SLICES],
			       uint64_t *first, uint64_t *width)
{
	memcpy(slice, m->slice, sizeof(m->slice));
	*first = m->first;
	*width = m->width;
	return m->slices;
}

void grt_memory_free(struct grt_memory *m)
{
	if (!m)
		return;
	grt_keyed_free(&m->objects);
	grt_keyed_free(&m->processes);
	grt_tally_free(&m->moves);
	grt_tally_free(&m->shrinks);
	grt_hist_free(&m->sizes);
	free(m);
}
