// SPDX-License-Identifier: GPL-2.0
/*
 * Live views, see live.h: the loop between the sources' streams and a session.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/containers.h"
#include "host/meter.h"
#include "record/machine.h"
#include "sources/source.h"
#include "trace/cut.h"
#include "trace/packet.h"
#include "cmd.h"
#include "live.h"
#include "host/privileges.h"

/* Time between two reads of the streams. */
#define PERIOD_MS 50
/* If one read returns this much, more is available already. */
#define BUSY_BYTES (256U << 10)
/* Sums end this long after this process has set their end. */
#define BOUND_NS 1000000
/* An event can be read at most this long after its time. */
#define SLACK_NS 2000000
/* As above, for events of our library in a program, which writes ten times a second. */
#define SLACK_LIBRARY_NS 300000000
/* Most bytes of packets at a time, and most times in a round. */
#define SORT_BYTES (64U << 10)
#define SORT_TIMES 128
/* How long to wait for the end of a stopped stream. */
#define DRAIN_NS (2 * NS_PER_S)

/** struct live_queue - bytes of a place that its stream of the session has not read yet: from @at to @end */
struct live_queue {
	char *data;
	size_t room;
	size_t at;
	size_t end;
};

/**
 * struct live_sorter - sorts the packets of a source that has many places for them: each place is a stream
 * of the session
 * @queue: by place; NULL: the source's streams are those of the session
 * @streams: streams of the source; @over: those that have ended
 * @dry: those that have no more in this round
 */
struct live_sorter {
	struct live_queue *queue;
	unsigned int streams;
	bool *over;
	bool dry;
};

/**
 * struct live_input - a source that takes part
 * @first, @streams: its streams in the session
 * @first_place, @places: the files that its packets would have
 * @balance: of its packets
 */
struct live_input {
	const struct source *source;
	void *state;
	unsigned int first;
	unsigned int streams;
	unsigned int first_place;
	unsigned int places;
	struct live_sorter sorter;
	struct grt_balance balance;
};

/**
 * struct live - one run
 * @note: prints a note; may be NULL
 * @told: the last note
 * @target: pidfd of the process that is watched, -1: all processes are
 * @stack: stacks are recorded
 * @whole_jobs, @sums: see struct live_setup.whole and .sums
 * @keep_jobs: bytes that are left of struct live_setup.keep_jobs
 * @slack: how long after its time an event can be read, ns
 * @moved: bytes read since it was last set to 0
 * @meter: state of each stream
 * @keep, @arg: as in the setup
 * @held: for each of @places, a packet that is not complete yet
 * @whole: a cut that removes nothing
 * @failed: result of @keep
 * @begun, @until: see live_span()
 */
struct live {
	void (*note)(const char *text);
	char told[sizeof(struct grt_err) + 16];
	struct live_input input[SOURCES];
	unsigned int inputs;
	unsigned int streams;
	struct grt_session *session;
	int target;
	bool stack;
	bool whole_jobs;
	bool sums;
	uint64_t keep_jobs;
	uint64_t slack;
	uint64_t moved;
	struct meter *meter;
	int (*keep)(void *arg, unsigned int place, unsigned int source, const char *data, size_t len);
	void *arg;
	unsigned int places;
	struct grt_cut_stream *held;
	struct grt_cut whole;
	int failed;
	uint64_t begun;
	uint64_t until;
};

static const struct source *live_find_source(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < SOURCES; i++)
		if (strlen(all_sources[i]->name) == len && !strncmp(all_sources[i]->name, name, len))
			return all_sources[i];
	return NULL;
}

static int live_unknown_source(const char *name, size_t len, struct grt_err *err)
{
	char all[200] = "";
	size_t i, used = 0;

	for (i = 0; i < SOURCES && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "",
					 all_sources[i]->name);
	return grt_err_set(err, -EINVAL, all, NULL, "'%.*s' is not a source of this program; there are",
			   (int)len, name);
}

bool live_has(const struct live *l, const char *source)
{
	unsigned int i;

	for (i = 0; i < l->inputs; i++)
		if (!strcmp(l->input[i].source->name, source))
			return true;
	return false;
}

const char *live_source(const struct live *l, unsigned int i, struct grt_balance *balance)
{
	if (i >= l->inputs)
		return NULL;
	*balance = l->input[i].balance;
	return l->input[i].source->name;
}

