/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace record`, shared by its files: record.c goes through its steps, record_options.c has the
 * command line, record_choice.c the sources that it names, record_inputs.c opens and ends them,
 * record_metadata.c describes the recording, record_move.c moves packets, record_parts.c ends segments and
 * snapshots, record_program.c is about the program that is run, record_summary.c prints.
 */
#ifndef GRTRACE_RECORD_H
#define GRTRACE_RECORD_H

#include "sources/source.h"
#include "trace/cut.h"
#include "child.h"
#include "machine.h"
#include "record_box.h"
#include "record_threads.h"
#include "recording.h"

/*
 * Bytes that are moved at once. More gain nothing and do not fit into the second-level cache; a larger
 * packet is moved in parts.
 */
#define RECORD_CHUNK ((size_t)1 << 20)

/* How often the loop checks the clock and signals, ms; and while frames are being named. */
#define RECORD_TICK_MS 200
#define RECORD_NAMING_MS 5

/* How long a part that is being closed waits for the names of its frames. */
#define RECORD_NAMING_NS NS_PER_S

/**
 * struct input - a source that takes part
 * @first, @streams: its streams; @left of them have not ended
 * @first_place, @places: the files of its packets
 * @cut: cuts its packets to the recording's window
 * @ended: when its last stream ended, if that was before the recording's end; 0: it was not
 * @key, @window: for the metadata
 */
struct input {
	const struct source *source;
	void *state;
	unsigned int first;
	unsigned int streams;
	unsigned int left;
	unsigned int first_place;
	unsigned int places;
	struct grt_cut cut;
	uint64_t ended;
	char key[32];
	char window[GRT_WINDOW_TEXT];
};

/**
 * struct run - one recording while it is made
 * @inputs: @n_inputs sources
 * @fds: descriptors of all streams, then pidfds of the child and of -p
 * @streams: number of streams; @left of them have not ended
 * @cut: for each of @places, the files of packets
 * @buffer: CHUNK bytes
 * @segments: the segments of @rec, if it is bounded
 * @box: the black box, if there is one; @threads: threads of the process of an incident
 * @target: pidfd of the process of --pid
 * @asked: when PROG was last asked to end
 * @gave_up: PROG was asked twice
 * @begun, @shown: when capture began, and when the progress line was last printed
 * @end: the moment at which all sources end, 0: not yet known
 * @duty: text of --duty
 * @told_begin: the metadata says when capture began
 * @naming: since when a part of it waits for the names of its frames, ns; 0: none does
 * @program: PROG is given
 * @status: exit status so far; once PROG runs, a failure no longer ends the recording
 */
struct run {
	struct input inputs[SOURCES];
	unsigned int n_inputs;
	struct pollfd *fds;
	unsigned int streams;
	unsigned int left;
	unsigned int places;
	struct grt_cut_stream *cut;
	char *buffer;
	struct recording rec;
	struct segments segments;
	struct box box;
	struct record_threads threads;
	struct child child;
	int target;
	uint64_t asked;
	bool gave_up;
	uint64_t begun;
	uint64_t shown;
	uint64_t end;
	char duty[256];
	bool told_begin;
	uint64_t naming;
	bool program;
	int status;
	char *command;
	struct machine machine;
};

/**
 * record_note - prints a message for the user; record_note_error - prints an error that does not end the
 * recording
 */
void record_note(const char *text);
void record_note_error(const struct grt_err *err);

/* record_inputs.c */

/** record_inputs_open - opens all chosen sources. Return: an exit status */
int record_inputs_open(struct run *run);

/** record_inputs_make_tables - makes the tables of their streams and files. Return: an exit status */
int record_inputs_make_tables(struct run *run);
void record_inputs_free_tables(struct run *run);

/**
 * record_inputs_program_stderr - the file for the program's standard error, which a source reads; -1: none
 * does
 */
int record_inputs_program_stderr(const struct run *run);

/**
 * record_inputs_start - begins capture; record_inputs_begin - call this once all capture runs: from now on,
 * all sources record everything
 */
int record_inputs_start(struct run *run, struct grt_err *err);
void record_inputs_begin(struct run *run);

/** record_inputs_confine - drops the privileges that running sources do not need */
void record_inputs_confine(struct run *run);

/** record_inputs_end - tells all sources the moment at which they end, and waits for it */
void record_inputs_end(struct run *run);

/** record_inputs_adopt - adds the files that programs have written into the directory */
void record_inputs_adopt(struct run *run);

/**
 * record_inputs_check_missed - compares the events in the recording with the counts of its sources
 * @tell: no other error has been reported
 */
void record_inputs_check_missed(struct run *run, bool tell);

/**
 * record_inputs_have_addresses - whether frames in the recording are addresses: those of CUDA's stacks, and
 * of uprobes
 */
bool record_inputs_have_addresses(const struct run *run);

/** record_inputs_close - restores everything that the sources have changed. Return: an exit status */
int record_inputs_close(struct run *run);

/* record_metadata.c: each function returns 0 or -errno */

/**
 * record_write_metadata - writes the metadata of the whole recording; @state: recording, complete or failed
 */
int record_write_metadata(struct run *run, const char *state, struct grt_err *err);

/**
 * record_segment_metadata, record_snapshot_metadata - write the metadata of a part in the directory @dir;
 * @arg: the run
 */
int record_segment_metadata(void *arg, int dir, uint64_t from, uint64_t to, struct grt_err *err);
int record_snapshot_metadata(void *arg, int dir, uint64_t from, uint64_t to, struct grt_err *err);

/** record_segments_changed - writes the metadata again after segments were added or deleted */
int record_segments_changed(void *arg, struct grt_err *err);

/* record_move.c, record_parts.c: each function returns 0 or -errno */

/** record_move_ready - moves packets of the streams that poll() has reported */
int record_move_ready(struct run *run, struct grt_err *err);

/**
 * record_move_all - moves everything that was captured so far. Return: up to which time, ns; or 0 with *code
 * set
 */
uint64_t record_move_all(struct run *run, int *code, struct grt_err *err);

/**
 * record_move_rest - stops the sources and moves what they still have
 * @ret: result of the loop. After an error, the sources are stopped as well, because they would otherwise
 *	run as long as the program, but nothing more is moved
 */
int record_move_rest(struct run *run, int ret, struct grt_err *err);

/**
 * record_parts_check_segments - closes full segments with everything that belongs to them, and deletes old
 * ones
 */
int record_parts_check_segments(struct run *run, uint64_t now, struct grt_err *err);

/** record_parts_check_box - begins and ends snapshots */
int record_parts_check_box(struct run *run, uint64_t now, struct grt_err *err);

/** record_parts_end_box - call this after the sources have ended: an incident may be the program's own end */
int record_parts_end_box(struct run *run, struct grt_err *err);

/* record_program.c */

/** record_program_user - sets the user as whom the program runs. Return: an exit status */
int record_program_user(const char *name, const char *prog);

/**
 * record_program_run - runs the program, unless a signal came during set-up, which applies to the program,
 * too. Return: as child_run()
 */
int record_program_run(struct run *run, char **argv);

/**
 * record_program_may_end - asks the program to end after a signal, later kills it, then gives up. Return:
 * whether to wait for it
 */
bool record_program_may_end(struct run *run, uint64_t now);

/** record_program_status - waits for the program's end. Return: the exit status of record */
int record_program_status(struct run *run, char **argv);

/* record_summary.c */

/**
 * record_summary_progress - prints a line once a second on a terminal; record_summary_print - prints the
 * summary at the end
 */
void record_summary_progress(struct run *run, uint64_t now);
void record_summary_print(const struct run *run);

#endif /* GRTRACE_RECORD_H */
