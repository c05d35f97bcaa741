// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The parts of a step come from one walk over a device's work in the order of its starts: for each class it
 * is known until when some of its work runs.
 */
#include "steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"
#include "base/containers.h"
#include "base/units.h"
#include "step_code.h"

/* Most devices of a process. */
#define GPUS_MAX 64U

struct grt_steps {
	struct grt_step_log *log;
	struct grt_image_frames *frames;
	struct grt_rank_threads *threads;
	struct grt_step_marks *marks; /* by process */
	const char *range;
	uint32_t processes;
	struct grt_step_rank *rank;
	uint32_t ranks, rank_room;
	struct grt_step *step;
	uint32_t steps, step_room;
	uint64_t *sorted; /* for one rank at a time */
	bool found;
};

const char *grt_step_part_name(enum grt_step_part part)
{
	static const char *const name[GRT_STEP_PARTS] = {
		[GRT_STEP_COMPUTE] = "compute",
		[GRT_STEP_COMM] = "exposed communication",
		[GRT_STEP_COPY] = "exposed copies",
		[GRT_STEP_IDLE] = "idle time",
		[GRT_STEP_COMM_HIDDEN] = "hidden communication",
		[GRT_STEP_COPY_HIDDEN] = "hidden copies",
	};

	return name[part];
}

/* ---------------------------------------------------------------- parts */

/**
 * struct walk
 * @until: when the last work of a class so far ends; @at: the next of the moments
 */
struct walk {
	uint64_t now;
	uint64_t until[GRT_STEP_CLASSES];
	const uint64_t *cut;
	uint32_t cuts;
	uint32_t at;
	struct grt_step_parts *out;
};

static void add_time(struct walk *w, uint64_t ns)
{
	bool computes = w->until[GRT_STEP_COMPUTES] > w->now,
	     communicates = w->until[GRT_STEP_COMMUNICATES] > w->now,
	     copies = w->until[GRT_STEP_COPIES] > w->now;
	uint64_t *part = w->out[w->at - 1].ns;

	part[computes	    ? GRT_STEP_COMPUTE
	     : communicates ? GRT_STEP_COMM
	     : copies	    ? GRT_STEP_COPY
			    : GRT_STEP_IDLE] += ns;
	part[GRT_STEP_COMM_HIDDEN] += communicates && computes ? ns : 0;
	part[GRT_STEP_COPY_HIDDEN] += copies && (computes || communicates) ? ns : 0;
}

/* Goes on to the moment @to, before which no further work begins. */
static void walk_to(struct walk *w, uint64_t to)
{
	while (w->now < to && w->at < w->cuts) {
		uint64_t next = w->cut[w->at] < to ? w->cut[w->at] : to;

		for (unsigned int c = 0; c < GRT_STEP_CLASSES; c++)
			if (w->until[c] > w->now && w->until[c] < next)
				next = w->until[c];
		if (w->at && next > w->now)
			add_time(w, next - w->now);
		w->now = next;
		while (w->at < w->cuts && w->cut[w->at] <= w->now)
			w->at++;
	}
}

void grt_step_parts_between(const struct grt_step_process *p, uint32_t gpu, const uint64_t *cut,
			    uint32_t cuts, struct grt_step_parts *out)
{
	struct walk w = {.cut = cut, .cuts = cuts, .out = out};

	memset(out, 0, cuts ? (cuts - 1) * sizeof(*out) : 0);
	for (uint32_t i = grt_step_log_first_work(p, gpu, 0); i < p->works && p->work[i].gpu == gpu;
	     i = grt_step_log_next(p, i)) {
		const struct grt_step_work *k = &p->work[i];

		walk_to(&w, k->start);
		if (w.until[k->class] < k->end)
			w.until[k->class] = k->end;
	}
	walk_to(&w, UINT64_MAX);
}

/* ---------------------------------------------------------------- steps */

/* When the work of each call had ended, 0: it had none. */
static uint64_t *find_ends(const struct grt_step_process *p)
{
	uint64_t *end = calloc((size_t)p->calls + 1, sizeof(*end));

	for (uint32_t i = 0; end && i < p->works; i = grt_step_log_next(p, i))
		if (p->work[i].call != UINT32_MAX && end[p->work[i].call] < p->work[i].end)
			end[p->work[i].call] = p->work[i].end;
	return end;
}

