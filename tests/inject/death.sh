#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that fork, run others, or end without saying so: what the recording has is true, and whole.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"

play fork
exact "the child of a fork stays silent, the parent goes on"
check "one process is in it" test "$(grep -c 'what=1' facts)" = 1
play exec
exact "a program that the child runs is traced for itself"
check "two processes are in it" test "$(grep -c 'what=3' facts)" = 2
play again
check "a program that becomes another one" test "$(grep -c '^L' got)" = 80
exact "both images of one pid"
check "the first did not see its end" test "$(grep -c 'what=1' facts) $(grep -c 'what=3' facts)" = '2 1'

# What ended more than a round before the death is there, what is there is true, and nothing is broken.
truth() { # NAME STATUS
	check "$1: its status" exits "$2"
	check "$1: all that is there happened" test -z "$(comm -13 want got)"
	check "$1: all but the last moment is there" test "$(wc -l <got)" -ge 1000
	check "$1: whole packets, and the balance of these" fact '^# faults=0 missing=0 finished=0 balance=ok'
	check "$1: nothing is undefined" fact '^# undefined=0 '
	check "$1: it is seen that its end was not" test "$(grep -c 'what=3' facts)" = 0
}
play _exit
truth "_exit" 0
play kill
truth "SIGKILL" 137

# Killed at any moment once there is a recording, which takes a while where the machine is busy.
cuts=0 false=0 undefined=0
for ((i = 0; i < 12; i++)); do
	rm -rf out.grt log
	MOCK_LOG=$PWD/log CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt "$MOCK/app" plain 10000000 &
	pid=$!
	await '[ -e out.grt/metadata ]'
	sleep "0.$((15 + i * 3))"
	kill -KILL $pid
	wait $pid 2>/dev/null
	records out.grt
	fact '^# faults=0 ' || cuts=$((cuts + 1))
	[ -z "$(comm -13 want got)" ] || false=$((false + 1))
	fact '^# undefined=0 ' || undefined=$((undefined + 1))
done
check "killed 12 times while it wrote: what is there happened" test $false = 0
check "and is defined" test $undefined = 0
check "a packet that was being written is cut off at the most" test $cuts -le 2

# The directory is a recorder's, which ends tracing before the program.
rm -rf out.grt log
mkdir out.grt
echo 'state = "recording"' >out.grt/metadata
output=$(MOCK_LOG=/dev/null CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt timeout 120 "$MOCK/app" stopped 2>&1)
check "tracing has ended: the child of a fork has the program's files" says '^files are there$'
check "and nothing is asked of CUPTI, which another tool may use" says '^CUPTI is free$'

# The program goes on and uses another tool: CUPTI has been taken out of it, where a call that waited for the device
# returned, or a call of the library's own where it makes none. Where that could hang or crash the program, CUPTI is
# unsubscribed from: no such call, one that failed, a kernel that waits for the program, a graph, a second context.
back() { # SCENE
	rm -rf "$1.grt"
	mkdir "$1.grt"
	echo 'state = "recording"' >"$1.grt/metadata"
	MOCK_LOG=/dev/null CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/$1.grt timeout 60 "$MOCK/app" "${1%-old}" >"$1" 2>&1
	echo "status $?" >>"$1"
}
detached=(back back-driver back-idle)
attached=(back-waits back-launches back-kernel back-late back-graph back-exec back-contexts back-fails)
for scene in "${detached[@]}" "${attached[@]}"; do
	back $scene &
done
MOCK_VERSION=18 back back-old
wait
for scene in "${detached[@]}" "${attached[@]}" back-old; do
	output=$(<$scene)
	how="given back after [0-9]+ ms, detached" times=1 clock=its
	[[ " ${detached[*]} " = *" $scene "* ]] || how="given back after [0-9]+ ms, attached" times=0 clock="CUPTI's"
	check "$scene: CUPTI is given back" says "^$how$"
	check "$scene: launches are without a callback" says '^0 callbacks, 0 asked$'
	check "$scene: another tool sees its kernels, ten times" test \
		"$(grep -c "^profiled: 100 launches, 100 kernels by $clock clock$" <<<"$output")" = 10
	check "$scene: CUPTI is used as it may be, and the program ends well" test \
		"$(tail -n 2 <<<"$output")" = "finalized $times times, 0 faults"$'\n'"status 0"
done

# Its own log would be full, too.
rm -rf out.grt log
output=$( (ulimit -f 200; MOCK_LOG=/dev/null CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt \
	exec "$MOCK/app" plain 20000) 2>&1)
status=$?
check "a full disk does not disturb the program" exits 0
check "nor is anything printed" silent
records out.grt
check "what was written before is whole" fact '^# faults=0 missing=0 '
plan
