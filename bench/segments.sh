#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# segments.sh BUILD [LAUNCHES]: how fast segments that are packed are read, against the same as they came: the CPU time of
# each reader, the best of four in turns, in one thread; and what the recorder took at most. The program that is recorded
# is tests/inject/mock. 1.00: as fast; the aim is 0.5.

set -eu
build=$(realpath -- "${1:?usage: bench/segments.sh BUILD [LAUNCHES]}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
cd "$dir"
export GRTRACE_THREADS=1 TIMEFORMAT='%U %S'

for how in raw packed; do
	packs=()
	[ $how = raw ] || packs=(--compress)
	"$build/grtrace" record -e cuda --max-size 1G "${packs[@]}" -o $how.grt "$build/tests/inject/mock/app" plain "${2:-300000}" 2>said
	echo "$how: $(du -sb $how.grt | awk '{ printf "%.1f", $1 / 1e6 }') MB, $(sed -nE 's/.*, ([0-9]+ events), .*/\1/p' said)"
done

cpu() { # COMMAND...
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%d\n", ($1 + $2) * 1000 }'
}
for view in "report" "report --by kernel" "dump --json" "export -f csv -o /dev/null" "flame"; do
	raw=0 packed=0
	for _ in 1 2 3 4; do
		for how in raw packed; do
			# shellcheck disable=SC2086 # words
			ms=$(cpu "$build/grtrace" $view $how.grt)
			[ "${!how}" != 0 ] && [ "${!how}" -le "$ms" ] || printf -v $how %s "$ms"
		done
	done
	awk -v view="$view" -v raw="$raw" -v packed="$packed" \
		'BEGIN { printf "%-28s raw %6d ms  packed %6d ms  speed of packed / raw %.2f\n", view, raw, packed, raw / (packed ? packed : 1) }'
done
