#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace flame: folded stacks of a recording.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE_BUILD/tests/cli/stacks" stacks.grt || exit 1

output=$("$GRTRACE" flame stacks.grt 2>err)
status=$?
check "exit status" exits 0
check "the submitting stack, outermost first, and the ring" says '^app;main;draw:one;ioctl;\[GPU gfx\] 300$'
check "the kernel's part behind the user's" says '^app;main;\[unknown\];sys_ioctl;drm_ioctl;\[GPU gfx\] 1000$'
check "stacks that read the same are one line" says '^other;main;\[GPU sdma0\] 70$'
check "a job without a stack stands under its process" says '^app;\[GPU gfx\] 5$'
check "control characters cannot add a line" says '^app;\\x0abad\\x1b\[2J;\[GPU gfx\] 11$'
check "the lines are all, and sorted" test "$(wc -l <<<"$output") $(LC_ALL=C sort <<<"$output" | md5sum)" = \
	"5 $(md5sum <<<"$output")"
output=$(cat err)
check "what is in it is told" says '^grtrace flame: 7 jobs, 0.001 ms of GPU time, 99.6 % of it under a stack$'
check "what is not, too" says '^  1 jobs without a known time on the GPU are not in it$'

run flame -i stacks.grt -o out.folded
expect "-o" 0 'under a stack'
check "the file is the user's alone" test "$(stat -c %a out.folded)" = 600
check "and holds the lines" test "$(wc -l <out.folded)" = 5
run flame stacks.grt -o no/such/out
expect "an output that cannot be written" 1 'cannot write no/such/out'
run flame stacks.grt --from +1s --to +2s
expect "nothing in this time" 2 "leave nothing"
run flame no.grt
expect "no such trace" 1 'no.grt: cannot open'
run flame
expect "no recording here" 1 'try: grtrace record --stack=bpf'
run flame stacks.grt other.grt
check "two traces" exits 2
plan
