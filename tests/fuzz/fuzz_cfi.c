// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: unwind tables. The input is an object file's loaded part with
 * its .eh_frame_hdr in front, and the addresses that are asked for. Whatever it
 * says, nothing beside it is read, and a rule that comes out is one that the
 * unwinder can follow. Half of the inputs are changes to tables that a compiler
 * wrote: those of this program. A bit says the machine.
 *
 * Runs without --soak: 20000
 */
#include "../../inject/cfi.c"

#include <link.h>
#include <stdlib.h>

#define CHECK(x) ((x) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct grt_arch *arch;

static void check_place(const struct grt_cfi_place *p)
{
	CHECK(p->base <= GRT_CFI_CFA);
}

static void ask(const struct grt_cfi_object *o, uint64_t pc)
{
	struct grt_cfi_rule rule;
	int err = grt_cfi_find(o, pc, &rule);

	CHECK(!err || err == -ENOENT || err == -EBADMSG || err == -EOPNOTSUPP);
	if (err || rule.end)
		return;
	check_place(&rule.cfa);
	check_place(&rule.ra);
	check_place(&rule.fp);
	CHECK(rule.cfa.base == GRT_CFI_SP || rule.cfa.base == GRT_CFI_FP);
	CHECK(rule.ra.base != GRT_CFI_NONE || arch->links);
}

static void check_row(void *arg, uint64_t pc, const struct grt_cfi_rule *rule)
{
	(void)arg, (void)pc;
	if (!rule || rule->end)
		return;
	check_place(&rule->cfa);
	check_place(&rule->ra);
	check_place(&rule->fp);
}

static void ask_for_all(const struct grt_cfi_object *o)
{
	int err = grt_cfi_all(o, &(struct grt_cfi_visit){.row = check_row});

	CHECK(!err || err == -EBADMSG);
}

/* This program's own tables, header and all, as one block. */
struct tables {
	const uint8_t *start;
	size_t size;
};

static int find_tables(struct dl_phdr_info *info, size_t size, void *data)
{
	struct tables *t = data;
	const uint8_t *end = NULL;

	(void)size;
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			t->start = (const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (ElfW(Half) i = 0; t->start && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint8_t *at = (const uint8_t *)(info->dlpi_addr + p->p_vaddr);

		if (p->p_type == PT_LOAD && t->start >= at && t->start < at + p->p_memsz)
			end = at + p->p_memsz;
	}
	t->size = end ? (size_t)(end - t->start) : 0;
	return 1;
}

#define BLOCK_MAX (256 << 10)

/* The tables and a copy of them that is as they are, for all inputs: another copy for each would take most of
 * the time. */
static uint8_t *copy_tables(struct tables *t)
{
	static struct tables own;
	static uint8_t *copy;

	if (!copy) {
		dl_iterate_phdr(find_tables, &own);
		if (own.size > BLOCK_MAX)
			own.size = BLOCK_MAX;
		CHECK(own.size > 1000 && (copy = malloc(own.size)));
		memcpy(copy, own.start, own.size);
	}
	*t = own;
	return copy;
}

static uint32_t place_of_change(const uint8_t *data)
{
	return data[0] | data[1] << 8 | (data[2] & 3) << 16;
}

/* Pairs of (where, what) change bytes of the copy; the tables' addresses are counted from where they lie. */
static void changed_tables(const uint8_t *data, size_t size)
{
	static unsigned int asked; /* one that is found is tried alone, and then is the first */
	struct grt_cfi_object o = {.arch = arch, .spans = 1};
	uint32_t where, pair[2];
	struct tables t;
	uint8_t *copy = copy_tables(&t);

	for (size_t i = 0; i + 4 <= size; i += 4) {
		where = place_of_change(data + i);
		copy[where % t.size] = data[i + 3];
	}
	o.header = o.span[0] = (struct grt_cfi_span){copy, copy + t.size};
	for (uint32_t i = 0; i < 64; i++) {
		memcpy(pair, copy + 12 + 8 * (size_t)(i * 7), sizeof(pair));
		ask(&o, (uint64_t)((int64_t)(uintptr_t)copy + (int32_t)pair[0] + (int32_t)i));
	}
	if (asked++ % 16 == 0)
		ask_for_all(&o);
	for (size_t i = 0; i + 4 <= size; i += 4) {
		where = place_of_change(data + i) % t.size;
		copy[where] = t.start[where];
	}
}

static void raw_tables(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	struct grt_cfi_object o = {.arch = arch, .spans = 1};
	uint64_t pc;

	CHECK(copy);
	memcpy(copy, data, size);
	o.header = o.span[0] = (struct grt_cfi_span){copy, copy + size};
	for (size_t at = 0; at + 8 <= size && at < 64; at += 8) {
		memcpy(&pc, copy + at, sizeof(pc));
		ask(&o, pc);
		ask(&o, (uintptr_t)copy + (uint32_t)pc % (size * 2));
	}
	ask(&o, (uintptr_t)copy);
	ask(&o, 0);
	ask_for_all(&o);
	free(copy);
}

/* A program of call frame instructions and expressions by itself, which the fuzzer reaches soonest. */
static void program(const uint8_t *data, size_t size)
{
	struct grt_cfi_object o = {.arch = arch, .spans = 1};
	struct cie cie = {.code_align = 1, .data_align = -8, .fde_encoding = 0};
	struct program p = {.arch = arch, .cie = &cie};
	struct grt_cfi_rule rule = {.end = false};
	uint8_t *copy = malloc(size);

	CHECK(copy);
	memcpy(copy, data, size);
	o.header = o.span[0] = (struct grt_cfi_span){copy, copy + size};
	p.row.cfa_reg = arch->sp;
	p.row.cfa_offset = 8;
	p.row.ra = (struct saved){AT_CFA, -8, NULL};
	p.initial = p.row;
	if (!cfi_run(&p, (struct cursor){copy, copy + size, false}, 50, &o))
		cfi_finish(&(struct where){arch, 50, copy + size}, &p.row, &rule);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 9 || size > 1 << 16)
		return 0;
	arch = data[0] & 4 ? &grt_arch_aarch64 : &grt_arch_x86_64;
	switch (data[0] % 4) {
	case 0:
		raw_tables(data + 1, size - 1);
		break;
	case 1:
		program(data + 1, size - 1);
		break;
	default:
		changed_tables(data + 1, size - 1);
	}
	return 0;
}
