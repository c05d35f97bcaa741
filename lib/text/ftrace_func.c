// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Functions in ftrace text, see ftrace_func.h. As the kernel prints them:
 *
 *	kfd_ioctl_get_version <-kfd_ioctl				function
 *	12.954289 |   1)   kf-114   | + 10.550 us   |  kfd_ioctl() {	function_graph with all its columns;
 *									the first and third may be missing
 *	name: (kfd_ioctl_create_queue+0x0/0x3c0 [amdgpu]) gpu_id=7	a kprobe; +0x4 see is_entry()
 *	name: (kfd_ioctl+0x2d1/0x510 <- kfd_ioctl_create_queue) ret=0x0	a kretprobe
 *
 * Sources: kernel/trace/trace_functions_graph.c and trace_kprobe.c, Linux 5.15
 * to 6.17. A line of function_graph without a stamp gets that of the line
 * before, or where no line has one the sum of the durations so far, flagged.
 */
#include "ftrace_func.h"

#include <string.h>

#include "ftrace_emit.h"

/* Error numbers of the kernel; a 32-bit one is printed without its sign. */
#define ERRNO_MAX 4095

static struct grt_ev_func func_event(const struct ftrace *f, uint16_t step)
{
	struct grt_ev_func x = {.e = ftrace_event(f, GRT_EV_FUNC), .step = step};

	if (f->unstamped)
		x.e.flags = GRT_FLAG_INFERRED;
	return x;
}

static void ftrace_func_set(char *to, size_t room, struct grt_span text)
{
	if (text.len)
		memcpy(to, text.at, text.len < room ? text.len : room);
}

#define SET(field, text) ftrace_func_set((field), sizeof(field), (text))

static struct grt_span ftrace_func_trimmed(const char *p, const char *end)
{
	return grt_span_trim((struct grt_span){p, (size_t)(end - p)});
}

static struct grt_span ftrace_func_word_at(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && (unsigned char)*q > ' ' && *q != '(' && *q != ')' && *q != '+' && *q != '{' &&
	       *q != ';' && *q != '*')
		q++;
	return (struct grt_span){p, (size_t)(q - p)};
}

static void ftrace_func_put(struct ftrace *f, struct grt_ev_func *x)
{
	ftrace_by_current(f, &x->e);
	grt_text_put(f->t, &x->e, f->l.cpu);
}

bool ftrace_func_called(struct ftrace *f)
{
	struct grt_ev_func x = func_event(f, GRT_FUNC_CALLED);
	const char *p = f->l.fields;

	if (!GRT_SCAN_WORD(&p, f->l.end, "<-"))
		return false;
	SET(x.function, f->l.event);
	SET(x.text, ftrace_func_trimmed(p, f->l.end));
	ftrace_func_put(f, &x);
	return true;
}

/* Probes and events */

static bool scan_result(const char *p, const char *end, __s64 *ret)
{
	bool minus = grt_scan_char(&p, end, '-'), hex = end - p > 1 && p[0] == '0' && (p[1] | 0x20) == 'x';
	uint64_t v;

	if (!grt_scan_number(&p, end, &v))
		return false;
	if (hex && v <= UINT32_MAX && v > UINT32_MAX - ERRNO_MAX)
		v |= ~(uint64_t)UINT32_MAX;
	*ret = minus ? -(__s64)v : (__s64)v;
	return true;
}

/* The value of the first of these keys. */
static void take_result(struct grt_ev_func *x, const char *p, const char *end)
{
	static const char *const keys[] = {"ret=", "retval=", "rc=", "arg1="};
	const char *at;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		at = grt_find_key(p, end, keys[i], strlen(keys[i]));
		if (at && scan_result(at, end, &x->ret)) {
			x->known |= GRT_FUNC_RET;
			return;
		}
	}
}

/*
 * Return: whether the offset of a probe is the function's entry: 4 if the function begins with an ENDBR,
 * which has four bytes (arch_adjust_kprobe_addr() of x86, Linux 5.18 and later).
 */
static bool ftrace_func_is_entry(const char *p, const char *end)
{
	return end - p > 4 && (!memcmp(p, "+0x0/", 5) || !memcmp(p, "+0x4/", 5));
}

