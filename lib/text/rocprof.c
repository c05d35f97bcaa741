// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The reader of what `rocprofv3 --output-format csv` writes: a table for each kind of
 * record, PREFIX_kernel_trace.csv and others. Given one of them, the others of the
 * prefix are read, too. Which columns a table has, and in which order, depends on the
 * version that made it: a column is found by its name.
 *
 * Calls of HIP and HSA are launches, see rocprof_calls.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers.h"
#include "base/lines_in.h"
#include "cuda_file.h"
#include "rocprof_calls.h"

#define COLUMNS_MAX 64U
#define SUFFIX "_trace.csv"

/** enum rocprof_column - what a column is */
enum rocprof_column {
	ROCPROF_KIND,
	ROCPROF_NAME,
	ROCPROF_DIRECTION,
	ROCPROF_AGENT,
	ROCPROF_FROM,
	ROCPROF_TO,
	ROCPROF_QUEUE,
	ROCPROF_STREAM,
	ROCPROF_PID,
	ROCPROF_TID,
	ROCPROF_CORRELATION,
	ROCPROF_START,
	ROCPROF_END,
	ROCPROF_SHARED,
	ROCPROF_REGISTERS,
	ROCPROF_BLOCK,
	ROCPROF_GRID = ROCPROF_BLOCK + 3,
	ROCPROF_COLUMNS = ROCPROF_GRID + 3,
};

static const struct {
	const char *name;
	enum rocprof_column column;
} names[] = {
	{"Kind", ROCPROF_KIND},
	{"Domain", ROCPROF_KIND},
	{"Kernel_Name", ROCPROF_NAME},
	{"Function", ROCPROF_NAME},
	{"Direction", ROCPROF_DIRECTION},
	{"Agent_Id", ROCPROF_AGENT},
	{"Source_Agent_Id", ROCPROF_FROM},
	{"Destination_Agent_Id", ROCPROF_TO},
	{"Queue_Id", ROCPROF_QUEUE},
	{"Stream_Id", ROCPROF_STREAM},
	{"Process_Id", ROCPROF_PID},
	{"Thread_Id", ROCPROF_TID},
	{"Correlation_Id", ROCPROF_CORRELATION},
	{"Start_Timestamp", ROCPROF_START},
	{"End_Timestamp", ROCPROF_END},
	{"LDS_Block_Size", ROCPROF_SHARED},
	{"Group_Segment_Size", ROCPROF_SHARED},
	{"VGPR_Count", ROCPROF_REGISTERS},
	{"Workgroup_Size_X", ROCPROF_BLOCK},
	{"Workgroup_Size_Y", ROCPROF_BLOCK + 1},
	{"Workgroup_Size_Z", ROCPROF_BLOCK + 2},
	{"Grid_Size_X", ROCPROF_GRID},
	{"Grid_Size_Y", ROCPROF_GRID + 1},
	{"Grid_Size_Z", ROCPROF_GRID + 2},
};

static const char *const kinds[] = {"kernel",	  "memory_copy", "hip_api", "hip_runtime",  "hip_compiler",
				    "hip",	  "hsa_api",	 "hsa",	    "hsa_core_api", "hsa_amd_ext_api",
				    "marker_api", "marker"};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/**
 * struct rocprof - an input
 * @fd: its tables; -1: none. The first one is the one that the user gave
 * @pid: the pid at the beginning of its name, 0: none
 * @of: column of each field of a row, ROCPROF_COLUMNS: unused; @columns: their number
 * @value: fields of a row; NULL: the table has none
 * @calls: of HIP and HSA; @text, @room: a name with quotes in it
 * @why, @row: why a row cannot be read, and its number
 */
struct rocprof {
	int fd[1 + KINDS];
	uint64_t pid;
	uint8_t of[COLUMNS_MAX];
	unsigned int columns;
	struct grt_span value[ROCPROF_COLUMNS];
	struct grt_rocprof_calls calls;
	char *text;
	size_t room;
	const char *why;
	uint64_t row;
};

/* ------------------------------------------------------------------- rows */

