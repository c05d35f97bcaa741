/* SPDX-License-Identifier: GPL-2.0 */
/* The options of `grtrace record`: their values, and the questions that its files ask about them. */
#ifndef GRTRACE_RECORD_OPTIONS_H
#define GRTRACE_RECORD_OPTIONS_H

#include <stdbool.h>

#include "cmds/cmd.h"
#include "host/known_gpus.h"
#include "host/option.h"
#include "sources/duty.h"

/* ----------------------------------------------------------------- files */

/*
 * The files that `record` makes from a recording of CUDA when it has ended: the same as `export` and `flame`
 * would make, in one go, with a summary.
 */

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

/* --------------------------------------------------------------- options */

/* The default of --output. */
#define RECORD_OUTPUT "grtrace.out.grt"

/* Smallest default size of a segment. */
#define RECORD_SEGMENT_MIN (1ULL << 20)

/** struct record_options - the values as given on the command line */
struct record_options {
	const char *output;
	const char *raw;
	const char *user;
	bool no_command;
	const char *sources;
	const char *driver;
	double seconds;
	uint64_t pid;
	uint64_t buffer;
	bool verbose;
	bool json;
	const char *comm;
	const char *ring;
	const char *device;
	const char *type_names;
	struct grt_type_set types;
	struct known_gpu gpu;
	const char *duty_text;
	struct grt_duty duty;
	const char *stack;
	bool kernel_stack;
	bool no_symbols;
	uint64_t max_size;
	double max_time;
	uint64_t segment;
	bool compress;
	double last;
	uint64_t last_size;
	double after;
	double pause;
	const char *on;
	struct record_files files;
};

extern struct record_options record_opt;
extern const struct cmd_opt record_options[];

/**
 * record_options_check - whether the values fit together, and to a program to run. Return: an exit status
 */
int record_options_check(char **argv);

/** record_options_check_duty - reads the value of --duty. Return: an exit status */
int record_options_check_duty(void);

/** record_output_path - the directory of the recording */
const char *record_output_path(void);

/** record_in_segments - whether the recording consists of segments */
bool record_in_segments(void);

/** record_wants_stack - whether BPF takes the stack of the CPU at each submit */
bool record_wants_stack(void);

#endif /* GRTRACE_RECORD_OPTIONS_H */