bool ftrace_func_probe(struct ftrace *f)
{
	const char *p = f->l.fields, *end = f->l.end, *close = memchr(p, ')', (size_t)(end - p)), *back;
	struct grt_ev_func x = func_event(f, GRT_FUNC_EVENT);
	struct grt_span name;

	if (!close || !grt_scan_char(&p, end, '('))
		return false;
	back = grt_find_text(p, close, "<- ", 3);
	name = ftrace_func_word_at(back ? back + 3 : p, close);
	/* others print words in brackets: "ipi_entry: (Rescheduling interrupts)" */
	if (!name.len || grt_is_digit(*name.at) || (!back && name.at[name.len] != '+'))
		return false;
	if (back) {
		x.step = GRT_FUNC_RETURNED;
		take_result(&x, close + 1, end);
	} else if (ftrace_func_is_entry(name.at + name.len, close)) {
		x.step = GRT_FUNC_ENTERED;
	}
	SET(x.function, name);
	SET(x.text, ftrace_func_trimmed(close + 1, end));
	ftrace_func_put(f, &x);
	return true;
}

static bool begins_with(struct grt_span name, const char *text, size_t len)
{
	return name.len >= len && !memcmp(name.at, text, len);
}

bool ftrace_func_is_event(struct grt_span name)
{
	return begins_with(name, "kfd_", 4) || begins_with(name, "amdgpu_", 7);
}

void ftrace_func_event(struct ftrace *f)
{
	struct grt_ev_func x = func_event(f, GRT_FUNC_EVENT);

	SET(x.function, f->l.event);
	SET(x.text, ftrace_func_trimmed(f->l.fields, f->l.end));
	take_result(&x, f->l.fields, f->l.end);
	ftrace_func_put(f, &x);
}

/* function_graph */

static struct ftrace_graph *graph_of(struct ftrace *f, uint64_t key)
{
	struct ftrace_graph *g = &f->graphs.graph[(key * 0x9e3779b97f4a7c15) >> 58];

	if (g->key == key)
		return g;
	/* another thread had this element: its open functions are dropped */
	g->key = key;
	g->depth = 0;
	return g;
}

static void ftrace_func_enter(struct ftrace *f, struct ftrace_graph *g, struct grt_ev_func *x)
{
	x->step = GRT_FUNC_ENTERED;
	x->depth = (uint16_t)g->depth;
	if (g->depth < FTRACE_GRAPH_DEPTH) {
		memcpy(g->name[g->depth], x->function, sizeof(x->function));
		g->since[g->depth] = x->e.time;
	}
	g->depth++;
	ftrace_func_put(f, x);
}

/* Takes "}", which "/ * name * /" follows if that was requested. Return: whether its function is known */
static bool ftrace_func_leave(struct ftrace_graph *g, struct grt_ev_func *x, struct grt_span name)
{
	if (g->depth)
		g->depth--;
	else if (!name.len)
		return false;
	x->depth = (uint16_t)g->depth;
	if (name.len)
		SET(x->function, name);
	else if (g->depth < FTRACE_GRAPH_DEPTH)
		memcpy(x->function, g->name[g->depth], sizeof(x->function));
	return x->function[0] != '\0';
}

/* Takes the comment after a function: its name, its result, or both: "name ret=0x0", "= 0x0". */
static struct grt_span take_comment(struct grt_ev_func *x, const char *p, const char *end)
{
	const char *at = grt_find_text(p, end, "/* ", 3), *value;
	struct grt_span name = {p, 0};

	if (!at)
		return name;
	at += 3;
	value = grt_find_text(at, end, "= ", 2);
	if (value)
		value += 2;
	else if ((value = grt_find_text(at, end, "ret=", 4)))
		value += 4;
	if (value && scan_result(value, end, &x->ret))
		x->known |= GRT_FUNC_RET;
	if (*at != '=' && memcmp(at, "ret=", 4) != 0)
		name = ftrace_func_word_at(at, end);
	return name;
}

