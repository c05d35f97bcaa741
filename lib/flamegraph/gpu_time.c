// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Each event goes to the part for jobs or to that for CUDA's launches. The analysis adds notes; one that
 * begins with spaces belongs to the one before it.
 */
#include "gpu_time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/containers.h"
#include "stack/symbols.h"
#include "table/analysis.h"
#include "trace/packet.h"

/* Number of untraced processes whose reason has a note. */
#define WHYS_SHOWN 6U

/* Most processes whose control group is known. */
#define CGROUPS_MAX 65536U

/**
 * struct grt_gpu_time - @jobs: NULL before the first event about them: a trace of CUDA has none
 * @cgroups: by pid, number of its path in @cgroup
 */
struct grt_gpu_time {
	struct grt_job_flame *jobs;
	struct grt_launch_flame *launches;
	const struct grt_filter *filter;
	struct grt_slots *slots;
	struct grt_interval within;
	struct grt_keyed cgroups;
	struct grt_texts cgroup;
};

int grt_gpu_time_new(struct grt_gpu_time **out)
{
	struct grt_gpu_time *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return -ENOMEM;
	f->within.to = UINT64_MAX;
	grt_keyed_init(&f->cgroups, sizeof(uint32_t), CGROUPS_MAX);
	grt_texts_init(&f->cgroup, CGROUPS_MAX);
	if (!grt_launch_flame_new(&f->launches))
		return 0;
	grt_gpu_time_free(f);
	*out = NULL;
	return -ENOMEM;
}

void grt_gpu_time_filter(struct grt_gpu_time *f, const struct grt_filter *filter)
{
	f->filter = filter;
}

void grt_gpu_time_within(struct grt_gpu_time *f, uint64_t from, uint64_t to)
{
	f->within = (struct grt_interval){from, to ?: UINT64_MAX};
	grt_launch_flame_within(f->launches, from, to);
}

/* Sets a process's control group; a former group of the process is forgotten. */
static __attribute__((noinline)) int gpu_time_take_owner(struct grt_gpu_time *f, const struct grt_ev_owner *e)
{
	const struct grt_key key = {{e->e.pid}};
	uint32_t number;
	void *at;
	int ret = e->length ? grt_keyed_get_or_replace(&f->cgroups, &key, NULL, &at) : 1;

	if (!ret)
		ret = grt_texts_add(&f->cgroup, e->cgroup, sizeof(e->cgroup), &number);
	if (!ret)
		*(uint32_t *)at = number;
	return ret > 0 ? 0 : ret;
}

static const char *gpu_time_cgroup(const void *cgroups, uint32_t pid)
{
	const struct grt_gpu_time *f = cgroups;
	const struct grt_key key = {{pid}};
	const uint32_t *number = grt_keyed_find(&f->cgroups, &key);

	return number && *number ? grt_texts_get(&f->cgroup, *number) : NULL;
}

static __attribute__((noinline)) int gpu_time_begin_jobs(struct grt_gpu_time *f)
{
	int ret = grt_job_flame_new(&f->jobs, f->filter, f->slots);

	if (!ret)
		grt_job_flame_within(f->jobs, f->within.from, f->within.to);
	return ret;
}

int grt_gpu_time_event(struct grt_gpu_time *f, const struct grt_event *e)
{
	if (grt_has_trait(e, GRT_TRAIT_OF_IMAGE))
		return grt_launch_flame_event(f->launches, e);
	if (e->type == GRT_EV_OWNER)
		return gpu_time_take_owner(f, (const struct grt_ev_owner *)e);
	if (!f->jobs && gpu_time_begin_jobs(f))
		return -ENOMEM;
	return grt_job_flame_event(f->jobs, e);
}

int grt_gpu_time_flush(struct grt_gpu_time *f)
{
	int ret = f->jobs ? grt_job_flame_flush(f->jobs) : 0;

	return ret ?: grt_launch_flame_flush(f->launches);
}

bool grt_gpu_time_windows(struct grt_gpu_time *f, struct grt_estimate_watched *watched,
			  struct grt_estimate *total)
{
	return f->jobs && grt_job_flame_windows(f->jobs, watched, total);
}

