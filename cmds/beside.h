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
#include "filter.h"
#include "reading.h"

/**
 * struct beside - begins as zeroes
 * @a: the analyses; has none where there is no thread
 * @session: the recording, opened once more
 * @from, @to: what @a is fed with
 * @ret, @err: of the thread, once it is over
 */
struct beside {
	struct grt_analyses a;
	struct grt_session *session;
	uint64_t from;
	uint64_t to;
	pthread_t thread;
	bool runs;
	int ret;
	struct grt_err err;
};

/**
 * beside_open - opens the recording once more, where that pays: there are two cores for this process, it is
 * no pipe and no text, which is in memory as a whole, it is large, and all of it is wanted. GRTRACE_THREADS
 * in the environment: 1: never, a larger number: of a small one, too Return: whether it did
 */
bool beside_open(struct beside *b, struct grt_session *s, const char *path, const struct filter *filter);

/**
 * beside_take - takes those of the wanted analyses that are of these turns from others
 * @a: those, with what their pass knows; not begun
 * Return: 0 or -ENOMEM
 */
int beside_take(struct beside *b, struct grt_analyses *a, unsigned int turns);

/** beside_begin - reads, in a thread of its own: without one beside_end() does */
void beside_begin(struct beside *b, uint64_t from, uint64_t to, const struct reading_span *span);

/** beside_end - waits for it. @a gets the analyses. Return: 0, or a negative errno with @b->err set */
int beside_end(struct beside *b, struct grt_analyses *a);

/** beside_free - frees it, after those that have its analyses */
void beside_free(struct beside *b);

#endif /* GRTRACE_BESIDE_H */
