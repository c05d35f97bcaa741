/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * CUDA's devices. Each process numbers the devices that it sees, so one GPU may have several numbers, and
 * several GPUs the same number: DEVICE records identify them by UUID. A device without such a record, as in
 * recordings of older programs, belongs to its process alone.
 */
#ifndef GRT_STACK_DEVICES_H
#define GRT_STACK_DEVICES_H

#include <grtrace/event.h>

#include "base/keyed.h"

/* Maximum number of devices in a trace; work of further devices is counted for the last of these. */
#define GRT_DEVICES_MAX 16384U

/**
 * struct grt_device - a device
 * @number: number in the trace, from 0
 * @users: number of processes whose work the device did
 * @image, @gpu: the first of these processes, and the device's number there; without such a process, those of
 *	the process that described the device
 * @known: @is describes the device
 * @several: another process has another number for the device
 * @name: name of the device, untrusted; NULL: it has none
 */
struct grt_device {
	uint32_t number;
	uint32_t gpu;
	uint32_t users;
	uint32_t image;
	bool known;
	bool several;
	struct grt_ev_device is;
	char *name;
};

/** struct grt_devices - the devices of a trace
 * @device: all devices; @by_place: index by image and number there; @by_uuid: index by UUID
 * @recent: the device that was requested last, with its @image and number @gpu there; NULL: none */
struct grt_devices {
	struct grt_device **device;
	uint32_t devices, room;
	struct grt_keyed by_place;
	struct grt_keyed by_uuid;
	const struct grt_device *recent;
	uint32_t image, gpu;
};

/** grt_devices_init - sets up a set without devices */
void grt_devices_init(struct grt_devices *d);

/** grt_devices_take - processes a DEVICE record of a process; @name: name of the device, NULL: none. Return:
 * 0, -ENOMEM, or -ERANGE: there are too many devices */
int grt_devices_take(struct grt_devices *d, uint32_t image, const struct grt_ev_device *e, const char *name);

/** grt_devices_of - the device with number @gpu in a process; NULL: no memory */
const struct grt_device *grt_devices_of(struct grt_devices *d, uint32_t image, uint32_t gpu);

/* Room for a label; usual length of a label from a UUID: "GPU-" and its first 8 digits. */
#define GRT_DEVICE_LABEL 48
#define GRT_DEVICE_LABEL_LENGTH 12

/**
 * grt_device_label - "GPU 0"; if several devices of the trace have this number, or the device has several
 * numbers, the beginning of its UUID, which nvidia-smi accepts as well: "GPU-8f3a04c2"; more of it if other
 * devices begin alike
 */
const char *grt_device_label(const struct grt_devices *d, const struct grt_device *x,
			     char label[GRT_DEVICE_LABEL]);

/** grt_devices_free - frees all memory of @d and empties it */
void grt_devices_free(struct grt_devices *d);

#endif /* GRT_STACK_DEVICES_H */
