// SPDX-License-Identifier: GPL-2.0
/*
 * How fast a writer of tables is: `bench_tables FORM ROWS PATH` writes ROWS kernels as the table `work` has
 * them, 38 columns, into PATH, and prints rows per second of CPU time and bytes per row. Kernels are 200
 * different ones, in the order of a model's layers; times are as those of a stream.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include <grtrace/tables.h>

#include "lib/table/table.h"

#define KERNELS 200

struct kernel {
	const char *name;
	uint64_t number;
	uint64_t submit;
	uint64_t start;
	uint64_t end;
};

static const char kind[] = "kernel", process[] = "/usr/bin/python3.11", job[] = "4711",
		  boot[] = "c0ffee00-1234-5678-9abc-def012345678",
		  uuid[] = "GPU-3f8a0c6e-1b2d-4c5e-8f90-a1b2c3d4e5f6", call[] = "cudaLaunchKernel";
static char op[KERNELS][64], range[KERNELS][64];

static void get_text(struct grt_cell *cell, const void *view, const void *row, int which)
{
	static const char *const texts[] = {kind, process, job, boot, uuid, call};

	cell->text = texts[which];
	cell->lasting = true;
}

static void get_name(struct grt_cell *cell, const void *view, const void *row, int which)
{
	const struct kernel *k = row;
	uint64_t of = k->number % KERNELS;

	cell->text = which == 0 ? k->name : which == 1 ? op[of] : range[of];
	cell->lasting = true;
}

static void get_number(struct grt_cell *cell, const void *view, const void *row, int number)
{
	cell->number = (uint64_t)number;
}

static void get_step(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct kernel *)row)->number / 4000;
	cell->inferred = true;
}

static void get_node(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct kernel *)row)->number % KERNELS * 7 + 1;
}

static void get_member(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->number = *(const uint64_t *)((const char *)row + offset);
}

static void get_queued(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct kernel *k = row;

	cell->number = arg ? k->end - k->start : k->start - k->submit;
}

static void get_weight(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = "";
	cell->number = 1000;
}

static void get_none(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->absent = true;
}

#define K(member) offsetof(struct kernel, member)
/* clang-format off */
static const struct grt_column columns[] = {
	{"kind", get_text, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"name", get_name, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"pid", get_number, 4242, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"tid", get_number, 4243, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"process", get_text, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"comm", get_none, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"boot_id", get_text, 3, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"cgroup", get_none, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"job_id", get_text, 2, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"image", get_number, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"rank", get_number, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"gpu", get_number, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"uuid", get_text, 4, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"context", get_number, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"stream", get_number, 7, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"device", get_none, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"ring", get_none, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"ring_name", get_none, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"engine", get_none, 0, GRT_CELL_ENGINE, GRT_COLUMN_ALL, ""},
	{"call", get_text, 5, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"range", get_name, 2, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"op", get_name, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"step", get_step, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"collective", get_none, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"communicator", get_none, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"sequence", get_none, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"node", get_node, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"correlation", get_member, K(number), GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"ctx", get_none, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"seqno", get_none, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, ""},
	{"submit", get_member, K(submit), GRT_CELL_TIME, GRT_COLUMN_ALL, ""},
	{"start", get_member, K(start), GRT_CELL_TIME, GRT_COLUMN_ALL, ""},
	{"end", get_member, K(end), GRT_CELL_TIME, GRT_COLUMN_ALL, ""},
	{"queued", get_queued, 0, GRT_CELL_NS, GRT_COLUMN_ALL, ""},
	{"duration", get_queued, 1, GRT_CELL_NS, GRT_COLUMN_ALL, ""},
	{"bytes", get_none, 0, GRT_CELL_BYTES, GRT_COLUMN_ALL, ""},
	{"weight", get_weight, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, ""},
	{"failed", get_none, 0, GRT_CELL_BOOL, GRT_COLUMN_ALL, ""},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table table = {"work", "work", columns, GRT_MARK_INFERRED | GRT_MARK_ESTIMATED};

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char *make_names(void)
{
	char *names = calloc(KERNELS, 160);

	if (!names)
		errx(1, "no memory");
	for (unsigned int i = 0; i < KERNELS; i++) {
		snprintf(names + 160UL * i, 160,
			 "void at::native::vectorized_elementwise_kernel<4, at::native::Functor_%u<float>, "
			 "std::array<char*, %uul>>(int, float, char*)",
			 i, i % 4 + 1);
		snprintf(op[i], sizeof(op[i]), "aten::operator_%u", i / 2);
		snprintf(range[i], sizeof(range[i]), "layer %u", i / 10);
	}
	return names;
}

int main(int argc, char **argv)
{
	const struct grt_writer_ops *form = argc == 4 ? grt_writer_find(argv[1]) : NULL;
	struct grt_writer_options o = {.out = form ? fopen(argv[3], "w+") : NULL};
	uint64_t rows = form ? strtoull(argv[2], NULL, 10) : 0, now = 1700000000000, random = 1;
	char *names = make_names();
	struct grt_writer *w;
	struct stat st;
	double begun;

	if (!form || !o.out)
		errx(2, "usage: bench_tables FORM ROWS PATH");
	if (grt_writer_new(&w, form, &o))
		errx(1, "no memory");
	begun = cpu_now();
	grt_writer_begin(w);
	grt_writer_table(w, &table, NULL);
	for (uint64_t i = 0; i < rows; i++) {
		struct kernel k = {.name = names + i % KERNELS * 160, .number = i};

		random = random * 6364136223846793005 + 1442695040888963407;
		k.start = now + (random >> 54);
		k.submit = k.start - 9000 - (random >> 40 & 8191);
		k.end = k.start + 2000 + i % KERNELS * 300 + (random >> 20 & 255);
		now = k.end;
		if (grt_writer_row(w, &k))
			errx(1, "row %" PRIu64, i);
	}
	grt_writer_table_end(w);
	grt_writer_end(w);
	if (grt_writer_failed(w) || fflush(o.out) || fstat(fileno(o.out), &st))
		errx(1, "%s: not written", argv[3]);
	printf("%s: %.2f M rows/s, %.1f bytes per row\n", form->name,
	       (double)rows / (cpu_now() - begun) / 1e6, (double)st.st_size / (double)rows);
	grt_writer_free(w);
	fclose(o.out);
	free(names);
	return 0;
}
