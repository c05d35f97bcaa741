/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the stack of the running thread's program by unwind tables, which the
 * loader builds (bpf_tables.c); where code has none, by frame pointers.
 *
 * The loop is a bounded one, of calls of a global function: the verifier looks at
 * that once, and not again at each turn, also where there is no bpf_loop() (before
 * Linux 5.17).
 */
#ifndef GRTRACE_BPF_WALK_H
#define GRTRACE_BPF_WALK_H

#include "common.h"
#include "unwind_rows.h"

/* Programs of the perf_event kind interrupt the others of their CPU. */
#define WALK_PLAIN 0U
#define WALK_INTERRUPT 1U
#define WALK_LEVEL(how) ((how)&1U)
/* The innermost function has just been entered: its return address is where the call left it, with or without
 * table. */
#define WALK_ENTERED 2U
#if MACHINE_LINKS
#define ENTERED_RULE ROW_RSP
#else
#define ENTERED_RULE (ROW_RSP | 1U << ROW_RA_SHIFT | 1U << ROW_WORDS_SHIFT)
#endif

#define ASK_AGAIN_NS 20000000ULL
#define HASH_FACTOR 0x9e3779b97f4a7c15ULL

/* Frames whose rule is remembered, because most stacks resemble others before them. */
#define SEEN_BITS 10
#define SEEN (1U << SEEN_BITS)

/* Native frames, entries of the interpreter and states of threads. */
#define STEPS_MAX 2048U

/* Words of the stack that are read at once, in one page; in no walk they are those at NO_WORDS. */
#define WORDS 128U
#define NO_WORDS (1ULL << 63)

/* struct walk.rbp_at, where it is no address */
#define RBP_READ 0U  /* it is in struct walk.rbp */
#define RBP_FIRST 1U /* the same, and it is that of the walk's beginning */

/* Words that a walk depends on: where it depends on more, it is not remembered. */
#define AGAIN_WORDS 128U
/* Words are compared this many at a time; after the last one, it is repeated. */
#define AGAIN_AT_A_TIME 8U

struct walk_word {
	__u64 at;
	__u64 word;
};

/**
 * struct walk_again - a walk: what it depended on, and its result; see walk_again.h
 * @pc, @sp, @rbp, @link, @entered: its beginning; @rbp only with @needs_rbp
 * @version: of the process's mappings
 * @hash, @depth, @place, @why: its result; @place is counted from 1
 * @words: words of memory that it read
 */
struct walk_again {
	__u64 pc;
	__u64 sp;
	__u64 rbp;
	__u64 link;
	__u64 hash;
	__u32 version;
	__u32 entered;
	__u32 needs_rbp;
	__u32 depth;
	__u32 place;
	__u32 why;
	__u32 words;
	__u32 pad;
	struct walk_word read[AGAIN_WORDS + AGAIN_AT_A_TIME];
};

/** struct walk_seen - the rule at @pc, and its mapping @at, in a process as it was written with @version */
struct walk_seen {
	__u64 pc;
	__u32 version;
	__u32 rule;
	__u32 at;
	__u32 pad;
};

/* struct python.does */
#define PYTHON_NOTHING 0U
#define PYTHON_BEGINS 1U
#define PYTHON_SEARCHES 2U /* the running thread's state, among all threads' */
#define PYTHON_WALKS 3U

/* struct python.state */
#define PYTHON_UNKNOWN 0U
#define PYTHON_HERE 1U
#define PYTHON_ABSENT 2U

#define PYTHON_PRINT 5

/* Code objects that a CPU remembers, by hash of their address. */
#define PYTHON_SEEN_BITS 9

/**
 * struct python_seen - a code object of a process, and enough of its contents to distinguish it from others
 */
struct python_seen {
	__u64 image;
	__u64 code;
	__u64 print[PYTHON_PRINT];
};

#define PYTHON_FRAME_WORDS 128U
#define PYTHON_CODE_WORDS 32U

/* Code objects that a walk remembers, by hash of their address. */
#define PYTHON_MET_BITS 4

/** struct python_met - a code object that the walk @seq has read. No other one can come to its address
 * meanwhile: the frames of the thread that is walked hold it. */
struct python_met {
	__u64 code;
	__u64 seq;
	__u64 place;
};

