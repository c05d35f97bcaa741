// SPDX-License-Identifier: GPL-2.0
/*
 * Computes the rows of GPUs, engines and processes for an update of `grtrace top` from the library's
 * analyses. Jobs and slices are preferred to the driver's counters, which have the same facts with less
 * detail.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "base/units.h"
#include "top.h"

#define WHOLE UINT32_MAX
#define UNKNOWN_PERCENT 255
#define THROTTLE "throttle "

static struct top_figure top_figure_known(uint64_t value)
{
	return (struct top_figure){.value = value, .known = true};
}

/* ---------------------------------------------------------------- what comes in */

static int top_take_done(struct top *t, const struct grt_job *job)
{
	int ret = grt_groups_queue(t->groups, job) ?: grt_gpu_processes_job(t->shares, job);

	t->count.jobs++;
	return ret ?: t->stacks.any ? top_stacks_job(&t->stacks, job) : 0;
}

static int top_on_held(void *arg, const struct grt_job *job)
{
	return top_take_done(arg, job);
}

static int top_on_job(void *arg, const struct grt_job *job)
{
	return job->held ? 0 : top_take_done(arg, job);
}

int top_sums(void *arg, struct grt_job_sums *sums)
{
	struct top *t = arg;

	sums->name = grt_names_find(grt_jobs_names(t->jobs), GRT_NAME_THREAD, sums->tid);
	t->count.jobs += sums->timed + sums->untimed;
	return grt_groups_queue_sums(t->groups, sums) ?: grt_gpu_processes_sums(t->shares, sums)
		?: grt_jobs_ended(t->jobs, sums);
}

static int top_on_joined(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct top *t = (struct top *)c;

	t->count.events++;
	return grt_jobs_event(t->jobs, e);
}

/* The analysis of frames needs the names, too. */
static int top_on_name(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return top_on_joined(c, e, cpu) ?: grt_display_frames_event(((struct top *)c)->waits.frames, e);
}

static int top_on_frame(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct top *t = (struct top *)c;

	t->count.events++;
	return grt_display_frames_event(t->waits.frames, e);
}

static int top_on_wait(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct top *t = (struct top *)c;

	return top_on_joined(c, e, cpu) ?: top_waits_event(&t->waits, e, t->to);
}

static int top_on_stack(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct top *t = (struct top *)c;

	t->count.events++;
	return top_stacks_event(&t->stacks, e);
}

static int top_on_share(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct top *t = (struct top *)c;

	t->count.events++;
	return grt_gpu_processes_event(t->shares, e, grt_jobs_names(t->jobs));
}

static int top_on_counter(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return top_on_share(c, e, cpu) ?: grt_counters_event(&((struct top *)c)->counters, e);
}

static int top_on_image(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct top *t = (struct top *)c;

	t->count.events++;
	return top_cuda_define(t->cuda, e);
}

static int top_on_launch(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct top *t = (struct top *)c;

	t->count.events++;
	return top_cuda_event(t->cuda, e, &t->stacks, &t->count.jobs);
}

static int top_on_xid(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	((struct top *)c)->count.events++;
	return grt_xids_event(&((struct top *)c)->xids, e);
}

static int top_new_groups(struct top *t)
{
	return grt_groups_new(&t->groups, 1U << GRT_BY_RING | 1U << GRT_BY_PROCESS);
}

int top_begin(struct top *t)
{
	const struct grt_jobs_sink sink = {.held = top_on_held, .job = top_on_job, .arg = t};

	t->c.job = t->c.error = t->c.command = top_on_joined;
	t->c.name = top_on_name;
	t->c.wait = top_on_wait;
	t->c.vblank = t->c.call = top_on_frame;
	t->c.stack = top_on_stack;
	t->c.slice = t->c.owner = top_on_share;
	t->c.counter = top_on_counter;
	t->c.xid = top_on_xid;
	t->c.image = top_on_image;
	t->c.launch = top_on_launch;
	grt_texts_init(&t->texts, TOP_GPUS_MAX);
	grt_keyed_init(&t->gpus, sizeof(struct top_gpu), TOP_GPUS_MAX);
	grt_keyed_init(&t->processes, sizeof(struct top_process), GRT_GPU_PROCESSES_MAX);
	grt_xids_init(&t->xids);
	t->room = malloc(TOP_ROOM);
	if (!t->room || top_cuda_new(&t->cuda) || top_stacks_init(&t->stacks, top_cuda_images(t->cuda)) ||
	    top_waits_init(&t->waits) || grt_jobs_new(&t->jobs, &sink, NULL) || top_new_groups(t) ||
	    grt_gpu_processes_new(&t->shares, GRT_GPU_BY_PROCESS, true))
		return -ENOMEM;
	grt_counters_init(&t->counters, grt_jobs_names(t->jobs));
	return 0;
}

