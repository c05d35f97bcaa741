// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The reader of what `nsys export --type sqlite` makes of a report of Nsight Systems:
 * a database with a table for each kind of record. Which columns a table has depends
 * on the version that made it. Stamps count from the beginning of the session, whose
 * time of day is in a table of its own.
 *
 * Nothing in the database is trusted: it is read from tables that hold data alone, its
 * views, triggers and functions are never run, and the rows of a table are as many as
 * the file has room for.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/database.h"
#include "cuda_file.h"

#define MAGIC "SQLite format 3"

static bool nsys_takes(const struct stat *st, const char *head, size_t len)
{
	return len >= sizeof(MAGIC) && !memcmp(head, MAGIC, sizeof(MAGIC));
}

#ifdef GRT_HAVE_SQLITE
#define COLUMNS_MAX 24U
/* Bytes of the smallest row in any file. */
#define ROW_MIN 4
/* Longest name, as in JSON. */
#define NAME_MAX_BYTES 65536
#define SQL_MAX 4096U

/* Rows of NVTX_EVENTS that are ranges: pushed on a thread, and those that another one may end. */
#define NVTX_PUSHED 59
#define NVTX_STARTED 60
/* Rows of CUPTI_ACTIVITY_KIND_RUNTIME for the stacks of calls: each such call has a row of its own, too. */
#define CALL_STACK 67

/**
 * struct nsys - a database
 * @names: it has texts by number
 * @rows_max: of a table
 * @base: ns, of the moment that stamps count from
 * @table, @row, @why: what cannot be read, and why; NULL: the database itself
 */
struct nsys {
	int fd;
	sqlite3 *db;
	bool names;
	uint64_t rows_max;
	uint64_t base;
	const char *table;
	uint64_t row;
	char why[160];
};

/**
 * enum nsys_form - the meaning of a column. NUMBER: at least 0. ID: 32 bits, negative if unknown. GLOBAL: of
 * a process. THREAD: of a process and its thread. TIME: ns, at least 0 after adding the session's time. END:
 * the same; nothing if there was no end. NAME: number of a text. TEXT: a text
 */
enum nsys_form {
	NSYS_NUMBER,
	NSYS_ID,
	NSYS_GLOBAL,
	NSYS_THREAD,
	NSYS_ENDED_BY,
	NSYS_TIME,
	NSYS_END,
	NSYS_NAME,
	NSYS_TEXT,
};

struct nsys_column {
	const char *name;
	enum nsys_form form;
	size_t at;
	bool is_needed;
};

/**
 * struct nsys_table - a kind of record; @finish: completes the record of a row, NULL: it is complete; returns
 * false if the row is not a record
 */
struct nsys_table {
	const char *name;
	enum grt_cupti_kind kind;
	struct nsys_column column[COLUMNS_MAX];
	bool (*finish)(struct grt_cupti_record *r, char *text, size_t room);
};

/* clang-format off */
#define COLUMN_OF(name, form, member, is_needed) {name, NSYS_##form, offsetof(struct grt_cupti_record, member), is_needed}
#define COLUMN(name, form, member) COLUMN_OF(name, form, member, false)
#define SPAN COLUMN_OF("start", TIME, start, true), COLUMN_OF("end", TIME, end, true)
#define PLACE                                                                                       \
	COLUMN("globalPid", GLOBAL, pid), COLUMN("deviceId", ID, device),                           \
	COLUMN("contextId", ID, context), COLUMN("streamId", ID, stream),                           \
	COLUMN("correlationId", NUMBER, correlation), COLUMN("graphNodeId", NUMBER, graph_node)
/* clang-format on */

/* "cudaLaunchKernel_v7000" has the version in which CUDA's runtime got it so; "_v2" is of the name. */
static bool nsys_finish_call(struct grt_cupti_record *r, char *text, size_t room)
{
	size_t n = r->name.len, digits = 0;

	while (digits < n && grt_is_digit(r->name.at[n - digits - 1]))
		digits++;
	if (digits >= 4 && n > digits + 2 && !memcmp(r->name.at + n - digits - 2, "_v", 2))
		r->name.len = n - digits - 2;
	return r->event_class != CALL_STACK;
}

/* A graph that was recorded as a whole: the database does not have its nodes. */
static bool nsys_finish_graph(struct grt_cupti_record *r, char *text, size_t room)
{
	int n = snprintf(text, room, "CUDA graph %" PRIu64, r->graph);

	r->name = (struct grt_span){text, (size_t)n};
	return true;
}

