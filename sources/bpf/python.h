/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPython's frames in the walk of a stack. When the walk reaches a native frame of the interpreter's loop,
 * the frames that the loop runs replace it. A thread's Python frames are one chain, in which each entry of
 * the interpreter has an end that is recognised by an address in the native frame. The chain begins in the
 * thread's state, which is found in the list of all threads by pthread_self().
 *
 * When a code object occurs for the first time, it is reported with its name, file and table of lines,
 * because it exists now. Later, its slot in a table stands for it, as long as its contents are the same.
 */
#ifndef GRTRACE_BPF_PYTHON_H
#define GRTRACE_BPF_PYTHON_H

#include "common.h"
#include "unwind_rows.h"

/* Number of threads whose state is remembered. */
#define PYTHON_THREADS 4096
/* Bytes of a frame and of a code object that are read; 3.10 has another layout. */
#define PYTHON_FRAME_BYTES 80U
#define PYTHON_FRAME_BYTES_3_10 104U
#define PYTHON_PAGE 4096U
#define PYTHON_CODE_BYTES 144U
#define PYTHON_CODE_BYTES_3_10 128U

/* The same as in struct python. */
struct python_thread {
	__u64 image;
	__u64 tstate;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PYTHON_THREADS);
	__type(key, __u32);
	__type(value, struct python_thread);
} python_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PYTHON_CODES_MAX);
	__type(key, __u32);
	__type(value, struct python_seen);
} python_codes SEC(".maps");

/* Number of frames of Python whose code object has no slot in the table. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} python_unnamed SEC(".maps");

/* @place: its slot, plus 1 */
struct python_known {
	struct python_seen seen;
	__u64 place;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2 << PYTHON_SEEN_BITS);
	__type(key, __u32);
	__type(value, struct python_known);
} python_known SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} python_news SEC(".maps");

static __always_inline int python_read(__u64 *to, __u64 at)
{
	return bpf_probe_read_user(to, sizeof(*to), (void *)at);
}

/* ------------------------------------------------------------- code objects */

static __always_inline __u64 python_word(const struct python *y, __u16 offset)
{
	return y->word[(y->from + offset / 8) & (PYTHON_FRAME_WORDS - 1)];
}

static __always_inline __u64 python_code_word(const struct python *y, __u16 offset)
{
	return y->code[offset / 8 & (PYTHON_CODE_WORDS - 1)];
}

static __always_inline __u32 python_half(__u64 word, __u16 offset)
{
	return offset & 4 ? word >> 32 : word;
}

static __always_inline __u32 python_byte(__u64 word, __u16 offset)
{
	return word >> 8 * (offset & 7) & 0xff;
}

static __always_inline void python_mix(__u64 *hash, __u64 word)
{
	*hash = (*hash ^ word) * HASH_FACTOR;
	*hash ^= *hash >> 29;
}

/*
 * The code object's own number if it has one, and the addresses of its contents: another code object at the
 * same address differs in them.
 */
static __always_inline void python_take(struct python *y, const struct unwind_process *p, __u64 code)
{
	const struct grt_python_layout *l = &p->python.layout;
	struct python_seen *s = &y->now;

	s->code = code;
	s->image = p->image;
	s->print[0] = python_code_word(y, l->code_firstline) ^ python_code_word(y, l->object_size) << 32;
	s->print[1] = python_code_word(y, l->code_filename);
	s->print[2] = python_code_word(y, l->code_qualname);
	s->print[3] = python_code_word(y, l->code_linetable);
	s->print[4] = l->code_version == GRT_PYTHON_NONE ? 0 : python_code_word(y, l->code_version);
}

static __always_inline int python_same(const struct python_seen *a, const struct python_seen *b)
{
	return !((a->code ^ b->code) | (a->image ^ b->image) | (a->print[0] ^ b->print[0]) |
		 (a->print[1] ^ b->print[1]) | (a->print[2] ^ b->print[2]) | (a->print[3] ^ b->print[3]) |
		 (a->print[4] ^ b->print[4]));
}

