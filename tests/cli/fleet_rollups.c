// SPDX-License-Identifier: GPL-2.0
/*
 * Plays a job of HOSTS hosts with 8 GPUs each and writes the roll-ups of all of them:
 * `fleet_rollups DIR HOSTS STEPS SEED`, as DIR/TABLE/host=HOST/date=DATE/run.parquet. What is
 * wrong in which step is in DIR/causes.csv, and how far each clock is off in DIR/hosts.csv: nothing of
 * these is in the tables. A step is 490 ms and 1,000 kernels of each rank, so a host runs 16,000 in a second.
 *
 * A rank launches, computes, and then meets others four times: all of its host (NVLink), those with
 * its place on five hosts next to its own, on every fifth host (both by its own network card), and all. A
 * collective takes its time from when the last one has come.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/table/files.h"
#include "lib/table/notes.h"
#include "lib/table/cells.h"

#define GPUS 8U
#define WIDE 5U
#define NAMES 20U
#define LAUNCHES 50U
#define MS 1000000.0
#define START 1.7e14
#define DATE "2023-11-14"

enum group { HOST, ROW, COLUMN, ALL, GROUPS };
enum cause { NONE, GPU, THREAD, LINK_HOST, LINK_CARD, CAUSES };

/* The time of a collective once all have come; how large it is. */
static const double moves_ns[GROUPS] = {30 * MS, 25 * MS, 10 * MS, 1 * MS};
static const uint64_t bytes[GROUPS] = {256 << 20, 64 << 20, 32 << 20, 8};

/** struct fault - of a step; @rank: that has it, of LINK_HOST any of its host; @much: by how much, 0 to 1 */
struct fault {
	enum cause cause;
	unsigned int rank;
	double much;
};

/** struct moment - what a rank did in a step, ns without the error of its clock */
struct moment {
	double begin;
	double idle;
	double compute;
	double enter[GROUPS];
	double leave[GROUPS];
};

static unsigned int hosts, ranks, steps;
static uint64_t seed;
static struct fault *fault;
static struct moment *moment;

/* ------------------------------------------------------------------ chance */

/* From 0 to 1: the same for the same place. splitmix64 */
static double chance(uint64_t what, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15 + what * 0xd1342543de82ef95 + a * 0xbf58476d1ce4e5b9 +
		     b * 0x94d049bb133111eb + c * 0x2545f4914f6cdd1d;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (double)((x ^ x >> 31) >> 11) / 9007199254740992.0;
}

enum { AT_FAULT, AT_RANK, AT_MUCH, AT_LONG, AT_KERNEL, AT_IDLE, AT_LEAVE, AT_GAP, AT_OFFSET, AT_DRIFT };

/* 20 ms and 20 ppm at most. */
static double clock_offset(unsigned int host)
{
	return (2 * chance(AT_OFFSET, host, 0, 0) - 1) * 20 * MS;
}

static double clock_drift(unsigned int host)
{
	return (2 * chance(AT_DRIFT, host, 0, 0) - 1) * 20e-6;
}

static uint64_t on_clock(unsigned int rank, double t)
{
	return (uint64_t)(START + t + clock_offset(rank / GPUS) + clock_drift(rank / GPUS) * t);
}

/* ------------------------------------------------------------------- play */

/* Stretches of 3 to 12 steps, with as many between them. */
static void inject(void)
{
	unsigned int at = 3;

	for (unsigned int i = 0; at < steps; i++) {
		unsigned int n = 3 + (unsigned int)(10 * chance(AT_LONG, i, 0, 0));
		struct fault f = {1 + i % (CAUSES - 1), (unsigned int)(ranks * chance(AT_RANK, i, 0, 0)),
				  chance(AT_MUCH, i, 0, 0)};

		for (; n && at < steps; n--)
			fault[at++] = f;
		at += 2 + (unsigned int)(5 * chance(AT_GAP, i, 0, 0));
	}
}

static bool has(unsigned int step, enum cause cause, unsigned int rank)
{
	return fault[step].cause == cause && fault[step].rank == rank;
}

/* All launches of a name: those of name n take n + 1 shares of 210. A slow GPU takes 15 to 50 % more. */
static double kernel_ns(unsigned int step, unsigned int rank, unsigned int name)
{
	double usual = 400 * MS * (name + 1) / 210;

	return usual * (0.99 + 0.02 * chance(AT_KERNEL, step, rank, name)) *
	       (has(step, GPU, rank) ? 1.15 + 0.35 * fault[step].much : 1);
}

