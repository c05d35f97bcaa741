/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of grtrace.ko for drivers and adapters.
 *
 * DOC: emitting
 *
 * Every function here may be called from any context but NMI, with or without
 * locks held: none sleeps, allocates or takes a lock. While tracing is off each
 * costs one patched-out branch. The functions read CLOCK_MONOTONIC themselves.
 *
 * A job is identified by its fence: (context, sequence number). SUBMIT reports ring,
 * engine and device; its submitter is the running thread. Later events need only
 * the identity, because they often occur in interrupts and workers.
 */
#ifndef GRTRACE_KERNEL_H
#define GRTRACE_KERNEL_H

#include <linux/device/driver.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/types.h>

#include <grtrace/event.h>
#include <grtrace/stream.h>
#include <grtrace/version.h>

struct device;
struct seq_file;
struct tracepoint;

extern struct static_key_false_deferred grtrace_key;

/**
 * grtrace_enabled - whether events are recorded; costs a patched branch
 *
 * Stays true for up to a second after tracing has stopped, so that frequent switching
 * does not patch the kernel's text each time; the emitting functions check again.
 */
static __always_inline bool grtrace_enabled(void)
{
	return static_branch_unlikely(&grtrace_key.key);
}

/**
 * struct grtrace_job - which job an event is about
 * @ctx: fence context; with @seqno the identity
 * @seqno: fence sequence number
 * @ring: ring id, or GRT_RING_NONE: the ring of the job's SUBMIT
 * @device: device number; ignored if @ring is GRT_RING_NONE
 * @engine: enum grt_engine; ignored if @ring is GRT_RING_NONE
 * @hw_ctx: the driver's own context id, 0 if it has none
 * @time: time of the event, CLOCK_MONOTONIC ns, if it was recorded
 *	before the call; 0: now
 */
struct grtrace_job {
	u64 ctx;
	u64 seqno;
	u64 time;
	u32 ring;
	u32 device;
	u32 hw_ctx;
	u8 engine;
};

void grtrace_emit(struct grt_event *e);
void grtrace_submit(const struct grtrace_job *job, u32 cmd, u64 fence_id, u16 flags);
void grtrace_commit(const struct grtrace_job *job, u32 sw_depth, u32 hw_depth);
void grtrace_start(const struct grtrace_job *job);
void grtrace_end(const struct grtrace_job *job, u32 reply, u64 fence_id);
void grtrace_complete(const struct grtrace_job *job, int status);
void grtrace_ctx_switch(const struct grtrace_job *job, u64 prev_ctx);
void grtrace_irq(const struct grtrace_job *job, u32 source, u32 data);
void grtrace_sync_wait_enter(const struct grtrace_job *job);
void grtrace_sync_wait_exit(const struct grtrace_job *job);
void grtrace_error(const struct grtrace_job *job, int status, u32 code);
void grtrace_command(const struct grtrace_job *job, u32 cmd);

/* The progress of a job: marks that an adapter sets, see grtrace_job_mark(). */
#define GRTRACE_JOB_STARTED   1U /* START was reported: after a preemption it is not reported again */
#define GRTRACE_JOB_ENDED     2U /* END was reported */
#define GRTRACE_JOB_SIGNALLED 4U /* COMPLETE was reported */

int grtrace_job_mark(u64 ctx, u64 seqno, u8 marks);
void grtrace_signaled(const struct grtrace_job *job, int status);

/* Rings with counters of their own. There may be more rings, see rings.c. */
#define GRTRACE_RINGS 256

int grtrace_ring_register(const char *name, enum grt_engine engine, const char *driver,
			  const struct device *dev);
void grtrace_ring_unregister(int id);

enum grt_engine grtrace_engine_of_ring(const char *name);

/* grtrace_probe.from: the kernel itself, not a module. */
#define GRTRACE_VMLINUX "vmlinux"

/**
 * struct grtrace_probe - one tracepoint an adapter wants
 * @name: name of the tracepoint
 * @fn: handler, with the tracepoint's own prototype (void *data first)
 * @from: run-time name of the module that defines it, or GRTRACE_VMLINUX; NULL:
 *	the driver, which may be built in
 * @role: not 0: rows with the same number are one event under its names
 *	in different kernels; one of them is enough
 * @optional: some kernels do not have it, and the adapter works without it
 */
struct grtrace_probe {
	const char *name;
	void *fn;
	const char *from;
	unsigned int role;
	bool optional;
	/* private: */
	struct tracepoint *bound;
	bool told;	/* bound since the driver was loaded */
	bool in_kernel;	/* its definition is built in */
	bool here;	/* the module that defines it is loaded */
	int err;
};

