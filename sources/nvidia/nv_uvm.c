// SPDX-License-Identifier: GPL-2.0
/* The ioctls of the tools' queue of unified memory, see nv_uvm.h. */
#include "nv_uvm.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Commands are bare numbers (UVM_IOCTL_BASE), of the tools' file or of the program's. */
#define UVM_TOOLS_SET_NOTIFICATION_THRESHOLD 57
#define UVM_TOOLS_EVENT_QUEUE_ENABLE_EVENTS 58
#define UVM_TOOLS_EVENT_QUEUE_DISABLE_EVENTS 59
#define UVM_TOOLS_FLUSH_EVENTS 67
#define UVM_TOOLS_INIT_EVENT_TRACKER_V2 76
#define UVM_TOOLS_GET_PROCESSOR_UUID_TABLE_V2 77

/* Types 1 to 14: a driver refuses the whole set if it does not know one of them. */
#define ALL_EVENTS ((1ULL << NV_UVM_EVENTS) - 2)

/* UVM_TOOLS_INIT_EVENT_TRACKER_PARAMS */
struct uvm_init {
	uint64_t ring;
	uint64_t entries;
	uint64_t control;
	uint8_t processor[16];
	uint32_t all_processors;
	uint32_t target;
	uint32_t status;
};

/* UVM_TOOLS_EVENT_QUEUE_ENABLE_EVENTS_PARAMS, ..._DISABLE_..., ..._GET_PROCESSOR_UUID_TABLE_PARAMS */
struct uvm_word {
	uint64_t value;
	uint32_t status;
};

struct uvm_threshold {
	uint32_t entries;
	uint32_t status;
};

/*
 * UvmToolsEventControlData: the entries from get to put exist. The other pairs are for readers that read in
 * parts.
 */
struct nv_uvm_control {
	uint32_t get_ahead;
	uint32_t get_behind;
	uint32_t put_ahead;
	uint32_t put_behind;
	uint64_t dropped[NV_UVM_TYPES];
};

static_assert(sizeof(union nv_uvm_entry) == 72, "UvmEventEntry_V2");
static_assert(sizeof(struct uvm_init) == 56 && sizeof(struct uvm_word) == 16, "parameters");
static_assert(sizeof(struct nv_uvm_control) == 528, "UvmToolsEventControlData");
static_assert(offsetof(struct nv_uvm_migration, gpu_end) == 64, "UvmEventMigrationInfo_V2");
static_assert(offsetof(struct nv_uvm_gpu_fault, access) == 37, "UvmEventGpuFaultInfo_V2");
static_assert(offsetof(struct nv_uvm_cpu_fault, pc) == 32, "UvmEventCpuFaultInfo");
static_assert(offsetof(struct nv_uvm_group, processors) == 32, "UvmEventThrashingDetectedInfo_V2");
static_assert(offsetof(struct nv_uvm_fatal, time) == 16, "UvmEventFatalFaultInfo_V2");
static_assert(offsetof(struct nv_uvm_alone, time) == 24, "UvmEventReadDuplicateInvalidateInfo_V2");
static_assert(offsetof(struct nv_uvm_throttle, time) == 16, "UvmEventThrottlingStartInfo_V2");
static_assert(offsetof(struct nv_uvm_page_size, time) == 16, "UvmEventPageSizeChangeInfo_V2");
static_assert(offsetof(struct nv_uvm_remote, gpu_time) == 32, "UvmEventMapRemoteInfo_V2");
static_assert(offsetof(struct nv_uvm_eviction, time) == 32, "UvmEventEvictionInfo_V2");
static_assert(offsetof(struct nv_uvm_replay, gpu_time) == 16, "UvmEventGpuFaultReplayInfo_V2");

/* Shared memory: after a fork of this process, the child would keep private pages. */
static void *uvm_memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

