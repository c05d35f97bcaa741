// SPDX-License-Identifier: GPL-2.0
/*
 * See cuda_intake.h. What a process sends is not trusted: this file assigns the place and number of a
 * packet, and drops a process that sends anything else than packets.
 */
#include "cuda_intake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/containers.h"
#include "host/privileges.h"
#include "trace/cuda_recording.h"
#include "trace/packet.h"

/* Larger than all packets of the library. */
#define PACKET_MAX ((size_t)64 << 20)
/* Most memory for incomplete packets of all processes, and what a process keeps between packets. */
#define HELD_MAX ((size_t)512 << 20)
#define ROOM_KEPT ((size_t)1 << 20)
/* Most streams of a process. */
#define STREAMS_MAX 64U
#define NOWHERE UINT32_MAX
#define READY_MAX 16
/* The index of the socket among the descriptors that are ready. */
#define LISTENER CUDA_INTAKE_PROCESSES
#define TIMER (CUDA_INTAKE_PROCESSES + 1)

/**
 * struct intake_process - one connection
 * @buf: its current packet, @got bytes so far. When the packet is complete, its first @sent bytes have been
 *	read
 * @place: places of its streams
 */
struct intake_process {
	int fd;
	char *buf;
	size_t room;
	size_t got;
	size_t sent;
	uint32_t place[STREAMS_MAX];
};

/**
 * struct intake_place - a file
 * @of: its process; NOWHERE: the process has ended
 * @free: a count of ends when that was
 * @seq, @end: number and balance of the next packet; @base_seq, @base: of the first packet of its process
 */
struct intake_place {
	uint32_t of;
	uint64_t free;
	uint64_t seq;
	uint64_t base_seq;
	struct grt_balance end;
	struct grt_balance base;
};

/**
 * struct cuda_intake - the connections
 * @dir: directory of the socket, -1: there is none
 * @process: including processes without a descriptor
 * @places: number of places in use
 * @held: bytes of memory for the packets of all processes
 * @whole: the process with a complete packet; NOWHERE: none has one
 * @last: the place that was read last
 * @stopped: no further connections are accepted; @over: the time for the last packets has passed
 * @refused: processes for which there was no room, or no memory; @broken: processes that sent invalid data
 */
struct cuda_intake {
	struct cuda_intake_ops ops;
	int poll;
	int listener;
	int timer;
	int dir;
	struct intake_process process[CUDA_INTAKE_PROCESSES];
	unsigned int processes;
	struct intake_place place[CUDA_INTAKE_PLACES];
	uint32_t places;
	uint64_t ends;
	size_t held;
	uint32_t whole;
	uint32_t last;
	bool stopped;
	bool over;
	unsigned int refused;
	unsigned int broken;
	unsigned int unfinished;
	char text[160];
};

/* ---------------------------------------------------------------- processes */

