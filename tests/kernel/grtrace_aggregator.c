// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of the stage aggregator: its records against the events themselves,
 * window by window, and the balance. TAP version 13; leaves the module stopped,
 * empty and at its defaults.
 *
 *	make; sudo ./grtrace_aggregator [PART OF A TITLE]
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "play.h"
#include "real.h"
#include "tap.h"

#define HEADER "Ring | Events | Avg Latency | Min | Max | Avg Depth | Peak Depth\n"
#define JOBS_MAX 262144
#define RINGS_MAX 256

/* ------------------------------------------------------------ the files */

static bool mode_is(const char *file, unsigned int mode)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", KMOD_DIR, file);
	if (!stat(path, &st) && (st.st_mode & 07777) == mode)
		return true;
	TAP_FAIL("%s: missing, or its mode is not %04o", file, mode);
	return false;
}

static void case_files(void)
{
	char text[64];

	CHECK_OK(mode_is("aggregator_enable", 0600));
	CHECK_OK(mode_is("aggregator_window", 0600));
	CHECK_OK(mode_is("aggregator_stats", 0400));
	CHECK(kmod_read("aggregator_window", text, sizeof(text)) > 0);
	CHECK(!strcmp(text, "1000\n"));
	CHECK_EQ(kmod_write("aggregator_window", "100\n"), 0);
	CHECK_EQ(kmod_write("aggregator_window", "60000"), 0);
	CHECK_EQ(kmod_write("aggregator_window", "99"), -ERANGE);
	CHECK_EQ(kmod_write("aggregator_window", "60001"), -ERANGE);
	CHECK_EQ(kmod_write("aggregator_window", "1s"), -EINVAL);
	CHECK_EQ(kmod_write("aggregator_enable", "2"), -ERANGE);
	CHECK_EQ(kmod_write("aggregator_enable", "on"), -EINVAL);
	CHECK_EQ(kmod_write("aggregator_stats", "0"), -EINVAL);
	CHECK(kmod_read("aggregator_window", text, sizeof(text)) > 0);
	CHECK(!strcmp(text, "60000\n"));
}

