// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Object files through elfutils, see object.h. The compilation unit of an address is looked up in a table of
 * our own, because not all compilers write one.
 */
#include "object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/containers.h"
#include "cubin.h"
#include "debug_file.h"
#include "functions.h"

#ifdef GRT_HAVE_DW

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

/* Limits for what a file may claim. */
#define SEGMENTS_MAX 1024U
#define UNITS_MAX 1048576U
#define RANGES_MAX 8388608U
/* Ranges before the nearest one that are examined, because ranges may overlap. */
#define BEHIND_MAX 32U
/* Most nested scopes. */
#define SCOPES_MAX 64U
#define BUILD_ID_MAX 64U

/** struct segment - a loaded part */
struct segment {
	uint64_t offset;
	uint64_t size;
	uint64_t address;
};

/** struct range - addresses of a unit, as in DWARF */
struct range {
	uint64_t start;
	uint64_t end;
	uint32_t unit;
};

/** struct unit - @lines has the line table, @tree the functions: two units if they are split */
struct unit {
	Dwarf_Die lines;
	Dwarf_Die tree;
};

struct grt_object {
	Dwfl_Callbacks callbacks;
	const struct grt_symbols_options *options;
	char *path;
	char *nowhere;
	struct grt_cubin *cubin;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf *dwarf;
	GElf_Addr elf_bias;
	Dwarf_Addr dwarf_bias;
	struct segment segment[SEGMENTS_MAX];
	size_t segments;
	struct grt_functions functions;
	struct unit *unit;
	uint32_t units, unit_room;
	struct range *range;
	uint32_t ranges, range_room;
	bool symbols_read;
	bool debug_read;
	bool no_debug;
	bool debug_given;
};

bool grt_can_objects(void)
{
	return true;
}

/* ------------------------------------------------------------- opening */

/* Only programs and libraries: no archives, no compressed files, no objects that are not linked. */
static bool is_linked_object(int fd)
{
	unsigned char head[20];

	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG))
		return false;
	/* e_type, in the file's byte order */
	return (head[16] | head[17]) == ET_EXEC || (head[16] | head[17]) == ET_DYN;
}

static void read_segments(struct grt_object *o, Elf *elf)
{
	size_t n = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && o->segments < SEGMENTS_MAX; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && ph.p_filesz)
			o->segment[o->segments++] = (struct segment){ph.p_offset, ph.p_filesz, ph.p_vaddr};
}

static void build_id_of(Dwfl_Module *module, char text[2 * BUILD_ID_MAX + 1])
{
	const unsigned char *bits;
	GElf_Addr at;
	int n = dwfl_module_build_id(module, &bits, &at);

	text[0] = '\0';
	for (int i = 0; i < n && i < (int)BUILD_ID_MAX; i++)
		sprintf(text + 2 * i, "%02x", bits[i]);
}

static bool object_has_build_id(struct grt_object *o, const char *wanted)
{
	char text[2 * BUILD_ID_MAX + 1];

	build_id_of(o->module, text);
	return !strcmp(text, wanted);
}

/*
 * Finds a separate debug file where elfutils would look as well, but rejects pipes and files that can be
 * truncated while they are read. Asks servers only if the user allows it, because they learn which programs
 * are examined.
 */
static int find_separate(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			 const char *file, const char *link, GElf_Word crc, char **out)
{
	struct grt_object *o = *user;
	char id[2 * BUILD_ID_MAX + 1];
	int fd;

	build_id_of(module, id);
	fd = o ? grt_debug_file(&(struct grt_debug_link){o->path, id, link, crc, o->options->directory}, out)
	       : -1;
	if (fd < 0 && o && o->options->servers)
		fd = dwfl_standard_find_debuginfo(module, user, name, base, file, link, crc, out);
	return fd < 0 ? -1 : fd;
}

/*
 * Returns the debug file that the caller gave, once; elfutils then asks for files to which this file refers.
 */
static int no_separate_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			    const char *file, const char *link, GElf_Word crc, char **out)
{
	struct grt_object *o = *user;

	if (!o || !o->options->debug_fd || o->debug_given)
		return -1;
	o->debug_given = true;
	*out = strdup(o->path);
	return *out ? o->options->debug_fd : -1;
}

