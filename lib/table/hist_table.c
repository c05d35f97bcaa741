// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The tables of hist_table.h. */
#include "hist_table.h"

/* The first column is whatever the histograms are of. */
#define RING {"ring", grt_row_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"},
#define CRTC {"crtc", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "index of the CRTC"},
#define PERCENTILES(KIND, unit, ...)                                                                     \
	{                                                                                                \
		__VA_ARGS__{"what", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what is measured"},  \
			{"count", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how many"},          \
			{"min", grt_row_get, 3, KIND, GRT_COLUMN_ALL, "smallest, " unit},                \
			{"p50", grt_row_get, 4, KIND, GRT_COLUMN_ALL, "median, " unit},                  \
			{"p95", grt_row_get, 5, KIND, GRT_COLUMN_ALL, "95th percentile, " unit},         \
			{"p99", grt_row_get, 6, KIND, GRT_COLUMN_ALL, "99th percentile, " unit},         \
			{"max", grt_row_get, 7, KIND, GRT_COLUMN_ALL, "largest, " unit}, {.name = NULL}, \
	}
#define BUCKETS(KIND, unit, ...)                                                                        \
	{                                                                                               \
		__VA_ARGS__{"what", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what is measured"}, \
			{"from", grt_row_get, 2, KIND, GRT_COLUMN_ALL, "from this value, " unit},       \
			{"below", grt_row_get, 3, KIND, GRT_COLUMN_ALL, "to below this value, " unit},  \
			{"count", grt_row_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how many"},         \
			{"share",	grt_row_get,	  5,                                            \
			 GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "as a bar, relative to the largest count"},   \
			{.name = NULL},                                                                 \
	}
#define BOTH(COLUMNS, ...)                                                                              \
	{                                                                                               \
		COLUMNS(GRT_CELL_NS, "ns", __VA_ARGS__), COLUMNS(GRT_CELL_NUMBER, "bytes", __VA_ARGS__) \
	}

/* clang-format off */
const struct grt_column grt_hist_percentiles[GRT_HIST_OFS][2][10] = {
	[GRT_HIST_OF_RING] = BOTH(PERCENTILES, RING),
	[GRT_HIST_OF_CRTC] = BOTH(PERCENTILES, CRTC),
	[GRT_HIST_OF_ALL] = BOTH(PERCENTILES, ),
};

const struct grt_column grt_hist_buckets[GRT_HIST_OFS][2][10] = {
	[GRT_HIST_OF_RING] = BOTH(BUCKETS, RING),
	[GRT_HIST_OF_CRTC] = BOTH(BUCKETS, CRTC),
	[GRT_HIST_OF_ALL] = BOTH(BUCKETS, ),
};
/* clang-format on */

static void owner_cell(struct grt_pass *pass, struct grt_row_cells *c, enum grt_hist_of of,
		       const struct grt_hist_row *row)
{
	if (of == GRT_HIST_OF_RING)
		grt_row_ring(c, pass->names, row->owner);
	else
		grt_row_number(c, row->owner);
}

static int write_percentiles(struct grt_pass *pass, const struct grt_table *table, enum grt_hist_of of,
			     const struct grt_hist_row *row, unsigned int n)
{
	int ret = 0;

	grt_writer_table(pass->writer, table, NULL);
	for (unsigned int i = 0; i < n && !ret; i++) {
		const struct grt_hist *h = row[i].h;
		struct grt_row_cells c = {.n = 0};

		if (!h->weight)
			continue;
		owner_cell(pass, &c, of, &row[i]);
		grt_row_text(&c, row[i].what);
		grt_row_number(&c, grt_weight_count(h->weight));
		grt_row_add(&c, (struct grt_cell){.number = h->min, .inferred = h->inferred});
		grt_row_percentile(&c, h, 500);
		grt_row_percentile(&c, h, 950);
		grt_row_percentile(&c, h, 990);
		grt_row_percentile(&c, h, 1000);
		ret = grt_writer_row(pass->writer, &c);
	}
	grt_writer_table_end(pass->writer);
	return ret;
}

/* All values of an octave, and its end: octave 0 is divided at powers of two, like the others. */
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

static int write_bucket(struct grt_pass *pass, enum grt_hist_of of, const struct grt_hist_row *row,
			unsigned int power, uint64_t most)
{
	static const char full[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";
	uint64_t count = power_sum(row->h, power);
	struct grt_row_cells c = {.n = 0};
	unsigned int width = (unsigned int)((unsigned __int128)count * (sizeof(full) - 1) / most);

	owner_cell(pass, &c, of, row);
	grt_row_text(&c, row->what);
	grt_row_number(&c, power ? 1ULL << (power - 1) : 0);
	grt_row_number(&c, power < POWERS ? 1ULL << power : UINT64_MAX);
	grt_row_number(&c, grt_weight_count(count));
	grt_row_text(&c, full + sizeof(full) - 1 - (width ? width : 1));
	return grt_writer_row(pass->writer, &c);
}

static int write_buckets_of(struct grt_pass *pass, enum grt_hist_of of, const struct grt_hist_row *row)
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
			ret = write_bucket(pass, of, row, p, most);
	return ret;
}

static int write_buckets(struct grt_pass *pass, const struct grt_table *table, enum grt_hist_of of,
			 const struct grt_hist_row *row, unsigned int n)
{
	int ret = 0;

	grt_writer_table(pass->writer, table, NULL);
	for (unsigned int i = 0; i < n && !ret; i++)
		if (!row[i].h->blind)
			ret = write_buckets_of(pass, of, &row[i]);
	grt_writer_table_end(pass->writer);
	return ret;
}

int grt_hists_write(struct grt_pass *pass, const struct grt_hist_tables *tables,
		    const struct grt_hist_row *row, unsigned int n)
{
	int ret = write_percentiles(pass, &tables->percentiles, tables->of, row, n);

	return ret ? ret : write_buckets(pass, &tables->buckets, tables->of, row, n);
}
