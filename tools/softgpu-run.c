// SPDX-License-Identifier: GPL-2.0
/*
 * softgpu-run: plays a workload on the software GPU (kernel/softgpu) and writes
 * what really happened to each job. Three parts: jobs come from a file or a
 * pattern, are played in order of their times, and are written when all are over.
 *
 * See docs/softgpu.md and softgpu-run(1).
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/softgpu.h>

#define NAME "softgpu-run"
#define CLIENTS_MAX 64
#define RINGS_MAX (GRTRACE_SOFTGPU_TYPES * GRTRACE_SOFTGPU_RINGS_MAX)
#define JOBS_MAX 100000000U
#define NS_PER_S 1000000000ULL
#define NONE UINT32_MAX

/* Jobs of one ioctl: few enough that the first does not wait for the last to be copied. */
#define BATCH 64

/* struct job.result while there is none */
#define STATE_MISSING UINT32_MAX

enum status {
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_MISSING = 3,
};

/**
 * struct job - one of the workload
 * @at: ns after the start
 * @after: indices of @nafter jobs that must be over first
 * @waiters: jobs that wait for it and are not submitted yet
 * @sync: handle that the client has for its fence, 0: none
 */
struct job {
	uint64_t at;
	uint64_t duration;
	uint32_t ring;
	uint32_t client;
	uint32_t priority;
	uint32_t flags;
	int32_t error;
	uint32_t nafter;
	uint32_t *after;
	uint32_t waiters;
	uint32_t sync;
	struct grtrace_softgpu_result result;
};

struct name {
	char *text;
	uint32_t job;
};

struct workload {
	struct job *jobs;
	uint32_t njobs;
	uint32_t room;
	struct name *names;
	uint32_t nnames;
	uint32_t clients;
};

struct gpu {
	char path[PATH_MAX];
	struct grtrace_softgpu_ring ring[RINGS_MAX];
	uint32_t nrings;
	int fd[CLIENTS_MAX];
};

/** struct options - @seen: letters of options that only a pattern takes */
struct options {
	const char *device;
	const char *pattern;
	const char *file;
	const char *output;
	const char *rings;
	uint64_t duration;
	uint64_t seed;
	double rate;
	uint32_t jobs;
	bool json;
	bool print;
	bool quiet;
	const char *seen;
};

static volatile sig_atomic_t interrupted;

static const char *const priorities[GRTRACE_SOFTGPU_PRIORITIES] = {"normal", "low", "high"};
static const char *const types[GRTRACE_SOFTGPU_TYPES] = {"gfx", "compute", "sdma", "video"};
static const char *const states[GRTRACE_SOFTGPU_STATES] = {"done", "timeout", "refused", "killed"};

__attribute__((format(printf, 2, 3), noreturn)) static void die(enum status status, const char *fmt, ...)
{
	va_list ap;

	fputs(NAME ": ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

static void *grow(void *array, size_t n, size_t size)
{
	void *more = reallocarray(array, n, size);

	if (!more)
		die(STATUS_FAILED, "no memory for %zu jobs; try fewer", n);
	return more;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* ------------------------------------------------------------------ words */

/* Index of a word in a list, NONE: not in it. */
static uint32_t word_index(const char *const *list, uint32_t n, const char *word)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(list[i], word))
			return i;
	return NONE;
}

static bool parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *value)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || n < min || n > max)
		return false;
	*value = (uint32_t)n;
	return true;
}

/* "150us", "1.5ms", "2s", "300ns", "0" */
static bool parse_ns(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double n;

	if (*text < '0' || *text > '9')
		return false;
	n = strtod(text, &end);
	if (!*end && n == 0) {
		*ns = 0;
		return true;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit) || n * units[i].ns > 1e15)
			continue;
		*ns = (uint64_t)(n * units[i].ns + 0.5);
		return true;
	}
	return false;
}

