// SPDX-License-Identifier: GPL-2.0
/* Triggers of a black box, see triggers.h. */
#include "triggers.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fnv.h"
#include "base/units.h"
#include "trace/packet.h"

#define JOBS_MAX 65536U
#define CLIENTS_MAX 1024U
#define STEPS_MAX 1024U
#define NODES_MAX 4096U
#define DUMPS_MAX 256U
#define DUMPS "/sys/class/devcoredump"
#define DUMPS_NS 200000000ULL
/* Frames of a client that are remembered; the median is known from this number on. */
#define FRAMES 63U
#define FRAMES_LEAST 8U

enum limit { LIMIT_NONE, LIMIT_TIME, LIMIT_TIMES };

static const struct {
	const char *name;
	enum limit limit;
	const char *sources;
} rows[TRIGGERS] = {
#define GRT_TRIGGER(symbol, name, LIMIT, sources, help) [TRIGGER_##symbol] = {name, LIMIT_##LIMIT, sources},
#include "triggers.def"
#undef GRT_TRIGGER
};

/**
 * struct job - a job in flight
 * @ended: its end came before its SUBMIT
 * @told: it was reported
 */
struct job {
	uint64_t time;
	uint32_t pid;
	uint32_t tid;
	uint32_t ring;
	bool ended;
	bool told;
};

/**
 * struct step - a name of ranges
 * @kind: the name without its numbers
 */
struct step {
	uint64_t kind;
	char name[64];
};

/**
 * struct open_step - the step in which a thread is
 * @began: its first launch in the step, or earlier
 * @told: it was reported
 */
struct open_step {
	uint64_t began;
	struct step step;
	bool told;
};

/**
 * struct client - a client of the display, or a thread with steps
 * @took: its last durations, of which a new one replaces the oldest, ns
 */
struct client {
	uint64_t last;
	uint32_t n;
	uint64_t took[FRAMES];
};

const char *trigger_name(enum trigger trigger)
{
	return rows[trigger].name;
}

bool trigger_is_of(enum trigger trigger, const char *source)
{
	size_t length = strlen(source);

	for (const char *at = rows[trigger].sources; *at; at += strcspn(at, " "), at += *at == ' ')
		if (strcspn(at, " ") == length && !strncmp(at, source, length))
			return true;
	return !*rows[trigger].sources;
}

const char *trigger_sources(enum trigger trigger)
{
	return rows[trigger].sources;
}

#define LIMIT_TEXT_NONE ""
#define LIMIT_TEXT_TIME ">TIME"
#define LIMIT_TEXT_TIMES ">TIME|Nx"
const char triggers_names[] =
#define GRT_TRIGGER(symbol, name, LIMIT, sources, help) ", " name LIMIT_TEXT_##LIMIT
#include "triggers.def"
#undef GRT_TRIGGER
	"";

void triggers_init(struct triggers *t)
{
	*t = (struct triggers){.found = false};
	grt_keyed_init(&t->jobs, sizeof(struct job), JOBS_MAX);
	grt_keyed_init(&t->clients, sizeof(struct client), CLIENTS_MAX);
	grt_keyed_init(&t->steps, sizeof(struct step), STEPS_MAX);
	grt_keyed_init(&t->nodes, sizeof(struct step), NODES_MAX);
	grt_keyed_init(&t->open, sizeof(struct open_step), CLIENTS_MAX);
	grt_keyed_init(&t->dumps, 16, DUMPS_MAX);
	collectives_init(&t->collectives);
}

void triggers_free(struct triggers *t)
{
	grt_keyed_free(&t->jobs);
	grt_keyed_free(&t->clients);
	grt_keyed_free(&t->steps);
	grt_keyed_free(&t->nodes);
	grt_keyed_free(&t->open);
	grt_keyed_free(&t->dumps);
	collectives_free(&t->collectives);
}

/* ------------------------------------------------------------- parsing */

