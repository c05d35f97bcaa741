// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of NVIDIA's GPUs from the driver's library (libnvidia-ml.so.1), if it is there. The part of its
 * interface that is used is declared here, so that grtrace builds without it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "power.h"
#include "power_users.h"
#include "host/library.h"

#define LIBRARY "libnvidia-ml.so.1"
#define FIX_INSTALL "install it: libnvidia-ml1 (Debian), libnvidia-compute (Ubuntu)"
#define GPUS 32
/* The device files of NVIDIA's driver. */
#define NVIDIA_MAJOR 195U

/* Weak, because these functions are missing if libc has no dlopen() of its own (glibc before 2.34). */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlclose
#pragma weak dlerror

/* Return values. */
enum {
	NVML_SUCCESS = 0,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_GPU_IS_LOST = 15,
};

/* Arguments. */
enum {
	NVML_CLOCK_SM = 1,
	NVML_CLOCK_MEM = 2,
	NVML_TEMPERATURE_GPU = 0,
	NVML_ECC_CORRECTED = 0,
	NVML_ECC_UNCORRECTED = 1,
	NVML_ECC_VOLATILE = 0,
	/* bits of nvmlClocksThrottleReasons; the first one that matters */
	NVML_THROTTLE_FIRST = 0x4,
};

typedef struct nvml_device *nvml_device;

struct nvml_use {
	unsigned int gpu;
	unsigned int memory;
};

struct nvml_memory {
	unsigned long long total;
	unsigned long long free;
	unsigned long long used;
};

/* nvmlMemory_v2_t: memory that the driver reserves is not part of @used. */
struct nvml_memory_v2 {
	unsigned int version;
	unsigned long long total;
	unsigned long long reserved;
	unsigned long long free;
	unsigned long long used;
};
#define NVML_MEMORY_V2 ((unsigned int)sizeof(struct nvml_memory_v2) | 2U << 24)

struct nvml_pci {
	char legacy[16];
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int ids[2];
	char address[32];
};

/* A process that has memory of a GPU; all bits set: how much is unknown. */
struct nvml_user {
	unsigned int pid;
	unsigned long long memory;
	unsigned int instance[2];
};

/* The use of a GPU by a process, in percent, until @time (us). */
struct nvml_use_of {
	unsigned int pid;
	unsigned long long time;
	unsigned int sm;
	unsigned int memory;
	unsigned int encoder;
	unsigned int decoder;
};

/* The functions, by their names in the library; those with NEED must exist. */
#define FUNCTIONS                                                                                \
	NEED(init, nvmlInit_v2, (void))                                                          \
	NEED(shutdown, nvmlShutdown, (void))                                                     \
	NEED(get_count, nvmlDeviceGetCount_v2, (unsigned int *))                                 \
	NEED(get_device, nvmlDeviceGetHandleByIndex_v2, (unsigned int, nvml_device *))           \
	NEED(get_minor, nvmlDeviceGetMinorNumber, (nvml_device, unsigned int *))                 \
	MAY(get_pci, nvmlDeviceGetPciInfo_v3, (nvml_device, struct nvml_pci *))                  \
	MAY(get_computers, nvmlDeviceGetComputeRunningProcesses_v3,                              \
	    (nvml_device, unsigned int *, struct nvml_user *))                                   \
	MAY(get_painters, nvmlDeviceGetGraphicsRunningProcesses_v3,                              \
	    (nvml_device, unsigned int *, struct nvml_user *))                                   \
	MAY(get_use_by, nvmlDeviceGetProcessUtilization,                                         \
	    (nvml_device, struct nvml_use_of *, unsigned int *, unsigned long long))             \
	MAY(get_power, nvmlDeviceGetPowerUsage, (nvml_device, unsigned int *))                   \
	MAY(get_clock, nvmlDeviceGetClockInfo, (nvml_device, int, unsigned int *))               \
	MAY(get_use, nvmlDeviceGetUtilizationRates, (nvml_device, struct nvml_use *))            \
	MAY(get_memory, nvmlDeviceGetMemoryInfo, (nvml_device, struct nvml_memory *))            \
	MAY(get_memory_v2, nvmlDeviceGetMemoryInfo_v2, (nvml_device, struct nvml_memory_v2 *))   \
	MAY(get_temperature, nvmlDeviceGetTemperature, (nvml_device, int, unsigned int *))       \
	MAY(get_ecc, nvmlDeviceGetTotalEccErrors, (nvml_device, int, int, unsigned long long *)) \
	MAY(get_throttle, nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device, unsigned long long *))

