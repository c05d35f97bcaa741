// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Walks the calling thread's stack, but only as far as it has changed since the last walk.
 *
 * A walk is a function of the registers at its beginning and of the words of the stack that it reads: saved
 * return addresses and, if a frame is found by it, the saved frame pointer. Each thread keeps its last walk
 * with these words. As soon as a new walk comes to a frame of the last one (same code address, same stack
 * pointer, same frame pointer if that matters further out), and all words from there outward are unchanged,
 * the rest of the walk is unchanged, too, and so are its nodes. Comparing the words of 50 frames costs about
 * as much as walking ten. The result is exact, because the words determine everything.
 *
 * Frames are stored with the outermost first, so that the common part stays in place. Python's frames are
 * not on the C stack: python.c reads them anew each time, and they are inserted where the interpreter's
 * frames are.
 *
 * A program launches from the same stacks again and again, but seldom twice in a row. So each thread also
 * keeps what some earlier walks read, with the node that they found: a walk that begins with the same
 * registers, and finds the same words and Python frames, has the same node.
 */
#include "unwind.h"

#include "python.h"
#include "rules.h"
#include "stack.h"
#include "tree.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define PYTHON_ITEMS (2 * GRT_UNWIND_MAX)
/* How far a walk may go, page by page, on a stack whose bounds are unknown. */
#define FOREIGN_MAX 4194304U
#define PAGE 4096U
/*
 * Bytes below the stack pointer: on x86-64, code that was interrupted after "leave" has its caller's rbp
 * there.
 */
#define RED_ZONE 128

/* The words of the last walk may now be in the red zones that AddressSanitizer puts between variables. */
#define READS_STACK __attribute__((no_sanitize("address")))

/* A frame of the last walk. */
struct frame {
	uint64_t pc; /* a byte of the instruction that is running */
	uint64_t sp;
	uint64_t fp;
	uint64_t word;	 /* the frame's word in the tree */
	uint32_t node;	 /* node of this frame, which includes its Python frames */
	uint16_t words;	 /* number of stack words up to and including this frame's */
	uint16_t python; /* number of Python items up to and including this frame's */
	bool fp_live;	 /* this frame or one further out is found by this frame pointer */
	bool linked;	 /* its return address is in a register, not on the stack */
	bool hidden;
};

/* A frame when it is found, the innermost first: its registers, and the rule that was applied to them. */
struct step {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t rule;
};

/* A small table of rules for each thread, because the common table does not fit into near caches. */
#define NEAR_RULES 512

struct near_rule {
	uint64_t key; /* as in struct grt_rule_slot */
	uint64_t rule;
};

/* A word of the stack on which the walk depends. */
struct read {
	const uint64_t *at;
	uint64_t value;
};

/*
 * Earlier walks: how many; the room for their words, in words; the most that one takes; and how many walks a
 * thread makes before it keeps any, so that one that launches seldom has no memory for them.
 */
#define PASTS 32
#define PAST_ROOM 2048
#define PAST_MOST (PAST_ROOM / 6)
#define PAST_AFTER 64

/**
 * struct past - an earlier walk. In the room are the values of the words that it read, then four to a word
 * how far above @sp they are, in words, then Python's frames
 * @fp_live: the walk depends on @fp
 * @node: 0: there is none
 */
struct past {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint32_t node;
	uint16_t at;
	uint16_t words;
	uint16_t python;
	bool fp_live;
};

struct grt_unwind_thread {
	bool busy;
	bool ready;
	uint32_t root;
	uint32_t frames;
	uint32_t nodes; /* number of frames whose node is known */
	uint32_t items; /* number of Python items */
	uint64_t epoch;
	uint64_t busy_sp;
	struct grt_stack home;
	uint32_t walks;	    /* up to PAST_AFTER */
	uint32_t past_last; /* the walk that was found last: in a loop, the one behind it comes next */
	uint32_t past_next; /* number of the walk that is kept next */
	uint32_t past_at;   /* the place in the room for its words */
	struct near_rule near[NEAR_RULES];
	struct frame frame[GRT_UNWIND_MAX];
	struct read read[4 * GRT_UNWIND_MAX];
	/*
	 * Python, the outermost first: the place of an entry of the interpreter, then its frames as words of
	 * the tree.
	 */
	uint64_t item[PYTHON_ITEMS];
	struct grt_pyframe known[PYTHON_ITEMS]; /* the frames of these items */
	struct grt_pyframe pyframe[PYTHON_ITEMS];
	struct step step[GRT_UNWIND_MAX];
	uint64_t past_key[PASTS]; /* of each earlier walk, see past_key() */
	struct past past[PASTS];
	uint64_t room[PAST_ROOM];
};

