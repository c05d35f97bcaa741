// SPDX-License-Identifier: GPL-2.0
/*
 * Why a trace is empty or unexpected: from the loaded module, or from the state of the module that a
 * recording contains.
 */
#include <grtrace/event_table.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/kmod.h"
#include "doctor.h"
#include "cmds/reading.h"

/**
 * struct facts - facts about either kind of trace
 * @live: it is the loaded module
 * @running: live: tracing is on
 * @kmod: the kernel module took part; otherwise @settings and @adapters are NULL
 * @settings: `key=value`, separated by newlines (live) or spaces (a recording)
 * @adapters: the module's file of this name
 * @balance: of all CPUs
 * @types: number of events by type
 */
struct facts {
	bool live;
	bool running;
	bool kmod;
	const char *settings;
	const char *adapters;
	struct grt_balance balance;
	uint64_t types[GRT_EV_MAX];
};

/* A setting that drops events, and the fate with which they are counted. */
static const struct limit {
	const char *key;
	enum grt_fate fate;
	const char *off;
} limits[] = {
	{"level", GRT_FATE_BELOW_LEVEL, "level=normal"},
	{"sample", GRT_FATE_SAMPLED_OUT, "sample=100"},
	{"sampling_mode", GRT_FATE_SAMPLED_OUT, "sampling_mode=static"},
	{"max_events_per_sec", GRT_FATE_RATE_LIMITED, "max_events_per_sec=0"},
	{"trace_ctx", GRT_FATE_FILTERED, "trace_ctx=0"},
	{"filter_engine_mask", GRT_FATE_FILTERED, "filter_engine_mask=4294967295"},
	{"filter_ring_id", GRT_FATE_FILTERED, "filter_ring_id=-1"},
	{"filter_events", GRT_FATE_FILTERED, "filter_events=all"},
	{"filter_pid", GRT_FATE_FILTERED, "filter_pid=0"},
	{"filter_uid", GRT_FATE_FILTERED, "filter_uid=-1"},
	{"filter_latency", GRT_FATE_FILTERED, "filter_latency=0"},
	{"watchlist", GRT_FATE_WATCH_DENIED, "watch_count=0"},
};
#define LIMITS (sizeof(limits) / sizeof(limits[0]))

/* The result of a new finding. */
static struct probe_result *doctor_trace_add(struct diagnosis *d, const char *name)
{
	struct finding *f = &d->list[d->n < FINDINGS_MAX - 1 ? d->n++ : d->n];

	f->name = name;
	return &f->r;
}

/* ------------------------------------------------------------ settings */

