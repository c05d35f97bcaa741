// SPDX-License-Identifier: GPL-2.0
/*
 * Vertical blanks of displays, and the events that clients requested.
 */
#include "sources/bpf/bpf.h"

static const char *const objects[] = {"vblank", NULL};
static const struct grt_bpf_kind kind = {.name = "vblank", .objects = objects};

static int vblank_probe(struct grt_err *err)
{
	return grt_bpf_probe(objects, err);
}

static int vblank_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	return grt_bpf_open(state, setup, &kind, err);
}

BPF_OPS(vblank, true, vblank_probe, vblank_open, .all_gpus = "the displays of all GPUs");
