// SPDX-License-Identifier: GPL-2.0
/* Objects and clock of a GPU, see nv_gpu.h. */
#include "nv_gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "codes/nv_abi.h"
#include "host/probe.h"

/* -------------------------------------------------------------------- rm */

/* The ioctls of a client of NVIDIA's resource manager. */

#define CONTROL_FILE "/dev/nvidiactl"
#define NV_ESC_CARD_INFO 0xc8
#define NV_ESC_RM_UNMAP_MEMORY 0x4f

/* `cmd` of NV_ESC_CHECK_VERSION: only returns the version, as text. */
#define VERSION_QUERY '2'

/* NVOS33, map: flags */
#define MAP_READ_ONLY 1

/* Objects of one client only need different handles. */
#define FIRST_HANDLE 0x67720001U

struct rm_version {
	uint32_t cmd;
	uint32_t reply;
	char text[64];
};

struct rm_card {
	uint8_t valid;
	uint32_t domain;
	uint8_t bus;
	uint8_t slot;
	uint8_t function;
	uint16_t vendor;
	uint16_t device;
	uint32_t id;
	uint16_t interrupt;
	uint64_t registers;
	uint64_t registers_size;
	uint64_t frame_buffer;
	uint64_t frame_buffer_size;
	uint32_t minor;
	uint8_t name[10];
};

/* NVOS21 */
struct rm_alloc {
	uint32_t client;
	uint32_t parent;
	uint32_t object;
	uint32_t class;
	uint64_t params;
	uint32_t params_size;
	uint32_t status;
};

/* NVOS54 */
struct rm_control {
	uint32_t client;
	uint32_t object;
	uint32_t cmd;
	uint32_t flags;
	uint64_t params;
	uint32_t params_size;
	uint32_t status;
};

/* NVOS00 */
struct rm_free {
	uint32_t client;
	uint32_t parent;
	uint32_t object;
	uint32_t status;
};

/* NVOS33, and the file with which the mapping is made */
struct rm_map {
	uint32_t client;
	uint32_t device;
	uint32_t object;
	uint64_t offset;
	uint64_t length;
	uint64_t address;
	uint32_t status;
	uint32_t flags;
	int32_t fd;
};

/* NVOS34 */
struct rm_unmap {
	uint32_t client;
	uint32_t device;
	uint32_t object;
	uint64_t address;
	uint32_t status;
	uint32_t flags;
};

_Static_assert(sizeof(struct rm_version) == NV_VERSION_SIZE, "CHECK_VERSION");
_Static_assert(sizeof(struct rm_card) == 72 && offsetof(struct rm_card, minor) == 56, "CARD_INFO");
_Static_assert(sizeof(struct rm_alloc) == NV_ALLOC_SIZE, "NVOS21");
_Static_assert(sizeof(struct rm_control) == NV_CONTROL_SIZE, "NVOS54");
_Static_assert(sizeof(struct rm_free) == NV_FREE_SIZE, "NVOS00");
_Static_assert(sizeof(struct rm_map) == 56 && offsetof(struct rm_map, status) == NV_MAP_STATUS, "NVOS33");
_Static_assert(sizeof(struct rm_unmap) == 32, "NVOS34");

static int nv_rm_ioctl(int fd, unsigned int number, void *arg, size_t size)
{
	int ret;

	do
		ret = ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, NV_IOCTL_TYPE, number, size), arg);
	while (ret < 0 && (errno == EINTR || errno == EAGAIN));
	return ret < 0 ? -errno : 0;
}

static int nv_rm_open_control(struct grt_err *err)
{
	int fd = open(CONTROL_FILE, O_RDWR | O_CLOEXEC), ret = -errno;

	if (fd >= 0)
		return fd;
	if (ret == -ENOENT || ret == -ENXIO || ret == -ENODEV)
		return grt_err_set(err, ret, "NVIDIA's driver is not loaded, or has no device files here",
				   probe_load_fix("sudo nvidia-modprobe"), "cannot open %s", CONTROL_FILE);
	return grt_err_set(err, ret, strerror(-ret), ret == -EACCES ? "the same command with sudo" : NULL,
			   "cannot open %s", CONTROL_FILE);
}

