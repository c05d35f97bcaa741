#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of top.sh: prints PROGRAM LABEL READER BPF JOBS LOST lines: ns of CPU time of the process that reads
# the jobs of a software GPU, without what it needs when there are none; ns in its BPF programs, the jobs, and events
# that were lost.
#
#	PROGRAMS="FILE..." bash _top_guest.sh JOBS RATE

set -e
jobs=$1 rate=$2
player=/mnt/build/tools/softgpu-run
cd /tmp
modprobe -a gpu_sched drm_kms_helper
insmod /mnt/build/kernel/grtrace_softgpu.ko
sysctl -qw kernel.bpf_stats_enabled=1

cpu_ns() {
	cut -d' ' -f1 "/proc/$pid/schedstat"
}

bpf_ns() {
	cat "/proc/$pid/fdinfo"/* 2>/dev/null | awk '$1 == "run_time_ns:" { ns += $2 } END { printf "%.0f\n", ns }'
}

up_ms() {
	awk '{ printf "%.0f\n", $1 * 1000 }' /proc/uptime
}

# What the process needs in a time without jobs.
rest_ns() { # MS
	local cpu begin
	cpu=$(cpu_ns) begin=$(up_ms)
	sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"
	echo $((($(cpu_ns) - cpu) * $1 / ($(up_ms) - begin)))
}

measure() { # PROGRAM LABEL ARGUMENTS...
	local program=$1 label=$2 cpu bpf begin took
	shift 2
	rm -f out
	"$program" "$@" >out 2>err &
	pid=$!
	until [ -s out ] || { [ "$1" = record ] && [ -s run.grt/metadata ]; }; do
		kill -0 $pid
		sleep 0.1
	done
	sleep 1
	cpu=$(cpu_ns) bpf=$(bpf_ns) begin=$(up_ms)
	"$player" -q -p steady -j "$jobs" -r "$rate" -t 5us -o truth.csv
	sleep 1
	took=$(($(up_ms) - begin)) cpu=$(($(cpu_ns) - cpu)) bpf=$(($(bpf_ns) - bpf))
	# the player is slower than was asked for, and so many jobs a second are more than this CPU can do
	cpu=$((cpu - $(rest_ns $took)))
	kill -INT $pid
	wait $pid
	echo "$program $label $cpu $bpf $(($(wc -l <truth.csv) - 1)) $(lost)"
	rm -rf run.grt
}

lost() { # of the last command
	if [ -d run.grt ]; then
		/mnt/build/grtrace report run.grt --json | sed -nE 's/.*"lost": ([0-9]+).*/\1/p' | head -1
	else
		sed -nE 's/.*"lost_since": ([0-9]+).*/\1/p' out | tail -1
	fi
}

for program in $PROGRAMS; do
	measure "$program" record record -e drm -o run.grt
	measure "$program" top top -e drm --json
	measure "$program" keeps top -e drm --json -o run.grt
	measure "$program" stacks top -e drm --stack --json
	insmod /mnt/build/kernel/grtrace.ko
	insmod /mnt/build/kernel/grtrace_drm_bridge.ko
	measure "$program" module top -e kmod --json
	rmmod grtrace_drm_bridge grtrace
done
