#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# doctor in the virtual machine: with and without the modules, as root and as another user, and locked down.
# long

if ! command -v qemu-system-x86_64 >/dev/null; then
	echo "1..0 # SKIP no qemu-system-x86_64: tools/setup check"
	exit
fi

# Runs the guest's script; its TAP is numbered on.
in_guest() { # SCRIPT'S ARGUMENT [OPTIONS OF tools/vm run]
	local what=$1
	shift
	"$GRTRACE_SRC/tools/vm" run --timeout 400 --share "$GRTRACE_PLAIN=/mnt/build" "$@" -- \
		env GRTRACE_SRC=/mnt/host GRTRACE=/mnt/build/grtrace GRTRACE_MODULES=/mnt/build/kernel \
		bash /mnt/host/tests/vm/_doctor_guest.sh "$what" >guest.tap 2>guest.err
	status=$?
	awk -v from="$checks" '
		/^(not )?ok / { sub(/ok [0-9]+/, "ok " ++from) }
		/^1\.\./ { next }
		{ print }' guest.tap
	checks=$((checks + $(grep -cE '^(not )?ok ' guest.tap)))
	[ $status = 0 ] || { tail -50 guest.err && echo "not ok - the guest's script ended with status $status"; }
}

checks=0
in_guest usual
in_guest locked --no-gpu --append lockdown=integrity
echo "1..$checks"
