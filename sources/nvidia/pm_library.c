// SPDX-License-Identifier: GPL-2.0
/*
 * Finds and loads CUPTI, see pm_library.h: the newest CUPTI with PM sampling that the driver supports, in
 * the linker's directories, the toolkits, and what pip has installed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pm_library.h"
#include "host/library.h"
#include "host/nvidia_devices.h"

/* Weak, because these functions are missing if libc has no dlopen() of its own (glibc before 2.34). */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlclose
#pragma weak dlerror

#define CUDA "libcuda.so.1"
#define CUPTI "libcupti.so"
#define VARIABLE "GRTRACE_CUPTI"
#define INJECTION "CUDA_INJECTION64_PATH"

/* Where CUPTI of a major version may be, besides the linker's directories. */
#define MAJOR "@"
static const char *const places[] = {
	"/usr/local/cuda-" MAJOR "*/extras/CUPTI/lib64/" CUPTI "." MAJOR "*",
	"/usr/local/cuda-" MAJOR "*/lib64/" CUPTI "." MAJOR "*",
	"/usr/local/cuda/extras/CUPTI/lib64/" CUPTI "." MAJOR "*",
	"/usr/local/cuda/lib64/" CUPTI "." MAJOR "*",
	"/opt/cuda/extras/CUPTI/lib64/" CUPTI "." MAJOR "*",
	"/usr/lib/*/" CUPTI "." MAJOR "*",
	"/usr/lib64/" CUPTI "." MAJOR "*",
	"/usr/lib/python3*/*-packages/nvidia/*/lib/" CUPTI "." MAJOR "*",
	"/usr/local/lib/python3*/*-packages/nvidia/*/lib/" CUPTI "." MAJOR "*",
	"/opt/*/lib/python3*/site-packages/nvidia/*/lib/" CUPTI "." MAJOR "*",
};
#define PLACES (sizeof(places) / sizeof(places[0]))
#define MAJOR_FIRST 12
#define MAJOR_LAST 13

/** struct driver - what is used of libcuda */
struct driver {
	int (*init)(unsigned int flags);
	int (*version)(int *version);
	int (*count)(int *n);
	int (*get)(int *device, int ordinal);
	int (*uuid)(uint8_t uuid[16], int device);
};

/* ------------------------------------------------------------------ CUPTI */

static const char *pm_pattern(char text[PROBE_PATH], const char *place, int major)
{
	size_t used = 0;

	for (; *place && used < PROBE_PATH - 4; place++)
		if (*place == MAJOR[0])
			used += (size_t)snprintf(text + used, PROBE_PATH - used, "%d", major);
		else
			text[used++] = *place;
	text[used] = '\0';
	return text;
}

/* Calls @fn with each file, the newest first, until it returns true. */
static bool pm_each_file(int major, bool (*fn)(void *arg, const char *path), void *arg)
{
	char text[PROBE_PATH];
	bool done = false;

	for (size_t i = 0; i < PLACES && !done; i++) {
		glob_t g = {0};

		if (!glob(pm_pattern(text, places[i], major), 0, NULL, &g))
			for (size_t k = g.gl_pathc; k-- > 0 && !done;)
				done = fn(arg, g.gl_pathv[k]);
		globfree(&g);
	}
	return done;
}

static int pm_no_cupti(struct grt_err *err, const char *why)
{
	return grt_err_set(err, -ENOENT, why,
			   "install CUDA's toolkit, 12.6 or later, or name the file: " VARIABLE
			   "=/path/to/" CUPTI,
			   "no hardware counters: CUPTI with PM sampling was not found");
}

static bool pm_take_any(void *arg, const char *path)
{
	return true;
}

/* Return: whether all functions are there */
static bool pm_bind(struct pm_functions *f, void *cupti)
{
#define PM_FN(name, symbol, type)                   \
	*(void **)&f->name = dlsym(cupti, #symbol); \
	if (!f->name)                               \
		return false;
	PM_FUNCTIONS
#undef PM_FN
	return true;
}

static bool pm_take(void *arg, const char *path)
{
	struct pm_library *l = arg;

	l->cupti = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!l->cupti)
		return false;
	snprintf(l->path, sizeof(l->path), "%s", path);
	if (pm_bind(&l->f, l->cupti) && !l->f.version(&l->version) && l->version >= PM_VERSION_12_6)
		return true;
	dlclose(l->cupti);
	l->cupti = NULL;
	return false;
}

