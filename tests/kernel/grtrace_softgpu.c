// SPDX-License-Identifier: GPL-2.0
/*
 * The software GPU against callers that mean no good: every argument that is
 * wrong, files closed with work left, unloading while somebody still needs it.
 * That its truth is true is tests/vm/softgpu.sh. Loads and unloads the module
 * (GRTRACE_MODULES/grtrace_softgpu.ko) itself; gpu_sched must be there.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "softgpu.h"
#include "tap.h"

#define MS 1000000ULL
#define MANY 100

static struct softgpu gpu;
static struct grtrace_softgpu_job jobs[MANY];
static struct grtrace_softgpu_result results[MANY];

/* -1 and errno, as the system calls. */
static int load(const char *parameters)
{
	const char *dir = getenv("GRTRACE_MODULES");
	char path[512];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/grtrace_softgpu.ko", dir ? dir : ".");
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	ret = (int)syscall(SYS_finit_module, fd, parameters, 0);
	close(fd);
	return ret;
}

static int unload(void)
{
	return (int)syscall(SYS_delete_module, "grtrace_softgpu", O_NONBLOCK);
}

static bool begin(const char *parameters)
{
	if (load(parameters)) {
		TAP_FAIL("cannot load it with '%s': %s", parameters, strerror(errno));
		return false;
	}
	if (!softgpu_open(&gpu)) {
		TAP_FAIL("there is no device");
		return false;
	}
	memset(jobs, 0, sizeof(jobs));
	return true;
}

static bool end(void)
{
	softgpu_close(&gpu);
	if (!unload())
		return true;
	TAP_FAIL("it cannot be unloaded: %s", strerror(errno));
	return false;
}

/* The errno with which one job is refused, 0: it is not. */
static int submit_one(const struct grtrace_softgpu_job *job)
{
	struct grtrace_softgpu_job copy = *job;
	struct grtrace_softgpu_submit arg = {.jobs = (uintptr_t)&copy, .count = 1};

	return ioctl(gpu.fd, DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT, &arg) ? errno : 0;
}

/* ------------------------------------------------------------------ cases */

static void case_parameters(void)
{
	static const char *const bad[] = {
		"gfx=9",	"gfx=0 compute=0 sdma=0 video=0",
		"hw_depth=0",	"hw_depth=1025",
		"timeout_ms=9", "timeout_ms=600001",
		"jobs_max=0",	"compute=-1",
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (load(bad[i]) == 0 || errno != EINVAL) {
			unload();
			TAP_FAIL("%s is not refused", bad[i]);
			return;
		}
	}
	CHECK_OK(begin("gfx=8 compute=8 sdma=8 video=8 hw_depth=1024"));
	CHECK_EQ(gpu.nrings, 32);
	CHECK_EQ(gpu.ring[31].hw_depth, 1024);
	CHECK(!strcmp(gpu.ring[31].name, "vcn_dec_7"));
	CHECK_OK(end());
}

static void case_jobs_refused(void)
{
	uint32_t handles[GRTRACE_SOFTGPU_DEPS_MAX] = {0};
	const struct {
		struct grtrace_softgpu_job job;
		int error;
	} bad[] = {
		{{.ring = 5}, EINVAL},
		{{.ring = UINT32_MAX}, EINVAL},
		{{.priority = GRTRACE_SOFTGPU_PRIORITIES}, EINVAL},
		{{.flags = 4}, EINVAL},
		{{.flags = GRTRACE_SOFTGPU_REFUSE}, EINVAL},
		{{.error = 1}, EINVAL},
		{{.error = -4096}, EINVAL},
		{{.error = INT32_MIN}, EINVAL},
		{{.duration = GRTRACE_SOFTGPU_DURATION_MAX + 1}, EINVAL},
		{{.duration = UINT64_MAX}, EINVAL},
		{{.in_count = GRTRACE_SOFTGPU_DEPS_MAX + 1}, EINVAL},
		{{.in_count = UINT32_MAX, .in_syncs = (uintptr_t)handles}, EINVAL},
		{{.in_count = 1}, EFAULT},
		{{.in_count = 1, .in_syncs = UINT64_MAX - 2}, EFAULT},
		{{.in_count = 1, .in_syncs = (uintptr_t)handles}, ENOENT},
		{{.out_sync = 77}, ENOENT},
	};
	unsigned int i;

	CHECK_OK(begin(""));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (submit_one(&bad[i].job) == bad[i].error)
			continue;
		TAP_FAIL("job %u is not refused with %s", i, strerror(bad[i].error));
		return;
	}
	CHECK_EQ(submit_one(&jobs[0]), 0);
	CHECK_OK(softgpu_results(&gpu, results, 1));
	CHECK_OK(end());
}

