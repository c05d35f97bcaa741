// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The sums of calls.h. */
#include "calls.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/containers.h"
#include "table/hist_table.h"

/* Octaves of the histogram of times: all that exist. */
#define OCTAVES GRT_HIST_OCTAVES

/* An ioctl that a thread is in. */
struct inside {
	uint64_t begin;
	int32_t fd;
	uint32_t cmd;
};

struct grt_calls {
	struct grt_keyed processes;
	struct grt_keyed files; /* by (pid, fd); elements are devices */
	struct grt_keyed inside;
	struct grt_hist ioctl_time;
	uint32_t octaves;
	struct grt_calls_count count;
	struct grt_watch watch;
	uint64_t beside;
};

static struct grt_call_process *calls_find_process(const struct grt_calls *c, uint64_t pid)
{
	struct grt_key key = {{pid}};

	return grt_keyed_find(&c->processes, &key);
}

static void file_gone(struct grt_calls *c, uint64_t pid)
{
	struct grt_call_process *p = calls_find_process(c, pid);

	if (p && p->open)
		p->open--;
}

static int calls_add_file(struct grt_calls *c, struct grt_call_process *p, const struct grt_event *e,
			  int32_t fd)
{
	struct grt_key key = {{e->pid, (uint32_t)fd}};
	void *device;

	/* its close was not recorded */
	if (grt_keyed_find(&c->files, &key))
		return 0;
	if (grt_keyed_full(&c->files))
		file_gone(c, grt_keyed_key(grt_keyed_oldest(&c->files))->w[0]);
	if (grt_keyed_get_or_replace(&c->files, &key, &c->count.forgotten, &device))
		return -ENOMEM;
	*(uint32_t *)device = e->device;
	p->open++;
	return 0;
}

static int on_open(struct grt_calls *c, struct grt_call_process *p, const struct grt_event *e)
{
	const struct grt_ev_open *ev = (const struct grt_ev_open *)e;

	p->opens++;
	p->open_errors += ev->fd < 0;
	if (ev->fd == GRT_FD_UNKNOWN)
		p->open++;
	return ev->fd < 0 || ev->fd == GRT_FD_UNKNOWN ? 0 : calls_add_file(c, p, e, ev->fd);
}

static int on_close(struct grt_calls *c, struct grt_call_process *p, const struct grt_event *e)
{
	const struct grt_ev_close *ev = (const struct grt_ev_close *)e;
	struct grt_key key = {{e->pid, (uint32_t)ev->fd}};
	void *file = grt_keyed_find(&c->files, &key);

	p->closes++;
	if (ev->fd == GRT_FD_UNKNOWN)
		file_gone(c, e->pid);
	if (!file)
		return 0;
	grt_keyed_remove(&c->files, file);
	file_gone(c, e->pid);
	return 0;
}

static int calls_on_enter(struct grt_calls *c, struct grt_call_process *p, const struct grt_event *e)
{
	const struct grt_ev_ioctl_enter *ev = (const struct grt_ev_ioctl_enter *)e;
	struct grt_key key = {{e->tid}};
	struct inside *in;
	void *found;
	int ret = grt_keyed_get_or_replace(&c->inside, &key, &c->count.half, &found);

	if (ret)
		return ret;
	in = found;
	c->count.half += in->begin != 0;
	*in = (struct inside){.begin = e->time, .fd = ev->fd, .cmd = ev->cmd};
	p->ioctls++;
	c->count.ioctls++;
	return 0;
}

/* Adds a call to the window in which it was entered. */
static int calls_add_to_window(struct grt_calls *c, struct grt_call_process *p, uint64_t begin, uint64_t ns)
{
	uint32_t number = grt_watch_number(&c->watch, begin);

	c->beside += !number;
	return number ? grt_estimate_add(&p->windows, number, ns, 1) : 0;
}

