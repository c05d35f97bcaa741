// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Kernel logs: the lines in which NVIDIA's driver reports an Xid, and those of
 * a ring of amdgpu that hangs. All other lines are passed over.
 *
 * What stands before the message decides what its stamp means:
 *
 *	[  12.345678]			dmesg, alone or in another form: the
 *					scheduler's clock. It began with
 *					CLOCK_MONOTONIC but is never corrected, so
 *					the two drift apart: milliseconds after
 *					minutes. It is taken as it is printed
 *	prio,seq,usec,flags;		/dev/kmsg: the same clock
 *	2031-01-01T00:00:00,123456+00:00	wall clock, ns since 1970
 *	[Wed Jan  1 00:00:00 2031]	wall clock of a zone that is not printed;
 *					taken as UTC
 *	Jan  1 00:00:00 host kernel:	the same without a year; taken as 1972
 *					and, from one December to the next January,
 *					the years after; newest first, the year before
 *	nothing				the stamp of the line before, flagged as
 *					inferred
 *
 * Where a line has two of them the last one counts. The process is the one
 * that the message names; its pid also stands for the thread.
 */
#include "core/codes.h"
#include "readers/pci.h"
#include "readers/text.h"

#define NS_PER_US UINT64_C(1000)
#define NS_PER_DAY (86400 * GRT_NS_PER_S)
/* A year without a number is a leap year, so that every date has a place. */
#define YEAR_BASE 1972
#define NS_PER_YEAR (366 * NS_PER_DAY)

/**
 * struct kernlog_state - what is known from the lines before
 * @last: stamp of the last line that had one
 * @yearless: the last stamp without a year, as if of YEAR_BASE
 * @years: that have begun since; -1: the one before, which is all that there is room for
 * @month: the one from which others are counted
 * @anchored: a month that is known has been met; those counted before it stand anywhere in the year
 * @adrift: the last stamp without a year was of such a one
 * @counted, @month_name, @month_len: the last month of a language that is not known here
 */
struct kernlog_state {
	uint64_t last;
	uint64_t yearless;
	int64_t years;
	unsigned int month;
	bool anchored;
	bool adrift;
	unsigned int counted;
	char month_name[16];
	size_t month_len;
};

/**
 * struct stamp - what stands before the message
 * @any: there is one
 * @yearless: its year is not known: YEAR_BASE
 * @certain: no other text looks like this
 * @message: the kernel's message follows
 */
struct stamp {
	uint64_t ns;
	bool any;
	bool yearless;
	bool certain;
	bool message;
};

/* Calendar */

