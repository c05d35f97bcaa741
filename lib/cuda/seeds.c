// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Joins CPU stacks and GPU records of different tools, see seeds.h. Stacks wait by thread. A table from
 * correlation id to stack grows with the calls; work that comes before its call waits there. Work is summed
 * up by (stack, name, device, stream, graph), and these rows become the tree at the end.
 */
#include "seeds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/demangle.h"
#include "base/index.h"
#include "base/containers.h"
#include "gpu_json.h"
#include "base/lines_in.h"

/* Correlation ids of a page of the table; ids that are far apart take a page each. */
#define PAGE 64U
/* Pages that were used last, one for each thread or stream: for calls, and for work, which comes later. */
#define LAST 64U
/*
 * Flags of an entry: it is an index in @held, not a node; its work was seen; its stack contained its id; the
 * rest is the value.
 */
#define HELD 0x80000000U
#define USED 0x40000000U
#define BY_ID 0x20000000U
#define VALUE 0x1fffffffU
/* A call without a stack. */
#define NO_NODE VALUE
/* Longest comm: TASK_COMM_LEN without its NUL. */
#define COMM_MAX 15
#define COLUMNS 3
/*
 * Most launches of which both calls are known to be one, if the offset of clocks is estimated: those of a
 * few threads are the first ones.
 */
#define SEEDS_MOMENTS (1U << 20)
/* Ends a pass, because calls are not in the order of time. */
#define GOES_BACK 1

/** struct sample - a stack */
struct sample {
	uint64_t ts;
	uint32_t node;
} __attribute__((packed));

/**
 * struct thread - its stacks
 * @calls: number of its calls in this pass; @last: begin of the last one
 * @next: the first stack that was not passed yet
 * @window: the order of stacks and calls decides nothing
 */
struct thread {
	uint64_t tid;
	struct sample *sample;
	uint32_t samples, room;
	uint64_t calls;
	uint64_t last;
	uint32_t next;
	bool unsorted;
	bool window;
};

/** struct place - stack @at of thread number @thread */
struct place {
	uint64_t ts;
	uint32_t thread;
	uint32_t at;
};

/** struct row - work of one kind; @node: VALUE bits of an entry */
struct row {
	uint32_t node;
	uint32_t name;
	uint32_t device;
	uint32_t stream;
	uint32_t graph;
	uint32_t kind;
	uint64_t ns;
	uint64_t launches;
	uint64_t bytes;
};

/** struct held - work that waits for its call */
struct held {
	struct row row;
	uint64_t correlation;
	uint32_t next;
};

/** struct call - the properties of a launch by which its stack is found */
struct call {
	uint64_t start;
	uint64_t end;
	uint64_t correlation;
	uint64_t tid;
};

/** struct page - entries from @number * PAGE on; 0: nothing is known, else a node + 1 with flags */
struct page {
	uint64_t number;
	uint32_t entry[PAGE];
};

struct grt_seeds {
	const struct grt_flame_shape *shape;
	struct grt_hash_key key;
	struct grt_stacks *cpu;
	struct grt_stacks *tree;
	/* whole stacks, as they were read; their nodes */
	struct grt_texts line;
	uint32_t *node_of;
	uint32_t nodes_room;
	struct thread *thread;
	uint32_t threads, thread_room;
	struct grt_index thread_index;
	/* the only thread of the GPU's file that no stack names */
	uint64_t other_tid;
	bool has_other;
	/* begin of the last call of all; a call began before one that it follows */
	uint64_t last;
	bool strangers, back;
	/* all stacks by time, for calls of threads that no stack names: those up to the call that may not be
	 * used yet are moved to the front, @behind of them; what precedes @reached and @ahead is done
	 * with */
	struct place *place;
	size_t places, behind, reached, ahead;
	/* the origin of time stamps in the GPU's file, from the previous pass */
	uint64_t base;
	uint64_t window;
	int64_t offset;
	struct call *call;
	size_t calls, call_room;
	struct page *page;
	uint32_t pages, page_room, last_page[LAST];
	struct grt_index page_index;
	struct held *held;
	uint32_t helds, held_room, held_free;
	struct row *row;
	uint32_t rows, row_room;
	struct grt_index row_index;
	uint32_t device_first;
	/* by name: its number as the source has it, plus 1 */
	uint32_t *clean;
	uint32_t cleans;
	bool several_devices;
	struct grt_seeds_count count;
};

/* ------------------------------------------------------ CPU stacks */

static bool same_thread(const void *owner, uint32_t id, const void *key)
{
	return ((const struct grt_seeds *)owner)->thread[id].tid == *(const uint64_t *)key;
}

static struct thread *seeds_find_thread(const struct grt_seeds *s, uint64_t tid)
{
	uint32_t at = grt_index_find(&s->thread_index, grt_hash(&s->key, tid, 2), same_thread, s, &tid);

	return at == GRT_NOWHERE ? NULL : &s->thread[at];
}

