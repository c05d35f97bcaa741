// SPDX-License-Identifier: GPL-2.0
/*
 * A program, a runtime and a driver that are called like CUDA's and do nothing, for
 * uprobes (tests/cli/uprobe.sh): compiled three times, with -DRUNTIME, -DDRIVER and
 * neither.
 *
 * program N [at-once|stop]: has more mappings than the kernel shows at a time, waits for
 * a line on standard input, then makes N calls of the runtime and half as many of the
 * driver, and a fifth as many of graphs, and ends: with at-once now, else when a
 * recorder that began it has read its mappings. With stop, it stops itself after the first
 * call and after the last one.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int cuLaunchKernel(void *f);
int cuGraphLaunch(void *g);
int cudaLaunchKernel(void *f);

/* What is behind a call keeps it from being the last thing a function does: its frame stays. */
#define KEEP_FRAME() __asm__ volatile("" : : : "memory")

#if defined(DRIVER)

int cuLaunchKernel(void *f)
{
	KEEP_FRAME();
	return !f;
}

int cuGraphLaunch(void *g)
{
	KEEP_FRAME();
	return !g;
}

#elif defined(RUNTIME)

int cudaLaunchKernel(void *f)
{
	return cuLaunchKernel(f) + 1;
}

#else

__attribute__((noinline)) static void layer(void)
{
	cudaLaunchKernel(NULL);
	KEEP_FRAME();
}

__attribute__((noinline)) static void by_driver(void)
{
	cuLaunchKernel(NULL);
	KEEP_FRAME();
}

__attribute__((noinline)) static void graph(void)
{
	cuGraphLaunch(NULL);
	KEEP_FRAME();
}

/* The recorder that began this program or its shell. Return: its pid, 0: there is none */
static int find_recorder(void)
{
	char path[32], name[32];
	int pid = getppid(), parent;

	for (; pid > 1; pid = parent) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		f = fopen(path, "r");
		if (!f || fscanf(f, "%*d (%31[^)]) %*c %d", name, &parent) != 2)
			return 0;
		fclose(f);
		if (!strcmp(name, "grtrace"))
			return pid;
	}
	return 0;
}

/* A recorder that the kernel has woken is not asleep, also when it is stopped or has no processor. */
static int is_asleep(int pid)
{
	char path[32], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'S';
	if (f)
		fclose(f);
	return state == 'S';
}

/* It sleeps now and then while it reads: it is done when it has slept for so many looks. */
#define LOOKS 20

static void await_recorder(void)
{
	int pid = find_recorder(), looks = 0;

	while (pid && looks < LOOKS) {
		usleep(10000);
		looks = is_asleep(pid) ? looks + 1 : 0;
	}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, stops = argc > 2 && !strcmp(argv[2], "stop"), i;

	for (i = 0; i < 100; i++)
		mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (getchar() == EOF)
		return 1;
	for (i = 0; i < n; i++) {
		layer();
		if (stops && !i)
			raise(SIGSTOP);
		if (i % 2)
			by_driver();
		if (i % 5 == 0)
			graph();
	}
	if (stops)
		raise(SIGSTOP);
	if (argc < 3)
		await_recorder();
	return 0;
}

#endif
