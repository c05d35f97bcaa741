/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Records that one thread writes, for several readers: each of them gets all that are for it, in their
 * order. The records go to them in batches. Readers have no threads of their own: further threads, and the
 * writer where it has run far enough ahead, read for whichever reader has most before it. So no thread waits
 * while there is something to read, however unequal the readers are, and there need not be more threads than
 * cores.
 *
 *	grt_feed_new(&f, threads)
 *	grt_feed_reader(f, take, arg)
 *	p = grt_feed_put(f, kind, readers, size)	and fill it in
 *	grt_feed_end(f)
 *	grt_feed_free(f)
 */
#ifndef GRT_BASE_FEED_H
#define GRT_BASE_FEED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define GRT_FEED_READERS_MAX 8U
#define GRT_FEED_THREADS_MAX GRT_FEED_READERS_MAX
/* The largest event and what stands beside it fit into a batch. */
#define GRT_FEED_BATCH (128U << 10)
#define GRT_FEED_BATCHES 64U
/* A thread that sleeps and wakes, or turns to another reader, loses time: it does so for that many batches.
 */
#define GRT_FEED_SOME (GRT_FEED_BATCHES / 8)

/**
 * struct grt_feed_record - a record
 * @size: with this head, bytes, a multiple of 8
 * @kind: for the readers
 * @readers: bits of those for whom it is
 */
struct grt_feed_record {
	uint32_t size;
	uint16_t kind;
	uint8_t readers;
	uint8_t unused;
	uint64_t payload[];
};

/**
 * struct grt_feed_batch - @readers: those for whom some of its records are. Each has a cache line of its own:
 * the writer changes one while others are read
 */
struct grt_feed_batch {
	char *at;
	uint32_t used;
	uint32_t readers;
} __attribute__((aligned(64)));

/**
 * struct grt_feed_reader - a reader
 * @take: gets the records of a batch that has one for the reader, see grt_feed_next(); in any thread, in one
 * at a time
 * @next: number of the batch that it reads next
 * @busy: a thread reads for it
 */
struct grt_feed_reader {
	void (*take)(void *arg, const struct grt_feed_record *r, const struct grt_feed_record *end);
	void *arg;
	uint64_t next;
	bool busy;
};

/**
 * struct grt_feed - the batches, the readers and the threads
 * @now: the batch that is being written
 * @threads: of these, @run run
 * @lock: guards what follows, and the readers
 * @filled: there is something to read for a thread
 * @emptied: some batches were read, or a reader is no longer busy
 * @full: number of batches that were handed over
 * @sleepers: threads that wait for @filled
 */
struct grt_feed {
	struct grt_feed_batch *now;
	struct grt_feed_batch batch[GRT_FEED_BATCHES];
	struct grt_feed_reader reader[GRT_FEED_READERS_MAX];
	unsigned int readers;
	char *room;
	pthread_t thread[GRT_FEED_THREADS_MAX];
	unsigned int threads, run;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	pthread_cond_t emptied;
	uint64_t full;
	unsigned int sleepers;
	bool ends;
};

/** grt_feed_new - without readers; @threads: at most so many further threads read. Return: 0 or -ENOMEM */
int grt_feed_new(struct grt_feed **out, unsigned int threads);

/**
 * grt_feed_reader - adds a reader, before the first record; at most GRT_FEED_READERS_MAX
 * Return: its bit
 */
unsigned int grt_feed_reader(struct grt_feed *f,
			     void (*take)(void *arg, const struct grt_feed_record *r,
					  const struct grt_feed_record *end),
			     void *arg);

/** grt_feed_next - the record after this one; it is the end of the batch if there is none */
static inline const struct grt_feed_record *grt_feed_next(const struct grt_feed_record *r)
{
	return (const struct grt_feed_record *)(const void *)((const char *)r + r->size);
}

/** grt_feed_turn - hands over the present batch and goes on with an empty one, for which it may have to read
 */
void grt_feed_turn(struct grt_feed *f);

/** grt_feed_fits - whether the present batch has room for a record with a payload of @size bytes */
static inline bool grt_feed_fits(const struct grt_feed *f, uint32_t size)
{
	return GRT_FEED_BATCH - f->now->used >= sizeof(struct grt_feed_record) + size + 7;
}

/**
 * grt_feed_put - adds a record
 * @size: of its payload, bytes; at most UINT16_MAX + 1024
 * Return: room for the payload, which the caller fills in before it calls anything else of the feed
 */
static inline void *grt_feed_put(struct grt_feed *f, unsigned int kind, unsigned int readers, uint32_t size)
{
	struct grt_feed_record *r;

	if (!grt_feed_fits(f, size))
		grt_feed_turn(f);
	r = (struct grt_feed_record *)(void *)(f->now->at + f->now->used);
	*r = (struct grt_feed_record){
		.size = (uint32_t)sizeof(*r) + ((size + 7) & ~7U),
		.kind = (uint16_t)kind,
		.readers = (uint8_t)readers,
	};
	f->now->used += r->size;
	f->now->readers |= readers;
	return r->payload;
}

/** grt_feed_end - hands over what is left and reads until all is read; there are no records after it */
void grt_feed_end(struct grt_feed *f);

/** grt_feed_free - ends it and frees it; NULL is allowed */
void grt_feed_free(struct grt_feed *f);

#endif /* GRT_BASE_FEED_H */
