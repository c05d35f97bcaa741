/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * An analysis: what can be inferred from events, and the tables that show it.
 * Each row of lib/analyses.def is one; its operations are in its own file.
 * Commands go over the rows (lib/analyses.h) and know none of them by name.
 */
#ifndef GRT_TABLE_ANALYSIS_H
#define GRT_TABLE_ANALYSIS_H

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
struct grt_slots;
struct grt_idleness_sink;
struct grt_stacks;
struct grt_steps;

/* A class of events, in sets of classes. */
#define GRT_IN_CLASS(name) (1U << GRT_CLASS_##name)
/* Every event, of whatever type. */
#define GRT_IN_EVERY_CLASS UINT32_MAX

/* struct grt_part.where */
#define GRT_PART_BY 1U	      /* report --by NAME */
#define GRT_PART_SUMMARY 2U   /* report without --by */
#define GRT_PART_VERBOSE 4U   /* report -v */
#define GRT_PART_MONITOR 8U   /* monitors.def may name it, and `monitor all` shows it */
#define GRT_PART_JOBS 16U     /* nothing but jobs is in it: without any the summary leaves it out */
#define GRT_PART_NO_JOBS 32U  /* nothing in it is of jobs: what was joined to jobs is not shown beside it */
#define GRT_PART_NO_TIME 64U  /* it shows no times */
#define GRT_PART_LATENCY 128U /* timeline, with --latency-only, too */
#define GRT_PART_BARS 256U    /* timeline without it */
#define GRT_PART_FIRST 2048U  /* of the summary: in front of everything else, once the trace is over */
#define GRT_PART_TABLES 4096U /* exports of tables, with all its rows */
#define GRT_PART_ROLLUP 8192U /* of these, what a machine sends where all rows are too many */
#define GRT_PART_FLAME 512U   /* flame --weight NAME: finish fills @pass->tree */
#define GRT_PART_WORST 1024U  /* its worst rows come first: text shows ten unless more are asked for */
#define GRT_PART_LONG \
	16384U /* where it follows another part (@with), it is shown in JSON and with -v alone */

/**
 * struct grt_part - a part of what an analysis shows: tables, pairs and notes
 * @name: what users and monitors.def call it; NULL ends a list
 * @help: one line, for GRT_PART_BY
 * @where: GRT_PART_*
 * @arg: for the analysis
 * @table: that --sort, --top and CSV are of, for GRT_PART_BY
 * @tables: that it writes beside @table, for the JSON Schema; ended by NULL, NULL: none
 * @with: another part that follows where this one was asked for; NULL: none
 * @types: `monitor all` leaves it out where the trace has none of these; ended by 0, NULL: see @any
 * @any: where types do not decide that; NULL: @types
 * @write: writes it, as often as it is called. Return: 0 or -ENOMEM
 * @bar: GRT_PART_BARS: its @i-th row as a picture, see bars.h; @help is their title. Return: whether there is
 *	one; NULL: it is no picture
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
 * struct grt_analysis - operations; what is NULL it does not need
 * @name: its row's
 * @classes: of events that it takes in, bits GRT_IN_CLASS()
 * @besides: of these, the classes that its tables are not of
 * @beyond, @late: it takes these in, too, see struct grt_consumer
 * @always: a report needs its notes whatever it shows
 * @finds: others use what it finds: where they are to, the trace is read twice, and it has the first turn
 * @rows: it writes rows while the trace is read
 * @waits: without an event of @classes other than names it shows nothing in a summary: there it begins with
 *	the first one
 * @parts: what it shows
 * @size: of the state, which begins as zeroes; 0: @begin makes it
 * @begin: prepares the state; @parts has bit 1 << i for each part that is wanted. Return: 0 or -ENOMEM
 * @within: before the first event: what is outside of this time does not count
 * @span: the time that is looked at; may come with the first event
 * @open: @pass->writer is open and rows may be written while the trace is read
 * @event: an event of @classes. Return: 0 or -ENOMEM
 * @packet: a packet begins
 * @held, @job, @stray: see struct grt_jobs_sink. Return: 0 or -ENOMEM
 * @finish: the trace is over; may come again after further events. Return: 0, -ENOMEM, or with
 *	GRT_PART_FLAME -EOVERFLOW (see grt_stacks_add()) or -ENODATA (nothing has such a weight)
 * @notes: sentences about all of it
 * @free: frees the state; where it has a @size, what it points to
 */