/* Return: whether a word is `KEY=` with an existing key. */
static bool is_key(const char *word)
{
	char name[64];
	size_t length = strcspn(word, "= \n");

	if (word[length] != '=' || length >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	return kmod_key_find(name) != NULL;
}

/* The value of a setting, up to the next key, because watch lists contain spaces. */
static bool doctor_trace_value_of(const char *settings, const char *key, char *value, size_t room)
{
	const char *p = settings, *end;
	size_t length = strlen(key);

	while (p && *p && (strncmp(p, key, length) || p[length] != '=')) {
		p += strcspn(p, " \n");
		p += strspn(p, " \n");
	}
	if (!p || !*p)
		return false;
	p += length + 1;
	for (end = p + strcspn(p, " \n"); *end == ' ' && !is_key(end + 1);)
		end += 1 + strcspn(end + 1, " \n");
	snprintf(value, room, "%.*s", (int)(end - p), p);
	return true;
}

static void explain_settings(struct diagnosis *d, const struct facts *f)
{
	char value[256], fix[128];
	uint64_t kept_out;
	int n = 0;
	size_t i;

	for (i = 0; i < LIMITS; i++) {
		if (!doctor_trace_value_of(f->settings, limits[i].key, value, sizeof(value)) ||
		    kmod_key_is_default(kmod_key_find(limits[i].key), value))
			continue;
		n++;
		kept_out = f->balance.fate[limits[i].fate];
		snprintf(fix, sizeof(fix), "sudo grtrace config %s%s", limits[i].off,
			 f->live ? "" : ", and record again");
		/* A higher level than usual drops no event. */
		if (!strcmp(limits[i].key, "level") && strcmp(value, "off") && strcmp(value, "0"))
			probe_set(doctor_trace_add(d, limits[i].key), PROBE_WORKS, NULL, "%s", value);
		else
			probe_set(doctor_trace_add(d, limits[i].key), PROBE_FAILS, fix,
				  "%s=%s %s in force: %" PRIu64 " of %" PRIu64 " {event|events} %s",
				  limits[i].key, value, f->live ? "is" : "was", kept_out,
				  (uint64_t)f->balance.emitted, grt_fate_names[limits[i].fate]);
	}
	if (!n)
		probe_set(doctor_trace_add(d, "settings"), PROBE_WORKS, NULL,
			  "no filter, watch list, rate limit or sampling is active");
}

/* ------------------------------------------------------------ adapters */

/* Why a tracepoint was not found, from `missing=a:not-in-this-kernel,b:...`; empty: the line does not say. */
static void missing_why(const char *line, const char *point, size_t length, char *why, size_t room)
{
	const char *at = strstr(line, " missing=");

	*why = '\0';
	for (at = at ? at + strlen(" missing=") : ""; *at && *at != ' '; at += *at == ',') {
		if (!strncmp(at, point, length) && at[length] == ':') {
			at += length + 1;
			snprintf(why, room, " (%.*s)", (int)strcspn(at, ", "), at);
			break;
		}
		at += strcspn(at, ", ");
	}
	while ((why = strchr(why, '-')))
		*why = ' ';
}

/* Names of the tracepoints in `a:1,b:0` that were not found, and why. */
static void unbound_points(const char *line, char *names, size_t room)
{
	const char *points = strstr(line, "tracepoints=");
	size_t length, used = 0;
	char why[64];

	names[0] = '\0';
	for (points = points ? points + strlen("tracepoints=") : ""; *points && *points != ' ';
	     points += length + (points[length] == ',')) {
		length = strcspn(points, ", ");
		if (length < 2 || strncmp(points + length - 2, ":0", 2) || used + 1 >= room)
			continue;
		missing_why(line, points, length - 2, why, sizeof(why));
		used += (size_t)snprintf(names + used, room - used, "%s%.*s%s", used ? " " : "",
					 (int)length - 2, points, why);
	}
}

/* Members of the driver's structs that the adapter can use, from `fields=KNOWN/ALL`. */
static void explain_fields(struct diagnosis *d, const char *name, const char *line)
{
	const char *at = strstr(line, " fields=");
	unsigned int known, all;

	if (at && sscanf(at, " fields=%u/%u", &known, &all) == 2 && known < all)
		probe_set(
			doctor_trace_add(d, "fields"), PROBE_UNKNOWN,
			"sudo grtrace start, which looks them up in the driver's BTF",
			"adapter %s knows %u of %u members of the driver's structs: values of the others are not recorded",
			name, known, all);
}

/* Return: whether this adapter sees its driver */
static bool explain_adapter(struct diagnosis *d, const char *line)
{
	char name[64] = "?", missing[512], why[128] = "?";
	const char *refused;
	uint64_t bound = 0;

	sscanf(line, "%63s", name);
	kmod_number(line, "bound", &bound);
	if (!bound) {
		probe_set(doctor_trace_add(d, "adapter"), PROBE_FAILS,
			  "load the driver of the GPU, and record again",
			  "adapter %s waits for its driver, which is not loaded", name);
		return false;
	}
	refused = strstr(line, " refused=");
	if (refused) {
		sscanf(refused, " refused=%127s", why);
		probe_set(doctor_trace_add(d, "adapter"), PROBE_FAILS,
			  "a version of the driver that this grtrace supports, or a newer grtrace",
			  "adapter %s does not support this version of its driver: %s", name, why);
		return false;
	}
	unbound_points(line, missing, sizeof(missing));
	if (*missing)
		probe_set(doctor_trace_add(d, "adapter"), PROBE_FAILS, NULL,
			  "adapter %s: the driver of this kernel has no tracepoint %s", name, missing);
	else
		probe_set(doctor_trace_add(d, "adapter"), PROBE_WORKS, NULL, "%s sees its driver", name);
	explain_fields(d, name, line);
	return true;
}

/* Return: whether any adapter sees its driver */
static bool explain_adapters(struct diagnosis *d, const struct facts *f)
{
	const char *next = f->adapters ? f->adapters : "";
	char line[4096];
	bool any = false, seen = false;

	while ((next = probe_line(next, line, sizeof(line)))) {
		if (!*line)
			continue;
		any = true;
		/* Room for further findings. */
		if (d->n < FINDINGS_MAX / 2)
			seen |= explain_adapter(d, line);
	}
	if (!any)
		probe_set(doctor_trace_add(d, "adapter"), PROBE_FAILS,
			  f->live ? "sudo grtrace start, which loads the adapters"
				  : "grtrace doctor, on the machine where it was recorded",
			  "no adapter %s loaded: no jobs are recorded", f->live ? "is" : "was");
	return seen;
}

/* Drivers of this system that no adapter serves. */
static void explain_drivers(struct diagnosis *d)
{
	struct probe_result r;

	probe_adapters(&r);
	if (r.state == PROBE_FAILS)
		*doctor_trace_add(d, "drivers") = r;
}

/* -------------------------------------------------------------- events */

static bool doctor_trace_add_types(struct probe_result *r, const struct facts *f)
{
	uint64_t sum = 0;
	int type;

	for (type = 1; type < GRT_EV_MAX; type++) {
		if (!f->types[type])
			continue;
		sum += type == GRT_EV_NAME ? 0 : f->types[type];
		if (grt_event_table[type].name)
			probe_add(r, "%s %" PRIu64, grt_event_table[type].name, f->types[type]);
		else
			probe_add(r, "type %d %" PRIu64, type, f->types[type]);
	}
	return sum != 0;
}

static void explain_idle(struct diagnosis *d, const struct facts *f, bool seen)
{
	if (f->live && !f->running)
		probe_set(doctor_trace_add(d, "gpu"), PROBE_UNKNOWN, "sudo grtrace record -- PROGRAM",
			  "no event since the last clear");
	else if (seen)
		probe_set(doctor_trace_add(d, "gpu"), PROBE_FAILS,
			  "run a program that uses the GPU while grtrace records",
			  "idle: the adapters are bound to their drivers, and no event of any type occurred");
	else
		probe_set(doctor_trace_add(d, "gpu"), PROBE_UNKNOWN, NULL, "no event of any type");
}

static void explain_events(struct diagnosis *d, const struct facts *f, bool seen)
{
	uint64_t emitted = f->balance.emitted, delivered = f->balance.fate[GRT_FATE_DELIVERED],
		 lost = f->balance.fate[GRT_FATE_LOST];
	struct probe_result *r;

	if (!emitted)
		explain_idle(d, f, seen);
	if (lost)
		probe_set(doctor_trace_add(d, "overruns"), PROBE_FAILS,
			  "sudo grtrace record --buffer 64M, or a filter (see grtrace-config(1))",
			  "%" PRIu64 " of %" PRIu64 " {event|events} lost: the buffer was full", lost,
			  emitted);
	r = doctor_trace_add(d, "events");
	probe_set(r, delivered ? PROBE_WORKS : PROBE_FAILS, NULL, "%" PRIu64 " of %" PRIu64 " delivered",
		  delivered, emitted);
	if (delivered && !doctor_trace_add_types(r, f))
		probe_add(r, "but none of them belongs to a job");
}

static void explain(struct diagnosis *d, const struct facts *f)
{
	bool seen = false;

	if (f->kmod) {
		seen = explain_adapters(d, f);
		if (f->live)
			explain_drivers(d);
		explain_settings(d, f);
	}
	explain_events(d, f, seen);
}

/* ---------------------------------------------------------------- live */

/* Lines `name count` of events_by_type. */
static void read_types(struct facts *f, const char *text)
{
	char value[32];
	int type;

	for (type = 1; type < GRT_EV_MAX; type++)
		if (grt_event_table[type].name &&
		    kmod_line(text, grt_event_table[type].name, value, sizeof(value)))
			f->types[type] = strtoull(value, NULL, 10);
}

static void explain_switch(struct diagnosis *d, const struct facts *f, int reader)
{
	if (f->running)
		probe_set(doctor_trace_add(d, "tracing"), PROBE_WORKS, NULL, "on%s",
			  reader ? "" : ", no reader: use grtrace report or record");
	else
		probe_set(doctor_trace_add(d, "tracing"), PROBE_FAILS,
			  "sudo grtrace record -- PROGRAM, which starts it, or sudo grtrace start",
			  "off: not started");
}

static int look_at_module(struct diagnosis *d, struct kmod *k, struct grt_err *err)
{
	struct facts f = {.live = true, .kmod = true};
	struct kmod_stats stats = {0};
	char *config = kmod_read(k, "config", err), *adapters = NULL, *types = NULL;
	int ret = config ? kmod_running(k, err) : -1;

	f.running = ret > 0;
	if (ret >= 0)
		adapters = kmod_read(k, "adapters", err);
	if (adapters)
		types = kmod_read(k, "events_by_type", err);
	ret = types ? kmod_stats(k, &stats, err) : -1;
	if (!ret) {
		f.settings = config;
		f.adapters = adapters;
		f.balance = stats.total;
		read_types(&f, types);
		explain_switch(d, &f, stats.reader);
		explain(d, &f);
	}
	free(stats.lines);
	free(types);
	free(adapters);
	free(config);
	return ret;
}

void doctor_live(struct diagnosis *d)
{
	struct kmod k = {.dir = -1};
	struct grt_err err = {0};

	/* The line of the source kmod has reported why the module cannot be opened. */
	if (kmod_open(&k, NULL))
		return;
	d->input = "the loaded module";
	if (look_at_module(d, &k, &err))
		probe_set(doctor_trace_add(d, "module"), PROBE_UNKNOWN, err.fix, "%s: %s", err.what, err.why);
	kmod_close(&k);
}

/* ----------------------------------------------------------- recording */

struct counter {
	struct grt_consumer c;
	struct facts *f;
};

static int count_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct facts *f = ((struct counter *)c)->f;

	if (e->type < GRT_EV_MAX)
		f->types[e->type]++;
	return 0;
}

