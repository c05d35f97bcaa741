// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * PC sampling: the GPU looks where warps are, and why they stand still, and CUPTI counts that by instruction.
 * In its continuous mode kernels run as they do without it, and a sample is of no launch. Serialized, they
 * run one by one, and each sample has the number of its launch. From the environment:
 *	GRTRACE_PC_SAMPLING	N or serialized:N, 5 to 31: a sample every 2^N cycles of a multiprocessor;
 *				0: as it is best
 *
 * Contexts are sampled from their beginning to their end, or in the windows of --duty. Sampling is then
 * enabled before a window, for as long as it, and disabled at its beginning: between windows launches are not
 * slower, and the hardware's buffer takes no memory. CUPTI may leave the program between windows. When it
 * comes back, it reports only new contexts; the older ones are found by the calls that the program makes in
 * them. CUPTI does not report code that was loaded in its absence, so it stays at least from the beginning of
 * the program to the end of the first window. Sampling of a context whose buffer was full cannot be disabled,
 * and then CUPTI stays. The writer switches sampling on and off while no thread is in a call, see gate.c.
 *
 * With --duty, kernels are recorded after the GPU was sampled, not at the same time. CUPTI looks at the code
 * that is loaded in the first launch after cuptiPCSamplingEnable(). If sampling is disabled before that
 * launch has returned it does not know the program's code, and until cuptiFinalize() all samples are those of
 * other kernels (CUDA 13.0); if it records kernels then, mostly, too (45 of 54 windows; why is not known). So
 * sampling is not disabled before a launch, and this launch goes alone. Code that is loaded while it samples
 * is known.
 *
 * The writer gets what was counted in each round; the program's threads do so, too, where code is unloaded or
 * a context ends, since CUPTI would mix it up with what comes later. What they get waits in a list for the
 * writer, who makes the records. CUPTI calls these threads with locks of its own held, so they wait for ours
 * for a short time only.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject.h"

#define CONTEXTS_MAX 32
#define REASONS_MAX 256
/* Most instructions of an answer of CUPTI, and most answers in a round. */
#define PCS 2048
#define ANSWERS_MAX 256
/* Most bytes of answers that wait for the writer. */
#define WAITING_MAX ((size_t)64 << 20)
#define LOCK_TRIES 200
#define SERIALIZED "serialized"
#define SIZE_TO(type, member) (offsetof(struct type, member) + sizeof(((struct type *)0)->member))

/*
 * The default, a sample every 2^20 cycles: some 100,000 a second on an H100. CUPTI's default is some
 * millions, which slow kernels down and fill its buffer.
 */
#define PERIOD 20U

/*
 * KNOWN: the context is sampled in the next window; REFUSED: CUPTI does not sample it; STUCK: nor can its
 * sampling be ended, and CUPTI keeps its buffers.
 */
enum { CONTEXT_NONE, CONTEXT_KNOWN, CONTEXT_ON, CONTEXT_REFUSED, CONTEXT_STUCK };

/** struct buffer - memory that CUPTI fills with instructions, each of which has room for all reasons */
struct buffer {
	struct cupti_pc_data data;
	void *memory;
	size_t bytes;
};

/**
 * struct context - a context that is sampled, or will be
 * @gone: it was destroyed by a thread that could not wait for the lock
 * @since: when the previous answer ended
 * @answer: the buffer for requests; @last: the buffer that CUPTI fills when sampling ends
 */
struct context {
	int state;
	void *_Atomic handle;
	_Atomic bool gone;
	uint32_t gpu;
	uint64_t since;
	struct buffer answer;
	struct buffer last;
};

/** struct sample - an instruction and a stall reason; CUPTI owns the function's name */
struct sample {
	uint64_t cubin;
	uint64_t offset;
	const char *function;
	uint32_t reason;
	uint32_t samples;
	uint32_t correlation;
};

/** struct answer - an answer of CUPTI that waits for the writer */
struct answer {
	struct answer *next;
	struct grt_ev_pc_count count;
	uint32_t n;
	uint32_t gpu;
	struct sample sample[];
};

