// SPDX-License-Identifier: GPL-2.0
/*
 * See drm_cards.h. A virtio GPU is a virtio device on a PCI device: the address
 * is that of the PCI device.
 */
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drm_cards.h"

/* The last part of where the link leads, of a virtio device the one before: 0000:00:02.0/virtio0 */
static void device_end(const char *link, char *bus, size_t room)
{
	char path[PATH_MAX], *end;

	*bus = 0;
	if (!realpath(link, path))
		return;
	end = strrchr(path, '/');
	if (!strncmp(end, "/virtio", strlen("/virtio"))) {
		*end = 0;
		end = strrchr(path, '/');
	}
	if (end)
		snprintf(bus, room, "%s", end + 1);
}

static bool is_card(const char *name)
{
	return !strncmp(name, "card", 4) && strspn(name + 4, "0123456789") == strlen(name + 4) && name[4];
}

void drm_card(const char *bus, char *card, size_t room)
{
	DIR *dir = opendir("/sys/class/drm");
	char path[320], at[64];
	struct dirent *d;

	*card = 0;
	while (dir && !*card && (d = readdir(dir))) {
		if (!is_card(d->d_name))
			continue;
		snprintf(path, sizeof(path), "/sys/class/drm/%s/device", d->d_name);
		device_end(path, at, sizeof(at));
		if (!strcmp(at, bus))
			snprintf(card, room, "%.15s", d->d_name);
	}
	if (dir)
		closedir(dir);
}

void drm_bus(uint32_t number, char *bus, size_t room)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device", number >> 20, number & 0xfffff);
	device_end(path, bus, room);
}