/* "+ 10.550 us" or blanks before the bar */
static bool take_duration(struct grt_ev_func *x, const char *p, const char *bar)
{
	uint64_t took;

	grt_scan_blanks(&p, bar);
	if (p < bar && memchr("+!#*@$", *p, 6))
		p++;
	grt_scan_blanks(&p, bar);
	if (p == bar)
		return true;
	if (!grt_scan_stamp(&p, bar, &took))
		return false;
	/* it was read as if of seconds */
	x->took = took / 1000000;
	x->known |= GRT_FUNC_TOOK;
	grt_scan_blanks(&p, bar);
	return GRT_SCAN_WORD(&p, bar, "us");
}

/* In a text without time stamps, a function's end is its begin plus its duration. */
static void end_at(struct ftrace *f, const struct ftrace_graph *g, struct grt_ev_func *x)
{
	uint32_t at = g->depth - 1;

	if (!f->unstamped || f->graphs.stamped || !g->depth || at >= FTRACE_GRAPH_DEPTH)
		return;
	if (x->took > f->graphs.now - g->since[at] && x->took <= UINT64_MAX - g->since[at])
		f->graphs.now = g->since[at] + x->took;
	x->e.time = f->graphs.now;
}

/* Takes the text after the last bar, and the duration before it. Return: whether it was parsed */
static bool take_graph(struct ftrace *f, uint64_t key, const char *p, const char *bar, const char *end)
{
	struct grt_ev_func x = func_event(f, GRT_FUNC_RETURNED);
	struct ftrace_graph *g = graph_of(f, key);
	struct grt_span name, rest = ftrace_func_trimmed(bar + 1, end);

	if (!take_duration(&x, p, bar) || !rest.len)
		return false;
	if (*rest.at == '}') {
		end_at(f, g, &x);
		if (ftrace_func_leave(g, &x, take_comment(&x, rest.at, end)))
			ftrace_func_put(f, &x);
		else
			grt_text_unknown(f->t, "(returns of unknown functions)", 30);
		return true;
	}
	if (rest.len > 4 && !memcmp(rest.at, "/*", 2)) {
		grt_text_unknown(f->t, "(comments of function_graph)", 28);
		return true;
	}
	name = ftrace_func_word_at(rest.at, end);
	if (!name.len)
		return false;
	SET(x.function, name);
	if (rest.at[rest.len - 1] == '{') {
		ftrace_func_enter(f, g, &x);
		return true;
	}
	x.depth = (uint16_t)g->depth;
	take_comment(&x, rest.at, end);
	ftrace_func_put(f, &x);
	if (f->unstamped && !f->graphs.stamped && x.took <= UINT64_MAX - f->graphs.now)
		f->graphs.now += x.took;
	return true;
}

enum grt_text_line ftrace_func_graph(struct ftrace *f, unsigned int leaves)
{
	const char *p = f->l.fields, *bar = memchr(p, '|', (size_t)(f->l.end - p));
	struct grt_ev_func x = func_event(f, leaves ? GRT_FUNC_RETURNED : GRT_FUNC_ENTERED);
	struct grt_span name;
	uint64_t from, to;

	if (bar)
		return take_graph(f, f->l.tid + 1ULL, p, bar, f->l.end) ? GRT_LINE_DONE : GRT_LINE_BAD;
	if (!FTRACE_WORD(f, "func=", &name))
		return GRT_LINE_BAD;
	SET(x.function, name);
	x.depth = (uint16_t)FTRACE_NUMBER_OR(f, "depth=", 0);
	if (leaves && FTRACE_NUMBER(f, "calltime=", &from) && FTRACE_NUMBER(f, "rettime=", &to) &&
	    to >= from) {
		x.took = to - from;
		x.known |= GRT_FUNC_TOOK;
	}
	ftrace_func_put(f, &x);
	return GRT_LINE_DONE;
}

/** struct graph_line - the columns of a line */
struct graph_line {
	uint64_t ns;
	bool stamped;
	uint64_t cpu;
	struct grt_span thread;
	const char *duration;
	const char *bar;
};

/* "12.954289 |" at the beginning, which may be missing */
static const char *scan_graph_stamp(const char *p, const char *end, struct graph_line *g)
{
	const char *q = p;

	grt_scan_blanks(&q, end);
	if (!grt_scan_stamp(&q, end, &g->ns))
		return p;
	grt_scan_blanks(&q, end);
	if (!grt_scan_char(&q, end, '|'))
		return p;
	g->stamped = true;
	return q;
}

