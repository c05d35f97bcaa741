// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <grp.h>
#include <grtrace/grtrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tempfile.h"

/* ------------------------------------------------------------- trace-cmd */

/*
 * Converts recordings of trace-cmd (trace.dat) to the text that `trace-cmd report` prints, with its library,
 * which is loaded when it is needed. The library trusts its input, so it runs in a separate process: a
 * damaged file can only end that process.
 */

#ifdef GRT_HAVE_TRACECMD
#include <dlfcn.h>
#include <traceevent/event-parse.h>

#include "base/clock.h"

#define TRACECMD_LIBRARY "libtracecmd.so.1"
#define TRACEEVENT_LIBRARY "libtraceevent.so.1"
#define INSTANCES_MAX 256
/* What the library may use: a part for any file, and a part for each byte of the file. */
#define MEMORY_FREE (UINT64_C(1) << 30)
#define MEMORY_PER_BYTE 4U
#define SECONDS_FREE 60U
#define BYTES_PER_SECOND (UINT64_C(1) << 20)
#define TEXT_FREE (UINT64_C(256) << 20)
#define TEXT_PER_BYTE 256U
#define NOBODY 65534
/* a flag of tracecmd_open_fd(): no plugins, because they are programs of a user */
#define TRACECMD_FL_LOAD_NO_PLUGINS 1

struct tracecmd_input;
typedef int (*tracecmd_callback)(struct tracecmd_input *in, struct tep_record *record, int cpu, void *arg);

/** struct tracecmd - functions of the libraries, by their names */
struct tracecmd {
	struct tracecmd_input *(*tracecmd_open_fd)(int fd, int flags);
	struct tep_handle *(*tracecmd_get_tep)(struct tracecmd_input *in);
	int (*tracecmd_buffer_instances)(struct tracecmd_input *in);
	struct tracecmd_input *(*tracecmd_buffer_instance_handle)(struct tracecmd_input *in, int i);
	int (*tracecmd_iterate_events_multi)(struct tracecmd_input **in, int n, tracecmd_callback callback,
					     void *arg);
	void (*tep_print_event)(struct tep_handle *tep, struct trace_seq *s, struct tep_record *record,
				const char *format, ...);
	void (*trace_seq_init)(struct trace_seq *s);
	void (*trace_seq_reset)(struct trace_seq *s);
	void (*trace_seq_terminate)(struct trace_seq *s);
	struct trace_seq text;
	FILE *out;
};

/* How the process ends. */
enum { TRACECMD_DONE, TRACECMD_BAD, TRACECMD_NO_LIBRARY, TRACECMD_NO_PLACE };

