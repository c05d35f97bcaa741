/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Uprobes at functions, for sources.
 */
#ifndef GRTRACE_UPROBE_H
#define GRTRACE_UPROBE_H

#include "sources/bpf/bpf.h"

/* Most functions of one recording. */
#define UPROBES_MAX 96

/**
 * struct uprobes - places of uprobes; it owns the paths and descriptors in @point
 * @kind: for grt_bpf_open(), set by uprobes_open()
 */
struct uprobes {
	struct grt_bpf_kind kind;
	struct grt_bpf_point point[UPROBES_MAX];
	unsigned int n;
};

/**
 * uprobes_add - adds a function of a file
 * @fd: descriptor of the file; the caller closes it
 * @path: for messages
 * @number: the number in records of its hits
 * Return: 0, -ENOENT: the file has no such function, or another negative errno, with *err
 */
int uprobes_add(struct uprobes *u, int fd, const char *path, const char *symbol, uint32_t number,
		struct grt_err *err);

/** uprobes_open - calls grt_bpf_open() for the uprobes of the source @name. Return: 0 or -errno */
int uprobes_open(struct uprobes *u, const char *name, void **state, const struct source_setup *setup,
		 struct grt_err *err);

/**
 * uprobes_mapped - opens a file that a process has mapped, even if another file now has its name
 * @name: of the file without directories, or its beginning up to ".so"
 * @path: gets its name as the process sees it; PATH_MAX bytes
 * Return: a descriptor, -ENOENT: the process has mapped no such file, or -errno with *err
 */
int uprobes_mapped(pid_t pid, const char *name, char *path, struct grt_err *err);

/**
 * uprobes_find - opens a file
 * @name: a path; otherwise the name of a file of the process, or of a library or program of this system
 * @path: gets its path; PATH_MAX bytes
 * Return: a descriptor, or -errno with *err
 */
int uprobes_find(pid_t pid, const char *name, char *path, struct grt_err *err);

/** uprobes_free - frees what uprobes_add() allocated */
void uprobes_free(struct uprobes *u);

#endif /* GRTRACE_UPROBE_H */
