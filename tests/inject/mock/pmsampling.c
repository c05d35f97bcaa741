// SPDX-License-Identifier: GPL-2.0
/*
 * CUPTI's PM sampling, and its functions for metrics, without a GPU: samples come as time goes by, and each
 * has values that follow from its number. What really happened is written into the file of MOCK_PM_LOG:
 * `metrics NAME...`, `S device start end value...` of a sample that was handed out whole, `L device n` of n
 * samples that nobody gets.
 *
 * MOCK_PM in the environment:
 *	refused, busy, unsupported, unknown	the hardware is not to be had
 *	few		no more than four metrics fit into a pass
 *	full		once, more samples come than there is room for: CUPTI drops those behind
 *	overwritten	once, the hardware overwrites samples before they are decoded: decoding fails, and the
 *			first sample behind begins at a time long ago
 *	fails		decoding fails for good
 *	jumps		stamps jump ahead
 */
#include "mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pm_abi.h"

#define INVALID 1
#define UNKNOWN 999
#define DEVICES 8
#define IMAGE 0x504d494dU
#define METRICS 32
#define FEW 4

#define PM_FN(name, symbol, type) int symbol(type *p);
#define cuptiGetVersion mock_pm_version
PM_FUNCTIONS
#undef cuptiGetVersion
#undef PM_FN

/* In an image that samples are decoded into. */
struct image {
	uint32_t magic;
	uint32_t room;
	uint32_t begun;
	uint32_t whole;
	struct {
		uint64_t number;
		uint64_t start;
		uint64_t end;
	} sample[];
};

/** struct host - what metrics make a configuration */
struct host {
	size_t metrics;
	char name[METRICS][96];
};

/** struct sampler - of a device; @decoded: the next sample begins there; @odd: the next one begins at
 * @earlier instead */
static struct sampler {
	bool enabled;
	bool configured;
	bool on;
	size_t device;
	uint64_t interval;
	uint64_t decoded;
	uint64_t stopped;
	uint64_t number;
	uint64_t earlier;
	unsigned int decodes;
	bool done;
	bool odd;
	bool half;
} samplers[DEVICES];

static struct {
	size_t metrics;
	char name[METRICS][96];
} asked;

