// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Moments in which no thread of the program is in a call of CUDA.
 *
 * A thread that launches holds a lock of its context while it waits for a lock of CUPTI.
 * cuptiPCSamplingDisable() holds that one while it waits for the context's: called while another thread
 * launches, it does not return, nor does the launch (CUDA 13.0 on an H200). So calls are counted while the
 * GPU is sampled. The writer closes the gate: calls that begin wait, those that have begun return, and when
 * none is left it may call CUPTI. All functions of the driver are seen meanwhile, since code is loaded with
 * the same locks held.
 *
 * Calls that wait for the GPU wait at the gate, too, but are not counted: they launch nothing, and may take
 * as long as the program likes.
 *
 * When the GPU begins to be sampled, the first launch goes alone: in it, CUPTI looks at the code that is
 * loaded, and nothing may disturb it, see pcsampling.c.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "codes/cuda_codes.h"
#include "inject.h"

/*
 * How long one attempt waits for calls that have begun, while the other calls wait at the gate; how many
 * attempts there are; and how long the program continues between two of them.
 */
#define GATE_NS 20000000ULL
#define GATE_TRIES 10
#define GATE_PAUSE_NS 10000000L
#define GATE_LOOK_NS 20000L
/*
 * How long other calls wait for the first launch, which may itself wait for something that another thread
 * does.
 */
#define GATE_FIRST_S 2

/*
 * SINGLE: calls pass one at a time until a launch has returned, and no call is running; BUSY: one is
 * running.
 */
enum { GATE_OPEN, GATE_CLOSED, GATE_SINGLE, GATE_BUSY };

_Atomic bool gate_counts;

/*
 * The low half is the number of calls in progress, the high half the number of times that counting has
 * begun. Calls that began before that are not counted.
 */
static _Atomic uint64_t calls;
/* A futex. */
static _Atomic uint32_t gate;
/* A launch has returned since the gate was opened for one. */
static _Atomic bool first_is_over = true;
/* When the first launch passed; how long it took, ns. */
static _Atomic uint64_t first_passed;
static _Atomic uint64_t first_took;

/*
 * The number of nested calls that the thread is in; whether the outermost one is counted, and in which
 * counting.
 */
static __thread unsigned int depth __attribute__((tls_model("initial-exec")));
static __thread bool counted __attribute__((tls_model("initial-exec")));
static __thread uint32_t counted_since __attribute__((tls_model("initial-exec")));
/* The thread has closed the gate: the calls that it makes now are made by CUPTI. */
static __thread bool holds __attribute__((tls_model("initial-exec")));
/* The thread's call passed alone; the call launches work, and no launch has returned yet. */
static __thread bool alone __attribute__((tls_model("initial-exec")));
static __thread bool launches_work __attribute__((tls_model("initial-exec")));

void gate_begin(void)
{
	atomic_store(&calls, ((atomic_load(&calls) >> 32) + 1) << 32);
	atomic_store(&gate_counts, true);
}

void gate_end(void)
{
	atomic_store(&gate_counts, false);
	atomic_store(&first_is_over, true);
	gate_open();
}

/* Does nothing if counting has begun again in between. */
static void gate_count(int by)
{
	uint64_t now = atomic_load(&calls);

	while ((uint32_t)(now >> 32) == counted_since &&
	       !atomic_compare_exchange_weak(&calls, &now, now + (uint64_t)by))
		;
}

static const struct grt_cuda_call *gate_call(int domain, uint32_t number)
{
	return grt_cuda_call((uint16_t)(number | (domain == CUPTI_DOMAIN_DRIVER ? GRT_CUDA_DRIVER : 0)));
}

static bool gate_waits_for_gpu(int domain, uint32_t number)
{
	enum grt_cuda_sync sync = grt_cuda_sync(gate_call(domain, number));

	return sync && sync != GRT_CUDA_SYNC_ORDER;
}

static bool gate_launches(int domain, uint32_t number)
{
	const struct grt_cuda_call *call = gate_call(domain, number);

	return call && (call->kind == GRT_CUDA_KIND_KERNEL || call->kind == GRT_CUDA_KIND_GRAPH);
}

