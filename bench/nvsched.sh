#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the source nvsched costs: nanoseconds per call of a loop on /dev/null,
# without it and with it, in turn. Without a GPU it decodes calls that failed.
#
#	bench/nvsched.sh [BUILD DIRECTORY]
#
# COUNT=2000 calls per round, best of 5 rounds, the least of TURNS=41: so short
# that most rounds are not interrupted, and what others do does not count. Needs root.

set -eu
build=$(realpath -- "${1:-build}")
count=${COUNT:-2000}
turns=${TURNS:-41}
bench=$build/bench/bench_ioctl
dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT

least() { # KIND
	local i
	for ((i = 0; i < turns; i++)); do "$bench" "$1" "$count" 0; done | sort -n | head -n 1
}

row() { # NAME KIND OPTIONS
	local name=$1 kind=$2 off on pid
	shift 2
	off=$(least "$kind")
	"$build/grtrace" record -e nvsched -o "$dir/t.grt" "$@" 2>"$dir/err" &
	pid=$!
	sleep 2
	on=$(least "$kind")
	kill -INT $pid
	wait $pid || { cat "$dir/err" >&2 && exit 1; }
	printf '%-44s %8s %8s %+8d  %s\n' "$name" "$off" "$on" $((on - off)) "$(grep -oE '[0-9]+ lost' "$dir/err")"
}

printf '%-44s %8s %8s %8s\n' 'call, ns' 'without' 'with' 'more'
row 'ioctl of another type' other
row 'control that is decoded' rm --include-failed
row 'control of no interest' rm_other --include-failed
row 'getppid' getppid
