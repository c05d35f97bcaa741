// SPDX-License-Identifier: GPL-2.0
/*
 * Threads on and off the CPU, of the started program or of one process. The waker shows for what a thread
 * waited; if it does not, the system call does.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/containers.h"
#include "sources/bpf/bpf.h"
#include "sources/bpf/shared.h"
#include "base/clock.h"
#include "host/nvidia_devices.h"
#include "host/pid_ns.h"
#include "host/read_all.h"

/* ---------------------------------------------------------------- wakers */

/*
 * A function ends where the next one begins: /proc/kallsyms has no sizes, and the
 * functions of a module are in no order.
 */

/* Code after the last function of a module may be far away. */
#define CODE_MAX 16384U

static const struct {
	const char *function;
	uint32_t cause;
} rows[] = {
#define GRT_WAKE_INTERRUPT BPF_IN_INTERRUPT
#define WAKER_FUNCTION(name, CAUSE) {#name, GRT_WAKE_##CAUSE},
#include "sources/bpf/bpf_wakers.def"
#undef WAKER_FUNCTION
#undef GRT_WAKE_INTERRUPT
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

_Static_assert(ROWS < BPF_WAKERS, "the programs have a row without a size at the end");

/** struct code_map - the addresses at which the kernel's functions begin */
struct code_map {
	uint64_t *start;
	uint32_t used, room;
};

/* ADDRESS TYPE NAME [MODULE]; several functions may have the same name */
static void grt_bpf_wakers_take(struct grt_bpf_code *code, unsigned int *n, uint64_t start, const char *name)
{
	for (unsigned int i = 0; i < ROWS && *n < BPF_WAKERS - 1; i++)
		if (!strcmp(rows[i].function, name))
			code[(*n)++] = (struct grt_bpf_code){start, CODE_MAX, rows[i].cause};
}

static unsigned int grt_bpf_wakers_read(struct grt_bpf_code *code, struct code_map *map)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], *at, *name;
	unsigned int n = 0;
	uint64_t start;

	while (f && fgets(line, sizeof(line), f)) {
		start = strtoull(line, &at, 16);
		if (!start || at[0] != ' ' || !at[1] || !strchr("tTwW", at[1]) || at[2] != ' ')
			continue;
		name = at + 3;
		name[strcspn(name, " \t\n")] = '\0';
		grt_bpf_wakers_take(code, &n, start, name);
		if (grt_grow(&map->start, &map->room, map->used + 1, 65536))
			break;
		map->start[map->used++] = start;
	}
	if (f)
		fclose(f);
	return n;
}

/**
 * bpf_wakers_find - the functions that exist here, from /proc/kallsyms; none if that file hides
 * addresses
 */
static void bpf_wakers_find(struct grt_bpf_code code[BPF_WAKERS])
{
	struct code_map map = {.used = 0};
	unsigned int n = grt_bpf_wakers_read(code, &map);

	for (uint32_t i = 0; i < map.used; i++)
		for (unsigned int k = 0; k < n; k++)
			if (map.start[i] - code[k].start - 1 < code[k].size - 1)
				code[k].size = (uint32_t)(map.start[i] - code[k].start);
	free(map.start);
}

/* ---------------------------------------------------------------- source */

#ifdef GRT_HAVE_BPF
#include <bpf/bpf.h>
#endif

/* Samples of running threads per second: not a divisor of frequencies at which programs often do things. */
#define FREQUENCY 499
#define FREQUENCY_MAX 100000

static uint64_t sched_frequency = FREQUENCY;

