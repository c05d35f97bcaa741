/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the state of this system: files, mounts, kernel, this process's privileges.
 * Changes nothing and needs no root.
 *
 * If the environment variable GRTRACE_SYSROOT is set, every path is read below this
 * directory, so that tests can use a system made of ordinary files.
 */
#ifndef GRTRACE_PROBE_H
#define GRTRACE_PROBE_H

#include <linux/capability.h>

#include <grtrace/grtrace.h>

/* Room for a path below the prefix. */
#define PROBE_PATH 4096

/** probe_sysroot - the prefix of all paths, "" for this system */
const char *probe_sysroot(void);

/**
 * probe_path - a path below the prefix
 * Return: @path, which is empty if the path would be too long
 */
char *probe_path(char path[PROBE_PATH], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** probe_exists - whether a path exists (a dangling link does not) */
bool probe_exists(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * probe_read - reads the beginning of a file, without trailing newlines
 * Return: bytes in @text, which is NUL terminated, or -errno
 */
ssize_t probe_read(char *text, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** probe_link - the last part of a link's target. Return: whether it is a link */
bool probe_link(char *name, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** probe_line - copies the next line of a text. Return: the text after it, NULL at the end */
const char *probe_line(const char *text, char *line, size_t room);

/**
 * probe_mount - the mount point of a file system of this type, without the prefix. Return: whether one is
 * mounted
 */
bool probe_mount(const char *type, char *dir, size_t room);

/** probe_release - the kernel's release ("6.1.0-56-amd64"), "" if it is unknown */
void probe_release(char *text, size_t room);

/** probe_kernel_before - whether the kernel is older than this version */
bool probe_kernel_before(unsigned int major, unsigned int minor);

/** probe_root - whether this process is root */
bool probe_root(void);

/** probe_capable - whether this process has a capability, CAP_* */
bool probe_capable(unsigned int cap);

/** enum probe_lockdown_mode - the lockdown mode of the kernel */
enum probe_lockdown_mode {
	PROBE_LOCKDOWN_NONE,
	PROBE_LOCKDOWN_INTEGRITY,
	PROBE_LOCKDOWN_CONFIDENTIALITY,
	PROBE_LOCKDOWN_UNKNOWN,
};
enum probe_lockdown_mode probe_lockdown_mode(void);

/** probe_module_loaded - whether a module is loaded or built in ('-' and '_' are the same) */
bool probe_module_loaded(const char *module);

/** probe_load_fix - what to type for a driver that is not loaded: @modprobe, unless this kernel loads no
 * modules */
const char *probe_load_fix(const char *modprobe);

#endif /* GRTRACE_PROBE_H */
