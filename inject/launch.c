// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The launches. The callback is the hot path, in the program's own threads: it
 * reads the clock twice, requests the stack's number and puts an entry into its
 * thread's ring, which no other thread writes. The writer empties the rings. Ranges
 * of NVTX are entries, too.
 *
 * A call of the runtime contains one of the driver (or several) with the same
 * correlation id: the outer one that is seen is the launch. One that waits is written as a
 * GPU_SYNC, too.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/heap.h"
#include "codes/cuda_codes.h"
#include "inject.h"
#include "nccl.h"
#include "nvtx.h"
#include "torch.h"
#include "unwind.h"

/*
 * 32768 launches: at 3 us each, they last for 100 ms, and the writer comes every 10 ms. The ring takes 1.8
 * MB.
 */
#define RING 32768U
/*
 * Enough for a thread that launches at most every 8 us. It then uses less than 128 KiB, including its
 * stacks. A thread whose ring was full once uses the large one until it ends.
 */
#define RING_SMALL 1280U
#define IN_SMALL UINT64_MAX
/* If this many entries wait, the writer takes them at once. */
#define RING_ENOUGH (RING_SMALL / 2)
#define THREADS_MAX 4096U
/*
 * Number of rings that are kept ready for new threads, and number of rings of ended threads that are kept
 * for reuse.
 */
#define SPARES 4
/* Rings of ended threads whose memory is kept for other threads. */
#define RINGS_KEPT 8U
/*
 * A thread enters a call into its ring some ns after the call's end, so a round leaves calls that ended less
 * than this ago to the next round.
 */
#define SETTLE_NS 1000000ULL
/* Streams: one in the order of time, and further ones for launches that were entered too late for it. */
#define LANES 4
/* Most nested calls. */
#define OPEN_MAX 8

/*
 * The @call of an entry for a node of a graph: @correlation is the node's id, @begin the id of the node from
 * which it was cloned, @context its kind.
 */
#define GRAPH_NODE UINT16_MAX
/*
 * The @call of an entry for memory: @begin is its address, @correlation its size, @chain the function,
 * @stream the device, @ranges the kind; @captured: it was freed.
 */
#define ALLOC (UINT16_MAX - 1)

/**
 * struct entry - a launch in a ring or, if @call is an enum nvtx_kind, that event
 * @stream: the stream for which the call waits, or which it makes wait
 * @chain, @ranges: the open NVTX ranges
 */
struct entry {
	uint64_t end;
	uint32_t tid;
	uint16_t call;
	uint16_t ranges;
	union {
		struct {
			uint64_t begin;
			uint64_t correlation;
			uint32_t node;
			uint32_t context;
			int32_t result;
			uint32_t stream;
			uint32_t chain;
			uint8_t stack;
			bool captured;
		};
		struct nvtx_range range;
	};
};

/**
 * struct open - a call that has not returned
 * @inner: number of nested calls with the same correlation
 * @captured: the call made a node of a graph
 * @chain, @ranges: the NVTX ranges that were open at its begin
 */
struct open {
	uint64_t begin;
	uint32_t correlation;
	uint32_t node;
	uint32_t context;
	uint32_t chain;
	uint16_t ranges;
	uint16_t call;
	uint16_t inner;
	bool captured;
};

enum { THREAD_FREE, THREAD_USED, THREAD_LEFT, THREAD_BARE, THREAD_EMPTYING };

/**
 * struct thread - a thread that launches, or has launched
 * @head: number of entries written; only the thread changes it
 * @lost: number of launches that found no room; only the thread changes it
 * @depth: number of elements of @open in use; deeper calls are only counted
 * @turn: @turn of struct capture at the thread's last call
 * @inside: the thread is in a callback that records; only the thread changes it
 * @was_outside: after tracing had ended, the writer has seen the thread outside of such callbacks
 * @tail: number of entries that the writer has taken; only the writer changes it
 * @state: LEFT: its thread has ended, and another one may use it even before it is empty; FREE: it is empty;
 *	BARE: its memory is freed, too
 * @mark, @lost_mark: @head and @lost when the writer's round began
 * @next: the entry that the writer takes next in this round
 * @large_from: entries from this one on are in @large, earlier ones in @small; IN_SMALL: all are in @small.
 *	The thread changes it once, before it commits that entry
 * @nvtx: its ranges; @nccl: its collectives
 * @window: the process's recording to which its calls and ranges belong
 * @before: number of its last call; @same: how many earlier calls in a row had this number
 */
struct thread {
	_Atomic uint64_t head;
	_Atomic uint64_t lost;
	unsigned int depth;
	uint32_t turn;
	_Atomic bool inside;
	bool was_outside;
	uint32_t tid;
	uint32_t window;
	uint32_t before;
	uint32_t same;
	struct open open[OPEN_MAX];
	struct grt_unwind_thread *unwind;
	_Atomic uint64_t tail __attribute__((aligned(64)));
	_Atomic int state;
	uint64_t mark;
	uint64_t lost_mark;
	uint64_t lost_told;
	uint64_t next;
	_Atomic uint64_t large_from;
	struct nvtx_thread nvtx;
	struct nccl_thread nccl;
	/* pages of its own */
	struct entry small[RING_SMALL] __attribute__((aligned(4096)));
	struct entry large[RING] __attribute__((aligned(4096)));
};

static struct packets lane[LANES];
static struct thread *_Atomic thread[THREADS_MAX];
static _Atomic uint32_t threads;
static struct thread *_Atomic spare[SPARES];
static __thread struct thread *self __attribute__((tls_model("initial-exec")));

/**
 * struct outside - a call that began before its thread got a ring: it is not recorded, even if the thread
 * gets a ring before the call ends
 * @depth: number of its functions that have begun and not ended
 * @window: as in struct inject: numbers of calls begin anew with the next recording
 */
