// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: kernel logs, of their words (see words.h).
 *
 * Runs without --soak: 4000
 */
#define _GNU_SOURCE 1
#include "words.h"

static const char *const kernlog_words[] = {
	"\n[    1.000000] ",
	"\n<6>[  42.000001][T12] ",
	"\n4,1,42000001,-;",
	"\n[Wed Jan  1 00:00:01 2031] ",
	"\nkern  :warn  : ",
	"2031-01-01T00:00:00,123456+00:00 ",
	"\nDec 31 23:59:59 ",
	"\nJan  1 00:00:01 ",
	"\nMrz  1 00:00:01 ",
	"host kernel: ",
	"\nnode: kern: warning: [2031-01-01T00:00:00Z]: ",
	"NVRM: Xid (PCI:0000:01:00): ",
	"79, ",
	"pid=",
	"4711, ",
	"'<unknown>', ",
	"name=",
	"amdgpu: ring ",
	" timeout",
	" SXid (",
};

static const struct words kernlog = WORDS("[    0.000000] Linux version\n", kernlog_words);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_words(&kernlog, data, size);
	return 0;
}
