// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The log of AMD's runtime, ROCclr and HIP (AMD_LOG_LEVEL), of every release.
 * A record need not be a line: two writers may share one, text of the program
 * may stand before it or cut it, and it may be wrapped. What is no record is
 * counted by why it was passed over. The layouts are in amd_log_header.c.
 * Records are understood in the order of their stamps; a line without a stamp
 * belongs to the record that it follows.
 *
 * Before release 3.7 calls looked differently; their stamps are ns:
 *
 *	<<hip-api pid:77 tid:2.9 hipFree (0x7f0010) @5000123
 *	hip-api pid:77 tid:2.9 hipFree ret= 0 (hipSuccess)>> +870 ns
 */
#include "amd_log_header.h"
#include "amd_log_message.h"

#include <string.h>

#define UNKNOWN(a, why) grt_text_unknown((a)->t, why, sizeof(why) - 1)
/* In a line with several records, a record may be this much earlier than the first one. */
#define BACK_NS UINT64_C(10000000)

static bool starts(const char *p, const char *end, const char *text)
{
	return grt_scan_text(&p, end, text, strlen(text));
}

/* Return: the text after "hip-api pid:"; NULL: the line does not have it */
static const char *find_old_call(const char *p, const char *end)
{
	static const char mark[] = "hip-api pid:";
	const char *at;

	grt_scan_blanks(&p, end);
	if (p == end || (*p != '<' && *p != 'h'))
		return NULL;
	at = grt_find_text(p, end, mark, sizeof(mark) - 1);
	return at ? at + sizeof(mark) - 1 : NULL;
}

/* Reads the time stamp of an entry in the layout before release 3.7, after the last @. */
static bool old_stamp(const char *p, const char *end, uint64_t *ns, const char **at)
{
	*at = memrchr(p, '@', (size_t)(end - p));
	p = *at ? *at + 1 : end;
	return grt_scan_u64(&p, end, ns);
}

static bool is_far(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) > BACK_NS;
}

/* Puts the returns with inferred times, which must not be after the next time stamp in the text. */
static void release_pending(struct amd_log *a, uint64_t next)
{
	for (unsigned int i = 0; i < a->pendings; i++) {
		struct grt_event *e = &a->pending[i].e;

		e->time = e->time < next ? e->time : next;
		grt_text_put(a->t, e, 0);
	}
	a->pendings = 0;
}

/* The record's time becomes one that fits between those of the other records. */
static void set_time(struct amd_log *a)
{
	struct amd_log_head *h = &a->h;

	a->flags = 0;
	if (h->clock == AMD_LOG_NO_TIME) {
		h->time = a->last;
		a->flags = GRT_FLAG_INFERRED | GRT_FLAG_UNTIMED;
	} else if (a->line_time && is_far(h->time, a->line_time)) {
		h->time = a->line_time;
		a->flags = GRT_FLAG_INFERRED | GRT_FLAG_UNTIMED;
	}
	/* the moment from which the time counts is not in the log */
	if (h->clock == AMD_LOG_RELATIVE)
		a->flags |= GRT_FLAG_INFERRED;
	a->last = h->time;
	if (!a->line_time)
		a->line_time = h->time;
	if (a->pendings)
		release_pending(a, h->time);
}

/* The message of a held record, as far as it has arrived. Return: as of amd_log_message() */
static bool held_message(struct amd_log *a, bool whole)
{
	const struct amd_log_head now = a->h;
	const uint16_t flags = a->flags;
	bool taken;

	a->h = a->held_head;
	a->flags = a->held_flags;
	taken = amd_log_message(a, a->held, a->held + a->held_len, whole);
	a->h = now;
	a->flags = flags;
	return taken;
}

/* Puts a record that was expected to continue and did not. */
static void release_held(struct amd_log *a)
{
	if (!a->holding)
		return;
	a->holding = false;
	held_message(a, true);
	a->held_len = 0;
}

/*
 * Return: whether a blank was removed where a line was broken: lines are broken at a blank, or, if they are
 * as long as those of packets, where they were full.
 */
static bool was_blank(struct amd_log *a, const char *p, const char *end)
{
	const char *last = a->held + a->held_len - 1;
	bool packet;

	if (!a->held_len || p == end || grt_is_blank(*p) || grt_is_blank(*last))
		return false;
	amd_log_is_message(a, a->held, last + 1, &packet);
	return !packet || memchr(",:)]", *last, 4);
}