/**
 * struct python - frames of CPython, on their way; what programs would have on their stack is here, too
 * @frame, @cframe: the next one; of 3.11 and 3.12 also the _PyCFrame that it is of
 * @was_frame, @was_cframe, @depth, @hash: as they were before the entry of the interpreter that is being
 * walked
 * @interpreter, @tstate, @thread: of the search, for the thread @tid of the process @image
 * @length, @text: of a str or of bytes, and the state of a str
 * @pc, @low, @high: native frame of the entry, and where it lies on the stack
 * @word: from @words_at on; the frame's begin with @from
 * @code: of a code object, which is @now, at @place
 * @met: those of this walk so far
 */
struct python {
	__u64 frame;
	__u64 cframe;
	__u64 was_frame;
	__u64 was_cframe;
	__u64 hash;
	__u64 interpreter;
	__u64 thread;
	__u64 image;
	__u64 tstate;
	__u64 length;
	__u64 words_at;
	__u64 pc;
	__u64 low;
	__u64 high;
	__u32 depth;
	__u32 does;
	__u32 state;
	__u32 text;
	__u32 place;
	__u32 from;
	__u32 tid;
	__u32 pad;
	struct python_seen now;
	__u64 word[PYTHON_FRAME_WORDS];
	__u64 code[PYTHON_CODE_WORDS];
	struct python_met met[1 << PYTHON_MET_BITS];
};

/**
 * struct walk - one on its way
 * @out: what is found
 * @seq: changes with each walk
 * @rbp_at: where the caller's rbp is, or RBP_*: most walks need few of them
 * @link: the register that has the return address of a function that calls none; 0: unknown
 * @lost_sp: the frame was found by a frame pointer, which does not say where its part of the stack begins
 * @at: the mapping of the last frame
 * @exact: the instruction at @pc is the frame's; else it stands behind a call
 * @entered: the next frame is a function that has just been entered
 * @why: it ended
 * @lacks: code without table on the way, and why it has none: it may have led astray
 * @stale: what is mapped has changed
 * @word: of the stack, that was read alone
 * @words: of the stack, from @words_at on
 * @again: how this walk goes
 * @python: its frames
 * @seen: by hash of the address; stays from walk to walk
 * @level: WALK_LEVEL
 * @slot: of the process in unwind_slots
 * @number: of a long rule; keys of tables are here, too, since there is little stack
 */
struct walk {
	struct walked out;
	__u64 pc;
	__u64 sp;
	__u64 rbp;
	__u64 rbp_at;
	__u64 link;
	__u64 seq;
	__u32 lost_sp;
	__u32 pad;
	__u32 at;
	__u32 exact;
	__u32 entered;
	__u32 why;
	__u32 busy;
	__u32 stale;
	__u32 lacks;
	__u32 level;
	__u32 slot;
	__u32 number;
	__u64 word;
	__u64 words_at;
	__u64 words[WORDS];
	struct walk_again again;
	struct python python;
	struct walk_seen seen[SEEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct walk);
} walks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STACKS_MAX);
	__type(key, __u32);
	__type(value, struct walked);
} walked SEC(".maps");

struct shard {
	__u64 row[SHARD_ROWS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, SHARDS_MAX);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_MMAPABLE);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, sizeof(struct shard));
		});
} unwind_shards SEC(".maps");

/*
 * By process: its place in unwind_slots. A place keeps its contents for a while after the process got another
 * one.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_PROCESSES);
	__type(key, __u32);
	__type(value, __u32);
} unwind_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_PROCESSES);
	__type(key, __u32);
	__type(value, struct unwind_process);
} unwind_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LONG_RULES_MAX);
	__type(key, __u32);
	__type(value, struct unwind_long);
} unwind_longs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} unwind_asks SEC(".maps");

/* By process: when the loader was last asked for it. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, __u64);
} unwind_asked SEC(".maps");

/* ------------------------------------------------------------- the process */

/* Another program in the same process has another address space, at other addresses; @task: the running one
 */
static __always_inline __u64 walk_image(struct task_struct *task)
{
	struct mm_struct *mm = MINE(task, mm);

	return (__u64)BPF_CORE_READ(task, mm) ^ MINE(mm, start_stack) << 16;
}

/* @task: the running one */
static __always_inline __u64 walk_code_pages(struct task_struct *task)
{
	struct mm_struct *mm = MINE(task, mm);

	return MINE(mm, exec_vm);
}

