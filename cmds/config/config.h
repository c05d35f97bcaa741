/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What `grtrace config` needs besides keys: settings in files, and profiles.
 */
#ifndef GRTRACE_CONFIG_H
#define GRTRACE_CONFIG_H

#include "kmod/kmod_settings.h"

/**
 * config_key - the row of a key as typed
 * Return: the row; NULL with "unknown key" and the most similar key in *@err
 */
const struct kmod_key *config_key(const char *name, struct grt_err *err);

/**
 * config_save - writes all settings that the module has, mode 0600, completely or not at all
 * @path: "-" is standard output; a file with other contents is not replaced
 * Return: 0 or -errno
 */
int config_save(struct kmod *k, const char *path, struct grt_err *err);

/**
 * config_load - adds the settings of a file to a list
 * @path: "-" is standard input
 * Return: 0, or -errno with file and line in *@err
 */
int config_load(struct kmod_settings *s, const char *path, struct grt_err *err);

#endif /* GRTRACE_CONFIG_H */
