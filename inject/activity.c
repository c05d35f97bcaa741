// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * GPU work as CUPTI reports it: buffers that CUPTI fills and returns in any order and from any thread. They
 * are queued here; the writer converts their records.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "codes/cuda_codes.h"
#include "inject.h"

#define BUFFER_BYTES ((size_t)1 << 20)
/*
 * Buffers are allocated and touched before CUPTI requests them, because it may request one within a launch.
 */
#define BUFFERS_READY 8
/*
 * If CUPTI has this many buffers, it gets no more and counts the records that it drops. Before CUDA 12.9, it
 * cannot handle a missing buffer.
 */
#define BUFFERS_ENOUGH 256
#define BUFFERS_MAX 2048
#define CUPTI_VERSION_12_9 28

enum { BUFFER_NONE, BUFFER_FREE, BUFFER_OUT, BUFFER_FULL, BUFFER_EMPTY };

/**
 * struct buffer
 * @next: the buffer that was completed before this one
 * @last: the last record that was written while CUPTI had the buffer, see activity_recover(); NULL: none
 */
struct buffer {
	_Atomic int state;
	uint8_t *at;
	size_t valid;
	void *context;
	uint32_t stream;
	union cupti_record *last;
	struct buffer *next;
};

static struct buffer buffer[BUFFERS_MAX];
static _Atomic unsigned int buffers;
static struct buffer *_Atomic completed;
#define PACKETS                                                   \
	{                                                         \
		.fd = -1, .told = true, .before = &define_packets \
	}
static struct packets packets = PACKETS;
static _Atomic bool over;
/* CUPTI has requested a buffer, so it had records for this library. */
static _Atomic bool asked;
/* A graph is one record instead of one record per kernel. */
static bool whole_graphs;

/* -------------------------------------------------------------- buffers */

/* Return: an index whose memory was freed; BUFFERS_MAX: there is none */
static unsigned int activity_take_empty(void)
{
	unsigned int n = atomic_load(&buffers), i;
	int state = BUFFER_EMPTY;

	for (i = 0; i < n; i++, state = BUFFER_EMPTY)
		if (atomic_compare_exchange_strong(&buffer[i].state, &state, BUFFER_OUT))
			return i;
	return BUFFERS_MAX;
}

static struct buffer *activity_make_buffer(void)
{
	unsigned int limit = inject.version < CUPTI_VERSION_12_9 ? BUFFERS_MAX : BUFFERS_ENOUGH;
	unsigned int at = atomic_load(&buffers);
	unsigned int empty = activity_take_empty();
	void *memory;

	if (empty == BUFFERS_MAX && at >= limit)
		return NULL;
	memory = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		      -1, 0);
	if (memory == MAP_FAILED) {
		if (empty < BUFFERS_MAX)
			atomic_store(&buffer[empty].state, BUFFER_EMPTY);
		return NULL;
	}
	if (empty < BUFFERS_MAX) {
		buffer[empty].at = memory;
		return &buffer[empty];
	}
	/* only now that there is memory, because a new index is never given back */
	do {
		if (at >= limit) {
			munmap(memory, BUFFER_BYTES);
			return NULL;
		}
	} while (!atomic_compare_exchange_weak(&buffers, &at, at + 1));
	buffer[at].at = memory;
	atomic_store(&buffer[at].state, BUFFER_OUT);
	return &buffer[at];
}

