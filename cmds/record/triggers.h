/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The incidents at which a black box writes a snapshot, each a row of triggers.def. Events are checked as
 * their packets come. Memory: 65,536 jobs in flight, 1,024 clients with frames or threads with steps, 1,024
 * names of steps, 4,096 chains of ranges; beyond that, the oldest are dropped and counted.
 */
#ifndef GRTRACE_TRIGGERS_H
#define GRTRACE_TRIGGERS_H

#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "trigger_collectives.h"

/** enum trigger - the rows of triggers.def */
enum trigger {
#define GRT_TRIGGER(symbol, name, LIMIT, sources, help) TRIGGER_##symbol,
#include "triggers.def"
#undef GRT_TRIGGER
	TRIGGERS,
};

/**
 * struct incident - what a trigger found
 * @time: CLOCK_MONOTONIC ns; @began: begin of what took too long, 0: it is a moment
 * @pid, @tid, @ctx, @seqno, @ring: of the job or the event, 0 if unknown (GRT_RING_NONE: no ring)
 * @text: what happened
 * @dump: directory of a device's dump in /sys/class/devcoredump; "": there is none
 */
struct incident {
	enum trigger trigger;
	uint64_t time;
	uint64_t began;
	uint32_t pid;
	uint32_t tid;
	uint64_t ctx;
	uint64_t seqno;
	uint32_t ring;
	char text[192];
	char dump[64];
};

/**
 * struct trigger_limit - the limit of a trigger: @ns, or @times the median; both 0: the trigger has none
 * @on: the trigger is requested
 */
struct trigger_limit {
	bool on;
	uint64_t ns;
	double times;
};

/**
 * struct triggers - set up by triggers_init(), freed by triggers_free()
 * @jobs: jobs in flight, and jobs whose end came before their SUBMIT
 * @clients: clients with frames, or with steps
 * @steps: names of ranges that are steps; @nodes: chains of ranges with such a name
 * @open: steps in which threads are, according to their launches
 * @collectives: collectives of NCCL
 * @found: an incident was found, and waits for triggers_take()
 * @forgotten: jobs that were replaced; @doubted: number of times that all were forgotten, because events were
 *	lost
 * @dumps: dumps of devices that were seen
 * @looked: when dumps were last looked for
 */
struct triggers {
	struct trigger_limit limit[TRIGGERS];
	struct grt_keyed jobs;
	struct grt_keyed clients;
	struct grt_keyed steps;
	struct grt_keyed nodes;
	struct grt_keyed open;
	struct grt_keyed dumps;
	struct collectives collectives;
	bool found;
	struct incident incident;
	uint64_t forgotten;
	uint64_t doubted;
	uint64_t looked;
};

/** triggers_init - initialises it without any requested trigger */
void triggers_init(struct triggers *t);

/** triggers_parse - takes a list such as "job>2s,xid". Return: NULL, or the word that is not understood */
const char *triggers_parse(struct triggers *t, const char *list, char word[64]);

/** triggers_see_event - looks at an event. Return: 0 or -ENOMEM */
int triggers_see_event(struct triggers *t, const struct grt_event *e);

/** triggers_see - looks at the events of a sound packet. Return: 0 or -ENOMEM */
int triggers_see(struct triggers *t, const struct grt_packet *p);

/**
 * triggers_late_job - finds the oldest job that is too old at @now
 * @sure: its end can no longer arrive: it is reported, and not found again. Otherwise the next call finds it
 *	again
 */
bool triggers_late_job(struct triggers *t, uint64_t now, bool sure, struct incident *found);

/**
 * triggers_hung_step - finds a step that has not ended at @now and already takes too long, of a thread that
 * has ended a step of this name before
 * @sure: as above
 */
bool triggers_hung_step(struct triggers *t, uint64_t now, bool sure, struct incident *found);

/**
 * triggers_missing_rank - finds a rank that has not called a collective which another rank called too long
 * before @now; @sure: as above
 */
bool triggers_missing_rank(struct triggers *t, uint64_t now, bool sure, struct incident *found);

/** triggers_dump - finds a new dump of a device; looks at most every 0.2 s */
bool triggers_dump(struct triggers *t, uint64_t now, struct incident *found);

/** triggers_take - gets the incident since the last call. Return: whether there was one */
bool triggers_take(struct triggers *t, struct incident *found);

/** trigger_name - the name, as typed */
const char *trigger_name(enum trigger trigger);

/**
 * trigger_is_of - whether the source with this name has events for the trigger, or the trigger needs no
 * source
 */
bool trigger_is_of(enum trigger trigger, const char *source);

/** trigger_sources - the names of these sources, separated by spaces; "": it needs no source */
const char *trigger_sources(enum trigger trigger);

/* All triggers, with the text that may follow their names; each begins with ", ". */
extern const char triggers_names[];

/* The default. */
#define TRIGGERS_DEFAULT "signal"

/** triggers_free - frees all that it owns */
void triggers_free(struct triggers *t);

#endif /* GRTRACE_TRIGGERS_H */
