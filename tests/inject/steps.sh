#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# report --by step and --by rank of programs that keep a record of what they did, with a mock CUDA.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH
PLAIN=$GRTRACE_PLAIN/grtrace

record() { # PROGRAM ARGS...
	rm -rf c.grt log notes
	MOCK_LOG=$PWD/log STEPS_LOG=$PWD/notes "$PLAIN" record -e "${EVENTS:-cuda}" -o c.grt -- "$MOCK/$1" "${@:2}" >record.out 2>&1
}

as_it_was() { # STEPS [ranked]
	"$GRTRACE" report c.grt --by step --json >steps.json && "$GRTRACE" report c.grt --by rank --json >ranks.json &&
		output=$(python3 "$GRTRACE_SRC/tests/inject/_steps.py" steps.json ranks.json log notes "$@")
}

# What sentences name is the longest delay: on a busy machine that may be another than the one that was made, so a
# run may be repeated.
sentences() { # STEPS RANKS LATE EVERY MS STEP_SENTENCE RANK_SENTENCE
	for _ in 1 2 3 4 5; do
		record steps "${@:1:5}"
		rank=$([ -z "${STEPS_RANKED:-}" ] && echo "$3" || echo $((9 + $2 - $3)))
		pid=$(awk -v r="$rank" '$3 == r { print $2; exit }' notes)
		output=$("$GRTRACE" report c.grt --by step 2>&1; "$GRTRACE" report c.grt --by rank 2>&1)
		says "^rank $rank \(PID $pid\): $6" && says "^rank $rank \(PID $pid\) $7" && return
	done
	return 1
}

# The sentence of the device that is idle most, from the medians of steps.json, which are those of the program's record.
idle_said() {
	python3 - <<-'PY' >said
		import collections, json
		ranks = collections.defaultdict(list)
		for k in json.load(open("steps.json"))["steps"]:
		    ranks[k["rank"], k["pid"]].append(k)
		def median(rows, column):
		    return sorted(k[column] for k in rows)[len(rows) // 2]
		share = {who: median(rows, "idle") / median(rows, "time") for who, rows in ranks.items()}
		most = max(share, key=share.get)
		print("rank %u \\(PID %u\\): in an ordinary step of [0-9.]+ ms the GPU is idle for [0-9.]+ [mu]s \\(%.0f %%\\)" % (*most, share[most] * 100))
	PY
	output=$("$GRTRACE" report c.grt 2>&1)
	says "^$(cat said), [0-9.]+ ms of it in one gap: code before a launch in train_step"
}

check "two ranks: rank, steps, and time are named" sentences 50 2 1 10 30 \
	'5 of 50 steps \(9, 19, 29, 39, 49\) took [34][0-9]\.[0-9] ms more than the median on average, mostly idle time: code before a launch in train_step' \
	'arrived last in 5 of 49 collectives, [34][0-9]\.[0-9] ms late on average, in steps 9, 19, 29, 39, 49: code before a launch in train_step'
check "and how the steps were found" says 'the steps are inferred: each begins with the launch by train_step'
check "all steps, what each went to, and all arrivals, to the ns" as_it_was 50
record steps 21 2 1 1 5
check "a rank that is late in each step: as it was" as_it_was 21
check "and how long its GPU is idle in an ordinary step" idle_said
check "CSV has one row for each step of each rank" test "$("$GRTRACE" report c.grt --by step --csv 2>/dev/null | grep -c .)" = 43
if "$PLAIN" record -e sched -o sched.grt true >/dev/null 2>&1; then
	EVENTS=cuda,sched
	check "with -e sched: what the late rank's main thread did" sentences 20 2 1 10 30 \
		'2 of 20 steps \(9, 19\) took ' \
		'arrived last in 2 of 19 collectives, .*; its main thread meanwhile: sleep [5-9][0-9] %'
	check "which adds up to the time by which ranks were late" as_it_was 20
	unset EVENTS
else
	ok "what the late rank's main thread did # SKIP the kernel gives no scheduler events"
fi
export STEPS_RANKED=1
check "four ranks with numbers in their environments: the same" sentences 20 4 2 5 50 \
	'4 of 20 steps \(4, 9, 14, 19\) took ' \
	'arrived last in 4 of 19 collectives, [5-9][0-9]\.[0-9]* ms late on average, in steps 4, 9, 14, 19: '
check "their steps and arrivals" as_it_was 20 ranked
check "dump has the ranks" test "$("$GRTRACE" dump c.grt | grep -c ' RANK .*rank=1[0-3]')" = 4

unset STEPS_RANKED
STEPS_NVTX="train step" record steps 12 2 1 4 5
run report c.grt --by step
expect "ranges of NVTX name the steps" 0 'the steps are the NVTX ranges "train step #"; --step-range NAME selects others'
check "which is not inferred" says '^ +7 +0[*] '
check "they are what they were" as_it_was 12
check "and JSON does not call the step inferred" eval '! grep -q "\"inferred\": \[\"step\"" steps.json'
run report c.grt --by step --step-range backward
expect "another range" 0 'the steps are the NVTX ranges "backward"'
run report c.grt --by step --step-range forwards
expect "one that is not there" 0 'no NVTX range or mark "forwards" occurs three times'
run report c.grt --by kernel --step-range backward
expect "a table without steps" 2 -- '--step-range works only with --by step and --by rank, not with --by kernel'

for scene in plain calls paths threads names; do
	record app "$scene"
	run report c.grt --by step
	expect "$scene: no steps are found" 0 'no steps found: '
	run report c.grt --by rank
	expect "$scene: and no collectives" 0 'the trace has no NCCL kernels'
done
plan
