#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What tests/vm/doctor.sh runs in the guest: `usual` or `locked`.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
cd /out || exit 1
debugfs=/sys/kernel/debug/grtrace

finds() { # NAME STATE REGEX
	says "^  $1 +$2 +.*$3"
}

# The same as another user, who may read the build.
user() { # ARGS...
	output=$(setpriv --reuid 65534 --regid 65534 --clear-groups "$GRTRACE" "$@" 2>&1 </dev/null)
	status=$?
}

# Everything that doctor might have changed.
state() {
	cut -d' ' -f1,2 /proc/modules
	cat /proc/mounts
	find /sys/kernel/debug/grtrace -type f -name '[a-d]*' -exec cat {} + 2>/dev/null
	cat /sys/kernel/tracing/{tracing_on,current_tracer,kprobe_events,set_event} 2>/dev/null
}

if [ "$1" = locked ]; then
	mount -t securityfs securityfs /sys/kernel/security
	run doctor kmod
	expect "lockdown=integrity: the module cannot be used" 3 '^  kmod +NO .*the kernel is locked down'
	check "lockdown says so" finds lockdown NO integrity
	run record -e kmod -d 1
	expect "nor can record" 3 'cannot load .*grtrace.ko'
	run doctor
	check "no GPU" finds gpus NO 'no DRM device'
	plan
	exit
fi

state >before
run doctor
expect "without the module" 0 '^Sources$'
state >after
check "doctor changes nothing" cmp before after
check "the source kmod would work" finds kmod works 'jobs from submit to complete'
check "the kernel" finds kernel works "$(uname -r)"
check "its types" finds btf works vmlinux
check "the modules' types" finds module_btf works 'drm, virtio_gpu'
check "kprobes" finds kprobes works kprobe_events
check "debugfs" finds debugfs works /sys/kernel/debug
check "tracefs" finds tracefs works /sys/kernel/tracing
check "lockdown is not to be seen yet" finds lockdown unknown 'securityfs is not mounted'
check "fences" finds dma_fence works dma_fence_signaled
check "the driver's tracepoints" finds virtio_gpu works virtio_gpu_cmd_queue
check "vertical blank" finds vblank works drm_vblank_event
check "the scheduler's, which nobody uses" finds gpu_scheduler - 'not loaded'
check "the device" finds gpus works 'virtio_gpu \(card0 renderD128\)'
check "on its bus" finds pci works '1af4:1050 virtio-pci'
check "the module's file" finds module_file works '/mnt/build/kernel/grtrace.ko'
check "the adapter" finds adapters works 'virtio_gpu: is loaded together with grtrace'
check "no trace to speak of" test -z "$(grep '^Trace:' <<<"$output")"
run doctor kmod
check "doctor kmod" exits 0
GRTRACE_MODULES=/nonexistent run doctor kmod
expect "doctor kmod without the module's file" 3 'the module was not found; try: make modules'
mount -t securityfs securityfs /sys/kernel/security
run doctor
check "lockdown" finds lockdown works none

user doctor
expect "another user" 0 '^  privileges +NO +neither root'
check "may not look into tracefs" finds tracefs unknown 'needs root'
check "nor debugfs" finds debugfs unknown 'needs root'
check "but finds the tracepoints" finds virtio_gpu works virtio_gpu_cmd_response
check "and that others are missing" finds amdgpu - 'not loaded'
check "kmod is root's" finds kmod unknown 'needs root: .*; try: the same command with sudo'
user doctor kmod
check "and does not work for this user" exits 3

modprobe -a i915 amdgpu 2>/dev/null
run doctor
check "i915 without its low level events" finds i915_low_level NO 'CONFIG_DRM_I915_LOW_LEVEL_TRACEPOINTS=n\): execution is inferred'
check "its others" finds i915 works i915_request_add
check "amdgpu" finds amdgpu works amdgpu_cs_ioctl
check "with the scheduler's old names" finds gpu_scheduler works drm_run_job
check "both without a device" finds gpus works 'virtio_gpu \(card[0-9]+ renderD128\).*amdgpu \(no DRM device\)'
check "so no adapter is missed" finds adapters works 'virtio_gpu: is loaded'

"$GRTRACE" start >/dev/null
state >before
run doctor
expect "with the module" 0 '^Trace: the loaded module$'
state >after
check "doctor changes nothing there either" cmp before after
check "the module" finds module works 'loaded, version'
check "its adapter" finds adapters works 'virtio_gpu: loaded'
check "tracing is on" finds tracing works on
check "the adapter sees the driver" finds adapter works 'virtio_gpu sees its driver'
echo clear >$debugfs/control
sleep 0.3
echo "submit ring=0 ctx=77 seqno=1" >$debugfs/emit
run doctor
check "one event" finds events works '2 of 2 delivered, submit 1, name 1'
echo clear >$debugfs/control
run doctor
check "an idle GPU" finds gpu NO idle
run config sample=1
glmark2-es2-drm --off-screen -b build:duration=1 >/dev/null 2>&1
run doctor
check "sampling explains what is missing" finds sample NO 'sample=1 is in force: [1-9][0-9]* of [1-9][0-9]* events sampled_out'
run config sample=100
"$GRTRACE" stop >/dev/null
echo clear >$debugfs/control
run doctor
check "not started" finds tracing NO 'not started; try: sudo grtrace record'

"$GRTRACE" record -e kmod -o held.grt 2>/dev/null &
window_begun held.grt
run doctor kmod
expect "another reader" 3 'process [0-9]+ \(grtrace\) reads it'
kill -INT $!
wait
run doctor -i held.grt
expect "its recording" 0 '^  adapter +works +virtio_gpu sees its driver'

user doctor --bug-report /tmp/user.txt
expect "another user's bug report" 0 '^/tmp/user.txt: written'
run doctor --bug-report bug.txt
expect "root's" 0 '^bug.txt: written'
output=$(cat bug.txt)
check "it has the kernel's lines about the GPU" says '^\[ *[0-9.]+\] .*drm.*virtio'
check "and the module's files" says '^virtio_gpu driver=virtio_gpu bound=1'
check "not the host's name" test -z "$(grep grtrace-vm bug.txt)"
check "it is private" test "$(stat -c %a bug.txt)" = 600
check "no complaint of the kernel" test -z "$(dmesg | grep -E 'BUG|WARNING|Oops|Call Trace')"
plan
