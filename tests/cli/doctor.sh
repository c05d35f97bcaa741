#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# doctor on systems made of files: every outcome of its probes, why a trace is empty, the bug report.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
unset USER SUDO_USER LD_LIBRARY_PATH

release=6.1.0-9-test
version=$("$GRTRACE" --version | sed 's/^grtrace \([^ ]*\).*/\1/')

put() { # FILE TEXT: below the made system
	mkdir -p "sys$(dirname "$1")"
	printf '%b\n' "$2" >"sys$1"
}

# A module file for a kernel.
module() { # FILE RELEASE [END]
	mkdir -p "$(dirname "$1")"
	printf 'ELF\0version=%s\0vermagic=%s SMP preempt mod_unload\0%b' "$version" "$2" "${3:-}" >"$1"
}

# A display device: on the PCI bus, and with a driver also in /sys/class/drm.
gpu() { # NUMBER VENDOR [DRIVER]
	local pci=sys/sys/bus/pci/devices/0000:0$1:00.0 node
	mkdir -p "$pci"
	echo 0x030000 >"$pci/class"
	echo "0x$2" >"$pci/vendor"
	echo 0x1050 >"$pci/device"
	[ -n "${3:-}" ] || return 0
	mkdir -p "sys/sys/bus/pci/drivers/$3"
	ln -sfn "../../drivers/$3" "$pci/driver"
	for node in card$1 renderD$((128 + $1)); do
		mkdir -p "sys/sys/class/drm/$node"
		ln -sfn "../../../bus/pci/devices/0000:0$1:00.0" "sys/sys/class/drm/$node/device"
	done
	mkdir -p "sys/sys/class/drm/card$1-HDMI-A-1"
	touch "sys/sys/class/drm/version"
}

loaded() { # MODULE...: with types
	local name
	for name; do
		put "/sys/module/$name/initstate" live
		put "/sys/kernel/btf/$name" x
	done
}

points() { # SYSTEM EVENT...
	local system=$1 event
	shift
	for event; do mkdir -p "sys/sys/kernel/tracing/events/$system/$event"; done
}

# Debian 6.1 with a virtio GPU, as root: all is well.
healthy() {
	rm -rf sys
	put /proc/sys/kernel/osrelease $release
	put /proc/sys/kernel/hostname lovelace
	put /proc/sys/kernel/unprivileged_bpf_disabled 2
	put /proc/sys/kernel/perf_event_paranoid 3
	put /proc/sys/kernel/kptr_restrict 0
	put /proc/self/mounts 'proc /proc proc rw 0 0\ndebugfs /sys/kernel/debug debugfs rw 0 0\ntracefs /sys/kernel/tracing tracefs rw 0 0\nsecurityfs /sys/kernel/security securityfs rw 0 0'
	put /proc/self/status 'Name:\tgrtrace\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff'
	put /proc/self/limits 'Max locked memory         8388608              8388608              bytes'
	put /proc/modules 'virtio_gpu 90112 2 - Live 0x0\nsnd 1 1 - Live 0x0'
	put /boot/config-$release 'CONFIG_KPROBE_EVENTS=y\n# CONFIG_DRM_I915_LOW_LEVEL_TRACEPOINTS is not set'
	put /sys/kernel/btf/vmlinux x
	put /sys/kernel/security/lockdown '[none] integrity confidentiality'
	put /sys/kernel/tracing/kprobe_events ''
	mkdir -p sys/sys/kernel/debug
	loaded drm virtio_gpu
	points dma_fence dma_fence_init dma_fence_emit dma_fence_signaled dma_fence_wait_start dma_fence_wait_end
	points virtio_gpu virtio_gpu_cmd_queue virtio_gpu_cmd_response
	points drm drm_vblank_event drm_vblank_event_queued drm_vblank_event_delivered
	gpu 1 1af4 virtio-pci
	module sys/lib/modules/$release/updates/grtrace.ko $release
	module sys/lib/modules/$release/updates/grtrace_virtio_gpu.ko $release
	put /lib/modules/$release/modules.dep 'kernel/drivers/gpu/drm/drm.ko:\nupdates/grtrace.ko:\nupdates/grtrace_virtio_gpu.ko: updates/grtrace.ko kernel/drivers/gpu/drm/drm.ko'
}

# The line of a feature or source in the last output.
finds() { # NAME STATE REGEX
	says "^  $1 +$2 +.*$3"
}

