// SPDX-License-Identifier: GPL-2.0
/*
 * The order of text: records in a window, in temporary files, and in what a
 * pipe allows; and whole files and pipes of lines through a session.
 */
#include "collect.h"
#include "trace_maker.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/wait.h>

#include "text/text_order.h"

#define MS UINT64_C(1000000)

struct seen {
	uint64_t time;
	uint64_t number;
	uint32_t cpu;
};

/* What went in, as it must come out: by time, and equal stamps as they came. */
static int by_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

struct flow {
	struct grt_order o;
	struct seen *in;
	struct seen *out;
	size_t n;
	size_t got;
	uint64_t late;
};

static void take_out(struct flow *f)
{
	struct grt_order_run run;
	int ret;

	while ((ret = grt_order_next(&f->o, &run)) > 0) {
		f->late += run.late;
		for (const char *p = run.ptr; p < run.end;) {
			const struct grt_event *e = (const struct grt_event *)p;

			assert_true(e->time >= run.first && e->time <= run.last);
			assert_true(f->got < f->n);
			f->out[f->got++] = (struct seen){e->time, e->seqno, run.cpu};
			p += e->size;
		}
	}
	assert_int_equal(ret, 0);
}

/* @jitter: how far back a stamp may be */
static void pass(struct flow *f, size_t n, uint64_t jitter, uint64_t window, bool may_spill, size_t budget)
{
	struct grt_ev_submit s = {.e = {.type = GRT_EV_SUBMIT, .size = sizeof(s)}};
	struct grt_ev_start small = {.e = {.type = GRT_EV_START, .size = sizeof(small)}};

	memset(f, 0, sizeof(*f));
	grt_order_init(&f->o, window, may_spill, budget);
	f->in = calloc(n, sizeof(*f->in));
	f->out = calloc(n, sizeof(*f->out));
	f->n = n;
	for (size_t i = 0; i < n; i++) {
		struct grt_event *e = rand() % 3 ? &s.e : &small.e;

		e->time = 1000000 + i * 10 - (jitter ? (uint64_t)rand() % jitter : 0);
		e->seqno = i;
		f->in[i] = (struct seen){e->time, i, (uint32_t)(rand() % 4)};
		assert_int_equal(grt_order_put(&f->o, e, f->in[i].cpu), 0);
		if (grt_order_full(&f->o)) {
			assert_int_equal(grt_order_settle(&f->o, false), 0);
			take_out(f);
		}
	}
	assert_int_equal(grt_order_settle(&f->o, true), 0);
	take_out(f);
	assert_int_equal(f->got, n);
	qsort(f->in, n, sizeof(*f->in), by_time);
}

static void is_ordered(const struct flow *f)
{
	assert_int_equal(f->late, 0);
	for (size_t i = 0; i < f->n; i++) {
		assert_int_equal(f->out[i].time, f->in[i].time);
		assert_int_equal(f->out[i].number, f->in[i].number);
		assert_int_equal(f->out[i].cpu, f->in[i].cpu);
	}
}

static void end(struct flow *f)
{
	grt_order_fini(&f->o);
	free(f->in);
	free(f->out);
}

static void sorted_text_goes_through(void **state)
{
	struct flow f;

	(void)state;
	pass(&f, 100000, 0, 0, true, 0);
	is_ordered(&f);
	assert_int_equal(f.o.reordered, 0);
	assert_int_equal(f.o.sorted, 0);
	/* it went out at the first look each time */
	assert_true(f.o.goal <= 256 << 10);
	end(&f);
}

static void a_window_reorders(void **state)
{
	static const uint64_t jitters[] = {2, 30, 1000, 70000};
	struct flow f;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		pass(&f, 50000, jitters[i], jitters[i], true, 0);
		is_ordered(&f);
		assert_int_equal(f.o.sorted, 0);
		if (jitters[i] > 10)
			assert_true(f.o.reordered > 1000);
		end(&f);
	}
}

/* The window does not fit into memory, or never ends: runs in files. */
static void runs_are_merged(void **state)
{
	struct flow f;

	(void)state;
	pass(&f, 20000, 150000, GRT_WINDOW_ALL, true, 16384);
	is_ordered(&f);
	assert_int_equal(f.o.sorted, 20000);
	end(&f);
	pass(&f, 20000, 150000, 150000, true, 16384);
	is_ordered(&f);
	assert_true(f.o.sorted > 10000);
	end(&f);
	/* all in one piece: no file is needed */
	pass(&f, 100, 1000, GRT_WINDOW_ALL, true, 0);
	is_ordered(&f);
	assert_int_equal(f.o.sorted, 0);
	end(&f);
}

static void without_files_what_is_late_is_told(void **state)
{
	struct flow f;

	(void)state;
	pass(&f, 20000, 150000, 150000, false, 16384);
	assert_true(f.late > 0);
	assert_int_equal(f.o.sorted, 0);
	qsort(f.out, f.n, sizeof(*f.out), by_time);
	f.late = 0;
	is_ordered(&f);
	end(&f);
}