/* Stores a message whose end has not arrived. Return: false: it is too long for that */
static bool amd_log_hold(struct amd_log *a, const char *p, const char *end)
{
	const char *text = p;
	size_t len;

	grt_scan_blanks(&text, end);
	/* an indent is a blank */
	p = a->held_len && text > p ? text - 1 : p;
	len = (size_t)(end - p);
	if (a->held_len + len + 2 > AMD_LOG_HELD)
		return false;
	if (was_blank(a, p, end))
		a->held[a->held_len++] = ' ';
	for (size_t i = 0; i < len; i++)
		a->held[a->held_len + i] = p[i] == '\t' ? ' ' : p[i];
	a->held_len += len;
	/* code that reads numbers may read beyond the end, and must not find a digit there */
	a->held[a->held_len] = '\n';
	return true;
}

/* Copies a record's first line, which is overwritten when the next line is read. */
static bool hold_record(struct amd_log *a, const char *p, const char *end)
{
	size_t file = a->h.file.len < sizeof(a->held_file) ? a->h.file.len : sizeof(a->held_file);

	a->held_len = 0;
	if (!amd_log_hold(a, p, end))
		return false;
	if (file)
		memcpy(a->held_file, a->h.file.at, file);
	a->held_head = a->h;
	a->held_head.file = (struct grt_span){a->held_file, file};
	a->held_flags = a->flags;
	a->held_lines = 0;
	a->holding = true;
	return true;
}

static void amd_log_take_record(struct amd_log *a, const char *p, const char *end, bool last)
{
	set_time(a);
	a->torn = false;
	if (!amd_log_message(a, p, end, !last) && !hold_record(a, p, end))
		amd_log_message(a, p, end, true);
	a->in_record = true;
}

/* Lines without a header belong to the process of the previous record. */
static void no_header(struct amd_log *a)
{
	a->h = (struct amd_log_head){.pid = a->h.pid, .time = a->last};
	a->flags = GRT_FLAG_INFERRED | GRT_FLAG_UNTIMED;
}

/* The description of the packet at which a queue was aborted ends where another line begins. */
static void release_hang(struct amd_log *a)
{
	if (!a->hang_len && !a->hang_name_len)
		return;
	no_header(a);
	a->hang[a->hang_len] = '\n';
	if (a->hang_len)
		amd_log_hang(a);
	a->hang_len = a->hang_name_len = 0;
}

/* Parses all records of a line, the first of which is at @p. Return: whether there was one */
static bool take_records(struct amd_log *a, const char *p, const char *end)
{
	const char *message, *next;
	bool any = false;

	release_held(a);
	release_hang(a);
	for (; p; p = next) {
		message = amd_log_head(p, end, &a->h);
		if (!message)
			return any;
		next = amd_log_find(message, end);
		amd_log_take_record(a, message, next ? next : end, !next);
		any = true;
	}
	return any;
}

/* Calls of the first era */

static struct amd_log_open *open_call(struct amd_log *a, uint64_t call)
{
	return &a->open[(call * 0x9e3779b97f4a7c15) >> 58];
}

static void old_enter(struct amd_log *a, struct grt_span name, const char *p, const char *at, uint64_t call)
{
	struct grt_span args = grt_span_trim((struct grt_span){p, (size_t)(at - p)});
	struct grt_ev_log_call c;

	if (args.len >= 2 && args.at[0] == '(' && args.at[args.len - 1] == ')')
		args = (struct grt_span){args.at + 1, args.len - 2};
	*open_call(a, call) = (struct amd_log_open){call, a->h.time};
	c = amd_log_call(a, GRT_CALL_ENTERED, name, grt_span_trim(args));
	grt_text_put(a->t, &c.e, 0);
}

/* "ret= 0 (hipSuccess)>> +870 ns" */
static void old_return(struct amd_log *a, struct grt_span name, const char *p, const char *end, uint64_t call)
{
	const char *open = memchr(p, '(', (size_t)(end - p)), *close = grt_find_text(p, end, ")>>", 3), *plus;
	struct grt_span result = {p, 0};
	uint64_t took = 0;

	if (open && close && open < close)
		result = (struct grt_span){open + 1, (size_t)(close - open - 1)};
	plus = close ? memchr(close, '+', (size_t)(end - close)) : NULL;
	if (plus && ++plus < end)
		grt_scan_u64(&plus, end, &took);
	/* no line has this time; it follows from two others */
	a->flags = GRT_FLAG_INFERRED;
	a->h.time = a->last;
	if (open_call(a, call)->call == call && open_call(a, call)->time + took > a->last)
		a->h.time = open_call(a, call)->time + took;
	if (a->pendings == AMD_LOG_PENDING)
		release_pending(a, a->last);
	a->pending[a->pendings] = amd_log_call(a, GRT_CALL_RETURNED, name, result);
	a->pending[a->pendings++].took = took;
}