/* "2s", "500ms" or "3x". */
static bool triggers_parse_limit(const char *text, enum limit kind, struct trigger_limit *limit)
{
	static const struct {
		const char *suffix;
		double ns;
	} units[] = {{"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"s", 1e9}, {"", 1e9}};
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value > 0) || value > 1e6)
		return false;
	if (kind == LIMIT_TIMES && !strcmp(end, "x")) {
		limit->times = value;
		return value >= 1;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].suffix)) {
			limit->ns = (uint64_t)(value * units[i].ns);
			return limit->ns > 0;
		}
	return false;
}

static bool triggers_parse_word(struct triggers *t, const char *word)
{
	size_t length = strcspn(word, ">");

	for (unsigned int i = 0; i < TRIGGERS; i++) {
		if (strlen(rows[i].name) != length || strncmp(rows[i].name, word, length))
			continue;
		t->limit[i].on = true;
		if (rows[i].limit == LIMIT_NONE)
			return !word[length];
		return word[length] && triggers_parse_limit(word + length + 1, rows[i].limit, &t->limit[i]);
	}
	return false;
}

const char *triggers_parse(struct triggers *t, const char *list, char word[64])
{
	for (size_t length; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		snprintf(word, 64, "%.*s", (int)length, list);
		if (!triggers_parse_word(t, word))
			return word;
	}
	return NULL;
}

/* -------------------------------------------------------------- events */

/* Sets the incident, unless an earlier one is waiting. */
static void triggers_found(struct triggers *t, enum trigger trigger, const struct grt_event *e,
			   const char *text)
{
	if (t->found || !t->limit[trigger].on)
		return;
	t->found = true;
	t->incident = (struct incident){.trigger = trigger,
					.time = e->time,
					.pid = e->pid,
					.tid = e->tid,
					.ctx = grt_has_job(e) ? e->ctx : 0,
					.seqno = e->seqno,
					.ring = e->ring};
	snprintf(t->incident.text, sizeof(t->incident.text), "%s", text);
}

/* As above, for something that took too long. */
static void triggers_found_long(struct triggers *t, enum trigger trigger, const struct grt_event *e,
				uint64_t took, const char *text)
{
	bool first = !t->found;

	triggers_found(t, trigger, e, text);
	if (first && t->found)
		t->incident.began = e->time - took;
}

static struct incident triggers_of_job(const struct grt_key *key, const struct job *job, uint64_t now)
{
	return (struct incident){.trigger = TRIGGER_job,
				 .time = now,
				 .began = job->time,
				 .pid = job->pid,
				 .tid = job->tid,
				 .ctx = key->w[0],
				 .seqno = key->w[1],
				 .ring = job->ring};
}

/* Both ends of a job are known. If the recorder was kept waiting, it never saw the job in flight. Of several
 * such jobs, the one that was submitted first is the incident. */
static void triggers_see_both(struct triggers *t, struct grt_key key, const struct job *job, uint64_t end)
{
	struct incident *found = &t->incident;
	bool first = !t->found || (found->trigger == TRIGGER_job && job->time < found->began);
	char took[GRT_UNITS_MAX];

	if (!first || job->told || end < job->time || end - job->time <= t->limit[TRIGGER_job].ns)
		return;
	grt_units_ns(took, end - job->time);
	t->found = true;
	*found = triggers_of_job(&key, job, end);
	snprintf(found->text, sizeof(found->text), "a job was complete %s after its submit", took);
}

static int triggers_see_submit(struct triggers *t, const struct grt_event *e)
{
	const struct job submitted = {.time = e->time, .pid = e->pid, .tid = e->tid, .ring = e->ring};
	const struct grt_key key = {{e->ctx, e->seqno}};
	struct job *job;
	int ret = t->limit[TRIGGER_job].on
			  ? grt_keyed_get_or_replace(&t->jobs, &key, &t->forgotten, (void **)&job)
			  : 1;

	if (ret)
		return ret < 0 ? ret : 0;
	if (job->ended) {
		triggers_see_both(t, key, &submitted, job->time);
		grt_keyed_remove(&t->jobs, job);
	} else {
		*job = submitted;
	}
	return 0;
}

