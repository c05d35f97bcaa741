// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the files and offsets for addresses in processes. A process's mappings are read when an address is
 * in no known mapping. Its files are opened below its own root directory, so files of containers are found,
 * even after the process has ended. The files are not read here, because events wait in the buffers, and
 * this process still has privileges.
 */
#include "symbols.h"

#ifdef GRT_HAVE_BPF

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/containers.h"
#include "maps.h"
#include "stack/debug_file.h"

/* Most processes; a further one replaces the oldest. */
#define PROCESSES 64U
/* Most files, each counted once for all processes. */
#define FILES 16384U
/* Least number of lookups between two readings of mappings that did not help. */
#define PATIENCE 256U
/* Most bytes of a map that a process wrote. */
#define MAP_MAX (64U << 20)

/**
 * struct process
 * @uid: its user
 * @root: its root directory, -1: unknown
 * @map: object for code that it makes at run time, once it was needed
 * @read_again: the lookup at which its mappings were last read again
 */
struct process {
	pid_t pid;
	uid_t uid;
	int root;
	uint32_t map;
	uint64_t read_again;
};

/**
 * struct symbols
 * @all: mappings, and the kernel's functions
 * @files: device, inode and path; a file's number is the object of its mappings
 * @object: by that number: its object in @addresses
 */
struct symbols {
	struct grt_symbols *all;
	struct addresses *addresses;
	struct grt_texts files;
	uint32_t *object;
	uint32_t room;
	struct process process[PROCESSES];
	unsigned int next;
	uint64_t lookups;
};

struct symbols *symbols_new(void)
{
	const struct grt_symbols_options options = {.linkage = true};
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	for (struct process *p = s->process; p < s->process + PROCESSES; p++)
		p->root = -1;
	grt_texts_init(&s->files, FILES);
	s->addresses = addresses_new();
	if (s->addresses && !grt_symbols_new(&s->all, &options))
		return s;
	addresses_free(s->addresses);
	free(s);
	return NULL;
}

static void end_process(struct process *p)
{
	if (p->root >= 0)
		close(p->root);
	*p = (struct process){.root = -1};
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (struct process *p = s->process; p < s->process + PROCESSES; p++)
		end_process(p);
	addresses_free(s->addresses);
	grt_texts_free(&s->files);
	free(s->object);
	grt_symbols_free(s->all);
	free(s);
}

struct addresses *symbols_addresses(struct symbols *s)
{
	return s->addresses;
}

/* ---------------------------------------------------------------- mappings */

/* Finds the number of a mapped file; GRT_SYMBOLS_NO_OBJECT: it is not a file. Return: 0 or -ENOMEM */
static int symbols_find_file(struct symbols *s, const struct maps_row *row, uint32_t *file)
{
	uint32_t before = s->files.used;
	char key[4500];
	int ret;

	*file = GRT_SYMBOLS_NO_OBJECT;
	if (row->path[0] != '/')
		return 0;
	snprintf(key, sizeof(key), "%x:%x:%llu:%s", row->major, row->minor, (unsigned long long)row->inode,
		 row->path);
	ret = grt_grow_zeroed(&s->object, &s->room, before + 2, 64)
		      ?: grt_texts_add(&s->files, key, sizeof(key), file);
	if (ret || *file < before || s->files.used == before)
		return ret;
	return addresses_object(s->addresses, row->path, &s->object[*file]);
}

static int source_symbols_add_mapping(struct symbols *s, pid_t pid, const struct maps_row *row)
{
	struct grt_symbols_mapping m = {.start = row->start, .end = row->end, .offset = row->offset};
	int ret = symbols_find_file(s, row, &m.object);

	return ret ?: grt_symbols_map(s->all, (uint32_t)pid, &m);
}

static void symbols_read_mappings(struct symbols *s, pid_t pid)
{
	struct maps_row row;
	struct maps maps;
	int ret = 0;

	/* if the process has ended, its known mappings stay valid for its stacks */
	if (maps_copy(&maps, pid))
		grt_symbols_unmap(s->all, (uint32_t)pid);
	while (!ret && maps_next(&maps, &row))
		ret = row.code ? source_symbols_add_mapping(s, pid, &row) : 0;
	maps_close(&maps);
}

