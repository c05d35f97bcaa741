#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A program that runs with the library and is not recorded: nothing is done until a recorder asks, and after it.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
GRTRACE=$GRTRACE_PLAIN/grtrace
unset MOCK_LOG
cycles=${GRTRACE_SOAK:+100}

begin() { # SCENE [NUMBER]
	rm -f log
	begin_waiting env CUDA_INJECTION64_PATH="$LIBRARY" "$MOCK/app" "$@"
}

begin ask 2000
await 'grep -qx grtrace /proc/$pid/task/*/comm'
check "it is loaded, and has one thread more" grep -qx grtrace /proc/$pid/task/*/comm
finish
check "without a recorder: no callback, no client" says '^sum [0-9a-f]+, 0 windows, 0 unclean, finalized 0 times, 0 faults, 0 callbacks, 0 asked, 0 disturbed$'
sum=$(sed -n 's/^sum \([0-9a-f]*\),.*/\1/p' <<<"$output")

MOCK_DEVICES=11,22 begin ask 2000
missing=0 empty=0 failed=0 devices=0 stacks=0
for ((i = 0; i < ${cycles:=8}; i++)); do
	run record -e cuda -p $pid -d 0.05 -o c.grt
	[ $status = 0 ] || failed=$((failed + 1))
	read -r kernels bad < <(whole c.grt)
	[ "${kernels:-0}" -gt 0 ] || empty=$((empty + 1))
	missing=$((missing + ${bad:-1}))
	[ "$("$GRTRACE" dump -t device c.grt | grep -c 'uuid="GPU-')" = 2 ] || devices=$((devices + 1))
	"$GRTRACE" report --by allocation --json c.grt | grep '"kind": "device"' | grep -v '"frees": 0,' | grep -q allocate_alone || stacks=$((stacks + 1))
done
check "recorded $cycles times" test $failed = 0
check "each has kernels" test $empty = 0
check "and none is missing between the first and the last" test $missing = 0
check "each has the devices" test $devices = 0
check "and allocations of a thread that makes no other call, with their stacks" test $stacks = 0
output=$("$GRTRACE_BUILD/tests/inject/joined" c.grt)
check "each kernel has its launch, and a stack" says '^launches=([0-9]+) .* unknown=[0-4] '
check "stacks are whole" says 'whole_stacks=[1-9]'
"$GRTRACE" record -e cuda -p $pid -o first.grt >/dev/null 2>&1 &
first=$!
await '[ "$(find first.grt -name "cuda_*_1" 2>/dev/null)" ]'
run record -e cuda -p $pid -d 1 -o second.grt
expect "a second recorder is refused; the error names the first one" 3 "process $first, another recorder, records it already"
kill -KILL $first
wait $first 2>/dev/null
run record -e cuda -p $pid -d 0.1 -o third.grt
expect "a recorder that was killed has left it to others" 0 '[1-9][0-9]* events, 0 lost'
run record -e cuda -p $pid --graph=graph -d 0.1 -o whole.grt
expect "whole graphs can be asked for" 0 '[1-9][0-9]* events, 0 lost'
finish
check "the program ends well" exits 0
check "as without it, with CUPTI as before each time" says "^sum $sum, $((cycles + 3)) windows, 0 unclean, finalized $((cycles + 3)) times, 0 faults, [0-9]+ callbacks, 0 asked, 0 disturbed$"

begin ask-idle 1000
SECONDS=0
run record -e cuda -p $pid -d 0.1 -o c.grt
expect "a program without a call" 0 'in c.grt'
# 2 s, and what a busy machine needs
check "is let go soon" test $SECONDS -le 10
finish
check "and CUPTI is out of it" says '1 windows, 0 unclean, finalized 1 times, 0 faults,'

# Which can be asked, and who has one; all that use CUDA, also one without the library. Alone, for others may use CUDA here.
if [ "$(id -u)" = 0 ] && unshare -mpf true 2>/dev/null; then
	cat >all.sh <<-'END'
		export HOME=$PWD/home XDG_CONFIG_HOME= MOCK_GO=$PWD/go
		mkdir -p home
		rm -f go
		"$GRTRACE" start --cuda >started || echo "start failed"
		set -a
		. home/.config/environment.d/50-grtrace.conf
		set +a
		"$MOCK/app" ask 100 >one & one=$!
		env -u CUDA_INJECTION64_PATH "$MOCK/app" ask 100 >two & two=$!
		until grep -q ready one && grep -q ready two; do sleep 0.02; done
		"$GRTRACE" status --cuda | sed "s/ $one / ONE /"
		"$GRTRACE" record -e cuda -p gpu -d 0.3 -o all.grt
		# one is left to its recorder, one to the recorder that started it
		"$GRTRACE" record -e cuda -p $one -o one.grt >/dev/null 2>&1 & holder=$!
		"$GRTRACE" record -e cuda -o own.grt -- "$MOCK/app" ask 100 >own 2>&1 & owner=$!
		until grep -q ready own && "$GRTRACE" status --cuda | grep -q "by process $holder"; do sleep 0.02; done
		own=$(pgrep -P $owner -x app)
		"$GRTRACE" record -e cuda -p gpu -d 0.2 -o rest.grt 2>&1 | sed "s/ $one\b/ ONE/; s/ $holder\b/ HOLDER/; s/ $own\b/ OWN/"
		kill -INT $holder
		wait $holder
		"$GRTRACE" record -e cuda -o program.grt -- "$MOCK/app" plain 100
		"$GRTRACE" stop --cuda
		"$GRTRACE" stop --cuda | sed 's/^.*: there/there/' && echo "twice is fine"
		touch go
		wait
		cat one two
		find home -type f
	END
	output=$(timeout 180 unshare -mpf --kill-child --mount-proc env "GRTRACE=$GRTRACE" "MOCK=$MOCK" bash all.sh 2>&1)
	status=$?
	check "start --cuda: the program that it made ask-able is listed" says '^  ONE +app +asleep$'
	check "and no other" test "$(grep -c asleep <<<"$output")" = 1
	check "-p gpu: each of the two is recorded once, the second once more" test "$(grep -cE ' 2 windows, 0 unclean, .* 0 asked, 0 disturbed$' <<<"$output")" = 2
	check "-p gpu: a process that another recorder has is left to it" says '^grtrace record: cuda: cannot record process ONE: process HOLDER, another recorder, records it already$'
	check "and so is one that a recorder started" says '^grtrace record: cuda: cannot record process OWN: a recorder started it, and the library in it answers to that one alone$'
	output+=$'\n'$("$GRTRACE_BUILD/tests/inject/joined" rest.grt)
	check "and the others are recorded" says '^launches=[1-9].* processes=1$'
	check "stop --cuda twice succeeds, with a message" says '^there is no such file, so programs begin without the library already$'
	output=$("$GRTRACE_BUILD/tests/inject/joined" all.grt)
	check "into one recording" says ' processes=2$'
	output=$("$GRTRACE_BUILD/tests/inject/joined" program.grt)
	check "a program is recorded as ever where the library is the default" says '^launches=100 .* matched=100 '
	check "stop --cuda: the file is gone" test ! -e home/.config/environment.d
	mkdir -p home/.config/environment.d
	echo 'MINE=1' >home/.config/environment.d/50-grtrace.conf
	output=$(HOME=$PWD/home XDG_CONFIG_HOME= "$GRTRACE" start --cuda 2>&1)
	status=$?
	check "a file of another is left alone" test "$status$(<home/.config/environment.d/50-grtrace.conf)" = 1MINE=1
else
	echo "# all processes: needs root"
fi

# Its own user's, and root's.
if [ "$(id -u)" = 0 ]; then
	begin ask 1000
	output=$(setpriv --reuid=65534 --regid=65534 --clear-groups "$GRTRACE" record -e cuda -p $pid -d 1 -o "$(mktemp -u)" 2>&1)
	status=$?
	expect "another user's process is not asked" 3 'Permission denied'
	finish
	check "and was not" says ' 0 windows,'
fi
plan
