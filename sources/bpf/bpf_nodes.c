// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks are walked with unwind tables. Until a process has its tables, and on older kernels, the kernel
 * walks along frame pointers instead. Code without frame pointers misleads that walk: an address that is in
 * no code of the process is not a frame, and the addresses after it are not used; such stacks are counted.
 *
 * Mappings are read from /proc when a program occurs for the first time, and again if an address is in no
 * known mapping.
 */
#include "bpf_nodes.h"

#ifdef GRT_HAVE_BPF

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stack/images.h"
#include "base/containers.h"
#include "bpf_python.h"
#include "bpf_stacks.h"
#include "shared.h"
#include "unwind_rows.h"
#include "base/clock.h"
#include "codes/cuda_codes.h"
#include "base/say.h"
#include "host/elf_file.h"
#include "host/maps.h"

/*
 * Most programs, stacks and nodes that are remembered. If there are more, the oldest are forgotten and
 * reported again.
 */
#define IMAGES_MAX 4096U
#define STACKS_MAX (1U << 20)
#define NODES_MAX (1U << 20)

/* Least time between two readings of a process's mappings, ns. */
#define PATIENCE_NS 20000000ULL
/*
 * The time of a definition is this much earlier than its first use, and the time of a program's record still
 * earlier, because a hit on another CPU that is read later may have an earlier time, ns.
 */
#define DEFINED_NS 500000ULL
#define BEGUN_NS 1000000ULL

/**
 * struct mapping - executable memory of a process
 * @module: its number; 0: it is of no file (made at run time)
 */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint32_t module;
	bool hidden;
	bool runtime;
	bool gone;
	char *path;
};

/**
 * struct image - a program that a process runs
 * @number: from 1; nodes, strings and modules have numbers within the image
 * @read: when its mappings were last read
 * @ended: the process had ended then, or ran another program, and may have had more of them
 * @unread: an address of its stacks was in none of them
 * @calls: calls of functions
 */
struct image {
	uint32_t pid;
	uint32_t number;
	uint32_t nodes;
	uint32_t strings;
	uint32_t modules;
	uint64_t read;
	bool ended;
	bool unread;
	uint64_t calls;
	struct mapping *mapping;
	uint32_t mappings;
};

/**
 * struct known - a node, or a stack identified by its innermost node
 * @function: a string, for the root of a stack and, with @file and @line, for a frame of Python
 */
struct known {
	uint64_t ip;
	uint32_t node;
	uint32_t caller;
	uint32_t module;
	uint32_t function;
	uint32_t file;
	uint32_t line;
};

/**
 * struct grt_bpf_nodes - the decoder
 * @map, @walked: the table of the kernel's stacks, and of stacks walked with unwind tables
 * @early, @early_exe: mappings and file of the process @early_pid when capture began
 * @nested: number of calls of CUDA's driver by its runtime
 * @cut: number of stacks that were misleading
 * @unread: number of programs with @unread
 * @ended: number of programs with @ended, some of whose mappings were read
 * @ends: number of stacks by enum grt_stack_end
 */
struct grt_bpf_nodes {
	void *capture;
	int map;
	int walked;
	bool launches;
	struct grt_keyed image; /* elements are pointers */
	struct grt_keyed stack;
	struct grt_keyed node;
	uint32_t images;
	struct maps early;
	uint32_t early_pid;
	char early_exe[4096];
	uint64_t nested;
	uint64_t cut;
	uint64_t unread;
	uint64_t ended;
	uint64_t ends[GRT_BPF_STACK_ENDS];
	void (*note)(const char *text);
};

static struct grt_event grt_bpf_nodes_head(const struct grt_bpf_hit *hit, uint64_t before, uint16_t type,
					   size_t size)
{
	return (struct grt_event){
		.time = hit->time > before ? hit->time - before : 0,
		.type = type,
		.size = (uint16_t)size,
		.flags = GRT_FLAG_BPF,
		.pid = hit->pid,
		.tid = hit->tid,
		.ring = GRT_RING_NONE,
	};
}

/* ------------------------------------------------------------- mappings */