/* Reads the next field of a line, without its quotes. Return: false after the last one */
static bool rocprof_field(const char **p, const char *end, struct grt_span *out)
{
	const char *q = *p;
	bool quoted = q < end && *q == '"';

	if (q > end)
		return false;
	q += quoted;
	*out = (struct grt_span){q, 0};
	while (q < end && (quoted ? *q != '"' || (q + 1 < end && q[1] == '"' && q++) : *q != ','))
		q++;
	out->len = (size_t)(q - out->at);
	if (quoted && q < end)
		q++;
	if (q < end && *q != ',')
		return false;
	*p = q + 1;
	return true;
}

/* `rocpd convert` writes Vgpr_Count where rocprofv3 writes VGPR_Count. */
static bool rocprof_is_column(struct grt_span field, const char *name)
{
	return field.len == strlen(name) && !strncasecmp(field.at, name, field.len);
}

static bool rocprof_header(struct rocprof *r, const char *line, const char *end)
{
	struct grt_span field;
	uint32_t seen = 0;

	for (r->columns = 0; r->columns < COLUMNS_MAX && rocprof_field(&line, end, &field); r->columns++) {
		r->of[r->columns] = ROCPROF_COLUMNS;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (rocprof_is_column(field, names[i].name)) {
				r->of[r->columns] = (uint8_t)names[i].column;
				seen |= 1U << names[i].column;
			}
	}
	return (seen >> ROCPROF_KIND & 1) && (seen >> ROCPROF_START & 1) && (seen >> ROCPROF_END & 1) &&
	       (seen & (1U << ROCPROF_NAME | 1U << ROCPROF_DIRECTION));
}

static bool rocprof_split(struct rocprof *r, const char *line, const char *end)
{
	struct grt_span field;
	unsigned int n = 0;

	memset(r->value, 0, sizeof(r->value));
	while (line <= end && n < r->columns) {
		if (!rocprof_field(&line, end, &field))
			return false;
		if (r->of[n] < ROCPROF_COLUMNS)
			r->value[r->of[n]] = field;
		n++;
	}
	return n == r->columns && line > end;
}

/* Return: a number, also of "Agent 4"; 0: there is none. */
static uint64_t rocprof_number(const struct rocprof *r, unsigned int column)
{
	struct grt_span s = r->value[column];
	uint64_t n = 0;

	while (s.len && !grt_is_digit(*s.at))
		s.at++, s.len--;
	if (s.len)
		grt_scan_u64(&s.at, s.at + s.len, &n);
	return n;
}

static bool rocprof_begins(struct grt_span s, const char *text)
{
	return s.len >= strlen(text) && !memcmp(s.at, text, strlen(text));
}

static void rocprof_kernel(struct rocprof *r, struct grt_cupti_record *k)
{
	k->kind = GRT_CUPTI_KERNEL;
	k->device = rocprof_number(r, ROCPROF_AGENT);
	k->registers = rocprof_number(r, ROCPROF_REGISTERS);
	k->shared = rocprof_number(r, ROCPROF_SHARED);
	for (unsigned int i = 0; i < 3; i++) {
		k->block[i] = rocprof_number(r, ROCPROF_BLOCK + i);
		k->grid[i] = rocprof_number(r, ROCPROF_GRID + i);
	}
	grt_rocprof_groups(k);
}

static void rocprof_copy(struct rocprof *r, struct grt_cupti_record *c)
{
	enum grt_rocprof_side side = grt_rocprof_way(r->value[ROCPROF_DIRECTION], c);

	c->device = rocprof_number(r, side == GRT_ROCPROF_FROM ? ROCPROF_FROM : ROCPROF_TO);
}

/* Two quotes in a row are one. Return: 0 or -ENOMEM */
static int rocprof_unquote(struct rocprof *r)
{
	struct grt_span *name = &r->value[ROCPROF_NAME];
	size_t used = 0;

	if (!name->len || !memmem(name->at, name->len, "\"\"", 2))
		return 0;
	if (grt_grow(&r->text, &r->room, name->len, 256))
		return -ENOMEM;
	for (size_t i = 0; i < name->len; i++) {
		r->text[used++] = name->at[i];
		i += name->at[i] == '"';
	}
	*name = (struct grt_span){r->text, used};
	return 0;
}

