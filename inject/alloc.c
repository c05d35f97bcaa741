// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Memory that the program allocates and frees, from callbacks at the return of the driver's functions; the
 * runtime's functions call these. CUPTI's memory records are not used: each allocation has one in addition
 * to its callback, their layout differs between CUDA versions, they have no stack, and they do not cover
 * physical memory. Launches are not slower because of this.
 */
#include "inject.h"

/* enum alloc_how - which arguments of a function have the address and the size */
enum alloc_how {
	OUT,   /* it returns the address by its first one, the second one is the size */
	PITCH, /* the same, and a pitch: that times the fourth one is the size */
	IN,    /* the address is the first one, the size the second one */
	FREE,  /* the address is the first one */
};

/* Kinds of ALLOC records. */
enum { ANY, DEVICE, POOL, PHYSICAL, MANAGED, PINNED, REGISTERED };

static const struct alloc_call {
	uint16_t number;
	uint8_t how;
	uint8_t kind;
} calls[] = {
	{243, OUT, DEVICE},	 {244, PITCH, DEVICE}, {245, FREE, ANY},      {294, OUT, PINNED},
	{38, FREE, PINNED},	 {39, OUT, PINNED},    {301, IN, REGISTERED}, {379, IN, REGISTERED},
	{302, FREE, REGISTERED}, {371, OUT, MANAGED},  {549, OUT, PHYSICAL},  {550, FREE, PHYSICAL},
	{598, OUT, POOL},	 {599, OUT, POOL},     {600, FREE, ANY},      {601, FREE, ANY},
	{611, OUT, POOL},	 {612, OUT, POOL},
};

/* The size of @calls: numbers of functions below this. */
#define NUMBERS 640
static _Atomic bool is_alloc[NUMBERS];

#define CALLS (sizeof(calls) / sizeof(calls[0]))

void alloc_enable(uint32_t enable, void *subscriber)
{
	for (size_t i = 0; i < CALLS; i++) {
		atomic_store_explicit(&is_alloc[calls[i].number], true, memory_order_relaxed);
		inject.cupti.enable_callback(enable, subscriber, CUPTI_DOMAIN_DRIVER, calls[i].number);
	}
}

static const struct alloc_call *alloc_call_of(uint32_t number)
{
	for (size_t i = 0; i < CALLS; i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

/* A single load, because every launch passes here, too. */
bool alloc_is(uint32_t number)
{
	return number < NUMBERS && atomic_load_explicit(&is_alloc[number], memory_order_relaxed);
}

static bool alloc_read(const struct alloc_call *c, const uint64_t *word, struct alloc *a)
{
	const uint64_t *out = (const uint64_t *)(uintptr_t)word[0];

	if (c->how <= PITCH && !out)
		return false;
	a->address = c->how <= PITCH ? *out : word[0];
	a->bytes = c->how == FREE ? 0 : word[1];
	if (c->how == PITCH)
		a->bytes = word[1] ? *(const uint64_t *)(uintptr_t)word[1] * word[3] : 0;
	return a->address;
}

bool alloc_take(uint32_t number, const struct cupti_callback *d, struct alloc *a)
{
	const struct alloc_call *c = alloc_call_of(number);

	if (!c || d->site != CUPTI_SITE_EXIT || !d->params || !d->result || *(const int32_t *)d->result)
		return false;
	*a = (struct alloc){.kind = c->kind, .freed = c->how == FREE, .call = number, .gpu = UINT32_MAX};
	return alloc_read(c, d->params, a);
}

void alloc_ask_gpu(const struct cupti_callback *d, struct alloc *a)
{
	if (!inject.cupti.device_id || !d->context || inject.cupti.device_id(d->context, &a->gpu))
		a->gpu = UINT32_MAX;
}