# Runs doctor and looks at one line of it.
look() { # TEST NAME STATE REGEX
	run doctor
	if exits 0 && finds "$2" "$3" "$4"; then ok "$1"; else not_ok "$1" "wanted: $2 $3 $4"; fi
}

export GRTRACE_SYSROOT=$PWD/sys

healthy
run doctor
expect "a healthy system" 0 '^Sources$'
check "the source kmod works" finds kmod works 'jobs from submit to complete'
check "no other row is NO or unknown" test -z "$(sed -n '/^Kernel$/,$p' <<<"$output" | grep -E ' (NO|unknown) ')"
check "every row has one line" test "$(sed '1,/^$/d' <<<"$output" | grep -c '^  ')" = "$(grep -c '^GRT_PROBE(' "$GRTRACE_SRC/cmds/doctor/probes.def")"
check "the row of the GPU has its device files" finds gpus works 'virtio_gpu \(card1 renderD129\)'
check "the row of the PCI bus has the driver" finds pci works '0000:01:00.0 1af4:1050 virtio-pci'
check "the row of the module has its file" finds module_file works "/lib/modules/$release/updates/grtrace.ko"
check "the row of the adapters has the driver's adapter" finds adapters works 'virtio_gpu: is loaded together with grtrace'
check "i915 is not loaded, so its row is not needed" finds i915_low_level - 'i915 is not loaded \(CONFIG_DRM_I915_LOW_LEVEL_TRACEPOINTS=n\)'
check "no colours in a file" test -z "$(grep -F $'\033' <<<"$output")"

run doctor kmod
expect "doctor kmod" 0 '^  kmod +works'
check "one source: the features that it needs are shown" finds lockdown works none
check "one source: no other rows are shown" test -z "$(grep -E '^  (btf|cuda|drm) ' <<<"$output")"
run doctor frobnicate
expect "an unknown source" 2 "unknown source 'frobnicate'"
run doctor kmdo
expect "a misspelt source is suggested" 2 "unknown source 'kmdo' \(did you mean kmod\?\)"
run doctor kmod drm
expect "one source at a time" 2 "more than one source"
run record -e list
check "record -e list has every source" test "$(sed -n 's/^  \([a-z]\S*\) .*/\1/p' <<<"$output" | xargs)" = \
	"$(sed -n 's/^GRT_SOURCE(\([a-z0-9]*\),.*/\1/p' "$GRTRACE_SRC/sources/sources.def" | xargs)"
expect "what works" 0 '^  kmod +works +jobs from submit to complete'
check "record -e list gives the same reason as doctor" test "$(grep -A1 '^  amdgpu ' <<<"$output" | sed -n '2s/^ *//p')" = \
	"$("$GRTRACE" doctor amdgpu | sed -n 's/^  amdgpu *NO *//p' | head -n 1)"
run record -e list --json
check "record -e list --json has the working sources" test "$(jq -r '.sources[] | select(.state == "works") | .name' <<<"$output" | xargs)" = \
	"$("$GRTRACE" doctor --json | jq -r '.sources[] | select(.state == "works") | .name' | xargs)"
run record -e list true
expect "-e list runs no program" 2 'only prints the sources'
run record --json true
expect "record --json without it" 2 'report --json'
run doctor --json kmod
expect "--json with a source" 0 '^\{"sources":\[\{"name":"kmod","state":"works"'
if command -v python3 >/dev/null; then
	run doctor --json
	check "--json has every row" python3 -c 'import json, sys
d = json.loads(sys.argv[1])
f = {x["name"]: x for x in d["features"]}
assert d["trace"] is None and {x["name"] for x in d["sources"]} >= {"kmod"}
assert f["btf"] == {"group": "Kernel", "name": "btf", "state": "works", "detail": "/sys/kernel/btf/vmlinux", "fix": ""}
assert f["i915"]["state"] == "absent" and f["privileges"]["detail"] == "root"
' "$output"
fi

