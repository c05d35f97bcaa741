// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of the virtio-gpu adapter on a real virtio GPU: real jobs, real
 * waits, real errors, and a program that renders, each compared event by event
 * with what ftrace says of the same run. TAP version 13.
 *
 *	make; sudo ./grtrace_wait [-o DIR] [PROGRAM ARGS...]
 *
 * With -o DIR it leaves waits.raw (the packets), waits.txt (of each job that was
 * waited for: fence context, seqno, ns) and render.raw there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kmod.h"
#include "tap.h"
#include "wait.h"

#define MS 1000000LL

/* Command and reply codes, of the virtio specification. */
#define CMD_UPLOAD 0x205
#define RESP_ERR 0x1200
#define RESP_ERR_LAST 0x1205

/* A job of 16 MiB takes the device longer than the way from one ioctl to the next. */
#define WAITS 53
#define EDGE 2048

/* ftrace writes whole microseconds; on a loaded machine a CPU may stop between the two tracers. */
#define CLOSE_NS (1 * MS)
#define FAR_NS (200 * MS)

static const char *out_dir;
static char **program;

/**
 * struct run - both tracers' view of one stretch of time
 * @from, @to: CLOCK_MONOTONIC ns; both traced all of it
 */
struct run {
	struct capture c;
	struct ft_log log;
	uint64_t from;
	uint64_t to;
};

static void pause_ms(long ms)
{
	struct timespec ts = {.tv_nsec = ms * MS};

	nanosleep(&ts, NULL);
}

/* The GPU is left alone for a moment at both ends, so that both tracers agree where they are. */
static bool run_begin(struct run *r)
{
	const char *missing = ft_start();

	memset(r, 0, sizeof(*r));
	if (missing) {
		tap_skip("%s", missing);
		return false;
	}
	if (kmod_config("buffer_size=16777216") || kmod_write("control", "start")) {
		TAP_FAIL("cannot start the module");
		return false;
	}
	pause_ms(50);
	r->from = kmod_now();
	return true;
}

static bool run_end(struct run *r)
{
	int err;
	bool good;

	pause_ms(300);
	r->to = kmod_now();
	err = kmod_write("control", "stop");
	good = ft_stop(&r->log);
	if (!err)
		err = capture_file(&r->c, "trace_pipe");
	if (err)
		TAP_FAIL("cannot read the trace: %s", strerror(-err));
	return good && !err && capture_valid(&r->c);
}

static void run_free(struct run *r)
{
	capture_free(&r->c);
	ft_free(&r->log);
}

