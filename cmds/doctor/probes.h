/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The probes of doctor: what this system has, what it lacks, and why. A probe changes nothing and needs no
 * root. If it may not look, its result is "unknown".
 */
#ifndef GRTRACE_PROBES_H
#define GRTRACE_PROBES_H

#include "host/probe.h"

#define PROBE_BPF "drm ioctl amdgpu i915 vblank virtio nvidia nvsched sched uprobe"

/** enum probe_state - the result of a probe */
enum probe_state {
	PROBE_WORKS,
	PROBE_FAILS,
	PROBE_UNKNOWN, /* unknown: this needs root, or the kernel does not tell */
	PROBE_ABSENT,  /* this system does not need it, so nothing is wrong */
	PROBE_STATES,
};

/* Names for programs, and for the column of the text. */
extern const char *const probe_state_names[PROBE_STATES];
extern const char *const probe_state_words[PROBE_STATES];

/**
 * struct probe_result
 * @detail: the cause, or what works
 * @fix: what to type; "": nothing
 */
struct probe_result {
	enum probe_state state;
	char detail[768];
	char fix[256];
};

/**
 * struct probe_row - a row of probes.def
 * @group: a group's title; such a row has no other member
 * @name: as in probes.def
 * @sources: words
 * @help: one line
 * @run: the probe
 */
struct probe_row {
	const char *group;
	const char *name;
	const char *sources;
	const char *help;
	void (*run)(struct probe_result *r);
};

/* Ended by an empty row. */
extern const struct probe_row probe_rows[];

#define GRT_PROBE(name, sources, help) void probe_##name(struct probe_result *r);
#include "probes.def"
#undef GRT_PROBE

/** probe_needed - whether a source needs what a row probes */
bool probe_needed(const struct probe_row *row, const char *source);

/** probe_set - sets a result; @fix may be NULL */
void probe_set(struct probe_result *r, enum probe_state state, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** probe_add - appends to the detail, after ", " if it is not empty; a text that is too long ends in "..." */
void probe_add(struct probe_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * probe_config - Return: the value of an option of the kernel's configuration: 'y', 'm', 'n', or 0: it cannot
 * be read
 */
int probe_config(const char *option);

/**
 * struct probe_driver - a GPU driver on this system
 * @name: its module ("virtio_gpu")
 * @nodes: its device files ("card0 renderD128"); "": it has no device
 */
struct probe_driver {
	char name[32];
	char nodes[96];
};

#define PROBE_DRIVERS 16

/** probe_drivers - the GPU drivers that are loaded or have a device. Return: their number */
int probe_drivers(struct probe_driver drivers[PROBE_DRIVERS]);

#endif /* GRTRACE_PROBES_H */
