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
check "an answer that is not in the trace is unknown" test \
	"$("$GRTRACE" dump --type ioctl_exit run.grt | grep 'about=0xa06c ' | grep -c ' status=-')" = 3
play groups hostile
expect "pointers and sizes that lead nowhere" 0 ' 0 lost'
run report -i run.grt
expect "the balance closes" 0 'every event is accounted for'
play monitor
run monitor nvidia -q -i run.grt
check "by its name, exactly as often" says '^NV_ESC_RM_CONTROL +NV2080_CTRL_CMD_GPU_GET_PIDS +1009 +1009 '

play uvm
run monitor nvidia -q -i run.grt
check "a number without a type means nothing on another file" test "$(grep -c UVM_ <<<"$output")" = 0
printf 'Character devices:\n  1 nvidia-uvm\n195 nvidia\n' >sys/proc/devices
play uvm
run monitor nvidia -i run.grt
expect "calls of the UVM driver by their names" 0 'cmd=0x33 ret=-25 name=UVM_MIGRATE '
check "exactly as often" says '^UVM_MIGRATE +- +13 +13 '
check "those of its file for tools, too" says '^UVM_TOOLS_READ_PROCESS_MEMORY +- +1 +1 '
check "one that has no name by its number" says '^0xfa +- +1 +1 '
printf 'Character devices:\n  1 nvidia-null\n195 nvidia\n' >sys/proc/devices

if [ -w /dev/kmsg ]; then
	long=$(printf 'x%.0s' {1..200})
	fault='MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f00_12345000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ'
	# shellcheck disable=SC2016 # the shell's own
	run record -e nvidia -o xid.grt -- sh -c 'for line; do echo "NVRM: Xid (PCI:0000:c6:00$line" >/dev/kmsg; done; sleep 0.2' sh \
		" GPU-I:05 GPU-CI:00): 31, pid=$$, name=grtrace test $$, Ch 00000008, $fault" "): 79, pid=$$, name=grtrace test $$, $long"
	run dump --type xid xid.grt
	check "an Xid's whole text, and the part of the GPU" says "XID +pid=$$/.* code=31 bus=0xc600 text=\"GPU-I:05 GPU-CI:00: Ch 00000008, $fault\""
	check "a text that is too long ends with dots" says "XID +pid=$$/.* code=79 bus=0xc600 text=\"x{180}\.\.\.\""
	# shellcheck disable=SC2016 # the shell's own
	run record -e nvidia -o sxid.grt -- sh -c 'for line; do echo "nvidia-nvswitch$line" >/dev/kmsg; done; sleep 0.2' sh \
		"3: SXid (PCI:0000:89:00.0): 20034, Fatal, Link 30 LTSSM Fault Up $$" "12: SXid (PCI:0000:8a:00.0): 24007, Non-fatal $$" \
		"3: Link 30 of $$ says SXid (PCI:0000:89:00.0): 1" "x: SXid (PCI:0000:89:00.0): 2, $$"
	run dump --type xid sxid.grt
	check "errors of NVSwitches" says "XID +code=20034 bus=0x8900 text=\"SXid: Fatal, Link 30 LTSSM Fault Up $$\""
	check "of one with two digits" says "XID +code=24007 bus=0x8a00 text=\"SXid: Non-fatal $$\""
	check "and nothing else" test "$(grep -c "[ (]$$" <<<"$output")" = 2
else
	ok "an Xid's whole text # SKIP no /dev/kmsg to write to"
fi

run record --probes -d 0.1 -o x.grt
expect "--probes without its source" 2 'probes needs the source nvidia'
run record --include-failed -d 0.1 -o x.grt
expect "so it is with another source's option" 2 'include-failed needs the source nvsched'
run record -e cuda -F 10 -d 0.1 -o x.grt
expect "and with one that another source is named for" 2 'frequency needs the source sched'
run monitor drm --probes
expect "another monitor has none" 2 'probes works only with .monitor nvidia.'
if [ ! -e /sys/bus/event_source/devices/kprobe/type ]; then
	run record -e nvidia --probes -d 0.1 -o x.grt
	expect "an error names a kernel without kprobes" 3 'the kernel has no kprobes'
	check "and leaves no recording" test ! -e x.grt
fi
plan
