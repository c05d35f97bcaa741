// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of the stage perf_mon: each window of /proc/grtrace_stats against
 * the same figures made from the recorded events. TAP version 13; leaves the
 * module stopped, empty and at its defaults.
 *
 *	make; sudo ./grtrace_perf_mon [PART OF A TITLE]
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "play.h"
#include "softgpu.h"
#include "tap.h"

#define STATS "/proc/grtrace_stats"
#define HEADER "ring_id, utilization%, drop_rate%, avg_latency_us\n"
#define RINGS 256
#define WINDOWS_MAX 32
#define JOBS_MAX 65536
#define S 1000000000ULL

/* A row of the file; negative: "-" */
struct row {
	bool there;
	double utilization;
	double drop_rate;
	double latency;
};

struct window {
	uint64_t from;
	uint64_t to;
	struct row ring[RINGS];
};

static bool read_text(char *text, size_t size)
{
	int fd = open(STATS, O_RDONLY);
	ssize_t n, done = 0;

	if (fd < 0) {
		TAP_FAIL("%s: %s", STATS, strerror(errno));
		return false;
	}
	while ((n = read(fd, text + done, size - 1 - done)) > 0)
		done += n;
	close(fd);
	text[done] = 0;
	return true;
}

static bool number(const char *text, double *value)
{
	char *end;

	*value = -1;
	if (!strcmp(text, "-"))
		return true;
	*value = strtod(text, &end);
	return end != text && !*end && *value >= 0;
}

static bool parse_row(struct window *w, const char *line)
{
	char utilization[32], drop_rate[32], latency[32];
	unsigned int ring;
	struct row *r;

	if (sscanf(line, "%u, %31[^,], %31[^,], %31s", &ring, utilization, drop_rate, latency) != 4 ||
	    ring >= RINGS)
		return false;
	r = &w->ring[ring];
	r->there = true;
	return number(utilization, &r->utilization) && number(drop_rate, &r->drop_rate) &&
	       number(latency, &r->latency);
}

/* The present window; @w->to 0: there is none. Return: false after failing the case */
static bool read_window(struct window *w)
{
	unsigned long long from_s, from_ns, to_s, to_ns;
	char text[32768], *at = text, *line;

	memset(w, 0, sizeof(*w));
	if (!read_text(text, sizeof(text)))
		return false;
	if (strncmp(text, HEADER, strlen(HEADER))) {
		TAP_FAIL("the file begins: %.60s", text);
		return false;
	}
	at += strlen(HEADER);
	while ((line = strsep(&at, "\n")) && *line) {
		if (sscanf(line, "# window %llu.%llu %llu.%llu", &from_s, &from_ns, &to_s, &to_ns) == 4) {
			w->from = from_s * S + from_ns;
			w->to = to_s * S + to_ns;
		} else if (!parse_row(w, line)) {
			TAP_FAIL("not understood: %s", line);
			return false;
		}
	}
	return true;
}

/* -------------------------------------------------------------- the truth */

/* What was recorded, joined by job; 0: not recorded */
struct job {
	uint32_t ring;
	uint64_t submit;
	uint64_t begin;
	uint64_t end;
	uint64_t complete;
	uint64_t between; /* the stamps of two who tell of it */
	uint64_t told;	  /* COMPLETE was emitted: the next event of one who emits them one by one */
};

/* @commit, @start: the first of each ring, 0: none */
struct truth {
	struct job job[JOBS_MAX];
	uint64_t commit[RINGS];
	uint64_t start[RINGS];
	struct play_record *all;
	size_t n;
};

