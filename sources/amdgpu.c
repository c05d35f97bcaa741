// SPDX-License-Identifier: GPL-2.0
/*
 * amdgpu alone: its jobs in the DRM scheduler, interrupts and memory; part of drm.
 */
#include "sources/bpf/bpf.h"

BPF_SOURCE_OF(amdgpu, true, "amdgpu", GRT_WINDOW_JOBS, "drm_sched", "amdgpu", "dma_fence", "sync_wait");
