// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Writes packets into the recording's files. A packet is written by one call, with O_APPEND, so a killed
 * program leaves complete packets. In the very rare case that the last one is incomplete, readers drop it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "inject.h"

/*
 * A packet is written when it has this many bytes. If that fails, the packet may grow to the room of its
 * stream.
 */
#define FULL_BYTES ((size_t)255 << 10)
#define PACKET_BYTES ((size_t)256 << 10)

/* How long nothing is written after a failure. */
#define RETRY_NS 50000000ULL

/*
 * Most names tried for a file: after exec(), or when pids have wrapped around, a file of the same pid may
 * exist.
 */
#define NAMES_MAX 1000000

/* Number of streams of this process; each packet has the number of its stream. */
static uint32_t streams;

static bool muted;

/* Records that were dropped because they could not be written, and the error. */
static struct {
	uint64_t records;
	int error;
} unwritten;

const char *packets_unwritten(void)
{
	static char text[128];

	if (!unwritten.records)
		return NULL;
	snprintf(text, sizeof(text), "%llu records could not be written: %s",
		 (unsigned long long)unwritten.records, strerror(unwritten.error));
	return text;
}

/*
 * Open files, for the child of a fork, which can happen at any moment. CLOSED: the element is unused again.
 */
#define FILES_MAX 8192
#define CLOSED (-1)
static struct {
	_Atomic int fd;
	struct owned is;
} files[FILES_MAX];
static _Atomic unsigned int n_files;

void event_init(struct grt_event *e, uint16_t type, uint16_t size, uint64_t time)
{
	memset(e, 0, size);
	e->time = time;
	e->type = type;
	e->size = size;
	e->pid = (uint32_t)inject.pid;
	e->ctx = inject.image;
	e->ring = GRT_RING_NONE;
}

static void packets_note_file(const struct packets *p)
{
	unsigned int n = atomic_load(&n_files);

	if (n == FILES_MAX)
		return;
	files[n].is = p->is;
	atomic_store(&files[n].fd, p->fd);
	atomic_store(&n_files, n + 1);
}

/* Return: whether packets are sent to a recorder instead of written into files. */
static bool packets_are_sent(void)
{
	return inject.pipe >= 0;
}

/* Reserves space beyond the end of the file, so that readers do not see it. */
static void packets_reserve(struct packets *p)
{
	if (packets_are_sent() || !p->reserve || p->size + p->reserve / 2 < p->reserved)
		return;
	p->reserved = p->size + p->reserve;
	if (fallocate(p->fd, FALLOC_FL_KEEP_SIZE, (off_t)p->size, (off_t)p->reserve))
		errno = 0;
}

/*
 * Call this before the file is closed: afterwards the program may get the same number for a file of its own.
 */
static void packets_forget_file(int fd)
{
	unsigned int n = atomic_load(&n_files), i;

	for (i = 0; i < n; i++)
		if (atomic_load(&files[i].fd) == fd)
			atomic_store(&files[i].fd, CLOSED);
}

