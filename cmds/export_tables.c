// SPDX-License-Identifier: GPL-2.0
/*
 * The analyses whose tables are exported, see export_tables.h: one pass for the analyses whose results
 * others use, and one for the others. The columns are the same as in reports; the writer determines their
 * format.
 */
#include "export_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/version.h>

#include "base/clock.h"
#include "base/containers.h"
#include "beside.h"
#include "export/export.h"
#include "lib/table/files.h"
#include "outfile.h"
#include "table/cells.h"
#include "trace/session.h"

/* ------------------------------------------------------------- table dir */

/*
 * A directory of tables in the layout of query engines that read many files: a file for each
 * table and recording, DIR/TABLE/host=HOST/date=DATE/NAME. Files of other recordings
 * stay unchanged.
 */

struct table_dir_file;

/**
 * struct table_dir - initialised by table_dir_begin(), freed by table_dir_drop()
 * @path: DIR, as typed
 * @place: path of its files after the table's name; @ending: ending of their names
 * @file, @used: the open files
 * @err: why a file was not opened
 */
struct table_dir {
	const char *path;
	char place[1024];
	const char *ending;
	struct table_dir_file **file;
	unsigned int used;
	struct grt_err err;
};

/* The name of a directory that engines read as NULL. */
#define NO_VALUE "__HIVE_DEFAULT_PARTITION__"

/**
 * struct table_dir_file
 * @file: a stream to write to, with a duplicate of the descriptor in @out
 */
struct table_dir_file {
	struct outfile out;
	FILE *file;
	char path[4096];
};

/* Makes a name from a trace a part of a path: other bytes become %XX, which engines decode. */
static void table_dir_put_name(char *out, size_t room, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t used = 0;

	for (; *name && used + 4 < room; name++)
		if (strchr(plain, *name) || (*name == '.' && used))
			out[used++] = *name;
		else
			used += (size_t)snprintf(out + used, room - used, "%%%02X", (unsigned char)*name);
	out[used] = '\0';
}

/* Return: ns since 1970, 0: unknown */
static uint64_t table_dir_wall(const struct grt_session *s, uint64_t first, bool known)
{
	const char *text = grt_session_env(s, "clock_start");
	uint64_t monotonic, wall;

	if (!text || sscanf(text, "monotonic=%" SCNu64 " realtime=%" SCNu64, &monotonic, &wall) != 2)
		return 0;
	return known ? wall + (first - monotonic) : wall;
}

/*
 * Determines the paths of the files of a trace
 * @ending: ending of their names
 * @first: the first time of the trace, if @known
 */
static void table_dir_begin(struct table_dir *d, const char *path, const char *ending,
			    const struct grt_session *s, const char *input, uint64_t first, bool known)
{
	uint64_t wall = table_dir_wall(s, first, known);
	const char *host = grt_session_env(s, "hostname"), *slash = strrchr(input, '/');
	time_t seconds = (time_t)(wall / GRT_NS_PER_S);
	char name[256], date[64] = NO_VALUE, host_name[256] = NO_VALUE;
	struct tm day;

	*d = (struct table_dir){.path = path, .ending = ending};
	if (host && *host)
		table_dir_put_name(host_name, sizeof(host_name), host);
	table_dir_put_name(name, sizeof(name), slash && slash[1] ? slash + 1 : input);
	if (wall && gmtime_r(&seconds, &day)) {
		strftime(date, sizeof(date), "%Y-%m-%d", &day);
		snprintf(name, sizeof(name), "%" PRIu64, wall);
	}
	snprintf(d->place, sizeof(d->place), "host=%s/date=%s/%s", host_name, date, name);
}

/* Makes all missing directories on the path of a file. */
static int table_dir_make_way(struct table_dir *d, char *path)
{
	int ret = 0;

	for (char *slash = strchr(path + 1, '/'); slash && !ret; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ret = outfile_directory(path, &d->err);
		*slash = '/';
	}
	return ret;
}

