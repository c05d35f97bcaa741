// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A stack shows where a launch was made, and not what took the time before it. The stacks of the launches
 * before and after that time have their outer frames in common, so the code in question runs between the two
 * lines at which they diverge.
 */
#include "step_code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codes/cuda_codes.h"
#include "stack/own_code.h"

/*
 * Most frames of the program's own that are compared, and most calls that are examined to find one of the
 * same thread.
 */
#define OWN_MAX 256U
#define LOOK_BACK 4096U

/* ---------------------------------------------------------------- quiet */

static void consider(struct grt_step_quiet *q, uint64_t from, uint64_t to, uint32_t after, bool in_call)
{
	if (to > from && to - from > q->ns)
		*q = (struct grt_step_quiet){to - from, UINT32_MAX, after, in_call};
}

static void find_before(const struct grt_step_process *p, struct grt_step_quiet *q)
{
	uint32_t i = q->after;

	for (uint32_t n = 0; i-- > 0 && n < LOOK_BACK; n++)
		if (p->call[i].tid == p->call[q->after].tid) {
			q->before = i;
			return;
		}
}

bool grt_step_quiet(const struct grt_step_process *p, uint64_t from, uint64_t to, struct grt_step_quiet *out)
{
	uint32_t i = grt_step_log_first_call(p, from), back = i < LOOK_BACK ? i : LOOK_BACK;
	uint64_t reached = from;

	*out = (struct grt_step_quiet){.before = UINT32_MAX, .after = UINT32_MAX};
	/* calls that had begun before and had not returned */
	for (i -= back; i < p->calls && p->call[i].begin <= to; i++) {
		const struct grt_step_call *c = &p->call[i];

		if (c->end <= from)
			continue;
		consider(out, reached, c->begin, i, false);
		consider(out, c->begin < from ? from : c->begin, c->end < to ? c->end : to, i, true);
		reached = c->end > reached ? c->end : reached;
	}
	if (out->after == UINT32_MAX)
		return false;
	find_before(p, out);
	return true;
}

/* ----------------------------------------------------------------- code */

static bool is_own(const char *file)
{
	return file && grt_code_of(&(struct grt_code_frame){.source = file}) == GRT_CODE_OWN;
}

/** struct own - the frames of Python of the program's own code, innermost first */
struct own {
	const struct grt_image_node *frame[OWN_MAX];
	uint32_t n;
};

static void find_own(struct own *o, const struct grt_image *i, uint32_t node)
{
	const struct grt_image_node *n = grt_image_node(i, node);

	o->n = 0;
	for (; n && o->n < OWN_MAX; n = grt_image_node(i, n->caller))
		if (is_own(grt_image_string(i, n->file)))
			o->frame[o->n++] = n;
}

static bool is_same_line(const struct grt_image_node *a, const struct grt_image_node *b)
{
	return a->function == b->function && a->file == b->file && a->line == b->line;
}

/* The outermost frames in which two stacks differ. */
static void find_divergence(const struct own *a, const struct own *b, const struct grt_image_node **x,
			    const struct grt_image_node **y)
{
	uint32_t i = a->n, k = b->n;

	while (i > 1 && k > 1 && is_same_line(a->frame[i - 1], b->frame[k - 1])) {
		i--;
		k--;
	}
	*x = i ? a->frame[i - 1] : NULL;
	*y = k ? b->frame[k - 1] : NULL;
}

static const char *base_of(const char *path)
{
	const char *base = strrchr(path, '/');

	return base ? base + 1 : path;
}

static int put_lines(const struct grt_image *i, const struct grt_image_node *before,
		     const struct grt_image_node *after, bool in_call, char **out)
{
	const char *function = grt_image_string(i, after->function) ?: "?";
	const char *file = base_of(grt_image_string(i, after->file));
	int n;

	if (before && !is_same_line(before, after) && !in_call)
		n = asprintf(out, "code between %.60s:%u and %.60s:%u (%.60s)",
			     base_of(grt_image_string(i, before->file)), before->line, file, after->line,
			     function);
	else
		n = asprintf(out, "%s %.60s:%u (%.60s)", in_call ? "at" : "code before", file, after->line,
			     function);
	return n < 0 ? -ENOMEM : 0;
}

/* Writes the innermost functions of the launch if no line is known. */
static int put_functions(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, bool in_call,
			 char **out)
{
	char *brief = NULL;
	int ret = node ? grt_image_frames_brief(f, i, node, &brief) : 0;

	if (!ret && asprintf(out, "%s%s%.400s", in_call ? "" : "code before a launch ", brief ? "in " : "",
			     brief ? brief : "") < 0)
		ret = -ENOMEM;
	free(brief);
	return ret;
}

int grt_step_code(struct grt_image_frames *f, const struct grt_step_process *p,
		  const struct grt_step_quiet *q, char **out)
{
	const struct grt_image_node *x = NULL, *y = NULL;
	const struct grt_step_call *after = &p->call[q->after];
	const struct grt_cuda_call *row = grt_cuda_call(after->call);
	struct own before_own = {.n = 0}, own;
	char *where = NULL;
	int ret;

	find_own(&own, p->image, after->node);
	if (q->before != UINT32_MAX)
		find_own(&before_own, p->image, p->call[q->before].node);
	find_divergence(&before_own, &own, &x, &y);
	ret = y ? put_lines(p->image, x, q->in_call ? own.frame[0] : y, q->in_call, &where)
		: put_functions(f, p->image, after->node, q->in_call, &where);
	if (ret || !q->in_call) {
		*out = where;
		return ret;
	}
	ret = asprintf(out, "%s %s", row ? row->name : "a call", where) < 0 ? -ENOMEM : 0;
	free(where);
	return ret;
}
