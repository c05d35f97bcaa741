// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Everything to which other records refer by number: texts, the nodes of stacks, and the object files of
 * these. Definitions have their own stream, which is written before all others. Their time stamps are earlier
 * than the beginning of the previous round: what is defined in this round was not written then, so no earlier
 * record refers to it. So a reader that merges the streams by time always knows a number when it reads it.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "inject.h"
#include "nvtx.h"
#include "python.h"
#include "reserve.h"
#include "unwind.h"

/* Texts that have no room here are written again, with another number. */
#define STRINGS_MAX (1U << 20)
#define ARENA_BYTES ((size_t)256 << 20)

#define NAMES 4096U

/*
 * All other records depend on definitions, so many definitions are kept while the disk is full. A few
 * records may be written even then: those with the counts of lost records.
 */
#define ROOM_BYTES ((size_t)32 << 20)
#define RESERVE_BYTES ((size_t)64 << 10)

#define PACKETS                                                        \
	{                                                              \
		.fd = -1, .room = ROOM_BYTES, .reserve = RESERVE_BYTES \
	}
struct packets define_packets = PACKETS;

/*
 * A definition is stamped this much earlier than the writer's previous round, since that round has left out
 * the most recent entries, and those of threads that had no processor just then.
 */
#define DEFINE_EARLIER_NS 100000000ULL
/* When the present round began; the time of its definitions. */
static uint64_t round_now, round_before;

/**
 * struct string - a known text
 * @at: offset in the arena of the NUL at its end
 * @next: number of the next text with the same hash
 */
struct string {
	size_t at;
	uint32_t hash;
	uint32_t next;
};

/* Only address space is reserved: memory is used as needed. */
static char *arena;
static size_t arena_used;
static struct string *string;
static uint32_t strings, *bucket;

/* Kernel names by their address; the text is compared as well, because it may have changed. */
static struct {
	const char *name;
	uint32_t number;
} by_address[NAMES];

static uint32_t modules_done;
static struct define_row nodes;
/* Stacks that were truncated before this recording. */
static uint64_t cut_before;

void define_round(void)
{
	if (round_now > round_before + DEFINE_EARLIER_NS)
		round_before = round_now - DEFINE_EARLIER_NS;
	round_now = now_ns(CLOCK_MONOTONIC);
	if (!round_before)
		round_before = round_now;
}

void define_flush(void)
{
	packets_flush(&define_packets);
}

void define_close(void)
{
	packets_close(&define_packets);
}

/* -------------------------------------------------------------- strings */

static bool define_make_tables(void)
{
	if (bucket)
		return true;
	arena = reserve_memory(ARENA_BYTES);
	string = reserve_memory((STRINGS_MAX + 1) * sizeof(*string));
	bucket = arena && string ? reserve_memory(STRINGS_MAX * sizeof(*bucket)) : NULL;
	return bucket;
}

static void define_write_string(uint32_t number, const char *text, size_t length)
{
	struct grt_ev_string s;
	size_t offset = 0;

	do {
		event_init(&s.e, GRT_EV_STRING, sizeof(s), round_before);
		s.number = number;
		s.length = (uint32_t)length;
		s.offset = (uint32_t)offset;
		s.part = (uint32_t)(length - offset < sizeof(s.text) ? length - offset : sizeof(s.text));
		memcpy(s.text, text + offset, s.part);
		packets_put(&define_packets, &s.e);
		offset += s.part;
	} while (offset < length);
}

static uint32_t define_hash_of(const char *text, size_t *length)
{
	uint32_t h = 2166136261U;
	const char *p = text;

	for (; *p; p++)
		h = (h ^ (unsigned char)*p) * 16777619U;
	*length = (size_t)(p - text);
	return h;
}

uint32_t define_string(const char *text)
{
	size_t length;
	uint32_t h, *b, i;

	if (!text || !define_make_tables())
		return 0;
	h = define_hash_of(text, &length);
	b = &bucket[h % STRINGS_MAX];
	for (i = *b; i; i = string[i].next)
		if (string[i].hash == h && !strcmp(arena + string[i].at, text))
			return i;
	if (strings == STRINGS_MAX || arena_used + length + 1 > ARENA_BYTES)
		return 0;
	i = ++strings;
	string[i] = (struct string){.at = arena_used, .hash = h, .next = *b};
	*b = i;
	memcpy(arena + arena_used, text, length + 1);
	arena_used += length + 1;
	define_write_string(i, text, length);
	return i;
}