/* The state of one walk. */
struct walk {
	struct grt_unwind_thread *t;
	uint64_t generation;
	struct grt_stack stack;
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t link; /* register with the return address of a leaf function; 0: unknown */
	uint32_t steps;
	uint32_t followed; /* steps that led to a caller: all, or all but the last */
	int32_t match;	   /* the frame of the last walk at which this one arrived, -1: none */
	int32_t next;	   /* the next candidate for it */
	uint32_t root;
	bool home;	 /* the whole walk was on the thread's own stack */
	bool foreign;	 /* @stack grows with the walk, up to @limit */
	bool sp_unknown; /* the frame was found by a frame pointer alone */
	uint64_t limit;
};

static struct {
	_Atomic uint64_t roots[GRT_ROOT_COUNT];
	uint64_t python_looked; /* the state of the list of objects when it was last searched for an
				   interpreter */
	bool python;
} state;

static struct grt_tree tree;

static const char *const root_names[] = {
	NULL,
#define GRT_STACK_ROOT(NAME, text, END, meaning) text,
#include <grtrace/stack_roots.def>
#undef GRT_STACK_ROOT
};

const char *grt_root_name(uint32_t id)
{
	return id < GRT_ROOT_COUNT ? root_names[id] : NULL;
}

/* ------------------------------------------------------------ one step */

/* Extends a stack whose bounds are unknown up to the page before @end, if all of it can be read. */
static __attribute__((noinline)) bool unwind_extend(struct walk *w, uint64_t end)
{
	if (!w->foreign || end < w->sp + 8 || end > w->limit)
		return false;
	for (; w->stack.high < end; w->stack.high += PAGE)
		if (!grt_stack_readable(w->stack.high))
			return false;
	return true;
}

/* Begins on a stack whose bounds are unknown. The red zone may be on the previous page. */
static bool unwind_enter_foreign(struct walk *w, uint64_t sp)
{
	uint64_t page = sp & ~(uint64_t)(PAGE - 1), zone = (sp - RED_ZONE) & ~(uint64_t)(PAGE - 1);

	if (!grt_stack_readable(page))
		return false;
	w->foreign = true;
	w->limit = sp + FOREIGN_MAX;
	w->stack.low = zone != page && grt_stack_readable(zone) ? zone : page;
	w->stack.high = page + PAGE;
	return true;
}

static bool unwind_readable(struct walk *w, uint64_t address)
{
	if (address < w->sp || address & 7)
		return false;
	return (address < w->stack.high && w->stack.high - address >= 8) || unwind_extend(w, address + 8);
}

READS_STACK static uint64_t unwind_load(uint64_t address)
{
	return *(const uint64_t *)(uintptr_t)address;
}

static uint64_t unwind_address_of(const struct grt_cfi_place *p, uint64_t sp, uint64_t fp, uint64_t cfa)
{
	uint64_t base = p->base == GRT_CFI_SP ? sp : p->base == GRT_CFI_FP ? fp : cfa;

	return base + (uint64_t)(int64_t)p->offset;
}

/* The stack that was interrupted by a signal whose handler runs on its own stack. */
static bool unwind_enter_stack(struct walk *w, uint64_t sp)
{
	if (sp >= w->sp && (grt_stack_has(&w->stack, sp) || unwind_extend(w, sp + 8)))
		return true;
	w->home = false;
	if (!grt_stack_has(&w->t->home, sp))
		return unwind_enter_foreign(w, sp);
	w->foreign = false;
	w->stack = w->t->home;
	return true;
}

/* Reads a saved register; @what stays unchanged if the register was not saved. */
static bool unwind_read_saved(struct walk *w, const struct grt_cfi_place *p, uint64_t cfa, uint64_t *what)
{
	uint64_t at = unwind_address_of(p, w->sp, w->fp, cfa);

	if (!p->base)
		return true;
	if (p->deref || !unwind_readable(w, at))
		return false;
	*what = unwind_load(at);
	return true;
}

/* Return: whether the caller's part of the stack can begin at @cfa. */
static bool unwind_goes_out(struct walk *w, uint64_t cfa, bool linked)
{
	return (cfa > w->sp || (linked && cfa == w->sp)) && (cfa <= w->stack.high || unwind_extend(w, cfa));
}

/*
 * Applies rules other than "CFA = register + offset, the rest just below": 0, or the root if the stack ends.
 */
static uint32_t unwind_long_step(struct walk *w, const struct grt_cfi_rule *r)
{
	uint64_t cfa = unwind_address_of(&r->cfa, w->sp, w->fp, 0), ra = w->link, fp = w->fp, link = 0;

	if (r->cfa.deref) {
		if (!unwind_readable(w, cfa))
			return GRT_ROOT_BAD_STACK;
		cfa = unwind_load(cfa) + (uint64_t)(int64_t)r->cfa.after;
	}
	if (!unwind_read_saved(w, &r->ra, cfa, &ra) || !unwind_read_saved(w, &r->fp, cfa, &fp) ||
	    !unwind_read_saved(w, &r->link, cfa, &link) || (!r->ra.base && !ra))
		return GRT_ROOT_BAD_STACK;
	/* The stack is not aligned if a signal interrupted the instructions that align it. */
	if (r->signal ? !unwind_enter_stack(w, cfa) : !unwind_goes_out(w, cfa, !r->ra.base))
		return GRT_ROOT_BAD_STACK;
	w->pc = grt_arch_code(ra) - !r->signal;
	w->sp = cfa;
	w->fp = fp;
	w->link = link;
	return 0;
}

