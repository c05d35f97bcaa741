// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Heads of device dumps: what amdgpu, xe, i915 and msm write into /sys/class/devcoredump (i915: into the file
 * `error` of the card) when the device hangs. A dump has no events. Its head becomes an ERROR event for each
 * ring that it blames, and a DUMP event for each fact. What follows the head, registers and memory in
 * millions of lines, is skipped.
 *
 * Time stamps are those of the clock that a trace has, as far as the head has it: amdgpu writes
 * CLOCK_MONOTONIC; xe and i915 also write the time since boot, which differs from that by the time for which
 * the machine slept; msm writes the time of day alone.
 *
 * Which line a driver writes in which release: drivers/gpu/drm/{amd/amdgpu/amdgpu_dev_coredump.c,
 * xe/xe_devcoredump.c,xe/xe_guc_submit.c,i915/i915_gpu_error.c,msm/msm_gpu.c,msm/adreno/adreno_gpu.c}
 */
#include <stdio.h>

#include "base/scan.h"
#include "text_input.h"

#define FACTS_MAX 48U
#define RINGS_MAX 32U

/** struct dump_fact - @key: our name for the line, @value: what it says */
struct dump_fact {
	const char *key;
	size_t len;
	char value[sizeof(((struct grt_ev_dump *)0)->value)];
};

/** struct dump_process - @pid: 0: unknown */
struct dump_process {
	uint32_t pid;
	size_t len;
	char name[32];
};

/**
 * struct dump_ring - a ring that the head names
 * @process: whose work it ran
 * @hung: 1: the dump blames it, -1: it does not, 0: it does not say
 * @last, @retired: msm: numbers of the last fence, and of the last one that was signalled
 */
struct dump_ring {
	char name[32];
	size_t len;
	struct dump_process process;
	int hung;
	uint64_t last;
	uint64_t retired;
};

/** enum dump_clock - the better ones last */
enum dump_clock { CLOCK_NONE, CLOCK_OF_DAY, CLOCK_SINCE_BOOT };

/** struct dump_time - when the dump was made; @clock: which clock said it */
struct dump_time {
	enum dump_clock clock;
	uint64_t ns;
};

/**
 * struct dump_state - the head so far
 * @open: one has begun
 * @driver: its name, "": unknown
 * @process: that the head blames as a whole
 * @code: i915: its ecode
 * @over: number of facts for which @fact had no room
 * @ring: the last of @rings is the one about which the next lines are
 */
struct dump_state {
	bool open;
	char driver[16];
	struct dump_time time;
	struct dump_process process;
	uint32_t code;
	struct dump_fact fact[FACTS_MAX];
	unsigned int facts;
	uint64_t over;
	struct dump_ring ring[RINGS_MAX];
	unsigned int rings;
};

/* ------------------------------------------------------------------ facts */

static size_t dump_copy(char *to, size_t room, struct grt_span text)
{
	size_t len = text.len < room ? text.len : room;

	memcpy(to, text.at, len);
	if (text.len > room)
		memcpy(to + room - 3, "...", 3);
	return len;
}

static void dump_add_fact(struct dump_state *s, const char *key, struct grt_span value)
{
	struct dump_fact *f;

	value = grt_span_trim(value);
	if (!value.len)
		return;
	if (s->facts == FACTS_MAX) {
		s->over++;
		return;
	}
	f = &s->fact[s->facts++];
	*f = (struct dump_fact){.key = key};
	f->len = dump_copy(f->value, sizeof(f->value), value);
}

static void dump_set_process(struct dump_process *p, struct grt_span name, uint64_t pid)
{
	if (pid > INT32_MAX)
		return;
	*p = (struct dump_process){.pid = (uint32_t)pid};
	p->len = dump_copy(p->name, sizeof(p->name), grt_span_trim(name));
}

static void dump_set_driver(struct dump_state *s, const char *driver)
{
	snprintf(s->driver, sizeof(s->driver), "%s", driver);
}

/* ------------------------------------------------------------------ times */

