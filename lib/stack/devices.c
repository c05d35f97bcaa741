// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Identifies devices by the UUIDs of their records, otherwise by process and number. */
#include "devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/**
 * struct place - a device of a process
 * @used: the process has had work there
 */
struct place {
	struct grt_device *device;
	bool used;
};

void grt_devices_init(struct grt_devices *d)
{
	memset(d, 0, sizeof(*d));
	grt_keyed_init(&d->by_place, sizeof(struct place), GRT_DEVICES_MAX);
	grt_keyed_init(&d->by_uuid, sizeof(struct grt_device *), GRT_DEVICES_MAX);
}

static struct grt_device *devices_add(struct grt_devices *d, uint32_t image, uint32_t gpu)
{
	struct grt_device *x = calloc(1, sizeof(*x));

	if (!x || grt_grow(&d->device, &d->room, d->devices + 1, 8)) {
		free(x);
		return NULL;
	}
	x->number = d->devices;
	x->image = image;
	x->gpu = gpu;
	d->device[d->devices++] = x;
	return x;
}

/* Return: whether the text has 32 hexadecimal digits; a text with other characters is not a UUID. */
static bool devices_uuid_key(struct grt_key *key, const char uuid[48])
{
	unsigned int n = 0;

	*key = (struct grt_key){{0}};
	for (unsigned int i = 4; i < 48 && uuid[i]; i++) {
		const char *digit = strchr("0123456789abcdef", uuid[i]);

		if (uuid[i] == '-')
			continue;
		if (!digit || n == 32)
			return false;
		key->w[n / 16] = key->w[n / 16] << 4 | (uint64_t)(digit - "0123456789abcdef");
		n++;
	}
	key->w[2] = (uint64_t)uuid[0];
	return n == 32;
}

int grt_devices_take(struct grt_devices *d, uint32_t image, const struct grt_ev_device *e, const char *name)
{
	struct grt_key place = {{image, e->gpu}}, uuid;
	struct grt_device **at, *x;
	void *found;

	if (!devices_uuid_key(&uuid, e->uuid) || grt_keyed_find(&d->by_place, &place) ||
	    grt_keyed_full(&d->by_place))
		return -ERANGE;
	if (grt_keyed_get(&d->by_uuid, &uuid, &found))
		return -ENOMEM;
	at = found;
	x = *at ?: (*at = devices_add(d, image, e->gpu));
	if (!x || grt_keyed_get(&d->by_place, &place, &found))
		return -ENOMEM;
	((struct place *)found)->device = x;
	if (x->known)
		return 0;
	x->known = true;
	x->is = *e;
	x->name = name ? strdup(name) : NULL;
	return name && !x->name ? -ENOMEM : 0;
}

/* The first work of a process on a device. */
static const struct grt_device *devices_use(struct place *p, uint32_t image, uint32_t gpu)
{
	struct grt_device *x = p->device;

	if (p->used)
		return x;
	p->used = true;
	if (!x->users) {
		x->image = image;
		x->gpu = gpu;
	}
	x->users++;
	x->several |= x->gpu != gpu;
	return x;
}

static const struct grt_device *devices_find(struct grt_devices *d, uint32_t image, uint32_t gpu)
{
	struct grt_key key = {{image, gpu}};
	struct place *p = grt_keyed_find(&d->by_place, &key);
	void *found;

	if (p)
		return devices_use(p, image, gpu);
	if (grt_keyed_full(&d->by_place))
		return d->device[d->devices - 1];
	if (grt_keyed_get(&d->by_place, &key, &found))
		return NULL;
	p = found;
	p->device = devices_add(d, image, gpu);
	if (p->device)
		return devices_use(p, image, gpu);
	grt_keyed_remove(&d->by_place, found);
	return NULL;
}

const struct grt_device *grt_devices_of(struct grt_devices *d, uint32_t image, uint32_t gpu)
{
	if (d->recent && d->image == image && d->gpu == gpu)
		return d->recent;
	d->recent = devices_find(d, image, gpu);
	d->image = image;
	d->gpu = gpu;
	return d->recent;
}

/* How much of its UUID no other device of the trace has. */
static int devices_telling(const struct grt_devices *d, const struct grt_device *x)
{
	size_t length = GRT_DEVICE_LABEL_LENGTH;

	for (uint32_t i = 0; i < d->devices; i++)
		while (d->device[i] != x && d->device[i]->known && length < strlen(x->is.uuid) &&
		       !strncmp(d->device[i]->is.uuid, x->is.uuid, length))
			length++;
	return (int)length;
}

const char *grt_device_label(const struct grt_devices *d, const struct grt_device *x,
			     char label[GRT_DEVICE_LABEL])
{
	bool clear = !x->known || !x->several;

	for (uint32_t i = 0; clear && x->known && i < d->devices; i++)
		clear = d->device[i] == x || d->device[i]->gpu != x->gpu || !d->device[i]->users;
	if (clear)
		snprintf(label, GRT_DEVICE_LABEL, "GPU %u", x->gpu);
	else
		snprintf(label, GRT_DEVICE_LABEL, "%.*s", devices_telling(d, x), x->is.uuid);
	return label;
}

void grt_devices_free(struct grt_devices *d)
{
	for (uint32_t i = 0; i < d->devices; i++) {
		free(d->device[i]->name);
		free(d->device[i]);
	}
	free(d->device);
	grt_keyed_free(&d->by_place);
	grt_keyed_free(&d->by_uuid);
	memset(d, 0, sizeof(*d));
}