static const struct cmd_opt options[] = {
	{"frequency", 'F', OPT_U64, "HZ", &sched_frequency,
	 "sched: samples per second and CPU; 0: none (default: 499)"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static const char *sched_refuse(const struct source_setup *setup)
{
	return sched_frequency > FREQUENCY_MAX ? "--frequency: at most 100000 samples a second" : NULL;
}

/* The major number of the kernel's DRM devices, always the same. */
#define DRM_MAJOR 226

/* The kernel's task states that are needed here. */
#define STATE_INTERRUPTIBLE 1U
#define STATE_UNINTERRUPTIBLE 2U
#define STATE_STOPPED 4U
#define STATE_TRACED 8U

static const char *const objects[] = {"sched", NULL};

/* ------------------------------------------------------------- reasons */

#define IO GRT_THREAD_IO
#define LOCK GRT_THREAD_LOCK
#define SLEEP GRT_THREAD_SLEEP
#define CHILD GRT_THREAD_CHILD

/* The state of a thread that sleeps in a system call; GRT_THREAD_OTHER for calls that are not listed. */
static const uint8_t waits[] = {
	[SYS_read] = IO,
	[SYS_write] = IO,
	[SYS_pread64] = IO,
	[SYS_pwrite64] = IO,
	[SYS_readv] = IO,
	[SYS_writev] = IO,
	[SYS_preadv] = IO,
	[SYS_pwritev] = IO,
	[SYS_preadv2] = IO,
	[SYS_pwritev2] = IO,
	[SYS_sendfile] = IO,
	[SYS_splice] = IO,
	[SYS_tee] = IO,
	[SYS_vmsplice] = IO,
	[SYS_copy_file_range] = IO,
	[SYS_ppoll] = IO,
	[SYS_pselect6] = IO,
	[SYS_epoll_pwait] = IO,
	[SYS_epoll_pwait2] = IO,
	[SYS_io_getevents] = IO,
	[SYS_io_pgetevents] = IO,
	[SYS_io_submit] = IO,
	[SYS_io_uring_enter] = IO,
	[SYS_accept] = IO,
	[SYS_accept4] = IO,
	[SYS_connect] = IO,
	[SYS_recvfrom] = IO,
	[SYS_recvmsg] = IO,
	[SYS_recvmmsg] = IO,
	[SYS_sendto] = IO,
	[SYS_sendmsg] = IO,
	[SYS_sendmmsg] = IO,
	[SYS_msgrcv] = IO,
	[SYS_msgsnd] = IO,
	[SYS_mq_timedreceive] = IO,
	[SYS_mq_timedsend] = IO,
	[SYS_openat] = IO,
	[SYS_openat2] = IO,
	[SYS_close] = IO,
	[SYS_fsync] = IO,
	[SYS_fdatasync] = IO,
	[SYS_sync] = IO,
	[SYS_syncfs] = IO,
	[SYS_sync_file_range] = IO,
	[SYS_msync] = IO,
	[SYS_fallocate] = IO,
	[SYS_ftruncate] = IO,
	[SYS_truncate] = IO,
	[SYS_readahead] = IO,
	[SYS_fadvise64] = IO,
	[SYS_getdents64] = IO,
	[SYS_fstat] = IO,
	[SYS_newfstatat] = IO,
	[SYS_statx] = IO,
	[SYS_faccessat] = IO,
	[SYS_renameat] = IO,
	[SYS_renameat2] = IO,
	[SYS_unlinkat] = IO,
	[SYS_mkdirat] = IO,
	[SYS_execve] = IO,
	[SYS_execveat] = IO,
	[SYS_futex] = LOCK,
#ifdef SYS_open /* only calls that Linux has had for long on this machine; newer machines only have variants \
		   with a directory */
	[SYS_poll] = IO,
	[SYS_select] = IO,
	[SYS_epoll_wait] = IO,
	[SYS_open] = IO,
	[SYS_getdents] = IO,
	[SYS_stat] = IO,
	[SYS_lstat] = IO,
	[SYS_access] = IO,
	[SYS_rename] = IO,
	[SYS_unlink] = IO,
	[SYS_mkdir] = IO,
	[SYS_rmdir] = IO,
	[SYS_vfork] = CHILD,
#endif
#ifdef SYS_futex_waitv
	[SYS_futex_waitv] = LOCK,
#endif
	[SYS_flock] = LOCK,
	[SYS_fcntl] = LOCK,
	[SYS_semop] = LOCK,
	[SYS_semtimedop] = LOCK,
	/* the memory map's own lock */
	[SYS_mmap] = LOCK,
	[SYS_munmap] = LOCK,
	[SYS_mprotect] = LOCK,
	[SYS_brk] = LOCK,
	[SYS_nanosleep] = SLEEP,
	[SYS_clock_nanosleep] = SLEEP,
	[SYS_wait4] = CHILD,
	[SYS_waitid] = CHILD,
};

/* The state of a thread that the kernel wakes for this cause. */
static const uint8_t causes[] = {
	[GRT_WAKE_DRIVER] = GRT_THREAD_GPU,
	[GRT_WAKE_FENCE] = GRT_THREAD_GPU,
	[GRT_WAKE_DISPLAY] = GRT_THREAD_DISPLAY,
};

#undef IO
#undef LOCK
#undef SLEEP
#undef CHILD

static uint16_t reason_by_call(uint32_t state, int32_t call)
{
	if (call >= 0 && (size_t)call < sizeof(waits) && waits[call])
		return waits[call];
	/* in no system call, and not to be interrupted: the thread waits for memory that it has touched */
	return call < 0 && state & STATE_UNINTERRUPTIBLE ? GRT_THREAD_IO : GRT_THREAD_OTHER;
}

/*
 * The thread was in an ioctl on a GPU's file, or that file was among the files of its poll. In the first
 * case, another thread had what it needed. In the second case, it may have waited for another file: it is
 * known what DRM wakes, but not what other drivers wake.
 */
static uint16_t reason_by_file(const struct grt_ev_asleep *a)
{
	if (a->call == SYS_ioctl)
		return a->by == GRT_WAKER_THREAD ? GRT_THREAD_LOCK : GRT_THREAD_GPU;
	if (!a->by)
		return GRT_THREAD_GPU;
	if (a->cause == GRT_WAKE_TIMER)
		return GRT_THREAD_SLEEP;
	return a->by == GRT_WAKER_THREAD || a->e.device >> 20 == DRM_MAJOR ? GRT_THREAD_IO : GRT_THREAD_GPU;
}

static uint16_t sched_reason_of(const struct grt_ev_asleep *a)
{
	uint16_t reason;

	if (a->state & (STATE_STOPPED | STATE_TRACED))
		return GRT_THREAD_OTHER;
	if (a->cause < sizeof(causes) && causes[a->cause])
		return causes[a->cause];
	if (a->reason == GRT_THREAD_GPU)
		return reason_by_file(a);
	if (a->cause == GRT_WAKE_TIMER && a->call >= 0)
		return GRT_THREAD_SLEEP;
	if (a->reason)
		return a->reason;
	reason = reason_by_call(a->state, a->call);
	/* a parent learns of the end of a child by its signal */
	return a->cause == GRT_WAKE_EXIT && reason == GRT_THREAD_OTHER ? GRT_THREAD_CHILD : reason;
}

static void sched_complete(struct grt_event *e)
{
	struct grt_ev_asleep *a = (struct grt_ev_asleep *)e;

	if (e->type == GRT_EV_ASLEEP)
		a->reason = sched_reason_of(a);
}

static void sched_configure(struct grt_bpf_config *config)
{
	unsigned int n = nvidia_majors(config->majors, BPF_MAJORS - 2), major;
	char name[64], line[128];
	FILE *f = fopen("/proc/devices", "re");

	bpf_wakers_find(config->wakers);
	config->majors[n++] = DRM_MAJOR;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%u %63s", &major, name) == 2 && !strcmp(name, "kfd"))
			config->majors[n] = major;
	if (f)
		fclose(f);
}

#ifdef GRT_HAVE_BPF

/* ------------------------------------------------- threads that are there already */

/* Reads the first line of a file of /proc/PID/task/TID; empty if there is none. */
static void read_task(pid_t pid, pid_t tid, const char *file, char *line, size_t room)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
	read_line(path, line, room);
}

/* Whether the thread is off the CPU and not ready to run, and its state then. */
static bool is_asleep(pid_t pid, pid_t tid, uint32_t *state)
{
	static const struct {
		char letter;
		uint32_t state;
	} letters[] = {{'S', STATE_INTERRUPTIBLE},
		       {'D', STATE_UNINTERRUPTIBLE},
		       {'T', STATE_STOPPED},
		       {'t', STATE_TRACED}};
	const char *name_end;
	char line[512];

	read_task(pid, tid, "stat", line, sizeof(line));
	name_end = strrchr(line, ')');
	for (size_t i = 0; name_end && i < sizeof(letters) / sizeof(letters[0]); i++) {
		*state = letters[i].state;
		if (name_end[1] == ' ' && name_end[2] == letters[i].letter)
			return true;
	}
	*state = 0;
	return false;
}

static int32_t sched_call_of(pid_t pid, pid_t tid)
{
	char line[256];
	int call;

	read_task(pid, tid, "syscall", line, sizeof(line));
	return sscanf(line, "%d", &call) == 1 ? call : -1;
}

static int put_thread(void *capture, const struct grt_bpf_thread *t, uint32_t tid, uint32_t what,
		      uint64_t time)
{
	struct grt_ev_thread e = {.e = {.time = time,
					.type = GRT_EV_THREAD,
					.size = sizeof(e),
					.flags = GRT_FLAG_BPF,
					.pid = t->pid,
					.tid = tid,
					.ring = GRT_RING_NONE},
				  .what = what,
				  .number = t->number};
	struct grt_bpf_comm names = {.comm = ""};

	if (what != GRT_THREAD_LEFT_ON) {
		read_task((pid_t)t->pid, (pid_t)tid, "comm", names.comm, sizeof(names.comm));
		read_task((pid_t)t->pid, (pid_t)t->pid, "comm", names.owner, sizeof(names.owner));
	}
	return grt_bpf_add_event(capture, &e.e, 0, names.comm[0] ? &names : NULL);
}

/* Whether the thread has the name in --comm. */
static bool sched_is_named(const struct grt_bpf_config *config, uint32_t pid, uint32_t tid)
{
	char comm[BPF_COMM];

	if (!config->comm[0])
		return true;
	read_task((pid_t)pid, (pid_t)tid, "comm", comm, sizeof(comm));
	return !strcmp(comm, config->comm);
}

/*
 * The programs know better about threads that they have seen already: only their time before the recording
 * is used.
 */
static void sched_add_thread(void *capture, const struct grt_bpf_config *config, int map, pid_t tid,
			     uint64_t from)
{
	pid_t pid = (pid_t)config->pid;
	struct grt_bpf_thread t = {.pid = (uint32_t)pid, .fd = UINT32_MAX, .since = from}, known;
	uint32_t key = (uint32_t)tid;

	t.on = !is_asleep(pid, tid, &t.state);
	t.call = t.on ? -1 : sched_call_of(pid, tid);
	t.reason = t.on ? GRT_THREAD_RUNNABLE : GRT_THREAD_UNKNOWN;
	if (bpf_map_update_elem(map, &key, &t, BPF_NOEXIST) && !bpf_map_lookup_elem(map, &key, &known))
		t = known;
	if (sched_is_named(config, t.pid, key))
		put_thread(capture, &t, key, t.on ? GRT_THREAD_SEEN_ON : GRT_THREAD_SEEN_OFF, from);
}

static void begun(void *capture, const struct grt_bpf_config *config, uint64_t from)
{
	int map = grt_bpf_own_map(capture, "threads"), tid;
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", config->pid);
	dir = config->pid ? opendir(path) : NULL;
	while (dir && (d = readdir(dir)))
		if (sscanf(d->d_name, "%d", &tid) == 1)
			sched_add_thread(capture, config, map, tid, from);
	if (dir)
		closedir(dir);
}

/* ------------------------------------------------------ threads that are still there */

static int put_runnable(void *capture, uint32_t tid, const struct grt_bpf_thread *t, uint64_t time)
{
	struct grt_ev_off_cpu e = {.e = {.time = time,
					 .type = GRT_EV_OFF_CPU,
					 .size = sizeof(e),
					 .flags = GRT_FLAG_BPF,
					 .pid = t->pid,
					 .tid = tid,
					 .ring = GRT_RING_NONE},
				   .start = t->since,
				   .number = t->number + 1,
				   .user = t->user,
				   .kernel = t->kernel,
				   .reason = GRT_THREAD_RUNNABLE,
				   .call = -1,
				   .fd = UINT32_MAX};

	return grt_bpf_add_event(capture, &e.e, 0, NULL);
}

static void set_waker(struct grt_ev_asleep *e, const struct grt_bpf_thread *t)
{
	if (t->woken <= t->since)
		return;
	e->woken = t->woken;
	e->waker = t->waker;
	e->waker_pid = t->waker_pid;
	e->by = t->by;
	e->cause = t->cause;
	e->e.ctx = t->ctx;
	e->e.seqno = t->seqno;
	if (t->inferred)
		e->e.flags |= GRT_FLAG_INFERRED;
	memcpy(e->waker_comm, t->waker_comm, sizeof(e->waker_comm));
}

static int put_asleep(void *capture, uint32_t tid, const struct grt_bpf_thread *t, uint64_t time)
{
	struct grt_ev_asleep e = {.e = {.time = time,
					.type = GRT_EV_ASLEEP,
					.size = sizeof(e),
					.flags = GRT_FLAG_BPF,
					.pid = t->pid,
					.tid = tid,
					.ring = GRT_RING_NONE,
					.device = t->device},
				  .start = t->since,
				  .number = t->number + 1,
				  .user = t->user,
				  .kernel = t->kernel,
				  .state = t->state,
				  .reason = (uint16_t)t->reason,
				  .call = t->call,
				  .fd = t->fd};

	set_waker(&e, t);
	return grt_bpf_add_event(capture, &e.e, 0, NULL);
}

/* Writes whether the thread is off the CPU, or on it. */
static int put_rest_of_thread(void *capture, uint32_t tid, const struct grt_bpf_thread *t, uint64_t time)
{
	if (t->on)
		return put_thread(capture, t, tid, GRT_THREAD_LEFT_ON, time);
	return t->state ? put_asleep(capture, tid, t, time) : put_runnable(capture, tid, t, time);
}

static int over(void *capture, const struct grt_bpf_config *config, uint64_t end)
{
	int map = grt_bpf_own_map(capture, "threads"), ret = 0;
	uint32_t tid, *last = NULL, next;
	struct grt_bpf_thread t;
	uint64_t time;

	while (!ret && !bpf_map_get_next_key(map, last, &next)) {
		tid = next;
		last = &tid;
		if (bpf_map_lookup_elem(map, &tid, &t) || !sched_is_named(config, t.pid, tid))
			continue;
		time = t.since > end ? t.since : end;
		ret = put_rest_of_thread(capture, tid, &t, time);
	}
	return ret;
}

#else

static void begun(void *capture, const struct grt_bpf_config *config, uint64_t from)
{
}

static int over(void *capture, const struct grt_bpf_config *config, uint64_t end)
{
	return 0;
}

#endif

/* ------------------------------------------------------------- set-up */

static const struct grt_bpf_kind kind = {
	.name = "sched",
	.objects = objects,
	.configure = sched_configure,
	.frequency = &sched_frequency,
	.complete = sched_complete,
	.begun = begun,
	.over = over,
};

static int sched_probe(struct grt_err *err)
{
	return grt_bpf_probe(objects, err);
}

/* The programs know threads by their numbers outside of any container. */
static int check_namespace(struct grt_err *err)
{
	if (!pid_ns_inner())
		return 0;
	return grt_err_set(
		err, -ENOTSUP, "this process is in a PID namespace (a container)",
		"grtrace record -e sched -p PID outside of the container, with the PID that it has there",
		"the source sched cannot find the threads of the program");
}

static int sched_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	struct source_setup mine = *setup;
	int ret;

	*state = NULL;
	if (!setup->pid && !setup->program)
		return grt_err_set(err, -EINVAL,
				   "it records only the threads of a program or process, and none is given",
				   "grtrace record -e sched -- PROG, or -p PID",
				   "the source sched has no threads to follow");
	ret = check_namespace(err);
	if (ret)
		return ret;
	/* without stacks, these events would be useless */
	mine.user_stack = !setup->stack || strcmp(setup->stack, "none");
	return grt_bpf_open(state, &mine, &kind, err);
}

BPF_OPS(sched, true, sched_probe, sched_open, .options = options, .refuse = sched_refuse);
