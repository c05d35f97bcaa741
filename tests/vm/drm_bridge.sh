#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tests/kernel/grtrace_drm_bridge in the virtual machine, with the software GPU.
# shows: drm_sched module softgpu SUBMIT,COMMIT,END,COMPLETE,ERROR,WAIT_DEP,FENCE
# kernels in soak: trixie sid rt
# kernels in soak: debug

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --no-gpu --timeout 600 -- sh -c 'modprobe gpu_sched && modprobe drm_kms_helper &&
	sh tests/vm/_guest.sh "grtrace grtrace_drm_bridge grtrace_softgpu" /mnt/build/tests/kernel/grtrace_drm_bridge' | join_tap