static __always_inline __u64 python_hash(const struct python_seen *s)
{
	__u64 hash = s->image;

	python_mix(&hash, s->code);
	for (int i = 0; i < PYTHON_PRINT; i++)
		python_mix(&hash, s->print[i]);
	return hash;
}

/* The characters of a str: the first ones that fit or, with @tail, the last ones. */
static __always_inline void python_copy(struct python *y, const struct grt_python_layout *l,
					struct python_text *text, char *to, __u32 room, __u64 str, int tail)
{
	__u64 data, bytes, from = 0;

	text->bytes = text->length = text->state = 0;
	if (bpf_probe_read_user(&y->text, sizeof(y->text), (void *)str + l->text_state) ||
	    python_read(&y->length, str + l->text_length) || y->length >> 31)
		return;
	data = str + (y->text & 0x40 ? l->text_ascii : l->text_compact);
	bytes = y->length * (y->text >> 2 & 7);
	if (bytes > room && tail)
		from = bytes - room;
	if (bytes > room)
		bytes = room;
	if (!bytes || bpf_probe_read_user(to, bytes, (void *)data + from))
		return;
	text->state = y->text;
	text->bytes = bytes;
	text->length = y->length;
}

static __always_inline void python_fill(struct python_news *n, __u32 room, struct python *y,
					const struct unwind_python *p)
{
	const struct grt_python_layout *l = &p->layout;
	__u64 bytes = y->length;

	n->place = y->place;
	n->minor = p->minor;
	n->first = python_half(python_code_word(y, l->code_firstline), l->code_firstline);
	n->shown = 0;
	if (l->code_first != GRT_PYTHON_NONE)
		bpf_probe_read_user(&n->shown, sizeof(n->shown), (void *)y->now.code + l->code_first);
	n->whole = bytes;
	n->address = python_code_word(y, l->code_linetable) + l->bytes_data;
	n->pid = config.pid_ns ? number_of(BPF_CORE_READ(my_task(), group_leader))
			       : bpf_get_current_pid_tgid() >> 32;
	if (bytes > room)
		bytes = room;
	n->table = bytes && !bpf_probe_read_user(n + 1, bytes, (void *)n->address) ? bytes : 0;
	python_copy(y, l, &n->name, n->name_at, PYTHON_NAME_BYTES, python_code_word(y, l->code_qualname), 0);
	python_copy(y, l, &n->file, n->file_at, PYTHON_FILE_BYTES, python_code_word(y, l->code_filename), 1);
}

/* The code object that was read, which has a slot. Return: whether it was reported */
static __noinline int python_report(struct python *y, const struct unwind_python *p)
{
	struct python_news *n;

	if (!y || !p)
		return 0;
	if (python_read(&y->length, python_code_word(y, p->layout.code_linetable) + p->layout.object_size))
		y->length = 0;
	if (y->length <= PYTHON_TABLE_SHORT) {
		n = bpf_ringbuf_reserve(&python_news, sizeof(*n) + PYTHON_TABLE_SHORT, 0);
		if (!n)
			return 0;
		python_fill(n, PYTHON_TABLE_SHORT, y, p);
	} else {
		n = bpf_ringbuf_reserve(&python_news, sizeof(*n) + PYTHON_TABLE_LONG, 0);
		if (!n)
			return 0;
		python_fill(n, PYTHON_TABLE_LONG, y, p);
	}
	bpf_ringbuf_submit(n, BPF_RB_FORCE_WAKEUP);
	return 1;
}

