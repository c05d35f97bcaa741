// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Handlers of ftrace events, rows of ftrace_events.def. Fields are read by their names: first by those that
 * are printed, then by those in the record, which trace-cmd report -R and lines that failed to parse have.
 *
 * A job is identified by its finished fence. SUBMIT, COMMIT and END are events of the scheduler or of the
 * driver; COMPLETE is the signal of the fence. If no line reports the signal, COMPLETE is inferred from END,
 * and the other way round.
 */
#include "ftrace_events.h"
#include "ftrace_arm.h"
#include "ftrace_module.h"
#include "ftrace_xe.h"
#include "codes/firmware.h"
#include "codes/pci.h"

/* The part of the kernel that reports a wait. */
enum layer {
	LAYER_FENCE = 1,
	LAYER_I915,
};

enum i915_what {
	I915_QUEUE,
	I915_ADD,
	I915_SUBMIT,
	I915_DISPATCH,
	I915_IN,
	I915_OUT,
	I915_COMPLETE,
	I915_RETIRE,
	I915_WAIT_BEGIN,
	I915_WAIT_END,
};

enum counter_what {
	COUNTER_MEMORY,
	COUNTER_FREQUENCY,
	COUNTER_INTEL_FREQUENCY,
	COUNTER_MSM_FREQUENCY,
	COUNTER_WORK,
};

#define PAGE UINT64_C(4096)

static enum grt_text_line ftrace_events_put(struct ftrace *f, struct grt_event *e)
{
	grt_text_put(f->t, e, f->l.cpu);
	return GRT_LINE_DONE;
}

static enum grt_text_line put_by_current(struct ftrace *f, struct grt_event *e)
{
	ftrace_by_current(f, e);
	return ftrace_events_put(f, e);
}

/* Memory of an unknown GPU of the driver. */
static enum grt_text_line ftrace_events_put_memory(struct ftrace *f, struct grt_event *e, const char *driver)
{
	if (!e->device)
		e->device = grt_text_driver(f->t, f->l.time, driver);
	return put_by_current(f, e);
}

static enum grt_text_line passed_over(struct ftrace *f)
{
	grt_text_unknown(f->t, f->l.event.at, f->l.event.len);
	return GRT_LINE_DONE;
}

/* gpu_scheduler, where jobs are known by addresses */

static bool ring_field(struct ftrace *f, struct grt_span *name)
{
	return FTRACE_WORD(f, "ring=", name) || FTRACE_WORD(f, "name=", name);
}

static uint64_t sw_depth(struct ftrace *f)
{
	uint64_t v;

	return FTRACE_NUMBER(f, "job count:", &v) || FTRACE_NUMBER(f, "job_count=", &v) ? v : 0;
}

static uint64_t hw_depth(struct ftrace *f)
{
	uint64_t v;

	return FTRACE_NUMBER(f, "hw job count:", &v) || FTRACE_NUMBER(f, "hw_job_count=", &v) ? v : 0;
}

/**
 * struct sched_fields - what drm_sched_job and drm_run_job print
 * @name: empty where 6.1 prints addresses (trace option nohash-ptr): it then loses the first string of a line
 * @ring: GRT_RING_NONE without a name
 */
struct sched_fields {
	uint64_t id;
	uint64_t fence;
	struct grt_span name;
	uint32_t ring;
	uint8_t engine;
	bool has_id;
};

static void ftrace_events_name_ring(struct ftrace *f, struct sched_fields *s, struct grt_span name)
{
	s->name = name;
	s->ring = GRT_RING_NONE;
	s->engine = GRT_ENGINE_UNKNOWN;
	if (name.len)
		s->ring = ftrace_ring(f, name, grt_firmware_driver(name.at, name.len), &s->engine);
}

static bool sched_fields(struct ftrace *f, struct sched_fields *s)
{
	struct grt_span ring = {NULL, 0};

	s->has_id = FTRACE_NUMBER(f, "id=", &s->id);
	s->fence = FTRACE_POINTER(f, "fence=");
	if (!ring_field(f, &ring) && !(ring.at && s->fence))
		return false;
	if (!s->has_id)
		s->has_id = FTRACE_NUMBER(f, "id=", &s->id);
	ftrace_events_name_ring(f, s, ring);
	return s->fence || s->has_id;
}

/* Finds a job that is queued by the two fences that its thread made before. */
static struct ftrace_job *armed_job(struct ftrace *f, struct sched_fields *s)
{
	struct ftrace_armer *a = &f->armer[f->l.tid % FTRACE_ARMERS];
	struct ftrace_armed fence;

	if (!ftrace_armer_take(a, f->l.tid, s->name, &fence))
		return NULL;
	if (!s->name.len)
		ftrace_events_name_ring(f, s, (struct grt_span){fence.ring, fence.ring_len});
	return ftrace_job_of(f, fence.ctx, fence.seqno);
}

/* The job of the same line if it came before, because a text may have a part twice. */
static struct ftrace_job *job_of_repeated_line(struct ftrace *f, const struct sched_fields *s, uint32_t had)
{
	struct ftrace_job *job = ftrace_jobs_by_fence(&f->jobs, s->fence);

	if (!job && s->has_id && s->ring != GRT_RING_NONE)
		job = ftrace_jobs_by_id(&f->jobs, s->ring, s->id);
	if (!job || !(job->seen & had) || (had == FTRACE_QUEUED ? job->queued : job->run) != f->l.time)
		return NULL;
	return !s->has_id || !job->has_id || job->id == s->id ? job : NULL;
}

/* The job of these fields, unless it has had the event @had: then it is another job. */
static struct ftrace_job *sched_job(struct ftrace *f, struct sched_fields *s, uint32_t had)
{
	struct ftrace_job *armed, *job = job_of_repeated_line(f, s, had);