/* 10 ms, and up to 4 more; a slow thread takes 30 to 150 ms more. */
static double idle_ns(unsigned int step, unsigned int rank)
{
	return 10 * MS + 4 * MS * chance(AT_IDLE, step, rank, 0) +
	       (has(step, THREAD, rank) ? (30 + 120 * fault[step].much) * MS : 0);
}

static unsigned int group_of(enum group g, unsigned int rank)
{
	unsigned int host = rank / GPUS, gpu = rank % GPUS;

	return g == HOST     ? host
	       : g == ROW    ? host / WIDE * GPUS + gpu
	       : g == COLUMN ? host % WIDE * GPUS + gpu
			     : 0;
}

/* A slow link takes two to four times as long. */
static double moving_ns(unsigned int step, enum group g, unsigned int group)
{
	const struct fault *f = &fault[step];
	bool slow = f->cause == (g == HOST ? LINK_HOST : LINK_CARD) && group_of(g, f->rank) == group;

	return moves_ns[g] * (slow ? 2 + 2 * f->much : 1);
}

static void meet(unsigned int step, enum group g, struct moment *m)
{
	static double last[4096];

	for (unsigned int i = 0; i < ranks; i++)
		last[i] = 0;
	for (unsigned int r = 0; r < ranks; r++)
		last[group_of(g, r)] = fmax(last[group_of(g, r)], m[r].enter[g]);
	for (unsigned int r = 0; r < ranks; r++)
		m[r].leave[g] = last[group_of(g, r)] + moving_ns(step, g, group_of(g, r)) +
				20e3 * chance(AT_LEAVE, step, r, g);
}

static void play(void)
{
	for (unsigned int step = 0; step < steps; step++) {
		struct moment *m = &moment[(size_t)step * ranks];

		for (unsigned int r = 0; r < ranks; r++) {
			m[r].begin = step ? (m - ranks)[r].leave[ALL] : 0;
			m[r].idle = idle_ns(step, r);
			for (unsigned int n = 0; n < NAMES; n++)
				m[r].compute += kernel_ns(step, r, n);
			m[r].enter[HOST] = m[r].begin + m[r].idle + m[r].compute;
		}
		for (enum group g = HOST; g < GROUPS; g++) {
			meet(step, g, m);
			for (unsigned int r = 0; r < ranks && g + 1 < GROUPS; r++)
				m[r].enter[g + 1] = m[r].leave[g];
		}
	}
}

/* ----------------------------------------------------------------- tables */

/** struct row - of any of the tables */
struct row {
	unsigned int rank;
	unsigned int step;
	unsigned int name;
	enum group group;
	const struct moment *m;
};

enum value {
	RANK,
	PID,
	ON_GPU,
	STEP,
	BEGIN,
	TIME,
	COMPUTE,
	COMM,
	COPY,
	IDLE,
	NAME,
	KIND,
	COUNT,
	SUM,
	MAX,
	COMMUNICATOR,
	MEMBERS,
	FUNCTION,
	STREAM,
	ONE,
	BYTES,
	TOOK,
	ENTER,
	LEAVE
};

/* As a host sees a stretch of time: by its own clock. */
static uint64_t took(unsigned int rank, double from, double to)
{
	return on_clock(rank, to) - on_clock(rank, from);
}

static uint64_t comm_ns(const struct row *r)
{
	uint64_t sum = 0;

	for (enum group g = HOST; g < GROUPS; g++)
		sum += took(r->rank, r->m->enter[g], r->m->leave[g]);
	return sum;
}

static unsigned int members(enum group g)
{
	return g == HOST ? GPUS : g == ROW ? WIDE : g == COLUMN ? hosts / WIDE : ranks;
}

