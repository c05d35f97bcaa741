// SPDX-License-Identifier: GPL-2.0
/*
 * The table of a file is built once; the file is identified by its device and inode. The table's rows go
 * into shards; each shard is a map, which is made when it is needed. A process's mappings are read when the
 * programs request them, and are given to the programs at once, with the tables that exist so far. An
 * invalid row only misleads a walk: the programs read only memory of the process itself.
 */
#include "bpf_tables.h"

#ifdef GRT_HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <grtrace/event.h>

#include "base/clock.h"
#include "base/containers.h"
#include "host/apart.h"
#include "host/maps.h"
#include "bpf_python.h"
#include "unwind_build.h"

#define FILES_MAX 16384U
#define FILE_BYTES_MAX (8ULL << 30)
/* Memory for sorting, in addition to the file itself. */
#define BUILD_MEMORY (256ULL << 20)
#define BUILD_SECONDS 20
/* Larger files, and files that do not belong to root, are read in a separate process. */
#define FIRM_BYTES_MAX (3 << 20)
/* How long to wait for tables that are needed before the first event. */
#define WAIT_NS (5 * GRT_NS_PER_S)
#define WAIT_MS 100
/* A slot is free for the next text of a process that has one. */
#define PROCESSES_KEPT (UNWIND_PROCESSES - 16)

/* The vdso, which has no file. */
#define VDSO_INODE UINT64_MAX

/* tables.map[] */
enum { SHARDS, PROCESSES, SLOTS, LONGS, ASKS, ASKED, CODES, NEWS, UNNAMED, MAPS };

static const char *const map_names[MAPS] = {"unwind_shards", "unwind_processes", "unwind_slots",
					    "unwind_longs",  "unwind_asks",	 "unwind_asked",
					    "python_codes",  "python_news",	 "python_unnamed"};

/* Maps in each source's programs that are useless without tables. */
static const char *const own_maps[] = {"walked", "walks_again", "python_known"};

/**
 * struct table_file - a file and its table of @rows rows from @first on, counted through all shards
 * @written, @size: time of its last change, ns, and its size in bytes, because the number of a deleted file
 *	is reused. 0: unknown
 * @why: enum grt_stack_end if it has no rows; PENDING: the table is not built yet
 */
struct table_file {
	uint64_t device;
	uint64_t inode;
	uint64_t written;
	uint64_t size;
	uint32_t first;
	uint32_t rows;
	uint32_t segments;
	uint32_t why;
	struct unwind_segment segment[UNWIND_SEGMENTS];
	struct unwind_python python;
};

/**
 * struct table_process - a process whose tables were requested
 * @waits: some of its files have no table yet
 * @slot: slot of its mappings, plus 1
 */
struct table_process {
	struct unwind_ask ask;
	bool waits;
	uint32_t slot;
};

/**
 * struct tables - the tables of all sources
 * @users: number of sources that use them
 * @shard: rows of each shard; @rows: number of all rows
 * @building: index of the file whose table @builder is building, plus 1
 * @out: the builder's output
 * @slots: mappings of processes, for the programs; @used: slots that programs may read
 * @turn: the slot to take next if it is free, because it was released the longest ago
 */
struct tables {
	unsigned int users;
	int map[MAPS];
	struct ring_buffer *asks;
	int epoll;
	uint64_t *shard[SHARDS_MAX];
	uint32_t rows;
	uint32_t longs;
	struct table_file *file;
	uint32_t files, file_room;
	struct table_process process[UNWIND_PROCESSES];
	uint32_t processes;
	struct apart builder;
	uint32_t building;
	struct unwind_table *out;
	struct unwind_process *slots;
	bool used[UNWIND_PROCESSES];
	uint32_t turn;
	uint64_t refused;
	uint32_t version;
	uint64_t dropped;
	uint64_t build_ns;
	uint64_t begun;
};

static struct tables tables = {.epoll = -1};

/* ---------------------------------------------------------------- maps */

int grt_bpf_tables_share(struct bpf_object *o, bool wanted)
{
	struct bpf_map *map;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < MAPS; i++) {
		map = bpf_object__find_map_by_name(o, map_names[i]);
		if (map && wanted && tables.users)
			ret = bpf_map__reuse_fd(map, tables.map[i]);
		else if (map && !wanted)
			ret = bpf_map__set_max_entries(map,
						       i == ASKS || i == NEWS ? (uint32_t)getpagesize() : 1);
	}
	for (size_t i = 0; !ret && !wanted && i < sizeof(own_maps) / sizeof(own_maps[0]); i++) {
		map = bpf_object__find_map_by_name(o, own_maps[i]);
		ret = map ? bpf_map__set_max_entries(map, 1) : 0;
	}
	return ret;
}

