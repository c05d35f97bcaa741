#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests/vm/bpf.sh runs in the guest: _bpf_guest.sh all|vblank|old. The list of
# BPF programs is /mnt/lists/programs.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
cd /tmp || exit 1
tracefs=/sys/kernel/tracing
calls=$GRTRACE_BUILD/tests/vm/device_calls

# ------------------------------------------------------------- programs

has_event() { # SECTION
	case $1 in
	tp/*) [ -e "$tracefs/events/${1#tp/}" ] ;;
	fentry/* | fexit/*) grep -qx "${1#*/}" functions.txt ;;
	perf_event) true ;;
	raw_tp/*) compgen -G "$tracefs/events/*/${1#raw_tp/}" >/dev/null ;;
	esac
}

# A program at the function of a system call does what that at its tracepoint does, for less.
cheapest() {
	awk '{ line[$0] } match($0, /__[a-z0-9]+_sys_/) {
		sub(/\/.*_sys_/, "_", $0); sub(/^f(entry|exit)/, /^fentry/ ? "enter" : "exit", $0); instead["tp/syscalls/sys_" $0] }
		END { for (l in line) if (!(l in instead)) print l }'
}

# Those of these objects whose tracepoint is here.
wanted() { # OBJECT...
	local object section
	for object; do
		while read -r section; do
			has_event "$section" && echo "$section"
		done < <(sed -n "s/^$object //p" /mnt/lists/programs) | cheapest
	done | sort
}

attached() { # SOURCE
	sed -n "s/.*${1}_programs = \"\(.*\)\";/\1/p" "$1.grt/metadata" | tr ' ' '\n' | sort
}

source_loads() { # SOURCE "OPTIONS" OBJECT...
	local source=$1 list
	# shellcheck disable=SC2086 # options
	run record -e "$source" $2 -o "$source.grt" -d 0.5
	expect "$source can be recorded" 0 'events, 0 lost'
	list=$(wanted "${@:3}")
	check "$source has programs for what is here" test -n "$list"
	output=$(diff <(echo "$list") <(attached "$source"))
	check "$source has all of them attached ($(wc -l <<<"$list"))" silent
}

# Fields that programs take from an event's record by their place.
record_layout() {
	local event field offset bad=
	while read -r event field offset; do
		[ -e "$tracefs/events/$event" ] || continue
		grep -Eq "[ *]$field(\[[0-9]+\])?;	offset:$offset;" "$tracefs/events/$event/format" || bad+="$event $field "
	done <<-'END'
		amdgpu/amdgpu_iv client_id 12
		amdgpu/amdgpu_iv src_id 16
		amdgpu/amdgpu_iv ring_id 20
		amdgpu/amdgpu_iv vmid 24
		amdgpu/amdgpu_iv pasid 44
		amdgpu/amdgpu_iv src_data 48
		amdgpu/amdgpu_bo_create bo 8
		amdgpu/amdgpu_bo_create pages 16
		amdgpu/amdgpu_bo_create type 20
		amdgpu/amdgpu_bo_create prefer 24
		amdgpu/amdgpu_bo_create allow 28
		amdgpu/amdgpu_bo_create visible 32
		amdgpu/amdgpu_bo_move bo 8
		amdgpu/amdgpu_bo_move bo_size 16
		amdgpu/amdgpu_bo_move new_placement 24
		amdgpu/amdgpu_bo_move old_placement 28
		i915/i915_gem_object_create obj 8
		i915/i915_gem_object_create size 16
		i915/i915_gem_object_destroy obj 8
		i915/i915_gem_object_fault obj 8
		i915/i915_gem_object_fault index 16
		i915/i915_gem_object_fault gtt 24
		i915/i915_gem_object_fault write 25
		i915/i915_vma_bind obj 8
		i915/i915_vma_bind vm 16
		i915/i915_vma_bind offset 24
		i915/i915_vma_bind size 32
		i915/i915_vma_bind flags 40
		i915/i915_vma_unbind obj 8
		i915/i915_vma_unbind vm 16
		i915/i915_vma_unbind offset 24
		i915/i915_vma_unbind size 32
		i915/i915_gem_shrink dev 8
		i915/i915_gem_shrink target 16
		i915/i915_gem_shrink flags 24
		i915/i915_request_out ctx 16
		i915/i915_request_out seqno 28
		i915/i915_request_out completed 32
		dma_fence/dma_fence_init driver 8
		dma_fence/dma_fence_init timeline 12
		dma_fence/dma_fence_init context 16
		dma_fence/dma_fence_init seqno 20
		dma_fence/dma_fence_emit context 16
		dma_fence/dma_fence_emit seqno 20
	END
	output=$bad
	check "records have the layout that the programs expect" silent
}

