// SPDX-License-Identifier: GPL-2.0
/* busy WAY: as busy.cc, in C: deep, sort. */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

static NOINLINE int work(int n)
{
	for (int i = 0; i < 40; i++)
		n += n / (i + 3) ^ i;
	return n;
}

static NOINLINE int deep(int n)
{
	volatile char room[40], *more = alloca(16 * (n % 5) + 8);

	room[n % 40] = more[0] = (char)n;
	if (n)
		return deep(n - 1) + room[n % 40] + more[0] + work(n);
	return work(room[0]);
}

static int compare(const void *a, const void *b)
{
	return work(*(const int *)a) - work(*(const int *)b);
}

static NOINLINE int sort(int n)
{
	int v[60];

	for (int i = 0; i < 60; i++)
		v[i] = work(n + i * 7919) % 1000;
	qsort(v, 60, sizeof(v[0]), compare);
	return v[0];
}

int main(int argc, char **argv)
{
	int sorts = argc > 1 && !strcmp(argv[1], "sort");

	for (int i = 0;; i++)
		sink = sink + (sorts ? sort(i % 13) : deep(i % 13 + 40));
}