static int calls_on_leave(struct grt_calls *c, struct grt_call_process *p, const struct grt_event *e,
			  struct grt_call_end *end)
{
	const struct grt_ev_ioctl_exit *ev = (const struct grt_ev_ioctl_exit *)e;
	struct grt_key key = {{e->tid}};
	struct inside *in = grt_keyed_find(&c->inside, &key);
	uint64_t begin;

	p->ioctl_errors += ev->ret < 0;
	if (!in || in->cmd != ev->cmd || e->time < in->begin) {
		p->ioctls++;
		c->count.ioctls++;
		c->count.half++;
		return 0;
	}
	*end = (struct grt_call_end){.known = true, .fd = in->fd, .ns = e->time - in->begin};
	p->timed++;
	p->ioctl_ns += end->ns;
	grt_hist_add(&c->ioctl_time, end->ns, GRT_WEIGHT_ONE, false, &c->octaves);
	begin = in->begin;
	grt_keyed_remove(&c->inside, in);
	return c->watch.parts ? calls_add_to_window(c, p, begin, end->ns) : 0;
}

static int calls_take_window(struct grt_calls *c, const struct grt_ev_window *e)
{
	return e->of == GRT_WINDOW_CALLS ? grt_watch_take_window(&c->watch, e) : 0;
}

static int calls_count_call(struct grt_calls *c, struct grt_call_process *p, const struct grt_event *e,
			    struct grt_call_end *end)
{
	switch (e->type) {
	case GRT_EV_OPEN:
		return on_open(c, p, e);
	case GRT_EV_CLOSE:
		return on_close(c, p, e);
	case GRT_EV_IOCTL_ENTER:
		return calls_on_enter(c, p, e);
	case GRT_EV_IOCTL_EXIT:
		return calls_on_leave(c, p, e, end);
	case GRT_EV_MMAP:
		p->mmaps++;
		return 0;
	case GRT_EV_POLL:
		p->polls++;
		return 0;
	default:
		return 0;
	}
}

int grt_calls_event(struct grt_calls *c, const struct grt_event *e, struct grt_call_end *end)
{
	struct grt_call_end unused;
	struct grt_key key = {{e->pid}};
	struct grt_call_process *p;
	void *found;
	int ret;

	if (e->type == GRT_EV_WINDOW)
		return calls_take_window(c, (const struct grt_ev_window *)e);
	ret = grt_keyed_get_or_count(&c->processes, &key, &c->count.over, &found);
	end = end ? end : &unused;
	*end = (struct grt_call_end){.known = false};
	p = found;
	if (!p)
		return ret;
	p->pid = e->pid;
	if (!p->tid)
		p->tid = e->tid;
	c->count.calls += e->type != GRT_EV_IOCTL_EXIT;
	return calls_count_call(c, p, e, end);
}

int grt_calls_new(struct grt_calls **out)
{
	struct grt_calls *c = calloc(1, sizeof(*c));

	*out = c;
	if (!c)
		return -ENOMEM;
	grt_keyed_init(&c->processes, sizeof(struct grt_call_process), GRT_CALLS_PROCESSES_MAX);
	grt_keyed_init(&c->files, sizeof(uint32_t), GRT_CALLS_FILES_MAX);
	grt_keyed_init(&c->inside, sizeof(struct inside), GRT_CALLS_INSIDE_MAX);
	c->octaves = OCTAVES;
	return 0;
}

/*
 * grt_calls_estimate - computes estimates for all processes from the windows within [@from, @to], which *@out
 * reports
 */
static void grt_calls_estimate(struct grt_calls *c, uint64_t from, uint64_t to,
			       struct grt_estimate_watched *out)
{
	*out = (struct grt_estimate_watched){.windows = 0};
	if (!c->watch.parts)
		return;
	*out = grt_estimate_look(&c->watch, from, to);
	out->beside = c->beside;
	for (struct grt_call_process *p = grt_keyed_oldest(&c->processes); p;
	     p = grt_keyed_next(&c->processes, p)) {
		grt_estimate_settle(&p->windows, &c->watch, from, to);
		p->total = grt_estimate_total(&c->watch, &p->windows, from, to);
	}
}

