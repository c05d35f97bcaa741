#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of glmark2.sh: prints "off SCORE" and "on SCORE" lines.
#
#	sh _glmark2_guest.sh RUNS SECONDS

D=/sys/kernel/debug/grtrace
M=/mnt/build/kernel
runs=$1
seconds=$2
grtrace=/mnt/build/grtrace

# Frames per second; its score is the same, rounded.
score() {
	glmark2-es2-drm --off-screen -b "build:duration=$seconds" 2>/dev/null |
		awk '/\[build\].*FrameTime:/ { sub(/.*FrameTime: /, ""); printf "%.2f\n", 1000 / $1 }'
}

start_reader() {
	if [ -x $grtrace ]; then
		reader=record
		$grtrace record -o /tmp/run.grt >/dev/null 2>&1 &
	else
		reader="cat"
		echo start >$D/control
		cat $D/trace_pipe >/dev/null &
	fi
	pid=$!
	sleep 1
}

stop_reader() {
	case $reader in
	record) kill -INT $pid ;;
	cat) echo stop >$D/control ;;
	esac
	wait $pid
}

insmod $M/grtrace.ko && insmod $M/grtrace_virtio_gpu.ko || exit 1
score >/dev/null # warm
run=0
traced() {
	start_reader
	echo "on $(score)"
	stop_reader
	rm -rf /tmp/run.grt*
}

# off on, on off, ...: what drifts with time falls on both alike
while [ $run -lt "$runs" ]; do
	run=$((run + 1))
	[ $((run % 2)) = 1 ] || traced
	echo "off $(score)"
	[ $((run % 2)) = 0 ] || traced
done
sed -n 's/^total emitted=\([0-9]*\).*/events \1/p; s/^lost_events /lost /p' $D/stats
echo "reader $reader"