/**
 * @lock: protects all other members
 * @on: samples are requested, and CUPTI has not refused; @by_window: only in windows
 * @window: number of the next window, before which the GPU is sampled; 0: it is not sampled
 * @looked: a launch has returned since contexts were sampled for the first time
 * @serialized: kernels run one by one
 * @stuck: number of contexts whose sampling cannot be ended
 * @reasons: names of stall reasons by number, from the first context; @reasons_told: number of written names
 * @why: a reason to be noted; @unheard: answers without room; @missed: answers for which a thread did not
 *	wait
 * @skipped: how many times sampling did not begin because calls did not return
 */
static struct {
	pthread_mutex_t lock;
	_Atomic bool on;
	bool by_window;
	bool serialized;
	bool looked;
	uint32_t window;
	_Atomic unsigned int stuck;
	uint32_t period;
	struct context context[CONTEXTS_MAX];
	unsigned int contexts;
	size_t reasons;
	uint32_t reason[REASONS_MAX];
	char name[REASONS_MAX][CUPTI_PC_NAME];
	size_t reasons_told;
	struct answer *first, **end;
	size_t waiting;
	char why[256];
	bool why_told;
	uint64_t unheard;
	_Atomic uint64_t missed;
	uint64_t skipped;
} pc = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = &pc.first};

/* Contexts of calls in the open window, in which the writer looks for new ones. */
static void *_Atomic seen[CONTEXTS_MAX];
_Atomic bool pcsampling_sees_calls;

static struct packets packets = {.fd = -1, .before = &define_packets};

/* ----------------------------------------------------------------- refusal */

static const struct {
	int result;
	const char *why;
} refusals[] = {
	{CUPTI_INSUFFICIENT_PRIVILEGES,
	 "the driver shows the GPU's counters only to root: sudo grtrace record, or load nvidia.ko with NVreg_RestrictProfilingToAdminUsers=0"},
	{CUPTI_VIRTUALIZED_DEVICE_PRIVILEGES,
	 "the host does not allow reading this virtual GPU's counters: enable profiling for it on the host"},
	{CUPTI_HARDWARE_BUSY,
	 "another profiler uses the GPU's counters (ncu, nsys, DCGM): end it, or record without --pc-sampling"},
	{CUPTI_OLD_PROFILER,
	 "the program itself uses an older interface of CUPTI, which excludes PC sampling: record without --pc-sampling"},
	{CUPTI_MULTIPLE_SUBSCRIBERS,
	 "another tool uses CUPTI in the process: end it, or record without --pc-sampling"},
	{CUPTI_NOT_SUPPORTED,
	 "this GPU, its driver or its mode does not support it (Volta and later; not under MPS): record without --pc-sampling"},
	{CUPTI_VIRTUALIZED_DEVICE,
	 "CUPTI does not support it on this virtual GPU: record without --pc-sampling"},
	{CUPTI_CONFIDENTIAL_COMPUTING,
	 "the GPU is in confidential computing mode: turn that off, or record without --pc-sampling"},
	{0, NULL},
};

static void pc_refuse(const char *why)
{
	if (!pc.why[0])
		snprintf(pc.why, sizeof(pc.why), "no PC samples: %s", why);
}

static void pc_refuse_result(int result)
{
	char text[96];

	for (size_t i = 0; refusals[i].why; i++)
		if (refusals[i].result == result) {
			pc_refuse(refusals[i].why);
			return;
		}
	snprintf(text, sizeof(text), "CUPTI's error %d: record without --pc-sampling", result);
	pc_refuse(text);
}

/* ----------------------------------------------------------------- buffers */

/* Before CUDA 12.4, CUPTI's struct is shorter, and so are the steps of an array of it. */
static size_t pc_stride(void)
{
	return inject.version >= CUPTI_VERSION_12_4 ? sizeof(struct cupti_pc)
						    : offsetof(struct cupti_pc, correlation);
}

static struct cupti_pc *pc_at(const struct cupti_pc_data *d, size_t i)
{
	return (struct cupti_pc *)((char *)d->pc + i * pc_stride());
}