/* Return: the number; 0: there is no memory, or no text */
static uint32_t grt_bpf_nodes_put_string(struct grt_bpf_nodes *n, struct image *i,
					 const struct grt_bpf_hit *hit, const char *text)
{
	struct grt_ev_string s = {.e = grt_bpf_nodes_head(hit, DEFINED_NS, GRT_EV_STRING, sizeof(s))};
	size_t length = strlen(text), offset = 0;

	s.number = GRT_IMAGE_RECORDER + ++i->strings;
	s.length = (uint32_t)length;
	do {
		s.offset = (uint32_t)offset;
		s.part = (uint32_t)(length - offset < sizeof(s.text) ? length - offset : sizeof(s.text));
		memset(s.text, 0, sizeof(s.text));
		memcpy(s.text, text + offset, s.part);
		if (grt_bpf_put(n->capture, &s.e, hit->cpu))
			return 0;
		offset += s.part;
	} while (offset < length);
	return s.number;
}

static int put_mapping(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
		       struct mapping *m)
{
	struct grt_ev_mapping e = {.e = grt_bpf_nodes_head(hit, DEFINED_NS, GRT_EV_MAPPING, sizeof(e)),
				   .start = m->start,
				   .end = m->end};
	char open[4400];
	uint64_t address;

	snprintf(open, sizeof(open), "/proc/%u/root%s", hit->pid, m->path);
	/* it has ended: most likely it had the same root directory as this process */
	if (access(open, F_OK))
		snprintf(open, sizeof(open), "%s", m->path);
	elf_describe(open, m->offset, &address, e.build_id);
	e.bias = m->start - address;
	e.path = grt_bpf_nodes_put_string(n, i, hit, m->path);
	e.module = m->module = ++i->modules;
	return e.path ? grt_bpf_put(n->capture, &e.e, hit->cpu) : -ENOMEM;
}

/*
 * Frames of the library in the program and of CUPTI, which calls the library, are not frames of the program.
 */
static bool is_hidden(const char *path)
{
	const char *base = strrchr(path, '/');

	return base && (!strncmp(base, "/libgrtrace-cuda.so", 19) || !strncmp(base, "/libcupti.so", 12));
}

static bool is_runtime(const char *path)
{
	const char *base = strrchr(path, '/');

	return base && !strncmp(base, "/libcudart.so", 13);
}

static struct mapping *grt_bpf_nodes_find_same(const struct image *i, const struct maps_row *m)
{
	for (uint32_t k = 0; k < i->mappings; k++)
		if (i->mapping[k].start == m->start && i->mapping[k].end == m->end &&
		    i->mapping[k].offset == m->offset && !strcmp(i->mapping[k].path, m->path))
			return &i->mapping[k];
	return NULL;
}

static int grt_bpf_nodes_add_mapping(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
				     const struct maps_row *m)
{
	struct mapping *same = grt_bpf_nodes_find_same(i, m), *at;

	if (same) {
		same->gone = false;
		return 0;
	}
	if (grt_grow_one(&i->mapping, i->mappings))
		return -ENOMEM;
	at = &i->mapping[i->mappings];
	*at = (struct mapping){
		.start = m->start, .end = m->end, .offset = m->offset, .path = strdup(m->path)};
	if (!at->path)
		return -ENOMEM;
	i->mappings++;
	at->runtime = is_runtime(m->path);
	at->hidden = n->launches && is_hidden(m->path);
	return m->path[0] == '/' ? put_mapping(n, i, hit, at) : 0;
}

static void exe_of(uint32_t pid, char *path, size_t room)
{
	char name[64];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%u/exe", pid);
	n = readlink(name, path, room - 1);
	path[n > 0 ? n : 0] = '\0';
}

/* Return: 0 or -ENOMEM */
static int read_rows(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
		     struct maps *maps)
{
	struct maps_row row;
	int ret = 0;

	while (!ret && maps_next(maps, &row))
		ret = row.code ? grt_bpf_nodes_add_mapping(n, i, hit, &row) : 0;
	return ret;
}

/* If the process has ended, its known mappings stay valid. Return: 0 or -ENOMEM */
static int grt_bpf_nodes_read_mappings(struct grt_bpf_nodes *n, struct image *i,
				       const struct grt_bpf_hit *hit)
{
	struct maps maps;
	int ret;

	i->read = hit->time;
	i->ended = !maps_copy(&maps, (pid_t)hit->pid);
	n->ended += i->ended && maps.from;
	for (uint32_t k = 0; k < i->mappings && !i->ended; k++)
		i->mapping[k].gone = true;
	ret = read_rows(n, i, hit, &maps);
	maps_close(&maps);
	if (ret || !i->ended || i->number != 1 || hit->pid != n->early_pid)
		return ret;
	maps_again(&n->early);
	return read_rows(n, i, hit, &n->early);
}