int nv_uvm_new(struct nv_uvm *q, uint32_t entries)
{
	*q = (struct nv_uvm){.file = -1, .target = -1, .entries = entries};
	q->file = open(NV_UVM_TOOLS_FILE, O_RDWR | O_CLOEXEC);
	if (q->file < 0)
		return -errno;
	q->ring = uvm_memory(entries * sizeof(*q->ring));
	q->control = uvm_memory(sizeof(*q->control));
	return q->ring && q->control ? 0 : -ENOMEM;
}

/* The driver returns its result inside the parameters. */
static uint32_t uvm_call(int file, unsigned long command, void *params, const uint32_t *status)
{
	return ioctl(file, command, params) ? NV_UVM_NO_ANSWER : *status;
}

uint32_t nv_uvm_bind(struct nv_uvm *q, int target)
{
	struct uvm_init p = {
		.ring = (uintptr_t)q->ring,
		.entries = q->entries,
		.control = (uintptr_t)q->control,
		.target = (uint32_t)target,
	};
	uint32_t status = uvm_call(q->file, UVM_TOOLS_INIT_EVENT_TRACKER_V2, &p, &p.status);

	if (!status)
		q->target = target;
	return status;
}

uint32_t nv_uvm_on(struct nv_uvm *q)
{
	struct uvm_threshold t = {.entries = q->entries / 4};
	struct uvm_word p = {.value = ALL_EVENTS};
	uint32_t status = uvm_call(q->file, UVM_TOOLS_SET_NOTIFICATION_THRESHOLD, &t, &t.status);

	return status ? status : uvm_call(q->file, UVM_TOOLS_EVENT_QUEUE_ENABLE_EVENTS, &p, &p.status);
}

void nv_uvm_off(struct nv_uvm *q)
{
	struct uvm_word p = {.value = ALL_EVENTS};

	uvm_call(q->file, UVM_TOOLS_EVENT_QUEUE_DISABLE_EVENTS, &p, &p.status);
}

uint32_t nv_uvm_flush(struct nv_uvm *q)
{
	uint32_t status = 0;

	return uvm_call(q->target, UVM_TOOLS_FLUSH_EVENTS, &status, &status);
}

uint32_t nv_uvm_uuids(struct nv_uvm *q, uint8_t uuid[NV_UVM_PROCESSORS][16])
{
	struct uvm_word p = {.value = (uintptr_t)uuid};

	return uvm_call(q->target, UVM_TOOLS_GET_PROCESSOR_UUID_TABLE_V2, &p, &p.status);
}

bool nv_uvm_ready(const struct nv_uvm *q)
{
	return __atomic_load_n(&q->control->put_behind, __ATOMIC_RELAXED) != q->get;
}

int nv_uvm_read(struct nv_uvm *q, int (*take)(void *arg, const union nv_uvm_entry *e), void *arg)
{
	uint32_t put = __atomic_load_n(&q->control->put_behind, __ATOMIC_ACQUIRE);
	int ret = 0;

	if (put >= q->entries)
		return -EIO;
	while (!ret && q->get != put) {
		const union nv_uvm_entry e = q->ring[q->get];

		q->get = (q->get + 1) & (q->entries - 1);
		q->seen++;
		ret = take(arg, &e);
	}
	__atomic_store_n(&q->control->get_ahead, q->get, __ATOMIC_RELEASE);
	__atomic_store_n(&q->control->get_behind, q->get, __ATOMIC_RELEASE);
	return ret;
}

uint64_t nv_uvm_lost(struct nv_uvm *q)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < NV_UVM_TYPES; i++) {
		if (q->control)
			q->dropped[i] = __atomic_load_n(&q->control->dropped[i], __ATOMIC_RELAXED);
		lost += q->dropped[i];
	}
	return lost;
}

void nv_uvm_close(struct nv_uvm *q)
{
	if (q->file >= 0)
		close(q->file);
	if (q->target >= 0)
		close(q->target);
	if (q->ring)
		munmap((void *)q->ring, q->entries * sizeof(*q->ring));
	if (q->control)
		munmap(q->control, sizeof(*q->control));
	*q = (struct nv_uvm){.file = -1, .target = -1};
}