/* Return: the slot of the code object that was read, plus 1; 0: there is none. */
static __always_inline __u32 python_place(struct walk *w, const struct unwind_process *p)
{
	struct python_seen *now, *old;
	__u32 *place;
	__u64 hash;

	if (!w || !p)
		return 0;
	now = &w->python.now;
	place = &w->python.place;
	hash = python_hash(now);
	for (int i = 0; i < PYTHON_PROBES; i++) {
		*place = ((__u32)(hash >> 32) + i) & (PYTHON_CODES_MAX - 1);
		old = bpf_map_lookup_elem(&python_codes, place);
		if (!old && !bpf_map_update_elem(&python_codes, place, now, BPF_NOEXIST)) {
			if (python_report(&w->python, &p->python))
				return *place + 1;
			bpf_map_delete_elem(&python_codes, place);
			return 0;
		}
		if (!old)
			old = bpf_map_lookup_elem(&python_codes, place);
		if (old && python_same(old, now))
			return *place + 1;
	}
	return 0;
}

/* As above, for code objects that this CPU has used lately, without a lookup in the common table. */
static __always_inline __u32 python_place_known(struct walk *w, const struct unwind_process *p)
{
	struct python_seen *now = &w->python.now;
	struct python_known *known;

	w->python.place = now->code * HASH_FACTOR >> (64 - PYTHON_SEEN_BITS) | (__u64)w->level
										       << PYTHON_SEEN_BITS;
	known = bpf_map_lookup_elem(&python_known, &w->python.place);
	if (!known)
		return 0;
	if (!python_same(&known->seen, now)) {
		known->seen = *now;
		known->place = python_place(w, p);
		/* it may get a slot the next time */
		if (!known->place)
			known->seen.code = 0;
	}
	return known->place;
}

/* Number of the running instruction, counted from 1; 0: none yet. */
static __always_inline __u32 python_unit(const struct python *y, const struct grt_python_layout *l,
					 __u64 code)
{
	__u64 bytes;

	if (l->frame_index != GRT_PYTHON_NONE)
		return python_half(python_word(y, l->frame_index), l->frame_index) + 1;
	bytes = python_word(y, l->frame_instr) - code - l->code_bytes;
	return bytes >> 31 ? 0 : bytes / 2 + 1;
}

/* The frame exists all the same. It is counted, because its name is lost. */
static __always_inline void python_note_unnamed(struct walk *w)
{
	__u64 *unnamed;

	w->python.place = 0;
	unnamed = bpf_map_lookup_elem(&python_unnamed, &w->python.place);
	if (unnamed)
		COUNT(*unnamed);
	note_word(w, PYTHON_WORD | (__u64)PYTHON_NO_PLACE << 32);
}

/* Reads a code object. Return: whether it is one */
static __always_inline int python_read_code(struct python *y, const struct unwind_process *p, __u64 code)
{
	long failed;

	if (p->python.minor == 10)
		failed = bpf_probe_read_user(y->code, PYTHON_CODE_BYTES_3_10, (void *)code);
	else
		failed = bpf_probe_read_user(y->code, PYTHON_CODE_BYTES, (void *)code);
	return !failed && python_code_word(y, p->python.layout.object_type) == p->python.code_type;
}

static __always_inline struct python_met *python_met_at(struct python *y, __u64 code)
{
	return &y->met[code * HASH_FACTOR >> (64 - PYTHON_MET_BITS)];
}

/* Reads the code object at @y->now.code; its place becomes NO_WORDS if there is none. */
static __always_inline void python_meet(struct walk *w, const struct unwind_process *p)
{
	struct python *y = &w->python;
	struct python_met *met;
	__u64 place = 0;

	if (python_read_code(y, p, y->now.code)) {
		python_take(y, p, y->now.code);
		place = python_place_known(w, p);
	} else {
		place = NO_WORDS;
	}
	/* the BPF stack is full, so nothing is kept on it */
	asm volatile("" : : : "memory");
	met = python_met_at(y, y->now.code);
	met->code = y->now.code;
	met->seq = w->seq;
	met->place = place;
}

