// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Kernel logs: the lines in which NVIDIA's driver reports an Xid, an SXid of a switch, or
 * a GPU that has fallen off the bus; and those of a ring of amdgpu that hangs, with
 * the process behind it. Other messages are counted as passed over, lines that are no
 * message as bad.
 *
 * What precedes the message decides what its stamp means:
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
 *
 * Lines are understood in the order of their stamps. Years that are not printed,
 * and months of another language, are counted in the order of the text.
 */
#include "codes/codes.h"
#include "codes/pci.h"
#include "text_input.h"

#define NS_PER_US UINT64_C(1000)
#define NS_PER_DAY (86400 * GRT_NS_PER_S)
/* Dates without a year are counted in a leap year, so that every date exists. */
#define YEAR_BASE 1972
#define NS_PER_YEAR (366 * NS_PER_DAY)

/* Most GPUs that are lost at the same moment and distinguished. */
#define LOST_GPUS 16U

/**
 * struct kernlog_state - what is known from the lines before
 * @last: stamp of the last line that had one
 * @yearless: the last stamp without a year, as if of YEAR_BASE
 * @years: that have begun since; -1: the one before, which is all that there is room for
 * @month: the one from which others are counted
 * @anchored: a month that is known has been met; those counted before it stand anywhere in the year
 * @adrift: the last stamp without a year was of such a one
 * @hang: an ERROR of which a line next to it may say more; type 0: none
 * @process: that a line named before any hang of its moment, as in a log with its newest line first;
 * @process_time: when, @process_pid: 0: none
 * @guessed: @process is taken for that of @hang until another line names one
 * @lost: GPUs that have fallen off the bus near @last: type 0: an XID has said it; time 0: none
 * @forth, @back: lines behind a later one and before it, in the text
 * @before: stamp of the line before in the text
 * @probe: the address in the first line of a report of three, and @probe_time
 * @counted, @month_name, @month_len: the last month of a language that is unknown here
 */
struct kernlog_state {
	uint64_t last;
	uint64_t yearless;
	int64_t years;
	unsigned int month;
	bool anchored;
	bool adrift;
	struct grt_ev_error hang;
	struct grt_ev_xid lost[LOST_GPUS];
	char process[32];
	uint64_t process_time;
	uint32_t process_pid;
	bool guessed;
	uint64_t forth;
	uint64_t back;
	uint64_t before;
	uint32_t probe;
	uint64_t probe_time;
	unsigned int counted;
	char month_name[16];
	size_t month_len;
};

/**
 * struct stamp - the text before the message
 * @any: there is one
 * @yearless: its year is unknown: YEAR_BASE
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

/* Reads hh:mm:ss with a fraction after a dot or a comma, in ns */
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

/* The text before the message: a function for each form */

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

/* A file of syslog: only lines of the kernel are used, but all have a time stamp. */
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
 * For logs without a year: a step of more than half a year crosses new year, forwards or backwards. A step
 * into the year before the first one must be more than three quarters of a year, because a log with a long
 * gap is likelier than one with the newest lines first. Between months that are adrift and the first known
 * one, any step is forwards, since their distance is unknown.
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

/**
 * struct message - a line that is used
 * @line: its beginning
 * @p: the text after the part that identified it
 */
struct message {
	struct grt_text *t;
	uint64_t time;
	uint16_t flags;
	const char *line;
	const char *p;
	const char *end;
};

/* Takes a message that does not report an error of a GPU. */
static enum grt_text_line other_message(struct message *m)
{
	grt_text_unknown(m->t, "other messages", 14);
	return GRT_LINE_DONE;
}

/* Return: the text after a key up to the next ", "; empty without such a key. */
static struct grt_span kernlog_text_take_key(struct message *m, const char *key)
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
static void kernlog_text_take_process(struct message *m, struct grt_event *e)
{
	struct grt_span pid = kernlog_text_take_key(m, "pid="), name = kernlog_text_take_key(m, "name=");
	const char *p = pid.at;
	uint64_t n;

	if (!pid.len || !grt_scan_u64(&p, pid.at + pid.len, &n) || n > INT32_MAX)
		return;
	e->pid = e->tid = (uint32_t)n;
	if (name.len && !grt_span_is(name, "<unknown>"))
		grt_text_name(m->t, GRT_NAME_THREAD, e->tid, m->time, name.at, name.len, name.at, name.len);
}

#define XID_LOST 79

/* Lines about one event are at most this far apart, ns. */
#define NEAR GRT_NS_PER_S