# ---- the kernel
put /proc/sys/kernel/osrelease 5.4.0-1-test
look "a kernel that is too old" kernel NO '5.4.0-1-test: BPF sources need 5.8'
check "an old kernel: the limit of locked memory is checked" finds memlock works 'may raise the limit'
put /proc/self/status 'Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0'
look "and stops a user" memlock NO '8192 KiB; try: ulimit -l unlimited'
healthy
rm -r sys/sys/kernel/btf
look "no BTF" btf NO 'no /sys/kernel/btf/vmlinux.*; try: .*CONFIG_DEBUG_INFO_BTF=y'
check "modules without BTF are reported" finds module_btf NO 'none for drm, virtio_gpu: BPF programs cannot read'
healthy
rm -r sys/sys/module/*
look "no GPU module" module_btf - 'no module is loaded whose structs BPF programs read'
healthy

put /sys/kernel/security/lockdown 'none [integrity] confidentiality'
look "lockdown=integrity" lockdown NO 'integrity: the kernel refuses unsigned modules.*; try: sudo grtrace record -e drm'
check "lockdown: the source kmod does not work" finds kmod NO 'the kernel is locked down'
run doctor kmod
check "lockdown: the exit status of doctor kmod is 3" exits 3
put /sys/kernel/security/lockdown 'none integrity [confidentiality]'
look "lockdown=confidentiality" lockdown NO 'confidentiality: neither'
rm sys/sys/kernel/security/lockdown
look "a kernel without lockdown" lockdown works none
sed -i /securityfs/d sys/proc/self/mounts
look "securityfs is not mounted" lockdown unknown 'not mounted; try: sudo mount -t securityfs'
healthy

mkdir -p sys/sys/firmware/efi/efivars
secure=sys/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
printf '\6\0\0\0\1' >$secure
look "Secure Boot" secure_boot NO 'on: modules must be signed'
printf '\6\0\0\0\0' >$secure
look "EFI without Secure Boot" secure_boot works off
rm $secure
look "efivars that cannot be read" secure_boot unknown 'efivars cannot be read.*; try: mokutil --sb-state'
healthy

rm sys/sys/kernel/tracing/kprobe_events
look "no kprobes" kprobes NO 'CONFIG_KPROBE_EVENTS'
rm -r sys/sys/kernel/tracing/*
look "kprobes by the configuration" kprobes works 'by the kernel.s configuration'
rm sys/boot/*
look "kprobes are unknown" kprobes unknown 'needs root'
printf 'CONFIG_KPROBE_EVENTS=y\n' | gzip -c >sys/proc/config.gz
look "kprobes by /proc/config.gz" kprobes works configuration
echo garbage >sys/proc/config.gz
look "garbage in its place" kprobes unknown 'needs root'
healthy

sed -i '/debugfs/d; /tracefs/d' sys/proc/self/mounts
look "debugfs is not mounted" debugfs NO 'not mounted.*; try: sudo mount -t debugfs debugfs /sys/kernel/debug'
check "tracefs is not mounted" finds tracefs NO 'not mounted.*; try: sudo mount -t tracefs tracefs /sys/kernel/tracing'
check "kmod does not work without debugfs" finds kmod NO 'debugfs is not mounted'
healthy

# ---- tracepoints
points gpu_scheduler drm_sched_job drm_run_job drm_sched_process_job
look "old names of the scheduler's" gpu_scheduler works 'drm_sched_job drm_run_job'
rm -r sys/sys/kernel/tracing/events/gpu_scheduler
look "without its module it is not missed" gpu_scheduler - 'gpu_sched is not loaded'
points gpu_scheduler drm_sched_job_queue drm_sched_job_run drm_sched_job_done
look "new names" gpu_scheduler works 'drm_sched_job_queue drm_sched_job_run'
loaded i915 gpu_sched
points i915 i915_request_queue i915_request_add i915_request_retire i915_vma_bind
look "i915" i915 works i915_request_queue
check "i915 without its low-level events" finds i915_low_level NO 'no i915_request_in i915_request_out in this kernel \(CONFIG_DRM_I915_LOW_LEVEL_TRACEPOINTS=n\): execution is inferred; try: a kernel with'
points i915 i915_request_in i915_request_out
look "with them" i915_low_level works i915_request_in
rm -r sys/sys/kernel/tracing/events/dma_fence
look "no fences" dma_fence NO 'no dma_fence_init'
healthy
sed -i /tracefs/d sys/proc/self/mounts
look "without tracefs and symbols it is unknown" virtio_gpu unknown 'needs root'
put /proc/kallsyms '0000000000000000 t __traceiter_virtio_gpu_cmd_queue\t[virtio_gpu]\n0000000000000000 t __traceiter_virtio_gpu_cmd_response\t[virtio_gpu]\n0000000000000000 T drm_ioctl'
look "the symbols tell" virtio_gpu works virtio_gpu_cmd_queue
check "a missing tracepoint is named" finds dma_fence NO 'no dma_fence_init'
healthy

# ---- GPUs, the module and adapters
gpu 2 10de
look "a device without driver" pci NO '10de:1050 has no driver; try: sudo modprobe nvidia'
gpu 2 10de nouveau
look "a driver without adapter" adapters NO 'virtio_gpu: is loaded.*, nouveau: no adapter in this version; try: sudo grtrace record -e drm'
put /sys/module/gpu_sched/holders/nouveau/initstate live
module sys/lib/modules/$release/updates/grtrace_drm_bridge.ko $release
echo "updates/grtrace_drm_bridge.ko: updates/grtrace.ko" >>sys/lib/modules/$release/modules.dep
look "one under the DRM scheduler has the scheduler's adapter" adapters works 'nouveau: is loaded together with grtrace'
check "both GPUs are listed" finds gpus works 'virtio_gpu \(card1 renderD129\), nouveau \(card2 renderD130\)'
mkdir -p sys/sys/class/accel/accel0 sys/sys/bus/npu sys/sys/bus/pci/drivers/intel_vpu
ln -s ../pci/drivers/intel_vpu sys/sys/bus/npu/driver
ln -s ../../../bus/npu sys/sys/class/accel/accel0/device
run doctor
check "an NPU is listed with the GPUs" finds gpus works 'nouveau \(card2 renderD130\), intel_vpu \(accel0\)'
check "the NPU has no events of jobs, but fences" finds job_times unknown \
	'intel_vpu: its jobs are seen only by their fences: grtrace record -e fence --driver intel_vpu'
ln -sfn ../host1x/drivers/drm sys/sys/bus/npu/driver
mkdir -p sys/sys/bus/host1x/drivers/drm
look "Tegra, whose driver has the name drm, and its fences that of the bus" job_times unknown \
	'tegra_drm: its jobs are seen only by their fences: grtrace record -e fence --driver host1x'
rm -r sys/sys/class/accel
rm -r sys/sys/class/drm/renderD130
look "one that runs no jobs needs none" adapters works 'virtio_gpu'
rm -r sys/sys/class/drm sys/sys/bus sys/sys/module
look "no GPU at all" gpus NO 'no DRM device'
check "without a GPU that runs jobs, no adapter is needed" finds adapters - 'no GPU that runs jobs'
healthy
put /sys/module/grtrace/version "$version"
look "an adapter that is not loaded" adapters NO 'virtio_gpu: not loaded; try: sudo grtrace start'
put /sys/module/grtrace_virtio_gpu/initstate live
look "one that is" adapters works 'virtio_gpu: loaded'
put /sys/module/grtrace/version 0.0.9
look "a module of another version" module NO 'version 0.0.9 is loaded'
healthy
module sys/lib/modules/$release/updates/grtrace.ko 6.1.0-1-other
look "a module of another kernel" module_file NO 'it was built for kernel 6.1.0-1-other; try: make modules'
check "kmod does not work with a module for another kernel" finds kmod NO 'it was built for kernel 6.1.0-1-other'
echo garbage >sys/lib/modules/$release/updates/grtrace.ko
look "garbage instead of a module" module_file NO '(unknown)'
: >sys/lib/modules/$release/updates/grtrace.ko
look "an empty file" module_file NO 'cannot read'
rm sys/lib/modules/$release/modules.dep
look "no module" module_file NO 'the module was not found; try: make modules'
module given/grtrace.ko $release
export GRTRACE_MODULES=$PWD/given
look "GRTRACE_MODULES" module_file works given/grtrace.ko
put /sys/module/module/parameters/sig_enforce Y
look "only signed modules" module_file NO 'loads only signed modules; try: sign it'
module given/grtrace.ko $release '~Module signature appended~\n'
look "a signed one" module_file works given/grtrace.ko
unset GRTRACE_MODULES
healthy

# ---- vendors
loaded amdgpu
put /sys/module/amdgpu/version 6.12.12
put /opt/rocm/.info/version 6.4.1-83
look "AMD's packaged driver" amd works 'amdgpu 6.12.12'
check "ROCm without its device" finds rocm NO 'ROCm 6.4.1-83, but no /dev/kfd'
put /dev/kfd ''
look "ROCm" rocm works 6.4.1-83
put /proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (root@x)\nGCC version:  gcc version 12.2.0'
look "NVIDIA's open driver" nvidia works '580.65.06, open'
check "CUDA without libcuda" finds cuda NO 'libcuda.so.1 was not found'
put /proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.163.01  Tue Apr  8'
put /usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01 x
ln -s libcuda.so.550.163.01 sys/usr/lib/x86_64-linux-gnu/libcuda.so.1
look "NVIDIA's proprietary driver" nvidia works '550.163.01, proprietary'
check "the version of libcuda is shown" finds cuda works 'libcuda.so.1, version 550.163.01'
put /proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Tue'
look "libcuda of another version" cuda NO 'is of driver 550.163.01, another one is loaded'
put /usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12 x
look "CUPTI" cupti works 'extras/CUPTI/lib64/libcupti.so.12'
put /proc/driver/nvidia/version 'NVRM \033[31m"<script>'
look "a version from nowhere is escaped" nvidia unknown 'x1b'
healthy
# The linker's cache: a header of 48 bytes, one entry of 24, two texts.
mkdir -p sys/etc sys/odd/place
touch sys/odd/place/libcuda.so.1
{
	printf 'glibc-ld.so.cache1.1\1\0\0\0\50\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf '\3\3\0\0\110\0\0\0\125\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf 'libcuda.so.1\0/odd/place/libcuda.so.1\0'
} >sys/etc/ld.so.cache
look "a library by the linker's cache" cuda - 'odd/place/libcuda.so.1, but NVIDIA'
printf 'glibc-ld.so.cache1.1\377\377\377\377' >sys/etc/ld.so.cache
look "a broken cache" cuda - 'was not found'
head -c 300000 /dev/urandom >sys/etc/ld.so.cache
look "garbage as cache" cuda - 'was not found'

# ---- privileges
put /proc/self/status 'Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000'
look "no privileges" privileges NO 'neither root nor CAP_BPF and CAP_PERFMON; try: the same command with sudo'
check "BPF needs privileges" finds unprivileged_bpf NO '2: BPF needs privileges'
check "tracepoints need privileges" finds perf_event_paranoid NO '3: tracepoints only with CAP_PERFMON'
check "kernel addresses are hidden" finds kptr_restrict NO 'hidden from this user'
check "only root can load the module" finds kmod unknown 'needs root'
run doctor kmod
expect "which is no success" 3 'the same command with sudo'
put /proc/self/status 'Uid:\t1000\t1000\t1000\t1000\nCapEff:\t000000c000000000'
look "with capabilities" privileges works 'CAP_BPF and CAP_PERFMON, for BPF'
put /proc/self/status 'Uid:\t0\t0\t0\t0\nCapEff:\t0000000000000000'
look "root of a container" privileges NO 'root without CAP_SYS_ADMIN'
healthy
put /proc/sys/kernel/kptr_restrict 2
look "addresses hidden from all" kptr_restrict NO '2: .*; try: sudo sysctl kernel.kptr_restrict=1'

healthy
rm sys/proc/modules
look "a kernel without modules" module_file NO 'this kernel loads no modules .CONFIG_MODULES.; try: sudo grtrace record -e drm'
gpu 9 10de
look "a device without driver on such a kernel" pci NO '10de:1050 has no driver; try: a kernel with this driver: this one loads no modules'
run doctor
check "nowhere is modprobe of a driver advised there" test "$(grep -c 'modprobe [anv]' <<<"$output")" = 0

rm -rf sys && mkdir sys
run doctor
expect "an empty system" 0 '^  kernel +unknown'
put /proc/self/status "$(head -c 100000 /dev/zero | tr '\0' 'x')"
put /proc/sys/kernel/osrelease "$(head -c 100000 /dev/zero | tr '\0' '9')"
put /proc/self/mounts 'broken'
run doctor
check "a system whose files have invalid contents" exits 0

# ---- the loaded module
stats() { # EMITTED DELIVERED FILTERED SAMPLED LOST
	put /sys/kernel/debug/grtrace/stats "enabled 0\nreader_pid 0\ntotal emitted=$1 delivered=$2 filtered=$3 sampled_out=$4 lost=$5"
}
with_module() {
	healthy
	put /sys/module/grtrace/version "$version"
	put /sys/module/grtrace_virtio_gpu/initstate live
	put /sys/kernel/debug/grtrace/version "grtrace $version format 5"
	put /sys/kernel/debug/grtrace/control running
	put /sys/kernel/debug/grtrace/config 'enable=1\nlevel=normal\nsample=100\nfilter_ring_id=-1\nfilter_pid=0\nmax_events_per_sec=0\nwatchlist='
	put /sys/kernel/debug/grtrace/adapters 'virtio_gpu driver=virtio_gpu bound=1 unmatched=0 tracepoints=virtio_gpu_cmd_queue:1,dma_fence_emit:1'
	put /sys/kernel/debug/grtrace/events_by_type 'submit 20\ncomplete 20'
	put /sys/kernel/debug/grtrace/events0 ''
	stats 40 40 0 0 0
}

with_module
look "a trace that is not empty" events works '40 of 40 delivered, submit 20, complete 20'
check "Trace: tracing is on" finds tracing works 'on, no reader'
check "Trace: the adapter sees its driver" finds adapter works 'virtio_gpu sees its driver'
check "Trace: no filter is set" finds settings works 'no filter'
check "Trace: no row is NO or unknown" test -z "$(sed -n '/^Trace: /,$p' <<<"$output" | grep -E ' (NO|unknown) ')"
put /sys/kernel/debug/grtrace/control stopped
stats 0 0 0 0 0
look "not started" tracing NO 'not started; try: sudo grtrace record'
put /sys/kernel/debug/grtrace/control running
look "the GPU is idle" gpu NO 'idle: .* no event of any type'
put /sys/kernel/debug/grtrace/adapters ''
look "no adapter" adapter NO 'no adapter is loaded: no jobs are recorded; try: sudo grtrace start'
check "Trace: without events, the GPU's state is unknown" finds gpu unknown 'no event'
put /sys/kernel/debug/grtrace/adapters 'virtio_gpu driver=virtio_gpu bound=0 unmatched=0 tracepoints=virtio_gpu_cmd_queue:0'
look "an adapter whose driver is away" adapter NO 'waits for its driver'
put /sys/kernel/debug/grtrace/adapters 'nvidia driver=nvidia bound=1 unmatched=0 tracepoints= functions=kchangrpInit_IMPL:0 refused=driver_version_not_known_999.1'
look "an adapter that refuses its driver" adapter NO 'nvidia does not support this version of its driver: driver_version_not_known_999.1; try: a version'
put /sys/kernel/debug/grtrace/adapters 'virtio_gpu driver=virtio_gpu bound=1 unmatched=0 tracepoints=a:1,b:0,c:0'
look "a driver without some tracepoints" adapter NO 'no tracepoint b c'
put /sys/kernel/debug/grtrace/adapters 'virtio_gpu driver=virtio_gpu bound=1 unmatched=0 tracepoints=a:1,b|c:0,d:-,e:0 missing=b|c:not-in-this-kernel,d:not-in-this-kernel,e:gpu_sched-not-loaded'
look "and why" adapter NO 'no tracepoint b\|c \(not in this kernel\) e \(gpu_sched not loaded\)$'
put /sys/kernel/debug/grtrace/adapters 'amdgpu driver=amdgpu bound=1 unmatched=0 tracepoints=a:1 fields=3/19'
look "members of the driver's structs that are not known" fields unknown '3 of 19 members .* try: sudo grtrace start'
put /sys/kernel/debug/grtrace/adapters 'amdgpu driver=amdgpu bound=1 unmatched=0 tracepoints=a:1 fields=19/19'
look "all of them known" adapter works 'amdgpu sees its driver'
check "Trace: no row about the offsets" test -z "$(grep '^  fields' <<<"$output")"
with_module
gpu 2 10de nouveau
look "a driver that no adapter follows" drivers NO 'nouveau: no adapter'
with_module
sed -i 's/^sample=100/sample=10/' sys/sys/kernel/debug/grtrace/config
stats 1000 93 0 907 0
look "sampling" sample NO 'sample=10 is in force: 907 of 1000 events sampled_out; try: sudo grtrace config sample=100'
sed -i 's/^filter_pid=0/filter_pid=77/; s/^watchlist=/watchlist=0,1 ring:3/; s/^max_events_per_sec=0/max_events_per_sec=5/' sys/sys/kernel/debug/grtrace/config
look "a filter" filter_pid NO 'filter_pid=77 is in force: 0 of 1000 events filtered'
check "Trace: a watch list is in force" finds watchlist NO 'watchlist=0,1 ring:3 is in force.*; try: sudo grtrace config watch_count=0'
check "Trace: a rate limit is in force" finds max_events_per_sec NO 'max_events_per_sec=5 is in force'
sed -i 's/^level=normal/level=off/' sys/sys/kernel/debug/grtrace/config
look "a level of off" level NO 'level=off is in force'
sed -i 's/^level=off/level=debug/' sys/sys/kernel/debug/grtrace/config
look "more detail keeps nothing out" level works debug
with_module
stats 100 60 0 0 40
look "overruns" overruns NO '40 of 100 events lost.*; try: sudo grtrace record --buffer'
sed -i 's/^reader_pid 0/reader_pid 4711/' sys/sys/kernel/debug/grtrace/stats
look "another reader" kmod NO 'process 4711 reads it; try: sudo kill -INT 4711'
run doctor kmod
expect "keeps the source from working" 3 '^Trace: the loaded module'
put /sys/kernel/debug/grtrace/version 'grtrace 9.9.9 format 99'
look "another format" kmod NO 'format 99, this tool reads'

# ---- recordings
unset GRTRACE_SYSROOT
fake_start 2 10
run record -e kmod -o good.grt sleep 0.3
"$GRTRACE" config sample=10
settled config '^sample=10$'
"$GRTRACE" config 'watchlist=0,1 ring:3'
settled config '^watchlist=0,1 ring:3$'
run record -e kmod -o sampled.grt sleep 0.3
fake_stop
unset GRTRACE_DEBUGFS
run doctor -i good.grt
expect "a recording" 0 '^Trace: good.grt$'
check "a recording: its events" finds events works '2000 of 2006 delivered, submit 2000'
check "a recording: its losses" finds overruns NO '6 of 2006 events lost'
check "a recording: only the group Trace is shown" test -z "$(grep -E '^(Sources|Kernel)$' <<<"$output")"
run doctor -i sampled.grt
expect "one that was sampled" 0 '^  sample +NO +sample=10 was in force'
check "a recording: its watch list" finds watchlist NO 'watchlist=0,1 ring:3 .*, and record again'
if command -v python3 >/dev/null; then
	# its writer says of the last packet that it delivered five events more than are in it
	cp -r good.grt more.grt
	python3 - more.grt/kmod_0 <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at = 0
while at + struct.unpack_from("<Q", data, at + 40)[0] // 8 < len(data):
    at += struct.unpack_from("<Q", data, at + 40)[0] // 8
for offset in (144, 152):
    struct.pack_into("<Q", data, at + offset, struct.unpack_from("<Q", data, at + offset)[0] + 5)
open(sys.argv[1], "wb").write(data)
END
	run doctor -i more.grt
	expect "one that holds less than was delivered" 0 '^  balance +NO +not every event is accounted for: 20[0-9]+ were delivered, 20[0-9]+ are in the recording'
fi
cp -r good.grt empty.grt
: >empty.grt/kmod_0
: >empty.grt/kmod_1
sed -i 's/kmod_balance = "[^"]*"/kmod_balance = "emitted=0 delivered=0"/' empty.grt/metadata
run doctor -i empty.grt
expect "an empty one" 0 '^  gpu +NO +idle'
check "a recording without events" finds events NO '0 of 0 delivered'
sed -i 's/kmod_adapters = "[^"]*"/kmod_adapters = ""/' empty.grt/metadata
run doctor -i empty.grt
expect "without adapters" 0 '^  adapter +NO +no adapter was loaded'
sed -i 's/kmod_adapters = ""/kmod_adapters = "a\\033[31m driver=\\"x bound=0\\n"/; s/state = "complete"/state = "recording"/' empty.grt/metadata
run doctor -i empty.grt
expect "one that was not ended" 0 '^  recorder +NO'
check "hostile names are escaped" says 'a.x1b\[31m waits for its driver'
if command -v python3 >/dev/null; then
	run doctor --json -i empty.grt
	check "hostile names are escaped in JSON" python3 -c 'import json, sys
t = json.loads(sys.argv[1])["trace"]
assert t["input"] == "empty.grt" and any("\x1b" in f["detail"] for f in t["findings"])' "$output"
fi
sed -i '/kmod_/d' empty.grt/metadata
run doctor -i empty.grt
check "without the module's part there is less to say" eval 'exits 0 && ! finds adapter NO'
run doctor -i none.grt
expect "no such recording" 1 'none.grt: cannot open'
echo garbage >garbage
run doctor -i garbage
expect "garbage" 1 'garbage: '

# ---- the bug report
export GRTRACE_SYSROOT=$PWD/sys
with_module
put /proc/cmdline 'BOOT_IMAGE=/vmlinuz root=UUID=secret-disk ro lockdown=none amdgpu.dc=0'
put /etc/os-release 'PRETTY_NAME="Debian"'
mkdir -p sys/dev
printf '6,1,5140900,-;[drm] Initialized virtio_gpu for lovelace\n SUBSYSTEM=drm\n4,2,6000000,-;usb 1-1: secret stick\n3,3,7000001,-;amdgpu of /home/ada/src: \033[31mtimeout\n' >sys/dev/kmsg
umask 022
run doctor --bug-report report.txt
expect "the bug report" 0 '^report.txt: written; read it before you send it$'
check "--bug-report: only the owner can read the file" test "$(stat -c %a report.txt)" = 600
check "--bug-report: no temporary file is left" test "$(ls -d report.txt*)" = report.txt
output=$(cat report.txt)
check "--bug-report: the file begins with a warning" says '^Read it before you send it'
check "--bug-report: the file has the lines of doctor" says '^  kmod +works'
check "--bug-report: the file has the group Trace" says '^Trace: the loaded module'
check "--bug-report: the file has the module's files" says '^virtio_gpu driver=virtio_gpu bound=1'
check "--bug-report: the file has the GPU's modules" says '^virtio_gpu 90112'
check "--bug-report: the file has no other modules" test -z "$(grep '^snd' report.txt)"
check "--bug-report: GPU options of the kernel's command line" says '^amdgpu.dc=0$'
check "--bug-report: no other options of the command line" test -z "$(grep -i secret report.txt)"
check "the log's lines about GPUs, without the host's name" says '^\[    5.140900\] \[drm\] Initialized virtio_gpu for HOST$'
check "--bug-report: names of users are removed" says 'amdgpu of /home/USER/src: .x1b'
check "--bug-report: the file is complete" says '^==== end$'
run doctor --bug-report report.txt
check "--bug-report replaces an older report" exits 0
echo thesis >thesis
run doctor --bug-report thesis
expect "another file is not" 1 'cannot write thesis: the file exists and is not a bug report of grtrace'
check "another file is not replaced" test "$(cat thesis)" = thesis
ln -s thesis link
run doctor --bug-report link
check "a file to which a link leads is not replaced" exits 1
run doctor --bug-report no/such/place
expect "a place that is not there" 1 'cannot write no/such/place: No such file'
run doctor --bug-report /dev/full
check "a device file is refused" exits 1
run doctor --bug-report x --json
expect "--bug-report alone" 2 'takes neither'
if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
	unset GRTRACE_SYSROOT
	mkdir -m 777 other && chmod 755 .
	cp "$GRTRACE" grtrace && chmod 755 grtrace
	output=$(cd other && setpriv --reuid 65534 --clear-groups ../grtrace doctor --bug-report mine.txt 2>&1)
	status=$?
	expect "another user's report of this system" 0 '^mine.txt: written'
	output=$(setpriv --reuid 65534 --clear-groups ./grtrace doctor 2>&1)
	status=$?
	expect "another user's doctor" 0 '^  privileges +NO +neither root'
	output=$(setpriv --reuid 65534 --clear-groups ./grtrace doctor kmod 2>&1)
	status=$?
	check "kmod does not work for another user" exits 3
else
	checks=$((checks + 1))
	echo "ok $checks - another user # SKIP only root can become another user"
fi

# ---- the manual of troubles quotes real messages
missing=
while IFS= read -r message; do
	grep -rqF -- "$message" "$GRTRACE_SRC"/{host,kmod,sources,cmds,lib} || missing+="$message; "
done < <(sed -n 's/^### //p' "$GRTRACE_SRC/docs/troubleshooting.md")
output=$missing
check "the headings of docs/troubleshooting.md are messages of the sources" silent
plan
