/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Each thread has its own capabilities and must drop them itself.
 */
#ifndef GRTRACE_CAPABILITIES_H
#define GRTRACE_CAPABILITIES_H

#include <stdint.h>

/**
 * capabilities_drop - drops all capabilities of the calling thread except some, for good, also for programs
 * that it executes
 * @keep: bits (1 << CAP_*) of capabilities that are kept if the thread has them
 * Return: 0 or a negative errno; then some capabilities may be left
 */
int capabilities_drop(uint64_t keep);

#endif /* GRTRACE_CAPABILITIES_H */
