#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The modules as make modules_install leaves them, in the virtual machine:
# modprobe grtrace loads grtrace with its stages, modprobe of an adapter loads
# grtrace first.

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
headers=$(ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | sort -V | tail -n 1)
[ -n "$headers" ] || skip_all "no kernel headers: tools/setup check"
env -u MAKEFLAGS make -s -C "$GRTRACE_SRC" O="$GRTRACE_BUILD" KDIR="$headers" DESTDIR="$work/dest" modules_install >"$work/log" 2>&1 || {
	cat "$work/log"
	echo "not ok 1 - make modules_install"
	exit 1
}
guest --no-gpu --share "$work/dest=/mnt/dest" -- sh tests/vm/_modprobe_guest.sh | join_tap