/* Whether the file's own DWARF is too large for the time that the caller has. */
static bool too_large(Elf *elf, uint64_t max)
{
	Elf_Scn *scn = NULL;
	uint64_t sum = 0;
	GElf_Shdr sh;
	size_t names;
	const char *name;

	if (!max || elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		if (name && (!strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8)))
			sum += sh.sh_size;
	}
	return sum > max;
}

static int object_begin(struct grt_object *o, const char *path, const struct grt_symbols_options *options)
{
	o->options = options;
	o->callbacks = (Dwfl_Callbacks){
		.find_debuginfo = options->no_separate ? no_separate_file : find_separate,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &o->nowhere,
	};
	/* elfutils may ask servers, but open no file */
	o->nowhere = strdup("/dev/null");
	o->path = strdup(path);
	if (!o->nowhere || !o->path)
		return -ENOMEM;
	elf_version(EV_CURRENT);
	o->dwfl = dwfl_begin(&o->callbacks);
	return o->dwfl ? 0 : -ENOMEM;
}

/* Code for a GPU: the path is that of a function in it. */
static int object_open_cubin(struct grt_object **out, struct grt_object *o, int fd)
{
	int ret = grt_cubin_open(&o->cubin, fd);

	close(fd);
	*out = ret ? NULL : o;
	if (ret)
		grt_object_close(o);
	return ret;
}

static const char *object_function(const struct grt_object *o)
{
	const char *slash = strrchr(o->path, '/');

	return slash ? slash + 1 : o->path;
}

int grt_object_open(struct grt_object **out, int fd, const char *path, const char *build_id,
		    const struct grt_symbols_options *options)
{
	struct grt_object *o = calloc(1, sizeof(*o));
	int ret = o ? object_begin(o, path, options) : -ENOMEM;
	void **user;
	Elf *elf;

	*out = NULL;
	if (!ret && grt_cubin_is(fd))
		return object_open_cubin(out, o, fd);
	if (!ret && is_linked_object(fd))
		o->module = dwfl_report_offline(o->dwfl, path, path, fd);
	if (!o || !o->module) {
		close(fd);
		grt_object_close(o);
		return ret ?: -EBADMSG;
	}
	dwfl_report_end(o->dwfl, NULL, NULL);
	dwfl_module_info(o->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
	*user = o;
	elf = dwfl_module_getelf(o->module, &o->elf_bias);
	if (!elf)
		ret = -EBADMSG;
	else if (build_id && *build_id && !object_has_build_id(o, build_id))
		ret = -ESTALE;
	if (ret) {
		grt_object_close(o);
		return ret;
	}
	read_segments(o, elf);
	o->no_debug = too_large(elf, options->debug_max);
	*out = o;
	return 0;
}

void grt_object_close(struct grt_object *o)
{
	if (!o)
		return;
	grt_cubin_close(o->cubin);
	dwfl_end(o->dwfl);
	grt_functions_free(&o->functions);
	free(o->nowhere);
	free(o->path);
	free(o->unit);
	free(o->range);
	free(o);
}

bool grt_object_address(const struct grt_object *o, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < o->segments; i++) {
		const struct segment *s = &o->segment[i];

		if (offset >= s->offset && offset - s->offset < s->size) {
			*address = offset - s->offset + s->address;
			return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------- symbols */

/* From an address to the end of the section or, without sections, of the loaded part; 0: it is in none. */
static uint64_t left_in_section(const struct grt_object *o, Elf *elf, const GElf_Sym *sym, GElf_Word section)
{
	Elf_Scn *scn = elf ? elf_getscn(elf, section) : NULL;
	uint64_t at = sym->st_value;
	GElf_Shdr sh;

	if (scn && gelf_getshdr(scn, &sh))
		return at >= sh.sh_addr && at - sh.sh_addr < sh.sh_size ? sh.sh_size - (at - sh.sh_addr) : 0;
	for (size_t i = 0; i < o->segments; i++)
		if (at >= o->segment[i].address && at - o->segment[i].address < o->segment[i].size)
			return o->segment[i].size - (at - o->segment[i].address);
	return 0;
}

static enum grt_function_binding binding_of(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_GLOBAL:
		return GRT_FUNCTION_GLOBAL;
	case STB_WEAK:
		return GRT_FUNCTION_WEAK;
	}
	return GRT_FUNCTION_LOCAL;
}

/*
 * Hand-written code has no sizes, such as _init of crti.o: otherwise it would extend over everything after
 * it. A symbol table other than the dynamic one has versions in its names.
 */
static int add_symbol(struct grt_object *o, Elf *elf, const GElf_Sym *sym, GElf_Word section, uint64_t start,
		      const char *name)
{
	const char *version = strchr(name + 1, '@');
	size_t length = version ? (size_t)(version - name) : strlen(name);
	struct grt_function f = {.start = start, .size = sym->st_size, .unsized = !sym->st_size};

	if (f.unsized)
		f.size = left_in_section(o, elf, sym, section);
	f.rank = grt_function_rank(binding_of(sym), name, length);
	return f.size ? grt_functions_add(&o->functions, &f, name, length) : 0;
}

static void read_symbols(struct grt_object *o)
{
	int n = dwfl_module_getsymtab(o->module);
	const char *name;
	GElf_Addr address;
	GElf_Word section;
	GElf_Sym sym;
	unsigned int type;
	Elf *elf;

	o->symbols_read = true;
	for (int i = 1; i < n; i++) {
		name = dwfl_module_getsym_info(o->module, i, &sym, &address, &section, &elf, NULL);
		type = GELF_ST_TYPE(sym.st_info);
		if (!name || !*name || section == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC))
			continue;
		if (add_symbol(o, elf, &sym, section, address - o->elf_bias, name))
			return;
	}
}

const char *grt_object_symbol(struct grt_object *o, uint64_t address)
{
	if (o->cubin)
		return grt_cubin_has(o->cubin, object_function(o), address) ? object_function(o) : NULL;
	if (!o->symbols_read)
		read_symbols(o);
	return grt_functions_find(&o->functions, address);
}

/* --------------------------------------------------------------- DWARF */

static int add_range(struct grt_object *o, uint64_t start, uint64_t end, uint32_t unit)
{
	/* what the linker removed keeps address 0 */
	if (start < 2 || end <= start)
		return 0;
	if (o->ranges == RANGES_MAX || grt_grow(&o->range, &o->range_room, o->ranges + 1, 256))
		return -ENOMEM;
	o->range[o->ranges++] = (struct range){start, end, unit};
	return 0;
}

static int add_unit(struct grt_object *o, Dwarf_Die *lines, Dwarf_Die *tree)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (o->units == UNITS_MAX || grt_grow(&o->unit, &o->unit_room, o->units + 1, 64))
		return -ENOMEM;
	o->unit[o->units] = (struct unit){*lines, *tree};
	while ((at = dwarf_ranges(lines, at, &base, &start, &end)) > 0)
		if (add_range(o, start, end, o->units))
			return -ENOMEM;
	o->units++;
	return 0;
}