/* Prints only once an error that several sources have in common (a missing privilege). */
static void live_note(struct live *l, const struct grt_err *err)
{
	char text[sizeof(l->told)];

	snprintf(text, sizeof(text), "%s%s%s%s%s", err->what, err->why[0] ? ": " : "", err->why,
		 err->fix[0] ? "; try: " : "", err->fix);
	if (l->note && strcmp(text, l->told))
		l->note(text);
	snprintf(l->told, sizeof(l->told), "%s", text);
}

/* Return: whether a source that is open already reports the jobs of a driver. */
static bool live_is_covered(void *arg, const char *driver)
{
	const struct live *l = arg;

	for (unsigned int i = 0; i < l->inputs; i++)
		if (l->input[i].source->covers && l->input[i].source->covers(l->input[i].state, driver))
			return true;
	return false;
}

static int live_open_source(struct live *l, const struct source *source, const struct live_setup *setup,
			    struct grt_err *err)
{
	const struct source_setup s = {
		.pid = setup->pid,
		.driver = setup->driver,
		.buffer_size = setup->buffer_size,
		/* a filter of the module would also apply to its other readers */
		.types = source == &source_kmod ? (struct grt_type_set){{0}} : setup->types,
		.user_stack = setup->stack,
		.stack = !setup->stack		  ? "none"
			 : source == &source_cuda ? NULL
						  : "bpf",
		.gpu_users = setup->gpu_users,
		.whole = setup->whole,
		.sums = setup->sums,
		.keep_jobs = setup->keep_jobs ? &l->keep_jobs : NULL,
		.named = !setup->any,
		.taken = true,
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
		.ring_base = l->inputs * SOURCE_RINGS,
		/* the module records no stacks */
		.covered = setup->stack ? NULL : live_is_covered,
		.arg = l,
		.note = setup->note,
	};
	struct live_input *in = &l->input[l->inputs];
	struct grt_err other;
	int ret;

	for (const struct cmd_opt *o = source->options; setup->flag && o && o->name; o++)
		if (o->kind == OPT_FLAG && !strcmp(o->name, setup->flag))
			*(bool *)o->target = true;
	*in = (struct live_input){.source = source};
	ret = source->open(&in->state, &s, err);
	if (!ret) {
		l->inputs++;
		if (source == &source_cuda)
			l->slack = SLACK_LIBRARY_NS;
		return 0;
	}
	source->close(in->state, &other);
	if (setup->any)
		live_note(l, err);
	return ret;
}

static int open_sources(struct live *l, const struct live_setup *setup, struct grt_err *err)
{
	const struct source *source;
	const char *p = setup->sources;
	struct grt_err first = {.what = ""};
	int ret = 0, failed = 0;
	size_t len;

	for (; *p && !ret; p += len + (p[len] == ',')) {
		len = strcspn(p, ",");
		source = live_find_source(p, len);
		if (!source)
			return live_unknown_source(p, len, err);
		if (!live_has(l, source->name))
			ret = live_open_source(l, source, setup, err);
		/* most likely a privilege is missing; otherwise, the reason of the first source */
		if (ret && setup->any && (!failed || (ret == -EACCES && failed != -EACCES))) {
			failed = ret;
			first = *err;
		}
		if (setup->any)
			ret = 0;
	}
	if (l->inputs || ret || !failed)
		return ret;
	*err = first;
	return failed;
}

static int live_open_target(struct live *l, pid_t pid, struct grt_err *err)
{
	l->target = (int)syscall(SYS_pidfd_open, pid, 0);
	return l->target >= 0 ? 0
			      : grt_err_set(err, errno == ESRCH ? -ESRCH : -errno, strerror(errno), "ps -e",
					    "cannot follow process %d", (int)pid);
}

int live_open(struct live **out, const struct live_setup *setup, struct grt_err *err)
{
	struct live *l = calloc(1, sizeof(*l));
	int ret = 0;

	*out = l;
	if (!l)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "cannot read live");
	l->target = -1;
	l->note = setup->note;
	l->stack = setup->stack;
	l->whole_jobs = setup->whole;
	l->sums = setup->sums;
	l->keep_jobs = setup->keep_jobs;
	l->keep = setup->keep;
	l->arg = setup->arg;
	l->slack = SLACK_NS;
	l->whole.window.to = UINT64_MAX;
	if (setup->pid)
		ret = live_open_target(l, setup->pid, err);
	return ret ? ret : open_sources(l, setup, err);
}

