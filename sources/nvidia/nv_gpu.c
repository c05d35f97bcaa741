// SPDX-License-Identifier: GPL-2.0
/* Objects and clock of a GPU, see nv_gpu.h. */
#include "nv_gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "codes/nv_abi.h"

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

/* CLOCK_MONOTONIC at the moment of a stamp of CLOCK_MONOTONIC_RAW; NTP changes the rate of one of them. */
static int clock_sample(const struct nv_gpu *g, struct nv_clock_sample *out)
{
	struct gpu_clocks p = {.clock = CLOCK_ID_MONOTONIC_RAW, .samples = 1};
	uint64_t before, raw, after;

	if (nv_rm_control(g->rm, g->subdevice, NV_CTRL_TIMER_CORRELATION, &p, sizeof(p)))
		return -EIO;
	before = grt_now();
	raw = grt_clock_ns(CLOCK_MONOTONIC_RAW);
	after = grt_now();
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

/* The distance of a sample from the line so far: an interrupt between its readings moves it. */
static uint64_t clock_sample_error(const struct nv_clock *c, const struct nv_clock_sample *s)
{
	return c->now.gpu ? clock_distance(s->monotonic, nv_clock_monotonic(c, s->gpu)) : 0;
}

/* The best of a few tries. */
static int clock_read(struct nv_clock *c, const struct nv_gpu *g, struct nv_clock_sample *best)
{
	uint64_t error, least = UINT64_MAX;
	struct nv_clock_sample sample;
	int i;

	for (i = 0; i < CLOCK_TRIES && least > CLOCK_GOOD_NS; i++) {
		if (clock_sample(g, &sample))
			return -EIO;
		error = clock_sample_error(c, &sample);
		if (error < least) {
			least = error;
			*best = sample;
		}
	}
	if (least > c->error)
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
