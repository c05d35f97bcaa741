#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: see modprobe.sh. /mnt/dest is the DESTDIR.

# Functions are called by name, through check.
# shellcheck disable=SC2317
# shellcheck source=tests/kernel/common
. "$(dirname "$0")/../kernel/common"
release=$(uname -r)
stages='aggregator sampling filter perf_mon'
cp -r "/mnt/dest/lib/modules/$release/updates" "/lib/modules/$release/" && depmod

loaded() { # MODULE
	[ -e "/sys/module/$1" ]
}

# Those of the stages that are built.
stages_loaded() {
	for stage in $stages; do
		[ ! -e "/lib/modules/$release/updates/grtrace_$stage.ko" ] || loaded "grtrace_$stage" || return 1
	done
}

none_loaded() {
	! ls -d /sys/module/grtrace* 2>/dev/null
}

plan 7
mark_log
check "modprobe finds grtrace in updates/" sh -c 'modinfo -n grtrace | grep -q /updates/grtrace.ko'
check "modprobe grtrace" modprobe grtrace
check "has loaded the stages, too" stages_loaded
check "modprobe of an adapter" modprobe grtrace_virtio_gpu
check "they unload" sh -c 'modprobe -r grtrace_virtio_gpu && for m in /sys/module/grtrace_*; do
	[ ! -e "$m" ] || rmmod "$(basename "$m")"; done; [ ! -e /sys/module/grtrace ] || rmmod grtrace'
check "none is left" none_loaded
check "the kernel log is free of complaints" log_clean
finish
