#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tests/kernel/grtrace_drm_bridge in the virtual machine. The software GPU is not
# unloaded after it: some kernels lose a fence of a queue that is killed, and the
# fence keeps its driver.
# kernels in soak: trixie sid
# kernels in soak: debug

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --no-gpu --timeout 600 -- sh -c 'modprobe gpu_sched && insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" &&
	sh tests/vm/_guest.sh "grtrace grtrace_drm_bridge" /mnt/build/tests/kernel/grtrace_drm_bridge' | join_tap
