#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Loads and unloads the modules over and over while a program renders, in
# changing order: stopped and running, with a reader, with the driver itself
# going and coming. TAP version 13; needs root and a virtio GPU that nobody else
# uses.
#
#	sudo CYCLES=20 RENDER='kmscube -c 1000000' ./grtrace_cycles.sh

# shellcheck source=tests/kernel/common
. "$(dirname "$0")/common"
# shellcheck source=tests/kernel/pause
. "$(dirname "$0")/pause"
cycles=${CYCLES:-20}
render=${RENDER:-kmscube -c 1000000}
need_root_and_modules
[ -e /sys/module/virtio_gpu ] || skip_all "no virtio GPU: modprobe virtio-gpu, or tools/vm run"
command -v "${render%% *}" >/dev/null || skip_all "${render%% *} is missing: apt-get install ${render%% *}"
plan 7
mark_log

refused=0 reloads=0 failures='' renderer='' pacer=''

fail() { # WHAT
	failures="$failures
cycle $cycle: $1"
}

# kmscube ends when its input does.
rm -f /run/grtrace_cycles.in
mkfifo /run/grtrace_cycles.in
exec 3<>/run/grtrace_cycles.in

# In bursts: a program that renders all the time leaves an emulated GPU's host no
# time for anything else, and each module then takes seconds to load.
pace() { # PID
	while kill -STOP "$1"; do
		pause 0.1
		kill -CONT "$1"
		pause 0.15
	done
} 2>/dev/null

start_render() {
	$render <&3 >/dev/null 2>&1 &
	renderer=$!
	pace "$renderer" &
	pacer=$!
}

stop_render() {
	kill -KILL "$renderer" "$pacer"
	wait "$renderer" "$pacer"
} 2>/dev/null

load_both() { # PARAMETERS of grtrace
	load grtrace "$@" || fail "grtrace does not load"
	load grtrace_virtio_gpu || fail "the adapter does not load"
}

# At least one whole job must come by.
wait_for_jobs() {
	local name number
	for try in {1..600}; do
		while read -r name number; do
			[ "$name" != complete ] || [ "$number" = 0 ] || return 0
		done <"$D/events_by_type"
		pause 0.1
	done
	fail "no job was seen in $((try / 10)) s"
}

unload_both() {
	unload grtrace_virtio_gpu || fail "the adapter does not unload"
	unload grtrace || fail "grtrace does not unload"
}

# Tracing is stopped in good order.
cycle_stopped() {
	load_both
	order start
	wait_for_jobs
	order stop
	unload_both
}

# The rug is pulled from under the events.
cycle_running() {
	load_both enable=1 buffer_size=65536
	wait_for_jobs
	unload_both
}

# A reader holds the module, but not the adapter.
cycle_reader() {
	load_both enable=1
	cat "$D/trace_pipe" >/dev/null &
	reader=$!
	wait_for_jobs
	unload grtrace_virtio_gpu || fail "the adapter does not unload while somebody reads"
	if rmmod grtrace 2>/dev/null; then
		fail "grtrace unloads while a stream is open"
	else
		refused=$((refused + 1))
	fi
	kill -KILL "$reader"
	wait "$reader" 2>/dev/null
	unload grtrace || fail "grtrace does not unload after its reader was killed"
}

# The adapter goes and comes while tracing is on.
cycle_late() {
	load_both enable=1
	unload grtrace_virtio_gpu || fail "the adapter does not unload"
	pause 0.1
	load grtrace_virtio_gpu || fail "the adapter does not load again"
	wait_for_jobs
	unload_both
}

unbind_console() {
	for console in /sys/class/vtconsole/vtcon*; do
		! grep -q 'frame buffer' "$console/name" || echo 0 >"$console/bind"
	done
}

# The driver goes and comes back under the adapter.
cycle_driver() {
	stop_render
	load_both enable=1
	unbind_console
	if rmmod virtio_gpu; then
		grep -q 'bound=0' "$D/adapters" || fail "the adapter keeps a driver that is gone"
		modprobe virtio_gpu || fail "the driver does not load again"
		reloads=$((reloads + 1))
	fi
	grep -q 'bound=1' "$D/adapters" || fail "the adapter is not bound after the driver has come"
	start_render
	wait_for_jobs
	unload_both
}

# A file that is open when loading fails would be closed by code that is gone.
open_while_loading() {
	while [ -e /run/grtrace_cycles.loading ]; do
		if { exec 5<"$D/events0"; }; then
			echo "events0 was opened while grtrace could still fail to load"
			exec 5<&-
		fi
	done 2>/dev/null
}

# Loads that fail after the files are there.
fail_to_load() {
	: >/run/grtrace_cycles.loading
	open_while_loading &
	opener=$!
	for try in {1..15}; do
		! load grtrace buffer_size=1 2>/dev/null || echo "grtrace loads with a buffer of a byte"
	done
	rm -f /run/grtrace_cycles.loading
	wait "$opener"
}

start_render
cycle=0
while [ "$cycle" -lt "$cycles" ]; do
	cycle=$((cycle + 1))
	case $((cycle % 5)) in
	0) cycle_driver ;;
	1) cycle_stopped ;;
	2) cycle_running ;;
	3) cycle_reader ;;
	4) cycle_late ;;
	esac
	[ ! -e "$D" ] || fail "the control files are still there"
	[ -z "$failures" ] || break
done 2>/run/grtrace_cycles.err
kill -0 "$renderer" 2>/dev/null
rendering=$?
stop_render
rm -f /run/grtrace_cycles.in
opened=$(fail_to_load)

[ -z "$failures" ] || note "$failures" "$(cat /run/grtrace_cycles.err)"
result "$([ -z "$failures" ]; echo $?)" "$cycles load and unload cycles under rendering"
result $rendering "the program still renders after them"
result "$([ "$refused" -ge $(((cycles + 2) / 5)) ]; echo $?)" "unloading is refused while a stream is open"
if [ "$cycles" -lt 5 ]; then
	skip "the driver goes and comes back under the adapter" "only from CYCLES=5 on"
else
	result "$([ "$reloads" -gt 0 ]; echo $?)" "the driver goes and comes back under the adapter"
fi
note "$opened"
result "$([ -z "$opened" ]; echo $?)" "no file can be opened while it fails to load"
note "$cycle cycles, $refused refusals, $reloads reloads of the driver"
check "nothing is left" test ! -e /sys/module/grtrace
check "the kernel log is free of complaints" log_clean
finish
