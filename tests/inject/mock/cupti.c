// SPDX-License-Identifier: GPL-2.0
/*
 * A CUPTI: the functions that the injection library uses, over mock/cuda.c.
 */
#include "mock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INVALID 1
#define INVALID_KIND 21
#define NOT_COMPATIBLE 30

int cuptiGetVersion(uint32_t *version);
int cuptiSubscribe(void **subscriber, cupti_callback_fn fn, void *user);
int cuptiUnsubscribe(void *subscriber);
int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t number);
int cuptiActivityEnable(int kind);
int cuptiActivityDisable(int kind);
int cuptiActivityRegisterCallbacks(cupti_request_fn request, cupti_complete_fn complete);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, union cupti_record **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
int cuptiActivityFlushAll(uint32_t flags);
int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void));
int cuptiSetThreadIdType(int type);
int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id);
int cuptiGetGraphNodeId(void *node, uint64_t *id);
int cuptiGetDeviceId(void *context, uint32_t *device);
int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain);
int cuptiFinalize(void);
int cuptiSubscribe_v2(void **subscriber, cupti_callback_fn fn, void *user, struct cupti_subscriber *what);
int cuptiGetTimestamp_v2(void *subscriber, uint64_t *stamp);
int cuptiActivityEnable_v2(void *subscriber, int kind, void *config);
int cuptiActivityDisable_v2(void *subscriber, int kind, void *config);
int cuptiActivityRegisterCallbacks_v2(void *subscriber, cupti_request_v2_fn request,
				      cupti_complete_v2_fn complete);
int cuptiActivityGetNextRecord_v2(void *subscriber, uint8_t *buffer, size_t valid,
				  union cupti_record **record);
int cuptiActivityGetNumDroppedRecords_v2(void *subscriber, void *context, uint32_t stream, size_t *dropped);

/* Each call attaches CUPTI: one after cuptiFinalize() undoes it, if it is not of the program's own tool. */
static void attach(void)
{
	if (mock.finalizing || (mock.finalized && !mock.owner))
		__atomic_fetch_add(&mock.faults, 1, __ATOMIC_RELAXED);
	mock.attached = true;
}

/* Functions with a subscriber and those without one exclude each other: whoever comes second is refused. */
static bool is_refused(int api)
{
	if (mock.api && mock.api != api)
		return true;
	mock.api = api;
	return false;
}

int cuptiGetVersion(uint32_t *version)
{
	*version = mock.version;
	return 0;
}

int cuptiSubscribe(void **subscriber, cupti_callback_fn fn, void *user)
{
	(void)user;
	attach();
	if (mock.taken || is_refused(1))
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	mock.taken = true;
	mock.subscribed++;
	mock.callback = fn;
	*subscriber = (void *)++mock.client;
	return 0;
}

static bool is_second(void *subscriber)
{
	return subscriber == &mock.second && mock.second.used;
}

/* One that has gone is the caller's mistake. */
static bool is_client(void *subscriber)
{
	bool is = (mock.taken && subscriber == (void *)mock.client) || is_second(subscriber);

	__atomic_fetch_add(&mock.faults, !is, __ATOMIC_RELAXED);
	return is;
}

int cuptiUnsubscribe(void *subscriber)
{
	attach();
	if (!is_client(subscriber))
		return INVALID;
	if (is_second(subscriber)) {
		memset(&mock.second, 0, sizeof(mock.second));
	} else {
		mock.callback = NULL;
		mock.taken = false;
	}
	if (!mock.taken && !mock.second.used)
		mock.api = 0;
	return 0;
}

