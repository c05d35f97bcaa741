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
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "codes/cuda_codes.h"
#include "inject.h"

/* How long calls that have begun are waited for in one attempt, while the others wait at the gate; how often
 * that is tried, and how long the program goes on between. */
#define GATE_NS 20000000ULL
#define GATE_TRIES 10
#define GATE_PAUSE_NS 10000000L
#define GATE_LOOK_NS 20000L

_Atomic bool gate_counts;

/*
 * The low half: calls in progress; the high half: number of times that counting has begun. Calls from before
 * that are not counted.
 */
static _Atomic uint64_t calls;
/* A futex. */
static _Atomic uint32_t closed;

/* Calls that the calling thread is in, of which the outermost is counted, and since which beginning. */
static __thread unsigned int depth __attribute__((tls_model("initial-exec")));
static __thread bool counted __attribute__((tls_model("initial-exec")));
static __thread uint32_t counted_since __attribute__((tls_model("initial-exec")));
/* The thread has closed the gate: CUPTI makes calls of its own for it. */
static __thread bool holds __attribute__((tls_model("initial-exec")));

void gate_begin(void)
{
	atomic_store(&calls, ((atomic_load(&calls) >> 32) + 1) << 32);
	atomic_store(&gate_counts, true);
}

void gate_end(void)
{
	atomic_store(&gate_counts, false);
	gate_open();
}

/* Does nothing if counting has begun anew in between. */
static void gate_count(int by)
{
	uint64_t now = atomic_load(&calls);

	while ((uint32_t)(now >> 32) == counted_since &&
	       !atomic_compare_exchange_weak(&calls, &now, now + (uint64_t)by))
		;
}

static bool gate_waits_for_gpu(int domain, uint32_t number)
{
	uint16_t call = (uint16_t)(number | (domain == CUPTI_DOMAIN_DRIVER ? GRT_CUDA_DRIVER : 0));
	enum grt_cuda_sync sync = grt_cuda_sync(grt_cuda_call(call));

	return sync && sync != GRT_CUDA_SYNC_ORDER;
}

/* The thread is counted before it looks at the gate, and the writer closes it before it looks at the count.
 */
static void gate_pass(void)
{
	int saved = errno;

	if (counted)
		gate_count(1);
	while (atomic_load(&closed)) {
		if (counted)
			gate_count(-1);
		syscall(SYS_futex, &closed, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
		if (counted)
			gate_count(1);
	}
	errno = saved;
}

void gate_callback(int domain, uint32_t number, int site)
{
	uint32_t since = (uint32_t)(atomic_load(&calls) >> 32);

	if (holds)
		return;
	if (counted_since != since) {
		counted_since = since;
		depth = 0;
	}
	if (site == CUPTI_SITE_EXIT) {
		if (depth && !--depth && counted)
			gate_count(-1);
	} else if (!depth++) {
		counted = !gate_waits_for_gpu(domain, number);
		gate_pass();
	}
}

static bool gate_close_once(void)
{
	const struct timespec look = {.tv_nsec = GATE_LOOK_NS};
	uint64_t limit = now_ns(CLOCK_MONOTONIC) + GATE_NS;

	holds = true;
	atomic_store(&closed, 1);
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
	if (atomic_exchange(&closed, 0))
		syscall(SYS_futex, &closed, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void gate_forked(void)
{
	atomic_store(&gate_counts, false);
	atomic_store(&closed, 0);
}