/* To put a map into a map waits for running programs, so it is done rarely. */
static uint64_t *new_shard(uint32_t number)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	size_t size = SHARD_ROWS * sizeof(uint64_t);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_shard", sizeof(uint32_t), (uint32_t)size, 1,
				&opts);
	void *rows = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (!bpf_map_update_elem(tables.map[SHARDS], &number, &fd, BPF_ANY))
		rows = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return rows == MAP_FAILED ? NULL : rows;
}

static int tables_on_ask(void *arg, void *data, size_t size);

static int tables_set_up(struct bpf_object *o)
{
	struct epoll_event asked = {.events = EPOLLIN};
	int ret;

	for (unsigned int i = 0; i < MAPS; i++) {
		tables.map[i] = fcntl(bpf_object__find_map_fd_by_name(o, map_names[i]), F_DUPFD_CLOEXEC, 3);
		if (tables.map[i] < 0)
			return -errno;
	}
	tables.out = mmap(NULL, sizeof(*tables.out), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	tables.slots = mmap(NULL, UNWIND_PROCESSES * sizeof(*tables.slots), PROT_READ | PROT_WRITE,
			    MAP_SHARED, tables.map[SLOTS], 0);
	tables.shard[0] = new_shard(0);
	tables.asks = ring_buffer__new(tables.map[ASKS], tables_on_ask, NULL, NULL);
	ret = tables.asks ? ring_buffer__add(tables.asks, tables.map[NEWS], grt_bpf_python_take, NULL) : 0;
	tables.epoll = epoll_create1(EPOLL_CLOEXEC);
	tables.builder.in = -1;
	if (tables.out == MAP_FAILED || tables.slots == MAP_FAILED || !tables.shard[0] || !tables.asks ||
	    ret || tables.epoll < 0 || epoll_ctl(tables.epoll, EPOLL_CTL_ADD, tables.map[ASKS], &asked) ||
	    epoll_ctl(tables.epoll, EPOLL_CTL_ADD, tables.map[NEWS], &asked))
		return -errno ?: -ENOMEM;
	return 0;
}

int grt_bpf_tables_adopt(struct bpf_object *o)
{
	int ret = 0;

	if (!bpf_object__find_map_by_name(o, map_names[SHARDS]))
		return 0;
	if (!tables.users++)
		ret = tables_set_up(o);
	return ret;
}

int grt_bpf_tables_fd(void)
{
	return tables.epoll;
}

void grt_bpf_tables_leave(void)
{
	if (!tables.users || --tables.users)
		return;
	apart_end(&tables.builder);
	ring_buffer__free(tables.asks);
	for (unsigned int i = 0; i < MAPS; i++)
		close(tables.map[i]);
	for (unsigned int i = 0; i < SHARDS_MAX && tables.shard[i]; i++)
		munmap(tables.shard[i], SHARD_ROWS * sizeof(uint64_t));
	if (tables.out && tables.out != MAP_FAILED)
		munmap(tables.out, sizeof(*tables.out));
	if (tables.slots && tables.slots != MAP_FAILED)
		munmap(tables.slots, UNWIND_PROCESSES * sizeof(*tables.slots));
	if (tables.epoll >= 0)
		close(tables.epoll);
	grt_bpf_python_forget();
	free(tables.file);
	memset(&tables, 0, sizeof(tables));
	tables.epoll = -1;
}

/* ---------------------------------------------------------------- rows */

static bool put_row(uint64_t row)
{
	uint32_t number = tables.rows / SHARD_ROWS;

	if (number == SHARDS_MAX)
		return false;
	if (!tables.shard[number])
		tables.shard[number] = new_shard(number);
	if (!tables.shard[number])
		return false;
	tables.shard[number][tables.rows++ % SHARD_ROWS] = row;
	return true;
}

/*
 * Numbers of long rules are relative to the file; in the common table, the files' rules follow one another.
 */
static uint64_t move_long(uint64_t row, uint32_t before, uint32_t n)
{
	uint32_t rule = (uint32_t)row;

	if (ROW_KIND(rule) != ROW_LONG)
		return row;
	return ROW_WORDS(rule) < n ? row + ((uint64_t)before << ROW_WORDS_SHIFT)
				   : row & ~(uint64_t)0xffffffff;
}

static bool has_room(const struct unwind_table *t)
{
	return t->rows <= SHARD_ROWS * SHARDS_MAX - tables.rows && t->longs <= LONG_RULES_MAX - tables.longs;
}

/* The builder is not trusted, so its numbers are checked. */
static uint32_t take_table(struct table_file *f, const struct unwind_table *t)
{
	uint32_t before = tables.longs, rows = t->rows, longs = t->longs, number;

	if (t->ret || rows > UNWIND_ROWS_MAX || longs > UNWIND_LONGS_MAX || t->segments > UNWIND_SEGMENTS)
		return GRT_STACK_END_NO_TABLE;
	f->segments = t->segments;
	memcpy(f->segment, t->segment, sizeof(f->segment));
	f->python = t->python;
	tables.dropped += t->dropped;
	if (!has_room(t))
		return GRT_STACK_END_TABLE_FULL;
	for (uint32_t i = 0; i < longs; i++) {
		number = before + i;
		if (bpf_map_update_elem(tables.map[LONGS], &number, &t->rule[i], BPF_ANY))
			return GRT_STACK_END_TABLE_FULL;
	}
	tables.longs += longs;
	f->first = tables.rows;
	for (uint32_t i = 0; i < rows; i++)
		if (!put_row(move_long(t->row[i], before, longs)))
			return GRT_STACK_END_TABLE_FULL;
	f->rows = rows;
	return GRT_STACK_END_NO_TABLE;
}

/* ---------------------------------------------------------------- building */

/** struct order - work for a separate process; @fd is -1 for the vdso */
struct order {
	int fd;
	size_t size;
};

static void tables_build_apart(int out, const void *arg)
{
	const struct order *o = arg;
	void *file = o->fd >= 0 ? mmap(NULL, o->size, PROT_READ, MAP_PRIVATE, o->fd, 0)
				: (void *)getauxval(AT_SYSINFO_EHDR);

	if (file != MAP_FAILED && file)
		unwind_build(tables.out, file, o->size);
}

static void reset_out(void)
{
	/* frees the pages, too */
	madvise(tables.out, sizeof(*tables.out), MADV_REMOVE);
	tables.out->ret = 0;
	tables.out->rows = tables.out->longs = tables.out->segments = 0;
	tables.out->dropped = 0;
	tables.out->python.minor = 0;
}

static void begin_build(uint32_t file, int fd, size_t size)
{
	struct order order = {fd, size};
	int keep[2] = {fd, -1};
	const struct apart_work work = {.fn = tables_build_apart,
					.arg = &order,
					.keep = fd >= 0 ? keep : keep + 1,
					.n = fd >= 0 ? 2 : 1,
					.name = "unwind tables",
					.memory = BUILD_MEMORY + size,
					.cpu_seconds = BUILD_SECONDS};
	struct epoll_event over = {.events = EPOLLIN};

	reset_out();
	tables.out->ret = -EFAULT;
	tables.begun = grt_now();
	if (apart_begin(&tables.builder, &work) ||
	    epoll_ctl(tables.epoll, EPOLL_CTL_ADD, tables.builder.in, &over)) {
		apart_end(&tables.builder);
		tables.file[file].why = GRT_STACK_END_NO_TABLE;
		tables.refused++;
		return;
	}
	tables.building = file + 1;
}

static bool build_is_over(void)
{
	struct epoll_event event;
	char c;

	epoll_wait(tables.epoll, &event, 1, 0);
	if (fcntl(tables.builder.in, F_SETFL, O_NONBLOCK))
		return true;
	return read(tables.builder.in, &c, 1) >= 0 || errno != EAGAIN;
}

static void end_build(void)
{
	struct table_file *f = &tables.file[tables.building - 1];

	apart_end(&tables.builder);
	f->why = take_table(f, tables.out);
	tables.refused += !f->rows;
	tables.build_ns += grt_now() - tables.begun;
	tables.building = 0;
}

/* ---------------------------------------------------------------- files */

static int open_mapped(int pid, const struct maps_row *m, struct stat *st)
{
	int fd = maps_file(pid, m->start, m->end, m);

	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode) || st->st_size <= 0 ||
			(uint64_t)st->st_size > FILE_BYTES_MAX)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void build_file(uint32_t file, int pid, const struct maps_row *m)
{
	struct stat st;
	int fd;

	if (tables.file[file].inode == VDSO_INODE) {
		begin_build(file, -1, m->end - m->start);
		return;
	}
	fd = open_mapped(pid, m, &st);
	if (fd < 0) {
		tables.file[file].why = GRT_STACK_END_NO_TABLE;
		tables.refused++;
		return;
	}
	begin_build(file, fd, (size_t)st.st_size);
	close(fd);
}

