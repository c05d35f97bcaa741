// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * What tools print about the scheduler of NVIDIA's driver: `grtrace sched`, and
 * those that come with patched drivers:
 *
 *	23:00:24.591625 [CPU01] SCHEDULE PID=637320 python3 TSG=c1d00019:5c000012 channels=8 timeslice=1024 us
 *	interleave=MEDIUM allowed=yes
 *
 * TSG is client:group, or one number, the hardware's. Then the text is of
 * another tool, and two names in it are wrong: it takes the driver's numbers of
 * engines for others, and its levels of interleave are one too low (LOW is
 * MEDIUM, UNKNOWN is LOW). Keys come in any order, and those that are unknown
 * are passed over. The word behind the PID is the name of the thread that called,
 * of which no line says the id.
 *
 * At the end stand counts. Of these the one of events that the tool dropped is
 * taken: they are lost here, too.
 */
#include <errno.h>

#include <grtrace/tsg.h>

#include "codes/nv_codes.h"
#include "codes/nv_abi.h"
#include "base/day.h"
#include "codes/pci.h"
#include "text_input.h"

#define UNKNOWN UINT32_MAX

/* NV_ERR_GENERIC: refused, and the text does not say why */
#define STATUS_REFUSED 0xffffU

/*
 * struct row - a line. @keys: the text after the comm; @foreign: it is of another tool; @runlist: from its
 * token, if no key has it
 */
struct row {
	struct grt_text *t;
	const char *keys;
	const char *end;
	uint64_t time;
	uint32_t cpu;
	uint32_t pid;
	bool foreign;
	uint32_t client;
	uint32_t tsg;
	uint32_t grp;
	uint32_t runlist;
};

/** struct state - of a text; @statistics: the last line with a form was the title of the counts, or a count
 */
struct state {
	struct grt_day day;
	bool statistics;
};

/* ------------------------------------------------------------------ keys */

static bool is_unknown(struct grt_span s)
{
	return grt_span_is(s, "?");
}

static bool hex_of(struct grt_span s, uint32_t *v)
{
	const char *p = s.at;
	uint64_t n;

	if (!grt_scan_hex(&p, s.at + s.len, &n) || p != s.at + s.len)
		return false;
	*v = grt_u32(n);
	return true;
}

static uint64_t number(const struct row *r, const char *key, size_t len, uint64_t otherwise)
{
	uint64_t n;

	return grt_key_number(r->keys, r->end, key, len, &n) ? n : otherwise;
}
#define NUMBER(r, key, otherwise) number((r), key, sizeof(key) - 1, (otherwise))

/*
 * Reads a channel's handle; the client's handle and a colon precede it if it is not the group's client.
 * Return: 0: unknown
 */
static uint32_t channel(const struct row *r, const char *key, size_t len, uint32_t *client)
{
	struct grt_span s, c;
	const char *colon;
	uint32_t v;

	*client = 0;
	if (!grt_key_span(r->keys, r->end, key, len, &s))
		return 0;
	colon = memchr(s.at, ':', s.len);
	if (colon) {
		c = (struct grt_span){s.at, (size_t)(colon - s.at)};
		s = (struct grt_span){colon + 1, s.len - c.len - 1};
	}
	if (!hex_of(s, &v) || (colon && !hex_of(c, client)))
		return 0;
	if (!colon)
		*client = r->client;
	return v;
}
#define CHANNEL(r, key, client) channel((r), key, sizeof(key) - 1, (client))

/*
 * Converts engines that other tools name differently: the driver's 0 is none, and 1 is the engine of graphics
 * and compute.
 */
static bool foreign_engine(struct grt_span s, uint32_t *v)
{
	static const char *const names[] = {"GRAPHICS", "COPY", "NVDEC", "NVENC", "NVJPEG"};

	for (*v = 0; *v < sizeof(names) / sizeof(names[0]); ++*v)
		if (grt_span_is(s, names[*v]))
			return true;
	return false;
}