static struct thread *thread_of(struct grt_seeds *s, uint64_t tid)
{
	struct thread *t = seeds_find_thread(s, tid);

	if (t)
		return t;
	if (grt_grow(&s->thread, &s->thread_room, s->threads + 1, 64) ||
	    grt_index_add(&s->thread_index, grt_hash(&s->key, tid, 2), s->threads))
		return NULL;
	s->thread[s->threads] = (struct thread){.tid = tid};
	return &s->thread[s->threads++];
}

static bool seeds_same_page(const void *owner, uint32_t id, const void *key)
{
	return ((const struct grt_seeds *)owner)->page[id].number == *(const uint64_t *)key;
}

static int seeds_add_page(struct grt_seeds *s, uint64_t number)
{
	if (grt_grow(&s->page, &s->page_room, s->pages + 1, 64))
		return -ENOMEM;
	s->page[s->pages] = (struct page){.number = number};
	return grt_index_add(&s->page_index, grt_hash(&s->key, number, 3), s->pages++);
}

/* The entry of a correlation id. Return: NULL: no memory */
static uint32_t *entry_of(struct grt_seeds *s, uint64_t correlation)
{
	uint64_t number = correlation / PAGE;
	uint32_t *last = &s->last_page[number % LAST], at = *last;

	if (at >= s->pages || s->page[at].number != number)
		at = grt_index_find(&s->page_index, grt_hash(&s->key, number, 3), seeds_same_page, s,
				    &number);
	if (at == GRT_NOWHERE) {
		at = s->pages;
		if (seeds_add_page(s, number))
			return NULL;
	}
	*last = at;
	return &s->page[at].entry[correlation % PAGE];
}

/** struct line - a CPU stack as it is in the file */
struct line {
	uint64_t ts;
	uint64_t tid;
	struct grt_span comm;
	struct grt_span stack;
};

/* Parses pid, tid and CPU. Return: the text after them */
static bool take_columns(const char **p, const char *end, uint64_t number[COLUMNS])
{
	for (int i = 0; i < COLUMNS; i++)
		if (!grt_scan_char(p, end, ' ') || !grt_scan_u64(p, end, &number[i]))
			return false;
	return grt_scan_char(p, end, ' ');
}

/* comm may contain blanks and numbers: the longest possible match is used. */
static bool take_sample(const char *p, const char *end, struct line *l)
{
	uint64_t number[COLUMNS];
	const char *comm, *q;
	bool found = false;

	if (!grt_scan_u64(&p, end, &l->ts) || !grt_scan_char(&p, end, ' '))
		return false;
	comm = p;
	for (; p < end && p - comm <= COMM_MAX; p++) {
		q = p;
		if (p == comm || *p != ' ' || !take_columns(&q, end, number) || q == end)
			continue;
		l->tid = number[1];
		l->comm = (struct grt_span){comm, (size_t)(p - comm)};
		l->stack = (struct grt_span){q, (size_t)(end - q)};
		found = true;
	}
	return found;
}

/* The node of a stack under its process. */
static int put_frames(struct grt_seeds *s, const struct line *l, uint32_t *node)
{
	const char *p = l->stack.at, *end = p + l->stack.len, *semicolon;
	int ret = grt_stacks_frame(s->cpu, GRT_STACKS_ROOT, l->comm.at, l->comm.len, node);

	for (unsigned int n = 1; p <= end && n < GRT_STACKS_DEPTH_MAX - 2 && !ret; p = semicolon + 1, n++) {
		semicolon = memchr(p, ';', (size_t)(end - p)) ?: end;
		ret = grt_stacks_frame(s->cpu, *node, p, (size_t)(semicolon - p), node);
	}
	return ret;
}

/* Stacks repeat, so each different one is parsed once. */
static int node_of_line(struct grt_seeds *s, const struct line *l, uint32_t *node)
{
	uint32_t number, known = s->line.used;
	int ret = grt_texts_add(&s->line, l->comm.at, (size_t)(l->stack.at + l->stack.len - l->comm.at),
				&number);

	if (ret)
		return ret;
	if (number == GRT_TEXT_NONE)
		return put_frames(s, l, node);
	if (number < known) {
		*node = s->node_of[number];
		return 0;
	}
	if (grt_grow(&s->node_of, &s->nodes_room, number + 1, 64))
		return -ENOMEM;
	ret = put_frames(s, l, node);
	s->node_of[number] = *node;
	return ret;
}

/* Removes a last frame [correlation N]. */
static bool take_correlation(struct line *l, uint64_t *correlation)
{
	const char *end = l->stack.at + l->stack.len, *p = memrchr(l->stack.at, ';', l->stack.len), *q = p;

	if (!p || !GRT_SCAN_WORD(&q, end, ";[correlation ") || !grt_scan_u64(&q, end, correlation) ||
	    !grt_scan_char(&q, end, ']') || q != end)
		return false;
	l->stack.len = (size_t)(p - l->stack.at);
	return true;
}

