#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Threads and CUDA in one recording: what a thread does in a call that waits is waiting for the GPU.
# alone

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"

MOCK_LOG=$PWD/log "$GRTRACE_PLAIN/grtrace" record -e cuda,sched -o w.grt -- "$MOCK/app" waits >said 2>&1
status=$?
output=$(<said)
need_bpf
expect "record -e cuda,sched" 0 ' 0 lost'

"$GRTRACE" report --by thread --json w.grt >threads.json
main() { # COLUMN: of the program's first thread, us
	jq "[.threads[] | select(.thread == \"app\" and .pid == .tid)][0].$1 / 1000 | floor" threads.json
}
check "asleep in two calls: it waited for the GPU" test "$(main gpu)" -ge 200000
check "asleep elsewhere: it slept" test "$(main sleep)" -ge 200000
check "no sleep is counted twice" test $(($(main gpu) + $(main sleep) + $(main running) + $(main polling))) -le "$(main life)"
check "running in two calls: it polled" test "$(main polling)" -ge 190000
check "running elsewhere: it ran" test "$(main running)" -ge 190000
check "states add up to the life of each thread" jq -e 'all(.threads[]; .life == .running + .polling + .runnable +
	.gpu + .io + .lock + .sleep + .other + .unknown)' threads.json
# the kernel saw it made and named
check "grtrace's own thread was seen" grep -qE 'THREAD .*\(grtrace\)' <("$GRTRACE" dump --type thread w.grt)
check "but is none of the program's" jq -e 'all(.threads[]; .thread != "grtrace")' threads.json
run report --by thread w.grt
check "its time is told apart" says "^1 threads? .*grtrace's own: .* in no sum"
run flame --weight wall -o w.folded w.grt
expect "a graph of both" 0 'polling [0-9.]+ ms.* gpu [0-9.]+ ms'
check "it has no thread of grtrace's" test "$(grep -c '^app;grtrace' w.folded)" = 0
for state in gpu polling running sleep; do
	check "it has [$state]" grep -qE "^app;app \([0-9]+\);.*\[$state\] " w.folded
done
run flame -o g.folded w.grt
expect "the GPU's time is in the same recording" 0 '100\.00 %'
run export -f chrome -o w.json w.grt
check "so are both in a timeline" jq -e '[.traceEvents[] | select(.name == "sleep")] | length > 0' w.json
plan