static uint32_t engine(const struct row *r)
{
	struct grt_span s;
	uint32_t v;

	if (!GRT_KEY_SPAN(r->keys, r->end, "engine=", &s) || is_unknown(s))
		return 0;
	if (r->foreign && foreign_engine(s, &v))
		return v;
	if (s.len > 2 && s.at[1] == 'x' && hex_of((struct grt_span){s.at + 2, s.len - 2}, &v))
		return v;
	return grt_nv_engine_number(s.at, s.len);
}

static uint32_t interleave(const struct row *r)
{
	struct grt_span s;

	if (!GRT_KEY_SPAN(r->keys, r->end, "interleave=", &s))
		return UNKNOWN;
	if (r->foreign && grt_span_is(s, "UNKNOWN"))
		return 0;
	for (uint32_t level = 0; grt_nv_interleave_name(level); level++) {
		if (!grt_span_is(s, grt_nv_interleave_name(level)))
			continue;
		level += r->foreign;
		return grt_nv_interleave_name(level) ? level : UNKNOWN;
	}
	return UNKNOWN;
}

/* Return: a handle, 0 for "none", or UNKNOWN */
static uint32_t subcontext(const struct row *r)
{
	struct grt_span s;
	uint32_t v;

	if (!GRT_KEY_SPAN(r->keys, r->end, "subctx=", &s))
		return UNKNOWN;
	if (grt_span_is(s, "none"))
		return 0;
	return hex_of(s, &v) ? v : UNKNOWN;
}

/* The driver's number of a channel; 0: unknown */
static uint32_t context(const struct row *r)
{
	struct grt_span s;
	uint32_t v;

	if (!GRT_KEY_SPAN(r->keys, r->end, "context=0x", &s))
		return 0;
	return hex_of(s, &v) ? v : 0;
}

static uint32_t gpu(const struct row *r)
{
	struct grt_span s;
	uint32_t bus = 0;

	if (GRT_KEY_SPAN(r->keys, r->end, "gpu=", &s) && memchr(s.at, ':', s.len))
		grt_scan_pci(&s.at, r->end, &bus);
	return bus;
}

static uint32_t status(const struct row *r)
{
	struct grt_span s;
	uint32_t v;

	if (GRT_KEY_SPAN(r->keys, r->end, "status=", &s)) {
		if (grt_nv_status_number(s.at, s.len, &v))
			return v;
		return s.len > 2 && hex_of((struct grt_span){s.at + 2, s.len - 2}, &v) ? v : STATUS_REFUSED;
	}
	return GRT_KEY_SPAN(r->keys, r->end, "allowed=", &s) && !grt_span_is(s, "yes") ? STATUS_REFUSED : 0;
}

static uint32_t cause(const struct row *r)
{
	static const char *const causes[] = {"?", "freed", "owner", "close", "exit"};
	struct grt_span s;

	if (GRT_KEY_SPAN(r->keys, r->end, "cause=", &s))
		for (uint32_t i = 1; i < sizeof(causes) / sizeof(causes[0]); i++)
			if (grt_span_is(s, causes[i]))
				return i;
	return 0;
}

/* ------------------------------------------------------------------ events */

static void nvsched_text_put(const struct row *r, struct grt_event *e, enum grt_event_type type)
{
	struct grt_tsg_event *t = (struct grt_tsg_event *)e;

	e->time = r->time;
	e->type = (uint16_t)type;
	e->ring = GRT_RING_NONE;
	e->pid = e->tid = r->pid;
	t->client = r->client;
	t->tsg = r->tsg;
	t->grp = r->grp;
	t->bus = gpu(r);
	t->runlist = grt_u32(NUMBER(r, "runlist=", r->runlist));
	t->nv_engine = engine(r);
	e->engine = (uint8_t)grt_nv_engine_of(t->nv_engine);
	grt_text_put(r->t, e, r->cpu);
}

static void row_init(struct row *r, bool yes)
{
	struct grt_ev_tsg_init ev = {
		.timeslice = NUMBER(r, "timeslice=", 0),
		.interleave = interleave(r),
		.status = status(r),
	};

	nvsched_text_put(r, &ev.e, GRT_EV_TSG_INIT);
}