static bool is(const char *how)
{
	const char *wanted = getenv("MOCK_PM");

	return wanted && !strcmp(wanted, how);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static FILE *log_file(void)
{
	static FILE *file;
	const char *path = getenv("MOCK_PM_LOG");

	if (!file && path) {
		file = fopen(path, "we");
		setlinebuf(file);
	}
	return file ? file : stderr;
}

/* --------------------------------------------------------------- the device */

int cuptiProfilerInitialize(struct pm_initialize *p)
{
	return p->size == 16 ? 0 : INVALID;
}

int cuptiDeviceGetChipName(struct pm_chip *p)
{
	if (p->size != 32)
		return INVALID;
	p->name = "MOCK100";
	return 0;
}

int cuptiPmSamplingGetCounterAvailability(struct pm_available *p)
{
	if (p->size != 40 || p->device >= DEVICES)
		return INVALID;
	if (is("refused"))
		return PM_INSUFFICIENT_PRIVILEGES;
	if (is("busy") || samplers[p->device].enabled)
		return PM_HARDWARE_BUSY;
	if (is("unknown"))
		return PM_INVALID_CHIP;
	if (!p->image)
		p->bytes = 100;
	else if (p->bytes == 100)
		memset(p->image, 7, p->bytes);
	return 0;
}

int cuptiPmSamplingEnable(struct pm_enable *p)
{
	if (p->size != 32 || p->device >= DEVICES || samplers[p->device].enabled)
		return INVALID;
	samplers[p->device] = (struct sampler){.enabled = true, .device = p->device};
	p->sampler = &samplers[p->device];
	return 0;
}

int cuptiPmSamplingDisable(struct pm_sampler_only *p)
{
	struct sampler *s = p->sampler;

	if (p->size != 24 || !s->enabled || s->on)
		return INVALID;
	s->enabled = false;
	return 0;
}

int cuptiPmSamplingSetConfig(struct pm_set_config *p)
{
	struct sampler *s = p->sampler;

	if (p->size != 64 || !s->enabled || p->trigger != PM_TRIGGER_TIME || p->append != PM_KEEP_LATEST)
		return INVALID;
	if (is("unsupported"))
		return PM_NOT_SUPPORTED;
	s->interval = p->interval;
	s->configured = p->bytes == sizeof(struct host);
	return s->configured && p->buffer >= 1 << 20 ? 0 : INVALID;
}

int cuptiPmSamplingStart(struct pm_sampler_only *p)
{
	struct sampler *s = p->sampler;

	if (p->size != 24 || !s->configured || s->on)
		return INVALID;
	s->on = true;
	s->decoded = now();
	s->odd = true;
	s->earlier = s->decoded - 400000000U;
	return 0;
}

int cuptiPmSamplingStop(struct pm_sampler_only *p)
{
	struct sampler *s = p->sampler;

	if (p->size != 24 || !s->on)
		return INVALID;
	s->on = false;
	s->stopped = now();
	return 0;
}

/* ------------------------------------------------------------------ metrics */

int cuptiProfilerHostInitialize(struct pm_host_init *p)
{
	if (p->size != 48 || p->type != PM_TYPE_SAMPLING || !p->chip || strcmp(p->chip, "MOCK100") ||
	    !p->available || p->available[99] != 7)
		return INVALID;
	p->host = calloc(1, sizeof(struct host));
	return 0;
}

int cuptiProfilerHostDeinitialize(struct pm_host_only *p)
{
	free(p->host);
	return p->size == 24 ? 0 : INVALID;
}

/* The chip has no PCIe metrics, and of the tensor cores the second one alone. */
int cuptiProfilerHostConfigAddMetrics(struct pm_host_add *p)
{
	struct host *h = p->host;

	if (p->size != 40 || p->metrics > METRICS)
		return INVALID;
	for (size_t i = 0; i < p->metrics; i++) {
		if (!strncmp(p->metric[i], "pcie__", 6) ||
		    strstr(p->metric[i], "tensor_cycles_active_realtime"))
			return PM_INVALID_METRIC;
		snprintf(h->name[h->metrics++], sizeof(h->name[0]), "%s", p->metric[i]);
	}
	return 0;
}

int cuptiProfilerHostGetConfigImageSize(struct pm_host_config_size *p)
{
	p->bytes = sizeof(struct host);
	return p->size == 32 ? 0 : INVALID;
}

int cuptiProfilerHostGetConfigImage(struct pm_host_config *p)
{
	if (p->size != 40 || p->bytes != sizeof(struct host))
		return INVALID;
	memcpy(p->image, p->host, p->bytes);
	return 0;
}

int cuptiProfilerHostGetNumOfPasses(struct pm_host_passes *p)
{
	const struct host *h = (const void *)p->image;

	p->passes = is("few") && h->metrics > FEW ? 2 : 1;
	return p->size == 40 && p->bytes == sizeof(*h) ? 0 : INVALID;
}

/* Values of bytes stay for three samples; each value is another metric's, too, 1 sample later. */
static double value_of(const char *metric, size_t place, uint64_t number)
{
	if (strstr(metric, "per_second"))
		return 1980000000.0 + (double)(number / 100);
	if (strstr(metric, ".sum") && !strstr(metric, "pct"))
		return (double)((number / 3 + place) % 50 * 1000000);
	return (double)((number + place) % 1000) / 10;
}

int cuptiProfilerHostEvaluateToGpuValues(struct pm_host_values *p)
{
	const struct image *image = (const void *)p->image;

	if (p->size != 72 || image->magic != IMAGE || p->index >= image->whole)
		return INVALID;
	for (size_t i = 0; i < p->metrics; i++)
		p->value[i] = value_of(p->metric[i], i, image->sample[p->index].number);
	return 0;
}

/* ------------------------------------------------------------------- images */

int cuptiPmSamplingGetCounterDataSize(struct pm_data_size *p)
{
	if (p->size != 56 || !p->samples || p->metrics > METRICS)
		return INVALID;
	p->bytes = sizeof(struct image) + p->samples * sizeof(((struct image *)0)->sample[0]);
	asked.metrics = p->metrics;
	for (size_t i = 0; i < p->metrics; i++)
		snprintf(asked.name[i], sizeof(asked.name[i]), "%s", p->metric[i]);
	return 0;
}

static void log_metrics(void)
{
	static bool done;

	if (done)
		return;
	fprintf(log_file(), "metrics");
	for (size_t i = 0; i < asked.metrics; i++)
		fprintf(log_file(), " %s", asked.name[i]);
	fputc('\n', log_file());
	done = true;
}

int cuptiPmSamplingCounterDataImageInitialize(struct pm_data_init *p)
{
	struct sampler *s = p->sampler;
	struct image *image = (void *)p->image;

	if (p->size != 40)
		return INVALID;
	log_metrics();
	if (s->half)
		fprintf(log_file(), "L %zu 1\n", s->device);
	s->half = false;
	*image = (struct image){.magic = IMAGE,
				.room = (uint32_t)((p->bytes - sizeof(*image)) / sizeof(image->sample[0]))};
	return 0;
}

int cuptiPmSamplingGetCounterDataInfo(struct pm_data_info *p)
{
	const struct image *image = (const void *)p->image;

	if (p->size != 56 || image->magic != IMAGE)
		return INVALID;
	p->room = image->room;
	p->begun = image->begun;
	p->whole = image->whole;
	return 0;
}

int cuptiPmSamplingCounterDataGetSampleInfo(struct pm_sample_info *p)
{
	const struct image *image = (const void *)p->image;

	if (p->size != 64 || image->magic != IMAGE || p->index >= image->whole)
		return INVALID;
	p->start = image->sample[p->index].start;
	p->end = image->sample[p->index].end;
	return 0;
}

static void log_sample(const struct sampler *s, uint64_t number, uint64_t start, uint64_t end)
{
	fprintf(log_file(), "S %zu %llu %llu", s->device, (unsigned long long)start, (unsigned long long)end);
	for (size_t i = 0; i < asked.metrics; i++)
		fprintf(log_file(), " %.17g", value_of(asked.name[i], i, number));
	fputc('\n', log_file());
}

static void finish_half(struct sampler *s, struct image *image)
{
	if (!s->half)
		return;
	s->half = false;
	log_sample(s, image->sample[image->whole].number, image->sample[image->whole].start,
		   image->sample[image->whole].end);
	image->whole++;
}

static void lose(struct sampler *s, uint64_t n)
{
	s->decoded += n * s->interval;
	s->number += n;
	fprintf(log_file(), "L %zu %llu\n", s->device, (unsigned long long)n);
}

/* One more sample, which may stay half in the image until the next call. */
static void add(struct sampler *s, struct image *image, bool half)
{
	uint64_t start = s->odd ? s->earlier : s->decoded, end = s->decoded + s->interval;

	image->sample[image->begun].number = s->number;
	image->sample[image->begun].start = start;
	image->sample[image->begun].end = end;
	image->begun++;
	s->half = half && !s->odd;
	if (!s->half)
		image->whole++;
	if (!s->half && !s->odd)
		log_sample(s, s->number, start, end);
	else if (s->odd && s->number)
		fprintf(log_file(), "L %zu 1\n", s->device);
	s->odd = false;
	s->decoded = end;
	s->number++;
}

/* What is wrong this time. Return: CUPTI's result */
static int go_wrong(struct sampler *s)
{
	if (is("fails") && s->decodes > 3)
		return UNKNOWN;
	if (s->done || s->number < 60)
		return 0;
	if (is("overwritten")) {
		s->done = true;
		s->earlier = s->decoded - 12 * s->interval;
		lose(s, 40);
		s->odd = true;
		return UNKNOWN;
	}
	if (is("jumps")) {
		s->done = true;
		lose(s, 25);
	}
	return 0;
}

int cuptiPmSamplingDecodeData(struct pm_decode *p)
{
	struct sampler *s = p->sampler;
	struct image *image = (void *)p->image;
	uint64_t until;
	int ret;

	if (p->size != 45 || !s->configured || image->magic != IMAGE)
		return INVALID;
	s->decodes++;
	p->overflow = 0;
	p->stopped = PM_STOPPED_END;
	finish_half(s, image);
	ret = s->on ? go_wrong(s) : 0;
	if (ret)
		return ret;
	until = s->on ? now() : s->stopped;
	if (is("full") && !s->done && s->number >= 60) {
		s->done = true;
		/* there is more than fits: what is behind is dropped */
		while (image->begun < image->room)
			add(s, image, false);
		lose(s, 11);
		p->stopped = PM_STOPPED_FULL;
		return 0;
	}
	while (s->decoded + s->interval <= until && image->begun < image->room && !s->half)
		add(s, image, s->on && s->number % 5 == 4 && s->decoded + 2 * s->interval > until);
	/* who comes late finds more than fits, which is for the next image */
	if (s->decoded + s->interval <= until && image->begun == image->room)
		p->stopped = PM_STOPPED_FULL;
	return 0;
}
