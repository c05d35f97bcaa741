// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The output of bpftrace scripts that watch GPU drivers: a row per event and,
 * at the end, maps. Known are the rows of drm_scheduler.bt, drm_vblank.bt,
 * nvidia_driver.bt, intel_i915.bt and amd_amdgpu.bt, and of what took over
 * their columns:
 *
 *	TIME(ms) EVENT JOB_ID RING QUEUED DETAILS	jobs
 *	TIME(ms) EVENT CRTC SEQUENCE DETAILS		vertical blanks
 *	TIME(ms) EVENT COMM PID GPU_ID DETAILS		NVIDIA's device files
 *	TIME(ms) EVENT OBJECT SIZE/OFFSET DETAILS	memory
 *
 * The stamp is milliseconds on CLOCK_MONOTONIC or since the script's start;
 * nothing in the text says which. It is taken as it is printed: most scripts
 * print whole milliseconds, so that phases of jobs are multiples of 1 ms. A
 * stamp like 23:59:58.5 counts from the first midnight before the text.
 *
 * A job is known by ring and job id, or by fence where the row has one. The
 * scripts print a fence at COMPLETE only, so which job it ends follows from
 * order: on one ring jobs end in the order in which they ran. Such an END is
 * flagged as inferred. With jobs on several rings nothing says which ring it
 * was, until a RUN tells how many jobs its ring still has (hw=N). If that is
 * ambiguous, or does not come within a second, it is a COMPLETE of no job.
 *
 * nvidia_driver.bt prints one ioctl in a hundred and nothing of a call but its
 * start: what it does not report is GRT_FD_UNKNOWN, or has all bits set.
 *
 * Maps that hold a number, or numbers by key, become values of counters at the time of
 * the last row: they count what the rows leave out.
 */
#include "codes/codes.h"
#include "base/day.h"
#include "codes/firmware.h"
#include "codes/pci.h"
#include "text_input.h"

#define NS_PER_MS UINT64_C(1000000)

/* Most jobs that run at the same time; beyond that, the oldest is dropped. */
#define FLIGHTS 512
/* Most COMPLETEs that wait for a RUN that reports their ring, and for how long. */
#define WAITING 64
#define WAITING_MAX (GRT_NS_PER_S)

/* Most rings whose number of missing ends is known. */
#define RINGS 256

/* Most entries of maps. */
#define COUNTERS 4096U

/*
 * Contexts made here have this bit, which no kernel's context number reaches:
 * the rest is the ring's number. Programs that keep numbers as doubles keep it.
 */
#define CTX_OF_RING (UINT64_C(1) << 52)

/*
 * struct flight - a job on the hardware, in the order of RUN; @fence: the pointer printed with it; @exact:
 * its COMPLETE names it
 */
struct flight {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t fence;
	uint64_t time;
	uint32_t ring;
	uint8_t engine;
	bool exact;
};

/* A COMPLETE that waits for its job. */
struct waiting {
	uint64_t time;
	uint32_t cpu;
};

/**
 * struct bpftrace_state - the state of a text
 * @waiting, @waitings: COMPLETEs of jobs in @flight; it is unknown yet which COMPLETE belongs to which job
 * @behind: by ring: jobs that ended according to the last RUN and have no COMPLETE yet
 * @unjoined: COMPLETEs of jobs in @flight that remain unknown
 * @rule: the line before was a rule, which a caption may follow
 * @last: time of the last row; @counters: entries of maps
 * @xid: an XID_ERROR row whose number is two lines below
 */
struct bpftrace_state {
	struct flight flight[FLIGHTS];
	unsigned int flights;
	struct waiting waiting[WAITING];
	unsigned int waitings;
	unsigned int unjoined;
	unsigned int behind[RINGS];
	struct grt_day day;
	uint64_t last;
	uint32_t counters;
	bool rule;
	struct grt_ev_xid xid;
};

/* A line with a time stamp. @p is after the part that was read. */
struct row {
	struct grt_text *t;
	struct bpftrace_state *s;
	const char *p;
	const char *end;
	uint64_t time;
	uint32_t cpu;
	struct grt_span event;
};

static struct grt_event bpftrace_text_head(const struct row *r, enum grt_event_type type)
{
	return (struct grt_event){.time = r->time, .type = (uint16_t)type, .ring = GRT_RING_NONE};
}

static void bpftrace_text_put(const struct row *r, struct grt_event *e)
{
	grt_text_put(r->t, e, r->cpu);
}

/* Memory of an unknown GPU of the driver. */
static void bpftrace_text_put_memory(const struct row *r, struct grt_event *e, const char *driver)
{
	e->device = grt_text_driver(r->t, r->time, driver);
	bpftrace_text_put(r, e);
}

/* Columns */

/* Reads a whole column as a decimal or hexadecimal (0x) number. */
static bool span_number(struct grt_span s, __u64 *v)
{
	const char *p = s.at, *end = s.at + s.len;
	uint64_t n = 0;

	/* so few digits cannot overflow */
	while (s.len < 12 && p < end && grt_is_digit(*p))
		n = n * 10 + (uint64_t)(*p++ - '0');
	if (p == s.at || p != end) {
		p = s.at;
		if (!grt_scan_number(&p, end, &n) || p != end)
			return false;
	}
	*v = n;
	return true;
}

static bool column_number(struct row *r, __u64 *v)
{
	struct grt_span s;

	return grt_scan_token(&r->p, r->end, &s) && span_number(s, v);
}

/* As above; "-" means no value: 0. */
static bool column_number_or_none(struct row *r, __u64 *v)
{
	struct grt_span s;

	*v = 0;
	return grt_scan_token(&r->p, r->end, &s) && (grt_span_is(s, "-") || span_number(s, v));
}

