#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tracing costs a program that renders, finer than glmark2.sh: one long run
# of glmark2-es2-drm (64x64) in the guest, tracing on and off for a second each, jobs per
# second by the driver's own count.
#
#	bench/vm/toggle.sh [BUILD DIRECTORY]
#
# PAIRS=80 seconds of each kind. Leave the machine alone meanwhile.

# shellcheck source=bench/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
pairs=${PAIRS:-80}

phases=$(guest --parallel --timeout $((120 + pairs * 4)) -- sh bench/vm/_toggle_guest.sh "$pairs" 2>/dev/null) || {
	echo "toggle.sh: the run in the guest failed: $phases" >&2
	exit 1
}
awk '
	$1 == "off" { off[++n] = $2 / $3 * 1e9 }
	$1 == "on" { on[++m] = $2 / $3 * 1e9 }
	$1 == "events" || $1 == "lost" { note[$1] = $2 }
	END {
		if (!n || n != m || !note["events"]) exit 1
		for (i = 1; i <= n; i++) {
			if (!off[i] || !on[i]) exit 1 # the program had ended
			loss = 100 * (off[i] - on[i]) / ((off[i] + on[i]) / 2)
			mean += loss / n
			square += loss ^ 2 / n
			all_off += off[i] / n
			all_on += on[i] / n
		}
		printf "%d seconds of each: %.2f jobs/s without tracing, %.2f with\n", n, all_off, all_on
		printf "mean of the pairs: %.2f %% lost, standard error %.2f\n", mean, sqrt((square - mean ^ 2) / (n - 1))
		printf "%d events, %d lost\n", note["events"], note["lost"]
	}' <<<"$phases"
