#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a system costs that is traced and does nothing: how long its processor is
# busy in an idle minute, under -icount, where a nanosecond is an instruction.
#
#	bench/vm/idle.sh [BUILD DIRECTORY]

# shellcheck source=bench/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare grtrace

figures=$(guest --icount --no-gpu --modules "" --mem 1024 --timeout 1800 -- \
	env MINUTES="${MINUTES:-5}" sh bench/vm/_idle_guest.sh 2>/dev/null) || {
	echo "idle.sh: the run in the guest failed; to see why: tools/vm run --icount --no-gpu --share $build=/mnt/build -- sh bench/vm/_idle_guest.sh" >&2
	exit 1
}

sort -k1,1 -k2,2n <<<"$figures" | awk '
	{ value[$1, ++n[$1]] = $2 }
	function row(label, what,  median) {
		if (!n[label]) exit failed = 1
		median = value[label, int((n[label] + 1) / 2)]
		if (label == "none") base = median
		printf "%-44s %12.0f %12.0f %12.0f %9.3f %%\n", what, value[label, 1], median, value[label, n[label]],
			100 * (median - base) / base
	}
	END {
		if (failed) exit 1
		printf "%-44s %12s %12s %12s %11s\n", "instructions of an idle minute", "least", "median", "most", "more"
		row("none", "no module")
		row("loaded", "all modules loaded")
		row("enabled", "tracing on")
		row("stages", "tracing on, every stage set")
		row("recorded", "the same while grtrace record waits")
	}'
