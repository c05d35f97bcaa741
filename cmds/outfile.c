// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are written completely or not at all, see outfile.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers.h"
#include "host/privileges.h"
#include "cmd.h"
#include "outfile.h"

/* A command writes one at a time, or one per table. */
#define UNKEPT_MAX 64

static struct outfile *volatile unkept[UNKEPT_MAX];

/**
 * struct made_directory - one that outfile_directory() made
 * @uid, @gid: the user as which it was made; (uid_t)-1: as the user of this process
 */
struct made_directory {
	char *path;
	uid_t uid;
	gid_t gid;
};

/* Each after the one that it is in. They change only while no signal arrives. */
static struct made_directory *made;
static unsigned int mades;

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ};
#define ENDS (sizeof(ends) / sizeof(ends[0]))

void outfile_drop_all(void)
{
	for (size_t i = 0; i < UNKEPT_MAX; i++)
		if (unkept[i])
			unlink(unkept[i]->temp);
	for (unsigned int i = mades; i--;) {
		as_user_change(made[i].uid, made[i].gid);
		rmdir(made[i].path);
	}
}

static void outfile_on_signal(int number)
{
	outfile_drop_all();
	/* the default action applies again */
	raise(number);
}

/* A program that catches or ignores a signal ends in its own way. */
static void catch_ends(void)
{
	struct sigaction act = {.sa_handler = outfile_on_signal, .sa_flags = SA_RESETHAND | SA_NODEFER}, now;

	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < ENDS; i++)
		if (!sigaction(ends[i], NULL, &now) && now.sa_handler == SIG_DFL)
			sigaction(ends[i], &act, NULL);
}

static void replace_unkept(struct outfile *from, struct outfile *to)
{
	size_t i = 0;

	while (i < UNKEPT_MAX && unkept[i] != from)
		i++;
	if (i < UNKEPT_MAX)
		unkept[i] = to;
}

void outfile_hold(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, before);
}

void outfile_release(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

/* No signal arrives between making the file and adding it to the list. Return: -1 with errno set */
static int make_temp(struct outfile *o)
{
	sigset_t before;
	int fd;

	catch_ends();
	outfile_hold(&before);
	/* made with mode 0600 */
	fd = mkostemp(o->temp, O_CLOEXEC);
	if (fd >= 0)
		replace_unkept(NULL, o);
	outfile_release(&before);
	return fd;
}

int outfile_failed(const struct outfile *o, int code, struct grt_err *err)
{
	/* this error is about stacks, not about the file, see grt_stacks_add() */
	if (code == -EOVERFLOW)
		return grt_err_set(err, code, "the times in the trace add up to more than 2^63 ns",
				   "grtrace report PATH, which shows the longest: it is damaged",
				   "cannot write to %s", o->path ? o->path : "standard output");
	return grt_err_set(err, code, strerror(-code),
			   code == -EBADF && !o->path
				   ? "the same command with its standard output open, without >&-"
				   : outfile_fix(-code),
			   "cannot write to %s", o->path ? o->path : "standard output");
}

const char *outfile_fix(int code)
{
	static const struct {
		int code;
		const char *fix;
	} fixes[] = {
		{EACCES, "a directory that you may write to"},
		{EROFS, "a directory that you may write to"},
		{ENOENT, "mkdir -p of its directory, or another one"},
		{ENOTDIR, "a path whose parts are directories"},
		{EISDIR, "the name of a file in it"},
		{ENAMETOOLONG, "a shorter name"},
		{ENOSPC, "free space on the disk, or write elsewhere"},
		{EDQUOT, "remove files of yours, or write elsewhere: quota shows the limit"},
		{EFBIG, "ulimit -f unlimited, before the command"},
		{EIO, "another disk: sudo dmesg | tail shows what failed"},
	};

	for (size_t i = 0; i < sizeof(fixes) / sizeof(fixes[0]); i++)
		if (fixes[i].code == code)
			return fixes[i].fix;
	return NULL;
}

static int outfile_open_failed(const char *path, int code, struct grt_err *err)
{
	return grt_err_set(err, -code, strerror(code), outfile_fix(code) ?: "another file",
			   "cannot create %s", path);
}

/*
 * Opens it as the user who called sudo, so that links of that user only lead to places where the user may
 * write.
 */
static bool outfile_begin_at(const char *path)
{
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;

	privileges_user(&uid, &gid);
	return as_user_begin_at(uid, gid, path);
}

/* Makes it as the user who called sudo, and remembers it. Return: 0, or an error code of the system */
static int make_directory(struct made_directory *d)
{
	int code;

	if (grt_grow_one(&made, mades) || !(d->path = strdup(d->path)))
		return ENOMEM;
	if (!outfile_begin_at(d->path))
		d->uid = (uid_t)-1;
	code = mkdir(d->path, 0700) ? errno : 0;
	as_user_end();
	if (code)
		free(d->path);
	else
		made[mades++] = *d;
	return code;
}

static int open_beside(struct outfile *o, const char *path, struct grt_err *err)
{
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return o->fd < 0 ? outfile_open_failed(path, errno, err) : 0;
	}
	if ((size_t)snprintf(o->temp, sizeof(o->temp), "%s.XXXXXX", path) >= sizeof(o->temp))
		return outfile_open_failed(path, ENAMETOOLONG, err);
	o->fd = make_temp(o);
	if (o->fd >= 0)
		return 0;
	o->temp[0] = '\0';
	return outfile_open_failed(path, errno, err);
}