static bool is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= NEAR;
}

static void kernlog_text_put_lost(struct grt_text *t, struct grt_ev_xid *lost)
{
	if (lost->e.type)
		grt_text_put(t, &lost->e, 0);
	lost->e.time = 0;
	lost->e.type = 0;
}

/* Finds the lost GPU, or one whose address is unknown on either side. Return: NULL: there is none */
static struct grt_ev_xid *find_lost(struct kernlog_state *s, uint32_t bus, uint64_t time)
{
	struct grt_ev_xid *any = NULL;

	for (struct grt_ev_xid *x = s->lost; x < s->lost + LOST_GPUS; x++) {
		if (!x->e.time || !is_near(x->e.time, time))
			continue;
		if (x->bus == bus)
			return x;
		if (!x->bus || !bus)
			any = x;
	}
	return any;
}

/* The oldest element, or one that holds nothing. */
static struct grt_ev_xid *place_for_lost(struct grt_text *t, struct kernlog_state *s)
{
	struct grt_ev_xid *oldest = s->lost;

	for (struct grt_ev_xid *x = s->lost; x < s->lost + LOST_GPUS; x++)
		if (x->e.time < oldest->e.time)
			oldest = x;
	kernlog_text_put_lost(t, oldest);
	return oldest;
}

/*
 * An Xid reports the same as a line near it: that line is no longer held, and does not become another event.
 */
static void hold_lost(struct message *m, const struct grt_ev_xid *xid)
{
	struct kernlog_state *s = grt_text_state(m->t);
	struct grt_ev_xid *x = find_lost(s, xid->bus, m->time);

	if (!x)
		x = place_for_lost(m->t, s);
	*x = *xid;
	x->e.type = 0;
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
	kernlog_text_take_process(m, &xid.e);
	grt_xid_set_text(&xid, part.at, part.len, m->p, (size_t)(m->end - m->p));
	grt_text_put(m->t, &xid.e, 0);
	if (xid.code == XID_LOST)
		hold_lost(m, &xid);
	return GRT_LINE_DONE;
}

/* Hangs: "ring NAME timeout, signaled seq=N, emitted seq=N", and a line about the process */

static void name_process(struct grt_text *t, struct grt_event *e, uint32_t pid, struct grt_span name)
{
	e->pid = e->tid = pid;
	grt_text_name(t, GRT_NAME_THREAD, pid, e->time, name.at, name.len, name.at, name.len);
}

static void put_hang(struct grt_text *t, struct kernlog_state *s)
{
	struct grt_span name = {s->process, strnlen(s->process, sizeof(s->process))};

	if (!s->hang.e.type)
		return;
	if (s->guessed)
		name_process(t, &s->hang.e, s->process_pid, name);
	grt_text_put(t, &s->hang.e, 0);
	s->hang.e.type = 0;
	s->guessed = false;
	s->process_pid = 0;
}

/* Reads "0000:28:00.0" after "amdgpu ". Return: 0: there is none */
static uint32_t scan_device(struct message *m)
{
	const char *p = grt_find_text(m->line, m->p, "amdgpu ", 7), *begin;
	uint32_t device;

	if (!p)
		return 0;
	begin = p += 7;
	if (!grt_scan_pci(&p, m->end, &device))
		return 0;
	while (p < m->end && *p != ':' && *p != ' ')
		p++;
	grt_text_name(m->t, GRT_NAME_DEVICE, device, m->time, begin, (size_t)(p - begin), "amdgpu", 6);
	return device;
}

static enum grt_text_line read_ring_timeout(struct message *m)
{
	struct kernlog_state *s = grt_text_state(m->t);
	const char *stop = grt_find_text(m->p, m->end, " timeout", 8);
	struct grt_event *e = &s->hang.e;

	if (!stop || stop == m->p || stop - m->p > 31 || !grt_find_text(m->line, stop, "amdgpu", 6))
		return other_message(m);
	put_hang(m->t, s);
	s->hang = (struct grt_ev_error){.e = {.time = m->time, .type = GRT_EV_ERROR, .flags = m->flags}};
	e->device = scan_device(m);
	e->ring = grt_text_ring(m->t, m->time, m->p, (size_t)(stop - m->p), "amdgpu", 6, &e->engine);
	s->guessed = s->process_pid && s->process_time == m->time;
	if (!s->guessed)
		s->process_pid = 0;
	return GRT_LINE_DONE;
}

