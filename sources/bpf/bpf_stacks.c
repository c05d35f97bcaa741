// SPDX-License-Identifier: GPL-2.0
/*
 * The same addresses mean different functions in different processes, so the id of a user stack belongs to
 * (process, addresses), and the id of a kernel stack to its addresses.
 *
 * Stacks get here through the programs' table. If many of its slots are in use, slots that have been read
 * are freed. From then on, the meaning of a number in an event depends on the time of its stack: before that
 * moment, the old contents of the slot; after it, the new ones. A program may be running at that moment, so
 * within MARGIN_NS of it a number is only used if both contents are the same.
 */
#include "bpf_stacks.h"

#ifdef GRT_HAVE_BPF

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_python.h"
#include "shared.h"
#include "unwind_rows.h"
#include "base/clock.h"
#include "base/containers.h"
#include "trace/flow.h"
#include "sources/source.h"

/* Kernel stacks belong to no process. */
#define KERNEL_PID 0xffffffffULL

/*
 * Number of ids of a source in the trace. Each source's range begins this many times as far as its range of
 * ring numbers.
 */
#define IDS_RATIO 64U
#define IDS (IDS_RATIO * SOURCE_RINGS)

#define MARGIN_NS 10000000ULL

/* Slots are freed as soon as one in this many is in use. */
#define FULL_SHARE 64U

/* Most bytes of addresses; a trace with more different stacks continues without the further ones. */
#define BYTES_MAX ((uint64_t)128 << 20)

/* Most frames of users' stacks. */
#define NUMBERS_MAX ((uint32_t)16 << 20)

/* Number of stacks whose frames are written in one go. */
#define AT_A_TIME 256U

#define NO_TEXT UINT32_MAX

static uint32_t places_of(int map)
{
	struct bpf_map_info info;
	__u32 size = sizeof(info), places = 1;

	memset(&info, 0, sizeof(info));
	if (bpf_obj_get_info_by_fd(map, &info, &size))
		return 0;
	/* the same as in the kernel */
	while (places < info.max_entries)
		places *= 2;
	return places;
}

int grt_bpf_stacks_init(struct grt_bpf_stacks *s, int map, int walked, uint32_t base)
{
	*s = (struct grt_bpf_stacks){
		.map = map, .walked = walked, .base = base * IDS_RATIO, .room = 1024, .hash_room = 1024};
	s->kernels = places_of(map);
	s->places = walked < 0 ? s->kernels : 2 * s->kernels;
	s->held = calloc(s->places ?: 1, sizeof(*s->held));
	s->older = calloc(s->places ?: 1, sizeof(*s->older));
	s->by_hash = calloc(s->hash_room, sizeof(*s->by_hash));
	s->seen = calloc(s->room, sizeof(*s->seen));
	s->symbols = symbols_new();
	grt_texts_init(&s->paths, IDS);
	return s->held && s->older && s->by_hash && s->seen && s->symbols ? 0 : -ENOMEM;
}

void grt_bpf_stacks_fini(struct grt_bpf_stacks *s)
{
	for (unsigned int i = 0; i < BPF_STACKS_EPOCHS; i++)
		free(s->epoch[i].held);
	for (uint32_t i = 0; i < s->texts; i++)
		free(s->text[i].ip);
	symbols_free(s->symbols);
	grt_texts_free(&s->paths);
	free(s->waiting);
	free(s->number);
	free(s->text);
	free(s->held);
	free(s->older);
	free(s->by_hash);
	free(s->seen);
	*s = (struct grt_bpf_stacks){.map = -1};
}

/* ---------------------------------------------------------------- texts */

static uint64_t grt_bpf_stacks_hash_of(const uint64_t *ip, unsigned int depth)
{
	uint64_t hash = depth;

	for (unsigned int i = 0; i < depth; i++)
		hash = (hash ^ ip[i]) * 0x9e3779b97f4a7c15ULL ^ hash >> 29;
	return hash ^ hash >> 32;
}

