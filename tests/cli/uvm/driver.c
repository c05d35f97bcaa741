// SPDX-License-Identifier: GPL-2.0
/* clang-format off: a table */
/*
 * A stand-in for NVIDIA's driver for unified memory, loaded by LD_PRELOAD in front of that for the resource
 * manager (tests/cli/nvctxsw/rm.c): it answers the calls on /dev/nvidia-uvm-tools, and on files of programs
 * that are of the device 1:5, as the open kernel modules (580.142) do, and writes into the queue. UVM_SCRIPT
 * says what happens:
 *
 *	gpu INDEX UUID		a processor of each program, 32 hexadecimal digits
 *	refuse COMMAND STATUS	a call fails
 *	room N			a queue has room for so many entries, and not for all that it was made for
 *	slow N			the first N files are not set up yet
 *	after US		US of what follows count from so much after a queue was switched on,
 *				and not from there, when the recorder may still be about to begin
 *	mig US CAUSE FROM TO ADDRESS BYTES GPU_US GPU_NS
 *				of processors by INDEX; the GPU begins GPU_US later, and takes GPU_NS;
 *				noticed when the driver is asked
 *	cpu US ACCESS ADDRESS PID TID CPU
 *	fault US ACCESS GPU ADDRESS BATCH GPU_US
 *				the GPU met it GPU_US before US
 *	replay US GPU BATCH GPU_US
 *				done GPU_US later
 *	remote US CAUSE FROM TO ADDRESS BYTES
 *	fatal US REASON ACCESS PROCESSOR ADDRESS
 *	group US TYPE ADDRESS BYTES MASK
 *				thrashing (10), read-duplicate (7)
 *	alone US TYPE PROCESSOR ADDRESS
 *				throttling (11), its end (12); of 4096 bytes: the end of read-duplicate (8)
 *	evict US FROM TO ADDRESS BYTES WANTED
 *	type US TYPE		an entry of a type that nobody knows
 *	burst US N		N faults of GPU 1 at once
 *	broken US		the place of the next entry is beyond the queue, once the queue
 *				has been read
 *
 * UVM_TRUTH gets "on MONOTONIC", "TYPE WRITTEN DROPPED" of types that there were, and "left N": queues
 * that were not closed.
 */
/* clang-format on */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define QUEUES 64
#define STEPS 4096
#define RULES 8
#define TYPES 64
#define ENTRY 72
#define ILLEGAL_ACTION 0x16

uint64_t rm_gpu_clock(uint64_t monotonic);

struct control {
	uint32_t get_ahead, get_behind, put_ahead, put_behind;
	uint64_t dropped[TYPES];
};

struct step {
	char what[8];
	uint64_t us, number[7];
};

/* The last one that was switched on plays the script. */
static struct queue {
	int file, target, enabled, steps_done;
	unsigned char *ring;
	struct control *control;
	uint32_t entries, threshold;
	uint64_t on;
	char done[STEPS];
} queues[QUEUES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct step steps[STEPS];
static unsigned int step_count, rules, slow, used, room, after;
static struct {
	unsigned int command, status;
} rule[RULES];
static uint8_t uuid[257][16];
static uint64_t written[TYPES], dropped[TYPES];
static int ticking;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void truth(const char *form, ...)
{
	FILE *f = getenv("UVM_TRUTH") ? fopen(getenv("UVM_TRUTH"), "ae") : NULL;
	va_list a;

	va_start(a, form);
	if (f) {
		vfprintf(f, form, a);
		fclose(f);
	}
	va_end(a);
}

static void read_gpu(const char *line)
{
	unsigned int index, value, n = 0;
	char text[64];

	if (sscanf(line, "gpu %u %63s", &index, text) != 2 || index > 256)
		abort();
	for (const char *p = text; n < 16 && sscanf(p, "%2x", &value) == 1; p += 2)
		uuid[index][n++] = (uint8_t)value;
}

static int read_step(const char *line)
{
	struct step s = {0};
	uint64_t *n = s.number;
	int at = 0, got = sscanf(line, "%7s %lu%n", s.what, &s.us, &at);

	if (got != 2 || step_count == STEPS)
		return 0;
	for (char *p = (char *)line + at, *end; n < s.number + 7; p = end) {
		uint64_t value = strtoull(p, &end, 0);

		if (end == p)
			break;
		*n++ = value;
	}
	steps[step_count++] = s;
	return 1;
}

__attribute__((constructor)) static void read_script(void)
{
	FILE *f = getenv("UVM_SCRIPT") ? fopen(getenv("UVM_SCRIPT"), "re") : NULL;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "gpu ", 4))
			read_gpu(line);
		else if (sscanf(line, "refuse %u %x", &rule[rules].command, &rule[rules].status) == 2)
			rules++;
		else if (sscanf(line, "slow %u", &slow) != 1 && sscanf(line, "room %u", &room) != 1 &&
			 sscanf(line, "after %u", &after) != 1 && line[0] != '\n' && !read_step(line))
			fprintf(stderr, "driver: what is %s", line), _exit(99);
	}
	if (f)
		fclose(f);
	uuid[0][0] = 0xa6;
}

