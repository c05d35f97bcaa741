/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * CUDA's devices. A process numbers those that it sees for itself, so that one GPU may have several
 * numbers, and several GPUs one: DEVICE records say by UUID which they are. Devices that none describes, as
 * in recordings of older programs, are of their process alone.
 */
#ifndef GRT_STACK_DEVICES_H
#define GRT_STACK_DEVICES_H

#include <grtrace/event.h>

#include "base/keyed.h"

/* Devices of a trace; work of further ones is that of the last of these. */
#define GRT_DEVICES_MAX 16384U

/**
 * struct grt_device - a device
 * @number: of it in the trace, from 0
 * @users: processes whose work it did
 * @image, @gpu: the first of them, and its number there; of none the process that named it
 * @known: @is describes it
 * @several: another one of them has another number for it
 * @name: untrusted; NULL: it has none
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

/** struct grt_devices - @device: all; @by_place: by image and number in it, @by_uuid; @recent: the device
 * that was asked for last, NULL: none, of @image and with its number @gpu there */
struct grt_devices {
	struct grt_device **device;
	uint32_t devices, room;
	struct grt_keyed by_place;
	struct grt_keyed by_uuid;
	const struct grt_device *recent;
	uint32_t image, gpu;
};

/** grt_devices_init - none */
void grt_devices_init(struct grt_devices *d);

/** grt_devices_take - a DEVICE record of a process; @name: its name, NULL: none. Return: 0, -ENOMEM, or
 * -ERANGE: it is not taken */
int grt_devices_take(struct grt_devices *d, uint32_t image, const struct grt_ev_device *e, const char *name);

/** grt_devices_of - the device that a process has the number @gpu for; NULL: no memory */
const struct grt_device *grt_devices_of(struct grt_devices *d, uint32_t image, uint32_t gpu);

/* Room for a label; characters of a UUID that are one: what is before it and its first 8 digits. */
#define GRT_DEVICE_LABEL 24
#define GRT_DEVICE_LABEL_LENGTH 12

/**
 * grt_device_label - "GPU 0"; where several devices of the trace have that number, or it has several, the
 * beginning of its UUID, which nvidia-smi takes for the whole: "GPU-8f3a04c2"
 */
const char *grt_device_label(const struct grt_devices *d, const struct grt_device *x,
			     char label[GRT_DEVICE_LABEL]);

/** grt_devices_free - frees all and empties it */
void grt_devices_free(struct grt_devices *d);

#endif /* GRT_STACK_DEVICES_H */
