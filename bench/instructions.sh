#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# instructions.sh BUILD [OTHER]: how many instructions commands need for small recordings, in millions, as callgrind
# counts them: the same on a busy machine. The peer is the build OTHER, where there is one: that of an older tree, which
# reads the same recordings. Instructions of all threads are counted.

set -eu
build=$(realpath -- "${1:?usage: bench/instructions.sh BUILD [OTHER]}")
other=${2:+$(realpath -- "$2")}
if ! command -v valgrind >/dev/null; then
	echo "instructions.sh: valgrind is not installed: apt install valgrind"
	exit
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
cd "$dir"
export TMPDIR="$dir"

"$build/bench/bench_report" -s 32 -n 1 -k "$build/grtrace" >made
mv -- "$(sed -n 's/^kept: //p' made)" jobs.grt
"$build/bench/bench_launches" launches.grt 200000 >/dev/null
"$build/bench/bench_merge" make . 100000
"$build/bench/bench_text" -s 16 -b 5000 -k text >/dev/null
"$build/bench/bench_flame" folded 50000 >in.folded

# Nothing where a build does not have the command.
count() { # BUILD COMMAND...
	local build=$1
	shift
	if valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=log "$build/grtrace" "$@" >out 2>err </dev/null; then
		sed -n 's/^==.*Collected : //p' log
	fi
}

printf '%-44s %10s %10s %7s\n' command "${other:+other}" here "${other:+ratio}"
while read -r command; do
	# shellcheck disable=SC2086 # words
	now=$(count "$build" $command)
	# shellcheck disable=SC2086
	before=${other:+$(count "$other" $command)}
	awk -v name="$command" -v a="$before" -v b="$now" 'BEGIN {
		printf "%-44s %10s %10.1f %7s\n", name, a ? sprintf("%.1f", a / 1e6) : "", b / 1e6, a ? sprintf("%.2f", b / a) : "" }'
done <<END
report jobs.grt --by ring
report jobs.grt
timeline jobs.grt
report launches.grt --by kernel
report launches.grt --by stack
report launches.grt --by stream
report launches.grt
flame launches.grt -o flame.svg
flame launches.grt -o flame.folded
flame in.folded -o folded.svg
report text --by ring
merge --cpu cpu.grt --gpu gpu.grt
merge --cpu cpu.grt --gpu gpu.grt --json
export -f perfetto gpu.grt
export -f perfetto launches.grt
export -f jsonl cpu.grt
report launches.grt --by op
top -i launches.grt -s 0.1 --json
export -f parquet launches.grt -o tables
END