static __always_inline void python_note(struct walk *w, const struct unwind_process *p)
{
	struct python *y = &w->python;
	struct python_met *met;
	__u64 code;

	y->now.code = python_word(y, p->python.layout.frame_code) & ~7ULL;
	met = python_met_at(y, y->now.code);
	if (met->code != y->now.code || met->seq != w->seq)
		python_meet(w, p);
	asm volatile("" : : : "memory");
	code = y->now.code;
	met = python_met_at(y, code);
	if (met->place == NO_WORDS)
		return;
	if (met->place)
		note_word(w, PYTHON_WORD | (met->place - 1) << 32 | python_unit(y, &p->python.layout, code));
	else
		python_note_unnamed(w);
}

/* ------------------------------------------------------------- the chain */

/* The native frame of the interpreter's loop is kept if it leads to no Python frames. */
static __always_inline int python_leave(struct walk *w)
{
	struct python *y = &w->python;

	y->does = PYTHON_NOTHING;
	if (w->out.depth == y->depth)
		note_word(w, y->pc);
	return 0;
}

static __always_inline int python_give_up(struct walk *w)
{
	struct python *y = &w->python;

	y->state = PYTHON_ABSENT;
	w->out.depth = y->depth;
	w->out.hash = y->hash;
	return python_leave(w);
}

/* The frames so far belong to the entry of the interpreter at @at; 0: to the entry of the native frame. */
static __always_inline int python_entry(struct walk *w, __u64 at)
{
	struct python *y = &w->python;

	if (at >= y->high) {
		/* the entry belongs to a function further out: this loop has just begun, or it is over */
		y->frame = y->was_frame;
		y->cframe = y->was_cframe;
		w->out.depth = y->depth;
		w->out.hash = y->hash;
		return python_leave(w);
	}
	if (!at || at >= y->low)
		return python_leave(w);
	y->was_frame = y->frame;
	y->was_cframe = y->cframe;
	y->depth = w->out.depth;
	y->hash = w->out.hash;
	return 0;
}

/*
 * Frames of calls within Python are adjacent, the caller's before the callee's, so several are read at once.
 * A page fault would cost more than all of them, so nothing is read from the previous page, which may be
 * missing.
 */
static __always_inline int python_read_frame(struct python *y, const struct unwind_process *p, __u64 at)
{
	const __u64 before = sizeof(y->word) - PYTHON_FRAME_BYTES;
	__u64 in = at - y->words_at;

	if (p->python.minor == 10) {
		y->from = 0;
		return bpf_probe_read_user(y->word, PYTHON_FRAME_BYTES_3_10, (void *)at);
	}
	if (in & 7 || in > before) {
		in = at & (PYTHON_PAGE - 1);
		in = in < before ? in : before;
		y->words_at = at - in;
		if (bpf_probe_read_user(y->word, sizeof(y->word), (void *)y->words_at)) {
			y->words_at = NO_WORDS;
			return -1;
		}
	}
	y->from = in / 8;
	return 0;
}

static __always_inline int python_frame(struct walk *w, const struct unwind_process *p)
{
	const struct grt_python_layout *l = &p->python.layout;
	struct python *y = &w->python;
	__u64 at = y->frame;

	if (w->out.depth >= BPF_STACK_DEPTH)
		return end_walk(w, GRT_STACK_END_CUT);
	if (python_read_frame(y, p, at))
		return python_give_up(w);
	y->frame = python_word(y, l->frame_previous);
	if (p->python.minor >= 12 &&
	    python_byte(python_word(y, l->frame_owner), l->frame_owner) >= GRT_PYTHON_ENTRY)
		return python_entry(w, at);
	python_note(w, p);
	if (p->python.minor == 10)
		return python_entry(w, 0);
	if (p->python.minor != 11 || !python_byte(python_word(y, l->frame_is_entry), l->frame_is_entry))
		return 0;
	at = y->cframe;
	if (python_read(&y->cframe, at + l->cframe_previous))
		y->cframe = 0;
	return python_entry(w, at);
}

/* ------------------------------------------------------------- the thread */

