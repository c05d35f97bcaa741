// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Cubins through elfutils, see cubin.h. What the linker would do is done here, in a copy of the file: the
 * addresses in .debug_line get the number of their function's section in their upper half. Then lines of all
 * functions are in one order, and elfutils can sort them.
 */
#include "cubin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/compare.h"
#include "base/containers.h"

#ifdef GRT_HAVE_DW

#include <elfutils/libdw.h>
#include <elfutils/version.h>
#include <gelf.h>

/* Constants that <elf.h> does not have in all distributions. */
#define MACHINE_CUDA 190
#define RELOCATION_64 2
#define SECTION_SHIFT 32
#define TEXT ".text."
#define LINES ".debug_line"
#define PTX_LINES ".nv_debug_line_sass"
#define PTX_FILE "PTX"

#define FILE_MAX ((off_t)512 << 20)
#define TABLES_MAX 65536U
#define ROWS_MAX 16777216U

/**
 * struct function - the rows of a table that belong to one function
 * @table: the table; NULL: the numbers of its rows are unknown
 * @first: the first of the rows in the table
 * @twice, @repeats: index in grt_cubin.twice, and number, of the rows that only repeat the previous one
 */
struct function {
	Dwarf_Lines *table;
	size_t first;
	uint32_t twice;
	uint32_t repeats;
};

/**
 * struct row - from this address on
 * @file: NULL: no line, the end of a function
 * @at: in the table
 * @function: number of its function
 */
struct row {
	uint64_t address;
	const char *file;
	uint32_t line;
	uint32_t order;
	Dwarf_Line *at;
	uint32_t function;
};

/**
 * struct grt_cubin
 * @ptx: lines are those of the PTX
 * @twice: rows that repeat the previous one, counted from the first row of their function
 */
struct grt_cubin {
	char *image;
	size_t size;
	bool ptx;
	Elf *elf;
	Dwarf *dwarf;
	struct row *row;
	uint32_t rows, room;
	struct function *function;
	uint32_t functions, function_room;
	uint32_t *twice;
	uint32_t twices, twice_room;
};

/* e_ident and e_machine of a 64-bit file in this byte order */
bool grt_cubin_is(int fd)
{
	unsigned char head[20];

	return pread(fd, head, sizeof(head), 0) == sizeof(head) && !memcmp(head, ELFMAG, SELFMAG) &&
	       head[EI_CLASS] == ELFCLASS64 && head[EI_DATA] == ELFDATA2LSB &&
	       (head[18] | head[19] << 8) == MACHINE_CUDA;
}

static const char *cubin_section_name(const struct grt_cubin *c, const GElf_Shdr *sh)
{
	size_t names;

	return elf_getshdrstrndx(c->elf, &names) ? NULL : elf_strptr(c->elf, names, sh->sh_name);
}

/* The number of a function's section; 0: there is none */
static size_t cubin_function(const struct grt_cubin *c, const char *function, uint64_t *size)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(c->elf, scn))) {
		name = gelf_getshdr(scn, &sh) ? cubin_section_name(c, &sh) : NULL;
		if (!name || strncmp(name, TEXT, strlen(TEXT)) || strcmp(name + strlen(TEXT), function))
			continue;
		*size = sh.sh_size;
		return elf_ndxscn(scn);
	}
	return 0;
}

/* ------------------------------------------------------------- relocation */

/* In which section a symbol is, and at which offset. */
static uint64_t cubin_symbol(Elf *elf, Elf_Scn *symbols, size_t number)
{
	Elf_Data *data = symbols ? elf_getdata(symbols, NULL) : NULL;
	GElf_Sym sym;

	if (!data || number > INT32_MAX || !gelf_getsym(data, (int)number, &sym) ||
	    sym.st_shndx >= SHN_LORESERVE)
		return 0;
	return (uint64_t)sym.st_shndx << SECTION_SHIFT | (sym.st_value & UINT32_MAX);
}