	if (job)
		return job;
	armed = had == FTRACE_QUEUED ? armed_job(f, s) : NULL;
	if (had == FTRACE_RUN)
		job = ftrace_jobs_by_fence(&f->jobs, s->fence);
	/* the address is that of an earlier job */
	if (job && job->has_id && s->has_id && (job->id != s->id || (s->name.len && job->ring != s->ring)))
		job = NULL;
	if (!job && s->has_id && s->ring != GRT_RING_NONE)
		job = ftrace_jobs_by_id(&f->jobs, s->ring, s->id);
	if (job && !(job->seen & (had | FTRACE_END)))
		return job;
	job = armed ? armed : ftrace_own_job(f, FTRACE_OWN_RING, s->ring);
	if (s->has_id && s->ring != GRT_RING_NONE)
		ftrace_jobs_set_id(&f->jobs, job, s->ring, s->id);
	return job;
}

static struct ftrace_job *take_sched_job(struct ftrace *f, uint32_t had, struct sched_fields *s)
{
	struct ftrace_job *job;

	if (!sched_fields(f, s))
		return NULL;
	job = sched_job(f, s, had);
	job->seen |= had;
	*(had == FTRACE_QUEUED ? &job->queued : &job->run) = f->l.time;
	if (s->ring != GRT_RING_NONE)
		ftrace_place_job(job, s->ring, s->engine, 0);
	ftrace_jobs_set_fence(&f->jobs, job, s->fence);
	return job;
}

static enum grt_text_line sched_queue(struct ftrace *f, unsigned int arg)
{
	struct sched_fields s;
	struct ftrace_job *job = take_sched_job(f, FTRACE_QUEUED, &s);

	if (!job)
		return GRT_LINE_BAD;
	ftrace_xe_queued(f);
	ftrace_submit(f, job, 0);
	return GRT_LINE_DONE;
}

static enum grt_text_line sched_run(struct ftrace *f, unsigned int arg)
{
	struct sched_fields s;
	struct ftrace_job *job = take_sched_job(f, FTRACE_RUN, &s);
	uint64_t sw, hw;

	if (!job)
		return GRT_LINE_BAD;
	sw = sw_depth(f);
	hw = hw_depth(f);
	ftrace_commit(f, job, sw, hw, 0);
	if (!s.fence)
		ftrace_jobs_run(&f->jobs, job, hw);
	return GRT_LINE_DONE;
}

/* The job's fence is signalled next; if no line reports that, COMPLETE is inferred from this line. */
static void done(struct ftrace *f, struct ftrace_job *job, uint16_t flags)
{
	ftrace_end(f, job, 0, 0, flags);
	ftrace_complete(f, job, GRT_FLAG_INFERRED);
}

static enum grt_text_line sched_done(struct ftrace *f, unsigned int arg)
{
	uint64_t fence = FTRACE_POINTER(f, "fence=");
	struct ftrace_job *job = ftrace_jobs_by_fence(&f->jobs, fence);

	if (fence && job) {
		done(f, job, 0);
		return GRT_LINE_DONE;
	}
	if (fence)
		return passed_over(f);
	/* The address is hidden: the job that went to the hardware first is mostly the right one. */
	job = ftrace_jobs_oldest(&f->jobs);
	if (!job)
		return passed_over(f);
	done(f, job, GRT_FLAG_INFERRED);
	return GRT_LINE_DONE;
}

static enum grt_text_line sched_wait_dep(struct ftrace *f, unsigned int arg)
{
	struct ftrace_job *job = NULL;
	struct grt_span ring = {NULL, 0};
	uint64_t id, ctx, seqno;
	uint8_t engine;

	if (!ring_field(f, &ring) && !ring.at)
		return GRT_LINE_BAD;
	if (!ring.len) /* lost, see struct sched_fields; the kernels that do so run a thread of the ring's
			  name */
		ring = f->l.comm;
	if (FTRACE_NUMBER(f, "id=", &id))
		job = ftrace_jobs_by_id(&f->jobs, ftrace_ring(f, ring, "", &engine), id);
	if (!FTRACE_NUMBER(f, "context=", &ctx) && !FTRACE_NUMBER(f, "ctx=", &ctx))
		return GRT_LINE_BAD;
	if (!FTRACE_NUMBER(f, "seq=", &seqno) && !FTRACE_NUMBER(f, "seqno=", &seqno))
		return GRT_LINE_BAD;
	ftrace_depend(f, job, ctx, seqno);
	return GRT_LINE_DONE;
}

/* gpu_scheduler, where jobs are known by their fences */

/* "7:8", or as a draft had it "(context:7, seqno:8)" */
static bool scan_fence(struct ftrace *f, uint64_t *ctx, uint64_t *seqno)
{
	const char **p = &f->at, *end = f->l.end;
	bool draft = GRT_SCAN_WORD(p, end, "(context:");

	if (!grt_scan_line_u64(p, end, ctx))
		return false;
	if (draft ? !GRT_SCAN_WORD(p, end, ", seqno:") : !grt_scan_char(p, end, ':'))
		return false;
	if (!grt_scan_line_u64(p, end, seqno))
		return false;
	return !draft || grt_scan_char(p, end, ')');
}

static bool fence_field(struct ftrace *f, uint64_t *ctx, uint64_t *seqno)
{
	if (FTRACE_FIELD(f, "fence="))
		return scan_fence(f, ctx, seqno);
	return FTRACE_NUMBER(f, "fence_context=", ctx) && FTRACE_NUMBER(f, "fence_seqno=", seqno);
}

/* "0000:03:00.0" as a number; 0: something else */
static uint32_t pci_address(struct grt_span s)
{
	const char *p = s.at, *end = s.at + s.len;
	uint32_t address;

	return grt_scan_pci(&p, end, &address) && p == end ? address : 0;
}

/* As above; the address is mostly that of the previous line. */
static uint32_t ftrace_events_pci_number(struct ftrace *f, struct grt_span dev)
{
	if (dev.len != FTRACE_PCI)
		return dev.len ? pci_address(dev) : 0;
	if (memcmp(f->pci_text, dev.at, FTRACE_PCI)) {
		memcpy(f->pci_text, dev.at, FTRACE_PCI);
		f->pci = pci_address(dev);
	}
	return f->pci;
}