int nv_rm_version(char *version, size_t room, struct grt_err *err)
{
	struct rm_version v = {.cmd = VERSION_QUERY};
	int fd = nv_rm_open_control(err), ret;

	if (fd < 0)
		return fd;
	ret = nv_rm_ioctl(fd, NV_ESC_CHECK_VERSION, &v, sizeof(v));
	close(fd);
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL,
				   "NVIDIA's driver does not report its version");
	v.text[sizeof(v.text) - 1] = '\0';
	snprintf(version, room, "%s", v.text);
	return 0;
}

int nv_rm_open(struct nv_rm *rm, struct grt_err *err)
{
	struct rm_alloc a = {.class = NV_CLASS_ROOT_CLIENT};
	int ret;

	*rm = (struct nv_rm){.fd = nv_rm_open_control(err), .next = FIRST_HANDLE};
	if (rm->fd < 0)
		return rm->fd;
	ret = nv_rm_ioctl(rm->fd, NV_ESC_RM_ALLOC, &a, sizeof(a));
	if (!ret && a.status)
		ret = -EIO;
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), "dmesg | grep NVRM",
				   "NVIDIA's driver gives no client (status 0x%x)", a.status);
	rm->client = a.object;
	return 0;
}

void nv_rm_close(struct nv_rm *rm)
{
	if (rm->client)
		nv_rm_free(rm, rm->client, rm->client);
	if (rm->fd >= 0)
		close(rm->fd);
	*rm = (struct nv_rm){.fd = -1};
}

int nv_rm_gpus(struct nv_rm *rm, struct nv_rm_gpu *gpu, struct grt_err *err)
{
	struct rm_card card[NV_RM_GPUS] = {0};
	int ret = nv_rm_ioctl(rm->fd, NV_ESC_CARD_INFO, card, sizeof(card)), n = 0, i;

	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "NVIDIA's driver does not list its GPUs");
	for (i = 0; i < NV_RM_GPUS; i++)
		if (card[i].valid)
			gpu[n++] = (struct nv_rm_gpu){
				.id = card[i].id,
				.minor = card[i].minor,
				.bus = card[i].domain << 16 | (uint32_t)card[i].bus << 8 |
				       (uint32_t)card[i].slot << 3,
			};
	return n;
}

uint32_t nv_rm_alloc(struct nv_rm *rm, uint32_t parent, uint32_t class, void *params, uint32_t size,
		     uint32_t *object)
{
	struct rm_alloc a = {
		.client = rm->client,
		.parent = parent,
		.object = rm->next++,
		.class = class,
		.params = (uintptr_t)params,
		.params_size = size,
	};

	*object = a.object;
	return nv_rm_ioctl(rm->fd, NV_ESC_RM_ALLOC, &a, sizeof(a)) ? NV_RM_NO_ANSWER : a.status;
}

uint32_t nv_rm_control(struct nv_rm *rm, uint32_t object, uint32_t cmd, void *params, uint32_t size)
{
	struct rm_control c = {
		.client = rm->client,
		.object = object,
		.cmd = cmd,
		.params = (uintptr_t)params,
		.params_size = size,
	};

	return nv_rm_ioctl(rm->fd, NV_ESC_RM_CONTROL, &c, sizeof(c)) ? NV_RM_NO_ANSWER : c.status;
}

uint32_t nv_rm_free(struct nv_rm *rm, uint32_t parent, uint32_t object)
{
	struct rm_free f = {.client = rm->client, .parent = parent, .object = object};

	return nv_rm_ioctl(rm->fd, NV_ESC_RM_FREE, &f, sizeof(f)) ? NV_RM_NO_ANSWER : f.status;
}

