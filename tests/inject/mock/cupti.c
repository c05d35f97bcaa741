// SPDX-License-Identifier: GPL-2.0
/*
 * A CUPTI: the functions that the injection library uses, over mock/cuda.c.
 */
#include "mock.h"

#include <stdlib.h>

#define INVALID 1

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

int cuptiGetVersion(uint32_t *version)
{
	*version = mock.version;
	return 0;
}

int cuptiSubscribe(void **subscriber, cupti_callback_fn fn, void *user)
{
	(void)user;
	if (mock.taken)
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	mock.taken = true;
	mock.callback = fn;
	*subscriber = &mock;
	return 0;
}

int cuptiUnsubscribe(void *subscriber)
{
	(void)subscriber;
	mock.callback = NULL;
	mock.taken = false;
	return 0;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t number)
{
	if (subscriber != &mock || domain > 3 || number >= CALL_MAX || getenv("MOCK_REFUSES"))
		return INVALID;
	/* what came with CUDA 13 */
	if (mock.version < 130000 && domain == CUPTI_DOMAIN_RUNTIME && number > 490)
		return INVALID;
	mock.wanted[domain][number] = enable;
	return 0;
}

int cuptiActivityEnable(int kind)
{
	if (!mock.request)
		return INVALID;
	mock.kinds[kind] = true;
	return 0;
}

int cuptiActivityDisable(int kind)
{
	mock.kinds[kind] = false;
	return 0;
}

int cuptiActivityRegisterCallbacks(cupti_request_fn request, cupti_complete_fn complete)
{
	mock.request = request;
	mock.complete = complete;
	return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, union cupti_record **record)
{
	uint8_t *at = *record ? (uint8_t *)*record + mock_record_size((*record)->kind) : buffer;

	if (at >= buffer + valid)
		return CUPTI_MAX_LIMIT_REACHED;
	*record = (union cupti_record *)at;
	return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	*dropped = __atomic_exchange_n(&mock.dropped, 0, __ATOMIC_RELAXED);
	return 0;
}

int cuptiActivityFlushAll(uint32_t flags)
{
	(void)flags;
	mock_flush();
	return 0;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void))
{
	/* it is taken before anything else only */
	if (mock.taken || mock.request)
		return INVALID;
	mock.clock = clock;
	return 0;
}

int cuptiSetThreadIdType(int type)
{
	return type != CUPTI_THREAD_ID_SYSTEM;
}

int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	uintptr_t handle = (uintptr_t)stream;

	if (context != &mock || MOCK_STREAM(handle >> 8, per_thread) != handle)
		return INVALID;
	*id = (uint32_t)(handle >> 8);
	return 0;
}
