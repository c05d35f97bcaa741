// SPDX-License-Identifier: GPL-2.0
/*
 * i915 alone: its requests and memory; part of drm.
 */
#include "sources/bpf/bpf.h"

BPF_SOURCE_OF(i915, true, "i915", GRT_WINDOW_JOBS, "i915", "dma_fence", "sync_wait");
