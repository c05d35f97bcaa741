/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The software GPU by its ioctls, for self-tests.
 */
#ifndef SOFTGPU_H
#define SOFTGPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <grtrace/softgpu.h>

#define SOFTGPU_RINGS 32

/**
 * struct softgpu - an open file
 * @fd: its descriptor
 * @ring: the rings
 * @nrings: how many
 */
struct softgpu {
	int fd;
	struct grtrace_softgpu_ring ring[SOFTGPU_RINGS];
	unsigned int nrings;
};

/** softgpu_open - finds it. Return: false when there is none */
bool softgpu_open(struct softgpu *gpu);

void softgpu_close(struct softgpu *gpu);

/** softgpu_sync - makes a sync object. Return: its handle, 0 when it cannot */
uint32_t softgpu_sync(struct softgpu *gpu);

/** softgpu_submit - all of @jobs. Return: false when one was not taken */
bool softgpu_submit(struct softgpu *gpu, struct grtrace_softgpu_job *jobs, unsigned int count);

/** softgpu_results - of exactly @count jobs, waiting for them. Return: false when they do not come within 30
 * s */
bool softgpu_results(struct softgpu *gpu, struct grtrace_softgpu_result *results, unsigned int count);

#endif /* SOFTGPU_H */
