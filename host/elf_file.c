// SPDX-License-Identifier: GPL-2.0
/*
 * Object files that belong to any user. Functions are looked up by libelf, which the loader of BPF programs
 * requires anyway, in a separate process.
 */
#include "elf_file.h"

#ifdef GRT_HAVE_BPF

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apart.h"

/* endbr64 of x86-64, with which functions begin that may be called through pointers */
static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

/** struct file - an open file */
struct file {
	int fd;
	Elf *elf;
};

/* Reads the file instead of mapping it, because its owner may truncate it meanwhile. */
static bool elf_file_open_file(struct file *f, int fd)
{
	struct stat st;

	elf_version(EV_CURRENT);
	*f = (struct file){.fd = fd};
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		f->elf = elf_begin(fd, ELF_C_READ, NULL);
	return f->elf && elf_kind(f->elf) == ELF_K_ELF;
}

static int elf_file_open_path(const char *path)
{
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int elf_open(const char *path, struct grt_err *err)
{
	int fd = elf_file_open_path(path);

	return fd >= 0 ? fd
		       : grt_err_set(err, -errno, strerror(errno),
				     "the path of a library or program: ldd PROG, or cat /proc/PID/maps",
				     "cannot open %s for a uprobe", path);
}

/* The offset in the file of an address. */
static bool offset_of(Elf *elf, uint64_t address, uint64_t *offset)
{
	GElf_Phdr p;
	size_t n = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		if (address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
			continue;
		*offset = address - p.p_vaddr + p.p_offset;
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

/* No linker makes more sections than the header can count, and libelf would allocate gigabytes for them. */
static bool has_odd_sections(int fd)
{
	Elf64_Ehdr e;

	return pread(fd, &e, sizeof(e), 0) == sizeof(e) && e.e_ident[EI_CLASS] == ELFCLASS64 && e.e_shoff &&
	       !e.e_shnum;
}

/* Runs in a separate process. */
static int elf_file_look_up(int fd, const void *symbol, void *offset)
{
	uint64_t address;
	struct file f;

	if (has_odd_sections(fd) || !elf_file_open_file(&f, fd))
		return -ENOEXEC;
	if (!find_symbol(f.elf, symbol, &address) || !offset_of(f.elf, address, offset))
		return -ENOENT;
	*(uint64_t *)offset = behind_endbr64(fd, *(uint64_t *)offset);
	return 0;
}

int elf_function(int fd, const char *path, const char *symbol, uint64_t *offset, struct grt_err *err)
{
	int ret = apart_run(elf_file_look_up, fd, symbol, offset, sizeof(*offset));

	if (ret == -ENOEXEC)
		return grt_err_set(err, ret, "it is not an ELF object file",
				   "the path of a library or program: ldd PROG, or cat /proc/PID/maps",
				   "cannot put a uprobe into %s", path);
	if (ret == -ENOENT)
		return grt_err_set(err, ret, "it defines no such function (is it stripped, or inlined?)",
				   "nm -D --defined-only FILE, or nm FILE, which list its functions",
				   "cannot put a uprobe at %s of %s", symbol, path);
	if (ret)
		return grt_err_set(err, ret,
				   ret == -ETIMEDOUT ? "reading its symbols takes too long"
				   : ret == -EFAULT  ? "the process that read its symbols crashed"
						     : strerror(-ret),
				   "nm FILE, which reads the same symbols", "cannot put a uprobe at %s of %s",
				   symbol, path);
	return 0;
}

/* ---------------------------------------------------------- mapped files */

/*
 * This is read while events are taken from the buffers: only a few bytes, with read(), and without a
 * library, because a malicious file could keep a library busy for any time.
 */

#define SEGMENTS_MAX 256
#define NOTES_MAX 4096U

/** struct segment - the parts of a program header that are needed */
struct segment {
	uint32_t type;
	uint32_t flags;
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

/** struct headers - the program headers of a file of this machine's byte order */
struct headers {
	unsigned int n;
	struct segment segment[SEGMENTS_MAX];
};

static bool elf_file_read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

#define READ_HEADERS(bits)                                                                                \
	static void read_headers_##bits(int fd, struct headers *h)                                        \
	{                                                                                                 \
		Elf##bits##_Ehdr e;                                                                       \
		Elf##bits##_Phdr p;                                                                       \
                                                                                                          \
		if (!elf_file_read_at(fd, &e, sizeof(e), 0) || e.e_phentsize != sizeof(p))                \
			return;                                                                           \
		for (; h->n < e.e_phnum && h->n < SEGMENTS_MAX; h->n++) {                                 \
			if (!elf_file_read_at(fd, &p, sizeof(p), e.e_phoff + h->n * sizeof(p)))           \
				return;                                                                   \
			h->segment[h->n] =                                                                \
				(struct segment){p.p_type, p.p_flags, p.p_offset, p.p_vaddr, p.p_filesz}; \
		}                                                                                         \
	}

READ_HEADERS(64)
READ_HEADERS(32)

static void read_headers(int fd, struct headers *h)
{
	const unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	unsigned char ident[EI_NIDENT];
	struct stat st;

	h->n = 0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !elf_file_read_at(fd, ident, sizeof(ident), 0) ||
	    memcmp(ident, ELFMAG, SELFMAG) || ident[EI_DATA] != order)
		return;
	if (ident[EI_CLASS] == ELFCLASS64)
		read_headers_64(fd, h);
	else if (ident[EI_CLASS] == ELFCLASS32)
		read_headers_32(fd, h);
}

static void elf_file_find_address(const struct headers *h, uint64_t offset, uint64_t *address)
{
	for (const struct segment *s = h->segment; s < h->segment + h->n; s++) {
		/* a mapping begins at the start of a page */
		if (s->type != PT_LOAD || !(s->flags & PF_X) || offset < (s->offset & ~0xfffULL))
			continue;
		if (offset >= s->offset && offset - s->offset >= s->size)
			continue;
		*address = offset - s->offset + s->address;
		return;
	}
}

/* The name and the contents of a note begin at multiples of @align. */
static bool find_build_id(const unsigned char *notes, size_t size, size_t align, char *build_id)
{
	Elf64_Nhdr n; /* the struct of 32-bit ELF is the same */
	size_t at = 0, text, next;

	while (at + sizeof(n) <= size) {
		memcpy(&n, notes + at, sizeof(n));
		if (n.n_namesz > size || n.n_descsz > size)
			return false;
		text = (at + sizeof(n) + n.n_namesz + align - 1) & ~(align - 1);
		next = (text + n.n_descsz + align - 1) & ~(align - 1);
		if (text + n.n_descsz > size)
			return false;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && n.n_descsz <= ELF_BUILD_ID_MAX &&
		    !memcmp(notes + at + sizeof(n), "GNU", 4)) {
			for (size_t i = 0; i < n.n_descsz; i++)
				snprintf(build_id + 2 * i, 3, "%02x", notes[text + i]);
			return true;
		}
		at = next;
	}
	return false;
}

static void read_build_id(int fd, const struct headers *h, char *build_id)
{
	unsigned char notes[NOTES_MAX];
	size_t size;

	for (const struct segment *s = h->segment; s < h->segment + h->n; s++) {
		size = s->size < sizeof(notes) ? (size_t)s->size : sizeof(notes);
		if (s->type != PT_NOTE || !elf_file_read_at(fd, notes, size, s->offset))
			continue;
		/* notes with properties, which have alignment 8, are in a segment of their own */
		if (find_build_id(notes, size, 4, build_id) || find_build_id(notes, size, 8, build_id))
			return;
	}
}

void elf_describe(const char *path, uint64_t offset, uint64_t *address, char *build_id)
{
	struct headers h;
	int fd = elf_file_open_path(path);

	*address = offset;
	build_id[0] = '\0';
	if (fd < 0)
		return;
	read_headers(fd, &h);
	elf_file_find_address(&h, offset, address);
	read_build_id(fd, &h, build_id);
	close(fd);
}

#endif /* GRT_HAVE_BPF */
