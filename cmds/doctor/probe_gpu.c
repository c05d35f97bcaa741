// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of the GPUs: DRM devices, display devices on the PCI bus, and the
 * vendors' drivers.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "codes/firmware.h"
#include "probes.h"

/* Drivers that are shown if they are loaded, with or without a device. */
static const char *const known[] = {"amdgpu", "radeon",	  "i915",   "xe",	 "nouveau",    "nvidia",
				    "msm",    "panfrost", "lima",   "v3d",	 "virtio_gpu", "qxl",
				    "bochs",  "cirrus",	  "vmwgfx", "panthor",	 "intel_vpu",  "amdxdna",
				    "rocket", "ethosu",	  "qaic",   "habanalabs"};
#define KNOWN (sizeof(known) / sizeof(known[0]))

/* Drivers to be loaded, by vendor; their order does not matter. */
static const struct vendor {
	unsigned int id;
	const char *fix;
} vendors[] = {
	{0x1002, "sudo modprobe amdgpu"},
	{0x8086, "sudo modprobe i915, or xe"},
	{0x10de, "sudo modprobe nvidia, or nouveau"},
	{0x1af4, "sudo modprobe virtio-gpu"},
	{0x1234, "sudo modprobe bochs"},
	{0x1b36, "sudo modprobe qxl"},
};

static struct probe_driver *find_driver(struct probe_driver *list, int *n, const char *name)
{
	char module[sizeof(list->name)], *dash;
	int i;

	snprintf(module, sizeof(module), "%s", name);
	while ((dash = strchr(module, '-')))
		*dash = '_';
	/* The device below the card belongs to the bus, not to the GPU. */
	if (!strcmp(module, "virtio_pci"))
		strcpy(module, "virtio_gpu");
	/* Of Tegra, it is called drm by host1x, its bus. */
	if (!strcmp(module, "drm"))
		strcpy(module, "tegra_drm");
	for (i = 0; i < *n; i++)
		if (!strcmp(list[i].name, module))
			return &list[i];
	if (*n == PROBE_DRIVERS)
		return NULL;
	list[*n] = (struct probe_driver){.nodes = ""};
	memcpy(list[*n].name, module, sizeof(module));
	return &list[(*n)++];
}

static bool probe_gpu_is_node(const struct dirent *e)
{
	bool node = !strncmp(e->d_name, "card", 4) || !strncmp(e->d_name, "renderD", 7) ||
		    !strncmp(e->d_name, "accel", 5);

	/* card0-HDMI-A-1 is a connector. */
	return node && !strchr(e->d_name, '-');
}

static int is_node_entry(const struct dirent *e)
{
	return probe_gpu_is_node(e);
}

static void add_nodes(struct probe_driver *list, int *n, const char *dir)
{
	char path[PROBE_PATH], name[64];
	struct probe_driver *d;
	struct dirent **found;
	int count = scandir(probe_path(path, "/sys/class/%s", dir), &found, is_node_entry, versionsort), i;
	size_t used;

	for (i = 0; i < count; i++) {
		if (!probe_link(name, sizeof(name), "/sys/class/%s/%s/device/driver", dir, found[i]->d_name))
			snprintf(name, sizeof(name), "unknown");
		d = find_driver(list, n, name);
		if (d) {
			used = strlen(d->nodes);
			snprintf(d->nodes + used, sizeof(d->nodes) - used, "%s%.40s", used ? " " : "",
				 found[i]->d_name);
		}
		free(found[i]);
	}
	if (count >= 0)
		free(found);
}

int probe_drivers(struct probe_driver drivers[PROBE_DRIVERS])
{
	int n = 0;
	size_t i;

	add_nodes(drivers, &n, "drm");
	add_nodes(drivers, &n, "accel");
	for (i = 0; i < KNOWN; i++)
		if (probe_exists("/sys/module/%s/initstate", known[i]))
			find_driver(drivers, &n, known[i]);
	return n;
}

void probe_gpus(struct probe_result *r)
{
	struct probe_driver list[PROBE_DRIVERS];
	struct probe_result bus;
	int n = probe_drivers(list), i, devices = 0;

	probe_set(r, PROBE_WORKS, NULL, "%s", "");
	for (i = 0; i < n; i++) {
		devices += *list[i].nodes != '\0';
		if (*list[i].nodes)
			probe_add(r, "%s (%s)", list[i].name, list[i].nodes);
		else
			probe_add(r, "%s (no DRM device)", list[i].name);
	}
	if (!n) {
		probe_pci(&bus);
		probe_set(r, PROBE_FAILS, bus.fix, "no DRM device, and no driver of a GPU is loaded");
	}
	if (n && !devices && !probe_exists("/proc/driver/nvidia/version"))
		r->state = PROBE_FAILS;
}

/* Drivers whose jobs cannot be recorded: they do not use the DRM scheduler and have no events about jobs. */
static const char *const untold[] = {"qaic", "habanalabs"};

/*
 * The same, but jobs have fences (Linux 6.1 to 7.2: dma_fence_init() in the submit), of a driver of this
 * name. Tegra's jobs have one where the program requests it, after 6.1 all of them.
 */
static const struct {
	const char *driver;
	const char *fences;
} by_fence[] = {
	{"radeon", "radeon"},	    {"vc4", "vc4"},	     {"vmwgfx", "vmwgfx"},
	{"intel_vpu", "intel_vpu"}, {"tegra_drm", "host1x"},
};

