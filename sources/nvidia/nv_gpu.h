/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A GPU as an object of NVIDIA's resource manager, and its clock: a line through samples of its clock and
 * CLOCK_MONOTONIC converts its time stamps.
 */
#ifndef GRTRACE_NV_GPU_H
#define GRTRACE_NV_GPU_H

#include "nv_rm.h"

/**
 * struct nv_gpu
 * @file: its device file, -1: none
 * @device, @subdevice: handles
 */
struct nv_gpu {
	struct nv_rm *rm;
	struct nv_rm_gpu gpu;
	int file;
	uint32_t device;
	uint32_t subdevice;
};

/** nv_gpu_open - makes the objects; nv_gpu_close() also after an error. Return: 0 or -errno */
int nv_gpu_open(struct nv_gpu *g, struct nv_rm *rm, const struct nv_rm_gpu *gpu, struct grt_err *err);

/** nv_gpu_fail - sets the error that the driver did not return @what of the GPU. Return: -EIO */
int nv_gpu_fail(const struct nv_gpu *g, struct grt_err *err, const char *what, uint32_t status);

/** nv_gpu_close - frees them */
void nv_gpu_close(struct nv_gpu *g);

/** struct nv_clock_sample - the GPU's clock and CLOCK_MONOTONIC at the same moment, ns */
struct nv_clock_sample {
	uint64_t gpu;
	uint64_t monotonic;
};

/**
 * struct nv_clock - all bytes zero: no sample yet
 * @first, @old, @next, @now: samples: at the start, one or two seconds ago, at most one second ago, the last
 * @error: the largest distance of a sample from the line through those before, ns
 */
struct nv_clock {
	struct nv_clock_sample first;
	struct nv_clock_sample old;
	struct nv_clock_sample next;
	struct nv_clock_sample now;
	uint64_t error;
};

/** nv_clock_take - takes a sample: all stamps so far are then between two samples. Return: 0 or -EIO */
int nv_clock_take(struct nv_clock *c, const struct nv_gpu *g);

/** nv_clock_monotonic - converts a stamp of the GPU to CLOCK_MONOTONIC, ns */
uint64_t nv_clock_monotonic(const struct nv_clock *c, uint64_t gpu);

/** nv_clock_drift_ppm - how much faster the GPU's clock has run since the first sample */
double nv_clock_drift_ppm(const struct nv_clock *c);

#endif /* GRTRACE_NV_GPU_H */