/* "EIO", "5" */
static bool parse_errno(const char *text, int32_t *error)
{
	uint32_t n;

	if (parse_u32(text, 1, 4095, &n)) {
		*error = -(int32_t)n;
		return true;
	}
	for (int i = 1; i < 256; i++) {
		const char *name = strerrorname_np(i);

		if (name && !strcmp(name, text)) {
			*error = -i;
			return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------------ rings */

/**
 * struct rings - those that jobs go to in turn
 */
struct rings {
	uint32_t index[RINGS_MAX];
	uint32_t n;
};

/* The ring of this name, or all of this type. */
static bool add_rings(const struct gpu *gpu, const char *word, struct rings *rings)
{
	uint32_t type = word_index(types, GRTRACE_SOFTGPU_TYPES, word), before = rings->n;

	for (uint32_t i = 0; i < gpu->nrings && rings->n < RINGS_MAX; i++)
		if (gpu->ring[i].type == type || !strcmp(gpu->ring[i].name, word))
			rings->index[rings->n++] = i;
	return rings->n > before;
}

static void say_rings(const struct gpu *gpu)
{
	fprintf(stderr, "  %s has:", gpu->path);
	for (uint32_t i = 0; i < gpu->nrings; i++)
		fprintf(stderr, " %s", gpu->ring[i].name);
	fputs("; or all of a type: gfx compute sdma video\n", stderr);
}

/* -------------------------------------------------------------- workloads */

static struct job *add_job(struct workload *w)
{
	if (w->njobs == JOBS_MAX)
		die(STATUS_FAILED, "more than %u jobs; try fewer", JOBS_MAX);
	if (w->njobs == w->room) {
		w->room = w->room ? 2 * w->room : 1024;
		w->jobs = grow(w->jobs, w->room, sizeof(*w->jobs));
	}
	w->jobs[w->njobs] = (struct job){.result.state = STATE_MISSING};
	return &w->jobs[w->njobs++];
}

static void add_after(struct workload *w, struct job *job, uint32_t which)
{
	if (job->nafter == GRTRACE_SOFTGPU_DEPS_MAX)
		die(STATUS_FAILED, "a job after more than %u others; the device takes no more",
		    GRTRACE_SOFTGPU_DEPS_MAX);
	job->after = grow(job->after, job->nafter + 1, sizeof(*job->after));
	job->after[job->nafter++] = which;
	w->jobs[which].waiters++;
}

/**
 * struct reader - where in a workload file we are
 * @turn: of the rings of each type
 * @line: what a line says, for each of its jobs
 */
struct reader {
	struct workload *w;
	const struct gpu *gpu;
	const char *file;
	unsigned int number;
	uint64_t at;
	uint32_t turn;
	struct {
		struct job job;
		struct rings rings;
		const char *id;
		char *after;
		uint32_t count;
		uint64_t every;
		bool chain;
	} line;
};

__attribute__((format(printf, 2, 3), noreturn)) static void bad_line(const struct reader *r, const char *fmt,
								     ...)
{
	va_list ap;

	fprintf(stderr, NAME ": %s:%u: ", r->file, r->number);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\n  a line is: TIME RING DURATION [KEY=VALUE]..., see softgpu-run(1)\n", stderr);
	exit(STATUS_FAILED);
}

static bool key_id(struct reader *r, char *value)
{
	r->line.id = value;
	return *value && !strchr(value, ',');
}

static bool key_after(struct reader *r, char *value)
{
	r->line.after = value;
	return *value;
}

static bool key_priority(struct reader *r, char *value)
{
	r->line.job.priority = word_index(priorities, GRTRACE_SOFTGPU_PRIORITIES, value);
	return r->line.job.priority != NONE;
}

static bool key_client(struct reader *r, char *value)
{
	return parse_u32(value, 0, CLIENTS_MAX - 1, &r->line.job.client);
}

static bool key_error(struct reader *r, char *value)
{
	return parse_errno(value, &r->line.job.error);
}

static bool key_refuse(struct reader *r, char *value)
{
	r->line.job.flags |= GRTRACE_SOFTGPU_REFUSE;
	return parse_errno(value, &r->line.job.error);
}

static bool key_hang(struct reader *r, char *value)
{
	r->line.job.flags |= GRTRACE_SOFTGPU_HANG;
	return !*value;
}

static bool key_chain(struct reader *r, char *value)
{
	r->line.chain = true;
	return !*value;
}

static bool key_count(struct reader *r, char *value)
{
	return parse_u32(value, 1, JOBS_MAX, &r->line.count);
}

static bool key_every(struct reader *r, char *value)
{
	return parse_ns(value, &r->line.every);
}

static const struct {
	const char *name;
	bool (*set)(struct reader *r, char *value);
	const char *takes;
} keys[] = {
	{"id", key_id, "a name without commas"},
	{"after", key_after, "names of jobs above, with commas between"},
	{"priority", key_priority, "low, normal or high"},
	{"client", key_client, "0 to 63"},
	{"error", key_error, "an error such as EIO or 5"},
	{"refuse", key_refuse, "an error such as ENOMEM or 12"},
	{"hang", key_hang, "no value"},
	{"chain", key_chain, "no value"},
	{"count", key_count, "a number from 1"},
	{"every", key_every, "a time such as 100us"},
};

static void parse_key(struct reader *r, char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	else
		value = word + strlen(word);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].name, word))
			continue;
		if (!keys[i].set(r, value))
			bad_line(r, "%s '%s': it takes %s", word, value, keys[i].takes);
		return;
	}
	bad_line(r, "'%s' is not a key", word);
}

static uint32_t find_name(const struct workload *w, const char *text)
{
	for (uint32_t i = w->nnames; i; i--)
		if (!strcmp(w->names[i - 1].text, text))
			return w->names[i - 1].job;
	return NONE;
}

static void add_name(struct workload *w, const char *text, uint32_t job)
{
	w->names = grow(w->names, w->nnames + 1, sizeof(*w->names));
	w->names[w->nnames] = (struct name){strdup(text), job};
	if (!w->names[w->nnames++].text)
		die(STATUS_FAILED, "no memory for names; try fewer");
}

static void resolve_after(struct reader *r, struct job *job)
{
	for (char *name = strtok(r->line.after, ","); name; name = strtok(NULL, ",")) {
		uint32_t which = find_name(r->w, name);

		if (which == NONE)
			bad_line(r, "after '%s': no job above has this id", name);
		if (r->w->jobs[which].client != job->client)
			bad_line(r, "after '%s': it is of another client, which cannot share fences", name);
		add_after(r->w, job, which);
	}
}