/* Other events number GPUs from 0, so only the layout tells that @dev is an address. */
uint32_t ftrace_device_of(struct ftrace *f, struct grt_span dev)
{
	uint32_t device = ftrace_events_pci_number(f, dev);

	if (device)
		grt_text_name(f->t, GRT_NAME_DEVICE, device, f->l.time, dev.at, dev.len, NULL, 0);
	return device;
}

static struct ftrace_job *fence_job(struct ftrace *f)
{
	struct grt_span dev = {NULL, 0}, ring;
	struct ftrace_job *job;
	uint64_t ctx, seqno;
	uint8_t engine;
	uint32_t id;

	FTRACE_WORD(f, "dev=", &dev);
	if (!fence_field(f, &ctx, &seqno) || !ctx || !ring_field(f, &ring))
		return NULL;
	job = ftrace_job_of(f, ctx, seqno);
	id = ftrace_ring_of(f, ring, grt_firmware_driver(ring.at, ring.len), dev, &engine);
	ftrace_place_job(job, id, engine, ftrace_device_of(f, dev));
	return job;
}

static enum grt_text_line fence_queue(struct ftrace *f, unsigned int arg)
{
	struct ftrace_job *job = fence_job(f);

	if (!job)
		return GRT_LINE_BAD;
	ftrace_xe_queued(f);
	ftrace_submit(f, job, 0);
	return GRT_LINE_DONE;
}

static enum grt_text_line fence_run(struct ftrace *f, unsigned int arg)
{
	struct ftrace_job *job = fence_job(f);
	uint64_t sw, hw;

	if (!job)
		return GRT_LINE_BAD;
	sw = sw_depth(f);
	hw = hw_depth(f);
	ftrace_commit(f, job, sw, hw, 0);
	return GRT_LINE_DONE;
}

static enum grt_text_line fence_done(struct ftrace *f, unsigned int arg)
{
	uint64_t ctx, seqno;

	if (!fence_field(f, &ctx, &seqno) || !ctx)
		return GRT_LINE_BAD;
	done(f, ftrace_job_of(f, ctx, seqno), 0);
	return GRT_LINE_DONE;
}

static enum grt_text_line fence_depends(struct ftrace *f, unsigned int arg)
{
	uint64_t ctx, seqno, dep_ctx, dep_seqno;

	if (!fence_field(f, &ctx, &seqno) || !ctx)
		return GRT_LINE_BAD;
	if (FTRACE_FIELD(f, "depends on unsignalled fence=") || FTRACE_FIELD(f, "depends on fence=")) {
		if (!scan_fence(f, &dep_ctx, &dep_seqno))
			return GRT_LINE_BAD;
	} else if (!FTRACE_NUMBER(f, "ctx=", &dep_ctx) || !FTRACE_NUMBER(f, "seqno=", &dep_seqno)) {
		return GRT_LINE_BAD;
	}
	ftrace_depend(f, ftrace_job_of(f, ctx, seqno), dep_ctx, dep_seqno);
	return GRT_LINE_DONE;
}

/* dma_fence */

struct fence_fields {
	struct grt_span driver;
	struct grt_span timeline;
	uint64_t ctx;
	uint64_t seqno;
};

/* The names may contain blanks: they end where the next key begins, and the last "context=" is the key. */
static bool split_names(struct ftrace *f, struct fence_fields *x)
{
	const char *begin = f->l.fields, *end = f->l.end, *timeline, *context = NULL, *p;

	for (p = begin; (p = GRT_FIND_KEY(p, end, "context=")); context = p)
		;
	if (!context || !GRT_SCAN_WORD(&begin, end, "driver="))
		return false;
	timeline = grt_find_text(begin, context, " timeline=", 10);
	if (!timeline)
		return false;
	x->driver = (struct grt_span){begin, (size_t)(timeline - begin)};
	timeline += 10;
	p = context - 9;
	if (p < timeline)
		return false;
	x->timeline = (struct grt_span){timeline, (size_t)(p - timeline)};
	f->at = context - 8;
	return true;
}

static bool fence_fields(struct ftrace *f, struct fence_fields *x)
{
	const char *p = f->l.fields, *end = f->l.end;

	x->timeline = (struct grt_span){NULL, 0};
	if (GRT_SCAN_WORD(&p, end, "driver=")) {
		x->driver.at = p;
		p = grt_line_until(p, end, ' ', ' ');
		x->driver.len = (size_t)(p - x->driver.at);
		if (!GRT_SCAN_WORD(&p, end, " timeline=") && !split_names(f, x))
			return false;
	}
	if (!x->timeline.at) {
		x->timeline.at = p;
		p = grt_line_until(p, end, ' ', ' ');
		x->timeline.len = (size_t)(p - x->timeline.at);
		f->at = p;
		if (!GRT_SCAN_WORD(&p, end, " context=") && !split_names(f, x))
			return false;
	}
	return FTRACE_NUMBER(f, "context=", &x->ctx) && FTRACE_NUMBER(f, "seqno=", &x->seqno);
}

/* Drivers whose fences are their jobs, and are made when these go to the ring. */
static bool makes_jobs(struct grt_span driver)
{
	return grt_span_is(driver, "nouveau") || grt_span_is(driver, "radeon");
}

static struct ftrace_job *virtio_job(struct ftrace *f, uint64_t fence_id)
{
	struct ftrace_job *job = NULL;

	for (uint32_t i = 0; i < f->queues && !job; i++)
		job = ftrace_jobs_by_key(&f->jobs, f->queue[i], fence_id);
	return job;
}

/* The job of a fence, or the fence for which something waits; NULL: it is neither. */
static struct ftrace_job *job_of_fence(struct ftrace *f, const struct fence_fields *x)
{
	if (grt_span_is(x->driver, "virtio_gpu"))
		return virtio_job(f, x->seqno);
	return ftrace_jobs_by_key(&f->jobs, x->ctx, x->seqno);
}

/*
 * Fences that consist of others, and those of the scheduler, for which there are also fences of the driver.
 */