/* The moments between steps; the first one begins with its first launch. */
static uint64_t *find_moments(const struct grt_step_process *p, const struct grt_step_marks *m)
{
	uint64_t *moment = calloc((size_t)m->cuts + 1, sizeof(*moment)), *end = find_ends(p);

	for (uint32_t i = 0; moment && end && i < m->cuts; i++) {
		uint32_t at = m->cut[i];

		moment[i] = !at || (!i && (!m->first || grt_step_is_marked(m->how)))
				    ? p->call[m->launch[at]].begin
				    : end[m->launch[at - 1]];
		if (i && moment[i] < moment[i - 1])
			moment[i] = moment[i - 1];
	}
	if (!end) {
		free(moment);
		moment = NULL;
	}
	free(end);
	return moment;
}

static uint64_t percentile(const uint64_t *sorted, uint32_t n, uint32_t percent)
{
	return sorted[((uint64_t)n * percent + 99) / 100 - 1];
}

/* Return: the times of a rank's steps, or of one part of them, sorted. */
static const uint64_t *sort_steps(struct grt_steps *s, const struct grt_step_rank *r, int part)
{
	for (uint32_t i = 0; i < r->steps; i++) {
		const struct grt_step *step = &s->step[r->first + i];

		s->sorted[i] = part < 0 ? step->to - step->from : step->parts.ns[part];
	}
	qsort(s->sorted, r->steps, sizeof(*s->sorted), grt_compare_u64);
	return s->sorted;
}

static void sum_up(struct grt_steps *s, struct grt_step_rank *r)
{
	const uint64_t *sorted = sort_steps(s, r, -1);

	r->p50 = percentile(sorted, r->steps, 50);
	r->p99 = percentile(sorted, r->steps, 99);
	for (int part = 0; part < GRT_STEP_PARTS; part++)
		r->median.ns[part] = percentile(sort_steps(s, r, part), r->steps, 50);
	r->slowest = r->first;
	for (uint32_t i = r->first; i < r->first + r->steps; i++) {
		struct grt_step *k = &s->step[i];
		int64_t most = INT64_MIN, above;

		for (int part = 0; part < GRT_STEP_PARTS; part++) {
			r->total.ns[part] += k->parts.ns[part];
			above = (int64_t)(k->parts.ns[part] - r->median.ns[part]);
			if (part < GRT_STEP_SUM && above > most) {
				most = above;
				k->grew = (enum grt_step_part)part;
			}
		}
		if (k->to - k->from > s->step[r->slowest].to - s->step[r->slowest].from)
			r->slowest = i;
	}
}

static int add_steps(struct grt_steps *s, struct grt_step_rank *r, const uint64_t *moment)
{
	const struct grt_step_marks *m = &s->marks[r->process];
	uint32_t n = m->cuts - 1;
	struct grt_step_parts *parts = calloc(n, sizeof(*parts));

	r->first = s->steps;
	if (!parts || grt_grow(&s->step, &s->step_room, s->steps + n, 64)) {
		free(parts);
		return -ENOMEM;
	}
	grt_step_parts_between(grt_step_log_process(s->log, r->process), r->gpu, moment, m->cuts, parts);
	for (uint32_t i = 0; i < n; i++)
		s->step[s->steps++] = (struct grt_step){
			.number = m->first + i, .from = moment[i], .to = moment[i + 1], .parts = parts[i]};
	free(parts);
	r->steps = n;
	free(s->sorted);
	s->sorted = calloc(n, sizeof(*s->sorted));
	if (!s->sorted)
		return -ENOMEM;
	sum_up(s, r);
	return 0;
}

/* ---------------------------------------------------------------- ranks */

static int add_rank(struct grt_steps *s, uint32_t process, uint32_t gpu, const uint64_t *moment)
{
	const struct grt_image *image = grt_step_log_process(s->log, process)->image;
	struct grt_step_rank *r;

	if (grt_grow(&s->rank, &s->rank_room, s->ranks + 1, 8))
		return -ENOMEM;
	r = &s->rank[s->ranks++];
	*r = (struct grt_step_rank){.process = process,
				    .gpu = gpu,
				    .pid = image->pid,
				    .number = image->rank,
				    .told = image->rank != UINT32_MAX};
	return moment ? add_steps(s, r, moment) : 0;
}

