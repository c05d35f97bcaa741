/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was taken from the kernel module's streams, held against what the module
 * itself says in `stats` that it put into them.
 */
#ifndef GRTRACE_KMOD_TALLY_H
#define GRTRACE_KMOD_TALLY_H

#include <grtrace/grtrace.h>

struct kmod_tally;

/** kmod_tally_new - begins to count; @stats: the module's counts now. Return: NULL without memory */
struct kmod_tally *kmod_tally_new(const char *stats);

/** kmod_tally_take - a packet was taken */
void kmod_tally_take(struct kmod_tally *t, const struct grt_packet *p);

/**
 * kmod_tally_missed - what the module has counted since the beginning, and no packet that was taken holds
 * @stats: the module's counts; everything before them must have been taken
 */
void kmod_tally_missed(const struct kmod_tally *t, const char *stats, struct grt_balance *missed);

/** kmod_tally_cpus - the CPUs of whose events some were not taken, with how many, as text */
void kmod_tally_cpus(const struct kmod_tally *t, const char *stats, char *text, size_t room);

/** kmod_tally_free - NULL is allowed */
void kmod_tally_free(struct kmod_tally *t);

#endif /* GRTRACE_KMOD_TALLY_H */
