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
check "its time is told apart" says "^1 threads? .*grtrace's own: .* no sum includes"
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

# Two streams, and waits for one of them, for both, and for a copy.
printf '%s\n' 'repeat 5' 'kernel a 1 3000' 'kernel b 2 2000' 'kernel c 1 1000' 'sync 1' 'cpu x 300' 'kernel b 2 4000' \
	'kernel a 1 1000' 'sync 0' 'kernel c 2 1500' 'pull 1 500' 'sleep z 500' end >script
# The kernel does not report each return of a thread to a CPU on a busy machine, and what is inferred is not in the dump.
for _ in {1..5}; do
	rm -rf k.grt
	"$GRTRACE_PLAIN/grtrace" record -e cuda,sched -F 0 -o k.grt -- "$MOCK/timed" script >said 2>&1
	run flame --weight wall -o k.folded k.grt
	says '(was|were) not reported by the kernel' || break
done
expect "a graph of waits for kernels" 0 'under .gpu. and .polling., divided by what the GPU ran'
"$GRTRACE" dump --json k.grt >k.dump
check "what the GPU ran while it was waited for is under [gpu], to the ns" python3 \
	"$GRTRACE_SRC/tests/inject/_gpu_waits.py" k.dump k.folded
"$GRTRACE" report --by thread --json k.grt >k.json
check "the graph is the time of the threads all the same" test "$(awk '{ns += $NF} END {print ns}' k.folded)" = \
	"$(jq '[.threads[].life] | add' k.json)"

# The same where waits poll: samples of the polling thread are under what ran then. On a busy machine it hardly polls, and
# has no sample of some kernels: again, then.
for _ in {1..20}; do
	rm -rf p.grt
	"$GRTRACE_PLAIN/grtrace" record -e cuda,sched -F 2000 -o p.grt -- "$MOCK/timed" -p script >said 2>&1
	run flame --weight wall -o p.folded p.grt
	"$GRTRACE" dump --json p.grt >p.dump
	output=$(python3 "$GRTRACE_SRC/tests/inject/_gpu_waits.py" p.dump p.folded polling)
	status=$?
	[ $status = 3 ] || break
done
check "what it ran while a thread polled is under [polling]" exits 0

# What the program did between two launches, for how long by the clocks and the scheduler's own count.
MOCK_LOG=$PWD/log "$GRTRACE_PLAIN/grtrace" record -e cuda,sched -o c.grt -- "$MOCK/app" causes >truth 2>said
status=$?
output=$(<said)
expect "record of the causes" 0 ' 0 lost'
"$GRTRACE" report --json c.grt >idle.json
idle_us() { # FILTER: of idle rows; us
	jq "[.idle[] | .place |= (. // \"\" | sub(\" \\\\(.*\"; \"\")) | select($1) | .time] | add // 0 | . / 1000 | floor" idle.json
}
# Within 2 ms and 5 % of the truth, us.
near() { # TRUTH REPORTED
	test $(($2 - $1 < 2000 + $1 / 20 && $1 - $2 < 2000 + $1 / 20)) = 1
}
asleep() { # PHASE
	awk -v phase="$1" '$1 == phase {ns += $2 - $3 - $4} END {print int(ns / 1000)}' truth
}
# The place is the program's innermost function: what sleeps, and what is interrupted, is called by the cause's.
for cause in sleep lock io child; do
	place=cause_$cause
	[ $cause != sleep ] || place=pause_ms
	check "the GPU waited for $cause as long as the program did" near "$(asleep $cause)" \
		"$(idle_us ".cause == \"$cause\" and .place == \"$place\"")"
done
# The scheduler's count of the time without a CPU is not the tracepoints' where a host is busy, their sum is.
of_all() { # COLUMN...: us
	awk -v columns="$*" '$1 == "all" {for (n = split(columns, c, " "); n; n--) ns += $c[n]; print int(ns / 1000)}' truth
}
check "while it ran, or was ready to" near "$(of_all 3 4)" \
	"$(idle_us '.cause == "running" or .cause == "call" or .cause == "set_up" or .cause == "runnable"')"
check "it ran for as long at least" test $(($(of_all 3) - 2000)) -le "$(idle_us '.cause == "running" or .cause == "call" or .cause == "set_up"')"
check "beside another thread it lost its CPU" test "$(idle_us '.cause == "runnable" and (.place == "cause_runnable" or .place == "spin_ms" or .place == "clock_ns")')" -ge 10000
for waker in lock:holder io:feeder; do
	check "${waker%:*} was ended by the ${waker#*:}" test \
		"$(idle_us ".cause == \"${waker%:*}\" and .place == \"cause_${waker%:*}\" and .waker != \"${waker#*:}\"")" = 0
done
# The library knows the age of its process in whole seconds: one that took a second to load seems older than the trace.
set_up=start
[ "$("$GRTRACE" dump --json --type process c.grt | jq -s '[.[] | select(.what == "began") | .age][0]')" = 0 ] || set_up=first
check "before that it was set up" test "$(idle_us ".cause == \"$set_up\"")" -ge 30000
check "idle and busy time are the window" jq -e 'all(.idle_devices[]; .busy + .idle == .window) and
	([.idle[].time] | add) == ([.idle_devices[].idle] | add)' idle.json
check "another program computes the same" python3 "$GRTRACE_SRC/tests/golden/_idle.py" "$GRTRACE" c.grt
run report c.grt
check "the report begins with it" test "$(grep -cE '^GPU 0 was busy (at least )?[0-9.]+ % of .*idle, .* passed ' <<<"${output%%$'\n'*}")" = 1
plan
