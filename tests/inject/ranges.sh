#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NVTX: what the recording says of a program's ranges is what the program itself counted, with CUDA and without.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
export RANGES_LOG=$PWD/ranges.log

# Runs the program with the library alone; `want` are the lines that it wrote, and those of the mock CUDA.
ranges() { # SCENE [NUMBER]
	rm -rf out.grt log ranges.log
	output=$(MOCK_LOG=$PWD/log NVTX_INJECTION64_PATH=$LIBRARY CUDA_INJECTION64_PATH=$LIBRARY \
		GRTRACE_OUTPUT=$PWD/out.grt timeout 120 "$MOCK/ranges" "$@" 2>&1)
	status=$?
	touch log ranges.log
	cat log ranges.log >both && mv both log
	records out.grt
}

# Of the last PROCESS record.
told() { # NAME
	grep -a 'what=3' facts | sed -n "s/.*\b$1=\([0-9]*\).*/\1/p" | tail -n 1
}

for cuda in RANGES_CUDA RANGES_CUDA_FIRST; do
	export $cuda=1
	ranges basic
	exact "$cuda: ranges, marks, and the chain of each launch"
	check "the program was told the right depths" silent
	check "ends of nothing are counted" test "$(told stray)" = 6
	unset $cuda
done
# without CUDA nothing is launched, though the program tries
ranges basic
grep -a -v '^[LGX]' want >ranges.only && mv ranges.only want
exact "a process without CUDA"
check "it is a whole recording" grep -q 'state = "complete"' out.grt/metadata
ranges open
exact "what is open at the end has no end"
ranges fork
exact "a child stays silent"
check "one process" test "$(grep -c 'what=1' facts)" = 1

ranges deep 300
check "300 deep: the program was told the right depths" silent
check "128 are there, and the one behind" test "$(grep -c '^R' got)" = 129
check "the others are counted" test "$(told ranges_lost)" = 172
check "the recording adds up" fact '^# faults=0 missing=0 .* balance=ok'

for i in 1 2 3; do
	ranges at-once 200
	exact "eight libraries and CUDA begin at once, $i"
done
RANGES_CUDA=1 ranges threads 62500
check "8 threads, 1,000,000 ranges: all are there, or counted" test $(($(grep -c '^R' got) + $(told ranges_lost))) = 1000000
check "all that was pushed" test "$(told ranges)" = 1000000
check "each launch has its chain" test "$(grep -cE '^X [0-9]+ [0-9]+ /-:step%20[0-9]+/-:(for|back)ward 2$' got)" = \
	"$(grep -c '^L' got)"
check "all ranges have a chain of two or one" test "$(grep '^R' got | awk '{ n[gsub("/", "/", $7)]++ }
	END { print (n[1] == n[2]) + 0, n[1] + n[2] }')" = "1 $(grep -c '^R' got)" -o "$(told ranges_lost)" != 0
check "nothing was undefined" fact '^# undefined=0 '
check "the recording adds up" fact '^# faults=0 missing=0 .* balance=ok'

# 524288 names less 4096 are kept whole.
ranges names 530000
lost=$(told ranges_lost)
check "530,000 names: all ranges are there, or counted" test $(($(grep -c '^R' got) + lost)) = 530000
check "from a number on, names have no digits" test $(($(told cut) + lost)) -ge 9800 -a "$(grep -c '^R.*op%20#%20of%20#' got)" = "$(told cut)"
check "the others are whole" test "$(grep '^R' got | grep -vc '#')" = "$(grep '^R' got | grep -v '#' | sort -u | wc -l)"

# What is read from it: sums by hand, of the lines that the program wrote.
RANGES_CUDA=1 ranges basic
range() { # NAME COLUMN
	"$GRTRACE" report --by range --json out.grt | jq -r ".ranges[] | select(.range == \"$1\") | .$2"
}
run report --by range out.grt
check "report --by range" exits 0
check "a range has the launches in it and in what is inside of it" test \
	"$(range 'step #' launches) $(range 'step #' launches_self) $(range forward launches)" = "2 1 1"
