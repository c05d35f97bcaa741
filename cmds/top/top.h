/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace top`, shared by its files: top.c has the command line and reads the sources or a
 * recording, top_figures.c computes the rows of GPUs, engines and processes for an update from the library's
 * analyses, top_cuda.c those of CUDA work, top_stacks.c those of stacks, top_launches.c the stacks of
 * launches and their names, top_waits.c the waits of threads; top_tables.c has the columns, top_screen.c
 * shows them on a terminal, and top_last.c keeps the last seconds for a recording.
 */
#ifndef GRTRACE_TOP_H
#define GRTRACE_TOP_H

#include "base/clock.h"
#include "base/containers.h"
#include "drm/counters.h"
#include "drm/display_frames.h"
#include "idle/gpu_processes.h"
#include "jobs/groups.h"
#include "jobs/jobs.h"
#include "nvidia/xid.h"
#include "stack/frames.h"
#include "stack/images.h"
#include "base/say.h"
#include "top_last.h"

/* Result of a callback that ends the run. It differs from 1, which has a meaning in a live run. */
#define TOP_STOP 2
/* Number of updates in the history of a GPU: a minute of the default interval. */
#define TOP_HISTORY 60
#define TOP_GPUS_MAX 64U
#define TOP_ROOM 2048U

/** enum top_value - the counters of a GPU that have a column */
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
 * @known: the value is known
 * @inferred, @least: see struct grt_cell
 */
struct top_figure {
	uint64_t value;
	bool known;
	bool inferred;
	bool least;
};

/**
 * struct top_gpu - a GPU, which exists from its first event on
 * @device: its number, major << 20 | minor, 0: unknown
 * @text: number of its name in struct top.texts
 * @busy: thousandths of a percent; @source: enum top_source
 * @engine: number in struct top.engine of the engine to which @busy refers; UINT32_MAX: it refers to the
 *	whole GPU
 * @value: its counters, by enum top_value, in thousandths of their units
 * @jobs: number of jobs that ended, slices, or kernels and copies; @counted: which of these, enum top_source
 * @throttle: reasons why the driver throttles it, "none"; "": unknown
 * @xids: number of Xids since the run began
 * @history: values of @busy in percent, the newest one at @updates - 1 modulo TOP_HISTORY; 255: unknown
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

/** enum top_source - the source of a busy time */
enum top_source {
	TOP_SLICES = GRT_GPU_SLICES,
	TOP_JOBS = GRT_GPU_JOBS,
	TOP_COUNTERS = GRT_GPU_COUNTERS,
	TOP_KERNELS, /* and copies, of CUDA */
	TOP_SOURCES,
};

/**
 * struct top_engine - a ring, an engine, a stream, or a whole GPU with slices or kernels
 * @gpu: number in struct top.gpus
 * @stream, @name: of a CUDA stream
 * @part: another row has the busy time of the whole GPU, which includes this one
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
 * @name: number of the name that its jobs have; 0: the name is looked up by @pid
 * @share: its largest share of an engine, thousandths of a percent
 * @engine: number of that engine; UINT32_MAX: the whole GPU; valid with @share
 * @counted: what @jobs counts, enum top_source
 * @queue: 99th percentile of t_queue of its jobs, ns
 * @wait, @runnable: time for which its threads waited for jobs, and for a CPU, thousandths of a percent
 * @frames, @late: number of frames that it showed, and of late frames among them
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
 * @middle, @most: median and 99th percentile of the lengths of its jobs or slices, ns
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

/**
 * struct top_stack - the jobs of a process that ended on a ring, or its kernels and copies whose records
 * came, with one stack
 * @stack: the stack that submitted or launched them; 0: none
 * @image: of kernels and copies, whose @stack is a node of this image; NULL: jobs
 * @time: the sum of their times, ns
 */
struct top_stack {
	uint32_t pid;
	uint32_t name;
	uint32_t ring;
	uint32_t stack;
	struct grt_image *image;
	uint64_t jobs;
	struct top_figure time;
};

struct top_launches;

/** top_launches_new - begins without launches of processes in @images. Return: 0 or -ENOMEM */
int top_launches_new(struct top_launches **out, struct grt_images *images);

/** top_launches_launch - remembers the stack of LAUNCH @e. Return: 0 or -ENOMEM */
int top_launches_launch(struct top_launches *l, const struct grt_image *image, const struct grt_event *e);

/**
 * top_launches_node - gets the stack of a launch, 0: it has none
 * Return: false: it is not there yet, or was forgotten
 */
bool top_launches_node(struct top_launches *l, const struct grt_image *image, uint64_t correlation,
		       uint32_t *node);

/** top_launches_want - requests the names of the frames of a stack. Return: 0 or -ENOMEM */
int top_launches_want(struct top_launches *l, struct grt_image *image, uint32_t node);

/** top_launches_name - goes on with the requested names; @wait: until there are all, or for ten seconds */
void top_launches_name(struct top_launches *l, bool wait);

/** top_launches_text - what top_stacks_text() writes, for a stack of a launch */
const char *top_launches_text(struct top_launches *l, struct grt_image *image, uint32_t node, char *text,
			      size_t room);

/** top_launches_free - NULL is allowed */
void top_launches_free(struct top_launches *l);

/**
 * struct top_stacks - the stacks of all jobs, kernels and copies
 * @owners: the stacks of jobs in flight
 * @launches: those of launches; @late: work before its launch was read
 * @rows: struct top_stack of the update that is being collected; @shown: of the last complete one
 * @any: a stack was recorded
 * @over: number of jobs without a row, because there were too many rows
 */
struct top_stacks {
	struct grt_frames frames;
	struct grt_keyed owners;
	struct top_launches *launches;
	struct top_late *late;
	uint32_t lates, late_room;
	struct grt_keyed rows;
	struct grt_keyed shown;
	bool any;
	uint64_t over;
};

/** top_stacks_init - begins without stacks; @images: of CUDA processes. Return: 0 or -ENOMEM */
int top_stacks_init(struct top_stacks *s, struct grt_images *images);

/** top_stacks_event - processes an event of the class stack. Return: 0 or -ENOMEM */
int top_stacks_event(struct top_stacks *s, const struct grt_event *e);

/** top_stacks_job - adds a job that ended. Return: 0 or -ENOMEM */
int top_stacks_job(struct top_stacks *s, const struct grt_job *job);

/** top_stacks_launch - processes a LAUNCH of an image. Return: 0 or -ENOMEM */
int top_stacks_launch(struct top_stacks *s, const struct grt_image *image, const struct grt_event *e);

/**
 * top_stacks_work - adds a kernel or copy of a launch
 * @ns: how long it ran; UINT64_MAX: unknown
 * Return: 0 or -ENOMEM
 */
int top_stacks_work(struct top_stacks *s, struct grt_image *image, uint64_t correlation, uint64_t ns);

/**
 * top_stacks_next - begins the next update; the rows collected so far become @shown
 * @wait: for the names of all frames
 * @last: there is no next update, so work whose launch was not read is shown without a stack
 * Return: 0 or -ENOMEM
 */
int top_stacks_next(struct top_stacks *s, bool wait, bool last);

/**
 * top_stacks_text - writes the functions of a row's stack, innermost first; the names are untrusted. Return:
 * @text, or NULL: the stack has no functions
 */
const char *top_stacks_text(const struct top_stacks *s, const struct top_stack *row, char *text, size_t room);

/** top_stacks_free - frees all that @s owns */
void top_stacks_free(struct top_stacks *s);

/**
 * struct top_wait - the waits and frames of a process in an update
 * @gpu: time for which its threads waited for fences of jobs, ns
 * @runnable: time for which its threads waited for a CPU, thousandths of a percent
 * @shows: it has shown a frame within the last minute
 * @frames, @late: number of frames in this update, and of late frames among them
 */
struct top_wait {
	uint64_t gpu;
	struct top_figure runnable;
	bool shows;
	uint64_t frames;
	uint64_t late;
};

/**
 * struct top_waits - the waits of all processes
 * @threads: threads that wait for a fence
 * @processes: struct top_wait of the update, by pid
 * @seen: number of frames of each client that have been counted
 * @any: a thread has waited for a fence
 * @over: number of processes and threads without a row
 */
struct top_waits {
	struct grt_keyed threads;
	struct grt_keyed processes;
	struct grt_display_frames *frames;
	uint64_t seen[GRT_FRAME_CLIENTS];
	bool any;
	uint64_t over;
};

/** top_waits_init - begins without waits. Return: 0 or -ENOMEM */
int top_waits_init(struct top_waits *w);

/**
 * top_waits_event - processes an event of the class wait, in an update that began at @from. Return: 0 or
 * -ENOMEM
 */
int top_waits_event(struct top_waits *w, const struct grt_event *e, uint64_t from);

/** top_waits_sum - sums up the update from @from to @to. Return: 0 or -ENOMEM */
int top_waits_sum(struct top_waits *w, const struct grt_counters *counters, uint64_t from, uint64_t to);

/** top_waits_of - the waits of a process; NULL: unknown */
struct top_wait *top_waits_of(const struct top_waits *w, uint32_t pid);

/** top_waits_next - begins the next update */
void top_waits_next(struct top_waits *w);

/** top_waits_free - frees all that @w owns */
void top_waits_free(struct top_waits *w);

/* Most records of CUDA work arrive within this time after the work. */
#define TOP_CUDA_LAG (GRT_NS_PER_S / 2)

struct top_cuda;

/** top_cuda_new - begins without work. Return: 0 or -ENOMEM */
int top_cuda_new(struct top_cuda **out);

/** top_cuda_from - sets the beginning of the first update */
void top_cuda_from(struct top_cuda *c, uint64_t time);

/** top_cuda_define - processes an event of the class image. Return: 0 or -ENOMEM */
int top_cuda_define(struct top_cuda *c, const struct grt_event *e);

/** top_cuda_images - its process images */
struct grt_images *top_cuda_images(struct top_cuda *c);

/**
 * top_cuda_event - processes an event of the class launch, whose stack is for @stacks; @counted: gets one
 * more for a kernel or copy. Return: 0 or -ENOMEM
 */
int top_cuda_event(struct top_cuda *c, const struct grt_event *e, struct top_stacks *stacks,
		   uint64_t *counted);

/**
 * top_cuda_sum - computes the shares of an update that ends at @to; @whole: it is the last update, so its
 * shares extend to its end
 */
void top_cuda_sum(struct top_cuda *c, uint64_t to, bool whole);

/**
 * top_cuda_late - number of kernels and copies that began in the time of an earlier update, but were recorded
 * in this one
 */
uint64_t top_cuda_late(const struct top_cuda *c);

/** top_cuda_over - number of kernels and copies without a row so far */
uint64_t top_cuda_over(const struct top_cuda *c);

/** top_cuda_next - begins the next update */
void top_cuda_next(struct top_cuda *c);

/** top_cuda_free - NULL is allowed */
void top_cuda_free(struct top_cuda *c);

/** struct top_count - @jobs: jobs that ended, kernels and copies; @lost: lost events */
struct top_count {
	uint64_t events;
	uint64_t jobs;
	uint64_t lost;
};

/**
 * struct top - one run
 * @c: the callbacks for the session
 * @jobs, @shares, @groups, @counters, @xids: analyses of the library; @groups covers one update
 * @texts: names of GPUs
 * @gpus: struct top_gpu by device and name
 * @engine, @share, @processes: rows of the last update; @engines, @on_engines and @processes.used are their
 *	numbers
 * @from, @to: the time of the last update, ns
 * @step: length of an update, ns
 * @count: counts so far; @now: up to the end of the last update; @before: up to its beginning
 * @left: number of updates until the end, 0: no end
 * @sources: the sources of a live run; "" for a recording
 * @over: number of GPUs and processes without a row
 * @late: top_cuda_late() of the last update
 * @last: the last seconds, which a key writes to @output; NULL: they are not kept
 * @live: NULL for a recording
 * @room: buffer for the text of a cell, TOP_ROOM bytes
 * @screen: the screen is open
 * @whole: no event follows this update
 * @sees_xids: a source records Xids, so that 0 means none
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

/** top_begin - sets up a run. Return: 0 or -ENOMEM */
int top_begin(struct top *t);

/** top_from - begins the first update at @time; earlier events are ignored. Return: 0 or -ENOMEM */
int top_from(struct top *t, uint64_t time);

/** top_sums - adds jobs that are in no event; @arg: struct top. Return: 0 or -ENOMEM */
int top_sums(void *arg, struct grt_job_sums *sums);

/** top_figures - computes the rows of the update that ends at @to. Return: 0 or -ENOMEM */
int top_figures(struct top *t, uint64_t to);

/** top_end - frees all that @t owns */
void top_end(struct top *t);

/** top_gpu_name - the name of a GPU; NULL: unknown */
const char *top_gpu_name(const struct top *t, const struct top_gpu *gpu);

/* Rows are struct top_gpu, top_engine, top_share, top_process and top_stack, the view is struct top. */
extern const struct grt_table top_gpu_table, top_engine_table, top_share_table, top_process_table,
	top_stack_table;

/**
 * top_save - writes the last seconds as a recording. @text: gets the message for the user, also after an
 * error
 */
void top_save(struct top *t, char text[TOP_LAST_TEXT]);

/**
 * top_gpu_find - finds a GPU by its device number and its name, either of which may be missing, or adds it
 * @number: gets its number in struct top.gpus; UINT32_MAX: there are too many GPUs
 * Return: 0 or -ENOMEM
 */
int top_gpu_find(struct top *t, uint32_t device, const char *name, uint32_t *number);

/** top_engine_add - adds a row of engines, unless its GPU has no number. Return: 0 or -ENOMEM */
int top_engine_add(struct top *t, const struct top_engine *engine);

/** top_engine_at - the number of the engine at a place; UINT32_MAX: it has no row */
uint32_t top_engine_at(const struct top *t, const struct grt_gpu_place *at);

/**
 * top_share_add - adds a row of shares, and its share and jobs to the row of its process. Return: 0 or
 * -ENOMEM
 */
int top_share_add(struct top *t, const struct top_share *s, enum top_source source);

/** top_cuda_engines, top_cuda_shares - add the rows of the last update. Return: 0 or -ENOMEM */
int top_cuda_engines(struct top *t);
int top_cuda_shares(struct top *t);

/** top_gpu_at - the GPU with a number; valid until another GPU is added */
struct top_gpu *top_gpu_at(const struct top *t, uint32_t number);

/** top_by_device - compares two GPUs, for their order */
int top_by_device(const void *a, const void *b);

/**
 * top_screen_usage - checks that there is a terminal and that this program can use it. Return: EXIT_DONE, or
 * an exit status after an error message
 */
int top_screen_usage(void);

/** top_screen_open - switches the terminal to the screen */
void top_screen_open(struct top *t);

/** top_screen_keys - handles the keys that were typed. Return: 0, TOP_STOP or -ENOMEM */
int top_screen_keys(struct top *t);

/** top_screen_show - shows the last update. Return: 0 or -ENOMEM */
int top_screen_show(struct top *t);

/** top_screen_say - shows a message in the last line; @text is untrusted */
void top_screen_say(const char *text);

/** top_screen_close - restores the terminal */
void top_screen_close(void);

#endif /* GRTRACE_TOP_H */