/* Return: the index of a stack, which may be unused; the table is never full. */
static uint32_t text_place(const struct grt_bpf_stacks *s, uint64_t hash, const uint64_t *ip,
			   unsigned int depth)
{
	uint32_t at = (uint32_t)hash & (s->hash_room - 1);
	const struct grt_bpf_stack_text *t;

	for (; s->by_hash[at]; at = (at + 1) & (s->hash_room - 1)) {
		t = &s->text[s->by_hash[at] - 1];
		if (!ip ? false
			: t->hash == hash && t->depth == depth && !memcmp(t->ip, ip, depth * sizeof(*ip)))
			break;
	}
	return at;
}

/* Return: 0 or -ENOMEM */
static int grow_texts(struct grt_bpf_stacks *s)
{
	uint32_t room = 2 * s->hash_room, *larger = calloc(room, sizeof(*larger)), *old = s->by_hash;

	if (!larger)
		return -ENOMEM;
	s->by_hash = larger;
	s->hash_room = room;
	for (uint32_t i = 0; i < s->texts; i++)
		larger[text_place(s, s->text[i].hash, NULL, 0)] = i + 1;
	free(old);
	return 0;
}

/* The number of these addresses, which may be new; NO_TEXT: there is no room. Return: 0 or -ENOMEM */
static int find_text(struct grt_bpf_stacks *s, const uint64_t *ip, unsigned int depth, uint32_t *number)
{
	uint64_t hash = grt_bpf_stacks_hash_of(ip, depth), bytes = depth * sizeof(*ip);
	uint32_t at = text_place(s, hash, ip, depth);
	uint64_t *copy;

	*number = s->by_hash[at] ? s->by_hash[at] - 1 : NO_TEXT;
	if (s->by_hash[at] || s->bytes + bytes > BYTES_MAX || s->texts == IDS)
		return 0;
	copy = malloc(bytes ?: 1);
	if (!copy || grt_grow_one(&s->text, s->texts)) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, ip, bytes);
	s->text[s->texts] = (struct grt_bpf_stack_text){hash, copy, depth};
	*number = s->texts++;
	s->by_hash[at] = s->texts;
	s->bytes += bytes;
	return 2 * s->texts > s->hash_room ? grow_texts(s) : 0;
}

/* ---------------------------------------------------------------- places */

bool grt_bpf_stacks_look_up(int map, int walked, uint32_t kernels, uint32_t place, uint64_t *ip,
			    unsigned int *depth)
{
	struct walked w;

	*depth = 0;
	memset(ip, 0, BPF_STACK_DEPTH * sizeof(*ip));
	if (walked >= 0 && place >= kernels) {
		place -= kernels;
		if (bpf_map_lookup_elem(walked, &place, &w))
			return false;
		*depth = w.depth < BPF_STACK_DEPTH ? w.depth : BPF_STACK_DEPTH;
		memcpy(ip, w.ip, *depth * sizeof(*ip));
		return true;
	}
	if (bpf_map_lookup_elem(map, &place, ip))
		return false;
	while (*depth < BPF_STACK_DEPTH && ip[*depth])
		++*depth;
	return true;
}

/* Frees the slot. Return: whether it is free */
static bool free_place(const struct grt_bpf_stacks *s, uint32_t place)
{
	bool walked = s->walked >= 0 && place >= s->kernels;

	place -= walked ? s->kernels : 0;
	return !bpf_map_delete_elem(walked ? s->walked : s->map, &place);
}

/* Gets the present contents of the slot; NO_TEXT: it is empty. Return: 0 or -ENOMEM */
static int read_place(struct grt_bpf_stacks *s, uint32_t place, uint32_t *number)
{
	uint64_t ip[BPF_STACK_DEPTH];
	unsigned int depth;
	int ret;

	*number = NO_TEXT;
	if (place < s->places && s->held[place]) {
		*number = s->held[place] - 1;
		return 0;
	}
	if (!grt_bpf_stacks_look_up(s->map, s->walked, s->kernels, place, ip, &depth))
		return 0;
	ret = find_text(s, ip, depth, number);
	if (!ret && *number != NO_TEXT && place < s->places) {
		s->held[place] = *number + 1;
		s->n_held++;
	}
	return ret;
}

