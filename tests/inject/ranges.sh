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
check "from a number on, names have no digits" test "$(told cut)" -ge 9800 -a "$(grep -c '^R.*op%20#%20of%20#' got)" = "$(told cut)"
check "the others are whole" test "$(grep '^R' got | grep -vc '#')" = "$(grep '^R' got | grep -v '#' | sort -u | wc -l)"
plan
