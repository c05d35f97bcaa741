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
lost=$(sed -n 's/^lost_events //p' $D/stats)
delivered=$(sed -n 's/^complete //p' $D/events_by_type)
[ "$delivered" -ge $jobs ]

# The same with each stage on, such that it looks at every event and refuses none.
insmod $M/grtrace_filter.ko
insmod $M/grtrace_sampling.ko
insmod $M/grtrace_aggregator.ko
insmod $M/grtrace_perf_mon.ko
echo perf_mon=0 >$D/config
jobs=5000
with() { # LABEL SETTING... -- BACK...
	label=$1
	shift
	while [ "$1" != -- ]; do
		echo "$1" >$D/config
		shift
	done
	rmmod grtrace_virtio_gpu # it knows the fences of the last measurement
	insmod $M/grtrace_virtio_gpu.ko
	echo clear >$D/control
	echo start >$D/control
	measure "$label"
	echo stop >$D/control
	shift
	for back; do
		echo "$back" >$D/config
	done
	lost=$((lost + $(sed -n 's/^lost_events //p' $D/stats)))
	[ "$(sed -n 's/^total emitted=\([0-9]*\).*/\1/p' $D/stats)" -ge $((3 * jobs)) ]
}

with filter filter_engine_mask=graphics -- filter_engine_mask=0xffffffff
with watchlist watchlist=0,1 -- watchlist=
with sampling sample=99 -- sample=100
with adaptive sampling_mode=adaptive sampling_budget=100 -- sampling_mode=static
with rate_limit max_events_per_sec=4000000000 -- max_events_per_sec=0
with token_bucket max_events_per_sec=4000000000 rate_limit_mode=token_bucket -- max_events_per_sec=0
with aggregator aggregator_enable=1 -- aggregator_enable=0
with aggregator_replace aggregator_enable=1 aggregator_replace=1 -- aggregator_enable=0
with perf_mon perf_mon=1 -- perf_mon=0
with threshold sampling_mode=threshold sampling_threshold=0 -- sampling_mode=static
dmesg | sed -n 's/.*grtrace_emit_bench: //p'
echo "lost $lost"
