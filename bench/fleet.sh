#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fleet.sh BUILD [HOSTS] [STEPS]: what a machine sends in a day, and what the queries of sql/ find, how
# long they take and how much memory. The machine has 8 GPUs with 16,000 kernels in a second; the
# peer of its roll-ups is the table of all its kernels. HOSTS (125) of 8 ranks and STEPS (1000) are
# played, with causes injected that the queries do not know; DuckDB and ClickHouse stand side by side.

set -eu
build=$(realpath -- "${1:?usage: bench/fleet.sh BUILD [HOSTS] [STEPS]}")
src=$(dirname -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")")
hosts=${2:-125} steps=${3:-1000}
dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
cd "$dir"

seconds=120
"$build/bench/bench_fleet" run.grt $seconds
for format in rollup parquet; do
	start=$(date +%s%N)
	"$build/grtrace" export -f $format -o $format run.grt 2>/dev/null
	bytes=$(find $format -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')
	awk -v f=$format -v b="$bytes" -v s=$seconds -v ns=$(($(date +%s%N) - start)) 'BEGIN {
		printf "%-8s %10d bytes of %d s: %7.0f MB in a day, %.2f bytes for a kernel; written in %.1f s\n", f, b, s, b * 86400 / s / 1e6, b / s / 16000, ns / 1e9 }'
done
rm -r run.grt rollup parquet

"$build/tests/cli/fleet_rollups" played "$hosts" "$steps" 1
echo "$((hosts * 8)) ranks, $steps steps, $((hosts * 8 * steps * 1000)) kernels: $(du -sm played | cut -f 1) MB of roll-ups"
for engine in duckdb clickhouse; do
	which=$engine
	[ $engine = clickhouse ] || which=
	# shellcheck disable=SC2086 # an argument or none
	readers=$("$src/tools/table-readers" $which) || continue
	(cd played && node "$src/tests/cli/_fleet.mjs" "$readers" $engine "$src/sql" clocks late causes stragglers ranks slow_gpus slow_hosts) >$engine.json
	"$src/tests/cli/_fleet.py" played $engine.json 99 "$steps"
done
