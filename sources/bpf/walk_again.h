/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recognises a stack that was walked before. A walk depends on the registers with which it begins, on the
 * tables, and on the words of memory that it reads. If all of these are unchanged, so are all frames, and
 * nothing else needs to be read. Each word is read and compared; no hash decides.
 *
 * Walks are not remembered if memory could not be read, code has no mapping, there are frames of Python or
 * unaligned words, or there is not enough room.
 */
#ifndef GRTRACE_BPF_WALK_AGAIN_H
#define GRTRACE_BPF_WALK_AGAIN_H

#include "common.h"
#include "unwind_rows.h"

/* Walks that a CPU remembers, by hash of where they begin; those of interrupts seldom come again. */
#define AGAIN_BITS 4

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1 << AGAIN_BITS);
	__type(key, __u32);
	__type(value, struct walk_again);
} walks_again SEC(".maps");

static __always_inline void begin_again(struct walk *w, const struct unwind_process *p, __u64 pc, __u64 sp,
					__u64 rbp)
{
	struct walk_again *a = &w->again;

	a->pc = pc;
	a->sp = sp;
	a->rbp = rbp;
	a->version = p->version;
	a->entered = w->entered;
	a->needs_rbp = a->words = 0;
}

static __always_inline struct walk_again *again_at(const struct walk *w)
{
	__u32 place = (w->again.pc ^ w->again.sp) * HASH_FACTOR >> (64 - AGAIN_BITS);

	return bpf_map_lookup_elem(&walks_again, &place);
}

/* Whether words of memory, of those from @at on, are not as the remembered walk at WALK_PLAIN has them. A
 * call takes longer than it takes to compare a word. Global, as walk_step() is. */
__noinline int words_differ(__u32 at)
{
	const struct walk_word *known;
	const struct walk_again *a;
	__u64 word, differs = 0;
	__u32 level = WALK_PLAIN;
	struct walk *w;

	/* the verifier checks it also if it is never called */
	if (!(config.stacks & BPF_STACK_TABLES))
		return 1;
	w = bpf_map_lookup_elem(&walks, &level);
	a = w ? again_at(w) : 0;
	if (!a)
		return 1;
	/* the verifier does not see the bound that the compiler knows */
	asm volatile("" : "+r"(at));
	known = &a->read[at & (AGAIN_WORDS - 1)];
	asm volatile("" : "+r"(known));
#pragma unroll
	for (__u32 n = 0; n < AGAIN_AT_A_TIME; n++, known++) {
		if (read_aligned(w, &word, known->at))
			word = ~known->word;
		differs |= word ^ known->word;
		/* one after the other: there is little room for what would be loaded beforehand */
		asm volatile("" : "+r"(known), "+r"(differs) : : "memory");
	}
	return differs != 0;
}

static __always_inline int all_words_same(const struct walk_again *a)
{
#pragma clang loop unroll(disable)
	for (__u32 at = 0; at < AGAIN_WORDS; at += AGAIN_AT_A_TIME) {
		if (at >= a->words)
			break;
		if (words_differ(at))
			return 0;
	}
	return 1;
}

/* The place of its stack in the table, plus 1; 0: it must be walked. */
static __noinline __u32 find_again(struct walk *w)
{
	struct walk_again *a = w && w->level == WALK_PLAIN ? again_at(w) : 0;
	const struct walked *s;
	__u32 place;

	if (!a || !a->place || a->pc != w->again.pc || a->sp != w->again.sp ||
	    a->version != w->again.version || a->entered != w->again.entered)
		return 0;
	if (a->needs_rbp && a->rbp != w->again.rbp)
		return 0;
	if (MACHINE_LINKS && a->link != w->again.link)
		return 0;
	if (!all_words_same(a))
		return 0;
	/* user space takes stacks out of the table */
	place = a->place - 1;
	s = bpf_map_lookup_elem(&walked, &place);
	if (!s || s->hash != a->hash || s->depth != a->depth)
		return 0;
	w->why = a->why;
	w->stale = 0;
	return place + 1;
}

/* The walk is over, and its stack is at @place. */
static __noinline int keep_again(struct walk *w, __u32 place)
{
	struct walk_again *a;
	__u64 n, size;

	if (!w || w->level != WALK_PLAIN || w->stale || w->python.state != PYTHON_UNKNOWN ||
	    (w->why != GRT_STACK_END_ENTRY && w->why != GRT_STACK_END_CUT))
		return 0;
	/* the verifier does not see the bounds that the compiler knows */
	n = w->again.words;
	asm volatile("" : "+r"(n));
	if (!n || n > AGAIN_WORDS)
		return 0;
	w->again.place = place;
	w->again.why = w->why;
	w->again.hash = w->out.hash;
	w->again.depth = w->out.depth;
#pragma unroll
	for (__u32 i = 0; i < AGAIN_AT_A_TIME - 1; i++)
		w->again.read[n + i] = w->again.read[n - 1];
	size = offsetof(struct walk_again, read) + (n + AGAIN_AT_A_TIME - 1) * sizeof(w->again.read[0]);
	asm volatile("" : "+r"(size));
	a = again_at(w);
	if (a && size <= sizeof(*a))
		bpf_probe_read_kernel(a, size, &w->again);
	return 0;
}

#endif /* GRTRACE_BPF_WALK_AGAIN_H */
