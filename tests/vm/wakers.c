// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that wait in each of the system calls that programs wait in, each ended by
 * each of the causes that it can have. For each it prints, when all is over,
 *
 *	NAME TID STATE WAKER BEHIND NS
 *
 * what the thread waited for, the thread that woke it (0: none), what was behind
 * that, and how long the call took by its own clock. NAME is CALL-CAUSE:
 *
 *	pipe	the main thread writes, after it has slept
 *	timer	a timerfd, or the call's own time
 *	mutex	the main thread has it, and sleeps
 *	child	a process sleeps and ends
 *	fence	of a job of the software GPU; with "gpu" as argument
 *	middle	a mutex of a thread that waits for a fence
 *
 * A call that was entered too late to wait, as the kernel counts that, is made again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu_calls.h"

#define MS 1000000L
#define PAUSE_MS 12
#define JOB_MS 40
#define TRIES 20

static int epoll_fd, uring_fd, child;
static pthread_mutex_t mutex;
static char *sq_ring, *cq_ring;
static struct io_uring_params uring;
static struct io_uring_sqe *sqes;
static uint32_t sync_object;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void pause_ms(long ms)
{
	struct timespec t = {.tv_nsec = ms * MS};

	while (nanosleep(&t, &t))
		;
}

/* ------------------------------------------------------------- calls: @fd becomes readable, or @ms pass */

static void by_read(int fd, int ms)
{
	char byte[8];

	(void)ms;
	if (read(fd, byte, sizeof(byte)) < 1)
		fail("read");
}

static void by_select(int fd, int ms)
{
	struct timeval t = {.tv_usec = ms * 1000L};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	if (select(fd + 1, &set, NULL, NULL, ms < 0 ? NULL : &t) < 0)
		fail("select");
}

static void by_pselect(int fd, int ms)
{
	struct timespec t = {.tv_nsec = ms * MS};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	if (pselect(fd + 1, &set, NULL, NULL, ms < 0 ? NULL : &t, NULL) < 0)
		fail("pselect");
}

static void by_poll(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, ms) < 0)
		fail("poll");
}

static void by_ppoll(int fd, int ms)
{
	struct timespec t = {.tv_nsec = ms * MS};
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (ppoll(&p, 1, ms < 0 ? NULL : &t, NULL) < 0)
		fail("ppoll");
}

static void by_epoll(int fd, int ms)
{
	struct epoll_event e = {.events = EPOLLIN};

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e) || epoll_wait(epoll_fd, &e, 1, ms) < 0 ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, &e))
		fail("epoll");
}

/* An epoll in an epoll. */
static void by_epoll2(int fd, int ms)
{
	struct epoll_event e = {.events = EPOLLIN};
	int inner = epoll_create1(EPOLL_CLOEXEC);

	if (inner < 0 || epoll_ctl(inner, EPOLL_CTL_ADD, fd, &e))
		fail("epoll");
	by_epoll(inner, ms);
	close(inner);
}

static uint32_t *ring_word(char *ring, uint32_t offset)
{
	return (uint32_t *)(void *)(ring + offset);
}

