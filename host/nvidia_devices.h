/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NVIDIA's device files by their numbers. They are in no class of sysfs, so
 * /proc/devices tells which majors are NVIDIA's.
 */
#ifndef GRTRACE_NVIDIA_DEVICES_H
#define GRTRACE_NVIDIA_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <grtrace/grtrace.h>

/* /dev/nvidia*, always. */
#define NVIDIA_MAJOR 195

/**
 * nvidia_majors - the majors of NVIDIA's device files, NVIDIA_MAJOR first
 * @major: room for @room
 * Return: how many
 */
unsigned int nvidia_majors(uint32_t *major, unsigned int room);

/** nvidia_loaded - whether a driver has device files now. Return: 0, or -ENODEV with what, why and fix */
int nvidia_loaded(struct grt_err *err);

/**
 * nvidia_device_name - the device file's name, and its GPU's address where it has one: "nvidia0 0000:c6:00.0"
 * @number: major << 20 | minor
 * Return: false where it is none of NVIDIA's
 */
bool nvidia_device_name(uint32_t number, char *name, size_t room);

/** nvidia_device_uuid - the UUID of a GPU by its device file. Return: whether it is known; else @uuid is
 * empty */
bool nvidia_device_uuid(uint32_t number, char *uuid, size_t room);

#endif /* GRTRACE_NVIDIA_DEVICES_H */