/* Devices with kernels: a device with copies only computes nothing. */
static int add_ranks(struct grt_steps *s, uint32_t process, const uint64_t *moment)
{
	const struct grt_step_process *p = grt_step_log_process(s->log, process);
	uint32_t gpus = 0, last = UINT32_MAX;
	int ret = 0;

	for (uint32_t i = 0; i < p->works && gpus < GPUS_MAX && !ret; i = grt_step_log_next(p, i)) {
		if (p->work[i].class == GRT_STEP_COPIES || (gpus && p->work[i].gpu == last))
			continue;
		last = p->work[i].gpu;
		gpus++;
		ret = add_rank(s, process, last, moment);
	}
	return ret;
}

static int find_in_process(struct grt_steps *s, uint32_t process)
{
	const struct grt_step_process *p = grt_step_log_process(s->log, process);
	struct grt_step_marks *m = &s->marks[process];
	uint64_t *moment = NULL;
	int ret = p->image ? grt_step_marks_find(m, p, s->range) : 0;

	if (ret || !p->image)
		return ret;
	if (m->how && m->cuts > 1) {
		moment = find_moments(p, m);
		ret = moment ? 0 : -ENOMEM;
	}
	ret = ret ?: add_ranks(s, process, moment);
	free(moment);
	return ret;
}

static int steps_by_rank(const void *a, const void *b)
{
	const struct grt_step_rank *x = a, *y = b;

	if (x->told != y->told)
		return x->told ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	return x->pid != y->pid ? (x->pid < y->pid ? -1 : 1) : (int)x->process - (int)y->process;
}

/*
 * The process's communicator with the most ranks, the first one of several; NULL: there is none, or the
 * process has several of its ranks, and it is unknown which device has which.
 */
static const struct grt_nccl_comm *steps_world(const struct grt_nccl_log *l)
{
	const struct grt_nccl_comm *world = NULL;
	unsigned int own = 0;

	for (uint32_t i = 0; i < l->comms; i++)
		if (!world || l->comm[i].ranks > world->ranks)
			world = &l->comm[i];
	for (uint32_t i = 0; i < l->comms; i++)
		own += l->comm[i].hash == world->hash;
	return own == 1 ? world : NULL;
}

static const struct grt_nccl_comm *steps_world_of(const struct grt_steps *s, const struct grt_step_rank *r)
{
	return steps_world(&grt_step_log_process(s->log, r->process)->nccl);
}

/* Where all ranks are in one communicator, they have its numbers, as in the sentences about who waits. */
static void number_by_nccl(struct grt_steps *s)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < s->ranks; i++) {
		const struct grt_nccl_comm *world = steps_world_of(s, &s->rank[i]);

		if (s->rank[i].told || !world || (i && world->hash != hash))
			return;
		hash = world->hash;
		for (uint32_t k = 0; k < i; k++)
			if (steps_world_of(s, &s->rank[k])->rank == world->rank)
				return;
	}
	for (uint32_t i = 0; i < s->ranks; i++)
		s->rank[i].number = steps_world_of(s, &s->rank[i])->rank;
}

static bool steps_has_number(const struct grt_steps *s, uint32_t number)
{
	for (uint32_t i = 0; i < s->ranks; i++)
		if (s->rank[i].number == number)
			return true;
	return false;
}

static void number_ranks(struct grt_steps *s)
{
	uint32_t next = 0;

	number_by_nccl(s);
	if (s->ranks)
		qsort(s->rank, s->ranks, sizeof(*s->rank), steps_by_rank);
	for (uint32_t i = 0; i < s->ranks; i++) {
		struct grt_step_rank *r = &s->rank[i];

		r->uuid = grt_step_log_uuid(s->log, r->process, r->gpu);
		while (r->number == UINT32_MAX && steps_has_number(s, next))
			next++;
		r->number = r->number == UINT32_MAX ? next : r->number;
		r->name =
			grt_image_process_name(grt_step_log_process(s->log, r->process)->image, r->pid_text);
		for (uint32_t k = r->first; k < r->first + r->steps; k++)
			s->step[k].rank = i;
	}
}

