/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes the names of a recording's frames into the recording: what the addresses in stacks mean, so that it
 * can be read on another machine.
 */
#ifndef GRTRACE_RECORD_NAMES_H
#define GRTRACE_RECORD_NAMES_H

#include "recording.h"

/**
 * record_names_write - adds the functions and lines of all addresses in stacks to a complete recording
 *
 * The object files are opened here and read by separate processes (host/apart.h), for at most a minute.
 * Readers of the recording look up names that are still missing.
 * Return: 0 or -errno
 */
int record_names_write(struct recording *r, struct grt_err *err);

#endif /* GRTRACE_RECORD_NAMES_H */
