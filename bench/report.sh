#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# report.sh BUILD [MIB]: how fast `grtrace report` decodes and joins a recording
# in memory, and babeltrace2, which only decodes it, beside it. The peer reads a
# 64 MiB recording of the same kind, since it needs seconds for that.

set -eu
build=$(realpath -- "${1:?usage: bench/report.sh BUILD [MIB]}")
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
export TMPDIR="$dir"

"$build/bench/bench_report" -s "${2:-1024}" -n 7 "$build/grtrace" | tee "$dir/big"
"$build/bench/bench_report" -s 64 -n 7 -k "$build/grtrace" >"$dir/small"
events=$(sed -n 's/^recording:.* \([0-9]*\) events/\1/p' "$dir/small")
kept=$(sed -n 's/^kept: //p' "$dir/small")
best=
for _ in 1 2 3; do
	start=$(date +%s%N)
	babeltrace2 "$kept" -o dummy
	end=$(date +%s%N)
	[ -n "$best" ] && [ $((end - start)) -ge "$best" ] || best=$((end - start))
done
ours=$(sed -n 's/^report: \([0-9.]*\) M events.*/\1/p' "$dir/big")
awk -v n="$events" -v ns="$best" -v ours="$ours" 'BEGIN {
	theirs = n / ns * 1e3
	printf "babeltrace2 -o dummy: %.2f M events/s; ratio %.1f\n", theirs, ours / theirs
}'
