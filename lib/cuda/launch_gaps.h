/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * When a device of CUDA's was idle, and what the CPU did meanwhile. A gap ends with
 * the work that begins behind it; the thread that launched that work is the one
 * the GPU waited for. What the thread did in the gap is known from its calls: it
 * was in one of them (a synchronisation, say), or in none, in code of its own on
 * the way to the launch; or it had launched before the gap began, and the work came
 * late for reasons of the GPU (it waited for other work, or for the launch to arrive).
 *
 * Intervals come in about the order of time: up to 32768 of a device wait for
 * earlier ones. The last 131072 calls of a thread are remembered.
 */
#ifndef GRT_CUDA_LAUNCH_GAPS_H
#define GRT_CUDA_LAUNCH_GAPS_H

#include <grtrace/grtrace.h>

#include "launches.h"

/** enum grt_gap_why - what a part of a gap went by in */
enum grt_gap_why {
	GRT_GAP_CALL,	  /* a call of CUDA */
	GRT_GAP_CODE,	  /* code between two calls, up to a launch */
	GRT_GAP_LAUNCHED, /* the launch had been made */
	GRT_GAP_UNKNOWN,  /* the launch is not in the trace */
};

/**
 * struct grt_launch_gap - idle time of one kind
 * @device: see struct grt_device; @gpu: its number in the first process that named it; @uuid: NULL: unknown
 * @image, @pid: the process whose work ended the gap
 * @process, @text: for people; by grt_launch_gaps_list()
 * @number: GRT_GAP_CALL: the function, see codes/cuda_codes.h, UINT32_MAX: one of those without a name;
 * GRT_GAP_CODE: the stack of the launch
 * @gaps: gaps with such parts, each once
 * @ns, @max: of these parts
 */
struct grt_launch_gap {
	uint32_t image;
	uint32_t pid;
	uint32_t device;
	uint32_t gpu;
	uint32_t number;
	const char *uuid;
	enum grt_gap_why why;
	const char *process;
	char pid_text[24];
	char *text;
	uint64_t gaps;
	uint64_t ns;
	uint64_t max;
};

/**
 * struct grt_launch_gaps_count - what the gaps leave open
 * @late: intervals that came after later ones had been taken: a gap may be reported too long
 * @unnamed: parts that are reported without their stack or function: there were too many
 * @work_over: intervals of devices beyond the 4096 whose gaps are known
 * @calls_over: calls of threads beyond the 65536 whose calls are known: gaps that they ended are unknown
 */
struct grt_launch_gaps_count {
	uint64_t late;
	uint64_t unnamed;
	uint64_t work_over;
	uint64_t calls_over;
};

struct grt_launch_gaps;
struct grt_image_frames;
struct grt_windows;

/** grt_launch_gaps_new - begins. Return: 0 or -ENOMEM */
int grt_launch_gaps_new(struct grt_launch_gaps **out);

/** grt_launch_gaps_windows - times between which nothing is a gap; they live as long as @g */
void grt_launch_gaps_windows(struct grt_launch_gaps *g, const struct grt_windows *windows);

/** grt_launch_gaps_call - takes in a LAUNCH record of an image. Return: 0 or -ENOMEM */
int grt_launch_gaps_call(struct grt_launch_gaps *g, uint32_t image, const struct grt_ev_launch *e);

/**
 * grt_launch_gaps_work - takes in what a device did
 * @device: that it was on; @from, @to: ns
 * @launch: NULL: unknown
 * Return: 0 or -ENOMEM
 */
int grt_launch_gaps_work(struct grt_launch_gaps *g, const struct grt_image *image,
			 const struct grt_device *device, uint64_t from, uint64_t to,
			 const struct grt_launch *launch);

/**
 * grt_launch_gaps_list - the trace is over: its gaps, by device, the longest first; to be called once
 * @out: gets an array, which lives as long as @g
 * Return: how many, or -ENOMEM
 */
int64_t grt_launch_gaps_list(struct grt_launch_gaps *g, const struct grt_images *images,
			     struct grt_image_frames *frames, const struct grt_launch_gap *const **out);

/** grt_launch_gaps_count - what the gaps leave open; complete after grt_launch_gaps_list() */
struct grt_launch_gaps_count grt_launch_gaps_count(const struct grt_launch_gaps *g);

/** grt_launch_gaps_free - frees it; NULL is allowed */
void grt_launch_gaps_free(struct grt_launch_gaps *g);

#endif /* GRT_CUDA_LAUNCH_GAPS_H */
