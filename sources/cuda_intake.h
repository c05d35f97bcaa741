/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of processes with libgrtrace-cuda.so, for recorders that keep packets in memory or in segments.
 * They come from a socket in the recording's directory, with one connection per process, and from pipes of
 * processes that cuda_ask_start() started. Each stream of a process has a place of its own; places of ended
 * processes are reused. Memory: a packet for each process.
 */
#ifndef GRTRACE_CUDA_INTAKE_H
#define GRTRACE_CUDA_INTAKE_H

#include <stdbool.h>
#include <sys/types.h>

#include <grtrace/grtrace.h>

/* Most streams at a time, and most processes. */
#define CUDA_INTAKE_PLACES 256
#define CUDA_INTAKE_PROCESSES 128

struct cuda_intake;

/**
 * struct cuda_intake_ops - callbacks; @process is below CUDA_INTAKE_PROCESSES
 * @packet: gets each complete packet of a process, in order
 * @ended: called after the last packet of a process
 */
struct cuda_intake_ops {
	void (*packet)(void *arg, unsigned int process, const struct grt_packet *p);
	void (*ended)(void *arg, unsigned int process);
	void *arg;
};

/** cuda_intake_new - allocates an intake. Return: 0 or -errno with *err */
int cuda_intake_new(struct cuda_intake **in, const struct cuda_intake_ops *ops, struct grt_err *err);

/**
 * cuda_intake_listen - creates the socket in a directory, owned by @uid and @gid, -1: by this process's user.
 * Return: 0 or -errno with *err
 */
int cuda_intake_listen(struct cuda_intake *in, int dir, uid_t uid, gid_t gid, struct grt_err *err);

/** cuda_intake_add - adds a pipe, which the caller closes. Return: 0 or -errno */
int cuda_intake_add(struct cuda_intake *in, int pipe);

/** cuda_intake_fd - a descriptor for poll() */
int cuda_intake_fd(const struct cuda_intake *in);

/**
 * cuda_intake_read - reads packets of one place. Return: > 0 bytes, 0: all processes have ended after
 * cuda_intake_stop(), -EAGAIN or another -errno
 */
ssize_t cuda_intake_read(struct cuda_intake *in, void *buf, size_t len);

/** cuda_intake_place - the place of the packets that were read last */
unsigned int cuda_intake_place(const struct cuda_intake *in);

/** cuda_intake_stop - accepts no further process; connected processes have @ms to finish */
void cuda_intake_stop(struct cuda_intake *in, unsigned int ms);

/** cuda_intake_text - a text with the processes that were refused or dropped, and why; NULL: none */
const char *cuda_intake_text(struct cuda_intake *in);

/** cuda_intake_free - frees it; NULL is allowed */
void cuda_intake_free(struct cuda_intake *in);

#endif /* GRTRACE_CUDA_INTAKE_H */