/*
 * Return: whether a file is small and only root can write or truncate it; reading such a file takes a few
 * milliseconds and needs no separate process.
 */
static bool is_small_and_firm(const struct stat *st)
{
	return !st->st_uid && !(st->st_mode & 022) && st->st_size <= FIRM_BYTES_MAX;
}

/* Root in a container is not root of the host: files of a container are read by a separate process. */
static bool has_our_files(int pid)
{
	char path[40];
	struct stat st, ours;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return !stat(path, &st) && !stat("/proc/self/ns/mnt", &ours) && st.st_ino == ours.st_ino &&
	       st.st_dev == ours.st_dev;
}

/* Builds the table in this process, if that is allowed. */
static void build_now(struct table_file *f, int pid, const struct maps_row *m)
{
	void *file = MAP_FAILED;
	struct stat st;
	int fd = f->inode == VDSO_INODE ? -1 : open_mapped(pid, m, &st);

	if (fd >= 0 && is_small_and_firm(&st) && has_our_files(pid))
		file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (file == MAP_FAILED)
		return;
	tables.begun = grt_now();
	reset_out();
	unwind_build(tables.out, file, (size_t)st.st_size);
	munmap(file, (size_t)st.st_size);
	f->why = take_table(f, tables.out);
	tables.refused += !f->rows;
	tables.build_ns += grt_now() - tables.begun;
}