/* Reads key=N in the details, where it mostly comes first; *@v stays unchanged if there is none. */
static inline bool detail(const struct row *r, const char *key, __u64 *v)
{
	const char *p = r->p;
	size_t len = strlen(key);
	uint64_t n;

	grt_scan_blanks(&p, r->end);
	if (!grt_scan_text(&p, r->end, key, len) || !grt_scan_number(&p, r->end, &n)) {
		if (!grt_key_number(r->p, r->end, key, len, &n))
			return false;
	}
	*v = n;
	return true;
}

/* CTX:SEQ */
static bool span_fence(struct grt_span s, __u64 *ctx, __u64 *seqno)
{
	const char *p = s.at, *end = s.at + s.len;
	uint64_t c, n;

	if (!grt_scan_u64(&p, end, &c) || !grt_scan_char(&p, end, ':') || !grt_scan_u64(&p, end, &n) ||
	    p != end)
		return false;
	*ctx = c;
	*seqno = n;
	return true;
}

static bool is_hex_number(struct grt_span s)
{
	return s.len > 2 && s.at[0] == '0' && s.at[1] == 'x';
}

/* Jobs in flight */

static void bpftrace_text_forget(struct bpftrace_state *s, unsigned int i)
{
	s->flights--;
	memmove(&s->flight[i], &s->flight[i + 1], (s->flights - i) * sizeof(s->flight[0]));
}

/* Return: whether a job's COMPLETE names it only by the order on its ring. */
static bool bpftrace_text_by_order(const struct flight *f, uint32_t ring)
{
	return !f->exact && f->ring == ring;
}

static void bpftrace_text_put_end(struct grt_text *t, const struct flight *f, const struct waiting *w,
				  uint16_t flags)
{
	struct grt_event e = {.time = w->time,
			      .flags = flags,
			      .engine = f->engine,
			      .ctx = f->ctx,
			      .seqno = f->seqno,
			      .ring = f->ring};
	struct grt_ev_end end = {.e = e};
	struct grt_ev_complete complete = {.e = e, .status = GRT_STATUS_UNKNOWN};

	end.e.type = GRT_EV_END;
	complete.e.type = GRT_EV_COMPLETE;
	if (f->ctx)
		grt_text_put(t, &end.e, w->cpu);
	grt_text_put(t, &complete.e, w->cpu);
}

/* The oldest waiting COMPLETEs have no job. */
static void bpftrace_text_give_up(struct grt_text *t, struct bpftrace_state *s, unsigned int n)
{
	static const struct flight nobody = {.ring = GRT_RING_NONE};

	for (unsigned int i = 0; i < n; i++)
		bpftrace_text_put_end(t, &nobody, &s->waiting[i], 0);
	s->unjoined += n;
	s->waitings -= n;
	memmove(s->waiting, s->waiting + n, s->waitings * sizeof(s->waiting[0]));
}

static void give_up_late(struct grt_text *t, struct bpftrace_state *s, uint64_t now)
{
	unsigned int n = 0;

	while (n < s->waitings && s->waiting[n].time + WAITING_MAX / 2 < now)
		n++;
	bpftrace_text_give_up(t, s, n);
}

static void bpftrace_text_forget_all(struct grt_text *t, struct bpftrace_state *s)
{
	bpftrace_text_give_up(t, s, s->waitings);
	s->flights = 0;
	s->unjoined = 0;
	memset(s->behind, 0, sizeof(s->behind));
}

/*
 * Ends this many of the ring's jobs, the oldest first; either all waiting COMPLETEs belong to them, or none.
 */
static void end_oldest(struct grt_text *t, struct bpftrace_state *s, uint32_t ring, unsigned int n)
{
	unsigned int ended = 0;

	for (unsigned int i = 0; i < s->flights && ended < n;) {
		if (!bpftrace_text_by_order(&s->flight[i], ring)) {
			i++;
			continue;
		}
		if (ended < s->waitings)
			bpftrace_text_put_end(t, &s->flight[i], &s->waiting[ended], GRT_FLAG_INFERRED);
		ended++;
		bpftrace_text_forget(s, i);
	}
}

/* Jobs that must have ended, by the order of their ring or not at all. Return: how many of @n are left */
static unsigned int settle_waiting(struct grt_text *t, struct bpftrace_state *s, uint32_t ring,
				   unsigned int n)
{
	if (n != s->waitings || s->unjoined)
		bpftrace_text_give_up(t, s, s->waitings);
	if (s->waitings) {
		end_oldest(t, s, ring, n);
		s->waitings = 0;
		return 0;
	}
	if (n > s->unjoined) {
		end_oldest(t, s, ring, s->unjoined);
		n -= s->unjoined;
		s->unjoined = 0;
		return n;
	}
	end_oldest(t, s, ring, n);
	s->unjoined -= n;
	return 0;
}

/*
 * A RUN has the number of jobs on its ring including this one, so at most the others can still be running. A
 * COMPLETE may be printed after the RUN that it made room for; one that is still missing at the next RUN was
 * lost.
 */
static void settle_ring(struct grt_text *t, struct bpftrace_state *s, uint32_t ring, uint64_t others)
{
	unsigned int running = 0, ended = 0, lost;

	for (unsigned int i = 0; i < s->flights; i++)
		running += bpftrace_text_by_order(&s->flight[i], ring);
	if (running > others)
		ended = settle_waiting(t, s, ring, running - (unsigned int)others);
	if (ring >= RINGS)
		return;
	lost = ended < s->behind[ring] ? ended : s->behind[ring];
	end_oldest(t, s, ring, lost);
	s->behind[ring] = ended - lost;
}

static void bpftrace_text_remember(struct bpftrace_state *s, const struct flight *f)
{
	if (s->flights == FLIGHTS)
		bpftrace_text_forget(s, 0);
	s->flight[s->flights++] = *f;
}

