/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Names of threads, processes and rings, interned from NAME records. A name
 * keeps its number, so that a job keeps the name that its thread had at the SUBMIT,
 * even if the thread is renamed later.
 */
#ifndef GRT_TRACE_NAMES_H
#define GRT_TRACE_NAMES_H

#include <grtrace/names.h>

#include "base/index.h"

/* Most names of a run (7 MiB); later names are unknown and counted. */
#define GRT_NAMES_MAX 65536U

/** struct grt_name - one name, always NUL terminated; see NAME in events.def */
struct grt_name {
	uint32_t kind;
	uint32_t id;
	char name[33];
	char owner[17];
};

/**
 * struct grt_names - all zero is empty; freed by grt_names_free()
 * @name: by number
 * @index: (kind, id) to the present name; older names are only found by number
 * @dropped: NAME records beyond GRT_NAMES_MAX
 */
struct grt_names {
	struct grt_name *name;
	uint32_t used;
	uint32_t room;
	struct grt_index index;
	struct grt_hash_key key;
	uint64_t dropped;
};

/** grt_names_add - processes a NAME record. Return: 0 or -ENOMEM */
int grt_names_add(struct grt_names *n, const struct grt_ev_name *e);

/**
 * grt_names_each - calls @take with all names again, as NAME records in their original order
 * Return: 0, or what @take returned otherwise
 */
int grt_names_each(const struct grt_names *n, int (*take)(void *arg, const struct grt_event *e), void *arg);

/** grt_names_gpus - whether the rings so far belong to several GPUs */
bool grt_names_gpus(const struct grt_names *n);

/** grt_names_free - frees and empties it */
void grt_names_free(struct grt_names *n);

#endif /* GRT_TRACE_NAMES_H */
