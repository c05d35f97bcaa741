#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a live `grtrace top` costs for each job of the software GPU, in instructions: the process that reads the events,
# and the BPF programs that the kernel runs, beside `record` of the same jobs. In one boot under -icount, where a
# nanosecond is an instruction.
#
#	[JOBS=20000] [RATE=10000] [PROGRAMS="FILE..."] bench/vm/top.sh [BUILD DIRECTORY]
#
# PROGRAMS: further builds to compare, as seen in the guest: the build directory is /mnt/build there.

# shellcheck source=bench/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare grtrace tools/softgpu-run kernel/grtrace_softgpu.ko kernel/grtrace.ko kernel/grtrace_drm_bridge.ko

figures=$(guest --icount --no-gpu --mem 1024 --timeout 1800 -- env PROGRAMS="${PROGRAMS:-/mnt/build/grtrace}" \
	bash bench/vm/_top_guest.sh "${JOBS:-20000}" "${RATE:-10000}" 2>/dev/null) || {
	echo "top.sh: the run in the guest failed; to see why: tools/vm run --icount --no-gpu --share $build=/mnt/build -- bash bench/vm/_top_guest.sh 2000 10000" >&2
	exit 1
}

awk '
	BEGIN {
		title["keeps"] = "top -o DIR"
		title["stacks"] = "top --stack"
		title["module"] = "top -e kmod"
		printf "%-24s %10s %10s %10s %10s %10s\n", "instructions per job", "process", "ratio", "BPF", "jobs", "lost"
	}
	NF == 6 {
		if ($2 == "record") base = $3 / $5
		printf "%-24s %10.0f %10.2f %10.0f %10d %10d\n", ($2 in title) ? title[$2] : $2, $3 / $5, $3 / $5 / base, $4 / $5, $5, $6
		lost += $6
		rows++
	}
	END { exit !rows || lost }' <<<"$figures"
