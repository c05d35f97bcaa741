/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Drivers of GPUs whose firmware schedules jobs: a ring is the queue of one client,
 * and the job at its head may wait in the firmware for long. So the start of a job on
 * the hardware does not follow from the order of the ring.
 */
#ifndef GRT_CODES_FIRMWARE_H
#define GRT_CODES_FIRMWARE_H

#include <stdbool.h>
#include <string.h>

/* A list of these drivers, for texts. */
#define GRT_FIRMWARE_DRIVERS "xe, panthor, nouveau, powervr, amdxdna"

/** grt_firmware_schedules - whether the firmware schedules the jobs of this driver; false for NULL */
static inline bool grt_firmware_schedules(const char *driver)
{
	size_t length = driver ? strlen(driver) : 0;
	const char *at = length ? GRT_FIRMWARE_DRIVERS : NULL;
	size_t n;

	for (; at; at = at[n] ? at + n + 2 : NULL) {
		n = strcspn(at, ",");
		if (n == length && !memcmp(at, driver, n))
			return true;
	}
	return false;
}

/**
 * grt_firmware_driver - the driver above that has a ring of the DRM scheduler with this name; "": none of
 * them. The scheduler's events do not name the driver. i915, whose engines have the names of xe's, has no
 * such rings.
 */
static inline const char *grt_firmware_driver(const char *ring, size_t length)
{
	static const struct {
		const char *begin, *driver;
	} rows[] = {
		{"rcs", "xe"},
		{"bcs", "xe"},
		{"ccs", "xe"},
		{"vcs", "xe"},
		{"vecs", "xe"},
		{"gsccs", "xe"},
		{"panthor-", "panthor"},
		{"nouveau_sched", "nouveau"},
		{"pvr-queue", "powervr"},
		{"amdxdna_js", "amdxdna"},
	};

	for (size_t i = 0; length && i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = strlen(rows[i].begin);

		if (*ring == *rows[i].begin && n <= length && !memcmp(ring, rows[i].begin, n))
			return rows[i].driver;
	}
	return "";
}

#endif /* GRT_CODES_FIRMWARE_H */
