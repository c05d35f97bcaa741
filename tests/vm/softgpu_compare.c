// SPDX-License-Identifier: GPL-2.0
/*
 * softgpu_compare LIMIT RESOLUTION TRUTH.csv OURS.csv [nostatus]: what
 * softgpu-run says that happened against `grtrace report --by job --top 0 --csv`
 * of a trace of it, joined by the finished fence. Prints results of TAP without
 * numbers, and how far the durations are apart. LIMIT ns is what 99 % of them may
 * be, stamps of the trace being multiples of RESOLUTION ns. nostatus: the trace
 * cannot know whether jobs failed.
 */
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 64

struct table {
	char *column[COLUMNS];
	size_t columns;
	char **cell; /* rows x columns */
	size_t rows;
};

struct side {
	struct table table;
	const char *file;
};

/* A row of the truth, and the last row of ours that has its fence, of @found. */
struct pair {
	size_t truth;
	size_t ours;
	unsigned int found;
};

static struct side truth, ours;
static struct pair *pairs;
static bool failed;

static size_t split(char *line, char **cell)
{
	size_t n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	while (n < COLUMNS && (cell[n] = strsep(&line, ",")))
		n++;
	return n;
}

static void read_table(struct side *s, const char *file)
{
	FILE *in = fopen(file, "r");
	char *line = NULL, *cell[COLUMNS];
	size_t room = 0;
	struct table *t = &s->table;

	s->file = file;
	if (!in || getline(&line, &room, in) < 0)
		errx(1, "%s: there is nothing in it", file);
	t->columns = split(line, t->column);
	line = NULL;
	while (getline(&line, &room, in) >= 0) {
		if (split(line, cell) != t->columns)
			errx(1, "%s: row %zu has not %zu columns", file, t->rows + 1, t->columns);
		t->cell = reallocarray(t->cell, (t->rows + 1) * t->columns, sizeof(*t->cell));
		if (!t->cell)
			err(1, "%s", file);
		memcpy(t->cell + t->rows++ * t->columns, cell, t->columns * sizeof(*cell));
		line = NULL;
	}
	fclose(in);
}

static const char *text(const struct side *s, size_t row, const char *column)
{
	for (size_t i = 0; i < s->table.columns; i++)
		if (!strcmp(s->table.column[i], column))
			return s->table.cell[row * s->table.columns + i];
	errx(1, "%s: it has no column %s", s->file, column);
}

static int64_t number(const struct side *s, size_t row, const char *column)
{
	return strtoll(text(s, row, column), NULL, 10);
}

static bool has(const struct side *s, size_t row, const char *column)
{
	return *text(s, row, column);
}

static void result(const char *bad, const char *what)
{
	printf("%sok - %s\n", bad ? "not " : "", what);
	if (bad)
		printf("# %s\n", bad);
	failed |= bad != NULL;
}

/* ------------------------------------------------------------------- join */

static int by_fence(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int64_t n = number(&truth, x->truth, "ctx") - number(&truth, y->truth, "ctx");

	if (!n)
		n = number(&truth, x->truth, "seqno") - number(&truth, y->truth, "seqno");
	return n < 0 ? -1 : n > 0;
}

static struct pair *find(int64_t ctx, int64_t seqno)
{
	size_t low = 0, high = truth.table.rows, middle;
	int64_t n;