/* "77 tid:2.9 hipFree ..." */
static enum grt_text_line old_call(struct amd_log *a, const char *p, const char *end)
{
	uint64_t pid, thread, number, ns;
	struct grt_span name;
	const char *at;

	if (!grt_scan_u64(&p, end, &pid) || !GRT_SCAN_WORD(&p, end, " tid:") ||
	    !grt_scan_u64(&p, end, &thread) || !grt_scan_char(&p, end, '.') ||
	    !grt_scan_u64(&p, end, &number) || !grt_scan_token(&p, end, &name))
		return GRT_LINE_BAD;
	a->h = (struct amd_log_head){.level = 3, .pid = grt_u32(pid), .thread = thread};
	grt_scan_blanks(&p, end);
	if (starts(p, end, "ret=")) {
		old_return(a, name, p + 4, end, thread << 32 ^ number);
		return GRT_LINE_DONE;
	}
	if (!old_stamp(p, end, &ns, &at))
		return GRT_LINE_BAD;
	a->h.clock = AMD_LOG_MONOTONIC;
	a->h.time = ns;
	set_time(a);
	old_enter(a, name, p, at, thread << 32 ^ number);
	return GRT_LINE_DONE;
}

/* "kernel; NAME; 12.3 us; START; END; #0.0.7;" */
static enum grt_text_line old_profile(struct amd_log *a, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.number = 0};
	const char *part[6], *q = p;
	uint64_t first, second;

	for (unsigned int i = 0; i < 6; i++) {
		part[i] = q;
		q = memchr(q, ';', (size_t)(end - q));
		if (!q)
			return GRT_LINE_BAD;
		q++;
	}
	p = part[3];
	grt_scan_blanks(&p, end);
	q = part[4];
	grt_scan_blanks(&q, end);
	if (!grt_scan_u64(&p, end, &first) || !grt_scan_u64(&q, end, &second))
		return GRT_LINE_BAD;
	n.first = first;
	n.second = second;
	a->h = (struct amd_log_head){.level = 3};
	set_time(a);
	amd_log_note(a, &n, GRT_LOG_GPU_TIME,
		     grt_span_trim((struct grt_span){part[1], (size_t)(part[2] - part[1] - 1)}));
	return GRT_LINE_DONE;
}

/* Lines without a record */

/* The rest of a record that was wrapped. Return: whether the line is that */
static bool amd_log_take_rest(struct amd_log *a, const char *p, const char *end)
{
	size_t was = a->held_len;
	bool packet, known;

	if (!a->holding || !amd_log_hold(a, p, end))
		return false;
	known = amd_log_is_message(a, a->held, a->held + a->held_len, &packet);
	/* the same bytes are parsed again, with what follows them */
	if (known && held_message(a, false)) {
		a->holding = false;
	} else if (!known || (!packet && ++a->held_lines >= AMD_LOG_HELD_LINES)) {
		a->held_len = was;
		release_held(a);
		return false;
	}
	UNKNOWN(a, "(wrapped lines)");
	return true;
}

static bool amd_log_keep(char *to, size_t *len, const char *p, const char *end)
{
	size_t n = (size_t)(end - p);

	if (*len + n + 1 > AMD_LOG_HANG)
		return false;
	for (size_t i = 0; i < n; i++)
		to[*len + i] = p[i] == '\t' ? ' ' : p[i];
	*len += n;
	to[(*len)++] = ' ';
	return true;
}

/*
 * Takes the lines in which the runtime describes the packet at which a queue was aborted: the kernel's name,
 * then a line that begins with VGPU, then lines of keys. A line with only a name may be of the program.
 * Return: whether it is such a line
 */
static bool take_hang(struct amd_log *a, const char *p, const char *end)
{
	bool keys = a->hang_len && memchr(p, '=', (size_t)(end - p));
	struct grt_span name;

	if (GRT_SCAN_WORD(&p, end, "Kernel Name: ")) {
		name = grt_span_trim((struct grt_span){p, (size_t)(end - p)});
		release_hang(a);
		if (!name.len || name.len > AMD_LOG_HANG)
			return false;
		memcpy(a->hang_name, name.at, name.len);
		a->hang_name_len = name.len;
		return a->in_record;
	}
	if (starts(p, end, "VGPU=") || starts(p, end, "VGPU(")) {
		if (a->hang_len)
			release_hang(a);
	} else if (!keys) {
		return false;
	}
	return amd_log_keep(a->hang, &a->hang_len, p, end);
}

