// SPDX-License-Identifier: GPL-2.0
/*
 * A stand-in for NVIDIA's resource manager, loaded by LD_PRELOAD: it answers the
 * calls on /dev/nvidia* with which the context-switch log is read, as the open
 * kernel modules (580.142) do. RM_SCRIPT says what happens:
 *
 *	version TEXT		of the driver
 *	gpus N			minors 0 to N - 1
 *	refuse CODE STATUS REASON  a class or control fails; REASON is that of the bind
 *	most BYTES		larger memory is refused
 *	drift PPM		of the GPU's clock
 *	at GPU US TAG CONTEXT PID  a record, US after the log was switched on
 *	skip GPU US N		N records are lost before it came to the buffer
 *	burst GPU US N CONTEXT PID CONTEXT PID  N slices in turn, 10 us each, at the next flush: the
 *				reader waits for it, so how many find no room is known
 *	broken GPU US		the place of the next record is beyond the buffer; once what was before has been read,
 *				which a recorder may do late
 *	stalled GPU US		the driver brings records to the buffer at a flush only, from then on
 *	gone GPU US		it has left the bus: every call on it fails from then on
 *	when FILE		times count from when this file is there; RM_TRUTH gets "played" once all
 *				records are in the buffer
 *
 * RM_TRUTH gets "on GPU MONOTONIC" when a log is switched on, and at the end
 * "dropped GPU N" and "left N": objects and mappings that were not freed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define GPUS 4
#define FILES 64
#define OBJECTS 64
#define STEPS 4096
#define RULES 16
#define GPU_EPOCH 1795404320000000000ULL

struct object {
	uint32_t handle, class, parent, gpu;
	uint64_t size;
	void *at;
	int mapped;
};

struct step {
	char what;
	uint32_t gpu, n, context[2], pid[2], tag, instance;
	uint64_t us;
};

static struct log {
	struct object *header, *ring;
	uint32_t records, put, get;
	uint16_t seqno;
	uint64_t dropped, on, done, gone, stalled;
	int enabled;
} logs[GPUS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object objects[OBJECTS];
static struct step steps[STEPS];
static unsigned int step_count, gpus = 1, rules;
static struct rule {
	uint32_t code, status, reason;
} rule[RULES];
static char version[64] = "580.159.04", gate[256];
static uint64_t most = UINT64_MAX, epoch;
static double drift;
static int ours[FILES], ticking;
static bool waited;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t rm_gpu_clock(uint64_t monotonic)
{
	return GPU_EPOCH + (monotonic - epoch) +
	       (uint64_t)(int64_t)((double)(monotonic - epoch) * drift / 1e6);
}

static void truth(const char *form, ...)
{
	FILE *f = getenv("RM_TRUTH") ? fopen(getenv("RM_TRUTH"), "ae") : NULL;
	va_list a;

	va_start(a, form);
	if (f) {
		vfprintf(f, form, a);
		fclose(f);
	}
	va_end(a);
}

__attribute__((constructor)) static void read_script(void)
{
	FILE *f = getenv("RM_SCRIPT") ? fopen(getenv("RM_SCRIPT"), "re") : NULL;
	char line[256];

	epoch = now(CLOCK_MONOTONIC);
	while (f && fgets(line, sizeof(line), f)) {
		struct step s = {.what = line[1], .instance = 0xffff};
		struct rule r = {0};

		if (sscanf(line, "version %63s", version) == 1 || sscanf(line, "gpus %u", &gpus) == 1 ||
		    sscanf(line, "most %lu", &most) == 1 || sscanf(line, "drift %lf", &drift) == 1 ||
		    sscanf(line, "when %255s", gate) == 1)
			continue;
		if (sscanf(line, "refuse %x %x %u", &r.code, &r.status, &r.reason) == 3)
			rule[rules++] = r;
		else if (sscanf(line, "at %u %lu %u %x %u %x", &s.gpu, &s.us, &s.tag, &s.context[0],
				&s.pid[0], &s.instance) >= 5 ||
			 sscanf(line, "skip %u %lu %u", &s.gpu, &s.us, &s.n) == 3 ||
			 sscanf(line, "burst %u %lu %u %x %u %x %u", &s.gpu, &s.us, &s.n, &s.context[0],
				&s.pid[0], &s.context[1], &s.pid[1]) == 7 ||
			 sscanf(line, "broken %u %lu", &s.gpu, &s.us) == 2)
			steps[step_count++] = s;
		else if (sscanf(line, "stalled %u %lu", &s.gpu, &s.us) == 2)
			logs[s.gpu].stalled = s.us * 1000;
		else if (sscanf(line, "gone %u %lu", &s.gpu, &s.us) == 2)
			logs[s.gpu].gone = s.us * 1000;
		else if (line[0] != '#' && line[0] != '\n')
			fprintf(stderr, "rm: what is %s", line), _exit(99);
	}
	if (f)
		fclose(f);
}

__attribute__((destructor)) static void at_end(void)
{
	unsigned int i, left = 0;

	for (i = 0; i < OBJECTS; i++)
		left += objects[i].handle != 0;
	for (i = 0; i < gpus; i++)
		truth("dropped %u %lu\n", i, logs[i].dropped);
	truth("left %u\n", left);
}

/* ------------------------------------------------------------------ the log */

