/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Makes packets from single events, for sources that receive events in user space.
 * It sorts the events of each CPU, holds them for a short window in which an
 * earlier one may still arrive, and emits complete packets with the names that
 * their events use.
 */
#ifndef GRT_TRACE_PACKER_H
#define GRT_TRACE_PACKER_H

#include <grtrace/grtrace.h>

struct grt_packer;

/**
 * grt_packer_new - an empty packer
 * @cpus: number of CPUs
 * Return: 0 or -ENOMEM
 */
int grt_packer_new(struct grt_packer **out, unsigned int cpus);

/**
 * grt_packer_name - sets the name of a thread, ring, device or counter from now on
 * @cpu: the CPU whose stream reports the change
 * @time: time of the change, ns
 * @name, @owner: NUL terminated, cut to the size in a NAME record
 * Return: 0 or -ENOMEM
 */
int grt_packer_name(struct grt_packer *p, unsigned int cpu, uint64_t time, uint32_t kind, uint32_t id,
		    const char *name, const char *owner);

/**
 * grt_packer_names - a number that changes with every name that is new, different, or given up for another
 * As long as it is the same, a name that was set already need not be set again. It is never 0.
 */
uint64_t grt_packer_names(const struct grt_packer *p);

/**
 * grt_packer_add - adds an event
 * @e: its size must fit its type
 * Return: 0, -ENOMEM, or -ERANGE if the event comes too late to be sorted (the
 * caller counts it as lost)
 */
int grt_packer_add(struct grt_packer *p, unsigned int cpu, const struct grt_event *e);

/**
 * struct grt_packer_counts - events of a CPU since the start that the packer did not get
 */
struct grt_packer_counts {
	uint64_t filtered;
	uint64_t aggregated;
	uint64_t lost;
};

/** enum grt_pack - which events to pack */
enum grt_pack {
	GRT_PACK_ENOUGH, /* events that fill a packet or have waited for a while */
	GRT_PACK_NOW,	 /* all events up to the given time stamp */
	GRT_PACK_ALL,	 /* all events: no further event will come */
};

/**
 * grt_packer_read - makes packets of a CPU
 * @buf: @len bytes, at least 64 KiB
 * @until: pack events up to this time; an earlier event may still arrive before later
 *	ones, ns
 * @pack: which events to pack; GRT_PACK_ALL ends with a packet for the counts in @counts
 *	that no previous packet has, even if there are none
 * Return: bytes of complete packets; 0: nothing (yet)
 */
size_t grt_packer_read(struct grt_packer *p, unsigned int cpu, void *buf, size_t len, uint64_t until,
		       enum grt_pack pack, const struct grt_packer_counts *counts);

/** grt_packer_emitted - events and names that the counts of the packets so far include */
uint64_t grt_packer_emitted(const struct grt_packer *p);

/** grt_packer_waiting - events and changes of names that are in no packet yet */
uint64_t grt_packer_waiting(const struct grt_packer *p);

/** grt_packer_free - frees it; NULL is allowed */
void grt_packer_free(struct grt_packer *p);

#endif /* GRT_TRACE_PACKER_H */
