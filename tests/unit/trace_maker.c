// SPDX-License-Identifier: GPL-2.0
/*
 * Writes synthetic recordings, see trace_maker.h. Only what real packets can
 * look like belongs here; tests that need broken ones break the file.
 */
#define _GNU_SOURCE 1
#include "trace_maker.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NAMES 4096

struct tm_cpu {
	int fd;
	char *buf; /* the open packet, NULL: none is open */
	size_t used;
	size_t room;
	uint64_t seq;
	uint64_t last;	 /* stamp of the last record */
	uint64_t events; /* records in the open packet */
	struct grt_balance balance;
	struct grt_balance joined;    /* where the packet before ended */
	uint8_t named[MAX_NAMES / 8]; /* names that stand in the open packet */
};

struct trace_maker {
	unsigned int cpus;
	int dirfd; /* -1: raw file */
	size_t packet_bytes;
	size_t padding;
	const char *state;
	uint64_t events;
	unsigned int names;
	struct grt_ev_name name[MAX_NAMES];
	struct tm_cpu cpu[];
};

static struct trace_maker *tm_new(unsigned int cpus)
{
	struct trace_maker *tm = calloc(1, sizeof(*tm) + cpus * sizeof(tm->cpu[0]));

	if (!tm)
		err(1, "trace_maker");
	tm->cpus = cpus;
	tm->dirfd = -1;
	tm->packet_bytes = 65536;
	tm->state = "complete";
	return tm;
}

struct trace_maker *tm_dir(const char *path, unsigned int cpus)
{
	struct trace_maker *tm = tm_new(cpus);
	char file[32];

	tm_remove(path);
	if (mkdir(path, 0700))
		err(1, "%s", path);
	tm->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tm->dirfd < 0)
		err(1, "%s", path);
	for (unsigned int i = 0; i < cpus; i++) {
		snprintf(file, sizeof(file), "kmod_%u", i);
		tm->cpu[i].fd = openat(tm->dirfd, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (tm->cpu[i].fd < 0)
			err(1, "%s/%s", path, file);
	}
	return tm;
}

struct trace_maker *tm_raw(const char *path, unsigned int cpus)
{
	struct trace_maker *tm = tm_new(cpus);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		err(1, "%s", path);
	for (unsigned int i = 0; i < cpus; i++)
		tm->cpu[i].fd = fd;
	return tm;
}

void tm_packet_bytes(struct trace_maker *tm, size_t bytes)
{
	if (bytes < sizeof(struct grt_packet) + 3 * sizeof(struct grt_ev_name) || bytes > GRT_PACKET_MAX)
		errx(1, "trace_maker: packets of %zu bytes", bytes);
	tm->packet_bytes = bytes;
}

void tm_padding(struct trace_maker *tm, size_t bytes)
{
	tm->padding = bytes;
}

void tm_state(struct trace_maker *tm, const char *state)
{
	tm->state = state;
}

static void write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0)
			err(1, "trace_maker: write");
		p += n;
		len -= (size_t)n;
	}
}

/* The packet that is open on @c, begun at @time where there is none. */
static struct grt_packet *open_packet(struct trace_maker *tm, struct tm_cpu *c, uint64_t time)
{
	struct grt_packet *p;

	if (c->buf)
		return (struct grt_packet *)c->buf;
	c->room = tm->packet_bytes;
	c->buf = calloc(1, c->room);
	if (!c->buf)
		err(1, "trace_maker");
	memset(c->named, 0, sizeof(c->named));
	c->used = sizeof(*p);
	c->last = time;
	c->events = 0;
	p = (struct grt_packet *)c->buf;
	p->magic = GRT_PACKET_MAGIC;
	p->stream_id = GRT_STREAM_CPU;
	p->format = GRT_FORMAT;
	p->header_size = sizeof(*p);
	p->cpu_id = (uint32_t)(c - tm->cpu);
	p->timestamp_begin = time;
	p->packet_seq_num = c->seq++;
	p->begin = c->joined;
	return p;
}

static void close_packet(struct trace_maker *tm, struct tm_cpu *c, bool write_it)
{
	struct grt_packet *p = (struct grt_packet *)c->buf;
	char *pad;

	p->timestamp_end = c->last;
	p->content_size = c->used * 8;
	p->packet_size = (c->used + tm->padding) * 8;
	p->end = c->balance;
	p->events_discarded = c->balance.fate[GRT_FATE_LOST];
	c->joined = c->balance;
	if (write_it) {
		write_all(c->fd, c->buf, c->used);
		pad = calloc(1, tm->padding + 1);
		if (!pad)
			err(1, "trace_maker");
		write_all(c->fd, pad, tm->padding);
		free(pad);
		tm->events += c->events;
	}
	free(c->buf);
	c->buf = NULL;
}

static void append(struct tm_cpu *c, const struct grt_event *e)
{
	memcpy(c->buf + c->used, e, e->size);
	c->used += e->size;
	c->last = e->time;
	c->events++;
	c->balance.emitted++;
	c->balance.fate[GRT_FATE_DELIVERED]++;
}

