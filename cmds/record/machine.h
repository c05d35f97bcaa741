/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every recording has about the machine, its clocks and its GPUs, and what a part of a recording leaves
 * out.
 */
#ifndef GRTRACE_RECORD_MACHINE_H
#define GRTRACE_RECORD_MACHINE_H

#include <sys/utsname.h>

#include <grtrace/grtrace.h>

/**
 * struct machine - values of metadata, which point into this struct
 * @clock_start, @clock_end: the clocks at the begin and the end; "": it has not ended
 * @boot_id: id of the system's boot, to which CLOCK_MONOTONIC belongs; "": unknown
 * @realtime_offset: CLOCK_REALTIME - CLOCK_MONOTONIC at the begin, ns
 */
struct machine {
	struct utsname uname;
	char boot_id[40];
	char gpus[4096];
	char clock_start[128];
	char clock_end[128];
	int64_t realtime_offset;
};

/** machine_begin - reads the clocks at the begin of a recording */
void machine_begin(struct machine *m);

/** machine_end - reads them at its end */
void machine_end(struct machine *m);

/**
 * machine_describe - describes the machine, which may have got another GPU since
 * @state: of the recording; @command: the command line; NULL: it is left out
 * Return: number of entries written
 */
int machine_describe(struct machine *m, const char *state, const char *command, struct grt_env *env);

/**
 * machine_command - our command line as the kernel has it. Return: a text, which the caller frees; NULL: no
 * memory
 */
char *machine_command(void);

/**
 * machine_leave_out_counts - removes the counts of sources, which apply to a whole recording, from @n
 * entries. Return: number of entries left
 */
int machine_leave_out_counts(struct grt_env *env, int n);

#endif /* GRTRACE_RECORD_MACHINE_H */