static int keep_sample(struct grt_seeds *s, const struct line *l, uint32_t node)
{
	struct thread *t = thread_of(s, l->tid);

	if (!t || grt_grow(&t->sample, &t->room, t->samples + 1, 64))
		return -ENOMEM;
	t->unsorted |= t->samples && t->sample[t->samples - 1].ts > l->ts;
	t->sample[t->samples++] = (struct sample){l->ts, node};
	return 0;
}

static int cpu_line(struct grt_seeds *s, const char *line, const char *end, uint64_t number)
{
	uint64_t correlation = 0;
	uint32_t node, *entry;
	struct line l;
	bool told;
	int ret;

	if (line == end || *line == '#')
		return 0;
	if (!take_sample(line, end, &l)) {
		if (!s->count.bad_samples++)
			s->count.first_bad = number;
		return 0;
	}
	told = take_correlation(&l, &correlation) && correlation;
	ret = node_of_line(s, &l, &node);
	if (ret)
		return ret;
	s->count.samples++;
	ret = grt_stacks_add(s->cpu, node, GRT_STACKS_NOW, 1);
	if (ret || !told)
		return ret ? ret : keep_sample(s, &l, node);
	s->count.named++;
	entry = entry_of(s, correlation);
	if (!entry || node + 1 >= NO_NODE)
		return -ENOMEM;
	*entry = (node + 1) | BY_ID;
	return 0;
}

static int by_ts(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return grt_compare(x->ts, y->ts) ?: grt_compare(x->node, y->node);
}

int grt_seeds_cpu(struct grt_seeds *s, int fd)
{
	struct grt_lines lines = {.fd = fd, .is_pipe = lseek(fd, 0, SEEK_CUR) < 0};
	const char *line, *end;
	int ret = grt_lines_init(&lines, NULL, 0), more = 0;

	while (!ret && (more = grt_lines_next(&lines, &line, &end)) > 0)
		ret = cpu_line(s, line, end, lines.number);
	grt_lines_fini(&lines);
	for (uint32_t i = 0; i < s->threads; i++)
		if (s->thread[i].unsorted)
			qsort(s->thread[i].sample, s->thread[i].samples, sizeof(struct sample), by_ts);
	return ret ? ret : more;
}

/* ----------------------------------------------------------- work */

static bool seeds_same_row(const void *owner, uint32_t id, const void *key)
{
	return !memcmp(&((const struct grt_seeds *)owner)->row[id], key, __builtin_offsetof(struct row, ns));
}

static int seeds_add_row(struct grt_seeds *s, const struct row *r)
{
	uint32_t tag = grt_hash(&s->key, (uint64_t)r->node << 32 | r->name,
				(uint64_t)r->stream << 32 ^ r->graph ^ (uint64_t)r->device << 16 ^ r->kind);
	uint32_t at = grt_index_find(&s->row_index, tag, seeds_same_row, s, r);

	if (at != GRT_NOWHERE) {
		s->row[at].ns += r->ns;
		s->row[at].launches += r->launches;
		s->row[at].bytes += r->bytes;
		return 0;
	}
	if (grt_grow(&s->row, &s->row_room, s->rows + 1, 64))
		return -ENOMEM;
	s->row[s->rows] = *r;
	return grt_index_add(&s->row_index, tag, s->rows++);
}

static int seeds_hold(struct grt_seeds *s, const struct row *r, uint64_t correlation, uint32_t *entry)
{
	uint32_t at = s->held_free;

	if (at == GRT_NOWHERE) {
		if (grt_grow(&s->held, &s->held_room, s->helds + 1, 64))
			return -ENOMEM;
		at = s->helds++;
	} else {
		s->held_free = s->held[at].next;
	}
	if (at >= VALUE)
		return -ENOMEM;
	s->held[at] = (struct held){*r, correlation, *entry ? *entry & VALUE : GRT_NOWHERE};
	*entry = HELD | at;
	return 0;
}

/* Gives the stack to the work that waited for a call. */
static int seeds_release(struct grt_seeds *s, uint32_t first, uint32_t node)
{
	uint32_t next;
	int ret = 0;

	for (uint32_t i = first; i != GRT_NOWHERE && !ret; i = next) {
		next = s->held[i].next;
		s->held[i].row.node = node;
		ret = seeds_add_row(s, &s->held[i].row);
		s->held[i].next = s->held_free;
		s->held_free = i;
	}
	return ret;
}

