// SPDX-License-Identifier: GPL-2.0
/* From call frame information to rows, see unwind_build.h. */
#include "unwind_build.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "inject/cfi.h"

/** struct build - a table on its way; @shift: is taken off an address of the file in memory to have its own
 */
struct build {
	struct unwind_table *t;
	uint64_t shift;
};

static bool is_short(const struct grt_cfi_rule *r)
{
	const struct grt_cfi_place *cfa = &r->cfa, *rbp = &r->rbp;

	if (cfa->deref || r->ra.deref || r->ra.base != GRT_CFI_CFA || r->ra.offset != -8)
		return false;
	if (cfa->offset < 0 || cfa->offset % 8 || (uint32_t)cfa->offset / 8 > ROW_WORDS_MAX)
		return false;
	if (rbp->base == GRT_CFI_NONE)
		return true;
	return !rbp->deref && rbp->base == GRT_CFI_CFA && rbp->offset < 0 && !(rbp->offset % 8) &&
	       (uint32_t)-rbp->offset / 8 <= ROW_RBP_WORDS_MAX;
}

static uint32_t short_rule(const struct grt_cfi_rule *r)
{
	uint32_t saved = r->rbp.base == GRT_CFI_NONE ? 0 : (uint32_t)-r->rbp.offset / 8;

	return (r->cfa.base == GRT_CFI_RSP ? ROW_RSP : ROW_RBP) | saved << 4 |
	       (uint32_t)r->cfa.offset / 8 << 11;
}

static struct unwind_place long_place(const struct grt_cfi_place *p)
{
	static const uint16_t base[] = {
		[GRT_CFI_RSP] = LONG_RSP, [GRT_CFI_RBP] = LONG_RBP, [GRT_CFI_CFA] = LONG_CFA};

	return (struct unwind_place){base[p->base], p->deref, p->offset, p->after};
}

/* Long rules are few. */
static uint32_t long_rule(struct unwind_table *t, const struct grt_cfi_rule *r)
{
	const struct unwind_long l = {long_place(&r->cfa), long_place(&r->ra), long_place(&r->rbp)};
	uint32_t i = t->longs;

	while (i && memcmp(&t->rule[i - 1], &l, sizeof(l)))
		i--;
	if (!i && t->longs == UNWIND_LONGS_MAX) {
		t->dropped++;
		return ROW_NONE;
	}
	if (!i) {
		t->rule[t->longs] = l;
		i = ++t->longs;
	}
	return ROW_LONG | (i - 1) << 11;
}

static void add_row(void *arg, uint64_t pc, const struct grt_cfi_rule *r)
{
	struct build *b = arg;
	struct unwind_table *t = b->t;
	uint64_t address = pc - b->shift;
	uint32_t rule = ROW_NONE;

	if (address >> 31 || t->rows == UNWIND_ROWS_MAX) {
		t->dropped++;
		return;
	}
	if (r && r->end)
		rule = ROW_END;
	else if (r)
		rule = (is_short(r) ? short_rule(r) : long_rule(t, r)) | (r->signal ? ROW_SIGNAL : 0);
	t->row[t->rows++] = address << 32 | rule;
}

static int compare_rows(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Where a function begins right behind another one there is no gap; rows that say nothing new go. */
static void sort_rows(struct unwind_table *t)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < t->rows; i++)
		if (t->row[i] < t->row[i - 1]) {
			qsort(t->row, t->rows, sizeof(*t->row), compare_rows);
			break;
		}
	for (uint32_t i = 0; i < t->rows; i++) {
		if (n && t->row[n - 1] >> 32 == t->row[i] >> 32)
			n--;
		if (!n || (uint32_t)t->row[n - 1] != (uint32_t)t->row[i])
			t->row[n++] = t->row[i];
	}
	t->rows = n;
}

static bool is_within(uint64_t offset, uint64_t bytes, size_t size)
{
	return offset <= size && bytes <= size - offset;
}