/* The kernel module's own balance also counts events before the first packet and between packets. */
static void take_balance(struct facts *f, const char *kmod_balance, const struct grt_health *h)
{
	f->balance = h->balance;
	if (kmod_balance && *kmod_balance && !h->balance.emitted)
		kmod_balance_line(kmod_balance, &f->balance);
}

static void explain_file(struct diagnosis *d, const struct grt_health *h)
{
	uint64_t faults = 0;
	int i;

	for (i = 0; i < GRT_FAULTS; i++)
		faults += h->fault[i];
	if (!h->finished)
		probe_set(
			doctor_trace_add(d, "recorder"), PROBE_FAILS, NULL,
			"it did not end this recording (it was killed, or still runs): the end may be missing");
	if (faults)
		probe_set(doctor_trace_add(d, "file"), PROBE_FAILS, h->first.fix, "%s%s%s", h->first.what,
			  *h->first.why ? ": " : "", h->first.why);
	if (h->missing_events)
		probe_set(doctor_trace_add(d, "gaps"), PROBE_FAILS, NULL,
			  "%" PRIu64 " {event was|events were} in packets that are "
			  "missing",
			  h->missing_events);
	if (!reading_adds_up(h, 0))
		probe_set(doctor_trace_add(d, "balance"), PROBE_FAILS,
			  "grtrace report --verbose PATH, which shows it for each CPU",
			  "not every event is accounted for: %" PRIu64 " were delivered, %" PRIu64
			  " are in the recording",
			  (uint64_t)h->balance.fate[GRT_FATE_DELIVERED], h->events);
}

int doctor_recording(struct diagnosis *d, const char *path, struct grt_err *err)
{
	struct facts f = {0};
	struct counter counter = {.c = {.event = count_event, .unknown = count_event}, .f = &f};
	const struct grt_health *h;
	struct grt_session *s;
	int ret = grt_session_open(&s, path, err);

	if (ret)
		return ret;
	ret = grt_session_run(s, &counter.c, 0, UINT64_MAX, err);
	if (ret >= 0) {
		d->input = path;
		h = grt_session_health(s);
		f.kmod = grt_session_env(s, "kmod_version") != NULL;
		f.settings = grt_session_env(s, "kmod_settings");
		f.adapters = grt_session_env(s, "kmod_adapters");
		take_balance(&f, grt_session_env(s, "kmod_balance"), h);
		explain_file(d, h);
		explain(d, &f);
	}
	grt_session_close(s);
	return ret < 0 ? ret : 0;
}
