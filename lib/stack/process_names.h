/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Processes as frames: by their name, and by "name (pid)" where several processes of a
 * trace have the name. Two traces that are compared have other pids: there a name is enough.
 */
#ifndef GRT_STACK_PROCESS_NAMES_H
#define GRT_STACK_PROCESS_NAMES_H

#include <stdbool.h>

#include "stacks.h"

/** struct grt_process_names - set up by grt_process_names_init(); @name: of each text, its first process */
struct grt_process_names {
	struct grt_stacks *text;
	struct grt_process_name {
		uint32_t pid;
		bool several;
	} * name;
	uint32_t names, room;
	bool alone;
};

/** grt_process_names_init - none; @alone: names never get a pid. Return: 0 or -ENOMEM */
int grt_process_names_init(struct grt_process_names *p, bool alone);

/** grt_process_names_see - a process is in the picture. Return: 0 or -ENOMEM */
int grt_process_names_see(struct grt_process_names *p, const char *name, size_t len, uint32_t pid);

/** grt_process_names_text - as the picture names one that was seen; @room: for a name with a pid, which is
 * cut there. Return: length of *@text, or -ENOMEM */
int grt_process_names_text(const struct grt_process_names *p, const char *name, size_t len, uint32_t pid,
			   char room[320], const char **text);

/** grt_process_names_free - frees it */
void grt_process_names_free(struct grt_process_names *p);

#endif /* GRT_STACK_PROCESS_NAMES_H */
