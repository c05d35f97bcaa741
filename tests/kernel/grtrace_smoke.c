// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of grtrace.ko: its control files, limits, buffer and streams, by
 * events injected through `emit`. TAP version 13; leaves the module stopped,
 * empty and at its defaults.
 *
 *	make; sudo ./grtrace_smoke [PART OF A TITLE]
 */
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "kmod.h"
#include "smoke.h"
#include "tap.h"

static const struct tap_case cases[] = {
#define SMOKE(name, title) {title, smoke_##name},
#include "smoke.def"
#undef SMOKE
};

/* A case that failed has left its files open, and its streams with them. */
static void before_case(void)
{
	int fd;

	for (fd = STDERR_FILENO + 1; fd < 64; fd++)
		close(fd);
	kmod_reset();
}

int main(int argc, char **argv)
{
	const char *missing = kmod_missing();
	int status;

	if (argc > 2) {
		fprintf(stderr, "Usage: grtrace_smoke [PART OF A TITLE]\n");
		return 2;
	}
	if (missing)
		return tap_skip_all("%s", missing);
	if (kmod_stat("reader_pid", NULL))
		return tap_skip_all("process %llu reads the trace: stop it first",
				    (unsigned long long)kmod_stat("reader_pid", NULL));
	status = tap_run(cases, sizeof(cases) / sizeof(cases[0]), before_case, argv[1]);
	before_case();
	return status;
}
