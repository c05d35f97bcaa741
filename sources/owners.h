/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The owners of processes that use a GPU. When a source sees such a process for the first time, an OWNER
 * record is written with the process's data in /proc at that moment, and an OWNER_RANK record if its
 * environment can be read and has a rank. A process that has already ended has no such record.
 */
#ifndef GRTRACE_OWNERS_H
#define GRTRACE_OWNERS_H

#include "trace/packer.h"

/*
 * Most processes known at a time; if a process was replaced and is seen again, its record is written again.
 */
#define OWNERS_MAX 1024U

/**
 * struct owners - all bytes zero: empty
 * @met: processes by pid modulo OWNERS_MAX; @comm: empty: unknown so far
 */
struct owners {
	struct {
		uint32_t pid;
		char comm[16];
	} met[OWNERS_MAX];
};

/** owners_name - sets the name of a process; if the name has changed, the pid counts as a new process */
void owners_name(struct owners *o, uint32_t pid, const char *comm);

/** owners_lacks_name - whether a process was seen and its name is still unknown */
static inline bool owners_lacks_name(const struct owners *o, uint32_t pid)
{
	return pid && o->met[pid % OWNERS_MAX].pid == pid && !o->met[pid % OWNERS_MAX].comm[0];
}

/**
 * owners_add - a process uses a GPU at @time, in the stream of @cpu
 * Return: 0 or -ENOMEM
 */
int owners_add(struct owners *o, struct grt_packer *p, unsigned int cpu, uint64_t time, uint32_t pid);

/**
 * owners_cgroup - the path of a process's control group, or the end of a path that is too long; "": unknown
 */
void owners_cgroup(uint32_t pid, char *out, size_t room);

#endif /* GRTRACE_OWNERS_H */
