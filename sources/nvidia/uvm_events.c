// SPDX-License-Identifier: GPL-2.0
/* Converts each type of entry to an event, see uvm_events.h. */
#include "uvm_events.h"

#include <string.h>

#include "host/nvidia_devices.h"

/*
 * uvm_make_resident_cause_t (uvm_va_block_types.h): for a copy between nodes of the CPU's memory, the driver
 * gives this number and not the one of the queue.
 */
static const uint8_t causes_of_cpu[] = {
	GRT_UVM_CAUSE_COHERENCE, GRT_UVM_CAUSE_COHERENCE, GRT_UVM_CAUSE_ACCESS_COUNTERS,
	GRT_UVM_CAUSE_PREFETCH,	 GRT_UVM_CAUSE_EVICTION,  0,
	GRT_UVM_CAUSE_USER,	 GRT_UVM_CAUSE_COHERENCE, GRT_UVM_CAUSE_USER,
};

static uint32_t device_of(const struct uvm_place *p, uint16_t number)
{
	uint32_t device = number < NV_UVM_PROCESSORS ? p->device[number] : UINT32_MAX;

	return device == UINT32_MAX ? NVIDIA_MAJOR << 20 | UVM_OTHER_GPU | number : device;
}

static void set_common(const struct uvm_place *p, struct grt_event *e, uint16_t type, size_t size,
		       uint64_t time, uint32_t device)
{
	*e = (struct grt_event){
		.time = p->time(p->arg, time),
		.type = type,
		.size = (uint16_t)size,
		.pid = p->pid,
		.tid = p->pid,
		.ring = GRT_RING_NONE,
		.device = device,
	};
}

static uint32_t node_of(uint16_t processor, int32_t node)
{
	return processor || node < 0 ? UINT32_MAX : (uint32_t)node;
}

static uint32_t cause_of(const struct nv_uvm_migration *m)
{
	if (m->source || m->target)
		return m->cause;
	return m->cause < sizeof(causes_of_cpu) ? causes_of_cpu[m->cause] : 0;
}

/*
 * Sets times from the GPU's time stamps or, if its clock is unknown, the time from the queue to the notice.
 */
static void set_times(const struct uvm_place *p, const struct nv_uvm_migration *m,
		      struct grt_ev_uvm_migration *out)
{
	uint64_t start = p->gpu_time(p->arg, out->e.device, m->gpu_begin);
	uint64_t end = p->gpu_time(p->arg, out->e.device, m->gpu_end);

	out->queued = p->time(p->arg, m->begin);
	out->start = start && end ? start : out->queued;
	if (start && end)
		out->e.time = end;
	else if (m->source || m->target)
		out->e.flags |= GRT_FLAG_INFERRED;
	/* the clocks may differ by their error */
	if (out->e.time < out->start)
		out->e.time = out->start;
}

/* If two GPUs are involved, the one that has the data copies. */
static void make_migration(const struct uvm_place *p, const struct nv_uvm_migration *m,
			   struct grt_ev_uvm_migration *out)
{
	uint32_t from = device_of(p, m->source), to = device_of(p, m->target);

	set_common(p, &out->e, GRT_EV_UVM_MIGRATION, sizeof(*out), m->end ? m->end : m->begin,
		   from ? from : to);
	set_times(p, m, out);
	out->address = m->address;
	out->bytes = m->bytes;
	out->from_device = from;
	out->to_device = to;
	out->from_node = node_of(m->source, m->source_node);
	out->to_node = node_of(m->target, m->target_node);
	out->cause = cause_of(m);
}

static void make_cpu_fault(const struct uvm_place *p, const struct nv_uvm_cpu_fault *f,
			   struct grt_ev_uvm_fault *out)
{
	set_common(p, &out->e, GRT_EV_UVM_FAULT, sizeof(*out), f->time, 0);
	out->e.pid = f->pid;
	out->e.tid = f->tid;
	out->address = f->address;
	out->pc = f->pc;
	out->access = f->access;
	out->met_by = f->cpu;
	out->batch = out->unit = out->client = UINT32_MAX;
}

static void make_gpu_fault(const struct uvm_place *p, const struct nv_uvm_gpu_fault *f,
			   struct grt_ev_uvm_fault *out)
{
	set_common(p, &out->e, GRT_EV_UVM_FAULT, sizeof(*out), f->time, device_of(p, f->gpu));
	out->address = f->address;
	out->met = p->gpu_time(p->arg, out->e.device, f->gpu_time);
	out->access = f->access;
	out->fault = f->fault;
	out->met_by = UINT32_MAX;
	out->batch = f->batch;
	out->unit = f->unit;
	out->client = f->client;
	out->replayed = f->client_type == NV_UVM_CLIENT_GPC;
}

static void make_fatal(const struct uvm_place *p, const struct nv_uvm_fatal *f, struct grt_ev_uvm_fatal *out)
{
	set_common(p, &out->e, GRT_EV_UVM_FATAL, sizeof(*out), f->time, device_of(p, f->processor));
	out->address = f->address;
	out->access = f->access;
	out->fault = f->processor ? f->fault : 0;
	out->reason = f->reason;
}

static void make_replay(const struct uvm_place *p, const struct nv_uvm_replay *r,
			struct grt_ev_uvm_replay *out)
{
	set_common(p, &out->e, GRT_EV_UVM_REPLAY, sizeof(*out), r->time, device_of(p, r->gpu));
	out->done = p->gpu_time(p->arg, out->e.device, r->gpu_time);
	out->batch = r->batch;
	out->replayed = r->client_type == NV_UVM_CLIENT_GPC;
}