static bool nsys_finish_range(struct grt_cupti_record *r, char *text, size_t room)
{
	bool is_range = r->code == NVTX_PUSHED || r->code == NVTX_STARTED;

	r->code = r->code == NVTX_STARTED ? 2 : 1;
	return is_range;
}

/* clang-format off */
static const struct nsys_table tables[] = {
	{"PROCESSES", GRT_CUPTI_PROCESS, {COLUMN("globalPid", GLOBAL, pid), COLUMN("name", TEXT, name)}, NULL},
	{"MPI_RANKS", GRT_CUPTI_RANK, {COLUMN("globalPid", GLOBAL, pid), COLUMN("rank", NUMBER, code)}, NULL},
	{"CUPTI_ACTIVITY_KIND_RUNTIME", GRT_CUPTI_CALL,
	 {SPAN, COLUMN("globalTid", THREAD, tid), COLUMN("correlationId", NUMBER, correlation),
	  COLUMN("nameId", NAME, name), COLUMN("returnValue", ID, code), COLUMN("eventClass", NUMBER, event_class)},
	 nsys_finish_call},
	{"CUPTI_ACTIVITY_KIND_KERNEL", GRT_CUPTI_KERNEL,
	 {SPAN, PLACE, COLUMN("demangledName", NAME, name),
	  COLUMN("gridX", NUMBER, grid[0]), COLUMN("gridY", NUMBER, grid[1]), COLUMN("gridZ", NUMBER, grid[2]),
	  COLUMN("blockX", NUMBER, block[0]), COLUMN("blockY", NUMBER, block[1]),
	  COLUMN("blockZ", NUMBER, block[2]), COLUMN("registersPerThread", NUMBER, registers),
	  COLUMN("staticSharedMemory", NUMBER, shared), COLUMN("dynamicSharedMemory", NUMBER, shared_dynamic)}, NULL},
	{"CUPTI_ACTIVITY_KIND_MEMCPY", GRT_CUPTI_COPY,
	 {SPAN, PLACE, COLUMN("bytes", NUMBER, bytes), COLUMN("copyKind", NUMBER, code)}, NULL},
	{"CUPTI_ACTIVITY_KIND_MEMSET", GRT_CUPTI_SET, {SPAN, PLACE, COLUMN("bytes", NUMBER, bytes)}, NULL},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", GRT_CUPTI_SYNC,
	 {SPAN, PLACE, COLUMN("syncType", NUMBER, code)}, NULL},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", GRT_CUPTI_KERNEL,
	 {SPAN, PLACE, COLUMN("graphId", NUMBER, graph)},
	 nsys_finish_graph},
	{"NVTX_EVENTS", GRT_CUPTI_RANGE,
	 {COLUMN_OF("start", TIME, start, true), COLUMN("end", END, end), COLUMN("globalTid", THREAD, tid),
	  COLUMN("endGlobalTid", ENDED_BY, ended_by), COLUMN("eventType", NUMBER, code),
	  COLUMN("textId", NAME, name), COLUMN("text", TEXT, name)},
	 nsys_finish_range},
	{"OSRT_API", GRT_CUPTI_OS_CALL,
	 {SPAN, COLUMN("globalTid", THREAD, tid), COLUMN("nameId", NAME, name)}, NULL},
};
/* clang-format on */
#define TABLES (sizeof(tables) / sizeof(tables[0]))
/* The tables after these have work, calls or ranges. */
#define TABLES_OF_PROCESSES 2U

/* ----------------------------------------------------------------- tables */

/* Return: @code as an errno, with the reason */
static int nsys_failed(struct nsys *n, int code)
{
	snprintf(n->why, sizeof(n->why), "%s", n->db ? sqlite3_errmsg(n->db) : sqlite3_errstr(code));
	return (code & 0xff) == SQLITE_NOMEM ? -ENOMEM : -EPROTO;
}

/* The number in the first column of the first row. Return: 1, 0: no row, or a negative errno */
static int nsys_ask(struct nsys *n, const char *sql, const char *table, int64_t *out)
{
	sqlite3_stmt *q = NULL;
	int ret = sqlite3_prepare_v2(n->db, sql, -1, &q, NULL);

	if (!ret && table)
		ret = sqlite3_bind_text(q, 1, table, -1, SQLITE_STATIC);
	if (!ret)
		ret = sqlite3_step(q);
	if (ret == SQLITE_ROW)
		*out = sqlite3_column_type(q, 0) == SQLITE_INTEGER ? sqlite3_column_int64(q, 0) : 0;
	else if (ret != SQLITE_DONE)
		nsys_failed(n, ret);
	sqlite3_finalize(q);
	return ret == SQLITE_ROW ? 1 : ret == SQLITE_DONE ? 0 : -EPROTO;
}

