/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs on their way, by identity: a fixed table from a job to one word, for a
 * stage that has to do something exactly once when the job is over, also when
 * too many are in flight: then the job that gives way is handed to the owner.
 *
 * Lock-free. An entry belongs to whoever brought its key from one value to
 * another by compare-and-swap; keys of entries that are being written are CLAIM.
 * Sequence numbers of a context are consecutive, and so are their sets.
 */
#ifndef GRTRACE_FLIGHTS_H
#define GRTRACE_FLIGHTS_H

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/string.h>

#include <grtrace/event.h>

#define FLIGHT_WAYS 4
#define FLIGHT_SETS 1024

#define FLIGHT_FREE  0
#define FLIGHT_CLAIM 1

/* Its word: a ring, a mark of the owner's, and a time modulo 2^54 ns (208 days). */
#define FLIGHT_NS_BITS	 54
#define FLIGHT_NS	 ((1ULL << FLIGHT_NS_BITS) - 1)
#define FLIGHT_MARK	 (1ULL << FLIGHT_NS_BITS)
#define FLIGHT_RING_BITS 8

struct flight {
	u64 key;
	u64 word;
};

struct flights {
	struct flight set[FLIGHT_SETS][FLIGHT_WAYS];
};

static inline u64 flight_word(u32 ring, u64 mark, u64 time)
{
	return (u64)ring << (64 - FLIGHT_RING_BITS) | mark | (time & FLIGHT_NS);
}

static inline u32 flight_ring(u64 word)
{
	return word >> (64 - FLIGHT_RING_BITS);
}

/* When it was, seen from a later @now. */
static inline u64 flight_time(u64 word, u64 now)
{
	return now - ((now - word) & FLIGHT_NS);
}

static inline u64 flight_key(const struct grt_event *e)
{
	u64 key = e->ctx * GOLDEN_RATIO_64 + e->seqno;

	return key > FLIGHT_CLAIM ? key : key + 2;
}

static inline struct flight *flight_set(struct flights *f, u64 key)
{
	return f->set[key & (FLIGHT_SETS - 1)];
}

/* The job's entry, NULL where it has none. */
static inline struct flight *flight_find(struct flights *f, u64 key)
{
	struct flight *at = flight_set(f, key);
	int i;

	for (i = 0; i < FLIGHT_WAYS; i++, at++)
		if (smp_load_acquire(&at->key) == key) /* before its word; pairs with flight_write() */
			return at;
	return NULL;
}

/* Takes the job out. Return: false where it is not there, or somebody else has it */
static inline bool flight_take(struct flights *f, u64 key, u64 *word)
{
	struct flight *at = flight_find(f, key);

	if (!at)
		return false;
	*word = READ_ONCE(at->word);
	return cmpxchg(&at->key, key, FLIGHT_FREE) == key;
}

static inline bool flight_write(struct flight *at, u64 from, u64 key, u64 word)
{
	if (cmpxchg(&at->key, from, FLIGHT_CLAIM) != from)
		return false;
	WRITE_ONCE(at->word, word);
	smp_store_release(&at->key, key); /* after its word */
	return true;
}

/* The entry of the oldest job of a full set. */
static inline struct flight *flight_oldest(struct flight *set, u64 now)
{
	struct flight *oldest = set;
	int i;

	for (i = 1; i < FLIGHT_WAYS; i++)
		if (flight_time(READ_ONCE(set[i].word), now) < flight_time(READ_ONCE(oldest->word), now))
			oldest = &set[i];
	return oldest;
}

/* enum flight_put - what became of a new job */
enum flight_put {
	FLIGHT_NEW,	/* it is there */
	FLIGHT_SAME,	/* it was there already, and stays as it was */
	FLIGHT_EVICTED,	/* it is there, and another one had to go */
	FLIGHT_NO_ROOM,	/* CPUs met in its set: it is not there */
};

/*
 * Adds a job. @evicted: gets the word of the one that had to go
 */
static inline enum flight_put flight_put(struct flights *f, u64 key, u64 word, u64 now, u64 *evicted)
{
	struct flight *set = flight_set(f, key), *at;
	u64 old;
	int i;

	if (flight_find(f, key))
		return FLIGHT_SAME;
	for (i = 0; i < FLIGHT_WAYS; i++)
		if (READ_ONCE(set[i].key) == FLIGHT_FREE && flight_write(&set[i], FLIGHT_FREE, key, word))
			return FLIGHT_NEW;
	at = flight_oldest(set, now);
	old = READ_ONCE(at->key);
	*evicted = READ_ONCE(at->word);
	if (old == FLIGHT_CLAIM || !flight_write(at, old, key, word))
		return FLIGHT_NO_ROOM;
	return old == FLIGHT_FREE ? FLIGHT_NEW : FLIGHT_EVICTED;
}

static inline struct flights *flights_new(void)
{
	return kvzalloc(sizeof(struct flights), GFP_KERNEL);
}

/* Nobody uses it meanwhile. */
static inline void flights_clear(struct flights *f)
{
	memset(f, 0, sizeof(*f));
}

#endif /* GRTRACE_FLIGHTS_H */