static void gate_set(uint32_t to)
{
	if (atomic_exchange(&gate, to))
		syscall(SYS_futex, &gate, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Return: the state that makes the call wait, or GATE_OPEN. Calls that are not counted launch nothing. */
static uint32_t gate_look(void)
{
	uint32_t now = atomic_load(&gate);

	if (!counted)
		return now == GATE_CLOSED ? now : GATE_OPEN;
	while (now == GATE_SINGLE && !alone)
		alone = atomic_compare_exchange_weak(&gate, &now, GATE_BUSY);
	if (alone)
		atomic_store(&first_passed, now_ns(CLOCK_MONOTONIC));
	return alone ? GATE_OPEN : now;
}

/* The first launch takes too long: lets the other calls pass. */
static void gate_give_up(void)
{
	uint32_t busy = GATE_BUSY;

	if (atomic_compare_exchange_strong(&gate, &busy, GATE_OPEN))
		syscall(SYS_futex, &gate, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/*
 * The thread counts its call before it looks at the gate, and the writer closes the gate before it looks at
 * the count, so one of them sees the other.
 */
static void gate_pass(void)
{
	const struct timespec first = {.tv_sec = GATE_FIRST_S};
	int saved = errno;
	uint32_t now;

	if (counted)
		gate_count(1);
	while ((now = gate_look()) != GATE_OPEN) {
		if (counted)
			gate_count(-1);
		if (syscall(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, now, now == GATE_BUSY ? &first : NULL, NULL,
			    0) &&
		    errno == ETIMEDOUT)
			gate_give_up();
		if (counted)
			gate_count(1);
	}
	errno = saved;
}

/* The call that passed alone has returned: lets the next call pass, or all calls if it was a launch. */
static void gate_next(void)
{
	uint32_t busy = GATE_BUSY;

	if (atomic_compare_exchange_strong(&gate, &busy, launches_work ? GATE_OPEN : GATE_SINGLE))
		syscall(SYS_futex, &gate, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void gate_return(void)
{
	if (launches_work && alone)
		atomic_store(&first_took, now_ns(CLOCK_MONOTONIC) - atomic_load(&first_passed));
	if (launches_work)
		atomic_store(&first_is_over, true);
	if (alone)
		gate_next();
	alone = launches_work = false;
	if (counted)
		gate_count(-1);
}

void gate_callback(int domain, uint32_t number, int site)
{
	uint32_t since = (uint32_t)(atomic_load(&calls) >> 32);

	if (holds)
		return;
	if (counted_since != since) {
		counted_since = since;
		depth = 0;
		alone = launches_work = false;
	}
	if (site == CUPTI_SITE_EXIT) {
		if (depth && !--depth)
			gate_return();
		return;
	}
	if (!depth++) {
		counted = !gate_waits_for_gpu(domain, number);
		gate_pass();
	}
	if (!atomic_load_explicit(&first_is_over, memory_order_relaxed))
		launches_work |= gate_launches(domain, number);
}

static bool gate_close_once(void)
{
	const struct timespec look = {.tv_nsec = GATE_LOOK_NS};
	uint64_t limit = now_ns(CLOCK_MONOTONIC) + GATE_NS;

	holds = true;
	atomic_store(&gate, GATE_CLOSED);
	while ((uint32_t)atomic_load(&calls)) {
		if (now_ns(CLOCK_MONOTONIC) >= limit) {
			gate_open();
			return false;
		}
		nanosleep(&look, NULL);
	}
	return true;
}

bool gate_close(void)
{
	const struct timespec pause = {.tv_nsec = GATE_PAUSE_NS};

	for (int i = 0; i < GATE_TRIES; i++, nanosleep(&pause, NULL))
		if (gate_close_once())
			return true;
	return false;
}

void gate_open(void)
{
	holds = false;
	gate_set(atomic_load(&first_is_over) ? GATE_OPEN : GATE_SINGLE);
}

void gate_expect_first(void)
{
	atomic_store(&first_is_over, false);
}

bool gate_first_is_over(void)
{
	return atomic_load(&first_is_over);
}

uint64_t gate_first_ns(void)
{
	return atomic_load(&first_took);
}

void gate_forked(void)
{
	atomic_store(&gate_counts, false);
	atomic_store(&first_is_over, true);
	atomic_store(&gate, GATE_OPEN);
}
