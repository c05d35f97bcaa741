#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of toggle.sh: prints "off JOBS NS" and "on JOBS NS" lines.
#
#	sh _toggle_guest.sh PAIRS

D=/sys/kernel/debug/grtrace
M=/mnt/build/kernel
pairs=$1

# The driver's own count of fenced commands: so many per frame.
jobs() {
	awk '$1 == "fence" { print $3 }' /sys/kernel/debug/dri/0/virtio-gpu-irq-fence
}

phase() { # NAME
	sleep 0.1
	from=$(jobs)
	start=$(date +%s%N)
	sleep 1
	echo "$1 $(($(jobs) - from)) $(($(date +%s%N) - start))"
}

traced() {
	echo start >$D/control
	cat $D/trace_pipe >/dev/null &
	reader=$!
	phase on
	echo stop >$D/control
	wait $reader
}

insmod $M/grtrace.ko && insmod $M/grtrace_virtio_gpu.ko || exit 1
glmark2-es2-drm --off-screen -s 64x64 -b "build:duration=$((pairs * 5 + 120))" >/dev/null 2>&1 &
glmark=$!
sleep 4
pair=0
# off on, on off, ...: what drifts with time falls on both alike
while [ $pair -lt "$pairs" ]; do
	pair=$((pair + 1))
	[ $((pair % 2)) = 1 ] || traced
	phase off
	[ $((pair % 2)) = 0 ] || traced
done
kill $glmark
sed -n 's/^total emitted=\([0-9]*\).*/events \1/p; s/^lost_events /lost /p' $D/stats