/* Reads a process at once, because it may end before the next look. */
static void read_early(struct grt_bpf_nodes *n, pid_t pid)
{
	n->early_pid = (uint32_t)pid;
	if (!pid)
		return;
	maps_copy(&n->early, pid);
	exe_of((uint32_t)pid, n->early_exe, sizeof(n->early_exe));
}

static const struct mapping *grt_bpf_nodes_find_mapping(const struct image *i, uint64_t ip)
{
	for (uint32_t k = 0; k < i->mappings; k++)
		if (!i->mapping[k].gone && ip >= i->mapping[k].start && ip < i->mapping[k].end)
			return &i->mapping[k];
	return NULL;
}

/*
 * If an address is in no known mapping, reads the mappings again, but not for every invalid address of the
 * kernel's walks. Return: 0 or -ENOMEM
 */
static int grt_bpf_nodes_look_up(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
				 uint64_t ip, const struct mapping **out)
{
	int ret;

	*out = grt_bpf_nodes_find_mapping(i, ip);
	if (*out || i->ended || (i->read && hit->time < i->read + (hit->walked ? 0 : PATIENCE_NS)))
		return 0;
	ret = grt_bpf_nodes_read_mappings(n, i, hit);
	*out = grt_bpf_nodes_find_mapping(i, ip);
	return ret;
}

/* ------------------------------------------------------------- programs */

static void free_image(struct image *i)
{
	for (uint32_t k = 0; k < i->mappings; k++)
		free(i->mapping[k].path);
	free(i->mapping);
	free(i);
}

/* Numbers begin anew with @what 1, so the program's name is defined after this record. */
static int grt_bpf_nodes_put_process(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
				     uint32_t what)
{
	struct grt_ev_process p = {
		.e = grt_bpf_nodes_head(hit, what == 1 ? BEGUN_NS : 0, GRT_EV_PROCESS, sizeof(p)),
		.what = what,
		.age = what == 1 ? UINT32_MAX : 0};
	char exe[4096];
	int ret;

	p.launches = i->calls;
	p.text = what == 1 ? GRT_IMAGE_RECORDER + 1 : 0;
	ret = grt_bpf_put(n->capture, &p.e, hit->cpu);
	if (ret || what != 1)
		return ret;
	exe_of(hit->pid, exe, sizeof(exe));
	if (!exe[0] && i->number == 1 && hit->pid == n->early_pid)
		memcpy(exe, n->early_exe, sizeof(exe));
	return grt_bpf_nodes_put_string(n, i, hit, exe) ? 0 : -ENOMEM;
}

static int grt_bpf_nodes_find_image(struct grt_bpf_nodes *n, const struct grt_bpf_hit *hit,
				    struct image **out)
{
	struct grt_key key = {{hit->image, hit->pid}};
	struct image **at;
	void *found;

	if (grt_keyed_full(&n->image) && !grt_keyed_find(&n->image, &key)) {
		at = grt_keyed_oldest(&n->image);
		free_image(*at);
		grt_keyed_remove(&n->image, at);
	}
	if (grt_keyed_get(&n->image, &key, &found))
		return -ENOMEM;
	at = found;
	*out = *at;
	if (*at)
		return 0;
	*out = *at = calloc(1, sizeof(**at));
	if (!*at) {
		grt_keyed_remove(&n->image, at);
		return -ENOMEM;
	}
	(*at)->number = ++n->images;
	(*at)->pid = hit->pid;
	return (n->launches ? 0 : grt_bpf_nodes_put_process(n, *out, hit, 1))
		       ?: grt_bpf_nodes_read_mappings(n, *out, hit);
}

/* --------------------------------------------------------------- stacks */

static int put_node(struct grt_bpf_nodes *n, const struct grt_bpf_hit *hit, const struct known *k,
		    uint64_t correlation)
{
	struct grt_ev_node e = {
		.e = grt_bpf_nodes_head(hit, correlation ? 0 : DEFINED_NS, GRT_EV_NODE, sizeof(e))};

	e.e.seqno = correlation;
	e.node = k->node;
	e.caller = k->caller;
	e.ip = k->ip;
	e.module = k->module;
	e.function = k->function;
	e.file = k->file;
	e.line = k->line;
	return grt_bpf_put(n->capture, &e.e, hit->cpu);
}

static int grt_bpf_nodes_add_node_as(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
				     const struct grt_key *key, struct known *k)
{
	void *found;
	int ret = grt_keyed_get_or_replace(&n->node, key, NULL, &found);

	if (ret)
		return ret;
	if (*(uint32_t *)found) {
		k->node = *(uint32_t *)found;
		return 0;
	}
	*(uint32_t *)found = k->node = ++i->nodes;
	return put_node(n, hit, k, 0);
}