/* A sync object without a fence is EINVAL; one with the fence of a job that is over is no reason to wait. */
static void case_syncs(void)
{
	uint32_t sync, empty;

	CHECK_OK(begin(""));
	sync = softgpu_sync(&gpu);
	empty = softgpu_sync(&gpu);
	CHECK(sync && empty);
	jobs[0].in_count = 1;
	jobs[0].in_syncs = (uintptr_t)&empty;
	CHECK_EQ(submit_one(&jobs[0]), EINVAL);
	jobs[0].in_count = 0;
	jobs[0].out_sync = sync;
	CHECK_OK(softgpu_submit(&gpu, jobs, 1));
	CHECK_OK(softgpu_results(&gpu, results, 1));
	jobs[1].in_count = 1;
	jobs[1].in_syncs = (uintptr_t)&sync;
	jobs[1].ring = 1;
	CHECK_OK(softgpu_submit(&gpu, jobs + 1, 1));
	CHECK_OK(softgpu_results(&gpu, results, 1));
	CHECK_EQ(results[0].status, 0);
	CHECK_OK(end());
}

static int submit(uint64_t array, uint32_t count)
{
	struct grtrace_softgpu_submit arg = {.jobs = array, .count = count};

	return ioctl(gpu.fd, DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT, &arg) ? errno : 0;
}

/* Each but the first waits for the one before it, through a sync object that had no fence before the batch.
 */
static void chain(unsigned int n, uint32_t *sync)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		sync[i] = softgpu_sync(&gpu);
		jobs[i] = (struct grtrace_softgpu_job){
			.duration = 2 * MS, .cookie = i, .ring = i % gpu.nrings, .out_sync = sync[i]};
		if (!i)
			continue;
		jobs[i].in_syncs = (uintptr_t)&sync[i - 1];
		jobs[i].in_count = 1;
	}
}

static void case_batch_chained(void)
{
	uint32_t sync[20];
	unsigned int i;

	CHECK_OK(begin(""));
	chain(20, sync);
	CHECK_EQ(submit((uintptr_t)jobs, 20), 0);
	CHECK_OK(softgpu_results(&gpu, results, 20));
	for (i = 0; i < 20; i++) {
		CHECK_EQ(results[i].cookie, i);
		CHECK(!i || results[i].run >= results[i - 1].end);
		CHECK(jobs[i].ctx == results[i].ctx && jobs[i].seqno == results[i].seqno);
	}
	CHECK_OK(end());
}

/* Those before a bad one are submitted, it and those behind it are not. */
static void case_batch_cut(void)
{
	struct grtrace_softgpu_submit arg = {.jobs = (uintptr_t)jobs, .count = MANY};

	CHECK_OK(begin(""));
	jobs[71].ring = 99;
	CHECK_EQ(ioctl(gpu.fd, DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT, &arg), 0);
	CHECK_EQ(arg.done, 71);
	CHECK_OK(softgpu_results(&gpu, results, 71));
	CHECK(jobs[70].seqno && !jobs[71].seqno);
	jobs[0].ring = 99;
	CHECK_EQ(submit((uintptr_t)jobs, 2), EINVAL);
	CHECK_OK(end());
}