static __always_inline void walk_ask(struct task_struct *task, __u32 pid)
{
	__u64 now = bpf_ktime_get_ns(), *last = bpf_map_lookup_elem(&unwind_asked, &pid);
	struct unwind_ask *ask;

	if (last && now - *last < ASK_AGAIN_NS)
		return;
	bpf_map_update_elem(&unwind_asked, &pid, &now, BPF_ANY);
	ask = bpf_ringbuf_reserve(&unwind_asks, sizeof(*ask), 0);
	if (!ask)
		return;
	ask->image = walk_image(task);
	ask->code_pages = walk_code_pages(task);
	ask->pid = pid;
	ask->number = config.pid_ns ? number_of(BPF_CORE_READ(task, group_leader)) : pid;
	bpf_ringbuf_submit(ask, BPF_RB_FORCE_WAKEUP);
}

/* ------------------------------------------------------------- searching */

/* 1 where @value is at most @limit, without a jump: searches do not make more paths for the verifier. */
static __always_inline __u32 at_most(__u64 value, __u64 limit)
{
	__u64 less = limit - value;

	asm volatile("" : "+r"(less));
	return 1 - (__u32)(less >> 63);
}

/* Places in front of the one that is found are halved so often that one is left. All halves at once would not
 * be kept in registers, but on the stack, of which there is little. */
#define SEARCH(base, n, row_at, limit, steps)                 \
	for (int step = 0; step < (steps); step++) {          \
		__u32 half = (n) / 2;                         \
		asm volatile("" : "+r"(n));                   \
		__u32 middle = (base) + half;                 \
                                                              \
		(base) += half & -at_most((row_at), (limit)); \
		(n) -= half;                                  \
	}

static __always_inline int is_in(const struct unwind_process *p, __u32 at, __u64 pc)
{
	at &= UNWIND_MAPPINGS - 1;
	return pc >= p->start[at] && pc < p->mapping[at].end;
}

/* The mapping of an address. Return: whether there is one */
static __always_inline int find_mapping(struct walk *w, const struct unwind_process *p, __u64 pc)
{
	__u32 base = 0, n = p->n;

	if (is_in(p, w->at, pc))
		return 1;
#pragma unroll
	SEARCH(base, n, p->start[middle & (UNWIND_MAPPINGS - 1)], pc, 10)
	w->at = base;
	return is_in(p, base, pc);
}

static __always_inline __u32 find_rule(const struct unwind_mapping *m, __u64 pc)
{
	__u64 address = pc - m->base, limit = address << 32 | 0xffffffff, row;
	__u32 base = m->first, n = m->rows, zero = 0;
	struct shard *s;
	void *inner;

	if (!n || address >> 31)
		return ROW_NONE;
	inner = bpf_map_lookup_elem(&unwind_shards, &m->shard);
	s = inner ? bpf_map_lookup_elem(inner, &zero) : 0;
	if (!s)
		return ROW_NONE;
#pragma unroll
	SEARCH(base, n, s->row[middle & (SHARD_ROWS - 1)], limit, SHARD_BITS + 1)
	row = s->row[base & (SHARD_ROWS - 1)];
	return row <= limit ? (__u32)row : ROW_NONE;
}

/* ------------------------------------------------------------- a step */

/* Words of the stack are read together: those of most frames are close to each other. */
static __always_inline int read_aligned(struct walk *w, __u64 *to, __u64 at)
{
	__u64 word = at - w->words_at;

	if (word >= sizeof(w->words)) {
		w->words_at = at & ~(sizeof(w->words) - 1);
		if (bpf_probe_read_user(w->words, sizeof(w->words), (void *)w->words_at)) {
			w->words_at = NO_WORDS;
			return -1;
		}
		word = at - w->words_at;
	}
	/* the verifier does not see the bound that the compiler knows */
	word /= 8;
	asm volatile("" : "+r"(word));
	*to = w->words[word & (WORDS - 1)];
	return 0;
}

static __always_inline int read_word(struct walk *w, __u64 *to, __u64 at)
{
	int failed;

	if (!(at & 7))
		return read_aligned(w, to, at);
	failed = bpf_probe_read_user(&w->word, sizeof(w->word), (void *)at);
	*to = w->word;
	return failed;
}

/* A word that the walk depends on. */
static __always_inline int take_word(struct walk *w, __u64 *to, __u64 at)
{
	__u64 i = w->again.words;
	struct walk_word *read;

	if (read_word(w, to, at))
		return -1;
	w->again.words = at & 7 ? AGAIN_WORDS + 1 : i + 1;
	if (i >= AGAIN_WORDS)
		return 0;
	/* the verifier of old kernels does not see the bound of what lies on the stack */
	asm volatile("" : "+r"(i));
	read = &w->again.read[i & (AGAIN_WORDS - 1)];
	asm volatile("" : "+r"(read));
	read->at = at;
	read->word = *to;
	return 0;
}