/* "SECONDS.NANOSECONDS" or "SECONDS s MICROSECONDS us" */
static bool dump_scan_time(const char *p, const char *end, uint64_t *ns)
{
	uint64_t seconds, us;

	if (grt_scan_stamp(&p, end, ns))
		return true;
	if (!grt_scan_u64(&p, end, &seconds) || !GRT_SCAN_WORD(&p, end, " s ") ||
	    !grt_scan_u64(&p, end, &us) || seconds >= UINT64_MAX / GRT_NS_PER_S || us > 999999)
		return false;
	*ns = seconds * GRT_NS_PER_S + us * 1000;
	return true;
}

/* Reads a line that has the time of the dump. @driver: that of the dump. Return: CLOCK_NONE: it has none */
static enum dump_clock dump_time_of(const char *driver, const char *line, const char *end, uint64_t *ns)
{
	const char *p = line;
	enum dump_clock clock = CLOCK_OF_DAY;

	if (GRT_SCAN_WORD(&p, end, "Boottime: "))
		clock = CLOCK_SINCE_BOOT;
	else if (GRT_SCAN_WORD(&p, end, "Uptime: "))
		/* that of i915 begins with its driver */
		clock = strcmp(driver, "xe") ? CLOCK_NONE : CLOCK_SINCE_BOOT;
	else if (GRT_SCAN_WORD(&p, end, "time: "))
		clock = strcmp(driver, "amdgpu") ? CLOCK_OF_DAY : CLOCK_SINCE_BOOT;
	else if (!GRT_SCAN_WORD(&p, end, "Snapshot time: ") && !GRT_SCAN_WORD(&p, end, "Time: "))
		return CLOCK_NONE;
	return clock != CLOCK_NONE && dump_scan_time(p, end, ns) ? clock : CLOCK_NONE;
}

/* Keeps the better of two times. */
static void dump_take_time(struct dump_time *t, enum dump_clock clock, uint64_t ns)
{
	if (clock <= t->clock)
		return;
	t->clock = clock;
	t->ns = ns;
}

/* ------------------------------------------------------------------ rings */

/* Finds the ring with a name, or adds it. Return: NULL: there are too many */
static struct dump_ring *dump_find_ring(struct dump_state *s, struct grt_span name)
{
	struct dump_ring *r = s->ring;

	name = grt_span_trim(name);
	if (!name.len || name.len > sizeof(r->name))
		return NULL;
	for (; r < s->ring + s->rings; r++)
		if (r->len == name.len && !memcmp(r->name, name.at, name.len))
			return r;
	if (s->rings == RINGS_MAX)
		return NULL;
	s->rings++;
	*r = (struct dump_ring){.len = name.len};
	memcpy(r->name, name.at, name.len);
	return r;
}

/* ----------------------------------------------------------------- events */

static void dump_put_ring(struct grt_text *t, const struct dump_state *s, struct grt_event *e,
			  const struct dump_ring *r)
{
	const struct dump_process *p = r && r->process.pid ? &r->process : &s->process;

	e->time = s->time.ns;
	e->flags |= s->time.clock == CLOCK_NONE ? GRT_FLAG_INFERRED : 0;
	e->device = grt_text_driver(t, e->time, *s->driver ? s->driver : "unknown driver");
	e->ring = GRT_RING_NONE;
	if (r)
		e->ring =
			grt_text_ring(t, e->time, r->name, r->len, s->driver, strlen(s->driver), &e->engine);
	e->pid = e->tid = p->pid;
	if (p->pid && p->len)
		grt_text_name(t, GRT_NAME_THREAD, p->pid, e->time, p->name, p->len, p->name, p->len);
}

/* @flags: GRT_FLAG_INFERRED: the dump does not say which ring it is */
static void dump_put_error(struct grt_text *t, const struct dump_state *s, const struct dump_ring *r,
			   uint16_t flags)
{
	struct grt_ev_error x = {.e = {.type = GRT_EV_ERROR, .flags = flags}, .code = s->code};

	dump_put_ring(t, s, &x.e, r);
	grt_text_put_held(t, &x.e, 0);
}

