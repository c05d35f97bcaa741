/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A client's frames together: what jobs ran in them, medians, which frames are late
 * and what is to blame for each.
 */
#ifndef GRT_DRM_FRAME_BLAME_H
#define GRT_DRM_FRAME_BLAME_H

#include "display_frames.h"

/** grt_frame_client_ran - a job of the client's process ran from @start to @end */
void grt_frame_client_ran(struct grt_frame_client *c, uint64_t start, uint64_t end);

/** grt_frame_client_finish - medians, late frames, causes; may come again after further frames. Return: 0 or
 * -ENOMEM */
int grt_frame_client_finish(struct grt_frame_client *c);

#endif /* GRT_DRM_FRAME_BLAME_H */