static void a_place_for_files_that_is_none(void **state)
{
	struct grt_ev_start s = {.e = {.type = GRT_EV_START, .size = sizeof(s)}};
	struct grt_order o;
	const char *old = getenv("TMPDIR");
	char *kept = old ? strdup(old) : NULL;

	(void)state;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	grt_order_init(&o, GRT_WINDOW_ALL, true, 4096);
	while (!grt_order_full(&o))
		assert_int_equal(grt_order_put(&o, &s.e, 0), 0);
	assert_int_equal(grt_order_settle(&o, false), -ENOENT);
	assert_non_null(strstr(o.err.what, "/nowhere/at/all"));
	assert_non_null(strstr(o.err.fix, "TMPDIR"));
	grt_order_fini(&o);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
}

/* Lines of a session */

struct fixture {
	struct grt_consumer c;
	char *dir;
	char *path;
	FILE *out;
	struct grt_session *s;
	uint64_t last;
	uint64_t backward;
	uint64_t jobs;
	uint64_t sum;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = tm_tmpdir();
	f->path = path_join(f->dir, "trace.txt");
	f->out = fopen(f->path, "w");
	assert_non_null(f->out);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	grt_session_close(f->s);
	tm_remove(f->dir);
	free(f->path);
	free(f->dir);
	free(f);
	return 0;
}

static void put_line(FILE *out, uint64_t ns, uint64_t seqno)
{
	fprintf(out,
		"game-812 [%03u] ..... %" PRIu64 ".%09" PRIu64 ": drm_sched_job_queue: fence=7:%" PRIu64
		", ring=gfx\n",
		(unsigned int)(seqno % 3), ns / 1000000000, ns % 1000000000, seqno);
}

static int on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct fixture *f = (struct fixture *)c;

	(void)cpu;
	f->backward += e->time < f->last;
	f->last = e->time;
	f->jobs += e->type == GRT_EV_SUBMIT;
	f->sum += e->type == GRT_EV_SUBMIT ? e->seqno : 0;
	return 0;
}

static int run_path(struct fixture *f, const char *path)
{
	struct grt_err err;
	int ret;

	f->last = f->backward = f->jobs = f->sum = 0;
	f->c = (struct grt_consumer){.event = on_event};
	ret = grt_session_open(&f->s, path, &err);
	if (!ret)
		ret = grt_session_run(f->s, &f->c, 0, UINT64_MAX, &err);
	if (ret)
		fail_msg("%s: %s", err.what, err.why);
	return ret;
}

static const struct grt_health *read_file(struct fixture *f)
{
	fclose(f->out);
	run_path(f, f->path);
	return grt_session_health(f->s);
}

static void a_file_in_the_window(void **state)
{
	struct fixture *f = *state;
	const struct grt_health *h;
	uint64_t first, last;

	for (uint64_t i = 0; i < 20000; i++)
		put_line(f->out, 5000 * MS + i * 1000 - (i % 5 == 4 ? 700 * MS : 0) + 700 * MS, i);
	h = read_file(f);
	assert_int_equal(f->jobs, 20000);
	assert_int_equal(f->backward, 0);
	assert_int_equal(h->text.reordered, 4000);
	assert_int_equal(h->text.sorted, 0);
	assert_int_equal(h->fault[GRT_FAULT_TIME], 0);
	assert_int_equal(grt_session_span(f->s, &first, &last), 0);
	assert_int_equal(first, 5000 * MS + 4000);
	assert_int_equal(last, 5700 * MS + 19998 * 1000);
}

/* The last line first: as far out of order as can be, and too much for memory. */
static void a_file_backwards(void **state)
{
	struct fixture *f = *state;
	const struct grt_health *h;
	const uint64_t n = 150000;

	for (uint64_t i = 0; i < n; i++)
		put_line(f->out, 5000 * MS + (n - i) * MS, i);
	h = read_file(f);
	assert_int_equal(f->jobs, n);
	assert_int_equal(f->sum, n * (n - 1) / 2);
	assert_int_equal(f->backward, 0);
	assert_int_equal(h->text.sorted, n);
	assert_int_equal(h->balance.fate[GRT_FATE_DELIVERED], h->events);
}

static void equal_stamps_keep_their_order(void **state)
{
	struct fixture *f = *state;
	struct collect k = {.n = 0};

	for (uint64_t i = 0; i < 1000; i++)
		put_line(f->out, 5000 * MS + (i / 10 ^ 1) * 1000, i);
	fclose(f->out);
	collect_path(&k, f->path, &f->s);
	for (size_t i = 1; i < k.n; i++) {
		assert_true(k.e[i - 1].time <= k.e[i].time);
		if (k.e[i - 1].time == k.e[i].time && k.e[i].type == GRT_EV_SUBMIT &&
		    k.e[i - 1].type == GRT_EV_SUBMIT)
			assert_true(k.e[i - 1].seqno < k.e[i].seqno);
	}
	assert_int_equal(k.calls.job, 1000);
	free(k.e);
	free(k.cpu);
}