static bool is_compound(struct grt_span driver)
{
	return grt_span_is(driver, "dma_fence_array") || grt_span_is(driver, "dma_fence_chain") ||
	       grt_span_is(driver, "drm_sched");
}

/* If the text has no other jobs, a fence is a span on its timeline. */
static enum grt_text_line dma_fence_span(struct ftrace *f, const struct fence_fields *x)
{
	struct ftrace_job *job;
	char driver[32];
	uint8_t engine;
	uint32_t ring;

	if (f->has_jobs || f->by_module || !x->ctx || !x->driver.len || is_compound(x->driver))
		return passed_over(f);
	snprintf(driver, sizeof(driver), "%.*s", (int)x->driver.len, x->driver.at);
	ring = ftrace_ring(f, x->timeline, driver, &engine);
	job = ftrace_job_of(f, x->ctx, x->seqno);
	ftrace_place_job(job, ring, engine, 0);
	ftrace_hold_span(f, job);
	return GRT_LINE_DONE;
}

static enum grt_text_line dma_fence_init(struct ftrace *f, unsigned int arg)
{
	struct fence_fields x;
	struct ftrace_job *job;
	char driver[16];
	uint8_t engine;
	uint32_t ring;

	if (!fence_fields(f, &x))
		return GRT_LINE_BAD;
	if (x.ctx && (!x.driver.len || grt_span_is(x.driver, "drm_sched"))) {
		ftrace_armer_init(&f->armer[f->l.tid % FTRACE_ARMERS], f->l.tid, x.ctx, x.seqno, x.timeline);
		return GRT_LINE_DONE;
	}
	if (!makes_jobs(x.driver) || !x.ctx)
		return dma_fence_span(f, &x);
	snprintf(driver, sizeof(driver), "%.*s", (int)x.driver.len, x.driver.at);
	ring = ftrace_ring(f, x.timeline, driver, &engine);
	job = ftrace_job_of(f, x.ctx, x.seqno);
	job->seen |= FTRACE_FENCE_IS_END;
	ftrace_place_job(job, ring, engine, 0);
	ftrace_submit(f, job, GRT_FLAG_COMMIT);
	return GRT_LINE_DONE;
}

static enum grt_text_line dma_fence_signaled(struct ftrace *f, unsigned int arg)
{
	struct fence_fields x;
	struct ftrace_job *job;
	bool is_end;

	if (!fence_fields(f, &x))
		return GRT_LINE_BAD;
	job = job_of_fence(f, &x);
	if (!job || !(job->waiters || job->seen))
		return passed_over(f);
	if (job->waiters)
		ftrace_signalled(f, job);
	if (!job->seen)
		return GRT_LINE_DONE;
	if ((job->seen & FTRACE_SPAN) && f->has_jobs)
		return passed_over(f);
	is_end = job->seen & (FTRACE_FENCE_IS_END | FTRACE_SPAN);
	ftrace_end(f, job, 0, 0, is_end ? 0 : GRT_FLAG_INFERRED);
	ftrace_complete(f, job, is_end ? GRT_FLAG_INFERRED : 0);
	return GRT_LINE_DONE;
}

static enum grt_text_line dma_fence_wait(struct ftrace *f, unsigned int enter)
{
	struct fence_fields x;

	if (!fence_fields(f, &x))
		return GRT_LINE_BAD;
	ftrace_wait(f, job_of_fence(f, &x), x.ctx, x.seqno, enter, LAYER_FENCE);
	return GRT_LINE_DONE;
}

/* amdgpu */

/* The scheduler may have reported the job before, under its id only. */
static struct ftrace_job *amdgpu_job_of(struct ftrace *f, uint64_t ctx, uint64_t seqno, uint32_t ring,
					const uint64_t *id)
{
	struct ftrace_job *job = ftrace_jobs_by_key(&f->jobs, ctx, seqno);

	if (!job && id) {
		job = ftrace_jobs_by_id(&f->jobs, ring, *id);
		if (job && (job->key_ctx || (job->seen & FTRACE_END)))
			job = NULL;
		if (job)
			ftrace_jobs_set_key(&f->jobs, job, ctx, seqno);
	}
	if (!job)
		job = ftrace_job_of(f, ctx, seqno);
	if (id && !job->has_id)
		ftrace_jobs_set_id(&f->jobs, job, ring, *id);
	return job;
}

static enum grt_text_line amdgpu_job(struct ftrace *f, unsigned int what)
{
	uint64_t id, ctx, seqno;
	struct ftrace_job *job;
	struct grt_span ring;
	bool has_id;
	uint8_t engine;
	uint32_t number;

	has_id = FTRACE_NUMBER(f, "sched_job=", &id) || FTRACE_NUMBER(f, "sched_job_id=", &id);
	if (!FTRACE_WORD(f, "timeline=", &ring))
		return GRT_LINE_BAD;
	if (!(FTRACE_NUMBER(f, "context=", &ctx) && FTRACE_NUMBER(f, "seqno=", &seqno)) &&
	    !fence_field(f, &ctx, &seqno))
		return GRT_LINE_BAD;
	if (!ctx)
		return GRT_LINE_BAD;
	number = ftrace_ring(f, ring, "amdgpu", &engine);
	job = amdgpu_job_of(f, ctx, seqno, number, has_id ? &id : NULL);
	ftrace_place_job(job, number, engine, 0);
	/* SUBMIT has the number of command buffers (IBs) as its command, as the adapters have it */
	if (what == FTRACE_SUBMIT)
		ftrace_submit_command(f, job, grt_u32(FTRACE_NUMBER_OR(f, "num_ibs=", 0)), 0, 0, 0);
	else
		ftrace_commit(f, job, 0, 0, 0);
	return GRT_LINE_DONE;
}

/* The first word of several; records that are printed raw have an array of bytes instead. */
static uint32_t first_word(struct ftrace *f)
{
	uint64_t word;

	if (!FTRACE_FIELD(f, "src_data:") && !FTRACE_FIELD(f, "src_data="))
		return UINT32_MAX;
	grt_scan_blanks(&f->at, f->l.end);
	if (!grt_scan_hex(&f->at, f->l.end, &word) || (f->at < f->l.end && *f->at != ' '))
		return UINT32_MAX;
	return grt_u32(word);
}

