/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compares the events that were read from the kernel module's streams with the
 * module's own counts in `stats`.
 */
#ifndef GRTRACE_KMOD_TALLY_H
#define GRTRACE_KMOD_TALLY_H

#include <grtrace/grtrace.h>

struct kmod_tally;

/** kmod_tally_new - begins to count; @stats: the module's counts now. Return: NULL if there is no memory */
struct kmod_tally *kmod_tally_new(const char *stats);

/** kmod_tally_take - counts a packet that was read */
void kmod_tally_take(struct kmod_tally *t, const struct grt_packet *p);

/**
 * kmod_tally_missed - the events that the module has counted since the beginning and that are in no packet
 * that was read
 * @stats: the module's counts; all earlier packets must have been read
 */
void kmod_tally_missed(const struct kmod_tally *t, const char *stats, struct grt_balance *missed);

/** kmod_tally_cpus - a text with the CPUs that have unread events, and the number of these events */
void kmod_tally_cpus(const struct kmod_tally *t, const char *stats, char *text, size_t room);

/** kmod_tally_free - frees it; NULL is allowed */
void kmod_tally_free(struct kmod_tally *t);

#endif /* GRTRACE_KMOD_TALLY_H */
