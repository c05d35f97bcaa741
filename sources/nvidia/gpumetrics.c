// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters of NVIDIA's GPUs on the time line, a thousand times a second: how
 * much of the multiprocessors, tensor cores, memory and links is in use, of the whole
 * device, for all its processes. They are read in the recorder's process; programs are
 * neither slowed down nor changed. See pm_sampler.h.
 *
 * A value is the mean from its stamp on. It is written when it is another one than
 * before, and at least once a second. Where samples are missing the one before has the
 * flag ENDED.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/capability.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "pm_sampler.h"
#include "base/clock.h"
#include "host/nvidia_devices.h"
#include "host/probe.h"
#include "sources/source.h"
#include "trace/packer.h"

#define HZ_DEFAULT 1000U
#define HZ_MOST 10000U
#define ROUND_NS 50000000ULL
#define REPEAT_NS GRT_NS_PER_S
#define CLOCK_TRIES 8U

/* Numbers of counters from this one on; those of other sources are smaller. */
#define COUNTER_FIRST 4096U

/**
 * struct series - a counter of a GPU
 * @written: when its value was written; 0: readers do not know its value
 */
struct series {
	int64_t value;
	uint64_t written;
};

/**
 * struct gpu - a GPU that is sampled
 * @timer: makes its stream ready
 * @ahead: CLOCK_REALTIME minus CLOCK_MONOTONIC, ns; 0: not read yet; @ahead_error: its possible error
 * @until: end of the last sample
 * @horizon: all values up to this time were read; ns
 * @told: when a record last identified the GPU
 * @lag_least, @lag_most: age of the newest sample in a round, ns
 * @values: number of values that were written; @late: those that came too late
 * @begun: the recording has a sample, and so all its values
 * @force: the packets must be written now; @ended: there will be no more
 */
struct gpu {
	struct capture *capture;
	struct pm_sampler sampler;
	struct series series[GRT_METRICS];
	char name[32];
	int timer;
	uint64_t ahead;
	uint64_t ahead_error;
	uint64_t until;
	uint64_t horizon;
	uint64_t told;
	uint64_t lag_least;
	uint64_t lag_most;
	uint64_t cpu;
	uint64_t values;
	uint64_t late;
	bool begun;
	bool force;
	bool ended;
	int failed;
	char key[32];
	char text[512];
};

/** struct capture - the state of this source; the recording begins at @from, ns */
struct capture {
	struct pm_library library;
	struct gpu gpu[PM_DEVICES];
	unsigned int gpus;
	struct grt_packer *packer;
	uint64_t from;
	char version[320];
};

/* The set that the user gave after "gpumetrics:". */
static unsigned int gpumetrics_set = GRT_METRIC_SET_OVERVIEW;
static unsigned int gpumetrics_hz = HZ_DEFAULT;

/* ------------------------------------------------------------------- words */

static bool gpumetrics_take_hz(const char *text)
{
	char *end;
	unsigned long hz = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || !hz || hz > HZ_MOST)
		return false;
	gpumetrics_hz = (unsigned int)hz;
	return true;
}

static bool gpumetrics_take_set(const char *text, size_t length)
{
	const char *name;

	for (unsigned int n = 0; (name = grt_metric_set_name(n)); n++)
		if (strlen(name) == length && !strncmp(name, text, length)) {
			gpumetrics_set = n;
			return true;
		}
	return false;
}

static const char *gpumetrics_no_word(void)
{
	static char text[128];
	size_t used = 0;
	const char *name;

	for (unsigned int n = 0; (name = grt_metric_set_name(n)); n++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", n ? ", " : "one of ",
					 name);
	snprintf(text + used, sizeof(text) - used, "; then :HZ, samples a second, 1 to %u", HZ_MOST);
	return text;
}