/* It has two subscribers at most. MOCK_OLD_DRIVER: the driver is older than CUPTI. */
int cuptiSubscribe_v2(void **subscriber, cupti_callback_fn fn, void *user, struct cupti_subscriber *what)
{
	(void)user;
	attach();
	if (getenv("MOCK_OLD_DRIVER"))
		return CUPTI_NOT_SUPPORTED;
	if (what->size != sizeof(*what) || what->several > 1)
		return INVALID;
	if ((mock.taken && mock.api != 2) || is_refused(2) ||
	    (mock.taken && !(mock.several && what->several)) || mock.second.used)
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	if (mock.taken) {
		mock.second.used = true;
		mock.second.callback = fn;
		*subscriber = &mock.second;
		return 0;
	}
	mock.taken = true;
	mock.subscribed++;
	mock.several = what->several;
	mock.callback = fn;
	*subscriber = (void *)++mock.client;
	return 0;
}

/* MOCK_RAW_STAMPS: in units of its own. */
int cuptiGetTimestamp_v2(void *subscriber, uint64_t *stamp)
{
	struct timespec t;

	if (!is_client(subscriber))
		return INVALID;
	clock_gettime(CLOCK_REALTIME, &t);
	*stamp = getenv("MOCK_RAW_STAMPS") ? 12345 : (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
	return 0;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t number)
{
	attach();
	if (!is_client(subscriber) || domain > 3 || number >= CALL_MAX || getenv("MOCK_REFUSES"))
		return INVALID;
	/* what came with CUDA 13 */
	if (mock.version < 130000 && domain == CUPTI_DOMAIN_RUNTIME && number > 490)
		return INVALID;
	/* as CUPTI 13.0 does, now and then, where another thread is in a call */
	if (getenv("MOCK_FREEZES") && !enable && mock.wanted[domain][number])
		mock.frozen = true;
	(is_second(subscriber) ? mock.second.wanted : mock.wanted)[domain][number] = enable;
	return 0;
}

int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain)
{
	attach();
	if (!is_client(subscriber) || domain > 3)
		return INVALID;
	memset((is_second(subscriber) ? mock.second.wanted : mock.wanted)[domain], enable != 0,
	       sizeof(mock.wanted[domain]));
	return 0;
}

/* It waits for the GPU. Graphs that were made before it fail. Where a call within another one returns CUPTI
 * still has to end the outer one. */
int cuptiFinalize(void)
{
	struct timespec takes = {.tv_nsec = 2000000};

	mock.finalizing = true;
	/* subscribers that come later may fail */
	__atomic_fetch_add(&mock.faults,
			   !mock_at_exit() || !mock.attached || mock_samples.on || mock.api == 2,
			   __ATOMIC_RELAXED);
	mock.callback = NULL;
	mock.broken = mock.graph;
	/* as the real one does */
	mock.next = 1;
	mock.frozen = false;
	mock_samples.late = mock_samples.looked = mock_samples.blind = false;
	mock_wait();
	nanosleep(&takes, NULL);
	memset(mock.wanted, 0, sizeof(mock.wanted));
	mock_forget();
	mock.finalized++;
	mock.finalizing = mock.taken = mock.attached = false;
	mock.api = 0;
	return 0;
}

static int enable_kind(int kind)
{
	if (!mock.request && !mock.request_v2)
		return INVALID;
	/* kernels are recorded in one of two ways; MOCK_BOTH_KINDS: a CUPTI that does not mind */
	if (!getenv("MOCK_BOTH_KINDS") &&
	    ((kind == CUPTI_KIND_KERNEL && mock.kinds[CUPTI_KIND_CONCURRENT_KERNEL]) ||
	     (kind == CUPTI_KIND_CONCURRENT_KERNEL && mock.kinds[CUPTI_KIND_KERNEL])))
		return CUPTI_NOT_COMPATIBLE;
	/* inferred from CUPTI 13.0 on an H100, where no window began that was sampled before its kernels were
	 * recorded */
	if (kind == CUPTI_KIND_CONCURRENT_KERNEL && mock_samples.on && !mock.kinds[kind])
		return CUPTI_NOT_COMPATIBLE;
	mock.kinds[kind] = true;
	return 0;
}

int cuptiActivityEnable(int kind)
{
	attach();
	return is_refused(1) ? CUPTI_MULTIPLE_SUBSCRIBERS : enable_kind(kind);
}