static int grt_bpf_nodes_add_node(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
				  struct known *k)
{
	const struct grt_key key = {{(uint64_t)i->number << 32 | k->caller, k->ip}};

	return grt_bpf_nodes_add_node_as(n, i, hit, &key, k);
}

static const struct {
	bool known;
	const char *text;
} grt_bpf_nodes_roots[GRT_BPF_STACK_ENDS] = {
#define GRT_STACK_ROOT(NAME, text, END, meaning) [GRT_STACK_END_##END] = {true, text},
#define GRT_STACK_ROOT_BPF(text, END, meaning) [GRT_STACK_END_##END] = {true, text},
#include <grtrace/stack_roots.def>
#undef GRT_STACK_ROOT
};

/*
 * The node below the outermost frame has the reason why the stack ends, if it is known. Its address is not
 * that of a frame.
 */
static int grt_bpf_nodes_add_root(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
				  struct known *k)
{
	struct grt_key key = {{(uint64_t)i->number << 32, hit->end}};
	const char *text;

	*k = (struct known){.node = 0};
	if (!grt_bpf_nodes_roots[hit->end % GRT_BPF_STACK_ENDS].known)
		return 0;
	text = grt_bpf_nodes_roots[hit->end % GRT_BPF_STACK_ENDS].text;
	if (text && !grt_keyed_find(&n->node, &key))
		k->function = grt_bpf_nodes_put_string(n, i, hit, text);
	return grt_bpf_nodes_add_node_as(n, i, hit, &key, k);
}

/** struct walk - a stack in progress: return addresses, innermost first */
struct walk {
	uint64_t ip[BPF_STACK_DEPTH + 1];
	uint32_t module[BPF_STACK_DEPTH + 1];
	unsigned int depth;
	bool shown;
};

static void note_unmapped(struct grt_bpf_nodes *n, struct image *i)
{
	n->unread += i->ended && !i->unread;
	i->unread |= i->ended;
}

/* Return: 1: it is a frame, 0: the walk was misled, or -ENOMEM */
static int grt_bpf_nodes_add_frame(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
				   struct walk *w, uint64_t ip)
{
	const struct mapping *m = NULL;
	bool python = grt_bpf_python_is(ip);
	int ret = python ? 0 : grt_bpf_nodes_look_up(n, i, hit, ip, &m);

	if (!m && !python)
		note_unmapped(n, i);
	if (ret || (!m && !hit->walked))
		return ret;
	if (m && m->hidden && !w->shown)
		return 1;
	/* the innermost address is not a return address; names are looked up one byte before each address */
	w->ip[w->depth] = ip + (hit->correlation || w->depth || python ? 0 : 1);
	w->module[w->depth++] = m ? m->module : 0;
	w->shown = true;
	return 1;
}

/* The caller of the function, which the kernel may leave out at the function's first instruction. */
static int grt_bpf_nodes_walk_stack(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
				    const uint64_t *ip, unsigned int depth, struct walk *w)
{
	bool left_out = !hit->walked && hit->caller && (depth < 2 || ip[1] != hit->caller);
	int ret = 1;

	for (unsigned int k = 0; k < depth && ret > 0; k++) {
		ret = grt_bpf_nodes_add_frame(n, i, hit, w, ip[k]);
		if (!k && ret > 0 && left_out && grt_bpf_nodes_find_mapping(i, hit->caller))
			ret = grt_bpf_nodes_add_frame(n, i, hit, w, hit->caller);
	}
	n->cut += !ret;
	return ret < 0 ? ret : 0;
}

/* Keys of strings of code objects, among those of nodes. */
#define FUNCTION_OF UINT64_MAX
#define FILE_OF (UINT64_MAX - 1)

/* A text of a code object, each stored once. Return: its number; 0: no memory */
static uint32_t grt_bpf_nodes_python_string(struct grt_bpf_nodes *n, struct image *i,
					    const struct grt_bpf_hit *hit, uint64_t word, uint64_t what,
					    const char *text)
{
	const struct grt_key key = {{(uint64_t)i->number << 32 | PYTHON_PLACE(word), what}};
	void *found;

	if (!text || grt_keyed_get_or_replace(&n->node, &key, NULL, &found))
		return 0;
	if (!*(uint32_t *)found)
		*(uint32_t *)found = grt_bpf_nodes_put_string(n, i, hit, text);
	return *(uint32_t *)found;
}