/* "NAME pid N thread NAME pid N"; names hold blanks. */
static enum grt_text_line read_process(struct message *m)
{
	struct kernlog_state *s = grt_text_state(m->t);
	const char *stop = grt_find_text(m->p, m->end, " pid ", 5), *p = stop ? stop + 5 : NULL;
	struct grt_span name = {m->p, stop ? (size_t)(stop - m->p) : 0};
	uint64_t pid;

	if (!stop || !grt_find_text(m->line, m->p, "amdgpu", 6) || !grt_scan_u64(&p, m->end, &pid) ||
	    pid > INT32_MAX)
		return other_message(m);
	if (!pid)
		return GRT_LINE_DONE;
	if (s->hang.e.type && !(s->guessed && s->back > s->forth)) {
		s->guessed = false;
		name_process(m->t, &s->hang.e, (uint32_t)pid, name);
		put_hang(m->t, s);
		return GRT_LINE_DONE;
	}
	put_hang(m->t, s);
	s->process_pid = (uint32_t)pid;
	s->process_time = m->time;
	memset(s->process, 0, sizeof(s->process));
	memcpy(s->process, name.at, name.len < sizeof(s->process) ? name.len : sizeof(s->process));
	return GRT_LINE_DONE;
}

/* What has fallen off the bus */

/* Mostly there is an Xid, too, which has more details. */
static enum grt_text_line lost_gpu(struct message *m, uint32_t bus)
{
	static const char text[] = "GPU has fallen off the bus";
	struct kernlog_state *s = grt_text_state(m->t);
	struct grt_ev_xid *x = find_lost(s, bus, m->time);

	if (x) {
		x->bus = x->bus ?: bus;
		return GRT_LINE_DONE;
	}
	x = place_for_lost(m->t, s);
	*x = (struct grt_ev_xid){.e = {.time = m->time,
				       .type = GRT_EV_XID,
				       .flags = m->flags | GRT_FLAG_INFERRED,
				       .ring = GRT_RING_NONE},
				 .code = XID_LOST,
				 .bus = bus};
	grt_xid_set_text(x, text, 0, text, sizeof(text) - 1);
	return GRT_LINE_DONE;
}

/* The first address between the driver's name and the message. */
static uint32_t bus_before(const struct message *m)
{
	const char *p = grt_find_text(m->line, m->p, "NVRM: ", 6);
	uint32_t bus;

	for (; p && p < m->p; p++) {
		const char *q = p;

		if ((p[-1] == ' ' || p[-1] == ':' || p[-1] == '(') && grt_scan_pci(&q, m->p, &bus))
			return bus;
	}
	return 0;
}

static enum grt_text_line read_bus_lost(struct message *m)
{
	return grt_find_text(m->line, m->p, "NVRM: ", 6) ? lost_gpu(m, bus_before(m)) : other_message(m);
}

/* "NVRM: The NVIDIA GPU 0000:0b:00.0", "NVRM: (PCI ID: ...) installed in this system has", "NVRM: fallen off
 * the bus and is not responding to commands." */
static enum grt_text_line read_probe(struct message *m)
{
	struct kernlog_state *s = grt_text_state(m->t);

	if (!grt_scan_pci(&m->p, m->end, &s->probe))
		s->probe = 0;
	s->probe_time = m->time;
	return GRT_LINE_DONE;
}

static enum grt_text_line read_probe_id(struct message *m)
{
	return GRT_LINE_DONE;
}

static enum grt_text_line read_probe_lost(struct message *m)
{
	struct kernlog_state *s = grt_text_state(m->t);
	uint32_t bus = is_near(s->probe_time, m->time) ? s->probe : 0;

	s->probe = 0;
	return lost_gpu(m, bus);
}

/* "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): N, TEXT" */
static enum grt_text_line read_sxid(struct message *m)
{
	struct grt_ev_xid xid = {
		.e = {.time = m->time, .type = GRT_EV_XID, .flags = m->flags, .ring = GRT_RING_NONE}};
	uint64_t code;

