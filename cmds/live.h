/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Live views: opens sources by name and passes their events to a consumer, until Ctrl-C,
 * for a time, or until the watched process ends. live_close() restores all settings
 * that were changed.
 *
 *	ret = live_open(&l, &setup, &err);
 *	if (!ret)
 *		ret = live_start(l, &err);
 *	if (!ret)
 *		ret = live_run(l, &view->c, &limits, &err);
 *	... grt_session_health(live_session(l)) ...
 *	live_close(l, &err);
 *
 * The command of a view writes its output.
 */
#ifndef GRTRACE_LIVE_H
#define GRTRACE_LIVE_H

#include <grtrace/grtrace.h>

struct grt_job_sums;
struct live;

/**
 * struct live_setup - which events a view gets
 * @sources: names of sources.def, with commas between
 * @pid: only events of this process, and the run ends with it; 0: all processes
 * @gpu_users: all processes that use CUDA, for the source `cuda`
 * @buffer_size: bytes per CPU, 0: unchanged
 * @driver: the driver whose fences are jobs, for the source `fence`; NULL: none
 * @flag: an option that is set for the sources that have it; NULL: none
 * @types: the requested events; all zero: all
 * @any: if a source does not work here, @note reports it, and the other sources go on;
 *	otherwise this is an error. It is always an error if no source works
 * @stack: record the CPU stack of each submit
 * @whole: a source may report each job by one JOB record when the job ends; a job that is in flight at a tick
 *	has another record before the tick, without a COMPLETE
 * @sums: with @whole: a source may also sum up jobs that were submitted and completed between two ticks, and
 *	hand out the sums, see struct live_limits
 * @keep_jobs: with @sums: bytes of memory in which the sources keep the last of those jobs, see live_hand();
 *	0: they do not
 * @keep: gets all complete packets that are read; @place is the number of their file in a recording of
 *	the @source-th source. Return: 0 or -errno, which ends the run. May be NULL
 * @arg: argument of @keep
 * @note: prints a message for the user about a step that was done
 */
struct live_setup {
	const char *sources;
	pid_t pid;
	bool gpu_users;
	uint64_t buffer_size;
	const char *driver;
	const char *flag;
	struct grt_type_set types;
	bool any;
	bool stack;
	bool whole;
	bool sums;
	uint64_t keep_jobs;
	int (*keep)(void *arg, unsigned int place, unsigned int source, const char *data, size_t len);
	void *arg;
	void (*note)(const char *text);
};

/**
 * struct live_files - the files that a source's packets would have in a recording
 * @places: number of files; files from @streams on are created with their first packet
 * @uncut: see struct source
 * @handed: number of files for the packets of live_hand(), created with their first packet
 */
struct live_files {
	const char *source;
	unsigned int places;
	unsigned int streams;
	bool uncut;
	unsigned int handed;
};

/**
 * struct live_limits - how long a run lasts
 * @seconds: ends after this time, 0: never
 * @interval: seconds between calls of @tick, 0: never called
 * @tick: called between events; a non-zero result ends the run
 * @sums: gets, before @tick, jobs that no event has; with struct live_setup.sums
 * @idle: called when the consumer got all present events, so that output
 *	can be flushed; may be NULL, a non-zero result ends the run
 * @prompt: the view shows single events: sources that allow this are read more often
 * @fd: readable when @idle must be called soon, 0: none
 * @arg: argument of @tick and @idle
 */
struct live_limits {
	double seconds;
	double interval;
	int (*tick)(void *arg);
	int (*sums)(void *arg, struct grt_job_sums *sums);
	int (*idle)(void *arg);
	bool prompt;
	int fd;
	void *arg;
};

/**
 * live_open - opens sources, without starting capture
 * @out: pass it to live_close(), also after an error; NULL if there is no memory
 * Return: 0, -EINVAL for an unknown source, or a negative errno;
 * kmod_exit_status() converts it to an exit status
 */
int live_open(struct live **out, const struct live_setup *setup, struct grt_err *err);

/** live_has - whether the source of this name was opened */
bool live_has(const struct live *l, const char *source);

/**
 * live_source - the name of the @i-th open source, NULL after the last one
 * @balance: gets the counts of its events that its packets contain
 */
const char *live_source(const struct live *l, unsigned int i, struct grt_balance *balance);

/**
 * live_start - begins capture, then drops the privileges that only this step needed for good. Open output
 * files before this call
 * Return: 0 or a negative errno
 */
int live_start(struct live *l, struct grt_err *err);

/** live_files - the files of the @i-th source, after live_start(). Return: false after the last source */
bool live_files(const struct live *l, unsigned int i, struct live_files *files);

/**
 * live_held - what the sources keep beside the packets of struct live_setup.keep
 * @from: all of it from this time on is there, ns
 * Return: bytes of memory for it
 */
uint64_t live_held(const struct live *l, uint64_t *from);

/**
 * live_hand - the packets of the @i-th source with the jobs that it keeps, complete from @from to @to, ns
 * @fn: gets whole packets of a CPU, for a file of their own. Return: 0 or -errno
 * Return: 0, the result of @fn, or -errno
 */
int live_hand(const struct live *l, unsigned int i, uint64_t from, uint64_t to,
	      int (*fn)(void *arg, unsigned int cpu, const char *data, size_t len), void *arg);

/** live_describe - the descriptions of the sources, for the metadata. Return: entries written, at most @room
 */
int live_describe(struct live *l, struct grt_env *env, int room);

/** live_span - the span whose events the consumer, and @keep before it, have got; ns */
void live_span(const struct live *l, uint64_t *from, uint64_t *to);

/** live_session - the session over all streams, from live_start() to live_close() */
struct grt_session *live_session(struct live *l);

/**
 * live_run - passes events to a consumer as they come, at most 0.1 s late; at the end,
 * stops the sources and passes their remaining events
 * Return: 0 at the end, the result of a callback (which must not be 1, because 1
 * means "more may come"), or a negative errno
 */
int live_run(struct live *l, struct grt_consumer *c, const struct live_limits *limits, struct grt_err *err);

/** live_close - restores every setting and frees @l; NULL is allowed. Return: 0 or a negative errno */
int live_close(struct live *l, struct grt_err *err);

#endif /* GRTRACE_LIVE_H */
