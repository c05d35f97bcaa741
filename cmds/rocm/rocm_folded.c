// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace rocm report --folded: calls of the runtime's interface as folded stacks, weighted by their own
 * time, which `grtrace flame` draws. A stack is the process and the nested calls of one of its threads; calls
 * without an end are left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/containers.h"
#include "base/say.h"
#include "cmds/outfile.h"
#include "rocm.h"

#define DEPTH_MAX 8U
#define THREADS_MAX 8192U
#define STACKS_MAX 16384U
#define NAME_ROOM (sizeof(((struct grt_ev_log_call *)0)->function))

/**
 * struct frame - a call in which a thread is
 * @inner: time in calls within it, ns
 */
struct frame {
	char name[NAME_ROOM + 1];
	uint64_t since;
	uint64_t inner;
};

/**
 * struct thread - a thread of the log
 * @depth: number of open calls, including those that have no @frame
 */
struct thread {
	struct frame frame[DEPTH_MAX];
	unsigned int depth;
};

/**
 * struct stack
 * @ns: time of its innermost call alone
 */
struct stack {
	char text[(NAME_ROOM + 1) * DEPTH_MAX + 32];
	uint64_t ns;
};

struct rocm_folded {
	struct grt_keyed threads; /* struct thread by pid and the log's name of it */
	struct grt_keyed stacks;  /* struct stack by hash of its text */
	uint64_t over;
};

struct rocm_folded *rocm_folded_new(void)
{
	struct rocm_folded *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	grt_keyed_init(&f->threads, sizeof(struct thread), THREADS_MAX);
	grt_keyed_init(&f->stacks, sizeof(struct stack), STACKS_MAX);
	return f;
}

void rocm_folded_free(struct rocm_folded *f)
{
	if (!f)
		return;
	grt_keyed_free(&f->threads);
	grt_keyed_free(&f->stacks);
	free(f);
}

/* Frames are separated by ; and a stack from its weight by a blank. */
static void rocm_folded_set_name(struct frame *f, const char *name)
{
	size_t len = strnlen(name, NAME_ROOM);

	memcpy(f->name, name, len);
	f->name[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)f->name[i] <= ' ' || f->name[i] == ';' || f->name[i] == 0x7f)
			f->name[i] = '_';
}

static int rocm_folded_add(struct rocm_folded *f, uint32_t pid, const struct thread *t, uint64_t ns)
{
	struct stack s = {.ns = ns}, *to;
	struct grt_key key = {{0, 0, 0, 0}};
	size_t used = (size_t)snprintf(s.text, sizeof(s.text), "process %u", pid);
	int ret;

	for (unsigned int i = 0; i < t->depth; i++)
		used += (size_t)snprintf(s.text + used, sizeof(s.text) - used, ";%s", t->frame[i].name);
	key.w[0] = grt_fnv(GRT_FNV_START, s.text, used);
	ret = grt_keyed_get(&f->stacks, &key, (void **)&to);
	if (ret) {
		f->over += ret == -ENOSPC;
		return ret == -ENOSPC ? 0 : ret;
	}
	if (!to->text[0])
		memcpy(to->text, s.text, sizeof(s.text));
	to->ns += ns;
	return 0;
}

static void rocm_folded_enter(struct thread *t, const struct grt_ev_log_call *x)
{
	struct frame *f = &t->frame[t->depth];

	if (t->depth++ >= DEPTH_MAX)
		return;
	rocm_folded_set_name(f, x->function);
	f->since = x->e.time;
	f->inner = 0;
}

static int rocm_folded_leave(struct rocm_folded *f, struct thread *t, const struct grt_ev_log_call *x)
{
	struct frame of;
	unsigned int at = t->depth < DEPTH_MAX ? t->depth : DEPTH_MAX;
	uint64_t took;
	int ret;

	rocm_folded_set_name(&of, x->function);
	if (t->depth > DEPTH_MAX) {
		t->depth--;
		return 0;
	}
	while (at && strcmp(t->frame[at - 1].name, of.name) != 0)
		at--;
	/* its entry is not in the log */
	if (!at)
		return 0;
	t->depth = at;
	took = x->e.time > t->frame[at - 1].since ? x->e.time - t->frame[at - 1].since : 0;
	ret = rocm_folded_add(f, x->e.pid, t,
			      took > t->frame[at - 1].inner ? took - t->frame[at - 1].inner : 0);
	t->depth--;
	if (t->depth)
		t->frame[t->depth - 1].inner += took;
	return ret;
}

int rocm_folded_event(struct rocm_folded *f, const struct grt_event *e)
{
	const struct grt_ev_log_call *x = (const struct grt_ev_log_call *)e;
	struct grt_key key = {{0, 0, 0, 0}};
	struct thread *t;
	int ret;

	if (e->type != GRT_EV_LOG_CALL)
		return 0;
	key.w[0] = e->pid;
	key.w[1] = x->thread;
	ret = grt_keyed_get(&f->threads, &key, (void **)&t);
	if (ret) {
		f->over += ret == -ENOSPC;
		return ret == -ENOSPC ? 0 : ret;
	}
	if (x->step != GRT_CALL_ENTERED)
		return rocm_folded_leave(f, t, x);
	rocm_folded_enter(t, x);
	return 0;
}

int rocm_folded_write(const struct rocm_folded *f, const char *path)
{
	struct grt_err err = {.what = ""};
	struct outfile out;
	const struct stack *s;
	FILE *file;

	if (outfile_open(&out, path, &err))
		return cmd_error(EXIT_FAILED, &err);
	file = fdopen(dup(out.fd), "w");
	for (s = grt_keyed_oldest(&f->stacks); file && s; s = grt_keyed_next(&f->stacks, s))
		fprintf(file, "%s %" PRIu64 "\n", s->text, s->ns);
	if (!file || fclose(file) || outfile_keep(&out, &err)) {
		outfile_drop(&out);
		return cmd_fail(EXIT_FAILED, strerror(errno), NULL, "cannot write %s", path);
	}
	if (f->over)
		grt_say(stderr,
			"grtrace rocm report: %" PRIu64
			" {call is|calls are} in no stack, because there are too many\n",
			f->over);
	return EXIT_DONE;
}