int grt_gpu_time_tree(struct grt_gpu_time *f, const struct grt_flame_shape *asked, struct grt_stacks *tree,
		      enum grt_stacks_side side)
{
	struct grt_flame_shape own = *asked, *shape = &own;
	bool bytes = shape->weight == GRT_FLAME_WEIGHT_BYTES, sampled = grt_flame_is_sampled(shape), jobs;
	struct grt_process_names processes;
	struct grt_launches_count launched;
	uint64_t unsized;
	int ret = grt_process_names_init(&processes, shape->compared);

	own.cgroup = gpu_time_cgroup;
	own.cgroups = f;
	if (!ret)
		ret = grt_gpu_time_flush(f) ?: grt_launch_flame_processes(f->launches, &processes);
	if (!ret && f->jobs)
		ret = grt_job_flame_processes(f->jobs, &processes);
	if (!ret)
		ret = grt_launch_flame_tree(f->launches, shape, &processes, tree, side);
	jobs = f->jobs && grt_job_flame_any(f->jobs);
	launched = grt_launch_flame_count(f->launches);
	unsized = grt_launch_flame_unsized(f->launches);
	if (!ret && bytes && unsized && unsized == launched.copies)
		ret = -ENODATA;
	if (!ret && bytes && jobs && !launched.launches && !launched.copies)
		ret = -ENODATA;
	if (!ret && sampled && !grt_launch_flame_sampled(f->launches).samples)
		ret = -ENODATA;
	if (!ret && jobs && !bytes && !sampled)
		ret = grt_job_flame_tree(f->jobs, shape, &processes, tree, side);
	grt_process_names_free(&processes);
	return ret;
}

struct grt_job_flame_count grt_gpu_time_count(const struct grt_gpu_time *f)
{
	return f->jobs ? grt_job_flame_count(f->jobs) : (struct grt_job_flame_count){.jobs = 0};
}

int grt_gpu_time_ends(const struct grt_gpu_time *f, struct grt_stack_ends *ends)
{
	*ends = (struct grt_stack_ends){.none = {0, 0}};
	if (f->jobs)
		grt_job_flame_ends(f->jobs, ends);
	return grt_launch_flame_ends(f->launches, ends);
}

const struct grt_launch_flame *grt_gpu_time_launches(const struct grt_gpu_time *f)
{
	return f->launches;
}

void grt_gpu_time_free(struct grt_gpu_time *f)
{
	if (!f)
		return;
	if (f->jobs)
		grt_job_flame_free(f->jobs);
	grt_launch_flame_free(f->launches);
	grt_keyed_free(&f->cgroups);
	grt_texts_free(&f->cgroup);
	free(f);
}

/* -------------------------------------------------------------- analysis */

static const struct grt_part gpu_time_parts[] = {
	/* words of flame_shapes.def */
	{"time", .where = GRT_PART_FLAME},   {"launches", .where = GRT_PART_FLAME},
	{"bytes", .where = GRT_PART_FLAME},  {"samples", .where = GRT_PART_FLAME},
	{"stalls", .where = GRT_PART_FLAME}, {.name = NULL},
};

static int gpu_time_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct grt_gpu_time *f;
	int ret = grt_gpu_time_new(&f);

	if (!ret) {
		grt_gpu_time_within(f, pass->first, pass->last);
		grt_gpu_time_filter(f, pass->filter);
		f->slots = pass->slots;
		grt_launch_flame_slots(f->launches, pass->slots);
		if (pass->shape)
			grt_launch_flame_ranges(f->launches, pass->shape->ranges);
		if (pass->shape && grt_flame_is_sampled(pass->shape))
			ret = grt_launch_flame_samples(f->launches);
	}
	*state = f;
	return ret;
}

GRT_ANALYSIS_EVENT(gpu_time_event, grt_gpu_time_event)

static int gpu_time_finish(void *state, struct grt_pass *pass)
{
	int ret = grt_gpu_time_tree(state, pass->shape, pass->tree, pass->side);
	struct grt_estimate_watched watched;
	struct grt_estimate total;

	pass->estimated |= !ret && grt_gpu_time_windows(state, &watched, &total);
	/* samples are not scaled up from windows */
	if (pass->shape && grt_flame_is_sampled(pass->shape))
		pass->estimated |= grt_launch_flame_sampled(grt_gpu_time_launches(state)).inferred > 0;
	else
		pass->estimated |= grt_launch_flame_estimated(grt_gpu_time_launches(state)).processes > 0;
	return ret;
}