/* SET, SET:HZ or HZ */
static const char *gpumetrics_word(const char *text)
{
	size_t length = strcspn(text, ":");
	bool hz = isdigit((unsigned char)*text);

	if (hz ? !gpumetrics_take_hz(text) : !gpumetrics_take_set(text, length))
		return gpumetrics_no_word();
	if (!hz && text[length] && !gpumetrics_take_hz(text + length + 1))
		return gpumetrics_no_word();
	return NULL;
}

/* ------------------------------------------------------------------ values */

static int gpu_name_counter(struct gpu *g, uint32_t counter, uint64_t time)
{
	const struct grt_metric *m = &grt_metrics_table[counter - COUNTER_FIRST];
	unsigned int cpu = (unsigned int)(g - g->capture->gpu);
	struct grt_packer *p = g->capture->packer;
	uint32_t device = g->sampler.device->number;
	int ret = grt_packer_name(p, cpu, time, GRT_NAME_COUNTER, counter, m->counter,
				  grt_metric_unit_name(m->unit));

	return ret ?: grt_packer_name(p, cpu, time, GRT_NAME_DEVICE, device, g->name, "nvidia");
}

static int gpu_add(struct gpu *g, const struct grt_event *e)
{
	int ret = grt_packer_add(g->capture->packer, (unsigned int)(g - g->capture->gpu), e);

	g->late += ret == -ERANGE;
	return ret == -ERANGE ? 0 : ret;
}

static int gpu_write(struct gpu *g, unsigned int i, uint64_t time, unsigned int flags)
{
	struct series *s = &g->series[i];
	const struct grt_ev_counter ev = {
		.e =
			{
				.time = time,
				.type = GRT_EV_COUNTER,
				.size = sizeof(ev),
				.flags = (uint16_t)flags,
				.ring = GRT_RING_NONE,
				.device = g->sampler.device->number,
			},
		.counter = COUNTER_FIRST + g->sampler.row[i],
		.value = s->value,
	};
	int ret = gpu_name_counter(g, ev.counter, time);

	s->written = flags & GRT_FLAG_ENDED ? 0 : time;
	g->values++;
	return ret ?: gpu_add(g, &ev.e);
}

/* Ends the counters whose value a reader still knows, at the end of the last sample. */
static int gpu_end_values(struct gpu *g)
{
	int ret = 0;

	for (unsigned int i = 0; i < g->sampler.metrics && !ret; i++)
		if (g->series[i].written)
			ret = gpu_write(g, i, g->until, GRT_FLAG_ENDED);
	return ret;
}

/* Return: whether it is a number that a record can hold */
static bool gpu_convert(enum grt_metric_unit unit, double value, uint64_t ns, int64_t *out)
{
	double v = unit == GRT_METRIC_SHARE   ? value * 1000
		   : unit == GRT_METRIC_BYTES ? value * 1e9 / (double)ns
					      : value;

	if (!isfinite(v) || v < 0 || v > 1e15)
		return false;
	*out = (int64_t)llround(v);
	return true;
}

static int gpu_put_value(struct gpu *g, unsigned int i, const struct pm_sample *sample, uint64_t time,
			 bool all)
{
	struct series *s = &g->series[i];
	int64_t value;

	if (!gpu_convert(grt_metrics_table[g->sampler.row[i]].unit, sample->value[i], sample->ns, &value))
		return s->written ? gpu_write(g, i, time, GRT_FLAG_ENDED) : 0;
	if (s->written && !all && s->value == value && time - s->written < REPEAT_NS)
		return 0;
	s->value = value;
	return gpu_write(g, i, time, 0);
}

/* Identifies the GPU of the counters. */
static int gpu_put_sampler(struct gpu *g, uint64_t time)
{
	const struct pm_sampler *s = &g->sampler;
	struct grt_ev_gpu_sampler ev = {
		.e =
			{
				.time = time,
				.type = GRT_EV_GPU_SAMPLER,
				.size = sizeof(ev),
				.ring = GRT_RING_NONE,
				.device = s->device->number,
			},
		.interval = s->interval,
		.samples = s->count.samples,
		.missing = s->count.missing,
	};

	snprintf(ev.uuid, sizeof(ev.uuid), "%s", s->device->uuid);
	snprintf(ev.chip, sizeof(ev.chip), "%s", s->chip);
	snprintf(ev.set, sizeof(ev.set), "%s", grt_metric_set_name(gpumetrics_set));
	g->told = time;
	return gpu_add(g, &ev.e);
}

