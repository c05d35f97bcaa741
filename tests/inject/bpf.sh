#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record -e cuda --stack=bpf: a uprobe on the library's marker takes the stack of each launch, with a mock CUDA.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH
export MOCK_LOG=$PWD/log MOCK_LINGER=1
GRTRACE=$GRTRACE_PLAIN/grtrace

record() { # ARGS...
	rm -f log
	run record -e cuda --stack=bpf -o c.grt "$@"
	records c.grt
	"$GRTRACE_BUILD/tests/inject/joined" c.grt >joined
}

joined() { # NAME
	sed -n "s/^.*\b$1=\([0-9]*\).*/\1/p" joined | head -n 1
}

# Each launch has a stack, and no stack is without its launch.
all_have_stacks() { # LAUNCHES
	[ "$(joined launches)" = "$1" ] && [ "$(joined with_stack)" = "$1" ] && fact "stacks=$1\$" &&
		grep -q 'lost=0 late=0 missed=0 unmatched=0 no_stack=0' c.grt/metadata
}

record "$MOCK/app" plain
need_bpf
exact "every launch and kernel"
check "every launch has its stack" all_have_stacks 1000
check "how is in the recording" grep -q 'cuda_stack = "bpf"' c.grt/metadata
"$GRTRACE" flame --weight launches -o l.folded c.grt 2>said
# until the tables are there the kernel walks, which does not reach the program's entry
check "from main to the call, without the library and CUPTI" test 1000 = "$(
	sed -nE 's/^app;.*main;play;launches;launch;mock_call;.*\[GPU_Kernel\]kernel //p' l.folded |
		awk '{ sum += $1 } END { print sum }'
)"
check "none of it is ours" test -z "$(grep -E 'grtrace|launch_callback|\+0x' l.folded)"
check "flame shows the stacks" grep -q '1000 (100.00 %) under the stack' said

record "$MOCK/app" paths
exact "4096 paths to a launch"
check "each with its stack, also where the kernel's table has no room" all_have_stacks 4096
"$GRTRACE" flame --weight launches -o p.folded c.grt 2>/dev/null
check "and each path is another one" test "$(grep -c ' 1$' p.folded)" = 4096
check "12 turns each" test "$(awk '{ print gsub(/turn_(left|right)/, "") }' p.folded | sort -u)" = 12

record "$MOCK/app" threads
exact "64 threads"
check "every launch has its stack" all_have_stacks 64000
record "$MOCK/app" again
exact "a process that runs another program"
check "every launch has its stack" all_have_stacks 80
record sh -c "'$MOCK/app' plain & '$MOCK/app' exec; (exec '$MOCK/app' plain 300); wait"
exact "children and their children"
check "every launch has its stack" all_have_stacks "$(grep -c '^L' got)"

# Another recording's processes have the same library, and the same uprobe.
"$GRTRACE" record -e cuda --stack=bpf -o other.grt -- "$MOCK/app" slow 100 >other.log 2>&1 &
other=$!
record "$MOCK/app" slow 50
wait $other
check "a process of another recording is left to that" all_have_stacks 50
check "which has all of its own" test "$("$GRTRACE_BUILD/tests/inject/joined" other.grt | grep -c 'launches=100 .*with_stack=100 ')" = 1

record -d 1.5 "$MOCK/app" slow 300
expect "-d ends it before the program" 0 'recording has ended, waiting for the program to end'
check "what is there has its stack" test "$(joined with_stack)" = "$(joined kernels)" -a "$(joined kernels)" -gt 5
# Who records stands still for as long as the program lives.
# shellcheck disable=SC2016 # for the other shell
record sh -c 'kill -STOP $PPID; (unset MOCK_LINGER; "$0" plain 20); kill -CONT $PPID' "$MOCK/app"
check "nothing but the recording is left" test -z "$(find c.grt -name '.*' -type f)"
expect "a program that ended unseen" 0 ' 1 of [0-9]+ programs? ended before their mappings could be read'
check "has its launches, without stacks" test "$(joined launches)/$(joined with_stack)" = 20/0
# Where stacks end, and why: of each way of ending, all launches below it. Those before the tables are there say so;
# a busy machine builds them later.
for k in 0 1 2 3 4; do
	gcc -shared -o lib$k.so "$GRTRACE_SRC/tests/inject/mock/many_rules.S"
done
ends() { # WAY WHY [OPTIONS...]: launches that end for this reason, those that do not, and what the program says
	local way=$1 why=$2 seconds
	shift 2
	for seconds in 0.4 3 12; do
		"$GRTRACE" record -e cuda "$@" -o e.grt -- "$MOCK/ends" "$way" $seconds ./lib{0,1,2,3,4}.so >said 2>&1
		output=$("$GRTRACE" report --by ends --csv e.grt)
		right=$(cell "$why" works) early=$(cell pending works)
		all=$(sed -n 's/ launches$//p' said)
		[ -z "$right" ] || break
	done
	check "$way${*:+, $*}: ${right:-0} of $all launches have a stack that ends as $why, others before there are tables" \
		test -n "$right" -a "$((${right:-0} + ${early:-0}))" = "${all:-none}"
}
for way in entry jit:entry no_table unreadable cut table_full; do
	ends ${way%:*} ${way#*:} --stack=bpf
done
"$GRTRACE" flame -v -o e.folded e.grt 2>said
check "flame counts them" grep -qE '^  [0-9.]+ %, of [0-9]+ jobs, kernels and copies: table_full: no room' said
check "and shows it below the outermost frame" grep -q '^ends;\[unwind tables full\];through;' e.folded
run record -e cuda --stack=bpf -o e.grt -- "$MOCK/ends" no_table 0
run report --by ends e.grt
expect "a program's first launch is before its tables" 0 '^ *pending .* 1  *the process'
# by the library: it finds its way through code without tables
for way in entry jit:entry no_table:entry unreadable:left cut; do
	ends ${way%:*} ${way#*:}
done
record true
expect "a program without CUDA" 0 'cuda: no process of the program has used CUDA'
plan
