/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings of the module from and to files, and the profiles: what
 * `grtrace config` adds to its keys.
 */
#ifndef GRTRACE_CONFIG_H
#define GRTRACE_CONFIG_H

#include "kmod/kmod_settings.h"

/**
 * config_key - the row of a key as typed
 * Return: the row; NULL with "unknown key" and what may have been meant in *@err
 */
const struct kmod_key *config_key(const char *name, struct grt_err *err);

/**
 * config_save - writes every setting that the module has, mode 0600, whole or not at all
 * @path: "-" is standard output; a file that is no such list is not replaced
 * Return: 0 or -errno
 */
int config_save(struct kmod *k, const char *path, struct grt_err *err);

/**
 * config_load - adds the settings of a file to a list
 * @path: "-" is standard input
 * Return: 0, or -errno with file and line in *@err
 */
int config_load(struct kmod_settings *s, const char *path, struct grt_err *err);

/** config_is_profile - whether profiles.def has a row of this name */
bool config_is_profile(const char *name);

/**
 * config_profile - adds the settings of a profile to a list
 *
 * What other profiles set and this one does not goes to its default, so that
 * the profiles replace each other.
 * @name: of a profile that there is
 * @config: the text of the module's `config`: a key that it has not needs no default
 * Return: 0 or -ENOMEM
 */
int config_profile(struct kmod_settings *s, const char *name, const char *config, struct grt_err *err);

#endif /* GRTRACE_CONFIG_H */
