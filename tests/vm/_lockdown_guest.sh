#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: see lockdown.sh.

# Functions are called by name, through check.
# shellcheck disable=SC2317
# shellcheck source=tests/kernel/common
. "$(dirname "$0")/../kernel/common"
need_root_and_modules
lockdown=/sys/kernel/security/lockdown

refused() { # COMMAND...: for want of permission
	said=$("$@" 2>&1 >/dev/null) && echo "it was not refused" && return 1
	case $said in
	*'not permitted'* | *'ermission denied'*) ;;
	*) echo "$said" && return 1 ;;
	esac
}

has_bytes() { # FILE
	[ "$(timeout 5 head -c 4 "$1" | wc -c)" = 4 ]
}

plan 8
check "the module loads, and traces from then on" load grtrace enable=1
emit submit ring=0 ctx=0x1234 seqno=42
[ -e $lockdown ] || mount -t securityfs securityfs /sys/kernel/security
check "lockdown comes" sh -c "echo integrity >$lockdown && grep -q '\[integrity\]' $lockdown"
check "an unsigned module is refused" refused load grtrace_virtio_gpu
check "files that can be written cannot be opened: control" refused cat "$D/control"
check "config" refused cat "$D/config"
check "what can only be read can: stats" grep -q . "$D/stats"
check "and the packets" has_bytes "$D/trace_pipe"
check "tracefs is open" grep -q . /sys/kernel/tracing/available_events
finish
