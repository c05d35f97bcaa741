// SPDX-License-Identifier: GPL-2.0
/*
 * A library that Python loads with ctypes: probe() gives the stack it is called
 * on as text, a line per frame; loop() measures walks.
 */
#include "../../../inject/python.h"
#include "../../../inject/unwind.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static __thread struct grt_unwind_thread *memory __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void start(void)
{
	if (grt_unwind_init(0, true) || grt_unwind_hide((const void *)(uintptr_t)start))
		abort();
}

static size_t print_frame(char *to, size_t room, const struct grt_unode *n)
{
	struct grt_pytext text;
	Dl_info info;

	if (n->kind == GRT_UNODE_PYTHON && grt_python_text(n->python, &text))
		return (size_t)snprintf(to, room, "python\t%s\t%s\t%u\n", text.function, text.file,
					text.line);
	if (n->kind != GRT_UNODE_NATIVE)
		return (size_t)snprintf(to, room, "%s\n", n->kind == GRT_UNODE_ROOT ? "root" : "python");
	if (!dladdr((void *)(uintptr_t)(n->address - 1), &info) || !info.dli_sname)
		info.dli_sname = "?";
	return (size_t)snprintf(to, room, "native\t%s\n", info.dli_sname);
}

static size_t print_stack(char *to, size_t room, uint32_t id)
{
	struct grt_unode n;
	size_t used = 0;

	while (id && grt_unwind_node(id, &n) && used < room) {
		if (n.kind == GRT_UNODE_ROOT)
			return used + (size_t)snprintf(to + used, room - used, "root\t%u\n", id);
		used += print_frame(to + used, room - used, &n);
		id = n.parent;
	}
	return used;
}

/* Returns false where a walk without memory sees another stack than one with it. */
int probe(char *to, size_t room);
int probe(char *to, size_t room)
{
	struct grt_unwind_thread *fresh = grt_unwind_thread_new();
	uint32_t id[2];

	if (!memory)
		memory = grt_unwind_thread_new();
	for (volatile int i = 0; i < 2; i++)
		id[i] = grt_unwind(i ? fresh : memory);
	grt_unwind_thread_free(fresh);
	to[0] = 0;
	print_stack(to, room, id[0]);
	return id[0] == id[1];
}

/* The code objects of the calls that run, innermost first. Return: their number */
unsigned int calls(const void **code, unsigned int max);
unsigned int calls(const void **code, unsigned int max)
{
	struct grt_pycall c;
	unsigned int n = 0;
	bool more;

	for (more = grt_python_call_first(&c); more && n < max; more = grt_python_call_outer(&c))
		code[n++] = c.code;
	return n;
}

const char *why_not(void);
const char *why_not(void)
{
	grt_unwind_refresh();
	return grt_python_why_not();
}

/* ns per walk of a stack whose innermost frame changes, and the number of frames. */
static __attribute__((noinline)) void one(void)
{
	__asm__ volatile("" ::"r"(grt_unwind(memory)));
}

static __attribute__((noinline)) void other(void)
{
	__asm__ volatile("" ::"r"(grt_unwind(memory)) : "memory");
}

double loop(long count);
double loop(long count)
{
	struct timespec begun, done;
	double took, best = 1e18;

	if (!memory)
		memory = grt_unwind_thread_new();
	for (int round = 0; round < 200; round++) {
		clock_gettime(CLOCK_MONOTONIC, &begun);
		for (long i = 0; i < count; i++)
			(i & 1 ? one : other)();
		clock_gettime(CLOCK_MONOTONIC, &done);
		took = (double)(done.tv_sec - begun.tv_sec) * 1e9 + (double)(done.tv_nsec - begun.tv_nsec);
		best = took < best ? took : best;
	}
	return best / (double)count;
}

static _Atomic int walked;

/* A thread that launches for ever, now and then. */
void walk_on(void);
void walk_on(void)
{
	memory = grt_unwind_thread_new();
	for (;;) {
		one();
		walked++;
		usleep(5000);
	}
}

int walks(void);
int walks(void)
{
	return walked;
}

/* What was freed gets words that look like addresses, while others walk. */
void reuse_memory(void);
void reuse_memory(void)
{
	int before = walked;
	uint64_t *at;

	for (size_t size = 64; size < 4096; size += 16)
		for (int i = 0; i < 64; i++) {
			at = malloc(size);
			for (size_t word = 0; at && word < size / 8; word++)
				at[word] = 0x100000001000;
		}
	usleep(100000);
	_exit(walked == before);
}
