// SPDX-License-Identifier: GPL-2.0
/*
 * Object files by libelf, which the loader of BPF programs brings along. They are
 * files of anybody: what libelf does not take is no object file.
 */
#include "elf_file.h"

#ifdef GRT_HAVE_BPF

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* endbr64 of x86-64, which a function that may be called by a pointer begins with */
static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

/** struct file - an open one */
struct file {
	int fd;
	Elf *elf;
};

/* It is read, not mapped: who owns it may cut it off meanwhile. */
static bool open_file(struct file *f, int fd)
{
	struct stat st;

	elf_version(EV_CURRENT);
	*f = (struct file){.fd = fd};
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		f->elf = elf_begin(fd, ELF_C_READ, NULL);
	return f->elf && elf_kind(f->elf) == ELF_K_ELF;
}

static int open_path(const char *path)
{
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int elf_open(const char *path, struct grt_err *err)
{
	int fd = open_path(path);

	return fd >= 0 ? fd
		       : grt_err_set(err, -errno, strerror(errno),
				     "the path of a library or program: ldd PROG, or cat /proc/PID/maps",
				     "cannot open %s for a uprobe", path);
}

/* Whether a segment that is loaded has it; @to_offset: an address is given, else a place in the file. */
static bool translate(Elf *elf, uint64_t in, bool to_offset, uint64_t *out)
{
	GElf_Phdr p;
	uint64_t base;
	size_t n = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		/* a mapping begins at a page */
		base = to_offset ? p.p_vaddr : p.p_offset & ~0xfffULL;
		if (in < base || in >= (to_offset ? p.p_vaddr : p.p_offset) + p.p_filesz)
			continue;
		if (!to_offset && !(p.p_flags & PF_X))
			continue;
		*out = to_offset ? in - p.p_vaddr + p.p_offset : in - p.p_offset + p.p_vaddr;
		return true;
	}
	return false;
}

/* ------------------------------------------------------------- functions */

static bool is_symbol(const char *name, const char *symbol)
{
	size_t length = strlen(symbol);

	return name && !strncmp(name, symbol, length) && (!name[length] || name[length] == '@');
}

static bool find_in_section(Elf *elf, Elf_Scn *section, const GElf_Shdr *head, const char *symbol,
			    uint64_t *address)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = head->sh_entsize && data ? data->d_size / head->sh_entsize : 0;
	GElf_Sym s;

	for (size_t i = 0; i < n; i++) {
		if (!gelf_getsym(data, (int)i, &s) || s.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(s.st_info) != STT_FUNC ||
		    !is_symbol(elf_strptr(elf, head->sh_link, s.st_name), symbol))
			continue;
		*address = s.st_value;
		return true;
	}
	return false;
}

static bool find_symbol(Elf *elf, const char *symbol, uint64_t *address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) &&
		    (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM) &&
		    find_in_section(elf, section, &head, symbol, address))
			return true;
	return false;
}

static uint64_t behind_endbr64(int fd, uint64_t offset)
{
	unsigned char first[sizeof(endbr64)];

	if (pread(fd, first, sizeof(first), (off_t)offset) == sizeof(first) &&
	    !memcmp(first, endbr64, sizeof(first)))
		return offset + sizeof(first);
	return offset;
}

int elf_function(int fd, const char *path, const char *symbol, uint64_t *offset, struct grt_err *err)
{
	uint64_t address;
	struct file f;
	int ret = 0;

	if (!open_file(&f, fd))
		ret = grt_err_set(err, -ENOEXEC, "it is no ELF object file",
				  "the path of a library or program: ldd PROG, or cat /proc/PID/maps",
				  "cannot put a uprobe into %s", path);
	else if (!find_symbol(f.elf, symbol, &address) || !translate(f.elf, address, true, offset))
		ret = grt_err_set(err, -ENOENT, "it defines no such function (is it stripped, or inlined?)",
				  "nm -D --defined-only on the file, or nm, which list them",
				  "cannot put a uprobe at %s of %s", symbol, path);
	else
		*offset = behind_endbr64(f.fd, *offset);
	elf_end(f.elf);
	return ret;
}

/* ------------------------------------------------------------- build ids */

static bool note_build_id(Elf_Data *data, char *build_id)
{
	size_t at = 0, name, text;
	const unsigned char *id;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &text)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    note.n_descsz > ELF_BUILD_ID_MAX || memcmp((const char *)data->d_buf + name, "GNU", 4))
			continue;
		id = (const unsigned char *)data->d_buf + text;
		for (size_t i = 0; i < note.n_descsz; i++)
			snprintf(build_id + 2 * i, 3, "%02x", id[i]);
		return true;
	}
	return false;
}

static void read_build_id(Elf *elf, char *build_id)
{
	GElf_Phdr p;
	size_t n = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_NOTE &&
		    note_build_id(elf_getdata_rawchunk(elf, (int64_t)p.p_offset, p.p_filesz,
						       p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
				  build_id))
			return;
}

void elf_describe(const char *path, uint64_t offset, uint64_t *address, char *build_id)
{
	struct file f;

	*address = offset;
	build_id[0] = '\0';
	if (open_file(&f, open_path(path))) {
		translate(f.elf, offset, false, address);
		read_build_id(f.elf, build_id);
	}
	elf_end(f.elf);
	if (f.fd >= 0)
		close(f.fd);
}

#endif /* GRT_HAVE_BPF */