static __always_inline int take_rbp(struct walk *w, __u64 *rbp)
{
	if (w->rbp_at == RBP_FIRST) {
		w->again.needs_rbp = 1;
	} else if (w->rbp_at != RBP_READ) {
		if (take_word(w, &w->rbp, w->rbp_at))
			return -1;
		w->rbp_at = RBP_READ;
	}
	*rbp = w->rbp;
	return 0;
}

static __always_inline int end_walk(struct walk *w, __u32 why)
{
	w->why = why;
	return 1;
}

/* Goes to the caller, whose stack begins at @cfa; @rbp_at: where its rbp is, or 0: it is this function's. */
static __always_inline int go_to(struct walk *w, __u64 pc, __u64 cfa, __u64 rbp_at, int interrupted)
{
	if (pc + 1 <= 1)
		return end_walk(w, GRT_STACK_END_ENTRY);
	if (!interrupted && cfa <= w->sp && !(MACHINE_LINKS && cfa == w->sp))
		return end_walk(w, GRT_STACK_END_UNREADABLE);
	w->pc = CODE_ADDRESS(pc);
	w->sp = cfa;
	if (MACHINE_LINKS)
		w->link = w->lost_sp = 0;
	w->exact = interrupted;
	if (rbp_at)
		w->rbp_at = rbp_at;
	return 0;
}

/* The return address, @words below the CFA; 0: it is in its register. */
static __always_inline int take_return(struct walk *w, __u64 *pc, __u64 cfa, __u32 words)
{
	if (MACHINE_LINKS && !words) {
		*pc = w->link;
		return w->link ? 0 : -1;
	}
	return take_word(w, pc, cfa - 8 * (__u64)words);
}

static __always_inline int short_step(struct walk *w, __u32 rule)
{
	__u64 cfa = w->sp, pc;

	if (ROW_KIND(rule) != ROW_RSP && take_rbp(w, &cfa))
		return end_walk(w, GRT_STACK_END_UNREADABLE);
	cfa += 8 * (__u64)ROW_WORDS(rule);
	if (take_return(w, &pc, cfa, ROW_RA_WORDS(rule)))
		return end_walk(w, GRT_STACK_END_UNREADABLE);
	return go_to(w, pc, cfa, ROW_RBP_WORDS(rule) ? cfa - 8 * (__u64)ROW_RBP_WORDS(rule) : 0,
		     rule & ROW_SIGNAL);
}

static __always_inline int find_place(struct walk *w, const struct unwind_place *p, __u64 cfa, __u64 *at)
{
	*at = p->base == LONG_RSP ? w->sp : cfa;
	if (p->base == LONG_RBP && take_rbp(w, at))
		return -1;
	*at += (__s64)p->offset;
	if (!p->deref)
		return 0;
	if (take_word(w, at, *at))
		return -1;
	*at += (__s64)p->after;
	return 0;
}

static __always_inline int long_step(struct walk *w, __u32 rule)
{
	__u64 cfa, pc, at, rbp_at = 0, link = 0;
	const struct unwind_long *l;

	w->number = ROW_WORDS(rule);
	l = bpf_map_lookup_elem(&unwind_longs, &w->number);
	if (!l)
		return end_walk(w, GRT_STACK_END_NO_TABLE);
	if (find_place(w, &l->cfa, 0, &cfa))
		return end_walk(w, GRT_STACK_END_UNREADABLE);
	if (MACHINE_LINKS && l->ra.base == LONG_NONE
		    ? take_return(w, &pc, cfa, 0)
		    : find_place(w, &l->ra, cfa, &at) || take_word(w, &pc, at))
		return end_walk(w, GRT_STACK_END_UNREADABLE);
	if (MACHINE_LINKS && l->link.base != LONG_NONE &&
	    (find_place(w, &l->link, cfa, &at) || take_word(w, &link, at)))
		return end_walk(w, GRT_STACK_END_UNREADABLE);
	if (l->rbp.base != LONG_NONE && find_place(w, &l->rbp, cfa, &rbp_at))
		return end_walk(w, GRT_STACK_END_UNREADABLE);
	if (go_to(w, pc, cfa, rbp_at, rule & ROW_SIGNAL))
		return 1;
	if (MACHINE_LINKS)
		w->link = link;
	return 0;
}

/*
 * Code without rules keeps its frame by rbp, or cannot be walked; the outermost frame has 0 there by the ABI.
 */
