// SPDX-License-Identifier: GPL-2.0
/*
 * ends WAY SECONDS [LIBRARY...]: launches for so long, below frames from which a walk of the stack
 * goes on, or ends, for one reason: entry, jit (code without file and table, with a frame
 * pointer), no_table (such code of this file, without), unreadable (a rule leads out of the
 * stack), cut (more frames than a stack holds), table_full (code of libraries that have so many
 * rules that there is no room for those of all of them). With 0 seconds it launches once.
 */
#include "mock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int cuInit(unsigned int flags);
int cudaRuntimeGetVersion(int *version);

typedef void launch_fn(void);

/* It calls, with 8 in place of a frame pointer, and has no unwind table: no .cfi_startproc. */
void without_table(launch_fn *fn);
/* The same, and its rule has the frame 8 MiB further out than it is. */
void with_wrong_table(launch_fn *fn);
__asm__(".text\n"
	".type without_table,@function\n"
	"without_table:\n"
	"	push %rbp\n"
	"	mov $8,%ebp\n"
	"	call *%rdi\n"
	"	pop %rbp\n"
	"	ret\n"
	".size without_table,.-without_table\n"
	".type with_wrong_table,@function\n"
	"with_wrong_table:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	mov $8,%ebp\n"
	"	.cfi_def_cfa_offset 8388608\n"
	"	call *%rdi\n"
	"	.cfi_def_cfa_offset 16\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size with_wrong_table,.-with_wrong_table\n");

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char jit_code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

static volatile int sink;
static char **library;

static __attribute__((noinline)) void launch(void)
{
	mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "kernel");
	sink++;
}

static void entry(void)
{
	launch();
	sink++;
}

static void jit(void)
{
	static void *code;

	if (!code) {
		code = mmap(NULL, sizeof(jit_code), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		memcpy(code, jit_code, sizeof(jit_code));
		mprotect(code, sizeof(jit_code), PROT_READ | PROT_EXEC);
	}
	((void (*)(launch_fn *))code)(launch);
	sink++;
}

static void no_table(void)
{
	without_table(launch);
	sink++;
}

static void unreadable(void)
{
	with_wrong_table(launch);
	sink++;
}

static __attribute__((noinline)) int deep(int n)
{
	if (n)
		return deep(n - 1) + sink;
	launch();
	return sink;
}

static void cut(void)
{
	sink += deep(1200);
}

/* Each library's function calls that of the next one. */
static void through_libraries(void)
{
	static char **next;
	void (*through)(launch_fn *);
	void *opened;

	next = next ? next + 1 : library;
	opened = *next ? dlopen(*next, RTLD_NOW) : NULL;
	through = opened ? (void (*)(launch_fn *))(uintptr_t)dlsym(opened, "through") : NULL;
	if (through)
		through(through_libraries);
	else
		launch();
	next = NULL;
}

static const struct {
	const char *name;
	launch_fn *fn;
} ways[] = {{"entry", entry},		{"jit", jit}, {"no_table", no_table},
	    {"unreadable", unreadable}, {"cut", cut}, {"table_full", through_libraries}};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const double until = argc > 2 ? now() + atof(argv[2]) : 0;
	int version, launches = 0;

	library = argv + 3;
	if (cudaRuntimeGetVersion(&version) || cuInit(0))
		return 1;
	for (size_t i = 0; argc > 2 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, argv[1]))
			continue;
		do {
			ways[i].fn();
			launches++;
			usleep(3000);
		} while (now() < until);
	}
	printf("%d launches\n", launches);
	/* a recorder has time to look at the process */
	usleep(300000);
	return !launches;
}