static bool is_untold(const char *driver)
{
	for (size_t i = 0; i < sizeof(untold) / sizeof(untold[0]); i++)
		if (!strcmp(untold[i], driver))
			return true;
	return false;
}

/* Return: the driver's name in its fences, if jobs are seen only by these, else NULL */
static const char *fences_of(const char *driver)
{
	for (size_t i = 0; i < sizeof(by_fence) / sizeof(by_fence[0]); i++)
		if (!strcmp(by_fence[i].driver, driver))
			return by_fence[i].fences;
	return NULL;
}

void probe_job_times(struct probe_result *r)
{
	struct probe_driver list[PROBE_DRIVERS];
	int n = probe_drivers(list);

	probe_set(r, PROBE_WORKS, NULL, "%s", "");
	for (int i = 0; i < n; i++) {
		const char *fences = fences_of(list[i].name);

		if (is_untold(list[i].name))
			probe_add(r, "%s: its jobs are not seen", list[i].name);
		else if (fences)
			probe_add(r,
				  "%s: its jobs are seen only by their fences: "
				  "grtrace record -e fence --driver %s",
				  list[i].name, fences);
		else if (grt_firmware_schedules(list[i].name))
			probe_add(r, "%s: firmware schedules, so the start of a job is unknown",
				  list[i].name);
		else if (!strcmp(list[i].name, "amdgpu"))
			probe_add(r, "amdgpu: jobs of user queues and KFD are not seen");
	}
	if (*r->detail)
		r->state = PROBE_UNKNOWN;
	else
		probe_set(r, n ? PROBE_WORKS : PROBE_ABSENT, NULL,
			  n ? "no driver with unseen jobs is loaded" : "no driver of a GPU is loaded");
}

/* ----------------------------------------------------------------- PCI */

static unsigned long probe_gpu_pci_number(const char *device, const char *file)
{
	char text[32];

	probe_read(text, sizeof(text), "/sys/bus/pci/devices/%s/%s", device, file);
	return strtoul(text, NULL, 16);
}

static const char *vendor_fix(unsigned long vendor)
{
	size_t i;

	for (i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (vendors[i].id == vendor)
			return vendors[i].fix;
	return "lspci -k, which names the modules for it";
}

static void add_device(struct probe_result *r, const char *device)
{
	unsigned long vendor = probe_gpu_pci_number(device, "vendor");
	char driver[64];

	if (probe_link(driver, sizeof(driver), "/sys/bus/pci/devices/%s/driver", device)) {
		probe_add(r, "%.20s %04lx:%04lx %s", device, vendor, probe_gpu_pci_number(device, "device"),
			  driver);
		return;
	}
	probe_add(r, "%.20s %04lx:%04lx has no driver", device, vendor,
		  probe_gpu_pci_number(device, "device"));
	r->state = PROBE_FAILS;
	snprintf(r->fix, sizeof(r->fix), "%s", probe_load_fix(vendor_fix(vendor)));
}

void probe_pci(struct probe_result *r)
{
	char path[PROBE_PATH];
	struct dirent **found;
	int count = scandir(probe_path(path, "/sys/bus/pci/devices"), &found, NULL, versionsort), i;

	probe_set(r, PROBE_WORKS, NULL, "%s", "");
	for (i = 0; i < count; i++) {
		/* Class 3 is display; 0x12 is a processing accelerator, which has no display. */
		if (found[i]->d_name[0] != '.' &&
		    (probe_gpu_pci_number(found[i]->d_name, "class") >> 16 == 0x03 ||
		     probe_gpu_pci_number(found[i]->d_name, "class") >> 16 == 0x12))
			add_device(r, found[i]->d_name);
		free(found[i]);
	}
	if (count >= 0)
		free(found);
	if (!*r->detail)
		probe_set(r, PROBE_ABSENT, NULL, "none");
}

/* ------------------------------------------------------------- vendors */

void probe_amd(struct probe_result *r)
{
	char version[64], release[128];

	probe_release(release, sizeof(release));
	if (!probe_module_loaded("amdgpu"))
		probe_set(r, PROBE_ABSENT, NULL, "amdgpu is not loaded");
	else if (probe_read(version, sizeof(version), "/sys/module/amdgpu/version") > 0)
		probe_set(r, PROBE_WORKS, NULL, "amdgpu %s", version);
	else
		probe_set(r, PROBE_WORKS, NULL, "amdgpu of kernel %s", release);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Wed ...": the first word that is a version. */
static bool nvidia_version(const char *line, char *version, size_t room)
{
	size_t length;

	for (; *line; line += length + (line[length] == ' ')) {
		length = strcspn(line, " \n");
		if (isdigit((unsigned char)*line) && memchr(line, '.', length)) {
			snprintf(version, room, "%.*s", (int)length, line);
			return true;
		}
	}
	return false;
}

void probe_nvidia(struct probe_result *r)
{
	char text[1024], version[32];

	if (probe_read(text, sizeof(text), "/proc/driver/nvidia/version") < 0) {
		probe_set(r, PROBE_ABSENT, NULL, "NVIDIA's driver is not loaded");
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	if (!nvidia_version(text, version, sizeof(version)))
		probe_set(r, PROBE_UNKNOWN, NULL, "/proc/driver/nvidia/version: %s", text);
	else if (strstr(text, "Open Kernel Module"))
		probe_set(r, PROBE_WORKS, NULL, "%s, open", version);
	else
		probe_set(r, PROBE_WORKS, NULL,
			  "%s, proprietary: its calls can be seen, functions inside of it cannot be probed",
			  version);
}
