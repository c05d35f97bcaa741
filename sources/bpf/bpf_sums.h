/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sums of jobs that the BPF programs make, see struct grt_bpf_sum: gives processes on rings their places,
 * sets the moments at which sums end, and reads them. The sums lie in memory that the programs and we have
 * together.
 */
#ifndef GRTRACE_BPF_SUMS_LOADER_H
#define GRTRACE_BPF_SUMS_LOADER_H

#include "jobs/jobs.h"
#include "shared.h"

/** struct grt_bpf_sum_row - a process on a ring; @e: with the numbers that its events have; @idle: sums
 * without a job of it; @gone: it has no place any more, but the last sum may have jobs */
struct grt_bpf_sum_row {
	struct grt_bpf_sum_key key;
	uint32_t ring;
	uint32_t idle;
	bool used;
	bool gone;
	struct grt_event e;
};

/**
 * struct grt_bpf_sums - set up by grt_bpf_sums_open(); all bytes zero: there are none
 * @places: descriptor of sum_places
 * @sum, @ring, @times: the maps
 * @row: by number
 * @rings: of each element of @ring, its grt_bpf_ring.id, and how many @rows have it; without any it is free,
 *	from the turn @free on
 * @turns: so far
 * @next: number of the sum that begins next
 */
struct grt_bpf_sums {
	int places;
	struct grt_bpf_sum *sum;
	struct grt_bpf_sum_ring *ring;
	struct grt_bpf_sum_times *times;
	struct grt_bpf_sum_row row[BPF_SUM_ROWS];
	struct {
		uint32_t id;
		uint32_t rows;
		uint64_t free;
	} rings[BPF_SUM_ROWS];
	uint64_t turns;
	unsigned int next;
};

/** struct grt_bpf_sum_maps - descriptors of the maps of these names */
struct grt_bpf_sum_maps {
	int places;
	int sums;
	int rings;
	int times;
};

/** grt_bpf_sums_open - nothing is summed up before grt_bpf_sums_begin(). Return: 0 or -errno */
int grt_bpf_sums_open(struct grt_bpf_sums *s, const struct grt_bpf_sum_maps *maps);

/** grt_bpf_sums_begin - the first sums begin at @from, ns */
void grt_bpf_sums_begin(struct grt_bpf_sums *s, uint64_t from);

/**
 * grt_bpf_sums_meet - a job was a record: the next ones of its process on its ring shall be summed up, if
 * there is room
 * @ring: its grt_bpf_ring.id; @e: the record
 * @firmware: which of the ring's jobs runs is unknown
 */
void grt_bpf_sums_meet(struct grt_bpf_sums *s, uint32_t ring, const struct grt_event *e, bool firmware);

/** grt_bpf_sums_bound - the next sums begin at @at, ns */
void grt_bpf_sums_bound(struct grt_bpf_sums *s, uint64_t at);

/** grt_bpf_sums_turn - that moment is over: waits until no program adds to the sums before it */
void grt_bpf_sums_turn(struct grt_bpf_sums *s);

/** grt_bpf_sums_next - the next row of these sums, from @row on, that has jobs; @sum gets it. Return: its
 * number plus 1, 0: there is none */
unsigned int grt_bpf_sums_next(struct grt_bpf_sums *s, unsigned int row, struct grt_bpf_sum **sum);

/** grt_bpf_sums_each - calls @fn for each of these, then clears it. Return: 0 or the result of @fn, which
 * ends the loop */
int grt_bpf_sums_each(struct grt_bpf_sums *s, int (*fn)(void *arg, struct grt_job_sums *sums), void *arg);

/** grt_bpf_sums_close - frees it */
void grt_bpf_sums_close(struct grt_bpf_sums *s);

#endif /* GRTRACE_BPF_SUMS_LOADER_H */