struct functions {
#define NEED(name, symbol, args) int(*name) args;
#define MAY NEED
	FUNCTIONS
#undef MAY
#undef NEED
};

/*
 * struct gpu
 * @use: of this sample, if @used is success; @throttle, @throttled: the same
 * @since: time up to which the processes' use has been read, us
 */
struct gpu {
	nvml_device handle;
	uint32_t device;
	struct nvml_use use;
	int used;
	unsigned long long throttle;
	int throttled;
	unsigned long long since;
};

/* Values: each function reads one from a GPU. Return: the library's result. */
static int value_power(const struct functions *f, struct gpu *g, int arg, int64_t *value)
{
	unsigned int mw = 0;
	int ret = f->get_power ? f->get_power(g->handle, &mw) : NVML_FUNCTION_NOT_FOUND;

	*value = (int64_t)mw * 1000;
	return ret;
}

static int value_clock(const struct functions *f, struct gpu *g, int arg, int64_t *value)
{
	unsigned int mhz = 0;
	int ret = f->get_clock ? f->get_clock(g->handle, arg, &mhz) : NVML_FUNCTION_NOT_FOUND;

	*value = (int64_t)mhz * 1000000;
	return ret;
}

/* One call returns both values. */
static int value_use(const struct functions *f, struct gpu *g, int arg, int64_t *value)
{
	if (!arg)
		g->used = f->get_use ? f->get_use(g->handle, &g->use) : NVML_FUNCTION_NOT_FOUND;
	*value = arg ? g->use.memory : g->use.gpu;
	return g->used;
}

static int value_memory(const struct functions *f, struct gpu *g, int arg, int64_t *value)
{
	struct nvml_memory_v2 m = {.version = NVML_MEMORY_V2};
	struct nvml_memory old = {0};
	int ret = f->get_memory_v2 ? f->get_memory_v2(g->handle, &m) : NVML_FUNCTION_NOT_FOUND;

	*value = (int64_t)m.used;
	if (!ret)
		return 0;
	/* Before driver 510, the memory that the driver reserves, some hundred MiB, is included. */
	ret = f->get_memory ? f->get_memory(g->handle, &old) : NVML_FUNCTION_NOT_FOUND;
	*value = (int64_t)old.used;
	return ret;
}

static int value_temperature(const struct functions *f, struct gpu *g, int arg, int64_t *value)
{
	unsigned int celsius = 0;
	int ret = f->get_temperature ? f->get_temperature(g->handle, arg, &celsius) : NVML_FUNCTION_NOT_FOUND;

	*value = (int64_t)celsius * 1000;
	return ret;
}

static int value_ecc(const struct functions *f, struct gpu *g, int arg, int64_t *value)
{
	unsigned long long errors = 0;
	int ret =
		f->get_ecc ? f->get_ecc(g->handle, arg, NVML_ECC_VOLATILE, &errors) : NVML_FUNCTION_NOT_FOUND;

	*value = (int64_t)errors;
	return ret;
}

/* One call returns all reasons; @arg is the bit of one reason. */
static int value_throttle(const struct functions *f, struct gpu *g, int arg, int64_t *value)
{
	if (arg == NVML_THROTTLE_FIRST)
		g->throttled =
			f->get_throttle ? f->get_throttle(g->handle, &g->throttle) : NVML_FUNCTION_NOT_FOUND;
	*value = !!(g->throttle & (unsigned int)arg);
	return g->throttled;
}

/**
 * struct value - a counter
 * @slow: it changes rarely, and is read in one of SLOW samples
 */
