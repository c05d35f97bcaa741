// SPDX-License-Identifier: GPL-2.0
/*
 * Which process has an NVIDIA GPU: the context-switch log of the driver, for each GPU and all processes,
 * without a module and without a change to the programs.
 *
 * The driver reads the GPU's log every 33 ms. A flush makes it read at once, but takes the locks of all GPUs.
 * So the log is flushed once a second while a user watches, and at the end. If another tool's bind is
 * refused, the driver stops its timer for all clients: then each read needs a flush.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "nv_slices.h"
#include "host/nvidia_devices.h"
#include "host/probe.h"
#include "sources/source.h"
#include "trace/packer.h"
#include "sources/owners.h"

#define PERIOD_NS 20000000ULL
#define FLUSH_NS GRT_NS_PER_S

/*
 * Slices that have ended are reported at once to who watches; a slice that goes on is reported at this
 * interval.
 */
#define PROMPT_MS 5
#define PART_NS 50000000ULL

/*
 * A record is late if the driver did not read it in the time of three reads. After this many flushes in a
 * row with late records, the driver has stopped to read by itself.
 */
#define LATE_NS 100000000ULL
#define LATE_TIMES 2

/*
 * Most records between two reads, two for a slice: more than a second, because one switch takes 80 us on an
 * H100.
 */
#define RECORDS 32768U
#define RECORDS_LEAST 1024U

/* A stamp of the GPU may be written this long after it was taken. */
#define WRITE_NS 1000000ULL

/* Branches of the driver whose log was checked. */
#define BRANCH_FIRST 570
#define BRANCH_LAST 595

#define COMMS 256U

/**
 * struct gpu - a GPU
 * @device: number of its device file
 * @timer: makes its stream ready
 * @clock: its last sample is later than the current records
 * @flushed: all records up to this time were read
 * @late: number of flushes in a row that brought records which the driver had not read by itself;
 *	@stalled_at: since then it does not
 * @horizon: packets may contain events up to this time
 * @force: packets must be written now; @ended: there will be no more, because the log was stopped or has
 *	@failed, a negative errno, at @failed_at
 */
struct gpu {
	struct capture *capture;
	struct nv_switches log;
	struct nv_slices slices;
	uint32_t device;
	char name[32];
	char uuid[64];
	int timer;
	struct nv_clock clock;
	uint64_t flushed;
	unsigned int late;
	uint64_t stalled_at;
	uint64_t horizon;
	bool force;
	bool ended;
	int failed;
	uint64_t failed_at;
	struct nv_switch *batch;
	uint32_t n;
	char key[32];
	char text[512];
};

/**
 * struct comm - the name of a process
 * @asked: when it was read
 */
struct comm {
	uint32_t pid;
	uint64_t asked;
	char name[16];
};

/** struct capture - the state of this source; the recording lasts from @from to @to, ns */
struct capture {
	struct nv_rm rm;
	struct gpu gpu[NV_RM_GPUS];
	unsigned int gpus;
	pid_t pid;
	char wanted[16];
	uint64_t from;
	uint64_t to;
	struct comm comm[COMMS];
	struct owners owners;
	struct grt_packer *packer;
	uint64_t filtered[NV_RM_GPUS];
	char driver[64];
	void (*note)(const char *text);
};

/* ----------------------------------------------------------------- names */

static const char *comm_of(struct capture *c, uint32_t pid)
{
	struct comm *comm = &c->comm[pid % COMMS];
	uint64_t now = grt_now();
	char text[32];

	if (comm->pid == pid && now - comm->asked < GRT_NS_PER_S)
		return comm->name;
	if (comm->pid != pid)
		*comm = (struct comm){.pid = pid};
	comm->asked = now;
	if (probe_read(text, sizeof(text), "/proc/%u/comm", pid) > 0)
		snprintf(comm->name, sizeof(comm->name), "%.15s", text);
	return comm->name;
}

static int name_slice(struct gpu *g, unsigned int cpu, const struct nv_slice *s, const char *comm)
{
	struct grt_packer *p = g->capture->packer;
	int ret = grt_packer_name(p, cpu, s->until, GRT_NAME_DEVICE, g->device, g->name, "nvidia");

	if (!ret && comm[0])
		ret = grt_packer_name(p, cpu, s->until, GRT_NAME_THREAD, s->pid, comm, comm);
	return ret ?: owners_add(&g->capture->owners, p, cpu, s->until, s->pid);
}

