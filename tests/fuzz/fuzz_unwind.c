// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: unwind tables of BPF programs, made from an object file of anybody's. The seeds are small
 * files that a compiler wrote, with and without .eh_frame_hdr. Whatever a file says, nothing beside it is
 * read, and a table that comes out is one that the programs can search: its rows are in order, and a rule
 * that is no word is there.
 *
 * Runs without --soak: 12000
 */
/* Less than the product has, or inputs that use it all take a minute under the sanitizers. */
#define ROW_BYTES_MAX (64U << 10)
#include "../../inject/cfi.c"
#include "../../sources/bpf/unwind_build.c"

#include <sys/mman.h>

#define CHECK(x) ((x) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_unwind_place(const struct unwind_place *p)
{
	CHECK(p->base <= LONG_CFA && p->deref <= 1);
}

static void check_unwind_row(const struct unwind_table *t, uint32_t i)
{
	uint32_t rule = (uint32_t)t->row[i];

	CHECK(!i || t->row[i - 1] >> 32 < t->row[i] >> 32);
	CHECK(ROW_KIND(rule) <= ROW_END && !(t->row[i] >> 63));
	CHECK(ROW_KIND(rule) != ROW_LONG || ROW_WORDS(rule) < t->longs);
}

static void check_unwind_table(const struct unwind_table *t)
{
	CHECK(t->ret == 0 || t->ret == -ENOEXEC || t->ret == -ENODATA);
	CHECK(t->rows <= UNWIND_ROWS_MAX && t->longs <= UNWIND_LONGS_MAX && t->segments <= UNWIND_SEGMENTS);
	CHECK(!t->ret || !t->rows);
	for (uint32_t i = 0; i < t->rows; i++)
		check_unwind_row(t, i);
	for (uint32_t i = 0; i < t->longs; i++) {
		check_unwind_place(&t->rule[i].cfa);
		check_unwind_place(&t->rule[i].ra);
		check_unwind_place(&t->rule[i].rbp);
		check_unwind_place(&t->rule[i].link);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct unwind_table *t;
	uint8_t *file = malloc(size ?: 1);

	if (!t)
		t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(file && t != MAP_FAILED);
	memcpy(file, data, size);
	memset(t, 0, offsetof(struct unwind_table, rule));
	unwind_build(t, file, size);
	check_unwind_table(t);
	free(file);
	return 0;
}
