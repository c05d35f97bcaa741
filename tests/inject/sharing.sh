#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many processes in one directory, many threads in a process, and no room: nothing
# is mixed up, and what is missing is said.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
GRTRACE=$GRTRACE_PLAIN/grtrace

start() { # SCENE [NUMBER]: into out.grt, beside what is there; not waited for
	CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt timeout 120 "${as[@]}" "$MOCK/app" "$@" &
}
as=(env -u MOCK_LOG)
joined() {
	"$GRTRACE_BUILD/tests/inject/joined" out.grt >joined 2>&1
	grep -qE -- "$1" joined || { head -n 3 joined >&2 && return 1; }
}
state() {
	sed -n 's/^\tstate = "\(.*\)";$/\1/p' out.grt/metadata
}
unset MOCK_LOG

# ------------------------------------------------------------ many processes

rounds=${GRTRACE_SOAK:+20}
all=0 complete=0
for ((i = 0; i < ${rounds:=5}; i++)); do
	rm -rf out.grt
	for ((n = 0; n < 16; n++)); do
		start plain 20
	done
	wait
	joined '^launches=320 .* matched=320 .* no_end=0 .* processes=16$' && all=$((all + 1))
	[ "$(state)" = complete ] && complete=$((complete + 1))
done
check "16 processes that begin at once, $rounds times: all are there" test $all = "$rounds"
check "the recording is complete" test $complete = "$rounds"
check "no files are left" test -z "$(find out.grt -name '.*' -type f)"

rm -rf out.grt
start slow 100
start plain 10
wait $!
check "one has ended, one has not: it is being recorded" test "$(state)" = recording
wait
check "the last one says that it is complete" test "$(state)" = complete
start slow 60
await '[ "$(state)" = recording ]'
check "another one begins: it is being recorded again" test "$(state)" = recording
wait

rm -rf out.grt
start slow 100
await '[ -s out.grt/metadata ]'
start kill
start again
wait
check "one is killed: what it left is not complete, though another ends last" test "$(state)" = recording
run report out.grt
expect "and report says that it is incomplete" 0 'the recorder did not finish this recording'

# ---------------------------------------------------------------- one pid

rm -rf out.grt
if unshare -p -f true 2>/dev/null; then
	as=(unshare -p -f env -u MOCK_LOG)
	start slow 100
	start plain 2000
	wait
	as=(env -u MOCK_LOG)
	# each of the two has pid 1, and counts its calls from 1
	check "two namespaces of PIDs: each kernel gets the launch of its own process" \
		joined '^launches=2100 .* kernels=2100 .* matched=2100 .* unknown=0 .* nothing=0 .* with_stack=2100 .* doubled=0 .* processes=2$'
	check "they have one pid" test "$(find out.grt -name 'cuda_1_*' | wc -l)" -ge 6
else
	echo "# two namespaces of PIDs: needs root"
fi

# ------------------------------------------------------------- many threads

play churn 3000
check "3000 threads, one after the other: all is there" joined '^launches=3001 .* matched=3001 '
check "in three files" test "$(find out.grt -name 'cuda_*' | wc -l)" -le 4
check "the memory of two or three" test "${output% MB more}" -lt 64
rm -rf out.grt
output=$( (ulimit -n 24 && CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt exec "$MOCK/app" swarm 10000) 2>&1)
check "10,000 threads with a launch each, 250 at once, and 24 files at most: all is there" joined '^launches=10000 .* matched=10000 '
check "in the files of one thread, and one more where a thread came late" test "$(find out.grt -name 'cuda_*' | wc -l)" -le 6
check "the memory of those at once" test "${output% MB}" -lt 128
output=$( (ulimit -n 64 && CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/crowd.grt exec "$MOCK/app" crowd 200) 2>&1)
check "200 threads at once, and 64 files at most: the program opens one more" says '^open: fine$'
mv crowd.grt x && rm -rf out.grt && mv x out.grt
check "all is there" joined '^launches=2002 .* matched=2002 '
check "their memory has gone back when they have ended" test "$(sed -n 's/ MB more//p' <<<"$output")" -lt 24

play crowd 4200
check "4200 threads at once, of which 4096 get a ring: the launches of the others are counted" \
	fact 'what=3 launches=42002 launches_lost=1050 gpu=42002 '
check "the balance closes" fact 'balance=ok lost=1050$'
check "and all kernels are there" joined ' kernels=42002 '