/* ---------------------------------------------------------------- slices */

/* Return: the part of the slice that is within the recording. */
static struct nv_slice within_recording(const struct capture *c, const struct nv_slice *s)
{
	struct nv_slice in = *s;

	if (in.start < c->from && in.until >= c->from) {
		in.start = c->from;
		in.begin = GRT_SLICE_CUT;
	}
	if (in.until > c->to && in.start <= c->to) {
		in.until = c->to;
		in.end = GRT_SLICE_CUT;
	}
	return in;
}

static int put_slice(void *arg, const struct nv_slice *whole)
{
	struct gpu *g = arg;
	struct capture *c = g->capture;
	const struct nv_slice in = within_recording(c, whole), *s = &in;
	unsigned int cpu = (unsigned int)(g - c->gpu);
	const char *comm = comm_of(c, s->pid);
	const struct grt_ev_gpu_slice ev = {
		.e =
			{
				.time = s->until,
				.type = GRT_EV_GPU_SLICE,
				.size = sizeof(ev),
				.pid = s->pid,
				.tid = s->pid,
				.ring = GRT_RING_NONE,
				.device = g->device,
			},
		.start = s->start,
		.context = s->context,
		.begin = s->begin,
		.over = s->end,
		.mig_gpu = s->instance >> 8,
		.mig_compute = s->instance & 0xff,
	};
	int ret;

	if ((c->pid && (uint32_t)c->pid != s->pid) || (c->wanted[0] && strcmp(c->wanted, comm))) {
		c->filtered[cpu]++;
		return 0;
	}
	ret = name_slice(g, cpu, s, comm);
	return ret ? ret : grt_packer_add(c->packer, cpu, &ev.e);
}

static int put_record(void *arg, const struct nv_switch *r)
{
	struct gpu *g = arg;

	g->batch[g->n++] = *r;
	return 0;
}

/* Counts records that never arrived; only the driver's count shows the last of them. */
static uint64_t lost_of(const struct nv_switches *log)
{
	return log->dropped > log->missing ? log->dropped : log->missing;
}

/* Records are read before the clocks, so their times are between two samples. */
static int gpu_read(struct gpu *g)
{
	uint32_t i;
	int ret;

	g->n = 0;
	ret = nv_switches_read(&g->log, put_record, g);
	if (!ret && g->n)
		ret = nv_clock_take(&g->clock, &g->log.gpu);
	for (i = 0; i < g->n && !ret; i++)
		ret = nv_slices_take(&g->slices, &g->batch[i],
				     nv_clock_monotonic(&g->clock, g->batch[i].time));
	return ret;
}

/* A flush has brought the current records. */
static void gpu_judge_timer(struct gpu *g, uint64_t now)
{
	char text[192];

	if (!g->n)
		return;
	g->late = nv_clock_monotonic(&g->clock, g->batch[0].time) + LATE_NS < now ? g->late + 1 : 0;
	if (g->stalled_at || g->late < LATE_TIMES)
		return;
	g->stalled_at = now;
	snprintf(
		text, sizeof(text),
		"%s: the driver does not look at its log of context switches by itself any more, as after a refusal "
		"to another tool (nsys): it is made to, every 20 ms",
		g->name);
	if (g->capture->note)
		g->capture->note(text);
}

/* Writes everything so far; contexts that stay on the GPU up to now, if they began at least @age ns ago. */
static int gpu_flush(struct gpu *g, uint64_t age, uint8_t edge)
{
	uint64_t now = grt_now();
	int ret = gpu_read(g);

	if (!ret)
		ret = nv_switches_flush(&g->log);
	if (!ret)
		ret = gpu_read(g);
	if (!ret)
		gpu_judge_timer(g, now);
	if (!ret)
		ret = nv_slices_cut(&g->slices, edge == GRT_SLICE_CUT ? now : now - WRITE_NS, edge, age);
	g->flushed = now;
	g->horizon = now;
	return ret;
}

static bool all_gpus_failed(const struct capture *c)
{
	for (unsigned int i = 0; i < c->gpus; i++)
		if (!c->gpu[i].failed)
			return false;
	return true;
}

/*
 * A GPU whose log cannot be read any more, for example one that has left the bus, ends alone: its records are
 * written, and the other GPUs continue. The source fails with the last of them.
 */