static int seeds_on_work(struct grt_seeds *s, const struct grt_cupti_record *rec)
{
	struct row r = {.device = (uint32_t)rec->device,
			.stream = (uint32_t)rec->stream,
			.graph = (uint32_t)rec->graph,
			.kind = rec->kind,
			.ns = rec->end - rec->start,
			.launches = 1,
			.bytes = rec->bytes == GRT_BYTES_UNKNOWN ? 0 : rec->bytes};
	int ret = grt_stacks_name(s->cpu, rec->name.at, rec->name.len, &r.name);
	uint32_t *entry;

	if (ret)
		return ret;
	if (!s->count.ops++)
		s->device_first = r.device;
	s->several_devices |= r.device != s->device_first;
	s->count.ns += r.ns;
	s->count.unsized += rec->kind != GRT_CUPTI_KERNEL && rec->bytes == GRT_BYTES_UNKNOWN;
	if (!rec->correlation) {
		s->count.no_call++;
		return seeds_add_row(s, &r);
	}
	entry = entry_of(s, rec->correlation);
	if (!entry)
		return -ENOMEM;
	if (!(*entry & VALUE) || *entry & HELD)
		return seeds_hold(s, &r, rec->correlation, entry);
	*entry |= USED;
	r.node = *entry & VALUE;
	return seeds_add_row(s, &r);
}

/* ---------------------------------------------------------- calls */

static const char *const launch_names[] = {
	"cudaLaunch",	      "__cudaLaunch",	    "cudaGraphLaunch", "cuLaunch",
	"cuGraphLaunch",      "hipLaunch",	    "hipModuleLaunch", "hipExtLaunch",
	"hipExtModuleLaunch", "hipHccModuleLaunch", "hipGraphLaunch",
};

static bool is_launch(struct grt_span name)
{
	for (size_t i = 0; i < sizeof(launch_names) / sizeof(launch_names[0]); i++) {
		size_t len = strlen(launch_names[i]);

		if (name.len >= len && !memcmp(name.at, launch_names[i], len))
			return true;
	}
	return false;
}

/* The thread of a call; NULL: threads of the two files cannot be distinguished. */
static struct thread *caller(struct grt_seeds *s, uint64_t tid)
{
	struct thread *t = seeds_find_thread(s, tid);

	if (t || s->threads != 1 || (s->has_other && s->other_tid != tid))
		return t;
	s->has_other = true;
	s->other_tid = tid;
	return &s->thread[0];
}

/* The last stack of a thread before a call, or the first one within it; NULL: none is near. */
static struct sample *near(struct thread *t, const struct call *c, uint64_t window)
{
	while (t->next < t->samples && t->sample[t->next].ts < c->start &&
	       c->start - t->sample[t->next].ts > window)
		t->next++;
	while (t->next + 1 < t->samples && t->sample[t->next + 1].ts <= c->start)
		t->next++;
	return t->next < t->samples && t->sample[t->next].ts <= c->end ? &t->sample[t->next] : NULL;
}

/* Among stacks of one moment, that of the first thread is last, because the last one is used. */
static int seeds_by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return grt_compare(x->ts, y->ts) ?: grt_compare(y->thread, x->thread) ?: grt_compare(x->at, y->at);
}

static int place_all(struct grt_seeds *s)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->threads; i++)
		n += s->thread[i].samples;
	s->place = malloc((n + 1) * sizeof(*s->place));
	if (!s->place)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->threads; i++)
		for (uint32_t k = 0; k < s->thread[i].samples; k++)
			s->place[s->places++] = (struct place){s->thread[i].sample[k].ts, i, k};
	qsort(s->place, n, sizeof(*s->place), seeds_by_place);
	return 0;
}

static void forget_places(struct grt_seeds *s)
{
	free(s->place);
	s->place = NULL;
	s->places = s->behind = s->reached = s->ahead = 0;
}

static struct thread *thread_at(const struct grt_seeds *s, size_t place)
{
	return &s->thread[s->place[place].thread];
}

/*
 * As near(), for all threads together in one array of stacks: to examine each thread would take calls times
 * threads.
 */
static struct sample *near_all(struct grt_seeds *s, const struct call *c, struct thread **t)
{
	for (; s->reached < s->places && s->place[s->reached].ts <= c->start; s->reached++) {
		*t = thread_at(s, s->reached);
		if (s->place[s->reached].at < (*t)->next)
			continue;
		(*t)->next = s->place[s->reached].at;
		s->place[s->behind++] = s->place[s->reached];
	}
	/* used, or its thread has a later one */
	while (s->behind && thread_at(s, s->behind - 1)->next != s->place[s->behind - 1].at)
		s->behind--;
	if (s->behind && c->start - s->place[s->behind - 1].ts <= s->window) {
		*t = thread_at(s, s->behind - 1);
		return &(*t)->sample[(*t)->next];
	}
	if (s->ahead < s->reached)
		s->ahead = s->reached;
	while (s->ahead < s->places && s->place[s->ahead].at < thread_at(s, s->ahead)->next)
		s->ahead++;
	if (s->ahead == s->places || s->place[s->ahead].ts > c->end)
		return NULL;
	*t = thread_at(s, s->ahead);
	(*t)->next = s->place[s->ahead].at;
	return &(*t)->sample[(*t)->next];
}