void top_end(struct top *t)
{
	top_stacks_free(&t->stacks);
	top_waits_free(&t->waits);
	top_cuda_free(t->cuda);
	free(t->room);
	grt_groups_free(t->groups);
	grt_gpu_processes_free(t->shares);
	grt_counters_free(&t->counters);
	grt_xids_free(&t->xids);
	grt_keyed_free(&t->processes);
	grt_keyed_free(&t->gpus);
	grt_texts_free(&t->texts);
	grt_jobs_free(t->jobs);
	free(t->engine);
	free(t->share);
}

int top_from(struct top *t, uint64_t time)
{
	grt_groups_free(t->groups);
	t->groups = NULL;
	t->to = time;
	return top_new_groups(t) ?: grt_gpu_processes_next(t->shares, time);
}

/* ----------------------------------------------------------------------- GPUs */

const char *top_gpu_name(const struct top *t, const struct top_gpu *gpu)
{
	const struct grt_names *names = grt_jobs_names(t->jobs);
	const char *name =
		gpu->device ? grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, gpu->device))
			    : NULL;

	if (!name && gpu->text != GRT_TEXT_NONE)
		name = grt_texts_get(&t->texts, gpu->text);
	return name;
}

struct top_gpu *top_gpu_at(const struct top *t, uint32_t number)
{
	struct top_gpu *gpu = grt_keyed_oldest(&t->gpus);

	while (gpu && number--)
		gpu = grt_keyed_next(&t->gpus, gpu);
	return gpu;
}

static uint32_t top_gpu_number(const struct top *t, const struct top_gpu *gpu)
{
	uint32_t number = 0;

	for (const struct top_gpu *at = grt_keyed_oldest(&t->gpus); at && at != gpu;
	     at = grt_keyed_next(&t->gpus, at))
		number++;
	return number;
}

/* A GPU without a device number is found by its name. */
int top_gpu_find(struct top *t, uint32_t device, const char *name, uint32_t *number)
{
	struct grt_key key = {{device}};
	uint32_t text = GRT_TEXT_NONE;
	struct top_gpu *gpu;
	void *found = NULL;
	int ret = name ? grt_texts_add(&t->texts, name, strlen(name), &text) : 0;

	*number = WHOLE;
	key.w[1] = device ? 0 : text;
	ret = ret ?: grt_keyed_get_or_count(&t->gpus, &key, &t->over, &found);
	gpu = found;
	if (ret || !gpu)
		return ret;
	if (!gpu->updates && !gpu->text)
		gpu->engine = WHOLE;
	gpu->device = device;
	gpu->text = text ?: gpu->text;
	*number = top_gpu_number(t, gpu);
	return 0;
}

/* A GPU without an address gets the name of the ring's driver. */
static int top_gpu_of(struct top *t, const struct grt_gpu_place *at, uint32_t *number)
{
	const struct grt_names *names = grt_jobs_names(t->jobs);
	const char *name;
	uint32_t device = grt_gpu_processes_device(at, names, &name);

	if (!device && !name && at->source == GRT_GPU_JOBS)
		name = grt_names_owner(names, grt_names_find(names, GRT_NAME_RING, at->place));
	return top_gpu_find(t, device, name, number);
}

/* -------------------------------------------------------------------- engines */

/*
 * A share of counters covers the time between their samples, because these do not begin and end with an
 * update.
 */
static uint64_t top_share_of(const struct top *t, const struct grt_gpu_process *row)
{
	bool measured = row->measured && !row->unmeasured;

	return grt_share(row->residency, measured ? row->measured : t->to - t->from);
}

/* Return: the 99th percentile of t_queue of the update's jobs, for a ring or process */
static struct top_figure top_queue(const struct top *t, enum grt_group_by by, uint32_t id)
{
	struct top_figure f = {.known = false};
	const struct grt_group *g;

