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

#endif /* GRTRACE_CONFIG_H */