/* On the clock of the stacks. */
static uint64_t seeds_since(const struct grt_seeds *s, uint64_t ns)
{
	uint64_t back = s->offset < 0 ? 0 - (uint64_t)s->offset : 0;

	if (__builtin_add_overflow(s->base, ns, &ns) ||
	    __builtin_add_overflow(s->offset > 0 ? (uint64_t)s->offset : 0, ns, &ns))
		return UINT64_MAX;
	return ns > back ? ns - back : 0;
}

static uint32_t by_window(struct grt_seeds *s, struct thread *t, const struct call *c)
{
	const struct call at = {.start = seeds_since(s, c->start), .end = seeds_since(s, c->end)};
	struct sample *found = t ? near(t, &at, s->window) : near_all(s, &at, &t);

	if (!found)
		return NO_NODE;
	t->next++;
	s->count.by_window++;
	return found->node + 1;
}

/*
 * Stacks are used in the order of the calls' begins, which need not be the order of the file. If no thread
 * is reported, calls use stacks of all threads.
 */
static bool goes_back(struct grt_seeds *s, struct thread *t, const struct call *c)
{
	bool back = t && c->start < t->last;

	if (t)
		t->last = c->start;
	s->strangers |= !t;
	s->back |= c->start < s->last;
	s->last = c->start;
	return back || (s->strangers && s->back);
}

/* The thread of a call, and what is needed to use its stack. Return: 0, GOES_BACK or -ENOMEM */
static int seeds_find_caller(struct grt_seeds *s, const struct call *c, struct thread **t)
{
	*t = caller(s, c->tid);
	if (goes_back(s, *t, c))
		return GOES_BACK;
	return *t || s->place ? 0 : place_all(s);
}

static uint32_t seeds_stack_of(struct grt_seeds *s, struct thread *t, const struct call *c)
{
	uint32_t node = NO_NODE;

	if (t)
		t->calls++;
	if (!t || t->window)
		node = by_window(s, t, c);
	else if (t->calls <= t->samples)
		node = t->sample[t->calls - 1].node + 1;
	if (t && !t->window && node != NO_NODE)
		s->count.by_order++;
	s->count.no_stack += node == NO_NODE;
	return node;
}

static int add_pending(struct grt_seeds *s, uint32_t node)
{
	s->count.pending++;
	return seeds_add_row(s, &(struct row){.node = node, .kind = GRT_CUPTI_OTHER, .launches = 1});
}

/* No work can be joined to a call without an id. */
static int on_call_without_id(struct grt_seeds *s, const struct call *c)
{
	struct thread *t;
	int ret = seeds_find_caller(s, c, &t);

	if (ret)
		return ret;
	s->count.calls++;
	return add_pending(s, seeds_stack_of(s, t, c));
}

/* A runtime call and the driver call in it are one launch. Return: 0, GOES_BACK or -ENOMEM */
static int on_call(struct grt_seeds *s, const struct call *c)
{
	uint32_t *entry, waits = GRT_NOWHERE;
	struct thread *t;
	int ret;

	if (!c->correlation)
		return on_call_without_id(s, c);
	entry = entry_of(s, c->correlation);
	if (!entry)
		return -ENOMEM;
	if (*entry & BY_ID && !(*entry & HELD)) {
		s->count.calls++;
		s->count.by_id++;
		*entry &= ~BY_ID;
		return 0;
	}
	if (*entry & VALUE && !(*entry & HELD))
		return 0;
	ret = seeds_find_caller(s, c, &t);
	if (ret)
		return ret;
	if (*entry & HELD)
		waits = *entry & VALUE;
	s->count.calls++;
	*entry = seeds_stack_of(s, t, c);
	if (waits == GRT_NOWHERE)
		return 0;
	*entry |= USED;
	return seeds_release(s, waits, *entry & VALUE);
}

static struct call seeds_call_of(const struct grt_cupti_record *r)
{
	return (struct call){r->start, r->end, r->correlation, r->tid};
}

static int seeds_on_record(void *arg, const struct grt_cupti_record *r)
{
	struct call c;

	if (r->kind != GRT_CUPTI_CALL)
		return seeds_on_work(arg, r);
	if (!is_launch(r->name))
		return 0;
	c = seeds_call_of(r);
	return on_call(arg, &c);
}

/* --------------------------------------------------------- the tree */

static int put_path(struct grt_seeds *s, uint32_t from, uint32_t *node)
{
	uint32_t path[GRT_STACKS_DEPTH_MAX], depth = 0;
	size_t len;
	int ret = 0;

	/* the first frame is the process, which --by puts below */
	for (; from != GRT_STACKS_ROOT && grt_stacks_node(s->cpu, from)->parent != GRT_STACKS_ROOT;
	     from = grt_stacks_node(s->cpu, from)->parent)
		path[depth++] = grt_stacks_node(s->cpu, from)->name;
	while (depth-- > 0 && !ret) {
		const char *text = grt_stacks_text(s->cpu, path[depth], &len);

		ret = grt_stacks_frame(s->tree, *node, text, len, node);
	}
	return ret;
}

