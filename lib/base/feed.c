// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "feed.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

int grt_feed_new(struct grt_feed **out)
{
	struct grt_feed *f = aligned_alloc(_Alignof(struct grt_feed), sizeof(*f));

	*out = NULL;
	if (!f)
		return -ENOMEM;
	*f = (struct grt_feed){.room = malloc((size_t)GRT_FEED_BATCHES * GRT_FEED_BATCH)};
	if (!f->room) {
		free(f);
		return -ENOMEM;
	}
	*out = f;
	for (unsigned int i = 0; i < GRT_FEED_BATCHES; i++)
		f->batch[i].at = f->room + (size_t)i * GRT_FEED_BATCH;
	f->now = f->batch;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->filled, NULL);
	pthread_cond_init(&f->emptied, NULL);
	return 0;
}

unsigned int grt_feed_reader(struct grt_feed *f,
			     void (*take)(void *arg, const struct grt_feed_record *r,
					  const struct grt_feed_record *end),
			     void *arg)
{
	f->reader[f->readers] = (struct grt_feed_reader){.feed = f, .take = take, .arg = arg};
	return 1U << f->readers++;
}

/* --------------------------------------------------------------- readers */

static void feed_read_batch(const struct grt_feed_reader *r, const struct grt_feed_batch *b)
{
	r->take(r->arg, (const void *)b->at, (const void *)(b->at + b->used));
}

static bool feed_is_for(const struct grt_feed *f, const struct grt_feed_reader *r,
			const struct grt_feed_batch *b)
{
	return b->readers >> (r - f->reader) & 1;
}

static void *feed_run(void *arg)
{
	struct grt_feed_reader *r = arg;
	struct grt_feed *f = r->feed;
	const struct grt_feed_batch *b;

	pthread_mutex_lock(&f->lock);
	while (r->next != f->full || !f->ends) {
		if (r->next == f->full) {
			pthread_cond_wait(&f->filled, &f->lock);
			continue;
		}
		b = &f->batch[r->next % GRT_FEED_BATCHES];
		pthread_mutex_unlock(&f->lock);
		if (feed_is_for(f, r, b))
			feed_read_batch(r, b);
		pthread_mutex_lock(&f->lock);
		r->next++;
		pthread_cond_signal(&f->emptied);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

static bool feed_start(struct grt_feed_reader *r)
{
	sigset_t all, before;

	r->next = r->feed->full;
	/* the command's thread gets them */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r->runs = !pthread_create(&r->thread, NULL, feed_run, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	r->alone = !r->runs;
	return r->runs;
}

/* ---------------------------------------------------------------- writer */

/* Return: whether some reader has not read the batch that is the next one to be written. */
static bool feed_is_behind(const struct grt_feed *f)
{
	for (unsigned int i = 0; i < f->readers; i++)
		if (f->reader[i].runs && f->full - f->reader[i].next >= GRT_FEED_BATCHES)
			return true;
	return false;
}

void grt_feed_turn(struct grt_feed *f)
{
	for (unsigned int i = 0; i < f->readers; i++) {
		struct grt_feed_reader *r = &f->reader[i];

		if (r->runs || !feed_is_for(f, r, f->now))
			continue;
		if (r->alone || !feed_start(r))
			feed_read_batch(r, f->now);
	}
	pthread_mutex_lock(&f->lock);
	f->full++;
	pthread_cond_broadcast(&f->filled);
	while (feed_is_behind(f))
		pthread_cond_wait(&f->emptied, &f->lock);
	pthread_mutex_unlock(&f->lock);
	f->now = &f->batch[f->full % GRT_FEED_BATCHES];
	f->now->used = 0;
	f->now->readers = 0;
}

void grt_feed_end(struct grt_feed *f)
{
	if (f->ends)
		return;
	if (f->now->used)
		grt_feed_turn(f);
	pthread_mutex_lock(&f->lock);
	f->ends = true;
	pthread_cond_broadcast(&f->filled);
	pthread_mutex_unlock(&f->lock);
	for (unsigned int i = 0; i < f->readers; i++)
		if (f->reader[i].runs)
			pthread_join(f->reader[i].thread, NULL);
}

void grt_feed_free(struct grt_feed *f)
{
	if (!f)
		return;
	grt_feed_end(f);
	pthread_cond_destroy(&f->filled);
	pthread_cond_destroy(&f->emptied);
	pthread_mutex_destroy(&f->lock);
	free(f->room);
	free(f);
}