/* Return: the ring of the process that the head blames, if no line says which ring hangs; NULL: unknown */
static const struct dump_ring *dump_ring_of_process(const struct dump_state *s)
{
	const struct dump_ring *found = NULL;

	for (const struct dump_ring *r = s->ring; r < s->ring + s->rings; r++) {
		if (r->hung || (s->process.pid && r->process.pid != s->process.pid))
			continue;
		if (found)
			return NULL;
		found = r;
	}
	return found;
}

static void dump_put_facts(struct grt_text *t, const struct dump_state *s, const struct dump_ring *r)
{
	for (const struct dump_fact *f = s->fact; f < s->fact + s->facts; f++) {
		struct grt_ev_dump x = {.e = {.type = GRT_EV_DUMP}};

		dump_put_ring(t, s, &x.e, r);
		memcpy(x.key, f->key, strlen(f->key));
		memcpy(x.value, f->value, f->len);
		grt_text_put_held(t, &x.e, 0);
	}
}

static void dump_settle(struct grt_text *t, struct dump_state *s)
{
	const struct dump_ring *first = NULL;

	if (!s->open)
		return;
	for (const struct dump_ring *r = s->ring; r < s->ring + s->rings; r++) {
		if (r->hung <= 0)
			continue;
		first = first ?: r;
		dump_put_error(t, s, r, 0);
	}
	if (!first) {
		first = dump_ring_of_process(s);
		dump_put_error(t, s, first, first ? GRT_FLAG_INFERRED : 0);
	}
	dump_put_facts(t, s, first);
	while (s->over--)
		grt_text_unknown(t, "facts of a device dump", 22);
	memset(s, 0, sizeof(*s));
}

/* ------------------------------------------------------------------ lines */

/**
 * struct dump_line - a line of which the beginning was recognised
 * @rest: what follows, up to @end
 */
struct dump_line {
	struct grt_text *t;
	struct dump_state *s;
	const char *rest;
	const char *end;
};

static struct grt_span dump_rest(const struct dump_line *l)
{
	return grt_span_trim((struct grt_span){l->rest, (size_t)(l->end - l->rest)});
}

static void dump_begin(struct dump_line *l, const char *driver)
{
	dump_settle(l->t, l->s);
	l->s->open = true;
	dump_set_driver(l->s, driver);
}

static void dump_of_amdgpu(struct dump_line *l)
{
	dump_begin(l, "amdgpu");
}

static void dump_of_xe(struct dump_line *l)
{
	dump_begin(l, "xe");
}

static void dump_of_msm(struct dump_line *l)
{
	if (l->rest == l->end)
		dump_begin(l, "");
}

/* "NAME [PID]"; older releases have no pid */
static void dump_take_process(struct dump_process *p, struct grt_span text)
{
	const char *end = text.at + text.len, *at = end, *digits;
	uint64_t pid = 0;

	while (at > text.at && at[-1] != '[')
		at--;
	digits = at;
	if (at == text.at || !grt_scan_u64(&digits, end, &pid))
		dump_set_process(p, text, 0);
	else
		dump_set_process(p, (struct grt_span){text.at, (size_t)(at - 1 - text.at)}, pid);
}

/* "9:1:0x85dffffb, in NAME [PID]", and in older releases more after it */
static void dump_of_i915(struct dump_line *l)
{
	const char *stop = grt_find_text(l->rest, l->end, ", in ", 5), *code = stop ?: l->end, *close;
	uint64_t n;

	dump_begin(l, "i915");
	dump_add_fact(l->s, "ecode", (struct grt_span){l->rest, (size_t)(code - l->rest)});
	while (code > l->rest && code[-1] != ':')
		code--;
	if (grt_scan_hex(&code, l->end, &n))
		l->s->code = grt_u32(n);
	if (!stop)
		return;
	close = memchr(stop, ']', (size_t)(l->end - stop));
	dump_take_process(&l->s->process,
			  (struct grt_span){stop + 5, (size_t)((close ?: l->end) - stop - 5)});
}

