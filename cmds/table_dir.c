// SPDX-License-Identifier: GPL-2.0
/* A directory of tables, see table_dir.h. */
#include "table_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"

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

void table_dir_begin(struct table_dir *d, const char *path, const char *ending, const struct grt_session *s,
		     const char *input, uint64_t first, bool known)
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
static int table_dir_make_way(char *path, struct grt_err *err)
{
	int ret = 0;

	for (char *slash = strchr(path + 1, '/'); slash && !ret; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ret = outfile_directory(path, err);
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
	ret = table_dir_make_way(f->path, &d->err) ?: outfile_open(&f->out, f->path, &d->err);
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

struct grt_table_files table_dir_files(struct table_dir *d)
{
	return (struct grt_table_files){.open = table_dir_open, .arg = d};
}

int table_dir_keep(struct table_dir *d, struct grt_err *err)
{
	struct table_dir_file *f;
	int ret = 0;

	for (unsigned int i = 0; i < d->used && !ret; i++) {
		f = d->file[i];
		if (fclose(f->file))
			ret = outfile_failed(&f->out, -errno, err);
		f->file = NULL;
	}
	for (unsigned int i = 0; i < d->used && !ret; i++)
		ret = outfile_keep(&d->file[i]->out, err);
	return ret;
}

void table_dir_drop(struct table_dir *d)
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
}