__attribute__((destructor)) static void at_end(void)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < QUEUES; i++)
		left += queues[i].file && queues[i].ring;
	for (unsigned int i = 0; i < TYPES; i++)
		if (written[i] || dropped[i])
			truth("%u %lu %lu\n", i, written[i], dropped[i]);
	truth("left %u\n", left);
}

/* ---------------------------------------------------------------- the queue */

static void put(struct queue *q, const unsigned char *entry)
{
	struct control *c = q->control;
	uint32_t place = __atomic_load_n(&c->put_behind, __ATOMIC_RELAXED),
		 next = (place + 1) & (q->entries - 1);

	uint32_t get = __atomic_load_n(&c->get_behind, __ATOMIC_ACQUIRE);

	if (next == get || (room && ((place - get) & (q->entries - 1)) == room)) {
		c->dropped[entry[0]]++;
		dropped[entry[0]]++;
		return;
	}
	memcpy(q->ring + (size_t)place * ENTRY, entry, ENTRY);
	written[entry[0]]++;
	__atomic_store_n(&c->put_ahead, next, __ATOMIC_RELEASE);
	__atomic_store_n(&c->put_behind, next, __ATOMIC_RELEASE);
}

#define AT(type, offset) (*(type *)(e + (offset)))

/* A stamp of ours as one of the driver; the best of a few, as an interrupt between two readings moves it. */
static uint64_t raw(uint64_t monotonic)
{
	uint64_t least = UINT64_MAX, ahead = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t before = now(CLOCK_MONOTONIC), stamp = now(CLOCK_MONOTONIC_RAW),
			 took = now(CLOCK_MONOTONIC) - before;

		if (took < least) {
			least = took;
			ahead = stamp - before - took / 2;
		}
	}
	return monotonic + ahead;
}

static void put_migration(struct queue *q, unsigned char *e, uint64_t time, const uint64_t *n)
{
	uint64_t begin = time + n[5] * 1000;
	int by_gpu = n[1] || n[2];

	e[0] = 2;
	e[1] = (unsigned char)n[0];
	AT(uint16_t, 4) = (uint16_t)n[1];
	AT(uint16_t, 6) = (uint16_t)n[2];
	AT(int32_t, 8) = n[1] ? -1 : 0;
	AT(int32_t, 12) = n[2] ? -1 : 1;
	AT(uint64_t, 16) = n[3];
	AT(uint64_t, 24) = n[4];
	AT(uint64_t, 32) = raw(time);
	AT(uint64_t, 40) = by_gpu ? now(CLOCK_MONOTONIC_RAW) : raw(begin + n[6]);
	AT(uint64_t, 56) = by_gpu ? rm_gpu_clock(begin) : 0;
	AT(uint64_t, 64) = by_gpu ? rm_gpu_clock(begin + n[6]) : 0;
	put(q, e);
}

static void put_gpu_fault(struct queue *q, unsigned char *e, uint64_t time, const uint64_t *n)
{
	e[0] = 3;
	e[1] = 2;
	AT(uint16_t, 2) = (uint16_t)n[1];
	AT(uint16_t, 4) = 3;
	AT(uint16_t, 6) = 36;
	AT(uint64_t, 8) = n[2];
	AT(uint64_t, 16) = raw(time);
	AT(uint64_t, 24) = rm_gpu_clock(time - n[4] * 1000);
	AT(uint32_t, 32) = (uint32_t)n[3];
	e[36] = 1;
	e[37] = (unsigned char)n[0];
	put(q, e);
}

static void put_cpu_fault(struct queue *q, unsigned char *e, uint64_t time, const uint64_t *n)
{
	e[0] = 1;
	e[1] = (unsigned char)n[0];
	AT(uint32_t, 4) = (uint32_t)n[4];
	AT(uint64_t, 8) = n[1];
	AT(uint64_t, 16) = raw(time);
	AT(uint32_t, 24) = (uint32_t)n[2];
	AT(uint32_t, 28) = (uint32_t)n[3];
	AT(uint64_t, 32) = 0x401000;
	put(q, e);
}

