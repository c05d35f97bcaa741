#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rings in the virtual machine, with the software GPU: the stages that sum up by
# ring, aggregator and perf_mon; two GPUs of one driver; more than 1,024 rings.
# kernels in soak: trixie sid
# long

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
{
	guest --timeout 1200 --no-gpu -- sh -c 'modprobe gpu_sched && modprobe drm_kms_helper &&
		sh tests/vm/_guest.sh \
		"grtrace grtrace_aggregator grtrace_perf_mon grtrace_drm_bridge grtrace_softgpu" \
		/mnt/build/tests/kernel/grtrace_aggregator /mnt/build/tests/kernel/grtrace_perf_mon'
	echo "TAP version 13"
	guest --timeout 600 --no-gpu -- env GRTRACE_SRC=/mnt/host GRTRACE_BUILD=/mnt/build \
		GRTRACE=/mnt/build/grtrace bash /mnt/host/tests/vm/_rings_guest.sh
} | join_tap
