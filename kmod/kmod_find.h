/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where `record` would take a module from; nothing is loaded.
 */
#ifndef GRTRACE_KMOD_FIND_H
#define GRTRACE_KMOD_FIND_H

#include "host/probe.h"

/**
 * kmod_find - the file from which `record` would load a module
 * @path: gets its name
 * Return: 0, -ENOENT where there is none, -ENOEXEC where it is for another
 * kernel, -ENOKEY where this kernel takes signed modules only; *@err says it
 */
int kmod_find(const char *module, char path[PROBE_PATH], struct grt_err *err);

/** kmod_usable - whether grtrace.ko could be loaded and read here now; changes nothing. Return: 0 or
 * -errno */
int kmod_usable(struct grt_err *err);

#endif /* GRTRACE_KMOD_FIND_H */