/** struct part - @size bytes of a file at @offset, which have @address in memory; @size 0: it has none */
struct part {
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

/** struct parts - of a file: .eh_frame_hdr or, where it has none, .eh_frame; @holder: the segment that has it
 */
struct parts {
	struct part header;
	struct part frames;
	const Elf64_Phdr *holder;
};

static void note_code(struct unwind_table *t, const Elf64_Phdr *p)
{
	if (p->p_type == PT_LOAD && p->p_flags & PF_X && t->segments < UNWIND_SEGMENTS)
		t->segment[t->segments++] = (struct unwind_segment){p->p_offset, p->p_vaddr, p->p_filesz};
}

/* Programs that are linked statically have no header of the table, only the table's section. */
static void find_section(const uint8_t *file, size_t size, struct parts *parts)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)file;
	const Elf64_Shdr *s, *names;
	static const char name[] = ".eh_frame";

	if (e->e_shentsize != sizeof(*s) || e->e_shoff % 8 || e->e_shoff > size ||
	    e->e_shnum > (size - e->e_shoff) / sizeof(*s) || e->e_shstrndx >= e->e_shnum)
		return;
	s = (const Elf64_Shdr *)(file + e->e_shoff);
	names = &s[e->e_shstrndx];
	if (names->sh_offset > size || names->sh_size > size - names->sh_offset)
		return;
	for (unsigned int i = 0; i < e->e_shnum; i++)
		if (s[i].sh_name < names->sh_size && names->sh_size - s[i].sh_name >= sizeof(name) &&
		    !memcmp(file + names->sh_offset + s[i].sh_name, name, sizeof(name)) &&
		    s[i].sh_type != SHT_NOBITS && s[i].sh_flags & SHF_ALLOC)
			parts->frames = (struct part){s[i].sh_offset, s[i].sh_addr, s[i].sh_size};
}

static int find_parts(struct unwind_table *t, const uint8_t *file, size_t size, struct parts *parts)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)file;
	const struct part *part = &parts->header;
	const Elf64_Phdr *p;

	if (size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->e_machine != EM_X86_64 || e->e_phentsize != sizeof(*p) || e->e_phoff % 8 ||
	    e->e_phoff > size || e->e_phnum > (size - e->e_phoff) / sizeof(*p))
		return -ENOEXEC;
	p = (const Elf64_Phdr *)(file + e->e_phoff);
	for (unsigned int i = 0; i < e->e_phnum; i++) {
		note_code(t, &p[i]);
		if (p[i].p_type == PT_GNU_EH_FRAME)
			parts->header = (struct part){p[i].p_offset, p[i].p_vaddr, p[i].p_filesz};
	}
	if (!part->size) {
		find_section(file, size, parts);
		part = &parts->frames;
	}
	for (unsigned int i = 0; part->size && i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && part->address - p[i].p_vaddr < p[i].p_filesz)
			parts->holder = &p[i];
	return parts->holder && is_within(parts->holder->p_offset, parts->holder->p_filesz, size) &&
			       is_within(part->offset, part->size, size)
		       ? 0
		       : -ENODATA;
}

static struct grt_cfi_span span_of(const uint8_t *file, const struct part *p)
{
	if (!p->size)
		return (struct grt_cfi_span){NULL, NULL};
	return (struct grt_cfi_span){file + p->offset, file + p->offset + p->size};
}

void unwind_build(struct unwind_table *t, const void *file, size_t size)
{
	struct grt_cfi_object o = {.spans = 1};
	const struct grt_cfi_visit visit = {add_row, &(struct build){.t = t}};
	const uint8_t *bytes = file;
	struct parts parts = {.holder = NULL};

	t->ret = find_parts(t, bytes, size, &parts);
	if (t->ret)
		return;
	o.header = span_of(bytes, &parts.header);
	o.frames = span_of(bytes, &parts.frames);
	o.span[0] = (struct grt_cfi_span){bytes + parts.holder->p_offset,
					  bytes + parts.holder->p_offset + parts.holder->p_filesz};
	((struct build *)visit.arg)->shift =
		(uintptr_t)bytes + parts.holder->p_offset - parts.holder->p_vaddr;
	/* what stands in front of an error is right */
	grt_cfi_all(&o, &visit);
	sort_rows(t);
}
