// SPDX-License-Identifier: GPL-2.0
/*
 * unwind_rows FILE: the unwind table that BPF programs get of an object file of any machine, a row a line:
 * address, what the CFA is counted from, bytes up to it, and bytes from there down to where frame pointer and
 * return address were saved, 0: they were not. "-": no rule; "end": the outermost frame; "long": another
 * rule.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "sources/bpf/unwind_build.h"

static void show_row(uint64_t row)
{
	static const char *const kinds[8] = {"-", "sp", "fp", "long", "end", "?", "?", "?"};
	uint32_t rule = (uint32_t)row, kind = ROW_KIND(rule);

	printf("%" PRIx64 " %s", row >> 32, kinds[kind]);
	if (kind == ROW_RSP || kind == ROW_RBP)
		printf(" %u %u %u", 8 * ROW_WORDS(rule), 8 * ROW_RBP_WORDS(rule), 8 * ROW_RA_WORDS(rule));
	printf("\n");
}

int main(int argc, char **argv)
{
	struct unwind_table *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	struct stat st;
	void *file;

	if (t == MAP_FAILED || fd < 0 || fstat(fd, &st))
		return 2;
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		return 2;
	unwind_build(t, file, (size_t)st.st_size);
	for (uint32_t i = 0; i < t->rows; i++)
		show_row(t->row[i]);
	return t->ret != 0;
}
