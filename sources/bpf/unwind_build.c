// SPDX-License-Identifier: GPL-2.0
/* Converts call frame information to rows, see unwind_build.h. */
#include "unwind_build.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef GRT_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef GRT_HAVE_ZSTD
#include <zstd.h>
#endif

#include "inject/arch.h"
#include "inject/cfi.h"
#include "inject/python_format.h"
#include "base/bisect.h"

/** struct build - a table on its way; @shift: is taken off an address of the file in memory to have its own
 */
struct build {
	struct unwind_table *t;
	uint64_t shift;
};

/* Whether it is words below the CFA, or nowhere. */
static bool is_below(const struct grt_cfi_place *p)
{
	return p->base == GRT_CFI_NONE || (!p->deref && p->base == GRT_CFI_CFA && p->offset < 0 &&
					   !(p->offset % 8) && (uint32_t)-p->offset / 8 <= ROW_SAVED_MAX);
}

static uint32_t words_below(const struct grt_cfi_place *p)
{
	return p->base == GRT_CFI_NONE ? 0 : (uint32_t)-p->offset / 8;
}

static bool is_short(const struct grt_cfi_rule *r)
{
	const struct grt_cfi_place *cfa = &r->cfa;

	return !cfa->deref && cfa->offset >= 0 && !(cfa->offset % 8) &&
	       (uint32_t)cfa->offset / 8 <= ROW_WORDS_MAX && is_below(&r->ra) && is_below(&r->fp) &&
	       r->link.base == GRT_CFI_NONE;
}

static uint32_t short_rule(const struct grt_cfi_rule *r)
{
	return (r->cfa.base == GRT_CFI_SP ? ROW_RSP : ROW_RBP) | words_below(&r->fp) << ROW_RBP_SHIFT |
	       words_below(&r->ra) << ROW_RA_SHIFT | (uint32_t)r->cfa.offset / 8 << ROW_WORDS_SHIFT;
}

static struct unwind_place long_place(const struct grt_cfi_place *p)
{
	static const uint16_t base[] = {
		[GRT_CFI_SP] = LONG_RSP, [GRT_CFI_FP] = LONG_RBP, [GRT_CFI_CFA] = LONG_CFA};

	return (struct unwind_place){base[p->base], p->deref, p->offset, p->after};
}

/* Long rules are few. */
static uint32_t long_rule(struct unwind_table *t, const struct grt_cfi_rule *r)
{
	const struct unwind_long l = {long_place(&r->cfa), long_place(&r->ra), long_place(&r->fp),
				      long_place(&r->link)};
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
	return ROW_LONG | (i - 1) << ROW_WORDS_SHIFT;
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

/* A function directly after another one leaves no gap; rows that repeat the row before are removed. */
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

/* Finds a section by its name; NULL: there is none, or its bytes are not in the file. */
static const Elf64_Shdr *section_of(const uint8_t *file, size_t size, const char *name)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)file;
	const Elf64_Shdr *s, *names;
	size_t length = strlen(name) + 1;

	if (e->e_shentsize != sizeof(*s) || e->e_shoff % 8 || e->e_shoff > size ||
	    e->e_shnum > (size - e->e_shoff) / sizeof(*s) || e->e_shstrndx >= e->e_shnum)
		return NULL;
	s = (const Elf64_Shdr *)(file + e->e_shoff);
	names = &s[e->e_shstrndx];
	if (!is_within(names->sh_offset, names->sh_size, size))
		return NULL;
	for (unsigned int i = 0; i < e->e_shnum; i++)
		if (s[i].sh_name < names->sh_size && names->sh_size - s[i].sh_name >= length &&
		    !memcmp(file + names->sh_offset + s[i].sh_name, name, length) &&
		    s[i].sh_type != SHT_NOBITS && is_within(s[i].sh_offset, s[i].sh_size, size))
			return &s[i];
	return NULL;
}

