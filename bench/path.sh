#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# path.sh BUILD [LAUNCHES]: edges a second of `grtrace report --path`, from the file to the table, with all that is
# computed again; and of networkx, which has the same graph given, a hundredth of it, and finds its longest path.

set -eu
build=$(realpath -- "${1:?usage: bench/path.sh BUILD [LAUNCHES]}")
launches=${2:-2000000}
here=$(dirname -- "$(realpath -- "$0")")
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
cd "$dir"
"$build/bench/bench_launches" big.grt "$launches" >/dev/null
edges=$("$build/grtrace" report big.grt --path -v | awk '$1 == "edges" { print $2 }')
for _ in 1 2 3; do
	"$build/bench/bench_flame" run out "$build/grtrace" report big.grt --path 2>/dev/null
done | sort -n | head -n 1 >ours
awk -v edges="$edges" '{ printf "grtrace report --path: %d edges in %.2f s, %.2f M edges/s, %d MiB\n", edges, $1, edges / $1 / 1e6, $2 / 1024 }' ours
if python3 -c 'import networkx' 2>/dev/null; then
	python3 "$here/path_peer.py" $((launches / 100)) | tee theirs
	awk -v edges="$edges" 'NR == FNR { ours = edges / $1; next } { printf "ratio %.1f\n", ours / $1 }' ours theirs
else
	echo "networkx is not installed: python3 -m pip install networkx"
fi