static void get(struct grt_cell *cell, const void *view, const void *row, int value)
{
	const struct row *r = row;
	static char text[24];
	double sum;

	switch ((enum value)value) {
	case RANK:
		cell->number = r->rank;
		break;
	case PID:
		cell->number = 1000 + r->rank % GPUS;
		break;
	case ON_GPU:
		cell->number = r->rank % GPUS;
		break;
	case STEP:
	case ONE:
		cell->number = value == STEP ? r->step : 1;
		break;
	case BEGIN:
		cell->number = on_clock(r->rank, r->m->begin);
		break;
	case TIME:
		cell->number = took(r->rank, r->m->begin, r->m->leave[ALL]);
		break;
	case COMPUTE:
		cell->number = took(r->rank, 0, r->m->compute);
		break;
	case COMM:
		cell->number = comm_ns(r);
		break;
	case COPY:
		cell->number = 0;
		break;
	case IDLE:
		cell->number = took(r->rank, 0, r->m->idle);
		break;
	case NAME:
		snprintf(text, sizeof(text), "kernel_%u", r->name);
		cell->text = text;
		break;
	case KIND:
		cell->text = "kernel";
		break;
	case COUNT:
		cell->number = LAUNCHES;
		break;
	case SUM:
	case MAX:
		sum = kernel_ns(r->step, r->rank, r->name);
		cell->number = (uint64_t)(value == SUM ? sum : sum / LAUNCHES * 1.1);
		break;
	case COMMUNICATOR:
		snprintf(text, sizeof(text), "%016" PRIx64,
			 UINT64_C(0x9e3779b97f4a7c15) * (1 + r->group * 65536 + group_of(r->group, r->rank)));
		cell->text = text;
		break;
	case MEMBERS:
		cell->number = members(r->group);
		break;
	case FUNCTION:
		cell->text = r->group == HOST ? "AllGather" : r->group == ROW ? "ReduceScatter" : "AllReduce";
		break;
	case STREAM:
		cell->number = 20 + r->group;
		break;
	case BYTES:
		cell->number = bytes[r->group];
		break;
	case TOOK:
		cell->number = took(r->rank, r->m->enter[r->group], r->m->leave[r->group]);
		break;
	case ENTER:
		cell->number = on_clock(r->rank, r->m->enter[r->group]);
		break;
	case LEAVE:
		cell->number = on_clock(r->rank, r->m->leave[r->group]);
		break;
	}
}

/* clang-format off */
#define COLUMN_OF(name, value, kind) {name, get, value, GRT_CELL_##kind, GRT_COLUMN_ALL, ""}
#define OF_A_RANK COLUMN_OF("rank", RANK, NUMBER), COLUMN_OF("pid", PID, NUMBER), COLUMN_OF("gpu", ON_GPU, NUMBER), \
	COLUMN_OF("step", STEP, NUMBER)
static const struct grt_column step_columns[] = {
	OF_A_RANK, COLUMN_OF("begin", BEGIN, TIME), COLUMN_OF("time", TIME, NS), COLUMN_OF("compute", COMPUTE, NS),
	COLUMN_OF("comm", COMM, NS), COLUMN_OF("copy", COPY, NS), COLUMN_OF("idle", IDLE, NS), {.name = NULL},
};
static const struct grt_column work_columns[] = {
	OF_A_RANK, COLUMN_OF("kind", KIND, TEXT), COLUMN_OF("name", NAME, TEXT), COLUMN_OF("count", COUNT, NUMBER),
	COLUMN_OF("time", SUM, NS), COLUMN_OF("max", MAX, NS), {.name = NULL},
};
static const struct grt_column collective_columns[] = {
	OF_A_RANK, COLUMN_OF("communicator", COMMUNICATOR, TEXT), COLUMN_OF("ranks", MEMBERS, NUMBER),
	COLUMN_OF("collective", FUNCTION, TEXT), COLUMN_OF("stream", STREAM, NUMBER), COLUMN_OF("count", ONE, NUMBER),
	COLUMN_OF("bytes", BYTES, BYTES), COLUMN_OF("time", TOOK, NS), COLUMN_OF("sequence", STEP, NUMBER),
	COLUMN_OF("begin", ENTER, TIME), COLUMN_OF("end", LEAVE, TIME), {.name = NULL},
};
static const struct grt_column idle_columns[] = {COLUMN_OF("cause", KIND, TEXT), {.name = NULL}};

static const struct grt_table step_table = {"steps", "", step_columns, 0};
static const struct grt_table work_table = {"step_work", "", work_columns, 0};
static const struct grt_table collective_table = {"step_collectives", "", collective_columns, 0};
static const struct grt_table idle_table = {"idle", "", idle_columns, 0};
/* clang-format on */

