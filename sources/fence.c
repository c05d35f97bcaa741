// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs of a driver that has no events of its own, as far as its fences tell.
 */
#include <errno.h>

#include "bpf.h"

static const char *const objects[] = {"fence", NULL};
static const struct bpf_kind kind = {.name = "fence", .objects = objects};

static int probe_it(struct grt_err *err)
{
	return bpf_probe(objects, err);
}

static int open_it(void **state, const struct source_setup *setup, struct grt_err *err)
{
	if (setup->driver && setup->driver[0])
		return bpf_open(state, setup, &kind, err);
	*state = NULL;
	return grt_err_set(err, -EINVAL, "it must be told which driver's fences are jobs", "--driver nouveau",
			   "the source fence has no driver");
}

BPF_OPS(fence, true, probe_it, open_it);
