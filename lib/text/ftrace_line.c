// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Lines of ftrace and its relatives, see ftrace_line.h. A comm may hold
 * anything, also what looks like a later part of the line. So the line is
 * entered at the CPU in brackets, and a place for that counts only where a
 * stamp follows and a thread's number precedes it.
 */
#include "ftrace_line.h"

/* The letters of the flags column: interrupts, reschedule, context, depths. */
#define FLAGS_MIN 3
#define FLAGS_MAX 8

static const char *back_over_blanks(const char *begin, const char *p)
{
	while (p > begin && grt_is_blank(p[-1]))
		p--;
	return p;
}

static const char *back_over_digits(const char *begin, const char *p)
{
	while (p > begin && grt_is_digit(p[-1]))
		p--;
	return p;
}

static uint32_t ftrace_line_number_of(const char *p, const char *end)
{
	uint64_t n = 0;

	grt_scan_u64(&p, end, &n);
	return grt_u32(n);
}

/* "(tgid)" or "(-----)" at the end. Return: the text before it */
static const char *take_tgid(struct ftrace_line *l, const char *begin, const char *end)
{
	const char *p = end - 1, *inner;

	if (end == begin || *p != ')')
		return end;
	inner = back_over_digits(begin, p);
	l->tgid = inner < p ? ftrace_line_number_of(inner, p) : 0;
	while (inner > begin && (grt_is_blank(inner[-1]) || inner[-1] == '-'))
		inner--;
	if (inner == begin || inner[-1] != '(') {
		l->tgid = 0;
		return end;
	}
	return back_over_blanks(begin, inner - 1);
}

/* "comm-tid", "comm tid" or "comm pid/tid". Return: whether it is one */
static bool ftrace_line_take_thread(struct ftrace_line *l, const char *begin, const char *end)
{
	const char *p = back_over_digits(begin, end), *q;

	if (p == end || p == begin)
		return false;
	l->tid = ftrace_line_number_of(p, end);
	p--;
	if (*p == '/') {
		q = back_over_digits(begin, p);
		if (q < p && q > begin && grt_is_blank(q[-1])) {
			l->tgid = ftrace_line_number_of(q, p);
			p = q - 1;
		}
	}
	l->of_perf = *p != '-';
	if (l->of_perf && !grt_is_blank(*p))
		return false;
	l->comm = grt_span_trim((struct grt_span){begin, (size_t)(p - begin)});
	return true;
}

/* Reads a time stamp up to its colon. Return: the text after it, NULL: it is something else */
static inline const char *ftrace_line_scan_time(const char *p, const char *end, uint64_t *ns)
{
	if (!grt_scan_line_stamp(&p, end, ns) && !grt_scan_u64(&p, end, ns))
		return NULL;
	return grt_scan_char(&p, end, ':') ? p : NULL;
}

static const bool flag_chars[256] = {
	['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['.'] = true, ['#'] = true,
};

/* Return: the text after the flags; NULL: it is something else */
static const char *scan_flags(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && flag_chars[(unsigned char)*q])
		q++;
	return q - p >= FLAGS_MIN && q - p <= FLAGS_MAX ? q : NULL;
}

/*
 * Reads the usual five flags between blanks. Return: the text after the blank, NULL: it is something else. @p
 * can be read for at least seven bytes
 */
static inline const char *scan_five_flags(const char *p)
{
	bool all = p[0] == ' ' && p[6] == ' ';

	for (unsigned int i = 1; i <= 5; i++)
		all = all && flag_chars[(unsigned char)p[i]];
	return all ? p + 7 : NULL;
}

/*
 * Reads what follows the CPU: flags, which may be missing, and a time stamp. Return: the text after it, NULL:
 * it is something else
 */
static const char *scan_behind_cpu(const char *p, const char *end, uint64_t *ns)
{
	const char *q = scan_five_flags(p);

	if (q) {
		grt_scan_blanks(&q, end);
		q = ftrace_line_scan_time(q, end, ns);
	}
	if (q)
		return q;
	grt_scan_blanks(&p, end);
	q = p < end && grt_is_digit(*p) ? ftrace_line_scan_time(p, end, ns) : NULL;
	if (q)
		return q;
	p = scan_flags(p, end);
	if (!p || p == end || !grt_is_blank(*p))
		return NULL;
	grt_scan_blanks(&p, end);
	return ftrace_line_scan_time(p, end, ns);
}

/* Reads "[cpu]" with flags and time stamp. Return: the text after it, NULL: it is something else */
static inline const char *ftrace_line_scan_cpu(const char *p, const char *end, uint64_t *cpu, uint64_t *ns)
{
	if (!grt_scan_char(&p, end, '[') || !grt_scan_line_u64(&p, end, cpu) || !grt_scan_char(&p, end, ']'))
		return NULL;
	return scan_behind_cpu(p, end, ns);
}

