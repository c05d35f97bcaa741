#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests/vm/nvidia_probes.sh runs in the guest.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
cd /tmp || exit 1
modules=$GRTRACE_KBUILD/tests/kernel/modules
calls=$GRTRACE_BUILD/tests/cli/nv_calls
play=/sys/kernel/debug/grtrace_play_nvidia

run monitor nvidia --probes -d 0.2
expect "without the driver there is nothing to probe" 3 "none of these functions is in /proc/kallsyms: the modules of the driver are not loaded"
insmod "$modules/nvidia_probed/nvidia.ko" || { echo "not ok 1 - the stand-in loads" && exit 1; }
insmod "$modules/nvidiactl.ko" && mknod /dev/nvidiactl c 195 255
mkdir -p sys/proc/driver/nvidia/gpus/0001:c6:02.0
printf 'Character devices:\n195 nvidia\n' >sys/proc/devices
printf 'Model: \t\t none\nDevice Minor: \t 3\n' >sys/proc/driver/nvidia/gpus/0001:c6:02.0/information
export GRTRACE_SYSROOT=$PWD/sys

play() { # LINE...: in a recording
	# shellcheck disable=SC2016 # the shell's own
	run record -e nvidia --probes -o run.grt -- bash -c 'for line; do echo "$line" >'"$play"' || exit; done' bash "$@"
}

functions() { # FUNCTION [REGEX]: how many calls
	"$GRTRACE" dump --type func run.grt | grep -cE -- "function=\"$1\".*${2:-}"
}

# ---- functions
play "irq isr 57 13" "bh 57" "vma 0x7f0000000000 65536" "p2p 0x1000 4096" "p2p 0x2000 0" power
expect "a recording with probes" 0 'events, 0 lost in run.grt'
check "says how many there are" says 'nvidia: --probes: 9 functions'
check "every interrupt, once though its handler is called by another one" test "$(functions nvidia_isr)" = 13
check "it belongs to nobody" test "$("$GRTRACE" dump --type func run.grt | grep 'nvidia_isr"' | grep -c 'pid=')" = 0
check "number and GPU" test "$(functions nvidia_isr 'text="irq=57 gpu=0001:c6:02.0"')" = 13
returned() { # FUNCTION NUMBER
	"$GRTRACE" dump --type func run.grt | grep "function=\"$1\"" | grep -cE " ret=$2( |$)"
}
check "and what it returned" test "$(returned nvidia_isr 2)" = 13
check "the bottom half is of a thread" test "$(functions nvidia_isr_msix_kthread_bh 'irq=57')" = 1
took() { # FUNCTION
	"$GRTRACE" dump --type func run.grt | grep "function=\"$1\"" | grep -oE 'took=[0-9]+' | cut -d= -f2 | head -n 1
}
check "with its time" test "$(took nvidia_isr_msix_kthread_bh)" -ge 2000000
check "a mapping opened" test "$(functions nvidia_vma_open 'addr=0x7f0000000000 length=65536')" = 1
check "faulted on" test "$(functions nvidia_fault 'addr=0x7f0000000000')" = 1
check "and released" test "$(functions nvidia_vma_release 'addr=0x7f0000000000 length=65536')" = 1
check "P2P: pages" test "$(functions nvidia_p2p_get_pages 'addr=0x1000 length=4096')" = 1
check "P2P: a call that failed" test "$(returned nvidia_p2p_get_pages -22)" = 1
check "P2P: given back" test "$(functions nvidia_p2p_put_pages)" = 2
check "suspend, of which GPU" test "$(functions nv_pmops_suspend 'gpu=0001:c6:02.0')" = 1
# It sleeps for 30 ms of jiffies; a guest whose ticks come late gets some of them at once.
check "how long it took" test "$(took nv_pmops_suspend)" -ge 20000000
check "and resume" test "$(took nv_pmops_resume)" -ge 50000000
check "every entry had its return" grep -q 'nvidia_balance = .*unmatched=0 ' run.grt/metadata
run report -i run.grt
expect "the balance closes" 0 'every event is accounted for'
run monitor nvidia -i run.grt
expect "monitor: a line for each" 0 'FUNC .* nv_pmops_resume gpu=0001:c6:02\.0 ret=-5 took=[0-9.]+ms'
check "their number" says '^nvidia_isr +13 +0 '
check "those that failed" says '^nv_pmops_resume +1 +1 '
check "their times" says '^nv_pmops_suspend +1 +[0-9.]+ ms'
check "and histograms" says '^nvidia_isr +[0-9.]+ us +[0-9.]+ us +[0-9]+ +@'
run monitor nvidia -i run.grt --json
check "--json: a line for each, and their number" test "$(grep -cE '^\{"time":.*"type":"FUNC",.*"took":[0-9]+,"ret":2,"function":"nvidia_isr",.*\}$' <<<"$output") $(
	grep -c '"functions": \[{"function": "nvidia_isr", "calls": 13, "failed": 0,' <<<"$output")" = "13 1"
