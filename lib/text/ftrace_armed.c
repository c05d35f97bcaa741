// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Fences of jobs before they are queued, see ftrace_armed.h.
 */
#include "ftrace_armed.h"

#include <string.h>

static bool is_ring(const struct ftrace_armed *j, struct grt_span ring)
{
	return j->ring_len == ring.len && !memcmp(j->ring, ring.at, ring.len);
}

static void ftrace_armed_drop(struct ftrace_armer *a, uint32_t i)
{
	a->n--;
	memmove(&a->job[i], &a->job[i + 1], (a->n - i) * sizeof(a->job[0]));
}

void ftrace_armer_init(struct ftrace_armer *a, uint32_t tid, uint64_t ctx, uint64_t seqno,
		       struct grt_span ring)
{
	struct ftrace_armed *first = &a->scheduled, fence = {.ctx = ctx, .seqno = seqno};

	if (a->tid != tid || a->queued)
		*a = (struct ftrace_armer){.tid = tid};
	if (!ring.len || ring.len > sizeof(fence.ring))
		return;
	memcpy(fence.ring, ring.at, ring.len);
	fence.ring_len = (uint32_t)ring.len;
	if (!first->ctx || first->ctx + 1 != ctx || first->seqno != seqno || !is_ring(first, ring)) {
		*first = fence;
		return;
	}
	first->ctx = 0;
	if (a->n == FTRACE_ARMED)
		ftrace_armed_drop(a, 0);
	a->job[a->n++] = fence;
}

bool ftrace_armer_take(struct ftrace_armer *a, uint32_t tid, struct grt_span ring, struct ftrace_armed *job)
{
	if (a->tid != tid)
		return false;
	a->queued = true;
	for (uint32_t i = 0; i < a->n; i++) {
		if (ring.len && !is_ring(&a->job[i], ring))
			continue;
		*job = a->job[i];
		ftrace_armed_drop(a, i);
		return true;
	}
	return false;
}