static void triggers_see_error(struct triggers *t, const struct grt_event *e, int status, const char *what)
{
	char text[128];

	if (status >= 0)
		return;
	snprintf(text, sizeof(text), "%s with error %d (%s)", what, status, strerror(-status));
	triggers_found(t, TRIGGER_fence_error, e, text);
}

static int triggers_see_complete(struct triggers *t, const struct grt_event *e)
{
	const struct grt_key key = {{e->ctx, e->seqno}};
	struct job *job = t->limit[TRIGGER_job].on ? grt_keyed_find(&t->jobs, &key) : NULL;
	int ret = 0;

	triggers_see_error(t, e, ((const struct grt_ev_complete *)e)->status, "a job ended");
	if (!t->limit[TRIGGER_job].on)
		return 0;
	if (job) {
		triggers_see_both(t, key, job, e->time);
		grt_keyed_remove(&t->jobs, job);
		return 0;
	}
	/* the CPU that submitted it may be read later */
	ret = grt_keyed_get_or_replace(&t->jobs, &key, &t->forgotten, (void **)&job);
	if (!ret)
		*job = (struct job){.time = e->time, .ended = true};
	return ret;
}

static int triggers_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Return: the median; 0: too few durations are known. */
static uint64_t triggers_median(const struct client *c)
{
	uint64_t sorted[FRAMES];
	unsigned int n = c->n < FRAMES ? c->n : FRAMES;

	if (n < FRAMES_LEAST)
		return 0;
	memcpy(sorted, c->took, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), triggers_order);
	return sorted[n / 2];
}

/* Notes the duration of something that a client repeats. @what: its name, and that of the median */
static void triggers_see_took(struct triggers *t, enum trigger trigger, const struct grt_event *e,
			      struct client *c, uint64_t took, const char *what[2])
{
	const struct trigger_limit *limit = &t->limit[trigger];
	uint64_t median = triggers_median(c);
	uint64_t most = limit->ns ?: median ? (uint64_t)((double)median * limit->times) : UINT64_MAX;
	char text[192], a[GRT_UNITS_MAX], b[GRT_UNITS_MAX];

	if (took > most) {
		grt_units_ns(a, took);
		grt_units_ns(b, median);
		snprintf(text, sizeof(text), "%s took %s; the median of %s is %s", what[0], a, what[1],
			 median ? b : "-");
		triggers_found_long(t, trigger, e, took, text);
	}
	if (took)
		c->took[c->n++ % FRAMES] = took;
}

static int triggers_see_frame(struct triggers *t, const struct grt_event *e)
{
	const struct grt_ev_vblank_delivered *v = (const struct grt_ev_vblank_delivered *)e;
	const struct grt_key key = {{v->file, v->crtc, e->device}};
	const char *what[] = {"a frame", "its client"};
	struct client *c;
	uint64_t took;
	int ret;

	if (!t->limit[TRIGGER_frame].on || !v->file)
		return 0;
	ret = grt_keyed_get_or_replace(&t->clients, &key, NULL, (void **)&c);
	if (ret)
		return ret;
	took = c->last && e->time > c->last ? e->time - c->last : 0;
	c->last = e->time;
	triggers_see_took(t, TRIGGER_frame, e, c, took, what);
	return 0;
}

/* The hash of the name without its digits. */
static uint64_t triggers_kind_of(const char *name)
{
	uint64_t kind = GRT_FNV_START;

	for (; *name; name++)
		if (*name < '0' || *name > '9')
			kind = grt_fnv(kind, name, 1);
	return kind;
}