/* Programs that are linked statically have no header of the table, only the table's section. */
static void find_section(const uint8_t *file, size_t size, struct parts *parts)
{
	const Elf64_Shdr *s = section_of(file, size, ".eh_frame");

	if (s && s->sh_flags & SHF_ALLOC)
		parts->frames = (struct part){s->sh_offset, s->sh_addr, s->sh_size};
}

static int find_parts(struct unwind_table *t, const uint8_t *file, size_t size, struct parts *parts)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)file;
	const struct part *part = &parts->header;
	const Elf64_Phdr *p;

	if (size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    !grt_arch_of(e->e_machine) || e->e_phentsize != sizeof(*p) || e->e_phoff % 8 ||
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

/* ---------------------------------------------------------------- CPython */

/** struct image - a file: its sections, and its segments */
struct image {
	const uint8_t *file;
	size_t size;
	const Elf64_Shdr *section;
	unsigned int sections;
	const Elf64_Phdr *segment;
	unsigned int segments;
};

static struct image image_of(const uint8_t *file, size_t size)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)file;
	struct image i = {file, size, NULL, 0, (const Elf64_Phdr *)(file + e->e_phoff), e->e_phnum};

	if (e->e_shentsize == sizeof(*i.section) && !(e->e_shoff % 8) &&
	    is_within(e->e_shoff, (uint64_t)e->e_shnum * sizeof(*i.section), size)) {
		i.section = (const Elf64_Shdr *)(file + e->e_shoff);
		i.sections = e->e_shnum;
	}
	return i;
}

/* Return: the bytes of the file at an address; NULL: there are fewer. */
static const void *image_at(const struct image *i, uint64_t address, uint64_t bytes)
{
	for (unsigned int k = 0; k < i->segments; k++) {
		const Elf64_Phdr *p = &i->segment[k];
		uint64_t at = address - p->p_vaddr;

		if (p->p_type == PT_LOAD && address >= p->p_vaddr && is_within(at, bytes, p->p_filesz) &&
		    is_within(p->p_offset, p->p_filesz, i->size))
			return i->file + p->p_offset + at;
	}
	return NULL;
}

enum { RUNTIME, EVAL, CODE_TYPE, VERSION, SEND, PYTHON_NAMES };

static void see_symbol(const char *name, size_t room, const Elf64_Sym *symbol, Elf64_Sym *found)
{
	static const char *const names[PYTHON_NAMES] = {"_PyRuntime", "_PyEval_EvalFrameDefault",
							"PyCode_Type", "Py_Version", "PyIter_Send"};

	if (room < 3 || symbol->st_shndx == SHN_UNDEF || (memcmp(name, "_Py", 3) && memcmp(name, "Py", 2)))
		return;
	for (unsigned int i = 0; i < PYTHON_NAMES; i++)
		if (room > strlen(names[i]) && !memcmp(name, names[i], strlen(names[i]) + 1))
			found[i] = *symbol;
}

/* Looks into a table of symbols. Return: whether it has the symbols that are required */
static bool find_symbols(const struct image *i, const Elf64_Shdr *table, Elf64_Sym *found)
{
	const Elf64_Shdr *strings = &i->section[table->sh_link];
	const Elf64_Sym *symbol;

	if (table->sh_link >= i->sections || table->sh_offset % 8 ||
	    !is_within(table->sh_offset, table->sh_size, i->size) ||
	    !is_within(strings->sh_offset, strings->sh_size, i->size))
		return false;
	symbol = (const Elf64_Sym *)(i->file + table->sh_offset);
	for (uint64_t n = table->sh_size / sizeof(*symbol); n-- > 0; symbol++)
		if (symbol->st_name < strings->sh_size)
			see_symbol((const char *)i->file + strings->sh_offset + symbol->st_name,
				   strings->sh_size - symbol->st_name, symbol, found);
	return found[RUNTIME].st_value && found[EVAL].st_value && found[CODE_TYPE].st_value;
}

