// SPDX-License-Identifier: GPL-2.0
/*
 * The source amdgpu: jobs of amdgpu in the DRM scheduler, its interrupts and its memory. The source drm
 * includes it.
 */
#include "sources/bpf/bpf.h"

BPF_SOURCE_OF(amdgpu, true, "amdgpu", GRT_WINDOW_JOBS, "drm_sched", "amdgpu", "dma_fence", "sync_wait");
