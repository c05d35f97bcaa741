// SPDX-License-Identifier: GPL-2.0
/*
 * amdgpu: its jobs are the DRM scheduler's; the driver reports besides how many
 * command buffers (IBs) a submit has, interrupts, and where buffers lie.
 *
 * Tracepoints (Linux 5.15 to 7.3, drivers/gpu/drm/amd/amdgpu/amdgpu_trace.h):
 *
 *	amdgpu_cs_ioctl       (struct amdgpu_job *): SUBMIT.cmd is num_ibs
 *	amdgpu_sched_run_job  (struct amdgpu_job *)
 *	amdgpu_iv             (unsigned int ih, struct amdgpu_iv_entry *): IRQ; source
 *			      is client_id << 16 | src_id, data is src_data[0]
 *	amdgpu_bo_create      (struct amdgpu_bo *): MEM_CREATE
 *	amdgpu_bo_move        (struct amdgpu_bo *, u32 to, u32 from): MEM_MOVE
 *	amdgpu_vm_bo_map      (struct amdgpu_bo_va *, struct amdgpu_bo_va_mapping *):
 *			      MEM_BIND
 *	amdgpu_vm_bo_unmap    the same: MEM_UNBIND
 *
 * The first member of struct amdgpu_job is struct drm_sched_job, in all of these
 * versions. What else is read in the driver's structs is read where `offsets`
 * says, and is 0, or 4294967295 where 0 means something, until that is known.
 *
 * A submit passes amdgpu_cs_ioctl right before the scheduler's queue event, in
 * the same thread. The driver's own jobs (page tables, clears, moves) have no
 * ioctl: their cmd is 0. Where the scheduler's events have names that are not
 * known here, amdgpu_cs_ioctl is SUBMIT and amdgpu_sched_run_job COMMIT.
 */
#include "drm_sched.h"

#define DRIVER "amdgpu"

/* the unit of mapping.start and .last */
#define GPU_PAGE_SHIFT 12

#define UNKNOWN U32_MAX

/* Most submits between their two events at a time, one for each thread in between. */
#define SUBMITS 256
#define SUBMIT_TRIES 16

enum field {
	JOB_NUM_IBS,
	IV_CLIENT_ID,
	IV_SRC_ID,
	IV_SRC_DATA,
	IV_RING_ID,
	IV_VMID,
	IV_PASID,
	BO_SIZE,
	BO_DEV,
	BO_RESOURCE,
	BO_PREFERRED_DOMAINS,
	BO_ALLOWED_DOMAINS,
	BO_FLAGS,
	RESOURCE_MEM_TYPE,
	DEVICE_PRIMARY,
	MINOR_INDEX,
	BO_VA_VM,
	BO_VA_BO,
	MAPPING_START,
	MAPPING_LAST,
	MAPPING_FLAGS,
};

static struct grtrace_field fields[] = {
	[JOB_NUM_IBS] = { "amdgpu_job", "num_ibs" },
	[IV_CLIENT_ID] = { "amdgpu_iv_entry", "client_id" },
	[IV_SRC_ID] = { "amdgpu_iv_entry", "src_id" },
	[IV_SRC_DATA] = { "amdgpu_iv_entry", "src_data" },
	[IV_RING_ID] = { "amdgpu_iv_entry", "ring_id" },
	[IV_VMID] = { "amdgpu_iv_entry", "vmid" },
	[IV_PASID] = { "amdgpu_iv_entry", "pasid" },
	[BO_SIZE] = { "amdgpu_bo", "tbo.base.size" },
	[BO_DEV] = { "amdgpu_bo", "tbo.base.dev" },
	[BO_RESOURCE] = { "amdgpu_bo", "tbo.resource" },
	[BO_PREFERRED_DOMAINS] = { "amdgpu_bo", "preferred_domains" },
	[BO_ALLOWED_DOMAINS] = { "amdgpu_bo", "allowed_domains" },
	[BO_FLAGS] = { "amdgpu_bo", "flags" },
	[RESOURCE_MEM_TYPE] = { "ttm_resource", "mem_type" },
	[DEVICE_PRIMARY] = { "drm_device", "primary" },
	[MINOR_INDEX] = { "drm_minor", "index" },
	[BO_VA_VM] = { "amdgpu_bo_va", "base.vm" },
	[BO_VA_BO] = { "amdgpu_bo_va", "base.bo" },
	[MAPPING_START] = { "amdgpu_bo_va_mapping", "start" },
	[MAPPING_LAST] = { "amdgpu_bo_va_mapping", "last" },
	[MAPPING_FLAGS] = { "amdgpu_bo_va_mapping", "flags" },
};

struct amdgpu_job;
struct amdgpu_iv_entry;
struct amdgpu_bo;
struct amdgpu_bo_va;
struct amdgpu_bo_va_mapping;

/* Jobs that have passed amdgpu_cs_ioctl, but not yet the scheduler's queue. */
static atomic64_t submits[SUBMITS];

