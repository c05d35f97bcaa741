#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What ioctls of NVIDIA's driver are about, without it: /dev/null stands for its device, real BPF reads real calls.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
# Under a name that is nobody else's: the calls of others on /dev/null are left out.
cp "$GRTRACE_BUILD/tests/cli/nv_calls" nv_calls_$$
calls=$PWD/nv_calls_$$
export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
mkdir -p sys/proc
printf 'Character devices:\n  1 nvidia-null\n195 nvidia\n' >sys/proc/devices
export GRTRACE_SYSROOT=$PWD/sys

run record -e nvidia -o run.grt -- true
need_bpf
expect "record -e nvidia" 0 ' 0 lost in run.grt'

play() { # ARGS OF nv_calls: what it does, in run.grt
	run record -e nvidia --comm nv_calls_$$ -o run.grt -- "$calls" "$@"
	if ! exits 0 || ! says ' 0 lost'; then
		not_ok "record -- nv_calls $*"
	fi
}

about() { # NUMBER
	"$GRTRACE" dump --type ioctl_exit run.grt | grep -c " about=0x$1 "
}

for branch in 535 550 570 580 610; do
	for how in "" "-s -x"; do
		# shellcheck disable=SC2086 # options
		play -l $branch $how groups
		check "$branch $how: groups, channels, tokens, schedules, a timeslice" test \
			"$(about a06c) $(about c86f) $(about c36f0108) $(about a06c0101) $(about a06c0103)" = "3 12 12 3 1"
	done
done
play groups
check "an answer that nobody gave is unknown" test \
	"$("$GRTRACE" dump --type ioctl_exit run.grt | grep 'about=0xa06c ' | grep -c 'status=0xffffffff')" = 3
play groups hostile
expect "pointers and sizes that lead nowhere" 0 ' 0 lost'
run report -i run.grt
expect "the balance closes" 0 'closes +yes'
play monitor
run monitor nvidia -q -i run.grt
check "by its name, exactly as often" says '^NV_ESC_RM_CONTROL +NV2080_CTRL_CMD_GPU_GET_PIDS +1009 +1009 '

run record --probes -d 0.1 -o x.grt
expect "--probes without its source" 2 'probes is for the source nvidia'
run monitor drm --probes
expect "another monitor has none" 2 'probes is for .monitor nvidia.'
if [ ! -e /sys/bus/event_source/devices/kprobe/type ]; then
	run record -e nvidia --probes -d 0.1 -o x.grt
	expect "a kernel without kprobes says so" 3 'the kernel has no kprobes'
	check "and leaves no recording" test ! -e x.grt
fi
plan
