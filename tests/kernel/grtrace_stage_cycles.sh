#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The stages come and go while processes start, stop, set, emit and read (that is
# grtrace_races), and while a buffer is made and their files are read without a
# pause. TAP version 13; needs root.
#
#	sudo SECONDS_LONG=10 ./grtrace_stage_cycles.sh [GRTRACE_RACES]

# shellcheck source=tests/kernel/common
. "$(dirname "$0")/common"
need_root_and_modules
races=${1:-$here/grtrace_races}
[ -x "$races" ] || skip_all "no $races: make, or give its place"
plan 7
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
result "$([ -z "$failures" ] && [ "$cycles" -gt 0 ]; echo $?)" "stages come and go under load${failures#,}"

# A stage that leaves waits for who reads its files with the directory locked, in which
# a buffer's files are made.
go_and_come() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		load grtrace_filter && unload grtrace_filter || return
	done
	: >"$done"
}

done=$(mktemp -u)
while :; do
	echo 65536 >"$D/buffer_size"
	echo 131072 >"$D/buffer_size"
done &
busy=$!
for file in filter_stats filter_pid; do
	while :; do
		read -r _ <"$D/$file"
	done 2>/dev/null &
	busy="$busy $!"
done
go_and_come &
for _ in $(seq 200); do
	[ ! -e "$done" ] || break
	sleep 1
done
# shellcheck disable=SC2086 # a list
kill $busy
result "$([ -e "$done" ]; echo $?)" "a stage leaves while a buffer is made and its files are read"
[ -e "$done" ] || finish # each wait for the other for ever
rm -f "$done"
check "and a buffer can be made after it" sh -c "echo 131072 >'$D/buffer_size'"
check "grtrace unloads" unload grtrace
check "the kernel log is free of complaints" log_clean
finish