static void activity_request(uint8_t **at, size_t *size, size_t *max_records)
{
	unsigned int n = atomic_load(&over) ? 0 : atomic_load(&buffers), i;
	struct buffer *b = NULL;
	int state = BUFFER_FREE;

	atomic_store_explicit(&asked, true, memory_order_relaxed);
	for (i = 0; i < n && !b; i++, state = BUFFER_FREE)
		if (atomic_compare_exchange_strong(&buffer[i].state, &state, BUFFER_OUT))
			b = &buffer[i];
	if (!b && !atomic_load(&over))
		b = activity_make_buffer();
	*at = b ? b->at : NULL;
	*size = b ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static struct buffer *activity_find(const uint8_t *at)
{
	unsigned int n = atomic_load(&buffers), i;

	/* an index that was just taken has no memory for a moment */
	if (!at)
		return NULL;
	for (i = 0; i < n; i++)
		if (buffer[i].at == at && atomic_load(&buffer[i].state) == BUFFER_OUT)
			return &buffer[i];
	return NULL;
}

static void activity_complete(void *context, uint32_t stream, uint8_t *at, size_t size, size_t valid)
{
	struct buffer *b = activity_find(at);

	if (!b)
		return;
	b->valid = valid;
	b->context = context;
	b->stream = stream;
	atomic_store(&b->state, BUFFER_FULL);
	b->next = atomic_load(&completed);
	while (!atomic_compare_exchange_weak(&completed, &b->next, b))
		;
}

/* -------------------------------------------------------------- records */

/*
 * Copies the time stamps of CUPTI's record into a record of ours: in all kinds of records they have the same
 * names.
 */
#define STAMPS(r, c)                                          \
	do {                                                  \
		(r).start = clock_convert((c)->start);        \
		(r).end = clock_convert((c)->end);            \
		inject.no_stamps += !(c)->start && !(c)->end; \
	} while (0)

static void activity_put_kernel(const union cupti_record *c, uint64_t now)
{
	const struct cupti_kernel *k = &c->kernel;
	struct grt_ev_gpu_kernel r;

	event_init(&r.e, GRT_EV_GPU_KERNEL, sizeof(r), now);
	STAMPS(r, k);
	r.correlation = launch_gpu_correlation(k->correlation, r.start);
	r.graph_node = k->graph_node;
	r.name = define_name(k->name);
	r.gpu = k->device;
	r.context = k->context;
	r.cuda_stream = k->stream;
	r.graph = k->graph;
	r.grid_x = (uint32_t)k->grid[0];
	r.grid_y = (uint32_t)k->grid[1];
	r.grid_z = (uint32_t)k->grid[2];
	r.block_x = (uint32_t)k->block[0];
	r.block_y = (uint32_t)k->block[1];
	r.block_z = (uint32_t)k->block[2];
	r.registers = k->registers;
	r.shared_static = (uint32_t)k->shared_static;
	r.shared_dynamic = (uint32_t)k->shared_dynamic;
	r.kind = k->launch_type;
	if (inject.version >= CUPTI_VERSION_13_0)
		r.by_gpu = ((const uint8_t *)c)[CUPTI_KERNEL_BY_GPU] != 0;
	inject.kernels++;
	held_see_record(r.correlation);
	detach_see_context(k->context);
	inject.running += !k->end;
	/* a kernel from before CUPTI reported graphs cannot be distinguished from one without a graph */
	if (k->graph)
		detach_graph();
	packets_put(&packets, &r.e);
}

/* The record has the name of the graph, as in Nsight Systems. */
static void activity_put_graph(const union cupti_record *c, uint64_t now)
{
	const struct cupti_graph_trace *g = &c->graph;
	char name[sizeof("CUDA graph 4294967295")];
	struct grt_ev_gpu_kernel r;

	if (g->device == CUPTI_GRAPH_ON_HOST) {
		inject.gpu_records--;
		inject.gpu_unknown++;
		return;
	}
	event_init(&r.e, GRT_EV_GPU_KERNEL, sizeof(r), now);
	STAMPS(r, g);
	r.correlation = launch_gpu_correlation(g->correlation, r.start);
	snprintf(name, sizeof(name), "CUDA graph %u", g->graph);
	r.name = define_string(name);
	r.gpu = g->device;
	r.context = g->context;
	r.cuda_stream = g->stream;
	r.graph = g->graph;
	r.kind = GRT_CUDA_WHOLE_GRAPH;
	inject.kernels++;
	held_see_record(r.correlation);
	detach_see_context(g->context);
	inject.running += !g->end;
	detach_graph();
	packets_put(&packets, &r.e);
}

/* CUPTI's three kinds of memory records have these members at different offsets. */
#define BEGIN_COPY(r, m, now)                                                          \
	do {                                                                           \
		event_init(&(r).e, GRT_EV_GPU_COPY, sizeof(r), now);                   \
		STAMPS(r, m);                                                          \
		(r).correlation = launch_gpu_correlation((m)->correlation, (r).start); \
		(r).graph_node = (m)->graph_node;                                      \
		(r).bytes = (m)->bytes;                                                \
		(r).gpu = (m)->device;                                                 \
		(r).context = (m)->context;                                            \
		(r).cuda_stream = (m)->stream;                                         \
		(r).graph = (m)->graph;                                                \
		(r).asynchronous = (m)->flags & 1;                                     \
	} while (0)

static void activity_put_copy(const union cupti_record *c, uint64_t now)
{
	const struct cupti_memcpy *m = &c->copy;
	struct grt_ev_gpu_copy r;

	BEGIN_COPY(r, m, now);
	r.kind = m->copy_kind;
	r.from_memory = m->src_kind;
	r.to_memory = m->dst_kind;
	packets_put(&packets, &r.e);
}

static void activity_put_peer(const union cupti_record *c, uint64_t now)
{
	const struct cupti_memcpy_peer *m = &c->peer;
	struct grt_ev_gpu_copy r;

	BEGIN_COPY(r, m, now);
	r.kind = m->copy_kind;
	r.from_memory = m->src_kind;
	r.to_memory = m->dst_kind;
	r.from_gpu = m->src_device;
	r.to_gpu = m->dst_device;
	packets_put(&packets, &r.e);
}

static void activity_put_set(const union cupti_record *c, uint64_t now)
{
	const struct cupti_memset *m = &c->set;
	struct grt_ev_gpu_copy r;

	BEGIN_COPY(r, m, now);
	r.kind = GRT_CUDA_SET;
	r.value = m->value;
	r.to_memory = m->memory_kind;
	packets_put(&packets, &r.e);
}

static void activity_put_overhead(const union cupti_record *c, uint64_t now)
{
	const struct cupti_overhead *o = &c->overhead;
	struct grt_ev_gpu_overhead r;

	event_init(&r.e, GRT_EV_GPU_OVERHEAD, sizeof(r), now);
	STAMPS(r, o);
	if (inject.version >= CUPTI_VERSION_13_0)
		r.correlation = launch_gpu_correlation(
			*(const uint32_t *)((const char *)c + CUPTI_OVERHEAD_CORRELATION), r.start);
	r.kind = o->overhead_kind;
	/* what identifies a thread can be set only if this library is CUPTI's only subscriber */
	r.object = subscriber_is_one_of_several() ? 0 : o->object[1];
	packets_put(&packets, &r.e);
}

/*
 * Not CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: it makes a PyTorch layer 20 % slower (CUDA 13.0). The calls that
 * wait have callbacks anyway, from which the writer makes the records.
 */
static const struct kind {
	int kind;
	bool needed;
	void (*put)(const union cupti_record *c, uint64_t now);
} kinds[] = {
	{CUPTI_KIND_CONCURRENT_KERNEL, true, activity_put_kernel},
	{CUPTI_KIND_KERNEL, false, activity_put_kernel},
	{CUPTI_KIND_MEMCPY, true, activity_put_copy},
	{CUPTI_KIND_MEMCPY2, false, activity_put_peer},
	{CUPTI_KIND_MEMSET, true, activity_put_set},
	{CUPTI_KIND_OVERHEAD, false, activity_put_overhead},
	{CUPTI_KIND_GRAPH_TRACE, false, activity_put_graph},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void activity_put_record(const union cupti_record *c, uint64_t now)
{
	unsigned int i;

	for (i = 0; i < KINDS; i++)
		if (kinds[i].kind == (int)c->kind) {
			inject.gpu_records++;
			kinds[i].put(c, now);
			return;
		}
	inject.gpu_unknown++;
}

static void activity_put_buffer(struct buffer *b)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	union cupti_record *c = b->last;
	size_t lost = 0;

	while (b->valid && !subscriber_next_record(b->at, b->valid, &c))
		activity_put_record(c, now);
	b->last = NULL;
	if (!subscriber_dropped(b->context, b->stream, &lost)) {
		inject.gpu_records += lost;
		inject.gpu_lost += lost;
		packets.lost += lost;
	}
	atomic_store(&b->state, BUFFER_FREE);
}

void activity_write(void)
{
	struct buffer *b = atomic_exchange(&completed, NULL), *in_order = NULL, *next;

	device_write(b);
	for (; b; b = next) {
		next = b->next;
		b->next = in_order;
		in_order = b;
	}
	for (b = in_order; b; b = next) {
		next = b->next;
		activity_put_buffer(b);
	}
	packets_flush(&packets);
}

/*
 * When another client registered itself, CUPTI may have had buffers of ours that contain records. CUPTI
 * hands them to the other client, which does not know them. CUPTI zeroes a buffer when it gets it, so the
 * first record without a kind is the end. A buffer that CUPTI still has may come back with more records,
 * which are written then.
 */
void activity_recover(void)
{
	unsigned int n = atomic_load(&buffers), i;
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	union cupti_record *c;

	for (i = 0; i < n; i++) {
		c = buffer[i].last;
		if (atomic_load(&buffer[i].state) != BUFFER_OUT || !buffer[i].at)
			continue;
		while (!subscriber_next_record(buffer[i].at, BUFFER_BYTES, &c) && c && c->kind) {
			activity_put_record(c, now);
			buffer[i].last = c;
		}
	}
}

void activity_close(void)
{
	packets_close(&packets);
}

/* ------------------------------------------------------------ on and off */

int activity_init(void)
{
	struct buffer *ready[BUFFERS_READY];
	unsigned int i;

	for (i = 0; i < BUFFERS_READY; i++)
		ready[i] = activity_make_buffer();
	for (i = 0; i < BUFFERS_READY; i++)
		if (ready[i])
			atomic_store(&ready[i]->state, BUFFER_FREE);
	packets_open(&packets);
	return subscriber_register(activity_request, activity_complete);
}

bool activity_is_requested(void)
{
	return atomic_load(&asked);
}

/* The other client may have registered its own clock. */
int activity_register(void)
{
	if (inject.cupti.register_clock)
		inject.cupti.register_clock(inject.realtime ? clock_real : clock_cupti);
	return subscriber_register(activity_request, activity_complete);
}

void activity_set_graphs(uint32_t whole)
{
	whole_graphs = whole;
}

bool activity_wants_graphs(void)
{
	return whole_graphs;
}

static bool activity_wants(int kind)
{
	/* this kind would make kernels run one by one, so it is read but never enabled */
	if (kind == CUPTI_KIND_KERNEL)
		return false;
	return kind != CUPTI_KIND_GRAPH_TRACE || whole_graphs;
}

int activity_start(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < KINDS && !ret; i++) {
		if (!activity_wants(kinds[i].kind))
			continue;
		ret = subscriber_enable(kinds[i].kind);
		if (ret && kinds[i].kind == CUPTI_KIND_GRAPH_TRACE)
			define_process(
				5, "CUPTI does not record whole graphs: each of their kernels is recorded");
		if (!kinds[i].needed)
			ret = 0;
	}
	return ret;
}

void activity_stop(void)
{
	unsigned int i;

	if (held_is())
		return;
	for (i = 0; i < KINDS; i++)
		if (activity_wants(kinds[i].kind))
			subscriber_disable(kinds[i].kind);
}

void activity_empty(void)
{
	unsigned int n = atomic_load(&buffers), i;
	int state = BUFFER_FREE;

	atomic_store(&over, true);
	for (i = 0; i < n; i++, state = BUFFER_FREE)
		if (atomic_compare_exchange_strong(&buffer[i].state, &state, BUFFER_OUT)) {
			munmap(buffer[i].at, BUFFER_BYTES);
			buffer[i].at = NULL;
			atomic_store(&buffer[i].state, BUFFER_EMPTY);
		}
}

void activity_resume(void)
{
	atomic_store(&over, false);
}

void activity_reset(void)
{
	struct buffer *b = atomic_exchange(&completed, NULL);

	/* a buffer of the previous recording, which CUPTI has returned late */
	for (; b; b = b->next)
		atomic_store(&b->state, BUFFER_FREE);
	packets = (struct packets)PACKETS;
	atomic_store(&over, false);
	atomic_store(&asked, false);
	held_reset();
}