static __thread struct outside {
	uint32_t correlation;
	uint32_t depth;
	uint32_t window;
} outside __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static _Atomic uint64_t correlations;

/* Number of attachments whose times are kept, because GPU records come some time after their calls. */
#define ANEW_MAX 64U

/**
 * If CUPTI is detached and attached again, as between windows, it counts calls from 1 again (CUPTI 13.0,
 * after cuptiFinalize()). Our numbers then continue in the next range of 2^32.
 * @begin, @base: time and first number of each attachment
 * @times: number of attachments
 */
static struct {
	pthread_mutex_t lock;
	struct {
		uint64_t begin;
		uint64_t base;
	} at[ANEW_MAX];
	_Atomic uint64_t times;
} anew = {.lock = PTHREAD_MUTEX_INITIALIZER};
/* If this many calls of a thread in a row have the same number, CUPTI has stopped counting, see capture.c. */
#define FROZEN_CALLS 3U
/* That number, with bit 32 set; 0: CUPTI counts. */
static _Atomic uint64_t frozen;
static bool frozen_told;
/*
 * Number of rounds in which the driver reported no launch, and whether it is known which functions report
 * launches.
 */
static unsigned int rounds_silent;
static bool told_by_runtime;
static bool driver_is_silent;

void grtrace_cuda_launch(uint64_t correlation);

/*
 * For --stack=bpf: a uprobe here takes the stack of the launch with this number. The function begins with a
 * nop, on which a uprobe costs least.
 */
__attribute__((visibility("default"), noinline, patchable_function_entry(1, 0))) void
grtrace_cuda_launch(uint64_t correlation)
{
	__asm__ volatile("" : : "r"(correlation) : "memory");
}

static uint64_t launch_frozen_at(uint32_t correlation)
{
	return 1ULL << 32 | correlation;
}

/* Return: 0 also if CUPTI has stopped counting, and gives all calls this number */
static uint64_t launch_correlation(uint32_t correlation)
{
	uint64_t last = atomic_load_explicit(&correlations, memory_order_relaxed), wide;

	if (!correlation ||
	    atomic_load_explicit(&frozen, memory_order_relaxed) == launch_frozen_at(correlation))
		return 0;
	if (!last)
		last = correlation;
	wide = last + (uint64_t)(int64_t)(int32_t)(correlation - (uint32_t)last);
	/* it is seldom written, so that threads can share its cache line */
	if ((int64_t)(wide - last) >= 1 << 16 || !atomic_load_explicit(&correlations, memory_order_relaxed))
		atomic_store_explicit(&correlations, wide, memory_order_relaxed);
	return wide;
}

void launch_count_anew(void)
{
	uint64_t last = atomic_load(&correlations), n, base;

	if (!last)
		return;
	pthread_mutex_lock(&anew.lock);
	n = atomic_load(&anew.times);
	base = (((last + (1 << 16)) >> 32) + 1) << 32;
	anew.at[n % ANEW_MAX].begin = clock_monotonic();
	anew.at[n % ANEW_MAX].base = base;
	atomic_store(&anew.times, n + 1);
	atomic_store(&correlations, base);
	pthread_mutex_unlock(&anew.lock);
}

uint64_t launch_gpu_correlation(uint32_t correlation, uint64_t start)
{
	uint64_t n = atomic_load_explicit(&anew.times, memory_order_acquire), i, base;

	if (!n || !correlation)
		return launch_correlation(correlation);
	pthread_mutex_lock(&anew.lock);
	for (i = n; i && n - i < ANEW_MAX && start && anew.at[(i - 1) % ANEW_MAX].begin > start; i--)
		;
	base = i && n - i < ANEW_MAX ? anew.at[(i - 1) % ANEW_MAX].base : 0;
	pthread_mutex_unlock(&anew.lock);
	return i == n ? launch_correlation(correlation) : base + correlation;
}

/* -------------------------------------------------------------- threads */

static void launch_drop_thread(struct thread *t)
{
	grt_unwind_thread_free(t->unwind);
	munmap(t, sizeof(*t));
}

static uint32_t launch_thread_count(void)
{
	uint32_t n = atomic_load(&threads);

	return n < THREADS_MAX ? n : THREADS_MAX;
}

