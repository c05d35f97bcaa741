#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# record --duty: windows at random places. What is in them is all that happened, what reports say of the rest is what
# the formula gives and near to the truth, and between them CUPTI is out of the program where it can be.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH MOCK_LOG
GRTRACE=$GRTRACE_PLAIN/grtrace

# In the meantime: windows that are so far apart that CUPTI goes; of four, at random, one has 2 s behind it.
far_apart() {
	rm -rf apart.grt
	"$GRTRACE" record -e cuda --duty 0.6%,15ms -o apart.grt "$MOCK/app" shares 10000 >apart 2>&1
}
far_apart &
apart=$!

# Again where windows were missed, whose estimates may be far from the truth.
for _ in {1..5}; do
	rm -f log
	MOCK_LOG=$PWD/log run record -e cuda --duty 20%,20ms -o c.grt "$MOCK/app" shares 2000
	echo "$output" >said
	"$GRTRACE" dump --json c.grt >dump.json
	"$GRTRACE" report --by kernel --json c.grt >k.json
	python3 "$GRTRACE_SRC/tests/inject/_duty.py" dump.json k.json log said >facts 2>&1
	! grep -qx 'missed 0' facts || break
done
expect "windows at random" 0 'events, 0 lost in c.grt'
check "CUPTI is used as it may be" says ' 0 faults, '
output=$(<facts)
check "nothing that was launched in a window is missing" says '^windows [1-9][0-9] launches [1-9][0-9]{2,} missing 0 without a kernel 0$'
check "nor there twice" says '^doubled 0$'
check "estimates are those of the formula, marked, and near to the truth" says '^rows 4$'
check "nothing is wrong" test "$(grep -c wrong <<<"$output")" = 0
all=$(sed -n 's/^all_ns //p' <<<"$output")
run report --by kernel c.grt
check "they are marked in text, too" says ' ~[0-9.]+ [mun]?s .*~[0-9.]+ %'
check "with what they are" says 'random windows, .* were recorded'
run report --by idle c.grt
check "idle time is of the windows" says 'idle time covers only the recorded random windows: it is not scaled up'
check "and all other numbers" says 'duty +cuda in windows of 20 ms, each one of 5 parts'
sum=$("$GRTRACE" flame c.grt 2>told | awk '{ s += $NF } END { printf "%.0f", s }')
output=$(<told)
check "flame: weights are for all of the time ($sum of $all)" test $((sum - all)) -lt 1000 -a $((all - sum)) -lt 1000
check "with their interval" says 'weights are estimated for the whole recording, .* ~[0-9.]+ ms of GPU time, 95 % interval [0-9.]+ to [0-9.]+ ms'
"$GRTRACE" flame c.grt -o c.svg >/dev/null 2>&1
check "a picture says so" grep -q '<title>Flame graph (estimated)</title>' c.svg
check "at each number" grep -Eq '~[0-9.]+ (s|ms|us)' c.svg
"$GRTRACE" export -f pprof -o c.pb.gz c.grt >/dev/null 2>&1
check "pprof: a type of its own" grep -qa estimated_time <(zcat -f c.pb.gz)
check "with its interval" grep -qa '95 % interval' <(zcat -f c.pb.gz)

of_windows() { # RECORDING
	"$GRTRACE" dump --json "$1" >of.json
	python3 of_windows.py of.json
}
cat >of_windows.py <<'END'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
launches = sorted((e for e in events if e["type"] == "LAUNCH"), key=lambda e: e["begin"])
kernels = sorted((e for e in events if e["type"] == "GPU_KERNEL"), key=lambda e: e["start"])
windows = sum(e["type"] == "CAPTURE" and bool(e.get("end")) for e in events)
if windows < 2 or len(kernels) < 50:
    print("too few:", windows, "windows with", len(kernels), "kernels")
    sys.exit(3)
# the GPU runs a kernel while it is launched, however long that takes; of a call that the window's end cut only the kernel is there
call = {e["correlation"]: e for e in launches}
assert len(call) == len(launches), "a number that stands twice"
joined = [(k, call[k["correlation"]]) for k in kernels if k["correlation"] in call]
far = [k for k, e in joined if not e["begin"] - 5e6 <= k["start"] <= e["time"] + 5e6]
assert not far and len(joined) > 0.5 * len(kernels), (len(far), len(joined), len(kernels))
END