static int read_results(uint64_t array, uint32_t capacity, uint32_t pad, uint32_t *count)
{
	struct grtrace_softgpu_results arg = {
		.results = array, .capacity = capacity, .pad = pad, .timeout = 20 * MS};
	int ret = ioctl(gpu.fd, DRM_IOCTL_GRTRACE_SOFTGPU_RESULTS, &arg) ? errno : 0;

	*count = arg.count;
	return ret;
}

/* Results that could not be written are not lost. */
static void case_arrays(void)
{
	uint32_t n;

	CHECK_OK(begin(""));
	CHECK_EQ(submit((uintptr_t)jobs, 0), EINVAL);
	CHECK_EQ(submit((uintptr_t)jobs, GRTRACE_SOFTGPU_BATCH_MAX + 1), EINVAL);
	CHECK_EQ(submit(0, 1), EFAULT);
	CHECK_EQ(submit(UINT64_MAX - 8, 2), EFAULT);
	CHECK_EQ(submit((uintptr_t)jobs, 3), 0);
	usleep(100000);
	CHECK_EQ(read_results((uintptr_t)results, 1, 1, &n), EINVAL);
	CHECK_EQ(read_results(0, UINT32_MAX, 0, &n), EFAULT);
	CHECK_EQ(read_results((uintptr_t)results, 0, 0, &n), 0);
	CHECK_EQ(n, 0);
	CHECK_EQ(read_results((uintptr_t)results, 2, 0, &n), 0);
	CHECK_EQ(n, 2);
	CHECK_EQ(read_results((uintptr_t)results, UINT32_MAX, 0, &n), 0);
	CHECK_EQ(n, 1);
	CHECK_EQ(read_results((uintptr_t)results, 1, 0, &n), 0);
	CHECK_EQ(n, 0);
	CHECK_OK(end());
}

/* What is in flight or unread is bounded, and room comes back as it is read. */
static void case_limit(void)
{
	struct grtrace_softgpu_submit arg = {.jobs = (uintptr_t)jobs, .count = 20};

	CHECK_OK(begin("jobs_max=7"));
	CHECK_EQ(ioctl(gpu.fd, DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT, &arg), 0);
	CHECK_EQ(arg.done, 7);
	CHECK_EQ(submit_one(&jobs[0]), EAGAIN);
	CHECK_OK(softgpu_results(&gpu, results, 7));
	CHECK_EQ(submit_one(&jobs[0]), 0);
	CHECK_OK(end());
}

/* Runs @what in a process of its own that ends by @how: 0 exit, or a signal. */
static bool in_child(void (*what)(void), int how)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (!softgpu_open(&gpu))
			_exit(1);
		what();
		if (how)
			raise(how);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) == pid && (how ? WIFSIGNALED(status) : !status))
		return true;
	TAP_FAIL("the process that leaves jobs behind ended with %#x", status);
	return false;
}

static void leave_jobs(void)
{
	unsigned int i;

	for (i = 0; i < MANY; i++)
		jobs[i] = (struct grtrace_softgpu_job){.duration = 20 * MS, .ring = i % 5};
	softgpu_submit(&gpu, jobs, MANY);
}

static void leave_hung(void)
{
	jobs[0] = (struct grtrace_softgpu_job){.flags = GRTRACE_SOFTGPU_HANG};
	jobs[1] = (struct grtrace_softgpu_job){.flags = GRTRACE_SOFTGPU_HANG};
	jobs[2] = (struct grtrace_softgpu_job){.flags = GRTRACE_SOFTGPU_HANG};
	softgpu_submit(&gpu, jobs, 3);
	usleep(50000);
}

static bool unload_within(unsigned int seconds)
{
	unsigned int i;

	for (i = 0; i < 10 * seconds; i++) {
		if (!unload())
			return true;
		usleep(100000);
	}
	TAP_FAIL("after %u s it still cannot be unloaded: %s", seconds, strerror(errno));
	return false;
}

