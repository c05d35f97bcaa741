#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# top.sh BUILD [MIB]: what `grtrace top` needs of a CPU for the jobs of a recording in memory, ten updates a second at
# a million jobs a second, and `report --by gpu-process`, whose numbers it shows, beside it. User and system time of
# the best of seven runs. A live top reads the same records from its sources, whose cost is that of `record`.

set -eu
build=$(realpath -- "${1:?usage: bench/top.sh BUILD [MIB]}")
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
export TMPDIR="$dir"
"$build/bench/bench_report" -s "${2:-184}" -n 1 -k "$build/grtrace" >"$dir/made"
kept=$(sed -n 's/^kept: //p' "$dir/made")
trap 'rm -rf -- "$dir" "$kept"' EXIT
jobs=$(sed -n 's/^recording: \([0-9]*\) jobs.*/\1/p' "$dir/made")

TIMEFORMAT='%3U %3S'
ns_of() { # COMMAND...: of a job
	for _ in 1 2 3 4 5 6 7; do
		{ time "$@" >/dev/null; } 2>&1
	done | awk -v jobs="$jobs" '{ s = $1 + $2 } NR == 1 || s < best { best = s } END { printf "%.1f\n", best * 1e9 / jobs }'
}
ours=$(ns_of "$build/grtrace" top -i "$kept" -s 0.1 --json)
theirs=$(ns_of "$build/grtrace" report -i "$kept" --by gpu-process)
awk -v jobs="$jobs" -v ours="$ours" -v theirs="$theirs" 'BEGIN {
	printf "top: %d jobs, %.0f ns each: %.2f %% of a CPU at 100000 jobs/s\n", jobs, ours, ours / 100
	printf "report --by gpu-process: %.0f ns each; ratio %.2f\n", theirs, ours / theirs
}'
