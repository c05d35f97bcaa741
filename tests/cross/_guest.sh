#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests/cross runs in the guest: NAME plays the function of that name under
# trace-cmd, the module and BPF. /out gets trace.txt, kmod.json, drm.json and what the
# function leaves.

set -u
export PATH=/mnt/build:/mnt/build/tools:$PATH
cd /out || exit 1

# What is printed here is TAP.
tell() { # NAME COMMAND...
	if "${@:2}"; then echo "ok - $1"; else echo "not ok - $1"; fi
}

cpu() { # NUMBER 0|1
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

# Rings of one GPU that goes, then of another one in its place; CPUs that come and go meanwhile.
softgpu() {
	local type rounds=0
	insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" gfx=1 compute=1 sdma=0 video=0
	softgpu-run -p steady --rings gfx,compute -j 150 -r 200 -q -o gfx.csv &
	sleep 0.4
	cpu 1 1
	cpu 3 1
	cpu 2 0
	wait $!
	rmmod grtrace_softgpu
	insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" gfx=0 compute=0 sdma=0 video=2
	taskset -c 1 softgpu-run -p contended --rings video -j 100 -q -o video.csv &
	sleep 0.2
	cpu 2 1
	taskset -c 3 softgpu-run -p hang --rings video -j 40 -q -o hang.csv
	wait $!
	rmmod grtrace_softgpu
	# what is freed is soon given again
	for type in gfx compute sdma video gfx compute; do
		insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" gfx=0 compute=0 sdma=0 video=0 $type=1
		softgpu-run -p steady --rings $type -j 5 -q -o $((++rounds)).csv
		rmmod grtrace_softgpu
	done
}

virtio() {
	kmscube -c 60 >/dev/null 2>&1
}

# Two GPUs of one driver, one after the other and together.
two_gpus() {
	timeout 60 kmscube -D /dev/dri/card0 -c 5 >/dev/null 2>&1
	timeout 60 kmscube -D /dev/dri/card1 -c 8 >/dev/null 2>&1
	timeout 60 kmscube -D /dev/dri/card0 -c 4 >/dev/null 2>&1 &
	timeout 60 kmscube -D /dev/dri/card1 -c 4 >/dev/null 2>&1
	wait $!
}

if [ "${2:-}" = play ]; then
	"$1"
	exit 0
fi

events=(dma_fence)
case $1 in
softgpu)
	modprobe gpu_sched
	cpu 1 0
	cpu 3 0
	events+=(gpu_scheduler)
	;;
*)
	# the console's cursor makes commands of its own
	echo 0 >/sys/class/graphics/fbcon/cursor_blink
	events+=(virtio_gpu)
	;;
esac

# What is loaded now is not loaded while all three record.
{
	grtrace start && grtrace stop
	# shellcheck disable=SC2046
	trace-cmd start -q -C mono -b 8000 $(printf -- '-e %s ' "${events[@]}")
	grtrace record -e kmod -o /tmp/kmod.grt -- grtrace record -e drm -o /tmp/drm.grt -- bash "$0" "$1" play
	trace-cmd stop
	trace-cmd extract -o /tmp/trace.dat
	trace-cmd reset
	trace-cmd report -t -i /tmp/trace.dat >trace.txt
	cp /tmp/trace.dat .
} >log 2>&1
for name in kmod drm; do
	grtrace report -i /tmp/$name.grt >$name.report 2>&1
	tell "$name: the balance closes" grep -q 'every event is accounted for' $name.report
	tell "$name: nothing is lost" grep -qE '^  lost *0 |, 0 lost$' $name.report
	grtrace dump --json /tmp/$name.grt >$name.json
done
tell "trace-cmd has lost nothing" test -z "$(grep -E 'EVENTS DROPPED|LOST|CPU:[0-9]+ \[' trace.txt)"
if [ "$1" = softgpu ]; then
	for number in 1 3; do
		tell "the module has events of CPU $number, which came later" grep -q "\"cpu\":$number," kmod.json
	done
fi
# a processor that the host takes away for long is no fault of the kernel's
dmesg | grep -E 'BUG|WARNING|Oops' | grep -vE 'soft lockup|stall' | tee complaints | sed 's/^/# /'
tell "no complaint of the kernel" test ! -s complaints
