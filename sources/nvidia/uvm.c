// SPDX-License-Identifier: GPL-2.0
/*
 * Unified memory of NVIDIA's driver: faults, migrations and thrashing of each program, from the queue that
 * the driver has for tools, without a module and without a change to the programs. A queue belongs to a file
 * of the program, which is found in /proc and duplicated (pidfd_getfd) as soon as it is open, or at the
 * start of the recording.
 *
 * The file keeps the program's memory, so when a program has ended, our duplicate must be closed at once.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/nvidia_devices.h"
#include "host/probe.h"
#include "nv_gpu.h"
#include "nv_uvm.h"
#include "sources/owners.h"
#include "sources/source.h"
#include "trace/packer.h"
#include "uvm_events.h"

/* ---------------------------------------------------------- uvm programs */

/*
 * Programs that use NVIDIA's unified memory: open files /dev/nvidia-uvm of processes, found in /proc, and a
 * watch that reports when a process opens the file.
 */

#define UVM_FILE "/dev/nvidia-uvm"

/* Looks for files of the driver in /proc. */

/* The major number of the driver's files. Return: 0: it is not loaded. */
static uint32_t uvm_major(void)
{
	char text[8192], line[128], name[64];
	const char *at = text;
	uint32_t major;

	if (probe_read(text, sizeof(text), "/proc/devices") <= 0)
		return 0;
	while ((at = probe_line(at, line, sizeof(line))))
		if (sscanf(line, "%u %63s", &major, name) == 2 && !strcmp(name, "nvidia-uvm"))
			return major;
	return 0;
}

/* Return: the number that is the whole name, -1: the name is not a number. */
static long number_of(const char *name)
{
	char *end;
	long n = strtol(name, &end, 10);

	return end > name && !*end && n >= 0 ? n : -1;
}

/*
 * Finds the driver's files that a process has open
 * @meet: called with the number of each descriptor; a result other than 0 ends the call
 * Return: 0 or the result of @meet
 */
static int uvm_files(uint32_t major, uint32_t pid, int (*meet)(void *arg, uint32_t pid, int fd), void *arg)
{
	char path[PROBE_PATH];
	DIR *dir = opendir(probe_path(path, "/proc/%u/fd", pid));
	struct dirent *entry;
	struct stat s;
	int ret = 0;

	while (dir && !ret && (entry = readdir(dir))) {
		long fd = number_of(entry->d_name);

		if (fd >= 0 && !fstatat(dirfd(dir), entry->d_name, &s, 0) && S_ISCHR(s.st_mode) &&
		    major(s.st_rdev) == major && minor(s.st_rdev) != NV_UVM_TOOLS_MINOR)
			ret = meet(arg, pid, (int)fd);
	}
	if (dir)
		closedir(dir);
	return ret;
}

/* As uvm_files(), for all processes except for this one. */
static int uvm_all_files(uint32_t major, int (*meet)(void *arg, uint32_t pid, int fd), void *arg)
{
	char path[PROBE_PATH];
	DIR *dir = opendir(probe_path(path, "/proc"));
	struct dirent *entry;
	int ret = 0;

	while (dir && !ret && (entry = readdir(dir))) {
		long pid = number_of(entry->d_name);

		if (pid > 0 && pid != getpid())
			ret = uvm_files(major, (uint32_t)pid, meet, arg);
	}
	if (dir)
		closedir(dir);
	return ret;
}

/* Duplicates a file of a process. @pidfd: of the process. Return: a descriptor or -errno. */
static int uvm_take_file(int pidfd, int fd)
{
	int ours = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);

	return ours < 0 ? -errno : ours;
}

/*
 * Whether our file is the process's @fd, from the same open(). If the kernel does not tell,
 * it is not
 */
static bool uvm_same_file(int ours, uint32_t pid, int fd)
{
	return syscall(SYS_kcmp, getpid(), (pid_t)pid, KCMP_FILE, (long)ours, (long)fd) == 0;
}

/* A descriptor that becomes readable when the driver's file is opened; -1: there is none. */
static int uvm_watch(void)
{
	char path[PROBE_PATH];
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (watch >= 0 && inotify_add_watch(watch, probe_path(path, UVM_FILE), IN_OPEN) < 0) {
		close(watch);
		return -1;
	}
	return watch;
}

/* Resets it. Return: whether it was readable. */
static bool uvm_watched(int watch)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool was = false;

	while (watch >= 0 && read(watch, buf, sizeof(buf)) > 0)
		was = true;
	return was;
}

