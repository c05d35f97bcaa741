// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The text of ftrace: the files trace and trace_pipe, trace-cmd report and perf script, also inside of a
 * systrace page. This file handles lines that are not events; ftrace_line.c parses lines, ftrace_events.c
 * handles events.
 */
#include "ftrace_events.h"
#include "ftrace_module.h"

static bool ftrace_text_begins(const char *p, const char *end, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(end - p) >= len && !memcmp(p, text, len);
}

/* A line of a page may be a string of a script: "...\n\" */
static const char *without_escape(const char *line, const char *end)
{
	return end - line >= 3 && !memcmp(end - 3, "\\n\\", 3) ? end - 3 : end;
}

static bool ftrace_takes(const char *line, const char *end)
{
	struct ftrace_line l = {.column = 0};

	end = without_escape(line, end);
	if (!ftrace_line_parse(&l, line, end))
		return ftrace_text_begins(line, end, "# tracer: ") || ftrace_func_is_graph(line, end);
	for (size_t i = 0; i < l.event.len; i++)
		if ((unsigned char)l.event.at[i] <= ' ')
			return false;
	/* nothing else has a CPU in brackets there; without one, the event must be known */
	return memchr(line, '[', (size_t)(l.event.at - line)) || ftrace_has_event(l.event);
}

static bool ftrace_time(const char *line, const char *end, uint64_t *ns, size_t *hint)
{
	return line < end && *line != '#' &&
	       (ftrace_line_time(line, end, ns, hint) || ftrace_func_graph_time(line, end, ns));
}

/*
 * Takes "# entries-in-buffer/entries-written: 12/34 #P:2": entries that are not in the buffer were
 * overwritten
 */
static enum grt_text_line comment(struct ftrace *f, const char *line, const char *end)
{
	const char *p = grt_find_text(line, end, "entries-written:", 16);
	uint64_t in, written;

	if (!p)
		return GRT_LINE_SKIP;
	p += 16;
	grt_scan_blanks(&p, end);
	if (grt_scan_u64(&p, end, &in) && grt_scan_char(&p, end, '/') && grt_scan_u64(&p, end, &written) &&
	    written > in)
		grt_text_lost(f->t, written - in);
	return GRT_LINE_DONE;
}

/* "CPU:1 [LOST 5 EVENTS]" of the kernel, "CPU:1 [5 EVENTS DROPPED]" of trace-cmd; both also without the
 * number */
static enum grt_text_line lost(struct ftrace *f, const char *p, const char *end)
{
	uint64_t cpu, n = 0;

	p += 4;
	if (!grt_scan_u64(&p, end, &cpu))
		return GRT_LINE_BAD;
	grt_scan_blanks(&p, end);
	if (!grt_scan_char(&p, end, '['))
		return GRT_LINE_BAD;
	GRT_SCAN_WORD(&p, end, "LOST ");
	grt_scan_u64(&p, end, &n);
	grt_scan_blanks(&p, end);
	if (!ftrace_text_begins(p, end, "EVENTS"))
		return GRT_LINE_BAD;
	memset(f->armer, 0, sizeof(f->armer));
	grt_text_lost(f->t, n);
	return GRT_LINE_DONE;
}

/* Return: whether a line is what tools print around events, or a frame of a stack after one. */
static bool is_banner(const char *p, const char *end)
{
	static const char *const beginnings[] = {"cpus=", "version = ", "##### CPU ", "=> ",	  "...",
						 "--",	  "</",		"```",	      "trace.dat"};
	uint64_t n;

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (ftrace_text_begins(p, end, beginnings[i]))
			return true;
	if (GRT_SCAN_WORD(&p, end, "CPU "))
		return grt_scan_u64(&p, end, &n) && ftrace_text_begins(p, end, " is empty");
	return false;
}

/* "\tffffffff8100 symbol+0x1 (dso)" */
static bool ftrace_text_is_frame(const char *line, const char *p, const char *end)
{
	uint64_t address;

	return p > line && grt_scan_hex(&p, end, &address) && p < end && *p == ' ' && end[-1] == ')';
}

/* Skips a page up to its trace. Return: whether the line is outside of the trace */
static bool ftrace_outside(struct grt_text *t, const char *line, const char *end)
{
	struct ftrace *f = grt_text_state(t);

	if (!f->html && line < end && *line == '<' &&
	    (ftrace_text_begins(line, end, "<!DOCTYPE") || ftrace_text_begins(line, end, "<!doctype") ||
	     ftrace_text_begins(line, end, "<html")))
		f->html = f->outside = true;
	if (!f->html || end - line < 8)
		return f->outside;
	if (grt_find_text(line, end, "trace-data", 10) || grt_find_text(line, end, "linuxPerfData", 13)) {
		f->outside = false;
		return true;
	}
	if (ftrace_text_begins(line, end, "</script>"))
		f->outside = true;
	return f->outside;
}

