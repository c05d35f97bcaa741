#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record -e cuda, with a mock CUDA: the library is put into the program, and what it writes is the recording's.
# shows: cuda library stand-in LAUNCH,GPU_KERNEL,GPU_COPY,GPU_SYNC

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH
export MOCK_LOG=$PWD/log

# The program under test beside the library that it looks for; both not under sanitizers, as it is installed.
GRTRACE=$GRTRACE_PLAIN/grtrace

record() { # ARGS...
	rm -f log
	run record -e cuda -o c.grt "$@"
	records c.grt
}

record "$MOCK/app" plain
expect "a program" 0 '^grtrace record: [0-9.]+ MB, 20[0-9][0-9] events, 0 lost in c.grt$'
exact "every launch and kernel"
check "it is complete" grep -q 'state = "complete"' c.grt/metadata
check "the number that is told is that of the recording" test "$("$GRTRACE" dump c.grt | wc -l) events" = \
	"$(grep -o '[0-9]* events' <<<"$output")"
check "all is private" test "$(stat -c %a c.grt/* | sort -u)" = 600
check "how stacks were taken is in it" grep -q 'cuda_stack = "inproc"' c.grt/metadata
check "and how many processes" grep -q 'cuda_processes = "traced=1 without_end=0"' c.grt/metadata
run export -f jsonl_tables -o boot c.grt
check "each kernel has the boot to which its times belong" test "$(cat boot/work/*/*/*.jsonl | jq -r .boot_id | sort -u)" = \
	"$(cat /proc/sys/kernel/random/boot_id)"
check "babeltrace2 opens it" babeltrace2 c.grt -o dummy
record --graph=graph "$MOCK/app" graphs
exact "each graph is one piece of work"
run report --by kernel --json c.grt
check "by its number" test "$(python3 -c 'import json,sys; print(sum(k["calls"] for k in json.load(sys.stdin)["kernels"] if k["kernel"] == "CUDA graph 5"))' <<<"$output")" = "$(grep -c 'CUDA graph 5' log)"
run record --graph=both -e cuda -o c.grt true
expect "a graph is recorded in one of two ways" 2 '--graph: node, to record each kernel'
record "$MOCK/app" plain
first=$(stat -c %i c.grt)
record "$MOCK/app" threads
exact "64 threads"
check "the recording before is renamed" test "$(stat -c %i c.grt.old)" = "$first"
record sh -c "'$MOCK/app' plain & '$MOCK/app' plain & '$MOCK/app' exec; wait"
exact "several processes"
check "all are told" grep -q 'cuda_processes = "traced=4 without_end=0"' c.grt/metadata
# What the GPU did one after the other stands on one track, however late and in which order CUPTI says so.
MOCK_REVERSE=1 MOCK_SMALL=1 run record -e cuda -o c.grt "$MOCK/app" shares 300
"$GRTRACE" export -f chrome -o c.json c.grt >/dev/null 2>&1
output=$(grep -o 'CUDA device 0, stream[^"]*' c.json | sort -u)
check "a stream is one track" says '^CUDA device 0, stream 1$'
check "and no other" test "$(wc -l <<<"$output")" = 1
MOCK_FREEZES_AT=20 run record -e cuda -o c.grt "$MOCK/app" plain
run report c.grt --by kernel
check "CUPTI counts no more: it is said" says 'has stopped counting the calls of this process'
"$GRTRACE" dump --json -t LAUNCH,GPU_KERNEL c.grt >dump.json
check "and no kernel has another one's launch" python3 - <<'END'
import json
numbers = [(e["type"], e.get("correlation", 0)) for e in map(json.loads, open("dump.json"))]
for kind in "LAUNCH", "GPU_KERNEL":
    some = [n for t, n in numbers if t == kind and n]
    # launches until it is noticed
    assert len(some) - len(set(some)) <= (3 if kind == "LAUNCH" else 0) and len(some) <= 24, (kind, len(some))
    assert sum(t == kind for t, n in numbers) > 100
END
record "$MOCK/app" kill
expect "a program that is killed" 137 '1 of 1 process ended by a signal, _exit or exec: up to 0.1 s'
check "what is there happened" test -z "$(comm -13 want got)"

# The first string of a file, at the end of 32 bits.
python3 - c.grt/cuda_*_0 >bad <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at = struct.unpack_from("<H", data, 10)[0]
while struct.unpack_from("<H", data, at + 8)[0] != 47:
    at += struct.unpack_from("<H", data, at + 10)[0]
struct.pack_into("<II", data, at + 56, 0xFFFFFFFF, 1)
sys.stdout.buffer.write(data)
END
run record -e cuda -o bad.grt sh -c 'cp bad "$GRTRACE_OUTPUT/cuda_77_0"'
expect "a part of a string that is at no place" 0 'in bad.grt$'

record -d 0.5 "$MOCK/app" slow 150
expect "-d ends it before the program" 0 'recording has ended, waiting for the program to end'
check "in order" fact 'what=3 '
check "what is there happened" test -z "$(comm -13 want got)"
check "it has some, and not all" test "$(grep -c '^L' got)" -gt 5 -a "$(grep -c '^L' got)" -lt 150
check "nothing is left in the directory" test "$(find c.grt -name '.*' -type f | wc -l)" = 0
check "whole, and closed" fact '^# faults=0 missing=0 finished=1 balance=ok'

for how in none bpf inproc; do
	record --stack=$how "$MOCK/app" plain
	exact "--stack=$how"
	check "is in the recording" grep -q "cuda_stack = \"$how\"" c.grt/metadata
done
record "$MOCK/app" drop
check "losses come with advice for this source" says 'try: a free processor for the program.s thread grtrace, so that nothing is lost$'
record true
expect "a program without CUDA" 0 'cuda: no process of the program has used CUDA'
MOCK_TAKEN=1 record "$MOCK/app" plain
expect "another client of CUPTI" 0 'process [0-9]+ is not traced: another tool uses CUPTI in it'
GRTRACE_CUPTI=/no/such/one record "$MOCK/app" plain
expect "no CUPTI" 0 'process [0-9]+ is not traced: no libcupti.so that fits'
run record -e cuda
expect "without a program" 3 'CUDA cannot be traced without a program'
check "what to type" says 'try: grtrace record -e cuda -- PROG'
run record -e cuda --raw raw.bin true
check "--raw" exits 1
export CUDA_INJECTION64_PATH=/other/tool.so
run record -e cuda true
expect "another injection library" 3 'CUDA_INJECTION64_PATH is set, by another tool'
plan