static int intake_watch(struct cuda_intake *in, int fd, uint32_t number)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = number};

	return epoll_ctl(in->poll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* This file owns @fd from now on. Return: 0 or -errno */
static int intake_add_process(struct cuda_intake *in, int fd)
{
	uint32_t i = 0;
	int ret;

	while (i < CUDA_INTAKE_PROCESSES && in->process[i].fd >= 0)
		i++;
	ret = i < CUDA_INTAKE_PROCESSES ? intake_watch(in, fd, i) : -ENOSPC;
	if (ret) {
		in->refused++;
		close(fd);
		return ret;
	}
	in->process[i].fd = fd;
	in->process[i].got = in->process[i].sent = 0;
	memset(in->process[i].place, 0xff, sizeof(in->process[i].place));
	in->processes++;
	return 0;
}

static void intake_free_packet(struct cuda_intake *in, struct intake_process *p)
{
	free(p->buf);
	p->buf = NULL;
	in->held -= p->room;
	p->room = 0;
}

static void intake_end_process(struct cuda_intake *in, uint32_t number)
{
	struct intake_process *p = &in->process[number];

	epoll_ctl(in->poll, EPOLL_CTL_DEL, p->fd, NULL);
	close(p->fd);
	p->fd = -1;
	intake_free_packet(in, p);
	in->processes--;
	for (uint32_t i = 0; i < in->places; i++)
		if (in->place[i].of == number) {
			in->place[i].of = NOWHERE;
			in->place[i].free = ++in->ends;
		}
	in->ops.ended(in->ops.arg, number);
}

/* A bounded number at a time: processes that connect without end must not keep the recorder from its work. */
static void intake_accept(struct cuda_intake *in)
{
	int fd;

	for (unsigned int i = 0; i < CUDA_INTAKE_PROCESSES; i++) {
		fd = accept4(in->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		intake_add_process(in, fd);
	}
}

/* ------------------------------------------------------------------- places */

/* Return: a place that was never used, or the one whose process ended first; NOWHERE: all are in use. */
static uint32_t intake_find_place(struct cuda_intake *in)
{
	uint32_t found = NOWHERE;

	if (in->places < CUDA_INTAKE_PLACES)
		return in->places++;
	for (uint32_t i = 0; i < in->places; i++)
		if (in->place[i].of == NOWHERE &&
		    (found == NOWHERE || in->place[i].free < in->place[found].free))
			found = i;
	return found;
}

static uint32_t intake_place_of(struct cuda_intake *in, uint32_t number, uint32_t stream)
{
	uint32_t *at = &in->process[number].place[stream];
	struct intake_place *place;

	if (*at != NOWHERE)
		return *at;
	*at = intake_find_place(in);
	if (*at == NOWHERE)
		return NOWHERE;
	place = &in->place[*at];
	place->of = number;
	place->base_seq = place->seq;
	place->base = place->end;
	return *at;
}

static void intake_add_balance(struct grt_balance *to, const struct grt_balance *base)
{
	to->emitted += base->emitted;
	for (unsigned int i = 0; i < GRT_FATES; i++)
		to->fate[i] += base->fate[i];
}

/* Numbers in a file continue from process to process. Return: 0 or -errno */
static int intake_settle(struct cuda_intake *in, uint32_t number, struct grt_packet *p)
{
	struct intake_place *place;

	if (grt_packet_look(p) != GRT_LOOK_PACKET || p->cpu_id >= STREAMS_MAX)
		return -EPROTO;
	in->last = intake_place_of(in, number, p->cpu_id);
	if (in->last == NOWHERE)
		return -ENOSPC;
	place = &in->place[in->last];
	p->cpu_id = in->last;
	p->packet_seq_num += place->base_seq;
	p->events_discarded += place->base.fate[GRT_FATE_LOST];
	intake_add_balance(&p->begin, &place->base);
	intake_add_balance(&p->end, &place->base);
	place->seq = p->packet_seq_num + 1;
	place->end = p->end;
	return 0;
}

/* ------------------------------------------------------------------ reading */

/* Return: how many more bytes the packet needs, or -errno */
static ssize_t intake_wants(const struct intake_process *p)
{
	const struct grt_packet *h = (const struct grt_packet *)p->buf;
	size_t size;

	if (p->got < sizeof(*h))
		return (ssize_t)(sizeof(*h) - p->got);
	size = h->packet_size / 8;
	if (memcmp(&h->magic, &(uint32_t){GRT_PACKET_MAGIC}, sizeof(uint32_t)) || h->packet_size % 64 ||
	    size > PACKET_MAX || size < sizeof(*h))
		return -EPROTO;
	return (ssize_t)(size - p->got);
}

/* Makes room for so many bytes. Return: 0 or -ENOMEM */
static int intake_grow(struct cuda_intake *in, struct intake_process *p, size_t size)
{
	size_t before = p->room;
	int ret;

	if (size > before && size > ROOM_KEPT && in->held - before + size > HELD_MAX)
		return -ENOMEM;
	ret = grt_grow(&p->buf, &p->room, size, sizeof(struct grt_packet));
	in->held += p->room - before;
	return ret;
}

/* Return: 1: a packet is complete, -EAGAIN, 0: the process has ended, or another -errno */
static int intake_fill(struct cuda_intake *in, struct intake_process *p)
{
	ssize_t wants, n;

	while (true) {
		wants = intake_wants(p);
		if (wants <= 0)
			return wants ? (int)wants : 1;
		if (intake_grow(in, p, p->got + (size_t)wants))
			return -ENOMEM;
		n = read(p->fd, p->buf + p->got, (size_t)wants);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		p->got += (size_t)n;
	}
}

/*
 * Return: whether the process has a packet; a process that has ended, or that sends anything else, is
 * dropped
 */
static bool intake_take_from(struct cuda_intake *in, uint32_t number)
{
	struct intake_process *p = &in->process[number];
	int ret = p->fd < 0 ? -EAGAIN : intake_fill(in, p);

	if (ret == 1)
		ret = intake_settle(in, number, (struct grt_packet *)p->buf) ?: 1;
	if (ret == 1) {
		in->ops.packet(in->ops.arg, number, (const struct grt_packet *)p->buf);
		in->whole = number;
		p->sent = 0;
		return true;
	}
	if (ret == -EAGAIN)
		return false;
	in->refused += ret == -ENOSPC || ret == -ENOMEM;
	in->broken += ret == -EPROTO;
	intake_end_process(in, number);
	return false;
}

/* Return: whether any process has a packet */
static bool intake_look(struct cuda_intake *in)
{
	struct epoll_event e[READY_MAX];
	int n = epoll_wait(in->poll, e, READY_MAX, 0);

	for (int i = 0; i < n; i++)
		if (e[i].data.u32 == LISTENER)
			intake_accept(in);
		else if (e[i].data.u32 == TIMER)
			in->over = true;
		else if (intake_take_from(in, e[i].data.u32))
			return true;
	return false;
}

static ssize_t intake_hand_on(struct cuda_intake *in, void *buf, size_t len)
{
	struct intake_process *p = &in->process[in->whole];
	size_t n = p->got - p->sent < len ? p->got - p->sent : len;

	memcpy(buf, p->buf + p->sent, n);
	p->sent += n;
	if (p->sent == p->got) {
		p->got = 0;
		in->whole = NOWHERE;
		if (p->room > ROOM_KEPT)
			intake_free_packet(in, p);
	}
	return (ssize_t)n;
}

ssize_t cuda_intake_read(struct cuda_intake *in, void *buf, size_t len)
{
	if (in->whole != NOWHERE || intake_look(in))
		return intake_hand_on(in, buf, len);
	if (!in->stopped || (in->processes && !in->over))
		return -EAGAIN;
	in->unfinished = in->processes;
	return 0;
}

unsigned int cuda_intake_place(const struct cuda_intake *in)
{
	return in->last;
}

/* ------------------------------------------------------------------ life */

int cuda_intake_new(struct cuda_intake **out, const struct cuda_intake_ops *ops, struct grt_err *err)
{
	struct cuda_intake *in = calloc(1, sizeof(*in));

	*out = in;
	if (!in)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for packets of CUDA");
	in->ops = *ops;
	in->listener = in->dir = -1;
	in->whole = NOWHERE;
	for (uint32_t i = 0; i < CUDA_INTAKE_PROCESSES; i++)
		in->process[i].fd = -1;
	in->poll = epoll_create1(EPOLL_CLOEXEC);
	in->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (in->poll < 0 || in->timer < 0 || intake_watch(in, in->timer, TIMER))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot make a descriptor for CUDA");
	return 0;
}

/*
 * Makes the socket with its mode and owner: in a directory of the user, the name may lead elsewhere a moment
 * later. Return: 0 or -1 with errno set
 */
static int intake_bind(int listener, int dir, uid_t uid, gid_t gid)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	mode_t mask = umask(0177);
	bool as_user = as_user_begin_in(uid, gid, dir);
	int ret;

	/*
	 * the directory's path may be longer than an address; a socket that a killed recorder left is
	 * replaced
	 */
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/" GRT_CUDA_SOCKET, dir);
	unlinkat(dir, GRT_CUDA_SOCKET, 0);
	ret = bind(listener, (const struct sockaddr *)&at, sizeof(at));
	as_user_end();
	umask(mask);
	/* in a directory where only root can put anything */
	if (!ret && !as_user && uid != (uid_t)-1)
		ret = fchownat(dir, GRT_CUDA_SOCKET, uid, gid, AT_SYMLINK_NOFOLLOW);
	return ret;
}

int cuda_intake_listen(struct cuda_intake *in, int dir, uid_t uid, gid_t gid, struct grt_err *err)
{
	int ret;

	in->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (in->listener < 0 || intake_bind(in->listener, dir, uid, gid))
		return grt_err_set(err, -errno, strerror(errno), NULL,
				   "cannot make a socket in the recording's directory");
	in->dir = dir;
	ret = listen(in->listener, CUDA_INTAKE_PROCESSES) ? -errno : intake_watch(in, in->listener, LISTENER);
	return ret ? grt_err_set(err, ret, strerror(-ret), NULL, "cannot listen for packets of CUDA") : 0;
}

int cuda_intake_add(struct cuda_intake *in, int pipe)
{
	int fd = fcntl(pipe, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -errno : intake_add_process(in, fd);
}

int cuda_intake_fd(const struct cuda_intake *in)
{
	return in->poll;
}

void cuda_intake_stop(struct cuda_intake *in, unsigned int ms)
{
	struct itimerspec when = {.it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 + 1}};

	if (in->listener >= 0) {
		intake_accept(in);
		close(in->listener);
		in->listener = -1;
	}
	in->stopped = true;
	/* without a process, nothing else would wake the reader; an ended process does */
	if (!in->processes)
		when.it_value = (struct timespec){.tv_nsec = 1};
	timerfd_settime(in->timer, 0, &when, NULL);
}

const char *cuda_intake_text(struct cuda_intake *in)
{
	if (!in->refused && !in->broken && !in->unfinished)
		return NULL;
	snprintf(
		in->text, sizeof(in->text),
		"processes that are not, or not wholly, recorded: %u beyond %d at once or without memory, %u that sent something else, %u that did not end their part",
		in->refused, CUDA_INTAKE_PROCESSES, in->broken, in->unfinished);
	return in->text;
}

void cuda_intake_free(struct cuda_intake *in)
{
	if (!in)
		return;
	for (uint32_t i = 0; i < CUDA_INTAKE_PROCESSES; i++) {
		if (in->process[i].fd >= 0)
			close(in->process[i].fd);
		free(in->process[i].buf);
	}
	if (in->dir >= 0)
		unlinkat(in->dir, GRT_CUDA_SOCKET, 0);
	if (in->listener >= 0)
		close(in->listener);
	if (in->timer >= 0)
		close(in->timer);
	if (in->poll >= 0)
		close(in->poll);
	free(in);
}
