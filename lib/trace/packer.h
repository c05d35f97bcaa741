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
 * grt_packer_new - an empty one
 * @cpus: events are of CPUs below this
 * Return: 0 or -ENOMEM
 */
int grt_packer_new(struct grt_packer **out, unsigned int cpus);

/**
 * grt_packer_name - how a thread, ring, device or counter is called from now on
 * @cpu: whose stream reports a change
 * @time: of the change, ns
 * @name, @owner: NUL terminated, cut to what a NAME record holds
 * Return: 0 or -ENOMEM
 */
int grt_packer_name(struct grt_packer *p, unsigned int cpu, uint64_t time, uint32_t kind, uint32_t id,
		    const char *name, const char *owner);

/**
 * grt_packer_add - takes an event in
 * @e: sound: size fits its type
 * Return: 0, -ENOMEM, or -ERANGE for one that comes too late for its place (the
 * caller counts it as lost)
 */
int grt_packer_add(struct grt_packer *p, unsigned int cpu, const struct grt_event *e);

/**
 * struct grt_packer_counts - of a CPU, since the start: events that did not come here
 */
struct grt_packer_counts {
	uint64_t filtered;
	uint64_t lost;
};

/** enum grt_pack - what leaves */
enum grt_pack {
	GRT_PACK_ENOUGH, /* what fills a packet or has waited for a while */
	GRT_PACK_NOW,	 /* all up to the stamp given */
	GRT_PACK_ALL,	 /* everything: no event will come any more */
};

/**
 * grt_packer_read - packets of a CPU
 * @buf: @len bytes, at least 64 KiB
 * @until: events up to this stamp may leave; later ones may still get company
 *	before them, ns
 * @pack: what leaves; at the end of GRT_PACK_ALL stands a packet for what @counts
 *	reports beyond the packets before, if only to say that nothing happened
 * Return: bytes, whole packets; 0: nothing (yet)
 */
size_t grt_packer_read(struct grt_packer *p, unsigned int cpu, void *buf, size_t len, uint64_t until,
		       enum grt_pack pack, const struct grt_packer_counts *counts);

/** grt_packer_emitted - events and names that are accounted for in the packets read so far */
uint64_t grt_packer_emitted(const struct grt_packer *p);

/** grt_packer_waiting - events and changes of name that no packet has taken yet */
uint64_t grt_packer_waiting(const struct grt_packer *p);

/** grt_packer_free - frees it; NULL is allowed */
void grt_packer_free(struct grt_packer *p);

#endif /* GRT_TRACE_PACKER_H */
