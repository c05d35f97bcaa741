#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Recorders and programs that are killed at random moments of attaching, of windows, of detaching and of a snapshot,
# and two recorders that ask for the same process at once. The program goes on and ends as one that nobody asked; every
# recording that is left is read. GRTRACE_SOAK: a thousand kills, or as many as it says.
# shows: nothing

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH MOCK_LOG
GRTRACE=$GRTRACE_PLAIN/grtrace
kills=14
[ -z "${GRTRACE_SOAK:-}" ] || kills=$((GRTRACE_SOAK > 1 ? GRTRACE_SOAK : 1000))
RANDOM=${SEED:=$$}
echo "# SEED=$SEED"

# What is read without an error: all that has a description. A recorder that came no further has left nothing.
unread=0
read_all() {
	local left
	for left in kill.grt kill.grt/snapshot_?????? kill.grt/segment_* kill.grt.second; do
		[ -s "$left/metadata" ] || continue
		grep -q 'black_box = ' "$left/metadata" && continue
		# the first who opens what was cut in a packet says so
		"$GRTRACE" report "$left" >/dev/null 2>read.err
		status=$?
		if [ $status != 0 ] && ! "$GRTRACE" report "$left" >/dev/null 2>>read.err; then
			unread=$((unread + 1))
			echo "# not read, of kill $i, $mode: $(tail -n 2 read.err | head -n 1)"
		fi
	done
}

# How a recorder is started.
how() { # MODE
	case $1 in
	window) echo "--duty 40%,10ms" ;;
	box) echo "--last 2 --after 0.05 --pause 0.05" ;;
	segments) echo "--max-size 64M --segment 4M" ;;
	short) echo "-d 0.0$((RANDOM % 9 + 1))" ;;
	*) echo "" ;;
	esac
}
modes=(plain window box segments short two program)

one() {
	local recorder second target=$pid
	rm -rf kill.grt kill.grt.old kill.grt.second
	if [ "$mode" = program ]; then
		CUDA_INJECTION64_PATH=$LIBRARY MOCK_GO=$PWD/never "$MOCK/app" ask 500 >/dev/null 2>&1 &
		target=$!
	fi
	# shellcheck disable=SC2046 # words
	"$GRTRACE" record -e cuda -p "$target" -o kill.grt $(how "$mode") >/dev/null 2>&1 &
	recorder=$!
	if [ "$mode" = two ]; then
		"$GRTRACE" record -e cuda -p "$target" -d 0.05 -o kill.grt.second >second 2>&1 &
		second=$!
	fi
	sleep "0.$(printf %03d $((RANDOM % 450)))"
	# where it is not ready yet, the signal ends it
	[ "$mode" != box ] || "$GRTRACE" snapshot kill.grt >/dev/null 2>&1 &
	[ "$mode" != box ] || sleep "0.$(printf %03d $((RANDOM % 150)))"
	if [ "$mode" = program ]; then
		kill -KILL "$target"
		wait "$target" 2>/dev/null
		wait "$recorder" || ended=$((ended + 1))
	else
		kill -KILL $recorder 2>/dev/null
		wait $recorder 2>/dev/null
	fi
	[ "$mode" != two ] || wait "$second"
	status=$?
	if [ "$mode" = two ] && [ $status != 0 ] && ! grep -q 'another recorder, records it already' second; then
		refused=$((refused + 1))
		echo "# kill $i: the second recorder: $(head -n 1 second)"
	fi
	read_all
}

begin_waiting env CUDA_INJECTION64_PATH="$LIBRARY" "$MOCK/app" ask 500
finish
sum=$(sed -n 's/^sum \([0-9a-f]*\),.*/\1/p' <<<"$output")
begin_waiting env CUDA_INJECTION64_PATH="$LIBRARY" "$MOCK/app" ask 500
refused=0 ended=0
for ((i = 0; i < kills; i++)); do
	mode=${modes[i % ${#modes[@]}]}
	one
	kill -0 $pid 2>/dev/null || break
done
check "the program lives after $kills kills" test "$i" = $kills
check "every recording that is left is read" test $unread = 0
check "a second recorder records, or its error names the first one" test $refused = 0
echo "# $ended recorders of programs that were killed ended with an error"
run record -e cuda -p $pid -d 0.1 -o last.grt
expect "it is recorded by one more" 0 '[1-9][0-9]* events, 0 lost'
finish
check "it ends as a program without a recorder" exits 0
check "with the same output, and CUPTI as it was" says "^sum $sum, [0-9]+ windows, 0 unclean, finalized [0-9]+ times, 0 faults, [0-9]+ callbacks, 0 asked, "
plan