static void gpu_lose(struct gpu *g, int ret)
{
	struct capture *c = g->capture;
	char text[192];

	g->failed = ret;
	g->failed_at = grt_now();
	g->ended = true;
	nv_slices_lose(&g->slices);
	snprintf(text, sizeof(text),
		 "%s: its log of context switches cannot be read any more%s: dmesg | grep NVRM says why",
		 g->name, all_gpus_failed(c) ? "" : "; those of the other GPUs are");
	if (c->note)
		c->note(text);
}

/* ---------------------------------------------------------------- set-up */

/* The log may have another layout in newer branches, and not exist in older ones. */
static int check_branch(const char *version, struct grt_err *err)
{
	unsigned long branch = strtoul(version, NULL, 10);

	if (branch >= BRANCH_FIRST && branch <= BRANCH_LAST)
		return 0;
	return grt_err_set(err, -EOPNOTSUPP, "its log of context switches was checked with 570 to 595 only",
			   "grtrace record -e nvsched,power", "NVIDIA's driver has version %s", version);
}

/*
 * If the driver refuses a bind, it stops its timer for others who read the log. So without root, no bind is
 * tried.
 */
static int check_system(char *version, size_t room, struct grt_err *err)
{
	int ret = nvidia_loaded(err);

	if (!ret)
		ret = nv_rm_version(version, room, err);
	if (!ret)
		ret = check_branch(version, err);
	if (!ret && geteuid())
		ret = grt_err_set(err, -EACCES,
				  "NVIDIA's driver shows the context switches of all users only to root",
				  "the same command with sudo", "no context switches");
	return ret;
}

static int open_log(struct gpu *g, struct nv_rm *rm, const struct nv_rm_gpu *gpu, struct grt_err *err)
{
	uint32_t records = RECORDS;
	int ret;

	/* The memory must be contiguous; a machine that has run for long may not have so much. */
	do {
		nv_switches_close(&g->log);
		ret = nv_switches_open(&g->log, rm, gpu, records, err);
		records /= 2;
	} while (ret == -EIO && records >= RECORDS_LEAST);
	if (ret)
		return ret;
	g->batch = calloc(g->log.records, sizeof(*g->batch));
	return g->batch ? 0 : grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for context switches");
}

static int open_gpu(struct capture *c, const struct nv_rm_gpu *gpu, struct grt_err *err)
{
	struct gpu *g = &c->gpu[c->gpus++];

	g->capture = c;
	g->log.gpu.file = -1;
	g->device = NVIDIA_MAJOR << 20 | gpu->minor;
	nvidia_device_name(g->device, g->name, sizeof(g->name));
	nvidia_device_uuid(g->device, g->uuid, sizeof(g->uuid));
	g->slices.put = put_slice;
	g->slices.arg = g;
	g->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (g->timer < 0)
		return grt_err_set(err, -errno, strerror(errno), NULL,
				   "cannot make a timer for context switches");
	return open_log(g, &c->rm, gpu, err);
}

static int open_gpus(struct capture *c, const struct known_gpu *only, struct grt_err *err)
{
	struct nv_rm_gpu gpu[NV_RM_GPUS];
	int n = nv_rm_gpus(&c->rm, gpu, err), i, ret = n < 0 ? n : 0;

	for (i = 0; i < n && !ret; i++)
		if (known_gpu_has(only, NVIDIA_MAJOR << 20 | gpu[i].minor))
			ret = open_gpu(c, &gpu[i], err);
	if (ret || c->gpus)
		return ret;
	return grt_err_set(err, -ENODEV, "NVIDIA's driver has no such GPU", "nvidia-smi -L",
			   "no context switches to record");
}

static void close_gpu(struct gpu *g)
{
	nv_switches_close(&g->log);
	if (g->timer >= 0)
		close(g->timer);
	free(g->batch);
}

static int nvctxsw_probe(struct grt_err *err)
{
	struct nv_rm rm = {.fd = -1};
	struct nv_rm_gpu gpu[NV_RM_GPUS];
	struct nv_switches log = {.gpu.file = -1};
	char version[64];
	int ret = check_system(version, sizeof(version), err);

	if (!ret)
		ret = nv_rm_open(&rm, err);
	if (!ret)
		ret = nv_rm_gpus(&rm, gpu, err);
	if (!ret)
		ret = grt_err_set(err, -ENODEV, "NVIDIA's driver has no GPU", "nvidia-smi -L", "no GPU");
	if (ret > 0)
		ret = nv_switches_open(&log, &rm, &gpu[0], RECORDS_LEAST, err);
	nv_switches_close(&log);
	nv_rm_close(&rm);
	return ret;
}

