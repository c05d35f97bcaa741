/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What happens to an event between its packet and who reads it: its name is made whole, its process image is
 * counted, and it is selected.
 */
#ifndef GRT_TRACE_FLOW_H
#define GRT_TRACE_FLOW_H

#include <stddef.h>
#include <stdint.h>

#include <grtrace/event.h>
#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "names.h"

/* --------------------------------------------------------- linkage names */

/*
 * Linkage names in FRAME records. The recorder writes linkage names, so that it
 * demangles no name of a traced program with its privileges. A session demangles the
 * name before it delivers the record, so readers of a recording get names as in the
 * source code.
 *
 * A linkage name that is longer than the field continues in further records of
 * the same stack, which precede the record of the frame: their index is PART * depth +
 * index of the frame; PART counts from 1. Programs that do not know these records skip
 * them, because no frame has an index beyond depth.
 */

/* Longer linkage names are cut; they cannot be demangled. */
#define GRT_LINKAGE_MAX 4096U
/* Bytes of a name in one record. */
#define GRT_LINKAGE_PART (sizeof(((struct grt_ev_frame *)0)->symbol) - 1)

struct grt_linkage;

/**
 * grt_linkage_parts - the number of records for a name, including the record of the frame
 * @depth: depth of the stack: the indices of the parts must fit in 16 bits
 */
unsigned int grt_linkage_parts(const char *name, unsigned int depth);

/**
 * grt_linkage_put - fills in index and symbol of the record of a part; part 0 is the frame's record. @index:
 * index of the frame
 */
void grt_linkage_put(struct grt_ev_frame *f, const char *name, uint16_t index, unsigned int part);

/** grt_linkage_free - frees it; NULL is allowed */
void grt_linkage_free(struct grt_linkage *l);

/* ------------------------------------------------------- missing records */

/*
 * Compares the records that traced programs have made with the records in the recording. PROCESS records
 * count the launches and the GPU records of their process image, including records that could not be written
 * because a disk was full. Nothing else in a recording counts those.
 */

/**
 * struct grt_written_image - a process image
 * @pid, @number: its identity, see struct grt_event and ctx in events.def
 * @made: its last count of records, without those that it counted as lost
 * @here: number of its records in the recording
 */
struct grt_written_image {
	uint32_t pid;
	uint64_t number;
	uint64_t made;
	uint64_t here;
};

/**
 * struct grt_written - all images; all zero is empty
 * @image: struct grt_written_image by pid and number
 * @last: the image of the previous record; most records belong to it
 * @before: missing records of images whose pid a later image has
 * @untracked: records of images for which the table has no place; whether records of these images are missing
 *	is unknown
 */
struct grt_written {
	struct grt_keyed image;
	struct grt_written_image *last;
	uint64_t before;
	uint64_t untracked;
};

/**
 * grt_written_other - processes a record that is not simply one more record of @last. Return: 0 or -ENOMEM
 */
int grt_written_other(struct grt_written *w, const struct grt_event *e);

/**
 * grt_written_event - processes a record whose type has the trait COUNTED
 * Return: 0 or -ENOMEM
 */
static inline int grt_written_event(struct grt_written *w, const struct grt_event *e)
{
	struct grt_written_image *i = w->last;

	if (!i || i->pid != e->pid || i->number != e->ctx || e->type == GRT_EV_PROCESS)
		return grt_written_other(w, e);
	i->here++;
	return 0;
}

/**
 * grt_written_missing - the number of records that were made, not counted as lost, and are not in the
 * recording; for images with a place
 */
uint64_t grt_written_missing(const struct grt_written *w);

/** grt_written_free - frees it and empties it */
void grt_written_free(struct grt_written *w);

/* ---------------------------------------------------------------- filter */

/*
 * Selects events of a trace: by process, thread name, ring or type. If an event has
 * no such value itself, the value of its job is used.
 */

/* Most rings or processes that a message can list if the requested one does not exist. */
#define GRT_FILTER_SEEN_MAX 16U

/** struct grt_filter_seen - @id: a ring or a process; @tid: its thread */
struct grt_filter_seen {
	uint32_t id;
	uint32_t tid;
};

/**
 * struct grt_filter - all zero selects everything; pass it to grt_filter_free()
 * @pid: 0: every process
 * @comm: the name of threads or of their process; NULL: every name
 * @ring: the name or number of a ring; NULL: every ring
 * @types: the selected types, with @by_type
 * @joins: events of jobs and waits always pass, because grt_filter_wants_job() selects the jobs that are
 *	joined from them
 * @whole: the same, for consumers that need nothing of threads beside what is selected
 * @strict: events that only name or define something are not delivered
 * @shown: the last delivered event was selected itself, and not because it names or defines something
 * @beside: the last delivered event belongs to a selected thread and to no ring or job; it may explain the
 *	jobs of
 * @ring
 * @names, @jobs: names and jobs so far
 * @found: an event matched @pid, @comm and @ring; until then @seen has candidates for a message: rings if a
 *	ring was requested, else threads, one per process
 * @more: @seen is incomplete
 */
struct grt_filter {
	uint32_t pid;
	const char *comm;
	const char *ring;
	struct grt_type_set types;
	bool by_type;
	bool joins;
	bool whole;
	bool strict;
	bool shown;
	bool beside;
	bool ready;
	struct grt_names names;
	struct grt_keyed jobs;
	bool found;
	bool more;
	struct grt_filter_seen seen[GRT_FILTER_SEEN_MAX];
	uint32_t seens;
};

/** grt_filter_named - the name of a ring or a process; NULL: unknown */
const char *grt_filter_named(const struct grt_filter *f, const struct grt_filter_seen *seen);

/** grt_filter_any - whether the filter excludes anything */
bool grt_filter_any(const struct grt_filter *f);

/** grt_filter_wants_job - whether a job is selected, by its submitter and its ring */
bool grt_filter_wants_job(const struct grt_filter *f, const struct grt_names *names, uint32_t pid,
			  uint32_t tid, uint32_t ring);

/** grt_filter_free - frees its memory */
void grt_filter_free(struct grt_filter *f);

#endif /* GRT_TRACE_FLOW_H */