static bool is_same_file(const struct table_file *a, const struct table_file *b)
{
	if (a->inode != b->inode || a->device != b->device)
		return false;
	return !a->size || !b->size || (a->size == b->size && a->written == b->written);
}

/* The file of a mapping, in its present state. */
static struct table_file file_of(int pid, const struct maps_row *m)
{
	struct table_file f = {.device = (uint64_t)m->major << 32 | m->minor,
			       .inode = m->inode,
			       .why = GRT_STACK_END_PENDING};
	struct stat st;

	if (!strcmp(m->path, "[vdso]")) {
		f.inode = VDSO_INODE;
	} else if (!maps_stat(pid, m, &st)) {
		f.size = (uint64_t)st.st_size;
		f.written = (uint64_t)st.st_mtim.tv_sec * GRT_NS_PER_S + (uint64_t)st.st_mtim.tv_nsec;
	}
	return f;
}

/* Finds or makes the file of a mapping. Return: its index, UINT32_MAX: there is none */
static uint32_t find_file(int pid, const struct maps_row *m)
{
	const struct table_file f = file_of(pid, m);
	uint32_t i;

	if (f.inode != VDSO_INODE && (!m->inode || m->path[0] != '/'))
		return UINT32_MAX;
	for (i = 0; i < tables.files; i++)
		if (is_same_file(&tables.file[i], &f))
			return i;
	if (i == FILES_MAX || grt_grow(&tables.file, &tables.file_room, i + 1, 64))
		return UINT32_MAX;
	tables.file[tables.files++] = f;
	return i;
}

/* ---------------------------------------------------------------- processes */

static void add_mapping(struct unwind_process *p, uint64_t start, const struct unwind_mapping *m)
{
	if (p->n == UNWIND_MAPPINGS || start >= m->end)
		return;
	p->start[p->n] = start;
	p->mapping[p->n++] = *m;
}

/*
 * Return: what to subtract from an address in the mapping to get the file's address; ~0: it is in no segment
 * of code.
 */
static uint64_t base_of(const struct table_file *f, const struct maps_row *m)
{
	const uint64_t page = (uint64_t)getpagesize() - 1;

	if (f->inode == VDSO_INODE && f->segments)
		return m->start - f->segment[0].address + f->segment[0].offset;
	for (uint32_t i = 0; i < f->segments; i++) {
		const struct unwind_segment *s = &f->segment[i];

		if (m->offset >= (s->offset & ~page) && m->offset < s->offset + s->size)
			return m->start - (s->address + (m->offset - s->offset));
	}
	return UINT64_MAX;
}

