/* SPDX-License-Identifier: GPL-2.0 */
/*
 * report --incident: which jobs and threads waited for the job, directly or through others. If the fence for
 * which the job itself waits is signalled by one of these threads, the program has made a cycle.
 */
#ifndef GRTRACE_INCIDENT_WAITERS_H
#define GRTRACE_INCIDENT_WAITERS_H

#include "base/keyed.h"
#include "trace/names.h"

/**
 * struct incident_waiters - initialised by incident_waiters_init()
 * @gone: number of waits that later ones have replaced
 */
struct incident_waiters {
	struct grt_keyed waits;
	uint64_t gone;
};

/** incident_waiters_init - initialises it without waits */
void incident_waiters_init(struct incident_waiters *w);

/** incident_waiters_event - takes an event from before the incident. Return: 0 or -ENOMEM */
int incident_waiters_event(struct incident_waiters *w, const struct grt_event *e);

/**
 * incident_waiters_print - prints who waits for a job, and below each waiting job who waits for that one;
 * nothing if there are none
 * @open: jobs that are not complete, by context and sequence number
 */
void incident_waiters_print(const struct incident_waiters *w, const struct grt_keyed *open,
			    const struct grt_names *names, uint64_t ctx, uint64_t seqno);

/** incident_waiters_free - frees everything */
void incident_waiters_free(struct incident_waiters *w);

#endif /* GRTRACE_INCIDENT_WAITERS_H */
