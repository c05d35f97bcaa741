#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# flame.sh BUILD [LINES]: how fast `grtrace flame` makes a picture of folded
# stacks of mean depth 18 and how much memory it takes, in CPU time; and
# flamegraph.pl on the same file beside it, where it is:
#   git clone https://github.com/brendangregg/FlameGraph
#   FLAMEGRAPH=FlameGraph/flamegraph.pl bench/flame.sh BUILD

set -eu
build=$(realpath -- "${1:?usage: bench/flame.sh BUILD [LINES]}")
lines=${2:-1000000}
peer=${FLAMEGRAPH:-$(command -v flamegraph.pl || true)}
[ -z "$peer" ] || peer=$(realpath -- "$peer")
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
cd "$dir"

"$build/bench/bench_flame" folded "$lines" >in.folded

# The best of so many runs: seconds and KiB.
best() { # RUNS FILE COMMAND...
	local runs=$1 file=$2 i
	shift 2
	for ((i = 0; i < runs; i++)); do
		"$build/bench/bench_flame" run "$file" "$@" 2>/dev/null
	done | sort -n | head -n 1
}

show() { # NAME SECONDS KIB
	awk -v name="$1" -v n="$lines" -v s="$2" -v kib="$3" 'BEGIN {
		printf "%-34s %7.2f s  %6.2f M lines/s  %8d KiB resident\n", name ":", s, n / s / 1e6, kib }'
}

read -r ours kib < <(best 3 out.svg "$build/grtrace" flame in.folded -o picture.svg)
show "grtrace flame, picture" "$ours" "$kib"
read -r s more < <(best 3 out.folded "$build/grtrace" flame in.folded)
show "grtrace flame, folded again" "$s" "$more"
if [ -z "$peer" ]; then
	echo "flamegraph.pl: not found, see the head of bench/flame.sh"
	exit
fi
read -r theirs more < <(best 1 peer.svg perl "$peer" in.folded)
show "flamegraph.pl, picture" "$theirs" "$more"
awk -v a="$ours" -v b="$theirs" -v x="$kib" -v y="$more" \
	'BEGIN { printf "ratio: %.1f in time, %.1f in memory\n", b / a, y / x }'
