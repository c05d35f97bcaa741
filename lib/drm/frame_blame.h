/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Computations over a client's frames: the time of jobs in each, medians, late frames and
 * their causes.
 */
#ifndef GRT_DRM_FRAME_BLAME_H
#define GRT_DRM_FRAME_BLAME_H

#include "display_frames.h"

/** grt_frame_client_ran - a job of the client's process ran from @start to @end */
void grt_frame_client_ran(struct grt_frame_client *c, uint64_t start, uint64_t end);

/**
 * grt_frame_client_finish - computes medians, late frames and causes; may be called again after further
 * frames. Return: 0 or -ENOMEM
 */
int grt_frame_client_finish(struct grt_frame_client *c);

#endif /* GRT_DRM_FRAME_BLAME_H */
