/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A GPU as an object of NVIDIA's resource manager, and its clock: a line through samples of its clock and
 * CLOCK_MONOTONIC converts its time stamps.
 */
#ifndef GRTRACE_NV_GPU_H
#define GRTRACE_NV_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <grtrace/grtrace.h>

/* -------------------------------------------------------------------- rm */

/*
 * A client of NVIDIA's resource manager (RM): objects, controls and mappings by
 * ioctls on /dev/nvidiactl, as the user libraries of the driver make them.
 *
 * Source: the open kernel modules, tags 570.86.15 to 595.45.04 (nvos.h,
 * nv_escape.h, nv-ioctl.h). x86-64 and arm64 have the same layouts.
 */

/* Most GPUs that the driver describes at once. */
#define NV_RM_GPUS 32

/* In place of an NV_STATUS: the ioctl itself has failed, and errno has the reason. */
#define NV_RM_NO_ANSWER 0xffffffffU

/**
 * struct nv_rm - a client
 * @fd: /dev/nvidiactl
 * @client: its handle, 0: none yet
 * @next: handle of the next object
 */
struct nv_rm {
	int fd;
	uint32_t client;
	uint32_t next;
};

/**
 * struct nv_rm_gpu - a GPU of the driver
 * @id: the RM's number of it
 * @minor: minor number of /dev/nvidiaMINOR
 * @bus: PCI domain << 16 | bus << 8 | slot << 3
 */
struct nv_rm_gpu {
	uint32_t id;
	uint32_t minor;
	uint32_t bus;
};

/**
 * struct nv_rm_mapping - memory of an object, for reading
 * @at: @length bytes; NULL: none
 * @fd: holds the mapping; a file has one mapping for its life
 * @cookie: the driver's name of it
 */
struct nv_rm_mapping {
	const void *at;
	size_t length;
	int fd;
	uint32_t object;
	uint64_t cookie;
};

/** nv_rm_version - the driver's version, "580.159.04". Return: 0 or -errno */
int nv_rm_version(char *version, size_t room, struct grt_err *err);

/** nv_rm_open - makes a client; nv_rm_close() also after an error. Return: 0 or -errno */
int nv_rm_open(struct nv_rm *rm, struct grt_err *err);

/** nv_rm_close - frees the client and all its objects */
void nv_rm_close(struct nv_rm *rm);

/** nv_rm_gpus - the GPUs. @gpu: room for NV_RM_GPUS. Return: their number, or -errno */
int nv_rm_gpus(struct nv_rm *rm, struct nv_rm_gpu *gpu, struct grt_err *err);

/**
 * nv_rm_alloc - makes an object
 * @params: of its class, @size bytes; the driver writes into them
 * @object: gets its handle
 * Return: NV_STATUS, 0: it is there
 */
uint32_t nv_rm_alloc(struct nv_rm *rm, uint32_t parent, uint32_t class, void *params, uint32_t size,
		     uint32_t *object);

/** nv_rm_control - sends a request to an object; @params as above. Return: NV_STATUS */
uint32_t nv_rm_control(struct nv_rm *rm, uint32_t object, uint32_t cmd, void *params, uint32_t size);

/** nv_rm_free - frees an object. Return: NV_STATUS */
uint32_t nv_rm_free(struct nv_rm *rm, uint32_t parent, uint32_t object);

/** nv_rm_map - maps the memory of an object that belongs to the client itself. Return: 0 or -errno */
int nv_rm_map(struct nv_rm *rm, uint32_t object, size_t length, struct nv_rm_mapping *m);

/** nv_rm_unmap - unmaps the memory; does nothing if there is none */
void nv_rm_unmap(struct nv_rm *rm, struct nv_rm_mapping *m);

/* ------------------------------------------------------------------- gpu */

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