static int nv_rm_map_with(struct nv_rm *rm, struct nv_rm_mapping *m)
{
	struct rm_map map = {
		.client = rm->client,
		.device = rm->client,
		.object = m->object,
		.length = m->length,
		.flags = MAP_READ_ONLY,
		.fd = m->fd,
	};
	int ret = nv_rm_ioctl(rm->fd, NV_ESC_RM_MAP_MEMORY, &map, sizeof(map));
	void *at;

	if (ret || map.status)
		return ret ? ret : -EIO;
	m->cookie = map.address;
	at = mmap(NULL, m->length, PROT_READ, MAP_SHARED, m->fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	m->at = at;
	return 0;
}

int nv_rm_map(struct nv_rm *rm, uint32_t object, size_t length, struct nv_rm_mapping *m)
{
	*m = (struct nv_rm_mapping){.object = object, .length = length, .fd = nv_rm_open_control(NULL)};
	return m->fd < 0 ? m->fd : nv_rm_map_with(rm, m);
}

void nv_rm_unmap(struct nv_rm *rm, struct nv_rm_mapping *m)
{
	if (m->at)
		munmap((void *)m->at, m->length);
	if (m->cookie) {
		struct rm_unmap u = {
			.client = rm->client,
			.device = rm->client,
			.object = m->object,
			.address = m->cookie,
		};

		nv_rm_ioctl(rm->fd, NV_ESC_RM_UNMAP_MEMORY, &u, sizeof(u));
	}
	if (m->object && m->fd >= 0)
		close(m->fd);
	*m = (struct nv_rm_mapping){.fd = -1};
}

/* ------------------------------------------------------------------- gpu */

#define NV_CLASS_SUBDEVICE 0x2080
#define NV_CTRL_TIMER_CORRELATION 0x20800406
#define CLOCK_ID_MONOTONIC_RAW 3

/* A sample at this distance from the line is as good as the best one. */
#define CLOCK_GOOD_NS 500
#define CLOCK_TRIES 4

struct gpu_clocks {
	uint8_t clock;
	uint8_t samples;
	struct {
		uint64_t cpu;
		uint64_t gpu;
	} sample[16];
};
_Static_assert(sizeof(struct gpu_clocks) == 264, "NV2080_CTRL_TIMER_GET_GPU_CPU_TIME_CORRELATION_INFO");

int nv_gpu_fail(const struct nv_gpu *g, struct grt_err *err, const char *what, uint32_t status)
{
	return grt_err_set(err, -EIO, "NVIDIA's driver refused the call", "dmesg | grep NVRM",
			   "nvidia%u: no %s (status 0x%x)", g->gpu.minor, what, status);
}

/* A process may only use a GPU whose device file it has open. */
static int gpu_open_file(struct nv_gpu *g, struct grt_err *err)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/nvidia%u", g->gpu.minor);
	g->file = open(path, O_RDWR | O_CLOEXEC);
	if (g->file >= 0)
		return 0;
	return grt_err_set(err, -errno, strerror(errno),
			   errno == EACCES ? "the same command with sudo" : NULL, "cannot open %s", path);
}

static int gpu_make_device(struct nv_gpu *g, struct grt_err *err)
{
	/* NV0000_CTRL_GPU_GET_ID_INFO_V2_PARAMS, NV0080_ALLOC_PARAMETERS, NV2080_ALLOC_PARAMETERS */
	uint32_t info[8] = {g->gpu.id}, device[14] = {0}, subdevice;
	uint32_t status = nv_rm_control(g->rm, g->rm->client, NV_CTRL_GPU_GET_ID_INFO_V2, info, sizeof(info));

	if (status)
		return nv_gpu_fail(g, err, "number of its device", status);
	device[0] = info[2];
	subdevice = info[3];
	status = nv_rm_alloc(g->rm, g->rm->client, NV_CLASS_DEVICE, device, sizeof(device), &g->device);
	if (status)
		return nv_gpu_fail(g, err, "device", status);
	status = nv_rm_alloc(g->rm, g->device, NV_CLASS_SUBDEVICE, &subdevice, sizeof(subdevice),
			     &g->subdevice);
	return status ? nv_gpu_fail(g, err, "subdevice", status) : 0;
}

