// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a table whose values follow from the row's number: `table_rows FORM ROWS [beside|later]`, to
 * standard output; `beside`: another thread writes groups; `later`: and makes most of the rows; how long that
 * took, to standard error. SQL of export_parquet.sh knows the values, too.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <grtrace/tables.h>

#include "lib/table/table.h"

enum value {
	NUMBER,
	SIGNED,
	SMALL,
	WHEN,
	TOOK,
	SHARE,
	AMOUNT,
	FLAG,
	NAME,
	OWN,
	BAD,
	LIST,
	NOTHING,
	STAYS,
	ONE,
	SAME,
	GAP
};

static void get(struct grt_cell *cell, const void *view, const void *row, int value)
{
	static uint64_t list[2];
	static char text[32], own[32], stays[700][16];
	uint64_t i = *(const uint64_t *)row;

	switch (value) {
	case NUMBER:
		cell->number = i * UINT64_C(0x9e3779b97f4a7c15);
		break;
	case SIGNED:
		cell->number = i % 2 ? -i * 1000003 : i;
		break;
	case SMALL:
		cell->number = i % 7;
		cell->inferred = i % 5 == 0;
		break;
	case WHEN:
		cell->number = UINT64_C(1700000000000000000) + i * 1000 + i * 7919 % 977;
		break;
	case TOOK:
		cell->number = i * i;
		cell->absent = i % 3 == 0;
		break;
	case SHARE:
		cell->number = i % 100000;
		break;
	case AMOUNT:
		cell->number = i % 3 - 1;
		cell->text = "";
		break;
	case FLAG:
		cell->number = i % 4 == 1;
		cell->absent = i % 11 == 0;
		break;
	case NAME:
		snprintf(text, sizeof(text), "void name%" PRIu64 "(float*)", i % 1000);
		cell->text = text;
		break;
	case OWN:
		snprintf(own, sizeof(own), "%" PRIu64, i);
		cell->text = own;
		break;
	case BAD:
		cell->text = i % 2 ? "\xff\xe2\x82\xac\"" : "";
		break;
	case LIST:
		list[0] = i % 50;
		list[1] = UINT64_MAX;
		cell->list = list;
		cell->number = i % 3;
		break;
	case STAYS:
		snprintf(stays[i % 700], sizeof(stays[0]), "stays%" PRIu64, i % 700);
		cell->text = stays[i % 700];
		cell->lasting = true;
		break;
	case ONE:
		cell->number = 5;
		break;
	case SAME:
		cell->text = "same";
		cell->lasting = i % 2;
		break;
	case GAP:
		cell->number = i;
		cell->absent = i % 1000 == 997;
		break;
	default:
		cell->absent = true;
	}
}

/* clang-format off */
static const struct grt_column columns[] = {
	{"number", get, NUMBER, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"sign", get, SIGNED, GRT_CELL_SIGNED, GRT_COLUMN_ALL, ""},
	{"small", get, SMALL, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"at", get, WHEN, GRT_CELL_TIME, GRT_COLUMN_ALL, ""},
	{"took", get, TOOK, GRT_CELL_NS, GRT_COLUMN_ALL, ""},
	{"share", get, SHARE, GRT_CELL_PERCENT, GRT_COLUMN_ALL, ""},
	{"amount", get, AMOUNT, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, ""},
	{"flag", get, FLAG, GRT_CELL_BOOL, GRT_COLUMN_ALL, ""},
	{"name", get, NAME, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"own", get, OWN, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"bad", get, BAD, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"list", get, LIST, GRT_CELL_LIST, GRT_COLUMN_ALL, ""},
	{"stays", get, STAYS, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"one", get, ONE, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"same", get, SAME, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"gap", get, GAP, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"nothing", get, NOTHING, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table table = {"rows", "rows", columns, GRT_MARK_INFERRED};

int main(int argc, char **argv)
{
	const struct grt_writer_ops *form = argc >= 3 ? grt_writer_find(argv[1]) : NULL;
	const struct grt_writer_options o = {.out = stdout};
	struct timespec start, end;
	bool later = argc > 3 && !strcmp(argv[3], "later");
	struct grt_writer *w;
	uint64_t rows;

	if (!form)
		errx(2, "usage: table_rows FORM ROWS [beside|later]");
	rows = strtoull(argv[2], NULL, 10);
	if (grt_writer_new(&w, form, &o))
		errx(1, "no memory");
	w->beside = argc > 3;
	clock_gettime(CLOCK_MONOTONIC, &start);
	grt_writer_begin(w);
	grt_writer_table(w, &table, NULL);
	/* now and then a row that does not wait */
	for (uint64_t i = 0; i < rows; i++)
		if (later && i % 30011 ? grt_writer_row_later(w, &i, sizeof(i)) : grt_writer_row(w, &i))
			errx(1, "row %" PRIu64, i);
	grt_writer_table_end(w);
	grt_writer_end(w);
	if (grt_writer_failed(w) || fflush(stdout))
		errx(1, "not written");
	clock_gettime(CLOCK_MONOTONIC, &end);
	fprintf(stderr, "%.3f s\n",
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9);
	grt_writer_free(w);
	return 0;
}
