// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs of every DRM driver that has tracepoints: jobs in the DRM scheduler, and those of drivers with
 * tracepoints of their own.
 */
#include "sources/bpf/bpf.h"

BPF_SOURCE_DUTY(drm, false, GRT_WINDOW_JOBS, "drm_sched", "virtio_gpu", "amdgpu", "i915", "dma_fence",
		"sync_wait");