# Loading takes an emulated processor long.
every_source_loads() { # [brief: every object once]
	modprobe -a amdgpu i915 nouveau gpu_sched vgem
	# once: the kernel makes this list anew for each reader, for seconds here
	cut -d ' ' -f 1 $tracefs/available_filter_functions >functions.txt
	source_loads drm "" drm_sched virtio_gpu amdgpu i915 dma_fence sync_wait
	if [ -z "${1:-}" ]; then
		source_loads amdgpu "" drm_sched amdgpu dma_fence sync_wait
		source_loads i915 "" i915 dma_fence sync_wait
		source_loads virtio "" virtio_gpu dma_fence sync_wait
	fi
	source_loads vblank "" vblank
	source_loads nvidia "" nvidia
	source_loads nvsched "" nvsched
	source_loads nvmem "--any-file" nvmem
	source_loads ioctl "" ioctl
	source_loads fence "--driver nouveau" fence sync_wait
	source_loads sched "-p 1" sched
	output=$(cut -d ' ' -f 1 /mnt/lists/programs | sort -u | tr '\n' ' ')
	# drm_format: see nobtf.sh; what goes to places in files: tests/inject/bpf.sh, tests/cli/uprobe.sh
	check "there is no other object" \
		test "$output" = "amdgpu cuda_launch dma_fence drm_format drm_sched fence i915 ioctl nvidia nvmem nvsched sched sync_wait uprobe vblank virtio_gpu "
	record_layout
	# shellcheck disable=SC2016 # for that shell, whose parent has the programs
	run record -e drm --driver i915 -o driver.grt -- sh -c 'grep -h ^verified_insns: /proc/$PPID/fdinfo/* >verified.txt'
	expect "drm for one driver" 0 'events, 0 lost'
	output=$(sort -k 2n verified.txt | tail -n 1)
	check "the kernel looks at no program for long ($output)" \
		awk '$2 > 20000 { long = 1 } END { exit !NR || long }' verified.txt
	check "has not the others' objects" test "$(grep -c amdgpu_cs_ioctl driver.grt/metadata)" = 0
	run record -e fence -o none.grt -d 1
	expect "fence wants a driver" 1 'no driver.*'
}

# ------------------------------------------------------------- counts

# Events of a type in a recording, which match.
seen() { # DIR TYPE [REGEX]
	"$GRTRACE" dump "$1" | grep -E "\] $2 " | grep -cE -- "${3:-.}"
}

same() { # NAME COUNT COUNT
	output="$2 and $3"
	check "$1 ($2)" test "$2" -gt 0 -a "$2" = "$3"
}

# Counts events by ftrace while a command runs.
ftrace_begin() { # EVENT[=FILTER]...
	local event
	echo 8192 >$tracefs/buffer_size_kb
	: >$tracefs/trace
	for event; do
		echo "${event#*=}" >"$tracefs/events/${event%%=*}/filter"
		echo 1 >"$tracefs/events/${event%%=*}/enable"
	done
}

ftrace_end() {
	echo 0 >$tracefs/events/enable
	cat $tracefs/trace >ftrace.txt
}