static void cubin_write_address(struct grt_cubin *c, const GElf_Shdr *of, uint64_t at, uint64_t address,
				bool adds)
{
	uint64_t was;
	char *to;

	if (of->sh_type == SHT_NOBITS || of->sh_flags & SHF_COMPRESSED || of->sh_offset > c->size ||
	    of->sh_size > c->size - of->sh_offset || of->sh_size < sizeof(was) ||
	    at > of->sh_size - sizeof(was))
		return;
	to = c->image + of->sh_offset + at;
	memcpy(&was, to, sizeof(was));
	address += adds ? was & UINT32_MAX : 0;
	memcpy(to, &address, sizeof(address));
}

static void cubin_relocate_by(struct grt_cubin *c, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Scn *of = elf_getscn(elf, sh->sh_info), *symbols = elf_getscn(elf, sh->sh_link);
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	GElf_Shdr target;
	GElf_Rela r = {0};
	GElf_Rel rel;

	if (!of || !data || !gelf_getshdr(of, &target))
		return;
	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		if (sh->sh_type == SHT_RELA ? !gelf_getrela(data, (int)i, &r)
					    : !gelf_getrel(data, (int)i, &rel))
			return;
		if (sh->sh_type == SHT_REL)
			r = (GElf_Rela){.r_offset = rel.r_offset, .r_info = rel.r_info};
		if (GELF_R_TYPE(r.r_info) == RELOCATION_64)
			cubin_write_address(c, &target, r.r_offset,
					    cubin_symbol(elf, symbols, GELF_R_SYM(r.r_info)) +
						    ((uint64_t)r.r_addend & UINT32_MAX),
					    sh->sh_type == SHT_REL);
	}
}

/* Whether the section is the relocations of lines. */
static bool cubin_relocates_lines(const char *name)
{
	size_t prefix = name && !strncmp(name, ".rela.", 6) ? 5 : name && !strncmp(name, ".rel.", 5) ? 4 : 0;

	return prefix && (!strcmp(name + prefix, LINES) || !strcmp(name + prefix, PTX_LINES));
}

/*
 * Whether elfutils would unpack a section, to a thousand times its size. Compilers pack whole cubins, not
 * their sections. The names are in a section, too.
 */
static bool cubin_is_packed(Elf *elf, size_t names)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (!gelf_getshdr(scn, &sh) || sh.sh_flags & SHF_COMPRESSED)
			return true;
	while ((scn = elf_nextscn(elf, scn))) {
		name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		if (name && !strncmp(name, ".zdebug", 7))
			return true;
	}
	return false;
}

/* The file's headers are changed after its contents, because elfutils may have read the contents already. */
static int cubin_relocate(struct grt_cubin *c)
{
	Elf *elf = elf_memory(c->image, c->size);
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) || cubin_is_packed(elf, names)) {
		elf_end(elf);
		return -EBADMSG;
	}
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || (sh.sh_type != SHT_RELA && sh.sh_type != SHT_REL))
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (cubin_relocates_lines(name))
			cubin_relocate_by(c, elf, scn, &sh);
	}
	elf_end(elf);
	return 0;
}

/* ------------------------------------------------------------------- lines */

static int cubin_add_row(struct grt_cubin *c, Dwarf_Line *line, bool *end)
{
	struct row r = {.order = c->rows, .at = line, .function = c->functions - 1};
	int number = 0;

	*end = true;
	if (dwarf_lineaddr(line, &r.address) || dwarf_lineendsequence(line, end))
		return 0;
	if (!*end && !dwarf_lineno(line, &number) && number > 0) {
		r.line = (uint32_t)number;
		r.file = c->ptx ? PTX_FILE : dwarf_linesrc(line, NULL, NULL);
	}
	if (c->rows == ROWS_MAX || grt_grow(&c->row, &c->room, c->rows + 1, 256))
		return -ENOMEM;
	c->row[c->rows++] = r;
	return 0;
}

