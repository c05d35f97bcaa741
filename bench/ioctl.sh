#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What recording DRM ioctls costs: nanoseconds per call of a loop, without and
# with `grtrace record -e ioctl`, and what those pay that are not recorded. Peers
# that are installed here run side by side (bpftrace, strace).
#
#	bench/ioctl.sh [BUILD DIRECTORY]
#
# COUNT=4000 calls per round, best of 5 rounds, the least of TURNS=40: short rounds at real-time priority (chrt), of
# which one meets nothing else that the machine does. Needs root.

set -eu
build=$(realpath -- "${1:-build}")
count=${COUNT:-4000}
turns=${TURNS:-40}
bench=$build/bench/bench_ioctl
dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT

ns() { # KIND
	local i
	for ((i = 0; i < turns; i++)); do
		chrt -f 1 "$bench" "$1" "$count" 0
	done | sort -n | head -n 1
}

# Runs bench_ioctl KIND while grtrace records with further options.
traced() { # KIND OPTIONS...
	local kind=$1 pid
	shift
	rm -rf "$dir/t.grt"
	"$build/grtrace" record -e ioctl -o "$dir/t.grt" "$@" 2>"$dir/err" &
	pid=$!
	until [ -s "$dir/t.grt/metadata" ]; do
		kill -0 $pid || { cat "$dir/err" >&2 && exit 1; }
		sleep 0.1
	done
	sleep 0.5
	ns "$kind"
	kill -INT $pid
	wait $pid || { cat "$dir/err" >&2 && exit 1; }
	tail -n 1 "$dir/err" >>"$dir/log"
}

printf '%-44s %8s\n' 'call' 'ns'
printf '%-44s %8s\n' 'DRM ioctl, not traced' "$(ns drm)"
printf '%-44s %8s\n' 'DRM ioctl, recorded' "$(traced drm)"
printf '%-44s %8s\n' 'DRM ioctl, between windows (--duty 0.05%,5ms)' "$(traced drm --duty 0.05%,5ms)"
printf '%-44s %8s\n' 'DRM ioctl, of a process that is not asked for' "$(traced drm -p $$)"
printf '%-44s %8s\n' 'other ioctl' "$(traced other)"
printf '%-44s %8s\n' 'getppid, not traced' "$(ns getppid)"
printf '%-44s %8s\n' 'getppid' "$(traced getppid)"
if command -v bpftrace >/dev/null; then
	bpftrace -e 'tracepoint:syscalls:sys_enter_ioctl,tracepoint:syscalls:sys_exit_ioctl { @[probe] = count(); }' >/dev/null 2>&1 &
	sleep 5
	printf '%-44s %8s\n' 'peer: bpftrace, counting only' "$(ns drm)"
	kill -INT %% && wait %% || true
fi
if command -v strace >/dev/null; then
	printf '%-44s %8s\n' 'peer: strace -e ioctl' "$(strace -f -e trace=ioctl -o /dev/null "$bench" drm 2000 0)"
fi
sed 's/^grtrace record: /  /' "$dir/log"