/* ------------------------------------------------------------------- uvm */

#define PERIOD_NS 20000000
/* While a program that has opened the driver's file has not set it up. */
#define SOON_NS 2000000
/* Programs younger than this are checked often. */
#define YOUNG_NS (5 * GRT_NS_PER_S)
/* How often processes are checked again. */
#define LOOK_NS GRT_NS_PER_S
/*
 * The driver may report an event this much later than an event that happened after it, because it waits for
 * the GPU, ns.
 */
#define HOLD_NS 300000000ULL
#define RAW_TRIES 5U

/* Entries of a queue, 9 MB: enough for 100 ms of faults. */
#define ENTRIES (1U << 17)
#define PROGRAMS_MAX 64U
#define WAITING_MAX 256U

/* Branches of the driver whose queue was checked. */
#define BRANCH_FIRST 570
#define BRANCH_LAST 595

struct capture;

/**
 * struct program - a program's file
 * @queue: without a target: the element is unused
 * @pidfd: readable when the process has ended
 */
struct program {
	struct capture *capture;
	struct nv_uvm queue;
	struct uvm_place place;
	int pidfd;
};

/** struct waiting - a file that has no address space so far; @pid: 0: the element is unused */
struct waiting {
	uint32_t pid;
	int fd;
	uint64_t since;
};

/**
 * struct gpu_clock - the clock of a GPU that copies
 * @gpu.file: -1: the driver does not show the clock; @uuid: all GPUs have one
 */
struct gpu_clock {
	struct nv_rm_gpu known;
	uint8_t uuid[16];
	bool tried;
	struct nv_gpu gpu;
	struct nv_clock clock;
	char key[32];
	char text[256];
};

/** struct raw_sample - CLOCK_MONOTONIC_RAW and CLOCK_MONOTONIC at one moment, ns */
struct raw_sample {
	uint64_t raw;
	uint64_t monotonic;
};

/** struct counts - sums of all programs so far */
struct counts {
	uint64_t programs;
	uint64_t over;
	uint64_t refused;
	uint32_t refusal;
	uint64_t events;
	uint64_t dropped[NV_UVM_TYPES];
	uint64_t lost;
	uint64_t late;
	uint64_t unknown;
	uint64_t filtered;
	uint64_t clock_error;
};

/** struct capture - the state of this source */
struct capture {
	struct source_setup setup;
	char wanted[16];
	uint32_t major;
	int poll;
	int timer;
	int watch;
	bool soon;
	uint64_t looked;
	uint64_t asked;
	uint64_t sampled;
	struct program program[PROGRAMS_MAX];
	struct nv_uvm spare;
	struct waiting waiting[WAITING_MAX];
	struct nv_rm rm;
	struct gpu_clock gpu[NV_RM_GPUS];
	int gpus;
	struct raw_sample old;
	struct raw_sample next;
	struct raw_sample now;
	struct counts counts;
	struct owners owners;
	struct grt_packer *packer;
	uint64_t horizon;
	bool force;
	bool ended;
	int failed;
	char driver[64];
	char text[512];
};

/* ---------------------------------------------------------------- clocks */

/* The best of a few tries, because an interrupt between two readings moves one. */
static struct raw_sample raw_now(void)
{
	struct raw_sample best = {0};
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < RAW_TRIES; i++) {
		uint64_t before = grt_now(), raw = grt_clock_ns(CLOCK_MONOTONIC_RAW),
			 took = grt_now() - before;

		if (took < least) {
			least = took;
			best = (struct raw_sample){.raw = raw, .monotonic = before + took / 2};
		}
	}
	return best;
}

/* On the line through two samples that are a second apart, or more. */
static uint64_t from_raw(const struct capture *c, uint64_t raw)
{
	int64_t from = (int64_t)(raw - c->now.raw), span = (int64_t)(c->now.raw - c->old.raw);
	int64_t ns = (int64_t)(c->now.monotonic - c->old.monotonic);

	if (span <= 0 || ns <= 0)
		return c->now.monotonic + (uint64_t)from;
	return c->now.monotonic + (uint64_t)(int64_t)((__int128)from * ns / span);
}