/* Adds a frame of Python below @caller, and makes it the caller. */
static int grt_bpf_nodes_add_python(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
				    uint64_t word, struct known *caller)
{
	const struct grt_key key = {{(uint64_t)i->number << 32 | caller->node, word}};
	struct known k = {.caller = caller->node};
	struct grt_bpf_python at;
	int ret;

	if (!grt_bpf_python_find(word, &at))
		return 0;
	if (!grt_keyed_find(&n->node, &key)) {
		k.function = grt_bpf_nodes_python_string(n, i, hit, word, FUNCTION_OF, at.function);
		k.file = grt_bpf_nodes_python_string(n, i, hit, word, FILE_OF, at.file);
		k.line = at.line;
	}
	ret = grt_bpf_nodes_add_node_as(n, i, hit, &key, &k);
	*caller = k;
	return ret;
}

static int build_stack(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
		       const uint64_t *ip, unsigned int depth, struct known *out)
{
	struct walk w = {.depth = 0};
	int ret;

	ret = grt_bpf_nodes_walk_stack(n, i, hit, ip, depth, &w) ?: grt_bpf_nodes_add_root(n, i, hit, out);
	while (w.depth-- > 0 && !ret) {
		if (grt_bpf_python_is(w.ip[w.depth])) {
			ret = grt_bpf_nodes_add_python(n, i, hit, w.ip[w.depth], out);
			continue;
		}
		*out = (struct known){.ip = w.ip[w.depth], .module = w.module[w.depth], .caller = out->node};
		ret = grt_bpf_nodes_add_node(n, i, hit, out);
	}
	return ret;
}

/* Looks up a stack in the table of stacks, once. */
static int grt_bpf_nodes_find_stack(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
				    struct known *out)
{
	struct grt_key key = {{(uint64_t)i->number << 32 | hit->stack,
			       hit->caller + ((uint64_t)hit->end << STACK_END_SHIFT << 32)}};
	struct known *known = grt_keyed_find(&n->stack, &key);
	uint64_t ip[BPF_STACK_DEPTH];
	unsigned int depth;
	void *found;
	int ret;

	if (known) {
		*out = *known;
		return 0;
	}
	*out = (struct known){.node = 0};
	if (!hit->stack ||
	    !grt_bpf_stacks_look_up(n->map, n->walked, BPF_STACKS_MAX, hit->stack - 1, ip, &depth))
		return 0;
	ret = build_stack(n, i, hit, ip, depth, out)
		      ?: grt_keyed_get_or_replace(&n->stack, &key, NULL, &found);
	if (!ret)
		*(struct known *)found = *out;
	return ret;
}

/* ---------------------------------------------------------------- calls */

static int grt_bpf_nodes_put_call(struct grt_bpf_nodes *n, struct image *i, const struct grt_bpf_hit *hit,
				  uint32_t node)
{
	struct grt_ev_launch l = {.e = grt_bpf_nodes_head(hit, 0, GRT_EV_LAUNCH, sizeof(l))};

	l.begin = hit->time;
	l.correlation = ++i->calls;
	l.node = node;
	l.call = (uint16_t)hit->function;
	l.stack = node ? 1 : 2;
	return grt_bpf_put(n->capture, &l.e, hit->cpu);
}

/* Return: whether the runtime's function was entered already: both calls are one launch. */
static bool grt_bpf_nodes_is_nested(struct grt_bpf_nodes *n, const struct image *i,
				    const struct grt_bpf_hit *hit)
{
	const struct mapping *m =
		hit->function & GRT_CUDA_DRIVER ? grt_bpf_nodes_find_mapping(i, hit->caller) : NULL;

	n->nested += m && m->runtime;
	return m && m->runtime;
}

static bool nodes_who(const void *record, size_t size, struct grt_event *who)
{
	const struct grt_bpf_hit *hit = record;

	if (size != sizeof(*hit) && size != sizeof(*hit) + BPF_STACK_DEPTH * sizeof(uint64_t))
		return false;
	who->time = hit->time;
	who->tid = hit->tid;
	return !hit->depth || (hit->depth <= BPF_STACK_DEPTH && size > sizeof(*hit));
}

