// SPDX-License-Identifier: GPL-2.0
/*
 * The same addresses mean different functions in different processes, so a user
 * stack's id belongs to (process, number); a kernel stack's to its number.
 */
#include "bpf_stacks.h"

#ifdef GRT_HAVE_BPF

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/shared.h"
#include "source.h"

/* Kernel stacks are of no process. */
#define KERNEL_PID 0xffffffffULL

/* Ids of a trace that are one source's. */
#define IDS SOURCE_RINGS

int bpf_stacks_init(struct bpf_stacks *s, int map, uint32_t base)
{
	*s = (struct bpf_stacks){.map = map, .base = base, .room = 2 * IDS};
	s->seen = calloc(s->room, sizeof(*s->seen));
	s->symbols = symbols_new();
	return s->seen && s->symbols ? 0 : -ENOMEM;
}

void bpf_stacks_fini(struct bpf_stacks *s)
{
	symbols_free(s->symbols);
	free(s->seen);
	*s = (struct bpf_stacks){.map = -1};
}

/* Its place, free or not; the table is never full, see give_id(). */
static uint32_t find_place(const struct bpf_stacks *s, uint64_t key)
{
	uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15ULL >> 40) % s->room;

	while (s->seen[at].key && s->seen[at].key != key)
		at = (at + 1) % s->room;
	return at;
}

/* The functions at a frame of a stack: a caller's address is behind its call. Return: 0 or -ENOMEM */
static int functions_at(struct bpf_stacks *s, const struct grt_event *e, const uint64_t *ip, unsigned int i,
			bool kernel, struct grt_symbols_found *found)
{
	uint64_t at = ip[i] - (i && ip[i]);

	return kernel ? symbols_kernel(s->symbols, at, found)
		      : symbols_user(s->symbols, (pid_t)e->pid, at, found);
}

/* What is inlined into a function is a frame of its own, at the same address. */
static int write_functions(struct grt_packer *p, unsigned int cpu, struct grt_ev_frame *f,
			   const struct grt_symbols_found *found)
{
	int ret = 0;

	for (unsigned int i = 0; i < found->frames && !ret; i++, f->index++) {
		memset(f->symbol, 0, sizeof(f->symbol));
		snprintf(f->symbol, sizeof(f->symbol), "%s", found->frame[i].function);
		ret = grt_packer_add(p, cpu, &f->e);
	}
	return ret;
}

static int write_frames(struct bpf_stacks *s, struct grt_packer *p, unsigned int cpu,
			const struct grt_event *e, uint32_t id, const uint64_t *ip, unsigned int depth,
			bool kernel)
{
	struct grt_ev_frame f = {.e = {.time = e->time,
				       .type = GRT_EV_FRAME,
				       .size = sizeof(f),
				       .flags = GRT_FLAG_BPF,
				       .ring = GRT_RING_NONE},
				 .stack = id};
	struct grt_symbols_found found;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < depth && !ret; i++) {
		ret = functions_at(s, e, ip, i, kernel, &found);
		f.depth += ret ? 0 : (uint16_t)found.frames;
	}
	for (i = 0; i < depth && !ret; i++) {
		f.ip = ip[i];
		ret = functions_at(s, e, ip, i, kernel, &found);
		ret = ret ?: write_functions(p, cpu, &f, &found);
	}
	/* too late for its place: the stack stays without frames */
	return ret == -ERANGE ? 0 : ret;
}

/* What our own program put on top of the kernel's stack. */
static bool is_ours(const char *symbol)
{
	return !strncmp(symbol, "bpf_", 4) || !strncmp(symbol, "__bpf_", 6) ||
	       !strncmp(symbol, "__traceiter_", 12);
}

/* The kernel's frames without ours. */
static unsigned int skip_ours(struct bpf_stacks *s, const uint64_t *ip, unsigned int depth)
{
	struct grt_symbols_found found;
	unsigned int n;

	for (n = 0; n < depth; n++)
		if (symbols_kernel(s->symbols, ip[n], &found) || !is_ours(found.frame[0].function))
			break;
	return n;
}

/*
 * Code that keeps no frame pointers leads the kernel's walk astray: what is in
 * no code of the process is no frame, and nothing behind it can be believed.
 */
static unsigned int cut_astray(struct bpf_stacks *s, pid_t pid, const uint64_t *ip, unsigned int depth)
{
	unsigned int n = 1;

	while (n < depth && symbols_is_code(s->symbols, pid, ip[n]))
		n++;
	return n;
}

/* Return: the id, 0 where the stack is not there any more, or -ENOMEM */
static int give_id(struct bpf_stacks *s, struct grt_packer *p, unsigned int cpu, const struct grt_event *e,
		   uint32_t number, bool kernel)
{
	uint64_t key = (kernel ? KERNEL_PID : e->pid) << 32 | number, ip[BPF_STACK_DEPTH] = {0};
	uint32_t at = find_place(s, key), stack = number - 1;
	unsigned int depth = 0, skip = 0;
	int ret;

	if (s->seen[at].key)
		return (int)s->seen[at].id;
	if (s->used == IDS - 1 || bpf_map_lookup_elem(s->map, &stack, ip))
		return 0;
	while (depth < BPF_STACK_DEPTH && ip[depth])
		depth++;
	if (kernel)
		skip = skip_ours(s, ip, depth);
	else if (depth)
		depth = cut_astray(s, (pid_t)e->pid, ip, depth);
	s->seen[at].key = key;
	s->seen[at].id = s->base + ++s->used;
	ret = write_frames(s, p, cpu, e, s->seen[at].id, ip + skip, depth - skip, kernel);
	return ret ? ret : (int)s->seen[at].id;
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
	if (e->type == GRT_EV_OFF_CPU)
		return PAIR(e, grt_ev_off_cpu);
	return e->type == GRT_EV_SAMPLE ? PAIR(e, grt_ev_sample) : (struct pair){NULL, NULL};
}

/* What was mapped in a process that has called exec, or whose number is used again, is not there any more. */
static void see_thread(struct bpf_stacks *s, const struct grt_ev_thread *e)
{
	if (e->e.pid == e->e.tid && e->what != GRT_THREAD_ENDED && e->what != GRT_THREAD_LEFT_ON)
		symbols_forget(s->symbols, (pid_t)e->e.pid);
}

int bpf_stacks_see(struct bpf_stacks *s, struct grt_packer *p, unsigned int cpu, struct grt_event *e)
{
	struct pair at = stacks_of(e);
	int user, kernel;

	if (e->type == GRT_EV_THREAD)
		see_thread(s, (const struct grt_ev_thread *)e);
	if (!at.user)
		return 0;
	user = *at.user ? give_id(s, p, cpu, e, *at.user, false) : 0;
	kernel = *at.kernel ? give_id(s, p, cpu, e, *at.kernel, true) : 0;
	if (user < 0 || kernel < 0)
		return -ENOMEM;
	*at.user = (uint32_t)user;
	*at.kernel = (uint32_t)kernel;
	return 0;
}

#endif /* GRT_HAVE_BPF */
