// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs of a driver that has no events of its own, as far as its fences report.
 */
#include <errno.h>

#include "sources/bpf/bpf.h"
#include "sources/bpf/shared.h"

static const char *const objects[] = {"fence", "sync_wait", NULL};

static void fence_configure(struct grt_bpf_config *config)
{
	config->cut_keys = 1;
}

static const struct grt_bpf_kind kind = {.name = "fence", .objects = objects, .configure = fence_configure};

static int fence_probe(struct grt_err *err)
{
	return grt_bpf_probe(objects, err);
}

static int fence_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	if (setup->driver && setup->driver[0])
		return grt_bpf_open(state, setup, &kind, err);
	*state = NULL;
	return grt_err_set(err, -EINVAL, "no driver is named", "--driver nouveau",
			   "the source fence has no driver");
}

BPF_OPS(fence, true, fence_probe, fence_open, .all_gpus = "the fences of all GPUs of the driver");
