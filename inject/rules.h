/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The unwind rule and the object file of every code address seen so far. A known
 * address costs one lookup in a table without locks; a new address
 * needs dl_iterate_phdr() and cfi.h.
 */
#ifndef GRT_INJECT_RULES_H
#define GRT_INJECT_RULES_H

#include "arch.h"
#include "cfi.h"
#include "unwind.h"

#include <stdatomic.h>

/*
 * A rule in a word. Nearly all are "CFA = register + offset, return address and frame pointer below it, or
 * not saved"; the other rules are in a table of long rules, and the word has their index instead of the
 * offset.
 *
 *	0..2	enum grt_rule_kind
 *	3	GRT_RULE_HIDDEN
 *	4	GRT_RULE_GUESSED: not from a table, looked up again after a dlopen()
 *	5..14	words from CFA down to the saved frame pointer, 0: not saved
 *	15..24	words from CFA down to the saved return address, 0: it is in its register
 *	25..47	words from the register to the CFA, or index; with GUESSED 9 bits of it
 *	34..47	with GUESSED: the round
 *	48..61	module
 */
enum grt_rule_kind {
	GRT_RULE_UNSET,
	GRT_RULE_SP,
	GRT_RULE_FP,
	GRT_RULE_LONG,
	GRT_RULE_END,	  /* the outermost frame */
	GRT_RULE_BEYOND,  /* no frame: the previous frame was the outermost */
	GRT_RULE_NONE,	  /* guessed: no table has the address */
	GRT_RULE_POINTER, /* guessed: no table has the address, but a frame pointer may lead on */
};

#define GRT_RULE_KIND(rule) ((unsigned int)((rule)&0x7))
/* The bits of the rule itself, without the properties of the address. */
#define GRT_RULE_OF_KIND (((1ULL << 48) - 1) & ~GRT_RULE_HIDDEN)
#define GRT_RULE_HIDDEN (1ULL << 3)
#define GRT_RULE_GUESSED (1ULL << 4)
#define GRT_RULE_SAVED_MAX 0x3ff
#define GRT_RULE_FP_SHIFT 5
#define GRT_RULE_FP_WORDS(rule) ((unsigned int)((rule) >> GRT_RULE_FP_SHIFT) & GRT_RULE_SAVED_MAX)
#define GRT_RULE_RA_SHIFT 15
#define GRT_RULE_RA_WORDS(rule) \
	(GRT_ARCH_LINKS ? (unsigned int)((rule) >> GRT_RULE_RA_SHIFT) & GRT_RULE_SAVED_MAX : 1U)
#define GRT_RULE_WORDS_SHIFT 25
#define GRT_RULE_WORDS_MAX 0x7fffff
#define GRT_RULE_WORDS(rule) \
	((uint64_t)((rule) >> GRT_RULE_WORDS_SHIFT) & ((rule)&GRT_RULE_GUESSED ? 0x1ff : GRT_RULE_WORDS_MAX))
#define GRT_RULE_ROUND(rule) ((uint64_t)((rule) >> 34) & 0x3fff)
#define GRT_RULE_MODULE(rule) ((uint64_t)((rule) >> 48) & 0x3fff)
#define GRT_RULE_MODULE_MAX 0x3fff

#define GRT_RULE_SLOTS (1U << 16)
#define GRT_RULE_PROBES 8

struct grt_rule_slot {
	_Atomic uint64_t key; /* address | generation << 48; 0 while it is written */
	_Atomic uint64_t rule;
};

struct grt_rules {
	struct grt_rule_slot *slot;
	/* Words of the dynamic linker, or our own, that change with each dlopen() and dlclose(). */
	const _Atomic uint64_t *adds;
	const _Atomic uint32_t *loaded;
	_Atomic uint64_t adds_seen;
	_Atomic uint32_t loaded_seen;
	_Atomic uint64_t generation; /* 1..0xffff, changes with each dlclose() */
	_Atomic uint64_t round;	     /* 0..0x3fff, changes with each dlopen() */
};

extern struct grt_rules grt_rules;

/** grt_rules_init - allocates the tables; 0 or -ENOMEM */
int grt_rules_init(void);

/** grt_rules_hide - marks an object, see grt_unwind_hide() */
int grt_rules_hide(const void *address);

/** grt_rules_changed - the list of objects may have changed */
void grt_rules_changed(void);

/**
 * grt_rules_refresh - grt_rules_changed(), and checks that the dynamic linker's words still work as expected
 */
void grt_rules_refresh(void);

/** grt_rules_work_out - computes the rule of an address that is not in the table, and adds it */
uint64_t grt_rules_work_out(uint64_t pc, uint64_t generation);

/** grt_rules_long - a long rule by its index */
const struct grt_cfi_rule *grt_rules_long(uint64_t index);

/** grt_rules_module - see grt_unwind_module() */
bool grt_rules_module(unsigned int number, struct grt_umodule *module);

/** grt_rules_stats - @rules, @no_memory, @modules, @exact_dlopen */
void grt_rules_stats(struct grt_unwind_stats *stats);

/** grt_rules_check - call this before a walk, which then uses the present generation */
static inline void grt_rules_check(void)
{
	struct grt_rules *r = &grt_rules;

	if (atomic_load_explicit(r->adds, memory_order_relaxed) !=
		    atomic_load_explicit(&r->adds_seen, memory_order_acquire) ||
	    atomic_load_explicit(r->loaded, memory_order_relaxed) !=
		    atomic_load_explicit(&r->loaded_seen, memory_order_acquire))
		grt_rules_changed();
}

static inline uint32_t grt_rules_hash(uint64_t pc)
{
	return (uint32_t)((pc * 0x9e3779b97f4a7c15ULL) >> 48) & (GRT_RULE_SLOTS - 1);
}

/** grt_rules_find - the rule of the instruction that has the byte @pc */
static inline uint64_t grt_rules_find(uint64_t pc, uint64_t generation)
{
	uint64_t key = pc | generation << 48, rule;
	uint32_t at = grt_rules_hash(pc);

	for (unsigned int i = 0; i < GRT_RULE_PROBES; i++) {
		struct grt_rule_slot *s = &grt_rules.slot[(at + i) & (GRT_RULE_SLOTS - 1)];

		if (atomic_load_explicit(&s->key, memory_order_acquire) != key)
			continue;
		rule = atomic_load_explicit(&s->rule, memory_order_acquire);
		/* Another thread may reuse a slot of an older generation between these two reads. */
		if (atomic_load_explicit(&s->key, memory_order_relaxed) == key)
			return rule;
	}
	return grt_rules_work_out(pc, generation);
}

#endif /* GRT_INJECT_RULES_H */
