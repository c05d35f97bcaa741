// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Calls of HIP and HSA, see rocprof_calls.h. */
#include "rocprof_calls.h"

#include <stdio.h>
#include <string.h>

#define SEEN_MAX (1U << 24)

/* Kinds of records that have a correlation id. */
enum rocprof_seen { ROCPROF_SEEN_KERNEL = 1, ROCPROF_SEEN_COPY = 2, ROCPROF_SEEN_HSA = 4 };

void grt_rocprof_calls_init(struct grt_rocprof_calls *c)
{
	*c = (struct grt_rocprof_calls){.whole = false};
	grt_keyed_init(&c->seen, sizeof(uint8_t), SEEN_MAX);
}

void grt_rocprof_calls_free(struct grt_rocprof_calls *c)
{
	grt_keyed_free(&c->seen);
}

static bool rocprof_calls_begins(struct grt_span s, const char *text)
{
	return s.len >= strlen(text) && !memcmp(s.at, text, strlen(text));
}

static int rocprof_calls_see(struct grt_rocprof_calls *c, const struct grt_cupti_record *r,
			     enum rocprof_seen what)
{
	const struct grt_key key = {{r->pid, r->correlation}};
	void *at;
	int ret;

	if (!r->correlation || c->whole)
		return 0;
	ret = grt_keyed_get(&c->seen, &key, &at);
	if (!ret)
		*(uint8_t *)at |= (uint8_t)what;
	return ret;
}

static unsigned int rocprof_calls_seen(const struct grt_rocprof_calls *c, const struct grt_cupti_record *r)
{
	const struct grt_key key = {{r->pid, r->correlation}};
	const uint8_t *at = r->correlation ? grt_keyed_find(&c->seen, &key) : NULL;

	return at ? *at : 0;
}

int grt_rocprof_calls_work(struct grt_rocprof_calls *c, const struct grt_cupti_record *r)
{
	return rocprof_calls_see(c, r, r->kind == GRT_CUPTI_KERNEL ? ROCPROF_SEEN_KERNEL : ROCPROF_SEEN_COPY);
}

void grt_rocprof_calls_end(struct grt_rocprof_calls *c)
{
	const uint8_t *at;

	for (at = grt_keyed_oldest(&c->seen); at && !c->whole; at = grt_keyed_next(&c->seen, at))
		c->of_hsa |= *at > ROCPROF_SEEN_HSA;
	c->whole = true;
}

/* Return: whether a function can give the GPU work; most of HSA's do not. */
static bool rocprof_calls_may_launch(struct grt_span name)
{
	static const char *const begin[] = {"hsa_signal_store_", "hsa_amd_memory_async_",
					    "hsa_amd_memory_fill", "hsa_memory_copy"};

	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		if (rocprof_calls_begins(name, begin[i]))
			return true;
	return false;
}

/* A call with work is a launch, whatever its name is. */
static int rocprof_calls_hsa(struct grt_rocprof_calls *c, struct grt_cupti_record *r)
{
	unsigned int seen = c->whole ? rocprof_calls_seen(c, r) : 0;

	r->kind = seen & (ROCPROF_SEEN_KERNEL | ROCPROF_SEEN_COPY) ? GRT_CUPTI_CALL : GRT_CUPTI_OTHER;
	r->spare_call = seen & ROCPROF_SEEN_KERNEL ? "hsa_kernel" : "hsa_copy";
	return rocprof_calls_may_launch(r->name) ? rocprof_calls_see(c, r, ROCPROF_SEEN_HSA) : 0;
}

static void rocprof_calls_hip(struct grt_rocprof_calls *c, struct grt_cupti_record *r)
{
	unsigned int seen = c->whole ? rocprof_calls_seen(c, r) : 0;

	r->kind = GRT_CUPTI_CALL;
	if (!rocprof_calls_begins(r->name, "hip"))
		return;
	r->spare_call = seen & ROCPROF_SEEN_KERNEL ? "hip_kernel"
			: seen & ROCPROF_SEEN_COPY ? "hip_copy"
						   : NULL;
	if (c->of_hsa && !r->spare_call && !memmem(r->name.at, r->name.len, "Synchronize", 11))
		r->kind = GRT_CUPTI_FRAME;
}

int grt_rocprof_calls_take(struct grt_rocprof_calls *c, struct grt_cupti_record *r)
{
	if (rocprof_calls_begins(r->name, "hsa_"))
		return rocprof_calls_hsa(c, r);
	rocprof_calls_hip(c, r);
	return 0;
}

void grt_rocprof_groups(struct grt_cupti_record *kernel)
{
	for (unsigned int i = 0; i < 3; i++)
		if (kernel->block[i] && kernel->grid[i])
			kernel->grid[i] = (kernel->grid[i] - 1) / kernel->block[i] + 1;
}

enum grt_rocprof_side grt_rocprof_way(struct grt_span way, struct grt_cupti_record *copy)
{
	static const struct {
		const char *end;
		const char *name;
		enum grt_rocprof_side side;
	} ways[] = {
		{"HOST_TO_DEVICE", "HtoD", GRT_ROCPROF_TO},
		{"DEVICE_TO_HOST", "DtoH", GRT_ROCPROF_FROM},
		{"DEVICE_TO_DEVICE", "DtoD", GRT_ROCPROF_TO},
		{"HOST_TO_HOST", "HtoH", GRT_ROCPROF_TO},
	};
	size_t len;

	copy->kind = GRT_CUPTI_COPY;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		len = strlen(ways[i].end);
		if (way.len < len || memcmp(way.at + way.len - len, ways[i].end, len) != 0)
			continue;
		copy->name = (struct grt_span){ways[i].name, 4};
		return ways[i].side;
	}
	return GRT_ROCPROF_TO;
}
