// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses to names. A process's mappings are read when an address is in none
 * of those known; its files are opened through /proc/PID/root, so that those of
 * containers are the right ones.
 */
#include "symbols.h"

#ifdef GRT_HAVE_BPF

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Processes and files kept; further ones push out the oldest process, and go without symbols. */
#define PROCESSES 64U
#define FILES 4096U

/** struct function - in a file: by its address there; in the kernel: where it is */
struct function {
	uint64_t start;
	uint64_t size;
	uint32_t name; /* place in the names */
};

/** struct table - functions, sorted by @start, and their names one behind the other */
struct table {
	struct function *function;
	size_t functions;
	size_t room;
	char *names;
	size_t names_used;
	size_t names_room;
};

/** struct segment - a loaded part of a file */
struct segment {
	uint64_t offset;
	uint64_t size;
	uint64_t address;
};

struct elf_file {
	dev_t dev;
	ino_t ino;
	char *base; /* the last part of its path */
	struct table table;
	struct segment *segment;
	size_t segments;
};

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	struct elf_file *file;
};

/** struct process - @read_again: at which lookup its mappings were last read for a second time */
struct process {
	pid_t pid;
	struct mapping *mapping;
	size_t mappings;
	uint64_t read_again;
};

struct symbols {
	struct process process[PROCESSES];
	unsigned int next;
	uint64_t lookups;
	struct elf_file *file[FILES];
	unsigned int files;
	struct table kernel;
	bool kernel_read;
};

struct symbols *symbols_new(void)
{
	return calloc(1, sizeof(struct symbols));
}

/* ------------------------------------------------------------ tables */

static int add_function(struct table *t, uint64_t start, uint64_t size, const char *name)
{
	size_t n = strlen(name) + 1, room;
	void *more;

	if (t->functions == t->room) {
		room = t->room ? 2 * t->room : 1024;
		more = realloc(t->function, room * sizeof(*t->function));
		if (!more)
			return -1;
		t->function = more;
		t->room = room;
	}
	if (t->names_used + n > t->names_room) {
		room = 2 * t->names_room + n + 4096;
		more = realloc(t->names, room);
		if (!more)
			return -1;
		t->names = more;
		t->names_room = room;
	}
	memcpy(t->names + t->names_used, name, n);
	t->function[t->functions++] = (struct function){start, size, (uint32_t)t->names_used};
	t->names_used += n;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* of aliases, the one that has a size */
	return x->size > y->size ? -1 : x->size < y->size;
}

static void sort_table(struct table *t)
{
	if (t->functions)
		qsort(t->function, t->functions, sizeof(*t->function), by_start);
}

static const struct function *find_function(const struct table *t, uint64_t address)
{
	size_t low = 0, high = t->functions, middle;
	const struct function *f;

	while (low < high) {
		middle = (low + high) / 2;
		if (t->function[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	f = &t->function[low - 1];
	while (f > t->function && f[-1].start == f->start)
		f--;
	/* hand-written code says no size */
	return !f->size || address - f->start < f->size ? f : NULL;
}

static void free_table(struct table *t)
{
	free(t->function);
	free(t->names);
}

/* ------------------------------------------------------------- files */

static void read_symbols(struct elf_file *f, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = sh->sh_entsize && data ? sh->sh_size / sh->sh_entsize : 0;
	const char *name;
	GElf_Sym sym;

	for (size_t i = 0; i < n; i++) {
		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF)
			continue;
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC && GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC)
			continue;
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (name && *name && add_function(&f->table, sym.st_value, sym.st_size, name))
			return;
	}
}

static void read_segments(struct elf_file *f, Elf *elf)
{
	size_t n = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n) || n > 1024)
		return;
	f->segment = calloc(n ? n : 1, sizeof(*f->segment));
	for (size_t i = 0; f->segment && i < n; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD)
			f->segment[f->segments++] = (struct segment){ph.p_offset, ph.p_filesz, ph.p_vaddr};
}

static void read_elf(struct elf_file *f, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	if (elf && elf_kind(elf) == ELF_K_ELF) {
		read_segments(f, elf);
		while ((scn = elf_nextscn(elf, scn)))
			if (gelf_getshdr(scn, &sh) && (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM))
				read_symbols(f, elf, scn, &sh);
		sort_table(&f->table);
	}
	elf_end(elf);
}

static struct elf_file *find_file(struct symbols *s, pid_t pid, const char *path)
{
	char full[4400];
	struct elf_file *f = NULL;
	struct stat st;
	int fd;