play fibers 300
exact "300 coroutines, each with a stack of its own"
check "each stack is whole" joined 'whole_stacks=3000 '
run flame -o f.folded out.grt
expect "flame shows the stacks" 0 '3000 \(100\.00 %\) under the stack'
check "without a word on stacks that are not" test -z "$(grep -E 'beginning|no frame' <<<"$output")"

# --------------------------------------------------------------- no rights

for scene in caged caged-kill; do
	rm -rf out.grt
	output=$(CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt "$MOCK/app" $scene 60 2>&1)
	status=$?
	check "$scene: a program that may open no files any more goes on" exits 0
	check "and all is there" joined '^launches=60 .* matched=60 .* with_stack=60 no_end=0 '
done

# ----------------------------------------------------------------- no room

unwritten() { # of the balance
	jq '.balance.unwritten' report.json
}
# What happened is what the mock says; what is there is counted here; the rest is unwritten.
accounted() { # NAME
	records out.grt
	"$GRTRACE" report --json out.grt >report.json 2>/dev/null
	check "$1: nothing is there that did not happen" test -z "$(comm -13 want got)"
	check "$1: some is missing" test "$(wc -l <got)" -lt "$(wc -l <want)"
	check "$1: as much as the balance says" test "$(($(wc -l <got) + $(unwritten)))" = "$(wc -l <want)"
	check "$1: the balance closes" test "$(jq .balance.closes report.json)" = true
	check "$1: the program has said why" fact "what=5 .* records could not be written: $2"
}
rm -rf out.grt log
# The log of the mock is of the same size: it goes through a pipe.
mkfifo pipe
cat pipe >log &
output=$( (ulimit -f 400; MOCK_LOG=$PWD/pipe CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt exec "$MOCK/app" plain 20000) 2>&1)
status=$?
wait
check "files of 400 KiB at most: the program ends well" exits 0
check "in silence" silent
accounted "a limit of files" "File too large"

if mkdir disk && mount -t tmpfs -o size=2m grtrace-test disk 2>/dev/null; then
	trap 'umount -l disk' EXIT
	rm -rf log
	output=$(MOCK_LOG=$PWD/log CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/disk/out.grt "$MOCK/app" plain 30000 2>&1)
	rm -rf out.grt && cp -a disk/out.grt out.grt && rm -rf disk/out.grt
	accounted "a full disk" "No space left on device"

	# full for a time
	rm -rf log
	MOCK_LOG=$PWD/log CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/disk/out.grt "$MOCK/app" slow 200 &
	await '[ -s disk/out.grt/metadata ]'
	head -c 4M /dev/zero >disk/filler 2>/dev/null
	sleep 0.7
	rm disk/filler
	wait
	rm -rf out.grt && cp -a disk/out.grt out.grt
	records out.grt
	check "a disk that is full for a time: all is there" same
	check "without a fault" fact '^# faults=0 missing=0 finished=1 balance=ok lost=0'
	umount disk
	trap - EXIT
else
	echo "# no disk could be made: needs root"
fi

# ------------------------------------------------- a recording that is over

# A process of it that uses CUDA later only: of the same path there is another one, or none.
cat >later.sh <<-'END'
	while [ ! -e go ]; do sleep 0.02; done
	exec "$1" plain 50
END
later() { # what is done to c.grt between
	rm -rf go c.grt c.grt.old
	run record -e cuda -o c.grt -- sh -c "setsid sh later.sh '$MOCK/app' >/dev/null 2>&1 & echo \$! >pid; '$MOCK/app' plain 10"
	"$@"
	touch go
	await '[ ! -e "/proc/$(<pid)" ]'
}
later true
rm -rf out.grt && cp -a c.grt out.grt
check "a recording that is over stays as it is" joined '^launches=10 .* processes=1$'
later rm -rf c.grt
check "a directory that was removed is not made again" test ! -e c.grt
another() {
	rm -rf c.grt
	timeout 60 "$GRTRACE" record -e cuda -o c.grt -- "$MOCK/app" slow 150 >/dev/null 2>&1 &
	recorder=$!
	await '[ -e c.grt/metadata ]'
}
later another
wait "$recorder"
rm -rf out.grt && cp -a c.grt out.grt
check "another recording of the same path has its own processes alone" joined '^launches=150 .* processes=1$'
plan