static void add_python(struct unwind_process *p, const struct unwind_python *python, uint64_t base)
{
	if (!python->minor)
		return;
	p->python = *python;
	p->python.runtime += base;
	p->python.code_type += base;
	p->python.eval += base;
	p->python.eval_end += base;
	p->python.cold += base;
	p->python.cold_end += base;
}

/* A mapping whose rows are in several shards becomes several mappings. */
static void add_mapped(struct unwind_process *p, const struct maps_row *m, const struct table_file *f)
{
	uint64_t base = f->rows ? base_of(f, m) : UINT64_MAX, start = m->start, until;
	uint32_t at = f->first, end = f->first + f->rows, stop;

	if (base == UINT64_MAX) {
		add_mapping(p, start, &(struct unwind_mapping){.end = m->end, .why = f->why});
		return;
	}
	add_python(p, &f->python, base);
	for (; at < end; at = stop) {
		stop = (at / SHARD_ROWS + 1) * SHARD_ROWS;
		stop = stop < end ? stop : end;
		until = stop == end ? m->end : base + (tables.shard[stop / SHARD_ROWS][0] >> 32);
		until = until < m->end ? until : m->end;
		if (until <= start)
			continue;
		add_mapping(p, start,
			    &(struct unwind_mapping){.end = until,
						     .base = base,
						     .shard = at / SHARD_ROWS,
						     .first = at % SHARD_ROWS,
						     .rows = stop - at,
						     .why = f->why});
		start = until;
	}
}

/** struct table_next - the file of a process whose table is to be built next; @row has @path */
struct table_next {
	uint32_t file;
	struct maps_row row;
	char *path;
};

/* The small tables come first, so that most tables exist soon. */
static void prefer(struct table_next *next, uint32_t file, const struct maps_row *m)
{
	if (next->file != UINT32_MAX && next->row.end - next->row.start <= m->end - m->start)
		return;
	free(next->path);
	next->path = strdup(m->path);
	next->row = *m;
	next->row.path = next->path ? next->path : "";
	next->file = file;
}

/* Gives the mappings of a process to the programs. Return: whether some of its files have no table yet */
static bool read_process(const struct unwind_ask *ask, struct unwind_process *p)
{
	struct maps maps = {.from = maps_open((pid_t)ask->number)};
	struct table_next next = {.file = UINT32_MAX};
	struct maps_row m;
	uint32_t file;

	p->n = 0;
	p->image = ask->image;
	p->code_pages = ask->code_pages;
	p->version = ++tables.version;
	p->python = (struct unwind_python){.minor = 0};
	while (maps.from && maps_next(&maps, &m)) {
		if (!m.code || m.start >> 63)
			continue;
		file = find_file((int)ask->number, &m);
		if (file == UINT32_MAX) {
			add_mapping(p, m.start,
				    &(struct unwind_mapping){.end = m.end, .why = GRT_STACK_END_NO_TABLE});
			continue;
		}
		if (tables.file[file].why == GRT_STACK_END_PENDING && !tables.building)
			build_now(&tables.file[file], (int)ask->number, &m);
		if (tables.file[file].why == GRT_STACK_END_PENDING)
			prefer(&next, file, &m);
		add_mapped(p, &m, &tables.file[file]);
	}
	maps_close(&maps);
	if (next.file != UINT32_MAX && !tables.building)
		build_file(next.file, (int)ask->number, &next.row);
	free(next.path);
	return next.file != UINT32_MAX;
}

/* Takes a free slot, the one that was released the longest ago. Return: its number plus 1, 0: none is free */
static uint32_t take_slot(void)
{
	uint32_t slot;

	for (uint32_t i = 0; i < UNWIND_PROCESSES; i++) {
		slot = tables.turn++ % UNWIND_PROCESSES;
		if (!tables.used[slot]) {
			tables.used[slot] = true;
			return slot + 1;
		}
	}
	return 0;
}

static void serve(struct table_process *t)
{
	uint32_t old = t->slot, slot = take_slot(), place = slot - 1;

	if (!slot) {
		tables.refused++;
		return;
	}
	t->waits = read_process(&t->ask, &tables.slots[place]);
	if (t->ask.image && bpf_map_update_elem(tables.map[PROCESSES], &t->ask.pid, &place, BPF_ANY))
		tables.refused++;
	t->slot = slot;
	if (old)
		tables.used[old - 1] = false;
}