static __always_inline int frame_pointer_step(struct walk *w, __u32 why)
{
	__u64 pc, rbp;

	if (take_rbp(w, &rbp))
		return end_walk(w, why);
	if (!rbp && why == GRT_STACK_END_NO_TABLE && !w->stale)
		return end_walk(w, GRT_STACK_END_ENTRY);
	if (rbp < w->sp || rbp & 7 || take_word(w, &pc, rbp + 8))
		return end_walk(w, why);
	if (go_to(w, pc, rbp + 16, rbp, 0))
		return 1;
	if (MACHINE_LINKS)
		w->lost_sp = 1;
	return 0;
}

static __always_inline void note_word(struct walk *w, __u64 word)
{
	__u64 hash = w->out.hash ^ word;

	w->out.ip[w->out.depth & 127] = word;
	w->out.depth++;
	w->out.hash = hash * HASH_FACTOR ^ hash >> 29;
}

static __always_inline void note_frame(struct walk *w)
{
	note_word(w, w->pc);
}

#include "python.h"
#include "walk_again.h"

/* The rule of an address, and its mapping as @w->at. Return: whether it is in one */
static __always_inline int find_seen(struct walk *w, const struct unwind_process *p, __u64 pc, __u32 *rule)
{
	struct walk_seen *seen = &w->seen[pc * HASH_FACTOR >> (64 - SEEN_BITS)];

	if (seen->pc == pc && seen->version == p->version) {
		w->at = seen->at;
		*rule = seen->rule;
		return 1;
	}
	if (!find_mapping(w, p, pc))
		return 0;
	*rule = find_rule(&p->mapping[w->at & (UNWIND_MAPPINGS - 1)], pc);
	*seen = (struct walk_seen){pc, p->version, *rule, w->at, 0};
	return 1;
}

/* Whether a rule finds a frame by the stack pointer, and that is unknown: then the frame pointer does it. */
static __always_inline int needs_lost_sp(struct walk *w, __u32 rule)
{
	__u32 kind = ROW_KIND(rule);
	const struct unwind_long *l;

	if (!MACHINE_LINKS || !w->lost_sp || kind == ROW_RBP || kind == ROW_END)
		return 0;
	if (kind != ROW_LONG)
		return 1;
	w->number = ROW_WORDS(rule);
	l = bpf_map_lookup_elem(&unwind_longs, &w->number);
	return !l || l->cfa.base == LONG_RSP;
}

/* Return: whether the walk is over */
static __always_inline int one_frame(struct walk *w, const struct unwind_process *p)
{
	__u64 pc = w->pc - !w->exact;
	const struct unwind_mapping *m;
	__u32 rule, kind;

	if (w->python.does)
		return python_step(w, p);
	if (w->entered) {
		w->entered = 0;
		note_frame(w);
		return short_step(w, ENTERED_RULE);
	}
	if (!find_seen(w, p, pc, &rule)) {
		/* where no code is, the last step led astray, or it is new */
		w->stale = 1;
		if (w->out.depth)
			return end_walk(w, w->lacks ? w->lacks : GRT_STACK_END_NO_TABLE);
		note_frame(w);
		return frame_pointer_step(w, GRT_STACK_END_NO_TABLE);
	}
	if (w->out.depth >= BPF_STACK_DEPTH)
		return end_walk(w, GRT_STACK_END_CUT);
	python_see(w, p, pc);
	note_frame(w);
	m = &p->mapping[w->at & (UNWIND_MAPPINGS - 1)];
	kind = needs_lost_sp(w, rule) ? ROW_NONE : ROW_KIND(rule);
	if (kind == ROW_RSP || kind == ROW_RBP)
		return short_step(w, rule);
	if (kind == ROW_LONG)
		return long_step(w, rule);
	if (kind == ROW_END)
		return end_walk(w, GRT_STACK_END_ENTRY);
	if (m->why != GRT_STACK_END_NO_TABLE)
		w->lacks = m->why;
	return frame_pointer_step(w, m->why);
}

/* The loop's body, of the walk at @level. Global functions of old kernels take numbers only. Return: whether
 * the walk is over */
__noinline int walk_step(__u32 level)
{
	const struct unwind_process *p;
	struct walk *w;

	/* the verifier checks it also if it is never called */
	if (!(config.stacks & BPF_STACK_TABLES))
		return 1;
	w = bpf_map_lookup_elem(&walks, &level);
	p = w ? bpf_map_lookup_elem(&unwind_slots, &w->slot) : 0;
	if (!p)
		return 1;
	/* else the compiler computes addresses ahead and puts them on the stack, of which there is little */
	asm volatile("" : "+r"(w), "+r"(p));
	return one_frame(w, p);
}