static void add_line(struct reader *r)
{
	struct workload *w = r->w;
	uint32_t first = w->njobs;

	for (uint32_t i = 0; i < r->line.count; i++) {
		struct job *job = add_job(w);

		*job = r->line.job;
		job->at = r->at + i * r->line.every;
		job->ring = r->line.rings.index[r->turn++ % r->line.rings.n];
		if (i && r->line.chain)
			add_after(w, job, w->njobs - 2);
		if (!i && r->line.after)
			resolve_after(r, job);
		for (uint32_t j = 0; i && j < w->jobs[first].nafter; j++)
			add_after(w, job, w->jobs[first].after[j]);
	}
	if (r->line.id)
		add_name(w, r->line.id, w->njobs - 1);
}

static void parse_line(struct reader *r, char *text)
{
	char *time = strtok(text, " \t\n"), *ring = strtok(NULL, " \t\n"), *duration = strtok(NULL, " \t\n");
	uint64_t at;

	if (!time || *time == '#')
		return;
	memset(&r->line, 0, sizeof(r->line));
	r->line.count = 1;
	r->line.job.result.state = STATE_MISSING;
	if (!parse_ns(time + (*time == '+'), &at))
		bad_line(
			r,
			"time '%s': it takes a time from the start such as 1.5ms, or +100us after the line above",
			time);
	if (!ring || !duration)
		bad_line(r, "%s is missing", ring ? "the duration" : "the ring");
	r->at = *time == '+' ? r->at + at : at;
	if (!add_rings(r->gpu, ring, &r->line.rings)) {
		say_rings(r->gpu);
		bad_line(r, "ring '%s': there is none", ring);
	}
	if (!parse_ns(duration, &r->line.job.duration) || r->line.job.duration > GRTRACE_SOFTGPU_DURATION_MAX)
		bad_line(r, "duration '%s': it takes a time up to 60s", duration);
	for (char *word = strtok(NULL, " \t\n"); word && *word != '#'; word = strtok(NULL, " \t\n"))
		parse_key(r, word);
	add_line(r);
}

static void read_workload(struct workload *w, const struct gpu *gpu, const char *path)
{
	struct reader r = {.w = w, .gpu = gpu, .file = path};
	FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *text = NULL;
	size_t room = 0;

	if (!in)
		die(STATUS_FAILED, "%s: cannot read it: %s; name a workload file, or a pattern with -p", path,
		    strerror(errno));
	while (getline(&text, &room, in) >= 0) {
		r.number++;
		parse_line(&r, text);
	}
	if (ferror(in))
		die(STATUS_FAILED, "%s: cannot read it: %s", path, strerror(errno));
	free(text);
	if (in != stdin)
		fclose(in);
}

/* --------------------------------------------------------------- patterns */

/* splitmix64: the same numbers for the same seed everywhere */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/** struct making - the job of a pattern that is made: the @i-th of @n, @interval ns after the one before */
struct making {
	struct workload *w;
	struct job *job;
	uint32_t i;
	uint32_t n;
	uint64_t interval;
};

static void make_steady(struct making *m)
{
	m->job->at = m->i * m->interval;
}

#define BURST 16

static void make_burst(struct making *m)
{
	m->job->at = m->i / BURST * BURST * m->interval;
}

/* Three clients, one of each priority, on the rings at once. */
static void make_contended(struct making *m)
{
	m->job->at = m->i * m->interval;
	m->job->client = m->i % 3;
	m->job->priority = m->i % GRTRACE_SOFTGPU_PRIORITIES;
}

static void make_chain(struct making *m)
{
	m->job->at = m->i * m->interval;
	if (m->i)
		add_after(m->w, m->job, m->i - 1);
}

/* Some fail, one is refused, two hang. */
static void make_hang(struct making *m)
{
	m->job->at = m->i * m->interval;
	if (m->i % 20 == 7)
		m->job->error = -EIO;
	if (m->i == m->n / 2) {
		m->job->error = -ENOMEM;
		m->job->flags = GRTRACE_SOFTGPU_REFUSE;
	}
	if (m->i == m->n / 3 || m->i == m->n * 2ULL / 3) {
		m->job->error = 0;
		m->job->flags = GRTRACE_SOFTGPU_HANG;
	}
}

/** patterns - with the rate, duration and rings that they have by default */
static const struct pattern {
	const char *name;
	void (*make)(struct making *m);
	double rate;
	uint64_t duration;
	const char *rings;
	const char *help;
} patterns[] = {
	{"steady", make_steady, 1000, 500000, "gfx,compute", "jobs at equal distances"},
	{"burst", make_burst, 1000, 500000, "gfx,compute", "16 jobs at a time"},
	{"contended", make_contended, 2000, 600000, "gfx_0", "three clients want more than a ring can do"},
	{"dependency-chain", make_chain, 1000, 500000, "gfx,compute,sdma",
	 "each job waits for the one before"},
	{"hang", make_hang, 1000, 500000, "gfx,compute", "some jobs fail, one is refused, two hang"},
};

#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