static void dump_module(struct dump_line *l)
{
	struct grt_span name = dump_rest(l);

	memset(l->s->driver, 0, sizeof(l->s->driver));
	if (name.len < sizeof(l->s->driver))
		memcpy(l->s->driver, name.at, name.len);
}

/* "NAME PID: N" */
static void dump_amd_process(struct dump_line *l)
{
	const char *at = grt_find_text(l->rest, l->end, " PID: ", 6), *p = at ? at + 6 : NULL;
	uint64_t pid;

	if (at && grt_scan_u64(&p, l->end, &pid))
		dump_set_process(&l->s->process, (struct grt_span){l->rest, (size_t)(at - l->rest)}, pid);
}

static void dump_xe_process(struct dump_line *l)
{
	dump_take_process(&l->s->process, dump_rest(l));
}

/* "N Ring Name: NAME" */
static void dump_amd_ring(struct dump_line *l)
{
	const char *at = grt_find_text(l->rest, l->end, "Ring Name: ", 11);
	struct grt_span name = {at ? at + 11 : l->end, at ? (size_t)(l->end - at - 11) : 0};
	struct dump_ring *r = dump_find_ring(l->s, name);

	dump_add_fact(l->s, "ring", name);
	if (r)
		r->hung = 1;
}

/* The first name after a GuC ID is that of the queue. */
static void dump_xe_queue(struct dump_line *l)
{
	struct dump_ring *r;

	if (l->s->rings)
		return;
	dump_add_fact(l->s, "queue", dump_rest(l));
	r = dump_find_ring(l->s, dump_rest(l));
	if (r)
		r->hung = 1;
}

/* "NAME): COMM [PID]" */
static void dump_intel_ring(struct dump_line *l)
{
	const char *at = grt_find_text(l->rest, l->end, "): ", 3), *close;
	struct dump_ring *r =
		at ? dump_find_ring(l->s, (struct grt_span){l->rest, (size_t)(at - l->rest)}) : NULL;
	char fact[128];
	int n;

	if (!r)
		return;
	at += 3;
	close = memchr(at, ']', (size_t)(l->end - at)) ?: l->end;
	dump_take_process(&r->process, (struct grt_span){at, (size_t)(close - at)});
	n = snprintf(fact, sizeof(fact), "%.*s: %.*s", (int)r->len, r->name,
		     l->end - at < 90 ? (int)(l->end - at) : 90, at);
	dump_add_fact(l->s, "active", (struct grt_span){fact, (size_t)n});
}

/* A section of i915 about an engine begins; it becomes the last ring. */
static void dump_intel_section(struct dump_state *s, struct grt_span name)
{
	struct dump_ring *r = dump_find_ring(s, name), *last, kept;

	if (!r)
		return;
	last = &s->ring[s->rings - 1];
	kept = *r;
	memmove(r, r + 1, (size_t)(last - r) * sizeof(*r));
	*last = kept;
}

static void dump_intel_hung(struct dump_line *l)
{
	struct dump_state *s = l->s;

	if (s->rings && l->rest < l->end)
		s->ring[s->rings - 1].hung = *l->rest == '1' ? 1 : -1;
}

static void dump_msm_ring(struct dump_line *l)
{
	char name[32];
	const char *p = l->rest;
	uint64_t n;

	if (!grt_scan_u64(&p, l->end, &n) || p != l->end)
		return;
	snprintf(name, sizeof(name), "ring%u", grt_u32(n));
	dump_find_ring(l->s, (struct grt_span){name, strlen(name)});
}

static void dump_msm_last(struct dump_line *l)
{
	const char *p = l->rest;

	if (l->s->rings)
		grt_scan_u64(&p, l->end, &l->s->ring[l->s->rings - 1].last);
}

