// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The recording has ended and the program goes on: CUPTI is given back.
 *
 * Unsubscribing leaves CUPTI attached to the process: launches stay slower than they
 * were, and another client may fail. cuptiFinalize() detaches it, but it waits for all
 * of the GPU's work while the program's calls wait for it, and CUDA graphs that were
 * made executable before it fail afterwards. So it is called only
 *	- in a program that has made no graph. CUPTI is there from cuInit() on, so that
 *	  each graph is one that was made with it
 *	- in a program that has made no second context: waiting for one says nothing of
 *	  another one's kernels
 *	- where cudaDeviceSynchronize() or cuCtxSynchronize() returns, on the thread that
 *	  made the call, as NVIDIA wants it: the program has just waited for the GPU
 *	  itself, so no kernel that came before waits for the program. The outermost call,
 *	  for after a call within another one CUPTI still has to end the outer
 *	- or in a call of the writer, where the program has made no call for a while and
 *	  no kernel ran when the recording ended
 *	- where no context is left that PC sampling cannot end
 *	- where no other client of CUPTI records, which would lose what it has, and CUPTI has one subscriber
 *	- from CUDA 12.6 on: before, programs crashed after it
 * In all other cases CUPTI is unsubscribed from only.
 */
#include <errno.h>

#include "codes/cuda_codes.h"
#include "inject.h"

/*
 * How long to wait for a call of the runtime's functions, and from then on also for one of the driver's
 * functions.
 */
#define RUNTIME_NS 100000000ULL
#define ANY_NS 1400000000ULL
/*
 * A program that makes no call for this time is idle; a thread that stays in a callback for longer is not
 * waited for.
 */
#define IDLE_NS 900000000ULL

/* PAUSED: calls are counted, but none of them detaches. */
enum {
	DETACH_NONE,
	DETACH_PAUSED,
	DETACH_AT_RUNTIME,
	DETACH_AT_ANY,
	DETACH_AT_OWN,
	DETACH_RUNS,
	DETACH_DONE
};

static _Atomic int state;
static void *client;
/* When recording of GPU work stopped, and whether a call was made later. */
static uint64_t began;
static _Atomic bool called;
static _Atomic bool graphs;
/* CUPTI was left in the process, so what the program has created since then is unknown. */
static bool left_attached;
/* The context of the last GPU work. */
static uint32_t context_seen;
static _Atomic unsigned int contexts;
/* Numbers of calls of the runtime and of the driver that the thread is in. */
static __thread unsigned int runtime_calls __attribute__((tls_model("initial-exec")));
static __thread unsigned int driver_calls __attribute__((tls_model("initial-exec")));
/* Number of the attempt to detach, from 1, in which these calls were counted. */
static _Atomic uint32_t attempt;
static __thread uint32_t counted_in __attribute__((tls_model("initial-exec")));
/* The thread is the writer and makes a call of its own. */
static __thread bool own_call __attribute__((tls_model("initial-exec")));

static bool detach_change_state(int from, int to)
{
	return atomic_compare_exchange_strong(&state, &from, to);
}

void detach_graph(void)
{
	atomic_store_explicit(&graphs, true, memory_order_relaxed);
}

void detach_context(void)
{
	atomic_fetch_add(&contexts, 1);
}

bool detach_has_context(void)
{
	return atomic_load(&contexts);
}

static bool detach_is_harmless(void)
{
	return !atomic_load(&graphs) && atomic_load(&contexts) <= 1 && !pcsampling_is_stuck();
}

void detach_see_context(uint32_t context)
{
	if (context_seen && context != context_seen)
		atomic_fetch_add(&contexts, 1);
	context_seen = context;
}