struct grt_analysis {
	const char *name;
	uint32_t classes;
	uint32_t besides;
	bool beyond;
	bool late;
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
	int (*finish)(void *state, struct grt_pass *pass);
	void (*notes)(void *state, struct grt_pass *pass);
	void (*free)(void *state);
};

/* Operations that call a function with the type of the state, and nothing else: NEW makes the state, INIT
 * sets up one of @size. */
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
#define GRT_ANALYSIS_FREE(name, function) \
	static void name(void *state)     \
	{                                 \
		function(state);          \
	}

/**
 * struct grt_pass - one pass over a trace: what its analyses know of it and of what is wanted
 * @jobs, @deps: jobs, and waits for fences; NULL: nobody follows them
 * @names: what things are called
 * @filter: which jobs are wanted, for who joins them himself; NULL: all
 * @health: of the session
 * @call: what is known of the call that the event at hand ends; NULL: nobody asks
 * @first, @last: the time looked at, ns; valid with @known
 * @whole: that is the whole trace
 * @asked: the part that was requested by name, or that the summary sorts; NULL: none
 * @summary: there is nothing that was requested by name
 * @no_jobs: of nothing that jobs are inferred from, though there are other things: the summary shows these
 * @streams: rows of @asked are written while the trace is read
 * @sort: order of @asked, NULL: its own
 * @top: rows of @asked, 0: all
 * @step_range: the range of NVTX that steps are; NULL: what is found
 * @jobs_seen: jobs so far
 * @seen: events taken in by type, all in [0]; NULL: nobody counts them
 * @completed_again: COMPLETE of jobs that were complete
 * @columns: of a timeline's bars, at most; how many there are, once it has begun
 * @shape, @tree, @side: what a flame graph adds up, and where to; @estimated: set where its weights are
 *	scaled up from windows at random
 * @slots: gets when the weights came, where the analysis knows; NULL: nobody asks
 * @idle: gets each part of the idle time; NULL: nobody asks
 * @steps, @operators: what a pass before this one has found; NULL: there was none
 * @boot_id: of the system that was recorded; NULL: unknown
 * @writer, @notes: where parts are written
 * @csv, @json, @verbose: its form; @page: JSON, of which people read the sentences first
 */
struct grt_pass {
	struct grt_jobs *jobs;
	struct grt_deps *deps;
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
	const char *boot_id;
	struct grt_writer *writer;
	struct grt_notes *notes;
	bool csv;
	bool json;
	bool page;
	bool verbose;
};

/** grt_pass_span - length of what is looked at, 0: unknown */
static inline uint64_t grt_pass_span(const struct grt_pass *pass)
{
	return pass->known ? pass->last - pass->first : 0;
}

/** grt_pass_sort - the order that was requested of a part, else @otherwise */
static inline const struct grt_column *grt_pass_sort(const struct grt_pass *pass, const struct grt_part *part,
						     const struct grt_column *otherwise)
{
	return pass->asked == part && pass->sort ? pass->sort : otherwise;
}

/** grt_pass_shown - how many of a part's @n rows are shown */
static inline uint64_t grt_pass_shown(const struct grt_pass *pass, const struct grt_part *part, uint64_t n)
{
	return pass->asked == part && pass->top && pass->top < n ? pass->top : n;
}

/**
 * grt_rows_sort - brings pointers to rows into the order of a column
 * @sort: NULL: of @tie alone
 * @tie: order of rows that have one value; NULL: as they are
 */
void grt_rows_sort(const void *rows, uint64_t n, const struct grt_column *sort, const void *view,
		   int (*tie)(const void *a, const void *b));

#endif /* GRT_TABLE_ANALYSIS_H */