ftrace_count() { # EVENT
	grep -c " $1: " ftrace.txt
}

# The kernel module on its own, ftrace, and the BPF programs, of one program's run.
virtio_counts() {
	local debugfs=/sys/kernel/debug/grtrace name module
	insmod "$GRTRACE_MODULES/grtrace.ko" && insmod "$GRTRACE_MODULES/grtrace_virtio_gpu.ko"
	echo clear >$debugfs/control
	ftrace_begin 'virtio_gpu/virtio_gpu_cmd_queue=flags & 1'
	echo start >$debugfs/control
	run record -e drm -o virtio.grt -- sh -c 'glmark2-es2-drm --off-screen -b build:duration=2 >/dev/null 2>&1; sleep 1'
	echo stop >$debugfs/control
	ftrace_end
	expect "a program that renders is recorded" 0 'events, 0 lost'
	for name in SUBMIT END COMPLETE COMMAND; do
		module=$(awk -v name="${name,,}" 'tolower($1) ~ "^" name ":?$" { print $2 }' $debugfs/events_by_type)
		same "as many $name by BPF as by the module" "$(seen virtio.grt $name)" "${module:-0}"
	done
	same "and jobs as by ftrace" "$(seen virtio.grt SUBMIT)" "$(ftrace_count virtio_gpu_cmd_queue)"
	rmmod grtrace_virtio_gpu grtrace
	run report -i virtio.grt
	expect "the report's balance closes" 0 'every event is accounted for'
}

fence_counts() {
	run record -e fence --driver vgem -o fence.grt -- "$calls" fences 101 3
	expect "fences of vgem are recorded" 0 'events, 0 lost'
	same "as many jobs as fences were made" "$(seen fence.grt SUBMIT 'ring=0\(unbound\).*flags=.*commit')" 101
	same "each has an END, inferred" "$(seen fence.grt END 'flags=.*inferred')" 101
	same "and a COMPLETE" "$(seen fence.grt COMPLETE)" 101
	same "of as many identities" "$("$GRTRACE" dump fence.grt | grep -E '\] COMPLETE ' | grep -o 'ctx=[0-9]* seqno=[0-9]*' | sort -u | wc -l)" 101
	same "waits begin" "$(seen fence.grt SYNC_WAIT_ENTER device_calls)" 3
	same "and end" "$(seen fence.grt SYNC_WAIT_EXIT)" 3
	run report -i fence.grt
	check "the report has the jobs" says '\b101\b'
	expect "and the balance closes" 0 'every event is accounted for'
	run record -e fence --driver nouveau -o other.grt -- "$calls" fences 11 0
	expect "another driver's fences are none" 0 ' 0 events, 0 lost'
	run record -e fence --driver vgem -p 1 -o pid.grt -d 2 &
	# until it ends, since how long it takes to begin differs
	while kill -0 $! 2>/dev/null; do
		"$calls" fences 13 0
	done
	wait $!
	check "another process's are filtered" grep -qE 'fence_balance = "emitted=([1-9][0-9]*) filtered=\1 ' pid.grt/metadata
}