static struct flight *find_fence(struct bpftrace_state *s, uint64_t fence)
{
	for (unsigned int i = s->flights; fence && i--;)
		if (s->flight[i].fence == fence)
			return &s->flight[i];
	return NULL;
}

static struct flight *bpftrace_text_find_job(struct bpftrace_state *s, uint64_t ctx, uint64_t seqno)
{
	for (unsigned int i = 0; i < s->flights; i++)
		if (s->flight[i].ctx == ctx && s->flight[i].seqno == seqno)
			return &s->flight[i];
	return NULL;
}

/* The jobs of which a COMPLETE without identity can have ended one. Return: how many, @first: the oldest */
static unsigned int candidates(struct bpftrace_state *s, struct flight **first, bool *one_ring)
{
	unsigned int n = 0;

	*one_ring = true;
	for (unsigned int i = 0; i < s->flights; i++) {
		struct flight *f = &s->flight[i];

		if (f->exact)
			continue;
		if (!n++)
			*first = f;
		*one_ring = *one_ring && f->ring == (*first)->ring;
	}
	return n;
}

/* Processes a COMPLETE without identity. */
static void complete_by_order(struct row *r)
{
	struct bpftrace_state *s = r->s;
	struct waiting now = {r->time, r->cpu};
	struct flight *first;
	bool one_ring;
	unsigned int n = candidates(s, &first, &one_ring);

	if (n && first->time <= r->time && one_ring && !s->waitings && !s->unjoined) {
		bpftrace_text_put_end(r->t, first, &now, GRT_FLAG_INFERRED);
		if (first->ring < RINGS && s->behind[first->ring])
			s->behind[first->ring]--;
		bpftrace_text_forget(s, (unsigned int)(first - s->flight));
		return;
	}
	if (s->waitings == WAITING)
		bpftrace_text_give_up(r->t, s, 1);
	s->waiting[s->waitings++] = now;
	if (s->waitings + s->unjoined >= n)
		bpftrace_text_forget_all(r->t, s);
}

/* Rows of the GPU scheduler */

/**
 * struct job_row - what a row has of its job
 * @id: its first column
 * @known: @ctx and @seqno are the job's
 * @exact: they, or @fence, are printed
 */
struct job_row {
	struct grt_span id;
	__u64 ctx;
	__u64 seqno;
	__u64 fence;
	__u64 queued;
	__u64 hw;
	uint32_t ring;
	uint8_t engine;
	bool known;
	bool exact;
};

static void bpftrace_text_name_ring(const struct row *r, struct job_row *j, struct grt_span ring,
				    const char *driver)
{
	if (!grt_span_is(ring, "-"))
		j->ring = grt_text_ring(r->t, r->time, ring.at, ring.len, driver, strlen(driver), &j->engine);
}

/* Finds the job by the fence if that is printed as numbers, otherwise by ring and job id. */
static void bpftrace_text_identify(const struct row *r, struct job_row *j)
{
	struct grt_span fence = {NULL, 0};
	bool printed = GRT_KEY_SPAN(r->p, r->end, "fence=", &fence);

	j->known = j->exact =
		(printed && span_fence(fence, &j->ctx, &j->seqno)) || span_fence(j->id, &j->ctx, &j->seqno);
	if (j->known)
		return;
	j->exact = printed && span_number(fence, &j->fence) && j->fence;
	if (j->ring != GRT_RING_NONE && !is_hex_number(j->id) && span_number(j->id, &j->seqno)) {
		j->ctx = CTX_OF_RING | j->ring;
		j->known = true;
	}
}

/* JOB_ID RING */
static bool read_job(struct row *r, struct job_row *j, struct grt_span *ring)
{
	*j = (struct job_row){.ring = GRT_RING_NONE};
	return grt_scan_token(&r->p, r->end, &j->id) && grt_scan_token(&r->p, r->end, ring);
}

/* JOB_ID RING QUEUED DETAILS */
static bool read_scheduler_job(struct row *r, struct job_row *j)
{
	struct grt_span ring;

	if (!read_job(r, j, &ring) || !column_number_or_none(r, &j->queued))
		return false;
	detail(r, "hw=", &j->hw);
	bpftrace_text_name_ring(r, j, ring, grt_firmware_driver(ring.at, ring.len));
	bpftrace_text_identify(r, j);
	return j->known;
}

static struct grt_event job_head(const struct row *r, enum grt_event_type type, const struct job_row *j)
{
	struct grt_event e = bpftrace_text_head(r, type);

	e.ctx = j->ctx;
	e.seqno = j->seqno;
	e.ring = j->ring;
	e.engine = j->engine;
	return e;
}

static void bpftrace_text_put_submit(const struct row *r, const struct job_row *j)
{
	struct grt_ev_submit submit = {.e = job_head(r, GRT_EV_SUBMIT, j)};

	bpftrace_text_put(r, &submit.e);
}

static void put_commit(const struct row *r, const struct job_row *j)
{
	struct grt_ev_commit commit = {
		.e = job_head(r, GRT_EV_COMMIT, j),
		.sw_depth = grt_u32(j->queued),
		.hw_depth = grt_u32(j->hw),
	};

	bpftrace_text_put(r, &commit.e);
}

static bool row_submit(struct row *r)
{
	struct job_row j;

	if (!read_scheduler_job(r, &j))
		return false;
	bpftrace_text_put_submit(r, &j);
	return true;
}

static bool row_run(struct row *r)
{
	struct job_row j;

	if (!read_scheduler_job(r, &j))
		return false;
	give_up_late(r->t, r->s, r->time);
	if (j.hw)
		settle_ring(r->t, r->s, j.ring, j.hw - 1);
	bpftrace_text_remember(r->s, &(struct flight){.ctx = j.ctx,
						      .seqno = j.seqno,
						      .fence = j.fence,
						      .time = r->time,
						      .ring = j.ring,
						      .engine = j.engine,
						      .exact = j.exact});
	put_commit(r, &j);
	return true;
}

