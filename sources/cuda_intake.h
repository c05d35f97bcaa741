/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of processes with libgrtrace-cuda.so that the recorder takes itself, for it keeps them in memory or
 * in segments: from a socket in the recording's directory, one connection by process, and from pipes of
 * processes that were asked. Each stream of a process has a place of its own; places of processes that have
 * ended are used again. Memory: a packet for each process.
 */
#ifndef GRTRACE_CUDA_INTAKE_H
#define GRTRACE_CUDA_INTAKE_H

#include <stdbool.h>
#include <sys/types.h>

#include <grtrace/grtrace.h>

/* Streams of processes that are there at once; and their processes. */
#define CUDA_INTAKE_PLACES 256
#define CUDA_INTAKE_PROCESSES 128

struct cuda_intake;

/**
 * struct cuda_intake_ops - @process: below CUDA_INTAKE_PROCESSES
 * @packet: a whole one of a process, in their order
 * @ended: its last one was there
 */
struct cuda_intake_ops {
	void (*packet)(void *arg, unsigned int process, const struct grt_packet *p);
	void (*ended)(void *arg, unsigned int process);
	void *arg;
};

/** cuda_intake_new - Return: 0 or -errno with *err */
int cuda_intake_new(struct cuda_intake **in, const struct cuda_intake_ops *ops, struct grt_err *err);

/** cuda_intake_listen - makes the socket in a directory, for @uid and @gid, -1: us. Return: 0 or -errno with
 * *err */
int cuda_intake_listen(struct cuda_intake *in, int dir, uid_t uid, gid_t gid, struct grt_err *err);

/** cuda_intake_add - a pipe, which stays the caller's. Return: 0 or -errno */
int cuda_intake_add(struct cuda_intake *in, int pipe);

/** cuda_intake_fd - for poll() */
int cuda_intake_fd(const struct cuda_intake *in);

/** cuda_intake_read - packets of one place. Return: > 0 bytes, 0: all have ended after cuda_intake_stop(),
 * -EAGAIN or another -errno */
ssize_t cuda_intake_read(struct cuda_intake *in, void *buf, size_t len);

/** cuda_intake_place - of what was read last */
unsigned int cuda_intake_place(const struct cuda_intake *in);

/** cuda_intake_stop - nobody else comes; those that are there have some time for their end */
void cuda_intake_stop(struct cuda_intake *in, unsigned int ms);

/** cuda_intake_text - processes that were refused or given up, and why; NULL: none */
const char *cuda_intake_text(struct cuda_intake *in);

/** cuda_intake_free - NULL is allowed */
void cuda_intake_free(struct cuda_intake *in);

#endif /* GRTRACE_CUDA_INTAKE_H */
