#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A virtio GPU's jobs and commands by the module, by BPF and by trace-cmd: of one that
# renders, and of two.
# kernels in soak: trixie sid rt

# shellcheck source=tests/cross/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
{
	cross virtio ""
	cross two_gpus "" --no-3d --device virtio-gpu-pci
} | join_tap