static bool uses(const struct grt_event *e, const struct grt_ev_name *n)
{
	return n->kind == GRT_NAME_THREAD ? e->tid == n->id : e->ring == n->id;
}

/* Writes the names that @e uses and that this packet does not have. */
static void append_names(struct trace_maker *tm, struct tm_cpu *c, const struct grt_event *e)
{
	for (unsigned int i = 0; i < tm->names; i++) {
		struct grt_ev_name *n = &tm->name[i];

		if (!uses(e, n) || (c->named[i / 8] & (1 << (i % 8))))
			continue;
		c->named[i / 8] |= (uint8_t)(1 << (i % 8));
		n->e.time = e->time;
		append(c, &n->e);
	}
}

void tm_event(struct trace_maker *tm, unsigned int cpu, const struct grt_event *e)
{
	struct tm_cpu *c = &tm->cpu[cpu];

	if (cpu >= tm->cpus || e->size > GRT_RECORD_MAX)
		errx(1, "trace_maker: cpu %u, record of %u bytes", cpu, e->size);
	/* an event can bring the names of its thread and its ring */
	if (c->buf && c->used + e->size + 2 * sizeof(struct grt_ev_name) > c->room)
		close_packet(tm, c, true);
	open_packet(tm, c, e->time);
	append_names(tm, c, e);
	append(c, e);
}

static void add_name(struct trace_maker *tm, uint32_t kind, uint32_t id, const char *name, const char *owner)
{
	struct grt_ev_name *n = &tm->name[tm->names];

	if (tm->names == MAX_NAMES)
		errx(1, "trace_maker: more than %d names", MAX_NAMES);
	tm->names++;
	*n = (struct grt_ev_name){
		.e.type = GRT_EV_NAME,
		.e.size = sizeof(*n),
		.e.ring = kind == GRT_NAME_RING ? id : GRT_RING_NONE,
		.e.tid = kind == GRT_NAME_THREAD ? id : 0,
		.kind = kind,
		.id = id,
	};
	memcpy(n->name, name, strnlen(name, sizeof(n->name) - 1));
	memcpy(n->owner, owner, strnlen(owner, sizeof(n->owner) - 1));
}

void tm_name_thread(struct trace_maker *tm, uint32_t tid, const char *comm, const char *process)
{
	add_name(tm, GRT_NAME_THREAD, tid, comm, process);
}

void tm_name_ring(struct trace_maker *tm, uint32_t ring, const char *name, const char *driver)
{
	add_name(tm, GRT_NAME_RING, ring, name, driver);
}

void tm_fate(struct trace_maker *tm, unsigned int cpu, enum grt_fate fate, uint64_t n)
{
	tm->cpu[cpu].balance.emitted += n;
	tm->cpu[cpu].balance.fate[fate] += n;
}

void tm_flush(struct trace_maker *tm, unsigned int cpu, uint64_t time)
{
	struct tm_cpu *c = &tm->cpu[cpu];

	open_packet(tm, c, time);
	close_packet(tm, c, true);
}

void tm_drop(struct trace_maker *tm, unsigned int cpu)
{
	if (tm->cpu[cpu].buf)
		close_packet(tm, &tm->cpu[cpu], false);
}

void tm_clear(struct trace_maker *tm, unsigned int cpu)
{
	struct tm_cpu *c = &tm->cpu[cpu];

	if (c->buf)
		close_packet(tm, c, true);
	c->seq = 0;
	memset(&c->balance, 0, sizeof(c->balance));
	memset(&c->joined, 0, sizeof(c->joined));
}

uint64_t tm_events(const struct trace_maker *tm)
{
	uint64_t n = tm->events;

	for (unsigned int i = 0; i < tm->cpus; i++)
		n += tm->cpu[i].buf ? tm->cpu[i].events : 0;
	return n;
}

static void write_metadata(struct trace_maker *tm)
{
	const struct grt_env env[] = {
		{"command", "trace_maker"},
		{"state", tm->state},
		{NULL, NULL},
	};
	struct grt_err e;

	if (grt_metadata_write(tm->dirfd, env, 1700000000123456789, &e))
		errx(1, "trace_maker: %s: %s", e.what, e.why);
	close(tm->dirfd);
}

void tm_close(struct trace_maker *tm)
{
	for (unsigned int i = 0; i < tm->cpus; i++) {
		/* counters that moved since the last packet need one more to carry them */
		if (tm->cpu[i].buf ||
		    memcmp(&tm->cpu[i].balance, &tm->cpu[i].joined, sizeof(struct grt_balance)))
			tm_flush(tm, i, tm->cpu[i].last);
		if (tm->dirfd >= 0)
			close(tm->cpu[i].fd);
	}
	if (tm->dirfd >= 0)
		write_metadata(tm);
	else
		close(tm->cpu[0].fd);
	free(tm);
}

char *tm_tmpdir(void)
{
	const char *base = getenv("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/grtrace-test-XXXXXX", base ? base : "/tmp") < 0 || !mkdtemp(path))
		err(1, "trace_maker: temporary directory");
	return path;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void tm_remove(const char *path)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		err(1, "%s", path);
}