	for (uint32_t i = 0; (g = grt_groups_get(t->groups, by, i)); i++)
		if ((by == GRT_BY_RING ? g->ring : g->pid) == id) {
			f.known = g->queue.weight && grt_hist_percentile(&g->queue, 990, &f.value);
			f.inferred = g->queue.inferred;
		}
	return f;
}

int top_engine_add(struct top *t, const struct top_engine *engine)
{
	int ret = engine->gpu == WHOLE ? 0 : grt_grow(&t->engine, &t->engines_room, t->engines + 1, 16);

	if (!ret && engine->gpu != WHOLE)
		t->engine[t->engines++] = *engine;
	return ret;
}

static void top_engine_of_jobs(const struct top *t, const struct grt_gpu_place *at, struct top_engine *engine)
{
	engine->busy = top_figure_known(grt_share(grt_busy_sum(&at->busy), t->to - t->from));
	engine->busy.known = at->timed || !at->untimed;
	engine->busy.least = at->untimed || at->sampled || at->busy.cut;
	engine->jobs = top_figure_known(0);
	engine->queue = top_queue(t, GRT_BY_RING, at->place);
}

static int top_add_engine(struct top *t, const struct grt_gpu_place *at)
{
	struct top_engine engine = {.at = *at, .busy = top_figure_known(0)};
	int ret;

	if (grt_gpu_processes_is_doubled(t->shares, grt_jobs_names(t->jobs), at->source, at->device))
		return 0;
	ret = top_gpu_of(t, at, &engine.gpu);
	if (ret)
		return ret;
	engine.jobs.known = at->source == GRT_GPU_SLICES;
	if (at->source == GRT_GPU_JOBS)
		top_engine_of_jobs(t, at, &engine);
	return top_engine_add(t, &engine);
}

uint32_t top_engine_at(const struct top *t, const struct grt_gpu_place *at)
{
	uint32_t i = 0;

	while (i < t->engines &&
	       (t->engine[i].at.source != at->source || t->engine[i].at.device != at->device ||
		t->engine[i].at.instance != at->instance || t->engine[i].at.place != at->place))
		i++;
	return i < t->engines ? i : WHOLE;
}

static uint32_t top_engine_of(const struct top *t, const struct grt_gpu_process *row)
{
	const struct grt_gpu_place at = {
		.source = row->source, .device = row->device, .instance = row->instance, .place = row->place};

	return top_engine_at(t, &at);
}

/* Whether the row is time of slices without an owner, because records are missing. */
static bool top_is_gap(const struct grt_gpu_process *row)
{
	return row->source == GRT_GPU_SLICES && row->kind == GRT_GPU_UNKNOWN;
}

/* Adds the times of processes: the driver's log and counters have at most one process at a time. */
static void top_add_time(const struct top *t, struct top_engine *engine, const struct grt_gpu_process *row)
{
	if (top_is_gap(row)) {
		engine->busy.least = true;
		return;
	}
	engine->jobs.value += row->came;
	engine->busy.inferred |= row->inferred;
	if (row->source == GRT_GPU_JOBS)
		return;
	engine->busy.value += top_share_of(t, row);
	engine->busy.known &= !row->unknown;
	engine->busy.least |= row->least;
}

/* ------------------------------------------------------------------ processes */

static int top_process_of(struct top *t, uint32_t gpu, uint32_t pid, struct top_process **out)
{
	struct grt_key key = {{gpu, pid}};
	void *found = NULL;
	int ret = grt_keyed_get_or_count(&t->processes, &key, &t->over, &found);

	*out = found;
	if (ret || !found)
		return ret;
	(*out)->gpu = gpu;
	(*out)->pid = pid;
	return 0;
}

/* Counts only one kind of jobs, slices and kernels, because slices contain kernels. */
static void top_count_jobs(struct top_figure *sum, uint8_t *counted, const struct top_figure *jobs,
			   enum top_source source)
{
	if (!jobs->known || (sum->known && *counted > source))
		return;
	if (!sum->known || *counted != source)
		*sum = top_figure_known(0);
	*counted = (uint8_t)source;
	sum->value += jobs->value;
}

