// SPDX-License-Identifier: GPL-2.0
/*
 * Functions in programs and libraries that the user names: each call is a LAUNCH record without a function
 * of CUDA, whose stack begins at the function.
 */
#include "uprobe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sources/bpf/bpf_nodes.h"
#include "codes/cuda_codes.h"
#include "host/elf_file.h"
#include "host/maps.h"

/* LIB:SYMBOL of each word of -e, ended by NULL. */
static const char *uprobe_words[UPROBES_MAX + 1];

static const char *uprobe_word(const char *text)
{
	unsigned int n = 0;

	while (uprobe_words[n])
		n++;
	if (n == UPROBES_MAX)
		return "at most 96 functions";
	uprobe_words[n] = text;
	return NULL;
}

_Static_assert(UPROBES_MAX == 96, "the message says so");

#ifdef GRT_HAVE_BPF

#include <bpf/libbpf.h>

/* ------------------------------------------------------------- functions */

static bool uprobe_is_same(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int uprobes_add(struct uprobes *u, int fd, const char *path, const char *symbol, uint32_t number,
		struct grt_err *err)
{
	struct grt_bpf_point p = {.fd = -1, .number = number};
	int ret = u->n == UPROBES_MAX ? -E2BIG : elf_function(fd, path, symbol, &p.offset, err);

	if (ret)
		return ret;
	/* two names of one function */
	for (unsigned int i = 0; i < u->n; i++)
		if (u->point[i].offset == p.offset && uprobe_is_same(u->point[i].fd, fd))
			return 0;
	p.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	p.path = strdup(path);
	u->point[u->n++] = p;
	return p.fd >= 0 && p.path
		       ? 0
		       : grt_err_set(err, -ENOMEM, NULL, NULL, "no memory or descriptor for uprobes");
}

/* A program learns from a cookie which function it is in. */
static int check_cookies(struct grt_err *err)
{
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL))
		return 0;
	return grt_err_set(err, -ENOSYS,
			   "the kernel has no bpf_get_attach_cookie(), which came with Linux 5.15",
			   "a kernel of your distribution, 5.15 or later", "cannot put uprobes anywhere");
}

int uprobes_open(struct uprobes *u, const char *name, void **state, const struct source_setup *setup,
		 struct grt_err *err)
{
	static const char *const objects[] = {"uprobe", NULL};
	struct source_setup own = *setup;
	int ret = check_cookies(err);

	if (ret)
		return ret;
	u->kind = (struct grt_bpf_kind){.name = name,
					.objects = objects,
					.decoder = &grt_bpf_nodes_of_calls,
					.points = u->point,
					.n_points = u->n};
	own.user_stack = true;
	own.kernel_stack = false;
	return grt_bpf_open(state, &own, &u->kind, err);
}

void uprobes_free(struct uprobes *u)
{
	for (unsigned int i = 0; i < u->n; i++) {
		free((char *)u->point[i].path);
		if (u->point[i].fd >= 0)
			close(u->point[i].fd);
	}
	u->n = 0;
}

/* ----------------------------------------------------------------- files */

/* "libcudart" is libcudart.so.12, but not libcudart-other.so. */
static bool is_called(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	size_t length = strlen(name);

	return base && !strncmp(base + 1, name, length) &&
	       (!base[1 + length] || !strncmp(base + 1 + length, ".so", 3));
}

/* Opens the mapping's own file if it still has a name. Return: a descriptor, or -errno with *err */
static int open_mapped(pid_t pid, const struct maps_row *row, struct grt_err *err)
{
	int fd = maps_file(pid, row->start, row->end, row);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_nlink)
		return fd;
	if (fd >= 0) {
		close(fd);
		fd = -ENODEV;
	}
	return grt_err_set(
		err, fd,
		fd == -ENODEV ? "it was deleted or replaced since the process mapped it" : strerror(-fd),
		"start the program again", "cannot put a uprobe into %s of process %d", row->path, (int)pid);
}