static void sample_raw(struct capture *c)
{
	struct raw_sample s = raw_now();
	uint64_t at = c->now.raw ? from_raw(c, s.raw) : s.monotonic;
	uint64_t error = at > s.monotonic ? at - s.monotonic : s.monotonic - at;

	if (!c->now.raw)
		c->old = c->next = s;
	if (error > c->counts.clock_error)
		c->counts.clock_error = error;
	if (s.monotonic - c->next.monotonic >= GRT_NS_PER_S) {
		c->old = c->next;
		c->next = s;
	}
	c->now = s;
}

static void sample_clocks(struct capture *c)
{
	c->sampled = grt_now();
	sample_raw(c);
	for (int i = 0; i < c->gpus; i++)
		if (c->gpu[i].gpu.file >= 0)
			nv_clock_take(&c->gpu[i].clock, &c->gpu[i].gpu);
}

static struct gpu_clock *clock_of(struct capture *c, uint32_t device)
{
	for (int i = 0; i < c->gpus; i++)
		if ((NVIDIA_MAJOR << 20 | c->gpu[i].known.minor) == device)
			return &c->gpu[i];
	return NULL;
}

/* Opens a GPU's clock with the first program that uses the GPU; an unused GPU is left alone. */
static void open_clock(struct capture *c, struct gpu_clock *g)
{
	struct grt_err err;

	if (g->tried)
		return;
	g->tried = true;
	if (nv_gpu_open(&g->gpu, &c->rm, &g->known, &err) || nv_clock_take(&g->clock, &g->gpu))
		nv_gpu_close(&g->gpu);
}

static uint64_t place_time(void *arg, uint64_t raw)
{
	return from_raw(arg, raw);
}

static uint64_t place_gpu_time(void *arg, uint32_t device, uint64_t gpu)
{
	const struct gpu_clock *g = clock_of(arg, device);

	return g && gpu && g->gpu.file >= 0 ? nv_clock_monotonic(&g->clock, gpu) : 0;
}

/* ------------------------------------------------------------- processors */

/* "GPU-a5b0c36a-b698-9685-7ed4-d1714d6e7141" */
static void parse_uuid(const char *text, uint8_t uuid[16])
{
	unsigned int n = 0, value;

	memset(uuid, 0, 16);
	for (text = strncmp(text, "GPU-", 4) ? "" : text + 4; n < 16 && sscanf(text, "%2x", &value) == 1;
	     n++) {
		uuid[n] = (uint8_t)value;
		text += 2 + (text[2] == '-');
	}
}

static void list_gpus(struct capture *c)
{
	struct nv_rm_gpu gpu[NV_RM_GPUS];
	struct grt_err err;
	char text[64];

	c->gpus = nv_rm_gpus(&c->rm, gpu, &err);
	for (int i = 0; i < c->gpus; i++) {
		struct gpu_clock *g = &c->gpu[i];

		*g = (struct gpu_clock){.known = gpu[i], .gpu.file = -1};
		nvidia_device_uuid(NVIDIA_MAJOR << 20 | gpu[i].minor, text, sizeof(text));
		parse_uuid(text, g->uuid);
	}
}

static uint32_t device_of_uuid(struct capture *c, uint32_t number, const uint8_t uuid[16])
{
	static const uint8_t none[16];

	if (!number)
		return 0;
	if (!memcmp(uuid, none, 16))
		return UINT32_MAX;
	for (int i = 0; i < c->gpus; i++)
		if (!memcmp(uuid, c->gpu[i].uuid, 16))
			return NVIDIA_MAJOR << 20 | c->gpu[i].known.minor;
	return NVIDIA_MAJOR << 20 | UVM_OTHER_GPU | number;
}

static int name_gpu(struct capture *c, uint32_t device, const uint8_t uuid[16])
{
	char name[64];

	if (device & UVM_OTHER_GPU)
		snprintf(name, sizeof(name),
			 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", uuid[0],
			 uuid[1], uuid[2], uuid[3], uuid[4], uuid[5], uuid[6], uuid[7], uuid[8], uuid[9],
			 uuid[10], uuid[11], uuid[12], uuid[13], uuid[14], uuid[15]);
	else
		nvidia_device_name(device, name, sizeof(name));
	return grt_packer_name(c->packer, 0, grt_now(), GRT_NAME_DEVICE, device, name, "nvidia");
}

