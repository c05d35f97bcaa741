// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "feed.h"

#include <errno.h>
#include <stdlib.h>

#include "thread.h"

int grt_feed_new(struct grt_feed **out, unsigned int threads)
{
	struct grt_feed *f = aligned_alloc(_Alignof(struct grt_feed), sizeof(*f));

	*out = NULL;
	if (!f)
		return -ENOMEM;
	*f = (struct grt_feed){
		.room = malloc((size_t)GRT_FEED_BATCHES * GRT_FEED_BATCH),
		.threads = threads < GRT_FEED_THREADS_MAX ? threads : GRT_FEED_THREADS_MAX,
	};
	if (!f->room) {
		free(f);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < GRT_FEED_BATCHES; i++)
		f->batch[i].at = f->room + (size_t)i * GRT_FEED_BATCH;
	f->now = f->batch;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->filled, NULL);
	pthread_cond_init(&f->emptied, NULL);
	*out = f;
	return 0;
}

unsigned int grt_feed_reader(struct grt_feed *f,
			     void (*take)(void *arg, const struct grt_feed_record *r,
					  const struct grt_feed_record *end),
			     void *arg)
{
	f->reader[f->readers] = (struct grt_feed_reader){.take = take, .arg = arg};
	return 1U << f->readers++;
}

/* --------------------------------------------------------------- reading */

/* The number of batches before a reader. */
static uint64_t feed_before(const struct grt_feed *f, const struct grt_feed_reader *r)
{
	return f->full - r->next;
}

/* The reader with most before it, at least @least batches, for which no thread reads; NULL: there is none. */
static struct grt_feed_reader *feed_choose(struct grt_feed *f, uint64_t least)
{
	struct grt_feed_reader *best = NULL;

	for (struct grt_feed_reader *r = f->reader; r < f->reader + f->readers; r++)
		if (!r->busy && feed_before(f, r) >= least &&
		    (!best || feed_before(f, r) > feed_before(f, best)))
			best = r;
	return best;
}

static void feed_read_batch(struct grt_feed *f, struct grt_feed_reader *r)
{
	const struct grt_feed_batch *b = &f->batch[r->next % GRT_FEED_BATCHES];

	if (b->readers >> (r - f->reader) & 1)
		r->take(r->arg, (const void *)b->at, (const void *)(b->at + b->used));
}

/* Reads some batches for a reader. The caller has the lock, which is open meanwhile. */
static void feed_read(struct grt_feed *f, struct grt_feed_reader *r)
{
	r->busy = true;
	for (unsigned int i = 0; i < GRT_FEED_SOME && feed_before(f, r); i++) {
		pthread_mutex_unlock(&f->lock);
		feed_read_batch(f, r);
		pthread_mutex_lock(&f->lock);
		r->next++;
	}
	r->busy = false;
	/* only the writer waits for it */
	pthread_cond_signal(&f->emptied);
}

static void feed_sleep(struct grt_feed *f)
{
	f->sleepers++;
	pthread_cond_wait(&f->filled, &f->lock);
	f->sleepers--;
}

static void *feed_run(void *arg)
{
	struct grt_feed *f = arg;
	struct grt_feed_reader *r;

	pthread_mutex_lock(&f->lock);
	while ((r = feed_choose(f, 1)) || !f->ends)
		if (r)
			feed_read(f, r);
		else
			feed_sleep(f);
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/* --------------------------------------------------------------- writing */

/* Without further threads, the writer reads. */
static void feed_start(struct grt_feed *f)
{
	while (f->run < f->threads && f->run < f->readers &&
	       grt_thread_start(&f->thread[f->run], feed_run, f))
		f->run++;
	f->threads = f->run;
}

/* Return: whether fewer than @n batches are empty. */
static bool feed_lacks(const struct grt_feed *f, unsigned int n)
{
	for (const struct grt_feed_reader *r = f->reader; r < f->reader + f->readers; r++)
		if (feed_before(f, r) > GRT_FEED_BATCHES - n)
			return true;
	return false;
}

/* Reads, or waits where others read, until there are so many empty batches. */
static void feed_empty(struct grt_feed *f, unsigned int n)
{
	struct grt_feed_reader *r;

	while (feed_lacks(f, n)) {
		r = feed_choose(f, 1);
		if (r)
			feed_read(f, r);
		else
			pthread_cond_wait(&f->emptied, &f->lock);
	}
}

void grt_feed_turn(struct grt_feed *f)
{
	if (f->run < f->threads)
		feed_start(f);
	pthread_mutex_lock(&f->lock);
	f->full++;
	if (f->sleepers && feed_choose(f, GRT_FEED_SOME))
		pthread_cond_signal(&f->filled);
	if (feed_lacks(f, 1))
		feed_empty(f, GRT_FEED_SOME);
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
	feed_empty(f, GRT_FEED_BATCHES);
	pthread_mutex_unlock(&f->lock);
	for (unsigned int i = 0; i < f->run; i++)
		pthread_join(f->thread[i], NULL);
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
