/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Processes as frames: the name of the process, or "name (pid)" if several processes of a trace have the
 * name. In a comparison of two traces, whose pids differ, the frame is always the name.
 */
#ifndef GRT_STACK_PROCESS_NAMES_H
#define GRT_STACK_PROCESS_NAMES_H

#include <stdbool.h>

#include "stacks.h"

/** struct grt_process_names - set up by grt_process_names_init(); @name: the first process of each name */
struct grt_process_names {
	struct grt_stacks *text;
	struct grt_process_name {
		uint32_t pid;
		bool several;
	} * name;
	uint32_t names, room;
	bool alone;
};

/** grt_process_names_init - sets up a set without names; @alone: names never get a pid. Return: 0 or -ENOMEM
 */
int grt_process_names_init(struct grt_process_names *p, bool alone);

/** grt_process_names_see - adds a process of the graph. Return: 0 or -ENOMEM */
int grt_process_names_see(struct grt_process_names *p, const char *name, size_t len, uint32_t pid);

/** grt_process_names_text - the frame of an added process; @room: for a name with a pid, which is cut to it.
 * Return: length of *@text, or -ENOMEM */
int grt_process_names_text(const struct grt_process_names *p, const char *name, size_t len, uint32_t pid,
			   char room[320], const char **text);

/** grt_process_names_free - frees all memory of @p */
void grt_process_names_free(struct grt_process_names *p);

#endif /* GRT_STACK_PROCESS_NAMES_H */
