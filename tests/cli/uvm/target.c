// SPDX-License-Identifier: GPL-2.0
/*
 * A program that has the driver's file open: target FILE [MS [MS]]. It opens it MS after it began, which is
 * at once without, tells so on standard output, and ends when its standard input does, or MS later.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void nap(const char *ms)
{
	struct timespec t = {.tv_sec = atoi(ms) / 1000, .tv_nsec = atoi(ms) % 1000 * 1000000L};

	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	char c;

	/* a file that the shell left open, such as /dev/null, may be of the device's number */
	close_range(3, ~0U, 0);
	if (argc > 2)
		nap(argv[2]);
	if (open(argv[1], O_RDWR | O_CLOEXEC) < 0)
		return perror(argv[1]), 1;
	puts("open");
	fflush(stdout);
	if (argc > 3)
		nap(argv[3]);
	else
		while (read(0, &c, 1) > 0)
			;
	return 0;
}
