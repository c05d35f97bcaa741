#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# record --capture-range and --delay: what is outside of a window is not recorded, CUPTI does nothing there, and
# sums and idle time are those of the windows.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
GRTRACE=$GRTRACE_PLAIN/grtrace

record() { # ARGS...
	rm -rf c.grt
	run record -e cuda -o c.grt "$@"
	"$GRTRACE" report --by kernel --json c.grt >k.json
}

# "NAME CALLS" of each kernel.
kernels() {
	python3 -c "
import json
for r in json.load(open('k.json'))['kernels']: print(r['kernel'], r['calls'], end=' ')"
}

record --capture-range=cudaProfilerApi "$MOCK/app" windows 25
expect "cudaProfilerApi" 0 'records outside: 0, asked before: 0,'
check "what is inside, and nothing else" test "$(kernels)" = "inside 100 "
"$GRTRACE" dump c.grt >dump
check "a record for each window" test "$(grep -c ' CAPTURE .* end=[1-9]' dump)" = 4
check "as many launches" test "$(grep -c ' LAUNCH ' dump)" = 100
# 10 ms and little more each, by the program; 30 ms lie between them
"$GRTRACE" report --by idle --json c.grt >idle.json
check "idle time is that of the windows" python3 -c "
import json, re
d = json.load(open('idle.json'))['idle_devices'][0]
w = [tuple(float(x) for x in re.search('begin=([0-9.]+) end=([0-9.]+)', l).groups())
     for l in open('dump') if ' CAPTURE ' in l and not re.search(' end=(0|-) ', l)]
total = sum(e - b for b, e in w)
assert len(w) == 4 and abs(d['window'] - total) < 4000, (d['window'], total)
assert d['busy'] + d['idle'] == d['window'], d"
"$GRTRACE" report --by device --json c.grt >device.json
check "and no gap is between them" python3 -c "
import json
one, other = (json.load(open(f))['idle_devices'][0] for f in ('device.json', 'idle.json'))
assert one == other and one['idle'] == one['window'] - one['busy'], (one, other)"
record --capture-range=cudaProfilerApi:2 "$MOCK/app" windows 25
check "when no more may come CUPTI is not asked for anything" says 'records outside: 0, asked before: 0, asked behind: 0$'
check "the first two" test "$(kernels)" = "inside 50 "
record --capture-range=cudaProfilerApi "$MOCK/app" plain
expect "none is begun" 0 'nothing is recorded: the process did not call cudaProfilerStart\(\)'
check "and nothing is there" test "$(kernels)" = ""
for by in "" "--by kernel"; do
	# shellcheck disable=SC2086
	run report $by c.grt
	expect "report ${by:-begins with it}${by:+ has it}" 0 'cuda: process [0-9]+ \(app\): nothing is recorded: the process did not call cuda'
done

export RANGES_CUDA=1
record --capture-range=nvtx:step "$MOCK/ranges" steps
check "nvtx: ranges of a name, the outer ones" test "$(kernels)" = "inside 15 "
"$GRTRACE" dump c.grt >dump
check "are windows" test "$(grep -c ' CAPTURE .* end=[1-9]' dump)" = 5
record --capture-range=nvtx:step:3 "$MOCK/ranges" steps
check "the first three" test "$(kernels)" = "inside 9 "
record --capture-range=nvtx:other "$MOCK/ranges" steps
expect "of a name that none has" 0 'nothing is recorded: the process began no NVTX range "other"'

before=$(python3 -c 'import time; print(time.monotonic_ns())')
record --delay 0.3 "$MOCK/app" slow 100
"$GRTRACE" dump --json c.grt >dump
jq -s --argjson before "$before" '[.[] | select(.type == "LAUNCH").begin] | [length, (min - $before)]' dump >delay
check "--delay leaves out what is before, and no more ($(tr -d ' \n' <delay))" \
	jq -e '.[0] <= 100 and (.[0] == 0 or .[1] >= 300000000)' delay
record --delay 30 "$MOCK/app" plain
expect "a program that is faster" 0 'nothing is recorded: the process ended before the delay was over'

for bad in cudaProfiler cudaProfilerApi:0 cudaProfilerApi:x nvtx: nvtx; do
	run record -e cuda --capture-range=$bad -o c.grt true
	expect "--capture-range=$bad" 2 'capture-range: cudaProfilerApi'
done
run record -e cuda --capture-range=cudaProfilerApi --delay 1 -o c.grt true
expect "with --delay" 2 'do not work together'
plan