int cuptiActivityEnable_v2(void *subscriber, int kind, void *config)
{
	attach();
	if (config || !is_client(subscriber) || getenv("MOCK_REFUSES_KINDS"))
		return INVALID;
	if (!is_second(subscriber))
		return enable_kind(kind);
	mock.second.kinds[kind] = true;
	return mock.second.request ? 0 : INVALID;
}

int cuptiActivityDisable(int kind)
{
	attach();
	if (is_refused(1))
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	mock.kinds[kind] = false;
	return 0;
}

int cuptiActivityDisable_v2(void *subscriber, int kind, void *config)
{
	attach();
	if (config || !is_client(subscriber))
		return INVALID;
	(is_second(subscriber) ? mock.second.kinds : mock.kinds)[kind] = false;
	return 0;
}

int cuptiActivityRegisterCallbacks_v2(void *subscriber, cupti_request_v2_fn request,
				      cupti_complete_v2_fn complete)
{
	attach();
	if (!is_client(subscriber))
		return INVALID;
	if (is_second(subscriber)) {
		mock.second.request = request;
		mock.second.complete = complete;
		return 0;
	}
	mock.request_v2 = request;
	mock.complete_v2 = complete;
	return 0;
}

int cuptiActivityRegisterCallbacks(cupti_request_fn request, cupti_complete_fn complete)
{
	attach();
	if (is_refused(1))
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	mock.request = request;
	mock.complete = complete;
	return 0;
}

static int next_record(uint8_t *buffer, size_t valid, union cupti_record **record)
{
	uint8_t *at = *record ? (uint8_t *)*record + mock_record_size((*record)->kind) : buffer;

	if (at >= buffer + valid)
		return CUPTI_MAX_LIMIT_REACHED;
	if (!((union cupti_record *)at)->kind)
		return INVALID_KIND;
	*record = (union cupti_record *)at;
	return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, union cupti_record **record)
{
	return is_refused(1) ? CUPTI_MULTIPLE_SUBSCRIBERS : next_record(buffer, valid, record);
}

int cuptiActivityGetNextRecord_v2(void *subscriber, uint8_t *buffer, size_t valid,
				  union cupti_record **record)
{
	return is_client(subscriber) ? next_record(buffer, valid, record) : INVALID;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	if (is_refused(1))
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	*dropped = __atomic_exchange_n(&mock.dropped, 0, __ATOMIC_RELAXED);
	return 0;
}

int cuptiActivityGetNumDroppedRecords_v2(void *subscriber, void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	if (!is_client(subscriber))
		return INVALID;
	*dropped = is_second(subscriber) ? 0 : __atomic_exchange_n(&mock.dropped, 0, __ATOMIC_RELAXED);
	return 0;
}

int cuptiActivityFlushAll(uint32_t flags)
{
	(void)flags;
	attach();
	mock_flush();
	return 0;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void))
{
	/* it is taken before anything is recorded only; the one that is there stays until it is finalized */
	attach();
	if (is_refused(1))
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	if ((mock.taken && !mock.owner) || (mock.request && clock != mock.clock))
		return NOT_COMPATIBLE;
	mock.clock = clock;
	return 0;
}

int cuptiSetThreadIdType(int type)
{
	return is_refused(1) ? CUPTI_MULTIPLE_SUBSCRIBERS : type != CUPTI_THREAD_ID_SYSTEM;
}

int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
	attach();
	*id = ((const struct mock_node *)node)->id;
	return 0;
}

int cuptiGetDeviceId(void *context, uint32_t *device)
{
	attach();
	if (context != &mock)
		return INVALID;
	*device = mock.device;
	return 0;
}

int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	uintptr_t handle = (uintptr_t)stream;

	attach();
	if (context != &mock || MOCK_STREAM(handle >> 8, per_thread) != handle)
		return INVALID;
	*id = (uint32_t)(handle >> 8);
	return 0;
}