	while (low < high) {
		middle = (low + high) / 2;
		n = number(&truth, pairs[middle].truth, "ctx") - ctx;
		if (!n)
			n = number(&truth, pairs[middle].truth, "seqno") - seqno;
		if (!n)
			return &pairs[middle];
		if (n < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static void join(void)
{
	static char bad[160];
	size_t strange = 0, missing = 0, twice = 0;
	struct pair *p;

	pairs = calloc(truth.table.rows, sizeof(*pairs));
	if (!pairs)
		err(1, "%s", truth.file);
	for (size_t i = 0; i < truth.table.rows; i++)
		pairs[i].truth = i;
	qsort(pairs, truth.table.rows, sizeof(*pairs), by_fence);
	for (size_t i = 0; i < ours.table.rows; i++) {
		p = find(number(&ours, i, "ctx"), number(&ours, i, "seqno"));
		strange += !p;
		if (!p)
			continue;
		twice += p->found++ > 0;
		p->ours = i;
	}
	for (size_t i = 0; i < truth.table.rows; i++)
		missing += !pairs[i].found;
	snprintf(bad, sizeof(bad),
		 "of %zu jobs %zu are missing, %zu there more than once, %zu of no such fence",
		 truth.table.rows, missing, twice, strange);
	result(missing || twice || strange || !truth.table.rows ? bad : NULL,
	       "each job is there exactly once");
}

/* ------------------------------------------------------------- properties */

/* Rows that are no pair are told by join(). */
#define FOR_EACH_PAIR(p)                                                \
	for (struct pair *p = pairs; p < pairs + truth.table.rows; p++) \
		if (p->found)

static void places(void)
{
	static char bad[200];
	size_t n = 0;

	FOR_EACH_PAIR(p)
	{
		if (!strcmp(text(&truth, p->truth, "ring"), text(&ours, p->ours, "ring_name")) &&
		    number(&truth, p->truth, "tid") == number(&ours, p->ours, "tid"))
			continue;
		n++;
		snprintf(bad, sizeof(bad), "%zu are wrong, among them job %s: ring %s, tid %s", n,
			 text(&truth, p->truth, "job"), text(&ours, p->ours, "ring_name"),
			 text(&ours, p->ours, "tid"));
	}
	result(n ? bad : NULL, "each is on its ring and of its thread");
}

static const char *order_column;
static const char *order_of;

/* Of one context by the moments of the truth. */
static int by_order(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int64_t n = strcmp(text(&truth, x->truth, order_of), text(&truth, y->truth, order_of));

	if (!n)
		n = number(&truth, x->truth, order_column) - number(&truth, y->truth, order_column);
	return n < 0 ? -1 : n > 0;
}

static void order(const char *of, const char *column, const char *our_column, const char *what)
{
	static char bad[160];
	const struct pair *last = NULL;
	size_t n = 0;

	order_of = of;
	order_column = column;
	qsort(pairs, truth.table.rows, sizeof(*pairs), by_order);
	FOR_EACH_PAIR(p)
	{
		if (!has(&truth, p->truth, column) || !has(&ours, p->ours, our_column))
			continue;
		if (last && !strcmp(text(&truth, p->truth, of), text(&truth, last->truth, of)) &&
		    number(&ours, p->ours, our_column) < number(&ours, last->ours, our_column)) {
			n++;
			snprintf(bad, sizeof(bad), "%zu are before the one before, among them job %s", n,
				 text(&truth, p->truth, "job"));
		}
		last = p;
	}
	result(n ? bad : NULL, what);
}

/* Failed, hung and refused jobs have their error, others none; one that never ran has no execution. */
static void statuses(void)
{
	static char bad[200];
	size_t n = 0, not_run = 0;

	FOR_EACH_PAIR(p)
	{
		if (!has(&truth, p->truth, "end") && has(&ours, p->ours, "t_exec_ns"))
			not_run++;
		if (number(&truth, p->truth, "status") == number(&ours, p->ours, "status") &&
		    (number(&truth, p->truth, "status") != 0) == (number(&ours, p->ours, "failed") != 0))
			continue;
		n++;
		snprintf(bad, sizeof(bad), "%zu are wrong, among them job %s: status %s, not %s", n,
			 text(&truth, p->truth, "job"), text(&ours, p->ours, "status"),
			 text(&truth, p->truth, "status"));
	}
	result(n ? bad : NULL, "failed, hung and refused jobs are told as such, others not");
	snprintf(bad, sizeof(bad), "%zu that never ran have a t_exec", not_run);
	result(not_run ? bad : NULL, "what never ran has no time on the hardware");
}

/* -------------------------------------------------------------- durations */

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The two stamps of a duration may each be off by the resolution. Limit 0: told only. */
static void duration(const char *from, const char *to, const char *column, int64_t limit, int64_t resolution)
{
	int64_t *apart = calloc(truth.table.rows + 1, sizeof(*apart)), at99;
	static char bad[160], what[96];
	size_t n = 0, missing = 0;

	if (!apart)
		err(1, "%s", column);
	FOR_EACH_PAIR(p)
	{
		if (!has(&truth, p->truth, to) || !has(&truth, p->truth, from))
			continue;
		if (!has(&ours, p->ours, column)) {
			missing++;
			continue;
		}
		apart[n++] = llabs(number(&ours, p->ours, column) -
				   (number(&truth, p->truth, to) - number(&truth, p->truth, from)));
	}
	qsort(apart, n, sizeof(*apart), by_value);
	at99 = n ? apart[(n * 99 + 99) / 100 - 1] : 0;
	printf("# %s: %zu jobs; ns apart: median %" PRId64 ", 90 %% %" PRId64 ", 99 %% %" PRId64
	       ", most %" PRId64 "\n",
	       column, n, n ? apart[n / 2] : 0, n ? apart[(n * 9 + 9) / 10 - 1] : 0, at99,
	       n ? apart[n - 1] : 0);
	if (limit)
		snprintf(what, sizeof(what), "99 %% of the %s are at most %" PRId64 " ns from the truth",
			 column, limit);
	else
		snprintf(what, sizeof(what), "each job that ran has its %s", column);
	snprintf(bad, sizeof(bad), "%" PRId64 " ns; %zu have none", at99, missing);
	result(!n || missing || (limit && at99 > limit + resolution) ? bad : NULL, what);
	free(apart);
}

int main(int argc, char **argv)
{
	int64_t limit, resolution;

	if (argc < 5)
		errx(2, "usage: softgpu_compare LIMIT RESOLUTION TRUTH.csv OURS.csv [nostatus]");
	limit = strtoll(argv[1], NULL, 10);
	resolution = strtoll(argv[2], NULL, 10);
	read_table(&truth, argv[3]);
	read_table(&ours, argv[4]);
	join();
	places();
	order("ctx", "submit", "submit", "jobs of a queue are submitted in their order");
	order("ring", "run", "commit", "jobs of a ring are handed to it in their order");
	order("ring", "end", "end", "and end in their order");
	if (argc < 6)
		statuses();
	duration("run", "start", "t_queue_ns", limit, resolution);
	duration("start", "end", "t_exec_ns", limit, resolution);
	return failed;
}
