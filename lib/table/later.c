// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Rows that another thread writes. They are collected in a batch of bounded size. A full batch belongs to the
 * thread, which is waited for before it gets the next one; so batches are written in order, and two are
 * enough. Whatever else the writer does waits for all rows first (grt_writer_settle()).
 */
#include "later.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define BATCH_ROWS 8192U

/** struct later_batch - @size: of each of @rows, of which @used are there */
struct later_batch {
	struct grt_writer *writer;
	char *row;
	size_t size;
	uint32_t used;
	int ret;
};

/**
 * struct grt_later - rows that wait
 * @collected: by the caller; @written: by @thread while @full
 * @lock: guards @full and @ends
 * @turned: one of them has changed
 * @runs: there is a thread
 * @error: a negative errno of a row
 */
struct grt_later {
	struct later_batch collected;
	struct later_batch written;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	pthread_t thread;
	bool full;
	bool ends;
	bool runs;
	int error;
};

static void later_write(struct later_batch *b)
{
	for (uint32_t i = 0; i < b->used && !b->ret; i++)
		b->ret = grt_writer_put_row(b->writer, b->row + i * b->size);
	b->used = 0;
}

static void *later_run(void *arg)
{
	struct grt_later *l = arg;

	pthread_mutex_lock(&l->lock);
	while (l->full || !l->ends) {
		if (!l->full) {
			pthread_cond_wait(&l->turned, &l->lock);
			continue;
		}
		pthread_mutex_unlock(&l->lock);
		later_write(&l->written);
		pthread_mutex_lock(&l->lock);
		l->full = false;
		pthread_cond_signal(&l->turned);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

static bool later_start(struct grt_later *l)
{
	sigset_t all, before;

	/* the command's thread gets them */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	l->runs = !pthread_create(&l->thread, NULL, later_run, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return l->runs;
}

static struct grt_later *later_new(void)
{
	struct grt_later *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->turned, NULL);
	return l;
}

static void later_wait(struct grt_later *l)
{
	pthread_mutex_lock(&l->lock);
	while (l->full)
		pthread_cond_wait(&l->turned, &l->lock);
	pthread_mutex_unlock(&l->lock);
	l->error = l->error ?: l->written.ret;
}

/* The full batch for the thread, and the one that it has written for the caller. */
static void later_hand_over(struct grt_later *l)
{
	struct later_batch full = l->collected;

	later_wait(l);
	if (l->error)
		return;
	l->collected = l->written;
	l->written = full;
	if (!l->runs && !later_start(l)) {
		later_write(&l->written);
		return;
	}
	pthread_mutex_lock(&l->lock);
	l->full = true;
	pthread_cond_signal(&l->turned);
	pthread_mutex_unlock(&l->lock);
}

static bool later_room(struct later_batch *b, struct grt_writer *w, size_t size)
{
	if (!b->row || b->size != size) {
		free(b->row);
		*b = (struct later_batch){.writer = w, .row = malloc(BATCH_ROWS * size), .size = size};
	}
	return b->row;
}

int grt_writer_row_later(struct grt_writer *w, const void *row, size_t size)
{
	struct grt_later *l = w->beside ? w->later ?: later_new() : NULL;
	struct later_batch *b = l ? &l->collected : NULL;

	w->later = l ?: w->later;
	/* without memory for many rows there may be some for one */
	if (!l || (b->used && b->size != size) || !later_room(b, w, size))
		return grt_writer_row(w, row);
	memcpy(b->row + b->used++ * size, row, size);
	if (b->used == BATCH_ROWS)
		later_hand_over(l);
	return l->error;
}

int grt_writer_settle(struct grt_writer *w)
{
	struct grt_later *l = w->later;

	if (!l)
		return 0;
	later_wait(l);
	if (!l->error && l->collected.used) {
		later_write(&l->collected);
		l->error = l->collected.ret;
	}
	l->collected.used = 0;
	return l->error;
}

void grt_later_free(struct grt_later *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->ends = true;
	pthread_cond_signal(&l->turned);
	pthread_mutex_unlock(&l->lock);
	if (l->runs)
		pthread_join(l->thread, NULL);
	pthread_cond_destroy(&l->turned);
	pthread_mutex_destroy(&l->lock);
	free(l->collected.row);
	free(l->written.row);
	free(l);
}