# CUPTI may stop counting calls where callbacks are switched while the program is in a call.
for _ in {1..20}; do
	MOCK_FREEZES=1 run record -e cuda --duty 20%,20ms -o freezes.grt "$MOCK/app" shares 1000
	# windows may have passed before they could begin: again, then
	of_windows freezes.grt >windows
	[ $? = 3 ] || break
done
check "each launch has a number of its own, which its kernel has" of_windows freezes.grt

run record -e cuda --duty 50%,80ms -o few.grt "$MOCK/app" shares 600
"$GRTRACE" report --by kernel --json few.grt >few.json
output=$(<few.json)
check "few windows: no interval" says '"estimated_from": null'
check "the error names the cause" says 'there is no interval: it needs 10 windows'
run record -e cuda -o whole.grt "$MOCK/app" shares 100
"$GRTRACE" report --by kernel --json whole.grt >whole.json
output=$(<whole.json)
check "without --duty nothing is estimated" says '"estimated_total": null,.*"estimated": \[\]'

# Waits until a recorder has begun its recording, which takes long on a busy machine.
begun() { # RECORDING
	await "[ -s '$1/metadata' ]"
}

# Recorders that are killed, in windows and between them; the program lives, and another one can record it.
begin_waiting env CUDA_INJECTION64_PATH="$LIBRARY" "$MOCK/app" ask 500
readable=0 kills=5
for ((i = 0; i < kills; i++)); do
	"$GRTRACE" record -e cuda --duty 40%,10ms -p $pid -o "killed$i.grt" >/dev/null 2>&1 &
	recorder=$!
	begun "killed$i.grt"
	sleep "0.$((15 + i * 7))"
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	"$GRTRACE" report "killed$i.grt" >/dev/null 2>&1 && readable=$((readable + 1))
done
check "recorders were killed: what they left is read" test $readable = $kills
run record -e cuda --duty 40%,10ms -p $pid -d 0.5 -o last.grt
expect "the program is recorded by another" 0 '[1-9][0-9]* events, 0 lost'
check "in windows" test "$("$GRTRACE" dump -t capture last.grt | grep -c 'end=[1-9].* parts=[23]')" -ge 5
run record -e cuda -p $pid -d 0.1 -o whole.grt
expect "and as a whole" 0 '[1-9][0-9]* events, 0 lost'
check "without windows" test "$("$GRTRACE" dump -t capture whole.grt | wc -l)" = 0
finish
check "it ends as ever" exits 0
check "and CUPTI was used as it may be" says ' 0 unclean, .* 0 faults, .* 0 asked,'

# Programs that are killed.
readable=0
for ((i = 0; i < 4; i++)); do
	"$GRTRACE" record -e cuda --duty 40%,10ms -o "dead$i.grt" "$MOCK/app" shares 20000 >/dev/null 2>&1 &
	recorder=$!
	begun "dead$i.grt"
	sleep "0.$((21 + i * 9))"
	kill -KILL "$(pgrep -P $recorder)" 2>/dev/null
	wait $recorder 2>/dev/null
	"$GRTRACE" report --by kernel --json "dead$i.grt" 2>/dev/null | python3 -c "import json, sys; json.load(sys.stdin)" && readable=$((readable + 1))
done
check "programs were killed: what they left is read" test $readable = 4

wait $apart
for _ in {1..5}; do
	of_windows apart.grt >windows
	[ $? = 3 ] || break
	far_apart
done
output=$(<apart)
# what is asked of CUPTI at its end depends on whether it ends in a window
check "far apart: CUPTI goes after a window, and comes again" says '^finalized [1-9][0-9]* times, 0 faults, '
check "each launch has a number of its own, though CUPTI began anew" of_windows apart.grt
check "and there are windows" test "$("$GRTRACE" dump -t capture apart.grt | grep -c 'end=[1-9]')" -ge 2

for bad in 0 60% x 1%,1ms 1%,9h "1%," 1%5; do
	run record -e cuda --duty "$bad" -o c.grt true
	expect "--duty $bad" 2 'duty: PERCENT\[,WINDOW\]'
done
run record -e cuda --duty 1% --delay 1 -o c.grt true
expect "with --delay" 2 'works neither'
plan
