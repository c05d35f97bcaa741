/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names of a recording's frames, in the recording: what the addresses of
 * stacks that stayed addresses mean, so that it can be read on another machine.
 */
#ifndef GRTRACE_RECORD_NAMES_H
#define GRTRACE_RECORD_NAMES_H

#include "recording.h"

/**
 * record_names_write - adds the functions and lines at all addresses of its stacks to a recording that is
 * whole
 *
 * The object files are opened here and read by processes apart (host/apart.h), for a minute at most. What has
 * no name then is looked up by who reads the recording.
 * Return: 0 or -errno
 */
int record_names_write(struct recording *r, struct grt_err *err);

#endif /* GRTRACE_RECORD_NAMES_H */