static int nvctxsw_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int ret;

	*state = c;
	if (!c || grt_packer_new(&c->packer, NV_RM_GPUS))
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for context switches");
	c->rm.fd = -1;
	c->to = UINT64_MAX;
	c->pid = setup->pid;
	c->note = setup->note;
	if (setup->comm)
		snprintf(c->wanted, sizeof(c->wanted), "%s", setup->comm);
	if (!grt_types_empty(&setup->types) && !grt_types_has(&setup->types, GRT_EV_GPU_SLICE))
		return grt_err_set(err, -EINVAL, "--type excludes gpu_slice", "--type gpu_slice,...",
				   "no context switches to record");
	ret = check_system(c->driver, sizeof(c->driver), err);
	if (!ret)
		ret = nv_rm_open(&c->rm, err);
	return ret ? ret : open_gpus(c, setup->gpu, err);
}

static int nvctxsw_fail(const struct gpu *g, int ret, struct grt_err *err)
{
	return grt_err_set(err, ret, ret == -EIO ? "NVIDIA's driver refused the call" : strerror(-ret),
			   "dmesg | grep NVRM", "%s: cannot read its log of context switches", g->name);
}

static int start_gpu(struct gpu *g)
{
	const struct itimerspec t = {
		.it_value.tv_nsec = (long)PERIOD_NS,
		.it_interval.tv_nsec = (long)PERIOD_NS,
	};

	if (nv_clock_take(&g->clock, &g->log.gpu))
		return -EIO;
	g->slices.begun = g->flushed = grt_now();
	if (nv_switches_on(&g->log, true))
		return -EIO;
	return timerfd_settime(g->timer, 0, &t, NULL) ? -errno : 0;
}

static int nvctxsw_start(void *state, struct grt_err *err)
{
	struct capture *c = state;
	unsigned int i;
	int ret;

	for (i = 0; i < c->gpus; i++) {
		ret = start_gpu(&c->gpu[i]);
		if (ret)
			return nvctxsw_fail(&c->gpu[i], ret, err);
	}
	return 0;
}

static void nvctxsw_begins(void *state, uint64_t from)
{
	((struct capture *)state)->from = from;
}

static void nvctxsw_ends(void *state, uint64_t to)
{
	((struct capture *)state)->to = to;
}

/* The client keeps root's privilege, so what follows needs none. */
static int nvctxsw_confine(void *state, uint64_t *keep, struct grt_err *err)
{
	return 0;
}

/* ----------------------------------------------------------------- streams */

static unsigned int nvctxsw_streams(void *state, struct pollfd *fds)
{
	struct capture *c = state;
	unsigned int i;

	for (i = 0; i < c->gpus; i++)
		fds[i] = (struct pollfd){.fd = c->gpu[i].timer, .events = POLLIN};
	return c->gpus;
}

static int gpu_tick(struct gpu *g)
{
	uint64_t now = grt_now();

	if (g->stalled_at || now - g->flushed >= FLUSH_NS)
		return gpu_flush(g, FLUSH_NS, GRT_SLICE_GOES_ON);
	g->horizon = now;
	return gpu_read(g);
}

/* Records from before the log failed are delivered first. */
static ssize_t nvctxsw_read(void *state, unsigned int i, void *buf, size_t len)
{
	struct capture *c = state;
	struct gpu *g = &c->gpu[i];
	struct grt_packer_counts counts = {.filtered = c->filtered[i]};
	enum grt_pack pack;
	uint64_t ticks;
	size_t n;
	int ret;

	if (!g->ended && read(g->timer, &ticks, sizeof(ticks)) == sizeof(ticks)) {
		ret = gpu_tick(g);
		if (ret)
			gpu_lose(g, ret);
	}
	counts.lost = lost_of(&g->log);
	pack = g->ended ? GRT_PACK_ALL : g->force ? GRT_PACK_NOW : GRT_PACK_ENOUGH;
	n = grt_packer_read(c->packer, i, buf, len, g->horizon, pack, &counts);
	if (!n)
		g->force = false;
	if (n)
		return (ssize_t)n;
	return !g->ended ? -EAGAIN : all_gpus_failed(c) ? g->failed : 0;
}

