// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The devices that the process sees, by identity: their numbers are those of the process,
 * which CUDA_VISIBLE_DEVICES and MIG choose.
 *
 * The driver is asked, not CUPTI's device record: that has another layout in each CUDA, and not the shared
 * memory that the driver keeps for itself, which the occupancy of kernels needs. Nothing is asked before the
 * program has made a context, for only then is the driver ready for certain; the records of a
 * device are used by none before its first work.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject.h"

#define DEVICES_MAX 64
/* The longest name of a device. */
#define NAME_ROOM 256

/* CUdevice_attribute */
enum {
	ATTRIBUTE_WARP = 10,
	ATTRIBUTE_CLOCK = 13,
	ATTRIBUTE_SMS = 16,
	ATTRIBUTE_MEMORY_CLOCK = 36,
	ATTRIBUTE_L2 = 38,
	ATTRIBUTE_THREADS_SM = 39,
	ATTRIBUTE_MAJOR = 75,
	ATTRIBUTE_MINOR = 76,
	ATTRIBUTE_SHARED_SM = 81,
	ATTRIBUTE_REGISTERS_SM = 82,
	ATTRIBUTE_BLOCKS_SM = 106,
	ATTRIBUTE_SHARED_RESERVED = 111,
};

/* The devices are written, or the driver does not answer. */
static bool done;

struct driver {
	int (*count)(int *n);
	int (*get)(int *device, int ordinal);
	int (*name)(char *name, int room, int device);
	int (*uuid)(uint8_t uuid[16], int device);
	int (*instance)(uint8_t uuid[16], int device);
	int (*bus)(char *bus, int room, int device);
	int (*memory)(size_t *bytes, int device);
	int (*attribute)(int *value, int attribute, int device);
};

/* Return: whether the driver has the functions that all drivers since CUDA 11.1 have */
static bool device_bind(struct driver *d)
{
	*(void **)&d->count = cupti_driver_symbol("cuDeviceGetCount");
	*(void **)&d->get = cupti_driver_symbol("cuDeviceGet");
	*(void **)&d->name = cupti_driver_symbol("cuDeviceGetName");
	*(void **)&d->uuid = cupti_driver_symbol("cuDeviceGetUuid");
	*(void **)&d->instance = cupti_driver_symbol("cuDeviceGetUuid_v2");
	*(void **)&d->bus = cupti_driver_symbol("cuDeviceGetPCIBusId");
	*(void **)&d->memory = cupti_driver_symbol("cuDeviceTotalMem_v2");
	*(void **)&d->attribute = cupti_driver_symbol("cuDeviceGetAttribute");
	return d->count && d->get && d->name && d->uuid && d->bus && d->memory && d->attribute;
}

/* Return: the attribute's value; 0: the driver does not know it */
static uint32_t device_attribute(const struct driver *d, int attribute, int device)
{
	int value = 0;

	return d->attribute(&value, attribute, device) || value < 0 ? 0 : (uint32_t)value;
}

static void device_write_uuid(char *text, size_t room, const char *prefix, const uint8_t u[16])
{
	snprintf(text, room, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 prefix, u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
}

/* A MIG instance has its own UUID, which another function of the driver returns. */
static bool device_identify(const struct driver *d, int device, struct grt_ev_device *r)
{
	uint8_t board[16], own[16];

	if (d->uuid(board, device))
		return false;
	if (!d->instance || d->instance(own, device))
		memcpy(own, board, sizeof(own));
	r->mig = memcmp(own, board, sizeof(own)) != 0;
	device_write_uuid(r->uuid, sizeof(r->uuid), r->mig ? "MIG" : "GPU", own);
	device_write_uuid(r->board, sizeof(r->board), "GPU", board);
	return true;
}

static void device_measure(const struct driver *d, int device, struct grt_ev_device *r)
{
	size_t bytes = 0;

	r->memory = d->memory(&bytes, device) ? 0 : bytes;
	r->sms = device_attribute(d, ATTRIBUTE_SMS, device);
	r->sm_clock = device_attribute(d, ATTRIBUTE_CLOCK, device);
	r->memory_clock = device_attribute(d, ATTRIBUTE_MEMORY_CLOCK, device);
	r->l2 = device_attribute(d, ATTRIBUTE_L2, device);
	r->major = (uint16_t)device_attribute(d, ATTRIBUTE_MAJOR, device);
	r->minor = (uint16_t)device_attribute(d, ATTRIBUTE_MINOR, device);
	r->warp = device_attribute(d, ATTRIBUTE_WARP, device);
	r->threads_sm = device_attribute(d, ATTRIBUTE_THREADS_SM, device);
	r->blocks_sm = device_attribute(d, ATTRIBUTE_BLOCKS_SM, device);
	r->registers_sm = device_attribute(d, ATTRIBUTE_REGISTERS_SM, device);
	r->shared_sm = device_attribute(d, ATTRIBUTE_SHARED_SM, device);
	r->shared_reserved = device_attribute(d, ATTRIBUTE_SHARED_RESERVED, device);
}

static void device_describe(const struct driver *d, int ordinal)
{
	struct grt_ev_device r;
	char name[NAME_ROOM] = "";
	int device;

	memset(&r, 0, sizeof(r));
	if (d->get(&device, ordinal) || !device_identify(d, device, &r))
		return;
	if (d->name(name, sizeof(name) - 1, device))
		name[0] = '\0';
	if (d->bus(r.bus, sizeof(r.bus) - 1, device))
		r.bus[0] = '\0';
	device_measure(d, device, &r);
	r.gpu = (uint32_t)ordinal;
	define_device(&r, name[0] ? name : NULL);
}

void device_reset(void)
{
	done = false;
}

void device_write(bool work)
{
	struct driver d;
	int n = 0;

	if (done || (!work && !detach_has_context()))
		return;
	if (!device_bind(&d)) {
		done = true;
		return;
	}
	/* the driver returns an error until it is ready */
	if (d.count(&n))
		return;
	for (int i = 0; i < n && i < DEVICES_MAX; i++)
		device_describe(&d, i);
	done = true;
}
