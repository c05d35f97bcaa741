/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For how long a ring has been busy: the union of the executions of its jobs,
 * kept in one word so that a compare-and-swap changes it and one load reads it.
 *
 *	bit 63		how executions begin: 0 with COMMIT, 1 with START
 *	bit 62		one has ended
 *	bits 49..61	jobs that execute
 *	bits 0..48	ns for which the ring was busy so far; while it is busy, minus
 *			the time since when
 *
 * At any time t the ring was busy for low + (jobs ? t : 0) ns. Numbers wrap
 * after 2^49 ns (6.5 days), so differences of two times less far apart are exact,
 * and nothing needs to be done where a window of time ends.
 *
 * Where hardware reports no START, it is max(COMMIT, END of the job before on the
 * ring): the union of these is the time in which a job is between COMMIT and
 * END. Whether a ring's driver reports STARTs shows with the first one.
 *
 * Pure arithmetic, also for user space: tests/unit/test_busy_word.c.
 */
#ifndef GRTRACE_BUSY_H
#define GRTRACE_BUSY_H

#include <linux/types.h>

#define BUSY_NS_BITS 49
#define BUSY_NS	     ((1ULL << BUSY_NS_BITS) - 1)
#define BUSY_JOB     (1ULL << BUSY_NS_BITS)
#define BUSY_JOBS    (0x1fffULL << BUSY_NS_BITS)
#define BUSY_ENDED   (1ULL << 62)
#define BUSY_STARTS  (1ULL << 63)

/* ns for which the ring was busy up to @t, modulo 2^49 */
static inline __u64 busy_at(__u64 word, __u64 t)
{
	return (word + (word & BUSY_JOBS ? t : 0)) & BUSY_NS;
}

/*
 * The time between two such numbers; if CPUs report events in a race, it may be a little negative,
 * which becomes 0.
 */
static inline __u64 busy_between(__u64 from, __u64 to)
{
	__u64 ns = (to - from) & BUSY_NS;

	return ns >> (BUSY_NS_BITS - 1) ? 0 : ns;
}

static inline __u64 busy_set_ns(__u64 word, __u64 ns)
{
	return (word & ~BUSY_NS) | (ns & BUSY_NS);
}

static inline __u64 busy_enter(__u64 word, __u64 t)
{
	if ((word & BUSY_JOBS) == BUSY_JOBS)
		return word;
	if (!(word & BUSY_JOBS))
		word = busy_set_ns(word, word - t);
	return word + BUSY_JOB;
}

static inline __u64 busy_leave(__u64 word, __u64 t)
{
	if (!(word & BUSY_JOBS))
		return word;
	word -= BUSY_JOB;
	if (!(word & BUSY_JOBS))
		word = busy_set_ns(word, word + t);
	return word | BUSY_ENDED;
}

/* A job was handed to the ring. */
static inline __u64 busy_commit(__u64 word, __u64 t)
{
	return word & BUSY_STARTS ? word : busy_enter(word, t);
}

/*
 * A job began. With the ring's first START it shows that those before it had
 * not, unless one has ended without.
 */
static inline __u64 busy_start(__u64 word, __u64 t)
{
	if (!(word & BUSY_STARTS))
		word = BUSY_STARTS | (word & BUSY_ENDED ? BUSY_ENDED | busy_at(word, t) : 0);
	return busy_enter(word, t);
}

/*
 * A job ended. @commit, @start: when it was committed and began, 0: unknown; @before: END of the
 * job before it, 0: none. If the ring reports STARTs and the job has none, the time is added in
 * which no other job executed.
 */
static inline __u64 busy_end(__u64 word, __u64 t, __u64 commit, __u64 start, __u64 before)
{
	if (word & BUSY_STARTS ? start : commit)
		return busy_leave(word, t);
	if (!commit || word & BUSY_JOBS)
		return word;
	start = before > commit ? before : commit;
	return busy_set_ns(word, start < t ? word + t - start : word) | BUSY_ENDED;
}

#endif /* GRTRACE_BUSY_H */