static int gpu_put(void *arg, const struct pm_sample *sample)
{
	struct gpu *g = arg;
	uint64_t time = sample->start - g->ahead;
	bool first = !g->begun && time >= g->capture->from;
	int ret = sample->gap ? gpu_end_values(g) : 0;

	if (!ret && (!g->told || first || time - g->told >= REPEAT_NS))
		ret = gpu_put_sampler(g, time);
	for (unsigned int i = 0; i < g->sampler.metrics && !ret; i++)
		ret = gpu_put_value(g, i, sample, time, first);
	g->begun |= first;
	g->until = sample->end - g->ahead;
	g->horizon = time;
	return ret;
}

static void gpu_note_lag(struct gpu *g, uint64_t now)
{
	uint64_t lag = now > g->until ? now - g->until : 0;

	if (!g->until)
		return;
	g->lag_least = lag < g->lag_least ? lag : g->lag_least;
	g->lag_most = lag > g->lag_most ? lag : g->lag_most;
}

/* Return: the possible error of the difference of the clocks, ns */
static uint64_t gpu_ask_clocks(uint64_t *ahead)
{
	uint64_t before = grt_now(), realtime = grt_clock_ns(CLOCK_REALTIME), took = grt_now() - before;

	*ahead = realtime - before - took / 2;
	return took;
}

/*
 * Both clocks run at the same rate, and only a change of CLOCK_REALTIME changes their difference. A change
 * within the possible error of the readings is ignored.
 */
static void gpu_read_clocks(struct gpu *g)
{
	uint64_t ahead, error = gpu_ask_clocks(&ahead), best = error, other;

	if (g->ahead && ahead < g->ahead + g->ahead_error + error &&
	    g->ahead < ahead + g->ahead_error + error)
		return;
	for (unsigned int i = 0; i < CLOCK_TRIES; i++) {
		error = gpu_ask_clocks(&other);
		ahead = error < best ? other : ahead;
		best = error < best ? error : best;
	}
	g->ahead = ahead;
	g->ahead_error = best;
}

static int gpu_round(struct gpu *g)
{
	uint64_t cpu = grt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int ret;

	gpu_read_clocks(g);
	ret = pm_sampler_read(&g->sampler, gpu_put, g);
	gpu_note_lag(g, grt_now());
	g->cpu += grt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	return ret;
}

/* ------------------------------------------------------------------ set-up */

static int gpumetrics_probe(struct grt_err *err)
{
	int ret = nvidia_loaded(err);

	return ret ? ret : pm_library_look(err);
}

static int gpu_open(struct capture *c, const struct pm_device *device, struct grt_err *err)
{
	struct gpu *g = &c->gpu[c->gpus++];

	g->capture = c;
	g->lag_least = UINT64_MAX;
	g->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (g->timer < 0)
		return grt_err_set(err, -errno, strerror(errno), NULL,
				   "cannot make a timer for hardware counters");
	if (!device->number)
		return grt_err_set(err, -ENODEV, "/proc/driver/nvidia/gpus does not have it",
				   "in a container, with the host's /proc/driver/nvidia",
				   "the device file of %s is unknown", device->uuid);
	nvidia_device_name(device->number, g->name, sizeof(g->name));
	return pm_sampler_open(&g->sampler, &c->library, device, gpumetrics_set, gpumetrics_hz, err);
}

static void gpu_note_left_out(const struct gpu *g, const struct source_setup *setup)
{
	char text[160];

	if (!g->sampler.left_out || !setup->note)
		return;
	snprintf(text, sizeof(text), "gpumetrics: %s (%s) does not have %u of the counters of this set",
		 g->name, g->sampler.chip, g->sampler.left_out);
	setup->note(text);
}