/* --------------------------------------------------------- what differed */

/* The longest idle time of a device between two moments, and the work that ended it. */
static const struct grt_step_work *find_idle(const struct grt_step_process *p, uint32_t gpu, uint64_t from,
					     uint64_t to, uint64_t *began)
{
	const struct grt_step_work *best = NULL;
	uint64_t reached = from, most = 0;

	for (uint32_t i = grt_step_log_first_work(p, gpu, 0); i < p->works && p->work[i].gpu == gpu;
	     i = grt_step_log_next(p, i)) {
		const struct grt_step_work *w = &p->work[i];

		if (w->start > to)
			break;
		if (w->start > reached && w->start - reached > most) {
			most = w->start - reached;
			*began = reached;
			best = w;
		}
		reached = w->end > reached ? w->end : reached;
	}
	return best;
}

static int why_idle(struct grt_steps *s, const struct grt_step_window *at, char **out)
{
	const struct grt_step_rank *r = &s->rank[at->rank];
	const struct grt_step_process *p = grt_step_log_process(s->log, r->process);
	struct grt_step_quiet q;
	uint64_t began = 0;
	const struct grt_step_work *w = find_idle(p, r->gpu, at->from, at->to, &began);

	*out = NULL;
	if (!w || !w->launched)
		return 0;
	/* most of that time passed before the launch */
	if (w->launched > began && 2 * (w->launched - began) >= w->start - began)
		return grt_step_quiet(p, began, w->launched, &q) ? grt_step_code(s->frames, p, &q, out) : 0;
	return asprintf(out, "launched work waited") < 0 ? -ENOMEM : 0;
}

/* Sums up how long the kernels of a class ran between two moments, by name. */
static void sum_names(const struct grt_step_process *p, uint32_t gpu, unsigned int class, uint64_t from,
		      uint64_t to, int64_t sign, int64_t *sum)
{
	for (uint32_t i = grt_step_log_first_work(p, gpu, from);
	     i < p->works && p->work[i].gpu == gpu && p->work[i].start < to; i = grt_step_log_next(p, i))
		if (p->work[i].class == class && p->work[i].name <= p->image->strings)
			sum[p->work[i].name] += sign * (int64_t)(p->work[i].end - p->work[i].start);
}

/* A step that has the median of the part. */
static const struct grt_step *median_step(const struct grt_steps *s, const struct grt_step_rank *r,
					  enum grt_step_part part)
{
	for (uint32_t i = r->first; i < r->first + r->steps; i++)
		if (s->step[i].parts.ns[part] == r->median.ns[part])
			return &s->step[i];
	return &s->step[r->first];
}

int grt_steps_usual_idle(struct grt_steps *s, uint32_t rank, uint64_t *ns, char **out)
{
	const struct grt_step_rank *r = &s->rank[rank];
	const struct grt_step *k = median_step(s, r, GRT_STEP_IDLE);
	struct grt_step_window at = {rank, k->from, k->to};
	uint64_t began = 0;
	const struct grt_step_work *w =
		find_idle(grt_step_log_process(s->log, r->process), r->gpu, k->from, k->to, &began);

	*ns = w ? w->start - began : 0;
	return why_idle(s, &at, out);
}

static int name_kernel(struct grt_steps *s, const struct grt_step_process *p, uint32_t name, int64_t ns,
		       char **out)
{
	char more[GRT_UNITS_MAX];
	const char *text;
	size_t len;
	int ret = grt_image_kernel_name(s->frames, p->image, name, &text, &len);

	if (ret)
		return ret;
	grt_units_ns(more, (uint64_t)ns);
	return asprintf(out, "%.*s %s more", (int)(len < 120 ? len : 120), text, more) < 0 ? -ENOMEM : 0;
}