struct grt_calls_count grt_calls_count(const struct grt_calls *c)
{
	struct grt_calls_count count = c->count;

	/* a thread that is still in a call has not left it */
	count.half += c->inside.used;
	return count;
}

/* Durations of all ioctls with entry and exit, ns */
static const struct grt_hist *grt_calls_ioctl_time(const struct grt_calls *c)
{
	return &c->ioctl_time;
}

static uint64_t calls_of(const struct grt_call_process *p)
{
	return p->opens + p->closes + p->ioctls + p->mmaps + p->polls;
}

static int calls_most_first(const void *a, const void *b)
{
	const struct grt_call_process *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(calls_of(y), calls_of(x)) ?: grt_compare(x->pid, y->pid);
}

int grt_calls_processes(const struct grt_calls *c, const struct grt_call_process ***out, uint32_t *n)
{
	*n = c->processes.used;
	return grt_keyed_list(&c->processes, calls_most_first, (void ***)out);
}

void grt_calls_free(struct grt_calls *c)
{
	if (!c)
		return;
	grt_hist_free(&c->ioctl_time);
	grt_watch_free(&c->watch);
	for (struct grt_call_process *p = grt_keyed_oldest(&c->processes); p;
	     p = grt_keyed_next(&c->processes, p))
		grt_estimate_free(&p->windows);
	grt_keyed_free(&c->processes);
	grt_keyed_free(&c->files);
	grt_keyed_free(&c->inside);
	free(c);
}

/* ----------------------------------------------------------- calls table */

/* The tables of calls on device files. */

