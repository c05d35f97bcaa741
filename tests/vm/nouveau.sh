#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# grtrace_nouveau in the virtual machine: bound to the real driver, and to the
# event by fences under its name.
# shows: nouveau module attach
# shows: nouveau module stand-in SUBMIT,COMMIT,END,COMPLETE
# kernels in soak: trixie sid rt
# kernels in soak: debug

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --no-gpu --timeout 1500 -- sh -c '
	sh tests/kernel/grtrace_binds.sh nouveau dma_fence_init dma_fence_signaled dma_fence_wait_start dma_fence_wait_end
	modprobe nouveau
	modprobe gpu_sched
	own=../tests/kernel/modules
	sh tests/vm/_guest.sh "grtrace grtrace_nouveau grtrace_drm_bridge $own/fences $own/execs" \
		/mnt/build/tests/kernel/grtrace_nouveau' | join_tap