static enum grt_text_line no_event(struct ftrace *f, const char *line, const char *end)
{
	const char *p = line;

	grt_scan_blanks(&p, end);
	if (p == end)
		return GRT_LINE_SKIP;
	if (*p == '#' && !ftrace_text_begins(p, end, "#####"))
		return comment(f, p, end);
	if (ftrace_text_begins(p, end, "CPU:"))
		return lost(f, p, end);
	if (f->html && (*p == '"' || *p == '<'))
		return GRT_LINE_SKIP;
	if (ftrace_func_graph_line(f, p, end))
		return GRT_LINE_DONE;
	return is_banner(p, end) || ftrace_text_is_frame(line, p, end) ? GRT_LINE_SKIP : GRT_LINE_BAD;
}

/* Takes a line without a row: a function, a probe, or an event that is not used. */
static enum grt_text_line other(struct ftrace *f)
{
	static const struct grt_span calls = {"(system calls)", 14};
	/* "sys_ioctl(fd: 3)" looks like a name up to its colon */
	bool call = memchr(f->l.event.at, '(', f->l.event.len);
	struct grt_span name = call ? calls : f->l.event;

	if (f->l.what == FTRACE_FUNCTION && ftrace_func_called(f))
		return GRT_LINE_DONE;
	if (f->l.what == FTRACE_EVENT && !call) {
		if (ftrace_func_probe(f))
			return GRT_LINE_DONE;
		if (ftrace_func_is_event(f->l.event)) {
			ftrace_func_event(f);
			return GRT_LINE_DONE;
		}
	}
	if (f->l.what == FTRACE_FUNCTION)
		name = calls;
	grt_text_unknown(f->t, name.at, name.len);
	return GRT_LINE_DONE;
}

/* Only counts an event, by its name. */
static bool is_nothing(const struct ftrace_line *l)
{
	return l->what == FTRACE_EVENT && !ftrace_func_is_event(l->event) &&
	       !memchr(l->event.at, '(', l->event.len) && !(l->fields < l->end && *l->fields == '(');
}

/* Most lines of a trace belong to no job, and need no room. */
static enum grt_text_place ftrace_place(struct grt_text *t, const char *line, const char *end,
					struct grt_order_place *place, size_t *hint)
{
	struct ftrace *f = grt_text_state(t);
	const struct ftrace_row *row;

	f->t = t;
	f->l.threads = f->threads;
	if (line == end || *line == '#' || !ftrace_line_parse(&f->l, line, without_escape(line, end)))
		return ftrace_time(line, end, &place->time, hint) ? GRT_PLACE_STAMP : GRT_PLACE_BEHIND;
	row = f->l.what == FTRACE_FUNCTION ? NULL : ftrace_row_of(f, f->l.event);
	if (!row && is_nothing(&f->l)) {
		grt_text_unknown(t, f->l.event.at, f->l.event.len);
		return GRT_PLACE_NOWHERE;
	}
	place->time = f->l.time;
	place->step = row ? ftrace_step(f, row) : 0;
	place->from = (size_t)(f->l.event.at - line);
	return GRT_PLACE_STAMP;
}

static enum grt_text_line ftrace_line(struct grt_text *t, const char *line, const char *end)
{
	struct ftrace *f = grt_text_state(t);
	const struct ftrace_row *row;

	f->t = t;
	f->l.threads = f->threads;
	end = without_escape(line, end);
	if ((line < end && *line == '#') || !ftrace_line_parse(&f->l, line, end))
		return no_event(f, line, end);
	if (f->helds && f->l.time > FTRACE_HOLD)
		ftrace_put_held(f, f->l.time - FTRACE_HOLD);
	f->at = f->l.fields;
	f->unstamped = false;
	row = f->l.what == FTRACE_FUNCTION ? NULL : ftrace_row_of(f, f->l.event);
	if (row && !f->has_jobs && ftrace_reports_jobs(f, row))
		ftrace_see_jobs(f);
	if (row && !(f->by_module && ftrace_row_is_job(row)))
		return row->handle(f, row->arg);
	return other(f);
}

static void ftrace_end_of_text(struct grt_text *t)
{
	struct ftrace *f = grt_text_state(t);

	f->t = t;
	ftrace_put_held(f, UINT64_MAX);
}

const struct grt_text_format grt_text_ftrace_text = {
	.name = "ftrace_text",
	.takes = ftrace_takes,
	.time = ftrace_time,
	.outside = ftrace_outside,
	.line = ftrace_line,
	.in_time = true,
	.place = ftrace_place,
	.end = ftrace_end_of_text,
	.back = FTRACE_BACK,
	.state_size = sizeof(struct ftrace),
};