touch live
while [ -e live ]; do # until it is attached, and then some
	echo "isr 57 1" >$play
	sleep 0.3
done &
run monitor nvidia --probes -d 6
rm live
wait
expect "live" 0 '^nvidia_isr +[1-9][0-9]* +0 '
run record -e nvidia -o run.grt -- sh -c "echo 'isr 57 3' >$play"
check "without --probes there are none" test "$(functions nvidia_isr)" = 0

# ---- Xids
play "xid 31 1234 0" "xid 79 1235 1" "xid 13 1236 2" "xid 31 1237 0"
expect "Xids are recorded" 0 ' 0 lost'
run dump --type xid run.grt
check "each once, though the log has them, too" test "$(grep -c ' XID ' <<<"$output")" = 4
check "number, GPU, message; the process that the log has named" \
	says 'XID +pid=1234/1234\(culprit\) code=31 bus=0x1c610 text="Ch 000004d2, MMU Fault"'
check "a later one of the same number has its own" says 'XID +pid=1237/1237\(culprit\) code=31 bus=0x1c610 '
check "what the log says only later is not waited for" says 'XID +code=79 bus=0x1c610 text="Ch 000004d3, MMU Fault"'
check "a message that names the process" says 'XID +pid=4711/4711\(inside\) code=13 bus=0x1c610 text="Ch 000004d4, MMU Fault"'
run monitor nvidia -i run.grt
check "what it means and what to do" says 'XID +culprit +1234 +0001:c6:02\.0 +xid=31 FIFO_ERROR_MMU_ERR_FLT .*: the GPU used an address that is not mapped; debug the program$'

# ---- what ioctls are about
run record -e nvidia -o run.grt -- "$calls" -f /dev/nvidiactl groups failed
expect "ioctls of the control device" 0 ' 0 lost'
about() { # REGEX
	"$GRTRACE" dump --type ioctl_exit run.grt | grep -cE "$1"
}
check "classes" test "$(about 'about=0xa06c ') $(about 'about=0xc86f ')" = "4 12"
check "controls" test "$(about 'about=0xa06c0101 ') $(about 'about=0xc36f0108 ')" = "3 12"
check "the driver's answer" test "$(about 'about=0xa06c status=0x1f')" = 1
run monitor nvidia -i run.grt
expect "by name" 0 'name=NV_ESC_RM_ALLOC class=KEPLER_CHANNEL_GROUP_A\(0xa06c\) status=INVALID_ARGUMENT fd='
check "counted" says '^NV_ESC_RM_CONTROL +NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN +12 +0 '
check "with those that were refused" says '^NV_ESC_RM_ALLOC +KEPLER_CHANNEL_GROUP_A +4 +1 '
run record -e nvidia -o run.grt -- "$calls" -x -f /dev/nvidiactl groups
check "in a wrapper, too" test "$(about 'about=0xa06c0101 status=0x0')" = 3

# ---- one clock
# shellcheck disable=SC2016 # the shell's own
run record -e nvidia,nvsched -o run.grt -- bash -c '"$1" -f /dev/nvidiactl groups; echo "xid 31 $$ 0" >'"$play" bash "$calls"
order=$("$GRTRACE" dump --type tsg_init,xid,tsg_destroy run.grt | grep -oE ' (TSG_INIT|XID|TSG_DESTROY) ' | uniq | xargs)
check "lives of groups and an Xid on one clock" test "$order" = "TSG_INIT TSG_DESTROY XID"

# ---- where the kernel forbids it
[ -e /sys/kernel/security/lockdown ] || mount -t securityfs securityfs /sys/kernel/security
echo integrity >/sys/kernel/security/lockdown
run record -e nvidia --probes -d 0.5 -o run.grt
expect "lockdown for integrity: they can be probed" 0 '--probes: 9 functions'
echo confidentiality >/sys/kernel/security/lockdown
run monitor nvidia --probes -d 0.2
expect "lockdown for confidentiality: the error names it" 3 'locked down for confidentiality|lockdown'
plan