	if (!grt_scan_pci(&m->p, m->end, &xid.bus))
		return GRT_LINE_BAD;
	while (m->p < m->end && *m->p != ')')
		m->p++;
	if (!GRT_SCAN_WORD(&m->p, m->end, "): ") || !grt_scan_u64(&m->p, m->end, &code))
		return GRT_LINE_BAD;
	xid.code = grt_u32(code);
	GRT_SCAN_WORD(&m->p, m->end, ", ");
	grt_xid_set_text(&xid, "SXid", 4, m->p, (size_t)(m->end - m->p));
	grt_text_put(m->t, &xid.e, 0);
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
	MESSAGE("has fallen off the bus", read_bus_lost),
	MESSAGE("NVRM: The NVIDIA GPU ", read_probe),
	MESSAGE("installed in this system has", read_probe_id),
	MESSAGE("NVRM: fallen off the bus", read_probe_lost),
	MESSAGE(" SXid (", read_sxid),
	MESSAGE("amdgpu: ring ", read_ring_timeout),
	MESSAGE("*ERROR* ring ", read_ring_timeout),
	MESSAGE(": ring ", read_ring_timeout),
	MESSAGE("Process information: process ", read_process),
	MESSAGE(" Process ", read_process),
#undef MESSAGE
};

/* Return: whether no message begins like this, which avoids the search in nearly every line of a log. */
static bool begins_otherwise(const struct stamp *st, const char *p, const char *end)
{
	grt_scan_blanks(&p, end);
	return st->message && p < end && !strchr("Nna[*", *p);
}

/* Finds the first of the messages in the line; *@p moves after it. */
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

/* Puts the held event, of which no further line can report more. */
static void kernlog_text_settle(struct grt_text *t, struct kernlog_state *s)
{
	if (!is_near(s->hang.e.time, s->last))
		put_hang(t, s);
	for (unsigned int i = 0; i < LOST_GPUS; i++)
		if (s->lost[i].e.time && !is_near(s->lost[i].e.time, s->last))
			kernlog_text_put_lost(t, &s->lost[i]);
}

/*
 * Return: whether a line is " KEY=value" after a line of /dev/kmsg, or what journalctl and mails have between
 * lines.
 */
static bool kernlog_text_is_around(const char *p, const char *end)
{
	bool blank = p < end && grt_is_blank(*p);
	struct grt_span word;

	grt_scan_blanks(&p, end);
	if (p == end || *p == '#' || !grt_scan_token(&p, end, &word))
		return true;
	if (blank && memchr(word.at, '=', word.len))
		return true;
	return grt_span_is(word, "--") || grt_span_is(word, "...") ||
	       !memcmp(word.at, "```", word.len < 3 ? word.len : 3);
}

static enum grt_text_line kernlog_line(struct grt_text *t, const char *line, const char *end)
{
	struct kernlog_state *s = grt_text_state(t);
	const struct message_kind *kind;
	struct message m = {.t = t};
	struct stamp st = scan_stamp(s, &line, end);

	/* as it was sorted by: years are counted once */
	if (st.any)
		grt_text_sorted_at(t, &st.ns);
	if (st.any && st.ns != s->last) {
		s->last = st.ns;
		kernlog_text_settle(t, s);
	}
	m.line = line;
	kind = find_message(&st, &line, end);
	m.time = s->last;
	m.flags = st.any ? 0 : GRT_FLAG_INFERRED;
	m.p = line;
	m.end = end;
	if (kind)
		return kind->read(&m);
	if (st.any)
		return other_message(&m);
	return kernlog_text_is_around(line, end) ? GRT_LINE_SKIP : GRT_LINE_BAD;
}

static void kernlog_end(struct grt_text *t)
{
	struct kernlog_state *s = grt_text_state(t);

	put_hang(t, s);
	for (unsigned int i = 0; i < LOST_GPUS; i++)
		kernlog_text_put_lost(t, &s->lost[i]);
}

/* Years and months are counted here as they are when the line is read. */
static bool kernlog_time(const char *line, const char *end, uint64_t *ns, size_t *hint)
{
	struct stamp st = scan_stamp((struct kernlog_state *)hint, &line, end);

	*ns = st.ns;
	return st.any;
}

/* As above; also finds out whether the text goes forward or backward in time. */
static enum grt_text_place kernlog_place(struct grt_text *t, const char *line, const char *end,
					 struct grt_order_place *place, size_t *hint)
{
	struct kernlog_state *s = grt_text_state(t);

	if (!kernlog_time(line, end, &place->time, hint))
		return GRT_PLACE_BEHIND;
	s->forth += place->time > s->before && s->before;
	s->back += place->time < s->before;
	s->before = place->time;
	return GRT_PLACE_STAMP;
}

/*
 * Return: whether this is an event as other text has it after a time stamp in brackets: a word of capitals.
 */
static bool kernlog_text_is_event(const char *p, const char *end)
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
		return !kernlog_text_is_event(line, end);
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
	.in_time = true,
	.place = kernlog_place,
	.end = kernlog_end,
	.back = NEAR,
	.state_size = sizeof(struct kernlog_state),
};
