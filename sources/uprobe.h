/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Uprobes at functions, for sources: where they go, and which are met.
 */
#ifndef GRTRACE_UPROBE_H
#define GRTRACE_UPROBE_H

#include "sources/bpf/bpf.h"

/* Functions of one recording. */
#define UPROBES_MAX 96

/**
 * struct uprobes - where they go; paths and descriptors in @point are theirs
 * @kind: for grt_bpf_open(), set by uprobes_open()
 */
struct uprobes {
	struct grt_bpf_kind kind;
	struct grt_bpf_point point[UPROBES_MAX];
	unsigned int n;
};

/**
 * uprobes_add - a function of a file
 * @fd: of the file; it stays the caller's
 * @path: for messages
 * @number: that its hits get
 * Return: 0, -ENOENT: the file has no such function, or another negative errno, with *err
 */
int uprobes_add(struct uprobes *u, int fd, const char *path, const char *symbol, uint32_t number,
		struct grt_err *err);

/** uprobes_open - grt_bpf_open() for them, for a source of this name. Return: 0 or -errno */
int uprobes_open(struct uprobes *u, const char *name, void **state, const struct source_setup *setup,
		 struct grt_err *err);

/**
 * uprobes_mapped - opens a file that a process has mapped: this very one, whatever has its name now
 * @name: of the file without directories, or its beginning up to ".so"
 * @path: gets its name as the process sees it; PATH_MAX bytes
 * Return: a descriptor, -ENOENT: it has mapped no such file, or -errno with *err
 */
int uprobes_mapped(pid_t pid, const char *name, char *path, struct grt_err *err);

/**
 * uprobes_find - opens a file
 * @name: a path as it is; else that of a file of the process, or of a library or program of this system
 * @path: gets where it is; PATH_MAX bytes
 * Return: a descriptor, or -errno with *err
 */
int uprobes_find(pid_t pid, const char *name, char *path, struct grt_err *err);

/** uprobes_free - what uprobes_add() took */
void uprobes_free(struct uprobes *u);

#endif /* GRTRACE_UPROBE_H */