static int pm_find_cupti(struct pm_library *l, int major, struct grt_err *err)
{
	const char *given = secure_getenv(VARIABLE);
	char name[32];

	if (given && *given)
		return pm_take(l, given) ? 0 : pm_no_cupti(err, VARIABLE " names none that can be loaded");
	for (; major >= MAJOR_FIRST; major--) {
		snprintf(name, sizeof(name), CUPTI ".%d", major);
		if (pm_take(l, name) || pm_each_file(major, pm_take, l))
			return 0;
	}
	return pm_no_cupti(err,
			   l->path[0] ? "the installed ones are older than CUDA 12.6" : "none was found");
}

/* ------------------------------------------------------------------ driver */

static bool pm_bind_driver(struct driver *d, void *cuda)
{
	*(void **)&d->init = dlsym(cuda, "cuInit");
	*(void **)&d->version = dlsym(cuda, "cuDriverGetVersion");
	*(void **)&d->count = dlsym(cuda, "cuDeviceGetCount");
	*(void **)&d->get = dlsym(cuda, "cuDeviceGet");
	*(void **)&d->uuid = dlsym(cuda, "cuDeviceGetUuid");
	return d->init && d->version && d->count && d->get && d->uuid;
}

/* A library that is to be loaded into the recorded program must not be loaded here. */
static int pm_init_driver(const struct driver *d)
{
	const char *set = getenv(INJECTION);
	char *injection = set ? strdup(set) : NULL;
	int ret;

	unsetenv(INJECTION);
	ret = d->init(0);
	if (injection)
		setenv(INJECTION, injection, 1);
	free(injection);
	return ret;
}