static void case_closed(void)
{
	CHECK_OK(begin(""));
	CHECK_OK(in_child(leave_jobs, 0));
	CHECK_OK(in_child(leave_jobs, SIGKILL));
	CHECK_OK(softgpu_submit(&gpu, jobs, 1));
	CHECK_OK(softgpu_results(&gpu, results, 1));
	softgpu_close(&gpu);
	CHECK_OK(unload_within(5));
}

static void case_hung(void)
{
	CHECK_OK(begin("timeout_ms=0"));
	softgpu_close(&gpu);
	CHECK_OK(in_child(leave_hung, 0));
	CHECK_OK(in_child(leave_hung, SIGKILL));
	CHECK_OK(unload_within(5));
}

/* include/uapi/drm/drm.h */
struct syncobj_handle {
	uint32_t handle, flags;
	int32_t fd;
	uint32_t pad;
	uint64_t point;
};
#define EXPORT_SYNC_FILE 1U

static int sync_file(uint32_t sync)
{
	struct syncobj_handle arg = {.handle = sync, .flags = EXPORT_SYNC_FILE, .fd = -1};

	/* the point is not in the struct of older kernels, whose number of the ioctl has its size */
	if (!ioctl(gpu.fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0xC1, 16), &arg))
		return arg.fd;
	return -1;
}

/* Who has the file open or a fence of the hardware keeps it. */
static void case_needed(void)
{
	uint32_t sync;
	int fd;

	CHECK_OK(begin(""));
	sync = softgpu_sync(&gpu);
	jobs[0].out_sync = sync;
	CHECK_OK(softgpu_submit(&gpu, jobs, 1));
	CHECK_OK(softgpu_results(&gpu, results, 1));
	CHECK(unload() == -1);
	fd = sync_file(sync);
	CHECK(fd >= 0);
	softgpu_close(&gpu);
	CHECK(unload() == -1);
	close(fd);
	CHECK_OK(unload_within(2));
}