static void make_remote(const struct uvm_place *p, const struct nv_uvm_remote *r,
			struct grt_ev_uvm_remote *out)
{
	set_common(p, &out->e, GRT_EV_UVM_REMOTE, sizeof(*out), r->time, device_of(p, r->source));
	out->address = r->address;
	out->bytes = r->size;
	out->since = p->gpu_time(p->arg, out->e.device, r->gpu_time);
	out->to_device = device_of(p, r->target);
	out->cause = r->cause;
}

/* ------------------------------------------------------------------ pages */

static struct grt_ev_uvm_pages *set_pages(const struct uvm_place *p, struct grt_ev_uvm_pages *out,
					  uint8_t what, uint64_t time, uint32_t device)
{
	set_common(p, &out->e, GRT_EV_UVM_PAGES, sizeof(*out), time, device);
	out->what = what;
	return out;
}

static void add_processor(const struct uvm_place *p, struct grt_ev_uvm_pages *out, uint16_t number)
{
	uint32_t device = device_of(p, number), minor = device & 0xfffff;

	if (!device)
		out->with_cpu = 1;
	else
		out->gpus |= 1ULL << (minor < 63 ? minor : 63);
}

static void make_group(const struct uvm_place *p, const struct nv_uvm_group *g, struct grt_ev_uvm_pages *out)
{
	set_pages(p, out, g->type, g->time, 0);
	out->address = g->address;
	out->bytes = g->size;
	for (uint16_t i = 0; i < NV_UVM_PROCESSORS; i++)
		if (g->processors[i / 64] >> i % 64 & 1)
			add_processor(p, out, i);
}

static void make_alone(const struct uvm_place *p, const struct nv_uvm_alone *a, struct grt_ev_uvm_pages *out)
{
	set_pages(p, out, a->type, a->time, device_of(p, a->processor));
	out->address = a->address;
	out->bytes = a->size;
	add_processor(p, out, a->processor);
}

static void make_throttle(const struct uvm_place *p, const struct nv_uvm_throttle *t,
			  struct grt_ev_uvm_pages *out)
{
	set_pages(p, out, t->type, t->time, device_of(p, t->processor));
	out->address = t->address;
	add_processor(p, out, t->processor);
}

static void make_page_size(const struct uvm_place *p, const struct nv_uvm_page_size *s,
			   struct grt_ev_uvm_pages *out)
{
	set_pages(p, out, s->type, s->time, device_of(p, s->processor));
	out->address = s->address;
	out->bytes = s->size;
	add_processor(p, out, s->processor);
}

static void make_eviction(const struct uvm_place *p, const struct nv_uvm_eviction *v,
			  struct grt_ev_uvm_pages *out)
{
	set_pages(p, out, v->type, v->time, device_of(p, v->source));
	out->address = v->address;
	out->bytes = v->size;
	out->other = v->wanted;
	add_processor(p, out, v->source);
}

bool uvm_event_make(const struct uvm_place *p, const union nv_uvm_entry *entry, union uvm_event *out)
{
	memset(out, 0, sizeof(*out));
	switch (entry->type) {
	case NV_UVM_CPU_FAULT:
		make_cpu_fault(p, &entry->cpu_fault, &out->fault);
		break;
	case NV_UVM_MIGRATION:
		make_migration(p, &entry->migration, &out->migration);
		break;
	case NV_UVM_GPU_FAULT:
		make_gpu_fault(p, &entry->gpu_fault, &out->fault);
		break;
	case NV_UVM_GPU_REPLAY:
		make_replay(p, &entry->replay, &out->replay);
		break;
	case NV_UVM_FATAL:
		make_fatal(p, &entry->fatal, &out->fatal);
		break;
	case NV_UVM_READ_DUPLICATE:
	case NV_UVM_THRASHING:
		make_group(p, &entry->group, &out->pages);
		break;
	case NV_UVM_DUPLICATE_ENDS:
		make_alone(p, &entry->alone, &out->pages);
		break;
	case NV_UVM_THROTTLING:
	case NV_UVM_THROTTLING_ENDS:
		make_throttle(p, &entry->throttle, &out->pages);
		break;
	case NV_UVM_PAGE_SIZE:
		make_page_size(p, &entry->page_size, &out->pages);
		break;
	case NV_UVM_MAP_REMOTE:
		make_remote(p, &entry->remote, &out->remote);
		break;
	case NV_UVM_EVICTION:
		make_eviction(p, &entry->eviction, &out->pages);
		break;
	default:
		return false;
	}
	return true;
}

unsigned int uvm_entry_processors(const union nv_uvm_entry *entry, uint16_t number[2])
{
	switch (entry->type) {
	case NV_UVM_MIGRATION:
	case NV_UVM_MAP_REMOTE:
	case NV_UVM_EVICTION:
		/* all three structs have these members at the same offsets */
		number[0] = entry->migration.source;
		number[1] = entry->migration.target;
		return 2;
	case NV_UVM_GPU_FAULT:
	case NV_UVM_GPU_REPLAY:
	case NV_UVM_DUPLICATE_ENDS:
	case NV_UVM_THROTTLING:
	case NV_UVM_THROTTLING_ENDS:
	case NV_UVM_PAGE_SIZE:
		number[0] = entry->gpu_fault.gpu;
		return 1;
	case NV_UVM_FATAL:
		number[0] = entry->fatal.processor;
		return 1;
	}
	return 0;
}