static void took(void *arg, const struct grt_packet *p)
{
	struct live_input *in = arg;

	in->balance.emitted += grt_packet_emitted(p);
	for (unsigned int i = 0; i < GRT_FATES; i++)
		in->balance.fate[i] += grt_packet_fate(p, i);
	if (in->source->took)
		in->source->took(in->state, p);
}

/** struct live_keeping - bytes that are passed to live.keep */
struct live_keeping {
	struct live *l;
	unsigned int place;
	unsigned int source;
};

static int live_keep_whole(void *arg, const char *data, size_t len)
{
	const struct live_keeping *k = arg;

	return k->l->keep(k->l->arg, k->place, k->source, data, len);
}

static void live_keep(struct live *l, const struct live_input *in, unsigned int i, char *data, size_t len)
{
	struct live_keeping k = {l, in->first_place + i, (unsigned int)(in - l->input)};
	const struct grt_cut_ops ops = {.write = live_keep_whole, .arg = &k};

	if (l->keep && !l->failed)
		l->failed = grt_cut_feed(&l->whole, &l->held[k.place], data, len, &ops);
}

/* Return: 0 or -ENOMEM */
static int live_queue_add(struct live_queue *q, const char *data, size_t len)
{
	if (q->at == q->end)
		q->at = q->end = 0;
	if (grt_grow(&q->data, &q->room, q->end + len, SORT_BYTES))
		return -ENOMEM;
	memcpy(q->data + q->end, data, len);
	q->end += len;
	return 0;
}

/* Sorts the packets of one of the source's streams into their places. Return: as read() */
static ssize_t live_sort_stream(struct live_input *in, unsigned int i)
{
	char buf[SORT_BYTES];
	ssize_t n = 1;
	int ret = 0;

	for (unsigned int times = 0; times < SORT_TIMES && !ret && n > 0; times++) {
		n = in->source->read(in->state, i, buf, sizeof(buf));
		if (n > 0)
			ret = live_queue_add(&in->sorter.queue[in->source->place(in->state, i)], buf,
					     (size_t)n);
	}
	return ret ?: n > 0 ? -EAGAIN : n;
}

/* Return: 0: all streams have ended; -EAGAIN: not all; or another -errno */
static int live_sort(struct live_input *in)
{
	struct live_sorter *s = &in->sorter;
	bool over = true;
	ssize_t n = 0;

	for (unsigned int i = 0; i < s->streams && !s->dry; i++) {
		n = s->over[i] ? 0 : live_sort_stream(in, i);
		if (n < 0 && n != -EAGAIN && n != -EINTR)
			return (int)n;
		s->over[i] = !n;
	}
	s->dry = true;
	for (unsigned int i = 0; i < s->streams; i++)
		over &= s->over[i];
	return over ? 0 : -EAGAIN;
}

static ssize_t live_read_place(struct live_input *in, unsigned int place, char *buf, size_t len)
{
	struct live_queue *q = &in->sorter.queue[place];
	int ret = q->at < q->end ? 0 : live_sort(in);
	size_t n = q->end - q->at < len ? q->end - q->at : len;

	if (!n)
		return ret;
	memcpy(buf, q->data + q->at, n);
	q->at += n;
	return (ssize_t)n;
}

static ssize_t live_read_source(struct live_input *in, unsigned int i, void *buf, size_t len)
{
	return in->sorter.queue ? live_read_place(in, i, buf, len) : in->source->read(in->state, i, buf, len);
}

static ssize_t read_stream(void *arg, unsigned int i, void *buf, size_t len)
{
	struct live *l = arg;
	struct live_input *in = l->input;
	ssize_t n;

	while (i >= in->first + in->streams)
		in++;
	n = live_read_source(in, i - in->first, buf, len);
	if (n > 0) {
		l->moved += (uint64_t)n;
		meter_feed(&l->meter[i], buf, (size_t)n, took, in);
		live_keep(l, in, i - in->first, buf, (size_t)n);
	}
	return n == -EINTR ? -EAGAIN : n;
}

