// SPDX-License-Identifier: GPL-2.0
/*
 * Vertical blanks of displays, and the events that clients requested.
 */
#include "sources/bpf/bpf.h"

BPF_SOURCE(vblank, true, "vblank");