static bool pc_make_buffer(struct buffer *b)
{
	size_t each = pc_stride() + pc.reasons * sizeof(struct cupti_pc_reason);
	struct cupti_pc_reason *reason;

	if (b->memory)
		return true;
	b->bytes = PCS * each;
	b->memory = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->memory == MAP_FAILED) {
		b->memory = NULL;
		return false;
	}
	b->data = (struct cupti_pc_data){.size = sizeof(b->data), .room = PCS, .pc = b->memory};
	reason = (struct cupti_pc_reason *)((char *)b->memory + PCS * pc_stride());
	for (size_t i = 0; i < PCS; i++, reason += pc.reasons) {
		pc_at(&b->data, i)->size = pc_stride();
		pc_at(&b->data, i)->reason = reason;
	}
	return true;
}

static void pc_free_buffer(struct buffer *b)
{
	if (b->memory)
		munmap(b->memory, b->bytes);
	b->memory = NULL;
}

/* ----------------------------------------------------------------- answers */

static size_t pc_count_samples(const struct cupti_pc_data *d, size_t pcs)
{
	size_t n = 0;

	for (size_t i = 0; i < pcs; i++)
		n += pc_at(d, i)->reasons;
	return n;
}

static void pc_take_samples(struct answer *a, const struct cupti_pc_data *d, size_t pcs)
{
	const struct cupti_pc *p;
	uint32_t correlation;

	for (size_t i = 0; i < pcs; i++) {
		p = pc_at(d, i);
		correlation = pc.serialized ? p->correlation : 0;
		for (size_t j = 0; j < p->reasons && j < pc.reasons; j++)
			if (p->reason[j].samples)
				a->sample[a->n++] = (struct sample){p->cubin,
								    p->offset,
								    p->function,
								    p->reason[j].number,
								    p->reason[j].samples,
								    correlation};
	}
}

/*
 * Adds the contents of a buffer to the list. @ends: also if the buffer is empty, so that its time is
 * counted. The caller holds the lock.
 */
static void pc_take(struct context *c, const struct cupti_pc_data *d, bool full, bool ends)
{
	size_t pcs = d->pcs < PCS ? d->pcs : PCS, n = full ? 0 : pc_count_samples(d, pcs);
	size_t bytes = sizeof(struct answer) + n * sizeof(struct sample);
	uint64_t now = clock_monotonic();
	struct answer *a;

	if (!full && !ends && !d->total && !pcs)
		return;
	a = pc.waiting + bytes <= WAITING_MAX ? malloc(bytes) : NULL;
	if (!a) {
		pc.unheard++;
		return;
	}
	*a = (struct answer){
		.gpu = c->gpu,
		.count = {.begin = c->since, .end = now, .full = full, .gpu = c->gpu, .window = pc.window}};
	if (!full) {
		a->count.total = d->total;
		a->count.dropped = d->dropped;
		a->count.other = d->other;
		pc_take_samples(a, d, pcs);
	}
	*pc.end = a;
	pc.end = &a->next;
	pc.waiting += bytes;
	c->since = now;
}

/* Ends sampling, and takes what CUPTI has not delivered yet from the last buffer. */
static void pc_switch_off(struct context *c)
{
	struct cupti_pc_context what = {.size = sizeof(what), .context = c->handle};

	c->last.data.pcs = 0;
	c->last.data.total = c->last.data.dropped = c->last.data.other = 0;
	if (!inject.cupti.pc_disable(&what))
		pc_take(c, &c->last.data, false, pc.by_window);
	c->state = CONTEXT_KNOWN;
}

static void pc_be_stuck(struct context *c)
{
	c->state = CONTEXT_STUCK;
	atomic_fetch_add(&pc.stuck, 1);
}

/*
 * Takes all that CUPTI has by now. If its buffer is full, only a new beginning would help, but then
 * cuptiPCSamplingDisable() does not return (CUDA 13.0). So the rest of the context has no samples.
 */
static void pc_drain(struct context *c)
{
	struct cupti_pc_data *d = &c->answer.data;
	struct cupti_pc_get what = {.size = sizeof(what), .context = c->handle, .data = d};
	int ret = 0;

	for (int i = 0; i < ANSWERS_MAX && !ret; i++) {
		d->pcs = d->left = 0;
		d->total = d->dropped = d->other = 0;
		d->full = 0;
		ret = inject.cupti.pc_get(&what);
		if (ret == CUPTI_OUT_OF_MEMORY || d->full) {
			pc_take(c, d, true, false);
			pc_be_stuck(c);
			return;
		}
		if (!ret)
			pc_take(c, d, false, false);
		if (!d->left)
			break;
	}
	if (ret) {
		pc_be_stuck(c);
		pc_refuse_result(ret);
	}
}

