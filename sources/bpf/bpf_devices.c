// SPDX-License-Identifier: GPL-2.0
/*
 * Names of device files, read from sysfs at the first event of each device. NVIDIA's devices are not in
 * sysfs. A device keeps its number as long as it exists.
 */
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf_devices.h"
#include "trace/packet.h"
#include "host/links.h"
#include "host/nvidia_devices.h"

/* The kernel's own form of a device number. */
#define MAJOR_OF(number) ((number) >> 20)
#define MINOR_OF(number) ((number)&0xfffff)

/* Gets the last part of the target of a link in /sys/dev/char/MAJOR:MINOR; unchanged if there is none. */
static void read_link(uint32_t number, const char *link, char *name, size_t room)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u%s", MAJOR_OF(number), MINOR_OF(number), link);
	link_end(path, name, room);
}

static struct grt_bpf_device *grt_bpf_devices_find_device(struct grt_bpf_devices *d, uint32_t number)
{
	struct grt_bpf_device *k = d->known;

	while (k < d->known + d->used && k->number != number)
		k++;
	if (k < d->known + d->used)
		return k;
	if (d->used == BPF_DEVICES_KNOWN)
		return NULL;
	d->used++;
	k->number = number;
	if (nvidia_device_name(number, k->name, sizeof(k->name))) {
		snprintf(k->driver, sizeof(k->driver), "nvidia");
	} else {
		read_link(number, "", k->name, sizeof(k->name));
		read_link(number, "/device/driver", k->driver, sizeof(k->driver));
	}
	return k;
}

/*
 * DRM's device files. Events of memory have the index of the GPU's primary device file, whichever driver the
 * GPU has.
 */
#define DRM_MAJOR 226U

static bool is_memory(const struct grt_event *e)
{
	return e->type < GRT_EV_MAX && grt_class_of[e->type] == GRT_CLASS_mem && !MAJOR_OF(e->device);
}

int grt_bpf_devices_see(struct grt_bpf_devices *d, struct grt_packer *p, unsigned int cpu,
			struct grt_event *e)
{
	uint32_t slot = e->tid * 0x9e3779b1U >> 20;
	struct grt_bpf_device *known;
	int ret;

	if (e->type == GRT_EV_IOCTL_ENTER) {
		d->open[slot].tid = e->tid;
		d->open[slot].device = e->device;
	} else if (e->type == GRT_EV_IOCTL_EXIT && d->open[slot].tid == e->tid) {
		e->device = d->open[slot].device;
		d->open[slot].tid = 0;
	}
	if (is_memory(e))
		e->device |= DRM_MAJOR << 20;
	/* smaller numbers are the driver's own count of its devices */
	known = MAJOR_OF(e->device) ? grt_bpf_devices_find_device(d, e->device) : NULL;
	if (!known || !known->name[0] || known->names == grt_packer_names(p))
		return 0;
	ret = grt_packer_name(p, cpu, e->time, GRT_NAME_DEVICE, e->device, known->name, known->driver);
	known->names = grt_packer_names(p);
	return ret;
}
