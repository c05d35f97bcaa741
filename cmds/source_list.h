/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sources of `record` as rows: what each one records, whether it works here, and what is missing. `record
 * -e list` and `doctor` show them.
 */
#ifndef GRTRACE_SOURCE_LIST_H
#define GRTRACE_SOURCE_LIST_H

#include "cmds/doctor/probes.h"
#include "sources/source.h"
#include "table/table.h"

/**
 * struct source_answer - a source, and whether it works on this system
 * @code: the result of its probe
 * @r: its detail is the reason why the source does not work, "" if it works
 */
struct source_answer {
	const struct source *source;
	const char *help;
	int code;
	struct probe_result r;
};

/** source_answer - probes the n-th source, without changing the system */
void source_answer(struct source_answer *a, size_t n);

/** source_list_look - applies the path prefix of tests to the module's directory, too */
void source_list_look(void);

/** source_list - prints all sources. Return: exit status */
int source_list(bool json);

extern const struct cmd_json source_list_json;

#endif /* GRTRACE_SOURCE_LIST_H */
