// SPDX-License-Identifier: GPL-2.0
/* Samples of a GPU's hardware counters, see pm_sampler.h. */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pm_sampler.h"
#include "base/clock.h"
#include "host/library.h"
#include "host/nvidia_devices.h"

/* --------------------------------------------------------------- library */

/*
 * Finds and loads CUPTI: the newest CUPTI with PM sampling that the driver supports, in
 * the linker's directories, the toolkits, and what pip has installed.
 */

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

/*
 * pm_library_error - sets @err to the meaning of CUPTI's @result for the counters of @what. Return: a
 * negative errno
 */
static int pm_library_error(const char *what, int result, struct grt_err *err)
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

/* --------------------------------------------------------------- sampler */

/*
 * Bytes of a sample in the hardware's buffer, about 18 KiB on an H100, and the time for which the buffer has
 * room.
 */
#define SAMPLE_BYTES 20000U
#define BUFFER_SECONDS 3
#define BUFFER_LEAST ((size_t)64 << 20)
#define BUFFER_MOST ((size_t)512 << 20)

/* Samples in the image into which they are decoded, which takes up to 32 KiB for each. */
#define ROOM_LEAST 256U
#define ROOM_MOST 1024U

/* Most full images in a row: if samples come faster than they are read, the others wait. */
#define IMAGES_MAX 4U

/* After a buffer was overwritten, CUPTI fails once, and continues. */
#define FAILURES_MAX 50

/* ----------------------------------------------------------------- metrics */

/** struct trial - metrics that may fit into one pass, and CUPTI's configuration for them */
struct trial {
	void *host;
	uint8_t *config;
	size_t bytes;
};

static void trial_free(const struct pm_sampler *s, struct trial *t)
{
	struct pm_host_only end = {.size = sizeof(end), .host = t->host};

	if (t->host)
		s->f->host_end(&end);
	free(t->config);
	*t = (struct trial){.host = NULL};
}

static int trial_make_config(const struct pm_sampler *s, struct trial *t)
{
	struct pm_host_config_size size = {.size = PM_SIZE(pm_host_config_size, bytes), .host = t->host};
	struct pm_host_config get = {.size = PM_SIZE(pm_host_config, image), .host = t->host};
	int ret = s->f->host_config_size(&size);

	if (ret)
		return ret;
	t->bytes = get.bytes = size.bytes;
	t->config = get.image = calloc(1, size.bytes + 1);
	return t->config ? s->f->host_config(&get) : PM_OUT_OF_MEMORY;
}

/* Return: CUPTI's result; PM_NOT_SUPPORTED also if they need more than one pass */
static int trial_make(const struct pm_sampler *s, const char **metric, size_t metrics, struct trial *t)
{
	struct pm_host_init init = {.size = PM_SIZE(pm_host_init, host),
				    .type = PM_TYPE_SAMPLING,
				    .chip = s->chip,
				    .available = s->available};
	struct pm_host_add add = {
		.size = PM_SIZE(pm_host_add, metrics), .metric = metric, .metrics = metrics};
	struct pm_host_passes passes = {.size = PM_SIZE(pm_host_passes, passes)};
	int ret = s->f->host_init(&init);

	*t = (struct trial){.host = ret ? NULL : init.host};
	add.host = t->host;
	ret = ret ?: s->f->host_add(&add);
	ret = ret ?: trial_make_config(s, t);
	passes.bytes = t->bytes;
	passes.image = t->config;
	ret = ret ?: s->f->host_passes(&passes);
	return ret ?: passes.passes == 1 ? PM_OK : PM_NOT_SUPPORTED;
}

/* Takes the first of a row's metrics that fits beside those taken before. */
static void pm_choose(struct pm_sampler *s, enum grt_metric_id row)
{
	const struct grt_metric *m = &grt_metrics_table[row];
	struct trial t;
	bool fits = false;

	for (unsigned int i = 0; m->metric[i] && !fits; i++) {
		s->metric[s->metrics] = m->metric[i];
		fits = !trial_make(s, s->metric, s->metrics + 1, &t);
		trial_free(s, &t);
	}
	if (!fits) {
		s->left_out++;
		return;
	}
	s->row[s->metrics++] = row;
}

static int pm_choose_all(struct pm_sampler *s, unsigned int set, struct grt_err *err)
{
	struct trial t;
	int ret;

	for (unsigned int i = 0; i < GRT_METRICS; i++)
		if (grt_metrics_table[i].sets >> set & 1)
			pm_choose(s, i);
	if (!s->metrics)
		return grt_err_set(err, -EOPNOTSUPP, "CUPTI knows no counter of this set for its chip",
				   "another set: grtrace record -e gpumetrics, or a newer CUDA toolkit",
				   "no hardware counters of %s (%s)", s->device->uuid, s->chip);
	ret = trial_make(s, s->metric, s->metrics, &t);
	s->host = t.host;
	s->config = t.config;
	s->config_bytes = t.bytes;
	return ret ? pm_library_error(s->device->uuid, ret, err) : 0;
}

