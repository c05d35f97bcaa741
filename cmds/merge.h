/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace merge`, shared by its files: merge.c takes the command
 * line and drives the merge, merge_stats.c prints the contents of the inputs.
 */
#ifndef GRTRACE_MERGE_H
#define GRTRACE_MERGE_H

#include "cmd.h"
#include "base/escape.h"
#include "merge/offset.h"
#include "outfile.h"
#include "merge/merged.h"

#define MERGE_INPUTS 16

/**
 * struct merging - one run
 * @path: the path of each input, as typed
 * @offset: added to the time stamps of the GPU's input; @estimated: the whole estimate
 * @from, @to: only events between these times
 */
struct merging {
	struct grt_merge *merge;
	const char *path[MERGE_INPUTS];
	struct grt_merged out;
	struct outfile file;
	struct grt_offset_result offset;
	bool estimated;
	uint64_t from;
	uint64_t to;
};

/** merge_stats - prints the number of events by input and type. Return: 0 or -ENOMEM */
int merge_stats(struct merging *run, bool json, bool wide);

/** merge_print_input - prints the faults of an input to standard error; @verbose: also what was read */
void merge_print_input(struct merging *run, unsigned int input, bool verbose);

/** merge_has_faults - whether an input is damaged; prints a message if it is */
bool merge_has_faults(struct merging *run, unsigned int input);

extern const struct cmd_json merge_json;

#endif /* GRTRACE_MERGE_H */