nvidia_counts() {
	local of='device_calls\)'
	mkdir -p root/proc
	printf 'Character devices:\n  1 nvidia-uvm\n195 nvidia\n' >root/proc/devices
	export GRTRACE_SYSROOT=$PWD/root
	run record -e nvidia -o nvidia.grt -- "$calls" calls
	expect "calls on device files are recorded" 0 'events, 0 lost'
	same "opens" "$(seen nvidia.grt OPEN "$of fd=[0-9]+ ")" 13
	check "the device has a name" test "$(seen nvidia.grt NAME 'kind=3 .*name="nvidia-uvm-tools" owner="nvidia"')" -gt 0
	same "failed opens" "$(seen nvidia.grt OPEN "$of fd=-2 ")" 3
	same "ioctls entered" "$(seen nvidia.grt IOCTL_ENTER "$of")" 22
	same "ioctls left, with an error" "$(seen nvidia.grt IOCTL_EXIT "$of .*ret=-25")" 22
	same "mmaps" "$(seen nvidia.grt MMAP "$of .*length=8192")" 7
	same "polls" "$(seen nvidia.grt POLL "$of .*events=0x3")" 21
	same "closes, and what the process left open" "$(seen nvidia.grt CLOSE "$of fd=([3-9]|1[0-9]) ")" 13
	run record -e nvidia -o xid.grt -- sh -c '
		echo "NVRM: Xid (PCI:0000:01:00): 79, pid=1234, name=python3, GPU has fallen off the bus." >/dev/kmsg
		echo "NVRM: Xid (PCI:0000:af:00.1): 31, Ch 00000010" >/dev/kmsg
		echo "NVRM: Xid (0001:02:00): 48, pid='"'<unknown>'"', name=<unknown>, DBE" >/dev/kmsg
		echo "NVRM: Xid as nobody writes it" >/dev/kmsg
		echo "NVRM: something else" >/dev/kmsg
		echo "a line that says NVRM: Xid later" >/dev/kmsg'
	expect "Xids are recorded" 0 'events, 0 lost'
	same "as many as there were" "$(seen xid.grt XID)" 4
	run dump xid.grt
	check "with pid, name, address" \
		says 'XID +pid=1234/1234\(python3\) code=79 bus=0x100 text="GPU has fallen off the bus."'
	check "without a process" says 'XID +code=31 bus=0xaf01 text="Ch 00000010"'
	check "of an unknown process" says 'XID +code=48 bus=0x10200 text="DBE"'
	check "even one that is not understood" says 'XID +code=0 bus=0x0 text="NVRM: Xid as nobody writes it"'
	unset GRTRACE_SYSROOT
	run record -e nvidia -o absent.grt -- true
	expect "without the driver, the message says so" 0 "NVIDIA's driver is not loaded"
	run record -e auto -v -o auto.grt -- true
	expect "and auto leaves it out" 0 "without nvidia: NVIDIA's driver is not loaded"
}

# ------------------------------------------------------------- displays

# Frame numbers of an event by ftrace, from our first to our last: it ran longer.
ftrace_frames() { # EVENT OURS
	grep " $1: " ftrace.txt | grep -o 'seq=[0-9]*' | sed "s/seq=//" |
		awk -v first="$(head -n 1 "$2")" -v n="$(wc -l <"$2")" '$1 == first { on = 1 } on && n-- > 0'
}