/* ----------------------------------------------------------------- notes */

static double gpu_time_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* A share in percent; 100.00 only for the whole. */
static double percent_down(uint64_t part, uint64_t whole)
{
	return whole ? (double)(uint64_t)((unsigned __int128)part * 10000 / whole) / 100 : 0;
}

static void note_reasons(struct grt_notes *notes, const struct grt_launch_flame *f)
{
	const char *why;
	uint32_t n = 0;

	for (; (why = grt_launch_flame_why(f, n)); n++)
		if (n < WHYS_SHOWN)
			grt_note(notes, "  %s", why);
	if (n > WHYS_SHOWN)
		grt_note(notes, "  %" PRIu32 " {more process was|more processes were} not traced",
			 n - WHYS_SHOWN);
}

void grt_gpu_time_note_estimated(struct grt_notes *notes, const struct grt_launch_flame *f)
{
	struct grt_launch_estimated e = grt_launch_flame_estimated(f);
	char interval[96] = "no interval: it needs one process and 10 windows";

	if (!e.processes)
		return;
	if (e.total.interval)
		snprintf(interval, sizeof(interval), "95 %% interval %.3f to %.3f ms",
			 (double)e.total.low / 1e6, (double)e.total.high / 1e6);
	grt_note(notes,
		 "weights are estimated for the whole recording, from %" PRIu32
		 " random {window|windows}, %.1f s of %.1f s (%.2f %%): ~%.3f ms of GPU time, %s",
		 e.windows, (double)e.watched / 1e9, (double)e.of / 1e9,
		 e.of ? 100.0 * (double)e.watched / (double)e.of : 0, (double)e.total.value / 1e6, interval);
	if (e.beside)
		grt_note(
			notes,
			"  %" PRIu64
			" {kernel or copy was|kernels and copies were} launched just before or after a window: not included",
			e.beside);
}

static void note_missing(struct grt_notes *notes, const struct grt_launches_count *n)
{
	if (n->by_gpu)
		grt_note(notes,
			 "  %" PRIu64 " {kernel was|kernels were} launched by kernels: [device launch]",
			 n->by_gpu);
	if (n->unknown)
		grt_note(notes,
			 "  the launch of %" PRIu64
			 " {kernel or copy|kernels and copies} is not in the trace: [unmatched]",
			 n->unknown);
	if (n->nothing)
		grt_note(notes,
			 "  %" PRIu64
			 " {launch has|launches have} no kernel in the trace: [GPU_Launch_Pending], no time",
			 n->nothing);
	if (n->open || n->no_stamps)
		grt_note(notes,
			 "  %" PRIu64 " had not ended and %" PRIu64
			 " {has|have} no time stamps: {its|their} time is not counted",
			 n->open, n->no_stamps);
	if (n->launches_lost || n->gpu_lost)
		grt_note(notes,
			 "  lost: %" PRIu64 " {launch|launches}, %" PRIu64 " {record|records} of the GPU",
			 n->launches_lost, n->gpu_lost);
	if (n->no_end)
		grt_note(
			notes,
			"  %" PRIu64
			" {process|processes} ended without a final write: {its|their} last events may be missing",
			n->no_end);
}

static void note_symbols(struct grt_notes *notes, const struct grt_symbols_count *n)
{
	if (n->unnamed)
		grt_note(notes,
			 "  %" PRIu64 " of %" PRIu64 " {address has|addresses have} no function (of %" PRIu64
			 " {file|files}, %" PRIu64 " not found, %" PRIu64 " changed since)",
			 n->unnamed, n->asked, n->objects, n->missing - n->other, n->other);
	if (n->asked && !grt_symbols_can())
		grt_note(notes, "  this grtrace was built without elfutils: functions have no names");
}