/* --------------------------------------------------------------- beginning */

/*
 * Devices of the same kind have the same names. If another device has another name for a number, that reason
 * has no name.
 */
static int pc_read_reasons(const struct context *c)
{
	struct cupti_pc_count_reasons count = {.size = sizeof(count), .context = c->handle, .n = &pc.reasons};
	struct cupti_pc_name_reasons names = {
		.size = sizeof(names), .context = c->handle, .number = pc.reason};
	char *name[REASONS_MAX];
	int ret;

	if (pc.reasons)
		return 0;
	ret = inject.cupti.pc_count_reasons(&count);
	if (pc.reasons > REASONS_MAX)
		pc.reasons = REASONS_MAX;
	for (size_t i = 0; i < pc.reasons; i++)
		name[i] = pc.name[i];
	names.n = pc.reasons;
	names.name = name;
	ret = ret ?: inject.cupti.pc_name_reasons(&names);
	if (ret)
		pc.reasons = 0;
	return ret;
}

static int pc_configure(struct context *c)
{
	struct cupti_pc_setting setting[3] = {
		{.attribute = CUPTI_PC_MODE,
		 .number = pc.serialized ? CUPTI_PC_SERIALIZED : CUPTI_PC_CONTINUOUS},
		{.attribute = CUPTI_PC_BUFFER, .buffer = &c->last.data},
		{.attribute = CUPTI_PC_PERIOD, .number = pc.period},
	};
	struct cupti_pc_settings what = {
		.size = sizeof(what), .context = c->handle, .n = 3, .setting = setting};

	return inject.cupti.pc_set(&what);
}

static int pc_begin_enabled(struct context *c)
{
	int ret = pc_read_reasons(c);

	if (!ret && (!pc_make_buffer(&c->answer) || !pc_make_buffer(&c->last)))
		ret = CUPTI_OUT_OF_MEMORY;
	return ret ?: pc_configure(c);
}

static void pc_begin(struct context *c)
{
	struct cupti_pc_context what = {.size = sizeof(what), .context = c->handle};
	int ret = inject.cupti.pc_enable(&what);

	c->state = CONTEXT_REFUSED;
	if (ret) {
		pc_refuse_result(ret);
		return;
	}
	ret = pc_begin_enabled(c);
	if (ret) {
		inject.cupti.pc_disable(&what);
		pc_refuse_result(ret);
		return;
	}
	c->since = clock_monotonic();
	c->state = CONTEXT_ON;
	if (pc.by_window && !pc.looked)
		gate_expect_first();
}

static struct context *pc_find(const void *handle)
{
	for (unsigned int i = 0; i < pc.contexts; i++)
		if (pc.context[i].handle == handle && pc.context[i].state != CONTEXT_NONE &&
		    !atomic_load(&pc.context[i].gone))
			return &pc.context[i];
	return NULL;
}

static void pc_add_context(void *handle)
{
	struct context *c = NULL;

	for (unsigned int i = 0; i < pc.contexts && !c; i++)
		if (pc.context[i].state == CONTEXT_NONE)
			c = &pc.context[i];
	if (!c && pc.contexts < CONTEXTS_MAX)
		c = &pc.context[pc.contexts++];
	if (!c) {
		pc_refuse("there are too many contexts");
		return;
	}
	c->handle = handle;
	atomic_store(&c->gone, false);
	if (!inject.cupti.device_id || inject.cupti.device_id(handle, &c->gpu))
		c->gpu = CUPTI_NONE;
	c->state = CONTEXT_KNOWN;
	if (!pc.by_window || pc.window)
		pc_begin(c);
}

static void pc_forget(struct context *c)
{
	pc_free_buffer(&c->answer);
	if (c->state == CONTEXT_STUCK) {
		c->handle = NULL;
		return;
	}
	pc_free_buffer(&c->last);
	c->state = CONTEXT_NONE;
}

/* Ends the sampling of a context. */
static void pc_end(struct context *c)
{
	if (c->state == CONTEXT_ON)
		pc_drain(c);
	if (c->state == CONTEXT_ON)
		pc_switch_off(c);
}

/* ------------------------------------------------------ the program's threads */