static void put_pair(struct queue *q, unsigned char *e, uint64_t time, const struct step *s)
{
	const uint64_t *n = s->number;

	if (s->what[0] == 'r') {
		e[0] = 13;
		e[1] = (unsigned char)n[0];
		AT(uint64_t, 32) = rm_gpu_clock(time + 5000);
		n++;
	} else {
		e[0] = 14;
	}
	AT(uint16_t, 4) = (uint16_t)n[0];
	AT(uint16_t, 6) = (uint16_t)n[1];
	AT(uint64_t, 8) = n[2];
	AT(uint64_t, 16) = e[0] == 13 ? n[3] : n[4];
	AT(uint64_t, 24) = e[0] == 13 ? raw(time) : n[3];
	if (e[0] == 14)
		AT(uint64_t, 32) = raw(time);
	put(q, e);
}

static void put_pages(struct queue *q, unsigned char *e, uint64_t time, const struct step *s)
{
	const uint64_t *n = s->number;

	e[0] = (unsigned char)n[0];
	if (s->what[0] == 'g') {
		AT(uint64_t, 8) = n[1];
		AT(uint64_t, 16) = n[2];
		AT(uint64_t, 24) = raw(time);
		AT(uint64_t, 32) = n[3];
	} else {
		AT(uint16_t, 2) = (uint16_t)n[1];
		AT(uint64_t, 8) = n[2];
		AT(uint64_t, 16) = n[0] == 8 ? 4096 : raw(time);
		AT(uint64_t, 24) = n[0] == 8 ? raw(time) : 0;
	}
	put(q, e);
}

static void put_rest(struct queue *q, unsigned char *e, uint64_t time, const struct step *s)
{
	const uint64_t *n = s->number;

	if (!strcmp(s->what, "replay")) {
		e[0] = 4;
		e[1] = 1;
		AT(uint16_t, 2) = (uint16_t)n[0];
		AT(uint32_t, 4) = (uint32_t)n[1];
		AT(uint64_t, 8) = raw(time);
		AT(uint64_t, 16) = rm_gpu_clock(time + n[2] * 1000);
	} else if (!strcmp(s->what, "fatal")) {
		e[0] = 6;
		e[1] = 6;
		e[2] = (unsigned char)n[1];
		e[3] = (unsigned char)n[0];
		AT(uint16_t, 4) = (uint16_t)n[2];
		AT(uint64_t, 8) = n[3];
		AT(uint64_t, 16) = raw(time);
	} else {
		e[0] = (unsigned char)n[0];
	}
	put(q, e);
}

static void do_step(struct queue *q, const struct step *s)
{
	uint64_t time = q->on + s->us * 1000;
	unsigned char e[ENTRY] = {0};

	if (!strcmp(s->what, "mig"))
		put_migration(q, e, time, s->number);
	else if (!strcmp(s->what, "fault"))
		put_gpu_fault(q, e, time, s->number);
	else if (!strcmp(s->what, "cpu"))
		put_cpu_fault(q, e, time, s->number);
	else if (!strcmp(s->what, "remote") || !strcmp(s->what, "evict"))
		put_pair(q, e, time, s);
	else if (!strcmp(s->what, "group") || !strcmp(s->what, "alone"))
		put_pages(q, e, time, s);
	else if (!strcmp(s->what, "burst"))
		for (uint64_t i = 0; i < s->number[0]; i++)
			put_gpu_fault(q, e, time, (uint64_t[]){1, 1, 0x1000 * i, 7, 10});
	else if (!strcmp(s->what, "broken"))
		q->control->put_behind = q->entries + 7;
	else
		put_rest(q, e, time, s);
}

/* What has happened until now comes into the queues. */
static void pump(void)
{
	for (unsigned int i = 0; i < used; i++) {
		struct queue *q = &queues[i];

		for (unsigned int j = 0; j < step_count && q->enabled; j++) {
			if (q->done[j] || now(CLOCK_MONOTONIC) < q->on + steps[j].us * 1000 ||
			    (!strcmp(steps[j].what, "broken") &&
			     q->control->put_behind != q->control->get_behind))
				continue;
			q->done[j] = 1;
			do_step(q, &steps[j]);
			if (!strcmp(steps[j].what, "burst"))
				break;
		}
	}
}

/* What poll() says of the tools' file. */
static void set_ready(struct queue *q)
{
	struct pollfd f = {.fd = q->file, .events = POLLIN};
	uint64_t one = 1;
	int ready = poll(&f, 1, 0) == 1;
	int full = ((q->control->put_behind - q->control->get_ahead) & (q->entries - 1)) >= q->threshold;

	if (full && !ready && write(q->file, &one, sizeof(one)) < 0)
		abort();
	if (!full && ready && read(q->file, &one, sizeof(one)) < 0)
		abort();
}