/* Return: 0 or -ENOMEM */
static int live_count_places(struct live *l, struct live_input *in)
{
	struct live_sorter *s = &in->sorter;

	in->first_place = l->places;
	in->places = in->source->places ? in->source->places(in->state) : in->streams;
	l->places += in->places;
	if (!in->source->place)
		return 0;
	s->streams = in->streams;
	in->streams = in->places;
	s->queue = calloc(in->places + 1, sizeof(*s->queue));
	s->over = calloc(s->streams + 1, sizeof(*s->over));
	return s->queue && s->over ? 0 : -ENOMEM;
}

static int count_streams(struct live *l, struct grt_err *err)
{
	struct pollfd *fds = calloc(SOURCE_STREAMS_MAX, sizeof(*fds));
	unsigned int i;
	int ret = fds ? 0 : -ENOMEM;

	for (i = 0; i < l->inputs && !ret; i++) {
		l->input[i].first = l->streams;
		l->input[i].streams = l->input[i].source->streams(l->input[i].state, fds);
		ret = live_count_places(l, &l->input[i]);
		l->streams += l->input[i].streams;
	}
	free(fds);
	/* the session delivers the part of a packet that it has, and reads the rest when it needs it */
	l->meter = calloc(l->streams + 1, sizeof(*l->meter));
	l->held = calloc(l->places + 1, sizeof(*l->held));
	if (ret || !l->meter || !l->held)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "cannot read live");
	for (i = 0; i < l->streams; i++)
		l->meter[i].early = true;
	return 0;
}

/* Running sources need fewer privileges than starting them. */
static void live_confine(struct live *l)
{
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	struct grt_err err = {.what = ""};
	struct live_input *in;
	uint64_t keep = 0;
	int ret = 0;

	privileges_user(&uid, &gid);
	for (in = l->input; !ret && in < l->input + l->inputs; in++)
		ret = in->source->confine ? in->source->confine(in->state, &keep, &err) : 0;
	if (!ret)
		ret = privileges_drop(keep, uid, gid, &err);
	for (in = l->input; in < l->input + l->inputs; in++)
		if (in->source->confined)
			ret = in->source->confined(in->state, ret ? NULL : &err) ?: ret;
	if (ret)
		live_note(l, &err);
}

int live_start(struct live *l, struct grt_err *err)
{
	struct grt_live streams = {.read = read_stream, .arg = l};
	unsigned int i;
	int ret = count_streams(l, err);

	streams.streams = l->streams;
	if (!ret)
		ret = grt_session_open_live(&l->session, &streams, err);
	for (i = 0; !ret && i < l->inputs; i++)
		ret = l->input[i].source->start(l->input[i].state, err);
	if (!ret)
		live_confine(l);
	l->begun = l->until = grt_now();
	for (i = 0; !ret && i < l->inputs; i++)
		if (l->input[i].source->begins)
			l->input[i].source->begins(l->input[i].state, l->begun);
	return ret;
}

bool live_files(const struct live *l, unsigned int i, struct live_files *files)
{
	const struct live_input *in = &l->input[i];

	if (i >= l->inputs)
		return false;
	*files = (struct live_files){in->source->name, in->places, in->streams, in->source->uncut,
				     in->source->hand ? in->streams : 0};
	return true;
}

uint64_t live_held(const struct live *l, uint64_t *from)
{
	struct source_held held = {0};
	uint64_t bytes = 0;

	*from = 0;
	for (const struct live_input *in = l->input; in < l->input + l->inputs; in++) {
		if (!in->source->held)
			continue;
		in->source->held(in->state, &held);
		*from = held.from > *from ? held.from : *from;
		bytes += held.bytes;
	}
	return bytes;
}

int live_hand(const struct live *l, unsigned int i, uint64_t from, uint64_t to,
	      int (*fn)(void *arg, unsigned int cpu, const char *data, size_t len), void *arg)
{
	const struct live_input *in = &l->input[i];

	return in->source->hand ? in->source->hand(in->state, from, to, fn, arg) : 0;
}

int live_describe(struct live *l, struct grt_env *env, int room)
{
	int n = 0;

	for (struct live_input *in = l->input; in < l->input + l->inputs; in++)
		n += in->source->describe(in->state, env + n, room - n);
	return machine_leave_out_counts(env, n);
}