/* Return: 1: there is a table of rows with this name, 0: there is none, or a negative errno */
static int nsys_has(struct nsys *n, const char *table)
{
	int64_t value;
	int ret;

	n->table = table;
	ret = nsys_ask(n, "SELECT rootpage > 0 AND type = 'table' FROM sqlite_schema WHERE name = ?1", table,
		       &value);
	if (ret <= 0)
		return ret;
	if (value != 1) {
		snprintf(n->why, sizeof(n->why), "it is no table of rows");
		return -EPROTO;
	}
	ret = nsys_ask(n, "SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden <> 0", table, &value);
	if (ret > 0)
		snprintf(n->why, sizeof(n->why), "it has columns that are computed");
	return ret > 0 ? -EPROTO : ret ? ret : 1;
}

static bool nsys_has_column(struct nsys *n, const char *table, const char *column, int *is_key)
{
	return !sqlite3_table_column_metadata(n->db, "main", table, column, NULL, NULL, NULL, is_key, NULL);
}

/* Texts are found by their number as by a key; without one that would take each of them for each row. */
static int nsys_find_names(struct nsys *n)
{
	int ret = nsys_has(n, "StringIds"), is_key = 0;

	if (ret <= 0)
		return ret;
	if (!nsys_has_column(n, n->table, "id", &is_key) || !nsys_has_column(n, n->table, "value", NULL) ||
	    !is_key) {
		snprintf(n->why, sizeof(n->why), "its id is no key, or it has no value");
		return -EPROTO;
	}
	n->names = true;
	return 0;
}

