/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace monitor`, shared by its files: monitor.c takes the
 * command line and hands events to the analyses, monitor_line.c prints a line
 * per event, monitor_stats.c what is known at the end, of which
 * monitor_jobs.c, monitor_memory.c, monitor_calls.c and monitor_nvidia.c are
 * the parts.
 */
#ifndef GRTRACE_MONITOR_H
#define GRTRACE_MONITOR_H

#include "drm/calls.h"
#include "table/counts.h"
#include "jobs/deps.h"
#include "jobs/jobs.h"
#include "drm/memory.h"
#include "jobs/phases.h"
#include "base/tally.h"
#include "drm/vblank.h"
#include "nvidia/xid.h"
#include "codes/nv_codes.h"
#include "reading.h"

/* Jobs whose t_sched is longer are counted, ns. */
#define MONITOR_SLOW_NS 100000

/** enum monitor_show - statistics; the SHOWS of monitors.def */
enum monitor_show {
	MONITOR_JOBS = 1 << 0,	    /* jobs, waits and dependencies by ring, their latencies */
	MONITOR_SUBMITS = 1 << 1,   /* amdgpu: slow submits, IBs per submit */
	MONITOR_COMMANDS = 1 << 2,  /* virtio: commands and errors by number */
	MONITOR_PLACEMENT = 1 << 3, /* amdgpu: what was asked for and what was given */
	MONITOR_MOVES = 1 << 4,	    /* amdgpu: moves by direction */
	MONITOR_LIVE = 1 << 5,	    /* live objects over time and by process */
	MONITOR_BINDS = 1 << 6,
	MONITOR_SHRINKS = 1 << 7,
	MONITOR_FAULTS = 1 << 8,
	MONITOR_IRQS = 1 << 9,
	MONITOR_FRAMES = 1 << 10,
	MONITOR_CALLS = 1 << 11,
	MONITOR_XIDS = 1 << 12,
	MONITOR_FUNCTIONS = 1 << 13,
};

/** enum monitor_layout - columns of a line */
enum monitor_layout {
	MONITOR_LAYOUT_JOBS,
	MONITOR_LAYOUT_CALLS,
	MONITOR_LAYOUT_FRAMES,
	MONITOR_LAYOUTS,
};

/** struct monitor_row - a row of monitors.def */
struct monitor_row {
	const char *name;
	enum monitor_layout layout;
	const char *sources;
	const char *driver;
	unsigned int shows;
	const char *limit;
	const char *help;
};

/**
 * struct monitor_did - what the analyses say of the event at hand
 * @ended: waits for a fence that ended with it
 * @call: of the ioctl that it ends
 */
struct monitor_did {
	int ended;
	struct grt_call_end call;
};

/* Probed functions that are told apart. */
#define MONITOR_FUNCTIONS_MAX 64

/** struct monitor_func - a probed function; @failed: it returned a negative number */
struct monitor_func {
	char name[49];
	uint64_t count;
	uint64_t failed;
	uint64_t ns;
	struct grt_hist took;
};

/**
 * struct monitor - one run
 * @c: what the session drives
 * @input: its name for people
 * @pid, @driver: only events of these; 0 and NULL: of all
 * @sure: @driver was asked for: a ring of unknown driver is not its
 * @left_out: events of others
 * @sample: every Nth ioctl is printed, 0: none
 * @ioctls: met so far
 * @classes: bit per class of events that are taken in, see monitor.c
 * @function: of which there are @functions; @functions_over: calls of further ones
 * @seen: events taken in, by type; all types together in [0]
 * @again: the present event is a COMPLETE of a job that was complete; @completed_again: how many were
 * @inferred: jobs whose START was concluded
 * @first, @last: stamps of the recording's first and last event, of whatever kind and process (live:
 * begin and end of the run), ns; valid with @known
 * @ibs, @commands, @answers: amdgpu's IBs per submit; a virtio GPU's command and error numbers
 * @nv_calls, @nv_refused: ioctls of NVIDIA's driver by (device file's kind, cmd, about), and of these the
 * refused
 * @irqs: by (source, hw_ring << 16 | vmid, pasid)
 * @header: the line above the first one was printed
 * @write_error: errno of a failed write, 0: none
 */
struct monitor {
	struct grt_consumer c;
	const struct monitor_row *row;
	const char *input;
	uint32_t pid;
	const char *driver;
	bool sure;
	uint64_t left_out;
	uint64_t sample;
	uint64_t ioctls;
	bool json;
	bool quiet;
	bool live;
	uint32_t classes;
	struct grt_session *session;
	struct grt_names names;
	struct grt_counts *counts;
	struct grt_jobs *jobs;
	bool again;
	uint64_t completed_again;
	struct grt_phases *phases;
	struct grt_deps *deps;
	struct grt_memory *memory;
	struct grt_vblank *vblank;
	struct grt_calls *calls;
	struct grt_xids xids;
	struct grt_tally ibs;
	struct grt_tally commands;
	struct grt_tally answers;
	struct grt_tally irqs;
	struct grt_tally nv_calls;
	struct grt_tally nv_refused;
	struct monitor_func function[MONITOR_FUNCTIONS_MAX];
	unsigned int functions;
	uint64_t functions_over;
	uint64_t seen[GRT_EV_MAX];
	uint64_t inferred;
	uint64_t first;
	uint64_t last;
	bool known;
	bool header;
	int write_error;
	struct grt_writer *writer;
	struct grt_notes notes;
};

/* Ends the run: nobody reads the lines. Not 1, which has a meaning in a live one. */
#define MONITOR_STOP 2

/** monitor_line - prints the line of an event. Return: 0, or MONITOR_STOP */
int monitor_line(struct monitor *m, const struct grt_event *e, uint32_t cpu, const struct monitor_did *did);

/** monitor_stats - prints the statistics. Return: 0 or -ENOMEM */
int monitor_stats(struct monitor *m);

/** monitor_unread - events that a live packet's balance counts but that came after the end */
uint64_t monitor_unread(const struct monitor *m);

/* What the parts of the statistics share. */

#define MONITOR_CELLS 24

/**
 * struct monitor_cells - a row whose cells were put together one by one; the
 * column with argument n shows the n-th
 */
struct monitor_cells {
	struct grt_cell cell[MONITOR_CELLS];
	unsigned int n;
};

/** monitor_get - struct grt_column.get for rows that are a struct monitor_cells */
void monitor_get(struct grt_cell *cell, const void *view, const void *row, int arg);

/** monitor_number, monitor_text, monitor_absent - append a cell; an absent text is NULL */
void monitor_number(struct monitor_cells *c, uint64_t number);
void monitor_text(struct monitor_cells *c, const char *text);
void monitor_absent(struct monitor_cells *c);

/** monitor_ring, monitor_device - append a number with its name */
void monitor_ring(const struct monitor *m, struct monitor_cells *c, uint32_t ring);
void monitor_device(const struct monitor *m, struct monitor_cells *c, uint32_t device);

/** monitor_hist_cell - appends a percentile, 1000: the largest value */
void monitor_hist_cell(struct monitor_cells *c, const struct grt_hist *h, unsigned int permille);

/**
 * monitor_tally - writes a tally as a table, the most frequent rows first
 * @what: what was counted, for the note where some are in no row
 * @write: writes a row, by grt_writer_row(); @arg is handed to it
 * Return: 0 or -ENOMEM
 */
int monitor_tally(struct monitor *m, const struct grt_table *table, const struct grt_tally *t,
		  const char *what,
		  int (*write)(struct monitor *m, const struct grt_tally_row *row, const void *arg),
		  const void *arg);

/** monitor_process - a thread's process's comm, or its own where that is not known; NULL: neither is */
const char *monitor_process(const struct monitor *m, uint32_t tid);

/** monitor_rate - @amount per second of the run, in thousandths. Return: whether it is known */
bool monitor_rate(const struct monitor *m, uint64_t amount, uint64_t *milli);

/** monitor_decimal - thousandths as text with @digits behind the point (0..3) */
void monitor_decimal(char text[32], uint64_t milli, unsigned int digits);

/** enum monitor_of - what histograms belong to */
enum monitor_of {
	MONITOR_OF_RING,
	MONITOR_OF_CRTC,
	MONITOR_OF_ALL,
};

/**
 * struct monitor_hist - a histogram to be shown
 * @owner: ring id or CRTC
 * @what: of what
 */
struct monitor_hist {
	uint32_t owner;
	const char *what;
	const struct grt_hist *h;
};

/** monitor_latencies - percentiles and buckets of times. Return: 0 or -ENOMEM */
int monitor_latencies(struct monitor *m, const char *name, const char *title, enum monitor_of of,
		      const struct monitor_hist *row, unsigned int n);

/** monitor_sizes - the same of sizes in bytes. Return: 0 or -ENOMEM */
int monitor_sizes(struct monitor *m, const char *name, const char *title, const struct monitor_hist *row,
		  unsigned int n);

/* The parts: each writes its tables. Return: 0 or -ENOMEM */
int monitor_jobs(struct monitor *m);
int monitor_submits(struct monitor *m);
int monitor_commands(struct monitor *m);
int monitor_placement(struct monitor *m);
int monitor_moves(struct monitor *m);
int monitor_live(struct monitor *m);
int monitor_binds(struct monitor *m);
int monitor_shrinks(struct monitor *m);
int monitor_faults(struct monitor *m);
int monitor_irqs(struct monitor *m);
int monitor_frames(struct monitor *m);
int monitor_calls(struct monitor *m);
int monitor_nvidia(struct monitor *m);
int monitor_functions(struct monitor *m);
int monitor_xids(struct monitor *m);

/** monitor_function - counts a call of a probed function. Return: 0 or -ENOMEM */
int monitor_function(struct monitor *m, const struct grt_ev_func *e);

/** monitor_functions_free - forgets them */
void monitor_functions_free(struct monitor *m);

/** monitor_nv_call - counts an ioctl that ended, if it is one of NVIDIA's driver. Return: 0 or -ENOMEM */
int monitor_nv_call(struct monitor *m, const struct grt_event *e, const struct grt_call_end *end);

/** monitor_nv_name - of the class or control that an ioctl was about, NULL where it has none */
const char *monitor_nv_name(enum grt_nv_about kind, uint32_t about);

#endif /* GRTRACE_MONITOR_H */