/*
 * Sets the time of a line of ROCr. An inexact time becomes the possible time that is nearest to the records
 * before it, so that later records are not out of order.
 */
static void set_rocr_time(struct amd_log *a, struct grt_ev_log_note *n)
{
	const struct amd_log_clocks *c = grt_text_learned(a->t);
	uint64_t low, high, time = a->h.time;

	n->first = time;
	n->second = UINT64_MAX;
	n->number = c ? amd_log_clocks_move(c, time, &low, &high) : AMD_LOG_UNMOVED;
	if (n->number == AMD_LOG_UNMOVED) {
		time = a->last ? a->last : time;
	} else if (high - low <= BACK_NS) {
		time = low + (high - low) / 2;
		n->second = (high - low + 1) / 2;
	} else {
		time = a->last < low ? low : a->last > high ? high : a->last;
		n->second = high - low;
	}
	if (a->last > BACK_NS && time < a->last - BACK_NS) {
		time = a->last - BACK_NS;
		n->second = UINT64_MAX;
	}
	a->h.time = time;
	set_time(a);
	if (n->number != AMD_LOG_BY_SNAPSHOTS || n->second == UINT64_MAX)
		a->flags |= GRT_FLAG_INFERRED;
}

static enum grt_text_line take_rocr(struct amd_log *a, const char *message, const char *end)
{
	struct grt_ev_log_note n = {.number = 0};
	struct grt_span text = {message, (size_t)(end - message)};

	set_rocr_time(a, &n);
	amd_log_note(a, &n, GRT_LOG_ROCR, grt_span_trim(text));
	return GRT_LINE_DONE;
}

static bool ends_call(const char *p, const char *end)
{
	struct grt_span line = grt_span_trim((struct grt_span){p, (size_t)(end - p)});

	return line.at[line.len - 1] == ')';
}

static enum grt_text_line no_record(struct amd_log *a, const char *line, const char *end)
{
	const char *p = line, *message;

	grt_scan_blanks(&p, end);
	if (p == end) {
		if (!a->held_len)
			release_held(a);
		if (a->hang_len)
			release_hang(a);
		return GRT_LINE_SKIP;
	}
	if (take_hang(a, p, end)) {
		UNKNOWN(a, "(lines of a longer message)");
		return GRT_LINE_DONE;
	}
	if (a->hang_len)
		release_hang(a);
	if (amd_log_take_rest(a, line, end))
		return GRT_LINE_DONE;
	no_header(a);
	if (amd_log_fault(a, p, end))
		return GRT_LINE_DONE;
	message = find_old_call(p, end);
	if (message)
		return old_call(a, message, end);
	if (starts(p, end, "profile: "))
		return old_profile(a, p + 9, end);
	message = amd_log_rocr(p, end, &a->h);
	if (message)
		return take_rocr(a, message, end);
	if (starts(p, end, "...") || starts(p, end, AMD_LOG_CLOCKS_MARK))
		return GRT_LINE_SKIP;
	if (starts(p, end, "Warning: "))
		UNKNOWN(a, "(warnings without a header)");
	else if (a->torn && ends_call(p, end))
		UNKNOWN(a, "(rest of a torn line)");
	else
		UNKNOWN(a, "(the program's own lines)");
	a->torn = false;
	return GRT_LINE_DONE;
}

static enum grt_text_line amd_log_line(struct grt_text *t, const char *line, const char *end)
{
	struct amd_log *a = grt_text_state(t);
	const char *p = line, *at;

	a->t = t;
	a->line_time = 0;
	grt_scan_blanks(&p, end);
	at = p < end && *p == ':' ? p : amd_log_find(p, end);
	if (at && take_records(a, at, end)) {
		if (at > p)
			UNKNOWN(a, "(text before a record)");
		return GRT_LINE_DONE;
	}
	/* this colon does not end a time stamp */
	if (at == p && at && (at = amd_log_find(p, end)) && take_records(a, at, end))
		return GRT_LINE_DONE;
	return no_record(a, line, end);
}

static void amd_log_end(struct grt_text *t)
{
	struct amd_log *a = grt_text_state(t);

	a->t = t;
	release_held(a);
	release_hang(a);
	release_pending(a, UINT64_MAX);
}

/* Return: where the digits of "123 us:", which ends at @behind, begin; 0: the line has another layout. */
static size_t amd_log_column_of(const char *line, const char *behind)
{
	const char *p = behind - 4;

	if (p <= line || memcmp(p, " us:", 4) != 0)
		return 0;
	while (p > line && grt_is_digit(p[-1]))
		p--;
	return (size_t)(p - line);
}

