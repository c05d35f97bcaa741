#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# merge.sh BUILD [EVENTS]: how fast `grtrace merge` is and how much memory it
# takes, in CPU time: text and recording (half of EVENTS each), two recordings,
# text alone;
# and the plain Python merge of bench/merge_peer.py on the same files beside it.

set -eu
build=$(realpath -- "${1:?usage: bench/merge.sh BUILD [EVENTS]}")
events=${2:-1000000}
src=$(dirname -- "$(dirname -- "$(realpath -- "$0")")")
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
cd "$dir"

"$build/bench/bench_merge" make . $((events / 2))

# The best of so many runs: seconds and KiB.
best() { # RUNS COMMAND...
	local runs=$1 i
	shift
	for ((i = 0; i < runs; i++)); do
		"$build/bench/bench_merge" run "$@"
	done | sort -n | head -n 1
}

show() { # NAME EVENTS BYTES SECONDS KIB
	awk -v name="$1" -v n="$2" -v bytes="$3" -v s="$4" -v kib="$5" 'BEGIN {
		printf "%-34s %6.2f s  %5.1f M events/s", name ":", s, n / s / 1e6
		if (bytes)
			printf "  %4.0f MB/s read", bytes / s / 1e6
		printf "  %d KiB resident\n", kib
	}'
}

text=$(stat -c %s cpu.txt)
read -r mixed kib < <(best 5 "$build/grtrace" merge --cpu cpu.txt --gpu gpu.grt)
show "text and recording to text" "$events" 0 "$mixed" "$kib"
read -r s kib < <(best 5 "$build/grtrace" merge --cpu cpu.grt --gpu gpu.grt)
show "two recordings to text" "$events" 0 "$s" "$kib"
read -r s kib < <(best 5 "$build/grtrace" merge --cpu cpu.grt --gpu gpu.grt --stats-only)
show "two recordings, read and joined" "$events" 0 "$s" "$kib"
read -r s kib < <(best 5 "$build/grtrace" merge cpu.txt --stats-only)
show "text, read and joined" $((events / 2)) "$text" "$s" "$kib"
read -r peer kib < <(best 1 python3 "$src/bench/merge_peer.py" cpu.txt gpu.grt)
show "plain Python, text and recording" "$events" 0 "$peer" "$kib"
awk -v ours="$mixed" -v theirs="$peer" 'BEGIN { printf "ratio: %.1f\n", theirs / ours }'
