#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The shortest test of grtrace.ko: load, start, emit, read back, stop, unload,
# and a kernel log without complaints. TAP version 13; needs root.
#
#	sudo ./grtrace_smoke.sh

# Functions are called by name, through check.
# shellcheck disable=SC2317
# shellcheck source=tests/kernel/common
. "$(dirname "$0")/common"
need_root_and_modules
plan 11
mark_log

check "the module loads" load grtrace buffer_size=1048576
check "version and state are there" grep -q 'format' "$D/version"
check "tracing is stopped until it is started" grep -qx stopped "$D/control"
check "the parameter buffer_size is in force" grep -qx 1048576 "$D/buffer_size"
check "start" order start
emit submit ring=0 ctx=0x1234 seqno=42 engine=graphics # not by check, which makes a process
result $? "an event is taken"
check "stop" order stop

read_back() {
	text=$(cat "$D/events")
	case $text in
	*"SUBMIT flags=0x4 engine=graphics sample=100 pid=$$ tid=$$ ctx=4660 seqno=42 ring=0 "*) ;;
	*)
		echo "events reads: $text"
		return 1
		;;
	esac
}
check "it is read back, with this process as submitter" read_back
check "the counts are equal" test "$(stat delivered)" = 2 # the event and its thread's name

unload_and_load() {
	unload grtrace && [ ! -e "$D" ] && load grtrace enable=1 && grep -qx running "$D/control" && unload grtrace
}
check "it unloads, loads with enable=1 and unloads while running" unload_and_load
check "the kernel log is free of complaints" log_clean
finish
