#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# _fuzz.sh TARGET CORPUS runs N | seconds N: runs a fuzz target over its seeds and
# beyond. With a number of runs the inputs are the same each time, and a slow
# machine takes longer; with seconds they differ each time. What it finds stays in
# $GRTRACE_PLAIN/fuzz-found.

target=$1 seeds=$2 how=$3 number=$4
found=$GRTRACE_PLAIN/fuzz-found
mkdir -p work "$found"
[ -d "$seeds" ] || seeds=
case $how in
runs) limit="-seed=1 -runs=$number" ;;
*) limit="-max_total_time=$number" ;;
esac
# shellcheck disable=SC2086 # several words; no corpus: no argument
"$target" $limit -timeout=60 -rss_limit_mb=2048 -close_fd_mask=2 -print_final_stats=1 \
	-artifact_prefix="$found/" work $seeds >log 2>&1
status=$?
tail -n 40 log
[ $status = 0 ] || exit 1
# A target that ran nothing has tested nothing.
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' log)
[ "$how" != runs ] || [ "${runs:-0}" -ge "$number" ] || { echo "only ${runs:-0} inputs were tried" && exit 1; }