/* Rows of a function begin with its first instruction; other rows may be parts of other functions. */
static int cubin_begin_function(struct grt_cubin *c, Dwarf_Lines *table, size_t first)
{
	Dwarf_Line *line = dwarf_onesrcline(table, first);
	uint64_t address;
	bool known = line && !dwarf_lineaddr(line, &address) && !(address & UINT32_MAX);

	if (grt_grow(&c->function, &c->function_room, c->functions + 1, 64))
		return -ENOMEM;
	c->function[c->functions++] =
		(struct function){.table = known ? table : NULL, .first = first, .twice = c->twices};
	return 0;
}

#if _ELFUTILS_PREREQ(0, 186)

static bool cubin_repeats(const struct grt_cubin *c, Dwarf_Lines *table, Dwarf_Line *a, Dwarf_Line *b)
{
	uint64_t at[2];
	int line[2], column[2];

	return !dwarf_lineaddr(a, &at[0]) && !dwarf_lineaddr(b, &at[1]) && at[0] == at[1] &&
	       !dwarf_lineno(a, &line[0]) && !dwarf_lineno(b, &line[1]) && line[0] == line[1] &&
	       !dwarf_linecol(a, &column[0]) && !dwarf_linecol(b, &column[1]) && column[0] == column[1] &&
	       dwarf_linesrc(a, NULL, NULL) == dwarf_linesrc(b, NULL, NULL) &&
	       dwarf_linecontext(table, a) == dwarf_linecontext(table, b) &&
	       dwarf_linefunctionname(c->dwarf, a) == dwarf_linefunctionname(c->dwarf, b);
}

/* The compiler writes some rows twice and counts them once. */
static int cubin_note_repeat(struct grt_cubin *c, Dwarf_Lines *table, size_t k)
{
	struct function *f = &c->function[c->functions - 1];

	if (!f->table || k <= f->first ||
	    !cubin_repeats(c, table, dwarf_onesrcline(table, k - 1), dwarf_onesrcline(table, k)))
		return 0;
	if (grt_grow(&c->twice, &c->twice_room, c->twices + 1, 64))
		return -ENOMEM;
	c->twice[c->twices++] = (uint32_t)(k - f->first);
	f->repeats++;
	return 0;
}

#else

static int cubin_note_repeat(struct grt_cubin *c, Dwarf_Lines *table, size_t k)
{
	return 0;
}

#endif

static int cubin_read_table(struct grt_cubin *c, Dwarf_Lines *table, size_t n)
{
	bool end = true;
	int ret = 0;

	for (size_t k = 0; k < n && !ret; k++) {
		ret = end ? cubin_begin_function(c, table, k) : 0;
		ret = ret ?: cubin_note_repeat(c, table, k) ?: cubin_add_row(c, dwarf_onesrcline(table, k), &end);
	}
	return ret;
}

/*
 * If several rows have the same address, the last one is valid, except that the end of a function comes
 * before the begin of another one.
 */
static int cubin_row_order(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return grt_compare(x->address, y->address) ?: grt_compare(x->order, y->order);
}

static int cubin_read_lines(struct grt_cubin *c)
{
	Dwarf_Off at = 0, next;
	Dwarf_Files *files;
	Dwarf_Lines *lines;
	size_t n, n_files;
	Dwarf_CU *cu = NULL;
	int ret = 0;

	for (unsigned int i = 0; i < TABLES_MAX && !ret; i++, at = next) {
		if (dwarf_next_lines(c->dwarf, at, &next, &cu, &files, &n_files, &lines, &n))
			break;
		ret = cubin_read_table(c, lines, n);
	}
	if (c->rows)
		qsort(c->row, c->rows, sizeof(*c->row), cubin_row_order);
	return ret;
}

static int cubin_begin(struct grt_cubin *c)
{
	c->elf = elf_memory(c->image, c->size);
	if (!c->elf)
		return -EBADMSG;
	/* a function without lines is valid */
	c->dwarf = dwarf_begin_elf(c->elf, DWARF_C_READ, NULL);
	return c->dwarf ? cubin_read_lines(c) : 0;
}