int uprobes_mapped(pid_t pid, const char *name, char *path, struct grt_err *err)
{
	struct maps maps = {.from = maps_open(pid)};
	struct maps_row row;
	int fd = -ENOENT;

	while (fd == -ENOENT && maps_next(&maps, &row)) {
		if (row.path[0] != '/' || !is_called(row.path, name))
			continue;
		snprintf(path, PATH_MAX, "%s", row.path);
		fd = open_mapped(pid, &row, err);
	}
	maps_close(&maps);
	return fd;
}

static int uprobe_in_dirs(const char *dirs, const char *name, char *path)
{
	size_t length;
	int fd = -1;

	for (; fd < 0 && dirs && *dirs; dirs += length + (dirs[length] == ':')) {
		length = strcspn(dirs, ":");
		if (length && snprintf(path, PATH_MAX, "%.*s/%s", (int)length, dirs, name) < PATH_MAX)
			fd = elf_open(path, NULL);
	}
	return fd < 0 ? -ENOENT : fd;
}

int uprobes_find(pid_t pid, const char *name, char *path, struct grt_err *err)
{
	static const char dirs[] =
		"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/usr/lib:/usr/local/lib:"
		"/usr/local/cuda/lib64";
	int fd = -ENOENT;

	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		return elf_open(name, err);
	}
	if (pid)
		fd = uprobes_mapped(pid, name, path, err);
	if (fd == -ENOENT)
		fd = uprobe_in_dirs(getenv("LD_LIBRARY_PATH"), name, path);
	if (fd == -ENOENT)
		fd = uprobe_in_dirs(dirs, name, path);
	if (fd == -ENOENT)
		fd = uprobe_in_dirs(getenv("PATH"), name, path);
	return fd != -ENOENT
		       ? fd
		       : grt_err_set(err, -ENOENT, "no library or program of this name is in the search path",
				     "the whole path, which ldd PROG or /proc/PID/maps shows",
				     "cannot find %s for a uprobe", name);
}

/* ---------------------------------------------------------------- source */

static struct uprobes uprobes;

/* LIB:SYMBOL; only the full name of a C++ function contains a colon. */
static int uprobe_add_word(pid_t pid, const char *word, struct grt_err *err)
{
	const char *colon = strchr(word, ':');
	char name[PATH_MAX], path[PATH_MAX];
	int fd, ret;

	if (!colon || colon == word || !colon[1])
		return grt_err_set(err, -EINVAL, "it does not have the form LIB:SYMBOL",
				   "grtrace record -e uprobe:libc.so.6:malloc -- PROG",
				   "cannot put a uprobe at '%s'", word);
	snprintf(name, sizeof(name), "%.*s", (int)(colon - word), word);
	fd = uprobes_find(pid, name, path, err);
	if (fd < 0)
		return fd;
	ret = uprobes_add(&uprobes, fd, path, colon + 1, GRT_CUDA_PROBED, err);
	close(fd);
	return ret;
}

static int uprobe_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	int ret = 0;

	*state = NULL;
	for (const char *const *word = uprobe_words; *word && !ret; word++)
		ret = uprobe_add_word(setup->pid, *word, err);
	if (!ret && !uprobes.n)
		ret = grt_err_set(err, -EINVAL, "no function is given",
				  "grtrace record -e uprobe:libc.so.6:malloc -- PROG",
				  "cannot put uprobes anywhere");
	return ret ? ret : uprobes_open(&uprobes, "uprobe", state, setup, err);
}

static int uprobe_close(void *state, struct grt_err *err)
{
	int ret = grt_bpf_close(state, err);

	uprobes_free(&uprobes);
	return ret;
}

#else /* !GRT_HAVE_BPF */

static int uprobe_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	return grt_bpf_open(state, setup, NULL, err);
}

#define uprobe_close grt_bpf_close

#endif /* GRT_HAVE_BPF */

BPF_OPS_CLOSE(uprobe, true, NULL, uprobe_open, uprobe_close, .word = uprobe_word);