static const struct value {
	const char *name;
	const char *unit;
	int (*get)(const struct functions *f, struct gpu *g, int arg, int64_t *value);
	int arg;
	bool slow;
} values[] = {
	{"power", "uW", value_power, 0, false},
	{"clock sm", "Hz", value_clock, NVML_CLOCK_SM, false},
	{"clock memory", "Hz", value_clock, NVML_CLOCK_MEM, false},
	{"busy gpu", "%", value_use, 0, false},
	{"busy memory", "%", value_use, 1, false},
	{"memory vram", "B", value_memory, 0, false},
	{"temp gpu", "mC", value_temperature, NVML_TEMPERATURE_GPU, true},
	{"ecc corrected", "errors", value_ecc, NVML_ECC_CORRECTED, true},
	{"ecc uncorrected", "errors", value_ecc, NVML_ECC_UNCORRECTED, true},
	/* reasons that make it slower than it is set to; an idle GPU is not throttled */
	{"throttle power cap", "on", value_throttle, NVML_THROTTLE_FIRST, true},
	{"throttle hw slowdown", "on", value_throttle, 0x8, true},
	{"throttle sync boost", "on", value_throttle, 0x10, true},
	{"throttle thermal", "on", value_throttle, 0x20, true},
	{"throttle hw thermal", "on", value_throttle, 0x40, true},
	{"throttle power brake", "on", value_throttle, 0x80, true},
};
#define VALUES (sizeof(values) / sizeof(values[0]))
#define SLOW 5U

/** struct asked - a value of a GPU; @failures: failed readings in a row */
struct asked {
	struct power_series series;
	unsigned int failures;
	bool stopped;
};

/* Most processes that are distinguished, and most in one answer. */
#define PROCESSES 256

/*
 * In each second, the driver has a sample (nvml.h of CUDA 13) of the processes that used the GPU. A process
 * without a sample for this time does not use it.
 */
#define IDLE_NS (2 * GRT_NS_PER_S)

/**
 * struct process - the values of a process on a GPU
 * @seen: it was seen in this sample
 * @used: time of its last use, 0: none
 */
struct process {
	uint32_t pid;
	struct gpu *gpu;
	char comm[16];
	bool seen;
	uint64_t used;
	struct power_series memory;
	struct power_series sm;
	struct power_series bandwidth;
};

struct nvml {
	void *library;
	struct functions f;
	bool begun;
	uint64_t samples;
	unsigned int gpus;
	struct gpu gpu[GPUS];
	struct asked asked[GPUS][VALUES];
	struct process process[PROCESSES];
	unsigned int processes;
};

/* -------------------------------------------------------------- library */

static bool driver_is_here(void)
{
	return probe_exists("/proc/driver/nvidia/version");
}

static int not_found(struct grt_err *err)
{
	return grt_err_set(err, -ENOENT, LIBRARY " was not found", FIX_INSTALL,
			   "no counters of NVIDIA's GPUs");
}

static int take_functions(struct nvml *n, struct grt_err *err)
{
	static const struct {
		const char *symbol;
		size_t at;
		bool need;
	} wanted[] = {
#define NEED(name, symbol, args) {#symbol, offsetof(struct functions, name), true},
#define MAY(name, symbol, args) {#symbol, offsetof(struct functions, name), false},
		FUNCTIONS
#undef MAY
#undef NEED
	};
	size_t i;
	void *at;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		at = dlsym(n->library, wanted[i].symbol);
		if (!at && wanted[i].need)
			return grt_err_set(err, -ENOSYS, "the driver is too old", NULL, LIBRARY " has no %s",
					   wanted[i].symbol);
		memcpy((char *)&n->f + wanted[i].at, &at, sizeof(at));
	}
	return 0;
}

