// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics at the end of `grtrace monitor`: which parts are written, what
 * the parts share, and what was lost. How values look is the writer's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memfile.h"
#include "monitor.h"
#include "report_text.h"
#include "base/units.h"

/* Cells and fields */

void monitor_get(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	(void)view;
	*cell = ((const struct monitor_cells *)row)->cell[arg];
}

static void add_cell(struct monitor_cells *c, struct grt_cell cell)
{
	if (c->n < MONITOR_CELLS)
		c->cell[c->n++] = cell;
}

void monitor_number(struct monitor_cells *c, uint64_t number)
{
	add_cell(c, (struct grt_cell){.number = number});
}

void monitor_text(struct monitor_cells *c, const char *text)
{
	add_cell(c, (struct grt_cell){.text = text, .absent = !text});
}

void monitor_absent(struct monitor_cells *c)
{
	add_cell(c, (struct grt_cell){.absent = true});
}

void monitor_ring(const struct monitor *m, struct monitor_cells *c, uint32_t ring)
{
	uint32_t name = grt_names_find(&m->names, GRT_NAME_RING, ring);

	add_cell(c, (struct grt_cell){.number = ring,
				      .text = grt_names_name(&m->names, name),
				      .absent = ring == GRT_RING_NONE});
}

void monitor_device(const struct monitor *m, struct monitor_cells *c, uint32_t device)
{
	uint32_t name = grt_names_find(&m->names, GRT_NAME_DEVICE, device);

	add_cell(c, (struct grt_cell){.number = device, .text = grt_names_name(&m->names, name)});
}

void monitor_hist_cell(struct monitor_cells *c, const struct grt_hist *h, unsigned int permille)
{
	struct grt_cell cell = {.number = h->max, .inferred = h->inferred};

	cell.absent = permille == 1000 ? !h->weight : !grt_hist_percentile(h, permille, &cell.number);
	add_cell(c, cell);
}

int monitor_tally(struct monitor *m, const struct grt_table *table, const struct grt_tally *t,
		  const char *what,
		  int (*write)(struct monitor *m, const struct grt_tally_row *row, const void *arg),
		  const void *arg)
{
	const struct grt_tally_row **row;
	int ret = grt_tally_list(t, &row);

	if (ret)
		return ret;
	grt_writer_table(m->writer, table, NULL);
	for (uint32_t i = 0; i < t->rows.used && !ret; i++)
		ret = write(m, row[i], arg);
	grt_writer_table_end(m->writer);
	free(row);
	if (t->over)
		grt_note(&m->notes, "%" PRIu64 " %s are in no row: more than %u kinds", t->over, what,
			 t->rows.max);
	return ret;
}

const char *monitor_process(const struct monitor *m, uint32_t tid)
{
	uint32_t name = grt_names_find(&m->names, GRT_NAME_THREAD, tid);
	const char *process = grt_names_owner(&m->names, name);

	return process ? process : grt_names_name(&m->names, name);
}

bool monitor_rate(const struct monitor *m, uint64_t amount, uint64_t *milli)
{
	unsigned __int128 scaled = (unsigned __int128)amount * 1000000000000ULL;

	if (m->last <= m->first)
		return false;
	scaled = (scaled + (m->last - m->first) / 2) / (m->last - m->first);
	*milli = scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
	return true;
}

void monitor_decimal(char text[32], uint64_t milli, unsigned int digits)
{
	static const unsigned int drop[] = {1000, 100, 10, 1}, scale[] = {1, 10, 100, 1000};
	uint64_t n = milli / drop[digits] + (milli % drop[digits] >= (drop[digits] + 1) / 2 && digits < 3);

	if (digits)
		snprintf(text, 32, "%" PRIu64 ".%0*" PRIu64, n / scale[digits], (int)digits,
			 n % scale[digits]);
	else
		snprintf(text, 32, "%" PRIu64, n);
}

/* Histograms */