/* When the session began, on CLOCK_REALTIME. */
static int nsys_find_base(struct nsys *n)
{
	int ret = nsys_has(n, "TARGET_INFO_SESSION_START_TIME");
	int64_t value = 0;

	if (ret <= 0)
		return ret;
	if (!nsys_has_column(n, n->table, "utcEpochNs", NULL))
		return 0;
	ret = nsys_ask(n, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", NULL, &value);
	if (ret < 0)
		return ret;
	n->base = value > 0 ? (uint64_t)value : 0;
	return 0;
}

/* Return: bytes of the statement; 0: a column is missing, which is noted */
static int nsys_spell(struct nsys *n, const struct nsys_table *t, char *sql)
{
	int used = snprintf(sql, SQL_MAX, "SELECT ");

	for (const struct nsys_column *c = t->column; c->name; c++) {
		const char *form = c->form == NSYS_NAME ? "(SELECT value FROM StringIds WHERE id = t.\"%s\")"
							: "t.\"%s\"";

		if (c > t->column)
			used += snprintf(sql + used, SQL_MAX - (size_t)used, ", ");
		if (nsys_has_column(n, t->name, c->name, NULL) && (c->form != NSYS_NAME || n->names)) {
			used += snprintf(sql + used, SQL_MAX - (size_t)used, form, c->name);
		} else if (c->is_needed) {
			snprintf(n->why, sizeof(n->why), "it has no column %s", c->name);
			return 0;
		} else {
			used += snprintf(sql + used, SQL_MAX - (size_t)used, "NULL");
		}
	}
	return used + snprintf(sql + used, SQL_MAX - (size_t)used, " FROM \"%s\" t NOT INDEXED", t->name);
}

/* ------------------------------------------------------------------- rows */

static const char *nsys_type(int type)
{
	static const char *const names[] = {
		[SQLITE_INTEGER] = "a number", [SQLITE_FLOAT] = "a number with decimals",
		[SQLITE_TEXT] = "text",	       [SQLITE_BLOB] = "a blob",
		[SQLITE_NULL] = "nothing",
	};

	return names[type];
}

static int nsys_wrong(struct nsys *n, const struct nsys_column *c, const char *what)
{
	snprintf(n->why, sizeof(n->why), "its %s is %s", c->name, what);
	return -EPROTO;
}

static int nsys_take_text(struct nsys *n, const struct nsys_column *c, sqlite3_stmt *q, int i, void *to)
{
	const unsigned char *text;
	int bytes;

	if (sqlite3_column_type(q, i) != SQLITE_TEXT)
		return nsys_wrong(n, c, nsys_type(sqlite3_column_type(q, i)));
	text = sqlite3_column_text(q, i);
	bytes = sqlite3_column_bytes(q, i);
	if (!text)
		return -ENOMEM;
	if (bytes > NAME_MAX_BYTES)
		bytes = NAME_MAX_BYTES;
	*(struct grt_span *)to = (struct grt_span){(const char *)text, (size_t)bytes};
	return 0;
}

/* Converts a number, see enum nsys_form. */
static int nsys_take_number(struct nsys *n, const struct nsys_column *c, int64_t v,
			    struct grt_cupti_record *r)
{
	uint64_t *to = (uint64_t *)((char *)r + c->at), u = (uint64_t)v;

	if (c->form == NSYS_THREAD || c->form == NSYS_GLOBAL)
		r->pid = u >> 24;
	if (c->form == NSYS_THREAD || c->form == NSYS_ENDED_BY)
		*to = u & 0xffffff;
	else if (c->form == NSYS_ID)
		*to = u & UINT32_MAX;
	else if (c->form == NSYS_TIME || c->form == NSYS_END)
		*to = u + n->base;
	else if (c->form == NSYS_NUMBER)
		*to = u;
	if (c->form == NSYS_NUMBER && v < 0)
		return nsys_wrong(n, c, "negative");
	if ((c->form == NSYS_TIME || c->form == NSYS_END) && v < 0 && *to > (uint64_t)INT64_MAX)
		return nsys_wrong(n, c, "before 1970, or negative");
	return 0;
}

/* Sets a member of the record from a column of the row. */
static int nsys_take(struct nsys *n, const struct nsys_column *c, sqlite3_stmt *q, int i,
		     struct grt_cupti_record *r)
{
	int type = sqlite3_column_type(q, i);

	if (type == SQLITE_NULL) {
		r->open |= c->form == NSYS_END;
		return c->is_needed ? nsys_wrong(n, c, nsys_type(type)) : 0;
	}
	if (c->form == NSYS_NAME || c->form == NSYS_TEXT)
		return nsys_take_text(n, c, q, i, (char *)r + c->at);
	if (type != SQLITE_INTEGER)
		return nsys_wrong(n, c, nsys_type(type));
	return nsys_take_number(n, c, sqlite3_column_int64(q, i), r);
}

/** struct nsys_sink - where records go */
struct nsys_sink {
	struct grt_cupti_count *count;
	int (*record)(void *arg, const struct grt_cupti_record *r);
	void *arg;
};

static int nsys_take_row(struct nsys *n, const struct nsys_table *t, sqlite3_stmt *q,
			 const struct nsys_sink *to)
{
	struct grt_cupti_record r = {.kind = t->kind, .bytes = GRT_BYTES_UNKNOWN};
	char text[32];
	int ret = 0;

	for (int i = 0; t->column[i].name && !ret; i++)
		ret = nsys_take(n, &t->column[i], q, i, &r);
	if (ret)
		return ret;
	to->count->lines++;
	if (t->finish && !t->finish(&r, text, sizeof(text))) {
		to->count->other++;
		return 0;
	}
	if (r.open)
		r.end = r.start;
	if (r.end < r.start) {
		snprintf(n->why, sizeof(n->why), "it ends before it starts");
		return -EPROTO;
	}
	to->count->records++;
	return to->record(to->arg, &r);
}

static int nsys_read_table(struct nsys *n, const struct nsys_table *t, const struct nsys_sink *to)
{
	sqlite3_stmt *q = NULL;
	char sql[SQL_MAX];
	int ret = 0, step;

	n->row = 0;
	if (!nsys_spell(n, t, sql))
		return -EPROTO;
	step = sqlite3_prepare_v2(n->db, sql, -1, &q, NULL);
	while (!ret && (!step || step == SQLITE_ROW) && (step = sqlite3_step(q)) == SQLITE_ROW) {
		ret = nsys_take_row(n, t, q, to);
		if (!ret && n->row++ >= n->rows_max) {
			snprintf(n->why, sizeof(n->why), "there are more rows than the file has room for");
			ret = -EPROTO;
		}
	}
	if (!ret && step != SQLITE_DONE)
		ret = nsys_failed(n, step);
	sqlite3_finalize(q);
	return ret;
}

static int nsys_read(void *reader, struct grt_cupti_count *count,
		     int (*record)(void *arg, const struct grt_cupti_record *r), void *arg)
{
	const struct nsys_sink to = {count, record, arg};
	struct nsys *n = reader;
	int ret = 0;

	for (size_t i = 0; i < TABLES && ret >= 0; i++) {
		ret = nsys_has(n, tables[i].name);
		if (ret > 0)
			ret = nsys_read_table(n, &tables[i], &to);
	}
	return ret < 0 ? ret : 0;
}

/* ---------------------------------------------------------------- opening */

static int nsys_judge(void *reader, const char *path, const struct grt_cupti_count *count, int code,
		      struct grt_err *err)
{
	const struct nsys *n = reader;

	if (code == -ENODATA)
		return grt_err_set(
			err, -EINVAL,
			"none of its rows is a call of CUDA or of the C library, work of a GPU or a range",
			"nsys profile --trace cuda,nvtx PROGRAM, and export that",
			"%s: nothing to read in %" PRIu64 " {row|rows}", path, count->lines);
	if (code != -EPROTO)
		return code ? grt_err_set(err, code, strerror(-code), NULL, "%s: cannot read", path) : 0;
	return grt_err_set(err, code, n->why, "sqlite3 PATH 'PRAGMA integrity_check'; nsys export again",
			   "%s: %s, row %" PRIu64 ": cannot read", path, n->table, n->row + 1);
}

static void nsys_free(void *reader)
{
	struct nsys *n = reader;

	sqlite3_close(n->db);
	if (n->fd >= 0)
		close(n->fd);
	free(n);
}

static const struct grt_cuda_file_kind nsys_kind = {
	.form = "nsys",
	.nests = true,
	.read = nsys_read,
	.judge = nsys_judge,
	.free = nsys_free,
};

/* Whether there is any of the tables. Return: 0, or a negative errno with @err */
static int nsys_recognise(struct nsys *n, const char *path, struct grt_err *err)
{
	int64_t value;
	int ret = 0;

	for (size_t i = TABLES_OF_PROCESSES; i < TABLES && !ret; i++)
		ret = nsys_has(n, tables[i].name);
	if (ret > 0)
		ret = nsys_find_names(n) ?: nsys_find_base(n) ?: 1;
	if (ret > 0)
		return 0;
	if (ret == -EPROTO && *n->why)
		return grt_err_set(err, -EINVAL, n->why, "sqlite3 PATH 'PRAGMA integrity_check'",
				   "%s: not a trace: it is a database of SQLite whose %s cannot be read",
				   path, n->table);
	if (nsys_ask(n, "SELECT 1 FROM sqlite_schema WHERE name GLOB ?1", "rocpd_*", &value) > 0)
		return grt_err_set(err, -EINVAL, "it is a database of rocprofv3",
				   "rocpd convert -i PATH --output-format csv, and give one of these tables",
				   "%s: not a trace", path);
	if (nsys_ask(n, "SELECT 1 FROM sqlite_schema WHERE name GLOB ?1", "step_work", &value) > 0)
		return grt_err_set(err, -EINVAL, "it is a database that grtrace export wrote",
				   "sqlite3 PATH 'SELECT * FROM work'; the recording has the events",
				   "%s: not a trace", path);
	return grt_err_set(
		err, -EINVAL,
		"it is a database of SQLite without tables of Nsight Systems for CUDA, NVTX or the C library",
		"sqlite3 PATH .tables; nsys export --type sqlite REPORT makes one", "%s: not a trace", path);
}

static int nsys_open(struct grt_session *s, int fd, struct grt_err *err)
{
	struct nsys *n = calloc(1, sizeof(*n));
	struct stat st;
	int ret;

	if (!n)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", s->path);
	n->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (n->fd < 0 || fstat(n->fd, &st)) {
		ret = grt_err_set(err, -errno, strerror(errno), NULL, "%s: cannot open", s->path);
	} else {
		n->rows_max = (uint64_t)st.st_size / ROW_MIN;
		ret = grt_database_read(&n->db, n->fd);
		if (ret)
			ret = grt_err_set(err, nsys_failed(n, ret), n->why, NULL, "%s: cannot open", s->path);
		else
			ret = nsys_recognise(n, s->path, err);
	}
	if (!ret)
		return grt_cuda_file_open(s, &nsys_kind, n, err);
	nsys_free(n);
	return ret;
}
#else
static int nsys_open(struct grt_session *s, int fd, struct grt_err *err)
{
	return grt_err_set(err, -ENOSYS,
			   "it is a database of SQLite, and this grtrace was built without libsqlite3",
			   "apt-get install libsqlite3-dev, and build grtrace again; sqlite3 PATH .tables",
			   "%s: not a trace", s->path);
}
#endif

const struct grt_reader grt_reader_nsys = {
	.name = "nsys",
	.begins = "S",
	.takes = nsys_takes,
	.open = nsys_open,
};
