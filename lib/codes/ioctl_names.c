// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Names of ioctls: a table of the numbers for each row group of the list.
 */
#include "ioctl_names.h"

#include <stddef.h>
#include <string.h>

#define DRM_TYPE 'd'
/* The numbers that belong to the driver. */
#define DRIVER_FIRST 0x40
#define DRIVER_LAST 0x9f

struct grt_ioctl_driver {
	const char *driver;
	const char *const *name; /* by number, NULL: none */
};

#define GRT_IOCTLS(driver) static const char *const names_##driver[256] = {
#define GRT_IOCTL(number, NAME) [number] = "DRM_IOCTL_" #NAME,
#define GRT_IOCTLS_END \
	}              \
	;
#include "drm_ioctls.def"
#undef GRT_IOCTLS
#undef GRT_IOCTL
#undef GRT_IOCTLS_END

static const struct grt_ioctl_driver drivers[] = {
#define GRT_IOCTLS(driver) {#driver, names_##driver},
#define GRT_IOCTL(number, NAME)
#define GRT_IOCTLS_END
#include "drm_ioctls.def"
};

const struct grt_ioctl_driver *grt_ioctl_driver(const char *driver)
{
	for (size_t i = 0; driver && i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (!strcmp(drivers[i].driver, driver))
			return &drivers[i];
	return NULL;
}

const char *grt_ioctl_name_of(const struct grt_ioctl_driver *d, uint32_t cmd)
{
	unsigned int number = cmd & 0xff;

	if ((cmd >> 8 & 0xff) != DRM_TYPE)
		return NULL;
	if (number < DRIVER_FIRST || number > DRIVER_LAST)
		return names_drm[number];
	return d ? d->name[number] : NULL;
}

const char *grt_ioctl_name(const char *driver, uint32_t cmd)
{
	return grt_ioctl_name_of(grt_ioctl_driver(driver), cmd);
}