static int open_gpus(struct capture *c, const struct source_setup *setup, struct grt_err *err)
{
	const struct pm_library *l = &c->library;
	int ret = 0;

	for (unsigned int i = 0; i < l->devices && !ret; i++) {
		if (!known_gpu_has(setup->gpu, l->device[i].number))
			continue;
		ret = gpu_open(c, &l->device[i], err);
		if (!ret)
			gpu_note_left_out(&c->gpu[c->gpus - 1], setup);
	}
	if (ret || c->gpus)
		return ret;
	return grt_err_set(err, -ENODEV, "CUDA shows no such GPU", "nvidia-smi -L",
			   "no hardware counters to record");
}

static int gpumetrics_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int ret;

	*state = c;
	if (!c || grt_packer_new(&c->packer, PM_DEVICES))
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for hardware counters");
	if (!grt_types_empty(&setup->types) && !grt_types_has(&setup->types, GRT_EV_COUNTER))
		return grt_err_set(err, -EINVAL, "--type excludes counters", "--type counter,gpu_sampler,...",
				   "no hardware counters to record");
	ret = pm_library_load(&c->library, err);
	return ret ? ret : open_gpus(c, setup, err);
}

static int gpu_set_timer(struct gpu *g, uint64_t ns, struct grt_err *err)
{
	const struct itimerspec t = {.it_value.tv_nsec = (long)ns, .it_interval.tv_nsec = (long)ROUND_NS};

	if (timerfd_settime(g->timer, 0, &t, NULL))
		return grt_err_set(err, -errno, strerror(errno), NULL,
				   "cannot set the timer for hardware counters");
	return 0;
}

static int gpumetrics_start(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret = 0;

	for (unsigned int i = 0; i < c->gpus && !ret; i++) {
		ret = pm_sampler_start(&c->gpu[i].sampler, err);
		ret = ret ?: gpu_set_timer(&c->gpu[i], ROUND_NS, err);
	}
	return ret;
}

/* Values that are omitted because they did not change would lie before the recording. */
static void gpumetrics_begins(void *state, uint64_t from)
{
	((struct capture *)state)->from = from;
}

/* CUPTI's handle keeps root's privilege, so what follows needs none. */
static int gpumetrics_confine(void *state, uint64_t *keep, struct grt_err *err)
{
	return 0;
}

/* ----------------------------------------------------------------- streams */

static unsigned int gpumetrics_streams(void *state, struct pollfd *fds)
{
	struct capture *c = state;

	for (unsigned int i = 0; i < c->gpus; i++)
		fds[i] = (struct pollfd){.fd = c->gpu[i].timer, .events = POLLIN};
	return c->gpus;
}

static ssize_t gpumetrics_read(void *state, unsigned int i, void *buf, size_t len)
{
	struct capture *c = state;
	struct gpu *g = &c->gpu[i];
	struct grt_packer_counts counts = {.lost = 0};
	enum grt_pack pack;
	uint64_t ticks;
	size_t n;

	if (!g->ended && read(g->timer, &ticks, sizeof(ticks)) == sizeof(ticks)) {
		g->failed = gpu_round(g);
		g->ended = g->failed;
	}
	counts.lost = g->sampler.count.missing + g->late;
	pack = g->ended ? GRT_PACK_ALL : g->force ? GRT_PACK_NOW : GRT_PACK_ENOUGH;
	n = grt_packer_read(c->packer, i, buf, len, g->horizon, pack, &counts);
	if (!n)
		g->force = false;
	return n ? (ssize_t)n : g->ended ? g->failed : -EAGAIN;
}

static int gpumetrics_fail(const struct gpu *g, int ret, struct grt_err *err)
{
	return grt_err_set(err, ret, ret == -EIO ? "CUPTI cannot decode them any more" : strerror(-ret),
			   "dmesg | grep NVRM", "%s: no hardware counters", g->name);
}