/* JOB_ID or FENCE, and what else the row has */
static void read_complete(struct row *r, struct job_row *j)
{
	struct grt_span ring;

	*j = (struct job_row){.ring = GRT_RING_NONE};
	if (!grt_scan_token(&r->p, r->end, &j->id))
		return;
	if (grt_scan_token(&r->p, r->end, &ring) && !memchr(ring.at, '=', ring.len))
		bpftrace_text_name_ring(r, j, ring, "");
	r->p = j->id.at + j->id.len;
	bpftrace_text_identify(r, j);
	if (!j->fence && is_hex_number(j->id))
		span_number(j->id, &j->fence);
}

static bool row_complete(struct row *r)
{
	struct waiting now = {r->time, r->cpu};
	struct job_row j;
	struct flight *f;

	read_complete(r, &j);
	give_up_late(r->t, r->s, r->time);
	f = j.known ? bpftrace_text_find_job(r->s, j.ctx, j.seqno) : find_fence(r->s, j.fence);
	if (f) {
		bpftrace_text_put_end(r->t, f, &now, 0);
		bpftrace_text_forget(r->s, (unsigned int)(f - r->s->flight));
	} else if (j.known) {
		bpftrace_text_put_end(
			r->t,
			&(struct flight){.ctx = j.ctx, .seqno = j.seqno, .ring = j.ring, .engine = j.engine},
			&now, 0);
	} else {
		complete_by_order(r);
	}
	return true;
}

static bool row_wait_dep(struct row *r)
{
	struct job_row j;
	struct grt_ev_wait_dep dep;

	if (!read_scheduler_job(r, &j))
		return false;
	dep = (struct grt_ev_wait_dep){.e = job_head(r, GRT_EV_WAIT_DEP, &j)};
	if (!detail(r, "ctx=", &dep.dep_ctx) || !detail(r, "seq=", &dep.dep_seqno))
		return false;
	bpftrace_text_put(r, &dep.e);
	return true;
}

/* Rows of amdgpu: JOB_ID RING DETAILS */

static bool read_amdgpu_job(struct row *r, struct job_row *j)
{
	struct grt_span ring;
	__u64 seqno;

	if (!read_job(r, j, &ring) || !detail(r, "seq=", &seqno))
		return false;
	bpftrace_text_name_ring(r, j, ring, "amdgpu");
	bpftrace_text_identify(r, j);
	return j->known;
}

static bool row_cs_ioctl(struct row *r)
{
	struct job_row j;

	if (!read_amdgpu_job(r, &j))
		return false;
	bpftrace_text_put_submit(r, &j);
	return true;
}

static bool row_sched_run(struct row *r)
{
	struct job_row j;

	if (!read_amdgpu_job(r, &j))
		return false;
	put_commit(r, &j);
	return true;
}

static bool row_interrupt(struct row *r)
{
	struct grt_ev_irq irq = {.e = bpftrace_text_head(r, GRT_EV_IRQ)};
	__u64 src, client = GRT_IRQ_CLIENT_UNKNOWN, vmid = UINT16_MAX, pasid = UINT32_MAX;

	if (!detail(r, "src=", &src))
		return false;
	detail(r, "client=", &client);
	detail(r, "vmid=", &vmid);
	detail(r, "pasid=", &pasid);
	irq.source = GRT_IRQ_SOURCE(client, src);
	irq.data = UINT32_MAX;
	irq.hw_ring = UINT16_MAX;
	irq.vmid = grt_u16(vmid);
	irq.pasid = grt_u32(pasid);
	bpftrace_text_put(r, &irq.e);
	return true;
}

static bool row_bo_create(struct row *r)
{
	struct grt_ev_mem_create m = {.e = bpftrace_text_head(r, GRT_EV_MEM_CREATE), .placed = UINT32_MAX};
	__u64 placed;

	if (!column_number(r, &m.object) || !column_number(r, &m.bytes))
		return false;
	if (detail(r, "type=", &placed))
		m.placed = grt_u32(placed);
	bpftrace_text_put_memory(r, &m.e, r->event.at[0] == 'G' ? "i915" : "amdgpu");
	return true;
}

static bool row_bo_move(struct row *r)
{
	struct grt_ev_mem_move m = {
		.e = bpftrace_text_head(r, GRT_EV_MEM_MOVE), .from = UINT32_MAX, .to = UINT32_MAX};

	if (!column_number(r, &m.object) || !column_number(r, &m.bytes))
		return false;
	bpftrace_text_put_memory(r, &m.e, "amdgpu");
	return true;
}

/* Rows of i915: OBJECT SIZE/OFFSET DETAILS */

static bool read_binding(struct row *r, struct grt_ev_mem_bind *m, enum grt_event_type type)
{
	*m = (struct grt_ev_mem_bind){.e = bpftrace_text_head(r, type)};
	if (!column_number(r, &m->object) || !column_number(r, &m->offset) || !detail(r, "size=", &m->bytes))
		return false;
	detail(r, "flags=", &m->mflags);
	return true;
}

static bool row_vma_bind(struct row *r)
{
	struct grt_ev_mem_bind m;

	if (!read_binding(r, &m, GRT_EV_MEM_BIND))
		return false;
	bpftrace_text_put_memory(r, &m.e, "i915");
	return true;
}

static bool row_vma_unbind(struct row *r)
{
	struct grt_ev_mem_bind m;
	struct grt_ev_mem_unbind u;

	if (!read_binding(r, &m, GRT_EV_MEM_UNBIND))
		return false;
	u = (struct grt_ev_mem_unbind){.e = m.e, .object = m.object, .offset = m.offset, .bytes = m.bytes};
	bpftrace_text_put_memory(r, &u.e, "i915");
	return true;
}