static int top_share_of_process(struct top *t, const struct top_share *s, enum top_source source)
{
	struct top_process *p;
	int ret = top_process_of(t, t->engine[s->engine].gpu, s->pid, &p);

	if (ret || !p)
		return ret;
	p->name = s->name ?: p->name;
	top_count_jobs(&p->jobs, &p->counted, &s->jobs, source);
	if (!s->share.known || (p->share.known && p->share.value >= s->share.value))
		return 0;
	p->share = s->share;
	p->source = (uint8_t)source;
	p->engine = s->engine;
	return 0;
}

int top_share_add(struct top *t, const struct top_share *s, enum top_source source)
{
	if (grt_grow(&t->share, &t->share_room, t->on_engines + 1, 64))
		return -ENOMEM;
	t->share[t->on_engines++] = *s;
	return t->engine[s->engine].part ? 0 : top_share_of_process(t, s, source);
}

static struct top_figure top_length(const struct grt_gpu_process *row, unsigned int permille)
{
	struct top_figure f = {.inferred = row->inferred};

	f.known = row->whole.weight && grt_hist_percentile(&row->whole, permille, &f.value);
	return f;
}

static int top_add_row(struct top *t, const struct grt_gpu_process *row)
{
	struct top_share s = {.engine = top_engine_of(t, row), .pid = row->pid, .name = row->name};

	if (s.engine == WHOLE || (row->kind != GRT_GPU_PROCESS && row->kind != GRT_GPU_UNKNOWN))
		return 0;
	top_add_time(t, &t->engine[s.engine], row);
	s.share = (struct top_figure){.value = top_share_of(t, row),
				      .known = !row->unknown,
				      .inferred = row->inferred,
				      .least = row->least};
	s.jobs = (struct top_figure){.value = row->came,
				     .known = row->source != GRT_GPU_COUNTERS && !top_is_gap(row)};
	s.middle = top_length(row, 500);
	s.most = top_length(row, 990);
	return top_share_add(t, &s, row->source);
}

/* ------------------------------------------------------------------- counters */

/*
 * The counters of each column, by the beginning of their names and their unit. GPUs have several clocks and
 * sensors; the largest value is shown.
 */
static const struct top_value_row {
	const char *front;
	const char *unit;
	const char * not [2];
} value_rows[TOP_VALUES] = {
	[TOP_CLOCK] = {"clock", "Hz", {" asked", " m"}},   [TOP_POWER] = {"power", "uW", {NULL}},
	[TOP_TEMPERATURE] = {"temp", "mC", {NULL}},	   [TOP_MEMORY] = {"memory vram", "B", {NULL}},
	[TOP_USE] = {"busy ", "%", {"busy memory", NULL}},
};

static bool top_is_value(const struct top_value_row *v, const char *name, const char *unit)
{
	if (strcmp(unit, v->unit) || strncmp(name, v->front, strlen(v->front)))
		return false;
	for (unsigned int i = 0; i < 2 && v->not [i]; i++)
		if (strstr(name, v->not [i]))
			return false;
	return true;
}

static void top_add_value(struct top_figure *f, const struct grt_counter_row *row)
{
	uint64_t value = row->last > 0 ? (uint64_t)row->last : 0;

	if (!f->known || value > f->value)
		f->value = value;
	f->known = true;
	f->inferred |= row->inferred;
}

/* A counter "throttle REASON" is 1 while the reason applies. */
static void top_add_throttle(struct top_gpu *gpu, const struct grt_counter_row *row, const char *reason)
{
	size_t used;

	if (!gpu->throttle[0])
		snprintf(gpu->throttle, sizeof(gpu->throttle), "none");
	if (!row->value)
		return;
	if (!strcmp(gpu->throttle, "none"))
		gpu->throttle[0] = '\0';
	used = strlen(gpu->throttle);
	snprintf(gpu->throttle + used, sizeof(gpu->throttle) - used, "%s%s", used ? ", " : "", reason);
}

static int top_add_device_counter(struct top *t, const struct grt_counter_row *row, const char *name,
				  const char *unit)
{
	const struct grt_names *names = grt_jobs_names(t->jobs);
	uint32_t number;
	int ret = top_gpu_find(t, row->device,
			       grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, row->device)),
			       &number);

	if (ret || number == WHOLE)
		return ret;
	for (unsigned int i = 0; i < TOP_VALUES; i++)
		if (top_is_value(&value_rows[i], name, unit))
			top_add_value(&top_gpu_at(t, number)->value[i], row);
	if (!strncmp(name, THROTTLE, strlen(THROTTLE)))
		top_add_throttle(top_gpu_at(t, number), row, name + strlen(THROTTLE));
	return 0;
}

