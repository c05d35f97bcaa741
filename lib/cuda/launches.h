/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Launches, see grtrace/launches.h, for those who look into process images.
 */
#ifndef GRT_CUDA_LAUNCHES_H
#define GRT_CUDA_LAUNCHES_H

#include <grtrace/launches.h>

#include "stack/images.h"

/** grt_launches_without_stacks - nobody asks how many stacks there are, and how whole: these counts stay 0 */
void grt_launches_without_stacks(struct grt_launches *l);

/** grt_launches_images - the processes; those that have ended, too */
const struct grt_images *grt_launches_images(const struct grt_launches *l);

/** grt_launches_image - the image that an event is of. NULL: no memory */
struct grt_image *grt_launches_image(struct grt_launches *l, const struct grt_event *e);

/** grt_launches_device - the device that a process has a number for, see stack/devices.h. NULL: no memory */
const struct grt_device *grt_launches_device(struct grt_launches *l, const struct grt_image *image,
					     uint32_t gpu);

#endif /* GRT_CUDA_LAUNCHES_H */