uint32_t define_name(const char *name)
{
	unsigned int slot = (unsigned int)((uintptr_t)name >> 4) % NAMES;
	uint32_t number = by_address[slot].number;

	if (!name)
		return 0;
	if (by_address[slot].name == name && number && !strcmp(arena + string[number].at, name))
		return number;
	number = define_string(name);
	by_address[slot].name = name;
	by_address[slot].number = number;
	return number;
}

/* --------------------------------------------------------------- stacks */

/* The dynamic linker has no name for the program itself. */
static const char *define_path_of(const struct grt_umodule *m)
{
	static char exe[4096];
	ssize_t n;

	if (m->path[0])
		return m->path;
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	return exe;
}

static void define_modules(void)
{
	struct grt_ev_mapping m;
	struct grt_umodule u;
	unsigned int i;

	while (grt_unwind_module(modules_done + 1, &u)) {
		event_init(&m.e, GRT_EV_MAPPING, sizeof(m), round_before);
		m.module = ++modules_done;
		m.path = define_string(define_path_of(&u));
		m.start = u.start;
		m.end = u.end;
		m.bias = u.bias;
		for (i = 0; i < u.build_id_len && i < GRT_BUILD_ID_MAX; i++)
			snprintf(m.build_id + 2 * i, 3, "%02x", u.build_id[i]);
		packets_put(&define_packets, &m.e);
	}
}

static void define_name_node(struct grt_ev_node *n, const struct grt_unode *u)
{
	struct grt_pytext text;

	if (u->kind == GRT_UNODE_ROOT)
		n->function = define_string(grt_root_name(u->id));
	if (u->kind != GRT_UNODE_PYTHON)
		return;
	if (!grt_python_text(u->python, &text)) {
		n->function = define_string("[python]");
		return;
	}
	n->function = define_string(text.function);
	n->file = define_string(text.file);
	n->line = text.line;
}

static bool define_node(uint32_t id)
{
	struct grt_ev_node n;
	struct grt_unode u;

	if (!grt_unwind_node(id, &u))
		return false;
	define_modules();
	event_init(&n.e, GRT_EV_NODE, sizeof(n), round_before);
	n.e.flags = u.guessed ? GRT_FLAG_INFERRED : 0;
	n.node = id;
	n.caller = u.parent;
	n.ip = u.kind == GRT_UNODE_NATIVE ? u.address : 0;
	n.module = u.kind == GRT_UNODE_NATIVE ? u.module : 0;
	define_name_node(&n, &u);
	packets_put(&define_packets, &n.e);
	return true;
}

/*
 * A thread may be preempted while it adds a node. Only this node then waits: its children and the records
 * that use them come after it, so they are written later, too.
 */
void define_row(struct define_row *r, uint32_t known, bool (*define)(uint32_t number))
{
	uint32_t waiting = 0, i;

	for (i = 0; i < r->lates; i++)
		if (!define(r->late[i]))
			r->late[waiting++] = r->late[i];
	for (r->lates = waiting; r->done < known; r->done++) {
		if (define(r->done + 1))
			continue;
		if (r->lates == DEFINE_LATE_MAX)
			break;
		r->late[r->lates++] = r->done + 1;
	}
}

void define_nodes(void)
{
	if (inject.stack != STACK_INPROC)
		return;
	define_row(&nodes, grt_unwind_nodes(), define_node);
	define_modules();
}

void define_range_node(uint32_t node, uint32_t outer, uint32_t domain, uint32_t name)
{
	struct grt_ev_range_node n;

	event_init(&n.e, GRT_EV_RANGE_NODE, sizeof(n), round_before);
	n.node = node;
	n.outer = outer;
	n.domain = domain;
	n.name = name;
	packets_put(&define_packets, &n.e);
}