/* ------------------------------------------------------------- the whole */

/* Return: the place of a stack, known or new, plus 1; 0: there is none */
static __always_inline __u32 walked_place(const struct walked *s)
{
	__u32 place, i;
	struct walked *old;

	for (i = 0; i < WALKED_PROBES; i++) {
		place = ((__u32)(s->hash >> 32) + i) & (STACKS_MAX - 1);
		old = bpf_map_lookup_elem(&walked, &place);
		if (!old && !bpf_map_update_elem(&walked, &place, s, BPF_NOEXIST))
			return place + 1;
		if (!old)
			old = bpf_map_lookup_elem(&walked, &place);
		if (old && old->hash == s->hash && old->depth == s->depth)
			return place + 1;
	}
	return 0;
}

static __noinline __u32 walk_frames(struct walk *w, const struct unwind_process *p, __u64 pc, __u64 sp,
				    __u64 rbp)
{
	__u64 seq;
	__u32 place;

	if (!w || !p)
		return 0;
	seq = ++w->seq;
	w->words_at = NO_WORDS;
	begin_again(w, p, pc, sp, rbp);
	place = find_again(w);
	if (place)
		return place + STACKS_MAX;
	w->pc = w->again.pc;
	w->sp = w->again.sp;
	w->rbp = w->again.rbp;
	w->rbp_at = RBP_FIRST;
	w->link = w->again.link;
	w->lost_sp = 0;
	w->exact = 1;
	w->why = GRT_STACK_END_CUT;
	w->stale = w->at = w->lacks = 0;
	w->out.hash = w->out.depth = 0;
	w->python.does = PYTHON_NOTHING;
	w->python.state = PYTHON_UNKNOWN;
	w->python.words_at = NO_WORDS;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < STEPS_MAX; i++)
		if (walk_step(w->level))
			break;
	place = w->seq == seq ? walked_place(&w->out) : 0;
	if (!place)
		return 0;
	keep_again(w, place);
	return place + STACKS_MAX;
}

/**
 * walk_user - the number of the running thread's stack
 * @regs: registers of its program
 * @how: WALK_*
 * @why: gets enum grt_stack_end: how far the walk came; without a walk, the reason
 * @walk: gets the walk, until walk_done(); 0: there was none
 * Return: its place plus 1, 0: there was no walk, or no room
 */
static __always_inline __u32 walk_user(struct pt_regs *regs, __u32 how, __u32 *why, struct walk **walk)
{
	struct task_struct *task = my_task();
	__u32 pid = bpf_get_current_pid_tgid() >> 32, place, level = WALK_LEVEL(how), *slot, seq, fresh;
	struct unwind_process *p;
	struct walk *w;

	*walk = 0;
	*why = GRT_STACK_END_FRAME_POINTERS;
	if (!MINE(task, mm) || !IS_USER(regs))
		return 0;
	slot = bpf_map_lookup_elem(&unwind_processes, &pid);
	p = slot ? bpf_map_lookup_elem(&unwind_slots, slot) : 0;
	if (!p || p->image != walk_image(task)) {
		*why = GRT_STACK_END_PENDING;
		walk_ask(task, pid);
		return 0;
	}
	w = bpf_map_lookup_elem(&walks, &level);
	if (!w || w->busy)
		return 0;
	w->busy = 1;
	w->level = level;
	w->entered = how & WALK_ENTERED;
	seq = w->seq + 1;
	w->slot = *slot;
	w->again.link = CODE_ADDRESS(USER_LINK(regs));
	place = walk_frames(w, p, USER_PC(regs), USER_SP(regs), USER_FP(regs));
	*why = w->why;
	fresh = p->code_pages == walk_code_pages(task);
	if (w->stale || !fresh)
		walk_ask(task, pid);
	/* code that was loaded since the tables were built may have one */
	if (w->stale && !fresh && *why == GRT_STACK_END_NO_TABLE)
		*why = GRT_STACK_END_PENDING;
	if ((__u32)w->seq == seq)
		*walk = w;
	else
		w->busy = 0;
	return place;
}

static __always_inline void walk_done(struct walk *w)
{
	if (w)
		w->busy = 0;
}

#endif /* GRTRACE_BPF_WALK_H */
