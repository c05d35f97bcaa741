#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The table of docs/support.md is what the tests say of themselves: else tools/support-matrix --write PROGRAM

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

matrix() { # TREE
	output=$("$1/tools/support-matrix" "$GRTRACE" 2>&1)
	status=$?
}

matrix "$GRTRACE_SRC"
check "the table is fresh" exits 0
mkdir -p copy/docs copy/include/grtrace copy/tests
cp -r "$GRTRACE_SRC/tools" copy/ && cp "$GRTRACE_SRC/docs/support.md" copy/docs/
cp -r "$GRTRACE_SRC/include/grtrace/events" copy/include/grtrace/
for lane in vm kernel inject golden gpu cli; do cp -r "$GRTRACE_SRC/tests/$lane" copy/tests/; done
sed -i 's/^# shows: vgem .*/# shows: vgem BPF driver SUBMIT/' copy/tests/vm/bpf.sh
matrix copy
check "a test that shows less makes it stale" exits 1
check "and the row is shown" says '^-.*vgem'
for bad in 'vgem BPF driver GPU_OVERHEAD' 'vgem BPF driver NO_SUCH' 'vgem BPF hearsay SUBMIT'; do
	sed -i "s/^# shows: vgem .*/# shows: $bad/" copy/tests/vm/bpf.sh
	matrix copy
	check "$bad: a test cannot say that" test "$status" = 1 -a -n "$output"
	check "$bad: it is named" says "tests/vm/bpf.sh: .*(${bad##* }|hearsay)"
done
plan
