/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What ioctls of DRM device files are called, from lib/codes/drm_ioctls.def.
 */
#ifndef GRT_CODES_IOCTL_NAMES_H
#define GRT_CODES_IOCTL_NAMES_H

#include <stdint.h>

struct grt_ioctl_driver;

/** grt_ioctl_driver - a driver's table; NULL for one that is unknown (or NULL itself) */
const struct grt_ioctl_driver *grt_ioctl_driver(const char *driver);

/**
 * grt_ioctl_name_of - what an ioctl is called
 * @d: of its device, NULL: unknown
 * @cmd: the whole number; only its type and its number within the type are
 *	looked at, since sizes differ between versions of a driver
 * Return: "DRM_IOCTL_...", NULL where there is no name for it
 */
const char *grt_ioctl_name_of(const struct grt_ioctl_driver *d, uint32_t cmd);

/** grt_ioctl_name - the same, by the driver's name */
const char *grt_ioctl_name(const char *driver, uint32_t cmd);

#endif /* GRT_CODES_IOCTL_NAMES_H */