	snprintf(full, sizeof(full), "/proc/%d/root%s", (int)pid, path);
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		goto out;
	for (unsigned int i = 0; i < s->files; i++)
		if (s->file[i]->ino == st.st_ino && s->file[i]->dev == st.st_dev) {
			f = s->file[i];
			goto out;
		}
	f = s->files < FILES ? calloc(1, sizeof(*f)) : NULL;
	if (!f)
		goto out;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->base = strdup(strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	read_elf(f, fd);
	s->file[s->files++] = f;
out:
	close(fd);
	return f;
}

/* --------------------------------------------------------- processes */

static int add_mapping(struct symbols *s, struct process *p, const char *line)
{
	unsigned long long start, end, offset;
	struct mapping *more;
	char perms[8];
	int path = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &start, &end, perms, &offset, &path) < 4 ||
	    perms[2] != 'x')
		return 0;
	more = realloc(p->mapping, (p->mappings + 1) * sizeof(*more));
	if (!more)
		return -1;
	p->mapping = more;
	more[p->mappings++] = (struct mapping){
		.start = start,
		.end = end,
		.offset = offset,
		.file = path && line[path] == '/' ? find_file(s, p->pid, line + path) : NULL,
	};
	return 0;
}

static void read_mappings(struct symbols *s, struct process *p)
{
	char name[64], *line = NULL;
	size_t room = 0;
	FILE *f;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)p->pid);
	f = fopen(name, "re");
	/* it has ended: what is known of it stays true for its stacks */
	if (f)
		p->mappings = 0;
	while (f && (n = getline(&line, &room, f)) > 0) {
		line[n - 1] = '\0';
		if (add_mapping(s, p, line))
			break;
	}
	free(line);
	if (f)
		fclose(f);
}

static struct process *find_process(struct symbols *s, pid_t pid)
{
	struct process *p;

	for (p = s->process; p < s->process + PROCESSES; p++)
		if (p->pid == pid)
			return p;
	p = &s->process[s->next++ % PROCESSES];
	free(p->mapping);
	*p = (struct process){.pid = pid};
	read_mappings(s, p);
	return p;
}

static const struct mapping *find_mapping(const struct process *p, uint64_t ip)
{
	for (size_t i = 0; i < p->mappings; i++)
		if (ip >= p->mapping[i].start && ip < p->mapping[i].end)
			return &p->mapping[i];
	return NULL;
}

/* What was loaded since the mappings were read is looked for once more, but not for every stray address. */
static const struct mapping *look_up(struct symbols *s, struct process *p, uint64_t ip)
{
	const struct mapping *m = find_mapping(p, ip);

	if (m || (p->read_again && s->lookups - p->read_again < 256))
		return m;
	p->read_again = s->lookups;
	read_mappings(s, p);
	return find_mapping(p, ip);
}

bool symbols_is_code(struct symbols *s, pid_t pid, uint64_t ip)
{
	s->lookups++;
	return look_up(s, find_process(s, pid), ip);
}

/* The address that the file itself gives to a place in it. */
static uint64_t file_address(const struct elf_file *f, uint64_t offset)
{
	for (size_t i = 0; i < f->segments; i++)
		if (offset >= f->segment[i].offset && offset - f->segment[i].offset < f->segment[i].size)
			return offset - f->segment[i].offset + f->segment[i].address;
	return offset;
}

void symbols_user(struct symbols *s, pid_t pid, uint64_t ip, char *out, size_t room)
{
	struct process *p = find_process(s, pid);
	const struct mapping *m = look_up(s, p, ip);
	const struct function *f;
	uint64_t address;

	if (!m || !m->file) {
		snprintf(out, room, "0x%llx", (unsigned long long)ip);
		return;
	}
	address = file_address(m->file, ip - m->start + m->offset);
	f = find_function(&m->file->table, address);
	if (f)
		snprintf(out, room, "%s", m->file->table.names + f->name);
	else
		snprintf(out, room, "%s+0x%llx", m->file->base ? m->file->base : "?",
			 (unsigned long long)address);
}

/* ------------------------------------------------------------ kernel */

static void read_kallsyms(struct symbols *s)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	char line[512], name[256], type;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %c %255s", &address, &type, name) == 3 && address &&
		    (type == 't' || type == 'T') && add_function(&s->kernel, address, 0, name))
			break;
	if (f)
		fclose(f);
	sort_table(&s->kernel);
}

void symbols_read_kernel(struct symbols *s)
{
	if (!s->kernel_read)
		read_kallsyms(s);
	s->kernel_read = true;
}

void symbols_kernel(struct symbols *s, uint64_t ip, char *out, size_t room)
{
	const struct function *f;

	symbols_read_kernel(s);
	f = find_function(&s->kernel, ip);
	if (f)
		snprintf(out, room, "%s", s->kernel.names + f->name);
	else
		snprintf(out, room, "0x%llx", (unsigned long long)ip);
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < PROCESSES; i++)
		free(s->process[i].mapping);
	for (unsigned int i = 0; i < s->files; i++) {
		free_table(&s->file[i]->table);
		free(s->file[i]->segment);
		free(s->file[i]->base);
		free(s->file[i]);
	}
	free_table(&s->kernel);
	free(s);
}

#endif /* GRT_HAVE_BPF */