static const struct grt_column call_columns[] = {
	{"pid", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process"},
	{"opens", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "opens of device files"},
	{"failed_opens", grt_row_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "opens that failed"},
	{"closes", grt_row_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST,
	 "closes of device files"},
	{"open_now", grt_row_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "files opened in the trace and not closed"},
	{"ioctls", grt_row_get, 6, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "ioctls"},
	{"failed_ioctls", grt_row_get, 7, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "ioctls that failed"},
	{"ioctl_ns", grt_row_get, 8, GRT_CELL_NS, GRT_COLUMN_ALL, "time in ioctls, ns"},
	{"mmaps", grt_row_get, 9, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST,
	 "mappings of device files"},
	{"polls", grt_row_get, 10, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST,
	 "polls, without those through epoll"},
	{"est_ioctls", grt_row_get, 11, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS,
	 "ioctls in the whole recording, estimated from the recorded windows"},
	{"est_ioctl_ns", grt_row_get, 12, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS,
	 "time in ioctls in the whole recording, estimated from the recorded windows, ns"},
	{"est_from", grt_row_get, 13, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS,
	 "lower bound of the 95 % interval of est_ioctl_ns, ns"},
	{"est_to", grt_row_get, 14, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS,
	 "upper bound of the 95 % interval of est_ioctl_ns, ns"},
	{.name = NULL},
};

static const struct grt_table call_table = {"processes", "calls by process", call_columns,
					    GRT_MARK_ESTIMATED};

static void add_estimated(struct grt_row_cells *c, uint64_t value, bool known)
{
	grt_row_number(c, value);
	c->cell[c->n - 1].absent = !known;
	c->cell[c->n - 1].estimated = true;
}

static int write_process(struct grt_pass *pass, const struct grt_call_process *p)
{
	struct grt_row_cells c = {.n = 0};

	grt_row_number(&c, p->pid);
	c.cell[0].absent = !p->pid;
	grt_row_text(&c, grt_process_name(pass->names, p->tid));
	grt_row_number(&c, p->opens);
	grt_row_number(&c, p->open_errors);
	grt_row_number(&c, p->closes);
	grt_row_number(&c, p->open);
	grt_row_number(&c, p->ioctls);
	grt_row_number(&c, p->ioctl_errors);
	grt_row_number(&c, p->ioctl_ns);
	c.cell[c.n - 1].absent = !p->timed;
	grt_row_number(&c, p->mmaps);
	grt_row_number(&c, p->polls);
	add_estimated(&c, p->total.works, p->total.known);
	add_estimated(&c, p->total.value, p->total.known);
	add_estimated(&c, p->total.low, p->total.interval);
	add_estimated(&c, p->total.high, p->total.interval);
	return grt_writer_row(pass->writer, &c);
}

/* A sentence that names the processes which have device files open. */
static void note_open(struct grt_pass *pass, const struct grt_call_process *const *row, uint32_t n)
{
	char text[160] = "";
	size_t used = 0;
	uint32_t i, left = 0;

	for (i = 0; i < n; i++) {
		if (!row[i]->open)
			continue;
		if (used < sizeof(text) - 16)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %u", row[i]->pid);
		else
			left++;
	}
	if (used && left)
		grt_note(pass->notes, "open now: pid%s and %u more", text, left);
	else if (used)
		grt_note(pass->notes, "open now: pid%s", text);
	else
		grt_note(pass->notes, "open now: none of the files opened in the trace");
}

static const struct grt_hist_tables time_tables = GRT_HIST_TABLES(ALL, TIMES, "ioctl_time", "time in ioctls");

static int show_calls(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_calls_count count = grt_calls_count(state);
	const struct grt_hist_row times = {0, "ioctl", grt_calls_ioctl_time(state)};
	struct grt_estimate_watched watched;
	const struct grt_call_process **row;
	uint32_t n;
	int ret = grt_calls_processes(state, &row, &n);

	if (ret)
		return ret;
	grt_calls_estimate(state, pass->first, pass->known ? pass->last : UINT64_MAX, &watched);
	grt_writer_table(pass->writer, &call_table, NULL);
	for (uint32_t i = 0; i < n && !ret; i++)
		ret = write_process(pass, row[i]);
	grt_writer_table_end(pass->writer);
	note_open(pass, row, n);
	grt_estimate_note(pass->notes, &watched);
	if (watched.windows && watched.beside)
		grt_note(
			pass->notes,
			"  %" PRIu64
			" {ioctl was|ioctls were} entered just before or after a window: no estimate includes {it|them}",
			watched.beside);
	free(row);
	if (count.half)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {ioctl has|ioctls have} no entry or no end in the trace: {its|their} time is unknown",
			count.half);
	if (count.over || count.forgotten)
		grt_note(
			pass->notes,
			"%" PRIu64 " {call|calls} and %" PRIu64
			" {open file is|open files are} not in the table (limit of %u processes or %u files)",
			count.over, count.forgotten, GRT_CALLS_PROCESSES_MAX, GRT_CALLS_FILES_MAX);
	return ret ? ret : grt_hists_write(pass, &time_tables, &times, 1);
}

/* --------------------------------------------------------------- analysis */

GRT_ANALYSIS_NEW(new_calls, struct grt_calls, grt_calls_new)

static int calls_table_take_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	struct grt_call_end end;

	return grt_calls_event(state, e, pass->call ? pass->call : &end);
}

GRT_ANALYSIS_FREE(free_calls, grt_calls_free)

static const uint16_t call_types[] = {GRT_EV_OPEN, GRT_EV_CLOSE, GRT_EV_IOCTL_ENTER,
				      GRT_EV_MMAP, GRT_EV_POLL,	 0};
static const struct grt_part call_parts[] = {
	{"calls", "calls on device files by process", GRT_PART_MONITOR, .types = call_types,
	 .tables = GRT_TABLES(&call_table, GRT_HIST_BOTH(time_tables)), .write = show_calls},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_calls = {
	.name = "calls",
	.classes = GRT_IN_CLASS(call) | GRT_IN_CLASS(window),
	.parts = call_parts,
	.begin = new_calls,
	.event = calls_table_take_event,
	.free = free_calls,
};