static void gpu_time_note_samples(struct grt_notes *notes, const struct grt_sampled *s)
{
	grt_note(notes,
		 "%" PRIu64 " {PC sample|PC samples}; %" PRIu64
		 " more in kernels that do not belong to the program, %" PRIu64 " dropped by the hardware",
		 s->samples, s->other, s->dropped);
	grt_pc_samples_note_windows(&s->windows, notes);
	if (s->exact)
		grt_note(notes, "  %.1f %% belong to a launch that CUPTI names: kernels were serialized",
			 gpu_time_percent(s->exact, s->samples));
	if (s->inferred)
		grt_note(
			notes,
			"  %.1f %% belong to kernels that several stacks launched: inferred, divided by the time of "
			"these kernels",
			gpu_time_percent(s->inferred, s->samples));
	if (s->unmatched)
		grt_note(notes,
			 "  %" PRIu64
			 " are in functions that are not kernels with a time in the trace: [unmatched]",
			 s->unmatched);
	if (s->full)
		grt_note(notes,
			 "  the hardware's buffer was full in %" PRIu64
			 " {context|contexts}: later samples are lost",
			 s->full);
	if (s->over)
		grt_note(notes, "  %" PRIu64 " are missing, because there was no room", s->over);
}

static uint64_t estimated_beside(const struct grt_launch_flame *f, uint64_t most)
{
	uint64_t beside = grt_launch_flame_estimated(f).beside;

	return beside < most ? beside : most;
}

/* Return: whether the trace has anything about CUDA */
static bool note_launches(struct grt_notes *notes, const struct grt_launch_flame *f)
{
	struct grt_launches_count n = grt_launch_flame_count(f);
	uint64_t work = n.kernels + n.copies;

	note_reasons(notes, f);
	if (n.undefined)
		grt_note(
			notes,
			"  %" PRIu64
			" {definition of stacks and names was|definitions of stacks and names were} invalid or lost",
			n.undefined);
	if (!work && !n.launches)
		return false;
	grt_note(notes,
		 "%" PRIu64 " {kernel|kernels} and %" PRIu64 " {copy|copies}, %.3f ms of GPU time; %" PRIu64
		 " (%.2f %%) under the stack of their launch",
		 n.kernels, n.copies, (double)(n.kernel_ns + n.copy_ns) / 1e6, n.with_stack,
		 percent_down(n.with_stack, work));
	if (n.stack_cut || n.stack_none)
		grt_note(notes,
			 "  %" PRIu64
			 " {stack does|stacks do} not reach the start of {its|their} thread, %" PRIu64
			 " {stack has|stacks have} no frame",
			 n.stack_cut, n.stack_none);
	if (n.probed)
		grt_note(
			notes,
			"  %" PRIu64
			" {call of probed functions has|calls of probed functions have} no GPU time: show {it|them} with --weight launches",
			n.probed);
	if (!grt_launch_flame_sampled(f).samples)
		grt_gpu_time_note_estimated(notes, f);
	n.unknown -= estimated_beside(f, n.unknown);
	note_missing(notes, &n);
	note_symbols(notes, grt_launch_flame_symbols(f));
	return true;
}

static void note_jobs(struct grt_notes *notes, const struct grt_job_flame_count *n)
{
	grt_note(notes, "%" PRIu64 " {job|jobs}, %.3f ms of GPU time, %.1f %% of it under a stack", n->jobs,
		 (double)n->ns / 1e6, n->ns ? 100 - gpu_time_percent(n->no_stack_ns, n->ns) : 0);
	if (n->sampled)
		grt_note(notes, "  jobs were sampled: counts and times are estimates for all jobs");
	if (n->inferred_ns)
		grt_note(notes,
			 "  the start of %.1f %% is inferred from the order of the ring's jobs, not observed",
			 gpu_time_percent(n->inferred_ns, n->ns));
	if (n->untimed)
		grt_note(notes,
			 "  %" PRIu64 " {job is|jobs are} left out: {its|their} time on the GPU is unknown",
			 n->untimed);
	if (n->call_only)
		grt_note(
			notes,
			"  %" PRIu64
			" {job has|jobs have} a stack that ends in the C library's ioctl: not counted as under a stack",
			n->call_only);
	if (n->lost_stack)
		grt_note(notes,
			 "  %" PRIu64
			 " {job has|jobs have} a stack that is not in the trace, or has too many frames",
			 n->lost_stack);
	if (n->dropped)
		grt_note(notes,
			 "  %" PRIu64 " {frame|frames} of stacks missing: they are beyond the first %u",
			 n->dropped, GRT_FRAMES_STACKS_MAX);
	if (n->jobs && n->no_stack == n->jobs)
		grt_note(notes, "  try: grtrace record --stack=bpf, which records the stack of each submit");
}

