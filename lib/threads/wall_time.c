// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The time of threads under their stacks, see wall_flame.h, as an analysis. A note that begins with spaces
 * continues the previous one.
 */
#include <inttypes.h>

#include "table/analysis.h"
#include "wall_flame.h"

static const struct grt_part wall_time_parts[] = {
	/* words of flame_shapes.def */
	{"wall", .where = GRT_PART_FLAME},
	{.name = NULL},
};

static int wall_time_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	return grt_wall_flame_new((struct grt_wall_flame **)state, pass->first, pass->slots,
				  pass->shape && pass->shape->compared);
}

/*
 * If a call returned after the requested time, nothing is known about its thread; GPU work that is reported
 * then may have run within that time.
 */
static int wall_time_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	bool beyond = e->time < pass->first || e->time > pass->last;

	return e->type == GRT_EV_LAUNCH && beyond ? 0 : grt_wall_flame_event(state, e);
}

static int wall_time_finish(void *state, struct grt_pass *pass)
{
	return grt_wall_flame_tree(state, pass->shape, pass->tree,
				   pass->shape->all ? GRT_STACKS_WALL : pass->side);
}

static void note_states(struct grt_notes *notes, const struct grt_wall_count *n)
{
	char text[256] = " ";
	int used = 1;

	for (unsigned int i = 0; i < GRT_THREAD_STATES && used < (int)sizeof(text); i++)
		if (n->ns[i])
			used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s %.3f ms",
					 used > 1 ? ", " : " ", grt_thread_state_name(i),
					 (double)n->ns[i] / 1e6);
	grt_note(notes, "%s", text);
}

static void wall_time_notes(void *state, struct grt_pass *pass)
{
	const struct grt_wall_count n = grt_wall_flame_count(state);
	struct grt_notes *notes = pass->notes;
	uint64_t ns = 0;

	for (unsigned int i = 0; i < GRT_THREAD_STATES; i++)
		ns += n.ns[i];
	if (pass->shape->all && !n.threads)
		return;
	grt_note(notes,
		 "%" PRIu64 " {thread|threads}, %.3f ms of {its|their} time, %" PRIu64 " {sample|samples}",
		 n.threads, (double)ns / 1e6, n.samples);
	if (!n.threads)
		return;
	note_states(notes, &n);
	if (n.not_sampled_ns)
		grt_note(notes, "  %.3f ms of threads that ran only between two samples: [not sampled]",
			 (double)n.not_sampled_ns / 1e6);
	if (n.gpu_work_ns)
		grt_note(
			notes,
			"  of the waits for the GPU, %.3f ms is under [gpu] and [polling], divided by what the GPU ran",
			(double)n.gpu_work_ns / 1e6);
	if (n.waits.late || n.waits.late_ns)
		grt_note(
			notes,
			"  %" PRIu64
			" {kernel, copy or job|kernels, copies and jobs}, and %.3f ms of waits, came after their time had been"
			" divided: some of it counts for [gpu] itself",
			n.waits.late, (double)n.waits.late_ns / 1e6);
	if (n.no_stack_ns)
		grt_note(notes, "  %.3f ms have no user stack", (double)n.no_stack_ns / 1e6);
	if (n.seen.lost)
		grt_note(notes, "  %" PRIu64 " off-CPU intervals are lost: the time around them is [unknown]",
			 n.seen.lost);
	if (n.seen.unseen)
		grt_note(
			notes,
			"  %" PRIu64
			" {return of threads to a CPU was|returns of threads to a CPU were} not reported by the kernel: {its|their} time is"
			" inferred from the time that the threads ran",
			n.seen.unseen);
	if (n.seen.unsure)
		grt_note(notes,
			 "  for %" PRIu64
			 " {wait|waits} it is unknown whether {it was|they were} for the GPU",
			 n.seen.unsure);
	if (n.seen.tracers)
		grt_note(notes, "  grtrace's own threads ran %.3f ms, which no sum includes",
			 (double)n.seen.tracer_ns / 1e6);
	if (n.seen.over)
		grt_note(notes,
			 "  %" PRIu64 " {record belongs|records belong} to threads beyond the first %u",
			 n.seen.over, GRT_THREADS_MAX);
	if (n.dropped)
		grt_note(notes,
			 "  %" PRIu64
			 " {frame of stacks beyond a limit is|frames of stacks beyond a limit are} missing",
			 n.dropped);
}

GRT_ANALYSIS_FREE(wall_time_free, grt_wall_flame_free)

const struct grt_analysis grt_analysis_wall_time = {
	.name = "wall_time",
	.classes = GRT_IN_CLASS(name) | GRT_IN_CLASS(stack) | GRT_IN_CLASS(image) | GRT_IN_CLASS(launch) |
		   GRT_IN_CLASS(thread) | GRT_IN_CLASS(job),
	.beyond = true,
	.late = true,
	.whole = true,
	.parts = wall_time_parts,
	.begin = wall_time_begin,
	.event = wall_time_event,
	.finish = wall_time_finish,
	.notes = wall_time_notes,
	.free = wall_time_free,
};
