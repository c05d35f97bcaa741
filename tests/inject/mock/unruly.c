// SPDX-License-Identifier: GPL-2.0
/*
 * unruly SCENE: a program that does to itself what programs do: closes all descriptors, goes into a
 * chroot, gives up rights, limits itself, runs others, unloads libraries. What it prints depends on
 * nothing but itself.
 */
#include "mock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KERNEL "_Z6kernelPfS_i"
#define FILES 40

int cudaRuntimeGetVersion(int *version);

extern char **environ;

static void launches(unsigned int n)
{
	while (n--)
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, KERNEL);
}

static void pause_ms(long ms)
{
	struct timespec t = {.tv_nsec = ms * 1000000};

	nanosleep(&t, NULL);
}

static void launch_for_a_while(void)
{
	for (int i = 0; i < 40; i++)
		launches(3), pause_ms(10);
}

/* ------------------------------------------------------------ descriptors */

static int is_log(int fd)
{
	const char *log = getenv("MOCK_LOG");
	char at[32], name[4096];
	ssize_t n;

	snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
	n = readlink(at, name, sizeof(name) - 1);
	name[n > 0 ? n : 0] = '\0';
	return log && !strcmp(name, log);
}

static void close_all(void)
{
	for (int fd = 3; fd < 1024; fd++)
		if (!is_log(fd))
			close(fd);
}

static void write_mine(const int *mine)
{
	for (int i = 0; i < FILES; i++)
		if (write(mine[i], "mine\n", 5) != 5)
			abort();
}

static unsigned int count_spoilt(const int *mine)
{
	char text[64];
	unsigned int n = 0;

	for (int i = 0; i < FILES; i++)
		n += pread(mine[i], text, sizeof(text), 0) != 10 || memcmp(text, "mine\nmine\n", 10) ||
		     !(fcntl(mine[i], F_GETFD) + 1) || lseek(mine[i], 0, SEEK_CUR) != 10;
	return n;
}

/* As daemon programs do; the numbers get files of its own. */
static void closes(void)
{
	int mine[FILES], status;
	char path[32];

	launches(100);
	pause_ms(50);
	if (chdir("elsewhere"))
		abort();
	close_all();
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "mine_%d", i);
		mine[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	}
	write_mine(mine);
	launch_for_a_while();
	if (!fork()) {
		status = 0;
		for (int i = 0; i < FILES; i++)
			status += fcntl(mine[i], F_GETFD) < 0;
		_exit(status);
	}
	wait(&status);
	write_mine(mine);
	printf("%u files spoilt, %d closed in a child\n", count_spoilt(mine), WEXITSTATUS(status));
}

/* ----------------------------------------------------------------- rights */

static void jail(void)
{
	launches(100);
	pause_ms(50);
	if (chroot("elsewhere") || chdir("/"))
		abort();
	launch_for_a_while();
	printf("jailed: %s\n", access("/proc", F_OK) ? "no /proc" : "/proc");
}

static void poor(void)
{
	launches(100);
	pause_ms(50);
	if (setgid(65534) || setuid(65534))
		abort();
	launch_for_a_while();
	printf("user %d\n", (int)getuid());
}

/* ----------------------------------------------------------------- limits */

static void *launch_some(void *arg)
{
	launches(50);
	return arg;
}

/* No descriptor, and hardly any memory. */
static void limits(void)
{
	const struct rlimit none = {3, 3}, little = {1, 1};
	unsigned int n = 0;
	pthread_t thread[30];

	launches(100);
	pause_ms(50);
	for (int i = 0; i < 30; i++)
		n += !pthread_create(&thread[i], NULL, launch_some, NULL);
	if (setrlimit(RLIMIT_NOFILE, &none) || setrlimit(RLIMIT_AS, &little))
		abort();
	for (unsigned int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	launch_for_a_while();
	printf("%u threads\n", n);
}

/* ---------------------------------------------------------- other programs */

static void spawn(void)
{
	char *args[] = {"unruly", "child", NULL};
	int status;
	pid_t pid;

	launches(10);
	for (int i = 0; i < 3; i++) {
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, environ))
			abort();
		waitpid(pid, &status, 0);
		printf("status %d\n", status);
		fflush(stdout);
	}
	pid = vfork();
	if (!pid) {
		execl("/proc/self/exe", "unruly", "child", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	launches(10);
	printf("status %d\n", status);
}

/* Threads end while what they did is being written, and one goes on when the program ends. */
static void *launch_and_end(void *arg)
{
	launches(20);
	if (arg)
		pthread_exit(arg);
	return NULL;
}

static void threads_end(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	unsigned int n = 0;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 200; i++) {
		n += !pthread_create(&thread, &attr, launch_and_end, (void *)(size_t)(i & 1));
		pause_ms(i % 16 ? 0 : 5);
	}
	pause_ms(300);
	printf("%u threads\n", n);
}

/* A thread that has been cancelled is the first one to call CUDA, which does not end it. */
static void *begin_cancelled(void *begun)
{
	pthread_cancel(pthread_self());
	*(int *)begun = !cuInit(0);
	pthread_testcancel();
	return NULL;
}

static int cancelled(void)
{
	void *ended = NULL;
	pthread_t thread;
	int begun = 0;

	if (pthread_create(&thread, NULL, begin_cancelled, &begun) || pthread_join(thread, &ended))
		abort();
	launches(20);
	printf("CUDA %s, thread %s\n", begun ? "begun" : "not begun",
	       ended == PTHREAD_CANCELED ? "cancelled" : "ended");
	return 0;
}

/* ---------------------------------------------------------------- libraries */

/* Code that has launched goes away, and comes again elsewhere. */
static void unload(void)
{
	void (*play)(void (*launch)(unsigned int n));
	unsigned int n = 0;
	void *handle;

	for (int i = 0; i < 30; i++) {
		handle = dlopen("./libplugin.so", RTLD_NOW);
		if (!handle)
			abort();
		*(void **)&play = dlsym(handle, "play");
		play(launches);
		n += !dlclose(handle);
		pause_ms(i % 8 ? 0 : 20);
	}
	printf("%u times\n", n);
}

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = {
	{"closes", closes}, {"jail", jail},	      {"poor", poor},	  {"limits", limits},
	{"spawn", spawn},   {"threads", threads_end}, {"unload", unload},
};

int main(int argc, char **argv)
{
	int runtime;

	if (argc == 2 && !strcmp(argv[1], "cancelled"))
		return cancelled();
	if (argc < 2 || cudaRuntimeGetVersion(&runtime) || cuInit(0))
		return 2;
	if (!strcmp(argv[1], "child")) {
		launches(7);
		return 0;
	}
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (!strcmp(argv[1], scenes[i].name)) {
			scenes[i].play();
			return 0;
		}
	return 2;
}