/*
 * A function that calls no other one, or that has not saved its return address yet, because it is at its
 * beginning or was interrupted.
 */
static __attribute__((noinline)) uint32_t unwind_linked_step(struct walk *w, uint64_t cfa, uint64_t saved)
{
	if (!w->link || !unwind_goes_out(w, cfa, true))
		return GRT_ROOT_BAD_STACK;
	if (saved) {
		if (cfa - saved < w->sp)
			return GRT_ROOT_BAD_STACK;
		w->fp = unwind_load(cfa - saved);
	}
	w->pc = grt_arch_code(w->link) - 1;
	w->sp = cfa;
	w->link = 0;
	return 0;
}

static inline uint32_t unwind_short_step(struct walk *w, uint64_t base, uint64_t rule)
{
	uint64_t cfa = base + 8 * GRT_RULE_WORDS(rule), saved = 8 * (uint64_t)GRT_RULE_FP_WORDS(rule);
	uint64_t ra = cfa - 8 * (uint64_t)GRT_RULE_RA_WORDS(rule);

	if (cfa & 7)
		return GRT_ROOT_BAD_STACK;
	if (ra == cfa)
		return unwind_linked_step(w, cfa, saved);
	if ((ra - w->sp >= w->stack.high - w->sp || cfa > w->stack.high) &&
	    (ra - w->sp >= cfa - w->sp || !unwind_extend(w, cfa)))
		return GRT_ROOT_BAD_STACK;
	if (saved) {
		if (cfa - saved < w->sp - RED_ZONE || cfa - saved < w->stack.low)
			return GRT_ROOT_BAD_STACK;
		w->fp = unwind_load(cfa - saved);
	}
	w->pc = grt_arch_code(unwind_load(ra)) - 1;
	w->sp = cfa;
	if (GRT_ARCH_LINKS)
		w->link = 0;
	return 0;
}

/* Code without a table, whose caller is looked for as if the code kept a frame pointer. */
static uint32_t unwind_frame_pointer_step(struct walk *w)
{
	uint64_t at = w->fp;

	if (!unwind_readable(w, at) || !unwind_readable(w, at + 8))
		return GRT_ROOT_NO_RULE;
	w->fp = unwind_load(at);
	w->pc = grt_arch_code(unwind_load(at + 8)) - 1;
	w->sp = at + 16;
	w->sp_unknown = GRT_ARCH_SP_UNKNOWN;
	w->link = 0;
	return 0;
}

static uint64_t unwind_rule_uncached(const struct walk *w, struct near_rule *near)
{
	uint64_t rule = grt_rules_find(w->pc, w->generation);

	if (!(rule & GRT_RULE_GUESSED)) {
		near->key = 0; /* there may be a signal handler in between that does not return */
		atomic_signal_fence(memory_order_seq_cst);
		near->rule = rule;
		atomic_signal_fence(memory_order_seq_cst);
		near->key = w->pc | w->generation << 48;
		return rule;
	}
	if (GRT_RULE_ROUND(rule) != atomic_load_explicit(&grt_rules.round, memory_order_relaxed))
		return grt_rules_work_out(w->pc, w->generation);
	return rule;
}

static inline uint64_t unwind_rule_at(const struct walk *w)
{
	struct near_rule *near = &w->t->near[(w->pc ^ w->pc >> 9) % NEAR_RULES];

	if (near->key == (w->pc | w->generation << 48))
		return near->rule;
	return unwind_rule_uncached(w, near);
}

static uint32_t unwind_follow(struct walk *w, uint64_t rule)
{
	unsigned int kind = GRT_RULE_KIND(rule);

	if (kind <= GRT_RULE_FP)
		return unwind_short_step(w, kind == GRT_RULE_SP ? w->sp : w->fp, rule);
	if (kind == GRT_RULE_LONG)
		return unwind_long_step(w, grt_rules_long(GRT_RULE_WORDS(rule)));
	if (kind == GRT_RULE_POINTER)
		return unwind_frame_pointer_step(w);
	if (kind == GRT_RULE_BEYOND)
		w->steps--;
	return kind == GRT_RULE_NONE ? GRT_ROOT_NO_RULE : GRT_ROOT_START;
}

/*
 * After a frame that was found by a frame pointer, the stack pointer may be unknown. A rule that uses the
 * stack pointer is then tried with the frame pointer, which makes the stack pointer known.
 */
