/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * An analysis computes values from events, and has the tables that show them.
 * Each analysis is a row of lib/analyses.def; its operations are in its own file.
 * Commands iterate over the rows (lib/analyses.h) and contain no names of analyses.
 */
#ifndef GRT_TABLE_ANALYSIS_H
#define GRT_TABLE_ANALYSIS_H

#include <grtrace/launches.h>

#include "trace/names.h"
#include "notes.h"

struct grt_bar;
struct grt_call_end;
struct grt_deps;
struct grt_filter;
struct grt_flame_shape;
struct grt_job;
struct grt_jobs;
struct grt_operators;
struct grt_pass;
struct grt_sass;
struct grt_slots;
struct grt_idleness_sink;
struct grt_stacks;
struct grt_steps;

/* A class of events, in sets of classes. */
#define GRT_IN_CLASS(name) (1U << GRT_CLASS_##name)
/* Events of all classes and types. */
#define GRT_IN_EVERY_CLASS UINT32_MAX

/* struct grt_part.where */
#define GRT_PART_BY 1U	      /* report --by NAME */
#define GRT_PART_SUMMARY 2U   /* report without --by */
#define GRT_PART_VERBOSE 4U   /* report -v */
#define GRT_PART_MONITOR 8U   /* monitors.def may name it, and `monitor all` shows it */
#define GRT_PART_JOBS 16U     /* it only shows jobs: without any, the summary leaves it out */
#define GRT_PART_NO_JOBS 32U  /* it shows no jobs: joins to jobs are not shown with it */
#define GRT_PART_NO_TIME 64U  /* it shows no times */
#define GRT_PART_LATENCY 128U /* timeline, with --latency-only, too */
#define GRT_PART_BARS 256U    /* timeline without it */
#define GRT_PART_FIRST \
	2048U /* in the summary, before all other parts, after the end of the trace; see @table */
#define GRT_PART_TABLES 4096U /* exports of tables, with all its rows */
#define GRT_PART_ROLLUP 8192U /* also in roll-ups, which a machine sends if all rows are too many */
#define GRT_PART_FLAME 512U   /* flame --weight NAME: finish fills @pass->tree */
#define GRT_PART_WORST 1024U  /* its worst rows come first: text shows ten unless more are requested */
#define GRT_PART_LONG 16384U  /* as the @with of another part, it is only shown in JSON and with -v */

/**
 * struct grt_part - a part of the output of an analysis: tables, pairs and notes
 * @name: its name for users and in monitors.def; NULL ends a list
 * @help: one line, for GRT_PART_BY
 * @where: GRT_PART_*
 * @arg: argument for the analysis
 * @table: the table for --sort, --top and CSV, with GRT_PART_BY; a GRT_PART_FIRST without one only adds
 *	sentences to the notes of the pass, which are written at once for people
 * @tables: the tables that it writes in addition to @table, for the JSON Schema; ended by NULL, NULL: none
 * @with: another part that is shown after this one if this one was requested; NULL: none
 * @types: `monitor all` leaves the part out if the trace has no event of these types; ended by 0, NULL: see
 *	@any
 * @any: decides this instead of @types; NULL: @types
 * @write: writes the part; may be called several times. Return: 0 or -ENOMEM
 * @bar: GRT_PART_BARS: its @i-th row as a picture, see bars.h; @help is the title. Return: whether there is
 *	such a row; NULL: the part has no picture
 */
struct grt_part {
	const char *name;
	const char *help;
	unsigned int where;
	int arg;
	const struct grt_table *table;
	const char *with;
	const struct grt_table *const *tables;
	const uint16_t *types;
	bool (*any)(const void *state);
	int (*write)(void *state, const struct grt_part *part, struct grt_pass *pass);
	bool (*bar)(const void *state, const struct grt_pass *pass, uint32_t i, struct grt_bar *bar);
};