/* Finds the first CPU in brackets with a time stamp. Return: the text after it; @at gets the bracket */
static const char *find_bracket(const char *p, const char *end, const char **at, uint64_t *cpu, uint64_t *ns)
{
	const char *behind;

	for (; (p = memchr(p, '[', (size_t)(end - p))); p++) {
		*at = p;
		behind = ftrace_line_scan_cpu(p, end, cpu, ns);
		if (behind)
			return behind;
	}
	return NULL;
}

/* "12us :" before a colon: the beginning of the number, NULL: something else. */
static const char *back_over_us(const char *line, const char *colon)
{
	const char *p = colon - 1;

	if (p - line < 4 || p[-1] != 's' || p[-2] != 'u')
		return NULL;
	return back_over_digits(line, p - 2) < p - 2 ? back_over_digits(line, p - 2) : NULL;
}

static const char *back_over_stamp(const char *line, const char *colon)
{
	const char *p = back_over_digits(line, colon), *q;

	if (p == colon || p == line || p[-1] != '.')
		return NULL;
	q = back_over_digits(line, p - 1);
	return q < p - 1 ? q : NULL;
}

/*
 * Finds the time stamp of a line without brackets by its colon. Return: the text after the colon; @at gets
 * the beginning of the time stamp
 */
static const char *find_stamp(const char *line, const char *end, const char **at, uint64_t *ns)
{
	const char *p = line, *begin, *q;

	while ((p = memchr(p, ':', (size_t)(end - p)))) {
		begin = back_over_stamp(line, p);
		q = begin;
		if (begin && grt_scan_stamp(&q, end, ns) && q == p) {
			*at = begin;
		} else if ((begin = q = back_over_us(line, p)) && grt_scan_u64(&q, end, ns)) {
			*at = begin;
			*ns = *ns > UINT64_MAX / 1000 ? UINT64_MAX : *ns * 1000;
		} else {
			p++;
			continue;
		}
		if (begin > line && grt_is_blank(begin[-1]))
			return p + 1;
		p++;
	}
	return NULL;
}

/* Parses the thread, and the CPU with its flags after it, or (perf script without -F cpu) only the thread. */
static bool take_unbracketed(struct ftrace_line *l, const char *line, const char *end)
{
	const char *stop = back_over_blanks(line, end), *p = stop, *flags;

	while (p > line && !grt_is_blank(p[-1]))
		p--;
	flags = p;
	while (flags < stop && grt_is_digit(*flags))
		flags++;
	if (flags > p && flags < stop && !grt_is_digit(*flags) && scan_flags(flags, stop) == stop) {
		l->cpu = ftrace_line_number_of(p, flags);
		stop = take_tgid(l, line, back_over_blanks(line, p));
		return ftrace_line_take_thread(l, line, stop);
	}
	return ftrace_line_take_thread(l, line, stop);
}

/* Return: the name after the last colon within it, before which perf puts the group. */
static struct grt_span without_group(struct grt_span name)
{
	for (size_t i = name.len; i-- > 1;) {
		if (name.at[i - 1] != ':')
			continue;
		/* modifiers follow the name: "cycles:ppp" */
		if (name.len - i <= 4 && !memchr(name.at + i, '_', name.len - i)) {
			name.len = i - 1;
			continue;
		}
		return (struct grt_span){name.at + i, name.len - i};
	}
	return name;
}

/* perf prints how often an event was counted, if that is all of a word. */
static const char *skip_period(const char *p, const char *end)
{
	const char *q = p;
	uint64_t period;

	if (!grt_scan_u64(&q, end, &period) || q == end || !grt_is_blank(*q))
		return p;
	grt_scan_blanks(&q, end);
	return q;
}

/* "name <-parent", "name() {", "sys_name(...)", "sys_name -> 0x0" */
static bool take_function(struct ftrace_line *l, struct grt_span word, const char *p, const char *end)
{
	const char *open = memchr(word.at, '(', word.len);

	grt_scan_blanks(&p, end);
	l->what = FTRACE_FUNCTION;
	l->event = word;
	l->fields = p;
	return open > word.at || GRT_SCAN_WORD(&p, end, "<-") || GRT_SCAN_WORD(&p, end, "->");
}

/* The event's name up to its colon, and whether its fields are raw. */
static bool ftrace_line_take_event(struct ftrace_line *l, const char *p, const char *end)
{
	struct grt_span name;
	const char *blank;

	grt_scan_blanks(&p, end);
	if (p < end && grt_is_digit(*p))
		p = skip_period(p, end);
	blank = memchr(p, ' ', (size_t)(end - p));
	name = (struct grt_span){p, (size_t)((blank ? blank : end) - p)};
	p += name.len;
	l->end = end;
	if (name.len < 2 || name.at[name.len - 1] != ':')
		return name.len && take_function(l, name, p, end);
	name.len--;
	l->event = l->of_perf ? without_group(name) : name;
	l->what = FTRACE_EVENT;
	grt_scan_blanks(&p, end);
	if (GRT_SCAN_WORD(&p, end, "[FAILED TO PARSE]")) {
		grt_scan_blanks(&p, end);
		l->what = FTRACE_RAW;
	}
	l->fields = p;
	return l->event.len > 0;
}