static __attribute__((noinline)) uint64_t unwind_rule_without_sp(struct walk *w, uint64_t rule)
{
	unsigned int kind = GRT_RULE_KIND(rule);

	if (kind == GRT_RULE_SP ||
	    (kind == GRT_RULE_LONG && grt_rules_long(GRT_RULE_WORDS(rule))->cfa.base == GRT_CFI_SP))
		return (rule & ~GRT_RULE_OF_KIND) | GRT_RULE_POINTER | GRT_RULE_GUESSED;
	w->sp_unknown = false;
	return rule;
}

/* Stores the frame of the walk, and goes to its caller: 0, or the root if the stack ends. */
static inline uint32_t unwind_one_step(struct walk *w)
{
	uint64_t found = unwind_rule_at(w);
	uint64_t rule = GRT_ARCH_SP_UNKNOWN && w->sp_unknown ? unwind_rule_without_sp(w, found) : found;
	struct step *s = &w->t->step[w->steps++];
	uint32_t root;

	s->pc = w->pc;
	s->sp = w->sp;
	s->fp = w->fp;
	s->rule = rule;
	root = unwind_follow(w, rule);
	if (root)
		return root;
	w->followed = w->steps;
	if (w->pc - 4096 < GRT_FRAME_ADDRESS - 4096)
		return 0;
	/* Some C libraries end a thread's stack with a return to 0. */
	return w->pc + 1 <= 1 ? GRT_ROOT_START : GRT_ROOT_BAD_STACK;
}

/* ------------------------------------------------------ the last walk */

/* The highest of the first @count words that has changed; -1: none has. */
READS_STACK static int32_t unwind_changed_word(const struct grt_unwind_thread *t, uint32_t count)
{
	const struct read *r = t->read;
	uint32_t n = count;
	uint64_t differ;

	for (; n >= 4; n -= 4) {
		differ = (*r[n - 1].at ^ r[n - 1].value) | (*r[n - 2].at ^ r[n - 2].value) |
			 (*r[n - 3].at ^ r[n - 3].value) | (*r[n - 4].at ^ r[n - 4].value);
		if (differ)
			break;
	}
	while (n && *r[n - 1].at == r[n - 1].value)
		n--;
	return (int32_t)n - 1;
}

/* Return: whether the walk has arrived at a frame of the last walk with nothing changed further out. */
static bool unwind_on_known_path(struct walk *w)
{
	const struct grt_unwind_thread *t = w->t;
	const struct frame *f;
	int32_t changed;

	while (w->next >= 0 && t->frame[w->next].sp < w->sp)
		w->next--;
	if (w->next < 0)
		return false;
	f = &t->frame[w->next];
	if (f->sp != w->sp || f->pc != w->pc || (f->fp_live && f->fp != w->fp) ||
	    (GRT_ARCH_LINKS && f->linked))
		return false;
	changed = unwind_changed_word(t, f->words);
	if (changed < 0) {
		w->match = w->next;
		return true;
	}
	while (w->next >= 0 && (int32_t)t->frame[w->next].words > changed)
		w->next--;
	return false;
}

static void unwind_walk_stack(struct walk *w)
{
	do {
		if (unwind_on_known_path(w)) {
			w->root = w->t->root;
			return;
		}
		if (w->steps == GRT_UNWIND_MAX) {
			w->root = GRT_ROOT_TRUNCATED;
			return;
		}
		w->root = unwind_one_step(w);
	} while (!w->root);
}

/* The words that a step has read according to its rule. */
struct reads {
	uint64_t ra_at; /* 0: none, it was in a register */
	uint64_t fp_at; /* 0: none */
	uint64_t cfa_at;
	uint64_t link_at;
	bool fp_used; /* number of words to find them */
};

static void unwind_reads_of_long(const struct step *s, uint64_t cfa, struct reads *r)
{
	const struct grt_cfi_rule *rule = grt_rules_long(GRT_RULE_WORDS(s->rule));

	r->ra_at = rule->ra.base ? unwind_address_of(&rule->ra, s->sp, s->fp, cfa) : 0;
	r->fp_at = rule->fp.base ? unwind_address_of(&rule->fp, s->sp, s->fp, cfa) : 0;
	r->link_at = rule->link.base ? unwind_address_of(&rule->link, s->sp, s->fp, cfa) : 0;
	r->cfa_at = rule->cfa.deref ? unwind_address_of(&rule->cfa, s->sp, s->fp, 0) : 0;
	r->fp_used =
		rule->cfa.base == GRT_CFI_FP || rule->ra.base == GRT_CFI_FP || rule->fp.base == GRT_CFI_FP;
}