/* The section's name in the image; NULL: there is no such section */
static char *cubin_name_of(const struct grt_cubin *c, const char *wanted)
{
	GElf_Shdr strings, sh;
	Elf_Scn *scn = NULL;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(c->elf, &names) || !gelf_getshdr(elf_getscn(c->elf, names), &strings) ||
	    strings.sh_flags & SHF_COMPRESSED || strings.sh_offset > c->size ||
	    strings.sh_size > c->size - strings.sh_offset)
		return NULL;
	while ((scn = elf_nextscn(c->elf, scn))) {
		name = gelf_getshdr(scn, &sh) ? cubin_section_name(c, &sh) : NULL;
		if (name && !strcmp(name, wanted) && sh.sh_name < strings.sh_size)
			return c->image + strings.sh_offset + sh.sh_name;
	}
	return NULL;
}

/*
 * PTX without .loc, as people write it: ptxas -lineinfo leaves .debug_line empty, and writes the line of the
 * PTX for each instruction into another section of the same form. elfutils finds it by the name of the
 * former.
 */
static int cubin_read_ptx_lines(struct grt_cubin *c)
{
	char *ptx = c->rows ? NULL : cubin_name_of(c, PTX_LINES),
	     *lines = ptx ? cubin_name_of(c, LINES) : NULL;

	if (!ptx)
		return 0;
	dwarf_end(c->dwarf);
	elf_end(c->elf);
	c->dwarf = NULL;
	c->ptx = true;
	if (lines)
		lines[0] = '_';
	memcpy(ptx, LINES, sizeof(LINES));
	return cubin_begin(c);
}

int grt_cubin_open(struct grt_cubin **out, int fd)
{
	struct grt_cubin *c;
	struct stat st;
	int ret;

	*out = NULL;
	if (fstat(fd, &st) || !grt_cubin_is(fd))
		return -EBADMSG;
	if (st.st_size > FILE_MAX)
		return -EFBIG;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->size = (size_t)st.st_size;
	c->image = malloc(c->size);
	ret = !c->image ? -ENOMEM : pread(fd, c->image, c->size, 0) != st.st_size ? -EBADMSG : 0;
	elf_version(EV_CURRENT);
	ret = ret ?: cubin_relocate(c) ?: cubin_begin(c) ?: cubin_read_ptx_lines(c);
	if (ret)
		grt_cubin_close(c);
	else
		*out = c;
	return ret;
}

static Elf_Data *cubin_symbols(const struct grt_cubin *c, uint64_t *names)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(c->elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB) {
			*names = sh.sh_link;
			return elf_getdata(scn, NULL);
		}
	return NULL;
}

unsigned int grt_cubin_symbol(const struct grt_cubin *c, const char *function)
{
	uint64_t size, names = 0, section = cubin_function(c, function, &size);
	Elf_Data *all = section ? cubin_symbols(c, &names) : NULL;
	const char *name;
	GElf_Sym sym;

	for (int i = 1; all && gelf_getsym(all, i, &sym); i++) {
		name = sym.st_shndx == section ? elf_strptr(c->elf, names, sym.st_name) : NULL;
		if (name && GELF_ST_TYPE(sym.st_info) == STT_FUNC && !strcmp(name, function))
			return (unsigned int)i;
	}
	return 0;
}

bool grt_cubin_has(const struct grt_cubin *c, const char *function, uint64_t offset)
{
	uint64_t size;

	return cubin_function(c, function, &size) && offset < size;
}

/* The row of an instruction; NULL: there is none */
static const struct row *cubin_row(const struct grt_cubin *c, const char *function, uint64_t offset)
{
	uint32_t low;
	uint64_t size, address = cubin_function(c, function, &size);
	const struct row *r;

	if (!address || offset >= size || offset > UINT32_MAX)
		return NULL;
	address = address << SECTION_SHIFT | offset;
	low = grt_bisect(c->rows, i, c->row[i].address <= address);
	r = low ? &c->row[low - 1] : NULL;
	return r && r->address >> SECTION_SHIFT == address >> SECTION_SHIFT && r->file ? r : NULL;
}

