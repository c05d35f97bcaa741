/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files that `record` makes from a recording of CUDA when it has ended: the same as `export` and `flame`
 * would make, in one go, with a summary.
 */
#ifndef GRTRACE_RECORD_FILES_H
#define GRTRACE_RECORD_FILES_H

#include "cmds/cmd.h"

/**
 * struct record_files - paths of the files; NULL: not requested
 * @chrome: timeline, as `export -f chrome`
 * @cpu_folded: CPU stacks of launches, as `export -f extended-folded`
 * @cupti_text: launches and the GPU's work, as `export -f cupti-text`
 * @folded: GPU time by CPU stack in us; the rest of each stack below 1 us is added to the next one, so that
 *	the sum is exact
 */
struct record_files {
	const char *chrome;
	const char *cpu_folded;
	const char *cupti_text;
	const char *folded;
};

/** record_files_any - whether a file is requested */
static inline bool record_files_any(const struct record_files *f)
{
	return f->chrome || f->cpu_folded || f->cupti_text || f->folded;
}

/** record_files_write - makes them from the recording at @path. Return: an exit status, after a message */
int record_files_write(const struct record_files *f, const char *path);

#endif /* GRTRACE_RECORD_FILES_H */