static void learn(struct job *j, const struct grt_event *e)
{
	if (e->ring < RINGS)
		j->ring = e->ring;
	switch (e->type) {
	case GRT_EV_SUBMIT:
		j->submit = e->time;
		if (e->flags & GRT_FLAG_COMMIT)
			j->begin = e->time;
		break;
	case GRT_EV_COMMIT:
		if (j->ring == PLAY_NO_START)
			j->begin = e->time;
		break;
	case GRT_EV_START:
		j->begin = e->time;
		break;
	case GRT_EV_END:
		j->end = e->time;
		break;
	case GRT_EV_COMPLETE:
		j->complete = e->time;
		if (!j->end)
			j->end = e->time;
		break;
	default:
		break;
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void learn_next(struct truth *t, const struct grt_event *e, uint64_t next)
{
	struct job *j = &t->job[e->seqno % JOBS_MAX];

	learn(j, e);
	if (e->type == GRT_EV_COMPLETE)
		j->told = next;
	if (e->type == GRT_EV_COMMIT && !t->commit[j->ring])
		t->commit[j->ring] = e->time;
	if (e->type == GRT_EV_START && !t->start[j->ring])
		t->start[j->ring] = e->time;
}

/* Sequence numbers are those of play(): different for all jobs of all rings. */
static struct truth *make_truth(const struct capture *c)
{
	struct truth *t = calloc(1, sizeof(*t));
	size_t i;

	if (!t)
		exit(1);
	t->all = play_records(c, &t->n);
	for (i = 0; i < t->n; i++)
		if (t->all[i].e->ctx)
			learn_next(t, t->all[i].e, i + 1 < t->n ? t->all[i + 1].e->time : UINT64_MAX);
	qsort(t->job, JOBS_MAX, sizeof(t->job[0]), by_begin);
	return t;
}

static void free_truth(struct truth *t)
{
	free(t->all);
	free(t);
}

static double true_utilization(const struct truth *t, const struct window *w, uint32_t ring)
{
	uint64_t covered = w->from, busy = 0, from, to;

	for (size_t i = 0; i < JOBS_MAX; i++) {
		const struct job *j = &t->job[i];

		if (!j->begin || j->ring != ring)
			continue;
		from = j->begin > covered ? j->begin : covered;
		to = j->end && j->end < w->to ? j->end : w->to;
		if (to <= from)
			continue;
		busy += to - from;
		covered = to;
	}
	return 100.0 * busy / (w->to - w->from);
}

/* In us; -1: no job completed. */
static double true_latency(const struct truth *t, const struct window *w, uint32_t ring)
{
	uint64_t sum = 0, jobs = 0;

	for (size_t i = 0; i < JOBS_MAX; i++) {
		const struct job *j = &t->job[i];

		if (j->ring != ring || !j->submit || j->complete < w->from || j->complete >= w->to)
			continue;
		sum += j->complete - j->submit;
		jobs++;
	}
	return jobs ? sum / 1000.0 / jobs : -1;
}

static bool near(const char *what, const struct window *w, unsigned int ring, double is, double want,
		 double tolerance)
{
	if (fabs(is - want) <= tolerance && (is < 0) == (want < 0))
		return true;
	TAP_FAIL("ring %u, window from %.3f: %s is %f, not %f", ring, w->from / 1e9, what, is, want);
	return false;
}

/*
 * A ring is looked at some us after the window's end, and later where the processor is taken away in between,
 * for more than 5 ms on a busy host. The latency must be exactly that of a window whose end is moved.
 */
#define EDGE 20000000ULL
#define EDGES_MAX 128U

/*
 * Moments close to one at which the set of jobs that completed before changes. A job
 * has its stamp before it is counted: one that completes at that moment may be of the
 * next window, too.
 */
static unsigned int edges_of(const struct truth *t, uint64_t moment, uint32_t ring, uint64_t *edge)
{
	unsigned int n = 0;

	edge[n++] = moment;
	for (size_t i = 0; i < JOBS_MAX && n + 1 < EDGES_MAX; i++) {
		const struct job *j = &t->job[i];

		if (j->ring != ring || !j->submit || j->complete >= moment + EDGE ||
		    (j->complete + EDGE <= moment && j->told <= moment))
			continue;
		edge[n++] = j->complete;
		edge[n++] = j->complete + 1;
	}
	return n;
}

/* Whether it is that of the window, or of one whose ends are moved a little. */
static bool latency_is(const struct truth *t, const struct window *w, unsigned int ring, double is)
{
	uint64_t from[EDGES_MAX], to[EDGES_MAX];
	unsigned int n = edges_of(t, w->from, ring, from), m = edges_of(t, w->to, ring, to);
	struct window moved = *w;
	double want;

	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < m; k++) {
			moved.from = from[i];
			moved.to = to[k];
			want = true_latency(t, &moved, ring);
			if (fabs(is - want) <= 0.002 && (is < 0) == (want < 0))
				return true;
		}
	return near("avg_latency", w, ring, is, true_latency(t, w, ring), 0.002);
}

/* Until its first START a ring looks as if it had none, and jobs began with COMMIT. */
static bool is_unsure(const struct truth *t, uint64_t moment, unsigned int ring)
{
	return t->start[ring] && t->commit[ring] && moment + EDGE > t->commit[ring] &&
	       moment < t->start[ring] + EDGE;
}

static bool utilization_is(const struct truth *t, const struct window *w, unsigned int ring, double is)
{
	return is_unsure(t, w->from, ring) || is_unsure(t, w->to, ring) ||
	       near("utilization", w, ring, is, true_utilization(t, w, ring), 0.1);
}

/* What is printed is rounded down to 0.01 % and 1 ns. */
static bool window_is(const struct truth *t, const struct window *w, unsigned int ring)
{
	const struct row *r = &w->ring[ring];

	return utilization_is(t, w, ring, r->utilization) && latency_is(t, w, ring, r->latency);
}

/* ---------------------------------------------------------------- the cases */

static void case_file(void)
{
	struct window w;
	struct stat st;
	char text[4096];

	CHECK_EQ(stat(STATS, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0400);
	CHECK_OK(read_text(text, sizeof(text)));
	CHECK(!strcmp(text, HEADER));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_OK(read_text(text, sizeof(text)));
	CHECK(!strcmp(text, HEADER));
	CHECK_EQ(
		kmod_emit(
			"submit ring=255 ctx=1 seqno=1\nsubmit ring=256 ctx=2 seqno=1\nsubmit ctx=3 seqno=1"),
		0);
	CHECK_OK(read_window(&w));
	CHECK(w.ring[255].there && !w.ring[0].there);
	CHECK(w.ring[255].latency < 0);
	CHECK_EQ(w.ring[255].drop_rate, 0);
	CHECK_EQ(w.ring[255].utilization, 0);
	CHECK_EQ(kmod_config("perf_mon=0"), 0);
	CHECK_OK(read_text(text, sizeof(text)));
	CHECK(!strcmp(text, HEADER));
	CHECK_EQ(kmod_config("perf_mon=1"), 0);
	CHECK_EQ(kmod_emit("submit ring=7 ctx=1 seqno=1"), 0);
	CHECK_OK(read_window(&w));
	CHECK(w.ring[7].there && !w.ring[255].there);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_OK(read_text(text, sizeof(text)));
	CHECK(!strcmp(text, HEADER));
}

/* Collects windows while a child plays. */
static unsigned int watch_play(struct window *w, unsigned int ms, unsigned int nap_us, unsigned int depth)
{
	uint64_t until = kmod_now() + (ms + 1200) * 1000000ULL;
	unsigned int n = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(!play(ms, nap_us, depth));
	while (kmod_now() < until && n < WINDOWS_MAX) {
		if (!read_window(&w[n]))
			break;
		/* what is shown until the first window is over has no end yet */
		if (w[n].to - w[n].from > S * 9 / 10 && (!n || w[n].to != w[n - 1].to) &&
		    w[n].to < kmod_now())
			n++;
		play_wait(20);
	}
	waitpid(pid, NULL, 0);
	return n;
}

static bool windows_are(const struct truth *t, const struct window *w, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int ring = 0; ring < PLAY_RINGS; ring++)
			if (w[i].ring[ring].there && !window_is(t, &w[i], ring))
				return false;
	return true;
}

static void case_truth(void)
{
	static struct window w[WINDOWS_MAX];
	struct capture c = {.data = NULL};
	struct truth *t;
	unsigned int n, seen = 0;

	CHECK_EQ(kmod_write("control", "start"), 0);
	n = watch_play(w, 5000, 6000, 3);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(capture_file(&c, "trace_pipe"), 0);
	CHECK_OK(capture_valid(&c));
	t = make_truth(&c);
	CHECK_OK(windows_are(t, w, n));
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int ring = 0; ring < PLAY_RINGS; ring++)
			seen += w[i].ring[ring].there && w[i].ring[ring].utilization > 1 &&
				w[i].ring[ring].utilization < 100;
	CHECK(n >= 4);
	CHECK(seen >= 8); /* there was something to tell apart */
	tap_note("%u windows, %u of their rings partly busy; ring 0 of the second: %.2f %%, %.3f us", n, seen,
		 w[1].ring[0].utilization, w[1].ring[0].latency);
	free_truth(t);
	capture_free(&c);
}