int nv_gpu_open(struct nv_gpu *g, struct nv_rm *rm, const struct nv_rm_gpu *gpu, struct grt_err *err)
{
	int ret;

	*g = (struct nv_gpu){.rm = rm, .gpu = *gpu, .file = -1};
	ret = gpu_open_file(g, err);
	return ret ? ret : gpu_make_device(g, err);
}

void nv_gpu_close(struct nv_gpu *g)
{
	/* this also frees its subdevice */
	if (g->device)
		nv_rm_free(g->rm, g->rm->client, g->device);
	if (g->file >= 0)
		close(g->file);
	*g = (struct nv_gpu){.file = -1};
}

/* ------------------------------------------------------------------- clock */

/*
 * CLOCK_MONOTONIC at the moment of a stamp of CLOCK_MONOTONIC_RAW; NTP changes the rate of one of them.
 * @took: for how long it is uncertain which reading of one clock goes with which of the other, ns
 */
static int clock_sample(const struct nv_gpu *g, struct nv_clock_sample *out, uint64_t *took)
{
	struct gpu_clocks p = {.clock = CLOCK_ID_MONOTONIC_RAW, .samples = 1};
	uint64_t before, raw, after;

	if (nv_rm_control(g->rm, g->subdevice, NV_CTRL_TIMER_CORRELATION, &p, sizeof(p)))
		return -EIO;
	before = grt_now();
	raw = grt_clock_ns(CLOCK_MONOTONIC_RAW);
	after = grt_now();
	*took = after - before;
	*out = (struct nv_clock_sample){
		.gpu = p.sample[0].gpu,
		.monotonic = before + (after - before) / 2 - (raw - p.sample[0].cpu),
	};
	return 0;
}

/* A time on the line through two samples that are a second apart or more. */
uint64_t nv_clock_monotonic(const struct nv_clock *c, uint64_t gpu)
{
	int64_t from = (int64_t)(gpu - c->now.gpu);
	int64_t ticks = (int64_t)(c->now.gpu - c->old.gpu);
	int64_t ns = (int64_t)(c->now.monotonic - c->old.monotonic);

	if (ticks <= 0 || ns <= 0)
		return c->now.monotonic + (uint64_t)from;
	return c->now.monotonic + (uint64_t)(int64_t)((__int128)from * ns / ticks);
}

static uint64_t clock_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * The distance of a sample from the line so far: an interrupt between its readings moves it. For the first
 * one, which has no line, it is what the readings took.
 */
static uint64_t clock_sample_error(const struct nv_clock *c, const struct nv_clock_sample *s, uint64_t took)
{
	return c->now.gpu ? clock_distance(s->monotonic, nv_clock_monotonic(c, s->gpu)) : took;
}

/* The best of a few tries. */
static int clock_read(struct nv_clock *c, const struct nv_gpu *g, struct nv_clock_sample *best)
{
	uint64_t error, took, least = UINT64_MAX;
	struct nv_clock_sample sample;
	int i;

	for (i = 0; i < CLOCK_TRIES && least > CLOCK_GOOD_NS; i++) {
		if (clock_sample(g, &sample, &took))
			return -EIO;
		error = clock_sample_error(c, &sample, took);
		if (error < least) {
			least = error;
			*best = sample;
		}
	}
	if (c->now.gpu && least > c->error)
		c->error = least;
	return 0;
}

/* @next replaces the old sample when it is one second old. */
int nv_clock_take(struct nv_clock *c, const struct nv_gpu *g)
{
	struct nv_clock_sample s;

	if (clock_read(c, g, &s))
		return -EIO;
	if (!c->first.gpu)
		c->first = c->old = c->next = s;
	if (s.monotonic - c->next.monotonic >= GRT_NS_PER_S) {
		c->old = c->next;
		c->next = s;
	}
	c->now = s;
	return 0;
}

double nv_clock_drift_ppm(const struct nv_clock *c)
{
	double ns = (double)(c->now.monotonic - c->first.monotonic);

	return ns > 0 ? ((double)(c->now.gpu - c->first.gpu) - ns) / ns * 1e6 : 0;
}
