/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Names of ioctls on DRM device files, from lib/codes/drm_ioctls.def.
 */
#ifndef GRT_CODES_IOCTL_NAMES_H
#define GRT_CODES_IOCTL_NAMES_H

#include <stdint.h>

struct grt_ioctl_driver;

/** grt_ioctl_driver - the table of a driver; NULL if it is unknown or NULL */
const struct grt_ioctl_driver *grt_ioctl_driver(const char *driver);

/**
 * grt_ioctl_name_of - the name of an ioctl
 * @d: the driver of its device, NULL: unknown
 * @cmd: the complete number; only its type and its number within the type are
 *	compared, because sizes differ between versions of a driver
 * Return: "DRM_IOCTL_...", NULL if it has no name
 */
const char *grt_ioctl_name_of(const struct grt_ioctl_driver *d, uint32_t cmd);

/** grt_ioctl_name - grt_ioctl_name_of() with the driver's name */
const char *grt_ioctl_name(const char *driver, uint32_t cmd);

#endif /* GRT_CODES_IOCTL_NAMES_H */