/*
 * The writer may be in CUPTI, and wait for a lock of CUPTI that this thread holds: wait for a short time
 * only.
 */
static bool pc_lock_soon(void)
{
	struct timespec moment = {.tv_nsec = 500000};

	/* not nanosleep(), in which a cancelled thread would end, within a call of the driver */
	for (int i = 0; i < LOCK_TRIES; i++, syscall(SYS_nanosleep, &moment, NULL))
		if (!pthread_mutex_trylock(&pc.lock))
			return true;
	atomic_fetch_add(&pc.missed, 1);
	return false;
}

void pcsampling_see(void *context)
{
	void *none, *at;

	for (unsigned int i = 0; i < CONTEXTS_MAX; i++) {
		none = NULL;
		at = atomic_load_explicit(&seen[i], memory_order_relaxed);
		if (at == context)
			return;
		if (!at && (atomic_compare_exchange_strong(&seen[i], &none, context) || none == context))
			return;
	}
}

static void pc_forget_context(const void *context)
{
	void *at;

	for (unsigned int i = 0; i < CONTEXTS_MAX; i++) {
		at = (void *)(uintptr_t)context;
		atomic_compare_exchange_strong(&seen[i], &at, NULL);
	}
}

/* The context is no longer used. */
static void pc_note_gone(const void *context)
{
	for (unsigned int i = 0; i < CONTEXTS_MAX; i++)
		if (atomic_load(&pc.context[i].handle) == context)
			atomic_store(&pc.context[i].gone, true);
}

void pcsampling_resource(uint32_t number, const void *data)
{
	const struct cupti_resource *r = data;
	bool ends = number == CUPTI_RESOURCE_CONTEXT_DESTROY_STARTING;
	struct context *c;

	if (!atomic_load(&pc.on) || inject.pid != getpid())
		return;
	if (number == CUPTI_RESOURCE_MODULE_LOADED) {
		cubins_take(r->descriptor);
		return;
	}
	if (ends)
		pc_forget_context(r->context);
	if (!pc_lock_soon()) {
		if (ends)
			pc_note_gone(r->context);
		return;
	}
	if (number == CUPTI_RESOURCE_CONTEXT_CREATED)
		pc_add_context(r->context);
	c = pc_find(r->context);
	if (c && c->state == CONTEXT_ON && number == CUPTI_RESOURCE_MODULE_UNLOAD_STARTING)
		pc_drain(c);
	else if (c && ends) {
		pc_end(c);
		pc_forget(c);
	}
	pthread_mutex_unlock(&pc.lock);
}

bool pcsampling_is_requested(void)
{
	const char *asked = secure_getenv("GRTRACE_PC_SAMPLING");

	return asked && *asked && !inject.asked;
}

static void pc_read_mode(const char *text)
{
	size_t word = strlen(SERIALIZED);

	pc.serialized = !strncmp(text, SERIALIZED, word);
	if (pc.serialized)
		text += word + (text[word] == ':');
	pc.period = (uint32_t)strtoul(text, NULL, 10) ?: PERIOD;
	pc.by_window = capture.how == CAPTURE_DUTY;
}

void pcsampling_join(uint32_t enable, void *subscriber)
{
	static const uint32_t resources[] = {CUPTI_RESOURCE_CONTEXT_DESTROY_STARTING,
					     CUPTI_RESOURCE_MODULE_LOADED,
					     CUPTI_RESOURCE_MODULE_UNLOAD_STARTING};

	if (enable && pcsampling_is_requested()) {
		pc_read_mode(secure_getenv("GRTRACE_PC_SAMPLING"));
		if (pc.serialized && inject.version < CUPTI_VERSION_12_4)
			pc_refuse(
				"this libcupti.so does not tell the launches of samples: name one of CUDA 12.4 or later in GRTRACE_CUPTI, or leave out serialized");
		else if (inject.cupti.enable_domain && inject.cupti.pc_enable && inject.cupti.pc_disable &&
			 inject.cupti.pc_set && inject.cupti.pc_get && inject.cupti.pc_count_reasons &&
			 inject.cupti.pc_name_reasons)
			atomic_store(&pc.on, true);
		else
			pc_refuse(
				"this libcupti.so has no cuptiPCSamplingEnable(): name one of CUDA 11.3 or later in GRTRACE_CUPTI");
	}
	if (!atomic_load(&pc.on))
		return;
	packets_open(&packets);
	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
		inject.cupti.enable_callback(enable, subscriber, CUPTI_DOMAIN_RESOURCE, resources[i]);
	inject.cupti.enable_domain(enable, subscriber, CUPTI_DOMAIN_DRIVER);
	pc.looked = false;
	if (enable)
		gate_begin();
	else
		gate_end();
}

