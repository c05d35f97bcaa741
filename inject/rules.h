/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The unwind rule of every code address met so far, and the object file it is
 * in. A known address costs one look into a table without locks; a new one
 * goes through dl_iterate_phdr() and cfi.h.
 */
#ifndef GRT_INJECT_RULES_H
#define GRT_INJECT_RULES_H

#include "arch.h"
#include "cfi.h"
#include "unwind.h"

#include <stdatomic.h>

/*
 * A rule in a word. Nearly all are "CFA = register + offset, return address and
 * frame pointer below it, or not saved"; the others are in a table of long
 * rules, with their index in place of the offset.
 *
 *	0..2	enum grt_rule_kind
 *	3	GRT_RULE_HIDDEN
 *	4	GRT_RULE_GUESSED: not from a table, to be asked again after a dlopen()
 *	5..14	words from CFA down to where the frame pointer was saved, 0: it was not
 *	15..24	the same of the return address, 0: it is in its register
 *	25..47	words from the register to the CFA, or index; with GUESSED 9 bits of it, and the round
 *in 34..47 48..61	module
 */
enum grt_rule_kind {
	GRT_RULE_UNSET,
	GRT_RULE_SP,
	GRT_RULE_FP,
	GRT_RULE_LONG,
	GRT_RULE_END,	  /* the outermost frame */
	GRT_RULE_BEYOND,  /* no frame: the one before it was the outermost */
	GRT_RULE_NONE,	  /* guessed: no table has the address */
	GRT_RULE_POINTER, /* guessed: neither, but a frame pointer may lead on */
};

#define GRT_RULE_KIND(rule) ((unsigned int)((rule)&0x7))
/* All but what is known of the address with any rule. */
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
	/* Words of the dynamic linker that change with each dlopen() and dlclose(), or of ours. */
	const _Atomic uint64_t *adds;
	const _Atomic uint32_t *loaded;
	_Atomic uint64_t adds_seen;
	_Atomic uint32_t loaded_seen;
	_Atomic uint64_t generation; /* 1..0xffff, changes with each dlclose() */
	_Atomic uint64_t round;	     /* 0..0x3fff, changes with each dlopen() */
};

extern struct grt_rules grt_rules;

/** grt_rules_init - makes the tables; 0 or -ENOMEM */
int grt_rules_init(void);

/** grt_rules_hide - marks an object, see grt_unwind_hide() */
int grt_rules_hide(const void *address);

/** grt_rules_changed - the list of objects may be another one than before */
void grt_rules_changed(void);

/** grt_rules_refresh - the same, and sees whether the dynamic linker's words are still what they seem */
void grt_rules_refresh(void);

/** grt_rules_work_out - the rule of an address that the table does not have; enters it */
uint64_t grt_rules_work_out(uint64_t pc, uint64_t generation);

/** grt_rules_long - a long rule by its index */
const struct grt_cfi_rule *grt_rules_long(uint64_t index);

/** grt_rules_module - see grt_unwind_module() */
bool grt_rules_module(unsigned int number, struct grt_umodule *module);

/** grt_rules_stats - @rules, @no_memory, @modules, @exact_dlopen */
void grt_rules_stats(struct grt_unwind_stats *stats);

/** grt_rules_check - to be called before a walk, which is of the generation that holds then */
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
		/* A slot of an older generation may be taken over between the two. */
		if (atomic_load_explicit(&s->key, memory_order_relaxed) == key)
			return rule;
	}
	return grt_rules_work_out(pc, generation);
}

#endif /* GRT_INJECT_RULES_H */