/* Below another root, the library of that root is used. */
static int power_nvml_load(struct nvml *n, struct grt_err *err)
{
	char path[PROBE_PATH];
	const char *why;

	/* this program was not started by a dynamic linker, so it cannot load libraries */
	if (!dlopen || !dlsym || !dlclose || !dlerror || !getauxval(AT_BASE))
		return grt_err_set(err, -ENOSYS, "this grtrace was built without shared libraries", NULL,
				   "no counters of NVIDIA's GPUs");
	if (*probe_sysroot() && !library_find(LIBRARY, NULL, path))
		return not_found(err);
	n->library = dlopen(*probe_sysroot() ? path : LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (n->library)
		return take_functions(n, err);
	why = dlerror();
	return grt_err_set(err, -ENOENT, why ? why : "it cannot be loaded", FIX_INSTALL,
			   "no counters of NVIDIA's GPUs");
}

/* ----------------------------------------------------------------- GPUs */

/* Identifies the GPU by its device file, as sources do that record calls on the file (nvidia_devices.c). */
static void name_gpu(struct nvml *n, struct gpu *g, unsigned int minor, char *name, size_t room)
{
	struct nvml_pci pci = {.domain = 0};

	if (n->f.get_pci && !n->f.get_pci(g->handle, &pci))
		snprintf(name, room, "nvidia%u %04x:%02x:%02x.0", minor, pci.domain & 0xffff, pci.bus & 0xff,
			 pci.device & 0x1f);
	else
		snprintf(name, room, "nvidia%u", minor);
}

static void add_gpu(struct nvml *n, struct power *p, unsigned int index)
{
	struct gpu *g = &n->gpu[n->gpus];
	unsigned int minor;
	char name[32];
	size_t i;

	if (n->f.get_device(index, &g->handle) || n->f.get_minor(g->handle, &minor))
		return;
	g->device = NVIDIA_MAJOR << 20 | (minor & 0xfffff);
	if (!power_wanted(p, g->device))
		return;
	for (i = 0; i < VALUES; i++)
		n->asked[n->gpus][i].series = (struct power_series){
			.counter = power_counter(p, values[i].name, values[i].unit),
			.device = g->device,
			.eager = values[i].slow,
		};
	name_gpu(n, g, minor, name, sizeof(name));
	power_add_device(p, g->device, "nvidia", name);
	n->gpus++;
}

static int power_nvml_begin(struct nvml *n, struct power *p, struct grt_err *err)
{
	unsigned int count = 0, i;
	int ret = n->f.init();

	if (ret)
		return grt_err_set(err, -ENODEV, "nvidia-smi shows the cause", "nvidia-smi",
				   "no counters of NVIDIA's GPUs: " LIBRARY ": error %d", ret);
	n->begun = true;
	n->f.get_count(&count);
	for (i = 0; i < count && n->gpus < GPUS; i++)
		add_gpu(n, p, i);
	return 0;
}

static bool is_final(int code)
{
	return code == NVML_NOT_SUPPORTED || code == NVML_NO_PERMISSION || code == NVML_FUNCTION_NOT_FOUND ||
	       code == NVML_GPU_IS_LOST;
}

static void power_nvml_ask(struct nvml *n, struct power *p, struct gpu *g, size_t i)
{
	struct asked *a = &n->asked[g - n->gpu][i];
	int64_t value;
	int ret;

	if (a->stopped)
		return;
	ret = values[i].get(&n->f, g, values[i].arg, &value);
	if (!ret) {
		a->failures = 0;
		power_put(p, &a->series, grt_now(), value);
		return;
	}
	power_end(p, &a->series);
	a->stopped = is_final(ret) || ++a->failures == POWER_FAILURES;
	p->count.stopped += a->stopped;
}

/* ------------------------------------------------------------ processes */

static void power_nvml_read_comm(uint32_t pid, char *comm, size_t room)
{
	char text[32];

	probe_read(text, sizeof(text), "/proc/%u/comm", pid);
	text[strcspn(text, "\n")] = '\0';
	snprintf(comm, room, "%.15s", text);
}

static struct power_series new_series(struct power *p, const struct process *of, const char *name,
				      const char *unit)
{
	return (struct power_series){.counter = power_counter(p, name, unit),
				     .device = of->gpu->device,
				     .pid = of->pid,
				     .eager = true};
}

/* The element of a process on a GPU; NULL: it is not requested, or there is no room, which is counted */
static struct process *power_nvml_get_process(struct nvml *n, struct power *p, struct gpu *g, uint32_t pid)
{
	struct process *of = n->process;

	while (of < n->process + n->processes && (of->pid != pid || of->gpu != g))
		of++;
	if (of < n->process + n->processes)
		return of;
	if (!pid || (p->pid && p->pid != (pid_t)pid))
		return NULL;
	if (n->processes == PROCESSES) {
		p->count.dropped++;
		return NULL;
	}
	*of = (struct process){.pid = pid, .gpu = g};
	power_nvml_read_comm(pid, of->comm, sizeof(of->comm));
	if (p->comm[0] && strcmp(p->comm, of->comm) != 0)
		return NULL;
	of->memory = new_series(p, of, "memory vram", "B");
	of->sm = new_series(p, of, "busy sm", "%");
	of->bandwidth = new_series(p, of, "busy memory", "%");
	n->processes++;
	return of;
}

static void put_of(struct power *p, struct process *of, struct power_series *s, int64_t value)
{
	if (of->comm[0] &&
	    grt_packer_name(p->packer, 0, grt_now(), GRT_NAME_THREAD, of->pid, of->comm, of->comm))
		p->failed = -ENOMEM;
	power_put(p, s, grt_now(), value);
}

/* A process that computes and renders is in both lists, with all its memory. */
static void ask_memory(struct nvml *n, struct power *p, struct gpu *g,
		       int (*get)(nvml_device, unsigned int *, struct nvml_user *))
{
	struct nvml_user user[PROCESSES];
	unsigned int count = PROCESSES;
	struct process *of;

	if (!get || get(g->handle, &count, user))
		return;
	for (unsigned int i = 0; i < count && i < PROCESSES; i++) {
		of = power_nvml_get_process(n, p, g, user[i].pid);
		if (!of || of->seen)
			continue;
		of->seen = true;
		if (user[i].memory <= INT64_MAX)
			put_of(p, of, &of->memory, (int64_t)user[i].memory);
	}
}

static void ask_use(struct nvml *n, struct power *p, struct gpu *g)
{
	struct nvml_use_of use[PROCESSES];
	unsigned int count = PROCESSES;
	struct process *of;

	if (!n->f.get_use_by || n->f.get_use_by(g->handle, use, &count, g->since))
		return;
	for (unsigned int i = 0; i < count && i < PROCESSES; i++) {
		if (use[i].time > g->since)
			g->since = use[i].time;
		of = power_nvml_get_process(n, p, g, use[i].pid);
		/*
		 * the first answer reaches back to before the recording, and includes processes that have
		 * ended
		 */
		if (!of || !of->seen || use[i].sm > 100 || use[i].memory > 100)
			continue;
		of->used = grt_now();
		put_of(p, of, &of->sm, use[i].sm);
		put_of(p, of, &of->bandwidth, use[i].memory);
	}
}

static void end_use(struct nvml *n, struct power *p, const struct gpu *g)
{
	for (struct process *of = n->process; of < n->process + n->processes; of++) {
		if (of->gpu != g || !of->used || grt_now() - of->used < IDLE_NS)
			continue;
		of->used = 0;
		put_of(p, of, &of->sm, 0);
		put_of(p, of, &of->bandwidth, 0);
	}
}

/* Ends the values of processes that no longer have memory, and frees their elements. */
static void end_processes(struct nvml *n, struct power *p, const struct gpu *g)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n->processes; i++) {
		struct process *of = &n->process[i];

		if (of->gpu == g && !of->seen) {
			power_end(p, &of->memory);
			power_end(p, &of->sm);
			power_end(p, &of->bandwidth);
			continue;
		}
		of->seen = false;
		n->process[kept++] = *of;
	}
	n->processes = kept;
}