/* Gets the contents of the slot after an epoch. */
static int place_behind(struct grt_bpf_stacks *s, uint64_t epoch, uint32_t place, uint32_t *number)
{
	const struct grt_bpf_stack_epoch *e;

	for (epoch++; epoch < s->epochs; epoch++) {
		e = &s->epoch[epoch % BPF_STACKS_EPOCHS];
		*number = e->held[place] - 1;
		if (e->held[place])
			return 0;
	}
	return read_place(s, place, number);
}

/* A stack always gets the same slot, so most slots have never held another one. */
static int place_of_older(struct grt_bpf_stacks *s, uint64_t oldest, uint32_t place, uint32_t *number)
{
	uint32_t later;
	int ret = place_behind(s, oldest - 1, place, &later);

	if (s->older[place] != BPF_STACKS_VARIED && (later == NO_TEXT || later == s->older[place] - 1))
		*number = s->older[place] - 1;
	return ret;
}

/* Gets the contents of the slot when a stack was taken, if slots have been freed since. */
static int place_of_before(struct grt_bpf_stacks *s, uint32_t place, uint64_t time, uint32_t *number)
{
	uint64_t i = s->epochs > BPF_STACKS_EPOCHS ? s->epochs - BPF_STACKS_EPOCHS : 0;
	const struct grt_bpf_stack_epoch *e;
	uint32_t later;
	int ret;

	*number = NO_TEXT;
	if (i && time < s->older_until + MARGIN_NS && s->older[place])
		return place_of_older(s, i, place, number);
	for (; i < s->epochs; i++) {
		e = &s->epoch[i % BPF_STACKS_EPOCHS];
		if (time >= e->after + MARGIN_NS || !e->held[place])
			continue;
		*number = e->held[place] - 1;
		if (time + MARGIN_NS <= e->before)
			return 0;
		ret = place_behind(s, i, place, &later);
		if (later != NO_TEXT && later != *number)
			*number = NO_TEXT;
		return ret;
	}
	return read_place(s, place, number);
}

static int grt_bpf_stacks_text_of(struct grt_bpf_stacks *s, uint32_t place, uint64_t time, uint32_t *number)
{
	const struct grt_bpf_stack_epoch *last = &s->epoch[(s->epochs - 1) % BPF_STACKS_EPOCHS];

	if (!s->epochs || place >= s->places || time >= last->after + MARGIN_NS)
		return read_place(s, place, number);
	return place_of_before(s, place, time, number);
}

/* Forgets the oldest epoch, so that its row in the ring can be used again. */
static void forget_epoch(struct grt_bpf_stacks *s, struct grt_bpf_stack_epoch *e)
{
	for (uint32_t i = 0; i < s->places; i++)
		if (e->held[i])
			s->older[i] =
				!s->older[i] || s->older[i] == e->held[i] ? e->held[i] : BPF_STACKS_VARIED;
	s->older_until = e->after;
	free(e->held);
	e->held = NULL;
}

void grt_bpf_stacks_make_room(struct grt_bpf_stacks *s)
{
	struct grt_bpf_stack_epoch *e = &s->epoch[s->epochs % BPF_STACKS_EPOCHS];
	uint32_t *held;

	if (!s->places || s->n_held < s->places / FULL_SHARE)
		return;
	held = calloc(s->places, sizeof(*held));
	if (!held)
		return; /* the recording continues, and stacks without a slot are counted */
	if (e->held)
		forget_epoch(s, e);
	*e = (struct grt_bpf_stack_epoch){.before = grt_now(), .held = s->held};
	for (uint32_t i = 0; i < s->places; i++)
		if (s->held[i] && !free_place(s, i))
			e->held[i] = 0;
	e->after = grt_now();
	s->held = held;
	s->n_held = 0;
	s->epochs++;
}

/* ---------------------------------------------------------------- ids */

