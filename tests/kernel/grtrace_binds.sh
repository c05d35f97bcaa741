#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Whether an adapter finds the real driver, which loads without its hardware:
# before or after the adapter, and again after it went. TAP version 13; needs
# root, and the driver must not be in use.
#
#	sudo ./grtrace_binds.sh DRIVER TRACEPOINT...
#
# The tracepoints are those that every kernel has.

# Functions are called by name, through check.
# shellcheck disable=SC2317
# shellcheck source=tests/kernel/common
. "$(dirname "$0")/common"
driver=$1
shift
need_root_and_modules
modprobe -n -q "$driver" || skip_all "this kernel has no module $driver"
[ ! -e "/sys/module/$driver" ] || skip_all "$driver is loaded: modprobe -r $driver"
plan 8
mark_log

line() {
	grep "^$driver driver=$driver " "$D/adapters"
}

bound() { # TRACEPOINT...
	line | grep -q " bound=1 " || {
		line
		return 1
	}
	for point; do
		line | grep -q "[=,]$point:1\b" || {
			echo "$point is not bound"
			line
			return 1
		}
	done
}

unbound() {
	line | grep -q " bound=0 " && ! line | grep -q ':1\b' || {
		line
		return 1
	}
}

load grtrace && load "grtrace_$driver"
check "without the driver the adapter waits for it" unbound
check "the driver loads" modprobe "$driver"
check "it is bound to the driver that came later" bound "$@"
order start
check "the driver can go while tracing is on" modprobe -r "$driver"
check "then nothing is bound" unbound
unload "grtrace_$driver"
modprobe "$driver" && load "grtrace_$driver"
check "it is bound to the driver that was there before" bound "$@"
note "$(line)"
check "the adapter goes before the driver" unload "grtrace_$driver"
order stop
modprobe -r "$driver"
unload grtrace
check "the kernel log is free of complaints" log_clean
finish