/* ----------------------------------------------------------------- set-up */

static int pm_ask_chip(struct pm_sampler *s)
{
	struct pm_initialize init = {.size = sizeof(init)};
	struct pm_chip chip = {.size = PM_SIZE(pm_chip, name), .device = s->device->index};
	struct pm_available a = {.size = PM_SIZE(pm_available, image), .device = s->device->index};
	int ret = s->f->initialize(&init);

	ret = ret ?: s->f->chip(&chip);
	snprintf(s->chip, sizeof(s->chip), "%s", !ret && chip.name ? chip.name : "");
	ret = ret ?: s->f->available(&a);
	s->available = ret ? NULL : calloc(1, a.bytes + 1);
	a.image = s->available;
	return ret ?: s->available ? s->f->available(&a) : PM_OUT_OF_MEMORY;
}

static size_t pm_buffer_bytes(unsigned int hz)
{
	size_t bytes = (size_t)hz * SAMPLE_BYTES * BUFFER_SECONDS;

	return bytes < BUFFER_LEAST ? BUFFER_LEAST : bytes > BUFFER_MOST ? BUFFER_MOST : bytes;
}

static int pm_configure(struct pm_sampler *s, unsigned int hz)
{
	struct pm_enable enable = {.size = sizeof(enable), .device = s->device->index};
	struct pm_set_config set = {
		.size = PM_SIZE(pm_set_config, append),
		.bytes = s->config_bytes,
		.config = s->config,
		.buffer = pm_buffer_bytes(hz),
		.interval = s->interval,
		.trigger = PM_TRIGGER_TIME,
		.append = PM_KEEP_LATEST,
	};
	int ret = s->f->enable(&enable);

	s->enabled = !ret;
	s->handle = set.sampler = enable.sampler;
	return ret ?: s->f->set_config(&set);
}

static int pm_clear_image(struct pm_sampler *s)
{
	struct pm_data_init init = {.size = PM_SIZE(pm_data_init, image),
				    .sampler = s->handle,
				    .bytes = s->image_bytes,
				    .image = s->image};

	s->next = 0;
	return s->f->data_init(&init);
}

static int pm_make_image(struct pm_sampler *s, unsigned int hz)
{
	struct pm_data_size size = {.size = PM_SIZE(pm_data_size, bytes),
				    .sampler = s->handle,
				    .metric = s->metric,
				    .metrics = s->metrics};
	int ret;

	s->room = hz / 2 < ROOM_LEAST ? ROOM_LEAST : hz / 2 > ROOM_MOST ? ROOM_MOST : hz / 2;
	size.samples = (uint32_t)s->room;
	ret = s->f->data_size(&size);
	s->image_bytes = size.bytes;
	s->image = ret ? NULL : calloc(1, size.bytes + 1);
	return ret ?: s->image ? pm_clear_image(s) : PM_OUT_OF_MEMORY;
}

int pm_sampler_open(struct pm_sampler *s, const struct pm_library *l, const struct pm_device *device,
		    unsigned int set, unsigned int hz, struct grt_err *err)
{
	int ret;

	memset(s, 0, sizeof(*s));
	s->f = &l->f;
	s->device = device;
	s->interval = GRT_NS_PER_S / hz;
	ret = pm_ask_chip(s);
	if (ret)
		return pm_library_error(device->uuid, ret, err);
	ret = pm_choose_all(s, set, err);
	if (ret)
		return ret;
	ret = pm_configure(s, hz);
	ret = ret ?: pm_make_image(s, hz);
	return ret ? pm_library_error(device->uuid, ret, err) : 0;
}

int pm_sampler_start(struct pm_sampler *s, struct grt_err *err)
{
	struct pm_sampler_only start = {.size = sizeof(start), .sampler = s->handle};
	int ret = s->f->start(&start);

	s->started = !ret;
	return ret ? pm_library_error(s->device->uuid, ret, err) : 0;
}

void pm_sampler_stop(struct pm_sampler *s)
{
	struct pm_sampler_only stop = {.size = sizeof(stop), .sampler = s->handle};

	if (s->started) {
		s->stopped = grt_clock_ns(CLOCK_REALTIME);
		s->f->stop(&stop);
	}
	s->started = false;
}

void pm_sampler_close(struct pm_sampler *s)
{
	struct pm_sampler_only disable = {.size = sizeof(disable), .sampler = s->handle};
	struct pm_host_only end = {.size = sizeof(end), .host = s->host};

	pm_sampler_stop(s);
	if (s->enabled)
		s->f->disable(&disable);
	if (s->host)
		s->f->host_end(&end);
	free(s->available);
	free(s->config);
	free(s->image);
	memset(s, 0, sizeof(*s));
}