int outfile_open(struct outfile *o, const char *path, struct grt_err *err)
{
	int ret;

	*o = (struct outfile){.fd = STDOUT_FILENO};
	if (!path || !strcmp(path, "-"))
		return 0;
	o->path = path;
	outfile_begin_at(path);
	ret = open_beside(o, path, err);
	as_user_end();
	return ret;
}

int outfile_directory(const char *path, struct grt_err *err)
{
	struct made_directory d = {(char *)path, (uid_t)-1, (gid_t)-1};
	sigset_t before;
	int code;

	catch_ends();
	privileges_user(&d.uid, &d.gid);
	outfile_hold(&before);
	code = make_directory(&d);
	outfile_release(&before);
	return code && code != EEXIST ? outfile_open_failed(path, code, err) : 0;
}

void outfile_directories_end(void)
{
	sigset_t before;

	outfile_hold(&before);
	while (mades) {
		struct made_directory *d = &made[--mades];

		outfile_begin_at(d->path);
		rmdir(d->path);
		as_user_end();
		free(d->path);
	}
	free(made);
	made = NULL;
	outfile_release(&before);
}

int outfile_now(struct outfile *o, const char *path, struct grt_err *err)
{
	*o = (struct outfile){.fd = STDOUT_FILENO};
	if (!path || !strcmp(path, "-"))
		return 0;
	o->path = path;
	outfile_begin_at(path);
	o->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
	as_user_end();
	return o->fd < 0 ? outfile_open_failed(path, errno, err) : 0;
}

int outfile_keep(struct outfile *o, struct grt_err *err)
{
	int ret = 0;

	if (!o->path)
		return 0;
	if (close(o->fd))
		ret = -errno;
	o->fd = -1;
	outfile_begin_at(o->path);
	if (!ret && o->temp[0] && rename(o->temp, o->path))
		ret = -errno;
	as_user_end();
	if (!ret)
		o->temp[0] = '\0';
	if (ret)
		outfile_failed(o, ret, err);
	outfile_drop(o);
	return ret;
}

static bool outfile_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_input(const char *output, const char *input)
{
	const char *slash = strrchr(output, '/');
	char directory[4096] = ".";
	struct stat in, out;

	if (stat(input, &in))
		return false;
	if ((S_ISREG(in.st_mode) || S_ISDIR(in.st_mode)) && !stat(output, &out) && outfile_is_same(&in, &out))
		return true;
	if (slash && (size_t)(slash - output) < sizeof(directory))
		snprintf(directory, sizeof(directory), "%.*s", (int)(slash - output + 1), output);
	return S_ISDIR(in.st_mode) && !stat(directory, &out) && outfile_is_same(&in, &out);
}

int outfile_usage(const char *output, const char *input)
{
	if (!output || !input || !strcmp(output, "-") || !is_input(output, input))
		return EXIT_DONE;
	return cmd_usage_error("--output %s is the input %s, or inside it, and would overwrite it", output,
			       input);
}

int outfile_ending_usage(const char *output, const char *known, const char *are)
{
	const char *slash = output ? strrchr(output, '/') : NULL, *name = slash ? slash + 1 : output;
	const char *end = name && *name ? strrchr(name + 1, '.') : NULL;
	size_t length = name ? strlen(name) : 0, n;
	struct stat st;

	if (!end || (!stat(output, &st) && !S_ISREG(st.st_mode)))
		return EXIT_DONE;
	for (; *known; known += n, known += *known == ' ') {
		n = strcspn(known, " ");
		if (n < length && !strncmp(known, name + length - n, n))
			return EXIT_DONE;
	}
	return cmd_usage_error("--output %s: the ending %s is unknown; there are %s", output, end, are);
}

void outfile_drop(struct outfile *o)
{
	if (o->path && o->fd >= 0)
		close(o->fd);
	if (o->temp[0]) {
		outfile_begin_at(o->path);
		unlink(o->temp);
		as_user_end();
	}
	replace_unkept(o, NULL);
	*o = (struct outfile){.fd = -1};
}