/* A program may come to use further GPUs. */
static int ask_processors(struct capture *c, struct program *p)
{
	uint8_t uuid[NV_UVM_PROCESSORS][16];
	int ret = 0;

	if (nv_uvm_uuids(&p->queue, uuid))
		return 0;
	for (uint32_t i = 0; i < NV_UVM_PROCESSORS && !ret; i++) {
		uint32_t device = device_of_uuid(c, i, uuid[i]);
		struct gpu_clock *g = clock_of(c, device);

		if (p->place.device[i] != UINT32_MAX || device == UINT32_MAX)
			continue;
		p->place.device[i] = device;
		if (g)
			open_clock(c, g);
		if (device)
			ret = name_gpu(c, device, uuid[i]);
	}
	return ret;
}

/* ----------------------------------------------------------------- events */

static bool wants_event(const struct capture *c, const struct grt_event *e)
{
	const struct grt_ev_uvm_migration *m = (const struct grt_ev_uvm_migration *)e;
	const struct known_gpu *wanted = c->setup.gpu;

	if (!grt_types_empty(&c->setup.types) && !grt_types_has(&c->setup.types, e->type))
		return false;
	return known_gpu_has(wanted, e->device) ||
	       (e->type == GRT_EV_UVM_MIGRATION &&
		(known_gpu_has(wanted, m->to_device) || known_gpu_has(wanted, m->from_device)));
}

static int put_event(struct capture *c, const struct grt_event *e)
{
	int ret;

	if (!wants_event(c, e)) {
		c->counts.filtered++;
		return 0;
	}
	ret = grt_packer_add(c->packer, 0, e);
	if (ret == -ERANGE) {
		c->counts.late++;
		return 0;
	}
	return ret;
}

static int take_entry(void *arg, const union nv_uvm_entry *entry)
{
	struct program *p = arg;
	struct capture *c = p->capture;
	union uvm_event ev;
	uint16_t number[2];
	unsigned int n = uvm_entry_processors(entry, number);
	int ret = 0;

	while (n-- && !ret)
		if (number[n] < NV_UVM_PROCESSORS && p->place.device[number[n]] == UINT32_MAX)
			ret = ask_processors(c, p);
	if (ret)
		return ret;
	c->counts.events++;
	if (uvm_event_make(&p->place, entry, &ev))
		return put_event(c, &ev.e);
	c->counts.unknown++;
	return 0;
}

/* --------------------------------------------------------------- programs */

