#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the sources nvsched and nvidia cost: nanoseconds per call of a loop on
# /dev/null, without them and with them. Without a GPU nvsched decodes calls that
# failed, and /dev/null counts as a file of NVIDIA's driver for nvidia.
#
#	bench/nvsched.sh [BUILD DIRECTORY]
#
# COUNT=2000 calls per round, best of 5 rounds, the least of TURNS=41: so short
# that most rounds are not interrupted, and what others do does not count. Needs root.

set -eu
build=$(realpath -- "${1:-build}")
export count=${COUNT:-2000} turns=${TURNS:-41} bench=$build/bench/bench_ioctl
dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT

least() { # KIND
	local i
	for ((i = 0; i < turns; i++)); do "$bench" "$1" "$count" 0; done | sort -n | head -n 1
}
export -f least

row() { # NAME KIND OPTIONS OF record
	local name=$1 kind=$2 off on
	shift 2
	off=$(least "$kind")
	# as its program: it begins when all is attached
	on=$("$build/grtrace" record -o "$dir/t.grt" "$@" -- bash -c "least $kind" 2>"$dir/err") || {
		cat "$dir/err" >&2
		exit 1
	}
	printf '%-44s %8s %8s %+8d  %s\n' "$name" "$off" "$on" $((on - off)) "$(grep -oE '[0-9]+ lost' "$dir/err")"
}

printf '%-44s %8s %8s %8s\n' 'call, ns' 'without' 'with' 'more'
row 'ioctl of another type' other -e nvsched
row 'control that is decoded' rm -e nvsched --include-failed
row 'control of no interest' rm_other -e nvsched --include-failed
row 'getppid' getppid -e nvsched

mkdir -p "$dir/root/proc"
printf 'Character devices:\n  1 nvidia-null\n195 nvidia\n' >"$dir/root/proc/devices"
export GRTRACE_SYSROOT=$dir/root
echo 'with nvidia, too'
row 'ioctl of another type' other -e nvidia,nvsched
row 'control that is decoded by both' rm -e nvidia,nvsched --include-failed
row 'control that nvidia decodes' rm_other -e nvidia,nvsched --include-failed
row 'getppid' getppid -e nvidia,nvsched
