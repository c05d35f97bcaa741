#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs that close all descriptors, go into a chroot, give up rights, limit themselves, run others and unload
# libraries (mock/unruly.c): what they print and write is what it is without the library, and what is not in the
# recording is counted.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
mkdir elsewhere
cat >plugin.c <<'END_OF_C'
__attribute__((noinline)) static void deeper(void (*launch)(unsigned int n))
{
	launch(5);
	__asm__ volatile("");
}
void play(void (*launch)(unsigned int n))
{
	deeper(launch);
	__asm__ volatile("");
}
END_OF_C
cc -O1 -g -shared -fPIC -o libplugin.so plugin.c
export NVTX_INJECTION64_PATH=

unruly() { # SCENE
	rm -rf out.grt log elsewhere/*
	without=$(timeout 120 "$MOCK/unruly" "$1" 2>&1; echo "status $?")
	rm -rf elsewhere/*
	output=$(MOCK_LOG=$PWD/log CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt timeout 120 "$MOCK/unruly" "$1" 2>&1)
	status=$?
	records out.grt
	check "$1: the program does what it does without ($(head -n 1 <<<"$without"))" test "$output"$'\n'"status $status" = "$without"
}
# What happened is what the mock says; what is not there is in the last counts of the process.
counted() { # NAME
	"$GRTRACE" report --json out.grt >report.json 2>/dev/null
	missing=$(($(wc -l <want) - $(wc -l <got)))
	told=$(jq '.balance | (.unwritten // 0) + (.lost // 0)' report.json)
	check "$1: nothing is there that did not happen" test -z "$(comm -13 want got)"
	check "$1: what is missing, $missing, is told" test "$missing" = "$told"
}

unruly closes
exact "closes: all is there, in the files that were opened again"
check "closes: files of the recording have no other's text" test -z "$(grep -al '^mine' out.grt/cuda_*)"
check "closes: it is complete" grep -q 'state = "complete"' out.grt/metadata
unruly spawn
exact "spawn: posix_spawn(), vfork(): each image for itself"
check "spawn: five images" test "$(grep -c 'what=3' facts)" = 5
unruly threads
exact "threads: those that have ended"
unruly cancelled
exact "cancelled: a thread that was cancelled has begun the recording"
unruly unload
exact "unload: code that is gone"
check "unload: its stacks are whole" test "$("$GRTRACE_BUILD/tests/inject/joined" out.grt | sed -n 's/.*whole_stacks=\([0-9]*\).*/\1/p')" = 150
check "unload: and have its name" test "$("$GRTRACE" flame --weight launches out.grt 2>/dev/null | awk '/;play;deeper;/ { n += $NF } END { print n + 0 }')" = 150
# A thread may get memory for its records only after its first launch has begun.
for i in 1 2 3 4 5; do
	unruly limits
	counted "limits, $i"
done
if [ "$(id -u)" = 0 ]; then
	unruly jail
	exact "jail: all is there"
	unruly poor
	counted poor
else
	echo "# chroot, another user: needs root"
fi

# The same under a recorder: files, and packets that are sent.
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
GRTRACE=$GRTRACE_PLAIN/grtrace
for how in "" --compress; do
	rm -rf log elsewhere/*
	# shellcheck disable=SC2086
	MOCK_LOG=$PWD/log run record -e cuda -o c.grt $how "$MOCK/unruly" closes
	check "record $how: closes: its files are its own" says '^0 files spoilt, 0 closed in a child$'
	check "record $how: ends well" exits 0
done
plan
