#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# grtrace_amdgpu in the virtual machine: bound to the real driver, in whose BTF
# `grtrace start` finds its members, which is compared with bpftool; and to the
# event with one that stands for it, without and with the scheduler's
# tracepoints and the bridge.
# shows: amdgpu module attach
# shows: amdgpu module stand-in SUBMIT,COMMIT,END,COMPLETE,IRQ,MEM_CREATE,MEM_MOVE,MEM_BIND,MEM_UNBIND
# kernels in soak: trixie sid
# kernels in soak: debug

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare

members_right() {
	local tool title="members of the real driver lie where bpftool finds them" why
	tool=$(PATH=$PATH:/usr/sbin command -v bpftool)
	printf "TAP version 13\n1..1\n"
	if [ "${GRTRACE_KERNEL:-}" = debug ]; then
		echo "ok 1 - $title # SKIP this kernel has no module amdgpu"
		return
	fi
	if [ -z "$tool" ]; then
		echo "ok 1 - $title # SKIP no bpftool: tools/setup check"
		return
	fi
	{
		"$tool" btf dump file "$work/out/vmlinux" format raw
		"$tool" -B "$work/out/vmlinux" btf dump file "$work/out/amdgpu" format raw
	} >"$work/types"
	why=$(awk -f "$GRTRACE_SRC/tests/vm/_btf_members.awk" "$work/types" "$work/out/offsets" 2>&1)
	[ -z "$why" ] || sed 's/^/# /' <<<"$why"
	[ -z "$why" ] || printf 'not '
	echo "ok 1 - $title"
}

{
	guest --no-gpu --timeout 900 --out "$work/out" -- sh -c '
		sh tests/kernel/grtrace_binds.sh amdgpu amdgpu_cs_ioctl amdgpu_sched_run_job amdgpu_iv \
			amdgpu_bo_create amdgpu_bo_move amdgpu_vm_bo_map amdgpu_vm_bo_unmap dma_fence_signaled
		modprobe amdgpu && /mnt/build/grtrace start | sed "s/^/# /"
		cp /sys/kernel/debug/grtrace/offsets /sys/kernel/btf/vmlinux /sys/kernel/btf/amdgpu /out
		rmmod grtrace_drm_bridge grtrace_amdgpu grtrace_filter grtrace_sampling grtrace_aggregator \
			grtrace_perf_mon grtrace && modprobe -r amdgpu
		stand_in=../tests/kernel/modules/amdgpu
		for modules in "grtrace_amdgpu $stand_in/amdgpu" \
			"grtrace_amdgpu $stand_in/gpu_sched $stand_in/amdgpu" \
			"grtrace_drm_bridge grtrace_amdgpu $stand_in/gpu_sched $stand_in/amdgpu"; do
			sh tests/vm/_guest.sh "grtrace $modules" /mnt/build/tests/kernel/grtrace_amdgpu
		done'
	members_right
} | join_tap