static void put_record(struct log *l, uint32_t tag, uint32_t context, uint32_t pid, uint32_t instance,
		       uint64_t time)
{
	uint32_t next = (l->put + 1) % l->records;
	char *r = (char *)l->ring->at + 32 * l->put;
	volatile uint32_t *header = l->header->at;

	l->seqno++;
	if (next == l->get) {
		l->dropped++;
		++*(volatile uint64_t *)(header + 4);
		return;
	}
	memset(r, 0, 32);
	*(uint16_t *)r = 2;
	r[8] = (char)tag;
	*(uint16_t *)(r + 10) = (uint16_t)(l->seqno - 1);
	*(uint32_t *)(r + 12) = context;
	*(uint32_t *)(r + 16) = pid;
	r[22] = (char)(instance >> 8);
	r[23] = (char)instance;
	*(uint64_t *)(r + 24) = rm_gpu_clock(time);
	l->put = next;
	__atomic_store_n(header + 1, next, __ATOMIC_RELEASE);
}

static void do_step(struct log *l, const struct step *s)
{
	uint64_t time = l->on + s->us * 1000;

	if (s->what == 't')
		put_record(l, s->tag, s->context[0], s->pid[0], s->instance, time);
	else if (s->what == 'k')
		l->seqno = (uint16_t)(l->seqno + s->n);
	else if (s->what == 'r')
		((volatile uint32_t *)l->header->at)[1] = l->records + 7;
	for (uint32_t i = 0; s->what == 'u' && i < s->n; i++) {
		put_record(l, 6, s->context[i & 1], s->pid[i & 1], s->instance, time + 10000 * i);
		put_record(l, 7, s->context[i & 1], s->pid[i & 1], s->instance, time + 10000 * i + 8000);
	}
}

/* Whether the script has begun; the time of its beginning is that of the log then. */
static bool has_begun(void)
{
	if (!gate[0])
		return true;
	if (access(gate, F_OK))
		return false;
	gate[0] = 0;
	waited = true;
	for (unsigned int i = 0; i < GPUS; i++)
		logs[i].on = now(CLOCK_MONOTONIC);
	return true;
}

/* Says once that nothing is left to do, where the script has waited. */
static void say_played(void)
{
	for (unsigned int i = 0; i < step_count; i++)
		if (steps[i].what)
			return;
	waited = false;
	truth("played\n");
}

/* What has happened until now comes to the buffers. */
static void pump(bool flush)
{
	if (!has_begun())
		return;
	for (unsigned int i = 0; i < step_count; i++) {
		struct step *s = &steps[i];
		struct log *l = &logs[s->gpu];

		if (!s->what || !l->enabled || now(CLOCK_MONOTONIC) < l->on + s->us * 1000 ||
		    (s->what == 'u' && !flush) ||
		    (s->what == 'r' && l->get != l->put) ||
		    (l->stalled && !flush && now(CLOCK_MONOTONIC) > l->on + l->stalled))
			continue;
		do_step(l, s);
		s->what = 0;
	}
	if (waited)
		say_played();
}

