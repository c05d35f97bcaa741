/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adds finished jobs to sums in place of writing records, see struct grt_bpf_sum. When a job began follows
 * from the order of its ring, as readers of records infer it: at the END before it, or at its COMMIT if that
 * is later.
 *
 * The programs of a ring's jobs take turns: two that end at the same time on two CPUs would not see each
 * other's END. Kernels before 5.12 have no atomic operation that returns a value, so each program counts
 * itself in, and waits while it is not alone.
 */
#ifndef GRTRACE_BPF_SUMS_H
#define GRTRACE_BPF_SUMS_H

#include "common.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * BPF_SUM_ROWS);
	__type(key, struct grt_bpf_sum_key);
	__type(value, struct grt_bpf_sum_place);
} sum_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BPF_SUM_ROWS);
	__type(key, __u32);
	__type(value, struct grt_bpf_sum_ring);
} sum_rings SEC(".maps");

/* Two for each row. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct grt_bpf_sum);
} sums SEC(".maps");

/* With grt_bpf_config.kept: the last jobs in sums, a JOB record each. The loader frees the oldest ones. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, BPF_KEPT_NONE);
} kept SEC(".maps");

struct grt_bpf_sum_times sum_times SEC(".data.sums") = {};

#ifndef barrier_var
#define barrier_var(var) asm volatile("" : "+r"(var))
#endif

/* How often a program looks whether it is alone; the others need less than a microsecond. */
#define SUMS_TRIES 64

/* sums_take() */
#define SUMS_RECORD 0
#define SUMS_TAKEN 1
#define SUMS_LOST 2

/* Return: whether it is alone */
static __always_inline int sums_enter(struct grt_bpf_sum_ring *ring)
{
	__sync_fetch_and_add(&ring->inside, 1);
	for (int i = 0; i < SUMS_TRIES; i++)
		if (((volatile struct grt_bpf_sum_ring *)ring)->inside == 1)
			return 1;
	__sync_fetch_and_add(&ring->inside, -1);
	return 0;
}

/* A function of its own, so that the verifier follows its ways once. */
__noinline __u32 sums_cell(__u64 ns)
{
	return grt_bpf_sum_cell(ns);
}

static __always_inline void sums_put(struct grt_bpf_sum_hist *h, __u64 ns, __u32 cell, int first)
{
	h->sum += ns;
	if (first || ns < h->min)
		h->min = ns;
	if (ns > h->max)
		h->max = ns;
	h->octaves |= 1U << cell / BPF_SUM_BUCKETS;
	/* the verifier has forgotten what @cell was compared with */
	barrier_var(cell);
	h->cell[cell & (BPF_SUM_CELLS - 1)]++;
}

/* Sets @start. Return: whether all that can be known of it is known here */
static __always_inline int sums_order(struct grt_bpf_sum_ring *ring, struct whole *w)
{
	__u64 before = ring->last_end, start = w->commit;
	__u32 ended = ring->ended;

	w->start = 0;
	if (!w->end)
		return 1;
	if (!ended || w->end > before)
		ring->last_end = w->end;
	ring->ended = 1;
	if (ring->firmware || !start)
		return 1;
	if (before > start)
		start = before;
	if (ended && start <= w->end)
		w->start = start;
	return ended;
}

static __always_inline void sums_done(struct grt_bpf_sum *sum, const struct whole *w,
				      struct grt_bpf_counts *c)
{
	if (w->end > sum->last_end)
		sum->last_end = w->end;
	if (w->end && w->commit > sum->last_commit)
		sum->last_commit = w->commit;
	sum->tid = w->job.tid;
	sum->comm = w->comm;
	COUNT(c->summed);
	__sync_fetch_and_add(&c->replaced, 1 + !config.kept + !!w->commit + !!w->end);
}

/* Return: whether the job is in @sum now */
static __always_inline int sums_add(struct grt_bpf_sum *sum, const struct whole *w, struct grt_bpf_counts *c)
{
	__u64 exec = w->end - w->start, queue = w->start - w->commit;
	__u32 exec_cell, queue_cell;

	if (!w->start) {
		sum->untimed++;
		sums_done(sum, w, c);
		return 1;
	}
	exec_cell = sums_cell(exec);
	queue_cell = sums_cell(queue);
	if (exec_cell >= BPF_SUM_CELLS || queue_cell >= BPF_SUM_CELLS)
		return 0;
	sums_put(&sum->exec, exec, exec_cell, !sum->timed);
	sums_put(&sum->queue, queue, queue_cell, !sum->timed);
	sum->timed++;
	sums_done(sum, w, c);
	return 1;
}

/* The ring is ours. The time is read here: a program that comes later finds a later time. */
static __always_inline int sums_turn(struct grt_bpf_sum_ring *ring, __u32 row, struct whole *w,
				     struct grt_bpf_counts *c)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 even = ((volatile struct grt_bpf_sum_times *)&sum_times)->since[0];
	__u64 odd = ((volatile struct grt_bpf_sum_times *)&sum_times)->since[1];
	__u32 second = odd > even ? now >= odd : now < even;
	struct grt_bpf_sum *sum;

	if (!sums_order(ring, w) || row >= BPF_SUM_ROWS || w->submit < (second ? odd : even))
		return SUMS_RECORD;
	row = 2 * row + second;
	sum = bpf_map_lookup_elem(&sums, &row);
	return sum && sums_add(sum, w, c) ? SUMS_TAKEN : SUMS_RECORD;
}

/* A job that is complete. Return: SUMS_* */
static __noinline int sums_take(struct whole *w, struct grt_bpf_counts *c)
{
	struct grt_bpf_sum_place *place;
	struct grt_bpf_sum_ring *ring;
	struct grt_bpf_sum_key key = {};
	int ret;

	if (!w || !c)
		return SUMS_RECORD;
	key.pid = w->job.pid;
	key.ring = w->job.ring;
	place = bpf_map_lookup_elem(&sum_places, &key);
	if (!place) {
		key.pid = 0;
		place = bpf_map_lookup_elem(&sum_places, &key);
	}
	ring = place ? bpf_map_lookup_elem(&sum_rings, &place->ring) : 0;
	if (!ring)
		return SUMS_RECORD;
	if (!sums_enter(ring))
		return SUMS_LOST;
	ret = sums_turn(ring, place->row, w, c);
	__sync_fetch_and_add(&ring->inside, -1);
	return ret;
}

#endif /* GRTRACE_BPF_SUMS_H */