void live_span(const struct live *l, uint64_t *from, uint64_t *to)
{
	*from = l->begun;
	*to = l->until;
}

struct grt_session *live_session(struct live *l)
{
	return l->session;
}

/* Goes on with the names each time, because files of symbols are read by another process. */
static int live_name_frames(struct live *l, struct grt_err *err)
{
	int ret = 0;

	for (struct live_input *in = l->input; ret >= 0 && in < l->input + l->inputs; in++)
		ret = in->source->name_frames ? in->source->name_frames(in->state) : 0;
	return ret < 0 ? grt_err_set(err, ret, strerror(-ret), NULL, "cannot name the frames of stacks") : 0;
}

static int flush_sources(struct live *l, struct grt_err *err)
{
	unsigned int i;
	int ret = l->stack ? live_name_frames(l, err) : 0;

	for (i = 0; !ret && i < l->inputs; i++)
		if (l->input[i].source->flush)
			ret = l->input[i].source->flush(l->input[i].state, err);
	return ret;
}

static void live_begin_round(struct live *l)
{
	l->moved = 0;
	for (struct live_input *in = l->input; in < l->input + l->inputs; in++)
		in->sorter.dry = false;
}

/* Asks the sources for the jobs in flight right before @at, up to which events are delivered; then waits
 * until every earlier event is readable. */
static int live_ask_running(struct live *l, uint64_t at, struct grt_err *err)
{
	const struct timespec slack = {.tv_nsec = SLACK_NS};
	int ret = 0;

	for (struct live_input *in = l->input; !ret && in < l->input + l->inputs; in++)
		ret = in->source->running ? in->source->running(in->state, at - 1, err) : 0;
	if (!ret)
		nanosleep(&slack, NULL);
	return ret;
}

/* Sets the moment at which the sums of the sources end, and waits for it. Return: the moment */
static uint64_t live_bound(struct live *l)
{
	const struct timespec pause = {.tv_nsec = BOUND_NS};
	uint64_t at = grt_now();

	if (!l->sums)
		return at;
	do {
		at = grt_now() + BOUND_NS;
		for (struct live_input *in = l->input; in < l->input + l->inputs; in++)
			if (in->source->bound)
				in->source->bound(in->state, at);
	} while (grt_now() >= at);
	while (grt_now() < at)
		nanosleep(&pause, NULL);
	return at;
}

/*
 * Delivers events that are old enough to be complete; @ticks: and those that a tick needs. Return: as
 * grt_session_run_live()
 */
static int live_pump(struct live *l, struct grt_consumer *c, bool ticks, struct grt_err *err)
{
	bool ask = ticks && l->whole_jobs;
	uint64_t until = ask ? live_bound(l) : grt_now() - l->slack;
	int ret = ask ? live_ask_running(l, until, err) : 0;

	ret = ret ?: flush_sources(l, err);
	live_begin_round(l);
	ret = ret ?: grt_session_run_live(l->session, c, until, err);
	if (ret >= 0 && l->failed)
		return grt_err_set(err, l->failed, strerror(-l->failed), NULL, "cannot keep a packet");
	l->until = until;
	return ret;
}

/* Return: number of sources that continue, or -errno */
static int stop_sources(struct live *l, struct grt_err *err)
{
	unsigned int i;
	int ret, on = 0;

	for (i = 0; i < l->inputs; i++) {
		ret = l->input[i].source->stop(l->input[i].state, err);
		if (ret < 0)
			return ret;
		on += !ret;
	}
	return on;
}

/* Compares the events that were read with the counts of the sources. Return: 0 or -errno */
static int live_check_missed(struct live *l, struct grt_err *err)
{
	struct grt_balance missed;
	struct live_input *in;
	int ret = 0;

	for (in = l->input; !ret && in < l->input + l->inputs; in++) {
		if (!in->source->missed)
			continue;
		ret = in->source->missed(in->state, &missed, err);
		if (!ret)
			grt_session_missed(l->session, &missed, in->source->name);
	}
	return ret;
}