static void note_windows(struct grt_notes *notes, struct grt_gpu_time *f)
{
	struct grt_estimate_watched w;
	struct grt_estimate total;
	char interval[96] = "no interval: it needs 10 windows, and jobs in 5 of them";

	if (!grt_gpu_time_windows(f, &w, &total))
		return;
	if (total.interval)
		snprintf(interval, sizeof(interval), "95 %% interval %.3f to %.3f ms",
			 (double)total.low / 1e6, (double)total.high / 1e6);
	grt_note(notes,
		 "weights of jobs are estimated for the whole recording, from %" PRIu32
		 " random {window|windows}, %.1f s of %.1f s: ~%.3f ms of GPU time, %s",
		 w.windows, (double)w.watched / 1e9, (double)w.of / 1e9, (double)total.value / 1e6, interval);
	if (w.beside)
		grt_note(notes,
			 "  %" PRIu64
			 " {job was|jobs were} submitted just before or after a window: not included",
			 w.beside);
}

/* A share in tenths of a percent; 100.0 only for the whole. */
static double gpu_time_tenths(uint64_t part, uint64_t whole)
{
	return whole ? (double)(uint64_t)((unsigned __int128)part * 1000 / whole) / 10 : 0;
}

static void note_end(struct grt_notes *notes, const struct grt_stack_end_sum *sum, uint64_t ns,
		     const char *name, const char *help)
{
	if (sum->works)
		grt_note(notes,
			 "  %.1f %%, of %" PRIu64 " {job, kernel or copy|jobs, kernels and copies}: %s: %s",
			 gpu_time_percent(sum->ns, ns), sum->works, name, help);
}

static void note_ends(struct grt_pass *pass, const struct grt_gpu_time *f)
{
	struct grt_stack_ends ends;
	uint64_t ns;

	if (grt_gpu_time_ends(f, &ends))
		return;
	ns = grt_stack_ends_ns(&ends);
	if (!ns)
		return;
	grt_note(pass->notes, "%.1f %% of GPU time under a stack that reaches the program's entry",
		 gpu_time_tenths(ends.end[GRT_STACK_END_ENTRY].ns, ns));
	for (unsigned int i = 0; i < GRT_STACK_ENDS && pass->verbose; i++)
		if (i != GRT_STACK_END_ENTRY)
			note_end(pass->notes, &ends.end[i], ns, grt_stack_end_name(i), grt_stack_end_help(i));
	if (pass->verbose)
		note_end(pass->notes, &ends.none, ns, "no stack",
			 "no stack was recorded, or it has only the system call");
}

/* Adds notes about what the picture does not show. */
static void gpu_time_notes(void *state, struct grt_pass *pass)
{
	struct grt_sampled sampled = grt_launch_flame_sampled(grt_gpu_time_launches(state));
	struct grt_job_flame_count n = grt_gpu_time_count(state);
	uint64_t unsized = grt_launch_flame_unsized(grt_gpu_time_launches(state));

	if (sampled.samples)
		gpu_time_note_samples(pass->notes, &sampled);
	if (!note_launches(pass->notes, grt_gpu_time_launches(state)) || n.jobs || n.untimed)
		note_jobs(pass->notes, &n);
	note_windows(pass->notes, state);
	note_ends(pass, state);
	if (pass->shape && pass->shape->weight == GRT_FLAME_WEIGHT_BYTES && unsized)
		grt_note(pass->notes,
			 "the size of %" PRIu64
			 " {copy or fill|copies and fills} is unknown: {it has|they have} no weight here",
			 unsized);
}

GRT_ANALYSIS_FREE(gpu_time_free, grt_gpu_time_free)

const struct grt_analysis grt_analysis_gpu_time = {
	.name = "gpu_time",
	.classes = GRT_IN_CLASS(job) | GRT_IN_CLASS(wait) | GRT_IN_CLASS(error) | GRT_IN_CLASS(command) |
		   GRT_IN_CLASS(name) | GRT_IN_CLASS(stack) | GRT_IN_CLASS(image) | GRT_IN_CLASS(launch) |
		   GRT_IN_CLASS(owner) | GRT_IN_CLASS(window),
	.beyond = true,
	.late = true,
	.whole = true,
	.parts = gpu_time_parts,
	.begin = gpu_time_begin,
	.event = gpu_time_event,
	.finish = gpu_time_finish,
	.notes = gpu_time_notes,
	.free = gpu_time_free,
};
