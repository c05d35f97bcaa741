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
 * The output of a view is the business of its command.
 */
#ifndef GRTRACE_LIVE_H
#define GRTRACE_LIVE_H

#include <grtrace/grtrace.h>

struct live;

/**
 * struct live_setup - what is watched
 * @sources: names of sources.def, with commas between
 * @pid: only events of this process, and the run ends with it; 0: of all
 * @gpu_users: of all processes that use CUDA, for the source `cuda`
 * @buffer_size: bytes per CPU, 0: as it is
 * @driver: the driver whose fences are jobs, for the source `fence`; NULL: none
 * @flag: an option of sources that is on, of those that have it; NULL: none
 * @types: events that are wanted; all zero: all
 * @any: a source that does not work here is told through @note, and the others
 *	go on; otherwise it is an error. None that works is one either way
 * @stack: the CPU stack of each submit is wanted
 * @keep: gets all that is read, in whole packets: @place is the file that they would have in a recording, of
 *	the @source-th source. Return: 0 or -errno, which ends the run. May be NULL
 * @arg: handed to it
 * @note: tells the user what was done on the way
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
	int (*keep)(void *arg, unsigned int place, unsigned int source, const char *data, size_t len);
	void *arg;
	void (*note)(const char *text);
};

/**
 * struct live_files - what a source's packets would have in a recording
 * @places: files, those from @streams on made with their first packet
 * @uncut: it has no window
 */
struct live_files {
	const char *source;
	unsigned int places;
	unsigned int streams;
	bool uncut;
};

/**
 * struct live_limits - how long it runs
 * @seconds: ends after this time, 0: never
 * @interval: seconds between calls of @tick, 0: never called
 * @tick: called between events; a non-zero result ends the run
 * @idle: called when all events that there are have been handed out, so that
 *	what was printed can be flushed; may be NULL, a non-zero result ends the run
 * @prompt: somebody watches single events: sources that can are looked at more often
 * @fd: it is readable when @idle is to be called soon, 0: there is none
 * @arg: handed to both
 */
struct live_limits {
	double seconds;
	double interval;
	int (*tick)(void *arg);
	int (*idle)(void *arg);
	bool prompt;
	int fd;
	void *arg;
};

/**
 * live_open - opens sources; nothing is captured yet
 * @out: to be given to live_close(), also after an error; NULL without memory
 * Return: 0, -EINVAL for a name that is no source, or a negative errno;
 * kmod_exit_status() makes an exit status of it
 */
int live_open(struct live **out, const struct live_setup *setup, struct grt_err *err);

/** live_has - whether the source of this name was opened */
bool live_has(const struct live *l, const char *source);

/**
 * live_source - the name of the @i-th source that was opened, NULL behind the last
 * @balance: gets what became of its events, as far as its packets say
 */
const char *live_source(const struct live *l, unsigned int i, struct grt_balance *balance);

/**
 * live_start - begins capture; then gives up, for good, privileges that only this needed: what is
 * written to is open before
 * Return: 0 or a negative errno
 */
int live_start(struct live *l, struct grt_err *err);

/** live_files - of the @i-th source, from live_start() on. Return: false behind the last */
bool live_files(const struct live *l, unsigned int i, struct live_files *files);

/** live_describe - what the sources say of themselves, for metadata. Return: entries written, at most @room
 */
int live_describe(struct live *l, struct grt_env *env, int room);

/** live_span - all events between these have been handed out, and to @keep before; ns */
void live_span(const struct live *l, uint64_t *from, uint64_t *to);

/** live_session - the session over all streams, from live_start() to live_close() */
struct grt_session *live_session(struct live *l);

/**
 * live_run - hands events to a consumer as they come, at most 0.1 s late; stops
 * the sources at the end and hands out what was left in them
 * Return: 0 at the end, what a callback returned (which must not be 1: that
 * cannot be distinguished from "more may come"), or a negative errno
 */
int live_run(struct live *l, struct grt_consumer *c, const struct live_limits *limits, struct grt_err *err);

/** live_close - puts every setting back and frees it; NULL is allowed. Return: 0 or a negative errno */
int live_close(struct live *l, struct grt_err *err);

#endif /* GRTRACE_LIVE_H */