/* Names that report --by step prefers as names of steps. */
static int triggers_see_name(struct triggers *t, const struct grt_event *e)
{
	const struct grt_ev_string *s = (const struct grt_ev_string *)e;
	const struct grt_key key = {{e->ctx, e->pid, s->number}};
	char name[sizeof(s->text) + 1];
	struct step *step;
	int ret;

	if (!t->limit[TRIGGER_step].on || s->offset || s->part > sizeof(s->text))
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)s->part, s->text);
	if (!strcasestr(name, "step") && !strcasestr(name, "iter"))
		return 0;
	ret = grt_keyed_get_or_replace(&t->steps, &key, NULL, (void **)&step);
	if (ret)
		return ret;
	step->kind = triggers_kind_of(name);
	snprintf(step->name, sizeof(step->name), "%.*s", (int)sizeof(step->name) - 1, name);
	return 0;
}

/* The step of a chain of ranges: the innermost one. */
static int triggers_see_node(struct triggers *t, const struct grt_event *e)
{
	const struct grt_ev_range_node *n = (const struct grt_ev_range_node *)e;
	const struct grt_key key = {{e->ctx, e->pid, n->node}}, name = {{e->ctx, e->pid, n->name}},
			     outer = {{e->ctx, e->pid, n->outer}};
	const struct step *step = t->limit[TRIGGER_step].on ? grt_keyed_find(&t->steps, &name) : NULL;
	struct step *node, found;
	int ret;

	if (!step && t->limit[TRIGGER_step].on && n->outer)
		step = grt_keyed_find(&t->nodes, &outer);
	if (!step)
		return 0;
	found = *step;
	ret = grt_keyed_get_or_replace(&t->nodes, &key, NULL, (void **)&node);
	if (!ret)
		*node = found;
	return ret;
}

static struct grt_key triggers_client_of(const struct grt_event *e, uint64_t kind)
{
	return (struct grt_key){{kind, e->ctx, (uint64_t)e->pid << 32 | e->tid, 1}};
}

static struct grt_key triggers_thread_of(const struct grt_event *e)
{
	return (struct grt_key){{e->ctx, e->pid, e->tid}};
}

/* A thread is in a step, which may be one that never ends. */
static int triggers_see_launch(struct triggers *t, const struct grt_event *e)
{
	const struct grt_ev_launch *l = (const struct grt_ev_launch *)e;
	const struct grt_key node = {{e->ctx, e->pid, l->range}}, thread = triggers_thread_of(e);
	const struct step *step =
		t->limit[TRIGGER_step].on && l->range ? grt_keyed_find(&t->nodes, &node) : NULL;
	struct open_step *open;
	struct grt_key client;
	int ret;

	if (!step)
		return 0;
	client = triggers_client_of(e, step->kind);
	if (!grt_keyed_find(&t->clients, &client))
		return 0;
	ret = grt_keyed_get_or_replace(&t->open, &thread, NULL, (void **)&open);
	if (!ret && open->step.kind != step->kind)
		*open = (struct open_step){.began = l->begin, .step = *step};
	return ret;
}

static void triggers_step_ended(struct triggers *t, const struct grt_event *e, uint64_t kind)
{
	const struct grt_key thread = triggers_thread_of(e);
	struct open_step *open = grt_keyed_find(&t->open, &thread);

	if (open && open->step.kind == kind)
		grt_keyed_remove(&t->open, open);
}

static int triggers_see_range(struct triggers *t, const struct grt_event *e)
{
	const struct grt_ev_range *r = (const struct grt_ev_range *)e;
	const struct grt_key name = {{e->ctx, e->pid, r->name}};
	const struct step *step = t->limit[TRIGGER_step].on ? grt_keyed_find(&t->steps, &name) : NULL;
	const struct grt_key key = triggers_client_of(e, step ? step->kind : 0);
	const char *what[] = {step ? step->name : "", "its thread"};
	struct client *c;
	int ret;

	if (step)
		triggers_step_ended(t, e, step->kind);
	if (!step || r->end < r->begin)
		return 0;
	ret = grt_keyed_get_or_replace(&t->clients, &key, NULL, (void **)&c);
	if (!ret)
		triggers_see_took(t, TRIGGER_step, e, c, r->end - r->begin, what);
	return ret;
}