static u64 grt_amdgpu_field(enum field f, const void *object, u64 unknown)
{
	grtrace_field_read(&fields[f], object, &unknown);
	return unknown;
}

static const void *grt_amdgpu_pointer(enum field f, const void *object)
{
	return (const void *)(unsigned long)grt_amdgpu_field(f, object, 0);
}

/* Jobs. */

static bool sched_follows(const char *driver)
{
	return !strcmp(driver, DRIVER);
}

/*
 * The address, whose upper bits are always set, and the low bits of the seqno, because addresses
 * are reused.
 */
static u64 grt_amdgpu_submit_key(const struct drm_sched_job *sj)
{
	return (u64)(unsigned long)sj << 16 | (u16)sj->s_fence->finished.seqno;
}

static bool grt_amdgpu_replace_submit(u64 key, u64 from, u64 to)
{
	unsigned int i, at = hash_64(key >> 16, ilog2(SUBMITS));

	for (i = 0; i < SUBMIT_TRIES; i++)
		if (atomic64_cmpxchg(&submits[(at + i) % SUBMITS], from, to) == from)
			return true;
	return false;
}

static u32 grt_amdgpu_num_ibs(const struct drm_sched_job *sj)
{
	return grt_amdgpu_field(JOB_NUM_IBS, sj, 0);
}

/* A job that has just passed amdgpu_cs_ioctl. */
static u32 sched_command(const struct drm_sched_job *sj)
{
	u64 key = grt_amdgpu_submit_key(sj);

	return grt_amdgpu_replace_submit(key, key, 0) ? grt_amdgpu_num_ibs(sj) : 0;
}

static bool grt_amdgpu_scheduler_reports(enum sched_role role)
{
	return grtrace_role_is_reported(&adapter, role);
}

static void grt_amdgpu_on_cs_ioctl(void *data, struct amdgpu_job *amdgpu_job)
{
	struct drm_sched_job *sj = (struct drm_sched_job *)amdgpu_job;
	struct grtrace_job job;
	u64 key;

	if (!sched_job(sj, &job))
		return;
	if (!grt_amdgpu_scheduler_reports(SCHED_ROLE_QUEUE)) {
		grtrace_submit(&job, grt_amdgpu_num_ibs(sj), 0, 0);
		return;
	}
	key = grt_amdgpu_submit_key(sj);
	if (!grt_amdgpu_replace_submit(key, 0, key))
		sched_unmatched();
}

static void grt_amdgpu_on_sched_run_job(void *data, struct amdgpu_job *amdgpu_job)
{
	struct drm_sched_job *sj = (struct drm_sched_job *)amdgpu_job;
	struct grtrace_job job;

	if (!grt_amdgpu_scheduler_reports(SCHED_ROLE_RUN) && sched_job(sj, &job))
		/* later kernels take the job from its entity before this point */
		grtrace_commit(&job, sj->entity ? spsc_queue_count(&sj->entity->job_queue) : 0,
			       grtrace_sched_hw_depth(sj->sched));
}

/* Interrupts. */

/* The first element of an array. */
static u32 grt_amdgpu_iv_data(const struct amdgpu_iv_entry *iv)
{
	u32 word;

	return grtrace_field_copy(&fields[IV_SRC_DATA], iv, &word, sizeof(word)) == sizeof(word) ? word : UNKNOWN;
}

static u32 grt_amdgpu_iv_source(const struct amdgpu_iv_entry *iv)
{
	u64 src = grt_amdgpu_field(IV_SRC_ID, iv, U64_MAX);

	return src == U64_MAX
		       ? UNKNOWN
		       : GRT_IRQ_SOURCE(grt_amdgpu_field(IV_CLIENT_ID, iv, GRT_IRQ_CLIENT_UNKNOWN), src);
}

/*
 * An interrupt has no thread, so no filter by thread applies, and its ring is not one of the
 * scheduler's names.
 */
static void grt_amdgpu_on_iv(void *data, unsigned int ih, struct amdgpu_iv_entry *iv)
{
	struct grt_ev_irq ev = { .e = { .type = GRT_EV_IRQ, .ring = GRT_RING_NONE } };

	if (!grtrace_enabled())
		return;
	ev.source = grt_amdgpu_iv_source(iv);
	ev.data = grt_amdgpu_iv_data(iv);
	ev.hw_ring = grt_amdgpu_field(IV_RING_ID, iv, U16_MAX);
	ev.vmid = grt_amdgpu_field(IV_VMID, iv, U16_MAX);
	ev.pasid = grt_amdgpu_field(IV_PASID, iv, UNKNOWN);
	grtrace_emit(&ev.e);
}

/* Memory. */

static u32 grt_amdgpu_device_of_bo(const struct amdgpu_bo *bo)
{
	return grt_amdgpu_field(MINOR_INDEX,
				grt_amdgpu_pointer(DEVICE_PRIMARY, grt_amdgpu_pointer(BO_DEV, bo)), 0);
}