static void dump_msm_retired(struct dump_line *l)
{
	struct dump_ring *r = l->s->rings ? &l->s->ring[l->s->rings - 1] : NULL;
	const char *p = l->rest;

	if (r && grt_scan_u64(&p, l->end, &r->retired))
		r->hung = r->retired != r->last ? 1 : -1;
}

/* The head of msm has the name of the process without its number. */
static void dump_msm_comm(struct dump_line *l)
{
	dump_set_process(&l->s->process, dump_rest(l), 0);
}

/**
 * struct dump_row - how a line begins
 * @read: reads the rest; NULL: it is a fact alone
 * @key: the fact's name; NULL: it is none, or @read adds it
 * @begins: a dump begins with it
 */
static const struct dump_row {
	const char *text;
	size_t len;
	void (*read)(struct dump_line *l);
	const char *key;
	bool begins;
} dump_rows[] = {
#define ROW(text, read, key)                             \
	{                                                \
		text, sizeof(text) - 1, read, key, false \
	}
#define BEGIN(text, read)                                \
	{                                                \
		text, sizeof(text) - 1, read, NULL, true \
	}
	BEGIN("**** AMDGPU Device Coredump ****", dump_of_amdgpu),
	BEGIN("**** Xe Device Coredump ****", dump_of_xe),
	BEGIN("GPU HANG: ecode ", dump_of_i915),
	BEGIN("---", dump_of_msm),
	ROW("kernel: ", NULL, "kernel"),
	ROW("Kernel: ", NULL, "kernel"),
	ROW("module: ", dump_module, NULL),
	ROW("time: ", NULL, "time"),
	ROW("Snapshot time: ", NULL, "time"),
	ROW("Uptime: ", NULL, "uptime"),
	ROW("Time: ", NULL, "time"),
	ROW("Boottime: ", NULL, "boottime"),
	ROW("process_name: ", dump_amd_process, "process"),
	ROW("Process: ", dump_xe_process, "process"),
	ROW("Active process (on ring ", dump_intel_ring, NULL),
	ROW("comm: ", dump_msm_comm, "process"),
	ROW("cmdline: ", NULL, "cmdline"),
	ROW("Reason: ", NULL, "reason"),
	ROW("IP Type: ", dump_amd_ring, NULL),
	ROW("GuC ID: ", NULL, "guc_id"),
	ROW("\tName: ", dump_xe_queue, NULL),
	ROW("\tJob: ", NULL, "job"),
	ROW("[gfxhub] ", NULL, "gfxhub"),
	ROW("[mmhub] ", NULL, "mmhub"),
	ROW("Faulty page starting at address: ", NULL, "fault_address"),
	ROW("Protection fault status register: ", NULL, "fault_status"),
	ROW("VRAM is lost", NULL, "vram_lost"),
	ROW("  hung: ", dump_intel_hung, NULL),
	ROW("Platform: ", NULL, "platform"),
	ROW("PCI ID: ", NULL, "pci_id"),
	ROW("revision: ", NULL, "revision"),
	ROW("  - iova=", NULL, "fault_address"),
	ROW("  - dir=", NULL, "fault_direction"),
	ROW("  - type=", NULL, "fault_type"),
	ROW("  - source=", NULL, "fault_source"),
	ROW("  - id: ", dump_msm_ring, NULL),
	ROW("    last-fence: ", dump_msm_last, NULL),
	ROW("    retired-fence: ", dump_msm_retired, NULL),
#undef BEGIN
#undef ROW
};

static const struct dump_row *dump_find_row(const char *line, const char *end)
{
	for (size_t i = 0; i < sizeof(dump_rows) / sizeof(dump_rows[0]); i++) {
		const char *p = line;

		if (*line == dump_rows[i].text[0] &&
		    grt_scan_text(&p, end, dump_rows[i].text, dump_rows[i].len))
			return &dump_rows[i];
	}
	return NULL;
}

/* "rcs0 command stream:" */
static bool dump_section(struct dump_state *s, const char *line, const char *end)
{
	static const char text[] = " command stream:";
	size_t len = sizeof(text) - 1, all = (size_t)(end - line);

	if (all <= len || all > len + 31 || memcmp(end - len, text, len))
		return false;
	dump_intel_section(s, (struct grt_span){line, all - len});
	return true;
}