/* Splits "1)" and the columns after it up to the last bar. Return: whether it is such a line */
static bool split_graph_line(const char *p, const char *end, struct graph_line *g)
{
	const char *bar, *next;

	*g = (struct graph_line){.stamped = false};
	p = scan_graph_stamp(p, end, g);
	grt_scan_blanks(&p, end);
	if (!grt_scan_u64(&p, end, &g->cpu) || !grt_scan_char(&p, end, ')'))
		return false;
	bar = memchr(p, '|', (size_t)(end - p));
	if (!bar)
		return false;
	next = memchr(bar + 1, '|', (size_t)(end - bar - 1));
	/* one more column is the thread, two more also have the flags of the latency format */
	if (next) {
		g->thread = ftrace_func_trimmed(p, bar);
		for (p = bar + 1; next; next = memchr(bar + 1, '|', (size_t)(end - bar - 1))) {
			p = bar + 1;
			bar = next;
		}
	}
	g->duration = p;
	g->bar = bar;
	return true;
}

/* "kf-114" */
static bool thread_number(struct grt_span name, uint64_t *tid)
{
	const char *dash = name.len ? memrchr(name.at, '-', name.len) : NULL;

	return dash && (dash++, grt_scan_u64(&dash, name.at + name.len, tid));
}

/* " 0)   kf-114    =>   bash-200  ": the CPU runs another thread now */
static bool switch_line(struct ftrace *f, const char *p, const char *end)
{
	const char *arrow = grt_find_text(p, end, " => ", 4);
	uint64_t cpu, from, to;
	uint32_t *tid;

	grt_scan_blanks(&p, end);
	if (!arrow || !grt_scan_u64(&p, end, &cpu) || !grt_scan_char(&p, end, ')') ||
	    !thread_number(ftrace_func_trimmed(p, arrow), &from) ||
	    !thread_number(ftrace_func_trimmed(arrow + 4, end), &to))
		return false;
	tid = &f->graphs.tid[cpu % FTRACE_GRAPH_CPUS];
	if (!*tid) {
		*graph_of(f, from + 1) = *graph_of(f, 1ULL << 32 | cpu);
		graph_of(f, from + 1)->key = from + 1;
	}
	*tid = grt_u32(to);
	return true;
}

static void ftrace_func_take_thread(struct ftrace *f, const struct graph_line *g)
{
	uint32_t *of_cpu = &f->graphs.tid[g->cpu % FTRACE_GRAPH_CPUS];
	uint64_t tid;

	f->l.cpu = grt_u32(g->cpu);
	f->l.comm = (struct grt_span){"", 0};
	f->l.tgid = 0;
	if (thread_number(g->thread, &tid)) {
		*of_cpu = grt_u32(tid);
		f->l.comm = (struct grt_span){
			g->thread.at,
			(size_t)((const char *)memrchr(g->thread.at, '-', g->thread.len) - g->thread.at)};
	}
	f->l.tid = *of_cpu;
}

bool ftrace_func_graph_line(struct ftrace *f, const char *line, const char *end)
{
	struct ftrace_graphs *all = &f->graphs;
	struct graph_line g;
	uint64_t key;

	if (!split_graph_line(line, end, &g))
		return switch_line(f, line, end);
	all->stamped |= g.stamped;
	if (g.stamped)
		all->now = g.ns;
	ftrace_func_take_thread(f, &g);
	f->l.time = all->now;
	f->l.end = end;
	f->unstamped = !g.stamped;
	/* the thread if it is known; no CPU has such a number */
	key = f->l.tid ? f->l.tid + 1ULL : 1ULL << 32 | g.cpu;
	return take_graph(f, key, g.duration, g.bar, end);
}

bool ftrace_func_graph_time(const char *line, const char *end, uint64_t *ns)
{
	struct graph_line g;

	if (!split_graph_line(line, end, &g) || !g.stamped)
		return false;
	*ns = g.ns;
	return true;
}

bool ftrace_func_is_graph(const char *line, const char *end)
{
	struct graph_line g;
	struct grt_span rest;

	if (!split_graph_line(line, end, &g))
		return false;
	rest = ftrace_func_trimmed(g.bar + 1, end);
	return rest.len && (rest.at[rest.len - 1] == '{' || rest.at[rest.len - 1] == ';' || *rest.at == '}');
}
