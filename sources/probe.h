/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Looking at this system: what is there, what is not, and why. A probe changes
 * nothing, needs no root, and says "unknown" where it may not look.
 *
 * Every path is read below the directory GRTRACE_SYSROOT, where that is set, so
 * that all of this can be shown a system made of ordinary files.
 */
#ifndef GRTRACE_PROBE_H
#define GRTRACE_PROBE_H

#include <linux/capability.h>

#include <grtrace/grtrace.h>

#define PROBE_BPF "drm ioctl amdgpu i915 vblank virtio nvidia nvsched sched uprobe"

/* Room for a path below the prefix. */
#define PROBE_PATH 4096

/** enum probe_state - what was found */
enum probe_state {
	PROBE_WORKS,
	PROBE_FAILS,
	PROBE_UNKNOWN, /* it may not be looked at without root, or the kernel does not report it */
	PROBE_ABSENT,  /* this system has no use for it: nothing is wrong */
	PROBE_STATES,
};

/**
 * struct probe_result - what a probe found
 * @detail: the cause, or what works
 * @fix: what to type, "" where there is nothing
 */
struct probe_result {
	enum probe_state state;
	char detail[768];
	char fix[256];
};

/**
 * struct probe_row - a row of probes.def
 * @group: a group's title; such a row has nothing else
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

/** probe_needed - whether a row matters to a source */
bool probe_needed(const struct probe_row *row, const char *source);

/** probe_set - fills in a result; @fix may be NULL */
void probe_set(struct probe_result *r, enum probe_state state, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** probe_add - adds to the detail, after ", " where there is some; what does not fit ends in "..." */
void probe_add(struct probe_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** probe_sysroot - the prefix of all paths, "" for this system */
const char *probe_sysroot(void);

/**
 * probe_path - a path below the prefix
 * Return: @path, which is empty where the path would be too long
 */
char *probe_path(char path[PROBE_PATH], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** probe_exists - whether a path is there (a dangling link is not) */
bool probe_exists(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * probe_read - the beginning of a file, without its last newlines
 * Return: bytes in @text, which is NUL terminated, or -errno
 */
ssize_t probe_read(char *text, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** probe_link - the last part of what a link points to. Return: whether it is a link */
bool probe_link(char *name, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** probe_line - copies the next line of a text. Return: the text after it, NULL at the end */
const char *probe_line(const char *text, char *line, size_t room);

/** probe_mount - where a type of file system is mounted, without the prefix. Return: whether it is */
bool probe_mount(const char *type, char *dir, size_t room);

/** probe_release - the kernel's release ("6.1.0-56-amd64"), "" where it is unknown */
void probe_release(char *text, size_t room);

/** probe_kernel_before - whether the kernel is older than this version */
bool probe_kernel_before(unsigned int major, unsigned int minor);

/** probe_root - whether this process is root */
bool probe_root(void);

/** probe_capable - whether this process has a capability, CAP_* */
bool probe_capable(unsigned int cap);

/** probe_config - an option of the kernel's configuration: 'y', 'm', 'n', or 0 where there is none to read */
int probe_config(const char *option);

/** enum probe_lockdown_mode - how far the kernel is locked down */
enum probe_lockdown_mode {
	PROBE_LOCKDOWN_NONE,
	PROBE_LOCKDOWN_INTEGRITY,
	PROBE_LOCKDOWN_CONFIDENTIALITY,
	PROBE_LOCKDOWN_UNKNOWN,
};
enum probe_lockdown_mode probe_lockdown_mode(void);

/** probe_tracepoint - whether a tracepoint is there: 1, 0, or -EACCES where only root can know */
int probe_tracepoint(const char *system, const char *event);

/** probe_module_loaded - whether a module is loaded or built in ('-' and '_' are the same) */
bool probe_module_loaded(const char *module);

/**
 * probe_module_find - the file from which `record` would load a module
 * @path: gets its name
 * Return: 0, -ENOENT where there is none, -ENOEXEC where it is for another
 * kernel, -ENOKEY where this kernel takes signed modules only; *@err says it
 */
int probe_module_find(const char *module, char path[PROBE_PATH], struct grt_err *err);

/** probe_module_usable - whether grtrace.ko could be loaded and read here now; changes nothing. Return: 0 or
 * -errno */
int probe_module_usable(struct grt_err *err);

/**
 * struct probe_driver - a GPU driver that is here
 * @name: its module ("virtio_gpu")
 * @nodes: its device files ("card0 renderD128"), "" where it has no device
 */
struct probe_driver {
	char name[32];
	char nodes[96];
};

#define PROBE_DRIVERS 16

/** probe_drivers - the GPU drivers that are loaded or have a device. Return: how many */
int probe_drivers(struct probe_driver drivers[PROBE_DRIVERS]);

/**
 * probe_library - finds a shared library as the dynamic linker would, without loading it
 * @soname: "libcuda.so.1"; with a dot at its end also what begins so ("libcupti.so.")
 * @more: further directories, ended by NULL; may be NULL
 */
bool probe_library(const char *soname, const char *const *more, char path[PROBE_PATH]);

#endif /* GRTRACE_PROBE_H */