static int object_by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/*
 * Return: whether elfutils may open the file that has a unit's functions; opening a pipe would wait for a
 * writer.
 */
static bool has_split_file(const struct grt_object *o, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name, *dir;
	char path[4400];
	int n, fd;

	name = dwarf_formstring(dwarf_attr(die, DW_AT_dwo_name, &attribute)
					?: dwarf_attr(die, DW_AT_GNU_dwo_name, &attribute));
	dir = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
	if (o->options->no_separate || !name)
		return false;
	n = snprintf(path, sizeof(path), "%s%s%s", name[0] != '/' && dir ? dir : "",
		     name[0] != '/' && dir ? "/" : "", name);
	fd = n < (int)sizeof(path) ? grt_open_regular(path, GRT_SYMBOLS_FILE_MAX) : -1;
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Reads units while there is memory; the functions of other units are named by symbols. */
static void read_units(struct grt_object *o)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	bool apart;

	o->debug_read = true;
	if (!o->no_debug)
		o->dwarf = dwfl_module_getdwarf(o->module, &o->dwarf_bias);
	while (o->dwarf && !dwarf_get_units(o->dwarf, cu, &cu, NULL, &type, &die, NULL)) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		apart = type == DW_UT_skeleton && has_split_file(o, &die) &&
			!dwarf_cu_info(cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) && split.addr;
		if (add_unit(o, &die, apart ? &split : &die))
			break;
	}
	if (o->ranges)
		qsort(o->range, o->ranges, sizeof(*o->range), object_by_start);
}

static struct unit *find_unit(struct grt_object *o, uint64_t address)
{
	uint32_t low = grt_bisect(o->ranges, i, o->range[i].start <= address);

	for (uint32_t n = 0; low && n < BEHIND_MAX; n++, low--)
		if (address < o->range[low - 1].end)
			return &o->unit[o->range[low - 1].unit];
	return NULL;
}

