/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NVIDIA's device files by their numbers. They have no class in sysfs, so
 * /proc/devices shows which majors belong to NVIDIA.
 */
#ifndef GRTRACE_NVIDIA_DEVICES_H
#define GRTRACE_NVIDIA_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <grtrace/grtrace.h>

/* The fixed major of /dev/nvidia*. */
#define NVIDIA_MAJOR 195

/**
 * nvidia_majors - the majors of NVIDIA's device files, NVIDIA_MAJOR first
 * @major: gets at most @room
 * Return: their number
 */
unsigned int nvidia_majors(uint32_t *major, unsigned int room);

/** nvidia_loaded - whether a loaded driver has device files. Return: 0, or -ENODEV with what, why and fix */
int nvidia_loaded(struct grt_err *err);

/**
 * nvidia_device_name - the name of a device file, and the address of its GPU if it has one: "nvidia0
 * 0000:c6:00.0"
 * @number: major << 20 | minor
 * Return: false if it is not a device file of NVIDIA
 */
bool nvidia_device_name(uint32_t number, char *name, size_t room);

/** nvidia_device_uuid - the UUID of the GPU of a device file. Return: whether it is known; otherwise @uuid is
 * empty */
bool nvidia_device_uuid(uint32_t number, char *uuid, size_t room);

#endif /* GRTRACE_NVIDIA_DEVICES_H */