static inline void unwind_reads_of(const struct step *s, uint64_t cfa, struct reads *r)
{
	unsigned int kind = GRT_RULE_KIND(s->rule), words = GRT_RULE_FP_WORDS(s->rule);
	unsigned int ra_words = GRT_RULE_RA_WORDS(s->rule);

	r->cfa_at = r->link_at = 0;
	r->ra_at = ra_words ? cfa - 8 * (uint64_t)ra_words : 0;
	r->fp_at = words ? cfa - 8 * (uint64_t)words : 0;
	r->fp_used = kind != GRT_RULE_SP;
	if (kind == GRT_RULE_LONG) {
		unwind_reads_of_long(s, cfa, r);
	} else if (kind == GRT_RULE_POINTER) {
		r->ra_at = cfa - 8;
		r->fp_at = cfa - 16;
	}
}

READS_STACK static inline void unwind_note_word(struct read **end, uint64_t address)
{
	const uint64_t *at = (const uint64_t *)(uintptr_t)address;

	(*end)->at = at;
	(*end)->value = *at;
	++*end;
}

/*
 * Adds a frame to the memory, whose caller is in it already. @live: the caller depends on the frame pointer.
 * Words on which no frame further out depends are not stored.
 */
static inline void unwind_keep_frame(struct frame *f, const struct step *s, uint64_t cfa, bool live,
				     struct read **end)
{
	struct reads r;

	unwind_reads_of(s, cfa, &r);
	if (!GRT_ARCH_LINKS || r.ra_at)
		unwind_note_word(end, r.ra_at);
	if (r.cfa_at)
		unwind_note_word(end, r.cfa_at);
	if (GRT_ARCH_LINKS && r.link_at)
		unwind_note_word(end, r.link_at);
	if (r.fp_at && live)
		unwind_note_word(end, r.fp_at);
	f->fp_live = r.fp_used || (!r.fp_at && live);
	f->linked = !r.ra_at;
}

static uint64_t unwind_tree_word(uint64_t pc, uint64_t rule)
{
	return (pc + 1) | GRT_RULE_MODULE(rule) << GRT_FRAME_MODULE_SHIFT |
	       (rule & GRT_RULE_GUESSED ? GRT_FRAME_GUESSED : 0);
}

/* Adds the new frames to the common part. */
static void unwind_keep_frames(struct walk *w)
{
	struct grt_unwind_thread *t = w->t;
	uint32_t n = (uint32_t)(w->match + 1);
	struct read *end = t->read + (n ? t->frame[n - 1].words : 0);
	bool live = n && t->frame[n - 1].fp_live;
	uint64_t cfa = w->sp;

	if (t->nodes > n)
		t->nodes = n;
	for (uint32_t i = w->steps; i-- > 0;) {
		const struct step *s = &t->step[i];
		struct frame *f = &t->frame[n++];

		f->pc = s->pc;
		f->sp = s->sp;
		f->fp = s->fp;
		f->word = unwind_tree_word(s->pc, s->rule);
		f->hidden = s->rule & GRT_RULE_HIDDEN;
		f->fp_live = f->linked = false;
		if (i < w->followed)
			unwind_keep_frame(f, s, cfa, live, &end);
		f->words = (uint16_t)(end - t->read);
		live = f->fp_live;
		cfa = s->sp;
	}
	t->frames = n;
	t->root = w->root;
}

/* ---------------------------------------------------------------- Python */