static bool row_shrink(struct row *r)
{
	struct grt_ev_mem_shrink m = {.e = bpftrace_text_head(r, GRT_EV_MEM_SHRINK)};
	__u64 object;

	if (!column_number_or_none(r, &object) || !column_number(r, &m.target))
		return false;
	detail(r, "flags=", &m.mflags);
	bpftrace_text_put_memory(r, &m.e, "i915");
	return true;
}

static bool row_fault(struct row *r)
{
	struct grt_ev_mem_fault m = {.e = bpftrace_text_head(r, GRT_EV_MEM_FAULT)};
	struct grt_span through, access;

	if (!column_number(r, &m.object) || !column_number(r, &m.page) ||
	    !grt_scan_token(&r->p, r->end, &through) || !grt_scan_token(&r->p, r->end, &access))
		return false;
	m.gtt = grt_span_is(through, "GTT");
	m.writing = grt_span_is(access, "WRITE");
	bpftrace_text_put_memory(r, &m.e, "i915");
	return true;
}

/* Rows of vertical blanks: CRTC SEQUENCE DETAILS */

static bool read_vblank(struct row *r, uint32_t *crtc, uint32_t *vseq)
{
	__u64 number, sequence;

	if (!column_number(r, &number) || !column_number(r, &sequence))
		return false;
	*crtc = grt_u32(number);
	*vseq = grt_u32(sequence);
	return true;
}

static bool row_vblank(struct row *r)
{
	struct grt_ev_vblank v = {.e = bpftrace_text_head(r, GRT_EV_VBLANK), .stamp = r->time};
	uint32_t crtc;

	if (!read_vblank(r, &crtc, &v.vseq))
		return false;
	v.crtc = crtc > UINT16_MAX ? UINT16_MAX : (uint16_t)crtc;
	v.high_prec = GRT_FIND_KEY(r->p, r->end, "high-prec") != NULL;
	/* The stamp is that of the row: the script does not print when scan-out began. */
	v.e.flags = GRT_FLAG_INFERRED;
	bpftrace_text_put(r, &v.e);
	return true;
}

static bool row_queued(struct row *r)
{
	struct grt_ev_vblank_queued v = {.e = bpftrace_text_head(r, GRT_EV_VBLANK_QUEUED)};

	if (!read_vblank(r, &v.crtc, &v.vseq))
		return false;
	bpftrace_text_put(r, &v.e);
	return true;
}

static bool row_delivered(struct row *r)
{
	struct grt_ev_vblank_delivered v = {.e = bpftrace_text_head(r, GRT_EV_VBLANK_DELIVERED)};

	if (!read_vblank(r, &v.crtc, &v.vseq))
		return false;
	bpftrace_text_put(r, &v.e);
	return true;
}

/* Rows of NVIDIA's device files: COMM PID GPU_ID DETAILS */

#define EVENT_WIDTH 18
#define COMM_WIDTH 16

/* Reads PID GPU_ID after the comm: a number, then "-", a number or an address. */
static bool scan_pid(const char *p, const char *end, __u64 *pid, const char **rest)
{
	struct grt_span token, gpu;
	__u64 number;
	uint32_t bus;
	const char *at;

	if (!grt_scan_token(&p, end, &token) || !span_number(token, pid) || *pid > INT32_MAX ||
	    !grt_scan_token(&p, end, &gpu))
		return false;
	at = gpu.at;
	if (!grt_span_is(gpu, "-") && !span_number(gpu, &number) &&
	    !grt_scan_pci(&at, gpu.at + gpu.len, &bus))
		return false;
	*rest = p;
	return true;
}

/* A comm may contain blanks, so the width of its column decides. */
static bool scan_comm_column(struct row *r, struct grt_span *comm, __u64 *pid)
{
	size_t before = r->event.len > EVENT_WIDTH ? r->event.len + 1 : EVENT_WIDTH + 1;
	const char *start, *behind;

	if ((size_t)(r->end - r->event.at) <= before + COMM_WIDTH)
		return false;
	start = r->event.at + before;
	behind = start + COMM_WIDTH;
	if (start[-1] != ' ' || grt_is_blank(*start) || behind[-1] != ' ' || *behind != ' ')
		return false;
	*comm = grt_span_trim((struct grt_span){start, COMM_WIDTH});
	return scan_pid(behind, r->end, pid, &r->p);
}

/* If the text has lost its columns, the comm ends before the first number that can be the pid. */
static bool scan_comm_words(struct row *r, struct grt_span *comm, __u64 *pid)
{
	const char *start = r->p, *p;
	struct grt_span word;

	grt_scan_blanks(&start, r->end);
	for (p = start; grt_scan_token(&p, r->end, &word);) {
		*comm = (struct grt_span){start, (size_t)(p - start)};
		if (scan_pid(p, r->end, pid, &r->p))
			return true;
	}
	return false;
}

/* The pid is the process, the comm that of its calling thread, whose number is not printed. */
static bool read_call(struct row *r, struct grt_event *e, enum grt_event_type type)
{
	struct grt_span comm;
	__u64 pid;

	*e = bpftrace_text_head(r, type);
	if (!scan_comm_column(r, &comm, &pid) && !scan_comm_words(r, &comm, &pid))
		return false;
	e->pid = e->tid = (uint32_t)pid;
	grt_text_name(r->t, GRT_NAME_THREAD, e->tid, r->time, comm.at, comm.len, comm.at, comm.len);
	return true;
}

static bool row_open(struct row *r)
{
	struct grt_ev_open call = {.fd = GRT_FD_UNKNOWN, .oflags = UINT32_MAX};

	if (!read_call(r, &call.e, GRT_EV_OPEN))
		return false;
	bpftrace_text_put(r, &call.e);
	return true;
}

