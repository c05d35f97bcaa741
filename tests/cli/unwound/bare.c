// SPDX-License-Identifier: GPL-2.0
/*
 * bare WAY: sleeps again and again at the end of calls whose code has unwind tables
 * for debuggers only (.debug_frame), by the flags that it is compiled with.
 */
#include <alloca.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

static NOINLINE void nap(void)
{
	const struct timespec t = {0, 4000000};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);
	sink = sink + 1;
}

static NOINLINE int deep(int n)
{
	volatile char room[40], *more = alloca(16 * (n % 5) + 8);

	room[n % 40] = more[0] = (char)n;
	if (n)
		return deep(n - 1) + room[n % 40] + more[0];
	nap();
	return room[0];
}

int main(void)
{
	for (int i = 0; i < 250; i++)
		deep(i % 20);
	return sink == 1;
}
