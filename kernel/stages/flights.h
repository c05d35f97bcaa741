/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs on their way, by identity: a fixed table from a job to one word, for a
 * stage that has to do something exactly once when the job is over, also when
 * too many are in flight: then the job that gives way is handed to the owner.
 *
 * Lock-free. Whoever brings a free entry's key to CLAIM owns the entry until it
 * has a job; whoever brings a job's word to NONE has taken the job, and owns the
 * entry until it is free or has another one. No word comes twice in an entry: it
 * has the time in it.
 *
 * What the owner counts, it counts between flight_claim() and flight_publish(),
 * so that nobody can take a job that is not counted yet.
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

#define FLIGHT_NONE 0

/* The word: a ring's slot, a mark of the owner's, and a time modulo 2^54 ns (208 days). */
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

/* The time of a word, as seen at the later time @now. */
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

/* The job's entry; NULL: it has none. */
static inline struct flight *flight_find(struct flights *f, u64 key)
{
	struct flight *at = flight_set(f, key);
	int i;

	for (i = 0; i < FLIGHT_WAYS; i++, at++)
		if (smp_load_acquire(&at->key) == key) /* pairs with flight_publish() */
			return at;
	return NULL;
}

/* The job's present word; NONE: the job has gone. */
static inline u64 flight_look(const struct flight *at, u64 key)
{
	u64 word = smp_load_acquire(&at->word); /* before the key: that of another job would not fit */

	return READ_ONCE(at->key) == key ? word : FLIGHT_NONE;
}

/* Marks the job whose word is @word. Return: false: another CPU was faster */
static inline bool flight_mark(struct flight *at, u64 word)
{
	return cmpxchg(&at->word, word, word | FLIGHT_MARK) == word;
}

/* Takes the job out. Return: false: it is not there, or another CPU has taken it */
static inline bool flight_take(struct flights *f, u64 key, u64 *word)
{
	struct flight *at = flight_find(f, key);

	if (!at)
		return false;
	do {
		*word = flight_look(at, key);
		if (*word == FLIGHT_NONE)
			return false;
	} while (cmpxchg(&at->word, *word, FLIGHT_NONE) != *word); /* it was marked: that happens once */
	smp_store_release(&at->key, FLIGHT_FREE);
	return true;
}

static inline struct flight *flight_claim_free(struct flight *set)
{
	int i;

	for (i = 0; i < FLIGHT_WAYS; i++)
		if (READ_ONCE(set[i].key) == FLIGHT_FREE &&
		    cmpxchg(&set[i].key, FLIGHT_FREE, FLIGHT_CLAIM) == FLIGHT_FREE)
			return &set[i];
	return NULL;
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

static inline struct flight *flight_claim_oldest(struct flight *set, u64 now, u64 *evicted)
{
	struct flight *at = flight_oldest(set, now);
	u64 word = smp_load_acquire(&at->word); /* before the key, as in flight_look() */

	if (word == FLIGHT_NONE || READ_ONCE(at->key) <= FLIGHT_CLAIM ||
	    cmpxchg(&at->word, word, FLIGHT_NONE) != word)
		return NULL;
	WRITE_ONCE(at->key, FLIGHT_CLAIM);
	*evicted = word;
	return at;
}

/**
 * flight_claim - claims an entry for a new job
 * @evicted: gets the word of the job that was removed for it; NONE: there was room
 * Return: the entry for flight_publish(); NULL: the job is there already, or another CPU is
 * working in its set
 */
static inline struct flight *flight_claim(struct flights *f, u64 key, u64 now, u64 *evicted)
{
	struct flight *set = flight_set(f, key);

	*evicted = FLIGHT_NONE;
	if (flight_find(f, key))
		return NULL;
	return flight_claim_free(set) ?: flight_claim_oldest(set, now, evicted);
}

/** flight_publish - from now on, other CPUs find the job */
static inline void flight_publish(struct flight *at, u64 key, u64 word)
{
	WRITE_ONCE(at->word, word);
	smp_store_release(&at->key, key); /* after its word; pairs with flight_find() */
}

static inline struct flights *flights_new(void)
{
	return kvzalloc(sizeof(struct flights), GFP_KERNEL);
}

/* Takes out all jobs of a ring. */
static inline void flights_forget(struct flights *f, u32 ring)
{
	struct flight *at = f->set[0];
	u64 key, word;

	for (; at < f->set[0] + FLIGHT_SETS * FLIGHT_WAYS; at++) {
		key = smp_load_acquire(&at->key); /* before its word */
		if (key <= FLIGHT_CLAIM)
			continue;
		word = flight_look(at, key);
		if (word != FLIGHT_NONE && flight_ring(word) == ring)
			flight_take(f, key, &word);
	}
}

/* Call this only while nobody uses the table. */
static inline void flights_clear(struct flights *f)
{
	memset(f, 0, sizeof(*f));
}

#endif /* GRTRACE_FLIGHTS_H */