static int poll_add(struct capture *c, int fd)
{
	struct epoll_event e = {.events = EPOLLIN};

	return epoll_ctl(c->poll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static int set_timer(struct capture *c, bool soon)
{
	const struct itimerspec t = {
		.it_value.tv_nsec = soon ? SOON_NS : PERIOD_NS,
		.it_interval.tv_nsec = soon ? SOON_NS : PERIOD_NS,
	};

	c->soon = soon;
	return timerfd_settime(c->timer, 0, &t, NULL) ? -errno : 0;
}

static struct program *known_program(struct capture *c, uint32_t pid, int fd)
{
	for (unsigned int i = 0; i < PROGRAMS_MAX; i++)
		if (c->program[i].queue.target >= 0 && uvm_same_file(c->program[i].queue.target, pid, fd))
			return &c->program[i];
	return NULL;
}

static struct program *free_program(struct capture *c)
{
	for (unsigned int i = 0; i < PROGRAMS_MAX; i++)
		if (c->program[i].queue.target < 0)
			return &c->program[i];
	return NULL;
}

static struct waiting *waiting_of(struct capture *c, uint32_t pid, int fd)
{
	for (unsigned int i = 0; i < WAITING_MAX; i++)
		if (c->waiting[i].pid == pid && (!pid || c->waiting[i].fd == fd))
			return &c->waiting[i];
	return NULL;
}

static bool has_program(const struct capture *c, uint32_t pid)
{
	for (unsigned int i = 0; i < PROGRAMS_MAX; i++)
		if (c->program[i].queue.target >= 0 && c->program[i].place.pid == pid)
			return true;
	return false;
}

/*
 * The file has no address space yet. It may never get one, if it is the second file of a program, or get it
 * soon, if the program has just begun.
 */
static void let_wait(struct capture *c, uint32_t pid, int fd)
{
	struct waiting *w = waiting_of(c, pid, fd) ?: waiting_of(c, 0, 0);

	if (w && !w->pid)
		*w = (struct waiting){.pid = pid, .fd = fd, .since = has_program(c, pid) ? 0 : grt_now()};
}

static void refuse_program(struct capture *c, uint32_t pid, int fd, uint32_t status)
{
	char text[128];

	let_wait(c, pid, fd);
	if (c->counts.refusal == status)
		return;
	c->counts.refused++;
	c->counts.refusal = status;
	if (!c->setup.note)
		return;
	snprintf(text, sizeof(text),
		 "no events of the unified memory of PID %u: NVIDIA's driver refused (status 0x%x)", pid,
		 status);
	c->setup.note(text);
}

/* Return: 0, 1: the driver refused, or -errno */
static int begin_program(struct capture *c, struct program *p, uint32_t pid, int fd, int pidfd)
{
	uint32_t status;

	p->capture = c;
	p->queue = c->spare;
	p->pidfd = pidfd;
	c->spare = (struct nv_uvm){.file = -1, .target = -1};
	p->place = (struct uvm_place){.pid = pid, .time = place_time, .gpu_time = place_gpu_time, .arg = c};
	memset(p->place.device, 0xff, sizeof(p->place.device));
	status = nv_uvm_on(&p->queue);
	if (status) {
		refuse_program(c, pid, fd, status);
		nv_uvm_close(&p->queue);
		return 1;
	}
	c->counts.programs++;
	poll_add(c, p->queue.file);
	poll_add(c, pidfd);
	return ask_processors(c, p);
}

static void add_lost(struct capture *c, struct program *p)
{
	c->counts.lost += nv_uvm_lost(&p->queue);
	for (unsigned int i = 0; i < NV_UVM_TYPES; i++)
		c->counts.dropped[i] += p->queue.dropped[i];
}

static void end_program(struct capture *c, struct program *p)
{
	add_lost(c, p);
	close(p->pidfd);
	nv_uvm_close(&p->queue);
}

/* Duplicates the file, and makes a queue for it. Return: 0, 1: it has no events for us, or -errno */
static int try_file(struct capture *c, uint32_t pid, int fd, int pidfd)
{
	struct program *p = free_program(c);
	int ours = p ? uvm_take_file(pidfd, fd) : -1, ret = 0;
	uint32_t status;

	if (!p)
		c->counts.over++;
	if (ours < 0)
		return 1;
	if (c->spare.file < 0)
		ret = nv_uvm_new(&c->spare, ENTRIES);
	if (ret) {
		nv_uvm_close(&c->spare);
		close(ours);
		return ret;
	}
	status = nv_uvm_bind(&c->spare, ours);
	if (!status)
		return begin_program(c, p, pid, fd, pidfd);
	close(ours);
	if (status == NV_UVM_NOT_YET)
		let_wait(c, pid, fd);
	else
		refuse_program(c, pid, fd, status);
	return 1;
}

static bool is_wanted(const struct capture *c, uint32_t pid)
{
	char comm[32];

	if (c->setup.pid && (uint32_t)c->setup.pid != pid)
		return false;
	return !c->wanted[0] ||
	       (probe_read(comm, sizeof(comm), "/proc/%u/comm", pid) > 0 && !strcmp(comm, c->wanted));
}

/* Reads the names that the program and its threads have now. */
static int name_program(struct capture *c, uint32_t pid)
{
	char comm[32];
	int ret = 0;

	if (probe_read(comm, sizeof(comm), "/proc/%u/comm", pid) > 0)
		ret = grt_packer_name(c->packer, 0, grt_now(), GRT_NAME_THREAD, pid, comm, comm);
	return ret ?: owners_add(&c->owners, c->packer, 0, grt_now(), pid);
}

static int uvm_note_file(void *arg, uint32_t pid, int fd)
{
	struct capture *c = arg;
	struct waiting *w;
	int pidfd, ret;

	if (!is_wanted(c, pid) || known_program(c, pid, fd))
		return 0;
	pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (pidfd < 0)
		return 0;
	ret = try_file(c, pid, fd, pidfd);
	w = waiting_of(c, pid, fd);
	if (ret <= 0 && w)
		w->pid = 0;
	if (ret > 0)
		close(pidfd);
	return ret > 0 ? 0 : ret ? ret : name_program(c, pid);
}

static int look_around(struct capture *c)
{
	c->looked = grt_now();
	if (c->setup.pid)
		return uvm_files(c->major, (uint32_t)c->setup.pid, uvm_note_file, c);
	return uvm_all_files(c->major, uvm_note_file, c);
}

/* Checks programs again that began to use the driver a moment ago. */
static int look_again(struct capture *c, uint64_t now, bool *young)
{
	int ret = 0;

	for (unsigned int i = 0; i < WAITING_MAX && !ret; i++) {
		struct waiting *w = &c->waiting[i];

		if (!w->pid)
			continue;
		if (!probe_exists("/proc/%u/fd/%d", w->pid, w->fd))
			w->pid = 0;
		else if (has_program(c, w->pid))
			w->since = 0;
		else if (now - w->since < YOUNG_NS)
			ret = uvm_note_file(c, w->pid, w->fd);
		*young |= w->pid && now - w->since < YOUNG_NS;
	}
	return ret;
}

static int look_for_programs(struct capture *c)
{
	uint64_t now = grt_now();
	bool opened = uvm_watched(c->watch), young = false;
	int ret = 0;

	if (opened || now - c->looked >= LOOK_NS)
		ret = look_around(c);
	if (!ret)
		ret = look_again(c, now, &young);
	if (!ret && young != c->soon)
		ret = set_timer(c, young);
	return ret;
}

/* ---------------------------------------------------------------- reading */

static bool has_ended(const struct program *p)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

/* Makes the driver deliver its events; once for all programs. */
static void ask_driver(struct capture *c, bool now)
{
	if (!now && grt_now() - c->asked < PERIOD_NS / 2)
		return;
	for (unsigned int i = 0; i < PROGRAMS_MAX; i++) {
		if (c->program[i].queue.target >= 0 && !nv_uvm_flush(&c->program[i].queue)) {
			c->asked = grt_now();
			return;
		}
	}
}

static bool any_entries(const struct capture *c)
{
	for (unsigned int i = 0; i < PROGRAMS_MAX; i++)
		if (c->program[i].queue.target >= 0 && nv_uvm_ready(&c->program[i].queue))
			return true;
	return false;
}

static int read_program(struct program *p)
{
	return p->queue.target < 0 ? 0 : nv_uvm_read(&p->queue, take_entry, p);
}

/* Reads all events. Clocks are read after them, so that times are between two samples of the clocks. */
static int read_programs(struct capture *c, bool now)
{
	int ret = 0;

	ask_driver(c, now);
	if (any_entries(c) || grt_now() - c->sampled >= GRT_NS_PER_S)
		sample_clocks(c);
	for (unsigned int i = 0; i < PROGRAMS_MAX && !ret; i++)
		ret = read_program(&c->program[i]);
	return ret;
}

static int end_programs(struct capture *c)
{
	int ret = 0;

	for (unsigned int i = 0; i < PROGRAMS_MAX && !ret; i++) {
		struct program *p = &c->program[i];

		if (p->queue.target < 0 || !has_ended(p))
			continue;
		nv_uvm_flush(&p->queue);
		sample_clocks(c);
		ret = read_program(p);
		end_program(c, p);
	}
	return ret;
}

static int uvm_tick(struct capture *c)
{
	int ret = look_for_programs(c);

	if (!ret)
		ret = read_programs(c, false);
	if (!ret)
		ret = end_programs(c);
	c->horizon = grt_now() - HOLD_NS;
	return ret;
}

static uint64_t lost_so_far(struct capture *c)
{
	uint64_t lost = c->counts.lost + c->counts.late;

	for (unsigned int i = 0; i < PROGRAMS_MAX; i++)
		if (c->program[i].queue.target >= 0)
			lost += nv_uvm_lost(&c->program[i].queue);
	return lost;
}

/* ----------------------------------------------------------------- set-up */

/* Newer branches may have another layout of entries; older ones may lack it. */
static int check_version(char *version, size_t room, struct grt_err *err)
{
	int ret = nv_rm_version(version, room, err);
	unsigned long branch = ret ? 0 : strtoul(version, NULL, 10);

	if (ret || (branch >= BRANCH_FIRST && branch <= BRANCH_LAST))
		return ret;
	return grt_err_set(err, -EOPNOTSUPP,
			   "its queue of events of unified memory was checked with 570 to 595 only",
			   "grtrace record -e cuda", "NVIDIA's driver has version %s", version);
}

static int check_tools(struct nv_uvm *q, struct grt_err *err)
{
	int ret = nv_uvm_new(q, ENTRIES);

	if (!ret)
		return 0;
	nv_uvm_close(q);
	return grt_err_set(err, ret, strerror(-ret),
			   ret == -ENOENT ? "sudo nvidia-modprobe -u -c 0" : "the same command with sudo",
			   "cannot open %s", NV_UVM_TOOLS_FILE);
}

static int check_system(struct capture *c, struct grt_err *err)
{
	int ret = nvidia_loaded(err);

	if (!ret)
		ret = check_version(c->driver, sizeof(c->driver), err);
	c->major = uvm_major();
	if (!ret && !c->major)
		ret = grt_err_set(err, -ENODEV, "no line of /proc/devices is nvidia-uvm",
				  probe_load_fix("sudo modprobe nvidia-uvm"),
				  "NVIDIA's driver for unified memory is not loaded");
	if (!ret && geteuid())
		ret = grt_err_set(err, -EACCES, "only root may take files of other programs",
				  "the same command with sudo", "no events of unified memory");
	return ret ? ret : check_tools(&c->spare, err);
}

static int uvm_probe(struct grt_err *err)
{
	struct capture c = {.spare = {.file = -1, .target = -1}};
	int ret = check_system(&c, err);

	nv_uvm_close(&c.spare);
	return ret;
}

static void make_empty(struct capture *c)
{
	c->poll = c->timer = c->watch = -1;
	c->rm.fd = -1;
	c->spare = (struct nv_uvm){.file = -1, .target = -1};
	for (unsigned int i = 0; i < PROGRAMS_MAX; i++)
		c->program[i].queue = c->spare;
}

static int open_descriptors(struct capture *c, struct grt_err *err)
{
	int ret;

	c->poll = epoll_create1(EPOLL_CLOEXEC);
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ret = c->poll < 0 || c->timer < 0 ? -errno : poll_add(c, c->timer);
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL,
				   "cannot wait for events of unified memory");
	c->watch = uvm_watch();
	if (c->watch >= 0)
		poll_add(c, c->watch);
	return 0;
}

static int uvm_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int ret;

	*state = c;
	if (!c || grt_packer_new(&c->packer, 1))
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for events of unified memory");
	make_empty(c);
	c->setup = *setup;
	if (setup->comm)
		snprintf(c->wanted, sizeof(c->wanted), "%s", setup->comm);
	ret = check_system(c, err);
	if (!ret)
		ret = open_descriptors(c, err);
	if (!ret)
		ret = nv_rm_open(&c->rm, err);
	if (!ret)
		list_gpus(c);
	return ret;
}