/* Return: the index of a stack, which may be unused; the table is never full. */
static uint32_t grt_bpf_stacks_find_place(const struct grt_bpf_stacks *s, uint64_t key)
{
	uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15ULL >> 40) % s->room;

	while (s->seen[at].key && s->seen[at].key != key)
		at = (at + 1) % s->room;
	return at;
}

/* Return: 0 or -ENOMEM */
static int grow_seen(struct grt_bpf_stacks *s)
{
	struct grt_bpf_stacks larger = {.room = 2 * s->room};
	uint32_t at;

	larger.seen = calloc(larger.room, sizeof(*larger.seen));
	if (!larger.seen)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->room; i++) {
		if (!s->seen[i].key)
			continue;
		at = grt_bpf_stacks_find_place(&larger, s->seen[i].key);
		larger.seen[at].key = s->seen[i].key;
		larger.seen[at].id = s->seen[i].id;
	}
	free(s->seen);
	s->seen = larger.seen;
	s->room = larger.room;
	return 0;
}

/* The parts of a long name come before the record of its frame. */
static int grt_bpf_stacks_write_function(struct grt_packer *p, unsigned int cpu, struct grt_ev_frame *f,
					 const char *name, uint16_t index)
{
	unsigned int parts = grt_linkage_parts(name, f->depth);
	int ret = 0;

	for (unsigned int part = 1; part <= parts && !ret; part++) {
		grt_linkage_put(f, name, index, part % parts);
		ret = grt_packer_add(p, cpu, &f->e);
	}
	return ret;
}

static struct grt_event grt_bpf_stacks_head(uint64_t time, uint16_t type, size_t size)
{
	return (struct grt_event){.time = time,
				  .type = type,
				  .size = (uint16_t)size,
				  .flags = GRT_FLAG_BPF,
				  .ring = GRT_RING_NONE};
}

/* Gets the number of a path, whose records come before its first use; 0: there is no path, or no room. */
static int grt_bpf_stacks_put_path(struct grt_bpf_stacks *s, struct grt_packer *p, unsigned int cpu,
				   uint64_t time, const char *path, uint32_t *number)
{
	struct grt_ev_frame_text e = {.e = grt_bpf_stacks_head(time, GRT_EV_FRAME_TEXT, sizeof(e))};
	uint32_t before = s->paths.used, length = (uint32_t)strlen(path);
	int ret;

	*number = 0;
	if (!*path || *path == '[')
		return 0;
	ret = grt_texts_add(&s->paths, path, length, number);
	if (ret || !*number)
		return ret;
	*number = e.number = s->base + *number;
	e.length = s->paths.used > before ? length : 0;
	for (; e.offset < e.length && !ret; e.offset += e.part) {
		e.part = e.length - e.offset;
		e.part = e.part < sizeof(e.text) ? e.part : sizeof(e.text);
		memset(e.text, 0, sizeof(e.text));
		memcpy(e.text, path + e.offset, e.part);
		ret = grt_packer_add(p, cpu, &e.e);
	}
	return ret;
}

static int grt_bpf_stacks_write_place(struct grt_bpf_stacks *s, struct grt_packer *p, unsigned int cpu,
				      const struct grt_ev_frame *f, const struct grt_symbols_found *found,
				      unsigned int i, uint16_t index)
{
	struct grt_ev_frame_place e = {
		.e = grt_bpf_stacks_head(f->e.time, GRT_EV_FRAME_PLACE, sizeof(e)),
		.stack = f->stack,
		.index = index,
		.line = found->frame[i].line,
		.inlined = found->frame[i].inlined,
	};
	int ret = grt_bpf_stacks_put_path(s, p, cpu, f->e.time, found->object, &e.module)
			  ?: grt_bpf_stacks_put_path(s, p, cpu, f->e.time, found->frame[i].file, &e.file);

	return ret || !(e.module || e.file) ? ret : grt_packer_add(p, cpu, &e.e);
}

/* A function that is inlined into another one is a frame of its own, at the same address. */
static int write_functions(struct grt_bpf_stacks *s, struct grt_packer *p, unsigned int cpu,
			   struct grt_ev_frame *f, const struct grt_symbols_found *found, uint16_t *index)
{
	int ret = 0;