/* The labels end with a colon as the kernel prints them, with an equals sign where a tool prints the record.
 */
#define IV_NUMBER(f, name, otherwise) FTRACE_NUMBER_OR(f, name ":", FTRACE_NUMBER_OR(f, name "=", otherwise))

static enum grt_text_line amdgpu_iv(struct ftrace *f, unsigned int arg)
{
	struct grt_ev_irq x = {.e = ftrace_event(f, GRT_EV_IRQ)};
	uint64_t src = IV_NUMBER(f, "src_id", UINT64_MAX);

	if (src == UINT64_MAX)
		return GRT_LINE_BAD;
	x.source = GRT_IRQ_SOURCE(IV_NUMBER(f, "client_id", GRT_IRQ_CLIENT_UNKNOWN), src);
	x.data = first_word(f);
	x.hw_ring = grt_u16(IV_NUMBER(f, "ring", FTRACE_NUMBER_OR(f, "ring_id=", UINT16_MAX)));
	x.vmid = grt_u16(IV_NUMBER(f, "vmid", UINT16_MAX));
	x.pasid = grt_u32(IV_NUMBER(f, "pasid", UINT32_MAX));
	return ftrace_events_put(f, &x.e);
}

/* Return: a 32-bit number that may be printed as a negative one. */
static uint32_t low32(uint64_t v)
{
	return v > UINT32_MAX && ~v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static enum grt_text_line amdgpu_bo_create(struct ftrace *f, unsigned int arg)
{
	struct grt_ev_mem_create x = {.e = ftrace_event(f, GRT_EV_MEM_CREATE)};
	uint64_t pages, wanted;

	x.object = FTRACE_POINTER(f, "bo=");
	if (!FTRACE_NUMBER(f, "pages=", &pages))
		return GRT_LINE_BAD;
	x.bytes = pages > UINT64_MAX / PAGE ? UINT64_MAX : pages * PAGE;
	x.placed = low32(FTRACE_NUMBER_OR(f, "type=", UINT32_MAX));
	if (!FTRACE_NUMBER(f, "preferred=", &wanted) && !FTRACE_NUMBER(f, "prefered=", &wanted))
		wanted = FTRACE_NUMBER_OR(f, "prefer=", 0);
	x.wanted = low32(wanted);
	x.allowed = low32(FTRACE_NUMBER_OR(f, "allowed=", FTRACE_NUMBER_OR(f, "allow=", 0)));
	x.mflags = low32(FTRACE_NUMBER_OR(f, "visible=", 0));
	return ftrace_events_put_memory(f, &x.e, "amdgpu");
}

static enum grt_text_line amdgpu_bo_move(struct ftrace *f, unsigned int arg)
{
	struct grt_ev_mem_move x = {.e = ftrace_event(f, GRT_EV_MEM_MOVE)};
	uint64_t from, to;

	x.object = FTRACE_POINTER(f, "bo=");
	if (!FTRACE_NUMBER(f, "from=", &from) && !FTRACE_NUMBER(f, "old_placement=", &from))
		return GRT_LINE_BAD;
	if (!FTRACE_NUMBER(f, "to=", &to) && !FTRACE_NUMBER(f, "new_placement=", &to))
		return GRT_LINE_BAD;
	x.from = low32(from);
	x.to = low32(to);
	x.bytes = FTRACE_NUMBER_OR(f, "size=", FTRACE_NUMBER_OR(f, "bo_size=", 0));
	return ftrace_events_put_memory(f, &x.e, "amdgpu");
}

/* i915 */

/* "0:1" is rcs1, by the class's number in the uapi; before that rings had a number only. */
static bool i915_engine(struct ftrace *f, char name[32], uint64_t *ring)
{
	static const char *const classes[] = {"rcs", "bcs", "vcs", "vecs", "ccs"};
	uint64_t class, instance = 0;
	bool named = FTRACE_NUMBER(f, "engine=", &class);

	if (named && !(grt_scan_char(&f->at, f->l.end, ':') && grt_scan_u64(&f->at, f->l.end, &instance)))
		return false;
	if (!named && FTRACE_NUMBER(f, "class=", &class)) {
		named = true;
		instance = FTRACE_NUMBER_OR(f, "instance=", 0);
	}
	if (named && class < sizeof(classes) / sizeof(classes[0]))
		snprintf(name, 32, "%s%u", classes[class], (unsigned int)grt_u32(instance));
	else if (named)
		snprintf(name, 32, "engine%u:%u", (unsigned int)grt_u32(class),
			 (unsigned int)grt_u32(instance));
	else if (FTRACE_NUMBER(f, "ring=", ring))
		snprintf(name, 32, "ring%u", (unsigned int)grt_u32(*ring));
	else
		return false;
	return true;
}

static void i915_queued(struct ftrace *f, struct ftrace_job *job)
{
	ftrace_submit(f, job, 0);
}

/* A request of the kernel itself is never queued; kernels built for it report the true COMMIT later. */
static void i915_added(struct ftrace *f, struct ftrace_job *job)
{
	if (!(job->seen & FTRACE_SUBMIT))
		ftrace_submit(f, job, GRT_FLAG_COMMIT);
	else
		ftrace_commit(f, job, 0, 0, GRT_FLAG_INFERRED);
}

static void i915_submitted(struct ftrace *f, struct ftrace_job *job)
{
	ftrace_commit(f, job, 0, 0, 0);
}

static void i915_in(struct ftrace *f, struct ftrace_job *job)
{
	ftrace_start(f, job);
}

/* Without completed?=1, the request was preempted and will run again. */
static void i915_out(struct ftrace *f, struct ftrace_job *job)
{
	uint64_t completed;

	if ((FTRACE_NUMBER(f, "completed?=", &completed) || FTRACE_NUMBER(f, "completed=", &completed)) &&
	    completed)
		done(f, job, 0);
}

static void i915_completed(struct ftrace *f, struct ftrace_job *job)
{
	done(f, job, 0);
}

static void i915_retired(struct ftrace *f, struct ftrace_job *job)
{
	ftrace_complete(f, job, 0);
}

static void i915_wait_begin(struct ftrace *f, struct ftrace_job *job)
{
	ftrace_wait(f, job, job->ctx, job->seqno, true, LAYER_I915);
}

static void i915_wait_end(struct ftrace *f, struct ftrace_job *job)
{
	ftrace_wait(f, job, job->ctx, job->seqno, false, LAYER_I915);
}

static void (*const i915_steps[])(struct ftrace *f, struct ftrace_job *job) = {
	[I915_QUEUE] = i915_queued,	  [I915_ADD] = i915_added,	[I915_SUBMIT] = i915_submitted,
	[I915_DISPATCH] = i915_added,	  [I915_IN] = i915_in,		[I915_OUT] = i915_out,
	[I915_COMPLETE] = i915_completed, [I915_RETIRE] = i915_retired, [I915_WAIT_BEGIN] = i915_wait_begin,
	[I915_WAIT_END] = i915_wait_end,
};

static enum grt_text_line i915_request(struct ftrace *f, unsigned int what)
{
	uint64_t dev, ring = 0, ctx, seqno;
	struct ftrace_job *job;
	struct grt_span span;
	uint8_t engine;
	uint32_t number;
	char name[32];

	dev = FTRACE_NUMBER_OR(f, "dev=", 0);
	if (!i915_engine(f, name, &ring))
		return GRT_LINE_BAD;
	if (!FTRACE_NUMBER(f, "ctx=", &ctx) || !ctx)
		ctx = ftrace_own(FTRACE_OWN_I915, 1U << 31 | (dev & 0x7fff) << 16 | (ring & 0xffff));
	if (!FTRACE_NUMBER(f, "seqno=", &seqno))
		return GRT_LINE_BAD;
	span = (struct grt_span){name, strlen(name)};
	number = ftrace_ring(f, span, "i915", &engine);
	job = ftrace_job_of(f, ctx, seqno);
	job->seen |= FTRACE_FENCE_IS_END;
	ftrace_place_job(job, number, engine, (uint32_t)dev);
	i915_steps[what](f, job);
	return GRT_LINE_DONE;
}

static enum grt_text_line i915_object_create(struct ftrace *f, unsigned int arg)
{
	struct grt_ev_mem_create x = {.e = ftrace_event(f, GRT_EV_MEM_CREATE), .placed = UINT32_MAX};
	uint64_t bytes;

	x.object = FTRACE_POINTER(f, "obj=");
	if (!FTRACE_NUMBER(f, "size=", &bytes))
		return GRT_LINE_BAD;
	x.bytes = bytes;
	return ftrace_events_put_memory(f, &x.e, "i915");
}

static enum grt_text_line i915_object_destroy(struct ftrace *f, unsigned int arg)
{
	struct grt_ev_mem_destroy x = {.e = ftrace_event(f, GRT_EV_MEM_DESTROY)};

	if (!FTRACE_FIELD(f, "obj="))
		return GRT_LINE_BAD;
	x.object = FTRACE_POINTER(f, "obj=");
	return ftrace_events_put_memory(f, &x.e, "i915");
}

/* obj=P, GTT|CPU index=N [, writable] */
static enum grt_text_line i915_object_fault(struct ftrace *f, unsigned int arg)
{
	struct grt_ev_mem_fault x = {.e = ftrace_event(f, GRT_EV_MEM_FAULT)};
	const char *begin = f->l.fields, *end = f->l.end;
	uint64_t page;

	x.object = FTRACE_POINTER(f, "obj=");
	if (!FTRACE_NUMBER(f, "index=", &page))
		return GRT_LINE_BAD;
	x.page = page;
	x.gtt = GRT_FIND_KEY(begin, end, "GTT") || FTRACE_NUMBER_OR(f, "gtt=", 0);
	x.writing = GRT_FIND_KEY(begin, end, "writable") || FTRACE_NUMBER_OR(f, "write=", 0);
	return ftrace_events_put_memory(f, &x.e, "i915");
}

static enum grt_text_line i915_vma(struct ftrace *f, unsigned int type)
{
	/* MEM_UNBIND has the same fields but the last */
	struct grt_ev_mem_bind x = {.e = ftrace_event(f, (uint16_t)type)};
	uint64_t offset, bytes;

	_Static_assert(offsetof(struct grt_ev_mem_bind, mflags) == sizeof(struct grt_ev_mem_unbind),
		       "the same fields");
	x.object = FTRACE_POINTER(f, "obj=");
	if (!FTRACE_NUMBER(f, "offset=", &offset) || !FTRACE_NUMBER(f, "size=", &bytes))
		return GRT_LINE_BAD;
	x.offset = offset;
	x.bytes = bytes;
	x.vm = FTRACE_POINTER(f, "vm=");
	x.mflags = FTRACE_NUMBER_OR(f, "flags=", 0);
	return ftrace_events_put_memory(f, &x.e, "i915");
}

static enum grt_text_line i915_shrink(struct ftrace *f, unsigned int arg)
{
	struct grt_ev_mem_shrink x = {.e = ftrace_event(f, GRT_EV_MEM_SHRINK)};
	uint64_t target;

	x.e.device = (uint32_t)FTRACE_NUMBER_OR(f, "dev=", 0);
	if (!FTRACE_NUMBER(f, "target=", &target))
		return GRT_LINE_BAD;
	x.target = target;
	x.mflags = FTRACE_POINTER(f, "flags=");
	return ftrace_events_put_memory(f, &x.e, "i915");
}

/* Display */

static enum grt_text_line vblank(struct ftrace *f, unsigned int arg)
{
	struct grt_ev_vblank x = {.e = ftrace_event(f, GRT_EV_VBLANK)};
	struct grt_span high = {NULL, 0};
	uint64_t crtc, seq;

	if (!FTRACE_NUMBER(f, "crtc=", &crtc) || !FTRACE_NUMBER(f, "seq=", &seq))
		return GRT_LINE_BAD;
	x.crtc = (uint16_t)(crtc > UINT16_MAX ? UINT16_MAX : crtc);
	x.vseq = grt_u32(seq);
	x.stamp = FTRACE_NUMBER_OR(f, "time=", 0);
	if (FTRACE_WORD(f, "high-prec=", &high) || FTRACE_WORD(f, "high_prec=", &high))
		x.high_prec = *high.at == 't' || *high.at == '1' || grt_span_is(high, "0x1");
	return ftrace_events_put(f, &x.e);
}

static enum grt_text_line vblank_client(struct ftrace *f, unsigned int type)
{
	/* VBLANK_DELIVERED has the same fields */
	struct grt_ev_vblank_queued x = {.e = ftrace_event(f, (uint16_t)type)};
	uint64_t crtc, seq;

	_Static_assert(sizeof(x) == sizeof(struct grt_ev_vblank_delivered), "the same fields");
	x.file = FTRACE_POINTER(f, "file=");
	if (!FTRACE_NUMBER(f, "crtc=", &crtc) || !FTRACE_NUMBER(f, "seq=", &seq))
		return GRT_LINE_BAD;
	x.crtc = grt_u32(crtc);
	x.vseq = grt_u32(seq);
	return put_by_current(f, &x.e);
}

/* virtio_gpu */

#define VIRTIO_FENCED 1U
#define VIRTIO_IS_ERROR(reply) ((reply) >= 0x1200)

struct virtio_fields {
	uint64_t dev;
	uint64_t vq;
	uint64_t type;
	uint64_t flags;
	uint64_t fence_id;
	uint64_t ctx_id;
	uint32_t ring;
	uint8_t engine;
};

static bool virtio_fields(struct ftrace *f, struct virtio_fields *v)
{
	struct grt_span name;

	if (!FTRACE_NUMBER(f, "vdev=", &v->dev) && !FTRACE_NUMBER(f, "dev=", &v->dev))
		return false;
	if (!FTRACE_NUMBER(f, "vq=", &v->vq) || !FTRACE_WORD(f, "name=", &name) ||
	    !FTRACE_NUMBER(f, "type=", &v->type) || !FTRACE_NUMBER(f, "flags=", &v->flags))
		return false;
	v->fence_id = FTRACE_NUMBER_OR(f, "fence_id=", 0);
	v->ctx_id = FTRACE_NUMBER_OR(f, "ctx_id=", 0);
	v->ring = ftrace_ring(f, name, "virtio_gpu", &v->engine);
	return true;
}

/* Device and queue, in 32 bits as keys have, in a range that no context of the kernel uses. */
static uint64_t virtio_ctx(const struct virtio_fields *v)
{
	return ftrace_own(FTRACE_OWN_VIRTIO, 3U << 30 | (v->dev & 0x3fff) << 16 | (v->vq & 0xffff));
}

static void remember_queue(struct ftrace *f, uint64_t ctx)
{
	for (uint32_t i = 0; i < f->queues; i++)
		if (f->queue[i] == ctx)
			return;
	if (f->queues < FTRACE_QUEUES)
		f->queue[f->queues++] = ctx;
}

static enum grt_text_line virtio_queue(struct ftrace *f, unsigned int arg)
{
	struct grt_ev_command c = {.e = ftrace_event(f, GRT_EV_COMMAND)};
	struct virtio_fields v;
	struct ftrace_job *job;

	if (!virtio_fields(f, &v))
		return GRT_LINE_BAD;
	if (v.flags & VIRTIO_FENCED) {
		remember_queue(f, virtio_ctx(&v));
		job = ftrace_job_of(f, virtio_ctx(&v), v.fence_id);
		ftrace_place_job(job, v.ring, v.engine, (uint32_t)v.dev);
		ftrace_submit_command(f, job, grt_u32(v.type), grt_u32(v.ctx_id), v.fence_id,
				      GRT_FLAG_COMMIT);
		return GRT_LINE_DONE;
	}
	c.e.ring = v.ring;
	c.e.engine = v.engine;
	c.e.device = (uint32_t)v.dev;
	c.cmd = grt_u32(v.type);
	c.hw_ctx = grt_u32(v.ctx_id);
	return put_by_current(f, &c.e);
}

static void virtio_error(struct ftrace *f, const struct virtio_fields *v, const struct ftrace_job *job)
{
	struct grt_ev_error x = {.e = ftrace_event(f, GRT_EV_ERROR), .code = grt_u32(v->type)};

	x.e.ring = v->ring;
	x.e.engine = v->engine;
	x.e.device = (uint32_t)v->dev;
	if (job) {
		x.e.ctx = job->ctx;
		x.e.seqno = job->seqno;
		x.e.pid = job->pid;
		x.e.tid = job->tid;
	}
	grt_text_put(f->t, &x.e, f->l.cpu);
}

static enum grt_text_line virtio_response(struct ftrace *f, unsigned int arg)
{
	struct ftrace_job *job = NULL;
	struct virtio_fields v;

	if (!virtio_fields(f, &v))
		return GRT_LINE_BAD;
	if (v.flags & VIRTIO_FENCED) {
		job = ftrace_jobs_by_key(&f->jobs, virtio_ctx(&v), v.fence_id);
		if (!job)
			return passed_over(f);
	}
	if (VIRTIO_IS_ERROR(v.type))
		virtio_error(f, &v, job);
	if (job) {
		ftrace_end(f, job, grt_u32(v.type), v.fence_id, 0);
		ftrace_complete(f, job, GRT_FLAG_INFERRED);
	}
	return GRT_LINE_DONE;
}

/* Counters */

struct counter {
	const char *name;
	const char *unit;
	const char *value;
	const char *instance; /* NULL: the device's */
};

static const struct counter counters[] = {
	[COUNTER_MEMORY] = {"gpu_mem_total", "bytes", "size=", "pid="},
	[COUNTER_FREQUENCY] = {"gpu_frequency", "kHz", "state=", NULL},
	[COUNTER_INTEL_FREQUENCY] = {"intel_gpu_frequency", "MHz", "new_freq=", NULL},
	[COUNTER_MSM_FREQUENCY] = {"msm_gpu_frequency", "MHz", "new_freq=", NULL},
	[COUNTER_WORK] = {"gpu_work_period", "ns", "total_active_duration_ns=", "uid="},
};

static enum grt_text_line counter(struct ftrace *f, unsigned int what)
{
	const struct counter *k = &counters[what];
	struct grt_ev_counter x = {.e = ftrace_event(f, GRT_EV_COUNTER), .counter = what + 1};
	uint64_t value;

	x.e.device = grt_u32(FTRACE_NUMBER_OR(f, "gpu_id=", 0));
	if (k->instance)
		x.instance = grt_u32(ftrace_number_or(f, k->instance, strlen(k->instance), 0));
	if (!ftrace_number(f, k->value, strlen(k->value), &value))
		return GRT_LINE_BAD;
	x.value = value > INT64_MAX ? INT64_MAX : (int64_t)value;
	grt_text_name(f->t, GRT_NAME_COUNTER, x.counter, f->l.time, k->name, strlen(k->name), k->unit,
		      strlen(k->unit));
	return ftrace_events_put(f, &x.e);
}

/* The table */

static const struct ftrace_row rows[] = {
#define FTRACE_EVENT(name, handler, arg) {#name, sizeof(#name) - 1, handler, arg},
#include "ftrace_events.def"
#undef FTRACE_EVENT
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

_Static_assert(ROWS < 128, "ftrace.slot is at most half full");

static uint32_t ftrace_events_slot_of(struct grt_span name)
{
	return grt_hash_text(name.at, name.len) % 256;
}

static bool is_row(const struct ftrace_row *row, struct grt_span name)
{
	return row->len == name.len && !memcmp(row->name, name.at, name.len);
}

/* The steps of a job's life in the order in which the kernel takes them. */
static const struct {
	enum grt_text_line (*handle)(struct ftrace *f, unsigned int arg);
	unsigned int arg;
} steps[] = {
	{dma_fence_init, 0},
	{ftrace_xe, FTRACE_XE_CREATE},
	{ftrace_xe, FTRACE_XE_EXEC},
	{i915_request, I915_QUEUE},
	{i915_request, I915_ADD},
	{ftrace_msm, FTRACE_MSM_SUBMIT},
	{virtio_queue, 0},
	{amdgpu_job, FTRACE_SUBMIT},
	{sched_queue, 0},
	{fence_queue, 0},
	{fence_depends, 0},
	{sched_wait_dep, 0},
	{i915_request, I915_SUBMIT},
	{i915_request, I915_DISPATCH},
	{amdgpu_job, FTRACE_COMMIT},
	{sched_run, 0},
	{fence_run, 0},
	{ftrace_xe, FTRACE_XE_RUN},
	{ftrace_msm, FTRACE_MSM_FLUSH},
	{i915_request, I915_IN},
	{i915_request, I915_WAIT_BEGIN},
	{dma_fence_wait, 1},
	{virtio_response, 0},
	{sched_done, 0},
	{fence_done, 0},
	{ftrace_xe, FTRACE_XE_SIGNAL},
	{i915_request, I915_OUT},
	{i915_request, I915_COMPLETE},
	{dma_fence_signaled, 0},
	{ftrace_msm, FTRACE_MSM_RETIRED},
	{i915_request, I915_RETIRE},
	{dma_fence_wait, 0},
	{i915_request, I915_WAIT_END},
};

static uint8_t ftrace_events_step_of(const struct ftrace_row *row)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].handle == row->handle && steps[i].arg == row->arg)
			return (uint8_t)(i + 1);
	return 0;
}