static int uvm_fail(int ret, struct grt_err *err)
{
	return grt_err_set(err, ret, strerror(-ret), "dmesg | grep nvidia-uvm",
			   "cannot read events of unified memory");
}

static int uvm_start(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret;

	sample_raw(c);
	ret = look_around(c);
	if (!ret)
		ret = set_timer(c, false);
	return ret ? uvm_fail(ret, err) : 0;
}

static int uvm_confine(void *state, uint64_t *keep, struct grt_err *err)
{
	/* needed to inspect processes that begin later, and to duplicate their files */
	*keep |= 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH;
	return 0;
}

/* ---------------------------------------------------------------- streams */

static unsigned int uvm_streams(void *state, struct pollfd *fds)
{
	fds[0] = (struct pollfd){.fd = ((struct capture *)state)->poll, .events = POLLIN};
	return 1;
}

/*
 * Whichever descriptor woke the thread, all programs are checked; the number of expirations does not matter.
 */
static bool was_woken(struct capture *c)
{
	struct epoll_event e;
	uint64_t ticks;

	return epoll_wait(c->poll, &e, 1, 0) > 0 &&
	       (read(c->timer, &ticks, sizeof(ticks)) > 0 || errno == EAGAIN);
}

/* Events from before the queue failed are delivered first. */
static ssize_t uvm_read(void *state, unsigned int i, void *buf, size_t len)
{
	struct capture *c = state;
	struct grt_packer_counts counts;
	enum grt_pack pack;
	size_t n;

	if (!c->ended && was_woken(c)) {
		c->failed = uvm_tick(c);
		c->ended = c->failed;
	}
	counts = (struct grt_packer_counts){.filtered = c->counts.filtered, .lost = lost_so_far(c)};
	pack = c->ended ? GRT_PACK_ALL : c->force ? GRT_PACK_NOW : GRT_PACK_ENOUGH;
	n = grt_packer_read(c->packer, i, buf, len, c->horizon, pack, &counts);
	if (!n)
		c->force = false;
	return n ? (ssize_t)n : c->ended ? c->failed : -EAGAIN;
}

