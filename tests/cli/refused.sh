#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# BPF programs that the kernel's verifier refuses, or at which it cannot look in peace: record says what to do, and
# keeps what the verifier says.
# The program is the one without sanitizers, which would have to be loaded before the library of this test.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
run record -e ioctl -o run.grt -- true
need_bpf
make --no-print-directory -s -C "$GRTRACE_SRC" O="$GRTRACE_PLAIN" "$GRTRACE_PLAIN/grtrace" || exit 1
GRTRACE=$GRTRACE_PLAIN/grtrace
${CC:-cc} -O1 -shared -fPIC -o verifier.so "$GRTRACE_SRC/tests/cli/faults/verifier.c" || exit 1
export LD_PRELOAD=$PWD/verifier.so VERIFIER=refuses
run record -e ioctl -o refused.grt -- true
expect "programs that are refused" 3 "the kernel's verifier rejects them"
check "the error says what to type" says 'GRTRACE_BPF_LOG=FILE before the same command'
check "there is no recording" test ! -e refused.grt
export GRTRACE_BPF_LOG=$PWD/log
run record -e ioctl -o refused.grt -- true
output=$(cat log)
check "with that, the file has what the verifier says" says 'R9 !read_ok'
check "of which program" says "'ioctl_(enter|call)': BPF program load failed"
check "for its owner only" test "$(stat -c %a log)" = 600
unset GRTRACE_BPF_LOG
export VERIFIER=stopped
run record -e ioctl -o refused.grt -- true
expect "a process that is stopped again and again" 1 \
	'cannot load the BPF programs of ioctl: this process was stopped, or got a signal, each time that'
check "what to type" says 'try: the same command where nothing stops it: no cpulimit, debugger or freezer'
export VERIFIER=signals
run record -e ioctl -o signals.grt -- true
expect "signals wait while the kernel looks at programs" 0 '0 lost in signals.grt'
plan
