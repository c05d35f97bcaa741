/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the file of a module, without loading it.
 */
#ifndef GRTRACE_KMOD_FIND_H
#define GRTRACE_KMOD_FIND_H

#include "host/probe.h"

/**
 * kmod_find - the file from which `record` would load a module
 * @path: gets its name
 * Return: 0, -ENOENT if there is none, -ENOEXEC if it is for another
 * kernel, -ENOKEY if this kernel only loads signed modules; with *@err
 */
int kmod_find(const char *module, char path[PROBE_PATH], struct grt_err *err);

/** kmod_usable - whether grtrace.ko could be loaded and read here now; changes nothing. Return: 0 or
 * -errno */
int kmod_usable(struct grt_err *err);

#endif /* GRTRACE_KMOD_FIND_H */