/* The devices' primary contexts, if they exist. */
static unsigned int detach_primary_contexts(void)
{
	int (*count)(int *devices) = NULL, (*state_of)(int device, unsigned int *flags, int *active) = NULL;
	unsigned int flags, there = 0;
	int devices = 0, active;

	*(void **)&count = cupti_driver_symbol("cuDeviceGetCount");
	*(void **)&state_of = cupti_driver_symbol("cuDevicePrimaryCtxGetState");
	if (!count || !state_of || count(&devices))
		return 0;
	for (int i = 0; i < devices; i++)
		there += !state_of(i, &flags, &active) && active;
	return there;
}

void detach_reset(void)
{
	atomic_store(&contexts, detach_primary_contexts());
	context_seen = 0;
	if (left_attached)
		atomic_store(&graphs, true);
	atomic_store(&called, false);
	atomic_store(&state, DETACH_NONE);
}

bool detach_is_done(void)
{
	return atomic_load(&state) == DETACH_DONE;
}

/* Run by one thread only: the thread that changes the state. */
static void detach_finalize(int from)
{
	int saved = errno;

	if (!detach_change_state(from, DETACH_RUNS))
		return;
	/* the program has waited for the last recorded work, whose record is not written yet */
	if (atomic_load(&inject.detaching))
		inject.cupti.flush_all(0);
	inject.cupti.unsubscribe(client);
	inject.cupti.finalize();
	atomic_store(&state, DETACH_DONE);
	errno = saved;
}

static void detach_count_call(int domain, int site)
{
	unsigned int *calls = domain == CUPTI_DOMAIN_RUNTIME ? &runtime_calls : &driver_calls;

	if (counted_in != atomic_load(&attempt))
		runtime_calls = driver_calls = 0;
	counted_in = atomic_load(&attempt);
	if (site == CUPTI_SITE_ENTER)
		++*calls;
	else if (*calls)
		--*calls;
}

/* Whether the program has just waited for all of the context's work. */
static bool detach_has_waited(int domain, uint32_t number, const struct cupti_callback *data)
{
	uint16_t call = (uint16_t)(number | (domain == CUPTI_DOMAIN_DRIVER ? GRT_CUDA_DRIVER : 0));

	return grt_cuda_sync(grt_cuda_call(call)) == GRT_CUDA_SYNC_CONTEXT && data->result &&
	       !*(const int32_t *)data->result;
}

void detach_callback(int domain, uint32_t number, const struct cupti_callback *data)
{
	int now = atomic_load(&state);

	if (!own_call && !atomic_load_explicit(&called, memory_order_relaxed))
		atomic_store(&called, true);
	if (now == DETACH_NONE)
		return;
	detach_count_call(domain, data->site);
	if (data->site == CUPTI_SITE_ENTER || runtime_calls || !launch_is_outside() || !detach_is_harmless())
		return;
	if (now == DETACH_AT_OWN && own_call)
		detach_finalize(now);
	else if ((domain == CUPTI_DOMAIN_RUNTIME && (now == DETACH_AT_RUNTIME || now == DETACH_AT_ANY)) ||
		 (now == DETACH_AT_ANY && !driver_calls))
		if (detach_has_waited(domain, number, data))
			detach_finalize(now);
}

void detach_forked(void)
{
	atomic_store(&state, DETACH_NONE);
}

/* Ends what has begun. Return: whether the program goes on and CUPTI is still attached */
static bool detach_is_attached(bool goes_on)
{
	while (goes_on && atomic_load(&state) == DETACH_RUNS)
		goes_on = program_goes_on();
	return goes_on && atomic_load(&state) != DETACH_DONE;
}

static bool detach_is_idle(void)
{
	return !atomic_load(&called) && inject.last_call < began && !launch_in_call() && !inject.running;
}

/*
 * From now on, the return of a call of this domain that waits for the GPU detaches CUPTI. While a call may
 * do so, the writer does not call CUPTI. Return: whether the program goes on, and no call has detached
 */