static const struct pattern *find_pattern(const char *name)
{
	for (size_t i = 0; i < PATTERNS; i++)
		if (!strcmp(patterns[i].name, name))
			return &patterns[i];
	fprintf(stderr, NAME ": there is no pattern '%s'; there are:", name);
	for (size_t i = 0; i < PATTERNS; i++)
		fprintf(stderr, " %s", patterns[i].name);
	fputc('\n', stderr);
	exit(STATUS_USAGE);
}

static void list_rings(const struct gpu *gpu, const char *list, struct rings *rings)
{
	char *copy = strdup(list), *word;

	if (!copy)
		die(STATUS_FAILED, "no memory");
	for (word = strtok(copy, ","); word; word = strtok(NULL, ",")) {
		if (add_rings(gpu, word, rings))
			continue;
		say_rings(gpu);
		die(STATUS_FAILED, "ring '%s': there is none", word);
	}
	if (!rings->n)
		die(STATUS_USAGE, "--rings '%s': it takes names or types, with commas between", list);
	free(copy);
}

/* Durations lie between a half and three halves of the one that was requested. */
static void make_workload(struct workload *w, const struct gpu *gpu, const struct options *o)
{
	const struct pattern *p = find_pattern(o->pattern);
	uint64_t duration = o->duration ? o->duration : p->duration, seed = o->seed;
	struct making m = {.w = w, .n = o->jobs};
	struct rings rings = {.n = 0};

	m.interval = (uint64_t)(1e9 / (o->rate > 0 ? o->rate : p->rate) + 0.5);
	list_rings(gpu, o->rings ? o->rings : p->rings, &rings);
	for (m.i = 0; m.i < m.n; m.i++) {
		m.job = add_job(w);
		m.job->duration = duration / 2 + random_next(&seed) % (duration + 1);
		m.job->ring = rings.index[m.i % rings.n];
		p->make(&m);
	}
}

/* As a file that plays the same. */
static void print_workload(const struct workload *w, const struct gpu *gpu, FILE *out)
{
	for (uint32_t i = 0; i < w->njobs; i++) {
		const struct job *job = &w->jobs[i];

		fprintf(out, "%" PRIu64 "ns %s %" PRIu64 "ns", job->at, gpu->ring[job->ring].name,
			job->duration);
		if (job->client)
			fprintf(out, " client=%u", job->client);
		if (job->priority)
			fprintf(out, " priority=%s", priorities[job->priority]);
		if (job->error)
			fprintf(out, " %s=%d", job->flags & GRTRACE_SOFTGPU_REFUSE ? "refuse" : "error",
				-job->error);
		if (job->flags & GRTRACE_SOFTGPU_HANG)
			fputs(" hang", out);
		for (uint32_t j = 0; j < job->nafter; j++)
			fprintf(out, "%s%u", j ? "," : " after=", job->after[j]);
		if (job->waiters)
			fprintf(out, " id=%u", i);
		fputc('\n', out);
	}
}

/* ----------------------------------------------------------------- device */

/* A render node whose driver is ours; asked of sysfs, since other drivers take other ioctls by these numbers.
 */