static bool tracecmd_load(struct tracecmd *t)
{
	void *events = dlopen(TRACEEVENT_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
	void *library = events ? dlopen(TRACECMD_LIBRARY, RTLD_NOW) : NULL;

#define LOAD(from, name) (t->name = dlsym(from, #name))
	return library && LOAD(library, tracecmd_open_fd) && LOAD(library, tracecmd_get_tep) &&
	       LOAD(library, tracecmd_buffer_instances) && LOAD(library, tracecmd_buffer_instance_handle) &&
	       LOAD(library, tracecmd_iterate_events_multi) && LOAD(events, tep_print_event) &&
	       LOAD(events, trace_seq_init) && LOAD(events, trace_seq_reset) &&
	       LOAD(events, trace_seq_terminate);
#undef LOAD
}

/* A newline in an event's text must not begin a new line. */
static void tracecmd_put(struct tracecmd *t)
{
	t->trace_seq_terminate(&t->text);
	for (char *p = t->text.buffer; *p; p++)
		fputc(*p == '\n' ? ' ' : *p, t->out);
	t->trace_seq_reset(&t->text);
}

static void tracecmd_put_lost(const struct tracecmd *t, const struct tep_record *r)
{
	if (r->missed_events < 0)
		fprintf(t->out, "CPU:%d [EVENTS DROPPED]\n", r->cpu);
	else if (r->missed_events)
		fprintf(t->out, "CPU:%d [%lld EVENTS DROPPED]\n", r->cpu, r->missed_events);
}

static int tracecmd_take(struct tracecmd_input *in, struct tep_record *r, int cpu, void *arg)
{
	struct tracecmd *t = arg;
	struct tep_handle *tep = t->tracecmd_get_tep(in);

	tracecmd_put_lost(t, r);
	t->tep_print_event(tep, &t->text, r, "%16s-%-5d [%03d]", TEP_PRINT_COMM, TEP_PRINT_PID,
			   TEP_PRINT_CPU);
	tracecmd_put(t);
	fprintf(t->out, " %llu.%09llu: ", r->ts / GRT_NS_PER_S, r->ts % GRT_NS_PER_S);
	t->tep_print_event(tep, &t->text, r, "%s: %s", TEP_PRINT_NAME, TEP_PRINT_INFO);
	tracecmd_put(t);
	fputc('\n', t->out);
	return ferror(t->out) ? -1 : 0;
}

/* Prints all buffers, merged in the order of time. */
static int tracecmd_report(struct tracecmd *t, int fd)
{
	struct tracecmd_input *in[INSTANCES_MAX + 1] = {t->tracecmd_open_fd(fd, TRACECMD_FL_LOAD_NO_PLUGINS)};
	int n = 1, buffers;

	if (!in[0])
		return TRACECMD_BAD;
	buffers = t->tracecmd_buffer_instances(in[0]);
	for (int i = 0; i < buffers && i < INSTANCES_MAX; i++) {
		in[n] = t->tracecmd_buffer_instance_handle(in[0], i);
		n += in[n] != NULL;
	}
	t->trace_seq_init(&t->text);
	if (t->tracecmd_iterate_events_multi(in, n, tracecmd_take, t) < 0)
		return ferror(t->out) ? TRACECMD_NO_PLACE : TRACECMD_BAD;
	return fflush(t->out) ? TRACECMD_NO_PLACE : TRACECMD_DONE;
}

static void tracecmd_limit(int what, uint64_t most)
{
	setrlimit(what, &(struct rlimit){most, most});
}

/* Limits what a damaged file can make the library do. What root reads does not run as root. */
static bool tracecmd_confine(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
#ifndef __SANITIZE_ADDRESS__
	tracecmd_limit(RLIMIT_AS, MEMORY_FREE + MEMORY_PER_BYTE * (uint64_t)st.st_size);
#endif
	tracecmd_limit(RLIMIT_CPU, SECONDS_FREE + (uint64_t)st.st_size / BYTES_PER_SECOND);
	tracecmd_limit(RLIMIT_FSIZE, TEXT_FREE + TEXT_PER_BYTE * (uint64_t)st.st_size);
	tracecmd_limit(RLIMIT_CORE, 0);
	/* a container may lack the privilege to change its user */
	if (!geteuid() &&
	    (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)) &&
	    errno != EPERM)
		return false;
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int tracecmd_child(int fd, int out)
{
	struct tracecmd t = {.out = fdopen(out, "w")};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (!t.out)
		return TRACECMD_NO_PLACE;
	if (!tracecmd_load(&t))
		return TRACECMD_NO_LIBRARY;
	/* messages of the libraries are not for the user */
	if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    !tracecmd_confine(fd))
		return TRACECMD_BAD;
	return tracecmd_report(&t, fd);
}

/**
 * tracecmd_unpack - writes the events of a trace.dat as text
 * @fd: the trace.dat, a regular file
 * @out: descriptor for the text
 * Return: 0 or a negative errno; -ENOSYS: the library of trace-cmd is missing
 */