vblank_counts() {
	local event file timed
	ftrace_begin drm/drm_vblank_event=0 drm/drm_vblank_event_queued=0 drm/drm_vblank_event_delivered=0
	# the display is on while kmscube runs, which ends when its standard input does
	mkfifo input
	run record -e vblank -o vblank.grt -- sh -c "
		kmscube <input >/dev/null 2>&1 &
		exec 3>input
		timeout 60 sh -c 'until grep -q active=1 /sys/kernel/debug/dri/0/state; do sleep 0.2; done'
		$calls vblanks 31
		exec 3>&-
		wait"
	ftrace_end
	expect "displays are recorded" 0 'events, 0 lost'
	for event in :VBLANK _queued:VBLANK_QUEUED _delivered:VBLANK_DELIVERED; do
		"$GRTRACE" dump vblank.grt | grep -E "\] ${event#*:} " | grep -o 'vseq=[0-9]*' | sed 's/vseq=//' >ours
		ftrace_frames "drm_vblank_event${event%:*}" ours >theirs
		output=$(diff ours theirs)
		check "each ${event#*:} is one of ftrace's, in the same order ($(wc -l <ours))" test -s ours -a -z "$output"
	done
	run dump vblank.grt
	check "frames have precise stamps" says 'VBLANK +crtc=0 high_prec=1 vseq=[1-9][0-9]* stamp=[1-9]'
	same "as many were asked for as were" "$(seen vblank.grt VBLANK_QUEUED '\(device_calls\)')" 31
	"$GRTRACE" dump vblank.grt >dump.txt
	file=$(grep -oE 'VBLANK_QUEUED .*' dump.txt | grep -o 'file=0x[0-9a-f]*' | sort -u)
	check "by one file" test "$(wc -w <<<"$file")" = 1
	for event in QUEUED DELIVERED; do
		grep -E "\] VBLANK_$event .*$file " dump.txt | grep -o 'vseq=[0-9]*' | sed 's/vseq=//' >$event
	done
	# a machine that is busy misses the frame asked for, and gets the one after it
	check "which got each of them, not before its frame" \
		test "$(paste QUEUED DELIVERED | awk 'NF == 2 && $2 >= $1 && $2 < $1 + 30' | wc -l)" = 31
	output=$("$GRTRACE" monitor vblank -i vblank.grt --json | tail -n 1)
	timed=$(grep -oE '"(what": "vblank-to-delivered", "count|ahead)": [0-9]+' <<<"$output" |
		awk '{ n += $NF } END { print n + 0 }')
	check "and all of them have a time since their frame, or were ahead of it ($timed)" test "$timed" -ge 31
	check "as the process that asked" test "$(grep -cE "\] VBLANK_DELIVERED pid=[1-9].*$file " dump.txt)" = 31
}

# A CPU that was away is sampled again: of a program that spins there, by its second.
sample_counts() {
	local again
	cat >spin.sh <<-'END'
		sleep 1
		echo 0 >/sys/devices/system/cpu/cpu1/online
		sleep 0.5
		echo 1 >/sys/devices/system/cpu/cpu1/online
		exec taskset -c 1 timeout 4 sh -c 'echo $$ >spinning; while :; do :; done'
	END
	run record -e sched -o spin.grt -- sh spin.sh
	check "a CPU that came back is told" says 'sched: samples by .* Hz, 1 times? a CPU came online, with up to 0.5 s'
	again=$("$GRTRACE" dump --type sample spin.grt | grep -cE "\[001\] .*pid=[0-9]+/$(cat spinning)\(")
	check "and sampled: a program that spins there, $again times" test "$again" -gt 100
}

# Without bpf_loop(), registers and types of the running thread, and BTF of modules.
old_stacks() {
	local source
	modprobe -a virtio-gpu vgem
	for source in drm ioctl "fence --driver vgem" nvidia nvsched "nvmem --any-file"; do
		# shellcheck disable=SC2086 # options
		run record -e $source --stack=bpf -o old.grt -- true
		expect "$source can be recorded on Linux $(uname -r)" 0 ' 0 lost'
	done
	run record -e sched -F 0 -o old.grt -- "$GRTRACE_BUILD/tests/vm/recursion" 50
	expect "stacks of a program without frame pointers are recorded" 0 'events, 0 lost'
	"$GRTRACE" flame --weight wall -o old.folded old.grt
	output=$(grep -o ';main;.*' old.folded)
	check "main, its 51 calls of deep and what they call are there" \
		grep -qE "^recursion;.*;main;(deep;){51}nap;usleep;" old.folded
	check "none is by frame pointers" grep -q 'sched_stack_ends = "entry=[1-9].* frame_pointers=0 ' old.grt/metadata
	run record -e uprobe:"$GRTRACE_BUILD/tests/vm/recursion":main -o none.grt -- true
	expect "uprobe says what it needs" 3 'Linux 5.15'
}

case $1 in
old)
	old_stacks
	;;
all)
	sample_counts
	virtio_counts
	every_source_loads
	fence_counts
	nvidia_counts
	;;
vblank)
	every_source_loads brief
	vblank_counts
	fence_counts
	;;
esac
check "no complaint of the kernel" test -z "$(dmesg | grep -E 'BUG|WARNING|Oops|Call Trace')"
plan
