/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace top`, shared by its files: top.c takes the command line and drives the sources or a
 * recording, top_figures.c makes GPUs, engines and processes of what the analyses of the library know of a
 * stretch of time, top_tables.c has their columns, top_screen.c shows them on a terminal.
 */
#ifndef GRTRACE_TOP_H
#define GRTRACE_TOP_H

#include "base/clock.h"
#include "base/texts.h"
#include "drm/counters.h"
#include "drm/display_frames.h"
#include "idle/gpu_processes.h"
#include "jobs/groups.h"
#include "jobs/jobs.h"
#include "nvidia/xid.h"
#include "stack/frames.h"
#include "table/notes.h"
#include "top_last.h"

/* Ends the run. Not 1, which has a meaning in a live one. */
#define TOP_STOP 2
/* Updates that are remembered: a minute of the default interval. */
#define TOP_HISTORY 60
#define TOP_GPUS_MAX 64U
#define TOP_ROOM 2048U

/** enum top_value - counters of a GPU that have a column */
enum top_value {
	TOP_CLOCK,
	TOP_POWER,
	TOP_TEMPERATURE,
	TOP_MEMORY,
	TOP_USE,
	TOP_VALUES,
};

/**
 * struct top_figure - a value
 * @known: there is one
 * @inferred, @least: see struct grt_cell
 */
struct top_figure {
	uint64_t value;
	bool known;
	bool inferred;
	bool least;
};

/**
 * struct top_gpu - a GPU, from its first event on
 * @device: its number, major << 20 | minor, 0: unknown
 * @text: number of its name in struct top.texts
 * @busy: thousandths of a percent; @source: enum top_source
 * @engine: number of the engine in struct top.engine that @busy is of, UINT32_MAX: it is of the whole GPU
 * @value: of its counters, by enum top_value, in thousandths of their units
 * @jobs: that ended, slices or kernels; @counted: enum top_source of these
 * @throttle: reasons why it is slowed down, "none"; "": unknown
 * @xids: since the run began
 * @history: of @busy in percent, the newest one at @updates - 1 modulo TOP_HISTORY; 255: it was not known
 */
struct top_gpu {
	uint32_t device;
	uint32_t text;
	uint32_t engine;
	uint8_t source;
	uint8_t counted;
	struct top_figure busy;
	struct top_figure value[TOP_VALUES];
	struct top_figure jobs;
	char throttle[80];
	uint64_t xids;
	uint8_t history[TOP_HISTORY];
	uint64_t updates;
};

/** enum top_source - how a busy time is known: that of processes, or the counter of the whole GPU */
enum top_source {
	TOP_SLICES = GRT_GPU_SLICES,
	TOP_JOBS = GRT_GPU_JOBS,
	TOP_COUNTERS = GRT_GPU_COUNTERS,
	TOP_KERNELS, /* and copies, of CUDA */
	TOP_SOURCES,
};

/**
 * struct top_engine - a ring, an engine, a stream, or a GPU whose slices or kernels are known
 * @gpu: number in struct top.gpus
 * @stream, @name: of the stream, where it is @part of what another row has of the whole GPU
 */
struct top_engine {
	struct grt_gpu_place at;
	uint32_t gpu;
	uint32_t stream;
	char name[24];
	bool part;
	struct top_figure busy;
	struct top_figure jobs;
	struct top_figure queue;
};

/**
 * struct top_process - a process on a GPU
 * @name: number of its name, of jobs; 0: look for it by @pid
 * @share: of the engine that it had most of, thousandths of a percent
 * @engine: number of that one, UINT32_MAX: it is of the whole GPU; valid with @share
 * @counted: enum top_source that its jobs are of
 * @queue: 99th percentile of t_queue of its jobs, ns
 * @wait, @runnable: time of its threads, thousandths of a percent: waiting for jobs, and for a CPU
 * @frames, @late: that it showed, and how many of these were late
 */
struct top_process {
	uint32_t gpu;
	uint32_t pid;
	uint32_t name;
	uint32_t engine;
	uint8_t source;
	uint8_t counted;
	struct top_figure share;
	struct top_figure jobs;
	struct top_figure queue;
	struct top_figure memory;
	struct top_figure wait;
	struct top_figure runnable;
	struct top_figure frames;
	struct top_figure late;
};

/**
 * struct top_share - a process on a ring, engine or GPU
 * @engine: number in struct top.engine
 * @middle, @most: median and 99th percentile of its jobs' or slices' lengths, ns
 */
struct top_share {
	uint32_t engine;
	uint32_t pid;
	uint32_t name;
	struct top_figure share;
	struct top_figure jobs;
	struct top_figure middle;
	struct top_figure most;
};

/** struct top_stack - jobs of a process on a ring that ended, by the stack that submitted them, 0: none;
 * @time: that they ran, ns */
struct top_stack {
	uint32_t pid;
	uint32_t name;
	uint32_t ring;
	uint32_t stack;
	uint64_t jobs;
	struct top_figure time;
};

/**
 * struct top_stacks - all of them; @rows are of this update, @shown of the one before
 * @owners: stacks of jobs in flight
 * @any: there are stacks
 * @over: jobs in no row
 */
struct top_stacks {
	struct grt_frames frames;
	struct grt_keyed owners;
	struct grt_keyed rows;
	struct grt_keyed shown;
	bool any;
	uint64_t over;
};

/** top_stacks_init - none. Return: 0 or -ENOMEM */
int top_stacks_init(struct top_stacks *s);

/** top_stacks_event - takes in an event of the class stack. Return: 0 or -ENOMEM */
int top_stacks_event(struct top_stacks *s, const struct grt_event *e);

/** top_stacks_job - takes in a job that ended. Return: 0 or -ENOMEM */
int top_stacks_job(struct top_stacks *s, const struct grt_job *job);

/** top_stacks_next - the next update begins; what was is shown */
void top_stacks_next(struct top_stacks *s);

/** top_stacks_text - functions, the innermost first; untrusted. Return: @text, or NULL: there are none */
const char *top_stacks_text(const struct top_stacks *s, uint32_t stack, char *text, size_t room);

/** top_stacks_free - frees it */
void top_stacks_free(struct top_stacks *s);

/**
 * struct top_wait - of a process in an update
 * @gpu: time that its threads waited for fences of jobs, ns
 * @runnable: thousandths of a percent
 * @shows: it has shown @frames within the last minute, of which @late in this update
 */
struct top_wait {
	uint64_t gpu;
	struct top_figure runnable;
	bool shows;
	uint64_t frames;
	uint64_t late;
};

/**
 * struct top_waits - of all; @processes are of an update
 * @threads: that wait for a fence
 * @seen: frames of each client that have been counted
 * @any: there are such waits
 * @over: processes and threads in no row
 */
struct top_waits {
	struct grt_keyed threads;
	struct grt_keyed processes;
	struct grt_display_frames *frames;
	uint64_t seen[GRT_FRAME_CLIENTS];
	bool any;
	uint64_t over;
};

/** top_waits_init - none. Return: 0 or -ENOMEM */
int top_waits_init(struct top_waits *w);

/** top_waits_event - takes in an event of the class wait; the update began at @from. Return: 0 or -ENOMEM */
int top_waits_event(struct top_waits *w, const struct grt_event *e, uint64_t from);

/** top_waits_sum - the update ends at @to. Return: 0 or -ENOMEM */
int top_waits_sum(struct top_waits *w, const struct grt_counters *counters, uint64_t from, uint64_t to);

/** top_waits_of - a process's, NULL: nothing is known of it */
struct top_wait *top_waits_of(const struct top_waits *w, uint32_t pid);

/** top_waits_next - the next update begins */
void top_waits_next(struct top_waits *w);

/** top_waits_free - frees it */
void top_waits_free(struct top_waits *w);

/* Records of CUDA's work are there so long after it, mostly. */
#define TOP_CUDA_LAG (GRT_NS_PER_S / 2)

struct top_cuda;

/** top_cuda_new - nothing so far. Return: 0 or -ENOMEM */
int top_cuda_new(struct top_cuda **out);

/** top_cuda_from - the first update begins there */
void top_cuda_from(struct top_cuda *c, uint64_t time);

/** top_cuda_define - takes in an event of the class image. Return: 0 or -ENOMEM */
int top_cuda_define(struct top_cuda *c, const struct grt_event *e);

/** top_cuda_event - takes in an event of the class launch. Return: 0 or -ENOMEM */
int top_cuda_event(struct top_cuda *c, const struct grt_event *e);

/** top_cuda_sum - shares of an update that ends at @to; @whole: it is the last one, and they go up to its end
 */
void top_cuda_sum(struct top_cuda *c, uint64_t to, bool whole);

/** top_cuda_late - kernels and copies of this update that earlier updates should have shown a part of */
uint64_t top_cuda_late(const struct top_cuda *c);

/** top_cuda_over - work in no row, so far */
uint64_t top_cuda_over(const struct top_cuda *c);

/** top_cuda_next - the next update begins */
void top_cuda_next(struct top_cuda *c);

/** top_cuda_free - NULL is allowed */
void top_cuda_free(struct top_cuda *c);

/** struct top_count - @jobs: that ended, kernels and copies; @lost: events */
struct top_count {
	uint64_t events;
	uint64_t jobs;
	uint64_t lost;
};

/**
 * struct top - one run
 * @c: what the session drives
 * @jobs, @shares, @groups, @counters, @xids: of the library; @groups are of this update alone
 * @stacks, @waits, @cuda: see there
 * @texts: names of GPUs
 * @gpus: struct top_gpu by device and name
 * @engine, @share, @processes: of the last update; of these @engines, @on_engines and @processes.used
 * @from, @to: its time, ns
 * @step: the time of an update, ns
 * @count: so far; @now: up to the end of the last update; @before: up to its beginning
 * @left: updates until the end, 0: there is no end
 * @sources: what is read live; "" with a recording
 * @over: GPUs and processes in no row
 * @late: of the last update, see top_cuda_late()
 * @last: what a key writes to @output, NULL: nothing is kept
 * @live: NULL with a recording
 * @room: for the text of a cell, TOP_ROOM bytes
 * @screen: the terminal is ours
 * @whole: nothing comes after this update
 * @sees_xids: a source has them, so that none is 0
 */
struct top {
	struct grt_consumer c;
	struct grt_session *session;
	struct grt_jobs *jobs;
	struct grt_gpu_processes *shares;
	struct grt_groups *groups;
	struct grt_counters counters;
	struct grt_xids xids;
	struct top_stacks stacks;
	struct top_waits waits;
	struct top_cuda *cuda;
	struct grt_texts texts;
	struct grt_keyed gpus;
	struct top_engine *engine;
	uint32_t engines;
	uint32_t engines_room;
	struct top_share *share;
	uint32_t on_engines;
	uint32_t share_room;
	struct grt_keyed processes;
	uint64_t from;
	uint64_t to;
	uint64_t step;
	struct top_count count;
	struct top_count now;
	struct top_count before;
	uint64_t over;
	uint64_t late;
	uint64_t left;
	const char *input;
	char sources[128];
	bool sees_xids;
	struct top_last *last;
	const char *output;
	struct live *live;
	char *room;
	bool screen;
	bool whole;
	bool json;
	bool wide;
	int write_error;
	struct grt_notes notes;
};

/** top_begin - begins. Return: 0 or -ENOMEM */
int top_begin(struct top *t);

/** top_from - everything before @time is left out: the first update begins there. Return: 0 or -ENOMEM */
int top_from(struct top *t, uint64_t time);

/** top_sums - takes in jobs that are in no event; @arg: struct top. Return: 0 or -ENOMEM */
int top_sums(void *arg, struct grt_job_sums *sums);

/** top_figures - makes rows of what came since the update before, up to @to. Return: 0 or -ENOMEM */
int top_figures(struct top *t, uint64_t to);

/** top_end - frees all of it */
void top_end(struct top *t);

/** top_gpu_name - of a GPU, NULL: it has none */
const char *top_gpu_name(const struct top *t, const struct top_gpu *gpu);

/* Rows are struct top_gpu, top_engine, top_share, top_process and top_stack, the view is struct top. */
extern const struct grt_table top_gpu_table, top_engine_table, top_share_table, top_process_table,
	top_stack_table;

/** top_save - has what is kept written. @text: gets what to tell the user, or why it was not */
void top_save(struct top *t, char text[TOP_LAST_TEXT]);

/** top_gpu_find - the number of a GPU, by its own number and its name, either of which may be missing; it is
 * made where there is none. @number: UINT32_MAX where there are too many. Return: 0 or -ENOMEM */
int top_gpu_find(struct top *t, uint32_t device, const char *name, uint32_t *number);

/** top_engine_add - a row of engines; none where its GPU has no number. Return: 0 or -ENOMEM */
int top_engine_add(struct top *t, const struct top_engine *engine);

/** top_engine_at - number of the row of engines with this place, UINT32_MAX: there is none */
uint32_t top_engine_at(const struct top *t, const struct grt_gpu_place *at);

/** top_share_add - a row of shares, and what its process has by it. Return: 0 or -ENOMEM */
int top_share_add(struct top *t, const struct top_share *s, enum top_source source);

/** top_cuda_engines, top_cuda_shares - rows of the last update. Return: 0 or -ENOMEM */
int top_cuda_engines(struct top *t);
int top_cuda_shares(struct top *t);

/** top_gpu_at - by its number; valid until the next GPU is met */
struct top_gpu *top_gpu_at(const struct top *t, uint32_t number);

/** top_by_device - the order of two GPUs */
int top_by_device(const void *a, const void *b);

/** top_screen_usage - whether there is a terminal, and a program that can use it. Return: EXIT_DONE, or an
 * exit status after saying why not */
int top_screen_usage(void);

/** top_screen_open - takes the terminal */
void top_screen_open(struct top *t);

/** top_screen_keys - what was typed. Return: 0 or TOP_STOP; or -ENOMEM */
int top_screen_keys(struct top *t);

/** top_screen_show - shows the last update. Return: 0 or -ENOMEM */
int top_screen_show(struct top *t);

/** top_screen_say - a line at the bottom; untrusted text */
void top_screen_say(const char *text);

/** top_screen_close - gives the terminal back */
void top_screen_close(void);

#endif /* GRTRACE_TOP_H */