static void triggers_see_xid(struct triggers *t, const struct grt_event *e)
{
	const struct grt_ev_xid *x = (const struct grt_ev_xid *)e;
	char text[192];

	snprintf(text, sizeof(text), "Xid %u: %.*s", x->code, (int)sizeof(x->text) - 1, x->text);
	triggers_found(t, TRIGGER_xid, e, text);
}

int triggers_see_event(struct triggers *t, const struct grt_event *e)
{
	int ret = t->limit[TRIGGER_collective].on ? collectives_see(&t->collectives, e) : 0;

	if (ret)
		return ret;
	switch (e->type) {
	case GRT_EV_SUBMIT:
		return triggers_see_submit(t, e);
	case GRT_EV_COMPLETE:
		return triggers_see_complete(t, e);
	case GRT_EV_FENCE:
		triggers_see_error(t, e, ((const struct grt_ev_fence *)e)->status,
				   "a fence for which jobs waited ended");
		return 0;
	case GRT_EV_ERROR:
		triggers_see_error(t, e, ((const struct grt_ev_error *)e)->status, "a job failed");
		return 0;
	case GRT_EV_VBLANK_DELIVERED:
		return triggers_see_frame(t, e);
	case GRT_EV_STRING:
		return triggers_see_name(t, e);
	case GRT_EV_RANGE_NODE:
		return triggers_see_node(t, e);
	case GRT_EV_LAUNCH:
		return triggers_see_launch(t, e);
	case GRT_EV_RANGE:
		return triggers_see_range(t, e);
	case GRT_EV_XID:
		triggers_see_xid(t, e);
		return 0;
	default:
		return 0;
	}
}

/* Events were lost, perhaps also the ends of jobs in flight. */
static void triggers_forget_all(struct triggers *t)
{
	void *job;

	t->doubted++;
	while ((job = grt_keyed_oldest(&t->jobs)))
		grt_keyed_remove(&t->jobs, job);
	while ((job = grt_keyed_oldest(&t->open)))
		grt_keyed_remove(&t->open, job);
	collectives_forget(&t->collectives);
}

int triggers_see(struct triggers *t, const struct grt_packet *p)
{
	const struct grt_event *e = NULL;
	int ret = 0;

	if (grt_packet_fate(p, GRT_FATE_LOST))
		triggers_forget_all(t);
	while (!ret && (e = grt_packet_next(p, e))) {
		/* it is no error if an older program did not write these fields */
		if (e->type < GRT_EV_MAX && e->size >= grt_record_size[e->type])
			ret = triggers_see_event(t, e);
	}
	return ret;
}

bool triggers_take(struct triggers *t, struct incident *found)
{
	bool any = t->found;

	*found = t->incident;
	t->found = false;
	return any;
}

/* ------------------------------------------------------------- looking */

static void triggers_describe_job(const struct job *job, uint64_t now, struct incident *found)
{
	char age[GRT_UNITS_MAX];

	grt_units_ns(age, now - job->time);
	*found = triggers_of_job(grt_keyed_key(job), job, now);
	snprintf(found->text, sizeof(found->text), "a job is not complete %s after its submit", age);
}

bool triggers_late_job(struct triggers *t, uint64_t now, bool sure, struct incident *found)
{
	uint64_t limit = t->limit[TRIGGER_job].ns;
	struct job *job = limit ? grt_keyed_oldest(&t->jobs) : NULL, *next, *first = NULL;

	/* Jobs of several CPUs come in the order in which these are read, so a late one may follow others. */
	for (; job; job = next) {
		next = grt_keyed_next(&t->jobs, job);
		if (job->time >= now || now - job->time <= limit)
			continue;
		if (job->ended)
			grt_keyed_remove(&t->jobs, job);
		else if (!job->told && (!first || job->time < first->time))
			first = job;
	}
	if (!first)
		return false;
	first->told = sure;
	triggers_describe_job(first, now, found);
	return true;
}

