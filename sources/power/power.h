/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the parts of the source `power`: power.c has the timer, the counters' names and the
 * packets; a part (power_NAME.c) reads values. Parts read below GRTRACE_SYSROOT, as probes do.
 *
 * A value is written when it changed, and at least once a second. If it changes after it was left out, the
 * old value is written first, with the time of the last sample that had it. If it cannot be read any more, it
 * is written with that time and the flag ENDED. So a reader for which a value lasts until the next one, or
 * until that flag, sees what was measured.
 */
#ifndef GRTRACE_POWER_H
#define GRTRACE_POWER_H

#include <grtrace/grtrace.h>

#include "base/clock.h"
#include "trace/packer.h"
#include "host/known_gpus.h"
#include "sources/source.h"

#define POWER_CARDS 32
#define POWER_COUNTERS 512

/* A counter that could not be read this many times in a row is given up. */
#define POWER_FAILURES 10

/**
 * struct power_card - a device with counters
 * @node: "card0", or "accel0" of an NPU
 * @driver: "": unknown
 * @path: its device's directory without links, allocated; NULL: it has none
 * @device: its number, major << 20 | minor
 * @asleep: it was runtime suspended when this sample began, and reading would wake it
 */
struct power_card {
	char node[32];
	char driver[32];
	char *path;
	uint32_t device;
	bool asleep;
};

/** power_class - the directory of a node's kind below /sys/class */
static inline const char *power_class(const char *node)
{
	return strncmp(node, "accel", 5) ? "drm" : "accel";
}

/**
 * struct power_series - a counter of a device or process; all bytes zero except for its identity: a new one
 * @counter: from power_counter(), 0: none
 * @device: number of its device file, 0: unknown
 * @pid: process, 0: the whole device
 * @engine: enum grt_engine
 * @inferred: values are inferred from others
 * @lazy: nothing is written before the first value that is not 0
 * @eager: all values are written, because not every sample reads it
 * @begun: it has a value
 * @value: the last value
 * @written, @seen: when that was written, and last read; ns
 */
struct power_series {
	uint32_t counter;
	uint32_t device;
	uint32_t pid;
	uint8_t engine;
	bool inferred;
	bool lazy;
	bool eager;
	bool begun;
	int64_t value;
	uint64_t written;
	uint64_t seen;
};

struct power_name {
	char name[32];
	char unit[16];
};

/**
 * struct power_counts - counts so far
 * @samples, @missed: samples that were taken, and that were not because the previous one took too long
 * @values: values that were written
 * @stopped: counters that can no longer be read
 * @dropped: counters, files and processes for which the tables had no room
 * @late: values that came too late for their place
 * @cpu: CPU time of all samples, ns
 */
struct power_counts {
	uint64_t samples;
	uint64_t missed;
	uint64_t values;
	uint64_t stopped;
	uint64_t dropped;
	uint64_t late;
	uint64_t cpu;
};

/**
 * struct power - the data that the parts share
 * @card: the @cards cards of this system
 * @pid, @comm: the requested processes; 0, "": all
 * @only: the requested GPU; NULL: all
 * @looking: this run only finds out which counters exist, and reads no values later
 * @denied: there are counters that only root may read
 * @settle: values that did not change are written as well
 * @oldest: values that are written late are not older than this, ns
 * @failed: -errno that ends the capture
 * @name: names of the counters, by number - 1
 */
struct power {
	struct power_card card[POWER_CARDS];
	unsigned int cards;
	pid_t pid;
	char comm[16];
	const struct known_gpu *only;
	bool looking;
	bool denied;
	bool settle;
	uint64_t oldest;
	int failed;
	struct grt_packer *packer;
	struct power_name name[POWER_COUNTERS];
	unsigned int names;
	struct power_counts count;
};

/**
 * struct power_part - a kind of origin of values
 * @open: finds its counters and leaves its state in *@state, even if there are no counters. Return: number
 *	of counters that can be read now, or -errno with *@err set
 * @sample: reads them
 * @close: frees @state; NULL is allowed
 */
struct power_part {
	const char *name;
	int (*open)(void **state, struct power *p, struct grt_err *err);
	void (*sample)(void *state, struct power *p);
	void (*close)(void *state);
};

extern const struct power_part power_sysfs;
extern const struct power_part power_nvml;
extern const struct power_part power_fdinfo;

/**
 * power_counter - the number of a counter's name, which is truncated to what a NAME record holds; 0: there
 * are too many
 */
uint32_t power_counter(struct power *p, const char *name, const char *unit);

/** power_wanted - whether values of a device are wanted */
static inline bool power_wanted(const struct power *p, uint32_t device)
{
	return known_gpu_has(p->only, device);
}

/** power_put - a value that was read at @time, later than all earlier ones */
void power_put(struct power *p, struct power_series *s, uint64_t time, int64_t value);

/** power_end - the value could not be read this time, so it is valid until the last time that it was read */
void power_end(struct power *p, struct power_series *s);

/** power_find_cards - finds the cards of @p; power_free_cards() frees them */
void power_find_cards(struct power *p);
void power_free_cards(struct power *p);

/** power_add_device - adds a device that is not a card of DRM: its number, driver and name */
void power_add_device(struct power *p, uint32_t device, const char *driver, const char *name);

/** power_card_of - the card of a node ("renderD128"); NULL: it belongs to none */
const struct power_card *power_card_of(const struct power *p, const char *node);

/** power_card_at - the card with a device number; NULL: there is none */
struct power_card *power_card_at(struct power *p, uint32_t device);

/**
 * power_number - reads a decimal number at the start of a text. Return: the text after it; NULL: there is
 * none, or it is too large
 */
const char *power_number(const char *text, int64_t *value);

#endif /* GRTRACE_POWER_H */
