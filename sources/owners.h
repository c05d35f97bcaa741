/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose the processes are that use a GPU: a source that meets one has an OWNER record
 * written of it, once, with what /proc says of it at that moment, and an OWNER_RANK record
 * where its environment may be read and has a rank. Of a process that has ended by then
 * there is none.
 */
#ifndef GRTRACE_OWNERS_H
#define GRTRACE_OWNERS_H

#include "trace/packer.h"

/* Processes that are known at a time; of one that has given way a record is written again. */
#define OWNERS_MAX 1024U

/** struct owners - all zero: none was met; @met: by the number modulo OWNERS_MAX; @comm: empty: unknown so
 * far */
struct owners {
	struct {
		uint32_t pid;
		char comm[16];
	} met[OWNERS_MAX];
};

/** owners_name - what a process is called: where that is something else now, the number is met anew */
void owners_name(struct owners *o, uint32_t pid, const char *comm);

/**
 * owners_meet - a process has to do with a GPU at @time, in the stream of @cpu
 * Return: 0 or -ENOMEM
 */
int owners_meet(struct owners *o, struct grt_packer *p, unsigned int cpu, uint64_t time, uint32_t pid);

/** owners_cgroup - the path of a process's control group, or the end of a longer one; "": unknown */
void owners_cgroup(uint32_t pid, char *out, size_t room);

#endif /* GRTRACE_OWNERS_H */
