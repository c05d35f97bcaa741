// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Another client of CUPTI holds the activity buffers.
 *
 * cuptiActivityRegisterCallbacks() needs no subscription, replaces the callbacks that were registered
 * before, and tells nobody. PyTorch's profiler (Kineto) calls it when it begins; from 2026-08 on also if
 * another client has subscribed. The kinds of records that it disables at its end are disabled for
 * everybody, and its callbacks stay registered.
 *
 * CUPTI does not report this, so it is inferred. CUPTI hands over the record of a kernel at the latest at
 * the flush after the kernel ended. If the program launched a kernel, then waited for the whole context with
 * success, and five rounds later neither its record nor any other has come, although CUPTI once requested
 * buffers, another client gets them. While CUPTI says that it cannot record KIND_KERNEL beside
 * KIND_CONCURRENT_KERNEL, some client records kernels, and this library takes nothing from it. As soon as
 * CUPTI can, the other client is done, and this library registers itself again.
 *
 * If CUPTI has several subscribers (subscriber.c), each has its own buffers, and none of this happens.
 *
 * Nothing here disturbs the other client, and no record that it gets is counted as recorded: launches
 * without records are counted, and a note says so.
 */
#include <stdio.h>
#include <string.h>

#include "inject.h"

/* Number of the writer's rounds, of 100 ms each, without the records that must have come. */
#define ROUNDS_QUIET 5
/* After this many notes, only the sum is noted at the end. */
#define NOTES_MAX 4U

/* Most launches without a record that are listed; further ones are only counted. */
#define PENDING_MAX 4096U

/** struct pending - a launch that has no record so far */
struct pending {
	uint64_t correlation;
	uint64_t end;
	uint32_t context;
};

/**
 * @is: another client holds the buffers; other threads read it, too
 * @seen: the greatest correlation of a record
 * @pending, @first, @n: a ring of the launches with greater ones, in order; @over: number of launches that
 *	found no room in it
 * @last: correlation of the last launch
 * @sure: correlation of a launch without a record, for which the program has waited with success; 0: none
 * @quiet: number of rounds since then in which no record came
 * @begun: when the first launch without a record returned; @back: when records came again
 * @times, @ns, @missing: number of times that another client held the buffers, how long, and the launches
 *	without a record in these times
 * @noted: the value of @times that was noted last
 * @useless: CUPTI accepts KIND_KERNEL beside KIND_CONCURRENT_KERNEL, so it is unknown when the other client
 *	is done
 */
static struct held {
	_Atomic bool is;
	uint64_t seen;
	struct pending pending[PENDING_MAX];
	uint32_t first;
	uint32_t n;
	uint64_t over;
	uint64_t last;
	uint64_t sure;
	unsigned int quiet;
	uint64_t begun;
	uint64_t back;
	uint64_t times;
	uint64_t ns;
	uint64_t missing;
	uint64_t noted;
	bool useless;
} held;

bool held_is(void)
{
	return atomic_load(&held.is);
}

void held_reset(void)
{
	memset(&held, 0, sizeof(held));
}

static void held_forget_pending(void)
{
	held.n = 0;
	held.over = held.sure = 0;
}

/* The client that gets records holds the buffers. */
void held_see_record(uint64_t correlation)
{
	held.quiet = 0;
	atomic_store(&held.is, false);
	if (correlation > held.seen)
		held.seen = correlation;
	for (; held.n && held.pending[held.first].correlation <= held.seen; held.n--)
		held.first = (held.first + 1) % PENDING_MAX;
	if (held.seen >= held.last)
		held_forget_pending();
	if (held.sure <= held.seen)
		held.sure = 0;
}

void held_see_launch(uint64_t correlation, uint32_t context, uint64_t end)
{
	if (!correlation || correlation <= held.seen)
		return;
	/* a record that was written late */
	if (end <= held.back) {
		held.missing++;
		return;
	}
	held.last = correlation;
	if (held.n == PENDING_MAX) {
		held.over++;
		return;
	}
	held.pending[(held.first + held.n++) % PENDING_MAX] =
		(struct pending){.correlation = correlation, .end = end, .context = context};
}

void held_see_wait(uint32_t context, uint64_t begin)
{
	const struct pending *p = &held.pending[held.first];

	if (held.n && !held.sure && p->context == context && begin >= p->end)
		held.sure = p->correlation;
}

/* Return: whether another client records kernels now, as far as CUPTI reports it */
static bool held_by_another_client(void)
{
	int ret = inject.cupti.enable(CUPTI_KIND_KERNEL);

	if (!ret)
		inject.cupti.disable(CUPTI_KIND_KERNEL);
	held.useless = held.useless || (ret && ret != CUPTI_NOT_COMPATIBLE);
	return ret;
}

static void held_end(uint64_t now)
{
	held.times++;
	held.ns += now - held.begun;
	held.missing += held.n + held.over;
	held_forget_pending();
	held.quiet = 0;
	held.back = now;
	atomic_store(&held.is, false);
}

static void held_take_back(void)
{
	if (held.useless || held_by_another_client())
		return;
	/* records from before the other client came may still be in our buffers */
	activity_recover();
	if (activity_register() || activity_start())
		return;
	held_end(clock_monotonic());
	/* from here on, this library records again */
	held.useless = !held_by_another_client();
}

static void held_note(void)
{
	char text[256], times[32] = "";

	if (held.times > 1)
		snprintf(times, sizeof(times), ", %llu times", (unsigned long long)held.times);
	snprintf(
		text, sizeof(text),
		"inferred: another CUPTI client (such as torch.profiler) held CUPTI's activity buffers for %.1f s%s: "
		"%llu launches have no record of their kernel%s",
		(double)held.ns / 1e9, times, (unsigned long long)held.missing,
		held.useless ? "; this CUPTI does not tell when the other client is done" : "");
	define_process(5, text);
	held.noted = held.times;
}

void held_round(void)
{
	if (subscriber_is_one_of_several())
		return;
	/* the launches of that time are only written one round later */
	if (held.times > held.noted && held.times <= NOTES_MAX && clock_monotonic() - held.back > 150000000)
		held_note();
	if (!held_is()) {
		held.quiet = held.sure && activity_is_requested() ? held.quiet + 1 : 0;
		if (held.quiet < ROUNDS_QUIET)
			return;
		held.begun = held.pending[held.first].end;
		atomic_store(&held.is, true);
	}
	held_take_back();
}

void held_close(void)
{
	bool is = held_is();

	if (is)
		activity_recover();
	/* without any record so far, CUPTI itself may have failed */
	if (is && held.seen)
		held_end(clock_monotonic());
	if (held.times > held.noted)
		held_note();
}
