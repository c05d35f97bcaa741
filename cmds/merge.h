/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace merge`, shared by its files: merge.c takes the command
 * line and drives the merge and prints the contents of the inputs.
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

extern const struct cmd_json merge_json;

#endif /* GRTRACE_MERGE_H */