/* -------------------------------------------------------------- process */

static uint64_t define_stacks_cut(void)
{
	struct grt_unwind_stats stats;
	uint64_t n = 0;
	int i;

	if (inject.stack != STACK_INPROC)
		return 0;
	grt_unwind_stats(&stats);
	for (i = 0; i < GRT_ROOT_COUNT; i++)
		n += i == GRT_ROOT_START ? 0 : stats.roots[i];
	return n;
}

void define_reset(void)
{
	if (bucket && madvise(bucket, STRINGS_MAX * sizeof(*bucket), MADV_DONTNEED))
		memset(bucket, 0, STRINGS_MAX * sizeof(*bucket));
	memset(by_address, 0, sizeof(by_address));
	arena_used = strings = modules_done = 0;
	nodes = (struct define_row){0};
	round_now = round_before = 0;
	cut_before = inject.window > 1 ? define_stacks_cut() : 0;
	define_packets = (struct packets)PACKETS;
}

/* Time since the process was created in whole seconds, which exec() does not reset; UINT32_MAX: unknown. */
static uint32_t define_age_of_process(void)
{
	char text[1024], *at;
	unsigned long long start = 0;
	uint64_t now = now_ns(CLOCK_BOOTTIME), age;
	long ticks = sysconf(_SC_CLK_TCK);
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* the second field is the name, which may contain any character */
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at || ticks <= 0 || sscanf(at, "%llu", &start) != 1)
		return UINT32_MAX;
	age = now / 1000000000U - start / (unsigned long)ticks;
	return age < UINT32_MAX ? (uint32_t)age : UINT32_MAX;
}

/* A number from the environment; UINT32_MAX: there is none. */
static uint32_t define_number(const char *name)
{
	const char *text = secure_getenv(name);
	char *end;
	unsigned long number = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : ULONG_MAX;

	return number < UINT32_MAX && !*end ? (uint32_t)number : UINT32_MAX;
}

static const char *define_job(void)
{
	static const char *const job[] = {
#define GRT_LAUNCHER_JOB(id) id,
#include "codes/launchers.def"
#undef GRT_LAUNCHER_JOB
	};
	const char *text;

	for (size_t i = 0; i < sizeof(job) / sizeof(job[0]); i++) {
		text = secure_getenv(job[i]);
		if (text && *text && strcmp(text, "none"))
			return text;
	}
	return NULL;
}

static void define_rank(void)
{
	struct grt_ev_rank r;

	event_init(&r.e, GRT_EV_RANK, sizeof(r), round_before);
	r.rank = r.local_rank = r.world = UINT32_MAX;
#define GRT_LAUNCHER(number, on_host, all)                                                 \
	r.rank = r.rank != UINT32_MAX ? r.rank : define_number(number);                    \
	r.local_rank = r.local_rank != UINT32_MAX ? r.local_rank : define_number(on_host); \
	r.world = r.world != UINT32_MAX ? r.world : define_number(all);
#include "codes/launchers.def"
#undef GRT_LAUNCHER
	if (r.rank == UINT32_MAX)
		return;
	r.job = define_string(define_job());
	packets_put(&define_packets, &r.e);
}

/*
 * The path of the process's control group: as the recorder sees it or, without one, as the process sees it.
 */
static uint32_t define_cgroup(char *path, size_t room)
{
	char text[4096], *found;
	ssize_t n;
	int fd;

	if (dormant_cgroup(path, room))
		return (uint32_t)strlen(path);
	fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	found = grt_cgroup_path(text);
	if (!found)
		return 0;
	n = (ssize_t)strlen(found);
	/* the end of the path is the most specific part */
	memcpy(path, (size_t)n > room ? found + n - room : found, (size_t)n > room ? room : (size_t)n);
	return (uint32_t)n;
}

static void define_owner(void)
{
	struct grt_ev_owner o;

	event_init(&o.e, GRT_EV_OWNER, sizeof(o), round_before);
	o.e.ctx = 0;
	o.e.tid = (uint32_t)inject.pid;
	o.uid = (uint32_t)geteuid();
	o.length = define_cgroup(o.cgroup, sizeof(o.cgroup));
	packets_put(&define_packets, &o.e);
}