static uint64_t days_since_1970(uint64_t year, uint64_t month, uint64_t day)
{
	/* years begin in March, so that the odd day is the last one */
	uint64_t y = year - (month < 3), m = (month + 9) % 12;

	return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

/* N digits */
static bool scan_digits(const char **p, const char *end, int n, uint64_t *v)
{
	const char *q = *p;

	for (*v = 0; n; n--, q++) {
		if (q >= end || !grt_is_digit(*q))
			return false;
		*v = *v * 10 + (uint64_t)(*q - '0');
	}
	*p = q;
	return true;
}

/* hh:mm:ss and a fraction behind a dot or a comma, in ns */
static bool scan_clock(const char **p, const char *end, uint64_t *ns)
{
	const char *q = *p;
	uint64_t hour, minute, second, unit = GRT_NS_PER_S;

	if (!scan_digits(&q, end, 2, &hour) || !grt_scan_char(&q, end, ':') ||
	    !scan_digits(&q, end, 2, &minute) || !grt_scan_char(&q, end, ':') ||
	    !scan_digits(&q, end, 2, &second) || hour > 23 || minute > 59 || second > 60)
		return false;
	*ns = (hour * 3600 + minute * 60 + second) * GRT_NS_PER_S;
	if (end - q > 1 && (*q == '.' || *q == ',') && grt_is_digit(q[1])) {
		for (q++; q < end && grt_is_digit(*q); q++) {
			unit /= 10;
			*ns += (uint64_t)(*q - '0') * unit;
		}
	}
	*p = q;
	return true;
}

static bool date_stamp(uint64_t year, uint64_t month, uint64_t day, uint64_t clock, uint64_t *ns)
{
	/* 2554 is where 64 bits end */
	if (year < 1970 || year > 2500 || month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	*ns = days_since_1970(year, month, day) * NS_PER_DAY + clock;
	return true;
}

/* Z, +hh:mm, -hhmm; nothing is UTC */
static void scan_zone(const char **p, const char *end, uint64_t *ns)
{
	const char *q = *p;
	uint64_t hour, minute, offset;
	char sign;

	if (grt_scan_char(p, end, 'Z') || q >= end || (*q != '+' && *q != '-'))
		return;
	sign = *q++;
	if (!scan_digits(&q, end, 2, &hour))
		return;
	grt_scan_char(&q, end, ':');
	if (!scan_digits(&q, end, 2, &minute))
		return;
	*p = q;
	offset = (hour * 3600 + minute * 60) * GRT_NS_PER_S;
	if (sign == '-')
		*ns += offset;
	else
		*ns -= *ns < offset ? *ns : offset;
}

/* 2031-01-01T00:00:00,123456+00:00 */
static bool scan_iso(const char **p, const char *end, uint64_t *ns)
{
	const char *q = *p;
	uint64_t year, month, day, clock;

	if (!scan_digits(&q, end, 4, &year) || !grt_scan_char(&q, end, '-') ||
	    !scan_digits(&q, end, 2, &month) || !grt_scan_char(&q, end, '-') ||
	    !scan_digits(&q, end, 2, &day) ||
	    (!grt_scan_char(&q, end, 'T') && !grt_scan_char(&q, end, ' ')) || !scan_clock(&q, end, &clock) ||
	    !date_stamp(year, month, day, clock, ns))
		return false;
	scan_zone(&q, end, ns);
	*p = q;
	return true;
}

/* 1..12 by its English name or its number ("1" and the word for month), 0: in another language */
static unsigned int month_number(struct grt_span name)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	const char *p = name.at;
	uint64_t n;

	for (unsigned int i = 0; name.len == 3 && i < 12; i++)
		if (!memcmp(names + 3 * i, name.at, 3))
			return i + 1;
	if (grt_scan_u64(&p, name.at + name.len, &n) && n >= 1 && n <= 12 && p < name.at + name.len)
		return (unsigned int)n;
	return 0;
}

static void known_month(struct kernlog_state *s, unsigned int month)
{
	if (!s->anchored)
		s->month_len = 0;
	s->anchored = true;
	s->month = month;
}

/* Months of another language are counted from the one before; without @s they are not understood. */
static unsigned int month_of(struct kernlog_state *s, struct grt_span name)
{
	unsigned int month = month_number(name);

	if (month && s)
		known_month(s, month);
	if (month || !s || name.len > sizeof(s->month_name))
		return month;
	if (name.len != s->month_len || memcmp(name.at, s->month_name, name.len)) {
		memcpy(s->month_name, name.at, name.len);
		s->month_len = name.len;
		s->month = s->counted = s->month % 12 + 1;
	}
	return s->counted;
}

/* "Jan  1 00:00:00" */
static bool scan_date(struct kernlog_state *s, const char **p, const char *end, uint64_t *month,
		      uint64_t *day, uint64_t *clock)
{
	const char *q = *p;
	struct grt_span name;

	if (!grt_scan_token(&q, end, &name))
		return false;
	grt_scan_blanks(&q, end);
	if (!grt_scan_u64(&q, end, day) || !grt_scan_char(&q, end, ' ') || !scan_clock(&q, end, clock))
		return false;
	*month = month_of(s, name);
	*p = q;
	return *month != 0;
}

/* What stands before the message, a function per form */

/* The part in brackets that dmesg writes, and the thread or CPU after it. */
static bool scan_dmesg(const char **p, const char *end, struct stamp *st)
{
	const char *q = *p, *caller;
	struct grt_span word;
	bool padded;

	if (!grt_scan_char(&q, end, '['))
		return false;
	padded = q < end && *q == ' ';
	grt_scan_blanks(&q, end);
	if (!grt_scan_stamp(&q, end, &st->ns) || !grt_scan_char(&q, end, ']'))
		return false;
	caller = q;
	grt_scan_blanks(&caller, end);
	if (grt_scan_char(&caller, end, '[')) {
		grt_scan_blanks(&caller, end);
		if (caller < end && (*caller == 'T' || *caller == 'C') &&
		    grt_scan_token(&caller, end, &word) && word.at[word.len - 1] == ']')
			q = caller;
	}
	st->any = st->message = true;
	st->yearless = false;
	st->certain = st->certain || padded;
	*p = q;
	return true;
}

/* "<6>" before it */
static bool scan_level(const char **p, const char *end, struct stamp *st)
{
	const char *q = *p;
	uint64_t level;

	if (!grt_scan_char(&q, end, '<') || !grt_scan_u64(&q, end, &level) || !grt_scan_char(&q, end, '>') ||
	    !scan_dmesg(&q, end, st))
		return false;
	st->certain = true;
	*p = q;
	return true;
}

/* "[Wed Jan  1 00:00:00 2031]" */
static bool scan_ctime(const char **p, const char *end, struct stamp *st)
{
	const char *q = *p;
	struct grt_span weekday;
	uint64_t month, day, clock, year;

	if (!grt_scan_char(&q, end, '[') || !grt_scan_token(&q, end, &weekday) ||
	    !scan_date(NULL, &q, end, &month, &day, &clock) || !grt_scan_char(&q, end, ' ') ||
	    !scan_digits(&q, end, 4, &year) || !grt_scan_char(&q, end, ']') ||
	    !date_stamp(year, month, day, clock, &st->ns))
		return false;
	st->any = st->certain = st->message = true;
	*p = q;
	return true;
}

/* "kern  :warn  : " before a date or dmesg's brackets */
static bool scan_facility(const char **p, const char *end, struct stamp *st)
{
	const char *q = *p;
	struct grt_span word;

	if (!GRT_SCAN_WORD(&q, end, "kern") || q >= end || (*q != ' ' && *q != ':'))
		return false;
	grt_scan_blanks(&q, end);
	if (!grt_scan_char(&q, end, ':') || !grt_scan_token(&q, end, &word))
		return false;
	grt_scan_blanks(&q, end);
	grt_scan_char(&q, end, ':');
	grt_scan_blanks(&q, end);
	if (!scan_dmesg(&q, end, st)) {
		if (!scan_iso(&q, end, &st->ns) || !grt_scan_char(&q, end, ' '))
			return false;
	}
	st->any = st->certain = st->message = true;
	*p = q;
	return true;
}

/* "prio,seq,usec,flags;" */
static bool scan_kmsg(const char **p, const char *end, struct stamp *st)
{
	const char *q = *p;
	uint64_t prio, seq, usec;

	if (!grt_scan_u64(&q, end, &prio) || !grt_scan_char(&q, end, ',') || !grt_scan_u64(&q, end, &seq) ||
	    !grt_scan_char(&q, end, ',') || !grt_scan_u64(&q, end, &usec) || !grt_scan_char(&q, end, ','))
		return false;
	q = memchr(q, ';', (size_t)(end - q));
	if (!q)
		return false;
	st->ns = usec > UINT64_MAX / NS_PER_US ? UINT64_MAX : usec * NS_PER_US;
	st->any = st->certain = st->message = true;
	*p = q + 1;
	return true;
}

/* "node: kern: warning: [2031-01-01T00:00:00.123456789Z]: " */
static bool scan_node(const char **p, const char *end, struct stamp *st)
{
	const char *q = grt_find_text(*p, end, ": kern: ", 8);

	q = q ? memchr(q, '[', (size_t)(end - q)) : NULL;
	if (!q)
		return false;
	q++;
	if (!scan_iso(&q, end, &st->ns) || !GRT_SCAN_WORD(&q, end, "]:"))
		return false;
	st->any = st->certain = st->message = true;
	*p = q;
	return true;
}

/* " host kernel:", after which dmesg's brackets may follow. */
static bool scan_host(const char **p, const char *end, struct stamp *st)
{
	const char *q = *p;
	struct grt_span host;

	if (!grt_scan_token(&q, end, &host) || !GRT_SCAN_WORD(&q, end, " kernel:"))
		return false;
	st->certain = st->message = true;
	grt_scan_blanks(&q, end);
	scan_dmesg(&q, end, st);
	*p = q;
	return true;
}

/* A file of syslog: only the kernel's lines are of interest, but all have a stamp. */
static bool scan_syslog(struct kernlog_state *s, const char **p, const char *end, struct stamp *st)
{
	const char *q = *p;
	uint64_t month, day, clock;

	if (scan_iso(&q, end, &st->ns) && grt_scan_char(&q, end, ' ')) {
		st->any = true;
	} else {
		q = *p;
		if (!scan_date(s, &q, end, &month, &day, &clock) || !grt_scan_char(&q, end, ' ') ||
		    !date_stamp(YEAR_BASE, month, day, clock, &st->ns))
			return false;
		st->any = st->yearless = true;
	}
	scan_host(&q, end, st);
	*p = q;
	return true;
}

/* Moves *@p to the message. */
static struct stamp scan_prefix(struct kernlog_state *s, const char **p, const char *end)
{
	static bool (*const forms[])(const char **p, const char *end, struct stamp *st) = {
		scan_level, scan_ctime, scan_facility, scan_kmsg, scan_node,
	};
	struct stamp st = {.ns = 0};

	if (scan_dmesg(p, end, &st)) {
		scan_host(p, end, &st);
		return st;
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (forms[i](p, end, &st))
			return st;
	if (!scan_syslog(s, p, end, &st))
		st = (struct stamp){.ns = 0};
	return st;
}

/*
 * Without a year: a step of more than half a year is the new year, in one
 * direction or the other. To the year before the first one it must be more than
 * three quarters: a log that is silent for long is likelier than one that is
 * newest first. Between months that are adrift and the first that is known any
 * step is forward: how far they are apart is not known.
 */
static uint64_t with_year(struct kernlog_state *s, uint64_t ns)
{
	uint64_t back = s->years > 0 ? NS_PER_YEAR / 2 : NS_PER_YEAR / 4 * 3;
	bool lands = s->adrift && s->anchored;

	if (ns + (lands ? 0 : NS_PER_YEAR / 2) < s->yearless)
		s->years++;
	else if (!lands && s->yearless && s->years >= 0 && ns > s->yearless + back)
		s->years--;
	s->yearless = ns;
	s->adrift = !s->anchored;
	return s->years < 0 ? ns - NS_PER_YEAR : ns + (uint64_t)s->years * NS_PER_YEAR;
}

/* Messages */

struct message {
	struct grt_text *t;
	uint64_t time;
	uint16_t flags;
	const char *p;
	const char *end;
};

/* The text behind a key up to the next ", "; empty where there is no such key. */
static struct grt_span take_key(struct message *m, const char *key)
{
	const char *q = m->p, *stop;
	struct grt_span value;

	if (!grt_scan_text(&q, m->end, key, strlen(key)))
		return (struct grt_span){NULL, 0};
	stop = grt_find_text(q, m->end, ", ", 2);
	value = (struct grt_span){q, (size_t)((stop ? stop : m->end) - q)};
	m->p = stop ? stop + 2 : m->end;
	return value;
}

/* "pid=N, name=COMM, ", each of which may be missing or '<unknown>' */
static void take_process(struct message *m, struct grt_event *e)
{
	struct grt_span pid = take_key(m, "pid="), name = take_key(m, "name=");
	const char *p = pid.at;
	uint64_t n;

	if (!pid.len || !grt_scan_u64(&p, pid.at + pid.len, &n) || n > INT32_MAX)
		return;
	e->pid = e->tid = (uint32_t)n;
	if (name.len && !grt_span_is(name, "<unknown>"))
		grt_text_name(m->t, GRT_NAME_THREAD, e->tid, m->time, name.at, name.len, name.at, name.len);
}

/* "Xid (PCI:0000:01:00): 79, pid=N, name=COMM, TEXT" */
static enum grt_text_line read_xid(struct message *m)
{
	struct grt_ev_xid xid = {
		.e = {.time = m->time, .type = GRT_EV_XID, .flags = m->flags, .ring = GRT_RING_NONE}};
	struct grt_span part;
	uint64_t code;

	if (!grt_scan_pci(&m->p, m->end, &xid.bus))
		return GRT_LINE_BAD;
	/* " GPU-I:05 GPU-CI:00" of a part of a GPU (MIG) */
	part.at = m->p;
	while (m->p < m->end && *m->p != ')')
		m->p++;
	part.len = (size_t)(m->p - part.at);
	part = grt_span_trim(part);
	if (!GRT_SCAN_WORD(&m->p, m->end, "): ") || !grt_scan_u64(&m->p, m->end, &code))
		return GRT_LINE_BAD;
	xid.code = grt_u32(code);
	GRT_SCAN_WORD(&m->p, m->end, ", ");
	take_process(m, &xid.e);
	grt_xid_set_text(&xid, part.at, part.len, m->p, (size_t)(m->end - m->p));
	grt_text_put(m->t, &xid.e, 0);
	return GRT_LINE_DONE;
}

/* "ring NAME timeout, signaled seq=N, emitted seq=N" */
static enum grt_text_line read_ring_timeout(struct message *m)
{
	struct grt_ev_error error = {.e = {.time = m->time, .type = GRT_EV_ERROR, .flags = m->flags}};
	const char *stop = grt_find_text(m->p, m->end, " timeout", 8);

	if (!stop || stop == m->p || stop - m->p > 31)
		return GRT_LINE_SKIP;
	error.e.ring =
		grt_text_ring(m->t, m->time, m->p, (size_t)(stop - m->p), "amdgpu", 6, &error.e.engine);
	grt_text_put(m->t, &error.e, 0);
	return GRT_LINE_DONE;
}

static enum grt_text_line count_bus_lost(struct message *m)
{
	grt_text_unknown(m->t, "fallen_off_the_bus", 18);
	return GRT_LINE_DONE;
}

static enum grt_text_line count_sxid(struct message *m)
{
	grt_text_unknown(m->t, "SXid", 4);
	return GRT_LINE_DONE;
}

static const struct message_kind {
	const char *text;
	size_t len;
	enum grt_text_line (*read)(struct message *m);
} message_kinds[] = {
#define MESSAGE(text, read)                  \
	{                                    \
		text, sizeof(text) - 1, read \
	}
	MESSAGE("NVRM: Xid (", read_xid),
	MESSAGE("has fallen off the bus", count_bus_lost),
	MESSAGE(" SXid (", count_sxid),
	MESSAGE("amdgpu: ring ", read_ring_timeout),
	MESSAGE("*ERROR* ring ", read_ring_timeout),
#undef MESSAGE
};

/* None of the messages begins like this: spares the search in nearly every line of a log. */
static bool begins_otherwise(const struct stamp *st, const char *p, const char *end)
{
	grt_scan_blanks(&p, end);
	return st->message && p < end && !strchr("Nna[*", *p);
}

/* The first of the messages that is in the line; *@p is moved behind it. */
static const struct message_kind *find_message(const struct stamp *st, const char **p, const char *end)
{
	if (begins_otherwise(st, *p, end))
		return NULL;
	for (size_t i = 0; i < sizeof(message_kinds) / sizeof(message_kinds[0]); i++) {
		const struct message_kind *k = &message_kinds[i];
		const char *at = grt_find_text(*p, end, k->text, k->len);

		if (!at)
			continue;
		*p = at + k->len;
		return k;
	}
	return NULL;
}

/* Lines */

static struct stamp scan_stamp(struct kernlog_state *s, const char **p, const char *end)
{
	struct stamp st;

	grt_scan_blanks(p, end);
	st = scan_prefix(s, p, end);
	if (st.yearless)
		st.ns = with_year(s, st.ns);
	return st;
}

static enum grt_text_line kernlog_line(struct grt_text *t, const char *line, const char *end)
{
	struct kernlog_state *s = grt_text_state(t);
	const struct message_kind *kind;
	struct message m = {.t = t};
	struct stamp st = scan_stamp(s, &line, end);

	if (st.any)
		s->last = st.ns;
	kind = find_message(&st, &line, end);
	if (!kind)
		return GRT_LINE_SKIP;
	m.time = s->last;
	m.flags = st.any ? 0 : GRT_FLAG_INFERRED;
	m.p = line;
	m.end = end;
	return kind->read(&m);
}

/* Years and months are counted here as they are when the line is read. */
static bool kernlog_time(const char *line, const char *end, uint64_t *ns, size_t *hint)
{
	struct stamp st = scan_stamp((struct kernlog_state *)hint, &line, end);

	*ns = st.ns;
	return st.any;
}

/* The start of an event as other text has it behind a stamp in brackets: a word of capitals only. */
static bool is_event(const char *p, const char *end)
{
	struct grt_span word;

	if (!grt_scan_token(&p, end, &word))
		return true;
	for (size_t i = 0; i < word.len; i++)
		if (!(word.at[i] >= 'A' && word.at[i] <= 'Z') && word.at[i] != '_' &&
		    !grt_is_digit(word.at[i]))
			return false;
	return true;
}

static bool kernlog_takes(const char *line, const char *end)
{
	struct kernlog_state any_language = {.last = 0};
	struct stamp st;

	grt_scan_blanks(&line, end);
	st = scan_prefix(&any_language, &line, end);
	if (st.certain)
		return !is_event(line, end);
	if (!st.any)
		return grt_scan_text(&line, end, "NVRM: ", 6);
	return find_message(&st, &line, end) != NULL;
}

const struct grt_text_format grt_text_kernlog_text = {
	.name = "kernlog_text",
	.takes = kernlog_takes,
	.time = kernlog_time,
	.learned_size = sizeof(struct kernlog_state),
	.line = kernlog_line,
	.state_size = sizeof(struct kernlog_state),
};
