// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Implements symbols.h: chooses the file to read for an object, finds what is at an address of a process, and
 * caches results.
 */
#include "symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/containers.h"
#include "base/clock.h"
#include "debug_file.h"
#include "base/demangle.h"
#include "frames.h"
#include "object.h"
#include "text_map.h"

/* Most addresses in the cache; then all are dropped and looked up again. */
#define CACHE_MAX 4194304U
#define TEXTS_MAX 8388608U
#define PROCESSES_MAX 65536U
#define PATH_ROOM 4400U
/* A process may write its map until it has disappeared, after its end was reported. */
#define ENDING_NS 10000000000ULL
/* The start of a process is known to within one second, and the clock may have been set since. */
#define BEGINNING_NS 10000000000ULL
/* Bytes of a map that is given, or kallsyms; of one that a process wrote, and of all those: they take up to
 * twice as much memory. */
#define MAP_MAX (512U << 20)
#define OWN_MAP_MAX (64U << 20)
#define OWN_MAPS_MAX (256U << 20)
/* A large map is only read again after this many times the time that reading it took. */
#define OWN_MAP_SMALL (256U << 10)
#define READINGS 20U
/* Object numbers in the cache's keys for addresses that belong to no object file. */
#define KERNEL UINT32_MAX

/**
 * struct object
 * @elf: opened at its first use; NULL and @tried: it cannot be opened
 * @fd: of its file, if @given
 * @other, @broken: how it was counted
 */
struct object {
	char *path;
	char *open;
	int fd;
	bool given;
	char *build_id;
	struct grt_object *elf;
	bool tried;
	bool other;
	bool broken;
};

/** struct kept - a frame in the cache: numbers of texts */
struct kept {
	uint32_t function;
	uint32_t file;
	uint32_t line;
	bool inlined;
};

/** struct answer - the result for an address: @frames frames from @first on */
struct answer {
	uint32_t first;
	uint8_t frames;
	uint8_t how;
	bool known;
};

/**
 * struct process
 * @jit: functions made at run time
 * @jit_size: size of their file, -1: not tried
 * @jit_bytes: its share of the bytes of all files
 * @jit_after: when it may be read again, grt_now()
 * @began, @ended: CLOCK_REALTIME ns, 0: unknown
 */
struct process {
	struct grt_symbols_mapping *mapping;
	uint32_t mappings;
	uint32_t room;
	struct grt_functions jit;
	off_t jit_size;
	uint64_t jit_bytes;
	uint64_t jit_after;
	uint64_t began;
	uint64_t ended;
	bool known;
	bool jit_given;
};

struct grt_symbols {
	struct grt_symbols_options options;
	struct grt_texts keys; /* the number of an element is also that of the object */
	struct object *object;
	uint32_t object_room;
	uint64_t mappings;
	uint64_t jit_bytes; /* of maps that processes wrote */
	struct grt_keyed processes;
	struct grt_keyed cache;
	struct kept *kept;
	uint32_t kept_used, kept_room;
	struct grt_texts texts;
	struct grt_functions kernel;
	bool kernel_read;
	struct grt_symbols_count count;
};

int grt_symbols_new(struct grt_symbols **out, const struct grt_symbols_options *options)
{
	struct grt_symbols *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s)
		return -ENOMEM;
	if (options)
		s->options = *options;
	if (!s->options.directory)
		s->options.directory = getenv("GRTRACE_SYMBOLS");
	if (s->options.directory && !*s->options.directory)
		s->options.directory = NULL;
	s->options.servers |= getenv("GRTRACE_DEBUGINFOD") && !strcmp(getenv("GRTRACE_DEBUGINFOD"), "1");
	grt_texts_init(&s->keys, GRT_SYMBOLS_OBJECTS_MAX);
	grt_texts_init(&s->texts, TEXTS_MAX);
	grt_keyed_init(&s->cache, sizeof(struct answer), CACHE_MAX);
	grt_keyed_init(&s->processes, sizeof(struct process), PROCESSES_MAX);
	return 0;
}