static bool detach_wait_for_call(int at, int domain, uint64_t ns)
{
	uint64_t begun = now_ns(CLOCK_MONOTONIC), for_ns;
	bool goes_on = true;

	atomic_store(&state, DETACH_PAUSED);
	inject.cupti.enable_domain(1, client, domain);
	atomic_store(&state, at);
	while (goes_on && atomic_load(&state) == at && detach_is_harmless()) {
		for_ns = ns > IDLE_NS && detach_is_idle() ? IDLE_NS : ns;
		if (now_ns(CLOCK_MONOTONIC) - begun >= for_ns ||
		    (atomic_load(&inject.detaching) && recording_state() != RECORDING_GOES_ON))
			break;
		goes_on = program_goes_on();
	}
	return detach_change_state(at, DETACH_PAUSED) ? goes_on : detach_is_attached(goes_on);
}

/* No thread is in a callback in which it may call CUPTI, and no further thread enters one. */
static bool detach_callbacks_are_left(void)
{
	uint64_t limit = now_ns(CLOCK_MONOTONIC) + IDLE_NS;

	while (launch_in_callback())
		if (now_ns(CLOCK_MONOTONIC) >= limit || !program_goes_on())
			return false;
	return true;
}

static bool detach_can_finalize(void)
{
	return detach_is_harmless() && !held_is() && !subscriber_is_one_of_several() &&
	       inject.cupti.finalize && inject.cupti.enable_domain && inject.version >= CUPTI_VERSION_12_6 &&
	       detach_callbacks_are_left();
}

/* Return: whether CUPTI is still attached */
static bool detach_make_call(void)
{
	int (*get_version)(int *version), version;

	*(void **)&get_version = cupti_driver_symbol("cuDriverGetVersion");
	if (!get_version || !detach_is_idle() || !detach_is_harmless())
		return true;
	own_call = true;
	atomic_store(&state, DETACH_AT_OWN);
	get_version(&version);
	own_call = false;
	return detach_change_state(DETACH_AT_OWN, DETACH_PAUSED) || detach_is_attached(true);
}

static void detach_disable_domains(void)
{
	if (atomic_load(&state) != DETACH_PAUSED)
		return;
	inject.cupti.enable_domain(0, client, CUPTI_DOMAIN_RUNTIME);
	inject.cupti.enable_domain(0, client, CUPTI_DOMAIN_DRIVER);
}

static void detach_unsubscribe(void)
{
	left_attached = true;
	launch_disable(client);
	detach_disable_domains();
	inject.cupti.unsubscribe(client);
}

void detach_begin(void)
{
	began = clock_monotonic();
	atomic_store(&called, false);
}

bool detach_try(void *subscriber)
{
	client = subscriber;
	atomic_fetch_add(&attempt, 1);
	launch_forget_outside();
	atomic_store(&inject.detaching, true);
	if (detach_can_finalize() &&
	    detach_wait_for_call(DETACH_AT_RUNTIME, CUPTI_DOMAIN_RUNTIME, RUNTIME_NS) &&
	    detach_wait_for_call(DETACH_AT_ANY, CUPTI_DOMAIN_DRIVER, ANY_NS) && !inject_writes_running())
		detach_make_call();
	if (!detach_is_done()) {
		detach_disable_domains();
		launch_enable_resources(1, client);
		launch_enable_calls(client);
		atomic_store(&state, DETACH_NONE);
	}
	atomic_store(&inject.detaching, false);
	return detach_is_done();
}

void detach(void *subscriber)
{
	client = subscriber;
	atomic_fetch_add(&attempt, 1);
	clock_give_back();
	if (!detach_can_finalize() ||
	    (detach_wait_for_call(DETACH_AT_RUNTIME, CUPTI_DOMAIN_RUNTIME, RUNTIME_NS) &&
	     detach_wait_for_call(DETACH_AT_ANY, CUPTI_DOMAIN_DRIVER, ANY_NS) && detach_make_call()))
		detach_unsubscribe();
}
