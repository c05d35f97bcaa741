/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of this directory share: a stack as our walk, a walk
 * without memory and glibc's backtrace() see it must be one and the same.
 */
#ifndef TESTS_INJECT_UNWIND_CHECK_H
#define TESTS_INJECT_UNWIND_CHECK_H

#ifdef __cplusplus
extern "C" {
#endif

#include "../../../inject/unwind.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define MAX_FRAMES 1100
/* A sanitizer puts a function of its own before backtrace(). */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PEER_SKIP 2
#else
#define PEER_SKIP 1
#endif

/* struct stack - a stack, the innermost frame first */
struct stack {
	unsigned int count;
	uint32_t root;
	struct grt_unode frame[MAX_FRAMES];
};

extern struct grt_unwind_thread *memory_of_walks(void);
extern unsigned long walks_checked;
extern bool in_made_context;

static inline void read_stack(uint32_t id, struct stack *s)
{
	s->count = 0;
	s->root = 0;
	while (id) {
		if (s->count == MAX_FRAMES || !grt_unwind_node(id, &s->frame[s->count])) {
			printf("# node %u is not there\n", id);
			abort();
		}
		if (s->frame[s->count].kind == GRT_UNODE_ROOT) {
			s->root = id;
			return;
		}
		id = s->frame[s->count++].parent;
	}
}

static inline const char *name_at(uint64_t address)
{
	Dl_info info;

	return dladdr((void *)(uintptr_t)(address - 1), &info) && info.dli_sname ? info.dli_sname : "?";
}

static inline void show(const char *what, const struct stack *s, void **peer, int peers)
{
	printf("# %s: root %u, %u frames\n", what, s->root, s->count);
	for (unsigned int i = 0; i < s->count && i < 60; i++)
		printf("#   %012lx%s module %u %s\n", (unsigned long)s->frame[i].address,
		       s->frame[i].guessed ? " guessed" : "", s->frame[i].module,
		       name_at(s->frame[i].address));
	for (int i = 0; i < peers && i < 60; i++)
		printf("#   backtrace: %12p %s\n", peer[i], name_at((uint64_t)(uintptr_t)peer[i]));
	fflush(stdout);
}

/*
 * same_frames - from frame @skip of ours and @peer_skip of backtrace()'s outward. Of interrupted code that
 * has the address itself, we have the one behind it; and it has the start of a function that makecontext()
 * made another one return to.
 */
static inline bool same_frames(const struct stack *s, unsigned int skip, void **peer, int peers,
			       int peer_skip)
{
	unsigned int interrupted = 0;

	if (in_made_context)
		peers--;
	if (s->root != GRT_ROOT_START || (int)(s->count - skip) != peers - peer_skip)
		return false;
	for (unsigned int i = skip; i < s->count; i++) {
		uint64_t theirs = (uint64_t)(uintptr_t)peer[peer_skip + (int)(i - skip)];

		if (s->frame[i].address == theirs)
			continue;
		if (s->frame[i].address != theirs + 1 || ++interrupted > 2)
			return false;
	}
	return true;
}

/*
 * check_here - compares three ways to see the caller's stack; prints and ends the process where they differ
 *
 * Returns the node of the caller's frame.
 */
static NOINLINE uint32_t check_here(const char *what)
{
	static __thread void *peer[MAX_FRAMES];
	static __thread struct stack s;
	struct grt_unwind_thread *how[2] = {memory_of_walks(), grt_unwind_thread_new()};
	uint32_t id[2];
	int peers;

	for (volatile int i = 0; i < 2; i++)
		id[i] = grt_unwind(how[i]);
	grt_unwind_thread_free(how[1]);
	peers = backtrace(peer, MAX_FRAMES);
	read_stack(id[0], &s);
	/* grt_unwind() and this function are the first frames, for backtrace() this function is. */
	if (id[0] != id[1] || !same_frames(&s, 2, peer, peers, PEER_SKIP)) {
		show("walk with memory", &s, peer, peers);
		read_stack(id[1], &s);
		show("walk without", &s, NULL, 0);
		printf("not ok - %s: the stacks differ\n", what);
		exit(1);
	}
	__atomic_add_fetch(&walks_checked, 1, __ATOMIC_RELAXED);
	return s.frame[1].parent;
}

static inline void passed(const char *what)
{
	printf("ok - %s\n", what);
	fflush(stdout);
}

static inline void must(bool condition, const char *what)
{
	if (condition) {
		passed(what);
		return;
	}
	printf("not ok - %s\n", what);
	exit(1);
}

#ifdef __cplusplus
}
#endif

#endif /* TESTS_INJECT_UNWIND_CHECK_H */
