/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which processes of a container are which processes of the host: a container's log has their numbers in the
 * container.
 */
#ifndef GRTRACE_HOSTLOG_PIDS_H
#define GRTRACE_HOSTLOG_PIDS_H

#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>

/* Most processes. */
#define HOSTLOG_PIDS_MAX 256U

/* The privileges that hostlog_pids_see() needs for other users' processes. */
#define HOSTLOG_PIDS_KEEP (1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH)

/**
 * struct hostlog_pid - a process
 * @outside: its number on the host; 0: it was not found
 * @tries: how many times it was looked for
 */
struct hostlog_pid {
	uint32_t inside;
	uint32_t outside;
	unsigned int tries;
};

/**
 * struct hostlog_pids - initialised by hostlog_pids_init()
 * @mark: a variable, NAME=VALUE, that only the environment of the program and its children contains
 */
struct hostlog_pids {
	const char *mark;
	struct hostlog_pid of[HOSTLOG_PIDS_MAX];
	unsigned int n;
};

/** hostlog_pids_init - initialises it without processes; @mark must stay valid */
void hostlog_pids_init(struct hostlog_pids *p, const char *mark);

/**
 * hostlog_pids_see - the log names this process now: looks for a running process with the mark and this last
 * number of NSpid in /proc/PID/status (Documentation/filesystems/proc.rst)
 */
void hostlog_pids_see(struct hostlog_pids *p, uint32_t inside);

/** hostlog_pids_outside - its number on the host. Return: 0: it was not found */
uint32_t hostlog_pids_outside(const struct hostlog_pids *p, uint32_t inside);

/**
 * hostlog_pids_text - writes all of them as text: "13=4711,14=?", with ? for a process that was not found;
 * at most @room bytes
 */
void hostlog_pids_text(const struct hostlog_pids *p, char *text, size_t room);

#endif /* GRTRACE_HOSTLOG_PIDS_H */
