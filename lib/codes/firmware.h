/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Drivers whose GPU's firmware chooses what runs: a ring of theirs is the queue of
 * one client, and a job at its head may wait in the firmware for long. When it
 * began on the hardware does not follow from the order of the ring.
 */
#ifndef GRT_CODES_FIRMWARE_H
#define GRT_CODES_FIRMWARE_H

#include <stdbool.h>

/* For texts: the drivers of which that is known. */
#define GRT_FIRMWARE_DRIVERS "xe, panthor, nouveau, powervr"

/** grt_firmware_schedules - whether that is so with this driver; NULL is none */
bool grt_firmware_schedules(const char *driver);

#endif /* GRT_CODES_FIRMWARE_H */