static struct thread *launch_make_thread(void)
{
	void *at =
		mmap(NULL, sizeof(struct thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct thread *t = at;

	if (at == MAP_FAILED)
		return NULL;
	/* otherwise the first touch of each page would cost a launch a microsecond */
	memset(t->small, 0, sizeof(t->small));
	atomic_init(&t->large_from, IN_SMALL);
	if (inject.stack == STACK_INPROC || inject.asked) {
		t->unwind = grt_unwind_thread_new();
		if (!t->unwind) {
			munmap(at, sizeof(*t));
			return NULL;
		}
	}
	return t;
}

static bool launch_has_room(const struct thread *t)
{
	return atomic_load(&t->head) - atomic_load(&t->tail) < RING / 2;
}

/* Takes the data of an ended thread whose state is @state. */
static struct thread *launch_take_left(int state)
{
	uint32_t n = atomic_load(&threads), i;
	struct thread *t;
	int was;

	for (i = 0; i < n && i < THREADS_MAX; i++) {
		t = atomic_load(&thread[i]);
		was = state;
		if (t && launch_has_room(t) && atomic_compare_exchange_strong(&t->state, &was, THREAD_USED))
			return t;
	}
	return NULL;
}

static struct thread *launch_take_new(void)
{
	struct thread *t = NULL;
	uint32_t at = atomic_load(&threads);
	int i;

	/* a thread beyond the limit comes here at each of its calls */
	if (at >= THREADS_MAX)
		return NULL;
	for (i = 0; i < SPARES && !t; i++)
		t = atomic_exchange(&spare[i], NULL);
	if (!t)
		t = launch_make_thread();
	if (!t)
		return NULL;
	do {
		if (at >= THREADS_MAX) {
			launch_drop_thread(t);
			return NULL;
		}
	} while (!atomic_compare_exchange_weak(&threads, &at, at + 1));
	atomic_store(&t->state, THREAD_USED);
	atomic_store(&thread[at], t);
	return t;
}

/* The open calls belong to another thread, or their ends were not seen. */
static void launch_begin_anew(struct thread *t)
{
	t->window = inject.window;
	t->depth = 0;
	t->nvtx.depth = 0;
	memset(t->nvtx.over, 0, sizeof(t->nvtx.over));
	memset(&t->nccl, 0, sizeof(t->nccl));
	if (t->unwind)
		grt_unwind_thread_reset(t->unwind);
}

/* Gives the calling thread a ring at its first launch. */
static struct thread *launch_join(void)
{
	struct thread *t = launch_take_left(THREAD_FREE);

	t = t ?: launch_take_left(THREAD_LEFT) ?: launch_take_left(THREAD_BARE) ?: launch_take_new();
	if (!t)
		return NULL;
	t->tid = (uint32_t)syscall(SYS_gettid);
	launch_begin_anew(t);
	if (pthread_setspecific(key, t))
		errno = 0;
	self = t;
	return t;
}

/* Return: an entry that the caller has made, or that it has seen committed. */
static struct entry *launch_at(struct thread *t, uint64_t i)
{
	return i < atomic_load_explicit(&t->large_from, memory_order_relaxed) ? &t->small[i % RING_SMALL]
									      : &t->large[i % RING];
}

/* The next entry of a ring, to be committed with launch_commit(); NULL: the ring is full. */
static struct entry *launch_entry(struct thread *t)
{
	uint64_t head = atomic_load_explicit(&t->head, memory_order_relaxed);
	uint64_t used = head - atomic_load_explicit(&t->tail, memory_order_acquire);

	if (used >= RING)
		return NULL;
	if (used >= RING_SMALL && atomic_load_explicit(&t->large_from, memory_order_relaxed) == IN_SMALL)
		atomic_store_explicit(&t->large_from, head, memory_order_relaxed);
	return launch_at(t, head);
}

static void launch_commit(struct thread *t)
{
	uint64_t head = atomic_load_explicit(&t->head, memory_order_relaxed);

	atomic_store_explicit(&t->head, head + 1, memory_order_release);
}

static void launch_put_range(struct thread *t, uint16_t kind, const struct nvtx_range *r, uint32_t tid,
			     uint64_t end)
{
	struct entry *e;

	if (!capture_is_on())
		return;
	e = launch_entry(t);

	if (!e) {
		kind == NVTX_FIELD ? nvtx_lose_field() : nvtx_lose();
		return;
	}
	e->tid = tid;
	e->call = kind;
	e->range = *r;
	e->end = end ?: clock_monotonic();
	/* the clock was tuned in between */
	if (e->end < e->begin)
		e->end = e->begin;
	launch_commit(t);
}

static void launch_leave_thread(void *arg)
{
	struct thread *t = arg;

	if (inject.pid != getpid())
		return;
	for (struct nvtx_thread *n = nvtx_thread_enter(); n && n->depth; n->depth--)
		launch_put_range(t, NVTX_UNENDED, &n->open[n->depth - 1], t->tid, 0);
	nvtx_thread_leave();
	self = NULL;
	atomic_store(&t->state, THREAD_LEFT);
}

/* ------------------------------------------------------------- callback */

/* The number of the stream that a call is about, as GPU records have it. */
static uint32_t launch_stream_of(uint16_t number, const struct cupti_callback *d)
{
	const struct grt_cuda_call *call = grt_cuda_call(number);
	enum grt_cuda_sync sync = grt_cuda_sync(call);
	uint32_t id;

	if ((sync != GRT_CUDA_SYNC_STREAM && sync != GRT_CUDA_SYNC_ORDER) || !inject.cupti.stream_id ||
	    !d->params ||
	    inject.cupti.stream_id(d->context, *(void *const *)d->params, strstr(call->name, "_ptsz") != NULL,
				   &id))
		return CUPTI_NONE;
	return id;
}

static void launch_put(struct thread *t, const struct open *o, int32_t result, const struct cupti_callback *d)
{
	struct entry *e = launch_entry(t);

	if (!e) {
		atomic_fetch_add_explicit(&t->lost, 1, memory_order_relaxed);
		return;
	}
	e->begin = o->begin;
	e->correlation = launch_correlation(o->correlation);
	e->node = o->node;
	e->tid = t->tid;
	e->context = o->context;
	e->result = result;
	e->call = o->call;
	e->stack = (uint8_t)inject.stack;
	e->captured = o->captured;
	e->chain = o->chain;
	e->ranges = o->ranges;
	e->end = clock_monotonic();
	/* after a failed call, the stream may be invalid */
	e->stream = result ? CUPTI_NONE : launch_stream_of(o->call, d);
	/* the clock was tuned in between */
	if (e->end < e->begin)
		e->end = e->begin;
	launch_commit(t);
}

/* Notices at each call of the program whether CUPTI has stopped counting. */
static void launch_see_frozen(struct thread *t, uint32_t correlation)
{
	t->same = t->before == correlation ? t->same + 1 : 0;
	t->before = correlation;
	if (t->same == FROZEN_CALLS)
		atomic_store(&frozen, launch_frozen_at(correlation));
}

bool launch_has_frozen(void)
{
	bool told = frozen_told;

	frozen_told = frozen_told || atomic_load(&frozen);
	return frozen_told && !told;
}

static void launch_enter(struct thread *t, uint16_t call, const struct cupti_callback *d)
{
	uint32_t turn = atomic_load_explicit(&capture.turn, memory_order_relaxed);
	struct open *o;

	if (t->turn != turn) {
		t->turn = turn;
		t->depth = 0;
	}
	o = t->depth && t->depth <= OPEN_MAX ? &t->open[t->depth - 1] : NULL;

	if (o && o->correlation == d->correlation) {
		o->inner++;
		return;
	}
	if (!t->depth)
		launch_see_frozen(t, d->correlation);
	if (t->depth++ >= OPEN_MAX)
		return;
	o = &t->open[t->depth - 1];
	o->begin = clock_monotonic();
	o->correlation = d->correlation;
	o->context = d->context_uid;
	o->call = call;
	o->inner = 0;
	o->captured = false;
	o->chain = nvtx_chain(&t->nvtx);
	o->ranges = nvtx_ranges(&t->nvtx);
	o->node = 0;
	if (inject.stack == STACK_INPROC)
		o->node = grt_unwind(t->unwind);
	else if (inject.stack == STACK_BPF)
		grtrace_cuda_launch(launch_correlation(d->correlation));
}

static bool launch_began_outside(const struct cupti_callback *d)
{
	return outside.depth && outside.correlation == d->correlation && outside.window == inject.window;
}

static void launch_enter_outside(const struct cupti_callback *d)
{
	outside.depth = launch_began_outside(d) ? outside.depth + 1 : 1;
	outside.correlation = d->correlation;
	outside.window = inject.window;
}

/* Counts the call when its outermost function returns. */
static void launch_leave_outside(const struct cupti_callback *d, bool recorded)
{
	if (launch_began_outside(d) && !--outside.depth && recorded)
		atomic_fetch_add(&inject.homeless, 1);
}

/* @recorded: false if tracing has ended, and only the end of the call is noted */
static void launch_leave(struct thread *t, const struct cupti_callback *d, bool recorded)
{
	unsigned int at = t->depth;

	if (at > OPEN_MAX) {
		t->depth--;
		atomic_fetch_add_explicit(&t->lost, recorded, memory_order_relaxed);
		return;
	}
	while (at && t->open[at - 1].correlation != d->correlation)
		at--;
	/* a call that began before tracing did, or before the thread got a ring */
	if (!at) {
		launch_leave_outside(d, recorded);
		return;
	}
	if (t->open[at - 1].inner && at == t->depth) {
		t->open[at - 1].inner--;
		return;
	}
	t->depth = at - 1;
	if (recorded)
		launch_put(t, &t->open[at - 1], d->result ? *(const int32_t *)d->result : 0, d);
}

/* A launch into a stream that is being captured makes a node of a graph, and runs nothing. */
static void launch_capture(struct thread *t)
{
	if (t && t->depth && t->depth <= OPEN_MAX)
		t->open[t->depth - 1].captured = true;
}

/* Only a thread's first launch makes system calls. */
static struct thread *launch_join_quietly(void)
{
	int saved = errno;
	struct thread *t = launch_join();

	errno = saved;
	return t;
}

/*
 * Enters a callback; drops the thread's data of an earlier recording. Return: whether a recording runs; the
 * thread is then inside
 */
static bool launch_enter_callback(struct thread *t)
{
	bool on;

	atomic_store_explicit(&t->inside, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	on = inject_is_on();
	if (on && t->window != inject.window)
		launch_begin_anew(t);
	if (!on)
		atomic_store_explicit(&t->inside, false, memory_order_release);
	return on;
}

/* The same for a callback that calls CUPTI, because CUPTI may be being detached. */
static bool launch_enter_cupti_callback(struct thread *t)
{
	if (!launch_enter_callback(t))
		return false;
	if (!atomic_load(&inject.detaching))
		return true;
	atomic_store_explicit(&t->inside, false, memory_order_release);
	return false;
}

/* The calling thread's data, if anything is recorded. */
struct nvtx_thread *nvtx_thread_enter(void)
{
	struct thread *t = self;

	if (!inject_is_on())
		return NULL;
	if (!t) {
		t = launch_join_quietly();
		if (!t)
			nvtx_lose();
		if (!t)
			return NULL;
	}
	return launch_enter_callback(t) ? &t->nvtx : NULL;
}

void nvtx_thread_leave(void)
{
	if (self)
		atomic_store_explicit(&self->inside, false, memory_order_release);
}

void nvtx_thread_put(uint16_t kind, const struct nvtx_range *r, uint32_t tid)
{
	launch_put_range(self, kind, r, tid ?: self->tid, kind == NVTX_MARKED ? r->begin : 0);
}

void nvtx_thread_put_field(const struct nvtx_range *r, uint64_t now, uint32_t tid)
{
	launch_put_range(self, NVTX_FIELD, r, tid ?: self->tid, now);
}

uint32_t nvtx_thread_id(void)
{
	return self->tid;
}

/* ----------------------------------------------------------- collectives */

struct nccl_thread *nccl_thread_enter(void)
{
	struct thread *t = self;

	if (!inject_is_on())
		return NULL;
	t = t ?: launch_join_quietly();
	return t && launch_enter_callback(t) ? &t->nccl : NULL;
}

void nccl_thread_leave(void)
{
	nvtx_thread_leave();
}

uint64_t nccl_thread_position(void)
{
	return atomic_load_explicit(&self->head, memory_order_relaxed);
}

uint32_t nccl_thread_id(void)
{
	return self->tid;
}

static bool launch_is_kernel(const struct entry *e)
{
	const struct grt_cuda_call *row = e->call < NVTX_PUSHED ? grt_cuda_call(e->call) : NULL;

	return row && row->kind == GRT_CUDA_KIND_KERNEL;
}

/* Whether the ring still has entry @i of the thread; @head: the thread's @head. */
static bool launch_keeps(const struct thread *t, uint64_t i, uint64_t head)
{
	uint64_t large = atomic_load_explicit(&t->large_from, memory_order_relaxed);

	return i < large ? (head < large ? head : large) - i <= RING_SMALL : head - i <= RING;
}

/* The calling thread's own entries do not change meanwhile. A node is made within the call of its launch. */
bool nccl_thread_launch(uint64_t from, struct nccl_launch *launch)
{
	const struct entry *e;
	uint64_t head = nccl_thread_position(), at = head;

	while (at > from && launch_keeps(self, at - 1, head)) {
		e = launch_at(self, --at);
		if (!launch_is_kernel(e))
			continue;
		launch->correlation = e->captured ? 0 : e->correlation;
		launch->captured = e->captured;
		e = at > from && launch_keeps(self, at - 1, head) ? launch_at(self, at - 1) : e;
		launch->node = launch->captured && e->call == GRAPH_NODE ? e->correlation : 0;
		return true;
	}
	return false;
}

/* ---------------------------------------------------------------- graphs */

/* The stack of the code that makes a node: of the captured call, or of the place where the program is. */
static uint32_t launch_node_stack(struct thread *t)
{
	const struct open *o = t->depth && t->depth <= OPEN_MAX ? &t->open[t->depth - 1] : NULL;

	if (o && o->node)
		return o->node;
	return inject.stack == STACK_INPROC ? grt_unwind(t->unwind) : 0;
}

/* Work of an executable graph has the id of a clone, which refers to the node that the program made. */
static void launch_put_node(struct thread *t, const struct cupti_graph *g, bool cloned)
{
	struct entry *e = launch_entry(t);
	uint64_t id, source = 0;

	if (!inject.cupti.graph_node_id || !g->node || inject.cupti.graph_node_id(g->node, &id) ||
	    (cloned && (!g->original_node || inject.cupti.graph_node_id(g->original_node, &source))))
		return;
	if (!e) {
		atomic_fetch_add(&inject.nodes_lost, 1);
		return;
	}
	*e = (struct entry){.begin = source,
			    .correlation = id,
			    .tid = t->tid,
			    .context = (uint32_t)g->kind,
			    .call = GRAPH_NODE};
	if (!cloned)
		e->node = launch_node_stack(t);
	e->end = clock_monotonic();
	launch_commit(t);
}

/* As in launch_record(): asks CUPTI for the ids only while it is certain to stay attached. */
static void launch_see_node(struct thread *t, const struct cupti_resource *r, bool cloned)
{
	if (!r || !r->descriptor || !inject_is_on() || !(t = t ?: launch_join_quietly()) ||
	    !launch_enter_cupti_callback(t))
		return;
	launch_put_node(t, r->descriptor, cloned);
	atomic_store_explicit(&t->inside, false, memory_order_release);
}

static void launch_see_resource(struct thread *t, uint32_t number, const void *data)
{
	pcsampling_resource(number, data);
	if (number == CUPTI_RESOURCE_CONTEXT_CREATED)
		detach_context();
	if (number < CUPTI_RESOURCE_GRAPH_NODE_CREATED)
		return;
	detach_graph();
	if (number == CUPTI_RESOURCE_GRAPH_NODE_CREATED)
		launch_capture(t);
	if (number == CUPTI_RESOURCE_GRAPH_NODE_CREATED || number == CUPTI_RESOURCE_GRAPH_NODE_CLONED)
		launch_see_node(t, data, number == CUPTI_RESOURCE_GRAPH_NODE_CLONED);
}

/* ---------------------------------------------------------------- memory */

static void launch_put_alloc(struct thread *t, const struct alloc *a, uint32_t context)
{
	struct entry *e = launch_entry(t);

	if (!e) {
		atomic_fetch_add_explicit(&t->lost, 1, memory_order_relaxed);
		return;
	}
	*e = (struct entry){.begin = a->address,
			    .correlation = a->bytes,
			    .tid = t->tid,
			    .context = context,
			    .chain = a->call,
			    .stream = a->gpu,
			    .ranges = a->kind,
			    .captured = a->freed,
			    .call = ALLOC};
	if (inject.stack == STACK_INPROC)
		e->node = grt_unwind(t->unwind);
	e->end = clock_monotonic();
	launch_commit(t);
}

/* A call within a call of the runtime, which may have its own row in cuda_calls.def. */
static void launch_see_alloc(struct thread *t, uint32_t number, const struct cupti_callback *d)
{
	struct alloc a;

	if (!inject_is_on() || atomic_load(&inject.detaching)) {
		detach_callback(CUPTI_DOMAIN_DRIVER, number, d);
		return;
	}
	if (!alloc_take(number, d, &a))
		return;
	t = t ?: launch_join_quietly();
	if (!t)
		atomic_fetch_add(&inject.homeless, 1);
	if (!t || !launch_enter_cupti_callback(t))
		return;
	alloc_ask_gpu(d, &a);
	launch_put_alloc(t, &a, d->context_uid);
	atomic_store_explicit(&t->inside, false, memory_order_release);
}

/* ----------------------------------------------------------------- calls */

static bool launch_is_recorded(int site)
{
	return (inject_is_on() && capture_is_on()) ||
	       (site == CUPTI_SITE_EXIT && atomic_load_explicit(&inject.leaving, memory_order_relaxed));
}

/* The thread marks itself as inside before it checks whether it may be inside, see launch_in_callback(). */
static bool launch_record(struct thread *t, int domain, uint32_t number, const struct cupti_callback *data)
{
	bool recorded;

	atomic_store_explicit(&t->inside, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	recorded = launch_is_recorded(data->site);
	if (recorded && t->window != inject.window)
		launch_begin_anew(t);
	if (data->site == CUPTI_SITE_EXIT)
		launch_leave(t, data, recorded);
	else if (recorded)
		launch_enter(t, (uint16_t)(number | (domain == CUPTI_DOMAIN_DRIVER ? GRT_CUDA_DRIVER : 0)),
			     data);
	atomic_store_explicit(&t->inside, false, memory_order_release);
	return recorded;
}

/* While calls are counted, all functions of the driver have callbacks, see gate.c. */
static bool launch_is_listed(int domain, uint32_t number)
{
	return !atomic_load_explicit(&gate_counts, memory_order_relaxed) ||
	       grt_cuda_call((uint16_t)(number | (domain == CUPTI_DOMAIN_DRIVER ? GRT_CUDA_DRIVER : 0)));
}

/* The thread has no ring, because there is no memory for one or nothing is recorded. */
static void launch_stay_outside(const struct cupti_callback *data)
{
	bool recorded = launch_is_recorded(data->site);

	if (data->site == CUPTI_SITE_EXIT)
		launch_leave_outside(data, recorded);
	else if (recorded)
		launch_enter_outside(data);
}

void launch_callback(void *user, int domain, uint32_t number, const struct cupti_callback *data)
{
	struct thread *t = self;

	if (atomic_load_explicit(&gate_counts, memory_order_relaxed) && domain != CUPTI_DOMAIN_RESOURCE)
		gate_callback(domain, number, data->site);
	if (capture.how == CAPTURE_PROFILER && domain != CUPTI_DOMAIN_RESOURCE &&
	    capture_call(domain, number, data->site))
		return;
	if (domain == CUPTI_DOMAIN_RESOURCE)
		launch_see_resource(t, number, data);
	if (domain == CUPTI_DOMAIN_DRIVER && alloc_is(number)) {
		launch_see_alloc(t, number, data);
		return;
	}
	if (domain != CUPTI_DOMAIN_DRIVER && domain != CUPTI_DOMAIN_RUNTIME)
		return;
	if (atomic_load_explicit(&pcsampling_sees_calls, memory_order_relaxed) && data->context)
		pcsampling_see(data->context);
	if (!launch_is_listed(domain, number)) {
		detach_callback(domain, number, data);
		return;
	}
	if (!t && inject_is_on() && !launch_began_outside(data))
		t = launch_join_quietly();
	if (t && !t->depth && atomic_load_explicit(&torch_sees_launches, memory_order_relaxed))
		torch_launch();
	if (!t)
		launch_stay_outside(data);
	if (!t || !launch_record(t, domain, number, data))
		detach_callback(domain, number, data);
}

bool launch_in_callback(void)
{
	uint32_t n = launch_thread_count(), i;
	bool inside = false;
	struct thread *t;

	/* busy threads are seldom all outside at the same moment */
	for (i = 0; i < n; i++) {
		t = atomic_load(&thread[i]);
		if (!t)
			continue;
		t->was_outside = t->was_outside || !atomic_load(&t->inside);
		inside = inside || !t->was_outside;
	}
	return inside;
}

void launch_forget_outside(void)
{
	for (uint32_t i = 0; i < launch_thread_count(); i++)
		if (atomic_load(&thread[i]))
			atomic_load(&thread[i])->was_outside = false;
}

bool launch_is_outside(void)
{
	return !self || !self->depth;
}

bool launch_in_call(void)
{
	uint32_t n = launch_thread_count(), i;
	struct thread *t;

	for (i = 0; i < n; i++) {
		t = atomic_load(&thread[i]);
		if (t && atomic_load(&t->state) == THREAD_USED &&
		    __atomic_load_n(&t->depth, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

/*
 * The runtime launches kernels with the driver's functions, whose callback has the same correlation id. One
 * pair of callbacks less saves a launch 0.2 us. For frame pointers (--stack=bpf), the way through the driver
 * is too long.
 */
static bool launch_is_seen_in_driver(int domain, enum grt_cuda_kind kind)
{
	return domain == CUPTI_DOMAIN_RUNTIME && kind == GRT_CUDA_KIND_KERNEL && inject.stack != STACK_BPF;
}

void launch_enable_resources(uint32_t enable, void *subscriber)
{
	static const uint32_t resources[] = {
		CUPTI_RESOURCE_CONTEXT_CREATED, CUPTI_RESOURCE_GRAPH_NODE_CREATED,
		CUPTI_RESOURCE_GRAPH_NODE_CLONED, CUPTI_RESOURCE_GRAPH_EXEC_CREATING,
		CUPTI_RESOURCE_GRAPH_EXEC_CREATED};

	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
		inject.cupti.enable_callback(enable, subscriber, CUPTI_DOMAIN_RESOURCE, resources[i]);
	alloc_enable(enable, subscriber);
	pcsampling_join(enable, subscriber);
}

unsigned int launch_enable_calls(void *subscriber)
{
	unsigned int n = 0;

	atomic_store(&frozen, 0);
	/* functions that are newer than this CUPTI are refused */
#define GRT_CUDA_CALL(DOMAIN, number, KIND, name)                                                       \
	if (driver_is_silent || !launch_is_seen_in_driver(CUPTI_DOMAIN_##DOMAIN, GRT_CUDA_KIND_##KIND)) \
		n += !inject.cupti.enable_callback(1, subscriber, CUPTI_DOMAIN_##DOMAIN, number);
#include <grtrace/cuda_calls.def>
#undef GRT_CUDA_CALL
	return n;
}

void launch_disable(void *subscriber)
{
	capture_leave(subscriber);
	launch_enable_resources(0, subscriber);
	launch_disable_calls(subscriber);
}

void launch_disable_calls(void *subscriber)
{
#define GRT_CUDA_CALL(DOMAIN, number, KIND, name) \
	inject.cupti.enable_callback(0, subscriber, CUPTI_DOMAIN_##DOMAIN, number);
#include <grtrace/cuda_calls.def>
#undef GRT_CUDA_CALL
}

void launch_reset(void)
{
	uint32_t n = launch_thread_count(), i;
	struct thread *t;

	for (i = 0; i < n; i++) {
		t = atomic_load(&thread[i]);
		if (!t)
			continue;
		atomic_store(&t->tail, atomic_load(&t->head));
		t->mark = t->next = atomic_load(&t->head);
		t->lost_mark = t->lost_told = atomic_load(&t->lost);
		t->was_outside = false;
	}
	atomic_store(&correlations, 0);
	pthread_mutex_init(&anew.lock, NULL);
	atomic_store(&anew.times, 0);
	frozen_told = false;
	rounds_silent = 0;
	told_by_runtime = driver_is_silent = false;
}

/* A call may return after its kernel has run; its record is written one round later. */
#define ROUNDS_SILENT 3

bool launch_check(void *subscriber)
{
	if (told_by_runtime || !inject.kernels || !capture_is_on() || inject.stack == STACK_BPF)
		return false;
	told_by_runtime = inject.kernel_calls || ++rounds_silent == ROUNDS_SILENT;
	if (inject.kernel_calls || !told_by_runtime)
		return false;
	driver_is_silent = true;
#define GRT_CUDA_CALL(DOMAIN, number, KIND, name)                                  \
	if (launch_is_seen_in_driver(CUPTI_DOMAIN_##DOMAIN, GRT_CUDA_KIND_##KIND)) \
		inject.cupti.enable_callback(1, subscriber, CUPTI_DOMAIN_##DOMAIN, number);
#include <grtrace/cuda_calls.def>
#undef GRT_CUDA_CALL
	return true;
}

/* ------------------------------------------------------------ the writer */

int launch_init(void)
{
	static bool keyed;
	int ret = keyed ? 0 : pthread_key_create(&key, launch_leave_thread);

	if (ret)
		return -ret;
	keyed = true;
	for (int i = 0; i < LANES; i++)
		lane[i] = (struct packets){.fd = -1, .told = true, .before = &define_packets};
	packets_open(&lane[0]);
	launch_refill();
	return atomic_load(&spare[0]) ? 0 : -ENOMEM;
}

void launch_refill(void)
{
	for (int i = 0; i < SPARES; i++)
		if (!atomic_load(&spare[i]))
			atomic_store(&spare[i], launch_make_thread());
}

bool launch_filled(void)
{
	uint32_t n = launch_thread_count(), i;
	struct thread *t;

	for (i = 0; i < n; i++) {
		t = atomic_load(&thread[i]);
		if (t && atomic_load_explicit(&t->head, memory_order_relaxed) -
					 atomic_load_explicit(&t->tail, memory_order_relaxed) >=
				 RING_ENOUGH)
			return true;
	}
	return false;
}

static uint64_t settled;

void launch_mark(void)
{
	uint32_t n = launch_thread_count(), i;
	struct thread *t;

	settled = clock_monotonic() - SETTLE_NS;
	for (i = 0; i < n; i++) {
		t = atomic_load(&thread[i]);
		if (!t)
			continue;
		t->mark = atomic_load_explicit(&t->head, memory_order_acquire);
		t->lost_mark = atomic_load_explicit(&t->lost, memory_order_relaxed);
	}
}

/* The first stream whose last record is not later than this time. */
static struct packets *launch_lane_at(uint64_t time)
{
	int i = 0;

	while (i < LANES - 1 && lane[i].last > time)
		i++;
	return &lane[i];
}

static void write_launch(struct packets *p, const struct entry *e)
{
	const struct grt_cuda_call *row = grt_cuda_call(e->call);
	bool launches = row && (row->kind == GRT_CUDA_KIND_KERNEL || row->kind == GRT_CUDA_KIND_GRAPH);
	struct grt_ev_launch r;

	event_init(&r.e, GRT_EV_LAUNCH, sizeof(r), e->end);
	r.e.tid = e->tid;
	r.e.flags = e->captured ? GRT_FLAG_CAPTURED : 0;
	r.begin = e->begin;
	r.correlation = e->correlation;
	r.node = e->node;
	r.call = e->call;
	r.stack = e->stack;
	r.result = e->result;
	r.context = e->context;
	r.range = e->chain;
	r.ranges = e->ranges;
	inject.kernel_calls += launches;
	if (launches && !e->result && !e->captured)
		held_see_launch(e->correlation, e->context, e->end);
	if (e->end > inject.last_call)
		inject.last_call = e->end;
	if (row && row->kind == GRT_CUDA_KIND_GRAPH)
		detach_graph();
	packets_put(p, &r.e);
}

static void launch_write_sync(struct packets *p, const struct entry *e)
{
	enum grt_cuda_sync sync = grt_cuda_sync(grt_cuda_call(e->call));
	struct grt_ev_gpu_sync r;

	if (!sync)
		return;
	event_init(&r.e, GRT_EV_GPU_SYNC, sizeof(r), e->end);
	r.e.tid = e->tid;
	r.start = e->begin;
	r.end = e->end;
	r.correlation = e->correlation;
	r.kind = sync;
	r.context = e->context;
	r.cuda_stream = e->stream;
	r.event_id = CUPTI_NONE;
	if (sync == GRT_CUDA_SYNC_CONTEXT && !e->result)
		held_see_wait(e->context, e->begin);
	inject.gpu_records++;
	packets_put(p, &r.e);
}

static void launch_write_alloc(const struct entry *e)
{
	struct grt_ev_alloc r;

	event_init(&r.e, GRT_EV_ALLOC, sizeof(r), e->end);
	r.e.tid = e->tid;
	r.address = e->begin;
	r.bytes = e->correlation;
	r.node = e->node;
	r.gpu = e->stream;
	r.context = e->context;
	r.call = e->chain;
	r.kind = e->ranges;
	r.what = e->captured ? 2 : 1;
	packets_put(launch_lane_at(e->end), &r.e);
}

static void launch_write_entry(const struct entry *e)
{
	struct packets *p;

	/* an entry of the previous recording, from a thread that was late */
	if (e->end < inject.since)
		return;
	if (e->call == GRAPH_NODE) {
		define_graph_node(e->correlation, e->begin, e->node, e->tid, e->context);
		return;
	}
	if (e->call == ALLOC) {
		launch_write_alloc(e);
		return;
	}
	p = launch_lane_at(e->end);
	if (e->call >= NVTX_PUSHED) {
		nvtx_write(p, e->call, &e->range, e->end, e->tid);
		return;
	}
	inject.launches++;
	write_launch(p, e);
	launch_write_sync(p, e);
}

/*
 * A heap of the threads that have entries in this round; at the top is the thread whose next entry ended
 * first.
 */
static struct thread *heap[THREADS_MAX];
static uint32_t heaped;

static uint64_t launch_next_end(struct thread *t)
{
	return launch_at(t, t->next)->end;
}

static bool launch_before(const void *none, struct thread *const *a, struct thread *const *b)
{
	return launch_next_end(*a) < launch_next_end(*b);
}

GRT_HEAP(launch, struct thread *, void, launch_before)

/* The earliest thread except for the one at the top. */
static uint64_t launch_second_end(void)
{
	uint64_t a = heaped > 1 ? launch_next_end(heap[1]) : UINT64_MAX;
	uint64_t b = heaped > 2 ? launch_next_end(heap[2]) : UINT64_MAX;

	return a < b ? a : b;
}

/* Writes entries up to the time @until. Return: whether this round has more entries */
static bool launch_write_run(struct thread *t, uint64_t until, uint64_t last)
{
	while (t->next < t->mark && launch_next_end(t) <= until) {
		launch_write_entry(launch_at(t, t->next++));
		/* the thread gets room while the other entries are written */
		if (t->next % (RING_SMALL / 4) == 0)
			atomic_store_explicit(&t->tail, t->next, memory_order_release);
	}
	return t->next < t->mark && launch_next_end(t) <= last;
}

static void launch_count_thread(struct thread *t)
{
	inject.launches += t->lost_mark - t->lost_told;
	inject.launches_lost += t->lost_mark - t->lost_told;
	lane[0].lost += t->lost_mark - t->lost_told;
	t->lost_told = t->lost_mark;
}

static void launch_count_ranges(void)
{
	uint64_t n = nvtx_lost(), fields = nvtx_lost_fields();

	inject.ranges += n;
	inject.ranges_lost += n;
	inject.fields += fields;
	inject.fields_lost += fields;
	lane[0].lost += n + fields;
}

static void launch_heap_threads(uint32_t n, uint64_t last)
{
	struct thread *t;
	uint32_t i;

	heaped = 0;
	for (i = 0; i < n; i++) {
		t = atomic_load(&thread[i]);
		if (!t)
			continue;
		launch_count_thread(t);
		t->next = atomic_load_explicit(&t->tail, memory_order_relaxed);
		if (t->next < t->mark && launch_next_end(t) <= last) {
			heap[heaped] = t;
			launch_rise(NULL, heap, heaped++);
		}
	}
}

/* Frees the data of an ended thread once all its launches are written. */
static void launch_empty_thread(struct thread *t)
{
	int was = THREAD_FREE;

	if (!atomic_compare_exchange_strong(&t->state, &was, THREAD_EMPTYING))
		return;
	t->mark = 0;
	atomic_store(&t->head, 0);
	atomic_store(&t->tail, 0);
	atomic_store(&t->large_from, IN_SMALL);
	if (t->unwind)
		grt_unwind_thread_empty(t->unwind);
	if (madvise(t->small, sizeof(t->small) + sizeof(t->large), MADV_DONTNEED))
		errno = 0;
	atomic_store(&t->state, THREAD_BARE);
}

static void launch_end_round(uint32_t n)
{
	unsigned int ready = 0;
	struct thread *t;
	uint64_t tail;
	int was;

	for (uint32_t i = 0; i < n; i++) {
		t = atomic_load(&thread[i]);
		if (!t)
			continue;
		was = THREAD_LEFT;
		tail = atomic_load_explicit(&t->tail, memory_order_relaxed);
		/* the thread had ended before its head was read, so there are no more entries */
		if (atomic_load(&t->state) == THREAD_LEFT && tail == atomic_load(&t->head))
			atomic_compare_exchange_strong(&t->state, &was, THREAD_FREE);
		if (atomic_load(&t->state) == THREAD_FREE && ready++ >= RINGS_KEPT)
			launch_empty_thread(t);
	}
}

void launch_write(bool all)
{
	uint64_t last = all ? UINT64_MAX : settled, until;
	uint32_t n = launch_thread_count();
	struct thread *t;

	launch_count_ranges();
	launch_heap_threads(n, last);
	while (heaped) {
		t = heap[0];
		until = launch_second_end();
		if (!launch_write_run(t, until < last ? until : last, last))
			heap[0] = heap[--heaped];
		atomic_store_explicit(&t->tail, t->next, memory_order_release);
		if (heaped)
			launch_sink(NULL, heap, heaped, 0);
	}
	nccl_write(launch_lane_at, last);
	lane[0].lost += nccl_lost();
	for (int i = 0; i < LANES; i++)
		packets_flush(&lane[i]);
	launch_end_round(n);
}

/* The stack of ranges of a thread that is still in one of our functions is not read. */
static void launch_write_open(struct thread *t)
{
	uint64_t now = clock_monotonic();

	if (atomic_load(&t->state) != THREAD_USED || !capture_is_on())
		return;
	if (atomic_load_explicit(&t->inside, memory_order_acquire))
		return;
	for (; t->nvtx.depth; t->nvtx.depth--)
		nvtx_write(launch_lane_at(now), NVTX_UNENDED, &t->nvtx.open[t->nvtx.depth - 1], now, t->tid);
}

void launch_write_ranges(void)
{
	uint32_t n = launch_thread_count();
	struct thread *t;

	for (uint32_t i = 0; i < n; i++) {
		t = atomic_load(&thread[i]);
		if (t)
			launch_write_open(t);
	}
	nvtx_write_started(launch_lane_at);
	launch_count_ranges();
}

void launch_close(void)
{
	for (int i = 0; i < LANES; i++)
		packets_close(&lane[i]);
}