	for (unsigned int i = 0; i < found->frames && !ret; i++, ++*index)
		ret = grt_bpf_stacks_write_function(p, cpu, f, found->frame[i].function, *index)
			      ?: grt_bpf_stacks_write_place(s, p, cpu, f, found, i, *index);
	return ret;
}

/* Return: the address of the call; a return address is after its call. */
static uint64_t grt_bpf_stacks_call_of(const uint64_t *ip, unsigned int i)
{
	return ip[i] - (i && ip[i] && !grt_bpf_python_is(ip[i]));
}

/**
 * struct frames - the frames of a stack
 * @ip: @depth addresses
 * @number: numbers of these addresses; NULL: they are the kernel's
 */
struct frames {
	const uint64_t *ip;
	const uint32_t *number;
	unsigned int depth;
};

static void python_at(uint64_t word, struct grt_symbols_found *found)
{
	struct grt_bpf_python at;

	*found = (struct grt_symbols_found){.object = "", .frames = grt_bpf_python_find(word, &at)};
	found->frame[0] = (struct grt_symbol){at.function, at.file ?: "", at.line, false};
}

/* The functions at a frame of a stack. Return: 0 or -ENOMEM */
static int functions_at(struct grt_bpf_stacks *s, const struct frames *all, unsigned int i,
			struct grt_symbols_found *found)
{
	uint64_t at = grt_bpf_stacks_call_of(all->ip, i);

	if (!all->number)
		return symbols_kernel(s->symbols, at, found);
	if (grt_bpf_python_is(at)) {
		python_at(at, found);
		return 0;
	}
	addresses_found(symbols_addresses(s->symbols), all->number[i], at, found);
	return 0;
}

static int write_frames(struct grt_bpf_stacks *s, struct grt_packer *p, unsigned int cpu, uint64_t time,
			uint32_t id, const struct frames *all)
{
	struct grt_ev_frame f = {.e = grt_bpf_stacks_head(time, GRT_EV_FRAME, sizeof(f)), .stack = id};
	struct grt_symbols_found found;
	uint16_t index = 0;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < all->depth && !ret; i++) {
		ret = functions_at(s, all, i, &found);
		f.depth += ret ? 0 : (uint16_t)found.frames;
	}
	for (i = 0; i < all->depth && !ret; i++) {
		f.ip = grt_bpf_python_is(all->ip[i]) ? 0 : all->ip[i];
		ret = functions_at(s, all, i, &found);
		ret = ret ?: write_functions(s, p, cpu, &f, &found, &index);
	}
	/* too late to be inserted: the stack stays without frames */
	return ret == -ERANGE ? 0 : ret;
}

/* A walk by unwind tables knows why it ended; the kernel's walk by frame pointers does not. */
static int grt_bpf_stacks_write_end(struct grt_packer *p, uint64_t time,
				    const struct grt_bpf_stack_waiting *w)
{
	uint32_t by_kernel = w->depth < BPF_STACK_DEPTH ? GRT_STACK_END_FRAME_POINTERS : GRT_STACK_END_CUT;
	const struct grt_ev_stack_end e = {.e = grt_bpf_stacks_head(time, GRT_EV_STACK_END, sizeof(e)),
					   .stack = w->id,
					   .end = w->end ?: by_kernel};
	int ret = grt_packer_add(p, w->cpu, &e.e);

	return ret == -ERANGE ? 0 : ret;
}

/*
 * Finds which files the frames are in while the process exists; their names come at the end. Return: 0 or
 * -ENOMEM
 */
static int take_frames(struct grt_bpf_stacks *s, unsigned int cpu, pid_t pid, uint32_t id, uint32_t text,
		       unsigned int depth, uint32_t end)
{
	int ret = grt_grow(&s->waiting, &s->waiting_room, s->waits + 1, 64);

	if (s->numbers + depth > NUMBERS_MAX) {
		s->nameless += depth;
		return 0;
	}
	ret = ret ?: grt_grow(&s->number, &s->number_room, s->numbers + depth, 1024);
	for (unsigned int i = 0; i < depth && !ret; i++) {
		uint64_t at = grt_bpf_stacks_call_of(s->text[text].ip, i);

		s->number[s->numbers + i] = ADDRESS_NONE;
		if (!grt_bpf_python_is(at))
			ret = symbols_take(s->symbols, pid, at, &s->number[s->numbers + i]);
	}
	if (ret)
		return ret;
	s->waiting[s->waits++] = (struct grt_bpf_stack_waiting){id, cpu, text, depth, s->numbers, end};
	s->numbers += depth;
	return 0;
}