static const char *process_of(const struct grt_seeds *s, uint32_t node, size_t *len)
{
	*len = 0;
	while (node && grt_stacks_node(s->cpu, node)->parent != GRT_STACKS_ROOT)
		node = grt_stacks_node(s->cpu, node)->parent;
	return node ? grt_stacks_text(s->cpu, grt_stacks_node(s->cpu, node)->name, len) : "";
}

/* The number of a name as its source has it, each demangled once: other tools print names as the linker has
 * them. */
static int seeds_clean_name(struct grt_seeds *s, uint32_t name, uint32_t *out)
{
	size_t len;
	const char *text = grt_stacks_text(s->cpu, name, &len);
	char *copy, *clean;
	int ret = 0;

	*out = name;
	if (len < 2 || text[0] != '_')
		return 0;
	copy = strndup(text, len);
	if (!copy || grt_grow_zeroed(&s->clean, &s->cleans, name + 1, 64)) {
		free(copy);
		return -ENOMEM;
	}
	clean = s->clean[name] ? NULL : grt_demangle(copy);
	if (clean)
		ret = grt_stacks_name(s->cpu, clean, strlen(clean), out);
	if (!s->clean[name])
		s->clean[name] = *out + 1;
	*out = s->clean[name] - 1;
	free(clean);
	free(copy);
	return ret;
}

static int seeds_put_leaf(struct grt_seeds *s, const struct row *r, uint32_t *node)
{
	static const enum grt_flame_leaf leaf[] = {
		[GRT_CUPTI_KERNEL] = GRT_FLAME_LEAF_KERNEL,
		[GRT_CUPTI_COPY] = GRT_FLAME_LEAF_COPY,
		[GRT_CUPTI_SET] = GRT_FLAME_LEAF_SET,
		[GRT_CUPTI_OTHER] = GRT_FLAME_LEAF_PENDING,
	};
	uint32_t number = r->name;
	int ret = r->kind == GRT_CUPTI_KERNEL ? seeds_clean_name(s, r->name, &number) : 0;
	size_t len;
	const char *name = grt_stacks_text(s->cpu, number, &len);
	char gpu[GRT_FLAME_GPU];

	return ret
		       ?: grt_flame_put_leaf(
				  s->tree, leaf[r->kind],
				  grt_flame_gpu(gpu, s->several_devices ? r->device : GRT_FLAME_NO_DEVICE),
				  name, len, node);
}

static int seeds_put_row(struct grt_seeds *s, const struct row *r)
{
	uint32_t stack = r->node && r->node != NO_NODE ? r->node - 1 : GRT_STACKS_ROOT, node;
	struct grt_flame_op op = {.device = r->device, .graph = r->graph, .ns = r->ns};
	char queue[48];
	int ret;

	op.copy = r->kind == GRT_CUPTI_COPY || r->kind == GRT_CUPTI_SET;
	op.launches = r->launches;
	op.bytes = r->bytes;
	op.process = process_of(s, stack, &op.process_len);
	op.queue = queue;
	op.queue_len = grt_flame_put_stream(queue, r->device, r->stream);
	/* it is unknown where a launch without work would have run */
	if (r->kind == GRT_CUPTI_OTHER) {
		op.device = GRT_FLAME_NO_DEVICE;
		op.queue_len = (size_t)snprintf(queue, sizeof(queue), "[no stream]");
	}
	if (!grt_flame_wanted(s->shape, &op))
		return 0;
	ret = grt_flame_base(s->tree, s->shape, &op, &node);
	if (!ret && stack == GRT_STACKS_ROOT && s->count.samples)
		ret = grt_stacks_word(s->tree, "[unmatched]", &node);
	else if (!ret && stack != GRT_STACKS_ROOT)
		ret = put_path(s, stack, &node);
	if (!ret)
		ret = seeds_put_leaf(s, r, &node);
	return ret ? ret : grt_stacks_add(s->tree, node, GRT_STACKS_NOW, grt_flame_weight_of(s->shape, &op));
}

/* Launches whose work is not in the file. */
static int add_unused(struct grt_seeds *s)
{
	int ret = 0;

	for (uint32_t i = 0; i < s->pages; i++)
		for (uint32_t j = 0; j < PAGE && !ret; j++) {
			uint32_t entry = s->page[i].entry[j];

			if (!(entry & VALUE) || entry & (HELD | USED | BY_ID))
				continue;
			ret = add_pending(s, entry & VALUE);
		}
	return ret;
}