static bool row_close(struct row *r)
{
	struct grt_ev_close call = {.fd = GRT_FD_UNKNOWN, .at_exit = UINT32_MAX};

	if (!read_call(r, &call.e, GRT_EV_CLOSE))
		return false;
	bpftrace_text_put(r, &call.e);
	return true;
}

static bool row_ioctl(struct row *r)
{
	struct grt_ev_ioctl_enter call = {.fd = GRT_FD_UNKNOWN, .arg = UINT64_MAX};
	__u64 cmd;

	if (!read_call(r, &call.e, GRT_EV_IOCTL_ENTER) || !detail(r, "cmd=", &cmd))
		return false;
	call.cmd = (uint32_t)cmd;
	detail(r, "arg=", &call.arg);
	bpftrace_text_put(r, &call.e);
	return true;
}

static bool row_mmap(struct row *r)
{
	struct grt_ev_mmap call = {.addr = UINT64_MAX, .length = UINT64_MAX};

	if (!read_call(r, &call.e, GRT_EV_MMAP))
		return false;
	detail(r, "size=", &call.length);
	bpftrace_text_put(r, &call.e);
	return true;
}

static bool row_poll(struct row *r)
{
	struct grt_ev_poll call = {.fd = GRT_FD_UNKNOWN, .events = UINT32_MAX};

	if (!read_call(r, &call.e, GRT_EV_POLL))
		return false;
	bpftrace_text_put(r, &call.e);
	return true;
}

/* An event that the script saw in the driver: the row's name and its details. */
static bool row_event(struct row *r)
{
	struct grt_ev_func x = {.step = GRT_FUNC_EVENT};
	struct grt_span text;

	if (!read_call(r, &x.e, GRT_EV_FUNC))
		return false;
	text = grt_span_trim((struct grt_span){r->p, (size_t)(r->end - r->p)});
	memcpy(x.function, r->event.at,
	       r->event.len < sizeof(x.function) ? r->event.len : sizeof(x.function));
	memcpy(x.text, text.at, text.len < sizeof(x.text) ? text.len : sizeof(x.text));
	bpftrace_text_put(r, &x.e);
	return true;
}

/* The number and the message are in a line of their own, without a time stamp. */
static bool row_xid(struct row *r)
{
	struct grt_ev_xid xid = {.code = 0};
	struct grt_span dev;

	if (!read_call(r, &xid.e, GRT_EV_XID))
		return false;
	if (GRT_KEY_SPAN(r->p, r->end, "dev=", &dev))
		grt_scan_pci(&dev.at, r->end, &xid.bus);
	if (r->s->xid.e.type)
		grt_text_unknown(r->t, "XID_ERROR", strlen("XID_ERROR"));
	r->s->xid = xid;
	return true;
}

static bool bpftrace_text_begins(const char *p, const char *end, const char *text)
{
	return grt_scan_text(&p, end, text, strlen(text));
}

/*
 * Return: whether a line is what bpftrace and its scripts print around rows and maps: attached probes, rules,
 * captions, bars of histograms.
 */
static bool bpftrace_text_is_around(const char *p, const char *end)
{
	static const char *const beginnings[] = {
		"Attach", "Tracing ", "WARNING: ", "cannot attach", "^C", "===", "---", "[", "(", "\xe2"};

	grt_scan_blanks(&p, end);
	end = p + grt_span_trim((struct grt_span){p, (size_t)(end - p)}).len;
	if (p == end || end[-1] == ':' || end[-1] == '|')
		return true;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (bpftrace_text_begins(p, end, beginnings[i]))
			return true;
	return false;
}

/* Processes a caption between two rules. */
static bool captions(struct bpftrace_state *s, const char *line, const char *end)
{
	bool was = s->rule;

	s->rule = bpftrace_text_begins(line, end, "===") || bpftrace_text_begins(line, end, "---");
	return was;
}

/* "  └─ Xid: N - MESSAGE" */
static enum grt_text_line xid_number(struct grt_text *t, const char *line, const char *end)
{
	struct bpftrace_state *s = grt_text_state(t);
	const char *p = grt_find_text(line, end, "Xid: ", 5);
	uint64_t code;

	if (!p || p - line > 8 || !s->xid.e.type)
		return captions(s, line, end) || bpftrace_text_is_around(line, end) ? GRT_LINE_SKIP
										    : GRT_LINE_BAD;
	p += 5;
	if (!grt_scan_u64(&p, end, &code))
		return GRT_LINE_BAD;
	s->xid.code = grt_u32(code);
	grt_scan_text(&p, end, " - ", 3);
	grt_xid_set_text(&s->xid, p, 0, p, (size_t)(end - p));
	grt_text_put(t, &s->xid.e, 0);
	s->xid = (struct grt_ev_xid){.code = 0};
	return GRT_LINE_DONE;
}

/* Lines */

/* The rows, the frequent ones first. Rows without a function are not recorded. */
static const struct row_kind {
	const char *event;
	size_t len;
	bool (*read)(struct row *r);
} row_kinds[] = {
#define ROW(event, read)                       \
	{                                      \
		event, sizeof(event) - 1, read \
	}
	ROW("RUN", row_run),
	ROW("COMPLETE", row_complete),
	ROW("WAIT_DEP", row_wait_dep),
	ROW("SUBMIT", row_submit),
	ROW("IOCTL", row_ioctl),
	ROW("CS_IOCTL", row_cs_ioctl),
	ROW("SCHED_RUN", row_sched_run),
	ROW("INTERRUPT", row_interrupt),
	ROW("VBLANK", row_vblank),
	ROW("QUEUED", row_queued),
	ROW("DELIVERED", row_delivered),
	ROW("GEM_CREATE", row_bo_create),
	ROW("VMA_BIND", row_vma_bind),
	ROW("VMA_UNBIND", row_vma_unbind),
	ROW("FAULT", row_fault),
	ROW("SHRINK", row_shrink),
	ROW("BO_CREATE", row_bo_create),
	ROW("BO_MOVE", row_bo_move),
	ROW("MMAP", row_mmap),
	ROW("POLL", row_poll),
	ROW("OPEN", row_open),
	ROW("CLOSE", row_close),
	ROW("XID_ERROR", row_xid),
	ROW("EVICT", NULL),
	ROW("PREAD", NULL),
	ROW("PWRITE", NULL),
	ROW("CS_PROCESS", NULL),
	ROW("VM_FLUSH", NULL),
	ROW("VM_BO_MAP", NULL),
	ROW("VM_BO_UNMAP", NULL),
	ROW("REG_READ", NULL),
	ROW("REG_WRITE", NULL),
	ROW("PAGE_FAULT", row_event),
	ROW("P2P_GET_PAGES", row_event),
	ROW("P2P_DMA_MAP", row_event),
	ROW("SUSPEND", row_event),
	ROW("RESUME", row_event),
#undef ROW
};