static void index_rows(struct ftrace *f)
{
	for (size_t i = 0; i < ROWS; i++) {
		uint32_t slot = ftrace_events_slot_of((struct grt_span){rows[i].name, rows[i].len});

		while (f->slot[slot])
			slot = (slot + 1) % 256;
		f->slot[slot] = (uint8_t)(i + 1);
		f->step[i] = ftrace_events_step_of(&rows[i]);
		f->of_jobs[i] = ftrace_row_is_job(&rows[i]) && rows[i].handle != dma_fence_init &&
				rows[i].handle != dma_fence_signaled && rows[i].handle != dma_fence_wait;
	}
	f->indexed = true;
}

const struct ftrace_row *ftrace_row_of(struct ftrace *f, struct grt_span name)
{
	if (!f->indexed)
		index_rows(f);
	for (uint32_t slot = ftrace_events_slot_of(name); f->slot[slot]; slot = (slot + 1) % 256)
		if (is_row(&rows[f->slot[slot] - 1], name))
			return &rows[f->slot[slot] - 1];
	return NULL;
}

bool ftrace_has_event(struct grt_span name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (is_row(&rows[i], name))
			return true;
	return false;
}

bool ftrace_reports_jobs(const struct ftrace *f, const struct ftrace_row *row)
{
	return f->of_jobs[row - rows];
}

unsigned int ftrace_step(const struct ftrace *f, const struct ftrace_row *row)
{
	return f->step[row - rows];
}

bool ftrace_row_is_job(const struct ftrace_row *row)
{
	static enum grt_text_line (*const of_jobs[])(struct ftrace *, unsigned int) = {
		sched_queue,  sched_run,     sched_done,      sched_wait_dep,	  fence_queue,	  fence_run,
		fence_done,   fence_depends, dma_fence_init,  dma_fence_signaled, dma_fence_wait, amdgpu_job,
		i915_request, virtio_queue,  virtio_response, ftrace_xe,	  ftrace_msm,	  ftrace_mali,
	};

	for (size_t i = 0; i < sizeof(of_jobs) / sizeof(of_jobs[0]); i++)
		if (row->handle == of_jobs[i])
			return true;
	return false;
}