static int add_held(struct grt_seeds *s)
{
	int ret = 0;

	for (uint32_t i = 0; i < s->pages; i++)
		for (uint32_t j = 0; j < PAGE && !ret; j++) {
			uint32_t entry = s->page[i].entry[j];

			if (!(entry & HELD))
				continue;
			for (uint32_t k = entry & VALUE; k != GRT_NOWHERE; k = s->held[k].next)
				s->count.no_call++;
			ret = seeds_release(s, entry & VALUE, 0);
		}
	return ret;
}

/* Finds threads whose stacks do not follow from the order of calls. Return: whether there are new ones */
static bool order_failed(struct grt_seeds *s)
{
	bool any = false;

	for (uint32_t i = 0; i < s->threads; i++) {
		struct thread *t = &s->thread[i];

		if (t->window || !t->calls || t->calls == t->samples)
			continue;
		t->window = any = true;
	}
	return any;
}

/** struct told - an entry whose stack named the id */
struct told {
	uint64_t correlation;
	uint32_t entry;
};

/**
 * struct start - the state before the first pass: entries whose stacks named their id. The table is in no
 * order, so it is copied only if it has some
 */
struct start {
	struct grt_seeds_count count;
	struct told *told;
	size_t n;
};

static int seeds_copy_entries(const struct grt_seeds *s, struct start *start)
{
	*start = (struct start){.count = s->count};
	start->told = malloc(((size_t)s->pages * PAGE + 1) * sizeof(*start->told));
	for (uint32_t i = 0; start->told && i < s->pages; i++)
		for (uint32_t j = 0; j < PAGE; j++)
			if (s->page[i].entry[j])
				start->told[start->n++] =
					(struct told){s->page[i].number * PAGE + j, s->page[i].entry[j]};
	return start->told ? 0 : -ENOMEM;
}

/* Prepares another pass. */
static void restart(struct grt_seeds *s, const struct start *start)
{
	for (uint32_t i = 0; i < s->threads; i++)
		s->thread[i].calls = s->thread[i].last = s->thread[i].next = 0;
	for (uint32_t i = 0; i < s->pages; i++)
		memset(s->page[i].entry, 0, sizeof(s->page[i].entry));
	for (size_t i = 0; i < start->n; i++)
		*entry_of(s, start->told[i].correlation) = start->told[i].entry;
	grt_index_free(&s->row_index);
	s->rows = s->helds = 0;
	s->held_free = GRT_NOWHERE;
	forget_places(s);
	s->several_devices = s->strangers = s->back = false;
	s->last = 0;
	s->count = start->count;
}

static int seeds_pass(struct grt_seeds *s, int fd, int (*record)(void *arg, const struct grt_cupti_record *r))
{
	char head[64];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	int ret;

	s->count.gpu = (struct grt_cupti_count){0};
	if (n > 0 && grt_gpu_json_takes(head, (size_t)n))
		ret = lseek(fd, 0, SEEK_SET) ? -errno : grt_gpu_json_read(fd, &s->count.gpu, record, s);
	else
		ret = grt_cupti_text_read(fd, &s->count.gpu, record, s);
	s->base = s->count.gpu.base;
	return ret;
}

static int seeds_keep_call(void *arg, const struct grt_cupti_record *r)
{
	struct grt_seeds *s = arg;

	if (r->kind != GRT_CUPTI_CALL || !is_launch(r->name))
		return 0;
	if (grt_grow(&s->call, &s->call_room, s->calls + 1, 1024))
		return -ENOMEM;
	s->call[s->calls++] = seeds_call_of(r);
	return 0;
}

static int keep_work(void *arg, const struct grt_cupti_record *r)
{
	return r->kind == GRT_CUPTI_CALL ? 0 : seeds_on_work(arg, r);
}

static int seeds_by_start(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* what lies in another call is not before it */
	return grt_compare(y->end, x->end) ?: grt_compare(x->correlation, y->correlation);
}

static int give_calls(struct grt_seeds *s)
{
	int ret = 0;

	for (size_t i = 0; i < s->calls && !ret; i++)
		ret = on_call(s, &s->call[i]);
	return ret;
}

/* Calls come first, in the order of time, then work, whose calls are all known then. */
static int sorted(struct grt_seeds *s, int fd, const struct start *start)
{
	int ret;

	restart(s, start);
	ret = seeds_pass(s, fd, seeds_keep_call);
	if (ret)
		return ret;
	qsort(s->call, s->calls, sizeof(*s->call), seeds_by_start);
	ret = give_calls(s);
	if (!ret && order_failed(s)) {
		restart(s, start);
		ret = give_calls(s);
	}
	free(s->call);
	s->call = NULL;
	s->calls = s->call_room = 0;
	return ret ? ret : seeds_pass(s, fd, keep_work);
}

static int seeds_join(struct grt_seeds *s, int fd, const struct start *start)
{
	int ret = seeds_pass(s, fd, seeds_on_record);

	if (ret == GOES_BACK)
		return sorted(s, fd, start);
	if (ret || !(order_failed(s) || (s->strangers && s->base)))
		return ret;
	restart(s, start);
	return seeds_pass(s, fd, seeds_on_record);
}