static void ask_processes(struct nvml *n, struct power *p, struct gpu *g)
{
	for (unsigned int i = 0; i < n->processes; i++)
		n->process[i].seen = n->process[i].gpu != g;
	ask_memory(n, p, g, n->f.get_computers);
	ask_memory(n, p, g, n->f.get_painters);
	ask_use(n, p, g);
	end_use(n, p, g);
	end_processes(n, p, g);
}

static void nvml_sample(void *state, struct power *p)
{
	struct nvml *n = state;
	struct gpu *g;
	size_t i;

	for (g = n->gpu; g < n->gpu + n->gpus; g++)
		for (i = 0; i < VALUES; i++)
			if (!values[i].slow || p->settle || n->samples % SLOW == 0)
				power_nvml_ask(n, p, g, i);
	for (g = n->gpu; g < n->gpu + n->gpus && (p->settle || n->samples % SLOW == 0); g++)
		ask_processes(n, p, g);
	n->samples++;
}

/* ---------------------------------------------------------------- users */

/**
 * struct power_users - the library
 * @known: the @used processes that were reported for the current GPU
 */
struct power_users {
	struct nvml nvml;
	uint32_t known[PROCESSES];
	unsigned int used;
};

int power_users_open(struct power_users **out, struct grt_err *err)
{
	struct power_users *u = calloc(1, sizeof(*u));
	struct nvml *n = u ? &u->nvml : NULL;
	int ret = n ? power_nvml_load(n, err) : -ENOMEM;

	*out = u;
	if (!ret && n->f.init())
		ret = grt_err_set(err, -ENODEV, "nvidia-smi shows the cause", "nvidia-smi",
				  LIBRARY " cannot be used");
	if (!ret) {
		n->begun = true;
		return 0;
	}
	power_users_close(u);
	*out = NULL;
	return ret;
}