/* Return: 1, 0: it is not a record, or a negative errno */
static int rocprof_record(struct rocprof *r, struct grt_cupti_record *c)
{
	struct grt_span kind = r->value[ROCPROF_KIND];
	int ret = 0;

	*c = (struct grt_cupti_record){
		.kind = GRT_CUPTI_OTHER,
		.bytes = GRT_BYTES_UNKNOWN,
		.name = r->value[ROCPROF_NAME],
		.start = rocprof_number(r, ROCPROF_START),
		.end = rocprof_number(r, ROCPROF_END),
		.correlation = rocprof_number(r, ROCPROF_CORRELATION),
		.pid = r->value[ROCPROF_PID].len ? rocprof_number(r, ROCPROF_PID) : r->pid,
		.tid = rocprof_number(r, ROCPROF_TID),
		.stream = rocprof_number(r, r->value[ROCPROF_STREAM].len ? ROCPROF_STREAM : ROCPROF_QUEUE),
	};
	if (!c->start || c->end < c->start)
		return 0;
	if (rocprof_begins(kind, "KERNEL_DISPATCH"))
		rocprof_kernel(r, c);
	else if (rocprof_begins(kind, "MEMORY_COPY"))
		rocprof_copy(r, c);
	else if (rocprof_begins(kind, "HIP_") || rocprof_begins(kind, "HSA_"))
		ret = grt_rocprof_calls_take(&r->calls, c);
	else if (rocprof_begins(kind, "MARKER_"))
		c->kind = c->end > c->start ? GRT_CUPTI_RANGE : GRT_CUPTI_OTHER;
	if (c->kind == GRT_CUPTI_KERNEL || c->kind == GRT_CUPTI_COPY)
		ret = grt_rocprof_calls_work(&r->calls, c);
	return ret ? ret : 1;
}

/* ----------------------------------------------------------------- tables */

static int rocprof_bad(struct rocprof *r, uint64_t row, const char *why)
{
	r->row = row;
	r->why = why;
	return -EPROTO;
}

static int rocprof_read_table(struct rocprof *r, int fd, struct grt_cupti_count *count,
			      int (*record)(void *arg, const struct grt_cupti_record *c), void *arg)
{
	struct grt_lines l = {.fd = fd};
	struct grt_cupti_record c;
	const char *line, *end;
	int ret = grt_lines_init(&l, NULL, 0);

	while (!ret && (ret = grt_lines_next(&l, &line, &end)) > 0) {
		ret = 0;
		count->lines++;
		if (l.number == 1) {
			ret = rocprof_header(r, line, end)
				      ? 0
				      : rocprof_bad(r, 1, "it is no header of rocprofv3");
			continue;
		}
		if (line == end)
			continue;
		if (!rocprof_split(r, line, end))
			ret = rocprof_bad(r, l.number, "it has not the columns of the first line");
		else if (rocprof_unquote(r))
			ret = -ENOMEM;
		else
			ret = rocprof_record(r, &c);
		if (!ret)
			ret = rocprof_bad(r, l.number, "it has no times, or ends before it begins");
		ret = ret > 0 ? 0 : ret;
		count->records += !ret;
		if (!ret)
			ret = record(arg, &c);
	}
	grt_lines_fini(&l);
	return ret;
}

static int rocprof_read(void *reader, struct grt_cupti_count *count,
			int (*record)(void *arg, const struct grt_cupti_record *c), void *arg)
{
	struct rocprof *r = reader;
	int ret = 0;

	for (size_t i = 0; i < 1 + KINDS && !ret; i++)
		if (r->fd[i] >= 0)
			ret = rocprof_read_table(r, r->fd[i], count, record, arg);
	grt_rocprof_calls_end(&r->calls);
	return ret;
}

static int rocprof_judge(void *reader, const char *path, const struct grt_cupti_count *count, int code,
			 struct grt_err *err)
{
	const struct rocprof *r = reader;