static FILE *table_dir_open(void *arg, const char *table)
{
	struct table_dir *d = arg;
	struct table_dir_file *f = calloc(1, sizeof(*f));
	int fd, ret = -ENOMEM;

	if (!f || grt_grow_one(&d->file, d->used))
		goto failed;
	ret = -ENAMETOOLONG;
	if ((size_t)snprintf(f->path, sizeof(f->path), "%s/%s/%s.%s", d->path, table, d->place, d->ending) >=
	    sizeof(f->path))
		goto failed;
	ret = table_dir_make_way(d, f->path) ?: outfile_open(&f->out, f->path, &d->err);
	if (ret)
		goto failed;
	d->file[d->used++] = f;
	fd = dup(f->out.fd);
	f->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f->file && fd >= 0)
		close(fd);
	return f->file;
failed:
	free(f);
	errno = -ret;
	return NULL;
}

/* For grt_writer_files(). */
static struct grt_table_files table_dir_files(struct table_dir *d)
{
	return (struct grt_table_files){.open = table_dir_open, .arg = d};
}

/* Renames all files to their final paths. Return: 0 or a negative errno. */
static int table_dir_keep(struct table_dir *d, struct grt_err *err)
{
	struct table_dir_file *f;
	sigset_t before;
	int ret = 0;

	for (unsigned int i = 0; i < d->used && !ret; i++) {
		f = d->file[i];
		if (fclose(f->file))
			ret = outfile_failed(&f->out, -errno, err);
		f->file = NULL;
	}
	outfile_hold(&before);
	for (unsigned int i = 0; i < d->used && !ret; i++)
		ret = outfile_keep(&d->file[i]->out, err);
	outfile_release(&before);
	return ret;
}

/* Closes the files and removes those without their final path, then what directories are empty after that. */
static void table_dir_drop(struct table_dir *d)
{
	for (unsigned int i = 0; i < d->used; i++) {
		if (d->file[i]->file)
			fclose(d->file[i]->file);
		outfile_drop(&d->file[i]->out);
		free(d->file[i]);
	}
	free(d->file);
	d->file = NULL;
	d->used = 0;
	outfile_directories_end();
}

/* --------------------------------------------------------- export tables */

struct tables;

/** struct tables_pass - a pass; @a comes first, so that a callback finds the other members */
struct tables_pass {
	struct grt_analyses a;
	const struct tables *of;
};

/**
 * struct tables
 * @found: analyses whose results @rest uses; @rest is written, and the tables of @found with it
 * @beside: analyses that another thread runs; it writes nothing
 * @sums: the tables are those of GRT_PART_ROLLUP, for other machines: without the command and the path
 */
struct tables {
	bool sums;
	struct tables_pass found;
	struct tables_pass rest;
	struct beside beside;
	struct grt_writer *writer;
	const struct filter *filter;
	struct grt_session *session;
	struct grt_notes notes;
	const struct reading_span *span;
	const char *path;
};

/**
 * struct loss - events that are not in the tables
 * @source: NULL: not of one source alone
 * @known: their number is known
 */
struct loss {
	const char *source;
	const struct grt_window *window;
	const char *cause;
	const char *what;
	uint64_t events;
	bool known;
};

static void export_tables_get_lost(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct loss *l = row;

	cell->number = l->events;
	cell->absent = !l->known;
}

/* @arg: 1: its end */
static void export_tables_get_window(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_window *w = ((const struct loss *)row)->window;

	cell->number = arg ? w->to : w->from;
	cell->absent = w->from == UINT64_MAX || cell->number == UINT64_MAX;
}