/* 3.11 on say it themselves; PyIter_Send() came with 3.10. 0: it is older */
static unsigned int minor_of(const struct image *i, const Elf64_Sym *found)
{
	const uint8_t *version = image_at(i, found[VERSION].st_value, 8);

	if (found[VERSION].st_value && version)
		return version[3] == 3 ? version[2] : 0;
	return found[SEND].st_value ? GRT_PYTHON_FIRST : 0;
}

/* .eh_frame_hdr as all linkers write it: a sorted table of where functions, or parts of them, begin. */
#define HEADER_BYTES 12
#define HEADER_START "\x01\x1b\x03\x3b"

/** struct starts - that table: @n rows at @row, relative to the address @from */
struct starts {
	const int32_t (*row)[2];
	uint32_t n;
	uint64_t from;
};

static struct starts starts_of(const struct image *i, const struct part *header)
{
	const uint8_t *at = image_at(i, header->address, header->size);
	struct starts s = {NULL, 0, header->address};

	if (!at || header->size < HEADER_BYTES || (uintptr_t)at % 4 || memcmp(at, HEADER_START, 4))
		return s;
	s.row = (const int32_t(*)[2])(at + HEADER_BYTES);
	memcpy(&s.n, at + 8, sizeof(s.n));
	if (s.n > (header->size - HEADER_BYTES) / sizeof(*s.row))
		s.n = 0;
	return s;
}

/* The part that an address is in, as its row; UINT32_MAX: it is in none, or begins there. */
static uint32_t part_within(const struct starts *s, uint64_t address)
{
	uint32_t low = grt_bisect(s->n, i, s->from + (uint64_t)(int64_t)s->row[i][0] <= address);

	if (!low || low == s->n || s->from + (uint64_t)(int64_t)s->row[low - 1][0] == address)
		return UINT32_MAX;
	return low - 1;
}

/*
 * The compiler may place the rarely executed part of a function elsewhere, and no symbol names it. Only the
 * function itself jumps into the middle of it, so it is the part to which most jumps lead.
 */
static void find_cold(struct unwind_python *p, const struct image *i, const struct part *header)
{
	const uint8_t *code = image_at(i, p->eval, p->eval_end - p->eval);
	const struct starts s = starts_of(i, header);
	const struct grt_arch *arch = grt_arch_of(((const Elf64_Ehdr *)i->file)->e_machine);
	uint64_t size = p->eval_end - p->eval, to;
	uint32_t best = UINT32_MAX, votes = 0, part;

	for (uint64_t at = 0; code && at + GRT_ARCH_JUMP <= size; at += arch->step) {
		to = arch->jump(code + at, p->eval + at);
		part = to && to - p->eval >= size ? part_within(&s, to) : UINT32_MAX;
		if (part == UINT32_MAX)
			continue;
		best = votes ? best : part;
		votes += part == best ? 1 : -1U;
	}
	if (!votes)
		return;
	p->cold = s.from + (uint64_t)(int64_t)s.row[best][0];
	p->cold_end = s.from + (uint64_t)(int64_t)s.row[best + 1][0];
}

static void find_python(struct unwind_table *t, const uint8_t *file, size_t size, const struct part *header)
{
	const struct image i = image_of(file, size);
	Elf64_Sym found[PYTHON_NAMES] = {0};
	struct unwind_python *p = &t->python;
	uint64_t words[GRT_PYTHON_OFFSETS] = {0};
	const void *runtime;
	unsigned int k, minor;

	for (k = 0; k < i.sections; k++)
		if ((i.section[k].sh_type == SHT_DYNSYM || i.section[k].sh_type == SHT_SYMTAB) &&
		    find_symbols(&i, &i.section[k], found))
			break;
	if (k == i.sections)
		return;
	runtime = image_at(&i, found[RUNTIME].st_value, sizeof(words));
	if (runtime)
		memcpy(words, runtime, sizeof(words));
	minor = minor_of(&i, found);
	if (!grt_python_layout(minor, words, &p->layout))
		return;
	p->minor = minor;
	p->runtime = found[RUNTIME].st_value;
	p->code_type = found[CODE_TYPE].st_value;
	p->eval = found[EVAL].st_value;
	p->eval_end = p->eval + found[EVAL].st_size;
	find_cold(p, &i, header);
}