static void *tick(void *arg)
{
	for (;;) {
		usleep(1000);
		pthread_mutex_lock(&lock);
		for (unsigned int i = 0; i < used; i++)
			if (queues[i].enabled)
				set_ready(&queues[i]);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

/* -------------------------------------------------------------------- calls */

static struct queue *queue_of(int fd)
{
	for (unsigned int i = 0; i < used; i++)
		if (queues[i].file == fd)
			return &queues[i];
	return NULL;
}

/* A program's file. */
static int is_program(int fd)
{
	struct stat s;

	return !fstat(fd, &s) && S_ISCHR(s.st_mode) && s.st_rdev == makedev(1, 5);
}

static uint32_t init(struct queue *q, const uint64_t *p)
{
	uint32_t entries = (uint32_t)p[1];

	if (q->ring || entries < 2 || entries & (entries - 1) || p[0] & 4095 || p[2] & 4095)
		return 0x1f;
	if (!is_program((int)((const uint32_t *)p)[11]))
		return 0x1b;
	if (slow) {
		slow--;
		return ILLEGAL_ACTION;
	}
	q->ring = (unsigned char *)p[0];
	q->entries = entries;
	q->control = (struct control *)p[2];
	q->threshold = entries / 2;
	q->target = (int)((const uint32_t *)p)[11];
	return 0;
}

static uint32_t enable(struct queue *q, uint64_t types)
{
	if (!q->ring || types & ~0x7ffeULL)
		return 0x1f;
	q->enabled = 1;
	q->on = now(CLOCK_MONOTONIC) + after * 1000ULL;
	truth("on %lu\n", q->on);
	return 0;
}

static int answer_tools(struct queue *q, unsigned long request, void *arg)
{
	uint64_t *p = arg;
	uint32_t *w = arg;

	switch (request) {
	case 76:
		w[12] = init(q, p);
		return 0;
	case 57:
		q->threshold = w[0];
		w[1] = q->ring ? 0 : 0x1f;
		return 0;
	case 58:
		w[2] = enable(q, p[0]);
		return 0;
	case 59:
		pump();
		q->enabled = 0;
		w[2] = 0;
		return 0;
	}
	return EINVAL;
}

static int answer_program(unsigned long request, void *arg)
{
	uint64_t *p = arg;
	uint32_t *w = arg;

	switch (request) {
	case 67:
		pump();
		w[0] = 0;
		return 0;
	case 77:
		memcpy((void *)p[0], uuid, sizeof(uuid));
		w[2] = 0;
		return 0;
	}
	return EINVAL;
}

/* Where each command has its status, in words. */
static int refused(unsigned long request, uint32_t *w)
{
	for (unsigned int i = 0; i < rules; i++) {
		if (rule[i].command != request)
			continue;
		w[request == 76 ? 12 : request == 57 ? 1 : request == 67 ? 0 : 2] = rule[i].status;
		return 1;
	}
	return 0;
}

static int open_tools(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_t t;

	pthread_mutex_lock(&lock);
	if (fd >= 0 && used < QUEUES)
		queues[used++].file = fd;
	if (!ticking)
		ticking = !pthread_create(&t, NULL, tick, NULL);
	pthread_mutex_unlock(&lock);
	return fd;
}

#define OPEN(name)                                                                       \
	int name(const char *path, int flags, ...)                                       \
	{                                                                                \
		static int (*next)(const char *, int, ...);                              \
		mode_t mode;                                                             \
		va_list a;                                                               \
                                                                                         \
		va_start(a, flags);                                                      \
		mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(a, mode_t) : 0;            \
		va_end(a);                                                               \
		if (!strcmp(path, "/dev/nvidia-uvm-tools")) {                            \
			if (!getenv("UVM_NO_FILE"))                                      \
				return open_tools();                                     \
			errno = ENOENT;                                                  \
			return -1;                                                       \
		}                                                                        \
		if (!next)                                                               \
			next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
		return next(path, flags, mode);                                          \
	}

OPEN(open)
OPEN(open64)

int close(int fd)
{
	static int (*next)(int);
	struct queue *q;

	if (!next)
		next = (int (*)(int))dlsym(RTLD_NEXT, "close");
	pthread_mutex_lock(&lock);
	q = fd > 0 ? queue_of(fd) : NULL;
	if (q) {
		q->enabled = 0;
		q->file = 0;
	}
	pthread_mutex_unlock(&lock);
	return next(fd);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, void *);
	struct queue *q;
	void *arg;
	va_list a;
	int ret;

	va_start(a, request);
	arg = va_arg(a, void *);
	va_end(a);
	if (!next)
		next = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	if (request < 57 || request > 77)
		return next(fd, request, arg);
	pthread_mutex_lock(&lock);
	q = queue_of(fd);
	if (refused(request, arg))
		ret = 0;
	else
		ret = q		       ? answer_tools(q, request, arg)
		      : is_program(fd) ? answer_program(request, arg)
				       : ENOTTY;
	pthread_mutex_unlock(&lock);
	errno = ret;
	return ret ? -1 : 0;
}
