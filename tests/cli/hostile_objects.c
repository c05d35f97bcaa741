// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_objects GOOD BAD TURNS [BYTES]: sleeps 3 ms each in calls through good_call() of one library,
 * bad_call() of another, and code made at run time, whose perf-PID.map gets so many bytes.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef void call(void (*fn)(void));

static void doze(void)
{
	const struct timespec t = {.tv_nsec = 3000000};

	nanosleep(&t, NULL);
}

static call *load(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_NOW);
	call *found = handle ? (call *)dlsym(handle, name) : NULL;

	if (!found)
		exit(1);
	return found;
}

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static call *make(FILE *map, long bytes)
{
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || !map)
		exit(1);
	memcpy(at, code, sizeof(code));
	fprintf(map, "%lx 1000 jitted_code\n", (long)at);
	fflush(map);
	if (bytes && ftruncate(fileno(map), bytes))
		exit(1);
	return (call *)at;
}

int main(int argc, char **argv)
{
	char name[64];
	call *good, *bad, *made;
	FILE *map;

	if (argc < 4)
		return 2;
	good = load(argv[1], "good_call");
	bad = load(argv[2], "bad_call");
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(name, "w");
	made = make(map, argc > 4 ? atol(argv[4]) : 0);
	for (int i = 0; i < atoi(argv[3]); i++) {
		good(doze);
		bad(doze);
		made(doze);
	}
	fclose(map);
	unlink(name);
	return 0;
}
