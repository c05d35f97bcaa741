#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a context switch costs more while threads are recorded: two processes that
# wake each other through pipes, alone, with the source sched in its forms, and
# with perf and ftrace, in turn.
#
#	bench/sched.sh [BUILD DIRECTORY]
#
# COUNT=5000 turns per round, best of 5 rounds, the least of TURNS=9. Needs root.
# "others" is the cost for a process that is not followed while another one is.

set -eu
build=$(realpath -- "${1:-build}")
count=${COUNT:-5000}
turns=${TURNS:-9}
bench=$build/bench/bench_switch
dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
tracing=/sys/kernel/tracing
trap 'rm -rf -- "$dir"' EXIT

# Alone and with a recorder, in turn, so that what else the machine does meets both.
row() { # NAME COMMAND... (it runs what follows it)
	local name=$1 off='' on='' i
	shift
	for ((i = 0; i < turns; i++)); do
		off+=$("$bench" "$count")$'\n'
		on+=$("$@" "$bench" "$count" 2>"$dir/err")$'\n'
	done
	off=$(grep . <<<"$off" | sort -n | head -n 1)
	on=$(grep . <<<"$on" | sort -n | head -n 1)
	printf '%-40s %8s %8s %+8d  %s\n' "$name" "$off" "$on" $((on - off)) \
		"$(grep -oE '[0-9]+ (events, [0-9]+ lost|samples)|LOST [0-9]+ [a-z]+' "$dir/err" | tr '\n' ' ')"
}

grtrace() { # OPTIONS...
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	rm -rf "$dir/t.grt"
	"$build/grtrace" record -e sched -o "$dir/t.grt" "${options[@]}" "$@"
}

others() {
	local pid
	sleep 100 &
	pid=$!
	"$build/grtrace" record -e sched -p $pid -o "$dir/o.grt" 2>/dev/null &
	sleep 1
	"$@"
	kill $pid
	wait
	rm -rf "$dir/o.grt"
}

with_perf() {
	perf sched record -o "$dir/perf.data" -- "$@"
}

with_perf_stacks() {
	perf record -o "$dir/perf.data" -g -e sched:sched_switch -e sched:sched_wakeup -c 1 -a -- "$@"
}

with_ftrace() {
	mkdir "$tracing/instances/bench"
	echo 1 >"$tracing/instances/bench/events/sched/sched_switch/enable"
	echo 1 >"$tracing/instances/bench/events/sched/sched_wakeup/enable"
	"$@"
	rmdir "$tracing/instances/bench"
}

printf '%-40s %8s %8s %8s\n' 'switch, ns' 'without' 'with' 'more'
row 'sched, with user stacks' grtrace --
row 'sched, with user and kernel stacks' grtrace --kernel-stack --
row 'sched, no stacks, no samples' grtrace --stack=none -F 0 --
row 'sched, others' others
if command -v perf >/dev/null; then
	row 'perf sched record (no stacks)' with_perf
	row 'perf record -g, switches and wake-ups' with_perf_stacks
else
	echo 'perf: not here (apt-get install linux-perf)'
fi
row 'ftrace, switches and wake-ups' with_ftrace