static bool ftrace_line_same_bytes(const char *a, const char *b, size_t at)
{
	return !memcmp(a + at, b + at, 16);
}

/* Return: whether the texts are equal; they have 16 to FTRACE_THREAD_TEXT bytes. */
static bool ftrace_line_same_text(const struct ftrace_thread *t, const char *line, size_t len)
{
	return t->len == len && ftrace_line_same_bytes(t->text, line, 0) &&
	       ftrace_line_same_bytes(t->text, line, len - 16) &&
	       (len <= 32 || ftrace_line_same_bytes(t->text, line, 16));
}

/* Return: the element of a thread, by the bytes before the bracket, which contain its number. */
static struct ftrace_thread *ftrace_line_place_of(const struct ftrace_line *l, const char *at)
{
	uint64_t a, b;

	memcpy(&a, at - 16, 8);
	memcpy(&b, at - 8, 8);
	return &l->threads[(((a ^ b * 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL) >> 32) %
			   FTRACE_THREADS];
}

/* Parses a thread, perhaps with its group, before "[cpu]". */
static bool ftrace_line_take_new(struct ftrace_line *l, const char *line, const char *at)
{
	l->tgid = 0;
	return ftrace_line_take_thread(l, line, take_tgid(l, line, back_over_blanks(line, at)));
}

/* As above. Most lines belong to few threads, so the text before the CPU is parsed once for each thread. */
static bool take_bracketed(struct ftrace_line *l, const char *line, const char *at)
{
	size_t len = (size_t)(at - line);
	struct ftrace_thread *t;

	if (!l->threads || len < 16 || len > FTRACE_THREAD_TEXT)
		return ftrace_line_take_new(l, line, at);
	t = ftrace_line_place_of(l, at);
	if (!ftrace_line_same_text(t, line, len)) {
		if (!ftrace_line_take_new(l, line, at))
			return false;
		memcpy(t->text, line, len);
		t->len = (uint8_t)len;
		t->comm = (uint8_t)(l->comm.at - line);
		t->comm_len = (uint8_t)l->comm.len;
		t->of_perf = l->of_perf;
		t->tid = l->tid;
		t->tgid = l->tgid;
		return true;
	}
	l->comm = (struct grt_span){line + t->comm, t->comm_len};
	l->of_perf = t->of_perf;
	l->tid = t->tid;
	l->tgid = t->tgid;
	return true;
}

bool ftrace_line_parse(struct ftrace_line *l, const char *line, const char *end)
{
	const char *at = l->column < (size_t)(end - line) ? line + l->column : line, *behind;
	uint64_t cpu;

	l->tgid = 0;
	behind = ftrace_line_scan_cpu(at, end, &cpu, &l->time);
	if (behind && take_bracketed(l, line, at)) {
		l->cpu = grt_u32(cpu);
		return ftrace_line_take_event(l, behind, end);
	}
	at = line;
	for (behind = line; (behind = find_bracket(at, end, &at, &cpu, &l->time)); at++) {
		if (!take_bracketed(l, line, at))
			continue;
		l->cpu = grt_u32(cpu);
		l->column = (size_t)(at - line);
		return ftrace_line_take_event(l, behind, end);
	}
	l->cpu = 0;
	behind = find_stamp(line, end, &at, &l->time);
	return behind && take_unbracketed(l, line, at) && ftrace_line_take_event(l, behind, end);
}

/* Whether a CPU in brackets follows a thread. */
static bool follows_thread(const char *line, const char *at)
{
	const char *p = back_over_blanks(line, at);

	return p > line && (grt_is_digit(p[-1]) || p[-1] == ')');
}

/* The general case. */
static bool ftrace_line_find_time(const char *line, const char *end, uint64_t *ns, size_t *column)
{
	struct ftrace_line l = {.column = 0};
	const char *at = line, *behind;
	uint64_t cpu;

	for (behind = line; (behind = find_bracket(at, end, &at, &cpu, ns)); at++) {
		*column = (size_t)(at - line);
		if (follows_thread(line, at))
			return true;
	}
	if (!ftrace_line_parse(&l, line, end))
		return false;
	*ns = l.time;
	return true;
}

bool ftrace_line_time(const char *line, const char *end, uint64_t *ns, size_t *column)
{
	const char *at = *column < (size_t)(end - line) ? line + *column : line;
	uint64_t cpu;

	if (ftrace_line_scan_cpu(at, end, &cpu, ns) && follows_thread(line, at))
		return true;
	return ftrace_line_find_time(line, end, ns, column);
}