#define TIMES GRT_CELL_NS
#define SIZES GRT_CELL_NUMBER
#define PERCENTILES(KIND, unit)                                                                          \
	{                                                                                                \
		{"ring", monitor_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"}, \
			{"what", monitor_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what is measured"},     \
			{"count", monitor_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how many"},          \
			{"min", monitor_get, 3, KIND, GRT_COLUMN_ALL, "smallest, " unit},                \
			{"p50", monitor_get, 4, KIND, GRT_COLUMN_ALL, "half are not above, " unit},      \
			{"p95", monitor_get, 5, KIND, GRT_COLUMN_ALL, "95 % are not above, " unit},      \
			{"p99", monitor_get, 6, KIND, GRT_COLUMN_ALL, "99 % are not above, " unit},      \
			{"max", monitor_get, 7, KIND, GRT_COLUMN_ALL, "largest, " unit}, {.name = NULL}, \
	}
#define BUCKETS(KIND, unit)                                                                              \
	{                                                                                                \
		{"ring", monitor_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"}, \
			{"what", monitor_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what is measured"},     \
			{"from", monitor_get, 2, KIND, GRT_COLUMN_ALL, "from this on, " unit},           \
			{"below", monitor_get, 3, KIND, GRT_COLUMN_ALL, "below this, " unit},            \
			{"count", monitor_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how many"},          \
			{"share",	monitor_get,	  5,                                             \
			 GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "of the longest, as a bar"},                   \
			{.name = NULL},                                                                  \
	}

static const struct grt_column time_columns[] = PERCENTILES(TIMES, "ns");
static const struct grt_column size_columns[] = PERCENTILES(SIZES, "bytes");
static const struct grt_column time_buckets[] = BUCKETS(TIMES, "ns");
static const struct grt_column size_buckets[] = BUCKETS(SIZES, "bytes");

static void owner_cell(struct monitor *m, struct monitor_cells *c, enum monitor_of of,
		       const struct monitor_hist *row)
{
	if (of == MONITOR_OF_RING)
		monitor_ring(m, c, row->owner);
	else
		monitor_number(c, row->owner);
}

static int write_percentiles(struct monitor *m, const struct grt_table *table, enum monitor_of of,
			     const struct monitor_hist *row, unsigned int n)
{
	int ret = 0;

	grt_writer_table(m->writer, table, NULL);
	for (unsigned int i = 0; i < n && !ret; i++) {
		const struct grt_hist *h = row[i].h;
		struct monitor_cells c = {.n = 0};

		if (!h->weight)
			continue;
		owner_cell(m, &c, of, &row[i]);
		monitor_text(&c, row[i].what);
		monitor_number(&c, grt_weight_count(h->weight));
		add_cell(&c, (struct grt_cell){.number = h->min, .inferred = h->inferred});
		monitor_hist_cell(&c, h, 500);
		monitor_hist_cell(&c, h, 950);
		monitor_hist_cell(&c, h, 990);
		monitor_hist_cell(&c, h, 1000);
		ret = grt_writer_row(m->writer, &c);
	}
	grt_writer_table_end(m->writer);
	return ret;
}

/* Everything in an octave, and where that ends: octave 0 is cut into powers of two, as the others are. */
#define POWERS 64

static uint64_t octave_sum(const struct grt_hist *h, unsigned int octave, unsigned int from, unsigned int to)
{
	uint64_t sum = 0;

	for (unsigned int b = from; h->octave[octave] && b < to; b++)
		sum += h->octave[octave][b];
	return sum;
}

/* Values in [2^(p-1), 2^p); power 0 is the value 0. */
static uint64_t power_sum(const struct grt_hist *h, unsigned int power)
{
	if (power > GRT_HIST_BITS)
		return octave_sum(h, power - GRT_HIST_BITS, 0, GRT_HIST_BUCKETS);
	return octave_sum(h, 0, power ? 1U << (power - 1) : 0, 1U << power);
}

static int write_bucket(struct monitor *m, enum monitor_of of, const struct monitor_hist *row,
			unsigned int power, uint64_t most)
{
	static const char full[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";
	uint64_t count = power_sum(row->h, power);
	struct monitor_cells c = {.n = 0};
	unsigned int width = (unsigned int)((unsigned __int128)count * (sizeof(full) - 1) / most);

	owner_cell(m, &c, of, row);
	monitor_text(&c, row->what);
	monitor_number(&c, power ? 1ULL << (power - 1) : 0);
	monitor_number(&c, power < POWERS ? 1ULL << power : UINT64_MAX);
	monitor_number(&c, grt_weight_count(count));
	monitor_text(&c, full + sizeof(full) - 1 - (width ? width : 1));
	return grt_writer_row(m->writer, &c);
}

static int write_buckets_of(struct monitor *m, enum monitor_of of, const struct monitor_hist *row)
{
	uint64_t most = 0;
	int ret = 0;

	for (unsigned int p = 0; p <= POWERS; p++) {
		uint64_t sum = power_sum(row->h, p);

		if (sum > most)
			most = sum;
	}
	for (unsigned int p = 0; p <= POWERS && !ret; p++)
		if (power_sum(row->h, p))
			ret = write_bucket(m, of, row, p, most);
	return ret;
}

static int write_buckets(struct monitor *m, const struct grt_table *table, enum monitor_of of,
			 const struct monitor_hist *row, unsigned int n)
{
	int ret = 0;

	grt_writer_table(m->writer, table, NULL);
	for (unsigned int i = 0; i < n && !ret; i++)
		if (!row[i].h->blind)
			ret = write_buckets_of(m, of, &row[i]);
	grt_writer_table_end(m->writer);
	return ret;
}

/* The first column is whatever the histograms are of. */
static const struct grt_column *set_columns(struct grt_column to[10], const struct grt_column *from,
					    enum monitor_of of)
{
	unsigned int n = 0;

	do
		to[n] = from[n];
	while (from[n++].name);
	if (of == MONITOR_OF_CRTC) {
		to[0].name = "crtc";
		to[0].kind = GRT_CELL_NUMBER;
		to[0].help = "index of the CRTC";
	}
	return of == MONITOR_OF_ALL ? to + 1 : to;
}

static int write_hists(struct monitor *m, const char *name, const char *title, enum monitor_of of,
		       const struct grt_column *columns[2], const struct monitor_hist *row, unsigned int n)
{
	char bucket_name[64], bucket_title[128];
	struct grt_column percentile[10], bucket[10];
	const struct grt_table percentiles = {name, title, set_columns(percentile, columns[0], of),
					      GRT_MARK_INFERRED};
	const struct grt_table histogram = {bucket_name, bucket_title, set_columns(bucket, columns[1], of),
					    0};
	int ret = write_percentiles(m, &percentiles, of, row, n);

	snprintf(bucket_name, sizeof(bucket_name), "%s_histogram", name);
	snprintf(bucket_title, sizeof(bucket_title), "%s: histogram", title);
	return ret ? ret : write_buckets(m, &histogram, of, row, n);
}

int monitor_latencies(struct monitor *m, const char *name, const char *title, enum monitor_of of,
		      const struct monitor_hist *row, unsigned int n)
{
	const struct grt_column *columns[2] = {time_columns, time_buckets};

	return write_hists(m, name, title, of, columns, row, n);
}

int monitor_sizes(struct monitor *m, const char *name, const char *title, const struct monitor_hist *row,
		  unsigned int n)
{
	const struct grt_column *columns[2] = {size_columns, size_buckets};

	return write_hists(m, name, title, MONITOR_OF_ALL, columns, row, n);
}

/* Head and end */

/**
 * struct part - a part of the statistics
 * @show: its bit of enum monitor_show
 * @types: events without which `all` leaves it out; ended by 0
 * @tally: where these are not enough: `all` leaves it out while nothing was counted there
 */
struct part {
	unsigned int show;
	int (*write)(struct monitor *m);
	uint8_t types[6];
	size_t tally;
};

#define PART(SHOW, what, counted, ...)                                                          \
	{                                                                                       \
		.show = MONITOR_##SHOW, .write = monitor_##what, .tally = (counted), .types = { \
			__VA_ARGS__                                                             \
		}                                                                               \
	}

static const struct part parts[] = {
	PART(JOBS, jobs, 0, GRT_EV_SUBMIT, GRT_EV_COMMIT, GRT_EV_END, GRT_EV_COMPLETE, GRT_EV_WAIT_DEP),
	PART(SUBMITS, submits, offsetof(struct monitor, ibs), GRT_EV_SUBMIT),
	PART(COMMANDS, commands, offsetof(struct monitor, commands), GRT_EV_SUBMIT),
	PART(PLACEMENT, placement, 0, GRT_EV_MEM_CREATE),
	PART(MOVES, moves, 0, GRT_EV_MEM_MOVE),
	PART(LIVE, live, 0, GRT_EV_MEM_CREATE, GRT_EV_MEM_DESTROY),
	PART(BINDS, binds, 0, GRT_EV_MEM_BIND, GRT_EV_MEM_UNBIND),
	PART(SHRINKS, shrinks, 0, GRT_EV_MEM_SHRINK),
	PART(FAULTS, faults, 0, GRT_EV_MEM_FAULT),
	PART(IRQS, irqs, 0, GRT_EV_IRQ),
	PART(FRAMES, frames, 0, GRT_EV_VBLANK, GRT_EV_VBLANK_QUEUED, GRT_EV_VBLANK_DELIVERED),
	PART(CALLS, calls, 0, GRT_EV_OPEN, GRT_EV_CLOSE, GRT_EV_IOCTL_ENTER, GRT_EV_MMAP, GRT_EV_POLL),
	PART(CALLS, nvidia, offsetof(struct monitor, nv_calls), GRT_EV_IOCTL_EXIT),
	PART(FUNCTIONS, functions, 0, GRT_EV_FUNC),
	PART(XIDS, xids, 0, GRT_EV_XID),
};

static bool has_events(const struct monitor *m, const struct part *p)
{
	if (p->tally)
		return ((const struct grt_tally *)((const char *)m + p->tally))->rows.used;
	for (const uint8_t *type = p->types; *type; type++)
		if (m->seen[*type])
			return true;
	return false;
}

static int write_parts(struct monitor *m)
{
	/* Whoever asked for one thing wants to be told that there is none of it. */
	bool always = m->row->sources[0];
	int ret = 0;

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(parts[0]) && !ret; i++)
		if ((m->row->shows & parts[i].show) && (always || has_events(m, &parts[i])))
			ret = parts[i].write(m);
	return ret;
}

static void write_head(struct monitor *m)
{
	const struct reading_span span = {m->first, m->last, m->known};
	struct grt_fields f = {.n = 0};

	grt_field_add(&f, "monitor", GRT_CELL_TEXT, (struct grt_cell){.text = m->row->name}, NULL);
	reading_recording(&f, m->session, m->input);
	reading_span_fields(&f, &span);
	grt_field_number(&f, "events", m->seen[0], NULL);
	grt_fields_write(&f, m->writer, "run", "statistics");
}

static int write_lost(struct monitor *m)
{
	static const struct grt_column columns[] = {
		{"cpu", monitor_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "CPU"},
		{"lost", monitor_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "events lost for want of room"},
		{.name = NULL},
	};
	static const struct grt_table table = {"lost_by_cpu", "events lost, by CPU", columns, 0};
	uint64_t all = 0;
	int ret = 0;

	for (uint32_t i = 0; i < GRT_COUNTS_CPUS; i++)
		all += m->counts->cpu[i].balance.fate[GRT_FATE_LOST];
	if (!all && !m->json)
		return 0;
	grt_writer_table(m->writer, &table, NULL);
	for (uint32_t i = 0; i < GRT_COUNTS_CPUS && !ret; i++) {
		struct monitor_cells c = {.n = 0};

		monitor_number(&c, i);
		monitor_number(&c, m->counts->cpu[i].balance.fate[GRT_FATE_LOST]);
		if (c.cell[1].number)
			ret = grt_writer_row(m->writer, &c);
	}
	grt_writer_table_end(m->writer);
	return ret;
}

uint64_t monitor_unread(const struct monitor *m)
{
	const struct grt_health *h = grt_session_health(m->session);
	uint64_t delivered = h->balance.fate[GRT_FATE_DELIVERED];

	return m->live && delivered > h->events ? delivered - h->events : 0;
}

static void write_notes(struct monitor *m, const struct grt_health *h)
{
	const struct reading_span span = {m->first, m->last, m->known};

	reading_note_health(&m->notes, h, m->live ? NULL : &span, monitor_unread(m));
	report_text_notes(&m->notes, h);
	report_text_passed(&m->notes, m->session);
	if (m->names.dropped)
		grt_note(&m->notes, "%" PRIu64 " NAME records dropped: more than %u names", m->names.dropped,
			 GRT_NAMES_MAX);
	if (m->left_out)
		grt_note(&m->notes,
			 "%" PRIu64
			 " events of other processes or drivers were left out; the balance has all",
			 m->left_out);
	grt_notes_write(&m->notes, m->writer);
}

static int write_all(struct monitor *m)
{
	const struct grt_health *h = grt_session_health(m->session);
	int ret;

	grt_writer_begin(m->writer);
	write_head(m);
	ret = write_parts(m);
	if (!ret)
		ret = write_lost(m);
	write_notes(m, h);
	if (m->json)
		reading_health(m->writer, h);
	reading_balance(m->writer, h, monitor_unread(m), m->json);
	grt_writer_end(m->writer);
	return ret;
}

/* The last object is a line as those before it. No string of it holds a newline. */
static void print_one_line(const char *text)
{
	for (; *text; text++)
		if (*text == '\n')
			text += strspn(text, "\n ") - 1;
		else
			putchar(*text);
	putchar('\n');
}

static int write_to(struct monitor *m, FILE *out)
{
	const struct grt_writer_options o = {.out = out, .colour = !m->json && cmd_colour()};
	int ret = grt_writer_new(&m->writer, m->json ? &writer_json : &writer_text, &o);

	if (!ret)
		ret = write_all(m);
	grt_writer_free(m->writer);
	m->writer = NULL;
	return ret;
}

int monitor_stats(struct monitor *m)
{
	struct grt_memfile memory;
	char *text;
	FILE *out;
	int ret;

	if (!m->json) {
		if (m->header)
			putchar('\n');
		return write_to(m, stdout);
	}
	out = grt_memfile_open(&memory);
	if (!out)
		return -ENOMEM;
	ret = write_to(m, out);
	text = grt_memfile_close(&memory, out, NULL);
	if (!text)
		ret = -ENOMEM;
	if (!ret)
		print_one_line(text);
	free(text);
	return ret;
}