static int packets_open_file(int number, int flags)
{
	char name[48];

	snprintf(name, sizeof(name), "cuda_%d_%d", inject.pid, number);
	return openat(inject.dir, name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
}

static void packets_make_file(struct packets *p)
{
	for (p->name = (int)p->number - 1; p->name < NAMES_MAX; p->name++) {
		p->fd = packets_open_file(p->name, O_CREAT | O_EXCL);
		if (p->fd >= 0 || errno != EEXIST)
			break;
	}
	if (p->fd >= 0)
		p->is = owned_note(p->fd);
}

/* Opens a file again that the program has closed. */
static void packets_open_again(struct packets *p)
{
	p->fd = packets_open_file(p->name, 0);
	if (p->fd < 0 || owned_is(p->fd, &p->is))
		return;
	close(p->fd);
	p->fd = -1;
	errno = ENOENT;
}

static void packets_open_any(struct packets *p)
{
	p->fd = -1;
	errno = recording_may_open() ? EBADF : EPERM;
	if (!recording_may_open() || !recording_has_dir())
		return;
	if (p->is.inode)
		packets_open_again(p);
	else
		packets_make_file(p);
}

void packets_open(struct packets *p)
{
	if (p->closed || muted || (p->fd >= 0 && owned_is(p->fd, &p->is)))
		return;
	if (!p->number)
		p->number = ++streams;
	if (packets_are_sent()) {
		p->is = inject.pipe_is;
		p->fd = owned_is(inject.pipe, &p->is) ? inject.pipe : -1;
		return;
	}
	packets_forget_file(p->fd);
	packets_open_any(p);
	if (p->fd < 0) {
		unwritten.error = errno;
		p->failed = now_ns(CLOCK_MONOTONIC);
		return;
	}
	/* this lock tells the recorder that the file's writer is alive */
	if (!flock(p->fd, LOCK_SH | LOCK_NB))
		packets_note_file(p);
	packets_reserve(p);
}

void packets_forked(void)
{
	unsigned int n = atomic_load(&n_files), i;
	int fd;

	for (i = 0; i < n; i++) {
		fd = atomic_load(&files[i].fd);
		if (fd != CLOSED)
			owned_close(fd, &files[i].is);
	}
	atomic_store(&n_files, 0);
}

static size_t packets_room_of(const struct packets *p)
{
	return p->room ? p->room : PACKET_BYTES;
}

static bool packets_make_buffer(struct packets *p)
{
	void *at;

	if (p->buf)
		return true;
	at = mmap(NULL, packets_room_of(p), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	p->buf = at == MAP_FAILED ? NULL : at;
	p->at = sizeof(struct grt_packet);
	return p->buf;
}

/* If the recorder is gone, the program must not get a signal. */
static ssize_t packets_write_some(int fd, const char *at, size_t length)
{
	return packets_are_sent() && !inject.asked ? send(fd, at, length, MSG_NOSIGNAL)
						   : write(fd, at, length);
}

static bool packets_write_all(struct packets *p)
{
	size_t done = 0;
	ssize_t n = 0;
	int error;

	while (done < p->at) {
		n = packets_write_some(p->fd, p->buf + done, p->at - done);
		if (n < 0 &&
		    (errno == EINTR || (errno == EAGAIN && packets_are_sent() && dormant_wait_for_room())))
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (done == p->at) {
		p->size += done;
		return true;
	}
	error = errno;
	/*
	 * the disk is full: the earlier packets stay complete, and writing is tried again. Bytes in a pipe
	 * cannot be taken back
	 */
	if (done && packets_are_sent())
		packets_stop();
	else if (done && ftruncate(p->fd, (off_t)p->size))
		errno = 0;
	p->reserved = 0;
	p->failed = now_ns(CLOCK_MONOTONIC);
	unwritten.error = n < 0 ? error : ENOSPC;
	return false;
}

static bool packets_waits(const struct packets *p)
{
	return p->failed && now_ns(CLOCK_MONOTONIC) - p->failed < RETRY_NS;
}

/* The numbers of emitted, delivered and lost records at the end of this packet. */
static struct grt_balance packets_end_of(const struct packets *p)
{
	struct grt_balance b = p->balance;

	b.fate[GRT_FATE_DELIVERED] += p->records + p->names;
	b.fate[GRT_FATE_LOST] = p->lost;
	b.emitted = b.fate[GRT_FATE_DELIVERED] + p->lost;
	return b;
}

static void packets_write_header(struct packets *p)
{
	struct grt_packet h = {
		.magic = GRT_PACKET_MAGIC,
		.stream_id = GRT_STREAM_CPU,
		.format = GRT_FORMAT,
		.header_size = sizeof(h),
		/* not a CPU, but a number that distinguishes the streams of a process */
		.cpu_id = (p->number - 1) % 8192,
		.timestamp_begin = p->first,
		.timestamp_end = p->last,
		.content_size = p->at * 8,
		.packet_size = p->at * 8,
		.packet_seq_num = p->seq,
		.events_discarded = p->lost,
		.begin = p->balance,
		.end = packets_end_of(p),
	};

	memcpy(p->buf, &h, sizeof(h));
}

static void packets_empty(struct packets *p)
{
	p->records = p->names = 0;
	p->at = sizeof(struct grt_packet);
	memset(p->named, 0, sizeof(p->named));
}

void packets_give_up(struct packets *p)
{
	p->failed = 0;
	unwritten.records += p->records;
	if (!p->told)
		p->lost += p->records;
	packets_empty(p);
}

void packets_reset(void)
{
	streams = 0;
	muted = false;
	memset(&unwritten, 0, sizeof(unwritten));
	atomic_store(&n_files, 0);
}

void packets_stop(void)
{
	muted = true;
}

void packets_flush(struct packets *p)
{
	if (!p->records && p->lost == p->balance.fate[GRT_FATE_LOST])
		return;
	if (p->before)
		packets_flush(p->before);
	if (packets_waits(p))
		return;
	packets_open(p);
	if (p->fd < 0 || muted || !packets_make_buffer(p))
		return;
	if (!p->records) {
		uint64_t now = now_ns(CLOCK_MONOTONIC);

		p->first = p->last = now > p->last ? now : p->last;
	}
	packets_write_header(p);
	if (!packets_write_all(p))
		return;
	p->balance = packets_end_of(p);
	p->failed = 0;
	p->seq++;
	packets_empty(p);
	packets_reserve(p);
}

static void packets_append(struct packets *p, const struct grt_event *e)
{
	memcpy(p->buf + p->at, e, e->size);
	p->at += e->size;
}

/* ---------------------------------------------------------------- names */

/* Names are read again after this time. */
#define NAME_NS NS_PER_S
#define NAMES 1024U

/* Names of threads as they were last read; element 0 is the name of the process. */
static struct comm {
	uint32_t tid;
	uint64_t read;
	char text[16];
} comms[NAMES];

static void packets_read_comm(const char *path, char *at, size_t room)
{
	int fd = recording_may_open() ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char text[16] = "";
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	if (n < 2)
		return;
	text[n - 1] = '\0';
	snprintf(at, room, "%s", text);
}

static const char *packets_comm_of(uint32_t tid)
{
	struct comm *c = &comms[tid ? 1 + tid % (NAMES - 1) : 0];
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	char path[48] = "/proc/self/comm";

	if (c->tid != tid)
		c->text[0] = '\0';
	else if (c->read && now - c->read < NAME_NS)
		return c->text;
	if (tid)
		snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	c->tid = tid;
	c->read = now;
	packets_read_comm(path, c->text, sizeof(c->text));
	return c->text;
}

/* Writes the names of a thread and its process, once in each packet with records of the thread. */
static void packets_put_name(struct packets *p, const struct grt_event *e)
{
	struct grt_ev_name name;

	p->named[e->tid % PACKET_NAMES] = e->tid;
	event_init(&name.e, GRT_EV_NAME, sizeof(name), e->time);
	name.e.ctx = 0;
	name.e.tid = e->tid;
	name.kind = GRT_NAME_THREAD;
	name.id = e->tid;
	snprintf(name.name, sizeof(name.name), "%s", packets_comm_of(e->tid));
	snprintf(name.owner, sizeof(name.owner), "%s", packets_comm_of(0));
	if (!name.name[0])
		return;
	packets_append(p, &name.e);
	p->names++;
}

static bool packets_has_room(const struct packets *p, const struct grt_event *e)
{
	return p->at + e->size + sizeof(struct grt_ev_name) <= packets_room_of(p);
}

void packets_put(struct packets *p, struct grt_event *e)
{
	if (p->closed || !packets_make_buffer(p)) {
		p->lost += !p->told;
		return;
	}
	if (!packets_has_room(p, e) || p->at >= FULL_BYTES)
		packets_flush(p);
	if (!packets_has_room(p, e))
		packets_give_up(p);
	if (e->time < p->last)
		e->time = p->last;
	if (!p->records)
		p->first = e->time;
	if (e->tid && p->named[e->tid % PACKET_NAMES] != e->tid)
		packets_put_name(p, e);
	p->last = e->time;
	packets_append(p, e);
	p->records++;
}

bool packets_close(struct packets *p)
{
	bool all;

	p->failed = 0;
	packets_flush(p);
	all = !p->records;
	packets_give_up(p);
	if (p->fd >= 0 && !packets_are_sent() && owned_is(p->fd, &p->is)) {
		/* frees bytes that were reserved beyond the end of the file */
		if (p->reserve && !muted && ftruncate(p->fd, (off_t)p->size))
			errno = 0;
		packets_forget_file(p->fd);
		close(p->fd);
	}
	if (p->buf)
		munmap(p->buf, packets_room_of(p));
	*p = (struct packets){.fd = -1, .closed = true, .told = p->told};
	return all;
}