/**
 * struct grt_analysis - operations; unneeded ones are NULL
 * @name: the name of its row
 * @classes: classes of events that it processes, bits GRT_IN_CLASS()
 * @besides: the part of @classes about which it has no tables
 * @beyond, @late: it also processes these events, see struct grt_consumer
 * @whole: it also processes the events that grt_session_whole() adds to these
 * @always: every report needs its notes
 * @finds: other analyses use its results: if they need them, the trace is read twice, and this analysis runs
 *	in the first pass
 * @rows: it writes rows while the trace is read
 * @waits: without an event of @classes other than names, it shows nothing in a summary; so in a summary it
 *	begins with the first such event
 * @parts: its parts
 * @size: size of the state, which is zeroed first; 0: @begin allocates it
 * @begin: prepares the state; @parts has bit 1 << i for each requested part. Return: 0 or -ENOMEM
 * @within: called before the first event: events outside of this time are not counted
 * @span: the time span of the pass; may be called at the first event
 * @open: @pass->writer is open, and rows may be written while the trace is read
 * @event: processes an event of @classes. Return: 0 or -ENOMEM
 * @packet: called at the begin of a packet
 * @held, @job, @stray: see struct grt_jobs_sink. Return: 0 or -ENOMEM
 * @work, @nothing: see struct grt_launches_sink; @pass->launches joins once for all analyses of the pass that
 *	have @work. It gets the classes image and launch by itself; an analysis has them in @classes if @event
 *	needs them, too: @event is called after the joiner has processed a definition of a process image, and
 *	before it processes a launch or GPU work. With @beyond and @late, and in no part of GRT_PART_MONITOR:
 *	a monitor joins no launches. Return: 0 or -ENOMEM
 * @outside: @work also gets GPU work outside of the time of @within
 * @read: all events were read; GPU work whose launch was not found until now is passed to @work after this.
 *	Return: 0 or -ENOMEM
 * @finish: called at the end of the trace; may be called again after further events. Return: 0, -ENOMEM, or
 *	with GRT_PART_FLAME -EOVERFLOW (see grt_stacks_add()) or -ENODATA (nothing has such a weight)
 * @notes: adds sentences about the whole trace
 * @free: frees the state; if @size is set, only the memory to which the state points
 */
struct grt_analysis {
	const char *name;
	uint32_t classes;
	uint32_t besides;
	bool beyond;
	bool late;
	bool whole;
	bool always;
	bool finds;
	bool rows;
	bool waits;
	const struct grt_part *parts;
	size_t size;
	int (*begin)(void **state, struct grt_pass *pass, unsigned int parts);
	void (*within)(void *state, uint64_t from, uint64_t to);
	void (*span)(void *state, uint64_t first, uint64_t last);
	void (*open)(void *state);
	int (*event)(void *state, const struct grt_event *e, struct grt_pass *pass);
	void (*packet)(void *state, const struct grt_packet *p);
	int (*held)(void *state, const struct grt_job *job);
	int (*job)(void *state, const struct grt_job *job);
	int (*stray)(void *state, const struct grt_event *e, struct grt_pass *pass);
	int (*work)(void *state, const struct grt_event *e, const struct grt_image *image,
		    const struct grt_launch *launch, enum grt_launched_how how);
	int (*nothing)(void *state, const struct grt_launch *launch);
	bool outside;
	int (*read)(void *state);
	int (*finish)(void *state, struct grt_pass *pass);
	void (*notes)(void *state, struct grt_pass *pass);
	void (*free)(void *state);
};

/* Operations that only call a function with the type of the state: NEW allocates the state, INIT
 * initialises a state of @size bytes. */
#define GRT_ANALYSIS_NEW(name, type, function, ...)                              \
	static int name(void **state, struct grt_pass *pass, unsigned int parts) \
	{                                                                        \
		return function((type **)state __VA_OPT__(, ) __VA_ARGS__);      \
	}
#define GRT_ANALYSIS_INIT(name, function, ...)                                   \
	static int name(void **state, struct grt_pass *pass, unsigned int parts) \
	{                                                                        \
		function(*state __VA_OPT__(, ) __VA_ARGS__);                     \
		return 0;                                                        \
	}
#define GRT_ANALYSIS_EVENT(name, function)                                             \
	static int name(void *state, const struct grt_event *e, struct grt_pass *pass) \
	{                                                                              \
		return function(state, e);                                             \
	}
#define GRT_ANALYSIS_JOB(name, function)                        \
	static int name(void *state, const struct grt_job *job) \
	{                                                       \
		return function(state, job);                    \
	}
#define GRT_ANALYSIS_WORK(name, function)                                                      \
	static int name(void *state, const struct grt_event *e, const struct grt_image *image, \
			const struct grt_launch *launch, enum grt_launched_how how)            \
	{                                                                                      \
		return function(state, e, image, launch, how);                                 \
	}
#define GRT_ANALYSIS_FINISH(name, function)                 \
	static int name(void *state, struct grt_pass *pass) \
	{                                                   \
		return function(state);                     \
	}