static void object_line_of(struct unit *u, uint64_t address, struct grt_object_frame *f)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->lines, address);
	int number = 0;

	if (!line)
		return;
	f->file = dwarf_linesrc(line, NULL, NULL);
	if (!dwarf_lineno(line, &number) && number > 0)
		f->line = (uint32_t)number;
}

/* Sets the place at which an inlined function was called. */
static void object_call_of(struct unit *u, Dwarf_Die *die, struct grt_object_frame *f)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;
	size_t n;

	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) &&
	    !dwarf_getsrcfiles(&u->lines, &files, &n) && number < n)
		f->file = dwarf_filesrc(files, number, NULL, NULL);
	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &number))
		f->line = (uint32_t)number;
}

static void object_name_of(Dwarf_Die *die, struct grt_object_frame *f)
{
	Dwarf_Attribute attribute;

	f->linkage =
		dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute)
					 ?: dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
	f->name = dwarf_diename(die);
}

/* Code within code at an address, the outermost first. */
struct scopes {
	unsigned int used;
	Dwarf_Die die[SCOPES_MAX];
};

/* Kinds of entries that have addresses; checking all kinds would be slow. */
static bool has_code(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return true;
	}
	return false;
}

/* Kinds of entries that have no addresses but contain functions. */
static bool may_hold_code(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return true;
	}
	return false;
}

/*
 * Finds the scopes of an address. dwarf_getscopes() of elfutils 0.188 finds nothing below a namespace (Rust)
 * and in code that was inlined from another unit (-flto), and leaks memory then.
 */
static void find_scopes(Dwarf_Die *parent, uint64_t address, struct scopes *s, unsigned int depth)
{
	unsigned int before = s->used;
	Dwarf_Off last;
	Dwarf_Die die;
	int tag;

	if (depth == SCOPES_MAX || dwarf_child(parent, &die))
		return;
	do {
		last = dwarf_dieoffset(&die);
		tag = dwarf_tag(&die);
		if (has_code(tag) && dwarf_haspc(&die, address) > 0)
			s->die[s->used++] = die;
		if (s->used > before || may_hold_code(tag))
			find_scopes(&die, address, s, depth + 1);
		/* in an invalid file, a sibling that comes before its entry makes a circle */
	} while (s->used == before && !dwarf_siblingof(&die, &die) && dwarf_dieoffset(&die) > last);
}

unsigned int grt_object_frames(struct grt_object *o, uint64_t address, struct grt_object_frame *out,
			       unsigned int max)
{
	struct scopes scopes = {.used = 0};
	unsigned int used = 0;
	struct unit *u;

	if (o->cubin)
		return grt_cubin_frames(o->cubin, object_function(o), address, out, max);
	if (!o->debug_read)
		read_units(o);
	address += o->elf_bias - o->dwarf_bias;
	u = find_unit(o, address);
	if (!u || !max)
		return 0;
	memset(out, 0, max * sizeof(*out));
	object_line_of(u, address, &out[0]);
	find_scopes(&u->tree, address, &scopes, 0);
	for (unsigned int i = scopes.used; i && used < max; i--) {
		Dwarf_Die *die = &scopes.die[i - 1];
		int tag = dwarf_tag(die);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		object_name_of(die, &out[used]);
		out[used].inlined = tag == DW_TAG_inlined_subroutine && used + 1 < max;
		if (out[used].inlined)
			object_call_of(u, die, &out[used + 1]);
		used++;
		if (tag == DW_TAG_subprogram)
			break;
	}
	/* a line without a function is also a result */
	return used ?: out[0].file ? 1 : 0;
}

#else /* without elfutils */

bool grt_can_objects(void)
{
	return false;
}

int grt_object_open(struct grt_object **out, int fd, const char *path, const char *build_id,
		    const struct grt_symbols_options *options)
{
	close(fd);
	*out = NULL;
	return -ENOTSUP;
}

bool grt_object_address(const struct grt_object *o, uint64_t offset, uint64_t *address)
{
	return false;
}

unsigned int grt_object_frames(struct grt_object *o, uint64_t address, struct grt_object_frame *out,
			       unsigned int max)
{
	return 0;
}

const char *grt_object_symbol(struct grt_object *o, uint64_t address)
{
	return NULL;
}

void grt_object_close(struct grt_object *o)
{
}

#endif /* GRT_HAVE_DW */