static int nvctxsw_flush(void *state, struct grt_err *err)
{
	struct capture *c = state;
	unsigned int i;
	bool often;
	int ret;

	for (i = 0; i < c->gpus; i++) {
		if (c->gpu[i].ended)
			continue;
		often = grt_now() - c->gpu[i].flushed < PART_NS;
		ret = gpu_flush(&c->gpu[i], often ? PART_NS : 0, GRT_SLICE_GOES_ON);
		if (ret)
			gpu_lose(&c->gpu[i], ret);
		if (ret && all_gpus_failed(c))
			return nvctxsw_fail(&c->gpu[i], ret, err);
		c->gpu[i].force = true;
	}
	return 0;
}

static int end_gpu(struct gpu *g)
{
	const struct itimerspec soon = {.it_value.tv_nsec = 1};
	int ret = gpu_flush(g, 0, GRT_SLICE_CUT);

	if (!ret)
		ret = nv_clock_take(&g->clock, &g->log.gpu);
	g->ended = true;
	nv_switches_on(&g->log, false);
	return timerfd_settime(g->timer, 0, &soon, NULL) ? -errno : ret;
}

static int nvctxsw_stop(void *state, struct grt_err *err)
{
	struct capture *c = state;
	unsigned int i;
	int ret;

	for (i = 0; i < c->gpus; i++) {
		ret = c->gpu[i].ended ? 0 : end_gpu(&c->gpu[i]);
		if (ret)
			gpu_lose(&c->gpu[i], ret);
		if (ret && all_gpus_failed(c))
			return nvctxsw_fail(&c->gpu[i], ret, err);
	}
	return 1;
}

/* ------------------------------------------------------------ recording */

static void describe_gpu(struct gpu *g)
{
	snprintf(g->key, sizeof(g->key), "nvctxsw_gpu%u", g->log.gpu.gpu.minor);
	snprintf(
		g->text, sizeof(g->text),
		"%s%s%s: records=%llu dropped=%llu missing=%llu unknown=%llu backwards=%llu backwards_ns=%llu "
		"instances_over=%llu clock_error_ns=%llu clock_drift_ppm=%.3f failed_ns=%llu "
		"stalled_ns=%llu",
		g->name, g->uuid[0] ? " " : "", g->uuid, (unsigned long long)g->log.taken,
		(unsigned long long)g->log.dropped, (unsigned long long)g->log.missing,
		(unsigned long long)g->log.unknown, (unsigned long long)g->slices.backwards,
		(unsigned long long)g->slices.backwards_ns, (unsigned long long)g->slices.over,
		(unsigned long long)g->clock.error, nv_clock_drift_ppm(&g->clock),
		(unsigned long long)g->failed_at, (unsigned long long)g->stalled_at);
}

static int nvctxsw_describe(void *state, struct grt_env *env, int room)
{
	struct capture *c = state;
	int n = 0;
	unsigned int i;

	if (n < room)
		env[n++] = (struct grt_env){"nvctxsw_driver", c->driver};
	for (i = 0; i < c->gpus && n < room; i++) {
		describe_gpu(&c->gpu[i]);
		env[n++] = (struct grt_env){c->gpu[i].key, c->gpu[i].text};
	}
	return n;
}

static int nvctxsw_close(void *state, struct grt_err *err)
{
	struct capture *c = state;
	unsigned int i;

	if (!c)
		return 0;
	for (i = 0; i < c->gpus; i++)
		close_gpu(&c->gpu[i]);
	nv_rm_close(&c->rm);
	grt_packer_free(c->packer);
	free(c);
	return 0;
}

const struct source source_nvctxsw = {
	.name = "nvctxsw",
	.by_name = true,
	.prompt_ms = PROMPT_MS,
	.probe = nvctxsw_probe,
	.open = nvctxsw_open,
	.start = nvctxsw_start,
	.begins = nvctxsw_begins,
	.ends = nvctxsw_ends,
	.confine = nvctxsw_confine,
	.streams = nvctxsw_streams,
	.flush = nvctxsw_flush,
	.read = nvctxsw_read,
	.stop = nvctxsw_stop,
	.describe = nvctxsw_describe,
	.close = nvctxsw_close,
};