/* Memory: the sum of what is resident in all places. Use: the share that the counter of the process has. */
static int top_add_process_counter(struct top *t, const struct grt_counter_row *row, const char *name,
				   const char *unit)
{
	bool memory = !strcmp(unit, "B") && (!strncmp(name, "resident ", 9) || !strcmp(name, "memory vram"));
	bool use = !strcmp(unit, "%") && !strcmp(name, "busy sm");
	struct top_process *p;
	uint32_t gpu;
	int ret = 0;

	if (!memory && !use)
		return 0;
	ret = top_gpu_find(t, row->device, NULL, &gpu);
	if (ret || gpu == WHOLE)
		return ret;
	ret = top_process_of(t, gpu, row->instance, &p);
	if (ret || !p)
		return ret;
	if (memory) {
		p->memory.value += (uint64_t)row->value;
		p->memory.known = true;
	} else if (!p->share.known) {
		p->share = top_figure_known((uint64_t)row->last);
		p->source = TOP_COUNTERS;
		p->engine = WHOLE;
	}
	return 0;
}

static int top_add_counters(struct top *t)
{
	int ret = 0;

	for (const struct grt_counter_row *row = grt_keyed_oldest(&t->counters.rows); row && !ret;
	     row = grt_keyed_next(&t->counters.rows, row)) {
		const char *name = grt_names_name(grt_jobs_names(t->jobs), row->name);
		const char *unit = grt_names_owner(grt_jobs_names(t->jobs), row->name);

		/* the counters of an ended process have no value */
		if (!row->known || !row->values || !name || !unit || row->grows || row->value < 0)
			continue;
		ret = (row->instance ? top_add_process_counter : top_add_device_counter)(t, row, name, unit);
	}
	return ret;
}

/* ----------------------------------------------------------------- the update */

static void top_clear_gpus(struct top *t)
{
	for (struct top_gpu *gpu = grt_keyed_oldest(&t->gpus); gpu; gpu = grt_keyed_next(&t->gpus, gpu)) {
		memset(&gpu->value, 0, sizeof(gpu->value));
		gpu->busy = gpu->jobs = (struct top_figure){.known = false};
		gpu->engine = WHOLE;
		gpu->throttle[0] = '\0';
		gpu->xids = 0;
	}
}

/* Busy is the GPU's own counter; else the share of its slices; else that of its busiest engine. */
static void top_sum_gpu(struct top *t, struct top_gpu *gpu, uint32_t number)
{
	for (uint32_t i = 0; i < t->engines; i++) {
		const struct top_engine *engine = &t->engine[i];

		if (engine->gpu != number || engine->part)
			continue;
		top_count_jobs(&gpu->jobs, &gpu->counted, &engine->jobs, engine->at.source);
		if (!engine->busy.known || (gpu->busy.known && engine->busy.value <= gpu->busy.value))
			continue;
		gpu->busy = engine->busy;
		gpu->source = engine->at.source;
		gpu->engine = i;
	}
	if (!gpu->value[TOP_USE].known)
		return;
	gpu->busy = gpu->value[TOP_USE];
	gpu->source = TOP_COUNTERS;
	gpu->engine = WHOLE;
}

static void top_count_xids(const struct top *t, struct top_gpu *gpu)
{
	const char *name = top_gpu_name(t, gpu);

	for (const struct grt_xid_row *x = grt_keyed_oldest(&t->xids.rows); x && name;
	     x = grt_keyed_next(&t->xids.rows, x))
		if (x->gpu[0] && strstr(name, x->gpu))
			gpu->xids += x->count;
}

static void top_remember(struct top_gpu *gpu)
{
	uint64_t percent = (gpu->busy.value + 500) / 1000;

	gpu->history[gpu->updates++ % TOP_HISTORY] =
		!gpu->busy.known ? UNKNOWN_PERCENT : (uint8_t)(percent > 100 ? 100 : percent);
}

static int top_on_running(void *arg, const struct grt_job *job)
{
	struct top *t = arg;

	return grt_gpu_processes_running(t->shares, job, t->to);
}

