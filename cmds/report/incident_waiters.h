/* SPDX-License-Identifier: GPL-2.0 */
/*
 * report --incident: which jobs and threads waited for the job, directly or through others. If the fence for
 * which the job itself waits is signalled by one of these threads, the program has made a cycle.
 */
#ifndef GRTRACE_INCIDENT_WAITERS_H
#define GRTRACE_INCIDENT_WAITERS_H

#include "base/keyed.h"
#include "trace/names.h"

/** struct incident_waiters - set up by incident_waiters_init(); @gone: waits that made room for later ones */
struct incident_waiters {
	struct grt_keyed waits;
	uint64_t gone;
};

/** incident_waiters_init - none is known */
void incident_waiters_init(struct incident_waiters *w);

/** incident_waiters_event - takes an event of before the incident. Return: 0 or -ENOMEM */
int incident_waiters_event(struct incident_waiters *w, const struct grt_event *e);

/**
 * incident_waiters_print - those of a job, below each one those that wait for it; nothing if there are none
 * @open: jobs that are not complete, by context and sequence number
 */
void incident_waiters_print(const struct incident_waiters *w, const struct grt_keyed *open,
			    const struct grt_names *names, uint64_t ctx, uint64_t seqno);

/** incident_waiters_free - frees all that it owns */
void incident_waiters_free(struct incident_waiters *w);

#endif /* GRTRACE_INCIDENT_WAITERS_H */
