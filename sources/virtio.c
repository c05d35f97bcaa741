// SPDX-License-Identifier: GPL-2.0
/*
 * The jobs of virtio-gpu alone, part of drm.
 */
#include "sources/bpf/bpf.h"

BPF_SOURCE(virtio, true, "virtio_gpu", "dma_fence", "sync_wait");
