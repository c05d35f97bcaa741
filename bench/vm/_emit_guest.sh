#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of emit.sh: prints LABEL TRACEPOINT COST lines.

set -e
T=/sys/kernel/tracing
D=/sys/kernel/debug/grtrace
M=/mnt/build/kernel
jobs=20000

measure() { # LABEL
	insmod /mnt/build/bench/kernel/grtrace_emit_bench.ko label="$1" loops=$jobs
	rmmod grtrace_emit_bench
}

ftrace() { # 0|1
	for event in virtio_gpu/virtio_gpu_cmd_queue virtio_gpu/virtio_gpu_cmd_response \
		dma_fence/dma_fence_emit dma_fence/dma_fence_signaled; do
		echo "$1" >$T/events/$event/enable
	done
}

measure none
echo 65536 >$T/buffer_size_kb
echo mono >$T/trace_clock
ftrace 1
measure ftrace
ftrace 0
written=$(sed -n 's/^# entries-in-buffer\/entries-written: \([0-9]*\)\/.*/\1/p' $T/trace | head -n 1)
[ "$written" -ge $((4 * jobs)) ] # ftrace wrote them all
echo 4 >$T/buffer_size_kb

insmod $M/grtrace.ko buffer_size=67108864
insmod $M/grtrace_virtio_gpu.ko
measure off
echo start >$D/control
measure grtrace
echo stop >$D/control
delivered=$(sed -n 's/^complete //p' $D/events_by_type)
[ "$delivered" -ge $jobs ]

# One stage at a time, switched on; without it the settings of its rows are missing.
stage() { # LABEL MODULE [KEY=VALUE]...
	label=$1
	insmod "$M/grtrace_$2.ko"
	shift 2
	for setting; do
		echo "$setting" >$D/config
	done
	echo clear >$D/control
	echo start >$D/control
	measure "$label"
	echo stop >$D/control
}
stage perf_mon perf_mon
rmmod grtrace_perf_mon
stage aggregator aggregator aggregator_enable=1
rmmod grtrace_aggregator
stage aggregator_replace aggregator aggregator_enable=1 aggregator_replace=1
rmmod grtrace_aggregator
dmesg | sed -n 's/.*grtrace_emit_bench: //p'
sed -n 's/^lost_events /lost /p' $D/stats
