#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# launches.sh BUILD [LAUNCHES]: how long `grtrace flame` and `grtrace report --by`
# take to join CUDA's launches with their kernels and to write what comes of it, CPU
# time of one core and memory; babeltrace2, which only decodes, on a tenth of it.

set -eu
build=$(realpath -- "${1:?usage: bench/launches.sh BUILD [LAUNCHES]}")
launches=${2:-10000000}
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
cd "$dir"
"$build/bench/bench_launches" big.grt "$launches"
"$build/bench/bench_launches" small.grt $((launches / 10)) >small.txt

# The best of three: seconds and KiB.
measure() { # NAME COMMAND...
	name=$1
	shift
	for _ in 1 2 3; do
		"$build/bench/bench_flame" run out "$@" 2>/dev/null
	done | sort -n | head -n 1 | awk -v name="$name" -v n="$launches" '{
		printf "%-28s %6.2f s  %6.2f M launches/s  %4d MiB\n", name, $1, n / $1 / 1e6, $2 / 1024 }'
}

measure "flame, SVG" "$build/grtrace" flame big.grt -o flame.svg
measure "flame, folded" "$build/grtrace" flame big.grt -o flame.folded
for by in kernel stack stream device; do
	measure "report --by $by" "$build/grtrace" report big.grt --by $by
done
launches=$((launches / 10))
measure "babeltrace2 -o dummy (1/10)" babeltrace2 small.grt -o dummy
