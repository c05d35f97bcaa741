/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Names of threads, processes, rings, devices and counters, from the NAME
 * records of a trace. The number of a name never changes: a job keeps the name that its
 * thread had at the submit, even if the thread is renamed later.
 * All texts are untrusted: escape them before you print them.
 */
#ifndef GRTRACE_NAMES_H
#define GRTRACE_NAMES_H

#include <grtrace/grtrace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct grt_names;

/* The number of an unknown name. */
#define GRT_NAME_UNKNOWN 0U

/**
 * grt_names_find - number of the current name of a thread, ring, device or counter, GRT_NAME_UNKNOWN: none
 * @kind: GRT_NAME_THREAD, GRT_NAME_RING and so on, see event.h
 * @id: id of the thread, ring, device or counter
 */
uint32_t grt_names_find(const struct grt_names *n, uint32_t kind, uint32_t id);

/** grt_names_name, grt_names_owner - the texts of a NAME record by its number; NULL where unknown or empty */
const char *grt_names_name(const struct grt_names *n, uint32_t number);
const char *grt_names_owner(const struct grt_names *n, uint32_t number);

#ifdef __cplusplus
}
#endif

#endif /* GRTRACE_NAMES_H */