static const struct row_kind *bpftrace_text_find_kind(struct grt_span event)
{
	for (size_t i = 0; i < sizeof(row_kinds) / sizeof(row_kinds[0]); i++) {
		const struct row_kind *k = &row_kinds[i];

		if (k->len == event.len && k->event[0] == event.at[0] && !memcmp(k->event, event.at, k->len))
			return k;
	}
	return NULL;
}

/* Milliseconds, with or without a fraction. */
static inline bool scan_ms(const char **p, const char *end, uint64_t *ns)
{
	const char *q = *p;
	uint64_t ms = 0, frac = 0, unit = NS_PER_MS;

	/* so few digits cannot overflow */
	for (const char *stop = end - q > 12 ? q + 12 : end; q < stop && grt_is_digit(*q); q++)
		ms = ms * 10 + (uint64_t)(*q - '0');
	if (q < end && grt_is_digit(*q)) {
		q = *p;
		grt_scan_u64(&q, end, &ms);
	}
	if (q == *p)
		return false;
	if (q < end && *q == '.') {
		for (q++; q < end && grt_is_digit(*q); q++) {
			unit /= 10;
			frac += (uint64_t)(*q - '0') * unit;
		}
	}
	if (q >= end || !grt_is_blank(*q))
		return false;
	*ns = ms > UINT64_MAX / NS_PER_MS - 1 ? UINT64_MAX : ms * NS_PER_MS + frac;
	*p = q;
	return true;
}

static bool bpftrace_text_scan_time(struct grt_day *day, const char **p, const char *end, uint64_t *ns)
{
	if (scan_ms(p, end, ns))
		return true;
	if (!grt_scan_time_of_day(p, end, ns))
		return false;
	*ns = grt_day_time(day, *ns);
	return true;
}

/* "[CPU03]" */
static void bpftrace_text_scan_cpu(struct row *r)
{
	const char *p = r->p;
	uint64_t cpu;

	grt_scan_blanks(&p, r->end);
	if (!GRT_SCAN_WORD(&p, r->end, "[CPU") || !grt_scan_u64(&p, r->end, &cpu) ||
	    !grt_scan_char(&p, r->end, ']'))
		return;
	r->cpu = grt_u32(cpu);
	r->p = p;
}

/* An event's name: capitals, digits and underscores. */
static bool bpftrace_text_scan_event(struct row *r)
{
	if (!grt_scan_token(&r->p, r->end, &r->event) || r->event.len < 3 || r->event.len > 32)
		return false;
	for (size_t i = 0; i < r->event.len; i++) {
		char c = r->event.at[i];

		if (!(c >= 'A' && c <= 'Z') && c != '_' && !(i && grt_is_digit(c)))
			return false;
	}
	return true;
}

/* Whether an unknown event is a row nevertheless, because it has the columns of one. */
static bool has_columns(const struct row *r)
{
	return r->cpu != UINT32_MAX || (r->event.at[-1] == ' ' && r->event.at[-2] == ' ');
}

static enum grt_text_line bpftrace_text_read_row(struct row *r)
{
	const struct row_kind *kind;

	r->cpu = UINT32_MAX;
	bpftrace_text_scan_cpu(r);
	if (!bpftrace_text_scan_event(r))
		return GRT_LINE_BAD;
	kind = bpftrace_text_find_kind(r->event);
	if (!kind && !has_columns(r))
		return GRT_LINE_BAD;
	if (r->cpu == UINT32_MAX)
		r->cpu = 0;
	if (r->time > r->s->last)
		r->s->last = r->time;
	if (kind && kind->read)
		return kind->read(r) ? GRT_LINE_DONE : GRT_LINE_BAD;
	grt_text_unknown(r->t, r->event.at, r->event.len);
	return GRT_LINE_DONE;
}

/* Reads the name of a map, before the key: "@name: N", "@name[key]: N", or "@name:" above a histogram. */
static bool scan_map(const char **p, const char *end, struct grt_span *name)
{
	const char *q = *p;

	if (!grt_scan_char(&q, end, '@'))
		return false;
	while (q < end && (grt_is_digit(*q) || *q == '_' || (unsigned char)((*q | 0x20) - 'a') < 26))
		q++;
	*name = (struct grt_span){*p, (size_t)(q - *p)};
	*p = q;
	return q < end && (*q == '[' || *q == ':');
}

/* Reads the number after the last "]: " or ": ", if nothing follows it. */
static bool map_number(struct grt_span name, const char *end, struct grt_span *entry, int64_t *value)
{
	const char *p = end, *start = name.at;

	while (p > start && (grt_is_digit(p[-1]) || p[-1] == '-'))
		p--;
	if (p == end || p - start < 4 || p[-1] != ' ' || p[-2] != ':')
		return false;
	/* without the @ */
	*entry = (struct grt_span){start + 1, (size_t)(p - 2 - start) - 1};
	return grt_scan_s64(&p, end, value) && p == end;
}

