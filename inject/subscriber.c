// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The subscription to CUPTI. Before CUDA 13.3, CUPTI has one subscriber, and functions without a subscriber
 * as an argument (V1). From CUDA 13.3 and drivers of version 610 on, it may have several subscribers, each
 * with its own kinds of records and buffers, if all of them use functions with a subscriber (V2). CUPTI
 * refuses functions of one kind while a client in the process uses the other kind.
 *
 * V1 is used unless CUPTI refuses it, or GRTRACE_CUPTI_API=2 asks for V2: we know V2 only from NVIDIA's
 * manual, and have called it only in tests. V2 works with these exceptions:
 * \t- CUPTI stays in the process after the recording: cuptiFinalize() would take it from the other
 * subscribers, and clients that subscribe later may fail (openxla/xla, pull request 41501). So random
 * windows use V1.
 * \t- Samples of instructions: the manual limits V2 to the Activity and Callback APIs.
 * \t- Whole graphs: the first subscriber decides about them for all others.
 */
#include <stdlib.h>
#include <string.h>

#include "inject.h"

/* 1: only V1; 2: V2 if it works */
#define API_ENV "GRTRACE_CUPTI_API"
/* CUPTI's clock is CLOCK_REALTIME if it differs from it by less than this. */
#define CLOCK_NS NS_PER_S

/* The subscriber of V2; NULL: V1 is used. */
static void *_Atomic client;
static cupti_request_fn request;
static cupti_complete_fn complete;

bool subscriber_is_one_of_several(void)
{
	return atomic_load(&client);
}

void subscriber_reset(void)
{
	atomic_store(&client, NULL);
}

static bool subscriber_api_is(const char *number)
{
	const char *api = secure_getenv(API_ENV);

	return api && !strcmp(api, number);
}

bool subscriber_prefers_several(void)
{
	return subscriber_api_is("2");
}

static bool subscriber_wants_several(void)
{
	const struct cupti *c = &inject.cupti;

	return inject.version >= CUPTI_VERSION_13_3 && c->subscribe_v2 && c->time_v2 && c->enable_v2 &&
	       c->disable_v2 && c->register_buffers_v2 && c->next_record_v2 && c->dropped_v2 &&
	       !pcsampling_is_requested() && !activity_wants_graphs() && capture.how != CAPTURE_DUTY &&
	       !subscriber_api_is("1");
}

/* Time stamps for subscribers are CLOCK_REALTIME, unless one of them sets a clock for all. */
static bool subscriber_has_clock(void *subscriber)
{
	uint64_t now = now_ns(CLOCK_REALTIME), stamp = 0;

	return !inject.cupti.time_v2(subscriber, &stamp) && stamp + CLOCK_NS > now && stamp < now + CLOCK_NS;
}

bool subscriber_join_others(void **subscriber, cupti_callback_fn fn)
{
	struct cupti_subscriber what = {.size = sizeof(what), .name = "grtrace", .several = 1};

	subscriber_reset();
	if (!subscriber_wants_several() || inject.cupti.subscribe_v2(subscriber, fn, NULL, &what))
		return false;
	if (!subscriber_has_clock(*subscriber)) {
		inject.cupti.unsubscribe(*subscriber);
		return false;
	}
	inject.realtime = true;
	atomic_store(&client, *subscriber);
	return true;
}

int subscriber_enable(int kind)
{
	void *c = atomic_load(&client);

	return c ? inject.cupti.enable_v2(c, kind, NULL) : inject.cupti.enable(kind);
}

void subscriber_disable(int kind)
{
	void *c = atomic_load(&client);

	if (c)
		inject.cupti.disable_v2(c, kind, NULL);
	else
		inject.cupti.disable(kind);
}

static void subscriber_request(uint8_t **buffer, size_t *size, size_t *max_records, void *info)
{
	(void)info;
	request(buffer, size, max_records);
}

static void subscriber_complete(uint8_t *buffer, size_t size, size_t valid, void *info)
{
	(void)info;
	complete(NULL, 0, buffer, size, valid);
}

int subscriber_register(cupti_request_fn on_request, cupti_complete_fn on_complete)
{
	void *c = atomic_load(&client);

	request = on_request;
	complete = on_complete;
	return c ? inject.cupti.register_buffers_v2(c, subscriber_request, subscriber_complete)
		 : inject.cupti.register_buffers(on_request, on_complete);
}

int subscriber_next_record(uint8_t *buffer, size_t valid, union cupti_record **record)
{
	void *c = atomic_load(&client);

	return c ? inject.cupti.next_record_v2(c, buffer, valid, record)
		 : inject.cupti.next_record(buffer, valid, record);
}

int subscriber_dropped(void *context, uint32_t stream, size_t *dropped)
{
	void *c = atomic_load(&client);

	return c ? inject.cupti.dropped_v2(c, context, stream, dropped)
		 : inject.cupti.dropped(context, stream, dropped);
}
