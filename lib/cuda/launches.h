/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The inside of launches, see grtrace/launches.h: their process images and devices.
 */
#ifndef GRT_CUDA_LAUNCHES_H
#define GRT_CUDA_LAUNCHES_H

#include <grtrace/launches.h>

#include "stack/images.h"

/** grt_launches_without_stacks - leaves the counts of stacks, and of complete stacks, at 0 */
void grt_launches_without_stacks(struct grt_launches *l);

/**
 * grt_launches_outside - passes GPU work outside of the time of grt_launches_within() to @work, which is
 * called as that of the sink; no count includes such work. Without this call, it is ignored
 */
void grt_launches_outside(struct grt_launches *l,
			  int (*work)(void *arg, const struct grt_event *e, const struct grt_image *image,
				      const struct grt_launch *launch, enum grt_launched_how how));

/**
 * grt_launches_flush_work - passes on the work that waits, as grt_launches_flush() does, and nothing else:
 * calls do not end, and the counts are incomplete. Return: 0, the result of a callback, or a negative errno
 */
int grt_launches_flush_work(struct grt_launches *l);

/** grt_launches_counted - takes the counts of one that has joined the same trace */
void grt_launches_counted(struct grt_launches *l, const struct grt_launches_count *count);

/** grt_launches_images - the process images, including images that have ended */
const struct grt_images *grt_launches_images(const struct grt_launches *l);

/** grt_launches_image - the process image to which an event belongs. NULL: no memory */
struct grt_image *grt_launches_image(struct grt_launches *l, const struct grt_event *e);

/** grt_launches_device - the device with the number @gpu in a process, see struct grt_device. NULL: no memory
 */
const struct grt_device *grt_launches_device(struct grt_launches *l, const struct grt_image *image,
					     uint32_t gpu);

#endif /* GRT_CUDA_LAUNCHES_H */
