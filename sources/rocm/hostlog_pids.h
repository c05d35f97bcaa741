/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which processes of the host those of a container are: its log names them by
 * their numbers in it.
 */
#ifndef GRTRACE_HOSTLOG_PIDS_H
#define GRTRACE_HOSTLOG_PIDS_H

#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>

/* Processes that are kept. */
#define HOSTLOG_PIDS_MAX 256U

/* The privileges that hostlog_pids_see() needs for other users' processes. */
#define HOSTLOG_PIDS_KEEP (1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH)

/** struct hostlog_pid - a process. @outside: 0: it was not found; @tries: how often it was looked for */
struct hostlog_pid {
	uint32_t inside;
	uint32_t outside;
	unsigned int tries;
};

/**
 * struct hostlog_pids - set up by hostlog_pids_init()
 * @mark: a variable of the environment, NAME=VALUE, that only the program and its children have
 */
struct hostlog_pids {
	const char *mark;
	struct hostlog_pid of[HOSTLOG_PIDS_MAX];
	unsigned int n;
};

/** hostlog_pids_init - none is known yet; @mark outlives it */
void hostlog_pids_init(struct hostlog_pids *p, const char *mark);

/**
 * hostlog_pids_see - the log names this process now: it is looked for among
 * those that run, by the mark and the last number of NSpid in
 * /proc/PID/status (Documentation/filesystems/proc.rst)
 */
void hostlog_pids_see(struct hostlog_pids *p, uint32_t inside);

/** hostlog_pids_outside - its number here. Return: 0: it was not found */
uint32_t hostlog_pids_outside(const struct hostlog_pids *p, uint32_t inside);

/** hostlog_pids_text - writes all of them: "13=4711,14=?", with ? if one was not found; cut to @room */
void hostlog_pids_text(const struct hostlog_pids *p, char *text, size_t room);

#endif /* GRTRACE_HOSTLOG_PIDS_H */