/* ----------------------------------------------------------- clocks */

void grt_seeds_clock(struct grt_seeds *s, uint64_t window, int64_t offset)
{
	s->window = window;
	s->offset = offset;
}

/* Whether a thread of the calls has stacks. */
static bool seeds_agree(const struct grt_seeds *s)
{
	for (size_t i = 0; i < s->calls; i++)
		if (seeds_find_thread(s, s->call[i].tid))
			return true;
	return false;
}

/* Gives stacks to launches in the order of time, as if one thread had taken all stacks. */
static int seeds_give_places(struct grt_seeds *s, const struct grt_seeds_moments *m)
{
	int ret = place_all(s);

	for (size_t i = 0; i < s->places && !ret; i++)
		ret = m->stack(m->arg, 1, s->place[i].ts);
	forget_places(s);
	return ret;
}

static int seeds_give_stacks(struct grt_seeds *s, bool agree, const struct grt_seeds_moments *m)
{
	int ret = 0;

	if (!agree)
		return seeds_give_places(s, m);
	for (uint32_t i = 0; i < s->threads; i++)
		for (uint32_t k = 0; k < s->thread[i].samples && !ret; k++)
			ret = m->stack(m->arg, grt_u32(s->thread[i].tid), s->thread[i].sample[k].ts);
	return ret;
}

/* The outer call of two with one correlation id comes first: it began sooner. */
static int seeds_give_launches(struct grt_seeds *s, bool agree, const struct grt_seeds_moments *m)
{
	struct grt_keyed known;
	int ret = 0;

	grt_keyed_init(&known, 1, SEEDS_MOMENTS);
	for (size_t i = 0; i < s->calls && !ret; i++) {
		const struct call *c = &s->call[i];
		const struct grt_key key = {{c->correlation}};
		uint32_t before = known.used;
		void *at = NULL;

		ret = c->correlation ? grt_keyed_get_or_count(&known, &key, NULL, &at) : 0;
		if (!ret && (!c->correlation || known.used > before))
			ret = m->call(m->arg, agree ? grt_u32(c->tid) : 1, seeds_since(s, c->start),
				      seeds_since(s, c->end));
	}
	grt_keyed_free(&known);
	return ret;
}

int grt_seeds_moments(struct grt_seeds *s, int fd, const struct grt_seeds_moments *m)
{
	int ret = seeds_pass(s, fd, seeds_keep_call);
	bool agree;

	if (!ret && !s->calls)
		ret = -ENODATA;
	if (!ret) {
		qsort(s->call, s->calls, sizeof(*s->call), seeds_by_start);
		agree = seeds_agree(s);
		ret = seeds_give_stacks(s, agree, m) ?: seeds_give_launches(s, agree, m);
	}
	free(s->call);
	s->call = NULL;
	s->calls = s->call_room = 0;
	return ret;
}

int grt_seeds_gpu(struct grt_seeds *s, int fd)
{
	struct start start;
	int ret = seeds_copy_entries(s, &start);

	if (!ret)
		ret = grt_stacks_new(&s->tree);
	if (!ret)
		ret = seeds_join(s, fd, &start);
	free(start.told);
	if (!ret)
		ret = add_held(s);
	if (!ret)
		ret = add_unused(s);
	for (uint32_t i = 0; i < s->rows && !ret; i++)
		ret = seeds_put_row(s, &s->row[i]);
	return ret;
}

/* ---------------------------------------------------------- its life */

int grt_seeds_new(struct grt_seeds **out, const struct grt_flame_shape *shape)
{
	struct grt_seeds *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s)
		return -ENOMEM;
	s->shape = shape;
	s->key = grt_hash_key_new();
	s->held_free = GRT_NOWHERE;
	s->window = GRT_SEEDS_WINDOW;
	grt_texts_init(&s->line, 1U << 20);
	if (!grt_stacks_new(&s->cpu))
		return 0;
	grt_seeds_free(s);
	*out = NULL;
	return -ENOMEM;
}

struct grt_stacks *grt_seeds_take(struct grt_seeds *s)
{
	struct grt_stacks **from = s->tree ? &s->tree : &s->cpu, *tree = *from;

	*from = NULL;
	return tree;
}

struct grt_seeds_count grt_seeds_count(const struct grt_seeds *s)
{
	return s->count;
}

void grt_seeds_free(struct grt_seeds *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->threads; i++)
		free(s->thread[i].sample);
	forget_places(s);
	grt_index_free(&s->thread_index);
	grt_index_free(&s->page_index);
	grt_index_free(&s->row_index);
	grt_stacks_free(s->cpu);
	grt_stacks_free(s->tree);
	grt_texts_free(&s->line);
	free(s->clean);
	free(s->node_of);
	free(s->thread);
	free(s->page);
	free(s->held);
	free(s->call);
	free(s->row);
	free(s);
}