/* A name that stands further back is told again, before the earlier event of its thread. */
static void names_come_before_what_they_name(void **state)
{
	struct fixture *f = *state;
	struct collect k = {.n = 0};
	bool named = false;

	put_line(f->out, 9000 * MS, 1);
	put_line(f->out, 5000 * MS, 2);
	fclose(f->out);
	collect_path(&k, f->path, &f->s);
	for (size_t i = 0; i < k.n; i++) {
		named = named || k.e[i].type == GRT_EV_NAME;
		if (k.e[i].type == GRT_EV_SUBMIT)
			assert_true(named);
	}
	assert_int_equal(k.e[0].time, 5000 * MS);
	free(k.e);
	free(k.cpu);
}

/* Runs @write in a child that writes into a FIFO, and reads that. */
static const struct grt_health *read_pipe(struct fixture *f, void (*write)(FILE *out))
{
	char *fifo = path_join(f->dir, "pipe");
	pid_t pid;
	int status;

	fclose(f->out);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		FILE *out;

		/* who reads has to wait for it */
		usleep(50000);
		out = fopen(fifo, "w");
		write(out);
		fclose(out);
		_exit(0);
	}
	run_path(f, fifo);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	free(fifo);
	return grt_session_health(f->s);
}

static void write_in_window(FILE *out)
{
	fprintf(out, "dear list,\n\n");
	for (uint64_t i = 0; i < 50000; i++) {
		put_line(out, 5000 * MS + i * MS - (i % 5 == 4 ? 900 * MS : 0), i);
		if (i == 10) {
			/* what is there is read, what is not there is waited for */
			fflush(out);
			usleep(20000);
		}
	}
}

static void a_pipe_in_the_window(void **state)
{
	struct fixture *f = *state;
	const struct grt_health *h = read_pipe(f, write_in_window);
	struct grt_err err;
	uint64_t first, last;

	assert_int_equal(f->jobs, 50000);
	assert_int_equal(f->backward, 0);
	assert_int_equal(h->text.bad, 1);
	assert_int_equal(h->text.bad_line, 1);
	assert_int_equal(h->fault[GRT_FAULT_TIME], 0);
	assert_int_equal(grt_session_span(f->s, &first, &last), -ESPIPE);
	assert_int_equal(grt_session_run(f->s, &f->c, 0, UINT64_MAX, &err), -ESPIPE);
	assert_non_null(strstr(err.what, "a pipe can be read once"));
}

static void write_too_late(FILE *out)
{
	for (uint64_t i = 0; i < 50000; i++)
		put_line(out, 5000 * MS + i * MS - (i % 5000 == 4999 ? 3000 * MS : 0), i);
}

static void what_a_pipe_has_too_late(void **state)
{
	struct fixture *f = *state;
	const struct grt_health *h = read_pipe(f, write_too_late);

	assert_int_equal(f->jobs, 50000);
	/* each line that is too late is told: those after it were understood without it. Its events may still
	 * find their place among others that are held; none goes back untold. */
	assert_int_equal(h->fault[GRT_FAULT_TIME], 10);
	assert_in_range(f->backward, 1, h->fault[GRT_FAULT_TIME]);
	assert_non_null(strstr(h->first.what, "time goes back from"));
	assert_int_equal(h->balance.fate[GRT_FATE_DELIVERED], h->events);
}

static void write_nothing(FILE *out)
{
	(void)out;
}

static void write_prose(FILE *out)
{
	for (unsigned int i = 0; i < 100000; i++)
		fprintf(out, "I had a nice weekend, number %u, in the mountains, far away from computers\n",
			i);
}

static int open_pipe(struct fixture *f, void (*write)(FILE *out), struct grt_err *err)
{
	int fd[2], status, ret;
	char path[64];
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		FILE *out = fdopen(fd[1], "w");

		close(fd[0]);
		write(out);
		_exit(0);
	}
	close(fd[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
	ret = grt_session_open(&f->s, path, err);
	close(fd[0]);
	waitpid(pid, &status, 0);
	return ret;
}

static void pipes_without_events_are_refused(void **state)
{
	struct fixture *f = *state;
	struct grt_err err;

	fclose(f->out);
	assert_int_equal(open_pipe(f, write_nothing, &err), -ENODATA);
	assert_non_null(strstr(err.what, "the input is empty"));
	/* more than is searched for a beginning */
	assert_int_equal(open_pipe(f, write_prose, &err), -EINVAL);
	assert_non_null(strstr(err.what, "no events"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted_text_goes_through),
		cmocka_unit_test(a_window_reorders),
		cmocka_unit_test(runs_are_merged),
		cmocka_unit_test(without_files_what_is_late_is_told),
		cmocka_unit_test(a_place_for_files_that_is_none),
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(a_file_in_the_window),
		T(a_file_backwards),
		T(equal_stamps_keep_their_order),
		T(names_come_before_what_they_name),
		T(a_pipe_in_the_window),
		T(what_a_pipe_has_too_late),
		T(pipes_without_events_are_refused),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
