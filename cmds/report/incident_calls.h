/* SPDX-License-Identifier: GPL-2.0 */
/* report --incident: the last calls of CUDA before the incident, with their stacks. */
#ifndef GRTRACE_INCIDENT_CALLS_H
#define GRTRACE_INCIDENT_CALLS_H

#include "base/containers.h"
#include "stack/images.h"
#include "trace/names.h"

/**
 * struct incident_calls - initialised by incident_calls_init()
 * @at: time of the incident
 * @threads: each thread with its last call
 */
struct incident_calls {
	uint64_t at;
	struct grt_images images;
	struct grt_keyed threads;
};

/** incident_calls_init - initialises it without calls */
void incident_calls_init(struct incident_calls *c);

/** incident_calls_event - takes an event. Return: 0 or -ENOMEM */
int incident_calls_event(struct incident_calls *c, const struct grt_event *e);

/**
 * incident_calls_print - prints the calls of a process; if it has made none, those of all. Return: 0 or
 * -ENOMEM
 */
int incident_calls_print(struct incident_calls *c, const struct grt_names *names, uint32_t pid);

/** incident_calls_free - frees everything */
void incident_calls_free(struct incident_calls *c);

#endif /* GRTRACE_INCIDENT_CALLS_H */