void define_process(uint32_t what, const char *text)
{
	struct grt_ev_process p;

	event_init(&p.e, GRT_EV_PROCESS, sizeof(p), what == 1 ? now_ns(CLOCK_MONOTONIC) : round_before);
	if (what == 1)
		round_before = round_now = p.e.time;
	p.e.tid = what == 6 ? (uint32_t)syscall(SYS_gettid) : (uint32_t)inject.pid;
	p.what = what;
	p.parent = (uint32_t)getppid();
	p.launches = inject.launches;
	p.launches_lost = inject.launches_lost;
	p.gpu_records = inject.gpu_records;
	p.gpu_lost = inject.gpu_lost;
	p.gpu_unknown = inject.gpu_unknown;
	p.no_stamps = inject.no_stamps;
	p.stacks_cut = define_stacks_cut() - cut_before;
	p.version = inject.version;
	p.gpu_clock = inject.realtime ? 2 : 1;
	p.ranges = inject.ranges;
	p.ranges_lost = inject.ranges_lost;
	p.ranges_cut = nvtx_cut();
	p.ranges_stray = nvtx_stray();
	p.fields = inject.fields;
	p.fields_lost = inject.fields_lost;
	p.fields_unread = nvtx_payload_unread();
	p.age = what == 1 ? define_age_of_process() : 0;
	/* numbers begin anew with the first record, so its text is defined after it, as the first one */
	if (what == 1)
		p.text = text ? 1 : 0;
	else
		p.text = define_string(text);
	packets_put(&define_packets, &p.e);
	if (what == 1) {
		define_string(text);
		define_rank();
		define_owner();
	}
}

void define_graph_node(uint64_t id, uint64_t source, uint32_t stack, uint32_t tid, uint32_t kind)
{
	struct grt_ev_graph_node n;

	event_init(&n.e, GRT_EV_GRAPH_NODE, sizeof(n), round_before);
	n.e.tid = tid;
	n.id = id;
	n.source = source;
	n.node = stack;
	n.kind = kind;
	packets_put(&define_packets, &n.e);
}

void define_device(const struct grt_ev_device *device, const char *name)
{
	struct grt_ev_device d;

	event_init(&d.e, GRT_EV_DEVICE, sizeof(d), round_before);
	memcpy(&d.e + 1, &device->e + 1, sizeof(d) - sizeof(d.e));
	d.name = define_string(name);
	packets_put(&define_packets, &d.e);
}

void define_window(uint32_t number, uint64_t begin, uint64_t end)
{
	struct grt_ev_capture c;

	event_init(&c.e, GRT_EV_CAPTURE, sizeof(c), round_before);
	c.number = number;
	c.begin = begin;
	c.end = end;
	c.parts = duty_parts();
	packets_put(&define_packets, &c.e);
}

void define_reason(uint32_t number, const char *name)
{
	struct grt_ev_stall_reason r;

	event_init(&r.e, GRT_EV_STALL_REASON, sizeof(r), round_before);
	r.number = number;
	r.name = define_string(name);
	packets_put(&define_packets, &r.e);
}

void define_cubin(uint64_t crc, uint64_t bytes, uint32_t kept)
{
	struct grt_ev_cubin c;

	event_init(&c.e, GRT_EV_CUBIN, sizeof(c), round_before);
	c.crc = crc;
	c.bytes = bytes;
	c.kept = kept;
	packets_put(&define_packets, &c.e);
}

void define_clock(const struct grt_ev_clock *clock)
{
	struct grt_ev_clock c = *clock;

	c.e.time = round_before;
	packets_put(&define_packets, &c.e);
}

static void define_put_end(void)
{
	const char *why = packets_unwritten();

	if (why)
		define_process(5, why);
	define_process(3, NULL);
}

/* With a full disk, all waiting records are lost, but not the counts of what the program did. */
void define_end(void)
{
	define_put_end();
	define_packets.failed = 0;
	packets_flush(&define_packets);
	if (!define_packets.records)
		return;
	packets_give_up(&define_packets);
	define_put_end();
}
