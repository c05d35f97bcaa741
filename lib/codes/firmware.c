// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The drivers of firmware.h. */
#include "firmware.h"

#include <string.h>

bool grt_firmware_schedules(const char *driver)
{
	const char *at = driver && *driver ? GRT_FIRMWARE_DRIVERS : NULL;
	size_t length = driver ? strlen(driver) : 0, n;

	for (; at; at = at[n] ? at + n + 2 : NULL) {
		n = strcspn(at, ",");
		if (n == length && !memcmp(at, driver, n))
			return true;
	}
	return false;
}
