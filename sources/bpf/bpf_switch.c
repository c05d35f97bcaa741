// SPDX-License-Identifier: GPL-2.0
/*
 * Conclusions about a ring's running context, see bpf_switch.h. The events come
 * in the order of the ring buffer, which is that of all CPUs.
 */
#include "bpf_switch.h"

#include <errno.h>
#include <string.h>

/* From the time of @e on, the first job of the ring runs. */
static int runs(struct grt_bpf_switch *s, struct grt_packer *p, unsigned int cpu, const struct grt_event *e)
{
	const struct grt_bpf_switch_job *j = &s->job[0];
	struct grt_ev_ctx_switch c = {
		.e =
			{
				.time = e->time,
				.type = GRT_EV_CTX_SWITCH,
				.size = sizeof(c),
				.flags = GRT_FLAG_BPF | GRT_FLAG_INFERRED,
				.engine = e->engine,
				.pid = j->pid,
				.tid = j->tid,
				.ctx = j->ctx,
				.seqno = j->seqno,
				.ring = e->ring,
				.device = e->device,
			},
		.prev_ctx = s->owner,
	};
	bool changed = s->known && s->owner != j->owner;
	int ret;

	s->known = true;
	s->owner = j->owner;
	if (!changed)
		return 0;
	ret = grt_packer_add(p, cpu, &c.e);
	return ret == -ERANGE ? 0 : ret;
}

static int committed(struct grt_bpf_switch *s, struct grt_packer *p, unsigned int cpu,
		     const struct grt_event *e, uint64_t owner)
{
	if (s->jobs == BPF_SWITCH_JOBS || s->beyond) {
		s->beyond++;
		return 0;
	}
	s->job[s->jobs++] =
		(struct grt_bpf_switch_job){e->ctx, e->seqno, owner ? owner : e->ctx, e->pid, e->tid};
	return s->jobs == 1 ? runs(s, p, cpu, e) : 0;
}

static int grt_bpf_switch_ended(struct grt_bpf_switch *s, struct grt_packer *p, unsigned int cpu,
				const struct grt_event *e)
{
	unsigned int i = 0;

	while (i < s->jobs && (s->job[i].ctx != e->ctx || s->job[i].seqno != e->seqno))
		i++;
	if (i == s->jobs) {
		s->beyond -= s->beyond > 0;
		return 0;
	}
	s->jobs--;
	memmove(&s->job[i], &s->job[i + 1], (s->jobs - i) * sizeof(s->job[0]));
	/* once the last of these has ended, it is unknown which jobs run */
	if (!s->jobs && s->beyond)
		s->known = false;
	return !i && s->jobs ? runs(s, p, cpu, e) : 0;
}

bool grt_bpf_switch_looks_at(const struct grt_event *e)
{
	return e->type == GRT_EV_SUBMIT || e->type == GRT_EV_COMMIT || e->type == GRT_EV_END;
}

int grt_bpf_switch_see(struct grt_bpf_switch *s, struct grt_packer *p, unsigned int cpu,
		       const struct grt_event *e)
{
	if (e->type == GRT_EV_SUBMIT && e->flags & GRT_FLAG_COMMIT)
		return committed(s, p, cpu, e, ((const struct grt_ev_submit *)e)->hw_ctx);
	if (e->type == GRT_EV_COMMIT)
		return committed(s, p, cpu, e, 0);
	return e->type == GRT_EV_END ? grt_bpf_switch_ended(s, p, cpu, e) : 0;
}