static void *tick(void *arg)
{
	for (;;) {
		usleep(33333);
		pthread_mutex_lock(&lock);
		pump(false);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

/* -------------------------------------------------------------------- calls */

static struct object *find(uint32_t handle)
{
	for (unsigned int i = 0; i < OBJECTS; i++)
		if (objects[i].handle == handle)
			return &objects[i];
	return NULL;
}

static const struct rule *refused(uint32_t code)
{
	for (unsigned int i = 0; i < rules; i++)
		if (rule[i].code == code)
			return &rule[i];
	return NULL;
}

static uint32_t alloc(uint32_t *a, uint32_t *params)
{
	const struct rule *r = refused(a[3]);
	struct object *o = find(0), *parent = find(a[1]);

	if (r)
		return r->status;
	if (a[3] == 0x41)
		a[2] = 0xc1d00001;
	else if (!parent)
		return 0x36;
	*o = (struct object){.handle = a[2], .class = a[3], .parent = a[1], .gpu = parent ? parent->gpu : 0};
	if (a[3] == 0x80)
		o->gpu = params[0];
	if (a[3] == 0x90ce) {
		o->size = *(uint64_t *)(params + 16);
		if (o->size > most || params[6] != 1u << 29 || params[7] != 1u << 22) {
			o->handle = 0;
			return 0x51;
		}
	}
	if (a[3] == 0x90cd) {
		struct object *sub = find(params[13]);
		struct log *l;

		/* without a subdevice the driver oopses; a handle that is not registered, too */
		if (!sub || sub->class != 0x2080 || params[10] || params[11] || params[4] != 32)
			abort();
		o->gpu = sub->gpu;
		l = &logs[o->gpu];
		*l = (struct log){.header = find(params[15]),
				  .ring = find(params[16]),
				  .records = params[5],
				  .gone = l->gone,
				  .stalled = l->stalled};
		if (!l->header || !l->header->at || !l->ring || !l->ring->at ||
		    l->ring->size < 32 * l->records)
			abort();
	}
	return 0;
}

/* It goes when all that was before has been read, which a recorder may do late. */
static bool is_gone(const struct log *l)
{
	uint64_t gone = l->on + l->gone;

	if (!l->gone || !l->on || now(CLOCK_MONOTONIC) < gone || l->get != l->put)
		return false;
	for (unsigned int i = 0; i < step_count; i++)
		if (steps[i].what && &logs[steps[i].gpu] == l && l->on + steps[i].us * 1000 < gone)
			return false;
	return true;
}

static uint32_t control(uint32_t *c, uint32_t *params)
{
	const struct rule *r = refused(c[2]);
	struct object *o = find(c[1]);
	struct log *l = o ? &logs[o->gpu] : NULL;

	if (r) {
		if (c[2] == 0x20801238)
			params[5] = r->reason;
		return r->status;
	}
	if (!o)
		return 0x36;
	if (is_gone(l))
		return 0xf;
	switch (c[2]) {
	case 0x205:
		params[2] = params[0] - 0x600;
		params[3] = 0;
		return 0;
	case 0x20801238:
		return find(params[0]) && find(params[0])->class == 0x90cd ? 0 : 0x1f;
	case 0x90cd0101:
		l->enabled = ((char *)params)[0];
		if (l->enabled) {
			l->on = now(CLOCK_MONOTONIC);
			truth("on %u %lu\n", o->gpu, l->on);
		}
		return 0;
	case 0x90cd0102:
		l->get = params[0];
		((volatile uint64_t *)l->header->at)[2] = 0;
		return 0;
	case 0x90cd0104:
		pump(true);
		return 0;
	case 0x20800406: {
		uint64_t *sample = (uint64_t *)(params + 2), before, raw, after, least = UINT64_MAX;

		if (((char *)params)[0] != 3 || ((char *)params)[1] != 1)
			return 0x1f;
		for (int i = 0; i < 5; i++) {
			before = now(CLOCK_MONOTONIC);
			raw = now(CLOCK_MONOTONIC_RAW);
			after = now(CLOCK_MONOTONIC);
			if (after - before < least) {
				least = after - before;
				sample[0] = raw;
				sample[1] = rm_gpu_clock(before + least / 2);
			}
		}
		return 0;
	}
	}
	return 0x56;
}

static uint32_t free_object(uint32_t handle)
{
	struct object *o = find(handle);
	const struct log *l = o ? &logs[o->gpu] : NULL;

	if (!o)
		return 0x36;
	o->handle = 0;
	if (o->class == 0x90cd)
		logs[o->gpu] = (struct log){.dropped = l->dropped, .gone = l->gone, .stalled = l->stalled};
	/* what belongs to it goes with it, but a mapping holds its memory */
	for (unsigned int i = 0; i < OBJECTS; i++)
		if (objects[i].handle && objects[i].parent == handle && !objects[i].mapped)
			free_object(objects[i].handle);
	return 0;
}

static uint32_t map(uint32_t *m)
{
	struct object *o = find(m[2]);
	int fd = (int)m[12];

	if (!o || m[1] != m[0] || !(m[11] & 1) || ftruncate(fd, (off_t)o->size))
		return 0x1f;
	o->at = mmap(NULL, o->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	o->mapped = 1;
	*(uint64_t *)(m + 8) = 0x7000000000ULL + o->handle;
	return 0;
}

static uint32_t unmap(uint32_t *m)
{
	struct object *o = find(m[2]);

	if (!o || *(uint64_t *)(m + 4) != 0x7000000000ULL + o->handle)
		return 0x1f;
	o->mapped = 0;
	return 0;
}

static int answer(unsigned long request, uint32_t *a)
{
	unsigned int number = request & 0xff, size = request >> 16 & 0x3fff;

	switch (number) {
	case 0xd2:
		if (size != 72 || a[0] != '2')
			return EINVAL;
		snprintf((char *)(a + 2), 64, "%s", version);
		return 0;
	case 0xc8:
		for (unsigned int i = 0; i < gpus; i++) {
			char *card = (char *)a + 72 * i;

			card[0] = 1;
			card[8] = (char)(0xc6 + i);
			*(uint32_t *)(card + 16) = 0x600 + i;
			*(uint32_t *)(card + 56) = i;
		}
		return 0;
	case 0x2b:
		a[7] = alloc(a, *(uint32_t **)(a + 4));
		return 0;
	case 0x2a:
		a[7] = control(a, *(uint32_t **)(a + 4));
		return 0;
	case 0x29:
		a[3] = free_object(a[2]);
		return 0;
	case 0x4e:
		a[10] = map(a);
		return 0;
	case 0x4f:
		a[6] = unmap(a);
		return 0;
	}
	return EINVAL;
}

/* --------------------------------------------------------------- the C library */

static int open_nvidia(const char *path)
{
	int fd = memfd_create(path, MFD_CLOEXEC);
	pthread_t t;

	if (fd < 0 || fd >= FILES)
		return fd;
	ours[fd] = 1;
	pthread_mutex_lock(&lock);
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
		if (!strncmp(path, "/dev/nvidia", 11))                                   \
			return open_nvidia(path);                                        \
		if (!next)                                                               \
			next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
		return next(path, flags, mode);                                          \
	}

OPEN(open)
OPEN(open64)

int close(int fd)
{
	static int (*next)(int);

	if (!next)
		next = (int (*)(int))dlsym(RTLD_NEXT, "close");
	if (fd >= 0 && fd < FILES)
		ours[fd] = 0;
	return next(fd);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, void *);
	void *arg;
	va_list a;
	int ret;

	va_start(a, request);
	arg = va_arg(a, void *);
	va_end(a);
	if (fd < 0 || fd >= FILES || !ours[fd]) {
		if (!next)
			next = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
		return next(fd, request, arg);
	}
	pthread_mutex_lock(&lock);
	ret = answer(request, arg);
	pthread_mutex_unlock(&lock);
	errno = ret;
	return ret ? -1 : 0;
}