/* clang-format off */
static const struct grt_column loss_columns[] = {
	{"source", grt_cell_pointed, offsetof(struct loss, source), GRT_CELL_TEXT, GRT_COLUMN_ALL, "source of the events; none: no single source"},
	{"window_begin", export_tables_get_window, 0, GRT_CELL_TIME, GRT_COLUMN_ALL, "time from which the source recorded; without a source: from which all sources did"},
	{"window_end", export_tables_get_window, 1, GRT_CELL_TIME, GRT_COLUMN_ALL, "time until which it did"},
	{"cause", grt_cell_pointed, offsetof(struct loss, cause), GRT_CELL_TEXT, GRT_COLUMN_ALL, "why the events are not in the tables"},
	{"what", grt_cell_pointed, offsetof(struct loss, what), GRT_CELL_TEXT, GRT_COLUMN_ALL, "the cause as a sentence"},
	{"events", export_tables_get_lost, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of events; without a source: in addition to those of the sources"},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table loss_table = {"losses", "losses", loss_columns, 0};

/** struct losses - the table of losses, and the sum of the events that @n sources have reported as lost */
struct losses {
	struct grt_writer *writer;
	struct grt_source_losses *source;
	int n;
};

/*
 * Writes a row for each source, and one for the other losses of the recording. @own: offset of a source's
 * own count, 0: sources have none. Return: 0 or a negative errno
 */
static int export_tables_loss(const struct losses *x, const struct loss *all, size_t own)
{
	struct loss rest = *all, one = *all;
	int ret = 0;

	for (int i = 0; i < x->n && own && !ret; i++) {
		one.source = x->source[i].name;
		one.window = &x->source[i].window;
		one.events = *(const uint64_t *)((const char *)&x->source[i] + own);
		rest.events -= one.events < rest.events ? one.events : rest.events;
		ret = grt_writer_row(x->writer, &one);
	}
	return ret ?: grt_writer_row(x->writer, &rest);
}

#define FATE_OF(number) (offsetof(struct grt_source_losses, fate) + (number) * sizeof(uint64_t))
#define WINDOW_OF(member) (offsetof(struct grt_source_losses, window) + offsetof(struct grt_window, member))

static int export_tables_loss_rows(const struct losses *x, const struct grt_session *s)
{
	const struct grt_health *h = grt_session_health(s);
	const bool counted = !h->text.form;
	const struct {
		const char *cause, *what;
		uint64_t events;
		bool known;
		size_t own;
	} all[] = {
#define GRT_FATE(NAME, name, help)                                                                     \
	{GRT_FATE_##NAME == GRT_FATE_DELIVERED ? NULL : #name, help, h->balance.fate[GRT_FATE_##NAME], \
	 counted, FATE_OF(GRT_FATE_##NAME)},
#include <grtrace/fates.def>
#undef GRT_FATE
		{"before_start", "earlier than the start of the last source", h->before_start, counted,
		 WINDOW_OF(before)},
		{"after_end", "later than the end of the recording", h->after_end, counted, WINDOW_OF(after)},
		/* a source's number includes those that were repeated */
		{"deleted", "deleted by --max-size, --max-time or --last", h->deleted, counted, 0},
		{"unwritten", "events that the traced program could not write", h->unwritten_events, counted,
		 0},
		{"missing", "delivered events whose packets are not in the recording", h->missing_events,
		 counted, 0},
		{"unknown", "of types unknown to this version", h->unknown, true, 0},
		{"bad", "lines, or events of JSON, that were not understood", h->text.bad, !counted, 0},
		{"left_out", "left out by --pid, --comm or --ring", h->left_out, true, 0},
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !ret; i++)
		if (all[i].cause)
			ret = export_tables_loss(x,
						 &(struct loss){NULL, &s->window, all[i].cause, all[i].what,
								all[i].events, all[i].known},
						 all[i].own);
	return ret;
}

static int export_tables_losses(struct grt_writer *w, const struct grt_session *s)
{
	struct losses x = {.writer = w};
	int ret;

	x.n = grt_session_sources(s, &x.source);
	if (x.n < 0)
		return x.n;
	grt_writer_table(w, &loss_table, NULL);
	ret = export_tables_loss_rows(&x, s);
	grt_writer_table_end(w);
	free(x.source);
	return ret;
}

/* Writes the meaning of the time stamps and tables, in a form for programs. */
static void export_tables_format(struct tables *t)
{
	/* the last word may contain secrets */
	static const char *const env[] = {"clock_start", "clock_end", "hostname", "boot_id", "command"};
	struct grt_fields f = {.n = 0};
	const char *value;

	grt_field_number(&f, "format", GRT_FORMAT, NULL);
	grt_field_add(&f, "version", GRT_CELL_TEXT, (struct grt_cell){.text = GRT_VERSION}, NULL);
	value = grt_session_health(t->session)->text.form;
	grt_field_add(&f, "form", GRT_CELL_TEXT, (struct grt_cell){.text = value, .absent = !value}, NULL);
	for (size_t i = 0; i < sizeof(env) / sizeof(env[0]) - t->sums; i++) {
		value = grt_session_env(t->session, env[i]);
		grt_field_add(&f, env[i], GRT_CELL_TEXT, (struct grt_cell){.text = value, .absent = !value},
			      NULL);
	}
	grt_fields_write(&f, t->writer, "trace", NULL);
	f.n = 0;
	if (!t->sums)
		reading_recording(&f, t->session, t->path);
	reading_span_fields(&f, t->span);
	grt_fields_write(&f, t->writer, "recording", NULL);
}

static bool export_tables_wants(struct grt_analyses *a, const struct grt_job *job)
{
	const struct tables *t = ((const struct tables_pass *)a)->of;

	return grt_filter_wants_job(&t->filter->f, a->pass.names, job->pid, job->tid, job->ring);
}

static int export_tables_begin(struct tables *t, struct tables_pass *p, unsigned int turns)
{
	struct grt_pass *pass = &p->a.pass;
	int ret = 0;

	p->of = t;
	grt_analyses_want_all(&p->a, t->sums ? GRT_PART_ROLLUP : GRT_PART_TABLES);
	p->a.wants = export_tables_wants;
	pass->json = true;
	pass->filter = grt_filter_any(&t->filter->f) ? &t->filter->f : NULL;
	pass->notes = &t->notes;
	pass->health = grt_session_health(t->session);
	pass->boot_id = grt_session_env(t->session, "boot_id");
	pass->writer = t->writer;
	pass->steps = t->found.a.pass.steps;
	pass->operators = t->found.a.pass.operators;
	/* with the first pass, and together with the second one, too */
	if (t->beside.session && p == &t->found)
		ret = beside_take(&t->beside, &p->a,
				  GRT_ANALYSES_ALONE | GRT_ANALYSES_JOBS | GRT_ANALYSES_REST);
	grt_analyses_keep(&p->a, turns);
	ret = ret ?: grt_analyses_join(&p->a) ?: grt_analyses_begin(&p->a);
	if (!ret)
		grt_analyses_consume(&p->a);
	return ret;
}

/* Return: 0 or a negative errno */
static int export_tables_pass(struct tables *t, struct tables_pass *p, unsigned int turns,
			      struct grt_err *err)
{
	uint64_t from = t->filter->from.set ? t->span->first : 0,
		 to = t->filter->to.set ? t->span->last : UINT64_MAX;
	int ret = export_tables_begin(t, p, turns);

	if (ret)
		return ret;
	grt_analyses_open(&p->a);
	grt_analyses_within(&p->a, from, to);
	if (t->span->known)
		grt_analyses_span(&p->a, t->span->first, t->span->last);
	if (p == &t->found) {
		beside_set(&t->beside, from, to, t->span);
		beside_begin(&t->beside);
	}
	grt_session_whole(t->session);
	ret = grt_session_run(t->session, &p->a.c, from, to, err);
	return ret < 0 ? ret : grt_analyses_finish(&p->a);
}

/* Roll-ups have no rows of jobs: if there is another thread, only that one joins jobs. */
static const struct grt_jobs *export_tables_jobs(const struct tables *t)
{
	return t->rest.a.names_only && t->beside.a.jobs ? t->beside.a.jobs : t->rest.a.jobs;
}

/* Return: 0 or a negative errno; a failure other than of the run is a failed write, or missing memory */
static int export_tables_write(struct tables *t)
{
	const struct grt_health *h = grt_session_health(t->session);
	struct grt_analyses *a = &t->rest.a;
	int ret;

	a->pass.first = t->span->first;
	a->pass.last = t->span->last;
	a->pass.known = t->span->known;
	grt_analyses_adopt(a, &t->found.a);
	ret = grt_analyses_write(a, NULL, NULL) ?: export_tables_losses(t->writer, t->session);
	if (ret)
		return ret;
	grt_analyses_notes(a);
	grt_notes_write(&t->notes, t->writer);
	export_tables_format(t);
	reading_health(t->writer, h);
	reading_joins(t->writer, export_tables_jobs(t));
	reading_balance(t->writer, h, 0);
	grt_writer_end(t->writer);
	return grt_writer_failed(t->writer);
}

/* @t->writer is there. */
static int export_tables_run(struct tables *t, struct grt_err *err)
{
	unsigned int rest = GRT_ANALYSES_ROWS;
	int ret, other;

	if (!t->beside.session)
		rest |= GRT_ANALYSES_ALONE | GRT_ANALYSES_JOBS | GRT_ANALYSES_REST;
	ret = export_tables_pass(t, &t->found, GRT_ANALYSES_FIND, err);
	if (ret)
		return ret;
	grt_writer_begin(t->writer);
	ret = grt_writer_failed(t->writer) ?: export_tables_pass(t, &t->rest, rest, err);
	other = beside_end(&t->beside, &t->rest.a);
	if (!ret && other) {
		ret = other;
		*err = t->beside.err;
	}
	return ret ?: export_tables_write(t);
}

/* Pages of a database are written and read again. */
static int export_tables_file(struct tables *t, const struct grt_export_format *format, const char *output,
			      struct grt_err *err)
{
	struct grt_writer_options o = {.out = NULL};
	struct outfile out;
	int ret = outfile_open(&out, output, err), fd;

	if (ret)
		return ret;
	fd = dup(out.fd);
	o.out = fd < 0 ? NULL : fdopen(fd, "r+");
	ret = o.out ? grt_writer_new(&t->writer, format->tables, &o) : -errno;
	ret = ret ?: export_tables_run(t, err);
	grt_writer_free(t->writer);
	if (o.out)
		fclose(o.out);
	else if (fd >= 0)
		close(fd);
	if (ret && !err->what[0])
		outfile_failed(&out, ret, err);
	if (!ret)
		ret = outfile_keep(&out, err);
	outfile_drop(&out);
	return ret;
}

static int export_tables_directory(struct tables *t, const struct grt_export_format *format,
				   const char *output, struct grt_err *err)
{
	struct grt_table_files files;
	struct table_dir d;
	int ret;

	table_dir_begin(&d, output, format->directory, t->session, t->path, t->span->first, t->span->known);
	files = table_dir_files(&d);
	files.beside = t->beside.session;
	ret = grt_writer_files(&t->writer, format->tables, &files) ?: export_tables_run(t, err);
	grt_writer_free(t->writer);
	if (!ret)
		ret = table_dir_keep(&d, err);
	if (ret && !err->what[0])
		*err = d.err;
	if (ret && !err->what[0])
		outfile_failed(&(struct outfile){.path = output}, ret, err);
	table_dir_drop(&d);
	return ret;
}

int export_tables(struct grt_session *s, const struct grt_export_format *format, const struct filter *filter,
		  const char *path, const struct reading_span *span, const char *output, uint64_t *events,
		  struct grt_err *err)
{
	struct tables t = {.filter = filter, .session = s, .span = span, .path = path};
	int ret;

	*err = (struct grt_err){0};
	t.sums = format->parts == GRT_PART_ROLLUP;
	beside_open(&t.beside, s, path, filter);
	ret = (format->directory ? export_tables_directory : export_tables_file)(&t, format, output, err);
	grt_analyses_free(&t.rest.a);
	grt_analyses_free(&t.found.a);
	beside_free(&t.beside);
	*events = grt_session_health(s)->events;
	return ret;
}