static int tracecmd_unpack(int fd, const char *path, int out, struct grt_err *err)
{
	static const char report[] = "trace-cmd report PATH > trace.txt, and give that";
	int status = 0;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		_exit(tracecmd_child(fd, out));
	if (child < 0)
		return grt_err_set(err, -errno, strerror(errno), report,
				   "%s: cannot read the recording of trace-cmd", path);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return grt_err_set(err, -errno, strerror(errno), report,
					   "%s: cannot read the recording of trace-cmd", path);
	if (WIFEXITED(status) && WEXITSTATUS(status) == TRACECMD_DONE)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == TRACECMD_NO_LIBRARY)
		return grt_err_set(
			err, -ENOSYS, TRACECMD_LIBRARY " is missing",
			"apt-get install libtracecmd1; or trace-cmd report PATH > trace.txt, and give that",
			"%s: not a trace: it is a recording of trace-cmd", path);
	if (WIFEXITED(status) && WEXITSTATUS(status) == TRACECMD_NO_PLACE)
		return grt_err_set(err, -ENOSPC, strerror(ENOSPC),
				   "TMPDIR=DIR with room for it, before the command's name",
				   "%s: cannot write its events into a temporary file", path);
	return grt_err_set(err, -EPROTO, "its library cannot read it: it is cut or damaged", report,
			   "%s: not a trace: it is a recording of trace-cmd", path);
}
#endif

/* --------------------------------------------------------------- foreign */

static const struct foreign_row {
	const char *magic;
	size_t magic_len;
	const char *ending;
	const char *what;
	const char *fix;
} rows[] = {
#define GRT_FOREIGN(magic, ending, what, fix) {magic, sizeof(magic) - 1, ending, what, fix},
#include "foreign.def"
};

static bool foreign_is(const struct foreign_row *r, const char *path, const char *head, size_t len)
{
	size_t path_len = strlen(path), ending_len = strlen(r->ending);

	return len >= r->magic_len && !memcmp(head, r->magic, r->magic_len) && path_len >= ending_len &&
	       !strcmp(path + path_len - ending_len, r->ending);
}

int grt_foreign_refuse(const char *path, const char *head, size_t len, struct grt_err *err)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (len && foreign_is(&rows[i], path, head, len))
			return grt_err_set(err, -EINVAL, rows[i].what, rows[i].fix, "%s: not a trace", path);
	return 0;
}

/* Bytes of a first line that are examined. */
#define LINE_MAX_SEEN 1024U

static const struct foreign_text {
	const char *pattern;
	const char *what;
	const char *fix;
} texts[] = {
#define GRT_FOREIGN_TEXT(pattern, what, fix) {pattern, what, fix},
#include "foreign.def"
};

bool grt_foreign_text(const char *head, size_t len, const char **what, const char **fix)
{
	char line[LINE_MAX_SEEN + 1];
	size_t n = 0;

	while (len && (*head == '\n' || *head == '\r'))
		head++, len--;
	while (n < len && n < LINE_MAX_SEEN && head[n] && !strchr("\r\n", head[n]))
		n++;
	memcpy(line, head, n);
	line[n] = '\0';
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (fnmatch(texts[i].pattern, line, FNM_EXTMATCH | FNM_NOESCAPE))
			continue;
		*what = texts[i].what;
		*fix = texts[i].fix;
		return true;
	}
	return false;
}

/* ---------------------------------------------------------------- unpack */

#ifdef GRT_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef GRT_HAVE_ZSTD
#include <zstd.h>
#endif

#define ROOM (256U << 10)
/* Traces unpack to at most some hundred times their size. Beyond this, a small file would fill a disk. */
#define GROWTH_MAX 256U
#define GROWTH_FREE (UINT64_C(256) << 20)

/**
 * struct unpack - an input that is being decompressed
 * @used: bytes of a pipe's head that were already read
 * @taken: bytes of the input so far; @given: bytes that were unpacked from them
 * @tool: the program that unpacks such an input to its standard output
 * @out: the file
 */
struct unpack {
	const struct grt_packed *p;
	struct grt_err *err;
	size_t used;
	uint64_t taken;
	uint64_t given;
	const char *tool;
	int out;
	uint8_t in[ROOM];
	uint8_t plain[ROOM];
};

/**
 * struct unpack_kind - a row
 * @magic, @len: the first bytes of such inputs
 * @all: decompresses an input. Return: 0 or a negative errno
 */
struct unpack_kind {
	const char *name;
	const char *tool;
	const char *magic;
	size_t len;
	int (*all)(struct unpack *u);
};

