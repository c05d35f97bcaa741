// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace flame --weight wall: where the time of threads went.
 */
#include <errno.h>
#include <string.h>

#include "flame_wall.h"

/** struct wall - the consumer */
struct wall {
	struct grt_consumer c;
	struct grt_wall_flame *flame;
};

static int flame_wall_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	(void)cpu;
	return grt_wall_flame_event(((struct wall *)c)->flame, e);
}

static void tell_states(const struct grt_wall_count *n)
{
	const char *between = "  ";

	for (unsigned int i = 0; i < GRT_THREAD_STATES; i++) {
		if (!n->ns[i])
			continue;
		fprintf(stderr, "%s%s %.3f ms", between, grt_thread_state_name(i), (double)n->ns[i] / 1e6);
		between = ", ";
	}
	fputc('\n', stderr);
}

static void flame_wall_tell(const struct grt_wall_count *n)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < GRT_THREAD_STATES; i++)
		ns += n->ns[i];
	fprintf(stderr, "grtrace flame: %llu threads, %.3f ms of their time, %llu samples\n",
		(unsigned long long)n->threads, (double)ns / 1e6, (unsigned long long)n->samples);
	if (!n->threads) {
		fputs("  try: grtrace record -e sched -- PROG, which follows threads\n", stderr);
		return;
	}
	tell_states(n);
	if (n->not_sampled_ns)
		fprintf(stderr, "  %.3f ms of threads that ran only between two samples: [not sampled]\n",
			(double)n->not_sampled_ns / 1e6);
	if (n->no_stack_ns)
		fprintf(stderr, "  %.3f ms have no user stack\n", (double)n->no_stack_ns / 1e6);
	if (n->seen.lost)
		fprintf(stderr, "  %llu off-CPU intervals are lost: the time around them is [unknown]\n",
			(unsigned long long)n->seen.lost);
	if (n->seen.unsure)
		fprintf(stderr, "  for %llu waits it is unknown whether they were for the GPU\n",
			(unsigned long long)n->seen.unsure);
	if (n->seen.over)
		fprintf(stderr, "  %llu records are of threads beyond the first %u\n",
			(unsigned long long)n->seen.over, GRT_THREADS_MAX);
	if (n->dropped)
		fprintf(stderr, "  %llu frames of stacks beyond a limit are missing\n",
			(unsigned long long)n->dropped);
}

static int check_shape(const struct grt_flame_shape *shape)
{
	if (shape->only)
		return cmd_usage_error("--only selects GPU work: it does not work with --weight wall");
	if (shape->by && shape->by != GRT_FLAME_BY_PROCESS && shape->by != GRT_FLAME_BY_THREAD)
		return cmd_usage_error("--by %s: --weight wall has process and thread",
				       grt_flame_by_words[shape->by - 1]);
	return EXIT_DONE;
}

/* What was read before a fault is shown, and then the fault. */
static int flame_wall_take_events(struct wall *w, struct grt_session *s, const char *path, bool from, bool to,
				  const struct reading_span *span, const struct grt_flame_shape *shape,
				  struct grt_stacks *tree, enum grt_stacks_side side)
{
	struct grt_wall_count n;
	struct grt_err err = {0};
	int ret = grt_session_run(s, &w->c, from ? span->first : 0, to ? span->last : UINT64_MAX, &err);
	int code = ret < 0 ? 0 : grt_wall_flame_tree(w->flame, shape->by, tree, side);

	if (code)
		return cmd_fail(EXIT_FAILED,
				code == -EOVERFLOW ? "the sum of its times is more than 2^63 ns"
						   : strerror(-code),
				NULL, "%s: cannot add up", path);
	n = grt_wall_flame_count(w->flame);
	if (ret >= 0)
		flame_wall_tell(&n);
	return reading_faults(s, path, 0, ret, &err);
}

int flame_wall(struct grt_session *s, const char *path, const struct opt_time *from,
	       const struct opt_time *to, const struct grt_flame_shape *shape, struct grt_stacks *tree,
	       enum grt_stacks_side side)
{
	struct wall w = {.c = {.event = flame_wall_on_event, .beyond = flame_wall_on_event}};
	struct reading_span span;
	int status = check_shape(shape);

	if (status == EXIT_DONE)
		status = reading_span(s, from, to, &span);
	if (status != EXIT_DONE)
		return status;
	if (grt_wall_flame_new(&w.flame, from->set ? span.first : 0))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	status = flame_wall_take_events(&w, s, path, from->set, to->set, &span, shape, tree, side);
	grt_wall_flame_free(w.flame);
	return status;
}
