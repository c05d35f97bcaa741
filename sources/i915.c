// SPDX-License-Identifier: GPL-2.0
/*
 * The source i915: requests and memory of i915. The source drm includes it.
 */
#include "sources/bpf/bpf.h"

BPF_SOURCE_OF(i915, true, "i915", GRT_WINDOW_JOBS, "i915", "dma_fence", "sync_wait");