static bool users_is_new(struct power_users *u, uint32_t pid)
{
	for (unsigned int i = 0; i < u->used; i++)
		if (u->known[i] == pid)
			return false;
	if (u->used < PROCESSES)
		u->known[u->used++] = pid;
	return true;
}

/* A process that computes and renders is in both lists, with all its memory. */
static int users_of(struct power_users *u, nvml_device gpu, uint32_t bus,
		    int (*get)(nvml_device, unsigned int *, struct nvml_user *),
		    int (*fn)(void *arg, uint32_t bus, uint32_t pid, uint64_t bytes), void *arg)
{
	struct nvml_user user[PROCESSES];
	unsigned int count = PROCESSES;
	int ret = 0;

	if (!get || get(gpu, &count, user))
		return 0;
	for (unsigned int i = 0; i < count && i < PROCESSES && !ret; i++)
		if (user[i].memory <= INT64_MAX && users_is_new(u, user[i].pid))
			ret = fn(arg, bus, user[i].pid, user[i].memory);
	return ret;
}

int power_users_each(struct power_users *u, int (*fn)(void *arg, uint32_t bus, uint32_t pid, uint64_t bytes),
		     void *arg)
{
	const struct functions *f = &u->nvml.f;
	struct nvml_pci pci;
	unsigned int gpus = 0;
	nvml_device gpu;
	uint32_t bus;
	int ret = 0;

	f->get_count(&gpus);
	for (unsigned int i = 0; i < gpus && i < GPUS && !ret; i++) {
		pci = (struct nvml_pci){.domain = 0};
		if (f->get_device(i, &gpu) || !f->get_pci || f->get_pci(gpu, &pci))
			continue;
		bus = pci.domain << 16 | (pci.bus & 0xff) << 8 | (pci.device & 0x1f) << 3;
		u->used = 0;
		ret = users_of(u, gpu, bus, f->get_computers, fn, arg)
			      ?: users_of(u, gpu, bus, f->get_painters, fn, arg);
	}
	return ret;
}

void power_users_close(struct power_users *u)
{
	if (!u)
		return;
	if (u->nvml.begun)
		u->nvml.f.shutdown();
	if (u->nvml.library)
		dlclose(u->nvml.library);
	free(u);
}

/* ----------------------------------------------------------------- part */

/* A request to the library would wake the GPUs, so this only checks that driver and library exist. */
static int power_nvml_look(struct grt_err *err)
{
	char path[PROBE_PATH];

	return library_find(LIBRARY, NULL, path) ? 1 : not_found(err);
}

static int nvml_open(void **state, struct power *p, struct grt_err *err)
{
	struct nvml *n;
	int ret;

	*state = NULL;
	if (!driver_is_here())
		return -ENODEV;
	if (p->looking)
		return power_nvml_look(err);
	n = calloc(1, sizeof(*n));
	*state = n;
	if (!n)
		return -ENOMEM;
	ret = power_nvml_load(n, err);
	if (!ret)
		ret = power_nvml_begin(n, p, err);
	return ret ? ret : (int)n->gpus;
}

static void nvml_close(void *state)
{
	struct nvml *n = state;

	if (!n)
		return;
	if (n->begun)
		n->f.shutdown();
	if (n->library)
		dlclose(n->library);
	free(n);
}

const struct power_part power_nvml = {
	.name = "nvml",
	.open = nvml_open,
	.sample = nvml_sample,
	.close = nvml_close,
};