static void triggers_describe_step(const struct open_step *open, uint64_t now, uint64_t median,
				   struct incident *found)
{
	const struct grt_key *key = grt_keyed_key(open);
	char age[GRT_UNITS_MAX], usual[GRT_UNITS_MAX];

	grt_units_ns(age, now - open->began);
	grt_units_ns(usual, median);
	*found = (struct incident){.trigger = TRIGGER_step,
				   .time = now,
				   .began = open->began,
				   .pid = (uint32_t)key->w[1],
				   .tid = (uint32_t)key->w[2],
				   .ring = GRT_RING_NONE};
	snprintf(found->text, sizeof(found->text),
		 "%.30s has not ended %.24s after its first launch; the median of its thread is %.24s",
		 open->step.name, age, median ? usual : "-");
}

/* Return: whether a process no longer exists, so that nothing of it will end. */
static bool triggers_is_gone(uint32_t pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

bool triggers_hung_step(struct triggers *t, uint64_t now, bool sure, struct incident *found)
{
	const struct trigger_limit *limit = &t->limit[TRIGGER_step];
	struct open_step *open = limit->on ? grt_keyed_oldest(&t->open) : NULL, *next;

	for (; open; open = next) {
		const struct grt_key *key = grt_keyed_key(open);
		const struct grt_key client = {{open->step.kind, key->w[0], key->w[1] << 32 | key->w[2], 1}};
		const struct client *c = grt_keyed_find(&t->clients, &client);
		uint64_t median = c ? triggers_median(c) : 0;
		uint64_t most = limit->ns ?: median ? (uint64_t)((double)median * limit->times) : UINT64_MAX;

		next = grt_keyed_next(&t->open, open);
		if (open->told || open->began > now || now - open->began <= most)
			continue;
		if (triggers_is_gone((uint32_t)key->w[1])) {
			grt_keyed_remove(&t->open, open);
			continue;
		}
		open->told = sure;
		triggers_describe_step(open, now, median, found);
		return true;
	}
	return false;
}

bool triggers_missing_rank(struct triggers *t, uint64_t now, bool sure, struct incident *found)
{
	const struct trigger_limit *limit = &t->limit[TRIGGER_collective];
	struct collective_missing m;
	char waited[GRT_UNITS_MAX];

	if (!limit->on || !collectives_missing(&t->collectives, limit->ns, now, sure, &m))
		return false;
	grt_units_ns(waited, now - m.since);
	*found = (struct incident){.trigger = TRIGGER_collective,
				   .time = now,
				   .began = m.since,
				   .pid = m.pid,
				   .tid = m.tid,
				   .ring = GRT_RING_NONE};
	snprintf(found->text, sizeof(found->text), "%.140s; another rank did %.24s before", m.text, waited);
	return true;
}

bool triggers_dump(struct triggers *t, uint64_t now, struct incident *found)
{
	bool first = !t->looked, any = false;
	struct dirent *e;
	void *seen;
	DIR *d;

	if (!t->limit[TRIGGER_devcoredump].on || now - t->looked < DUMPS_NS)
		return false;
	t->looked = now;
	d = opendir(DUMPS);
	while (d && !any && (e = readdir(d))) {
		const struct grt_key key = {
			{strtoull(e->d_name + strcspn(e->d_name, "0123456789"), NULL, 10), 1}};

		if (strncmp(e->d_name, "devcd", 5) || grt_keyed_find(&t->dumps, &key) ||
		    grt_keyed_get_or_replace(&t->dumps, &key, NULL, &seen))
			continue;
		/* dumps from before the recording are already known */
		any = !first;
		*found =
			(struct incident){.trigger = TRIGGER_devcoredump, .time = now, .ring = GRT_RING_NONE};
		snprintf(found->dump, sizeof(found->dump), "%.*s", (int)sizeof(found->dump) - 1, e->d_name);
		snprintf(found->text, sizeof(found->text), "the kernel has a dump of a device, %.40s",
			 e->d_name);
	}
	if (d)
		closedir(d);
	return any;
}