/* Stops the sources and delivers what they have captured. */
static int live_drain(struct live *l, struct grt_consumer *c, struct grt_err *err)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	int on = stop_sources(l, err), ret;
	uint64_t end = grt_now();

	if (on < 0)
		return on;
	for (;;) {
		live_begin_round(l);
		ret = grt_session_run_live(l->session, c, end, err);
		l->until = end;
		if (ret != 1)
			return ret;
		if ((on && !l->moved) || grt_now() - end > DRAIN_NS)
			return 0;
		nanosleep(&pause, NULL);
	}
}

static int live_finish(struct live *l, struct grt_consumer *c, struct grt_err *err)
{
	int ret = live_drain(l, c, err);

	return ret < 0 ? ret : live_check_missed(l, err) ?: ret;
}

static bool live_should_end(const struct live *l, const struct live_limits *limits, uint64_t begun)
{
	struct pollfd target = {.fd = l->target, .events = POLLIN};

	if (cmd_signal)
		return true;
	if (limits->seconds > 0 && (double)(grt_now() - begun) >= limits->seconds * NS_PER_S)
		return true;
	return l->target >= 0 && poll(&target, 1, 0) > 0;
}

/* Time between two reads, ms. */
static int live_period(const struct live *l, bool prompt)
{
	unsigned int ms = PERIOD_MS;

	for (const struct live_input *in = l->input; prompt && in < l->input + l->inputs; in++)
		if (in->source->prompt_ms && in->source->prompt_ms < ms)
			ms = in->source->prompt_ms;
	return (int)ms;
}

static void pause_until_next(const struct live *l, const struct live_limits *limits, uint64_t begun)
{
	struct pollfd fds[] = {{.fd = l->target, .events = POLLIN},
			       {.fd = limits->fd ?: -1, .events = POLLIN}};
	double left = limits->seconds * 1e3 - (double)(grt_now() - begun) / 1e6;
	int ms = live_period(l, limits->prompt);

	if (l->moved >= BUSY_BYTES)
		return;
	if (limits->seconds > 0 && left < ms)
		ms = left > 0 ? (int)left + 1 : 0;
	poll(fds, 2, ms);
}

/* Return: 0 or -errno */
static int live_hand_sums(struct live *l, const struct live_limits *limits)
{
	int ret = 0;

	for (struct live_input *in = l->input; !ret && l->sums && in < l->input + l->inputs; in++)
		ret = in->source->sums ? in->source->sums(in->state, limits->sums, limits->arg) : 0;
	return ret;
}

static int call(int (*fn)(void *arg), const struct live_limits *limits)
{
	return fn ? fn(limits->arg) : 0;
}

int live_run(struct live *l, struct grt_consumer *c, const struct live_limits *limits, struct grt_err *err)
{
	uint64_t begun = grt_now(), step = (uint64_t)(limits->interval * 1e9), next = begun + step;
	int ret, called = 0;
	bool due;

	cmd_catch_signals();
	for (;;) {
		due = step && grt_now() >= next;
		ret = live_pump(l, c, due, err);
		called = call(limits->idle, limits);
		if (due && !called) {
			next += step * ((grt_now() - next) / step + 1);
			called = live_hand_sums(l, limits) ?: call(limits->tick, limits);
		}
		if (ret != 1 || called)
			break;
		if (live_should_end(l, limits, begun)) {
			ret = live_finish(l, c, err);
			called = call(limits->idle, limits);
			break;
		}
		pause_until_next(l, limits, begun);
	}
	return ret < 0 || ret > 1 ? ret : called;
}

static void live_free_sorter(struct live_input *in)
{
	for (unsigned int i = 0; in->sorter.queue && i < in->places; i++)
		free(in->sorter.queue[i].data);
	free(in->sorter.queue);
	free(in->sorter.over);
}

int live_close(struct live *l, struct grt_err *err)
{
	struct grt_err other;
	unsigned int i;
	int ret = 0, failed;

	if (!l)
		return 0;
	grt_session_close(l->session);
	for (i = 0; i < l->inputs; i++) {
		live_free_sorter(&l->input[i]);
		failed = l->input[i].source->close(l->input[i].state, ret ? &other : err);
		ret = ret ? ret : failed;
	}
	if (l->target >= 0)
		close(l->target);
	for (i = 0; l->held && i < l->places; i++)
		grt_cut_stream_free(&l->held[i]);
	free(l->held);
	free(l->meter);
	free(l);
	return ret;
}
