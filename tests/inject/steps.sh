#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# report --by step and --by rank of programs that keep a record of what they did, with a mock CUDA.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH
PLAIN=$GRTRACE_PLAIN/grtrace

record() { # PROGRAM ARGS...
	rm -rf c.grt log notes
	MOCK_LOG=$PWD/log STEPS_LOG=$PWD/notes "$PLAIN" record -e cuda -o c.grt -- "$MOCK/$1" "${@:2}" >record.out 2>&1
	pid=$(awk '$3 == 1 { print $2; exit }' notes 2>/dev/null)
}

as_it_was() { # STEPS
	"$GRTRACE" report c.grt --by step --json >steps.json && output=$(python3 "$GRTRACE_SRC/tests/inject/_steps.py" steps.json log notes "$1")
}

record steps 50 2 1 10 30
check "two ranks: all steps, and to the ns what each went to" as_it_was 50
run report c.grt --by step
expect "the rank, its steps and the time are told" 0 \
	"rank 1 \(PID $pid\): 5 of 50 steps \(9, 19, 29, 39, 49\) took 3[0-9]\.[0-9] ms more than the median on average, mostly idle time: code before a launch in train_step"
check "how they were found" says 'the steps are inferred: each begins with the launch by train_step'
check "CSV has one row for each step of each rank" test "$("$GRTRACE" report c.grt --by step --csv 2>/dev/null | grep -c .)" = 101

for scene in plain calls paths threads names; do
	record app "$scene"
	run report c.grt --by step
	expect "$scene: no steps are found" 0 'no steps found: '
done
plan