/* ---------------------------------------------------------------- .debug_frame */

/* Limit for the unpacked size of a compressed section. */
#define UNPACKED_MAX (128ULL << 20)

static bool unpack_zlib(const uint8_t *from, size_t size, uint8_t *to, size_t room)
{
#ifdef GRT_HAVE_ZLIB
	uLongf n = room;

	return uncompress(to, &n, from, size) == Z_OK && n == room;
#else
	return false;
#endif
}

static bool unpack_zstd(const uint8_t *from, size_t size, uint8_t *to, size_t room)
{
#ifdef GRT_HAVE_ZSTD
	return ZSTD_decompress(to, room, from, size) == room;
#else
	return false;
#endif
}

/* ELFCOMPRESS_ZSTD, which older headers lack. */
#define PACKED_BY_ZSTD 2

/* Bytes of a section that is compressed, for free(); NULL: it cannot be unpacked. */
static uint8_t *unpack(const uint8_t *from, size_t size, size_t *unpacked)
{
	bool done = false;
	Elf64_Chdr h;
	uint8_t *to;

	if (size < sizeof(h))
		return NULL;
	/* Go's linker puts it at odd places */
	memcpy(&h, from, sizeof(h));
	if (h.ch_size > UNPACKED_MAX)
		return NULL;
	to = malloc(h.ch_size ?: 1);
	*unpacked = h.ch_size;
	if (to && h.ch_type == ELFCOMPRESS_ZLIB)
		done = unpack_zlib(from + sizeof(h), size - sizeof(h), to, h.ch_size);
	else if (to && h.ch_type == PACKED_BY_ZSTD)
		done = unpack_zstd(from + sizeof(h), size - sizeof(h), to, h.ch_size);
	if (done)
		return to;
	free(to);
	return NULL;
}

/** struct gaps - a table of which the first @rows are .eh_frame's, sorted */
struct gaps {
	struct build build;
	uint32_t rows;
};

static bool has_rule(const struct gaps *g, uint64_t address)
{
	const uint64_t *row = g->build.t->row, limit = address << 32 | UINT32_MAX;
	uint32_t low = grt_bisect(g->rows, i, row[i] <= limit);

	return low && (uint32_t)row[low - 1] != ROW_NONE;
}

static void add_in_gap(void *arg, uint64_t pc, const struct grt_cfi_rule *r)
{
	struct gaps *g = arg;

	if (!has_rule(g, pc))
		add_row(&g->build, pc, r);
}

/* Adds rows for code that has none yet: assembly, and code whose rules are only for debuggers. */
static void add_debug_frame(struct unwind_table *t, const uint8_t *file, size_t size,
			    const struct grt_arch *arch)
{
	const Elf64_Shdr *s = section_of(file, size, ".debug_frame");
	struct gaps gaps = {{.t = t}, t->rows};
	struct grt_cfi_object o = {.arch = arch, .spans = 1, .debug = true};
	const struct grt_cfi_visit visit = {add_in_gap, &gaps};
	const uint8_t *bytes = s ? file + s->sh_offset : NULL;
	size_t n = s ? s->sh_size : 0;
	uint8_t *unpacked = NULL;

	if (s && s->sh_flags & SHF_COMPRESSED)
		bytes = unpacked = unpack(bytes, n, &n);
	if (!bytes || !n)
		return;
	o.frames = o.span[0] = (struct grt_cfi_span){bytes, bytes + n};
	grt_cfi_all(&o, &visit);
	free(unpacked);
	sort_rows(t);
}

