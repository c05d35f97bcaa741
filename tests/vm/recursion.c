// SPDX-License-Identifier: GPL-2.0
/* recursion N: sleeps again and again in main, N + 1 calls of deep() and nap(), all without frame pointers.
 */
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

static NOINLINE void nap(void)
{
	usleep(20000);
	sink++;
}

static NOINLINE int deep(int n)
{
	volatile char room[40];

	room[n % 40] = 1;
	if (n)
		return deep(n - 1) + room[n % 40];
	for (int i = 0; i < 100; i++)
		nap();
	return room[0];
}

int main(int argc, char **argv)
{
	return deep(argc > 1 ? atoi(argv[1]) : 0) == 0;
}
