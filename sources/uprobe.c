// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that the user names, in programs and libraries: each call is a LAUNCH
 * record without a function of CUDA, whose stack begins at the function.
 */
#include "uprobe.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf_nodes.h"
#include "core/cuda.h"
#include "elf_file.h"
#include "maps.h"

#ifdef GRT_HAVE_BPF

/* ------------------------------------------------------------- functions */

int uprobes_add(struct uprobes *u, const char *path, const char *symbol, uint32_t number, struct grt_err *err)
{
	struct bpf_point *p = &u->point[u->n];
	int ret = u->n == UPROBES_MAX ? -E2BIG : elf_function(path, symbol, &p->offset, err);

	if (ret)
		return ret;
	/* two names of one function */
	for (unsigned int i = 0; i < u->n; i++)
		if (u->point[i].offset == p->offset && !strcmp(u->path[i], path))
			return 0;
	u->path[u->n] = strdup(path);
	if (!u->path[u->n])
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for uprobes");
	p->path = u->path[u->n++];
	p->number = number;
	return 0;
}

int uprobes_open(struct uprobes *u, const char *name, void **state, const struct source_setup *setup,
		 struct grt_err *err)
{
	static const char *const objects[] = {"uprobe", NULL};
	struct source_setup own = *setup;

	u->kind = (struct bpf_kind){.name = name,
				    .objects = objects,
				    .decoder = &bpf_nodes_of_calls,
				    .points = u->point,
				    .n_points = u->n};
	own.user_stack = true;
	own.kernel_stack = false;
	return bpf_open(state, &own, &u->kind, err);
}

void uprobes_free(struct uprobes *u)
{
	for (unsigned int i = 0; i < u->n; i++)
		free(u->path[i]);
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

bool uprobes_mapped(pid_t pid, const char *name, char *path, size_t room)
{
	struct maps maps = {.from = maps_open(pid)};
	struct maps_row row;
	bool found = false;

	while (!found && maps_next(&maps, &row)) {
		found = row.path[0] == '/' && is_called(row.path, name);
		if (found)
			snprintf(path, room, "/proc/%d/root%s", (int)pid, row.path);
	}
	maps_close(&maps);
	return found;
}

static bool in_dirs(const char *dirs, const char *name, char *path)
{
	char file[PATH_MAX];
	size_t length;

	for (; dirs && *dirs; dirs += length + (dirs[length] == ':')) {
		length = strcspn(dirs, ":");
		if (length && snprintf(file, sizeof(file), "%.*s/%s", (int)length, dirs, name) < PATH_MAX &&
		    !access(file, R_OK) && realpath(file, path))
			return true;
	}
	return false;
}

/* A path as it is; a name is that of a file of the process, else a library or program of this system. */
static int find_file(pid_t pid, const char *name, char *path, struct grt_err *err)
{
	if (strchr(name, '/') && realpath(name, path))
		return 0;
	if (!strchr(name, '/') &&
	    ((pid && uprobes_mapped(pid, name, path, PATH_MAX)) ||
	     in_dirs(getenv("LD_LIBRARY_PATH"), name, path) ||
	     in_dirs("/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/usr/lib:/usr/local/lib:"
		     "/usr/local/cuda/lib64",
		     name, path) ||
	     in_dirs(getenv("PATH"), name, path)))
		return 0;
	return grt_err_set(err, -ENOENT,
			   strchr(name, '/')
				   ? strerror(errno)
				   : "no library or program of this name is where these are looked for",
			   "the whole path, which ldd PROG or /proc/PID/maps shows",
			   "cannot find %s for a uprobe", name);
}

/* ---------------------------------------------------------------- source */

/**
 * struct capture - the state of this source
 * @bpf: that of its programs
 */
struct capture {
	struct uprobes uprobes;
	void *bpf;
	void (*note)(const char *text);
};

/* LIB:SYMBOL; a symbol has no colon where it is no C++ name in full. */
static int add_word(struct capture *c, pid_t pid, const char *word, struct grt_err *err)
{
	const char *colon = strchr(word, ':');
	char name[PATH_MAX], path[PATH_MAX];
	int ret;

	if (!colon || colon == word || !colon[1])
		return grt_err_set(err, -EINVAL, "it is not LIB:SYMBOL",
				   "grtrace record -e uprobe:libc.so.6:malloc -- PROG",
				   "cannot put a uprobe at '%s'", word);
	snprintf(name, sizeof(name), "%.*s", (int)(colon - word), word);
	ret = find_file(pid, name, path, err);
	return ret ? ret : uprobes_add(&c->uprobes, path, colon + 1, GRT_CUDA_PROBED, err);
}

static int uprobe_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	const char *const *word = setup->uprobes;
	int ret = 0;

	*state = c;
	if (!c)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for uprobes");
	c->note = setup->note;
	for (; word && *word && !ret; word++)
		ret = add_word(c, setup->pid, *word, err);
	if (!ret && !c->uprobes.n)
		ret = grt_err_set(err, -EINVAL, "no function is named",
				  "grtrace record -e uprobe:libc.so.6:malloc -- PROG",
				  "cannot put uprobes anywhere");
	return ret ? ret : uprobes_open(&c->uprobes, "uprobe", &c->bpf, setup, err);
}

static int start(void *state, struct grt_err *err)
{
	return bpf_start(((struct capture *)state)->bpf, err);
}

static int confine(void *state, uint64_t *keep, struct grt_err *err)
{
	return bpf_confine(((struct capture *)state)->bpf, keep, err);
}

static unsigned int streams(void *state, struct pollfd *fds)
{
	return bpf_streams(((struct capture *)state)->bpf, fds);
}

static int flush(void *state, struct grt_err *err)
{
	return bpf_flush(((struct capture *)state)->bpf, err);
}

static ssize_t uprobe_read(void *state, unsigned int i, void *buf, size_t len)
{
	return bpf_read(((struct capture *)state)->bpf, i, buf, len);
}

static int stop(void *state, struct grt_err *err)
{
	return bpf_stop(((struct capture *)state)->bpf, err);
}

static int describe(void *state, struct grt_env *env, int room)
{
	return bpf_describe(((struct capture *)state)->bpf, env, room);
}

static int uprobe_close(void *state, struct grt_err *err)
{
	struct capture *c = state;

	if (!c)
		return 0;
	bpf_close(c->bpf, err);
	uprobes_free(&c->uprobes);
	free(c);
	return 0;
}

const struct source source_uprobe = {
	.name = "uprobe",
	.by_name = true,
	.open = uprobe_open,
	.start = start,
	.confine = confine,
	.streams = streams,
	.flush = flush,
	.read = uprobe_read,
	.stop = stop,
	.describe = describe,
	.close = uprobe_close,
};

#else /* !GRT_HAVE_BPF */

static int uprobe_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	return bpf_open(state, setup, NULL, err);
}

BPF_OPS(uprobe, true, NULL, uprobe_open);

#endif /* GRT_HAVE_BPF */