	if (code == -EPROTO)
		return grt_err_set(
			err, code, r->why, "rocprofv3 --output-format csv again, or what precedes that line",
			"%s, or a table beside it: line %llu: cannot read", path, (unsigned long long)r->row);
	if (code == -ENODATA)
		return grt_err_set(
			err, -EINVAL, "none of its rows is a call, a kernel, a copy or a range",
			"rocprofv3 --kernel-trace --hip-runtime-trace --memory-copy-trace -f csv -- PROGRAM",
			"%s: nothing to read in %llu {line|lines}", path, (unsigned long long)count->lines);
	return code ? grt_err_set(err, code, strerror(-code), NULL, "%s: cannot read", path) : 0;
}

static void rocprof_free(void *reader)
{
	struct rocprof *r = reader;

	for (size_t i = 0; i < 1 + KINDS; i++)
		if (r->fd[i] >= 0)
			close(r->fd[i]);
	grt_rocprof_calls_free(&r->calls);
	free(r->text);
	free(r);
}

static const struct grt_cuda_file_kind rocprof_kind = {
	.form = "rocprof",
	.nests = true,
	.shows_calls = true,
	.read = rocprof_read,
	.judge = rocprof_judge,
	.free = rocprof_free,
};

/* ---------------------------------------------------------------- opening */

static bool rocprof_takes(const struct stat *st, const char *head, size_t len)
{
	const char *end = len ? memchr(head, '\n', len) : NULL;
	struct rocprof r;

	return S_ISREG(st->st_mode) && end && rocprof_header(&r, head, end - (end > head && end[-1] == '\r'));
}

/* Return: length of a table's path before the name of its kind; 0: it has another name. */
static size_t rocprof_prefix(const char *path)
{
	size_t n = strlen(path), suffix = sizeof(SUFFIX) - 1, kind;

	if (n <= suffix || strcmp(path + n - suffix, SUFFIX) != 0)
		return 0;
	for (size_t i = 0; i < KINDS; i++) {
		kind = strlen(kinds[i]);
		if (n > suffix + kind && !memcmp(path + n - suffix - kind, kinds[i], kind) &&
		    (n == suffix + kind || path[n - suffix - kind - 1] == '_' ||
		     path[n - suffix - kind - 1] == '/'))
			return n - suffix - kind;
	}
	return 0;
}

/* The other tables of a prefix. */
static void rocprof_open_others(struct rocprof *r, const char *path, size_t prefix)
{
	char other[4096];
	struct stat st, given;

	if (fstat(r->fd[0], &given))
		return;
	for (size_t i = 0; i < KINDS; i++) {
		snprintf(other, sizeof(other), "%.*s%s" SUFFIX, (int)prefix, path, kinds[i]);
		r->fd[1 + i] = open(other, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (r->fd[1 + i] < 0)
			continue;
		if (fstat(r->fd[1 + i], &st) || !S_ISREG(st.st_mode) ||
		    (st.st_dev == given.st_dev && st.st_ino == given.st_ino)) {
			close(r->fd[1 + i]);
			r->fd[1 + i] = -1;
		}
	}
}

static int rocprof_open(struct grt_session *s, int fd, struct grt_err *err)
{
	struct rocprof *r = calloc(1, sizeof(*r));
	size_t prefix = rocprof_prefix(s->path);
	const char *slash = strrchr(s->path, '/'), *name = slash ? slash + 1 : s->path;

	if (!r)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", s->path);
	grt_rocprof_calls_init(&r->calls);
	for (size_t i = 0; i < 1 + KINDS; i++)
		r->fd[i] = -1;
	r->fd[0] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (r->fd[0] < 0) {
		int code = -errno;

		rocprof_free(r);
		return grt_err_set(err, code, strerror(-code), NULL, "%s: cannot open", s->path);
	}
	if (prefix) {
		grt_scan_u64(&name, s->path + prefix, &r->pid);
		rocprof_open_others(r, s->path, prefix);
	}
	return grt_cuda_file_open(s, &rocprof_kind, r, err);
}

const struct grt_reader grt_reader_rocprof = {
	.name = "rocprof",
	.takes = rocprof_takes,
	.open = rocprof_open,
};
