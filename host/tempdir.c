// SPDX-License-Identifier: GPL-2.0
/*
 * Temporary directories. They are removed only with system calls, so that a signal handler can do it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privileges.h"
#include "tempdir.h"

/* Most directories: a command makes one, and a source of it another one. */
#define DIRS_MAX 4
/* Most levels: a recording in the directory, and the recording's files. */
#define DEPTH_MAX 4

/* The layout of getdents64(2). */
struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short length;
	unsigned char type;
	char name[];
};

/**
 * struct tempdir - an existing directory
 * @above: descriptor of its parent: a process that has dropped privileges may no longer find the way there
 * @name: its name in the parent
 */
static struct tempdir {
	volatile sig_atomic_t there;
	int above;
	char path[4096];
	const char *name;
} dirs[DIRS_MAX];

static void remove_tree(int above, const char *name, unsigned int depth);

/* Return: whether something was removed */
static bool remove_entries(int dir, unsigned int depth)
{
	_Alignas(struct entry) char buf[2048];
	bool any = false;
	long n, at;

	lseek(dir, 0, SEEK_SET);
	while ((n = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0)
		for (at = 0; at < n; at += ((struct entry *)(buf + at))->length) {
			const char *name = ((struct entry *)(buf + at))->name;

			if (!strcmp(name, ".") || !strcmp(name, ".."))
				continue;
			if (unlinkat(dir, name, 0) && errno == EISDIR && depth < DEPTH_MAX)
				remove_tree(dir, name, depth + 1);
			any |= faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
		}
	return any;
}

static void remove_tree(int above, const char *name, unsigned int depth)
{
	int dir = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return;
	while (remove_entries(dir, depth))
		;
	close(dir);
	unlinkat(above, name, AT_REMOVEDIR);
}

bool tempdir_has(const char *path)
{
	for (size_t i = 0; i < DIRS_MAX; i++)
		if (dirs[i].there && !strncmp(path, dirs[i].path, strlen(dirs[i].path)))
			return true;
	return false;
}

static struct tempdir *free_place(void)
{
	for (size_t i = 0; i < DIRS_MAX; i++)
		if (!dirs[i].there)
			return &dirs[i];
	errno = EMFILE;
	return NULL;
}

/*
 * The user makes the directory, so that no other user can put something else there before its owner is
 * changed. No signal arrives between making it and adding it to the list. Return: 0 or -1
 */
static int make(struct tempdir *d, uid_t uid, gid_t gid)
{
	char template[sizeof(d->path)];
	sigset_t all, before;

	memcpy(template, d->path, sizeof(template));
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	as_user_begin(uid, gid);
	d->there = mkdtemp(d->path) != NULL;
	as_user_end();
	/* if the user cannot reach the directory, no process of the user can put anything into its place */
	if (!d->there && errno == EACCES && uid != (uid_t)-1 && mkdtemp(strcpy(d->path, template)))
		d->there = !lchown(d->path, uid, gid);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return d->there ? 0 : -1;
}

int tempdir_make(char *path, size_t room, const char *name, uid_t uid, gid_t gid)
{
	const char *in = getenv("TMPDIR");
	struct tempdir *d = free_place();
	int ret;

	in = in && *in ? in : "/tmp";
	snprintf(path, room, "%s/%s.XXXXXX", in, name);
	if (!d || (size_t)snprintf(d->path, sizeof(d->path), "%s", path) >= sizeof(d->path))
		return -1;
	d->above = open(in, O_PATH | O_DIRECTORY | O_CLOEXEC);
	d->name = strrchr(d->path, '/') + 1;
	ret = d->above < 0 ? -1 : make(d, uid, gid);
	snprintf(path, room, "%s", d->path);
	return ret;
}

void tempdir_remove(const char *path)
{
	for (struct tempdir *d = dirs; d < dirs + DIRS_MAX; d++) {
		if (!d->there || strcmp(d->path, path) != 0)
			continue;
		remove_tree(d->above, d->name, 0);
		d->there = false;
		close(d->above);
	}
}

void tempdir_remove_all(void)
{
	for (struct tempdir *d = dirs; d < dirs + DIRS_MAX; d++)
		if (d->there)
			remove_tree(d->above, d->name, 0);
}