/* The frame of the C stack that contains an address, searched inward from the first one. */
static uint32_t unwind_frame_with(const struct grt_unwind_thread *t, uint64_t address)
{
	uint32_t low = 0, high = t->frames, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (t->frame[middle].sp <= address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static uint64_t unwind_item_of(const struct grt_pyframe *f)
{
	return f->cstack ? f->cstack : GRT_FRAME_PYTHON | grt_python_intern(f);
}

static bool unwind_is_entry(uint64_t item)
{
	return !(item & GRT_FRAME_PYTHON);
}

static bool unwind_same(const struct grt_pyframe *a, const struct grt_pyframe *b)
{
	return a->cstack == b->cstack &&
	       (a->cstack || (a->code == b->code && a->instr == b->instr && a->print == b->print));
}

static uint32_t unwind_read_python(struct grt_unwind_thread *t, const struct grt_stack *stack)
{
	return state.python ? grt_python_frames(stack->low, stack->high, t->pyframe, PYTHON_ITEMS) : 0;
}

/*
 * Takes over the @n frames of Python that were read. If they differ from those of the last walk, nodes are
 * unknown from the native frame of the outermost difference inward.
 */
static void unwind_take_python(struct grt_unwind_thread *t, uint32_t n)
{
	uint32_t at = 0;
	uint64_t entry = 0, differs;

	while (at < n && at < t->items && unwind_same(&t->known[at], &t->pyframe[n - 1 - at])) {
		entry = t->known[at].cstack ? t->known[at].cstack : entry;
		at++;
	}
	if (at == n && at == t->items)
		return;
	differs = entry;
	if (at < t->items && unwind_is_entry(t->item[at]) && t->item[at] > differs)
		differs = t->item[at];
	t->items = n;
	for (uint32_t i = at; i < n; i++) {
		t->known[i] = t->pyframe[n - 1 - i];
		t->item[i] = unwind_item_of(&t->known[i]);
	}
	if (at < n && unwind_is_entry(t->item[at]) && (t->item[at] > differs || !differs))
		differs = t->item[at];
	at = differs ? unwind_frame_with(t, differs) : 0;
	if (t->nodes > at)
		t->nodes = at;
}

/* ----------------------------------------------------------------- nodes */

/*
 * Adds the Python frames of the interpreter's entries that are in the native frame @f; 0 if the tree is
 * full.
 */
static uint32_t unwind_python_nodes(struct grt_unwind_thread *t, const struct frame *f, uint32_t *at,
				    uint32_t node)
{
	while (*at < t->items && unwind_is_entry(t->item[*at]) && t->item[*at] >= f->sp) {
		++*at;
		for (; node && *at < t->items && !unwind_is_entry(t->item[*at]); ++*at)
			if (t->item[*at] != (GRT_FRAME_PYTHON | GRT_PYTHON_SKIP))
				node = grt_tree_child(&tree, node, t->item[*at]);
	}
	return node;
}

/* The node of the innermost frame that is not hidden. */
static uint32_t unwind_find_nodes(struct grt_unwind_thread *t)
{
	uint32_t shown = t->frames, n = t->nodes, before, node, python;

	while (shown && t->frame[shown - 1].hidden)
		shown--;
	if (n > shown)
		n = shown;
	node = n ? t->frame[n - 1].node : t->root;
	python = n ? t->frame[n - 1].python : 0;
	for (; n < shown; n++) {
		struct frame *f = &t->frame[n];

		before = node;
		node = unwind_python_nodes(t, f, &python, node);
		if (node == before)
			node = grt_tree_child(&tree, node, f->word);
		if (!node)
			break;
		f->node = node;
		f->python = (uint16_t)python;
	}
	t->nodes = n;
	return node ? node : GRT_ROOT_FULL;
}

/* ----------------------------------------------------------- earlier walks */

/*
 * A frame of Python in a word. Two frames have the same word by chance only, as two code objects have the
 * same fingerprint.
 */
static uint64_t past_python(const struct grt_pyframe *f)
{
	return f->cstack ? f->cstack : (uint64_t)(uintptr_t)f->instr ^ f->print * 0x9e3779b97f4a7c15ULL;
}

/* Earlier walks with this stack pointer and these frames of Python have this key: they are compared. */
static uint64_t past_key(const struct walk *w, uint32_t python)
{
	const struct grt_pyframe *f = w->t->pyframe;
	uint64_t key = w->sp * 0x9e3779b97f4a7c15ULL;

	for (uint32_t i = 0; i < python; i++)
		key = (key ^ (f[i].cstack ? f[i].cstack : (uint64_t)(uintptr_t)f[i].instr)) *
		      0xbf58476d1ce4e5b9ULL;
	return key;
}

/* The innermost word is compared first, because stacks differ there. */
READS_STACK static bool past_has_words(const struct grt_unwind_thread *t, const struct past *p)
{
	const uint64_t *value = t->room + p->at, *sp = (const uint64_t *)(uintptr_t)p->sp;
	const uint16_t *above = (const uint16_t *)(value + p->words);
	uint32_t n = p->words;

	for (; n >= 4; n -= 4)
		if ((sp[above[n - 1]] ^ value[n - 1]) | (sp[above[n - 2]] ^ value[n - 2]) |
		    (sp[above[n - 3]] ^ value[n - 3]) | (sp[above[n - 4]] ^ value[n - 4]))
			return false;
	while (n && sp[above[n - 1]] == value[n - 1])
		n--;
	return !n;
}

static bool past_is(const struct walk *w, const struct past *p, uint32_t python)
{
	const struct grt_unwind_thread *t = w->t;
	const uint64_t *frame = t->room + p->at + p->words + (p->words + 3) / 4;

	if (!p->node || p->pc != w->pc || p->sp != w->sp || (p->fp_live && p->fp != w->fp) ||
	    p->python != python || !past_has_words(t, p))
		return false;
	for (uint32_t i = 0; i < python; i++)
		if (frame[i] != past_python(&t->pyframe[i]))
			return false;
	return true;
}

/* Return: the node of an earlier walk that is the same as this one, or 0. */
static uint32_t past_find(const struct walk *w, uint64_t key, uint32_t python)
{
	struct grt_unwind_thread *t = w->t;
	uint32_t at = t->past_last;

	if (t->walks < PAST_AFTER)
		return 0;
	for (uint32_t i = 0; i < PASTS; i++) {
		at = (at + 1) % PASTS;
		if (t->past_key[at] != key || !past_is(w, &t->past[at], python))
			continue;
		t->past_last = at;
		return t->past[at].node;
	}
	return 0;
}

static void past_forget(struct grt_unwind_thread *t)
{
	for (uint32_t i = 0; i < PASTS && t->walks == PAST_AFTER; i++)
		t->past[i].node = 0;
	t->walks = 0;
}

/* Where the walk's words go; the walks whose words are there are forgotten. */
static uint32_t past_make_room(struct grt_unwind_thread *t, uint32_t words)
{
	uint32_t at = t->past_at + words <= PAST_ROOM ? t->past_at : 0, size;

	for (uint32_t i = 0; i < PASTS; i++) {
		const struct past *p = &t->past[i];

		size = p->words + (p->words + 3U) / 4 + p->python;
		if (p->node && p->at < at + words && at < p->at + size)
			t->past[i].node = 0;
	}
	t->past_at = at + words;
	return at;
}

/*
 * Stores what the walk that begins at @w has read. If a signal handler comes in between and does not return,
 * there is no such walk.
 */
static void past_keep(const struct walk *w, uint64_t key, uint32_t python, uint32_t node)
{
	struct grt_unwind_thread *t = w->t;
	const struct frame *inner = &t->frame[t->frames - 1];
	uint32_t words = inner->words, size = words + (words + 3) / 4 + python, i;
	struct past *p = &t->past[t->past_next % PASTS];
	uint64_t *value, above;
	uint16_t *place;

	if (size > PAST_MOST || inner->linked)
		return;
	for (i = 0; i < words; i++)
		if ((uint64_t)(uintptr_t)t->read[i].at - w->sp >= 8ULL * UINT16_MAX)
			return;
	p->node = 0;
	atomic_signal_fence(memory_order_seq_cst);
	p->at = (uint16_t)past_make_room(t, size);
	value = t->room + p->at;
	place = (uint16_t *)(value + words);
	for (i = 0; i < words; i++) {
		above = (uint64_t)(uintptr_t)t->read[i].at - w->sp;
		value[i] = t->read[i].value;
		place[i] = (uint16_t)(above / 8);
	}
	for (i = 0; i < python; i++)
		value[words + (words + 3) / 4 + i] = past_python(&t->pyframe[i]);
	p->pc = w->pc;
	p->sp = w->sp;
	p->fp = w->fp;
	p->fp_live = inner->fp_live;
	p->words = (uint16_t)words;
	p->python = (uint16_t)python;
	t->past_key[t->past_next % PASTS] = key;
	t->past_last = t->past_next++ % PASTS;
	atomic_signal_fence(memory_order_seq_cst);
	p->node = node;
}

/* -------------------------------------------------------------- the whole */

/* Finds the stack of the thread: its own, or another one with unknown bounds. */
static bool unwind_find_stack(struct walk *w)
{
	w->home = grt_stack_has(&w->t->home, w->sp);
	w->stack = w->t->home;
	return w->home || unwind_enter_foreign(w, w->sp);
}

static void unwind_forget(struct grt_unwind_thread *t)
{
	t->frames = t->nodes = t->items = 0;
}

/* A walk that a signal handler interrupts is lost only if the handler never returns. */
static bool unwind_nested(const struct grt_unwind_thread *t, uint64_t sp)
{
	return t->busy && !(grt_stack_has(&t->home, sp) && sp >= t->busy_sp);
}

static uint32_t unwind_run(struct walk *w)
{
	struct grt_unwind_thread *t = w->t;
	struct walk start = *w;
	uint32_t node, python = 0;
	bool home;
	uint64_t key = 0;

	if (!unwind_find_stack(w))
		return GRT_ROOT_FOREIGN;
	home = w->home;
	if (!home) {
		unwind_forget(t);
	} else {
		python = unwind_read_python(t, &w->stack);
		key = past_key(w, python);
		node = past_find(w, key, python);
		if (node)
			return node;
	}
	start = *w;
	w->next = (int32_t)t->frames - 1;
	unwind_walk_stack(w);
	if ((uint32_t)(w->match + 1) + w->steps >
	    GRT_UNWIND_MAX) { /* the stack is too deep now, so another part of it is cut off */
		unwind_forget(t);
		*w = start;
		w->next = -1;
		unwind_walk_stack(w);
	}
	unwind_keep_frames(w);
	if (!w->home)
		python = unwind_read_python(t, &w->stack);
	if (state.python)
		unwind_take_python(t, python);
	node = unwind_find_nodes(t);
	if (home && w->home && t->frames && t->root == GRT_ROOT_START && node != GRT_ROOT_FULL) {
		if (t->walks < PAST_AFTER)
			t->walks++;
		else
			past_keep(&start, key, python, node);
	}
	if (t->root != GRT_ROOT_START)
		atomic_fetch_add_explicit(&state.roots[t->root], 1, memory_order_relaxed);
	if (!w->home || t->root == GRT_ROOT_TRUNCATED)
		unwind_forget(t);
	return node;
}

/* A number that changes with the list of objects. */
static uint64_t unwind_epoch_now(void)
{
	return atomic_load_explicit(&grt_rules.generation, memory_order_relaxed) |
	       atomic_load_explicit(&grt_rules.round, memory_order_relaxed) << 16;
}

__attribute__((noinline)) uint32_t grt_unwind(struct grt_unwind_thread *t)
{
	struct walk w = {.t = t, .match = -1, .next = -1};
	uint64_t epoch;
	uint32_t node;

	GRT_ARCH_READ_REGISTERS(&w);
	if (unwind_nested(t, w.sp)) {
		atomic_fetch_add_explicit(&state.roots[GRT_ROOT_NESTED], 1, memory_order_relaxed);
		return GRT_ROOT_NESTED;
	}
	t->busy_sp = w.sp;
	t->busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	if (!t->ready) {
		t->home = grt_stack_of_thread();
		t->ready = true;
	}
	grt_rules_check();
	epoch = unwind_epoch_now();
	w.generation = epoch & 0xffff;
	if (epoch != t->epoch) {
		unwind_forget(t);
		past_forget(t);
	}
	t->epoch = epoch;
	node = unwind_run(&w);
	if (node == GRT_ROOT_FOREIGN || node == GRT_ROOT_FULL)
		atomic_fetch_add_explicit(&state.roots[node], 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	t->busy = false;
	return node;
}

/* ------------------------------------------------------------------ setup */

#define MAX_NODES (1U << 20)

int grt_unwind_init(uint32_t max_nodes, bool python)
{
	const struct grt_arch *here = GRT_ARCH_HERE;
	int err;

	if (!here)
		return -ENOSYS;
	grt_stack_init();
	err = grt_rules_init();
	err = err ? err : grt_tree_init(&tree, max_nodes ? max_nodes : MAX_NODES, GRT_ROOT_COUNT - 1);
	state.python = python && !err;
	if (state.python)
		grt_python_init();
	return err;
}

int grt_unwind_hide(const void *address)
{
	return grt_rules_hide(address);
}

struct grt_unwind_thread *grt_unwind_thread_new(void)
{
	void *t = mmap(NULL, sizeof(struct grt_unwind_thread), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return t == MAP_FAILED ? NULL : t;
}

void grt_unwind_thread_empty(struct grt_unwind_thread *t)
{
	if (madvise(t, sizeof(*t), MADV_DONTNEED))
		errno = 0;
}

void grt_unwind_thread_free(struct grt_unwind_thread *t)
{
	if (t)
		munmap(t, sizeof(*t));
}

/* Rules depend on the code only, and stay. */
void grt_unwind_thread_reset(struct grt_unwind_thread *t)
{
	unwind_forget(t);
	past_forget(t);
	t->busy = t->ready = false;
}

void grt_unwind_refresh(void)
{
	uint64_t seen;

	grt_rules_refresh();
	seen = unwind_epoch_now();
	/*
	 * The search for an interpreter goes through all objects, so it is only done when there are new
	 * ones.
	 */
	if (state.python && state.python_looked != seen)
		grt_python_init();
	state.python_looked = seen;
}

void grt_unwind_forked(void)
{
	grt_tree_forked(&tree);
}

uint32_t grt_unwind_nodes(void)
{
	return atomic_load_explicit(&tree.used, memory_order_acquire);
}

bool grt_unwind_node(uint32_t id, struct grt_unode *node)
{
	uint64_t frame;
	uint32_t parent;

	if (!grt_tree_get(&tree, id, &frame, &parent))
		return false;
	*node = (struct grt_unode){.id = id, .parent = parent, .kind = GRT_UNODE_NATIVE};
	if (id < GRT_ROOT_COUNT) {
		node->kind = GRT_UNODE_ROOT;
	} else if (frame & GRT_FRAME_PYTHON) {
		node->kind = GRT_UNODE_PYTHON;
		node->python = (uint32_t)frame;
	} else {
		node->guessed = frame & GRT_FRAME_GUESSED;
		node->module = (uint16_t)(frame >> GRT_FRAME_MODULE_SHIFT & GRT_RULE_MODULE_MAX);
		node->address = frame & GRT_FRAME_ADDRESS;
	}
	return true;
}

bool grt_unwind_module(unsigned int number, struct grt_umodule *module)
{
	return grt_rules_module(number, module);
}

void grt_unwind_stats(struct grt_unwind_stats *stats)
{
	uint64_t no_memory = 0;

	memset(stats, 0, sizeof(*stats));
	grt_rules_stats(stats);
	for (unsigned int i = 0; i < GRT_ROOT_COUNT; i++)
		stats->roots[i] = atomic_load(&state.roots[i]);
	stats->nodes = atomic_load(&tree.used);
	stats->python_texts = grt_python_texts(&no_memory);
	stats->no_memory += no_memory;
}
