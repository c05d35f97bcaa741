/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPU stacks: the numbers that BPF programs give them become ids of the trace. The frames of a kernel stack
 * are written at its first use, with names. The frames of programs are written at the end of the recording,
 * because files of other users must be read for them.
 */
#ifndef GRTRACE_BPF_STACKS_H
#define GRTRACE_BPF_STACKS_H

#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "trace/packer.h"
#include "host/symbols.h"

/* Number of epochs for which the contents of slots are known, because a thread may sleep that long. */
#define BPF_STACKS_EPOCHS 32

#define BPF_STACKS_VARIED UINT32_MAX

/* Number of values in the top bits of a stack's number; more than enum grt_stack_end has. */
#define GRT_BPF_STACK_ENDS 16

/** struct grt_bpf_stack_text - the @depth addresses of a stack */
struct grt_bpf_stack_text {
	uint64_t hash;
	uint64_t *ip;
	unsigned int depth;
};

/**
 * struct grt_bpf_stack_epoch - slots that were freed at the same time
 * @before, @after: the time was between these
 * @held: by slot: the text that it held, plus 1; 0: it was not freed then
 */
struct grt_bpf_stack_epoch {
	uint64_t before;
	uint64_t after;
	uint32_t *held;
};

/**
 * struct grt_bpf_stack_waiting - a program's stack whose frames are not written yet
 * @text: its addresses; @first: index of the first of the @depth numbers of these
 * @end: enum grt_stack_end
 */
struct grt_bpf_stack_waiting {
	uint32_t id;
	uint32_t cpu;
	uint32_t text;
	uint32_t depth;
	uint32_t first;
	uint32_t end;
};

/**
 * struct grt_bpf_stacks - initialised by grt_bpf_stacks_init(), freed by grt_bpf_stacks_fini()
 * @map: the kernel's table of the programs' stacks: the first @kernels of @places slots
 * @walked: the table of stacks that programs have walked: the other slots; -1: there is none
 * @base: ids in the trace begin after this number
 * @held: by slot: the text that it holds, plus 1; 0: not read. @n_held slots are not 0
 * @epoch: a ring of the last epochs; @epochs: number of epochs so far
 * @older: by slot: the text that it held in epochs before those, up to @older_until, plus 1; 0: none;
 *	BPF_STACKS_VARIED: several ones
 * @text: the @texts different texts, with @bytes of addresses in all
 * @by_hash: an open hash table of @hash_room elements: number of a text, plus 1
 * @seen: an open hash table of @room elements: which texts have an id in which process
 * @waiting: @waits stacks, of which the first @written are written; those before @until are being named, 0:
 *	none are
 * @number: numbers of addresses in @symbols, @numbers of them
 * @paths: paths of the frames' object files and source files; their numbers in the trace begin after @base
 * @no_names: frames get no names
 * @nameless: number of frames without room for a name
 * @ends: number of stacks of programs' events, by enum grt_stack_end
 * @lost: number of events whose stack is no longer known, or had no room
 */
struct grt_bpf_stacks {
	int map;
	int walked;
	uint32_t base;
	uint32_t kernels;
	uint32_t places;
	struct symbols *symbols;
	uint32_t *held;
	uint32_t n_held;
	struct grt_bpf_stack_epoch epoch[BPF_STACKS_EPOCHS];
	uint64_t epochs;
	uint32_t *older;
	uint64_t older_until;
	struct grt_bpf_stack_text *text;
	uint32_t texts;
	uint64_t bytes;
	uint32_t *by_hash;
	uint32_t hash_room;
	struct {
		uint64_t key; /* pid << 32 | end << 28 | text + 1, 0: free */
		uint32_t id;
	} * seen;
	uint32_t room;
	uint32_t used;
	struct grt_bpf_stack_waiting *waiting;
	uint32_t waits, waiting_room, written, until;
	uint32_t *number;
	uint32_t numbers, number_room;
	struct grt_texts paths;
	bool no_names;
	uint64_t nameless;
	uint64_t lost;
	uint64_t ends[GRT_BPF_STACK_ENDS];
};

/** grt_bpf_stacks_init - initialises it; @map, @walked and @base as in the struct. Return: 0 or -ENOMEM */
int grt_bpf_stacks_init(struct grt_bpf_stacks *s, int map, int walked, uint32_t base);

/**
 * grt_bpf_stacks_look_up - a stack by its slot; @map, @walked and @kernels as in the struct
 * @ip: gets its addresses, at most BPF_STACK_DEPTH; the rest is set to 0
 * Return: whether the slot holds a stack
 */
bool grt_bpf_stacks_look_up(int map, int walked, uint32_t kernels, uint32_t place, uint64_t *ip,
			    unsigned int *depth);

/**
 * grt_bpf_stacks_see - gives the stacks of an event their ids in the trace, and writes new frames of the
 * kernel
 * Return: 0 or -ENOMEM
 */
int grt_bpf_stacks_see(struct grt_bpf_stacks *s, struct grt_packer *p, unsigned int cpu, struct grt_event *e);

/**
 * grt_bpf_stacks_name - writes the programs' frames, some more with each call
 * @time: time of the records, not before that of any other record
 * @ms: how long it may wait
 * Return: 1 when all are written, 0: not yet, or -ENOMEM
 */
int grt_bpf_stacks_name(struct grt_bpf_stacks *s, struct grt_packer *p, uint64_t time, int ms);

/** grt_bpf_stacks_unnamed - the number of frames that have no name so far */
void grt_bpf_stacks_unnamed(const struct grt_bpf_stacks *s, struct addresses_unnamed *unnamed);

/**
 * grt_bpf_stacks_make_room - frees slots of the table whose stacks have been read, if there are many: the
 * table cannot hold two stacks that need the same slot
 */
void grt_bpf_stacks_make_room(struct grt_bpf_stacks *s);

/**
 * grt_bpf_stacks_ends_text - how many stacks of programs' events ended for which reason
 * @ends: GRT_BPF_STACK_ENDS counts
 */
void grt_bpf_stacks_ends_text(const uint64_t *ends, char *text, size_t room);

/** grt_bpf_stacks_fini - frees everything */
void grt_bpf_stacks_fini(struct grt_bpf_stacks *s);

#endif /* GRTRACE_BPF_STACKS_H */
