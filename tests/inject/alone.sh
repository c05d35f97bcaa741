#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libgrtrace-cuda.so without the tool: every record of what happened is in the recording, and no other.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"

play plain
exact "launches and kernels, with their stamps"
check "nothing is printed" silent
check "the library says that it saw the end" fact '^# process [0-9]+ what=3 launches=1000 launches_lost=0 gpu=1000 gpu_lost=0'
check "the recording is finished" fact ' finished=1 '
check "it is private" test "$(stat -c %a out.grt)" = 700
check "so are the files" test "$(stat -c %a out.grt/* | sort -u)" = 600
check "a stream for definitions, one for the GPU, one for the thread" test "$(find out.grt -type f | wc -l)" = 4
check "stacks are in it" fact '^# image [0-9]+ nodes=[0-9]+ deepest=([5-9]|[1-9][0-9])'
check "and the objects that they are in" fact ' mappings=[2-9]'
check "other readers open it" babeltrace2 out.grt -o dummy
# the program and the library's own name, as dump prints them
run dump --type process out.grt
expect "dump prints it" 0 'PROCESS.*what=1'

# a process that was another program before it used CUDA is as old as that
rm -rf out.grt log
output=$(MOCK_LOG=$PWD/log CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt \
	sh -c "sleep 2 && exec '$MOCK/app' plain" 2>&1)
status=$?
records out.grt
check "how long the process had run" fact '^# process [0-9]+ what=1 .* age=([2-9]|[1-9][0-9]) '

play calls
exact "every function, each a launch whether the runtime calls the driver or not; graphs, copies, memory that is set, waits, overhead"
check "a record of an unknown kind is counted" fact 'what=3 .* unknown=1 '
output=$("$GRTRACE_BUILD/tests/inject/joined" out.grt)
check "each record of the GPU is joined with its launch" says '^launches=226 failed=0 captured=3 lost=0\+0 kernels=89 copies=184 syncs=14 matched=273 by_gpu=0 unknown=0 syncs_matched=14 nothing=0 '
check "each kernel has a whole stack" says 'whole_stacks=89 '
check "all kernels of a graph are those of its launch" says '^call cuGraphLaunch launches=1 work=17 nothing=0$'
# it is found out after three rounds of 100 ms
MOCK_SILENT_DRIVER=1 play slow 100
output=$("$GRTRACE_BUILD/tests/inject/joined" out.grt)
check "a driver that does not tell of the runtime's launches: the runtime does" test "$(sed -n 's/.* kernels=100 .* matched=\([0-9]*\) .*/\1/p' <<<"$output")" -ge 30
check "and a note says so" fact 'what=5 .* launches are recorded from the runtime, too'
play names
exact "long names, none, and another one at the same address"

MOCK_NEXT=0xffffff00 play plain
exact "correlation ids wrap around"
MOCK_REVERSE=1 MOCK_SMALL=1 play plain 5000
exact "buffers come back out of order"
play zero
exact "kernels without stamps are kept"
check "and counted" fact 'what=3 .* no_stamps=5 '
play drop
check "what CUPTI loses" test "$(wc -l <got)" = 40
check "is counted" fact 'what=3 launches=20 launches_lost=0 gpu=31 gpu_lost=11 '
check "and is in the balance" fact 'balance=ok lost=11$'

play threads
exact "64 threads at once"
check "in one stream, and one more where a thread came late" test "$(find out.grt -type f | wc -l)" -le 7
play short-threads 100
exact "200 threads, one after the other"
check "they share streams" test "$(find out.grt -type f | wc -l)" -le 7
play signals 20000
exact "signals at any moment"

MOCK_TAKEN=1 play plain
check "another client of CUPTI: the program runs" exits 0
check "one line says so" test "$output" = "$(grep -a '^grtrace: CUDA is not traced in process [0-9]*: another tool uses CUPTI in it$' <<<"$output")" -a -n "$output"
check "and so does the recording" fact 'what=4 .* another tool uses CUPTI'
check "which has no launches" test ! -s got
play asked
check "CUPTI is asked for records" says '^asked$'
MOCK_REFUSES=1 play asked
check "it refuses to tell of calls: the recording says so" fact 'what=4 .* CUPTI refused'
check "nothing is asked any more" says '^not asked$'
# a thread's stack is as large as this limit
output=$( (ulimit -s 6000000 -v 5000000 && MOCK_LOG=/dev/null CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/thread.grt \
	exec "$MOCK/app" asked) 2>&1)
records thread.grt
check "no thread can be made: the recording says so" fact 'what=4 .* no thread could be made'
check "nothing is asked any more" says '^not asked$'
GRTRACE_CUPTI=/no/such/libcupti.so play plain
check "without CUPTI the program runs" exits 0
check "in silence" silent
check "and the recording says why" fact 'what=4 .* no libcupti.so that fits .*/no/such/libcupti.so'

for how in none bpf; do
	GRTRACE_STACK=$how play plain
	exact "GRTRACE_STACK=$how"
	check "has no stacks" fact 'nodes=0 '
done

# Before CUDA 13 the stamps are CLOCK_REALTIME; the mock's too, where it is not given a clock.
MOCK_VERSION=26 play slow 40
check "CUDA 12.8: stamps are converted" fact 'what=3 .* version=26 clock=2'
check "by clocks that are in the recording" fact ' clocks=([3-9]|[1-9][0-9])'
# Both by correlation id: the distances from the first, which agree to 10 us.
kernels() { # FILE
	grep '^G' "$1" | sort -k4n | awk 'NR == 1 { first = $5 } { print $4, $5 - first }'
}
check "to the same distances" test "$(paste <(kernels want) <(kernels got) |
	awk '$1 != $3 || $2 - $4 > 10000 || $4 - $2 > 10000' | wc -l)" = 0
first=$(grep '^G' got | sort -k4n | awk 'NR == 1 { print $5 }')
now=$(sed 's/\..*//' /proc/uptime)
check "in CLOCK_MONOTONIC" test $((now - first / 1000000000)) -ge 0 -a $((now - first / 1000000000)) -lt 300
# From CUDA 13.3 on the library may be one of several subscribers.
for scene in "plain 2000" calls threads nested-graphs drop names; do
	# shellcheck disable=SC2086
	GRTRACE_CUPTI_API=2 MOCK_VERSION=130300 play $scene
	output+=$("$GRTRACE_BUILD/tests/inject/joined" out.grt | head -n 1)
	check "CUDA 13.3: $scene: as many records as happened" test $(($(wc -l <got) + $(sed -n 's/.*what=3 .* gpu_lost=\([0-9]*\) .*/\1/p' facts))) = \
		$(($(wc -l <want) + $([ "$scene" = drop ] && echo 11 || echo 0)))
	check "CUDA 13.3: $scene: without a fault" fact '^# faults=0 missing=0 finished=1 balance=ok'
done
MOCK_VERSION=14 play plain
check "CUDA 11.1: all is there" test "$(wc -l <got)" = 2000
check "without a fault" fact '^# faults=0 missing=0 finished=1 balance=ok'
GRTRACE_CUPTI=$MOCK/libcupti.so.13 MOCK_VERSION=13 play plain
check "CUDA 11.0 is refused" fact 'what=4 .* does not fit \(version 13\)'
plan