static int gpumetrics_flush(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret = 0;

	for (unsigned int i = 0; i < c->gpus && !ret; i++) {
		if (c->gpu[i].ended)
			continue;
		ret = gpu_round(&c->gpu[i]);
		c->gpu[i].force = true;
		if (ret)
			return gpumetrics_fail(&c->gpu[i], ret, err);
	}
	return 0;
}

/* The hardware has written its last sample when it has stopped. */
static int gpu_stop(struct gpu *g, struct grt_err *err)
{
	int ret;

	pm_sampler_stop(&g->sampler);
	ret = gpu_round(g);
	ret = ret ?: g->until ? gpu_put_sampler(g, g->until) : 0;
	ret = ret ?: gpu_end_values(g);
	g->ended = true;
	return ret ? gpumetrics_fail(g, ret, err) : gpu_set_timer(g, 1, err);
}

static int gpumetrics_stop(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret = 0;

	for (unsigned int i = 0; i < c->gpus && !ret; i++)
		ret = c->gpu[i].ended ? 0 : gpu_stop(&c->gpu[i], err);
	return ret ? ret : 1;
}

/* --------------------------------------------------------------- recording */

static void gpu_describe(struct gpu *g)
{
	const struct pm_sampler *s = &g->sampler;
	const struct pm_counts *n = &s->count;

	snprintf(g->key, sizeof(g->key), "gpumetrics_gpu%u", s->device->number & 0xfffff);
	snprintf(
		g->text, sizeof(g->text),
		"%s %s: chip=%s set=%s interval_ns=%llu counters=%u left_out=%u samples=%llu missing=%llu "
		"overflows=%llu full=%llu odd=%llu errors=%llu values=%llu late=%llu lag_us=%llu..%llu cpu_us=%llu",
		g->name, s->device->uuid, s->chip, grt_metric_set_name(gpumetrics_set),
		(unsigned long long)s->interval, s->metrics, s->left_out, (unsigned long long)n->samples,
		(unsigned long long)n->missing, (unsigned long long)n->overflows, (unsigned long long)n->full,
		(unsigned long long)n->odd, (unsigned long long)n->errors, (unsigned long long)g->values,
		(unsigned long long)g->late, (unsigned long long)(g->until ? g->lag_least / 1000 : 0),
		(unsigned long long)g->lag_most / 1000, (unsigned long long)g->cpu / 1000);
}

static int gpumetrics_describe(void *state, struct grt_env *env, int room)
{
	struct capture *c = state;
	int n = 0;

	snprintf(c->version, sizeof(c->version), "CUPTI %u, %s", c->library.version, c->library.path);
	if (n < room)
		env[n++] = (struct grt_env){"gpumetrics_cupti", c->version};
	for (unsigned int i = 0; i < c->gpus && n < room; i++) {
		gpu_describe(&c->gpu[i]);
		env[n++] = (struct grt_env){c->gpu[i].key, c->gpu[i].text};
	}
	return n;
}

static int gpumetrics_close(void *state, struct grt_err *err)
{
	struct capture *c = state;

	if (!c)
		return 0;
	for (unsigned int i = 0; i < c->gpus; i++) {
		if (c->gpu[i].sampler.f)
			pm_sampler_close(&c->gpu[i].sampler);
		if (c->gpu[i].timer >= 0)
			close(c->gpu[i].timer);
	}
	pm_library_free(&c->library);
	grt_packer_free(c->packer);
	free(c);
	return 0;
}

const struct source source_gpumetrics = {
	.name = "gpumetrics",
	.by_name = true,
	.less = "a smaller set or rate (-e gpumetrics:SET:HZ)",
	.word = gpumetrics_word,
	.probe = gpumetrics_probe,
	.open = gpumetrics_open,
	.start = gpumetrics_start,
	.begins = gpumetrics_begins,
	.confine = gpumetrics_confine,
	.streams = gpumetrics_streams,
	.flush = gpumetrics_flush,
	.read = gpumetrics_read,
	.stop = gpumetrics_stop,
	.describe = gpumetrics_describe,
	.close = gpumetrics_close,
};