static bool leave(const char *name, const void *data, size_t len)
{
	char path[512];
	int fd;
	bool good;

	if (!out_dir)
		return true;
	snprintf(path, sizeof(path), "%s/%s", out_dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	good = fd >= 0 && write(fd, data, len) == (ssize_t)len;
	if (!good)
		TAP_FAIL("cannot write %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return good;
}

/* Records of one type within the run, in order; at most @room are stored. */
static size_t pick(const struct run *r, unsigned int type, uint32_t tid, const struct grt_event **to,
		   size_t room)
{
	const struct grt_packet *p = NULL;
	const struct grt_event *e;
	size_t n = 0;

	while ((p = capture_packet(&r->c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
			if (e->type != type || e->time < r->from || e->time > r->to || (tid && e->tid != tid))
				continue;
			if (n < room)
				to[n] = e;
			n++;
		}
	return n;
}

static size_t count(const struct run *r, unsigned int type)
{
	return pick(r, type, 0, NULL, 0);
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = (*(const struct grt_event *const *)a)->time,
		 y = (*(const struct grt_event *const *)b)->time;

	return x < y ? -1 : x > y;
}

static int by_job(const void *a, const void *b)
{
	const struct grt_event *x = *(const struct grt_event *const *)a,
			       *y = *(const struct grt_event *const *)b;

	if (x->ctx != y->ctx)
		return x->ctx < y->ctx ? -1 : 1;
	return x->seqno < y->seqno ? -1 : x->seqno > y->seqno;
}

/* All records of a type, sorted; the caller frees them. */
static const struct grt_event **sorted(const struct run *r, unsigned int type, uint32_t tid, size_t *n,
				       int (*order)(const void *, const void *))
{
	const struct grt_event **list;

	*n = pick(r, type, tid, NULL, 0);
	list = calloc(*n + 1, sizeof(*list));
	if (!list) {
		perror("grtrace_wait");
		exit(1);
	}
	pick(r, type, tid, list, *n);
	qsort(list, *n, sizeof(*list), order);
	return list;
}

static const struct grt_event *find_job(const struct grt_event **list, size_t n, const struct grt_event *like)
{
	const struct grt_event **at = bsearch(&like, list, n, sizeof(*list), by_job);

	return at ? *at : NULL;
}

/* Waits. */

static struct run waits;
static struct {
	uint64_t before, after;
} ioctls[WAITS];

static bool do_waits(void)
{
	int fd = gpu_open(true), i;
	uint32_t image;

	if (fd < 0) {
		tap_skip("no virtio GPU with 3D here: tools/vm run has one");
		return false;
	}
	image = gpu_create(fd, 1, EDGE, EDGE);
	if (!image || gpu_wait(fd, image)) {
		TAP_FAIL("cannot make an image: %s", strerror(errno));
		return false;
	}
	if (!run_begin(&waits))
		return false;
	for (i = 0; i < WAITS; i++) {
		if (gpu_upload(fd, image, EDGE, EDGE))
			TAP_FAIL("cannot upload: %s", strerror(errno));
		ioctls[i].before = kmod_now();
		if (gpu_wait(fd, image))
			TAP_FAIL("cannot wait: %s", strerror(errno));
		ioctls[i].after = kmod_now();
	}
	if (!run_end(&waits))
		return false;
	gpu_close(fd, image);
	close(fd);
	return true;
}

/* One wait: within the i-th ioctl, its job submitted by us and over when the wait is. */
static bool wait_right(int i, const struct grt_event *enter, const struct grt_event *exit,
		       const struct grt_event *submit, const struct grt_event *complete)
{
	const char *what = NULL;

	if (enter->ctx != exit->ctx || enter->seqno != exit->seqno)
		what = "ENTER and EXIT name different jobs";
	else if (enter->time < ioctls[i].before || exit->time > ioctls[i].after || exit->time < enter->time)
		what = "is not within its ioctl";
	else if (enter->pid != (uint32_t)getpid())
		what = "has not our pid";
	else if (!submit || !complete)
		what = "its job was not submitted, or did not complete";
	else if (((const struct grt_ev_submit *)submit)->cmd != CMD_UPLOAD || submit->pid != enter->pid)
		what = "its job is not our upload";
	else if (submit->time > enter->time || complete->time > exit->time)
		what = "began before its job or ended before it";
	else if (enter->ring != submit->ring || enter->engine != submit->engine)
		what = "has not the ring of its job";
	if (what)
		TAP_FAIL("wait %d: %s", i, what);
	return !what;
}

/* "ctx seqno ns" of each job that was waited for. */
static bool leave_waits(const struct grt_event **enter, const struct grt_event **exit, size_t n)
{
	char text[WAITS * 64], *at = text;
	size_t i;

	for (i = 0; i < n; i++)
		at += sprintf(at, "%llu %llu %llu\n", (unsigned long long)enter[i]->ctx,
			      (unsigned long long)enter[i]->seqno,
			      (unsigned long long)(exit[i]->time - enter[i]->time));
	return leave("waits.txt", text, at - text) && leave("waits.raw", waits.c.data, waits.c.len);
}

/* The number of the ioctl that waited for the job: uploads and waits alternate. WAITS: no upload of ours. */
static size_t ioctl_of(const struct grt_event **submit, size_t n, const struct grt_event *like)
{
	const struct grt_event **at = bsearch(&like, submit, n, sizeof(*submit), by_job);

	return at ? (size_t)(at - submit) : WAITS;
}

/* An upload that is over when the ioctl looks is not waited for. */
static bool was_over(size_t i, const struct grt_event *complete)
{
	if (complete && complete->time <= ioctls[i].after)
		return true;
	TAP_FAIL("ioctl %zu: no wait, and its job was not over", i);
	return false;
}

static void case_waits(void)
{
	const struct grt_event **enter, **exit, **submit, **complete;
	size_t enters, exits, submits, completes, i, at;
	bool waited[WAITS + 1] = {false};

	CHECK_OK(do_waits());
	enter = sorted(&waits, GRT_EV_SYNC_WAIT_ENTER, getpid(), &enters, by_time);
	exit = sorted(&waits, GRT_EV_SYNC_WAIT_EXIT, getpid(), &exits, by_time);
	submit = sorted(&waits, GRT_EV_SUBMIT, getpid(), &submits, by_job);
	complete = sorted(&waits, GRT_EV_COMPLETE, 0, &completes, by_job);
	CHECK_EQ(submits, WAITS);
	CHECK_EQ(exits, enters);
	if (enters <= WAITS / 2) /* nearly each one blocks: see EDGE */
		TAP_FAIL("only %zu of %d ioctls waited", enters, WAITS);
	for (i = 0; i < enters; i++) {
		at = ioctl_of(submit, submits, enter[i]);
		if (at == WAITS || waited[at]) {
			TAP_FAIL("wait %zu is for no upload of ours, or the second one for it", i);
			return;
		}
		waited[at] = true;
		CHECK_OK(wait_right((int)at, enter[i], exit[i], submit[at],
				    find_job(complete, completes, enter[i])));
	}
	for (i = 0; i < WAITS; i++)
		CHECK_OK(waited[i] || was_over(i, find_job(complete, completes, submit[i])));
	CHECK_OK(leave_waits(enter, exit, enters));
	tap_note("%zu of %d ioctls waited", enters, WAITS);
	free(enter);
	free(exit);
	free(submit);
	free(complete);
}

/* The i-th record of ours and the i-th of ftrace's are the same event at the same time. */
static bool same_waits(unsigned int type, enum ft_kind kind)
{
	size_t i, k = 0, n, apart = 0;
	const struct grt_event **e = sorted(&waits, type, getpid(), &n, by_time);
	const struct ft_event *f;
	long long off;

	for (i = 0; i < waits.log.count; i++) {
		f = &waits.log.event[i];
		if (f->kind != kind || f->tid != (uint32_t)getpid() || f->time < waits.from)
			continue;
		if (k == n || f->ctx != e[k]->ctx || f->id != e[k]->seqno) {
			TAP_FAIL("ftrace has another wait in place %zu", k);
			return false;
		}
		off = llabs((long long)f->time - (long long)e[k]->time);
		apart += off > CLOSE_NS;
		if (off > FAR_NS) {
			TAP_FAIL("wait %zu: stamps are %lld us apart", k, off / 1000);
			return false;
		}
		k++;
	}
	if (k != n || apart > n / 4)
		TAP_FAIL("ftrace has %zu waits of %zu; %zu are over 1 ms apart", k, n, apart);
	free(e);
	return k == n && apart <= n / 4;
}

static void case_waits_ftrace(void)
{
	if (!waits.c.len) {
		tap_skip("there was no wait");
		return;
	}
	CHECK_OK(same_waits(GRT_EV_SYNC_WAIT_ENTER, FT_WAIT_START));
	CHECK_OK(same_waits(GRT_EV_SYNC_WAIT_EXIT, FT_WAIT_END));
	run_free(&waits);
}

/* Errors. */

#define ERRORS 7

static bool error_right(const struct run *r, const struct grt_event *e)
{
	const struct grt_ev_error *error = (const void *)e;
	size_t ends, submits;
	const struct grt_event **end = sorted(r, GRT_EV_END, 0, &ends, by_job);
	const struct grt_event **submit = sorted(r, GRT_EV_SUBMIT, getpid(), &submits, by_job);
	const struct grt_event *its_end = find_job(end, ends, e);
	bool good;

	good = error->code >= RESP_ERR && error->code <= RESP_ERR_LAST;
	if (e->ctx) /* of a job */
		good &= its_end && find_job(submit, submits, e) && e->pid == (uint32_t)getpid() &&
			((const struct grt_ev_end *)its_end)->reply == error->code &&
			its_end->time <= e->time;
	free(end);
	free(submit);
	if (!good)
		TAP_FAIL("ERROR code 0x%x of job %llu:%llu is not as the device said", error->code,
			 (unsigned long long)e->ctx, (unsigned long long)e->seqno);
	return good;
}

/* A GPU without 3D refuses an image of no format; the driver only logs that. */
static void case_errors(void)
{
	const struct grt_event **error;
	size_t errors, i, of_jobs = 0, replies = 0;
	struct run r;
	int fd = gpu_open(false), n;

	if (fd < 0) {
		tap_skip("no virtio GPU without 3D here: tools/vm run --no-3d has one");
		return;
	}
	CHECK_OK(run_begin(&r));
	for (n = 0; n < ERRORS; n++)
		gpu_create(fd, 0, 64, 64);
	CHECK_OK(run_end(&r));
	close(fd);
	error = sorted(&r, GRT_EV_ERROR, 0, &errors, by_time);
	for (i = 0; i < r.log.count; i++)
		replies += r.log.event[i].kind == FT_RESPONSE && r.log.event[i].type >= RESP_ERR;
	for (i = 0; i < errors; i++) {
		CHECK_OK(error_right(&r, error[i]));
		of_jobs += !!error[i]->ctx;
	}
	CHECK_EQ(errors, replies);
	CHECK_EQ(of_jobs, ERRORS);
	tap_note("%zu error replies, first code 0x%x, %zu of jobs", errors,
		 ((const struct grt_ev_error *)error[0])->code, of_jobs);
	free(error);
	run_free(&r);
}

/* A program. */

static bool run_program(void)
{
	pid_t pid = fork();
	int status, null;

	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(program[0], program);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status) {
		TAP_FAIL("%s failed, status 0x%x", program[0], status);
		return false;
	}
	return true;
}

/* Each of @type's records is of a job that has a SUBMIT, and no job has two. */
static bool each_has_submit(const struct run *r, unsigned int type)
{
	size_t submits, n, i;
	const struct grt_event **submit = sorted(r, GRT_EV_SUBMIT, 0, &submits, by_job);
	const struct grt_event **e = sorted(r, type, 0, &n, by_job), *its;
	const char *what = NULL;

	for (i = 0; i < n && !what; i++) {
		its = find_job(submit, submits, e[i]);
		if (!its)
			what = "has no SUBMIT";
		else if (i && !by_job(&e[i - 1], &e[i]))
			what = "is there twice";
		else if (its->time > e[i]->time || its->pid != e[i]->pid || its->ring != e[i]->ring)
			what = "differs from its SUBMIT in thread or ring, or is before it";
		if (what)
			TAP_FAIL("event %u of job %llu:%llu %s", type, (unsigned long long)e[i]->ctx,
				 (unsigned long long)e[i]->seqno, what);
	}
	free(submit);
	free(e);
	return !what;
}

/* ftrace's fenced commands and our SUBMITs are the same commands, one by one. */
static bool same_commands(const struct run *r)
{
	size_t n, i, k = 0, apart = 0;
	const struct grt_event **e = sorted(r, GRT_EV_SUBMIT, 0, &n, by_time);
	const struct ft_event *f;
	bool good = true;

	for (i = 0; i < r->log.count && good; i++) {
		const struct grt_ev_submit *s = k < n ? (const void *)e[k] : NULL;

		f = &r->log.event[i];
		if (f->kind != FT_QUEUE || !f->fenced || f->time < r->from || f->time > r->to)
			continue;
		good = s && s->fence_id == f->id && s->cmd == f->type && s->e.device == f->device &&
		       s->e.seqno == f->id;
		apart += good && llabs((long long)f->time - (long long)s->e.time) > CLOSE_NS;
		k++;
	}
	if (!good || apart > n / 4)
		TAP_FAIL("command %zu is another one than ftrace's; %zu of %zu are over 1 ms apart", k, apart,
			 n);
	free(e);
	return good && apart <= n / 4;
}

static uint64_t unmatched(void)
{
	char text[4096], *at;

	kmod_read("adapters", text, sizeof(text));
	at = strstr(text, "unmatched=");
	return at ? strtoull(at + strlen("unmatched="), NULL, 10) : UINT64_MAX;
}

static void case_program(void)
{
	uint64_t unmatched_before = unmatched();
	struct run r;

	if (!program) {
		tap_skip("no program given: ./grtrace_wait kmscube -c 300");
		return;
	}
	CHECK_OK(run_begin(&r));
	CHECK_OK(run_program());
	CHECK_OK(run_end(&r));
	CHECK_EQ(kmod_stat("lost_events", NULL), 0);
	CHECK_EQ(unmatched(), unmatched_before);
	CHECK_EQ(count(&r, GRT_EV_SUBMIT), ft_count(&r.log, FT_QUEUE, true, r.from, r.to));
	CHECK_EQ(count(&r, GRT_EV_SUBMIT) + count(&r, GRT_EV_COMMAND),
		 ft_count(&r.log, FT_QUEUE, false, r.from, r.to));
	CHECK_EQ(count(&r, GRT_EV_END), ft_count(&r.log, FT_RESPONSE, true, r.from, r.to));
	CHECK_EQ(count(&r, GRT_EV_END) + count(&r, GRT_EV_COMMAND),
		 ft_count(&r.log, FT_RESPONSE, false, r.from, r.to));
	CHECK_EQ(count(&r, GRT_EV_COMPLETE), ft_count(&r.log, FT_SIGNALED, true, r.from, r.to));
	CHECK_EQ(count(&r, GRT_EV_SYNC_WAIT_ENTER), ft_count(&r.log, FT_WAIT_START, true, r.from, r.to));
	CHECK_EQ(count(&r, GRT_EV_SYNC_WAIT_EXIT), ft_count(&r.log, FT_WAIT_END, true, r.from, r.to));
	CHECK(count(&r, GRT_EV_SUBMIT) > 50);
	CHECK_EQ(count(&r, GRT_EV_SUBMIT), count(&r, GRT_EV_END));
	CHECK_EQ(count(&r, GRT_EV_SUBMIT), count(&r, GRT_EV_COMPLETE));
	CHECK_OK(each_has_submit(&r, GRT_EV_END));
	CHECK_OK(each_has_submit(&r, GRT_EV_COMPLETE));
	CHECK_OK(same_commands(&r));
	tap_note("%zu jobs, %zu commands without a fence, %zu waits", count(&r, GRT_EV_SUBMIT),
		 count(&r, GRT_EV_COMMAND), count(&r, GRT_EV_SYNC_WAIT_EXIT));
	CHECK_OK(leave("render.raw", r.c.data, r.c.len));
	run_free(&r);
}

static const struct tap_case cases[] = {
	{"a wait for a job's fence is one SYNC_WAIT of its thread, within the ioctl, keyed to the job",
	 case_waits},
	{"the waits are ftrace's dma_fence waits, at the same times", case_waits_ftrace},
	{"the device's error replies are ERRORs with their code, joined to the job where it is one",
	 case_errors},
	{"a program's commands, replies, fences and waits are as many as ftrace's, and joined", case_program},
};

static const char *missing_adapter(void)
{
	char text[4096];

	kmod_read("adapters", text, sizeof(text));
	if (!strstr(text, "virtio_gpu driver="))
		return "the adapter is not loaded: insmod grtrace_virtio_gpu.ko";
	if (!strstr(text, "virtio_gpu driver=virtio_gpu bound=1"))
		return "no virtio GPU here: modprobe virtio-gpu, or tools/vm run";
	return NULL;
}

int main(int argc, char **argv)
{
	const char *missing = kmod_missing();
	int opt, status;

	while ((opt = getopt(argc, argv, "+o:")) != -1) {
		if (opt != 'o') {
			fprintf(stderr, "Usage: grtrace_wait [-o DIR] [PROGRAM ARGS...]\n");
			return 2;
		}
		out_dir = optarg;
	}
	if (optind < argc)
		program = argv + optind;
	if (!missing)
		missing = missing_adapter();
	if (missing)
		return tap_skip_all("%s", missing);
	kmod_reset();
	status = tap_run(cases, sizeof(cases) / sizeof(cases[0]), kmod_reset, NULL);
	kmod_reset();
	return status;
}