/* Forgets processes that have ended. */
static void forget_ended(void)
{
	uint32_t n = 0;
	char path[32];

	for (uint32_t i = 0; i < tables.processes; i++) {
		struct table_process *t = &tables.process[i];

		snprintf(path, sizeof(path), "/proc/%u", t->ask.number);
		if (!access(path, F_OK)) {
			tables.process[n++] = *t;
			continue;
		}
		bpf_map_delete_elem(tables.map[PROCESSES], &t->ask.pid);
		if (t->slot)
			tables.used[t->slot - 1] = false;
	}
	tables.processes = n;
}

static void tables_take_ask(const struct unwind_ask *ask)
{
	uint32_t i = 0;

	while (i < tables.processes && tables.process[i].ask.pid != ask->pid)
		i++;
	if (i == PROCESSES_KEPT) {
		forget_ended();
		i = tables.processes;
	}
	if (i == PROCESSES_KEPT) {
		tables.refused++;
		return;
	}
	if (i == tables.processes)
		tables.process[tables.processes++] = (struct table_process){.slot = 0};
	tables.process[i].ask = *ask;
	serve(&tables.process[i]);
}

static int tables_on_ask(void *arg, void *data, size_t size)
{
	if (size >= sizeof(struct unwind_ask))
		tables_take_ask(data);
	return 0;
}

void grt_bpf_tables_begin(int pid)
{
	const struct unwind_ask ask = {.pid = (uint32_t)(pid ?: getpid()),
				       .number = (uint32_t)(pid ?: getpid())};

	if (tables.users)
		tables_take_ask(&ask);
}

void grt_bpf_tables_look(void)
{
	if (!tables.users)
		return;
	ring_buffer__consume(tables.asks);
	if (!tables.building || !build_is_over())
		return;
	end_build();
	for (uint32_t i = 0; i < tables.processes; i++)
		if (tables.process[i].waits)
			serve(&tables.process[i]);
}

void grt_bpf_tables_wait(void)
{
	const uint64_t until = grt_now() + WAIT_NS;
	struct epoll_event event;

	while (tables.users && tables.building && grt_now() < until) {
		epoll_wait(tables.epoll, &event, 1, WAIT_MS);
		grt_bpf_tables_look();
	}
}

uint64_t grt_bpf_tables_unnamed(void)
{
	uint64_t unnamed = 0;
	uint32_t first = 0;

	if (tables.users)
		bpf_map_lookup_elem(tables.map[UNNAMED], &first, &unnamed);
	return unnamed;
}

/* Return: the kernel's memory for a map, by its own count, bytes; 0: unknown. */
static uint64_t map_bytes(int fd)
{
	unsigned long long bytes = 0;
	char path[40], line[128];
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = fopen(path, "re");
	while (info && fgets(line, sizeof(line), info))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	if (info)
		fclose(info);
	return bytes;
}

/* Rows, mappings of processes, names of code objects, and their indexes. */
static uint64_t tables_bytes(void)
{
	const uint64_t page = (uint64_t)getpagesize(), shard = SHARD_ROWS * sizeof(uint64_t) + page;
	uint64_t bytes = tables.file_room * sizeof(*tables.file);

	for (unsigned int i = 0; i < MAPS; i++)
		bytes += map_bytes(tables.map[i]);
	for (unsigned int i = 0; i < SHARDS_MAX && tables.shard[i]; i++)
		bytes += shard;
	return bytes;
}

void grt_bpf_tables_text(char *text, size_t room)
{
	uint32_t built = 0;

	*text = '\0';
	if (!tables.users)
		return;
	for (uint32_t i = 0; i < tables.files; i++)
		built += tables.file[i].rows != 0;
	snprintf(
		text, room,
		"files=%u rows=%u long=%u bytes=%llu processes=%u refused=%llu dropped=%llu ms=%llu unread=%llu unnamed=%llu",
		built, tables.rows, tables.longs, (unsigned long long)tables_bytes(), tables.processes,
		(unsigned long long)tables.refused, (unsigned long long)tables.dropped,
		(unsigned long long)(tables.build_ns / 1000000), (unsigned long long)grt_bpf_python_unread(),
		(unsigned long long)grt_bpf_tables_unnamed());
}

#endif /* GRT_HAVE_BPF */
