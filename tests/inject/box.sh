#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# CUDA in the black box and in segments: the recorder takes the packets itself. What is kept, and what was dropped or
# deleted, are all that the mock has done, as the program prints it and as its log has it.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH MOCK_LOG
GRTRACE=$GRTRACE_PLAIN/grtrace
rounds=${GRTRACE_SOAK:+200}
# With 100 there are more streams than places.
processes=${GRTRACE_SOAK:+100}
: "${processes:=16}"

# What the program says that it has launched.
launched() { # FILE
	awk '$1 == "truth" { n += $3 } END { print n + 0 }' "$1"
}
# What a recording has of it: its kernels, those that are before it, how many numbers of launches are missing between the
# first and the last, kernels between these without a launch, and the length of what is whole, ms.
kept() { # DIR
	"$GRTRACE" dump --json "$1" 2>/dev/null | python3 -c '
import json, re, sys
events = [json.loads(line) for line in sys.stdin]
made = re.search(r"cuda_window = \"from=(\d+)(?: to=(\d+))?.* counted=(\d+)(?: deleted=(\d+))?", open(sys.argv[1] + "/metadata").read())
launches = {e["correlation"] for e in events if e["type"] == "LAUNCH"}
kernels = [e["correlation"] for e in events if e["type"] == "GPU_KERNEL"]
gpu = sum(e["type"].startswith("GPU_") for e in events)
lo, hi = (min(launches), max(launches)) if launches else (0, -1)
logged = {int(line.split()[4]) for line in open(sys.argv[2]) if line.startswith("L ")} if len(sys.argv) > 2 else launches
print("kernels", len(kernels), "events", len(launches) + gpu, "before", made[3], "missing", len({n for n in logged if lo <= n <= hi} - launches),
      "doubled", len(kernels) - len(set(kernels)), "whole_ms", (int(made[2] or 0) - int(made[1])) // 1000000)
' "$@"
}

# The program's end is the incident, which is noticed a moment later: nothing is in flight, and what is before and in the snapshot is all.
# A recorder that notices it later than --last has nothing of the program in its window: again, then.
for _ in {1..20}; do
	rm -rf log box.grt
	MOCK_LOG=$PWD/log run record -e cuda --last 0.4 --last-size 8M --on exit-by-signal -o box.grt sh -c "$MOCK/app shares 1200; kill -SEGV \$\$"
	[ "$("$GRTRACE" report --json box.grt/snapshot_000001 2>/dev/null | jq '[.idle_devices[]?.busy] | add // 0')" = 0 ] || break
done
expect "a program that a signal ends" 139 '^grtrace record: exit-by-signal: '
echo "$output" >said
output=$(kept box.grt/snapshot_000001 log)
check "the last while is there, and nothing of it is missing or doubled" says '^kernels [1-9][0-9]+ .* missing 0 doubled 0 whole_ms (3[5-9][0-9]|[4-9][0-9]{2}|[0-9]{4,})$'
read -r _ _ _ here _ before _ <<<"$output"
all=$(($(grep -c '^L ' log) + $(grep -c '^L ' log)))
check "with what was dropped it is all that the log has ($here + $before of $all)" test $((here + before)) = "$all" -a "$before" -gt 0
check "which was dropped as packets" grep -qE 'dropped_oldest = "packets=[1-9][0-9]* events=[1-9]' box.grt/snapshot_000001/metadata
run report box.grt/snapshot_000001
check "it is accounted for" says 'every event is accounted for'
check "stacks have names" grep -q 'shares' <("$GRTRACE" flame box.grt/snapshot_000001)
if command -v babeltrace2 >/dev/null; then
	check "babeltrace2 reads it" test "$(babeltrace2 box.grt/snapshot_000001 2>/dev/null | wc -l)" = "$("$GRTRACE" dump box.grt/snapshot_000001 | wc -l)"
fi
check "beside it there is nothing" test "$(ls -A box.grt)" = "metadata
snapshot_000001"

# A process that runs, which goes on.
begin_waiting env CUDA_INJECTION64_PATH="$LIBRARY" "$MOCK/app" ask 500
"$GRTRACE" record -e cuda -p $pid --last 5 --after 0.1 -o ran.grt >ran 2>&1 &
recorder=$!
await '[ "$(cat /proc/$recorder/comm 2>/dev/null)" = grtrace-box ] && [ -f ran.grt/metadata ]'
sleep 0.5
# metadata that are written anew have another name for a moment
check "nothing is on disk" await '[ "$(ls -A ran.grt)" = metadata ]'
kill -USR1 $recorder
await 'grep -q "is complete" ran'
kill -INT $recorder
wait $recorder
output=$(<ran)
check "a process that runs: its snapshot" says 'snapshot_000001 is complete: [1-9][0-9]+ events'
output=$(kept ran.grt/snapshot_000001)
check "has kernels" says '^kernels [1-9][0-9]+ .* doubled 0'
run record -e cuda -p $pid --max-size 4M -d 0.2 -o ran.grt.seg
expect "and it can be recorded in segments" 0 '[1-9][0-9]* events, 0 lost'
finish
check "it ends as ever" exits 0
check "CUPTI was used as it may be" says ' 2 windows, 0 unclean, .* 0 faults, '

# Segments.
rm -f log
MOCK_LOG=$PWD/log run record -e cuda --max-size 4M --segment 512K -o seg.grt "$MOCK/app" plain 30000
expect "segments" 0 'events, 0 lost; [0-9.]+ MB kept in seg.grt'
echo "$output" >said
check "they never pass the bound" test "$(du -s -B1 seg.grt | cut -f1)" -le $((4 << 20))
output=$(kept seg.grt log)
check "nothing of what is left is missing or doubled" says ' missing 0 doubled 0 '
read -r _ _ _ here _ before _ <<<"$output"
check "with what was deleted it is all ($here + $before)" test $((here + before)) = $((2 * $(grep -c '^L ' log))) -a "$before" -gt 0
sum=0 sound=0 n=0
for s in seg.grt/segment_*; do
	"$GRTRACE" report "$s" 2>&1 | grep -qE 'every event is accounted for|accounted +yes' && sound=$((sound + 1))
	read -r _ _ _ one _ <<<"$(kept "$s")"
	sum=$((sum + one)) n=$((n + 1))
done
check "each segment is a recording by itself" test $sound = $n -a $n -ge 2
check "stacks have names" grep -q launches <("$GRTRACE" flame seg.grt 2>/dev/null)
check "together they have all of it" test $sum = "$here"

# A program counts its records once a second; a segment repeats the last counts alone, so that they take no room from names.
run record -e cuda --max-size 4M --segment 256K -o long.grt "$MOCK/app" shares 4500
last=$(compgen -G 'long.grt/segment_*' | tail -n 1)
counts=$("$GRTRACE" dump -t process "$last" 2>/dev/null | awk -v from="$(sed -nE 's/.*cuda_window = "from=([0-9]+).*/\1/p' "$last/metadata")" '
	/ what=2 / && $1 * 1e9 > from - 1000 && $1 * 1e9 < from + 1000 { n++ } END { print n + 0 }')
check "a segment repeats the last counts of a program alone" test "$counts" = 1

# Names that a program makes for ever, here of its steps, do not replace those of its kernels and functions.
STEPS_NVTX="train step" run record -e cuda --max-size 4M --segment 256K -o names.grt "$MOCK/steps" 1500 1 0 10000 0
check "more names than a segment can repeat" grep -q ' carried_lost=[1-9]' names.grt/metadata
# the last ones may have no kernels
for last in $(compgen -G 'names.grt/segment_*' | tac); do
	output=$("$GRTRACE" flame "$last" 2>/dev/null)
	silent || break
done
check "they are of a segment at the end" test "$(compgen -G 'names.grt/segment_*' | tail -n 4 | grep -cx "$last")" = 1
check "the last segments have the names of functions and kernels" says 'train_step.*;.*forward'

# Steps: the program's log says which one slept.
STEPS_NVTX="train step" STEPS_LOG=$PWD/notes run record -e cuda --last 60 --on 'step>300ms' --after 0.1 -o late.grt "$MOCK/steps" 12 1 0 10 400
expect "a step that takes long" 0 '^grtrace record: step: train step ?[0-9]+ took [0-9.]+ m?s; the median of its thread is [0-9.]+ ms, process [0-9]+'
slept=$(awk '$1 == "step" && $5 > 0 { print $4; exit }' notes)
check "is the one that slept ($slept)" says "train step ?$slept took"
run report --incident late.grt/snapshot_000001
expect "its snapshot names the incident" 0 '^incident: step$'
check "with the last call before it" says '^  thread [0-9]+ steps: [a-zA-Z]+, [0-9.]+ [mun]s before'
check "and its stack" says '^ +[0-9]+ train[a-z_]* \(steps\.c:'
STEPS_NVTX="train step" run record -e cuda --last 60 --on 'step>10x' --after 0.1 -o times.grt "$MOCK/steps" 12 1 0 10 400
check "so is one that takes many times the median" says '^grtrace record: step: train step ?[0-9]+ took '
# A recorder that is held up reads all of it much later: what was before the incident is there all the same.
rm -f notes
STEPS_NVTX="train step" STEPS_LOG=$PWD/notes "$GRTRACE" record -e cuda --last 0.6 --on 'step>300ms' --after 0.1 --pause 60 -o held.grt "$MOCK/steps" 40 1 0 10 400 >held 2>&1 &
recorder=$!
until grep -qs step notes; do
	kill -0 $recorder 2>/dev/null || break
	sleep 0.01
done
kill -STOP $recorder
for ((i = 0; i < 3000 && $(grep -c step notes) < 40; i++)); do
	sleep 0.02
done
kill -CONT $recorder
wait $recorder
output=$(<held)
slept=$(awk '$1 == "step" && $5 > 0 { print $4; exit }' notes)
check "a recorder that is held up: the first late step" says "train step ?$slept took"
run report --by step held.grt/snapshot_000001
check "is in its snapshot" says "^ +$slept +0[*] "
# A step that does not end is found while it hangs: long before the program, which the test ends then, would.
STEPS_HANG=1 STEPS_RANKED=1 STEPS_NVTX="train step" STEPS_LOG=$PWD/hung "$GRTRACE" record -e cuda --last 60 --on 'step>500ms' --after 0.1 -o hung.grt "$MOCK/steps" 12 1 0 10 600000 >hung.said 2>&1 &
recorder=$!
for ((i = 0; i < 3000 && $(compgen -G 'hung.grt/snapshot_*' | wc -l) == 0; i++)); do
	sleep 0.02
done
pkill -INT -P $recorder -x steps
kill -INT $recorder
wait $recorder
output=$(<hung.said)
check "a step that hangs is met before it ends" says '^grtrace record: step: train step 9 has not ended [0-9.]+ m?s after its first launch; the median of its thread is [0-9.]+ ms, process [0-9]+'
check "it is the one" test "$(grep -c step hung)" -ge 9 -a "$(awk '$1 == "step" { print $4 }' hung | sort -n | sed -n 10p)" != 10
run report --incident hung.grt/snapshot_000001
expect "its snapshot names the incident" 0 '^incident: step$'
at=$(sed -nE 's/.*incident_of = "time=([0-9]+) .*/\1/p' hung.grt/snapshot_000001/metadata)
now=$(python3 -c 'import sys, time; print(time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC) + int(sys.argv[1]))' "$at")
# the clocks are read one after the other, and the system's may be set meanwhile
check "when that was" says "^  date +$(date -d "@$((now / 1000000000))" '+%F %H:%M'):[0-9]{2}\.[0-9]{3} $(date +%z | sed "s,+,[+],") on $(uname -n)\$"
check "whose it is" says "^  user +$(id -u)\$"
check "which rank" says '^  rank +10$'
check "where it hangs in its own code" says '^ +[0-9]+ main\+0x[0-9a-f]+ \(steps\)$'
check "and what its threads did then" says '^  [0-9]+ steps: S \(sleeping\), system call [0-9]+'
STEPS_NVTX="train step" run record -e cuda --last 60 --on 'step>10s' --after 0.1 -o none.grt "$MOCK/steps" 6 1 0 5 20
check "steps below the limit are none" says '0 snapshots in'

# The recorder ends, and the program goes on.
rm -f go
MOCK_GO=$PWD/go "$GRTRACE" record -e cuda --last 1 -d 0.2 -o goes.grt "$MOCK/app" ask 100 >goes 2>&1 &
recorder=$!
await 'grep -q "waiting for the program to end" goes'
touch go
wait $recorder
status=$?
output=$(<goes)
expect "a program goes on without its recorder" 0 ' 1 windows, 0 unclean, finalized 1 times, 0 faults'

# Processes that come one after the other have the places of those before.
run record -e cuda --last 60 --on exit-by-signal -o many.grt sh -c "for i in \$(seq $processes); do $MOCK/app plain 20 & [ \$((i % 8)) != 0 ] || wait; done; wait; kill -SEGV \$\$"
output=$("$GRTRACE" report many.grt/snapshot_000001 2>&1)
check "many processes: all is there" says 'every event is accounted for'
check "of each" test "$("$GRTRACE" dump -t gpu_kernel many.grt/snapshot_000001 | wc -l)" = $((processes * 20))

# Recorders and programs that are killed at any moment: the program's output is as without, what is left is read.
good=0 readable=0 left=0
for ((i = 0; i < ${rounds:=4}; i++)); do
	rm -rf dead.grt
	how="--last 5 --after 0.3"
	[ $((i % 3)) != 2 ] || how="--max-size 4M --segment 256K"
	# shellcheck disable=SC2086 # words
	"$GRTRACE" record -e cuda $how -o dead.grt "$MOCK/app" shares 700 >dead 2>&1 &
	recorder=$!
	sleep "0.$((1000 + RANDOM % 5000))"
	victim=$(pgrep -P $recorder -x app)
	[ $((i % 3)) != 1 ] || kill -USR1 $recorder
	sleep "0.0$((RANDOM % 10))"
	if [ $((i % 2)) = 0 ]; then
		kill -KILL $recorder
	else
		kill -KILL "$victim"
	fi
	wait $recorder 2>/dev/null
	await '! kill -0 "$victim" 2>/dev/null'
	kill -0 "$victim" 2>/dev/null || good=$((good + 1))
	for s in dead.grt/snapshot_* dead.grt/segment_*; do
		[ -d "$s" ] || continue
		left=$((left + 1))
		# a packet that was cut is said, until it is cut off
		"$GRTRACE" mend "$s" >/dev/null 2>&1
		"$GRTRACE" report "$s" >report 2>&1 && readable=$((readable + 1))
	done
done
check "killed: the programs end" test $good = "$rounds"
check "killed: what is left is read ($left)" test $readable = $left
run record -e cuda --pc-sampling --last 1 true
expect "--pc-sampling has files of its own" 2 'leave out --last'
plan