/* Reads compressed bytes. Return: number of bytes, 0: the end, or a negative errno with the error set */
static ssize_t unpack_read(struct unpack *u)
{
	const struct grt_packed *p = u->p;
	ssize_t n;

	if (p->is_pipe && u->used < p->head_len) {
		n = (ssize_t)(p->head_len - u->used < ROOM ? p->head_len - u->used : ROOM);
		memcpy(u->in, p->head + u->used, (size_t)n);
		u->used += (size_t)n;
	} else {
		do
			n = p->is_pipe ? read(p->fd, u->in, ROOM)
				       : pread(p->fd, u->in, ROOM, (off_t)u->taken);
		while (n < 0 && errno == EINTR);
	}
	if (n < 0)
		return grt_err_set(u->err, -errno, strerror(errno), NULL, "%s: cannot read", p->path);
	u->taken += (uint64_t)n;
	return n;
}

static int unpack_no_place(struct unpack *u)
{
	int code = errno;

	return grt_err_set(
		u->err, -code, strerror(code), "TMPDIR=DIR with room for it, before the command's name",
		"%s: cannot unpack it into a temporary file in %s", u->p->path, grt_tempfile_dir());
}

static int unpack_too_much(struct unpack *u)
{
	char fix[64];

	snprintf(fix, sizeof(fix), "%s PATH > FILE, and give that", u->tool);
	return grt_err_set(u->err, -EFBIG, "it would be more than 256 times as large", fix,
			   "%s: cannot unpack", u->p->path);
}

static int unpack_write(struct unpack *u, size_t len)
{
	ssize_t n;

	u->given += len;
	if (u->given > GROWTH_FREE && u->given / GROWTH_MAX > u->taken)
		return unpack_too_much(u);
	for (size_t done = 0; done<len; done += n> 0 ? (size_t)n : 0) {
		n = write(u->out, u->plain + done, len - done);
		if (n < 0 && errno != EINTR)
			return unpack_no_place(u);
	}
	return 0;
}

/* @rest: number of available bytes that were not understood */
__attribute__((unused)) static int unpack_bad(struct unpack *u, bool cut, uint64_t rest)
{
	char fix[64];

	snprintf(fix, sizeof(fix), "%s PATH > FILE, which keeps what precedes it", u->tool);
	return grt_err_set(u->err, -EPROTO, cut ? "the file ends before its data" : "the data is damaged",
			   fix, "%s: byte %llu: cannot unpack", u->p->path,
			   (unsigned long long)(u->taken - rest));
}

/* --------------------------------------------------------------- gzip */

#ifdef GRT_HAVE_ZLIB
/* 15 bits of window, as zlib's default; 16 more for gzip's header */
#define GZIP_WINDOW (15 + 16)

/*
 * Decompresses the bytes that were read, which may belong to several members. Return: 0 or a negative errno
 */
static int unpack_gzip_some(struct unpack *u, z_stream *z, bool *whole)
{
	int ret, code = Z_OK;

	do {
		/* zeros after the last member are padding */
		if (*whole && !*z->next_in) {
			z->next_in++, z->avail_in--;
			continue;
		}
		if (*whole && inflateReset(z) != Z_OK)
			return -ENOMEM;
		*whole = false;
		z->next_out = u->plain;
		z->avail_out = ROOM;
		code = inflate(z, Z_NO_FLUSH);
		if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
			return unpack_bad(u, false, z->avail_in);
		ret = unpack_write(u, ROOM - z->avail_out);
		if (ret)
			return ret;
		*whole = code == Z_STREAM_END;
	} while (z->avail_in || (!*whole && !z->avail_out));
	return 0;
}

static int unpack_gzip(struct unpack *u)
{
	z_stream z = {0};
	bool whole = false;
	int ret = inflateInit2(&z, GZIP_WINDOW) == Z_OK ? 0 : -ENOMEM;
	ssize_t n = 1;

	while (!ret && (n = unpack_read(u)) > 0) {
		z.next_in = u->in;
		z.avail_in = (uInt)n;
		ret = unpack_gzip_some(u, &z, &whole);
	}
	inflateEnd(&z);
	if (!ret && n < 0)
		ret = (int)n;
	return ret ? ret : whole ? 0 : unpack_bad(u, true, 0);
}
#endif

/* --------------------------------------------------------------- zstd */