static int uvm_flush(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret = c->ended ? 0 : read_programs(c, true);

	if (ret)
		return uvm_fail(ret, err);
	c->horizon = grt_now();
	c->force = true;
	return 0;
}

static int uvm_stop(void *state, struct grt_err *err)
{
	const struct itimerspec soon = {.it_value.tv_nsec = 1};
	struct capture *c = state;
	int ret = c->ended ? 0 : read_programs(c, true);

	for (unsigned int i = 0; i < PROGRAMS_MAX; i++) {
		struct program *p = &c->program[i];

		if (p->queue.target < 0)
			continue;
		nv_uvm_off(&p->queue);
		if (!ret)
			ret = read_program(p);
		end_program(c, p);
	}
	c->ended = true;
	if (timerfd_settime(c->timer, 0, &soon, NULL) && !ret)
		ret = -errno;
	return ret ? uvm_fail(ret, err) : 1;
}

/* -------------------------------------------------------------- recording */

static void describe_counts(struct capture *c)
{
	static const char *const types[NV_UVM_EVENTS] = {
		NULL,	     "cpu_fault",  "migration",	      "gpu_fault",	"replay",
		"overflow",  "fatal",	   "read_duplicate",  "duplicate_ends", "page_size",
		"thrashing", "throttling", "throttling_ends", "map_remote",	"eviction",
	};
	int n = snprintf(
		c->text, sizeof(c->text),
		"programs=%llu over=%llu refused=%llu refusal=0x%x entries=%llu unknown=%llu late=%llu "
		"clock_error_ns=%llu dropped=%llu",
		(unsigned long long)c->counts.programs, (unsigned long long)c->counts.over,
		(unsigned long long)c->counts.refused, c->counts.refusal,
		(unsigned long long)c->counts.events, (unsigned long long)c->counts.unknown,
		(unsigned long long)c->counts.late, (unsigned long long)c->counts.clock_error,
		(unsigned long long)c->counts.lost);

	for (unsigned int i = 1; i < NV_UVM_EVENTS && n < (int)sizeof(c->text); i++)
		if (c->counts.dropped[i])
			n += snprintf(c->text + n, sizeof(c->text) - (size_t)n, " dropped_%s=%llu", types[i],
				      (unsigned long long)c->counts.dropped[i]);
}