/* The first window that begins when all before this call is over. Return: false after failing the case */
static bool quiet_window(struct window *w)
{
	uint64_t now = kmod_now(), until = now + 20 * S;

	do {
		play_wait(50);
		if (!read_window(w))
			return false;
		if (w->from >= now)
			return true;
	} while (kmod_now() < until);
	TAP_FAIL("no window begins any more");
	return false;
}

/* One job over many windows, without an event in most of them. */
static void case_long(void)
{
	struct window w;

	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=0 ctx=1 seqno=1\ncommit ctx=1 seqno=1"), 0);
	play_wait(4500);
	CHECK_OK(read_window(&w));
	CHECK(w.ring[0].utilization > 99.9);
	CHECK(w.ring[0].latency < 0 && w.ring[0].drop_rate < 0);
	CHECK(w.to > kmod_now() - 2 * S);
	CHECK_EQ(kmod_emit("complete ctx=1 seqno=1"), 0);
	CHECK_OK(quiet_window(&w));
	CHECK_EQ(w.ring[0].utilization, 0);
	CHECK(w.ring[0].latency < 0);
}

/* Waits for a fresh window, so that what follows is in one. */
static bool next_window(struct window *w)
{
	uint64_t to, until = kmod_now() + 20 * S;

	if (!read_window(w))
		return false;
	for (to = w->to; kmod_now() < until;) {
		play_wait(5);
		if (!read_window(w))
			return false;
		if (w->to != to && w->to > kmod_now() - S / 2)
			return true;
		to = w->to;
	}
	TAP_FAIL("no window ends");
	return false;
}