bool grt_symbols_can(void)
{
	return grt_can_objects();
}

const struct grt_symbols_count *grt_symbols_count(const struct grt_symbols *s)
{
	return &s->count;
}

/* ------------------------------------------------------------- objects */

/* Hexadecimal digits only, in lower case, or "". */
static void copy_build_id(char *out, size_t room, const char *text)
{
	size_t n = 0;

	for (; text && n + 1 < room && text[n]; n++) {
		char c = (char)(text[n] >= 'A' && text[n] <= 'F' ? text[n] | 32 : text[n]);

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			break;
		out[n] = c;
	}
	out[text && text[n] ? 0 : n] = '\0';
}

static int fill_object(struct object *o, const char *path, const char *build_id, const char *open)
{
	o->path = strdup(path);
	o->build_id = strdup(build_id);
	o->open = open ? strdup(open) : NULL;
	return o->path && o->build_id && (o->open || !open) ? 0 : -ENOMEM;
}

int grt_symbols_object_as(struct grt_symbols *s, const char *path, const char *build_id, const char *open,
			  uint32_t *object)
{
	char key[PATH_ROOM], id[130];
	uint32_t before = s->keys.used;

	*object = GRT_SYMBOLS_NO_OBJECT;
	copy_build_id(id, sizeof(id), build_id);
	/* the same path with another build id, or read from another place, is another file */
	snprintf(key, sizeof(key), "%s\n%s\n%s", id, id[0] || !open ? "" : open, path);
	if (grt_grow_zeroed(&s->object, &s->object_room, before + 1, 64) ||
	    grt_texts_add(&s->keys, key, sizeof(key), object))
		return -ENOMEM;
	s->count.over += !*object;
	if (s->keys.used == before)
		return 0;
	s->count.objects++;
	return fill_object(&s->object[*object], path, id, open);
}

int grt_symbols_object(struct grt_symbols *s, const char *path, const char *build_id, uint32_t *object)
{
	return grt_symbols_object_as(s, path, build_id, NULL, object);
}

int grt_symbols_object_fd(struct grt_symbols *s, const char *path, int fd, uint32_t *object)
{
	char open[32];
	int ret;

	snprintf(open, sizeof(open), "descriptor %d", fd);
	ret = grt_symbols_object_as(s, path, NULL, open, object);
	if (ret || !*object || s->object[*object].given) {
		close(fd);
		return ret;
	}
	s->object[*object].fd = fd;
	s->object[*object].given = true;
	return 0;
}

