// SPDX-License-Identifier: GPL-2.0
/*
 * Makes many events: `handoff MS [US]`. Two threads hand a byte to and fro for so long; each time, both leave a
 * CPU. It pauses for US in between. Prints how often.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int to[2], fro[2];

static void *answer(void *arg)
{
	char c;

	while (read(to[0], &c, 1) == 1 && write(fro[1], &c, 1) == 1)
		;
	return arg;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double end = now_ms() + (argc > 1 ? atof(argv[1]) : 1000);
	useconds_t pause = argc > 2 ? (useconds_t)atoi(argv[2]) : 0;
	unsigned long n = 0;
	pthread_t thread;
	char c = 0;

	if (pipe(to) || pipe(fro) || pthread_create(&thread, NULL, answer, NULL))
		err(1, "handoff");
	for (; now_ms() < end; n++) {
		if (write(to[1], &c, 1) != 1 || read(fro[0], &c, 1) != 1)
			err(1, "handoff");
		if (pause)
			usleep(pause);
	}
	close(to[1]);
	pthread_join(thread, NULL);
	printf("%lu\n", n);
	return 0;
}