/* -------------------------------------------------------------- the writer */

bool pcsampling_is_stuck(void)
{
	return atomic_load(&pc.stuck);
}

/* Forgets contexts that were destroyed while the lock was held, with their remaining samples. */
static void pc_forget_gone(void)
{
	for (unsigned int i = 0; i < pc.contexts; i++)
		if (pc.context[i].state != CONTEXT_NONE && atomic_load(&pc.context[i].gone))
			pc_forget(&pc.context[i]);
}

/*
 * If calls do not return, sampling goes on, and CUPTI stays attached. The first time, contexts are drained
 * while the gate is open, because that takes longer than draining the rest while it is closed.
 */
static void pc_end_all(void)
{
	bool quiet;

	pthread_mutex_lock(&pc.lock);
	pc_forget_gone();
	for (unsigned int i = 0; i < pc.contexts; i++)
		if (pc.context[i].state == CONTEXT_ON)
			pc_drain(&pc.context[i]);
	pthread_mutex_unlock(&pc.lock);
	quiet = gate_close();
	pthread_mutex_lock(&pc.lock);
	pc_forget_gone();
	for (unsigned int i = 0; i < pc.contexts; i++)
		if (quiet)
			pc_end(&pc.context[i]);
		else if (pc.context[i].state == CONTEXT_ON)
			pc_be_stuck(&pc.context[i]);
	if (!quiet)
		pc_refuse(
			"calls of the program did not return, and sampling could not end: record without --duty");
	pthread_mutex_unlock(&pc.lock);
	gate_open();
}

static bool pc_is_on(void)
{
	bool any = false;

	pthread_mutex_lock(&pc.lock);
	pc_forget_gone();
	for (unsigned int i = 0; i < pc.contexts; i++)
		any |= pc.context[i].state == CONTEXT_ON;
	pthread_mutex_unlock(&pc.lock);
	return any;
}

bool pcsampling_window_end(void)
{
	if (!atomic_load(&pc.on))
		return true;
	if (pc_is_on() && !pc.looked) {
		if (!gate_first_is_over())
			return false;
		pc.looked = true;
	}
	atomic_store(&pcsampling_sees_calls, false);
	pc_end_all();
	pthread_mutex_lock(&pc.lock);
	pc.window = 0;
	pthread_mutex_unlock(&pc.lock);
	return true;
}

void pcsampling_window_begin(uint32_t number)
{
	if (!atomic_load(&pc.on))
		return;
	if (!gate_close()) {
		pc.skipped++;
		return;
	}
	pthread_mutex_lock(&pc.lock);
	pc.window = number;
	pc_forget_gone();
	for (unsigned int i = 0; i < CONTEXTS_MAX; i++)
		atomic_store(&seen[i], NULL);
	for (unsigned int i = 0; i < pc.contexts; i++)
		if (pc.context[i].state == CONTEXT_KNOWN)
			pc_begin(&pc.context[i]);
	atomic_store(&pcsampling_sees_calls, true);
	pthread_mutex_unlock(&pc.lock);
	gate_open();
}

void pcsampling_window_next(uint32_t number)
{
	pthread_mutex_lock(&pc.lock);
	pc.window = number;
	pthread_mutex_unlock(&pc.lock);
}

static bool pc_sees_new(void)
{
	const void *context;
	bool new = false;

	pthread_mutex_lock(&pc.lock);
	for (unsigned int i = 0; i < CONTEXTS_MAX; i++) {
		context = atomic_load(&seen[i]);
		new |= context && !pc_find(context);
	}
	pthread_mutex_unlock(&pc.lock);
	return new;
}

