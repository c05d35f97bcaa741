/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared data of the files of `grtrace doctor`: findings, which come from sources, probes or a trace, and
 * their two forms, text and JSON.
 */
#ifndef GRTRACE_DOCTOR_H
#define GRTRACE_DOCTOR_H

#include "probes.h"
#include "cmds/cmd.h"

/**
 * struct finding - a line of the doctor
 * @name: name of the source, of the probe, or of the cause
 */
struct finding {
	const char *name;
	struct probe_result r;
};

/* More than the number of reasons why a trace can be empty. */
#define FINDINGS_MAX 64

/**
 * struct diagnosis - what the doctor found out about a trace
 * @input: its name; NULL: there is no trace
 * @list: @n findings
 */
struct diagnosis {
	const char *input;
	struct finding list[FINDINGS_MAX];
	int n;
};

/** doctor_live - examines the loaded module; ->input stays NULL if it is not loaded */
void doctor_live(struct diagnosis *d);

/**
 * doctor_recording - looks at a recording or raw file
 * Return: 0, or a negative errno with *@err set; faults of the file are findings
 */
int doctor_recording(struct diagnosis *d, const char *path, struct grt_err *err);

/**
 * doctor_print - prints sources, features and the trace as text
 * @source: only this source and what it needs; NULL: all
 * @trace: NULL: there is none
 */
void doctor_print(FILE *f, bool colour, const char *source, const struct diagnosis *trace);

/** doctor_bug_report - writes everything that a bug report needs into a file. Return: an exit status */
int doctor_bug_report(const char *path, const struct diagnosis *trace);

#endif /* GRTRACE_DOCTOR_H */
