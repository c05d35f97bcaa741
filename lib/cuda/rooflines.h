/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Values of a GPU's hardware counters while a kernel ran: means over time, joined by the
 * device's UUID. The counters belong to the whole device, so a value includes all
 * work in the same samples; @own_ns of a row is the kernel's own share of
 * them.
 *
 * Memory is 2 MiB for each counter of a GPU, which is two minutes of them at a thousand
 * a second, and some hundred bytes for each kernel's name.
 */
#ifndef GRT_CUDA_ROOFLINES_H
#define GRT_CUDA_ROOFLINES_H

#include "base/keyed.h"
#include "codes/gpu_metrics.h"
#include "stack/image_frames.h"
#include "stack/images.h"
#include "trace/names.h"

/**
 * struct grt_roofline - a kernel on a device
 * @kernel: demangled, by grt_rooflines_finish()
 * @calls, @ns: number of runs and their time, including runs without known values
 * @area: for each counter, sum of value times time, ns; @known: the time with known values
 * @own_ns: time in samples, weighted by the kernel's share of each sample; @own_of: time in samples
 */
struct grt_roofline {
	uint32_t image;
	uint32_t name;
	uint32_t pid;
	char pid_text[24];
	const char *process;
	char *kernel;
	char uuid[48];
	uint64_t calls;
	uint64_t ns;
	unsigned __int128 area[GRT_METRICS];
	uint64_t known[GRT_METRICS];
	uint64_t own_ns;
	uint64_t own_of;
	uint64_t slot;
	uint64_t slot_ns;
};

/**
 * struct grt_rooflines - @row: sorted by time, after grt_rooflines_finish()
 * @from, @to: kernels that ended in this time count
 * @sampled: GPUs with counters; @interval: sampling interval of the last one, ns
 * @apart: kernels on devices without counters; @unknown: those on devices without a description
 * @over: kernels and counters without room
 */
struct grt_rooflines {
	struct grt_images images;
	struct grt_image_frames *frames;
	struct grt_keyed gpus;
	struct grt_keyed rows;
	struct grt_roofline **row;
	uint64_t from;
	uint64_t to;
	uint64_t interval;
	uint64_t apart;
	uint64_t unknown;
	uint64_t over;
};

/** grt_rooflines_init - begins without kernels. Return: 0 or -ENOMEM */
int grt_rooflines_init(struct grt_rooflines *r);

/** grt_rooflines_event - processes an event. Return: 0 or -ENOMEM */
int grt_rooflines_event(struct grt_rooflines *r, const struct grt_event *e, const struct grt_names *names);

/** grt_rooflines_finish - names kernels and sorts rows; may be called again. Return: 0 or -ENOMEM */
int grt_rooflines_finish(struct grt_rooflines *r);

/** grt_roofline_mean - the mean of a counter, in its own unit. Return: whether it is known */
bool grt_roofline_mean(const struct grt_roofline *row, enum grt_metric_id metric, uint64_t *mean);

/** grt_rooflines_free - frees and empties it */
void grt_rooflines_free(struct grt_rooflines *r);

#endif /* GRT_CUDA_ROOFLINES_H */
