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

/* Connectors are there as well: card0-DP-1 */
static bool drm_cards_is_node(const char *name, const char *kind)
{
	size_t len = strlen(kind);

	return !strncmp(name, kind, len) && name[len] &&
	       strspn(name + len, "0123456789") == strlen(name + len);
}

static bool drm_cards_is_card(const char *name)
{
	return drm_cards_is_node(name, "card");
}

void drm_card(const char *bus, char *card, size_t room)
{
	DIR *dir = opendir("/sys/class/drm");
	char path[320], at[64];
	struct dirent *d;

	*card = 0;
	while (dir && !*card && (d = readdir(dir))) {
		if (!drm_cards_is_card(d->d_name))
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

static void drm_cards_add_node(const char *node, char *text, size_t room)
{
	size_t used = strlen(text);
	char word[32], path[320], bus[64];

	snprintf(word, sizeof(word), "%.20s=", node);
	if (strstr(text, word))
		return;
	snprintf(path, sizeof(path), "/sys/class/drm/%s/device", node);
	device_end(path, bus, sizeof(bus));
	if (bus[0] && used + strlen(word) + strlen(bus) + 2 < room)
		snprintf(text + used, room - used, "%s%s%s", used ? " " : "", word, bus);
}

void drm_nodes(char *text, size_t room)
{
	DIR *dir = opendir("/sys/class/drm");
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (drm_cards_is_card(d->d_name) || drm_cards_is_node(d->d_name, "renderD"))
			drm_cards_add_node(d->d_name, text, room);
	if (dir)
		closedir(dir);
}
