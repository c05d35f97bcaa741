#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The stages come and go while processes start, stop, set, emit and read (that is
# grtrace_races). TAP version 13; needs root.
#
#	sudo SECONDS_LONG=10 ./grtrace_stage_cycles.sh [GRTRACE_RACES]

# shellcheck source=tests/kernel/common
. "$(dirname "$0")/common"
need_root_and_modules
races=${1:-$here/grtrace_races}
[ -x "$races" ] || skip_all "no $races: make, or give its place"
plan 5
mark_log
said=$(mktemp)
stages=$(sed -n 's/^GRT_STAGE(.*, \([a-z_]*\), .*/\1/p' "$here/../../include/grtrace/stages.def")

# Those that are built, in an order that changes from cycle to cycle.
shuffled() {
	for stage in $stages; do
		[ -z "$modules" ] || [ -e "$modules/grtrace_$stage.ko" ] || continue
		echo "$stage"
	done | sort -R
}

check "grtrace loads" load grtrace
"$races" "${SECONDS_LONG:-10}" >"$said" 2>&1 &
pid=$!
cycles=0
failures=
while kill -0 $pid 2>/dev/null; do
	for stage in $(shuffled); do
		load "grtrace_$stage" || failures="$failures, $stage does not load"
	done
	[ -e "$D/sampling_mode" ] || failures="$failures, no file of a stage"
	for stage in $(shuffled); do
		unload "grtrace_$stage" || failures="$failures, $stage does not unload"
	done
	[ ! -e "$D/sampling_mode" ] || failures="$failures, the file of a stage that is gone"
	cycles=$((cycles + 1))
done
wait $pid
status=$?
note "$cycles cycles"
sed 's/^/# /' "$said"
rm -f "$said"
result $status "the books of the races balance"
result "$([ -z "$failures" ] && [ "$cycles" -gt 2 ]; echo $?)" "stages come and go under load${failures#,}"
check "grtrace unloads" unload grtrace
check "the kernel log is free of complaints" log_clean
finish
