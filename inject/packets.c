// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Writes packets into files of the recording. A packet is written by one call
 * and with O_APPEND, so that what a killed program leaves is whole packets but
 * for the rarest of moments, and then readers cut it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject.h"

#define PACKET_BYTES ((size_t)256 << 10)

/* Names tried for a file: a pid comes again, with exec or after a long time. */
#define NAMES_MAX 1000000

/* Streams of this process, by which their packets are told apart. */
static uint32_t streams;

/* Files that are open, for the child of a fork, which may come at any moment; CLOSED: was one of them. */
#define FILES_MAX 8192
#define CLOSED (-1)
static _Atomic int files[FILES_MAX];
static _Atomic unsigned int n_files;

void event_init(struct grt_event *e, uint16_t type, uint16_t size, uint64_t time)
{
	memset(e, 0, size);
	e->time = time;
	e->type = type;
	e->size = size;
	e->pid = (uint32_t)inject.pid;
	e->ring = GRT_RING_NONE;
}

static void note_file(int fd)
{
	unsigned int n = atomic_load(&n_files);

	if (n == FILES_MAX)
		return;
	atomic_store(&files[n], fd);
	atomic_store(&n_files, n + 1);
}

static bool open_file(struct packets *p)
{
	char name[48];
	int n;

	p->index = streams++;
	for (n = (int)p->index; n < NAMES_MAX; n++) {
		snprintf(name, sizeof(name), "cuda_%d_%d", inject.pid, n);
		p->fd = openat(inject.dir, name,
			       O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (p->fd >= 0 || errno != EEXIST)
			break;
	}
	if (p->fd < 0)
		return false;
	/* by this the recorder knows that the file's writer is alive */
	if (!flock(p->fd, LOCK_SH | LOCK_NB))
		note_file(p->fd);
	return true;
}

/* Forgotten first: the program may get the number for a file of its own. */
static void close_file(int fd)
{
	unsigned int n = atomic_load(&n_files), i;

	for (i = 0; i < n; i++)
		if (atomic_load(&files[i]) == fd)
			atomic_store(&files[i], CLOSED);
	close(fd);
}

void packets_forked(void)
{
	unsigned int n = atomic_load(&n_files), i;
	int fd;

	for (i = 0; i < n; i++) {
		fd = atomic_load(&files[i]);
		if (fd != CLOSED)
			close(fd);
	}
	atomic_store(&n_files, 0);
}

static bool make_buffer(struct packets *p)
{
	void *at;

	if (p->buf)
		return true;
	at = mmap(NULL, PACKET_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	p->buf = at == MAP_FAILED ? NULL : at;
	p->at = sizeof(struct grt_packet);
	p->fd = -1;
	return p->buf;
}

static bool write_all(struct packets *p)
{
	size_t done = 0;
	ssize_t n;

	while (done < p->at) {
		n = write(p->fd, p->buf + done, p->at - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (done == p->at) {
		p->size += done;
		return true;
	}
	/* a full disk: the packet goes, what stands before it stays whole */
	if (ftruncate(p->fd, (off_t)p->size))
		errno = 0;
	return false;
}

static void write_header(struct packets *p)
{
	struct grt_packet h = {
		.magic = GRT_PACKET_MAGIC,
		.stream_id = GRT_STREAM_CPU,
		.format = GRT_FORMAT,
		.header_size = sizeof(h),
		/* not a CPU: what tells the streams of a recording apart */
		.cpu_id = p->index % 8192,
		.timestamp_begin = p->first,
		.timestamp_end = p->last,
		.content_size = p->at * 8,
		.packet_size = p->at * 8,
		.packet_seq_num = p->seq++,
		.begin = p->balance,
	};

	p->balance.fate[GRT_FATE_DELIVERED] += p->records;
	p->balance.fate[GRT_FATE_LOST] = p->lost;
	p->balance.emitted = p->balance.fate[GRT_FATE_DELIVERED] + p->lost;
	h.end = p->balance;
	h.events_discarded = p->lost;
	memcpy(p->buf, &h, sizeof(h));
}

static void fail(struct packets *p)
{
	p->failed = true;
	p->lost += p->records;
	p->records = 0;
	p->at = sizeof(struct grt_packet);
}

void packets_flush(struct packets *p)
{
	if (!p->records && p->lost == p->balance.fate[GRT_FATE_LOST])
		return;
	if (p->before)
		packets_flush(p->before);
	if (!make_buffer(p) || p->failed)
		return fail(p);
	if (!p->records) {
		uint64_t now = now_ns(CLOCK_MONOTONIC);

		p->first = p->last = now > p->last ? now : p->last;
	}
	if (p->fd < 0 && !open_file(p))
		return fail(p);
	write_header(p);
	if (!write_all(p))
		return fail(p);
	p->records = 0;
	p->at = sizeof(struct grt_packet);
	p->tid = 0;
}

static void append(struct packets *p, const struct grt_event *e)
{
	memcpy(p->buf + p->at, e, e->size);
	p->at += e->size;
	p->records++;
}

static void read_comm(const char *path, char *at, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, at, room - 1);

	if (fd >= 0)
		close(fd);
	at[n > 0 ? n - 1 : 0] = '\0';
}

/* What a thread and its process are called, once in every packet that it has records in. */
static void put_name(struct packets *p, const struct grt_event *e)
{
	struct grt_ev_name name;
	char path[48];

	p->tid = e->tid;
	event_init(&name.e, GRT_EV_NAME, sizeof(name), e->time);
	name.e.tid = e->tid;
	name.kind = GRT_NAME_THREAD;
	name.id = e->tid;
	snprintf(path, sizeof(path), "/proc/self/task/%u/comm", e->tid);
	read_comm(path, name.name, sizeof(name.name));
	read_comm("/proc/self/comm", name.owner, sizeof(name.owner));
	if (name.name[0])
		append(p, &name.e);
}

void packets_put(struct packets *p, struct grt_event *e)
{
	if (p->failed || !make_buffer(p)) {
		p->lost++;
		return;
	}
	if (p->at + e->size + sizeof(struct grt_ev_name) > PACKET_BYTES)
		packets_flush(p);
	if (e->time < p->last)
		e->time = p->last;
	if (!p->records)
		p->first = e->time;
	if (e->tid && e->tid != p->tid)
		put_name(p, e);
	p->last = e->time;
	append(p, e);
}

void packets_close(struct packets *p)
{
	packets_flush(p);
	if (p->fd >= 0 && p->buf)
		close_file(p->fd);
	if (p->buf)
		munmap(p->buf, PACKET_BYTES);
	*p = (struct packets){.fd = -1, .failed = true};
}