static void describe_clock(struct gpu_clock *g)
{
	char name[32], uuid[64];
	uint32_t device = NVIDIA_MAJOR << 20 | g->known.minor;

	nvidia_device_name(device, name, sizeof(name));
	nvidia_device_uuid(device, uuid, sizeof(uuid));
	snprintf(g->key, sizeof(g->key), "uvm_gpu%u", g->known.minor);
	snprintf(g->text, sizeof(g->text), "%s %s: clock_error_ns=%llu clock_drift_ppm=%.3f", name, uuid,
		 (unsigned long long)g->clock.error, nv_clock_drift_ppm(&g->clock));
}

static int uvm_describe(void *state, struct grt_env *env, int room)
{
	struct capture *c = state;
	int n = 0;

	describe_counts(c);
	if (n < room)
		env[n++] = (struct grt_env){"uvm_driver", c->driver};
	if (n < room)
		env[n++] = (struct grt_env){"uvm_queue", c->text};
	for (int i = 0; i < c->gpus && n < room; i++) {
		if (c->gpu[i].gpu.file < 0)
			continue;
		describe_clock(&c->gpu[i]);
		env[n++] = (struct grt_env){c->gpu[i].key, c->gpu[i].text};
	}
	return n;
}

static int uvm_close(void *state, struct grt_err *err)
{
	struct capture *c = state;

	if (!c)
		return 0;
	for (unsigned int i = 0; i < PROGRAMS_MAX && c->packer; i++)
		if (c->program[i].queue.target >= 0)
			end_program(c, &c->program[i]);
	nv_uvm_close(&c->spare);
	for (int i = 0; i < c->gpus; i++)
		nv_gpu_close(&c->gpu[i].gpu);
	nv_rm_close(&c->rm);
	if (c->watch >= 0)
		close(c->watch);
	if (c->timer >= 0)
		close(c->timer);
	if (c->poll >= 0)
		close(c->poll);
	grt_packer_free(c->packer);
	free(c);
	return 0;
}

const struct source source_uvm = {
	.name = "uvm",
	.by_name = true,
	.probe = uvm_probe,
	.open = uvm_open,
	.start = uvm_start,
	.confine = uvm_confine,
	.streams = uvm_streams,
	.flush = uvm_flush,
	.read = uvm_read,
	.stop = uvm_stop,
	.describe = uvm_describe,
	.close = uvm_close,
};
