/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Made-up jobs for the tests of stages: jobs of several rings, overlapping at
 * random, one step at a time through `emit`; and what was recorded of them, in
 * the order of time, to compare a stage's figures with.
 */
#ifndef PLAY_H
#define PLAY_H

#include "kmod.h"

/* The rings that are played on, by what their driver tells. */
enum play_ring {
	PLAY_ALL,	/* every step */
	PLAY_NO_START,	/* SUBMIT, COMMIT, END, COMPLETE */
	PLAY_NO_QUEUE,	/* SUBMIT is COMMIT; COMPLETE */
	PLAY_NO_COMMIT, /* SUBMIT, START, END, COMPLETE */
	PLAY_RINGS,
};

/**
 * play - plays jobs
 * @ms: for this long
 * @nap_us: longest sleep between two steps
 * @depth: most jobs at a time on each ring
 * Return: false after failing the case; jobs that were begun are ended
 */
bool play(unsigned int ms, unsigned int nap_us, unsigned int depth);

/** play_wait - sleeps */
void play_wait(unsigned int ms);

/* Sets of the module's table of jobs; each has room for four that are in flight. */
#define PLAY_SETS 1024

/** play_seqno - the first sequence number of a context whose job falls into a set of that table; or add
 * PLAY_SETS */
unsigned int play_seqno(unsigned int ctx, unsigned int set);

/**
 * struct play_record - an event of a capture
 */
struct play_record {
	const struct grt_event *e;
	uint32_t cpu;
};

/** play_records - all records of a capture by time. Return: an array to be freed, @n gets its length */
struct play_record *play_records(const struct capture *c, size_t *n);

#endif /* PLAY_H */