static void case_empty(void)
{
	char text[4096];

	CHECK(kmod_read("aggregator_stats", text, sizeof(text)) > 0);
	CHECK(!strcmp(text, "Window: 1000 ms\nStatus: disabled\n" HEADER));
	CHECK_EQ(kmod_config("aggregator_window=250"), 0);
	CHECK_EQ(kmod_config("aggregator_enable=1"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	play_wait(600);
	CHECK(kmod_read("aggregator_stats", text, sizeof(text)) > 0);
	CHECK(!strcmp(text, "Window: 250 ms\nStatus: enabled\n" HEADER));
	CHECK_EQ(kmod_stat("total", "emitted"), 0); /* no record of nothing */
}

/* --------------------------------------------- records against the events */

static bool stop_and_capture(struct capture *c)
{
	int err = kmod_write("control", "stop");

	if (!err)
		err = capture_file(c, "trace_pipe");
	if (err)
		TAP_FAIL("reading trace_pipe: %s", strerror(-err));
	return !err && capture_valid(c);
}

static bool is_counted(const struct grt_event *e)
{
	return e->type <= GRT_EV_COMMAND && e->ring < RINGS_MAX;
}

/* What the events of a ring in a window come to. */
struct truth {
	uint64_t submitted[JOBS_MAX]; /* by slot_of() */
	uint32_t depth;
	struct grt_ev_aggregate want;
};

/* A ring has one context of made-up jobs, or a few of real ones, whose numbers are near each other. */
static size_t slot_of(const struct grt_event *e)
{
	return (e->seqno * 64 + e->ctx % 64) % JOBS_MAX;
}

static void truth_event(struct truth *t, const struct grt_event *e)
{
	struct grt_ev_aggregate *w = &t->want;
	uint64_t *submitted = &t->submitted[slot_of(e)], ns;

	w->events++;
	if (e->type == GRT_EV_SUBMIT) {
		*submitted = e->time;
		t->depth++;
		w->submits++;
		w->depth += t->depth;
		if (t->depth > w->depth_max)
			w->depth_max = t->depth;
	}
	if (e->type != GRT_EV_COMPLETE)
		return;
	w->completes++;
	w->failed += !!((const struct grt_ev_complete *)e)->status;
	if (!*submitted)
		return;
	ns = e->time - *submitted;
	*submitted = 0;
	t->depth--;
	if (!w->jobs++ || ns < w->latency_min)
		w->latency_min = ns;
	if (ns > w->latency_max)
		w->latency_max = ns;
	w->latency += ns;
}

#define SAME(field)                                                                                  \
	do {                                                                                         \
		if (is->field == want->field)                                                        \
			break;                                                                       \
		TAP_FAIL("ring %u, window %u: " #field " is %llu, not %llu", is->e.ring, is->window, \
			 (unsigned long long)is->field, (unsigned long long)want->field);            \
		return false;                                                                        \
	} while (0)

static bool is_near(uint64_t is, uint64_t want, uint64_t slack)
{
	return is + slack >= want && is <= want + slack;
}

/*
 * @one_cpu: told on one CPU. Else jobs in flight are counted when a CPU tells of an event, and others may
 * have told of later ones between its stamp and that: what the host takes away from one of a virtual
 * machine's processors in between is long enough for several.
 */
static bool record_is(const struct grt_ev_aggregate *is, const struct grt_ev_aggregate *want, bool one_cpu)
{
	SAME(events);
	SAME(replaced);
	SAME(submits);
	SAME(completes);
	SAME(failed);
	SAME(jobs);
	SAME(latency);
	SAME(latency_min);
	SAME(latency_max);
	if (!one_cpu && is_near(is->depth, want->depth, 4 + want->depth / 10) &&
	    is_near(is->depth_max, want->depth_max, 2))
		return true;
	SAME(depth);
	SAME(depth_max);
	return true;
}

/* Every record of a ring is the sum of its events between its ends, and no event is in none. Return: records,
 * -1 */
static int compare_ring(const struct play_record *all, size_t n, uint32_t ring, bool one_cpu)
{
	struct truth *t = calloc(1, sizeof(*t));
	uint32_t windows = 0;
	uint64_t end = 0;
	size_t at = 0, i;
	bool good = !!t;

	for (i = 0; i < n && good; i++) {
		const struct grt_ev_aggregate *is = (const void *)all[i].e;

		if (is->e.type != GRT_EV_AGGREGATE || is->e.ring != ring)
			continue;
		if (is->begin < end || is->end <= is->begin || is->window != ++windows ||
		    is->end > is->e.time) {
			TAP_FAIL("ring %u: window %u does not follow the one before", ring, is->window);
			good = false;
		}
		end = is->end;
		memset(&t->want, 0, sizeof(t->want));
		for (; at < n && all[at].e->time < is->end; at++) {
			if (!is_counted(all[at].e) || all[at].e->ring != ring)
				continue;
			if (all[at].e->time < is->begin) {
				TAP_FAIL("ring %u: an event is in no window", ring);
				good = false;
			}
			truth_event(t, all[at].e);
		}
		good = good && record_is(is, &t->want, one_cpu);
	}
	for (; at < n && good; at++)
		if (is_counted(all[at].e) && all[at].e->ring == ring) {
			TAP_FAIL("ring %u: an event is behind the last window", ring);
			good = false;
		}
	free(t);
	return good ? (int)windows : -1;
}

static void case_beside(void)
{
	struct capture c = {.data = NULL};
	struct play_record *all;
	unsigned int ring;
	int windows[PLAY_RINGS];
	size_t n;

	CHECK(kmod_pin(0));
	CHECK_EQ(kmod_config("aggregator_window=100"), 0);
	CHECK_EQ(kmod_config("aggregator_enable=1"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_OK(play(1500, 3000, 6));
	CHECK_OK(stop_and_capture(&c));
	kmod_unpin();
	all = play_records(&c, &n);
	for (ring = 0; ring < PLAY_RINGS; ring++)
		windows[ring] = compare_ring(all, n, ring, true);
	for (ring = 0; ring < PLAY_RINGS; ring++)
		CHECK(windows[ring] > 2);
	tap_note("%d windows of ring 0, %zu records", windows[0], n);
	CHECK_EQ(kmod_stat("total", "aggregated"), 0);
	free(all);
	capture_free(&c);
}

/* Quiet times are in no window, and windows do not become longer by them. */
static void case_quiet(void)
{
	struct capture c = {.data = NULL};
	const struct grt_ev_aggregate *is;
	struct play_record *all;
	unsigned int found = 0;
	size_t n, i;

	CHECK_EQ(kmod_config("aggregator_window=100"), 0);
	CHECK_EQ(kmod_config("aggregator_enable=1"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=3 ctx=1 seqno=1"), 0);
	play_wait(1500);
	CHECK_EQ(kmod_emit("complete ctx=1 seqno=1"), 0);
	play_wait(1000);
	CHECK_OK(stop_and_capture(&c));
	all = play_records(&c, &n);
	for (i = 0; i < n; i++) {
		is = (const void *)all[i].e;
		if (is->e.type != GRT_EV_AGGREGATE)
			continue;
		found++;
		CHECK_EQ(is->events, 1);
		CHECK(is->end - is->begin < 1000000000);
		if (found == 2)
			CHECK(is->latency >= 1500000000);
	}
	CHECK_EQ(found, 2);
	CHECK_EQ(compare_ring(all, n, 3, true), 2);
	free(all);
	capture_free(&c);
}

/* ------------------------------------------------------- in their place */

/* What all AGGREGATE records of a capture say together. */
static struct grt_ev_aggregate total(const struct capture *c)
{
	struct grt_ev_aggregate sum = {.window = 0};
	const struct grt_packet *p = NULL;
	const struct grt_event *e;

	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
			const struct grt_ev_aggregate *a = (const void *)e;

			if (e->type != GRT_EV_AGGREGATE)
				continue;
			sum.window++;
			sum.events += a->events;
			sum.replaced += a->replaced;
			sum.submits += a->submits;
			sum.completes += a->completes;
			sum.jobs += a->jobs;
			sum.depth += a->depth;
			if (a->depth_max > sum.depth_max)
				sum.depth_max = a->depth_max;
		}
	return sum;
}

static void case_replaced(void)
{
	struct capture c = {.data = NULL};
	struct grt_balance b;
	struct grt_ev_aggregate sum;

	CHECK_EQ(kmod_config("aggregator_enable=1"), 0);
	CHECK_EQ(kmod_config("aggregator_replace=1"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=7 ctx=1 count=1009\ncommit ctx=1 count=1009\nend ctx=1 count=1009\n"
			   "complete ctx=1 count=1009\ncommand ring=7 count=13"),
		 0);
	/* these stay: what is rare and what has no ring */
	CHECK_EQ(kmod_emit("error ctx=1 seqno=5 status=-5\nsync_wait_enter ctx=1 seqno=6\n"
			   "sync_wait_exit ctx=1 seqno=6\nsubmit ctx=9 count=3"),
		 0);
	CHECK_OK(stop_and_capture(&c));
	b = kmod_balance("total");
	CHECK_OK(balance_closes(&b));
	CHECK_EQ(b.fate[GRT_FATE_AGGREGATED], 4 * 1009 + 13);
	sum = total(&c);
	CHECK_EQ(sum.replaced, 4 * 1009 + 13);
	CHECK_EQ(sum.events, 4 * 1009 + 13 + 3);
	CHECK_EQ(sum.submits, 1009);
	CHECK_EQ(sum.completes, 1009);
	CHECK_EQ(sum.jobs, 1009);
	CHECK_EQ(capture_count(&c, 0) - capture_count(&c, GRT_EV_NAME), 3 + 3 + sum.window);
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT), 3);
	CHECK_EQ(b.fate[GRT_FATE_DELIVERED], capture_count(&c, 0));
	capture_free(&c);
}

/* The table is the last record; the stop has ended its window. */
static void case_table(void)
{
	char text[4096], line[256], *at;
	unsigned long long events, mean, least, most;
	unsigned int frac[3], depth, depth_frac, peak, ring;

	CHECK(kmod_pin(0));
	CHECK_EQ(kmod_config("aggregator_window=60000"), 0);
	CHECK_EQ(kmod_config("aggregator_enable=1"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=254 ctx=1 seqno=1 count=3\ncomplete ctx=1 seqno=1 count=2\n"
			   "submit ring=254 ctx=1 seqno=9 count=2\ncommand ring=5 count=31"),
		 0);
	CHECK(kmod_read("aggregator_stats", text, sizeof(text)) > 0);
	CHECK(strstr(text, "\n254 | 7 | ")); /* the window that is open, since none is over */
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK(kmod_read("aggregator_stats", text, sizeof(text)) > 0);
	kmod_unpin();
	CHECK(strstr(text, "\nStatus: enabled\n" HEADER "5 | 31 | - | - | - | - | -\n254 | 7 | "));
	at = strstr(text, "\n254 | ");
	CHECK(sscanf(at, "\n%u | %llu | %llu.%u us | %llu.%u us | %llu.%u us | %u.%u | %u\n", &ring, &events,
		     &mean, &frac[0], &least, &frac[1], &most, &frac[2], &depth, &depth_frac, &peak) == 11);
	CHECK(least <= mean && mean <= most);
	/* depths 1 2 3, then two are complete: 2 3 */
	snprintf(line, sizeof(line), "%u.%02u %u", depth, depth_frac, peak);
	CHECK(!strcmp(line, "2.20 3"));
	CHECK_EQ(kmod_write("control", "clear"), 0);
	CHECK(kmod_read("aggregator_stats", text, sizeof(text)) > 0);
	CHECK(!strcmp(text, "Window: 60000 ms\nStatus: enabled\n" HEADER));
}

/* One of five jobs of a set is forgotten: its COMPLETE has no ring then, but the job is in flight no more. */
static void case_forgotten(void)
{
	uint64_t evicted = kmod_stat("jobs_evicted", NULL);
	struct capture c = {.data = NULL};
	struct grt_ev_aggregate sum;
	unsigned int i;

	CHECK_EQ(kmod_config("aggregator_enable=1"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	for (i = 1; i <= 5; i++)
		CHECK_EQ(kmod_emit("submit ring=1 ctx=%u seqno=%u", i, play_seqno(i, 7)), 0);
	CHECK(kmod_stat("jobs_evicted", NULL) > evicted);
	for (i = 1; i <= 5; i++)
		CHECK_EQ(kmod_emit("complete ctx=%u seqno=%u", i, play_seqno(i, 7)), 0);
	CHECK_EQ(kmod_emit("submit ring=1 ctx=6 seqno=1"), 0);
	CHECK_OK(stop_and_capture(&c));
	sum = total(&c);
	CHECK_EQ(sum.depth, 1 + 2 + 3 + 4 + 5 + 1);
	CHECK_EQ(sum.depth_max, 5);
	capture_free(&c);
}

/* Sums are of all jobs that are wanted, also where not all are delivered. */
static void case_limits(void)
{
	struct capture c = {.data = NULL};
	struct grt_ev_aggregate sum;
	struct grt_balance b;

	CHECK_EQ(kmod_config("aggregator_enable=1"), 0);
	CHECK_EQ(kmod_config("watchlist=!2"), 0);
	CHECK_EQ(kmod_config("max_events_per_sec=10"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(
		kmod_emit(
			"submit ring=1 ctx=1 count=211\ncomplete ctx=1 count=211\nsubmit ring=2 ctx=2 count=50\n"
			"complete ctx=2 count=50\nirq ring=1 count=17"),
		0);
	CHECK_OK(stop_and_capture(&c));
	b = kmod_balance("total");
	sum = total(&c);
	CHECK_EQ(b.fate[GRT_FATE_WATCH_DENIED], 100);
	CHECK_EQ(b.fate[GRT_FATE_BELOW_LEVEL], 17);
	CHECK(b.fate[GRT_FATE_RATE_LIMITED] > 300);
	CHECK_EQ(sum.window, 1); /* the record itself is not limited */
	CHECK_EQ(sum.events, 422);
	CHECK_EQ(sum.jobs, 211);
	CHECK_EQ(sum.replaced, 0);
	capture_free(&c);
}

/* A record for which there is no room stays until there is. */
static void case_no_room(void)
{
	struct capture c = {.data = NULL};
	struct grt_balance b;
	struct grt_ev_aggregate sum;

	CHECK_EQ(kmod_config("buffer_size=65536"), 0);
	CHECK_EQ(kmod_config("aggregator_window=100"), 0);
	CHECK_EQ(kmod_config("aggregator_enable=1"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	for (int cpu = 0; cpu < kmod_cpus(); cpu++) {
		CHECK(kmod_pin(cpu));
		CHECK_EQ(kmod_emit("submit ring=1 ctx=%d count=5003", 10 + cpu), 0);
	}
	kmod_unpin();
	play_wait(700); /* several windows */
	CHECK(kmod_stat("total", "lost") > 0);
	CHECK_EQ(kmod_delivered("aggregate"), 0);
	CHECK_EQ(capture_file(&c, "trace_pipe"), -EAGAIN);
	play_wait(700);
	CHECK_OK(stop_and_capture(&c));
	b = kmod_balance("total");
	CHECK_OK(balance_closes(&b));
	sum = total(&c);
	CHECK_EQ(sum.window, 1);
	CHECK_EQ(sum.events, 5003 * kmod_cpus());
	capture_free(&c);
}

/* ---------------------------------------------------------------- races */

/*
 * The pause bounds what a fast machine emits: 600 events in 6 ms at most, which is
 * 14 MB in 2.5 s. A buffer that is full has no room for the last records either.
 */
static void emit_for_ever(unsigned int ring, bool pauses)
{
	unsigned int seqno = 1, ctx = 50 + ring;

	for (;; seqno += 200) {
		kmod_emit(
			"submit ring=%u ctx=%u seqno=%u count=200\ncommit ring=%u ctx=%u seqno=%u count=200\n"
			"complete ring=%u ctx=%u seqno=%u count=200",
			ring, ctx, seqno, ring, ctx, seqno, ring, ctx, seqno);
		if (pauses)
			play_wait(6);
	}
}

static void toggle(unsigned int i)
{
	static const char *const settings[] = {"aggregator_replace=0", "aggregator_enable=0",
					       "aggregator_enable=1", "aggregator_window=137",
					       "aggregator_replace=1"};

	kmod_config("%s", settings[i % 5]);
	play_wait(23);
}

/* Children emit on @n rings for @ms; meanwhile settings change, if wanted. */
static void emit_at_once(unsigned int n, unsigned int ms, bool toggling)
{
	uint64_t until = kmod_now() + ms * 1000000ULL;
	pid_t pid[8];
	unsigned int i;

	for (i = 0; i < n; i++) {
		pid[i] = fork();
		if (!pid[i])
			emit_for_ever(i, toggling);
	}
	for (i = 0; kmod_now() < until; i++)
		if (toggling)
			toggle(i);
		else
			play_wait(50);
	for (i = 0; i < n; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
}

static void case_at_once(void)
{
	struct capture c = {.data = NULL};
	struct grt_ev_aggregate sum;
	struct grt_balance b;

	CHECK_EQ(kmod_config("aggregator_window=100"), 0);
	CHECK_EQ(kmod_config("aggregator_enable=1"), 0);
	CHECK_EQ(kmod_config("aggregator_replace=1"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	emit_at_once(4, 2500, false);
	CHECK_OK(stop_and_capture(&c));
	b = kmod_balance("total");
	CHECK_OK(balance_closes(&b));
	sum = total(&c);
	CHECK(sum.window > 8);
	CHECK_EQ(sum.replaced, b.fate[GRT_FATE_AGGREGATED]);
	CHECK_EQ(sum.events, sum.replaced);
	CHECK_EQ(b.fate[GRT_FATE_LOST], 0);
	CHECK_EQ(b.emitted, sum.replaced + sum.window + capture_count(&c, GRT_EV_NAME));
	tap_note("%llu events in %u records", (unsigned long long)sum.events, sum.window);
	capture_free(&c);
}

static void case_toggled(void)
{
	struct capture c = {.data = NULL};
	struct grt_ev_aggregate sum;
	struct grt_balance b;

	CHECK_EQ(kmod_config("buffer_size=67108864"), 0);
	CHECK_EQ(kmod_config("aggregator_window=100"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	emit_at_once(2, 2500, true);
	CHECK_OK(stop_and_capture(&c));
	b = kmod_balance("total");
	CHECK_OK(balance_closes(&b));
	sum = total(&c);
	CHECK(sum.window > 1);
	CHECK(sum.replaced > 0);
	CHECK_EQ(b.fate[GRT_FATE_LOST], 0);
	CHECK_EQ(sum.replaced, b.fate[GRT_FATE_AGGREGATED]);
	tap_note("%llu of %llu events replaced", (unsigned long long)sum.replaced,
		 (unsigned long long)b.emitted);
	capture_free(&c);
}

/* ------------------------------------------------- jobs of the software GPU */

#define REAL_JOBS 997U

/*
 * What the GPU's record says of a ring in a time: events that must be in it, and
 * those that may; of jobs that completed, how long at least and at most.
 */
struct real_sums {
	uint64_t events, events_most;
	uint64_t submits, submits_most;
	uint64_t completes, completes_most;
	uint64_t latency, latency_most;
};

static bool lies_in(const struct real_step *s, uint64_t from, uint64_t to)
{
	return s->from >= from + REAL_SLACK_NS && s->to + REAL_SLACK_NS < to;
}

static bool may_lie_in(const struct real_step *s, uint64_t from, uint64_t to)
{
	return s->to + REAL_SLACK_NS >= from && s->from < to + REAL_SLACK_NS;
}

static void add_real(struct real_sums *sum, const struct real_job *j, uint64_t from, uint64_t to)
{
	const struct real_step *s;
	bool in, may;

	for (s = j->step; s < j->step + j->steps; s++) {
		in = lies_in(s, from, to);
		may = may_lie_in(s, from, to);
		sum->events += in;
		sum->events_most += may;
		sum->submits += in && s->type == GRT_EV_SUBMIT;
		sum->submits_most += may && s->type == GRT_EV_SUBMIT;
		sum->completes += in && s->type == GRT_EV_COMPLETE;
		sum->completes_most += may && s->type == GRT_EV_COMPLETE;
	}
}

static struct real_sums real_sums_of(uint32_t ring, uint64_t from, uint64_t to)
{
	struct real_sums sum = {.events = 0};
	uint64_t least, most;
	unsigned int i;

	for (i = 0; i < real.jobs; i++) {
		const struct real_job *j = &real.job[i];

		if (j->ring != ring)
			continue;
		add_real(&sum, j, from, to);
		real_latency(j, &least, &most);
		sum.latency += least;
		sum.latency_most += most;
	}
	return sum;
}

static bool within(const struct grt_ev_aggregate *is, const char *what, uint64_t n, uint64_t least,
		   uint64_t most)
{
	if (n >= least && n <= most)
		return true;
	TAP_FAIL("ring %u, window %u: %s is %llu, not %llu to %llu", is->e.ring, is->window, what,
		 (unsigned long long)n, (unsigned long long)least, (unsigned long long)most);
	return false;
}

static bool window_real(const struct grt_ev_aggregate *is)
{
	struct real_sums sum = real_sums_of(is->e.ring, is->begin, is->end);

	return within(is, "events", is->events, sum.events, sum.events_most) && is->replaced <= is->events &&
	       within(is, "submits", is->submits, sum.submits, sum.submits_most) &&
	       within(is, "completes", is->completes, sum.completes, sum.completes_most) &&
	       within(is, "jobs", is->jobs, is->completes, is->completes) &&
	       (!is->jobs || within(is, "mean", is->latency / is->jobs, is->latency_min, is->latency_max));
}

/* Shortest and longest latency of a ring's jobs must lie among what is known of them. */
static bool extremes_real(const struct grt_ev_aggregate *sum)
{
	uint64_t least, most, min[2] = {UINT64_MAX, UINT64_MAX}, max[2] = {0, 0};
	unsigned int i;

	for (i = 0; i < real.jobs; i++) {
		if (real.job[i].ring != sum->e.ring)
			continue;
		real_latency(&real.job[i], &least, &most);
		min[0] = least < min[0] ? least : min[0];
		min[1] = most < min[1] ? most : min[1];
		max[0] = least > max[0] ? least : max[0];
		max[1] = most > max[1] ? most : max[1];
	}
	return within(sum, "shortest", sum->latency_min, min[0], min[1]) &&
	       within(sum, "longest", sum->latency_max, max[0], max[1]);
}

/* All windows of a ring together: every event and job, once. */
static bool ring_real(const struct grt_ev_aggregate *sum, bool replaced)
{
	struct real_sums all = real_sums_of(sum->e.ring, 0, UINT64_MAX - REAL_SLACK_NS);
	unsigned int i, jobs = 0, errors = 0;

	for (i = 0; i < real.jobs; i++) {
		jobs += real.job[i].ring == sum->e.ring;
		errors += real.job[i].ring == sum->e.ring && real.job[i].r.status;
	}
	return within(sum, "events of all", sum->events, all.events_most, all.events_most) &&
	       within(sum, "replaced of all", sum->replaced, replaced ? sum->events - errors : 0,
		      replaced ? sum->events - errors : 0) &&
	       within(sum, "submits of all", sum->submits, jobs, jobs) &&
	       within(sum, "completes of all", sum->completes, jobs, jobs) &&
	       within(sum, "jobs of all", sum->jobs, jobs, jobs) &&
	       within(sum, "latency of all", sum->latency, all.latency, all.latency_most) &&
	       extremes_real(sum);
}

static void add_window(struct grt_ev_aggregate *sum, const struct grt_ev_aggregate *is)
{
	if (!sum->jobs || (is->jobs && is->latency_min < sum->latency_min))
		sum->latency_min = is->latency_min;
	if (is->latency_max > sum->latency_max)
		sum->latency_max = is->latency_max;
	sum->e.ring = is->e.ring;
	sum->window = is->window;
	sum->events += is->events;
	sum->replaced += is->replaced;
	sum->submits += is->submits;
	sum->completes += is->completes;
	sum->jobs += is->jobs;
	sum->latency += is->latency;
}

/* Return: how many windows there were, 0 after failing the case */
static unsigned int windows_real(const struct capture *c, bool replaced)
{
	static struct grt_ev_aggregate sum[RINGS_MAX];
	const struct grt_packet *p = NULL;
	const struct grt_event *e;
	unsigned int n = 0, i;

	memset(sum, 0, sizeof(sum));
	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
			const struct grt_ev_aggregate *is = (const void *)e;

			if (e->type != GRT_EV_AGGREGATE || e->ring >= RINGS_MAX)
				continue;
			if (replaced ? !window_real(is) : is->replaced)
				return 0;
			add_window(&sum[e->ring], is);
			n++;
		}
	for (i = 0; i < real.gpu.nrings; i++)
		if (!ring_real(&sum[real_ring(i) & (RINGS_MAX - 1)], replaced))
			return 0;
	return n;
}

static bool play_real(struct capture *c, const char *replace)
{
	real.jobs = 0;
	real_mix(REAL_JOBS, 3000000);
	return !kmod_config("aggregator_window=200") && !kmod_config("%s", replace) &&
	       !kmod_config("aggregator_enable=1") && !kmod_write("control", "start") &&
	       real_play(10, 10000) && real_over() && stop_and_capture(c) && real_join(c);
}

/* Beside the events: each record is the sum of those that were delivered, and those are the GPU's. */
static void case_real_beside(void)
{
	struct capture c = {.data = NULL};
	struct play_record *all;
	unsigned int windows, i;
	size_t n;

	CHECK_OK(real_here());
	CHECK_OK(play_real(&c, "aggregator_replace=0"));
	CHECK_EQ(real_delivered(), real_steps());
	windows = windows_real(&c, false);
	CHECK(windows >= 3 * real.gpu.nrings);
	all = play_records(&c, &n);
	for (i = 0; i < real.gpu.nrings; i++)
		CHECK(compare_ring(all, n, real_ring(i), false) >= 3);
	tap_note("%u jobs, %u windows", real.jobs, windows);
	free(all);
	capture_free(&c);
	softgpu_close(&real.gpu);
}

static void case_real_replaced(void)
{
	struct capture c = {.data = NULL};
	struct grt_balance b;
	unsigned int windows, i, errors = 0;

	CHECK_OK(real_here());
	CHECK_OK(play_real(&c, "aggregator_replace=1"));
	windows = windows_real(&c, true);
	CHECK(windows >= 3 * real.gpu.nrings);
	for (i = 0; i < real.jobs; i++)
		errors += !!real.job[i].r.status;
	CHECK_EQ(real_delivered(), errors);
	b = kmod_balance("total");
	CHECK_OK(balance_closes(&b));
	CHECK_EQ(b.fate[GRT_FATE_AGGREGATED], real_steps() - errors);
	CHECK_EQ(b.fate[GRT_FATE_DELIVERED], errors + windows + capture_count(&c, GRT_EV_NAME));
	CHECK_EQ(b.emitted, b.fate[GRT_FATE_AGGREGATED] + b.fate[GRT_FATE_DELIVERED]);
	tap_note("%u jobs, %llu events, %u windows", real.jobs, (unsigned long long)real_steps(), windows);
	capture_free(&c);
	softgpu_close(&real.gpu);
}

static const struct tap_case cases[] = {
	{"its files have their modes, and refuse bad values", case_files},
	{"the table keeps its header without events, and there are no records of nothing", case_empty},
	{"every record is the sum of the events between its ends", case_beside},
	{"quiet times are in no window", case_quiet},
	{"with aggregator_replace the balance counts what records stand for", case_replaced},
	{"aggregator_stats is the last window", case_table},
	{"a job that was forgotten while it was in flight is not in flight for ever", case_forgotten},
	{"filtered events do not count, rate limited ones do", case_limits},
	{"a record for which there is no room stays until there is", case_no_room},
	{"real jobs: records beside the events are their sums, and those of the GPU's own record",
	 case_real_beside},
	{"real jobs: records in their place have every event and job of the GPU's record, once",
	 case_real_replaced},
	{"events of many processes at full rate are all in the records", case_at_once},
	{"also while it is switched on and off", case_toggled},
};

int main(int argc, char **argv)
{
	const char *missing = kmod_missing();
	int status;

	if (argc > 2) {
		fprintf(stderr, "Usage: grtrace_aggregator [PART OF A TITLE]\n");
		return 2;
	}
	if (missing)
		return tap_skip_all("%s", missing);
	if (access(KMOD_DIR "/aggregator_stats", F_OK))
		return tap_skip_all(
			"the stage is not loaded: insmod grtrace_aggregator.ko, or modprobe grtrace");
	status = tap_run(cases, sizeof(cases) / sizeof(cases[0]), kmod_reset, argv[1]);
	kmod_reset();
	return status;
}
