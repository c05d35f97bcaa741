// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of grtrace.ko: its control files, limits, buffer and streams, by
 * events injected through `emit`. TAP version 13; leaves the module stopped,
 * empty and at its defaults.
 *
 *	make; sudo ./grtrace_smoke [PART OF A TITLE]
 */
#include "smoke.h"

static const struct tap_case cases[] = {
#define SMOKE(name, title) {title, smoke_##name},
#include "smoke.def"
#undef SMOKE
};

int main(int argc, char **argv)
{
	return suite_main("grtrace_smoke", NULL, cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
