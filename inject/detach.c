// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The recording has ended and the program goes on: CUPTI is given back.
 *
 * Unsubscribing is not enough. CUPTI stays attached to the process: launches stay
 * slower than they were, and the next client gets stamps of our clock. Only
 * cuptiFinalize() detaches it, and NVIDIA wants that where a call of CUDA returns, on
 * the thread that made the call. So the program's next call does it: the outermost
 * one, for after a call within another one CUPTI still has to end the outer.
 *
 * A program that makes no call any more is not waited for: the writer makes one. Where
 * that could hang, because the GPU or a thread has not come to rest, and with a CUPTI
 * that crashes at this point, CUPTI is unsubscribed from only.
 */
#include <errno.h>

#include "inject.h"

/* How long the program's calls of the runtime are waited for, and then all of its calls. */
#define RUNTIME_NS 100000000ULL
#define ANY_NS 900000000ULL

/* PAUSED: calls are counted, and none of them detaches. */
enum { DETACH_NONE, DETACH_PAUSED, DETACH_AT_RUNTIME, DETACH_AT_ANY, DETACH_RUNS, DETACH_DONE };

static _Atomic int state;
static void *client;
/* Calls of the runtime that the thread is in. */
static __thread unsigned int runtime_calls __attribute__((tls_model("initial-exec")));

static bool change_state(int from, int to)
{
	return atomic_compare_exchange_strong(&state, &from, to);
}

/* By one thread: the one that changes the state. */
static void finalize(int from)
{
	int saved = errno;

	if (!change_state(from, DETACH_RUNS))
		return;
	inject.cupti.unsubscribe(client);
	inject.cupti.finalize();
	atomic_store(&state, DETACH_DONE);
	errno = saved;
}

void detach_callback(int domain, int site)
{
	int now = atomic_load(&state);

	if (now == DETACH_NONE)
		return;
	if (domain == CUPTI_DOMAIN_RUNTIME && site == CUPTI_SITE_ENTER)
		runtime_calls++;
	else if (domain == CUPTI_DOMAIN_RUNTIME && runtime_calls)
		runtime_calls--;
	if (site == CUPTI_SITE_ENTER || runtime_calls)
		return;
	if (now == DETACH_AT_ANY || (now == DETACH_AT_RUNTIME && domain == CUPTI_DOMAIN_RUNTIME))
		finalize(now);
}

void detach_forked(void)
{
	atomic_store(&state, DETACH_NONE);
}

/* What has begun comes to its end. Return: whether the program goes on, and CUPTI is there */
static bool is_attached(bool goes_on)
{
	while (goes_on && atomic_load(&state) == DETACH_RUNS)
		goes_on = program_goes_on();
	return goes_on && atomic_load(&state) != DETACH_DONE;
}

/*
 * The program's next call of this domain detaches. While one may, CUPTI is not called from here.
 * Return: whether the program goes on, and none did
 */
static bool wait_for_call(int at, int domain, uint64_t ns)
{
	uint64_t limit = now_ns(CLOCK_MONOTONIC) + ns;
	bool goes_on = true;

	atomic_store(&state, DETACH_PAUSED);
	inject.cupti.enable_domain(1, client, domain);
	atomic_store(&state, at);
	while (goes_on && atomic_load(&state) == at && now_ns(CLOCK_MONOTONIC) < limit)
		goes_on = program_goes_on();
	return change_state(at, DETACH_PAUSED) ? goes_on : is_attached(goes_on);
}

/* No thread is in a callback where it may call CUPTI, and none comes there any more. */
static bool callbacks_are_left(void)
{
	uint64_t limit = now_ns(CLOCK_MONOTONIC) + RUNTIME_NS;

	while (launch_in_callback())
		if (now_ns(CLOCK_MONOTONIC) >= limit || !program_goes_on())
			return false;
	return true;
}

/* Before CUDA 12.6 a program with graphs crashes after it. */
static bool can_finalize(void)
{
	return inject.cupti.finalize && inject.cupti.enable_domain && inject.version >= CUPTI_VERSION_12_6 &&
	       callbacks_are_left();
}

/* Return: whether CUPTI is still there */
static bool make_call(void)
{
	int (*get_version)(int *version), version;

	*(void **)&get_version = cupti_driver_symbol("cuDriverGetVersion");
	/* cuptiFinalize() would wait for them */
	if (!get_version || launch_in_call() || inject.running)
		return true;
	atomic_store(&state, DETACH_AT_ANY);
	get_version(&version);
	return change_state(DETACH_AT_ANY, DETACH_PAUSED) || is_attached(true);
}

static void unsubscribe(void)
{
	launch_disable(client);
	if (atomic_load(&state) == DETACH_PAUSED) {
		inject.cupti.enable_domain(0, client, CUPTI_DOMAIN_RUNTIME);
		inject.cupti.enable_domain(0, client, CUPTI_DOMAIN_DRIVER);
	}
	inject.cupti.unsubscribe(client);
}

void detach(void *subscriber)
{
	client = subscriber;
	clock_give_back();
	if (!can_finalize() || (wait_for_call(DETACH_AT_RUNTIME, CUPTI_DOMAIN_RUNTIME, RUNTIME_NS) &&
				wait_for_call(DETACH_AT_ANY, CUPTI_DOMAIN_DRIVER, ANY_NS) && make_call()))
		unsubscribe();
}
