#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of top.sh: prints LABEL READER BPF JOBS LOST lines: ns of CPU time of the process that reads the
# jobs of a software GPU, ns in its BPF programs, the jobs, and events that were lost.
#
#	bash _top_guest.sh JOBS RATE

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

measure() { # LABEL COMMAND...
	local label=$1 cpu bpf
	shift
	rm -f out
	"$@" >out 2>err &
	pid=$!
	until [ -s out ] || { [ "$1" = record ] && [ -s run.grt/metadata ]; }; do
		kill -0 $pid
		sleep 0.1
	done
	sleep 1
	cpu=$(cpu_ns) bpf=$(bpf_ns)
	"$player" -q -p steady -j "$jobs" -r "$rate" -t 5us -o truth.csv
	sleep 1.5
	cpu=$(($(cpu_ns) - cpu)) bpf=$(($(bpf_ns) - bpf))
	kill -INT $pid
	wait $pid
	echo "$label $cpu $bpf $(($(wc -l <truth.csv) - 1)) $(lost)"
	rm -rf run.grt run.grt.json
}

lost() { # of the last command
	if [ -d run.grt ]; then
		"${GRTRACE:-/mnt/build/grtrace}" report run.grt --json | sed -nE 's/.*"lost": ([0-9]+).*/\1/p' | head -1
	else
		sed -nE 's/.*"lost_since": ([0-9]+).*/\1/p' out | tail -1
	fi
}

for program in ${PROGRAMS:-/mnt/build/grtrace}; do
	measure "record:$program" "$program" record -e drm -o run.grt
	measure "top:$program" "$program" top -e drm --json
	measure "keeps:$program" "$program" top -e drm --json -o run.grt
done
