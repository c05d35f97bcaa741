// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeps COUNT times for a moment, each time with another stack: the bits of
 * the sleep's number, from the lowest, are which of two functions was called. A
 * second thread sleeps 20 times for 1 ms, and then for a second at the same place.
 *
 *	many_stacks COUNT
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define BITS 17

/* Something behind the call, so that it is none in tail position, and different in different functions. */
#define BEHIND(what) __asm__ volatile("nop # " #what ::: "memory")

static void zero(unsigned long bits, int left);
static void one(unsigned long bits, int left);

static __attribute__((noinline)) void doze(long ns)
{
	struct timespec t = {.tv_nsec = ns};

	nanosleep(&t, NULL);
	BEHIND(doze);
}

static void call_next(unsigned long bits, int left)
{
	if (!left)
		doze(1);
	else if (bits & 1)
		one(bits >> 1, left - 1);
	else
		zero(bits >> 1, left - 1);
}

__attribute__((noinline)) static void zero(unsigned long bits, int left)
{
	call_next(bits, left);
	BEHIND(zero);
}

__attribute__((noinline)) static void one(unsigned long bits, int left)
{
	call_next(bits, left);
	__asm__ volatile("nop; nop" ::: "memory");
}

static void *sleeper(void *arg)
{
	for (int i = 0; i <= 20; i++)
		doze(i < 20 ? 1000000 : 999999999);
	return arg;
}

int main(int argc, char **argv)
{
	unsigned long count = strtoul(argc > 1 ? argv[1] : "1", NULL, 10);
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleeper, NULL))
		return 1;
	for (unsigned long i = 0; i < count; i++)
		call_next(i, BITS);
	pthread_join(thread, NULL);
	return 0;
}
