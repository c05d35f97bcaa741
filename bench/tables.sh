#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tables.sh BUILD [ROWS]: how fast tables are written as Apache Parquet, in CPU time of one core: the writer alone,
# with ROWS kernels of 38 columns, and `grtrace export -f parquet` of a recording with as many launches and kernels,
# which is read and analysed, too. The peer is DuckDB, which writes the same rows from its memory.

set -eu
build=$(realpath -- "${1:?usage: bench/tables.sh BUILD [ROWS]}")
rows=${2:-4000000}
here=$(dirname -- "$(realpath -- "$0")")
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
readers=$("$here/../tools/table-readers")
cd "$dir"

for _ in 1 2 3; do
	"$build/bench/bench_tables" parquet "$rows" work.parquet
done | sort -k2 -n | tail -n 1 >ours
read -r _ speed _ _ size _ <ours
read -r theirs bytes < <(node "$here/tables.mjs" "$readers" work.parquet peer.parquet)
awk -v a="$speed" -v b="$theirs" -v x="$size" -v y="$bytes" 'BEGIN {
	printf "writer: %.2f M rows/s, %.1f bytes per row; DuckDB: %.2f M rows/s, %.1f bytes per row; ratio %.1f\n", a, x, b, y, a / b
}'
rm -f -- *.parquet
"$build/bench/bench_launches" trace.grt "$rows" >made
for form in parquet csv_tables; do
	read -r seconds kib < <("$build/bench/bench_merge" run "$build/grtrace" export -f $form -o tables trace.grt 2>err)
	bytes=$(du -s --apparent-size -B1 tables/work | cut -f1)
	awk -v form=$form -v n="$rows" -v s="$seconds" -v kib="$kib" -v b="$bytes" 'BEGIN {
		printf "export -f %s: %.2f M kernels/s with reading and all analyses, %.1f bytes per kernel, %d MiB resident\n", form, n / s / 1e6, b / n, kib / 1024
	}'
	rm -rf tables
done
