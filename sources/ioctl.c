// SPDX-License-Identifier: GPL-2.0
/*
 * DRM ioctls, entered and left, per thread.
 */
#include "sources/bpf/bpf.h"

BPF_SOURCE_DUTY(ioctl, false, GRT_WINDOW_CALLS, "ioctl");