static void row_schedule(struct row *r, bool yes)
{
	struct grt_ev_tsg_schedule ev = {
		.timeslice = NUMBER(r, "timeslice=", 0),
		.interleave = interleave(r),
		.status = status(r),
		.channels = grt_u32(NUMBER(r, "channels=", UNKNOWN)),
		.chid = UNKNOWN,
		.on = yes,
	};

	ev.channel = CHANNEL(r, "channel=", &ev.channel_client);
	nvsched_text_put(r, &ev.e, GRT_EV_TSG_SCHEDULE);
}

/* Volta's tokens have no runlist, and look like those of runlist 0 of GPUs before GB20x. */
static uint32_t runlist_of_token(uint32_t chid, uint32_t token)
{
	if (token & ~NV_TOKEN_BITS || NV_TOKEN_CHANNEL(token) != chid || token == chid)
		return UNKNOWN;
	return NV_TOKEN_RUNLIST(token);
}

static void row_token(struct row *r, bool yes)
{
	struct grt_ev_tsg_token ev = {
		.chid = grt_u32(NUMBER(r, "channel=", UNKNOWN)),
		.token = grt_u32(NUMBER(r, "token=", 0)),
		.status = status(r),
	};

	ev.channel = CHANNEL(r, "handle=", &ev.channel_client);
	if (r->foreign)
		r->runlist = runlist_of_token(ev.chid, ev.token);
	nvsched_text_put(r, &ev.e, GRT_EV_TSG_TOKEN);
}

static void row_channel(struct row *r, bool yes)
{
	struct grt_ev_tsg_channel ev = {
		.chid = grt_u32(NUMBER(r, "channel=", UNKNOWN)),
		.channels = grt_u32(NUMBER(r, "channels=", UNKNOWN)),
		.bound = yes,
		.subctx = subcontext(r),
		.veid = grt_u32(NUMBER(r, "veid=", UNKNOWN)),
		.context = context(r),
	};

	ev.channel = CHANNEL(r, "handle=", &ev.channel_client);
	nvsched_text_put(r, &ev.e, GRT_EV_TSG_CHANNEL);
}

static void row_set(struct row *r, bool yes)
{
	struct grt_ev_tsg_set ev = {
		.timeslice = NUMBER(r, "timeslice=", 0),
		.interleave = interleave(r),
		.status = status(r),
	};

	nvsched_text_put(r, &ev.e, GRT_EV_TSG_SET);
}

static void row_destroy(struct row *r, bool yes)
{
	struct grt_ev_tsg_destroy ev = {.cause = cause(r)};

	if (ev.cause > 1)
		ev.e.flags = GRT_FLAG_INFERRED;
	nvsched_text_put(r, &ev.e, GRT_EV_TSG_DESTROY);
}

static const struct row_kind {
	const char *event;
	void (*put)(struct row *r, bool yes);
	bool yes;
} row_kinds[] = {
	{"TASK_INIT", row_init, true},	     {"SCHEDULE", row_schedule, true},
	{"UNSCHEDULE", row_schedule, false}, {"WORK_SUBMIT", row_token, true},
	{"BIND", row_schedule, true},	     {"TOKEN_REQ", row_token, true},
	{"CHANNEL_ADD", row_channel, true},  {"CHANNEL_FREE", row_channel, false},
	{"TASK_SET", row_set, true},	     {"TASK_DESTROY", row_destroy, true},
};

/* ------------------------------------------------------------------ lines */

static const struct row_kind *nvsched_text_find_kind(struct grt_span event)
{
	for (size_t i = 0; i < sizeof(row_kinds) / sizeof(row_kinds[0]); i++)
		if (grt_span_is(event, row_kinds[i].event))
			return &row_kinds[i];
	return NULL;
}

/* "TIME [CPU01] EVENT PID=1"; what follows begins at *p. Return: whether it is such a line */
static bool scan_head(struct row *r, const char **p, const char *end, struct grt_span *event)
{
	uint64_t cpu, pid;

	grt_scan_blanks(p, end);
	if (!grt_scan_time_of_day(p, end, &r->time))
		return false;
	grt_scan_blanks(p, end);
	if (!GRT_SCAN_WORD(p, end, "[CPU") || !grt_scan_u64(p, end, &cpu) || !grt_scan_char(p, end, ']') ||
	    !grt_scan_token(p, end, event))
		return false;
	grt_scan_blanks(p, end);
	if (!GRT_SCAN_WORD(p, end, "PID=") || !grt_scan_u64(p, end, &pid))
		return false;
	r->cpu = grt_u32(cpu);
	r->pid = grt_u32(pid);
	return true;
}

