/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources whose events are text. The text is written to a file while a program runs. When the program has
 * ended, a thread reads it as any other text, and passes packets through a pipe. So the recording has what
 * the library's readers make of the file, and the file can be kept.
 */
#ifndef GRTRACE_TEXTLOG_H
#define GRTRACE_TEXTLOG_H

#include <pthread.h>
#include <semaphore.h>

#include <grtrace/grtrace.h>

/**
 * struct textlog_settings - what `rocm record` requests
 * @dir: where the texts are kept; NULL: nowhere
 * @log_name, @trace_name: their names in it
 * @level: AMD_LOG_LEVEL, 0: 4
 * @functions: of the kernel, with commas; NULL: KFD's
 * @capture_stderr: the log comes through the program's standard error
 * @mark: the program runs in a container, where this word is in its environment; NULL: it runs here
 */
struct textlog_settings {
	const char *dir;
	const char *log_name;
	const char *trace_name;
	unsigned int level;
	const char *functions;
	bool capture_stderr;
	const char *mark;
};

/* Set before the sources are opened. */
extern struct textlog_settings textlog_settings;

/**
 * struct textlog - a text
 * @path: of the file; @kept: it stays
 * @temp: its directory, where that is its own
 * @file: it
 * @in: where the text comes from, -1: another process writes the file
 * @copy: moves bytes from @in with textlog_write(), in the end NULL; NULL: as they are
 * @keep: bits (1 << CAP_*) that the thread keeps when privileges are given up
 * @tick: called about every second while the text comes; NULL: nothing
 * @leave: all the text has come, and is read next; NULL: nothing
 * @edit: changes an event before it is kept; NULL: none
 * @arg: for these
 * @pipe: packets
 * @wake: an eventfd that ends copying
 * @ready: the thread has taken the next step: it is there, it has given up its privileges
 * @confined: it may do that; @not_confined: -errno of that
 * @events, @lost, @late: of the packets, once they are written
 * @health, @skipped: of the text
 * @stopped: it was asked to end
 * @failed: the first -errno; @why: its reason, "": none
 * @unwritten: lines that came, but are not in the file
 */
struct textlog {
	char path[4096 + 32];
	char temp[4096];
	bool kept;
	int file;
	int in;
	void (*copy)(struct textlog *t, const char *data, size_t len);
	uint64_t keep;
	void (*tick)(struct textlog *t);
	void (*leave)(struct textlog *t);
	void (*edit)(struct textlog *t, struct grt_event *e);
	void *arg;
	int pipe[2];
	int wake;
	pthread_t thread;
	sem_t ready;
	sem_t confined;
	int not_confined;
	bool running;
	bool stopped;
	uint64_t bytes;
	uint64_t events;
	uint64_t lost;
	uint64_t late;
	struct grt_health health;
	bool empty;
	int failed;
	struct grt_err why;
	uint64_t unwritten;
	char text[256];
	char skipped[512];
};

/* Nothing was opened yet. */
#define TEXTLOG_NONE ((struct textlog){.file = -1, .in = -1, .pipe = {-1, -1}, .wake = -1})

struct source_setup;

/**
 * textlog_open - makes the file: NAME in the settings' directory, else in one of its own that goes with it;
 * it belongs to the user who started the recording
 * Return: 0 or -errno
 */
int textlog_open(struct textlog *t, const char *name, const struct source_setup *setup, struct grt_err *err);

/** textlog_start - makes the thread, which waits for textlog_confined(); @in: may be -1. Return: 0 or -errno
 */
int textlog_start(struct textlog *t, int in, struct grt_err *err);

/**
 * textlog_confined, textlog_streams, textlog_read - operations of a source whose state begins with its struct
 * textlog. Confined, the thread gives up its privileges, then reads the text
 */
int textlog_confined(void *state, struct grt_err *err);
unsigned int textlog_streams(void *state, struct pollfd *fds);
ssize_t textlog_read(void *state, unsigned int i, void *buf, size_t len);

/** textlog_write - appends to the file; once that has failed lines are only counted */
void textlog_write(struct textlog *t, const char *data, size_t len);

/** textlog_failed - something could not be written into the file: textlog_close() returns it */
void textlog_failed(struct textlog *t, int code);

/** textlog_stop - no more text comes; packets do. @lost: events that the text does not tell to be missing */
void textlog_stop(struct textlog *t, uint64_t lost);

/** textlog_summary - what was in the text, for the recording's environment; once the packets have been read
 */
const char *textlog_summary(struct textlog *t);

/** textlog_skipped - what was passed over in it, and why: "name: number, ...", the first kinds of it; once
 * the packets have been read */
const char *textlog_skipped(const struct textlog *t);

/**
 * textlog_close - ends the source and removes files that are not kept. Return: 0, or -errno if events are
 * missing
 */
int textlog_close(struct textlog *t, struct grt_err *err);

#endif /* GRTRACE_TEXTLOG_H */