/* Return: whether the search is over */
static bool try_file(struct grt_symbols *s, struct object *o, bool *other, bool *broken, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

static bool try_file(struct grt_symbols *s, struct object *o, bool *other, bool *broken, const char *fmt, ...)
{
	char path[PATH_ROOM];
	va_list ap;
	int fd, ret;

	va_start(ap, fmt);
	ret = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	fd = ret < (int)sizeof(path) ? grt_open_firm(path, GRT_SYMBOLS_FILE_MAX) : -ENAMETOOLONG;
	if (fd < 0)
		return false;
	ret = grt_object_open(&o->elf, fd, path, o->build_id, &s->options);
	*other |= ret == -ESTALE;
	*broken |= ret == -EBADMSG;
	return !ret;
}

static bool open_given(struct grt_symbols *s, struct object *o, bool *broken)
{
	int ret = grt_object_open(&o->elf, o->fd, o->path, NULL, &s->options);

	o->fd = -1;
	*broken = ret == -EBADMSG;
	return !ret;
}

static bool search(struct grt_symbols *s, struct object *o, bool *other, bool *broken)
{
	const char *dir = s->options.directory, *id = o->build_id;
	bool has_id = strlen(id) > 2;

	if (o->given)
		return open_given(s, o, broken);
	if (try_file(s, o, other, broken, "%s", o->open ?: o->path))
		return true;
	if (dir && has_id &&
	    (try_file(s, o, other, broken, "%s/.build-id/%.2s/%s", dir, id, id + 2) ||
	     try_file(s, o, other, broken, "%s/.build-id/%.2s/%s.debug", dir, id, id + 2)))
		return true;
	if (dir && try_file(s, o, other, broken, "%s/%s", dir, o->path))
		return true;
	return has_id && !s->options.no_separate &&
	       try_file(s, o, other, broken, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
}

/* The object's file; NULL: there is none. */
static struct grt_object *elf_of(struct grt_symbols *s, uint32_t object)
{
	struct object *o = &s->object[object];
	bool other = false, broken = false;

	if (o->tried)
		return o->elf;
	o->tried = true;
	if (search(s, o, &other, &broken))
		return o->elf;
	o->other = other;
	o->broken = broken;
	s->count.missing++;
	s->count.other += other;
	s->count.broken += broken;
	return NULL;
}

/* --------------------------------------------------------------- cache */

static void symbols_forget_all(struct grt_symbols *s)
{
	grt_keyed_free(&s->cache);
	grt_keyed_init(&s->cache, sizeof(struct answer), CACHE_MAX);
	grt_texts_free(&s->texts);
	grt_texts_init(&s->texts, TEXTS_MAX);
	s->kept_used = 0;
}

/* The element for an answer; @known: it has an answer. Return: 0 or -ENOMEM */
static int get_answer(struct grt_symbols *s, uint32_t object, uint64_t address, struct answer **out)
{
	struct grt_key key = {{object, address}};
	void *found;
	int ret;

	if ((grt_keyed_full(&s->cache) && !grt_keyed_find(&s->cache, &key)) ||
	    s->texts.used + 2 * GRT_SYMBOLS_FRAMES_MAX > TEXTS_MAX)
		symbols_forget_all(s);
	ret = grt_keyed_get(&s->cache, &key, &found);
	*out = found;
	return ret;
}

static int begin_answer(struct grt_symbols *s, struct answer *a)
{
	s->count.asked++;
	a->first = s->kept_used;
	a->frames = 0;
	return grt_grow(&s->kept, &s->kept_room, s->kept_used + GRT_SYMBOLS_FRAMES_MAX, 1024);
}

/* Adds a frame to the answer that was begun. Return: 0 or -ENOMEM */
static int symbols_add_frame(struct grt_symbols *s, struct answer *a, const char *function, const char *file,
			     uint32_t line, bool inlined)
{
	char *clean = s->options.linkage ? NULL : grt_demangle(function);
	struct kept *k = &s->kept[s->kept_used];
	int ret;

	*k = (struct kept){.line = line, .inlined = inlined};
	ret = grt_texts_add(&s->texts, clean ?: function, GRT_FUNCTION_NAME_MAX, &k->function);
	free(clean);
	if (!ret && file)
		ret = grt_texts_add(&s->texts, file, PATH_ROOM, &k->file);
	if (ret)
		return ret;
	s->kept_used++;
	a->frames++;
	return 0;
}

static int add_unknown(struct grt_symbols *s, struct answer *a, const char *object, uint64_t address)
{
	char text[PATH_ROOM];

	s->count.unnamed++;
	a->how = GRT_SYMBOLS_NOWHERE;
	if (object)
		snprintf(text, sizeof(text), "%s+0x%llx", object, (unsigned long long)address);
	else
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	return symbols_add_frame(s, a, text, NULL, 0, false);
}

static void symbols_set_found(const struct grt_symbols *s, const struct answer *a, const char *object,
			      struct grt_symbols_found *out)
{
	out->how = a->how;
	out->frames = a->frames;
	out->object = object;
	for (unsigned int i = 0; i < a->frames; i++) {
		const struct kept *k = &s->kept[a->first + i];

		out->frame[i] = (struct grt_symbol){grt_texts_get(&s->texts, k->function),
						    grt_texts_get(&s->texts, k->file), k->line, k->inlined};
	}
}

/* ------------------------------------------------------------- looking */

/*
 * Return: whether a compiler has mangled the name. Other linkage names are local aliases, such as glibc's
 * __GI_malloc.
 */
static bool symbols_is_mangled(const char *name)
{
	return name && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* The function of a frame: the outermost one has the linker's name, even without DWARF. */
static const char *symbols_function_of(struct grt_object *elf, const struct grt_object_frame *f,
				       uint64_t address)
{
	if (symbols_is_mangled(f->linkage))
		return f->linkage;
	return f->inlined ? f->name : grt_object_symbol(elf, address) ?: f->linkage ?: f->name;
}

static int symbols_look(struct grt_symbols *s, struct object *o, struct grt_object *elf, uint64_t address,
			struct answer *a)
{
	struct grt_object_frame f[GRT_SYMBOLS_FRAMES_MAX];
	unsigned int n = elf ? grt_object_frames(elf, address, f, GRT_SYMBOLS_FRAMES_MAX) : 0;
	const char *symbol;
	int ret = 0;

	for (unsigned int i = 0; i < n && !ret; i++) {
		symbol = symbols_function_of(elf, &f[i], address);
		if (!symbol && n == 1)
			break;
		a->how = GRT_SYMBOLS_DEBUG;
		ret = symbols_add_frame(s, a, symbol ?: "?", f[i].file, f[i].line, f[i].inlined);
	}
	if (ret || a->frames)
		return ret;
	symbol = elf ? grt_object_symbol(elf, address) : NULL;
	if (!symbol)
		return add_unknown(s, a, grt_frame_base(o->path), address);
	a->how = GRT_SYMBOLS_TABLE;
	return symbols_add_frame(s, a, symbol, NULL, 0, false);
}

int grt_symbols_at(struct grt_symbols *s, uint32_t object, uint64_t address, struct grt_symbols_found *found)
{
	struct answer *a;
	int ret = get_answer(s, object, address, &a);

	if (!ret && !a->known) {
		ret = begin_answer(s, a);
		if (!ret && object && object < s->keys.used)
			ret = symbols_look(s, &s->object[object], elf_of(s, object), address, a);
		else if (!ret)
			ret = add_unknown(s, a, NULL, address);
		a->known = !ret;
	}
	if (!ret)
		symbols_set_found(
			s, a, object && object < s->keys.used ? grt_frame_base(s->object[object].path) : "",
			found);
	return ret;
}

int grt_symbols_at_offset(struct grt_symbols *s, uint32_t object, uint64_t offset,
			  struct grt_symbols_found *found)
{
	struct grt_object *elf = object && object < s->keys.used ? elf_of(s, object) : NULL;
	uint64_t address = offset;

	/* an address in no loaded part is shown as an offset */
	if (elf && !grt_object_address(elf, offset, &address))
		address = offset;
	return grt_symbols_at(s, object, address, found);
}

/* ----------------------------------------------------------- processes */

static struct process *symbols_find_process(const struct grt_symbols *s, uint32_t pid)
{
	struct grt_key key = {{pid}};

	return grt_keyed_find(&s->processes, &key);
}

/* Return: 0 with the process; NULL: there are too many; or -ENOMEM */
static int symbols_get_process(struct grt_symbols *s, uint32_t pid, struct process **out)
{
	struct grt_key key = {{pid}};
	void *found;
	int ret = grt_keyed_get_or_count(&s->processes, &key, &s->count.over, &found);

	*out = found;
	if (!*out)
		return ret;
	if (!(*out)->known)
		(*out)->jit_size = -1;
	(*out)->known = true;
	return 0;
}

static int symbols_add_mapping(struct grt_symbols *s, struct process *p, uint32_t at,
			       const struct grt_symbols_mapping *m)
{
	if (s->mappings >= GRT_SYMBOLS_MAPPINGS_MAX) {
		s->count.over++;
		return 0;
	}
	if (grt_grow(&p->mapping, &p->room, p->mappings + 1, 64))
		return -ENOMEM;
	memmove(&p->mapping[at + 1], &p->mapping[at], (p->mappings - at) * sizeof(*m));
	p->mapping[at] = *m;
	p->mappings++;
	s->mappings++;
	return 0;
}

/* Return: index of the first mapping that ends after an address. */
static uint32_t symbols_find_mapping(const struct process *p, uint64_t ip)
{
	return grt_bisect(p->mappings, i, p->mapping[i].end <= ip);
}

/* Removes [@start, @end) from the mappings there. */
static int cut_out(struct grt_symbols *s, struct process *p, uint64_t start, uint64_t end)
{
	uint32_t i = symbols_find_mapping(p, start), gone;
	struct grt_symbols_mapping *m = &p->mapping[i], rest;
	int ret = 0;

	if (i < p->mappings && m->start < start) {
		rest = *m;
		m->end = start;
		if (rest.end > end) {
			rest.offset += end - rest.start;
			rest.start = end;
			ret = symbols_add_mapping(s, p, i + 1, &rest);
		}
		i++;
	}
	for (gone = i; gone < p->mappings && p->mapping[gone].end <= end; gone++)
		;
	memmove(&p->mapping[i], &p->mapping[gone], (p->mappings - gone) * sizeof(*p->mapping));
	p->mappings -= gone - i;
	s->mappings -= gone - i;
	if (i < p->mappings && p->mapping[i].start < end) {
		p->mapping[i].offset += end - p->mapping[i].start;
		p->mapping[i].start = end;
	}
	return ret;
}

int grt_symbols_map(struct grt_symbols *s, uint32_t pid, const struct grt_symbols_mapping *m)
{
	struct process *p;
	int ret = symbols_get_process(s, pid, &p);

	if (ret || !p || m->end <= m->start)
		return ret;
	if (p->mappings)
		ret = cut_out(s, p, m->start, m->end);
	return ret ?: symbols_add_mapping(s, p, symbols_find_mapping(p, m->start), m);
}

static void free_process(struct grt_symbols *s, struct process *p)
{
	s->mappings -= p->mappings;
	s->jit_bytes -= p->jit_bytes;
	free(p->mapping);
	grt_functions_free(&p->jit);
	*p = (struct process){.jit_size = -1, .known = true};
}

void grt_symbols_unmap(struct grt_symbols *s, uint32_t pid)
{
	struct process *p = symbols_find_process(s, pid);

	if (p)
		free_process(s, p);
}

static const struct grt_symbols_mapping *mapping_at(const struct process *p, uint64_t ip)
{
	uint32_t i = p ? symbols_find_mapping(p, ip) : 0;

	return p && i < p->mappings && p->mapping[i].start <= ip ? &p->mapping[i] : NULL;
}

const struct grt_symbols_mapping *grt_symbols_mapping_at(const struct grt_symbols *s, uint32_t pid,
							 uint64_t ip)
{
	return mapping_at(symbols_find_process(s, pid), ip);
}

/* -------------------------------------------------------------- maps */

/*
 * Any user can write to /tmp, so a map only counts if it belongs to root, to this process's user, or to the
 * process's own user.
 */
static bool is_trusted(const struct stat *st, uint32_t pid)
{
	char path[32];
	struct stat process;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return !st->st_uid || st->st_uid == geteuid() ||
	       (!stat(path, &process) && process.st_uid == st->st_uid);
}

/* Whether another process wrote it, which had the same number earlier or later. */
static bool is_of_another(const struct stat *st, const struct process *p)
{
	uint64_t written = (uint64_t)st->st_mtim.tv_sec * 1000000000ULL + (uint64_t)st->st_mtim.tv_nsec;

	return (p->began > BEGINNING_NS && written < p->began - BEGINNING_NS) ||
	       (p->ended && written > p->ended + ENDING_NS);
}

static int read_perf_map(struct grt_symbols *s, struct process *p, const char *path, uint32_t pid, bool given)
{
	struct grt_functions functions = {0};
	uint64_t begun = grt_now(), took;
	int fd = given ? grt_open_regular(path, MAP_MAX) : grt_open_no_link(path, OWN_MAP_MAX), ret = 0;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		ret = -errno;
	else if (!given && !is_trusted(&st, pid))
		ret = -EPERM;
	else if (!given && is_of_another(&st, p))
		ret = -ESTALE;
	else if (!given && s->jit_bytes - p->jit_bytes + (uint64_t)st.st_size > OWN_MAPS_MAX)
		ret = -EFBIG;
	else
		ret = grt_perf_map_read(&functions, fd, (uint64_t)st.st_size, &s->count.map_errors);
	close(fd);
	if (ret) {
		grt_functions_free(&functions);
		return ret;
	}
	grt_functions_free(&p->jit);
	p->jit = functions;
	p->jit_size = st.st_size;
	s->jit_bytes += (given ? 0 : (uint64_t)st.st_size) - p->jit_bytes;
	p->jit_bytes = given ? 0 : (uint64_t)st.st_size;
	took = grt_now() - begun;
	p->jit_after = st.st_size > OWN_MAP_SMALL ? begun + READINGS * took : 0;
	return 0;
}

int grt_symbols_perf_map(struct grt_symbols *s, uint32_t pid, const char *path)
{
	struct process *p;
	char own[64];
	int ret = symbols_get_process(s, pid, &p);

	if (ret || !p)
		return ret ?: -ENOSPC;
	p->jit_given = path;
	snprintf(own, sizeof(own), "/tmp/perf-%u.map", pid);
	return read_perf_map(s, p, path ?: own, pid, path);
}

int grt_symbols_perf_map_fd(struct grt_symbols *s, uint32_t pid, int fd)
{
	struct process *p;
	struct stat st;
	int ret = symbols_get_process(s, pid, &p);

	if (!ret && !p)
		ret = -ENOSPC;
	if (!ret && (fstat(fd, &st) || lseek(fd, 0, SEEK_SET) < 0))
		ret = -errno;
	if (!ret)
		ret = st.st_size > (off_t)OWN_MAP_MAX
			      ? -EFBIG
			      : grt_perf_map_read(&p->jit, fd, (uint64_t)st.st_size, &s->count.map_errors);
	if (p)
		p->jit_given = true;
	close(fd);
	return ret;
}

int grt_symbols_began(struct grt_symbols *s, uint32_t pid, uint64_t realtime)
{
	struct process *p;
	int ret = symbols_get_process(s, pid, &p);

	if (!ret && p)
		p->began = realtime;
	return ret;
}

int grt_symbols_ended(struct grt_symbols *s, uint32_t pid, uint64_t realtime)
{
	struct process *p;
	int ret = symbols_get_process(s, pid, &p);

	if (!ret && p)
		p->ended = realtime;
	return ret;
}

/* The function made at run time at an address; a map that has grown is read again. */
static const char *find_jit(struct grt_symbols *s, struct process *p, uint32_t pid, uint64_t ip)
{
	const char *found = grt_functions_find(&p->jit, ip);
	char path[64];
	struct stat st;

	if (found || p->jit_given)
		return found;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	if (lstat(path, &st) || !S_ISREG(st.st_mode) || st.st_size == p->jit_size ||
	    (p->jit_after && grt_now() < p->jit_after))
		return NULL;
	if (read_perf_map(s, p, path, pid, false)) {
		p->jit_size = st.st_size;
		return NULL;
	}
	return grt_functions_find(&p->jit, ip);
}

/* Not cached: the same address may have other code later. */
static int jit_at(struct grt_symbols *s, struct process *p, uint32_t pid, uint64_t ip,
		  struct grt_symbols_found *found)
{
	const char *name = p ? find_jit(s, p, pid, ip) : NULL;
	struct answer a = {.how = GRT_SYMBOLS_MAP};
	int ret = begin_answer(s, &a);

	if (ret)
		return ret;
	ret = name ? symbols_add_frame(s, &a, name, NULL, 0, false) : add_unknown(s, &a, NULL, ip);
	if (!ret)
		symbols_set_found(s, &a, "", found);
	s->kept_used = a.first;
	return ret;
}

int grt_symbols_in_process(struct grt_symbols *s, uint32_t pid, uint64_t ip, struct grt_symbols_found *found)
{
	struct process *p;
	const struct grt_symbols_mapping *m;
	int ret = symbols_get_process(s, pid, &p);

	if (ret)
		return ret;
	m = mapping_at(p, ip);
	if (!m || !m->object)
		return jit_at(s, p, pid, ip, found);
	if (m->has_bias)
		return grt_symbols_at(s, m->object, ip - m->bias, found);
	return grt_symbols_at_offset(s, m->object, ip - m->start + m->offset, found);
}

/* -------------------------------------------------------------- kernel */

/* Reads a file of /proc, which has no size and cannot be mapped. Return: 0 or a negative errno; free *text */
static int read_proc(const char *path, char **text, size_t *length)
{
	size_t room = 0;
	FILE *f = fopen(path, "re"), *all;
	char part[65536];
	size_t n;

	if (!f)
		return -errno;
	*text = NULL;
	all = open_memstream(text, length);
	while (all && room < MAP_MAX && (n = fread(part, 1, sizeof(part), f)) > 0) {
		fwrite(part, 1, n, all);
		room += n;
	}
	fclose(f);
	return !all || fclose(all) ? -ENOMEM : 0;
}

int grt_symbols_kallsyms(struct grt_symbols *s, const char *path)
{
	char *text = NULL;
	size_t length = 0;
	int ret;

	s->kernel_read = true;
	ret = read_proc(path ?: "/proc/kallsyms", &text, &length);
	if (!ret)
		ret = grt_kallsyms_parse(&s->kernel, text, length, &s->count.map_errors);
	free(text);
	return ret ?: s->kernel.used ? 0 : -EACCES;
}

int grt_symbols_kernel(struct grt_symbols *s, uint64_t ip, struct grt_symbols_found *found)
{
	struct answer *a;
	const char *name;
	int ret;

	if (!s->kernel_read)
		grt_symbols_kallsyms(s, NULL);
	ret = get_answer(s, KERNEL, ip, &a);
	if (!ret && !a->known) {
		ret = begin_answer(s, a);
		name = grt_functions_find(&s->kernel, ip);
		a->how = GRT_SYMBOLS_KERNEL;
		if (!ret)
			ret = name ? symbols_add_frame(s, a, name, NULL, 0, false)
				   : add_unknown(s, a, NULL, ip);
		a->known = !ret;
	}
	if (!ret)
		symbols_set_found(s, a, "[kernel]", found);
	return ret;
}

void grt_symbols_free(struct grt_symbols *s)
{
	void *p;

	if (!s)
		return;
	for (p = grt_keyed_oldest(&s->processes); p; p = grt_keyed_next(&s->processes, p))
		free_process(s, p);
	for (uint32_t i = 1; i < s->keys.used; i++) {
		grt_object_close(s->object[i].elf);
		if (s->object[i].given && s->object[i].fd >= 0)
			close(s->object[i].fd);
		free(s->object[i].path);
		free(s->object[i].open);
		free(s->object[i].build_id);
	}
	free(s->object);
	free(s->kept);
	grt_texts_free(&s->keys);
	grt_texts_free(&s->texts);
	grt_keyed_free(&s->cache);
	grt_keyed_free(&s->processes);
	grt_functions_free(&s->kernel);
	free(s);
}