/* The comm may hold blanks, and ends before the first key. */
static void take_comm(struct row *r, const char *p)
{
	struct grt_span comm = {p, 0}, word;
	const char *at = p;

	while (grt_scan_token(&at, r->end, &word) && !memchr(word.at, '=', word.len))
		comm.len = (size_t)(at - p);
	r->keys = p + comm.len;
	comm = grt_span_trim(comm);
	if (comm.len)
		grt_text_name(r->t, GRT_NAME_THREAD, r->pid, r->time, comm.at, comm.len, NULL, 0);
}

/* "c1d00019:5c000012", "c1d00019:?", "?" or the hardware's number. Return: false for something else */
static bool take_identity(struct row *r)
{
	struct grt_span s, half;
	const char *colon;
	uint64_t n;

	r->client = r->tsg = 0;
	r->grp = UNKNOWN;
	if (!GRT_KEY_SPAN(r->keys, r->end, "TSG=", &s))
		return false;
	colon = memchr(s.at, ':', s.len);
	if (!colon) {
		r->foreign = !is_unknown(s);
		if (is_unknown(s) || !grt_scan_u64(&s.at, r->end, &n))
			return !r->foreign;
		r->grp = grt_u32(n);
		return true;
	}
	half = (struct grt_span){colon + 1, s.len - (size_t)(colon + 1 - s.at)};
	s.len = (size_t)(colon - s.at);
	return hex_of(s, &r->client) && (is_unknown(half) || hex_of(half, &r->tsg));
}

/* "dropped       7", "dropped: 7" below the title of the counts */
static enum grt_text_line take_count(struct grt_text *t, struct state *s, const char *p, const char *end)
{
	uint64_t dropped;

	grt_scan_blanks(&p, end);
	if (GRT_SCAN_WORD(&p, end, "=== Statistics")) {
		s->statistics = true;
		return GRT_LINE_SKIP;
	}
	if (!s->statistics || !GRT_SCAN_WORD(&p, end, "dropped"))
		return GRT_LINE_SKIP;
	grt_scan_char(&p, end, ':');
	grt_scan_blanks(&p, end);
	if (!grt_scan_u64(&p, end, &dropped))
		return GRT_LINE_BAD;
	if (dropped)
		grt_text_lost(t, dropped);
	s->statistics = false;
	return GRT_LINE_SKIP;
}

static enum grt_text_line nvsched_line(struct grt_text *t, const char *line, const char *end)
{
	struct row r = {.t = t, .end = end, .runlist = UNKNOWN};
	struct state *s = grt_text_state(t);
	const char *p = line;
	const struct row_kind *kind;
	struct grt_span event;

	if (!scan_head(&r, &p, end, &event))
		return take_count(t, s, line, end);
	s->statistics = false;
	kind = nvsched_text_find_kind(event);
	r.time = grt_day_time(&s->day, r.time);
	if (!kind) {
		grt_text_unknown(t, event.at, event.len);
		return GRT_LINE_DONE;
	}
	take_comm(&r, p);
	if (!take_identity(&r))
		return GRT_LINE_BAD;
	kind->put(&r, kind->yes);
	return GRT_LINE_DONE;
}

/* Days are counted here as they are when the line is read: of the same lines, in the same order. */
static bool nvsched_time(const char *line, const char *end, uint64_t *ns, size_t *hint)
{
	struct grt_span event;
	struct row r;

	if (!scan_head(&r, &line, end, &event))
		return false;
	*ns = grt_day_time((struct grt_day *)hint, r.time);
	return true;
}

static bool nvsched_takes(const char *line, const char *end)
{
	struct grt_span event;
	struct row r;

	return scan_head(&r, &line, end, &event);
}

const struct grt_text_format grt_text_nvsched_text = {
	.name = "nvsched_text",
	.takes = nvsched_takes,
	.time = nvsched_time,
	.learned_size = sizeof(struct grt_day),
	.line = nvsched_line,
	.state_size = sizeof(struct state),
};
