#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks of programs without frame pointers: their addresses are those that gdb has at the same system call,
# to the program's entry.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
run record -e sched -F 0 -o run.grt -- true
need_bpf
for program in g++ gdb setarch; do
	command -v $program >/dev/null || skip_all "no $program: apt-get install g++ gdb util-linux"
done
g++ -O3 -fomit-frame-pointer -o dynamic "$GRTRACE_SRC/tests/cli/unwound/ways.cc"
g++ -O2 -fomit-frame-pointer -static-pie -o static "$GRTRACE_SRC/tests/cli/unwound/ways.cc"

# Of the naps of a recording, each different stack; before the tables are there, those by frame pointers.
ours() {
	"$GRTRACE" dump run.grt | python3 "$GRTRACE_SRC/tests/cli/unwound/stacks.py" | sort
}
theirs() { # PROGRAM WAY
	gdb -q -batch -x "$GRTRACE_SRC/tests/cli/unwound/in_gdb.py" --args ./"$1" "$2" 2>/dev/null </dev/null |
		sed -n 's/^STACK //p' | sort
}

compare() { # PROGRAM WAY
	run record -e sched -F 0 -o run.grt -- setarch -R ./"$1" "$2"
	ours >ours
	theirs "$1" "$2" >theirs
	check "$1, $2: gdb has stacks" test -s theirs
	check "ours have them, with all $(wc -w <theirs) addresses" test -z "$(comm -13 ours theirs)"
}
for way in deep tail throw signal sort; do
	compare dynamic $way
done
compare static signal
check "it says how they end" grep -q 'sched_stack_ends = "entry=[1-9]' run.grt/metadata
plan