#if _ELFUTILS_PREREQ(0, 186)

/* A row of a function by its number, which does not count rows that repeat the previous one. */
static Dwarf_Line *cubin_numbered(const struct grt_cubin *c, const struct function *f, size_t number)
{
	uint32_t low = grt_bisect(f->repeats, i, c->twice[f->twice + i] - i <= number);

	return dwarf_onesrcline(f->table, f->first + number + low);
}

/*
 * Returns the line-table row of the call through which @at's function was inlined; NULL if the function was
 * not inlined. NVIDIA numbers that row from the first row of the function; elfutils reads the number as an
 * index into the whole table.
 */
static Dwarf_Line *cubin_caller(const struct grt_cubin *c, const struct row *r, Dwarf_Line *at,
				const char **function)
{
	const struct function *f = &c->function[r->function];
	Dwarf_Line *told = f->table ? dwarf_linecontext(f->table, at) : NULL,
		   *first = told ? dwarf_onesrcline(f->table, 0) : NULL,
		   *second = told ? dwarf_onesrcline(f->table, 1) : NULL, *caller = NULL;

	if (told && second)
		caller = cubin_numbered(c, f,
					(size_t)((char *)told - (char *)first) /
						(size_t)((char *)second - (char *)first));
	*function = caller ? dwarf_linefunctionname(c->dwarf, at) : NULL;
	return *function ? caller : NULL;
}

#else

static Dwarf_Line *cubin_caller(const struct grt_cubin *c, const struct row *r, Dwarf_Line *at,
				const char **function)
{
	return NULL;
}

#endif

/* Sets the place of a row, and that of the caller if the function was inlined. */
static bool cubin_put_caller(struct grt_object_frame *out, Dwarf_Line *line)
{
	int number;

	out->file = dwarf_linesrc(line, NULL, NULL);
	if (!out->file || dwarf_lineno(line, &number) || number <= 0)
		return false;
	out->line = (uint32_t)number;
	return true;
}

unsigned int grt_cubin_frames(struct grt_cubin *c, const char *function, uint64_t offset,
			      struct grt_object_frame *out, unsigned int max)
{
	const struct row *r = max ? cubin_row(c, function, offset) : NULL;
	unsigned int n = 0;
	Dwarf_Line *at;

	if (!r)
		return 0;
	memset(out, 0, max * sizeof(*out));
	out[0].file = r->file;
	out[0].line = r->line;
	for (at = r->at; at && n + 1 < max; n++) {
		at = cubin_caller(c, r, at, &out[n].linkage);
		if (!at || !cubin_put_caller(&out[n + 1], at))
			break;
		out[n].inlined = true;
	}
	out[n].linkage = function;
	return n + 1;
}

void grt_cubin_close(struct grt_cubin *c)
{
	if (!c)
		return;
	dwarf_end(c->dwarf);
	elf_end(c->elf);
	free(c->image);
	free(c->row);
	free(c->function);
	free(c->twice);
	free(c);
}

#else /* without elfutils */

bool grt_cubin_is(int fd)
{
	return false;
}

int grt_cubin_open(struct grt_cubin **out, int fd)
{
	*out = NULL;
	return -ENOTSUP;
}

unsigned int grt_cubin_symbol(const struct grt_cubin *c, const char *function)
{
	return 0;
}

bool grt_cubin_has(const struct grt_cubin *c, const char *function, uint64_t offset)
{
	return false;
}

unsigned int grt_cubin_frames(struct grt_cubin *c, const char *function, uint64_t offset,
			      struct grt_object_frame *out, unsigned int max)
{
	return 0;
}

void grt_cubin_close(struct grt_cubin *c)
{
}

#endif /* GRT_HAVE_DW */