static void pm_write_uuid(char *text, size_t room, const uint8_t u[16])
{
	size_t used = (size_t)snprintf(text, room, "GPU");

	for (unsigned int i = 0; i < 16; i++)
		used += (size_t)snprintf(text + used, room - used, "%s%02x",
					 i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
}

/* Return: the number of the device file of a UUID, from the driver's list; 0: it is not in the list. */
static uint32_t pm_number_of(const char *uuid)
{
	char text[64];

	for (uint32_t minor = 0; minor < 256; minor++)
		if (nvidia_device_uuid(NVIDIA_MAJOR << 20 | minor, text, sizeof(text)) && !strcmp(text, uuid))
			return NVIDIA_MAJOR << 20 | minor;
	return 0;
}

static void pm_add_device(struct pm_library *l, const struct driver *d, int index)
{
	struct pm_device *device = &l->device[l->devices];
	uint8_t uuid[16];
	int handle;

	if (d->get(&handle, index) || d->uuid(uuid, handle))
		return;
	device->index = (uint32_t)index;
	pm_write_uuid(device->uuid, sizeof(device->uuid), uuid);
	device->number = pm_number_of(device->uuid);
	l->devices++;
}

static int pm_no_driver(struct grt_err *err, const char *why)
{
	return grt_err_set(err, -ENODEV, why, "nvidia-smi shows whether the driver works",
			   "no hardware counters: " CUDA " cannot be used");
}

static int pm_open_driver(struct pm_library *l, int *major, struct grt_err *err)
{
	struct driver d;
	int n = 0, version = 0;

	l->cuda = dlopen(CUDA, RTLD_NOW | RTLD_GLOBAL);
	if (!l->cuda)
		return pm_no_driver(err, "it is not installed, or cannot be loaded");
	if (!pm_bind_driver(&d, l->cuda) || pm_init_driver(&d) || d.version(&version) || d.count(&n) || !n)
		return pm_no_driver(err, "CUDA shows no GPU");
	for (int i = 0; i < n && l->devices < PM_DEVICES; i++)
		pm_add_device(l, &d, i);
	*major = version / 1000 < MAJOR_LAST ? version / 1000 : MAJOR_LAST;
	return l->devices ? 0 : pm_no_driver(err, "CUDA does not list its GPUs");
}

/* ------------------------------------------------------------------- both */

int pm_library_look(struct grt_err *err)
{
	const char *given = secure_getenv(VARIABLE);
	char path[PROBE_PATH];
	bool found = (given && *given) || library_find(CUPTI ".", NULL, path);

	if (!dlopen)
		return pm_no_driver(err, "this grtrace is linked statically and loads no libraries");
	if (!library_find(CUDA, NULL, path))
		return pm_no_driver(err, "it is not installed");
	for (int major = MAJOR_LAST; major >= MAJOR_FIRST && !found; major--)
		found = pm_each_file(major, pm_take_any, NULL);
	return found ? 0 : pm_no_cupti(err, "none was found");
}

int pm_library_load(struct pm_library *l, struct grt_err *err)
{
	int major = 0, ret;

	if (!dlopen)
		return pm_no_driver(err, "this grtrace is linked statically and loads no libraries");
	ret = pm_open_driver(l, &major, err);
	return ret ? ret : pm_find_cupti(l, major, err);
}

void pm_library_free(struct pm_library *l)
{
	if (l->cupti)
		dlclose(l->cupti);
	if (l->cuda)
		dlclose(l->cuda);
	l->cupti = l->cuda = NULL;
}

/* ------------------------------------------------------------------ errors */

static const struct refusal {
	int result;
	int code;
	const char *why;
	const char *fix;
} refusals[] = {
	{PM_INSUFFICIENT_PRIVILEGES, -EACCES, "the driver shows the GPU's counters only to root",
	 "sudo grtrace record, or load nvidia.ko with NVreg_RestrictProfilingToAdminUsers=0"},
	{PM_VIRTUALIZED_DEVICE_PRIVILEGES, -EACCES,
	 "the host does not allow reading this virtual GPU's counters",
	 "enable profiling for it on the host"},
	{PM_INVALID_OPERATION, -EBUSY, "another profiler uses them: only one at a time can",
	 "end it (another grtrace record -e gpumetrics, ncu, nsys, DCGM), then the same command"},
	{PM_HARDWARE_BUSY, -EBUSY, "another profiler uses them: only one at a time can",
	 "end it (another grtrace record -e gpumetrics, ncu, nsys, DCGM), then the same command"},
	{PM_NOT_SUPPORTED, -EOPNOTSUPP, "this GPU, its driver or its mode does not support PM sampling",
	 "use a GPU since Ampere other than the A100, not under MPS; or grtrace record -e power, which reads fewer counters, less often"},
	{PM_INVALID_CHIP, -EOPNOTSUPP, "CUPTI does not know this chip", "a newer CUDA toolkit"},
	{PM_VIRTUALIZED_DEVICE, -EOPNOTSUPP, "CUPTI does not support it on this virtual GPU",
	 "grtrace record -e power"},
	{PM_CONFIDENTIAL_COMPUTING, -EOPNOTSUPP, "the GPU is in confidential computing mode",
	 "turn that off, or grtrace record -e power"},
	{PM_MIG_DEVICE, -EOPNOTSUPP, "the GPU is divided (MIG)",
	 "nvidia-smi -mig 0, or grtrace record -e power"},
	{PM_SLI_DEVICE, -EOPNOTSUPP, "the GPU is in an SLI group", "grtrace record -e power"},
	{PM_WSL_DEVICE, -EOPNOTSUPP, "CUPTI does not support it in WSL", "grtrace record -e power"},
	{PM_CMP_DEVICE, -EOPNOTSUPP, "CUPTI does not support it on mining cards", "grtrace record -e power"},
	{PM_OUT_OF_MEMORY, -ENOMEM, "no memory for the hardware's buffer",
	 "a longer interval, fewer counters"},
	{PM_NOT_INITIALIZED, -ENODEV, "CUPTI and the driver do not match: the driver may be too old",
	 "an older CUPTI (" VARIABLE "=/path/to/" CUPTI "), or a newer driver"},
};

int pm_library_error(const char *what, int result, struct grt_err *err)
{
	char why[48];

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (refusals[i].result == result)
			return grt_err_set(err, refusals[i].code, refusals[i].why, refusals[i].fix,
					   "no hardware counters of %s", what);
	snprintf(why, sizeof(why), "CUPTI's error %d", result);
	return grt_err_set(err, -EIO, why, "grtrace record -e power, which reads fewer counters, less often",
			   "no hardware counters of %s", what);
}
