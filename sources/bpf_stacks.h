/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPU stacks: the numbers that BPF programs give them become stack ids of the
 * trace, and each stack's frames are written at its first use, with names.
 */
#ifndef GRTRACE_BPF_STACKS_H
#define GRTRACE_BPF_STACKS_H

#include <grtrace/grtrace.h>

#include "core/packer.h"
#include "symbols.h"

/**
 * struct bpf_stacks - set up by bpf_stacks_init(), to be given to bpf_stacks_fini()
 * @map: the programs' table of stacks
 * @base: the trace's ids begin behind it
 * @seen: open hash of @room places: which stacks have an id
 */
struct bpf_stacks {
	int map;
	uint32_t base;
	struct symbols *symbols;
	struct {
		uint64_t key; /* pid << 32 | number, 0: free */
		uint32_t id;
	} * seen;
	uint32_t room;
	uint32_t used;
};

/** bpf_stacks_init - @map is the programs' table, @base as in the struct. Return: 0 or -ENOMEM */
int bpf_stacks_init(struct bpf_stacks *s, int map, uint32_t base);

/**
 * bpf_stacks_see - gives an event with stacks the trace's ids, and writes frames that are new
 * Return: 0 or -ENOMEM
 */
int bpf_stacks_see(struct bpf_stacks *s, struct grt_packer *p, unsigned int cpu, struct grt_event *e);

/** bpf_stacks_fini - frees what it holds */
void bpf_stacks_fini(struct bpf_stacks *s);

#endif /* GRTRACE_BPF_STACKS_H */
