/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of the last jobs in sums, which stay in a ring buffer of the kernel until somebody wants a
 * recording of them: no job costs this process more than a look at the length of its record, when that is
 * freed. Programs find room as long as this process frees the oldest records often enough; without room a job
 * is no sum, but a record for this process, so none is lost.
 *
 * Memory: the size of the ring buffer, and while a recording is written about as much again.
 */
#ifndef GRTRACE_BPF_KEPT_H
#define GRTRACE_BPF_KEPT_H

#include <stddef.h>
#include <stdint.h>

/* Records are freed in such parts of the ring buffer; a quarter of it is free for new ones. */
#define BPF_KEPT_PARTS 64U
#define BPF_KEPT_FULL(bytes) ((bytes) - (bytes) / 4)

/** struct grt_bpf_kept_mark - records before the position @at were begun before the time @time, ns */
struct grt_bpf_kept_mark {
	uint64_t at;
	uint64_t time;
};

/**
 * struct grt_bpf_kept - set up by grt_bpf_kept_open(); all bytes zero: nothing is kept
 * @bytes: size of the ring buffer
 * @read: page of the ring buffer with the position up to which records are free
 * @written: page with the position up to which there are records, and after it the records
 * @mark: @marks marks, the oldest first
 * @from: all records from this time on are there, ns
 */
struct grt_bpf_kept {
	size_t bytes;
	uint64_t *read;
	const char *written;
	struct grt_bpf_kept_mark mark[BPF_KEPT_PARTS];
	unsigned int marks;
	uint64_t from;
};

/** grt_bpf_kept_open - @map: descriptor of the ring buffer, of @bytes bytes. Return: 0 or -errno */
int grt_bpf_kept_open(struct grt_bpf_kept *k, int map, size_t bytes);

/** grt_bpf_kept_look - frees the oldest records if there is not much room */
void grt_bpf_kept_look(struct grt_bpf_kept *k);

/**
 * grt_bpf_kept_each - calls @fn for each record; they stay
 * @fn: gets BPF_KEPT_BYTES bytes. Return: 0 or -errno, which ends the loop
 * Return: 0, -errno of @fn, -EPROTO: there is something else in the ring buffer, or -EAGAIN: a program does
 * not end its record
 */
int grt_bpf_kept_each(const struct grt_bpf_kept *k, int (*fn)(void *arg, const char *record), void *arg);

/** grt_bpf_kept_close - frees it */
void grt_bpf_kept_close(struct grt_bpf_kept *k);

#endif /* GRTRACE_BPF_KEPT_H */