static bool is_softgpu(const char *node)
{
	char link[PATH_MAX], target[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/sys/class/drm/%s/device/driver/module", node);
	n = readlink(link, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	return !strcmp(basename(target), GRTRACE_SOFTGPU_DRIVER);
}

static void find_device(struct gpu *gpu, const char *wanted)
{
	glob_t nodes = {.gl_pathc = 0};
	char copy[PATH_MAX];

	if (wanted) {
		snprintf(copy, sizeof(copy), "%s", wanted);
		if (!is_softgpu(basename(copy)))
			die(STATUS_MISSING,
			    "%s is not of the driver " GRTRACE_SOFTGPU_DRIVER "; leave --device away",
			    wanted);
		snprintf(gpu->path, sizeof(gpu->path), "%s", wanted);
		return;
	}
	glob("/dev/dri/renderD*", 0, NULL, &nodes);
	for (size_t i = 0; i < nodes.gl_pathc && !*gpu->path; i++)
		if (is_softgpu(strrchr(nodes.gl_pathv[i], '/') + 1))
			snprintf(gpu->path, sizeof(gpu->path), "%s", nodes.gl_pathv[i]);
	globfree(&nodes);
	if (!*gpu->path)
		die(STATUS_MISSING,
		    "no software GPU: its module is not loaded; try: modprobe grtrace_softgpu");
}

static void open_client(struct gpu *gpu, uint32_t client)
{
	gpu->fd[client] = open(gpu->path, O_RDWR | O_CLOEXEC);
	if (gpu->fd[client] >= 0)
		return;
	die(errno == EACCES ? STATUS_MISSING : STATUS_FAILED, "cannot open %s: %s%s", gpu->path,
	    strerror(errno), errno == EACCES ? "; try as root, or as a member of the group render" : "");
}

static void open_device(struct gpu *gpu, const char *wanted)
{
	uint32_t n = 1;

	find_device(gpu, wanted);
	open_client(gpu, 0);
	for (uint32_t i = 0; i < n && i < RINGS_MAX; i++) {
		gpu->ring[i].index = i;
		if (ioctl(gpu->fd[0], DRM_IOCTL_GRTRACE_SOFTGPU_RING, &gpu->ring[i]))
			die(STATUS_FAILED, "cannot ask %s for its rings: %s", gpu->path, strerror(errno));
		n = gpu->ring[i].count;
		gpu->nrings = i + 1;
	}
}

/* include/uapi/drm/drm.h */
struct drm_syncobj {
	uint32_t handle;
	uint32_t flags;
};
#define SYNCOBJ_CREATE _IOWR('d', 0xbf, struct drm_syncobj)
#define SYNCOBJ_DESTROY _IOWR('d', 0xc0, struct drm_syncobj)

static uint32_t sync_create(const struct gpu *gpu, const struct job *job)
{
	struct drm_syncobj s = {0};

	if (ioctl(gpu->fd[job->client], SYNCOBJ_CREATE, &s))
		die(STATUS_FAILED, "cannot make a sync object on %s: %s", gpu->path, strerror(errno));
	return s.handle;
}

/* The last job that waits for it is submitted: the scheduler has the fence. */
static void sync_destroy(const struct gpu *gpu, struct job *job)
{
	struct drm_syncobj s = {.handle = job->sync};

	if (ioctl(gpu->fd[job->client], SYNCOBJ_DESTROY, &s))
		die(STATUS_FAILED, "cannot destroy a sync object on %s: %s", gpu->path, strerror(errno));
	job->sync = 0;
}

/* ------------------------------------------------------------------- play */

/**
 * struct play - how far we are
 * @order: indices of the jobs by their times
 * @next: in @order
 * @over: jobs whose results are here
 * @late: the most that a job was submitted after its time, ns
 */
struct play {
	struct workload *w;
	struct gpu *gpu;
	uint32_t *order;
	uint32_t next;
	uint32_t over;
	uint64_t start;
	uint64_t late;
};

static const struct workload *sorted;

static int by_time(const void *a, const void *b)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	uint64_t at = sorted->jobs[i].at, other = sorted->jobs[j].at;

	if (at != other)
		return at < other ? -1 : 1;
	return i < j ? -1 : 1;
}

static void sort_jobs(struct play *p)
{
	p->order = grow(NULL, p->w->njobs, sizeof(*p->order));
	for (uint32_t i = 0; i < p->w->njobs; i++)
		p->order[i] = i;
	sorted = p->w;
	qsort(p->order, p->w->njobs, sizeof(*p->order), by_time);
}

/* A job can only wait for what is submitted before it. */
static void check_order(const struct play *p)
{
	const struct workload *w = p->w;
	bool *before = calloc(w->njobs, 1);

	if (!before)
		die(STATUS_FAILED, "no memory for %u jobs; try fewer", w->njobs);
	for (uint32_t i = 0; i < w->njobs; i++) {
		const struct job *job = &w->jobs[p->order[i]];

		for (uint32_t j = 0; j < job->nafter; j++)
			if (!before[job->after[j]])
				die(STATUS_FAILED,
				    "job %u at %" PRIu64 " ns is after job %u, which comes later",
				    p->order[i], job->at, job->after[j]);
		before[p->order[i]] = true;
	}
	free(before);
}

static void keep_result(struct play *p, const struct grtrace_softgpu_result *r)
{
	struct job *job;

	if (r->cookie >= p->w->njobs)
		die(STATUS_FAILED, "the device gave a result of a job that was not submitted");
	job = &p->w->jobs[r->cookie];
	if (job->result.state != STATE_MISSING)
		die(STATUS_FAILED, "the device gave two results of job %" PRIu64, (uint64_t)r->cookie);
	job->result = *r;
	p->over++;
}

/* Results of a client; waits up to @timeout ns for the first. Returns how many. */
static uint32_t read_results(struct play *p, uint32_t client, uint64_t timeout)
{
	static struct grtrace_softgpu_result results[1024];
	struct grtrace_softgpu_results arg = {
		.results = (uintptr_t)results,
		.capacity = sizeof(results) / sizeof(results[0]),
		.timeout = timeout,
	};

	if (ioctl(p->gpu->fd[client], DRM_IOCTL_GRTRACE_SOFTGPU_RESULTS, &arg)) {
		if (errno == EINTR)
			return 0;
		die(STATUS_FAILED, "cannot read results from %s: %s", p->gpu->path, strerror(errno));
	}
	for (uint32_t i = 0; i < arg.count; i++)
		keep_result(p, &results[i]);
	return arg.count;
}

static void fill(struct play *p, uint32_t index, struct grtrace_softgpu_job *to, uint32_t *syncs)
{
	struct job *job = &p->w->jobs[index];

	if (job->waiters && !job->sync)
		job->sync = sync_create(p->gpu, job);
	for (uint32_t i = 0; i < job->nafter; i++)
		syncs[i] = p->w->jobs[job->after[i]].sync;
	*to = (struct grtrace_softgpu_job){
		.duration = job->duration,
		.cookie = index,
		.in_syncs = (uintptr_t)syncs,
		.in_count = job->nafter,
		.out_sync = job->sync,
		.ring = job->ring,
		.priority = job->priority,
		.flags = job->flags,
		.error = job->error,
	};
}

static void submitted(struct play *p, struct job *job)
{
	uint64_t late = now() - p->start - job->at;

	if (late > p->late)
		p->late = late;
	for (uint32_t i = 0; i < job->nafter; i++) {
		struct job *before = &p->w->jobs[job->after[i]];

		if (!--before->waiters)
			sync_destroy(p->gpu, before);
	}
}

/* As many of the next jobs as are due, of one client, in one ioctl. */
static void submit_due(struct play *p)
{
	static uint32_t syncs[BATCH][GRTRACE_SOFTGPU_DEPS_MAX];
	static struct grtrace_softgpu_job jobs[BATCH];
	struct grtrace_softgpu_submit arg = {.jobs = (uintptr_t)jobs};
	uint32_t client = p->w->jobs[p->order[p->next]].client;
	uint64_t due = now() - p->start;

	while (arg.count < BATCH && p->next + arg.count < p->w->njobs) {
		uint32_t index = p->order[p->next + arg.count];

		if (p->w->jobs[index].client != client || p->w->jobs[index].at > due)
			break;
		fill(p, index, &jobs[arg.count], syncs[arg.count]);
		arg.count++;
	}
	if (ioctl(p->gpu->fd[client], DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT, &arg)) {
		if (errno == EAGAIN)
			read_results(p, client, NS_PER_S / 10);
		else if (errno != EINTR)
			die(STATUS_FAILED, "%s refused job %u: %s", p->gpu->path, p->order[p->next],
			    strerror(errno));
		return;
	}
	for (uint32_t i = 0; i < arg.done; i++)
		submitted(p, &p->w->jobs[p->order[p->next++]]);
}

static void sleep_until(uint64_t when)
{
	struct timespec t = {.tv_sec = (time_t)(when / NS_PER_S), .tv_nsec = (long)(when % NS_PER_S)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Waits for what is still running; a client that has nothing more does not wait. */
static void collect(struct play *p)
{
	while (p->over < p->next && interrupted < 2)
		for (uint32_t i = 0; i < p->w->clients && p->over < p->next; i++)
			while (read_results(p, i, NS_PER_S / 10))
				;
}

static void play(struct play *p)
{
	sort_jobs(p);
	check_order(p);
	for (uint32_t i = 1; i < p->w->clients; i++)
		open_client(p->gpu, i);
	p->start = now() + NS_PER_S / 100;
	while (p->next < p->w->njobs && !interrupted) {
		uint64_t at = p->start + p->w->jobs[p->order[p->next]].at;

		if (at > now())
			sleep_until(at);
		else
			submit_due(p);
	}
	collect(p);
}

/* ----------------------------------------------------------------- output */

/** columns - of a row: the name, and how to print the value of a job */
struct row {
	const struct job *job;
	const struct gpu *gpu;
	uint32_t index;
};

#define NUMBER(NAME, FMT, EXPR)                                \
	static void put_##NAME(FILE *out, const struct row *r) \
	{                                                      \
		fprintf(out, "%" FMT, (EXPR));                 \
	}
#define STAMP(NAME, OF)                                                        \
	static void put_##NAME(FILE *out, const struct row *r)                 \
	{                                                                      \
		if (r->job->result.OF)                                         \
			fprintf(out, "%" PRIu64, (uint64_t)r->job->result.OF); \
	}

NUMBER(job, PRIu32, r->index)
NUMBER(client, PRIu32, r->job->client)
NUMBER(pid, PRIu32, r->job->result.pid)
NUMBER(tid, PRIu32, r->job->result.tid)
NUMBER(ctx, PRIu64, (uint64_t)r->job->result.ctx)
NUMBER(seqno, PRIu64, (uint64_t)r->job->result.seqno)
NUMBER(duration, PRIu64, (uint64_t)r->job->result.duration)
NUMBER(status, PRId32, r->job->result.status)
STAMP(hw_ctx, hw_ctx)
STAMP(hw_seqno, hw_seqno)
STAMP(submit, submit)
STAMP(run, run)
STAMP(start, start)
STAMP(end, end)

static void put_ring(FILE *out, const struct row *r)
{
	fputs(r->gpu->ring[r->job->ring].name, out);
}

static void put_priority(FILE *out, const struct row *r)
{
	fputs(priorities[r->job->priority], out);
}

static void put_state(FILE *out, const struct row *r)
{
	fputs(r->job->result.state < GRTRACE_SOFTGPU_STATES ? states[r->job->result.state] : "unknown", out);
}

static const struct {
	const char *name;
	void (*put)(FILE *out, const struct row *r);
	bool text;
} columns[] = {
	{"job", put_job, false},	   {"ctx", put_ctx, false},
	{"seqno", put_seqno, false},	   {"ring", put_ring, true},
	{"client", put_client, false},	   {"priority", put_priority, true},
	{"pid", put_pid, false},	   {"tid", put_tid, false},
	{"hw_ctx", put_hw_ctx, false},	   {"hw_seqno", put_hw_seqno, false},
	{"duration", put_duration, false}, {"submit", put_submit, false},
	{"run", put_run, false},	   {"start", put_start, false},
	{"end", put_end, false},	   {"status", put_status, false},
	{"state", put_state, true},
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void put_csv(FILE *out, const struct row *r)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		if (i)
			fputc(',', out);
		columns[i].put(out, r);
	}
	fputc('\n', out);
}

/* A stamp of what did not happen is null. */
static void put_json(FILE *out, const struct row *r)
{
	char *value = NULL;
	size_t size = 0;
	FILE *text;

	for (size_t i = 0; i < COLUMNS; i++) {
		text = open_memstream(&value, &size);
		if (!text)
			die(STATUS_FAILED, "no memory");
		columns[i].put(text, r);
		fclose(text);
		fprintf(out, "%s\"%s\":%s%s%s", i ? "," : "{", columns[i].name, columns[i].text ? "\"" : "",
			size ? value : "null", columns[i].text ? "\"" : "");
		free(value);
	}
	fputs("}\n", out);
}

static void write_truth(const struct play *p, const struct options *o, FILE *out)
{
	for (size_t i = 0; i < COLUMNS && !o->json; i++)
		fprintf(out, "%s%s", columns[i].name, i + 1 < COLUMNS ? "," : "\n");
	for (uint32_t i = 0; i < p->w->njobs; i++) {
		struct row r = {&p->w->jobs[i], p->gpu, i};

		if (r.job->result.state != STATE_MISSING)
			(o->json ? put_json : put_csv)(out, &r);
	}
}

static bool as_told(const struct job *job)
{
	const struct grtrace_softgpu_result *r = &job->result;

	if (job->flags & GRTRACE_SOFTGPU_REFUSE)
		return r->state == GRTRACE_SOFTGPU_REFUSED && r->status == job->error;
	if (job->flags & GRTRACE_SOFTGPU_HANG)
		return r->state == GRTRACE_SOFTGPU_TIMEOUT;
	return r->state == GRTRACE_SOFTGPU_DONE && r->status == job->error;
}

/* Returns whether every job ended as the workload says. */
static bool summary(const struct play *p, bool quiet)
{
	uint32_t state[GRTRACE_SOFTGPU_STATES] = {0}, failed = 0, strange = 0;
	uint64_t last = p->start;

	for (uint32_t i = 0; i < p->w->njobs; i++) {
		const struct grtrace_softgpu_result *r = &p->w->jobs[i].result;

		strange += !as_told(&p->w->jobs[i]);
		if (r->state >= GRTRACE_SOFTGPU_STATES)
			continue;
		state[r->state]++;
		failed += r->state == GRTRACE_SOFTGPU_DONE && r->status;
		if (r->end > last)
			last = r->end;
	}
	if (!quiet)
		fprintf(stderr,
			NAME
			": %u jobs in %.3f s, %.0f/s: %u done (%u with an error), %u timed out, %u refused, "
			"%u killed; submitted at most %.3f ms late\n",
			p->over, (double)(last - p->start) / 1e9,
			last > p->start ? (double)p->over * 1e9 / (double)(last - p->start) : 0,
			state[GRTRACE_SOFTGPU_DONE], failed, state[GRTRACE_SOFTGPU_TIMEOUT],
			state[GRTRACE_SOFTGPU_REFUSED], state[GRTRACE_SOFTGPU_KILLED], (double)p->late / 1e6);
	if (strange)
		fprintf(stderr, NAME ": %u jobs did not end as the workload says%s\n", strange,
			interrupted ? ": it was interrupted"
				    : "; see the states, and timeout_ms of the module");
	return !strange;
}

/* ---------------------------------------------------------------- options */

static void usage(FILE *out)
{
	fputs("Usage: softgpu-run [OPTIONS] FILE\n"
	      "       softgpu-run [OPTIONS] -p PATTERN\n\n"
	      "Plays a workload on the software GPU, and writes what really happened to each\n"
	      "job: when it was submitted, handed to the ring, began and ended, and how.\n\n"
	      "  FILE                     jobs, one a line: TIME RING DURATION [KEY=VALUE]...\n"
	      "  -p, --pattern PATTERN    one of:\n",
	      out);
	for (size_t i = 0; i < PATTERNS; i++)
		fprintf(out, "    %-18s %s\n", patterns[i].name, patterns[i].help);
	fputs("  -j, --jobs N             jobs of the pattern (default 1000)\n"
	      "  -r, --rate N             jobs per second\n"
	      "  -t, --duration TIME      of a job in the middle, such as 100us\n"
	      "      --rings LIST         names or types of rings, used in turn\n"
	      "      --seed N             other durations (default 1)\n"
	      "      --print              print the workload as a file, play nothing\n"
	      "  -o, --output FILE        default: standard output\n"
	      "  -f, --format csv|json    csv has a head line, json a line per job\n"
	      "      --device PATH        render node, if there are several\n"
	      "  -q, --quiet              no summary\n"
	      "  -h, --help\n",
	      out);
}

__attribute__((noreturn)) static void usage_error(const char *what, const char *why)
{
	die(STATUS_USAGE, "%s: %s; see softgpu-run --help", what, why);
}

enum { OPT_RINGS = 256, OPT_SEED, OPT_PRINT, OPT_DEVICE };

static const struct option long_options[] = {
	{"pattern", required_argument, NULL, 'p'},
	{"jobs", required_argument, NULL, 'j'},
	{"rate", required_argument, NULL, 'r'},
	{"duration", required_argument, NULL, 't'},
	{"rings", required_argument, NULL, OPT_RINGS},
	{"seed", required_argument, NULL, OPT_SEED},
	{"print", no_argument, NULL, OPT_PRINT},
	{"output", required_argument, NULL, 'o'},
	{"format", required_argument, NULL, 'f'},
	{"device", required_argument, NULL, OPT_DEVICE},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Options of a pattern that have a number. */
static void number_option(struct options *o, int letter, const char *text)
{
	uint32_t seed;
	char *end;

	o->seen = letter == 'j'	  ? "--jobs"
		  : letter == 'r' ? "--rate"
		  : letter == 't' ? "--duration"
				  : "--seed";
	switch (letter) {
	case 'j':
		if (!parse_u32(text, 1, JOBS_MAX, &o->jobs))
			usage_error(text, "--jobs takes a number from 1");
		break;
	case 'r':
		o->rate = strtod(text, &end);
		if (*end || !(o->rate >= 0.001 && o->rate <= 1e9))
			usage_error(text, "--rate takes jobs per second, from 0.001 to 1e9");
		break;
	case 't':
		if (!parse_ns(text, &o->duration) || !o->duration ||
		    o->duration > GRTRACE_SOFTGPU_DURATION_MAX / 2)
			usage_error(text, "--duration takes a time such as 100us, up to 30s");
		break;
	default:
		if (!parse_u32(text, 0, UINT32_MAX, &seed))
			usage_error(text, "--seed takes a number");
		o->seed = seed;
	}
}

static void parse_option(struct options *o, int letter)
{
	switch (letter) {
	case 'p':
		o->pattern = optarg;
		break;
	case 'o':
		o->output = optarg;
		break;
	case 'f':
		o->json = !strcmp(optarg, "json");
		if (!o->json && strcmp(optarg, "csv"))
			usage_error(optarg, "--format takes csv or json");
		break;
	case 'q':
		o->quiet = true;
		break;
	case OPT_RINGS:
		o->rings = optarg;
		o->seen = "--rings";
		break;
	case OPT_PRINT:
		o->print = true;
		break;
	case OPT_DEVICE:
		o->device = optarg;
		break;
	case 'h':
		usage(stdout);
		exit(0);
	case '?':
		fputs("  see softgpu-run --help\n", stderr);
		exit(STATUS_USAGE);
	default:
		number_option(o, letter, optarg);
	}
}

static void parse_options(struct options *o, int argc, char **argv)
{
	int letter;

	*o = (struct options){.jobs = 1000, .seed = 1};
	while ((letter = getopt_long(argc, argv, "p:j:r:t:o:f:qh", long_options, NULL)) >= 0)
		parse_option(o, letter);
	if (optind < argc)
		o->file = argv[optind++];
	if (optind < argc)
		usage_error(argv[optind], "one file only");
	if (!o->file == !o->pattern)
		usage_error(o->file ? o->file : NAME, "give either a workload file or a pattern with -p");
	if (o->file && o->seen)
		usage_error(o->seen, "it is for patterns, a workload file says it itself");
	if (o->pattern)
		find_pattern(o->pattern);
}

static void on_signal(int number)
{
	interrupted++;
}

static void catch_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction a = {.sa_handler = on_signal};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &a, NULL);
}

/* A hang would last for ever. */
static void check_hangs(const struct workload *w, const struct gpu *gpu)
{
	for (uint32_t i = 0; i < w->njobs; i++)
		if (w->jobs[i].flags & GRTRACE_SOFTGPU_HANG && !gpu->ring[w->jobs[i].ring].timeout_ms)
			die(STATUS_FAILED,
			    "job %u hangs, and the module has no timeout; "
			    "try: rmmod grtrace_softgpu; modprobe grtrace_softgpu timeout_ms=2000",
			    i);
}

/* Opened first: nothing is played for a file that cannot be written. */
static FILE *open_output(const char *path)
{
	FILE *out = path ? fopen(path, "we") : stdout;

	if (!out)
		die(STATUS_FAILED, "%s: cannot write it: %s; name another file with -o", path,
		    strerror(errno));
	return out;
}

static void close_output(FILE *out, const char *path)
{
	if (ferror(out) | fflush(out) | (out != stdout && fclose(out)))
		die(STATUS_FAILED, "%s: cannot write it: %s", path ? path : "standard output",
		    strerror(errno));
}

int main(int argc, char **argv)
{
	static struct gpu gpu;
	struct workload w = {0};
	struct options o;
	struct play p = {.w = &w, .gpu = &gpu};
	bool good = true;
	FILE *out;

	parse_options(&o, argc, argv);
	open_device(&gpu, o.device);
	if (o.file)
		read_workload(&w, &gpu, o.file);
	else
		make_workload(&w, &gpu, &o);
	for (uint32_t i = 0; i < w.njobs; i++)
		if (w.jobs[i].client >= w.clients)
			w.clients = w.jobs[i].client + 1;
	out = open_output(o.output);
	if (o.print) {
		print_workload(&w, &gpu, out);
	} else {
		check_hangs(&w, &gpu);
		catch_signals();
		play(&p);
		write_truth(&p, &o, out);
		good = summary(&p, o.quiet);
	}
	close_output(out, o.output);
	return good ? 0 : STATUS_FAILED;
}