static void case_drops(void)
{
	struct window w;
	uint64_t lost;

	CHECK(kmod_pin(0));
	CHECK_EQ(kmod_config("buffer_size=65536"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=0 ctx=1 seqno=1"), 0);
	play_wait(1300);
	CHECK_EQ(kmod_emit("submit ring=0 ctx=1 seqno=2"), 0); /* the clock ticks from here on */
	CHECK_OK(next_window(&w));
	CHECK_EQ(kmod_emit("submit ring=0 ctx=1 seqno=3 count=3001"), 0);
	CHECK_EQ(kmod_emit("submit ring=1 ctx=2 seqno=3 count=7"), 0);
	CHECK_OK(next_window(&w));
	lost = kmod_stat("total", "lost");
	kmod_unpin();
	CHECK(lost > 1000);
	lost -= 7;
	tap_note("%llu of 3001 lost: %.2f %%", (unsigned long long)lost, w.ring[0].drop_rate);
	CHECK_EQ((long long)(w.ring[0].drop_rate * 100 + 0.5), lost * 10000 / 3001);
	CHECK_EQ(w.ring[1].drop_rate, 100);
}

/* More jobs at a time than are followed: those that had to go count no more, and nothing is left over. */
static void case_many(void)
{
	struct window w;

	CHECK_EQ(kmod_config("buffer_size=67108864"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit flags=2 ring=9 ctx=1 count=9000\ncomplete ring=9 ctx=1 count=9000"), 0);
	CHECK_OK(quiet_window(&w));
	CHECK_EQ(w.ring[9].utilization, 0);
}

/* Makes the module forget a job by four more in its set, which perf_mon does not follow. */
static bool forget(unsigned int set)
{
	uint64_t evicted = kmod_stat("jobs_evicted", NULL);

	for (unsigned int ctx = 100 * set; ctx < 100 * set + 4; ctx++)
		kmod_emit("submit ring=8 ctx=%u seqno=%u", ctx, play_seqno(ctx, set));
	if (kmod_stat("jobs_evicted", NULL) > evicted)
		return true;
	TAP_FAIL("no job was forgotten");
	return false;
}

/* The module forgets who submitted a job while it executes: its END has no ring then, and ends it all the
 * same. */
static void case_forgotten(void)
{
	unsigned int one = play_seqno(1, 7), other = play_seqno(3, 9);
	struct window w;

	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit flags=2 ring=9 ctx=1 seqno=%u", one), 0);
	CHECK_OK(forget(7));
	CHECK_EQ(kmod_emit("submit ring=7 ctx=3 seqno=%u\nstart ctx=3 seqno=%u", other, other), 0);
	CHECK_OK(forget(9));
	CHECK_EQ(kmod_emit("end ctx=1 seqno=%u\ncomplete ctx=3 seqno=%u", one, other), 0);
	CHECK_OK(quiet_window(&w));
	CHECK(w.ring[9].there && w.ring[7].there);
	CHECK_EQ(w.ring[9].utilization, 0);
	CHECK_EQ(w.ring[7].utilization, 0);
}

/* CPUs that race may tell of a job's beginning when it is over. */
static void case_late(void)
{
	struct window w;

	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=9 ctx=1 seqno=1\nend ctx=1 seqno=1\nstart ctx=1 seqno=1\n"
			   "complete ctx=1 seqno=1"),
		 0);
	CHECK_EQ(kmod_emit("submit ring=8 ctx=2 seqno=1\ncomplete ctx=2 seqno=1\nstart ctx=2 seqno=1"), 0);
	CHECK_EQ(kmod_emit("submit ring=7 ctx=3 seqno=1\ncomplete ctx=3 seqno=1\ncommit ctx=3 seqno=1"), 0);
	CHECK_OK(quiet_window(&w));
	for (unsigned int ring = 7; ring <= 9; ring++) {
		CHECK(w.ring[ring].there);
		CHECK_EQ(w.ring[ring].utilization, 0);
	}
}

static void emit_to_set(uint64_t end, unsigned int ctx, unsigned int set)
{
	unsigned int seqno = play_seqno(ctx, set), n, i;
	char text[4000];

	do {
		for (i = n = 0; i < 32; i++, seqno += PLAY_SETS)
			n += snprintf(text + n, sizeof(text) - n,
				      "submit flags=2 ring=0 ctx=%u seqno=%u\ncomplete ctx=%u seqno=%u\n",
				      ctx, seqno, ctx, seqno);
		kmod_emit("%s", text);
	} while (kmod_now() < end);
}

/* Four jobs at a time, all of the same set, from all CPUs: there is room for each of them. */
static void case_one_set(void)
{
	struct window w;
	uint64_t evicted, end;
	pid_t pid[4];
	unsigned int i;

	CHECK_EQ(kmod_write("control", "start"), 0);
	/* in place of what earlier cases have left there */
	for (i = 0; i < 4; i++)
		CHECK_EQ(kmod_emit("submit ring=0 ctx=%u seqno=%u", 900 + i, play_seqno(900 + i, 7)), 0);
	for (i = 0; i < 4; i++)
		CHECK_EQ(kmod_emit("complete ctx=%u seqno=%u", 900 + i, play_seqno(900 + i, 7)), 0);
	evicted = kmod_stat("jobs_evicted", NULL);
	end = kmod_now() + 5 * S;
	for (i = 0; i < 4; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			kmod_pin(i % kmod_cpus());
			emit_to_set(end, 1000 + i, 7);
			_exit(0);
		}
	}
	for (i = 0; i < 4; i++)
		waitpid(pid[i], NULL, 0);
	CHECK_OK(quiet_window(&w));
	tap_note("%llu jobs; ring 0 is %.2f %% busy after them",
		 (unsigned long long)kmod_balance("total").emitted / 2, w.ring[0].utilization);
	CHECK_EQ(kmod_stat("jobs_evicted", NULL) - evicted, 0);
	CHECK(w.ring[0].there);
	CHECK_EQ(w.ring[0].utilization, 0);
}

static void emit_until(uint64_t end, unsigned int ring)
{
	unsigned int seqno = 1;

	for (; kmod_now() < end; seqno += 100)
		kmod_emit("submit ring=%u ctx=%u seqno=%u count=100\ncommit ctx=%u seqno=%u count=100\n"
			  "start ctx=%u seqno=%u count=100\nend ctx=%u seqno=%u count=100\n"
			  "complete ctx=%u seqno=%u count=100",
			  ring, getpid(), seqno, getpid(), seqno, getpid(), seqno, getpid(), seqno, getpid(),
			  seqno);
}

/* All CPUs at full rate on two rings: figures stay what they can be, and in the end the rings are idle. */
static void case_at_once(void)
{
	struct window w;
	pid_t pid[4];
	uint64_t end = kmod_now() + 3 * S;
	unsigned int i;

	CHECK_EQ(kmod_write("control", "start"), 0);
	for (i = 0; i < 4; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			emit_until(end, i & 1);
			_exit(0);
		}
	}
	for (i = 0; i < 25; i++) {
		CHECK_OK(read_window(&w));
		CHECK(w.ring[0].utilization <= 100 && w.ring[1].drop_rate <= 100);
		play_wait(100);
	}
	CHECK(w.ring[0].there && w.ring[0].utilization > 1);
	for (i = 0; i < 4; i++)
		waitpid(pid[i], NULL, 0);
	CHECK_OK(quiet_window(&w));
	CHECK_EQ(w.ring[0].utilization, 0);
	CHECK_EQ(w.ring[1].utilization, 0);
}

