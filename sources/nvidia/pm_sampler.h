/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hardware counters of one GPU by CUPTI's PM sampling: the GPU writes them into a
 * buffer at a fixed interval, for all that it does, and no process is disturbed.
 * One client at a time may have them.
 *
 * CUPTI's stamps are CLOCK_REALTIME: on an H100 (driver 580, CUPTI 13.0) the edges of
 * kernels that all multiprocessors run lay between the host's stamps of that clock
 * around launch and end, 5 us apart at the closest, while the GPU's own timer was
 * 740 us away and drifted by 20 us in a second.
 *
 * Samples are lost without a word from CUPTI where the hardware's buffer or the image
 * that they are decoded into is full. As each sample begins where the one before has
 * ended, what is missing is counted from the stamps.
 */
#ifndef GRTRACE_PM_SAMPLER_H
#define GRTRACE_PM_SAMPLER_H

#include <grtrace/grtrace.h>
#include "codes/gpu_metrics.h"
#include "pm_abi.h"

/* --------------------------------------------------------------- library */

/*
 * The CUDA driver and CUPTI in the recorder's own process, for the hardware's counters. Both are loaded if
 * they exist; grtrace builds without them.
 */

#define PM_DEVICES 32

/** struct pm_functions - CUPTI's functions, by their names in pm_abi.h */
struct pm_functions {
#define PM_FN(name, symbol, type) int (*name)(type *);
	PM_FUNCTIONS
#undef PM_FN
};

/**
 * struct pm_device - a GPU
 * @index: CUDA's number of it
 * @uuid: as nvidia-smi -L prints it
 * @number: number of its device file
 */
struct pm_device {
	uint32_t index;
	uint32_t number;
	char uuid[48];
};

/**
 * struct pm_library - the loaded libraries
 * @version: result of cuptiGetVersion()
 * @path: path of CUPTI
 * @device: the @devices GPUs that CUDA shows
 */
struct pm_library {
	void *cuda;
	void *cupti;
	struct pm_functions f;
	uint32_t version;
	char path[256];
	struct pm_device device[PM_DEVICES];
	unsigned int devices;
};

/**
 * pm_library_look - whether both libraries exist here, without loading them. Return: 0, or a negative errno
 * with what, why and fix
 */
int pm_library_look(struct grt_err *err);

/**
 * pm_library_load - loads both, and finds the GPUs. Return: as above; call pm_library_free() in any case
 */
int pm_library_load(struct pm_library *l, struct grt_err *err);

/** pm_library_free - frees what can be freed: the driver's threads stay */
void pm_library_free(struct pm_library *l);

/* --------------------------------------------------------------- sampler */

/**
 * struct pm_sample - what the GPU counted in an interval
 * @start, @end: CLOCK_REALTIME, ns; if no sample is missing, the previous one ended at @start
 * @ns: its duration
 * @gap: samples are missing before it
 * @value: of each counter, in its metric's own unit
 */
struct pm_sample {
	uint64_t start;
	uint64_t end;
	uint64_t ns;
	bool gap;
	const double *value;
};

/**
 * struct pm_counts - counts so far
 * @samples: samples that were delivered
 * @missing: missing samples, according to the time stamps
 * @overflows: how many times CUPTI reported that the hardware's buffer was full; @full: that the image was
 *	full
 * @odd: samples that lasted longer than the interval, which are a part of @missing
 * @errors: errors of decoding
 */
struct pm_counts {
	uint64_t samples;
	uint64_t missing;
	uint64_t overflows;
	uint64_t full;
	uint64_t odd;
	uint64_t errors;
};

/**
 * struct pm_sampler - a GPU that is sampled
 * @interval: ns
 * @metric: names of the @metrics counters that are taken, and the rows of their metrics
 * @left_out: counters of the set that the chip does not have
 */
struct pm_sampler {
	const struct pm_functions *f;
	const struct pm_device *device;
	char chip[16];
	uint64_t interval;
	unsigned int metrics;
	unsigned int left_out;
	const char *metric[GRT_METRICS];
	enum grt_metric_id row[GRT_METRICS];
	struct pm_counts count;
	/* the remaining members are private */
	uint8_t *available;
	void *host;
	uint8_t *config;
	size_t config_bytes;
	void *handle;
	bool enabled;
	bool started;
	uint8_t *image;
	size_t image_bytes;
	size_t room;
	size_t next;
	uint64_t end;
	uint64_t stopped;
	bool gap;
	unsigned int failures;
};

/**
 * pm_sampler_open - chooses counters and reserves the GPU's hardware for them; nothing is sampled yet
 * @set: enum grt_metric_set
 * @hz: samples per second
 * Return: 0, or a negative errno with @err set; call pm_sampler_close() in any case
 */
int pm_sampler_open(struct pm_sampler *s, const struct pm_library *l, const struct pm_device *device,
		    unsigned int set, unsigned int hz, struct grt_err *err);

/** pm_sampler_start - the GPU begins to write samples. Return: 0, or a negative errno with @err set */
int pm_sampler_start(struct pm_sampler *s, struct grt_err *err);

/** pm_sampler_read - delivers all new samples. Return: 0, the result of @put, or -EIO: CUPTI fails */
int pm_sampler_read(struct pm_sampler *s, int (*put)(void *arg, const struct pm_sample *sample), void *arg);

/** pm_sampler_stop - the GPU stops; samples that it has written can still be read */
void pm_sampler_stop(struct pm_sampler *s);

/** pm_sampler_close - releases the hardware, and frees */
void pm_sampler_close(struct pm_sampler *s);

#endif /* GRTRACE_PM_SAMPLER_H */