/* The kernel that took the most additional time, compared with a median step. */
static int why_kernel(struct grt_steps *s, const struct grt_step_rank *r, const struct grt_step *k,
		      char **out)
{
	const struct grt_step_process *p = grt_step_log_process(s->log, r->process);
	const struct grt_step *other = median_step(s, r, k->grew);
	unsigned int class = k->grew == GRT_STEP_COMM ? GRT_STEP_COMMUNICATES : GRT_STEP_COMPUTES;
	int64_t *sum = calloc((size_t)p->image->strings + 1, sizeof(*sum));
	uint32_t most = 0;
	int ret = 0;

	*out = NULL;
	if (!sum)
		return -ENOMEM;
	sum_names(p, r->gpu, class, k->from, k->to, 1, sum);
	sum_names(p, r->gpu, class, other->from, other->to, -1, sum);
	sum[0] = 0;
	for (uint32_t i = 1; i <= p->image->strings; i++)
		most = sum[i] > sum[most] ? i : most;
	if (most)
		ret = name_kernel(s, p, most, sum[most], out);
	free(sum);
	return ret;
}

/* Describes the kernels of a step, with the one that ran longest. */
static int why_busy(struct grt_steps *s, const struct grt_step_window *at, uint64_t ns, char **out)
{
	const struct grt_step_rank *r = &s->rank[at->rank];
	const struct grt_step_process *p = grt_step_log_process(s->log, r->process);
	int64_t *sum = calloc((size_t)p->image->strings + 1, sizeof(*sum));
	char computed[GRT_UNITS_MAX];
	const char *text = "";
	uint32_t most = 0;
	size_t len = 0;
	int ret = sum ? 0 : -ENOMEM;

	if (!ret)
		sum_names(p, r->gpu, GRT_STEP_COMPUTES, at->from, at->to, 1, sum);
	for (uint32_t i = 1; !ret && i <= p->image->strings; i++)
		most = sum[i] > sum[most] ? i : most;
	if (most)
		ret = grt_image_kernel_name(s->frames, p->image, most, &text, &len);
	free(sum);
	grt_units_ns(computed, ns);
	if (!ret && asprintf(out, "its device computed for %s%s%.*s", computed, len ? ", mostly " : "",
			     (int)(len < 120 ? len : 120), text) < 0)
		ret = -ENOMEM;
	return ret;
}

int grt_steps_why_late(struct grt_steps *s, const struct grt_step_window *w, uint64_t late, char **out)
{
	const struct grt_step_rank *r = &s->rank[w->rank];
	const uint64_t cut[] = {w->from, w->to};
	struct grt_step_parts parts;

	*out = NULL;
	if (w->to <= w->from)
		return 0;
	grt_step_parts_between(grt_step_log_process(s->log, r->process), r->gpu, cut, 2, &parts);
	if (2 * parts.ns[GRT_STEP_IDLE] >= late)
		return why_idle(s, w, out);
	return parts.ns[GRT_STEP_COMPUTE] ? why_busy(s, w, parts.ns[GRT_STEP_COMPUTE], out) : 0;
}

int grt_steps_explain(struct grt_steps *s, uint32_t step)
{
	struct grt_step *k = &s->step[step];
	const struct grt_step_rank *r = &s->rank[k->rank];

	if (k->why || k->parts.ns[k->grew] <= r->median.ns[k->grew])
		return 0;
	if (k->grew == GRT_STEP_IDLE)
		return why_idle(s, &(struct grt_step_window){k->rank, k->from, k->to}, &k->why);
	return k->grew == GRT_STEP_COPY ? 0 : why_kernel(s, r, k, &k->why);
}

/* --------------------------------------------------------------- in, out */

int grt_steps_new(struct grt_steps **out, struct grt_launches *launches)
{
	struct grt_steps *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s)
		return -ENOMEM;
	if (!grt_step_log_new(&s->log, launches) && !grt_image_frames_new(&s->frames) &&
	    !grt_rank_threads_new(&s->threads))
		return 0;
	grt_steps_free(s);
	*out = NULL;
	return -ENOMEM;
}

void grt_steps_range(struct grt_steps *s, const char *name)
{
	s->range = name;
}

struct grt_step_log *grt_steps_log(struct grt_steps *s)
{
	return s->log;
}

struct grt_rank_threads *grt_steps_threads(struct grt_steps *s)
{
	return s->threads;
}