/**
 * struct grtrace_field - a member of a private struct of the driver, which is read directly
 * @type: the struct
 * @member: may lead into structs within: "tbo.base.size"
 *
 * `grtrace start` finds its offset in the driver's BTF and writes it to the file
 * `offsets`. Until then, and if the driver has no such member, the field is
 * unknown.
 */
struct grtrace_field {
	const char *type;
	const char *member;
	/* private: */
	u32 place;	/* offset << 8 | size; 0: unknown */
};

int grtrace_peek(void *to, const void *from, size_t size);
bool grtrace_field_read(const struct grtrace_field *f, const void *object, u64 *value);
size_t grtrace_field_copy(const struct grtrace_field *f, const void *object, void *to, size_t room);
u64 grtrace_opaque(const void *object);

/**
 * struct grtrace_pool - objects of one size, for contexts that cannot allocate memory, see pool.c
 * @count: number of objects
 * @size: bytes of each
 * @empty: how often no object was free
 */
struct grtrace_pool {
	unsigned int count;
	size_t size;
	atomic64_t empty;
	/* private: */
	raw_spinlock_t lock;
	void *memory;
	struct pool_object *free;
};

int grtrace_pool_init(struct grtrace_pool *p);
void grtrace_pool_exit(struct grtrace_pool *p);
void *grtrace_pool_get(struct grtrace_pool *p);
void grtrace_pool_put(void *object);

/**
 * struct grtrace_adapter - connects a driver's tracepoints to grtrace
 * @name: name of the adapter
 * @driver: run-time name of the driver's module. Its tracepoints, and those of
 *	the kernel itself in @probes, are attached while it is loaded; tracepoints of
 *	other modules, while those are loaded. A driver without tracepoints is also recognised by
 *	its PCI driver of this name
 * @probes: the tracepoints
 * @nprobes: their number
 * @fields: members of the driver's private structs; their offsets are discarded when the driver is unloaded
 * @nfields: their number
 * @leaves_scheduler: the scheduler's adapter, drm_bridge, reports the driver's jobs under
 *	the DRM scheduler
 * @comes: called before the first probe is attached, with the driver's module,
 *	NULL if it is built in; may sleep; may be NULL
 * @gone: called when the driver is unloaded, after the last probe has run; if there
 *	is a @pool, called again before the pool is freed; may be NULL
 * @show: adds words to the adapter's line in `adapters`; may be NULL
 * @pool: memory for its handlers while the adapter is registered; none if
 *	@pool.count is 0
 * @unmatched: events that the adapter could not join to a job; shown in `adapters`
 */
struct grtrace_adapter {
	const char *name;
	const char *driver;
	struct grtrace_probe *probes;
	unsigned int nprobes;
	struct grtrace_field *fields;
	unsigned int nfields;
	bool leaves_scheduler;
	void (*comes)(struct grtrace_adapter *a, struct module *mod);
	void (*gone)(struct grtrace_adapter *a);
	void (*show)(struct grtrace_adapter *a, struct seq_file *m);
	struct grtrace_pool pool;
	atomic64_t unmatched;
	/* private: */
	struct list_head list;
	struct notifier_block nb;
	struct notifier_block module_nb;
	bool present;
};

int grtrace_adapter_register(struct grtrace_adapter *a);
void grtrace_adapter_unregister(struct grtrace_adapter *a);

/**
 * GRTRACE_ADAPTER - initializer of an adapter with the name of its driver
 * @driver_: see struct grtrace_adapter
 * @probes_: an array
 * Further members follow as `.member = value`.
 */
#define GRTRACE_ADAPTER(driver_, probes_, ...)                                          \
	{                                                                               \
		.name = (driver_), .driver = (driver_),                                 \
		.probes = (probes_), .nprobes = ARRAY_SIZE(probes_), __VA_ARGS__        \
	}

/** module_grtrace_adapter - defines a module that only registers an adapter, like module_pci_driver() */
#define module_grtrace_adapter(adapter) \
	module_driver(adapter, grtrace_adapter_register, grtrace_adapter_unregister)

bool grtrace_role_is_reported(const struct grtrace_adapter *a, unsigned int role);

/*
 * Incremented when an adapter is registered or removed: grtrace_adapter_serves() may then change its result.
 */
extern atomic_t grtrace_adapters_changed;
bool grtrace_adapter_serves(const char *driver);

#endif /* GRTRACE_KERNEL_H */
