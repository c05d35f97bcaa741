#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The program and a real module of another format, which it must refuse; and with
# the right one, what PROG's end and Ctrl-C leave.

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
[ -x "$GRTRACE_BUILD/grtrace" ] || skip_all "no grtrace in $GRTRACE_BUILD: make"
headers=$(ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | sort -V | tail -n 1)
[ -n "$headers" ] || skip_all "no kernel headers: apt-get install linux-headers-amd64"

# The same module but for its number.
build_other() {
	mkdir "$work/other" &&
		cp -rL "$GRTRACE_SRC/kernel/." "$work/other/" &&
		sed -i 's/^#define GRT_FORMAT  *[0-9]*$/#define GRT_FORMAT 77/' "$work/other/include/grtrace/stream.h" &&
		grep -q '^#define GRT_FORMAT 77$' "$work/other/include/grtrace/stream.h" &&
		env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES make -s -C "$headers" M="$work/other" modules >"$work/log" 2>&1
}

build_other || {
	cat "$work/log" >&2
	echo "not ok 1 - the module of another format builds"
	exit 1
}
mkdir "$work/modules"
mv "$work/other/grtrace.ko" "$work/modules/"
guest --no-gpu --share "$work/modules=/mnt/other" --out "$work/out" -- sh tests/vm/_format_guest.sh >"$work/tap"
{
	cat "$work/tap"
	echo "TAP version 13"
	for kind in interrupt ended; do
		"$GRTRACE_BUILD/grtrace" report -i "$work/out/$kind.grt" --by type >"$work/report" 2>&1 &&
			grep -q 'state = "complete"' "$work/out/$kind.grt/metadata" || echo -n "not "
		echo "ok - the recording of $kind is complete"
	done
	echo "1..2"
} | join_tap