/** struct place - of a host's files */
struct place {
	const char *dir;
	unsigned int host;
	FILE *file[8];
	unsigned int files;
};

static FILE *create(void *arg, const char *table)
{
	struct place *p = arg;
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/host=node%03u/date=" DATE "/run.parquet", p->dir, table, p->host);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			err(1, "%s", path);
		*slash = '/';
	}
	f = fopen(path, "w");
	if (!f || p->files == sizeof(p->file) / sizeof(p->file[0]))
		err(1, "%s", path);
	return p->file[p->files++] = f;
}

/* @many: rows that a rank has in a step */
static void write_table(struct grt_writer *w, const struct grt_table *table, unsigned int host,
			unsigned int many)
{
	grt_writer_table(w, table, NULL);
	for (unsigned int r = host * GPUS; r < (host + 1) * GPUS; r++)
		for (unsigned int n = 0; n < many; n++)
			for (unsigned int s = 0; s < steps; s++) {
				struct row row = {r, s, n, (enum group)n, &moment[(size_t)s * ranks + r]};

				if (grt_writer_row(w, &row))
					errx(1, "a row was not written");
			}
	grt_writer_table_end(w);
}

static void write_host(const char *dir, unsigned int host)
{
	struct place place = {.dir = dir, .host = host};
	const struct grt_table_files files = {.open = create, .arg = &place};
	struct grt_fields f = {.n = 0};
	struct grt_writer *w;

	if (grt_writer_files(&w, &writer_parquet, &files))
		errx(1, "no memory");
	grt_writer_begin(w);
	write_table(w, &step_table, host, 1);
	write_table(w, &work_table, host, NAMES);
	write_table(w, &collective_table, host, GROUPS);
	write_table(w, &idle_table, host, 0);
	grt_field_number(&f, "steps", steps, NULL);
	grt_fields_write(&f, w, "recording", NULL);
	grt_writer_end(w);
	if (grt_writer_failed(w))
		errx(1, "node%03u was not written", host);
	grt_writer_free(w);
	for (unsigned int i = 0; i < place.files; i++)
		if (fclose(place.file[i]))
			err(1, "node%03u", host);
}

/* The injected causes: a file beside the tables, which no query reads. */
static void write_truth(const char *dir)
{
	static const char *const causes[CAUSES] = {"", "slow GPU", "slow host thread", "slow link",
						   "slow link"};
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/causes.csv", dir);
	f = fopen(path, "w");
	if (!f)
		err(1, "%s", path);
	fputs("step,cause,host,rank\n", f);
	for (unsigned int s = 0; s < steps; s++)
		if (fault[s].cause == LINK_HOST)
			fprintf(f, "%u,%s,node%03u,\n", s, causes[LINK_HOST], fault[s].rank / GPUS);
		else if (fault[s].cause)
			fprintf(f, "%u,%s,node%03u,%u\n", s, causes[fault[s].cause], fault[s].rank / GPUS,
				fault[s].rank);
	fclose(f);
	snprintf(path, sizeof(path), "%s/hosts.csv", dir);
	f = fopen(path, "w");
	if (!f)
		err(1, "%s", path);
	fputs("host,start_ns,offset_ns,drift\n", f);
	for (unsigned int h = 0; h < hosts; h++)
		fprintf(f, "node%03u,%.0f,%.3f,%.15f\n", h, START, clock_offset(h), clock_drift(h));
	fclose(f);
}

int main(int argc, char **argv)
{
	hosts = argc == 5 ? (unsigned int)atoi(argv[2]) : 0;
	steps = argc == 5 ? (unsigned int)atoi(argv[3]) : 0;
	ranks = hosts * GPUS;
	if (!hosts || hosts % WIDE || hosts < 2 * WIDE || hosts > 500 || steps < 1 || steps > 100000)
		errx(2, "usage: fleet_rollups DIR HOSTS STEPS SEED, HOSTS a multiple of %u, from %u to 500",
		     WIDE, 2 * WIDE);
	seed = strtoull(argv[4], NULL, 10);
	fault = calloc(steps, sizeof(*fault));
	moment = calloc((size_t)steps * ranks, sizeof(*moment));
	if (!fault || !moment)
		errx(1, "no memory");
	inject();
	play();
	for (unsigned int h = 0; h < hosts; h++)
		write_host(argv[1], h);
	write_truth(argv[1]);
	return 0;
}