#define MEM_EVENT(TYPE, bo)                                                                         \
	.e = {.type = GRT_EV_##TYPE, .ring = GRT_RING_NONE, .device = grt_amdgpu_device_of_bo(bo)}, \
	.object = grtrace_opaque(bo)

static void grt_amdgpu_on_bo_create(void *data, struct amdgpu_bo *bo)
{
	struct grt_ev_mem_create ev;

	if (!grtrace_enabled())
		return;
	ev = (struct grt_ev_mem_create){
		MEM_EVENT(MEM_CREATE, bo),
		.bytes = grt_amdgpu_field(BO_SIZE, bo, 0),
		.wanted = grt_amdgpu_field(BO_PREFERRED_DOMAINS, bo, 0),
		.allowed = grt_amdgpu_field(BO_ALLOWED_DOMAINS, bo, 0),
		.placed = grt_amdgpu_field(RESOURCE_MEM_TYPE, grt_amdgpu_pointer(BO_RESOURCE, bo), UNKNOWN),
		.mflags = grt_amdgpu_field(BO_FLAGS, bo, 0),
	};
	grtrace_emit(&ev.e);
}

static void grt_amdgpu_on_bo_move(void *data, struct amdgpu_bo *bo, u32 to, u32 from)
{
	struct grt_ev_mem_move ev;

	if (!grtrace_enabled())
		return;
	ev = (struct grt_ev_mem_move){
		MEM_EVENT(MEM_MOVE, bo),
		.bytes = grt_amdgpu_field(BO_SIZE, bo, 0),
		.from = from,
		.to = to,
	};
	grtrace_emit(&ev.e);
}

/* Bytes of a mapping; 0: unknown. */
static u64 grt_amdgpu_mapping_bytes(const struct amdgpu_bo_va_mapping *m)
{
	u64 start, last;

	if (!grtrace_field_read(&fields[MAPPING_START], m, &start) ||
	    !grtrace_field_read(&fields[MAPPING_LAST], m, &last))
		return 0;
	return (last - start + 1) << GPU_PAGE_SHIFT;
}

static void grt_amdgpu_on_vm_bo_map(void *data, struct amdgpu_bo_va *va, struct amdgpu_bo_va_mapping *m)
{
	const struct amdgpu_bo *bo;
	struct grt_ev_mem_bind ev;

	if (!grtrace_enabled())
		return;
	bo = grt_amdgpu_pointer(BO_VA_BO, va);
	ev = (struct grt_ev_mem_bind){
		MEM_EVENT(MEM_BIND, bo),
		.vm = grtrace_opaque(grt_amdgpu_pointer(BO_VA_VM, va)),
		.offset = grt_amdgpu_field(MAPPING_START, m, 0) << GPU_PAGE_SHIFT,
		.bytes = grt_amdgpu_mapping_bytes(m),
		.mflags = grt_amdgpu_field(MAPPING_FLAGS, m, 0),
	};
	grtrace_emit(&ev.e);
}

static void grt_amdgpu_on_vm_bo_unmap(void *data, struct amdgpu_bo_va *va, struct amdgpu_bo_va_mapping *m)
{
	const struct amdgpu_bo *bo;
	struct grt_ev_mem_unbind ev;

	if (!grtrace_enabled())
		return;
	bo = grt_amdgpu_pointer(BO_VA_BO, va);
	ev = (struct grt_ev_mem_unbind){
		MEM_EVENT(MEM_UNBIND, bo),
		.vm = grtrace_opaque(grt_amdgpu_pointer(BO_VA_VM, va)),
		.offset = grt_amdgpu_field(MAPPING_START, m, 0) << GPU_PAGE_SHIFT,
		.bytes = grt_amdgpu_mapping_bytes(m),
	};
	grtrace_emit(&ev.e);
}

static struct grtrace_probe probes[] = {
	{"amdgpu_cs_ioctl", grt_amdgpu_on_cs_ioctl},
	{"amdgpu_sched_run_job", grt_amdgpu_on_sched_run_job},
	{"amdgpu_iv", grt_amdgpu_on_iv},
	{"amdgpu_bo_create", grt_amdgpu_on_bo_create},
	{"amdgpu_bo_move", grt_amdgpu_on_bo_move},
	{"amdgpu_vm_bo_map", grt_amdgpu_on_vm_bo_map},
	{"amdgpu_vm_bo_unmap", grt_amdgpu_on_vm_bo_unmap},
#define FROM SCHED_MODULE
#include "drm_sched.def"
};

static void grt_amdgpu_driver_gone(struct grtrace_adapter *a)
{
	sched_forget();
	memset(submits, 0, sizeof(submits));
}

static struct grtrace_adapter adapter =
	GRTRACE_ADAPTER(DRIVER, probes, .fields = fields, .nfields = ARRAY_SIZE(fields), .pool = SCHED_POOL,
			.gone = grt_amdgpu_driver_gone);

module_grtrace_adapter(adapter);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU tracing: amdgpu");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);