int grt_bpf_stacks_name(struct grt_bpf_stacks *s, struct grt_packer *p, uint64_t time, int ms)
{
	uint32_t end;
	int ret = 0;

	if (s->written == s->waits)
		return 1;
	if (!s->until)
		addresses_again(symbols_addresses(s->symbols));
	s->until = s->until ?: s->waits;
	if (!s->no_names && !addresses_name(symbols_addresses(s->symbols), ms))
		return 0;
	end = s->until - s->written < AT_A_TIME ? s->until : s->written + AT_A_TIME;
	for (; s->written < end && !ret; s->written++) {
		const struct grt_bpf_stack_waiting *w = &s->waiting[s->written];
		const struct frames all = {s->text[w->text].ip, s->number + w->first, w->depth};

		for (unsigned int i = 0; i < w->depth && !s->no_names; i++)
			if (!grt_bpf_python_is(all.ip[i]))
				addresses_count(symbols_addresses(s->symbols), all.number[i]);
		ret = write_frames(s, p, w->cpu, time, w->id, &all) ?: grt_bpf_stacks_write_end(p, time, w);
	}
	if (s->written == s->until)
		s->until = 0;
	return ret ?: s->written == s->waits;
}

void grt_bpf_stacks_unnamed(const struct grt_bpf_stacks *s, struct addresses_unnamed *unnamed)
{
	*unnamed = (struct addresses_unnamed){.over = s->nameless};
	if (!s->symbols)
		return;
	*unnamed = *addresses_unnamed(symbols_addresses(s->symbols));
	unnamed->over += s->nameless;
}

/* Return: whether a frame of the kernel's stack belongs to our own program, which is on top of it. */
static bool grt_bpf_stacks_is_ours(const char *symbol)
{
	return !strncmp(symbol, "bpf_", 4) || !strncmp(symbol, "__bpf_", 6) ||
	       !strncmp(symbol, "__traceiter_", 12);
}

/* The kernel's frames without those of our programs. */
static unsigned int skip_ours(struct grt_bpf_stacks *s, const uint64_t *ip, unsigned int depth)
{
	struct grt_symbols_found found;
	unsigned int n;

	for (n = 0; n < depth; n++)
		if (symbols_kernel(s->symbols, ip[n], &found) ||
		    !grt_bpf_stacks_is_ours(found.frame[0].function))
			break;
	return n;
}

/*
 * Code without frame pointers misleads the kernel's walk: an address outside of the process's code is not a
 * frame, and the frames after it may be wrong.
 */
static unsigned int cut_invalid_frames(struct grt_bpf_stacks *s, pid_t pid, const uint64_t *ip,
				       unsigned int depth)
{
	unsigned int n = 1;

	while (n < depth && (grt_bpf_python_is(ip[n]) || symbols_is_code(s->symbols, pid, ip[n])))
		n++;
	return n;
}