/* An entry of a map; its counter's number is its place in the text. */
static void take_map(struct grt_text *t, struct grt_span name, const char *end)
{
	struct bpftrace_state *s = grt_text_state(t);
	struct grt_ev_counter x = {.e = {.time = s->last, .type = GRT_EV_COUNTER, .ring = GRT_RING_NONE}};
	struct grt_span entry;
	int64_t value;

	while (end > name.at && grt_is_blank(end[-1]))
		end--;
	/* without a row before it, the time is unknown */
	if (!s->last || s->counters >= COUNTERS || !map_number(name, end, &entry, &value)) {
		grt_text_unknown(t, name.at, name.len);
		return;
	}
	x.counter = ++s->counters;
	x.value = value;
	grt_text_name(t, GRT_NAME_COUNTER, x.counter, s->last, entry.at, entry.len, "", 0);
	grt_text_put(t, &x.e, 0);
}

static bool scan_lost(const char *p, const char *end, uint64_t *events)
{
	return GRT_SCAN_WORD(&p, end, "Lost ") && grt_scan_u64(&p, end, events) &&
	       GRT_SCAN_WORD(&p, end, " events");
}

static bool is_header(const char *p, const char *end)
{
	return GRT_SCAN_WORD(&p, end, "TIME(ms) ");
}

/* Processes a line without a time stamp. */
static enum grt_text_line read_other(struct grt_text *t, const char *line, const char *end)
{
	const char *p = line;
	struct grt_span map;
	uint64_t events;

	if (scan_map(&p, end, &map))
		take_map(t, map, end);
	else if (scan_lost(line, end, &events))
		grt_text_lost(t, events);
	else if (is_header(line, end))
		bpftrace_text_forget_all(t, grt_text_state(t));
	else
		return xid_number(t, line, end);
	return GRT_LINE_SKIP;
}

static void bpftrace_end(struct grt_text *t)
{
	bpftrace_text_forget_all(t, grt_text_state(t));
}

static enum grt_text_line bpftrace_line(struct grt_text *t, const char *line, const char *end)
{
	struct row r = {.t = t, .s = grt_text_state(t)};

	grt_scan_blanks(&line, end);
	if (line < end && grt_is_digit(*line) && bpftrace_text_scan_time(&r.s->day, &line, end, &r.time)) {
		r.p = line;
		r.end = end;
		return bpftrace_text_read_row(&r);
	}
	return read_other(t, line, end);
}

static bool is_capital(const char *p, const char *end)
{
	return p < end && ((*p >= 'A' && *p <= 'Z') || *p == '_');
}

/*
 * Days are counted here as they are when the line is read. That an event's name
 * follows is looked at no closer than two letters.
 */
static bool bpftrace_time(const char *line, const char *end, uint64_t *ns, size_t *hint)
{
	struct row r = {.end = end};

	grt_scan_blanks(&line, end);
	if (line == end || !grt_is_digit(*line) ||
	    !bpftrace_text_scan_time((struct grt_day *)hint, &line, end, ns))
		return false;
	r.p = line;
	bpftrace_text_scan_cpu(&r);
	grt_scan_blanks(&r.p, end);
	return is_capital(r.p, end) && is_capital(r.p + 1, end);
}

/* Return: which step of a job's life a row reports. */
static unsigned int bpftrace_text_step_of(const struct row_kind *kind)
{
	static bool (*const steps[])(struct row * r) = {row_cs_ioctl,  row_submit, row_wait_dep,
							row_sched_run, row_run,	   row_complete};

	for (unsigned int i = 0; kind && i < sizeof(steps) / sizeof(steps[0]); i++)
		if (kind->read == steps[i])
			return i + 1;
	return 0;
}

static enum grt_text_place bpftrace_place(struct grt_text *t, const char *line, const char *end,
					  struct grt_order_place *place, size_t *hint)
{
	struct row r = {.t = t, .end = end};
	const char *begin = line;

	grt_scan_blanks(&line, end);
	if (line == end || !grt_is_digit(*line) ||
	    !bpftrace_text_scan_time((struct grt_day *)hint, &line, end, &place->time))
		return GRT_PLACE_BEHIND;
	r.p = line;
	bpftrace_text_scan_cpu(&r);
	if (!bpftrace_text_scan_event(&r))
		return GRT_PLACE_BEHIND;
	place->step = bpftrace_text_step_of(bpftrace_text_find_kind(r.event));
	place->from = (size_t)(r.event.at - begin);
	return GRT_PLACE_STAMP;
}

static bool bpftrace_takes(const char *line, const char *end)
{
	struct row r = {.cpu = UINT32_MAX};
	struct grt_span map;
	bool timed;

	grt_scan_blanks(&line, end);
	timed = grt_scan_time_of_day(&line, end, &r.time);
	r.p = line;
	r.end = end;
	if (timed)
		bpftrace_text_scan_cpu(&r);
	else
		timed = scan_ms(&r.p, end, &r.time);
	if (timed)
		return bpftrace_text_scan_event(&r) &&
		       (r.cpu != UINT32_MAX || bpftrace_text_find_kind(r.event));
	if (is_header(line, end))
		return true;
	return scan_map(&line, end, &map) ||
	       (GRT_SCAN_WORD(&line, end, "Attaching ") && grt_find_text(line, end, " probe", 6));
}

const struct grt_text_format grt_text_bpftrace_text = {
	.name = "bpftrace_text",
	.takes = bpftrace_takes,
	.time = bpftrace_time,
	.learned_size = sizeof(struct grt_day),
	.line = bpftrace_line,
	.in_time = true,
	.place = bpftrace_place,
	.end = bpftrace_end,
	.state_size = sizeof(struct bpftrace_state),
	.back = WAITING_MAX,
};