/* ------------------------------------------------- against the software GPU */

/* Most that utilization (in percent of all time) and latency (of it) may be off. */
#define TOLERANCE 1.0

#define SOFT_JOBS 1500

static struct grtrace_softgpu_job soft_jobs[SOFT_JOBS];
static struct grtrace_softgpu_result soft_results[SOFT_JOBS];

/* The id under which the module knows a ring of the GPU; RINGS: none yet. */
static unsigned int id_of(const char *name)
{
	char text[32768], is[64], *at = text, *line;
	unsigned int id;

	kmod_read("rings", text, sizeof(text));
	while ((line = strsep(&at, "\n")))
		if (sscanf(line, "%u %63s", &id, is) == 2 && !strcmp(is, name) && id < RINGS)
			return id;
	return RINGS;
}

static struct grtrace_softgpu_job some_job(unsigned int i, const struct softgpu *gpu)
{
	struct grtrace_softgpu_job j = {
		.duration = (1 + i * 7 % 23) * 1000000ULL,
		.cookie = i,
		.ring = i * 5 % 11 % gpu->nrings,
	};

	if (i % 37 == 5)
		j.error = -EIO;
	return j;
}

/* Gives the GPU a few jobs every now and then for some seconds. Return: windows seen, 0 after failing the
 * case */