static void pc_add_seen(void)
{
	void *context;

	if (!pc_sees_new() || !gate_close())
		return;
	pthread_mutex_lock(&pc.lock);
	for (unsigned int i = 0; i < CONTEXTS_MAX; i++) {
		context = atomic_load(&seen[i]);
		if (context && !pc_find(context))
			pc_add_context(context);
	}
	pthread_mutex_unlock(&pc.lock);
	gate_open();
}

bool pcsampling_tick(void)
{
	bool none = true;

	if (!atomic_load(&pcsampling_sees_calls))
		return false;
	pc_add_seen();
	pthread_mutex_lock(&pc.lock);
	pc_forget_gone();
	for (unsigned int i = 0; i < pc.contexts; i++)
		none &= pc.context[i].state == CONTEXT_NONE;
	pthread_mutex_unlock(&pc.lock);
	return none;
}

void pcsampling_leave(void)
{
	pthread_mutex_lock(&pc.lock);
	for (unsigned int i = 0; i < pc.contexts; i++)
		if (pc.context[i].state != CONTEXT_NONE)
			pc_forget(&pc.context[i]);
	pthread_mutex_unlock(&pc.lock);
	gate_end();
}

static void pc_put_answer(struct answer *a, uint64_t now)
{
	struct grt_ev_pc_sample s;
	struct grt_ev_pc_count n;

	for (uint32_t i = 0; i < a->n; i++) {
		event_init(&s.e, GRT_EV_PC_SAMPLE, sizeof(s), now);
		s.begin = a->count.begin;
		s.end = a->count.end;
		s.cubin = a->sample[i].cubin;
		s.offset = a->sample[i].offset;
		s.function = define_name(a->sample[i].function);
		s.reason = a->sample[i].reason;
		s.samples = a->sample[i].samples;
		s.gpu = a->gpu;
		s.window = a->count.window;
		s.reserved = 0;
		s.correlation = launch_gpu_correlation(a->sample[i].correlation, a->count.end);
		packets_put(&packets, &s.e);
	}
	event_init(&n.e, GRT_EV_PC_COUNT, sizeof(n), now);
	memcpy(&n.e + 1, &a->count.e + 1, sizeof(n) - sizeof(n.e));
	packets_put(&packets, &n.e);
}

static void pc_put_waiting(void)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	struct answer *a;

	for (; pc.reasons_told < pc.reasons; pc.reasons_told++)
		define_reason(pc.reason[pc.reasons_told], pc.name[pc.reasons_told]);
	if (pc.why[0] && !pc.why_told)
		define_process(5, pc.why);
	pc.why_told = pc.why[0];
	while ((a = pc.first)) {
		pc.first = a->next;
		pc_put_answer(a, now);
		free(a);
	}
	pc.end = &pc.first;
	pc.waiting = 0;
}

void pcsampling_write(void)
{
	if (!atomic_load(&pc.on) && !pc.why[0])
		return;
	cubins_write();
	pthread_mutex_lock(&pc.lock);
	pc_forget_gone();
	for (unsigned int i = 0; i < pc.contexts; i++)
		if (pc.context[i].state == CONTEXT_ON)
			pc_drain(&pc.context[i]);
	pc_put_waiting();
	pthread_mutex_unlock(&pc.lock);
	packets_flush(&packets);
}

void pcsampling_end(void)
{
	if (!atomic_load(&pc.on))
		return;
	pc_end_all();
	pthread_mutex_lock(&pc.lock);
	for (unsigned int i = 0; i < pc.contexts; i++)
		pc_forget(&pc.context[i]);
	atomic_store(&pcsampling_sees_calls, false);
	atomic_store(&pc.on, false);
	pthread_mutex_unlock(&pc.lock);
	gate_end();
}

void pcsampling_close(void)
{
	char text[128];

	cubins_close();
	pc_put_waiting();
	if (pc.skipped) {
		snprintf(text, sizeof(text),
			 "no PC samples in %llu window%s: calls of the program did not return",
			 (unsigned long long)pc.skipped, pc.skipped == 1 ? "" : "s");
		define_process(5, text);
	}
	if (pc.unheard || atomic_load(&pc.missed)) {
		snprintf(text, sizeof(text),
			 "PC samples are missing: there was no room for %llu buffers of CUPTI",
			 (unsigned long long)(pc.unheard + atomic_load(&pc.missed)));
		define_process(5, text);
	}
	packets_close(&packets);
}