/* The stack of an event, which was taken at @time; gets the trace's id; 0: unknown. */
static int grt_bpf_stacks_give_id(struct grt_bpf_stacks *s, struct grt_packer *p, unsigned int cpu,
				  const struct grt_event *e, uint64_t time, bool kernel, uint32_t *stack)
{
	uint32_t number, at, place = STACK_PLACE(*stack), end = STACK_END(*stack);
	unsigned int depth, skip = 0;
	struct frames all;
	const uint64_t *ip;
	uint64_t key;
	int ret;

	if (!*stack)
		return 0;
	*stack = 0;
	s->ends[end] += !kernel;
	ret = grt_bpf_stacks_text_of(s, place, time, &number);
	if (ret)
		return ret;
	key = (kernel ? KERNEL_PID : e->pid) << 32 | end << STACK_END_SHIFT | (number + 1);
	at = grt_bpf_stacks_find_place(s, key);
	if (number == NO_TEXT || (!s->seen[at].key && s->used == IDS - 1)) {
		s->lost++;
		return 0;
	}
	*stack = s->seen[at].id;
	if (s->seen[at].key)
		return 0;
	ip = s->text[number].ip;
	depth = s->text[number].depth;
	if (kernel)
		skip = skip_ours(s, ip, depth);
	else if (depth && end != GRT_STACK_END_ENTRY)
		depth = cut_invalid_frames(s, (pid_t)e->pid, ip, depth);
	if (!kernel && depth < s->text[number].depth && end != GRT_STACK_END_PENDING)
		end = GRT_STACK_END_NO_TABLE;
	s->seen[at].key = key;
	*stack = s->seen[at].id = s->base + ++s->used;
	all = (struct frames){ip + skip, NULL, depth - skip};
	ret = kernel ? write_frames(s, p, cpu, e->time, *stack, &all)
		     : take_frames(s, cpu, (pid_t)e->pid, *stack, number, depth, end);
	return ret ?: 2 * s->used > s->room ? grow_seen(s) : 0;
}

/** struct pair - where an event has the numbers of its stacks */
struct pair {
	uint32_t *user;
	uint32_t *kernel;
};

#define PAIR(e, type) ((struct pair){&((struct type *)(e))->user, &((struct type *)(e))->kernel})

static struct pair stacks_of(struct grt_event *e)
{
	if (e->type == GRT_EV_STACK)
		return PAIR(e, grt_ev_stack);
	if (e->type == GRT_EV_OFF_CPU || e->type == GRT_EV_ASLEEP)
		return PAIR(e, grt_ev_off_cpu);
	if (e->type == GRT_EV_CALL_STACK)
		return PAIR(e, grt_ev_call_stack);
	if (e->type == GRT_EV_NV_MEMORY)
		return PAIR(e, grt_ev_nv_memory);
	return e->type == GRT_EV_SAMPLE ? PAIR(e, grt_ev_sample) : (struct pair){NULL, NULL};
}

/* If a process has called exec, or its number was reused, its known mappings are no longer valid. */
static void grt_bpf_stacks_see_thread(struct grt_bpf_stacks *s, const struct grt_ev_thread *e)
{
	if (e->e.pid == e->e.tid && e->what != GRT_THREAD_ENDED && e->what != GRT_THREAD_LEFT_ON)
		symbols_forget(s->symbols, (pid_t)e->e.pid);
}

int grt_bpf_stacks_see(struct grt_bpf_stacks *s, struct grt_packer *p, unsigned int cpu, struct grt_event *e)
{
	bool off = e->type == GRT_EV_OFF_CPU || e->type == GRT_EV_ASLEEP;
	uint64_t time = off ? ((struct grt_ev_off_cpu *)e)->start : e->time;
	struct pair at = stacks_of(e);
	int ret;

	if (e->type == GRT_EV_THREAD)
		grt_bpf_stacks_see_thread(s, (const struct grt_ev_thread *)e);
	if (!at.user)
		return 0;
	ret = grt_bpf_stacks_give_id(s, p, cpu, e, time, false, at.user);
	return ret ?: grt_bpf_stacks_give_id(s, p, cpu, e, time, true, at.kernel);
}

void grt_bpf_stacks_ends_text(const uint64_t *ends, char *text, size_t room)
{
	static const char *const names[] = {
#define GRT_STACK_END(number, NAME, name, help) [number] = #name,
#include <grtrace/stack_ends.def>
#undef GRT_STACK_END
	};
	size_t used = 0;

	*text = '\0';
	for (size_t i = 1; i < sizeof(names) / sizeof(names[0]) && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, "%s%s=%llu", used ? " " : "", names[i],
					 (unsigned long long)ends[i]);
}

#endif /* GRT_HAVE_BPF */