/* References that are held to the module: open files, and fences of its hardware. */
static int references(void)
{
	FILE *f = fopen("/sys/module/grtrace_softgpu/refcnt", "re");
	int n = -1;

	if (f && fscanf(f, "%d", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* The ring is full with these until long after the kill, so what follows stays in its queue. */
static unsigned int fill_ring(void)
{
	unsigned int i, n = gpu.ring[0].hw_depth;

	for (i = 0; i < n; i++)
		jobs[i] =
			(struct grtrace_softgpu_job){.duration = 1500 * MS, .priority = GRTRACE_SOFTGPU_HIGH};
	softgpu_submit(&gpu, jobs, n);
	for (i = 0; i < n; i++)
		jobs[i] = (struct grtrace_softgpu_job){.duration = MS};
	return n;
}

static void leave_queue(void)
{
	softgpu_submit(&gpu, jobs, fill_ring());
}

/* The same behind one whose last job is over. */
static void leave_queue_after_one(void)
{
	jobs[0] = (struct grtrace_softgpu_job){.duration = MS};
	if (softgpu_submit(&gpu, jobs, 1) && softgpu_results(&gpu, results, 1))
		usleep(50000);
	leave_queue();
}

/* One job at a time, so that one is running and some wait when the kill comes after a second. */
static void leave_queue_running(void)
{
	unsigned int i;

	for (i = 0; i < 11; i++)
		jobs[i] = (struct grtrace_softgpu_job){.duration = 300 * MS};
	softgpu_submit(&gpu, jobs, 11);
}

/* What is killed in a queue leaves nothing behind, whether jobs of it run or none has. */
static void case_killed(void)
{
	CHECK_OK(begin(""));
	softgpu_close(&gpu);
	CHECK_OK(in_child(leave_queue, SIGKILL));
	CHECK_OK(in_child(leave_queue_running, SIGKILL));
	CHECK_OK(unload_within(10));
}

#define KILLED_QUEUES 2

/*
 * Before the job of a killed queue is ended, what the queue ran last must be over. Where it is,
 * drm_sched_entity_kill_jobs() of Linux 6.1 (drivers/gpu/drm/scheduler/sched_entity.c) has taken
 * a reference to that fence which nobody gives back: dma_fence_add_callback() says -ENOENT, and
 * drm_sched_entity_kill_jobs_cb() is called with no fence. A finished fence holds that of the
 * hardware, which holds the module: one for each such queue, and no more.
 */
static void case_killed_after_one(void)
{
	unsigned int i;

	CHECK_OK(begin(""));
	softgpu_close(&gpu);
	for (i = 0; i < KILLED_QUEUES; i++)
		CHECK_OK(in_child(leave_queue_after_one, SIGKILL));
	for (i = 0; i < 100 && references() > KILLED_QUEUES; i++)
		usleep(100000);
	for (i = 0; i < 20 && references(); i++)
		usleep(100000);
	if (references() == KILLED_QUEUES) {
		tap_skip("drm_sched_entity_kill_jobs() of this kernel loses the fence before each of %d "
			 "queues, and with it the module",
			 KILLED_QUEUES);
		return;
	}
	CHECK_EQ(references(), 0);
	CHECK_OK(unload_within(2));
}

static void scribble(void *to, size_t size, unsigned int *seed)
{
	unsigned char *p = to;

	while (size--)
		*p++ = (unsigned char)(rand_r(seed) % 4 ? 0 : rand_r(seed));
}

static void throw_ioctls(void)
{
	unsigned int seed = (unsigned int)getpid(), i;
	unsigned char arg[64];
	unsigned long cmd;

	for (i = 0; i < 20000; i++) {
		scribble(arg, sizeof(arg), &seed);
		scribble(jobs, sizeof(jobs[0]) * 4, &seed);
		cmd = _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x40 + rand_r(&seed) % 4,
			   rand_r(&seed) % sizeof(arg));
		if (rand_r(&seed) % 2) {
			cmd = DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT;
			*(struct grtrace_softgpu_submit *)arg =
				(struct grtrace_softgpu_submit){.jobs = (uintptr_t)jobs, .count = 4};
		}
		ioctl(gpu.fd, cmd, arg);
	}
}

static void case_noise(void)
{
	pid_t pid[3];
	unsigned int i;
	int status;

	CHECK_OK(begin("timeout_ms=50"));
	for (i = 0; i < 3; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			if (softgpu_open(&gpu))
				throw_ioctls();
			_exit(0);
		}
	}
	for (i = 0; i < 3; i++) {
		waitpid(pid[i], &status, 0);
		CHECK_EQ(status, 0);
	}
	CHECK_OK(softgpu_submit(&gpu, jobs + 10, 1));
	CHECK_OK(softgpu_results(&gpu, results, 1));
	softgpu_close(&gpu);
	CHECK_OK(unload_within(5));
}

static void before(void)
{
	unload();
}

static const struct tap_case cases[] = {
	{"parameters out of range are refused, the largest work", case_parameters},
	{"jobs with a wrong argument are refused, each with its error", case_jobs_refused},
	{"sync objects without a fence are refused, with one they are not", case_syncs},
	{"jobs of a batch can wait for each other", case_batch_chained},
	{"a batch ends before its first bad job", case_batch_cut},
	{"arrays that are not there, too large or too small do no harm", case_arrays},
	{"jobs in flight are bounded by jobs_max", case_limit},
	{"a file closed with jobs in flight, also by SIGKILL, leaves a device that works", case_closed},
	{"what hangs without a timeout ends with its file", case_hung},
	{"it cannot be unloaded while a file or a fence of it is held, then it can", case_needed},
	{"three processes that throw random ioctls do no harm", case_noise},
	{"a queue that is killed leaves no jobs, while jobs of it run or before any has run", case_killed},
	/* last: where the kernel loses a fence the module stays */
	{"nor one whose last job is over", case_killed_after_one},
};

int main(int argc, char **argv)
{
	return tap_run(cases, sizeof(cases) / sizeof(cases[0]), before, argc > 1 ? argv[1] : NULL);
}