static void by_uring(int fd, int ms)
{
	uint32_t tail = *ring_word(sq_ring, uring.sq_off.tail),
		 mask = *ring_word(sq_ring, uring.sq_off.ring_mask);

	(void)ms;
	memset(&sqes[tail & mask], 0, sizeof(*sqes));
	sqes[tail & mask].opcode = IORING_OP_POLL_ADD;
	sqes[tail & mask].fd = fd;
	sqes[tail & mask].poll_events = POLLIN;
	ring_word(sq_ring, uring.sq_off.array)[tail & mask] = tail & mask;
	__atomic_store_n(ring_word(sq_ring, uring.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	while (syscall(SYS_io_uring_enter, uring_fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		if (errno != EINTR)
			fail("io_uring_enter");
	__atomic_store_n(ring_word(cq_ring, uring.cq_off.head), *ring_word(cq_ring, uring.cq_off.tail),
			 __ATOMIC_RELEASE);
}

static void by_futex(int fd, int ms)
{
	struct timespec t;

	(void)fd;
	if (ms < 0) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms * MS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	if (pthread_mutex_timedlock(&mutex, &t) != ETIMEDOUT)
		fail("pthread_mutex_timedlock");
}

static void by_nanosleep(int fd, int ms)
{
	(void)fd;
	pause_ms(ms);
}

static void by_wait4(int fd, int ms)
{
	(void)fd, (void)ms;
	if (waitpid(child, NULL, 0) != child)
		fail("waitpid");
}

static void by_waitid(int fd, int ms)
{
	siginfo_t info;

	(void)fd, (void)ms;
	if (waitid(P_PID, (id_t)child, &info, WEXITED))
		fail("waitid");
}

static void by_ioctl(int fd, int ms)
{
	struct sync_wait w = {.handles = (uintptr_t)&sync_object, .until = INT64_MAX, .count = 1};

	(void)fd, (void)ms;
	if (ioctl(gpu, SYNCOBJ_WAIT, &w))
		fail("SYNCOBJ_WAIT");
}

/* ------------------------------------------------------------- causes */

/* Return: a sync file of a job that runs */
static int submit_job(void)
{
	struct create c = {0};
	struct grtrace_softgpu_job j = {.duration = JOB_MS * MS};
	struct grtrace_softgpu_submit s = {.jobs = (uintptr_t)&j, .count = 1};
	struct to_fd t = {.flags = 1, .fd = -1};

	if (ioctl(gpu, SYNCOBJ_CREATE, &c))
		fail("SYNCOBJ_CREATE");
	j.out_sync = t.handle = sync_object = c.handle;
	if (ioctl(gpu, DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT, &s) || ioctl(gpu, SYNCOBJ_TO_FD, &t))
		fail("a job");
	return t.fd;
}

static bool open_uring(void)
{
	uring_fd = (int)syscall(SYS_io_uring_setup, 4, &uring);
	if (uring_fd < 0)
		return false;
	sq_ring = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, uring_fd,
		       IORING_OFF_SQ_RING);
	cq_ring = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, uring_fd,
		       IORING_OFF_CQ_RING);
	sqes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, uring_fd, IORING_OFF_SQES);
	if (sq_ring == MAP_FAILED || cq_ring == MAP_FAILED || sqes == MAP_FAILED)
		fail("io_uring");
	return true;
}

/* ------------------------------------------------------------- cases */

enum cause { PIPE, TIMERFD, TIME, MUTEX, CHILD, FENCE, MIDDLE };

static const struct call {
	const char *name;
	void (*wait)(int fd, int ms);
	unsigned int causes;
} calls[] = {
#define WITH(cause) (1U << (cause))
#define FILES (WITH(PIPE) | WITH(TIMERFD) | WITH(FENCE))
	{"read", by_read, WITH(PIPE) | WITH(TIMERFD)},
	{"select", by_select, FILES | WITH(TIME)},
	{"pselect", by_pselect, FILES | WITH(TIME)},
	{"poll", by_poll, FILES | WITH(TIME)},
	{"ppoll", by_ppoll, FILES | WITH(TIME)},
	{"epoll", by_epoll, FILES | WITH(TIME)},
	{"epoll2", by_epoll2, FILES | WITH(TIME)},
	{"uring", by_uring, FILES},
	{"futex", by_futex, WITH(MUTEX) | WITH(TIME) | WITH(MIDDLE)},
	{"nanosleep", by_nanosleep, WITH(TIME)},
	{"wait4", by_wait4, WITH(CHILD)},
	{"waitid", by_waitid, WITH(CHILD)},
	{"ioctl", by_ioctl, WITH(FENCE)},
};

static const struct {
	const char *name, *state, *behind;
} of_cause[] = {
	[PIPE] = {"pipe", "io", "sleep"},      [TIMERFD] = {"timerfd", "sleep", "sleep"},
	[TIME] = {"time", "sleep", "sleep"},   [MUTEX] = {"mutex", "lock", "sleep"},
	[CHILD] = {"child", "child", "sleep"}, [FENCE] = {"fence", "gpu", "gpu"},
	[MIDDLE] = {"middle", "lock", "gpu"},
};

/** struct wait - one, of the thread @tid; @sleeps: times that it left the CPU to wait */
struct wait {
	const struct call *call;
	int fd, ms;
	char name[16];
	_Atomic int tid;
	uint64_t ns;
	long sleeps;
};

static void *wait_once(void *arg)
{
	struct rusage before, after;
	struct wait *w = arg;
	uint64_t begin;

	pthread_setname_np(pthread_self(), w->name);
	getrusage(RUSAGE_THREAD, &before);
	w->tid = (int)gettid();
	begin = now();
	w->call->wait(w->fd, w->ms);
	w->ns = now() - begin;
	getrusage(RUSAGE_THREAD, &after);
	w->sleeps = after.ru_nvcsw - before.ru_nvcsw;
	return NULL;
}

static bool is_asleep(int tid)
{
	char path[64], line[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "re");
	if (!f)
		return true;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	return strstr(line, ") S");
}

static void await_asleep(_Atomic int *tid)
{
	while (!*tid || !is_asleep(*tid))
		usleep(200);
}

/* It has the mutex, until a job is done. */
static _Atomic int middle_tid;
static atomic_bool middle_has;

static void *stand_in_middle(void *arg)
{
	pthread_mutex_lock(&mutex);
	middle_tid = (int)gettid();
	middle_has = true;
	by_poll(*(int *)arg, -1);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static int begin_cause(enum cause cause, struct wait *w, int pipe_fds[2], pthread_t *middle)
{
	int waker = 0;

	w->fd = cause == TIMERFD ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC) : pipe_fds[0];
	w->ms = cause == TIME ? PAUSE_MS : -1;
	if (cause == FENCE || cause == MIDDLE)
		w->fd = submit_job();
	if (cause == PIPE || cause == MUTEX)
		waker = (int)gettid();
	if (cause == MUTEX || (cause == TIME && w->call->wait == by_futex))
		pthread_mutex_lock(&mutex);
	if (cause == MIDDLE) {
		middle_has = false;
		if (pthread_create(middle, NULL, stand_in_middle, &w->fd))
			fail("pthread_create");
		while (!middle_has)
			usleep(200);
		waker = middle_tid;
	}
	if (cause == CHILD) {
		child = waker = fork();
		if (!child) {
			pause_ms(2 * PAUSE_MS);
			_exit(0);
		}
	}
	return waker;
}

/* The thread waits: what it waits for happens. */
static void end_cause(enum cause cause, const struct wait *w, int pipe_fds[2])
{
	const struct itimerspec soon = {.it_value.tv_nsec = PAUSE_MS * MS};

	if (cause == PIPE || cause == MUTEX)
		pause_ms(PAUSE_MS);
	if (cause == PIPE && write(pipe_fds[1], "x", 1) != 1)
		fail("write");
	if (cause == TIMERFD && timerfd_settime(w->fd, 0, &soon, NULL))
		fail("timerfd_settime");
	if (cause == MUTEX)
		pthread_mutex_unlock(&mutex);
}

static uint64_t least_ns(enum cause cause)
{
	return (cause == FENCE || cause == MIDDLE ? JOB_MS : PAUSE_MS) * MS / 2;
}

static bool wait_for(const struct call *call, enum cause cause, int pipe_fds[2])
{
	struct wait w = {.call = call};
	pthread_t thread, middle;
	int waker;

	snprintf(w.name, sizeof(w.name), "%s-%s", call->name, of_cause[cause].name);
	waker = begin_cause(cause, &w, pipe_fds, &middle);
	if (pthread_create(&thread, NULL, wait_once, &w))
		fail("pthread_create");
	if (cause == PIPE || cause == TIMERFD || cause == MUTEX)
		await_asleep(&w.tid);
	end_cause(cause, &w, pipe_fds);
	pthread_join(thread, NULL);
	if (cause == PIPE && call->wait != by_read && read(pipe_fds[0], &(char){0}, 1) != 1)
		fail("read");
	if (cause == TIME && call->wait == by_futex)
		pthread_mutex_unlock(&mutex);
	if (cause == MIDDLE)
		pthread_join(middle, NULL);
	if (w.fd != pipe_fds[0])
		close(w.fd);
	if (w.ns < least_ns(cause) || w.sleeps != 1)
		return false;
	printf("%s %d %s %d %s %llu\n", w.name, w.tid, of_cause[cause].state, waker, of_cause[cause].behind,
	       (unsigned long long)w.ns);
	return true;
}

int main(int argc, char **argv)
{
	int pipe_fds[2], rounds = argc > 2 ? atoi(argv[2]) : 1;
	bool has_uring = open_uring();

	if (argc > 1 && !strcmp(argv[1], "gpu"))
		gpu = open_gpu();
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0 || pipe(pipe_fds))
		fail("files");
	while (rounds--)
		for (const struct call *c = calls; c < calls + sizeof(calls) / sizeof(calls[0]); c++)
			for (enum cause cause = PIPE; cause <= MIDDLE; cause++) {
				if (!(c->causes & WITH(cause)) || (c->wait == by_uring && !has_uring) ||
				    (gpu < 0 && (cause == FENCE || cause == MIDDLE)))
					continue;
				for (int i = 0; i < TRIES && !wait_for(c, cause, pipe_fds); i++)
					;
			}
	return 0;
}