static __always_inline int python_walk(struct walk *w, const struct unwind_process *p)
{
	struct python *y = &w->python;

	y->was_frame = y->frame;
	y->was_cframe = y->cframe;
	y->does = PYTHON_WALKS;
	w->out.depth = y->depth;
	w->out.hash = y->hash;
	return 0;
}

/* Stores the thread's state. */
static __always_inline int python_first(struct walk *w, const struct unwind_process *p)
{
	const struct grt_python_layout *l = &p->python.layout;
	struct python *y = &w->python;
	long failed;

	y->state = PYTHON_HERE;
	y->cframe = 0;
	if (l->tstate_cframe == GRT_PYTHON_NONE)
		failed = python_read(&y->frame, y->tstate + l->tstate_frame);
	else
		failed = python_read(&y->cframe, y->tstate + l->tstate_cframe) ||
			 python_read(&y->frame, y->cframe + l->cframe_current);
	if (!failed)
		return python_walk(w, p);
	y->state = PYTHON_ABSENT;
	y->does = PYTHON_NOTHING;
	return 0;
}

/* pthread_self() */
static __always_inline __u64 python_self(void)
{
	return BPF_CORE_READ(my_task(), THREAD_POINTER);
}

static __always_inline int python_is_self(struct python *y, const struct unwind_process *p, __u64 tstate)
{
	return !python_read(&y->thread, tstate + p->python.layout.tstate_thread) &&
	       y->thread == python_self();
}

static __always_inline int python_search(struct walk *w, const struct unwind_process *p)
{
	const struct grt_python_layout *l = &p->python.layout;
	struct python *y = &w->python;

	if (!y->tstate) {
		if (!y->interpreter || python_read(&y->tstate, y->interpreter + l->interpreter_thread) ||
		    python_read(&y->interpreter, y->interpreter + l->interpreter_next)) {
			y->state = PYTHON_ABSENT;
			y->does = PYTHON_NOTHING;
		}
		return 0;
	}
	if (python_is_self(y, p, y->tstate)) {
		y->image = p->image;
		bpf_map_update_elem(&python_threads, &y->tid, &y->image, BPF_ANY);
		return python_first(w, p);
	}
	if (python_read(&y->tstate, y->tstate + l->tstate_next))
		y->tstate = 0;
	return 0;
}

static __always_inline int python_begin(struct walk *w, const struct unwind_process *p)
{
	struct python *y = &w->python;
	struct python_thread *known;

	y->high = w->sp;
	if (y->state == PYTHON_HERE)
		return python_walk(w, p);
	y->tid = (__u32)bpf_get_current_pid_tgid();
	known = bpf_map_lookup_elem(&python_threads, &y->tid);
	if (known && known->image == p->image && python_is_self(y, p, known->tstate)) {
		y->tstate = known->tstate;
		return python_first(w, p);
	}
	y->tstate = 0;
	y->does = PYTHON_SEARCHES;
	if (python_read(&y->interpreter, p->python.runtime + p->python.layout.runtime_interpreter))
		y->interpreter = 0;
	return 0;
}

/* Does one step after the native walk has moved to the caller. Return: whether the walk is over */
static __always_inline int python_step(struct walk *w, const struct unwind_process *p)
{
	if (!w || !p)
		return 1;
	if (w->python.does == PYTHON_BEGINS)
		return python_begin(w, p);
	if (w->python.does == PYTHON_SEARCHES)
		return python_search(w, p);
	return python_frame(w, p);
}

/* Handles a native frame before it is stored. */
static __always_inline void python_see(struct walk *w, const struct unwind_process *p, __u64 pc)
{
	struct python *y = &w->python;

	if (pc - p->python.eval >= p->python.eval_end - p->python.eval &&
	    pc - p->python.cold >= p->python.cold_end - p->python.cold)
		return;
	if (y->state == PYTHON_ABSENT)
		return;
	y->does = PYTHON_BEGINS;
	y->depth = w->out.depth;
	y->hash = w->out.hash;
	y->pc = w->pc;
	y->low = w->sp;
}

#endif /* GRTRACE_BPF_PYTHON_H */