/* ---------------------------------------------------------------- code that no table has */

/* The code to which signal handlers return is in the vdso, or in the C library. */
static void add_sigreturn(struct unwind_table *t, const uint8_t *file, size_t size,
			  const struct grt_arch *arch)
{
	struct gaps gaps = {{.t = t}, t->rows};
	const uint8_t *at, *end;
	uint64_t address;

	for (uint32_t i = 0; arch->sigreturn && i < t->segments; i++) {
		const struct unwind_segment *s = &t->segment[i];

		if (!is_within(s->offset, s->size, size))
			continue;
		end = file + s->offset + s->size;
		at = file + s->offset;
		while ((at = memmem(at, (size_t)(end - at), arch->sigreturn, arch->sigreturn_size))) {
			address = s->address + (uint64_t)(at - (file + s->offset));
			at += arch->sigreturn_size;
			/* it is looked up by the byte in front of it, as if it had been called from there */
			add_in_gap(&gaps, address - arch->step, arch->sigreturn_rule);
			add_in_gap(&gaps, address + arch->sigreturn_size, NULL);
		}
	}
	sort_rows(t);
}

/*
 * On processors whose calls set a link register, linkers make no table for a PLT: its entries jump on, the
 * first one after saving two registers.
 */
static void add_plt(struct unwind_table *t, const uint8_t *file, size_t size, const struct grt_arch *arch)
{
	const Elf64_Shdr *s = section_of(file, size, ".plt");
	struct gaps gaps = {{.t = t}, t->rows};
	uint64_t pushed;

	if (!arch->links || !s || !(s->sh_flags & SHF_EXECINSTR))
		return;
	pushed = arch->plt_pushed(file + s->sh_offset, file + s->sh_offset + s->sh_size);
	add_in_gap(&gaps, s->sh_addr, &arch->plt_rule[0]);
	if (pushed) {
		add_in_gap(&gaps, s->sh_addr + pushed, &arch->plt_rule[1]);
		add_in_gap(&gaps, s->sh_addr + GRT_ARCH_PLT_FIRST, &arch->plt_rule[0]);
	}
	add_in_gap(&gaps, s->sh_addr + s->sh_size, NULL);
	sort_rows(t);
}

/* ---------------------------------------------------------------- the whole */

static struct grt_cfi_span span_of(const uint8_t *file, const struct part *p)
{
	if (!p->size)
		return (struct grt_cfi_span){NULL, NULL};
	return (struct grt_cfi_span){file + p->offset, file + p->offset + p->size};
}

static void add_eh_frame(struct unwind_table *t, const uint8_t *file, const struct parts *parts,
			 const struct grt_arch *arch)
{
	struct grt_cfi_object o = {.arch = arch,
				   .header = span_of(file, &parts->header),
				   .frames = span_of(file, &parts->frames),
				   .spans = 1};
	const uint8_t *held = file + parts->holder->p_offset;
	struct build build = {t, (uintptr_t)held - parts->holder->p_vaddr};
	const struct grt_cfi_visit visit = {add_row, &build};

	o.span[0] = (struct grt_cfi_span){held, held + parts->holder->p_filesz};
	/* what stands in front of an error is right */
	grt_cfi_all(&o, &visit);
	sort_rows(t);
}

void unwind_build(struct unwind_table *t, const void *file, size_t size)
{
	struct parts parts = {.holder = NULL};
	int ret = find_parts(t, file, size, &parts);
	const struct grt_arch *arch;

	t->ret = ret;
	if (ret == -ENOEXEC)
		return;
	arch = grt_arch_of(((const Elf64_Ehdr *)file)->e_machine);
	if (!ret) {
		find_python(t, file, size, &parts.header);
		add_eh_frame(t, file, &parts, arch);
	}
	add_debug_frame(t, file, size, arch);
	add_sigreturn(t, file, size, arch);
	add_plt(t, file, size, arch);
	if (t->rows)
		t->ret = 0;
}
