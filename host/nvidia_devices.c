// SPDX-License-Identifier: GPL-2.0
/*
 * Reads /proc/devices and /proc/driver/nvidia, below $GRTRACE_SYSROOT if that is set.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvidia_devices.h"
#include "probe.h"

/** struct row - a line of /proc/devices */
struct row {
	uint32_t major;
	char name[64];
};

static FILE *open_rows(void)
{
	const char *root = getenv("GRTRACE_SYSROOT");
	char path[512];

	snprintf(path, sizeof(path), "%s/proc/devices", root ? root : "");
	return fopen(path, "re");
}

/* The next of NVIDIA's character devices. */
static bool next_row(FILE *f, struct row *r)
{
	char line[128];

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Block", 5))
			return false;
		if (sscanf(line, "%u %63s", &r->major, r->name) == 2 && !strncmp(r->name, "nvidia", 6))
			return true;
	}
	return false;
}

static bool is_among(const uint32_t *major, unsigned int n, uint32_t wanted)
{
	while (n--)
		if (major[n] == wanted)
			return true;
	return false;
}

unsigned int nvidia_majors(uint32_t *major, unsigned int room)
{
	FILE *f = open_rows();
	unsigned int n = 0;
	struct row r;

	major[n++] = NVIDIA_MAJOR;
	while (next_row(f, &r))
		if (n < room && !is_among(major, n, r.major))
			major[n++] = r.major;
	if (f)
		fclose(f);
	return n;
}

int nvidia_loaded(struct grt_err *err)
{
	FILE *f = open_rows();
	struct row r;
	bool loaded = next_row(f, &r);

	if (f)
		fclose(f);
	return loaded ? 0
		      : grt_err_set(err, -ENODEV, "no line of /proc/devices is of NVIDIA",
				    probe_load_fix("sudo modprobe nvidia"), "NVIDIA's driver is not loaded");
}

/* Compares the number after a key in a GPU's file: "Device Minor: \t 0". */
static bool has_minor(const char *path, uint32_t minor)
{
	FILE *f = fopen(path, "re");
	char line[256];
	bool found = false;
	unsigned int n;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "Device Minor: %u", &n) == 1 && n == minor;
	if (f)
		fclose(f);
	return found;
}

/* The directory of the GPU with this minor number has the GPU's address as its name. */
static bool nvidia_devices_find_address(uint32_t minor, char *address, size_t room)
{
	const char *root = getenv("GRTRACE_SYSROOT");
	char path[512], file[1024];
	struct dirent *d;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus", root ? root : "");
	dir = opendir(path);
	while (dir && !found && (d = readdir(dir))) {
		snprintf(file, sizeof(file), "%s/%s/information", path, d->d_name);
		found = d->d_name[0] != '.' && has_minor(file, minor);
		if (found)
			snprintf(address, room, "%.14s", d->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

bool nvidia_device_uuid(uint32_t number, char *uuid, size_t room)
{
	const char *root = getenv("GRTRACE_SYSROOT");
	char address[16], path[512], line[256], text[64] = "";
	FILE *f = NULL;

	if (number >> 20 == NVIDIA_MAJOR &&
	    nvidia_devices_find_address(number & 0xfffff, address, sizeof(address))) {
		snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus/%s/information", root ? root : "",
			 address);
		f = fopen(path, "re");
	}
	while (f && !text[0] && fgets(line, sizeof(line), f))
		if (sscanf(line, "GPU UUID: %63s", text) != 1)
			text[0] = '\0';
	if (f)
		fclose(f);
	snprintf(uuid, room, "%s", text);
	return text[0];
}

/* The minor numbers of the first major number are fixed. */
static void static_name(uint32_t minor, char *name, size_t room)
{
	char address[16];

	if (minor == 255)
		snprintf(name, room, "nvidiactl");
	else if (minor == 254)
		snprintf(name, room, "nvidia-modeset");
	else if (nvidia_devices_find_address(minor, address, sizeof(address)))
		snprintf(name, room, "nvidia%u %s", minor, address);
	else
		snprintf(name, room, "nvidia%u", minor);
}

static void dynamic_name(const struct row *r, uint32_t minor, char *name, size_t room)
{
	if (!strcmp(r->name, "nvidia-uvm"))
		snprintf(name, room, "nvidia-uvm%s", minor ? "-tools" : "");
	else if (!strcmp(r->name, "nvidia-caps"))
		snprintf(name, room, "nvidia-cap%u", minor);
	else
		snprintf(name, room, "%.20s%u", r->name, minor);
}

bool nvidia_device_name(uint32_t number, char *name, size_t room)
{
	uint32_t major = number >> 20, minor = number & 0xfffff;
	bool known = false;
	struct row r;
	FILE *f;

	if (major == NVIDIA_MAJOR) {
		static_name(minor, name, room);
		return true;
	}
	f = open_rows();
	while (!known && next_row(f, &r))
		known = r.major == major;
	if (known)
		dynamic_name(&r, minor, name, room);
	if (f)
		fclose(f);
	return known;
}
