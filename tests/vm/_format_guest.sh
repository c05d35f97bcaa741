#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of format.sh.

# shellcheck disable=SC2317
# shellcheck source=tests/kernel/common
. "$(dirname "$0")/../kernel/common"
need_root_and_modules
grtrace=/mnt/build/grtrace
of() { # NAME
	sed -n "s/^#define $1  *//p" include/grtrace/stream.h
}
reads="$(of GRT_FORMAT_MIN)..$(of GRT_FORMAT)"
mark_log
plan 10

refused() { # COMMAND...
	said=$("$@" 2>&1)
	status=$?
	case $said in
	*"format 77, this tool reads $reads"*) [ $status = 3 ] && return ;;
	esac
	echo "status $status: $said"
	return 1
}

insmod /mnt/other/grtrace.ko
check "record refuses a module of another format" refused $grtrace record -o /tmp/refused.grt true
check "and leaves no recording" test ! -e /tmp/refused.grt
check "and leaves it stopped" grep -qx stopped "$D/control"
order start
emit submit ctx=1 seqno=1
order stop
cat "$D/trace_pipe" >/tmp/other.raw
said=$($grtrace dump /tmp/other.raw 2>&1)
status=$?
note "$said"
result "$([ $status = 1 ] && case $said in *"format 77, this tool reads $reads"*) true ;; *) false ;; esac; echo $?)" \
	"dump refuses its packets"
unload grtrace

load grtrace
# shellcheck disable=SC2016
$grtrace record -o /out/ended.grt -- sh -c 'echo "submit ctx=1 seqno=1 count=31" >/sys/kernel/debug/grtrace/emit; exit 42' 2>/tmp/err
result "$([ $? = 42 ]; echo $?)" "record -- PROG returns PROG's status"
$grtrace record -o /out/killed.grt -- sh -c 'kill -TERM $$' 2>/tmp/err
result "$([ $? = 143 ]; echo $?)" "and 128 + n for a signal"

# A background job of sh ignores SIGINT; env gives it back.
env --default-signal=INT $grtrace record -o /out/interrupt.grt 2>/tmp/err &
pid=$!
check "while nothing happens it says from when on it records" window_begun /out/interrupt.grt
emit submit ctx=2 seqno=1 count=53
kill -INT $pid
wait $pid
result $? "Ctrl-C ends record with status 0"
check "with all that was emitted" test "$($grtrace dump /out/interrupt.grt | grep -c ' ctx=2 ')" = 53
unload grtrace
check "the kernel log is free of complaints" log_clean
