#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# grtrace_i915 in the virtual machine: bound to the real driver, and to the
# event with one that stands for it, without and with the low-level tracepoints.
# shows: i915 module attach
# shows: i915 module stand-in SUBMIT,COMMIT,END,COMPLETE,MEM_CREATE,MEM_BIND,MEM_UNBIND
# kernels in soak: trixie sid
# kernels in soak: debug

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --no-gpu --timeout 1500 -- sh -c '
	sh tests/kernel/grtrace_binds.sh i915 i915_request_queue i915_request_add i915_request_retire \
		i915_request_wait_begin i915_request_wait_end i915_gem_object_create i915_gem_object_destroy \
		i915_gem_object_fault i915_vma_bind i915_vma_unbind i915_gem_shrink dma_fence_signaled
	for kind in i915 i915_low; do
		sh tests/vm/_guest.sh "grtrace grtrace_i915 ../tests/kernel/modules/$kind/i915" \
			/mnt/build/tests/kernel/grtrace_i915
	done' | join_tap
