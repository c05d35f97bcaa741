/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that was compiled with an older header: what it knows of the library
 * is written out in old_client.c as it was then, and never changed. That header
 * had the classes `job` to `tsg`.
 */
#ifndef OLD_CLIENT_H
#define OLD_CLIENT_H

#include <stddef.h>
#include <stdint.h>

/** struct old_member - a member of its struct grt_consumer, and where it is; ended by one without name */
struct old_member {
	const char *name;
	size_t offset;
};
extern const struct old_member old_members[];

/**
 * struct old_counts - what it was given
 * @behind: calls of what lies behind its struct grt_consumer
 */
struct old_counts {
	uint64_t events, unknown, job, wait, tsg, packets, behind;
};

/** old_client_run - reads a trace. Return: what grt_session_run() gave, or did */
int old_client_run(const char *path, struct old_counts *counts);

/** old_client_follow - the same of a stream that has no events. Return: as grt_session_run_live() */
int old_client_follow(unsigned int *reads);

#endif /* OLD_CLIENT_H */