/* Nearly all records have their stamp in one column. */
static bool is_at_column(const char *p, const char *end, size_t column, uint64_t *ns)
{
	const char *digits = p + column;
	uint64_t us;

	if (column < 4 || column >= (size_t)(end - p) || p[0] != ':' || p[2] != ':' ||
	    memcmp(digits - 2, ": ", 2) != 0 || !grt_scan_line_u64(&digits, end, &us) || end - digits < 4 ||
	    memcmp(digits, " us:", 4) != 0 || us > UINT64_MAX / AMD_LOG_NS_PER_US)
		return false;
	*ns = us * AMD_LOG_NS_PER_US;
	return true;
}

/* The time stamp of a line without one of the runtime. */
static bool other_time(struct amd_log_clocks *c, const char *p, const char *end, uint64_t *ns)
{
	const char *at = find_old_call(p, end);
	struct amd_log_head h;

	if (at)
		return old_stamp(at, end, ns, &at);
	if (starts(p, end, AMD_LOG_CLOCKS_MARK))
		amd_log_clocks_snapshot(c, p + sizeof(AMD_LOG_CLOCKS_MARK) - 1, end);
	else if (amd_log_rocr(p, end, &h))
		amd_log_clocks_rocr(c, &h);
	return false;
}

static bool amd_log_find_time(struct amd_log_clocks *c, const char *p, const char *end, uint64_t *ns)
{
	struct amd_log_head h = {.clock = AMD_LOG_NO_TIME};
	const char *at;

	if (is_at_column(p, end, c->column, ns))
		return true;
	if (*p == ':' && (at = amd_log_stamp(p, end, &h)) && h.clock != AMD_LOG_NO_TIME) {
		c->column = amd_log_column_of(p, at);
		*ns = h.time;
		return true;
	}
	for (at = amd_log_find(p, end); at && h.clock == AMD_LOG_NO_TIME; at = amd_log_find(at, end)) {
		at = amd_log_stamp(at, end, &h);
		if (!at)
			break;
	}
	*ns = h.time;
	return h.clock != AMD_LOG_NO_TIME || other_time(c, p, end, ns);
}

/* The thread of a line matters if ROCr writes into the log as well. */
static void amd_log_learn(struct amd_log_clocks *c, const char *p, const char *end)
{
	struct amd_log_head h;

	if (*p == ':' && amd_log_head(p, end, &h) && h.clock == AMD_LOG_MONOTONIC)
		amd_log_clocks_record(c, &h);
}

static bool amd_log_time(const char *line, const char *end, uint64_t *ns, size_t *hint)
{
	struct amd_log_clocks *c = (struct amd_log_clocks *)hint;
	const char *p = line;

	grt_scan_blanks(&p, end);
	if (p == end || !amd_log_find_time(c, p, end, ns))
		return false;
	if (c->rocr)
		amd_log_learn(c, p, end);
	return true;
}

static void amd_log_span(void *learned, uint64_t *first, uint64_t *last)
{
	struct amd_log_clocks *c = learned;
	uint64_t low = c->first, high = c->last, other;

	amd_log_clocks_end(c);
	if (!c->rocr)
		return;
	/* between records they have no further meaning */
	amd_log_clocks_move(c, c->first, &low, &other);
	amd_log_clocks_move(c, c->last, &other, &high);
	if (*first > *last || c->snapshots) {
		*first = low < *first ? low : *first;
		*last = high > *last ? high : *last;
	}
}

static bool amd_log_takes(const char *line, const char *end)
{
	struct amd_log_head h;
	const char *p = line;

	grt_scan_blanks(&p, end);
	if (find_old_call(p, end) || amd_log_rocr(p, end, &h))
		return true;
	p = amd_log_find(p, end);
	if (!p || !amd_log_head(p, end, &h))
		return false;
	return h.clock != AMD_LOG_NO_TIME || (h.file.len > 4 && !memcmp(h.file.at + h.file.len - 2, "pp", 2));
}

const struct grt_text_format grt_text_amd_log = {
	.name = "amd_log",
	.takes = amd_log_takes,
	.mark = ':',
	.time = amd_log_time,
	.learned_size = sizeof(struct amd_log_clocks),
	.span = amd_log_span,
	.line = amd_log_line,
	.in_time = true,
	.end = amd_log_end,
	.state_size = sizeof(struct amd_log),
	.back = BACK_NS,
};