static void symbols_begin_process(struct process *p, pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	*p = (struct process){.pid = pid, .uid = stat(path, &st) ? 0 : st.st_uid};
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	p->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static struct process *source_symbols_find_process(struct symbols *s, pid_t pid)
{
	struct process *p;

	for (p = s->process; p < s->process + PROCESSES; p++)
		if (p->pid == pid)
			return p;
	p = &s->process[s->next++ % PROCESSES];
	if (p->pid)
		grt_symbols_unmap(s->all, (uint32_t)p->pid);
	end_process(p);
	symbols_begin_process(p, pid);
	symbols_read_mappings(s, pid);
	return p;
}

void symbols_forget(struct symbols *s, pid_t pid)
{
	for (struct process *p = s->process; p < s->process + PROCESSES; p++) {
		if (p->pid != pid)
			continue;
		grt_symbols_unmap(s->all, (uint32_t)pid);
		end_process(p);
	}
}

/*
 * If an address is in no known mapping, a library may have been loaded, so the mappings are read again, but
 * not for every invalid address.
 */
static const struct grt_symbols_mapping *symbols_look_up(struct symbols *s, struct process *p, uint64_t ip)
{
	const struct grt_symbols_mapping *m = grt_symbols_mapping_at(s->all, (uint32_t)p->pid, ip);

	s->lookups++;
	if (m || (p->read_again && s->lookups - p->read_again < PATIENCE))
		return m;
	p->read_again = s->lookups;
	symbols_read_mappings(s, p->pid);
	return grt_symbols_mapping_at(s->all, (uint32_t)p->pid, ip);
}

bool symbols_is_code(struct symbols *s, pid_t pid, uint64_t ip)
{
	return symbols_look_up(s, source_symbols_find_process(s, pid), ip);
}

/* ------------------------------------------------------------------- files */

/* A link in the directories that the process sees leads nowhere outside of them. */
static int symbols_open_below(int root, const char *path)
{
	const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
				     .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	return -1;
}

/* Return: whether the process's map was looked for, or would be without the limit */
static bool symbols_open_object(struct symbols *s, const struct process *p,
				const struct grt_symbols_mapping *m)
{
	const char *path = strchr(grt_texts_get(&s->files, m->object), '/');
	uint32_t object = s->object[m->object];
	int fd;

	if (!object || addresses_is_open(s->addresses, object))
		return object;
	fd = maps_file(p->pid, m->start, m->end, NULL);
	if (fd < 0 && p->root >= 0)
		fd = symbols_open_below(p->root, path);
	if (fd < 0)
		return false;
	addresses_open(s->addresses, object, fd);
	return true;
}

/*
 * Any user can write to /tmp, so a map only counts if it belongs to root, to this process's user, or to the
 * process's own user.
 */
static void open_map(struct symbols *s, const struct process *p)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)p->pid);
	fd = grt_open_no_link(path, MAP_MAX);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && (!st.st_uid || st.st_uid == geteuid() || st.st_uid == p->uid))
		addresses_open(s->addresses, p->map, fd);
	else
		close(fd);
}

/* Code that was made at run time, or that is in a deleted file. */
static int take_made(struct symbols *s, struct process *p, uint64_t ip, uint32_t *number)
{
	int ret = p->map ? 0 : addresses_object(s->addresses, NULL, &p->map);

	*number = ADDRESS_NONE;
	if (ret || !p->map)
		return ret;
	if (!addresses_is_open(s->addresses, p->map))
		open_map(s, p);
	return addresses_get(s->addresses, p->map, ip, number);
}

int symbols_take(struct symbols *s, pid_t pid, uint64_t ip, uint32_t *number)
{
	struct process *p = source_symbols_find_process(s, pid);
	const struct grt_symbols_mapping *m = symbols_look_up(s, p, ip);

	if (!m || !m->object || !symbols_open_object(s, p, m))
		return take_made(s, p, ip, number);
	return addresses_get(s->addresses, s->object[m->object], ip - m->start + m->offset, number);
}

/* ------------------------------------------------------------------ kernel */

void symbols_read_kernel(struct symbols *s)
{
	grt_symbols_kallsyms(s->all, NULL);
}

int symbols_kernel(struct symbols *s, uint64_t ip, struct grt_symbols_found *found)
{
	return grt_symbols_kernel(s->all, ip, found);
}

#endif /* GRT_HAVE_BPF */
