/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capabilities are a thread's own: each thread gives up its own.
 */
#ifndef GRTRACE_CAPABILITIES_H
#define GRTRACE_CAPABILITIES_H

#include <stdint.h>

/**
 * capabilities_drop - the calling thread gives up all of them but some, for good, also for what it executes
 * @keep: bits (1 << CAP_*) that are kept where they are there
 * Return: 0 or a negative errno; then some may be left
 */
int capabilities_drop(uint64_t keep);

#endif /* GRTRACE_CAPABILITIES_H */