/* Collects the jobs that ended, and the parts of running jobs that lie in the update. */
static int top_gather(struct top *t)
{
	const struct grt_pass pass = {.first = t->from, .last = t->to, .known = true};

	return grt_jobs_settle(t->jobs, UINT64_MAX) ?: grt_jobs_each_running(t->jobs, top_on_running, t)
		?: grt_gpu_processes_finish(t->shares, &pass);
}

/* Sorts by GPU, then by number. */
static int top_compare_engines(const void *a, const void *b, void *t)
{
	const struct top_engine *x = a, *y = b;

	return top_by_device(top_gpu_at(t, x->gpu), top_gpu_at(t, y->gpu))
		       ?: (x->at.source > y->at.source) - (x->at.source < y->at.source)
		       ?: (x->at.place > y->at.place) - (x->at.place < y->at.place);
}

/* Sorts by engine, then by share, the largest first. */
static int top_compare_shares(const void *a, const void *b)
{
	const struct top_share *x = a, *y = b;

	return (x->engine > y->engine) - (x->engine < y->engine)
		       ?: (x->share.value < y->share.value) - (x->share.value > y->share.value)
		       ?: (x->pid > y->pid) - (x->pid < y->pid);
}

static int top_sum_engines(struct top *t)
{
	int ret = 0;

	t->engines = t->on_engines = 0;
	for (const struct grt_gpu_place *at = grt_keyed_oldest(&t->shares->places); at && !ret;
	     at = grt_keyed_next(&t->shares->places, at))
		ret = top_add_engine(t, at);
	ret = ret ?: top_cuda_engines(t);
	if (t->engines)
		qsort_r(t->engine, t->engines, sizeof(*t->engine), top_compare_engines, t);
	for (const struct grt_gpu_process *row = grt_keyed_oldest(&t->shares->rows); row && !ret;
	     row = grt_keyed_next(&t->shares->rows, row))
		ret = top_add_row(t, row);
	ret = ret ?: top_cuda_shares(t);
	if (t->on_engines)
		qsort(t->share, t->on_engines, sizeof(*t->share), top_compare_shares);
	return ret;
}

static void top_sum_gpus(struct top *t)
{
	uint32_t number = 0;

	for (struct top_gpu *gpu = grt_keyed_oldest(&t->gpus); gpu; gpu = grt_keyed_next(&t->gpus, gpu)) {
		top_sum_gpu(t, gpu, number++);
		top_count_xids(t, gpu);
		top_remember(gpu);
	}
}

/*
 * Adds the waits and frames of a process. If waits of any process are known, a process without a wait waited
 * 0 ns.
 */
static void top_add_waits(const struct top *t, struct top_process *p)
{
	const struct top_wait *w = top_waits_of(&t->waits, p->pid);
	uint64_t ns = t->to - t->from;

	p->wait = (struct top_figure){.value = grt_share(w ? w->gpu : 0, ns), .known = t->waits.any && ns};
	if (!w)
		return;
	p->runnable = w->runnable;
	p->frames = (struct top_figure){.value = w->frames, .known = w->shows};
	p->late = (struct top_figure){.value = w->late, .known = w->shows};
}

static void top_finish_processes(struct top *t)
{
	for (struct top_process *p = grt_keyed_oldest(&t->processes); p;
	     p = grt_keyed_next(&t->processes, p)) {
		if (!p->pid)
			continue;
		p->queue = top_queue(t, GRT_BY_PROCESS, p->pid);
		top_add_waits(t, p);
	}
}

int top_figures(struct top *t, uint64_t to)
{
	int ret;

	t->from = t->to;
	t->to = to;
	top_clear_gpus(t);
	grt_keyed_free(&t->processes);
	grt_keyed_init(&t->processes, sizeof(struct top_process), GRT_GPU_PROCESSES_MAX);
	top_cuda_sum(t->cuda, to, t->whole);
	ret = top_gather(t) ?: top_sum_engines(t) ?: top_add_counters(t);
	ret = ret ?: top_waits_sum(&t->waits, &t->counters, t->from, to);
	if (ret)
		return ret;
	t->before = t->now;
	t->count.lost = grt_session_health(t->session)->balance.fate[GRT_FATE_LOST];
	t->now = t->count;
	top_finish_processes(t);
	top_sum_gpus(t);
	top_waits_next(&t->waits);
	ret = top_stacks_next(&t->stacks, !t->live, t->whole);
	t->late = top_cuda_late(t->cuda);
	top_cuda_next(t->cuda);
	return ret ?: top_from(t, to);
}
