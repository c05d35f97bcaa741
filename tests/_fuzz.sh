#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# _fuzz.sh TARGET CORPUS SECONDS [NUMBER]: runs a fuzz target over its seeds and
# beyond: over the same inputs each time where NUMBER is given. What it finds
# stays in $GRTRACE_PLAIN/fuzz-found.

target=$1 seeds=$2 seconds=$3 number=${4:-0}
found=$GRTRACE_PLAIN/fuzz-found
mkdir -p work "$found"
[ -d "$seeds" ] || seeds=
# shellcheck disable=SC2086 # no corpus: no argument
"$target" -seed="$number" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
	-artifact_prefix="$found/" work $seeds >log 2>&1
status=$?
tail -n 40 log
[ $status = 0 ] || exit 1
# A target that ran nothing has tested nothing.
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' log)
[ "${runs:-0}" -ge 300 ] || { echo "only ${runs:-0} inputs were tried" && exit 1; }