static unsigned int run_soft(struct softgpu *gpu, struct window *w, unsigned int *jobs)
{
	uint64_t until = kmod_now() + 6 * S;
	unsigned int n = 0, round, batch, i;

	*jobs = 0;
	for (round = 1; kmod_now() < until && *jobs < SOFT_JOBS - 8 && n < WINDOWS_MAX; round++) {
		batch = round * 13 % 7;
		for (i = 0; i < batch; i++)
			soft_jobs[*jobs + i] = some_job(*jobs + i, gpu);
		if (batch && !softgpu_submit(gpu, soft_jobs + *jobs, batch)) {
			TAP_FAIL("the software GPU takes no job: %s", strerror(errno));
			return 0;
		}
		*jobs += batch;
		play_wait(round * 3 % 50);
		if (!read_window(&w[n]))
			return 0;
		if (w[n].to - w[n].from > S * 9 / 10 && (!n || w[n].to != w[n - 1].to))
			n++;
	}
	if (!softgpu_results(gpu, soft_results, *jobs)) {
		TAP_FAIL("the software GPU has not run its jobs: %s", strerror(errno));
		return 0;
	}
	return n;
}

static uint64_t stamp_of(const struct truth *t, const struct grtrace_softgpu_result *r, unsigned int type)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->all[i].e->type == type && t->all[i].e->ctx == r->ctx && t->all[i].e->seqno == r->seqno)
			return t->all[i].e->time;
	return 0;
}

/*
 * What the GPU says of its jobs, in the form of what was recorded. Between its
 * stamps and the tracepoints an emulated machine may stand still, and a fence is
 * signalled when the scheduler has been told of the hardware's end: how long that
 * was for each job is known from the trace, and its COMPLETE's window is.
 */
static struct truth *soft_truth(const struct capture *c, unsigned int jobs, const unsigned int *id)
{
	struct truth *t = calloc(1, sizeof(*t));

	if (!t)
		exit(1);
	t->all = play_records(c, &t->n);
	for (unsigned int i = 0; i < jobs; i++) {
		const struct grtrace_softgpu_result *r = &soft_results[i];
		uint64_t submit = stamp_of(t, r, GRT_EV_SUBMIT), complete = stamp_of(t, r, GRT_EV_COMPLETE);

		t->job[i] = (struct job){id[r->ring], r->submit, r->start, r->end, complete, 0, 0};
		if (submit > r->submit && complete > r->end)
			t->job[i].between = submit - r->submit + complete - r->end;
	}
	qsort(t->job, JOBS_MAX, sizeof(t->job[0]), by_begin);
	return t;
}

/* The share of a window by which the stamps of its jobs are apart, in percent. */
static double apart(const struct truth *t, const struct window *w, uint32_t ring)
{
	double ns = 0;

	for (size_t i = 0; i < JOBS_MAX; i++)
		if (t->job[i].ring == ring && t->job[i].complete >= w->from && t->job[i].begin < w->to)
			ns += t->job[i].between;
	return 100 * ns / (w->to - w->from);
}

