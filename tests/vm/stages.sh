#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The self-tests of tests/kernel about limits, stages and trace events, in the
# virtual machine, with the software GPU.
# kernels in soak: trixie sid

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --no-gpu --timeout 1800 -- sh -c '
	T=/mnt/build/tests/kernel
	modprobe gpu_sched && modprobe drm_kms_helper
	sh tests/vm/_guest.sh "grtrace grtrace_filter grtrace_sampling grtrace_drm_bridge grtrace_softgpu" $T/grtrace_sampling $T/grtrace_filter \
		$T/grtrace_watchlist $T/grtrace_rate_limit $T/grtrace_token_bucket $T/grtrace_trace' | join_tap