static int nodes_take(void *own, const void *record, size_t size)
{
	const struct grt_bpf_hit *hit = record;
	struct grt_bpf_nodes *n = own;
	struct known stack;
	struct image *i;
	int ret = grt_bpf_nodes_find_image(n, hit, &i);

	n->ends[hit->end % GRT_BPF_STACK_ENDS]++;
	if (ret || grt_bpf_nodes_is_nested(n, i, hit))
		return ret;
	if (hit->depth)
		ret = build_stack(n, i, hit, (const uint64_t *)(hit + 1), hit->depth, &stack);
	else
		ret = grt_bpf_nodes_find_stack(n, i, hit, &stack);
	if (ret)
		return ret;
	if (!n->launches)
		return grt_bpf_nodes_put_call(n, i, hit, stack.node);
	return stack.node ? put_node(n, hit, &stack, hit->correlation) : 0;
}

/* This decoder needs no look outside. */
static bool nodes_look(void *own)
{
	return false;
}

static int nodes_settle(void *own)
{
	return 0;
}

static void note_unread(const struct grt_bpf_nodes *n)
{
	char text[160];

	if (!n->unread || !n->note)
		return;
	grt_say_text(
		text, sizeof(text),
		"%llu of %u {program|programs} ended before their mappings could be read: their calls have no stack, or a part of it",
		(unsigned long long)n->unread, n->images);
	n->note(text);
}

static int end_launches(void *own)
{
	note_unread(own);
	return 0;
}

static void nodes_describe(void *own, char *text, size_t room)
{
	const struct grt_bpf_nodes *n = own;
	size_t used = (size_t)snprintf(text, room, "programs=%u nested=%llu cut=%llu unread=%llu ended=%llu ",
				       n->images, (unsigned long long)n->nested, (unsigned long long)n->cut,
				       (unsigned long long)n->unread, (unsigned long long)n->ended);

	grt_bpf_stacks_ends_text(n->ends, text + used, room - used);
}

static void nodes_close(void *own)
{
	struct grt_bpf_nodes *n = own;
	struct image **at;

	if (!n)
		return;
	for (at = grt_keyed_oldest(&n->image); at; at = grt_keyed_next(&n->image, at))
		free_image(*at);
	grt_keyed_free(&n->image);
	grt_keyed_free(&n->stack);
	grt_keyed_free(&n->node);
	maps_close(&n->early);
	free(n);
}

static int nodes_open(void **own, void *capture, bool launches, const struct source_setup *setup,
		      struct grt_err *err)
{
	struct grt_bpf_nodes *n = calloc(1, sizeof(*n));

	*own = n;
	if (!n)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for stacks");
	n->capture = capture;
	n->launches = launches;
	n->note = setup->note;
	n->map = grt_bpf_own_map(capture, "stacks");
	n->walked = grt_bpf_own_map(capture, "walked");
	grt_keyed_init(&n->image, sizeof(struct image *), IMAGES_MAX);
	grt_keyed_init(&n->stack, sizeof(struct known), STACKS_MAX);
	grt_keyed_init(&n->node, sizeof(uint32_t), NODES_MAX);
	return 0;
}

static int open_launches(void **own, void *capture, const struct source_setup *setup, struct grt_err *err)
{
	return nodes_open(own, capture, true, setup, err);
}

const struct grt_bpf_decoder grt_bpf_nodes_of_launches = {
	.open = open_launches,
	.who = nodes_who,
	.take = nodes_take,
	.look = nodes_look,
	.settle = nodes_settle,
	.end = end_launches,
	.describe = nodes_describe,
	.close = nodes_close,
};

static int open_calls(void **own, void *capture, const struct source_setup *setup, struct grt_err *err)
{
	int ret = nodes_open(own, capture, false, setup, err);

	if (!ret)
		read_early(*own, setup->pid);
	return ret;
}

/* Calls that have not returned make no events. */
static int end_calls(void *own)
{
	struct grt_bpf_nodes *n = own;
	struct grt_bpf_hit end = {.time = grt_now()};
	struct image **at;
	int ret = 0;

	note_unread(n);
	for (at = grt_keyed_oldest(&n->image); at && !ret; at = grt_keyed_next(&n->image, at)) {
		end.pid = end.tid = (*at)->pid;
		ret = grt_bpf_nodes_put_process(n, *at, &end, 3);
	}
	return ret;
}

const struct grt_bpf_decoder grt_bpf_nodes_of_calls = {
	.open = open_calls,
	.who = nodes_who,
	.take = nodes_take,
	.look = nodes_look,
	.settle = nodes_settle,
	.end = end_calls,
	.describe = nodes_describe,
	.close = nodes_close,
};

#endif /* GRT_HAVE_BPF */