static bool soft_window_is(const struct truth *t, const struct window *w, unsigned int ring, double *worst)
{
	const struct row *r = &w->ring[ring];
	double utilization = true_utilization(t, w, ring), off = fabs(r->utilization - utilization);

	if (off > *worst)
		*worst = off;
	return near("utilization", w, ring, r->utilization, utilization, TOLERANCE + apart(t, w, ring));
}

/* From submit to the end on the hardware, in us; -1: no job. @between: gets the mean time that this leaves
 * out. */
static double soft_latency(const struct truth *t, const struct window *w, uint32_t ring, double *between)
{
	double sum = 0, jobs = 0;

	*between = 0;
	for (size_t i = 0; i < JOBS_MAX; i++) {
		const struct job *j = &t->job[i];

		if (j->ring != ring || j->complete < w->from || j->complete >= w->to)
			continue;
		sum += (j->end - j->submit) / 1000.0;
		*between += j->between / 1000.0;
		jobs++;
	}
	if (jobs > 0)
		*between /= jobs;
	return jobs > 0 ? sum / jobs : -1;
}

static void case_softgpu(void)
{
	static struct window w[WINDOWS_MAX];
	unsigned int n, jobs, seen = 0, id[SOFTGPU_RINGS];
	struct capture c = {.data = NULL};
	struct softgpu gpu;
	struct truth *t;
	double worst = 0, between, longest = 0, want;

	if (!softgpu_open(&gpu)) {
		tap_skip("no software GPU: insmod grtrace_softgpu.ko");
		return;
	}
	CHECK_EQ(kmod_write("control", "start"), 0);
	n = run_soft(&gpu, w, &jobs);
	CHECK(n >= 3);
	play_wait(50); /* a result is there before its fence is signalled */
	for (unsigned int i = 0; i < gpu.nrings; i++) {
		id[i] = id_of(gpu.ring[i].name);
		CHECK(id[i] < RINGS);
	}
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(capture_file(&c, "trace_pipe"), 0);
	CHECK_OK(capture_valid(&c));
	t = soft_truth(&c, jobs, id);
	for (unsigned int i = 0; i < gpu.nrings; i++)
		for (unsigned int k = 0; k < n; k++) {
			if (!w[k].ring[id[i]].there)
				continue;
			seen++;
			CHECK_OK(soft_window_is(t, &w[k], id[i], &worst));
			want = soft_latency(t, &w[k], id[i], &between);
			longest = between > longest ? between : longest;
			CHECK_OK(near("avg_latency", &w[k], id[i], w[k].ring[id[i]].latency, want,
				      want * TOLERANCE / 100 + between));
		}
	CHECK(seen >= 3 * gpu.nrings);
	tap_note("%u jobs, %u windows of rings: utilization off by %.3f %% of the time at most", jobs, seen,
		 worst);
	tap_note("the GPU's stamps and the trace's are up to %.0f us apart, in the mean of a window",
		 longest);
	free_truth(t);
	capture_free(&c);
	softgpu_close(&gpu);
}

static const struct tap_case cases[] = {
	{"the file has its header always, and rows for rings that had events while tracing is on", case_file},
	{"utilization and latency of each window are those of the recorded jobs", case_truth},
	{"a job that executes for many windows keeps its ring busy, and ends", case_long},
	{"the drop rate is lost / emitted of the ring", case_drops},
	{"with more jobs than can be followed nothing is left over", case_many},
	{"a job that was forgotten while it executed ends all the same", case_forgotten},
	{"a begin that is reported after the end has no effect", case_late},
	{"jobs of all CPUs at once are all remembered while there is room, and all end", case_one_set},
	{"utilization and latency are within 1 % of what the software GPU says", case_softgpu},
	{"figures are sound with every CPU at full rate, and rings are idle after it", case_at_once},
};

int main(int argc, char **argv)
{
	const char *missing = kmod_missing();
	int status;

	if (argc > 2) {
		fprintf(stderr, "Usage: grtrace_perf_mon [PART OF A TITLE]\n");
		return 2;
	}
	if (missing)
		return tap_skip_all("%s", missing);
	if (access(STATS, F_OK))
		return tap_skip_all(
			"the stage is not loaded: insmod grtrace_perf_mon.ko, or modprobe grtrace");
	status = tap_run(cases, sizeof(cases) / sizeof(cases[0]), kmod_reset, argv[1]);
	kmod_reset();
	return status;
}