check "and the GPU time of these, of the mock's 1 us" test \
	"$(range 'step #' gpu) $(range 'step #' gpu_self) $(range outer gpu) $(range outer gpu_self)" = "2000 1000 2000 0"
check "of a domain that pushed inside of another one" test "$(range 'registered [two]' gpu_self) $(range 'a [one]' gpu)" = "2000 1000"
check "ranges that are started have none" test "$(range there launches)" = null
check "as many ranges as there are" test "$("$GRTRACE" report --by range --json out.grt | jq '[.ranges[].count] | add')" = \
	"$(grep -c '^[RO]' want)"
run report --by range -v out.grt
check "-v: names with their numbers" says '^step 1 +pushed'
run flame out.grt --weight launches -o f.folded
check "frames of ranges" grep -q ';\[nvtx\] step #;\[nvtx\] forward;.*;launch;.*\[GPU_Kernel\]kernel 1$' f.folded
check "a launch outside of ranges has none" grep -qE '^ranges;[^[]*;launch;.*kernel 1$' f.folded
run flame out.grt --ranges=full --weight launches -o full.folded
check "--ranges=full" grep -q '\[nvtx\] step 1;' full.folded
run flame out.grt --no-ranges --weight launches -o none.folded
check "--no-ranges" test "$(grep -c nvtx none.folded)" = 0
check "each has all launches" test "$(cat f.folded full.folded none.folded | awk '{ n += $NF } END { print n }')" = 15
run export -f chrome -o x.json out.grt
check "ranges are slices of an export, marks are instants" test \
	"$(jq '[.traceEvents[] | select(.cat == "user_annotation") | .ph] | sort | group_by(.) | map(length) | join(" ")' -r x.json)" = \
	"$(grep -c '^[RO]' want) $(grep -c '^M' want)" -o \
	"$(jq '[.traceEvents[] | select(.cat == "user_annotation")] | length' x.json)" = "$(grep -c '^[ROM]' want)"
run export -f perfetto -o x.perfetto out.grt
check "a trace of Perfetto's" exits 0
check "babeltrace2 opens it" babeltrace2 out.grt -o dummy

RANGES_CUDA=1 ranges hostile
run report --by range out.grt
check "hostile names: no control characters in text" test "$(tr -d '\n' <<<"$output" | LC_ALL=C grep -c '[[:cntrl:]]')" = 0
"$GRTRACE" report --by range --json out.grt | jq -e '.ranges | length == 8' >count
check "JSON is valid, and has all" test "$(<count)" = true
run flame out.grt -o x.html
check "no element of theirs in a page" test "$(grep -c '<script>alert\|</style><b>' x.html)" = 0
run flame out.grt -o x.svg
check "nor in a picture" test "$(grep -c '<script>alert\|</style><b>' x.svg)" = 0

# record sets the environment.
GRTRACE=$GRTRACE_PLAIN/grtrace
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
rm -f log ranges.log
run record -e cuda -o r.grt "$MOCK/ranges" open
records r.grt
check "record -e cuda: a process without CUDA" test "$(grep -c '^O' got)" = 3
check "that it has no CUDA is said" says 'no process of the program has used CUDA'
run record -e cuda --no-nvtx -o r.grt "$MOCK/ranges" open
check "--no-nvtx" test "$("$GRTRACE" dump --type range r.grt 2>/dev/null | wc -l)" = 0
NVTX_INJECTION64_PATH=/other/tool.so run record -e cuda -o r.grt true
check "another tool has the ranges" says 'no NVTX ranges: NVTX_INJECTION64_PATH is set, to /other/tool.so'
run record --no-nvtx -e drm true
check "--no-nvtx without cuda" exits 2
plan
