#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tests/kernel/grtrace_load_step in the virtual machine: adaptive sampling when
# the load is a hundred times as large at once. With --icount a CPU does an
# instruction in a nanosecond, whatever the host does.

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --no-gpu --icount --timeout 1800 -- sh -c 'modprobe gpu_sched && modprobe drm_kms_helper &&
	insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" hw_depth=1024 timeout_ms=0 jobs_max=1048576 &&
	sh tests/vm/_guest.sh "grtrace grtrace_sampling grtrace_drm_bridge" /mnt/build/tests/kernel/grtrace_load_step &&
	rmmod grtrace_softgpu' | join_tap