int grt_steps_find(struct grt_steps *s)
{
	int64_t n = s->found ? 0 : grt_step_log_sort(s->log);
	int ret = n < 0 ? -ENOMEM : s->found ? 0 : grt_rank_threads_end(s->threads);

	if (s->found || ret)
		return ret;
	s->marks = calloc((size_t)n + 1, sizeof(*s->marks));
	if (!s->marks)
		return -ENOMEM;
	s->processes = (uint32_t)n;
	for (uint32_t i = 0; i < s->processes && !ret; i++)
		ret = find_in_process(s, i);
	number_ranks(s);
	s->found = !ret;
	return ret;
}

uint32_t grt_steps_ranks(const struct grt_steps *s)
{
	return s->ranks;
}

const struct grt_step_rank *grt_steps_rank(const struct grt_steps *s, uint32_t at)
{
	return &s->rank[at];
}

uint32_t grt_steps_count(const struct grt_steps *s)
{
	return s->steps;
}

const struct grt_step *grt_steps_step(const struct grt_steps *s, uint32_t at)
{
	return &s->step[at];
}

/*
 * Finds the process of another pass. Both passes read the same records, but one may have used some that the
 * other ignored.
 */
uint32_t grt_steps_process(const struct grt_steps *s, const struct grt_image *image)
{
	const struct grt_image *other;
	uint32_t n = s->found ? s->processes : 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (image->number + i) % n;

		other = grt_step_log_process(s->log, at)->image;
		if (other && other->pid == image->pid && other->id == image->id)
			return at;
	}
	return UINT32_MAX;
}

/* When the first call of a step was made. */
static uint64_t step_begins(const struct grt_step_process *p, const struct grt_step_marks *m, uint32_t step)
{
	return m->cut[step] < m->launches ? p->call[m->launch[m->cut[step]]].begin : UINT64_MAX;
}

struct grt_step_at grt_steps_at(const struct grt_steps *s, uint32_t process, uint64_t launched)
{
	const struct grt_step_process *p = grt_step_log_process(s->log, process);
	const struct grt_step_marks *m = &s->marks[process];
	uint32_t low, cuts = m->how ? m->cuts : 0;

	low = grt_bisect(cuts, i, step_begins(p, m, i) <= launched);
	return (struct grt_step_at){.from = low ? step_begins(p, m, low - 1) : 0,
				    .to = low < cuts ? step_begins(p, m, low) : UINT64_MAX,
				    .number = m->first + low - 1,
				    .in = low && low < cuts,
				    .told = grt_step_is_marked(m->how)};
}

const struct grt_nccl_op *grt_steps_collective(const struct grt_steps *s, uint32_t process, uint64_t key,
					       bool replayed, const struct grt_nccl_comm **comm)
{
	const struct grt_nccl_log *l = &grt_step_log_process(s->log, process)->nccl;
	uint32_t first;

	if (!l->ops ||
	    grt_nccl_log_find(l, replayed ? grt_nccl_log_source(l, key) : key, replayed, &first) != 1)
		return NULL;
	*comm = grt_nccl_log_comm(l, l->op[first].comm);
	return &l->op[first];
}

/* If the program names its steps, there may have been some before the first one. */
bool grt_steps_starts(const struct grt_steps *s, const struct grt_step *step)
{
	const struct grt_step_rank *r = &s->rank[step->rank];

	return grt_step_is_marked(s->marks[r->process].how) ? step == &s->step[r->first] : !step->number;
}

const struct grt_step_marks *grt_steps_marks(const struct grt_steps *s, uint32_t process)
{
	return &s->marks[process];
}

const struct grt_image *grt_steps_image(const struct grt_steps *s, uint32_t process)
{
	return grt_step_log_process(s->log, process)->image;
}

uint64_t grt_steps_over(const struct grt_steps *s)
{
	uint64_t over = 0;

	for (uint32_t i = 0; i < s->processes; i++)
		over += grt_step_log_process(s->log, i)->over;
	return over;
}

struct grt_image_frames *grt_steps_frames(struct grt_steps *s)
{
	return s->frames;
}

void grt_steps_free(struct grt_steps *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->processes; i++)
		grt_step_marks_free(&s->marks[i]);
	for (uint32_t i = 0; i < s->steps; i++)
		free(s->step[i].why);
	grt_step_log_free(s->log);
	grt_rank_threads_free(s->threads);
	grt_image_frames_free(s->frames);
	free(s->marks);
	free(s->rank);
	free(s->step);
	free(s->sorted);
	free(s);
}
