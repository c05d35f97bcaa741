/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Converts calls on NVIDIA's control device to TSG_* and NV_MEMORY events: which channel groups exist, what
 * is requested for them, how much memory processes have, and when groups and memory are freed, also if no
 * call frees them. What the calls do not have is unknown in the event, and a call is not trusted.
 */
#ifndef GRT_NVIDIA_DECODE_H
#define GRT_NVIDIA_DECODE_H

#include <grtrace/grtrace.h>

#include "call.h"

struct grt_nv;

/**
 * struct grt_nv_setup - how calls are decoded
 * @emit: gets every event; @cpu: where its call returned. Return: 0, or a negative errno that ends the call
 * @arg: passed to @emit
 * @branch: the driver's branch, such as 580; 0: unknown, until a call of a program has it
 * @only_gpu: the address of the only GPU of the machine, as in TSG_* events; 0: several GPUs, or unknown
 * @memory: emit events of memory, too; without it, memory is only followed
 * @no_runlist: the GPU's tokens have no runlist (Volta)
 * @refused: calls that failed are reported, too; and of those that no driver has
 *	answered (GRT_NV_FOREIGN) what they ask for counts as done, so that the
 *	decoder can be tried without a GPU
 */
struct grt_nv_setup {
	int (*emit)(void *arg, struct grt_event *e, uint32_t cpu);
	void *arg;
	uint32_t branch;
	uint32_t only_gpu;
	bool memory;
	bool no_runlist;
	bool refused;
};

/**
 * struct grt_nv_count - counts of calls and objects
 * @calls: ioctls
 * @unknown: ioctls whose layout is unknown, or whose bytes could not be read
 * @partly: objects that are older than the capture, or whose creation was lost
 * @subcontexts: created context shares
 * @over: objects that are not followed, because there were too many
 * @unsized: objects of memory whose size could not be read
 */
struct grt_nv_count {
	uint64_t calls;
	uint64_t unknown;
	uint64_t partly;
	uint64_t subcontexts;
	uint64_t over;
	uint64_t unsized;
};

/** grt_nv_new - begins. Return: 0 or -ENOMEM */
int grt_nv_new(struct grt_nv **out, const struct grt_nv_setup *setup);

/** grt_nv_call - processes a call; calls must come in the order of their returns. Return: 0, -EPROTO:
 * @c is invalid, -ENOMEM, or the result of emit() */
int grt_nv_call(struct grt_nv *d, const struct grt_nv_call *c);

/** grt_nv_unsettled - whether files may have been closed for the last time since grt_nv_settle() */
bool grt_nv_unsettled(const struct grt_nv *d);

/**
 * grt_nv_settle - ends the objects of closed files
 * @looked: when the check of open files began, ns; every earlier call has been passed to grt_nv_call().
 *	Younger files are left for the next check
 * @is_open: whether a process still had a file then; NULL: unknown, then a file ends with the process that
 *	used it last
 * Return: as grt_nv_call()
 */
int grt_nv_settle(struct grt_nv *d, uint64_t looked, bool (*is_open)(void *arg, uint64_t file, uint32_t *pid),
		  void *arg);

/** grt_nv_count - the counts so far */
struct grt_nv_count grt_nv_count(const struct grt_nv *d);

/** grt_nv_free - frees it; NULL is allowed */
void grt_nv_free(struct grt_nv *d);

#endif /* GRT_NVIDIA_DECODE_H */