#define GRT_ANALYSIS_FREE(name, function) \
	static void name(void *state)     \
	{                                 \
		function(state);          \
	}
/* The @any of a part: a member of the state, which is not 0 if there is something to show. */
#define GRT_ANALYSIS_ANY(name, type, member)                 \
	static bool name(const void *state)                  \
	{                                                    \
		return ((const struct type *)state)->member; \
	}

/**
 * struct grt_pass - one pass over a trace: the data and the requests that its analyses share
 * @jobs, @deps: jobs, and waits for fences; NULL: not tracked
 * @launches: joins CUDA's launches and GPU work, and lives as long as the analyses; NULL: none has @work
 * @names: names of objects
 * @filter: selects jobs, for analyses that join jobs themselves; NULL: all jobs
 * @health: health of the session
 * @call: the call that the present event ends; NULL: not needed
 * @first, @last: the time span of the pass, ns; valid with @known
 * @whole: the span is the whole trace
 * @asked: the part that was requested by name, or that the summary sorts; NULL: none
 * @summary: no part was requested by name
 * @no_jobs: the trace has no events from which jobs are joined, but other events: the summary shows those
 * @streams: rows of @asked are written while the trace is read
 * @sort: order of @asked, NULL: its default
 * @top: number of rows of @asked, 0: all
 * @step_range: the NVTX range whose instances are steps; NULL: steps are found automatically
 * @jobs_seen: jobs so far
 * @seen: number of processed events by type, all in [0]; NULL: not counted
 * @completed_again: COMPLETE events of jobs that were already complete
 * @columns: most columns of a timeline's bars; after @begin, their number
 * @shape, @tree, @side: the weights of a flame graph, and where they are added; @estimated: set if its
 *	weights are scaled up from random windows
 * @slots: gets the times of the weights, if the analysis has them; NULL: not needed
 * @idle: gets each part of the idle time; NULL: not needed
 * @steps, @operators: results of an earlier pass; NULL: none
 * @sass: gives the text of GPU code; NULL: nobody does
 * @boot_id: boot id of the recorded system; NULL: unknown
 * @writer, @notes: outputs of the parts
 * @csv, @json, @verbose: form of the output; @page: JSON for a page, whose sentences people read first
 */
struct grt_pass {
	struct grt_jobs *jobs;
	struct grt_deps *deps;
	struct grt_launches *launches;
	const struct grt_names *names;
	const struct grt_filter *filter;
	const struct grt_health *health;
	struct grt_call_end *call;
	uint64_t first;
	uint64_t last;
	bool known;
	bool whole;
	const struct grt_part *asked;
	bool summary;
	bool no_jobs;
	bool streams;
	const struct grt_column *sort;
	uint64_t top;
	const char *step_range;
	uint64_t jobs_seen;
	const uint64_t *seen;
	uint64_t completed_again;
	uint32_t columns;
	const struct grt_flame_shape *shape;
	struct grt_stacks *tree;
	struct grt_slots *slots;
	const struct grt_idleness_sink *idle;
	unsigned int side;
	bool estimated;
	const struct grt_steps *steps;
	struct grt_operators *operators;
	const struct grt_sass *sass;
	const char *boot_id;
	struct grt_writer *writer;
	struct grt_notes *notes;
	bool csv;
	bool json;
	bool page;
	bool verbose;
};

/** grt_pass_span - length of the time span of the pass, 0: unknown */
static inline uint64_t grt_pass_span(const struct grt_pass *pass)
{
	return pass->known ? pass->last - pass->first : 0;
}

/** grt_pass_sort - the requested order of a part, else @otherwise */
static inline const struct grt_column *grt_pass_sort(const struct grt_pass *pass, const struct grt_part *part,
						     const struct grt_column *otherwise)
{
	return pass->asked == part && pass->sort ? pass->sort : otherwise;
}

/** grt_pass_shown - how many of the @n rows of a part are shown */
static inline uint64_t grt_pass_shown(const struct grt_pass *pass, const struct grt_part *part, uint64_t n)
{
	return pass->asked == part && pass->top && pass->top < n ? pass->top : n;
}

/**
 * grt_rows_sort - sorts pointers to rows by a column
 * @sort: the column; NULL: sort by @tie only
 * @tie: order of rows with equal values; NULL: unchanged
 */
void grt_rows_sort(const void *rows, uint64_t n, const struct grt_column *sort, const void *view,
		   int (*tie)(const void *a, const void *b));

#endif /* GRT_TABLE_ANALYSIS_H */