/* ----------------------------------------------------------------- samples */

static uint64_t pm_intervals(const struct pm_sampler *s, uint64_t ns)
{
	uint64_t n = (ns + s->interval / 2) / s->interval;

	return n ? n : 1;
}

/* CUPTI's stamps jump by less than a microsecond every few seconds, when it sets its clock. */
static bool pm_follows(const struct pm_sampler *s, const struct pm_sample_info *info)
{
	return info->start < s->end + s->interval / 2 && info->start + s->interval / 2 > s->end;
}

/*
 * The first sample contains counts of an earlier use of the hardware, and so does the first one after
 * overwritten samples.
 */
static bool pm_is_odd(struct pm_sampler *s, const struct pm_sample_info *info)
{
	bool first = !s->end,
	     ordered = info->end > info->start && (pm_follows(s, info) || info->start > s->end);

	if (!first && ordered && info->end - info->start < s->interval * 3 / 2)
		return false;
	if (!first && info->end > s->end) {
		s->count.missing += pm_intervals(s, info->end - s->end);
		s->count.odd++;
	}
	return true;
}

static int pm_hand_out(struct pm_sampler *s, size_t index, bool *gap,
		       int (*put)(void *arg, const struct pm_sample *sample), void *arg)
{
	double value[GRT_METRICS];
	struct pm_sample_info info = {.size = PM_SIZE(pm_sample_info, end),
				      .sampler = s->handle,
				      .image = s->image,
				      .bytes = s->image_bytes,
				      .index = index};
	struct pm_host_values values = {.size = PM_SIZE(pm_host_values, value),
					.host = s->host,
					.image = s->image,
					.bytes = s->image_bytes,
					.index = index,
					.metric = s->metric,
					.metrics = s->metrics,
					.value = value};
	struct pm_sample sample = {.value = value};

	if (s->f->sample_info(&info) || s->f->host_values(&values)) {
		s->count.errors++;
		return 0;
	}
	if (pm_is_odd(s, &info)) {
		*gap = s->end;
		s->end = info.end > s->end ? info.end : s->end;
		return 0;
	}
	sample.ns = info.end - info.start;
	sample.start = pm_follows(s, &info) ? s->end : info.start;
	if (sample.start != s->end) {
		s->count.missing += pm_intervals(s, info.start - s->end);
		*gap = true;
	}
	sample.end = s->end = info.end;
	sample.gap = *gap;
	*gap = false;
	s->count.samples++;
	return put(arg, &sample);
}

/* Return: CUPTI's result; an overwritten buffer is not an error */
static int pm_decode(struct pm_sampler *s, bool *full)
{
	struct pm_decode decode = {.size = PM_SIZE(pm_decode, overflow),
				   .sampler = s->handle,
				   .image = s->image,
				   .bytes = s->image_bytes};
	int ret = s->f->decode(&decode);

	s->count.overflows += decode.overflow != 0;
	*full = !ret && decode.stopped == PM_STOPPED_FULL;
	s->count.full += *full;
	s->count.errors += ret && !decode.overflow;
	s->failures = ret ? s->failures + 1 : 0;
	return ret && s->failures > FAILURES_MAX ? ret : 0;
}

/* Samples that are incomplete in the image stay there. */
static int pm_make_room(struct pm_sampler *s, const struct pm_data_info *info, bool full)
{
	if (full || (info->begun == info->whole && info->whole > s->room / 2))
		return pm_clear_image(s) ? -EIO : 0;
	return 0;
}

/* Counts the samples that are missing between the last one and the end. */
static void pm_count_end(struct pm_sampler *s)
{
	if (s->stopped && s->end && s->stopped > s->end + s->interval * 3 / 2)
		s->count.missing += (s->stopped - s->end) / s->interval;
	s->stopped = 0;
}

int pm_sampler_read(struct pm_sampler *s, int (*put)(void *arg, const struct pm_sample *sample), void *arg)
{
	struct pm_data_info info = {
		.size = PM_SIZE(pm_data_info, whole), .image = s->image, .bytes = s->image_bytes};
	bool full = true, gap = s->gap;
	int ret = 0;

	for (unsigned int i = 0; i < IMAGES_MAX && full && !ret; i++) {
		if (pm_decode(s, &full) || s->f->data_info(&info))
			return -EIO;
		for (; s->next < info.whole && !ret; s->next++)
			ret = pm_hand_out(s, s->next, &gap, put, arg);
		s->gap = gap;
		ret = ret ?: pm_make_room(s, &info, full);
	}
	pm_count_end(s);
	return ret;
}
