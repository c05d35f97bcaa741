/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPU stacks: the numbers that BPF programs give them become stack ids of the
 * trace. A kernel stack's frames are written at its first use, with names; those
 * of programs when all is over, since files of other users are to be read.
 */
#ifndef GRTRACE_BPF_STACKS_H
#define GRTRACE_BPF_STACKS_H

#include <grtrace/grtrace.h>

#include "base/texts.h"
#include "trace/packer.h"
#include "host/symbols.h"

/* Number of epochs for which the contents of places are known, since a thread may sleep that long. */
#define BPF_STACKS_EPOCHS 32

#define BPF_STACKS_VARIED UINT32_MAX

/* More than enum grt_stack_end has: what the top bits of a number of a stack can say. */
#define GRT_BPF_STACK_ENDS 16

/** struct grt_bpf_stack_text - a stack's addresses, of which there are @depth */
struct grt_bpf_stack_text {
	uint64_t hash;
	uint64_t *ip;
	unsigned int depth;
};

/**
 * struct grt_bpf_stack_epoch - places that were made free at one time
 * @before, @after: it was between these
 * @held: by place: which text was there, plus 1; 0: it was not made free then
 */
struct grt_bpf_stack_epoch {
	uint64_t before;
	uint64_t after;
	uint32_t *held;
};

/**
 * struct grt_bpf_stack_waiting - a program's stack whose frames are not written yet: of @text, the numbers of
 * @depth addresses from @first on
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
 * struct grt_bpf_stacks - set up by grt_bpf_stacks_init(), to be given to grt_bpf_stacks_fini()
 * @map: the kernel's table of the programs' stacks, with the first @kernels of @places
 * @walked: the table of those that the programs have walked, with the rest of them; -1: there is none
 * @base: the trace's ids begin behind it
 * @held: by place: which text is there, plus 1; 0: it has not been read. Of these there are @n_held
 * @epoch: a ring, of @epochs so far
 * @older: by place: what it held in epochs before those, up to @older_until, plus 1; 0: nothing;
 *	BPF_STACKS_VARIED: not always the same
 * @text: each once, @texts of them, with @bytes of addresses
 * @by_hash: open hash of @hash_room places: number of the text, plus 1
 * @seen: open hash of @room places: which texts have an id in which process
 * @waiting: @waits of them, of which the first @written are written; those before @until are being named, 0:
 *	none is
 * @number: of addresses of @symbols, @numbers of them
 * @paths: of object files and sources of frames; their numbers in the trace begin behind @base
 * @no_names: the frames get none
 * @nameless: frames for which there was no room there
 * @ends: stacks of programs' events, by enum grt_stack_end
 * @lost: events whose stack is unknown any more, or for which there was no room
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

/** grt_bpf_stacks_init - @map, @walked and @base as in the struct. Return: 0 or -ENOMEM */
int grt_bpf_stacks_init(struct grt_bpf_stacks *s, int map, int walked, uint32_t base);

/**
 * grt_bpf_stacks_look_up - a stack by its place, @map, @walked and @kernels as in the struct
 * @ip: gets its addresses, BPF_STACK_DEPTH at most; the rest is 0
 * Return: whether one is there
 */
bool grt_bpf_stacks_look_up(int map, int walked, uint32_t kernels, uint32_t place, uint64_t *ip,
			    unsigned int *depth);

/**
 * grt_bpf_stacks_see - gives an event with stacks the trace's ids, and writes frames of the kernel that are
 * new Return: 0 or -ENOMEM
 */
int grt_bpf_stacks_see(struct grt_bpf_stacks *s, struct grt_packer *p, unsigned int cpu, struct grt_event *e);

/**
 * grt_bpf_stacks_name - writes the programs' frames, a little further with each call
 * @time: of the records: not before any other one's
 * @ms: that it may wait
 * Return: 1 when they are all there, 0: not yet, or -ENOMEM
 */
int grt_bpf_stacks_name(struct grt_bpf_stacks *s, struct grt_packer *p, uint64_t time, int ms);

/** grt_bpf_stacks_unnamed - which of those have no name, so far */
void grt_bpf_stacks_unnamed(const struct grt_bpf_stacks *s, struct addresses_unnamed *unnamed);

/**
 * grt_bpf_stacks_make_room - frees the places of the table whose stacks have been read, when they are many:
 * two stacks with one place cannot both be in it
 */
void grt_bpf_stacks_make_room(struct grt_bpf_stacks *s);

/** grt_bpf_stacks_ends_text - how many stacks of programs' events ended why; @ends: GRT_BPF_STACK_ENDS of
 * them */
void grt_bpf_stacks_ends_text(const uint64_t *ends, char *text, size_t room);

/** grt_bpf_stacks_fini - frees what it holds */
void grt_bpf_stacks_fini(struct grt_bpf_stacks *s);

#endif /* GRTRACE_BPF_STACKS_H */
