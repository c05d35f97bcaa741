/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds a collective of NCCL that some ranks have called and one has not, so that the others wait for it.
 * Only ranks whose processes are recorded are known. A rank without an earlier call of the kind may have
 * joined the recording later, and does not count as missing. Memory: 1,024 communicators of processes, 256
 * kinds of collectives, 4,096 ranks in them.
 */
#ifndef GRTRACE_TRIGGER_COLLECTIVES_H
#define GRTRACE_TRIGGER_COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>

#include <grtrace/grtrace.h>

#include "base/containers.h"

#define COLLECTIVES_EARLY 256U

/**
 * struct collectives - initialised by collectives_init(), freed by collectives_free()
 * @early: calls whose communicator or name comes later
 */
struct collectives {
	struct grt_keyed communicators;
	struct grt_keyed names;
	struct grt_keyed kinds;
	struct grt_keyed ranks;
	struct grt_ev_collective early[COLLECTIVES_EARLY];
	uint32_t early_calls;
};

/**
 * struct collective_missing
 * @pid, @tid: the rank that has not come
 * @since: when the first of the others called
 */
struct collective_missing {
	uint32_t pid;
	uint32_t tid;
	uint64_t since;
	char text[160];
};

/** collectives_init - initialises it without collectives */
void collectives_init(struct collectives *c);

/** collectives_see - processes an event of any type. Return: 0 or -ENOMEM */
int collectives_see(struct collectives *c, const struct grt_event *e);

/**
 * collectives_missing - finds a rank for which others have waited for more than @limit ns at @now, plus one
 * second in which its call may still arrive
 * @sure: the caller reports the rank, so it is not found again for this collective
 */
bool collectives_missing(struct collectives *c, uint64_t limit, uint64_t now, bool sure,
			 struct collective_missing *found);

/** collectives_forget - events were lost, so it is unknown which collective each rank called last */
void collectives_forget(struct collectives *c);

/** collectives_free - frees everything */
void collectives_free(struct collectives *c);

#endif /* GRTRACE_TRIGGER_COLLECTIVES_H */