#ifdef GRT_HAVE_ZSTD
/* @left: 0 at the end of a frame */
static int unpack_zstd_some(struct unpack *u, ZSTD_DStream *z, size_t len, size_t *left)
{
	ZSTD_inBuffer in = {u->in, len, 0};
	ZSTD_outBuffer out;
	int ret;

	do {
		out = (ZSTD_outBuffer){u->plain, ROOM, 0};
		*left = ZSTD_decompressStream(z, &out, &in);
		if (ZSTD_isError(*left))
			return unpack_bad(u, false, len - in.pos);
		ret = unpack_write(u, out.pos);
		if (ret)
			return ret;
	} while (in.pos < in.size || out.pos == out.size);
	return 0;
}

static int unpack_zstd(struct unpack *u)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	size_t left = 1;
	int ret = z ? 0 : -ENOMEM;
	ssize_t n = 1;

	while (!ret && (n = unpack_read(u)) > 0)
		ret = unpack_zstd_some(u, z, (size_t)n, &left);
	ZSTD_freeDStream(z);
	if (!ret && n < 0)
		ret = (int)n;
	return ret ? ret : left ? unpack_bad(u, true, 0) : 0;
}
#endif

/* ---------------------------------------------------------- trace-cmd */

#ifdef GRT_HAVE_TRACECMD
/* Copies a pipe into a file. */
static int unpack_tracecmd(struct unpack *u)
{
	int fd = u->p->is_pipe ? grt_tempfile_open() : u->p->fd, ret = fd < 0 ? unpack_no_place(u) : 0;
	ssize_t n = 1;

	while (!ret && u->p->is_pipe && (n = unpack_read(u)) > 0)
		if (write(fd, u->in, (size_t)n) != n)
			ret = unpack_no_place(u);
	ret = ret ?: n < 0 ? (int)n : 0;
	if (!ret && lseek(fd, 0, SEEK_SET) < 0)
		ret = grt_err_set(u->err, -errno, strerror(errno), NULL, "%s: cannot read", u->p->path);
	ret = ret ?: tracecmd_unpack(fd, u->p->path, u->out, u->err);
	if (u->p->is_pipe && fd >= 0)
		close(fd);
	return ret;
}
#endif

/* ---------------------------------------------------------------- all */

static const struct unpack_kind kinds[] = {
#ifdef GRT_HAVE_ZLIB
	{"gzip", "zcat", "\x1f\x8b\x08", 3, unpack_gzip},
#else
	{"gzip", "zcat", "\x1f\x8b\x08", 3, NULL},
#endif
#ifdef GRT_HAVE_ZSTD
	{"zstd", "zstdcat", "\x28\xb5\x2f\xfd", 4, unpack_zstd},
#else
	{"zstd", "zstdcat", "\x28\xb5\x2f\xfd", 4, NULL},
#endif
#ifdef GRT_HAVE_TRACECMD
	{"trace-cmd", "trace-cmd report", "\x17\x08\x44tracing", 10, unpack_tracecmd},
#endif
};

static int unpack_by(const struct grt_packed *p, const struct unpack_kind *k, int *fd, struct grt_err *err)
{
	struct unpack *u;
	int ret;

	if (!k->all)
		return grt_err_set(err, -ENOSYS, "this grtrace was built without it", "unpack it first",
				   "%s: packed by %s", p->path, k->name);
	u = calloc(1, sizeof(*u));
	if (!u)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot unpack", p->path);
	*u = (struct unpack){.p = p, .err = err, .tool = k->tool};
	ret = u->out = grt_tempfile_open();
	if (ret < 0) {
		ret = unpack_no_place(u);
	} else {
		ret = k->all(u);
		if (ret == -ENOMEM)
			grt_err_set(err, ret, strerror(ENOMEM), NULL, "%s: cannot unpack", p->path);
		if (ret)
			close(u->out);
		else if (lseek(u->out, 0, SEEK_SET) == 0)
			*fd = u->out;
	}
	free(u);
	return ret;
}

int grt_unpack(const struct grt_packed *p, int *fd, struct grt_err *err)
{
	*fd = -1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (p->head_len >= kinds[i].len && !memcmp(p->head, kinds[i].magic, kinds[i].len))
			return unpack_by(p, &kinds[i], fd, err);
	return 0;
}
