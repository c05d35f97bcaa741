// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tempfile.h"
#include "unpack_tracecmd.h"

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
	ret = ret ?: grt_tracecmd_unpack(fd, u->p->path, u->out, u->err);
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
