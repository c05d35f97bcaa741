/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What grtrace_wait compares the module with: a virtio GPU driven by its own
 * ioctls, and ftrace's record of the same tracepoints.
 */
#ifndef WAIT_H
#define WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The GPU (wait_gpu.c). */

/** gpu_open - opens a virtio GPU with or without 3D. Return: a descriptor, or -1 when there is none */
int gpu_open(bool with_3d);

/**
 * gpu_create - makes an image of 32-bit pixels, which is a job
 * @format: virgl's number, 1: BGRA; 0 is none, which a GPU without 3D refuses
 * Return: its handle, or 0 with errno
 */
uint32_t gpu_create(int fd, uint32_t format, uint32_t width, uint32_t height);

/** gpu_upload - queues the copy of a whole image to the host, which is a job. Return: 0 or -1 with errno */
int gpu_upload(int fd, uint32_t handle, uint32_t width, uint32_t height);

/** gpu_wait - waits until nothing uses the image. Return: 0 or -1 with errno */
int gpu_wait(int fd, uint32_t handle);

/** gpu_close - gives an image back */
void gpu_close(int fd, uint32_t handle);

/* ftrace (wait_ftrace.c), in an instance of its own. */

/** enum ft_kind - the tracepoints */
enum ft_kind { FT_QUEUE, FT_RESPONSE, FT_SIGNALED, FT_WAIT_START, FT_WAIT_END, FT_KINDS };

/**
 * struct ft_event - a line of ftrace's about a virtio GPU
 * @time: ns, of the same clock as grtrace's, in whole microseconds
 * @tid: the running thread
 * @id: fence_id of a command, seqno of a fence
 * @ctx: fence context; commands: 0
 * @device: virtio device number of a command
 * @type: code of a command or reply
 * @fenced: a command with a fence; fences: true
 * @unnamed: a fence whose driver the line no longer tells
 */
struct ft_event {
	enum ft_kind kind;
	uint64_t time;
	uint32_t tid;
	uint64_t id;
	uint64_t ctx;
	uint32_t device;
	uint32_t type;
	bool fenced;
	bool unnamed;
};

/**
 * struct ft_log - what ftrace saw
 * @event, @count: in the order of the text; owned, see ft_free()
 */
struct ft_log {
	struct ft_event *event;
	size_t count;
};

/** ft_start - begins. Return: NULL, or what is missing and what to type */
const char *ft_start(void);

/** ft_stop - ends and reads; false after failing the case (ftrace has lost something) */
bool ft_stop(struct ft_log *log);

/** ft_count - events of a kind in a span of time; @fenced: only those with a fence */
size_t ft_count(const struct ft_log *log, enum ft_kind kind, bool fenced, uint64_t from, uint64_t to);

void ft_free(struct ft_log *log);

#endif /* WAIT_H */
