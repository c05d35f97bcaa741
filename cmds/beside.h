/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Analyses in a second thread, which reads the recording by itself: both threads share nothing but the
 * recording. The command's thread writes their results in the usual order, so the output is the same as with
 * one thread.
 */
#ifndef GRTRACE_BESIDE_H
#define GRTRACE_BESIDE_H

#include <pthread.h>

#include "lib/analyses.h"
#include "reading.h"

/**
 * struct beside - begins as zeroes
 * @a: the analyses; empty if there is no thread
 * @session: the recording, opened once more
 * @from, @to: the span of events that @a gets
 * @begun: see beside_begin()
 * @ret, @err: the result of the thread, after its end
 */
struct beside {
	struct grt_analyses a;
	struct grt_session *session;
	uint64_t from;
	uint64_t to;
	pthread_t thread;
	bool begun;
	bool runs;
	int ret;
	struct grt_err err;
};

/**
 * beside_threads - with how many threads an input is read best: one, or as many as this process has cores if
 * the input is large, is neither a pipe nor text (which is completely in memory), and no filter is set. The
 * environment variable GRTRACE_THREADS has a number for small recordings, too
 */
unsigned int beside_threads(struct grt_session *s, const char *path, const struct filter *filter);

/** beside_open - opens the recording a second time if a second thread saves time. Return: whether it was
 * opened */
bool beside_open(struct beside *b, struct grt_session *s, const char *path, const struct filter *filter);

/**
 * beside_take - moves the requested analyses of these turns from @a into @b
 * @a: all requested analyses and their pass; not begun
 * Return: 0 or -ENOMEM
 */
int beside_take(struct beside *b, struct grt_analyses *a, unsigned int turns);

/** beside_set - sets the time that is read, before beside_begin() */
void beside_set(struct beside *b, uint64_t from, uint64_t to, const struct reading_span *span);

/** beside_begin - starts to read in a second thread; if none can be made, beside_end() reads. Later calls do
 * nothing */
void beside_begin(struct beside *b);

/**
 * beside_end - waits for the thread and moves the analyses back into @a. Without beside_begin(), they had no
 * events. Return: 0, or a negative errno with @b->err set
 */
int beside_end(struct beside *b, struct grt_analyses *a);

/** beside_free - frees it; call this after @a was freed */
void beside_free(struct beside *b);

#endif /* GRTRACE_BESIDE_H */