static enum grt_text_line dump_line(struct grt_text *t, const char *line, const char *end)
{
	struct dump_state *s = grt_text_state(t);
	struct dump_line l = {.t = t, .s = s};
	const struct dump_row *row;
	enum dump_clock clock;
	uint64_t ns = 0;

	while (end > line && end[-1] == '\r')
		end--;
	row = line < end ? dump_find_row(line, end) : NULL;
	if (!row)
		return dump_section(s, line, end) ? GRT_LINE_DONE : GRT_LINE_SKIP;
	/* the beginning of a dump may be cut off */
	s->open = s->open || !row->begins;
	l.rest = line + row->len;
	l.end = end;
	clock = dump_time_of(s->driver, line, end, &ns);
	dump_take_time(&s->time, clock, ns);
	if (row->read)
		row->read(&l);
	if (row->key)
		dump_add_fact(s, row->key, dump_rest(&l));
	return GRT_LINE_DONE;
}

static void dump_end(struct grt_text *t)
{
	dump_settle(t, grt_text_state(t));
}

/* --------------------------------------------------------------- the file */

/**
 * struct dump_span - the time span of the dumps in a file
 * @hint: not used; a form's first member
 * @xe, @amdgpu: the driver of the dump, as far as the meaning of times depends on it
 * @time: of the dump
 */
struct dump_span {
	size_t hint;
	bool xe;
	bool amdgpu;
	struct dump_time time;
	bool any;
	uint64_t first;
	uint64_t last;
};

static void dump_span_add(struct dump_span *s)
{
	if (s->time.clock != CLOCK_NONE) {
		s->first = s->any && s->first < s->time.ns ? s->first : s->time.ns;
		s->last = s->any && s->last > s->time.ns ? s->last : s->time.ns;
		s->any = true;
	}
	s->time = (struct dump_time){.clock = CLOCK_NONE};
}

/* A line has no time of its own: that of a dump is the best of several. */
static bool dump_time(const char *line, const char *end, uint64_t *ns, size_t *hint)
{
	struct dump_span *s = (struct dump_span *)hint;
	const struct dump_row *row = line < end ? dump_find_row(line, end) : NULL;
	enum dump_clock clock;

	*ns = 0;
	if (!row)
		return false;
	if (row->begins) {
		dump_span_add(s);
		s->amdgpu = row->read == dump_of_amdgpu;
		s->xe = row->read == dump_of_xe;
	}
	clock = dump_time_of(s->amdgpu ? "amdgpu" : s->xe ? "xe" : "", line, end, ns);
	dump_take_time(&s->time, clock, *ns);
	return false;
}

static void dump_get_span(void *learned, uint64_t *first, uint64_t *last)
{
	struct dump_span *s = learned;

	dump_span_add(s);
	if (!s->any)
		return;
	*first = s->first;
	*last = s->last;
}

static bool dump_takes(const char *line, const char *end)
{
	static const char *const modules[] = {"amdgpu", "xe", "i915", "msm"};
	const struct dump_row *row = dump_find_row(line, end);
	struct grt_span name;

	if (!row)
		return false;
	if (row->begins)
		return row->read != dump_of_msm;
	if (row->read != dump_module)
		return row->read == dump_intel_ring;
	name = grt_span_trim((struct grt_span){line + row->len, (size_t)(end - line) - row->len});
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (grt_span_is(name, modules[i]))
			return true;
	return false;
}

const struct grt_text_format grt_text_devcoredump_text = {
	.name = "devcoredump_text",
	.takes = dump_takes,
	.time = dump_time,
	.learned_size = sizeof(struct dump_span),
	.span = dump_get_span,
	.line = dump_line,
	.end = dump_end,
	.state_size = sizeof(struct dump_state),
	/* a file may have several dumps, in any order */
	.back = GRT_WINDOW_ALL,
};
