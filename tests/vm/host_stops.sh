#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The host of a virtio GPU stops for 4 s now and then, with the whole virtual machine: a black box in the guest names the job that was
# on its way then, its process and its stack. The truth is that this script stops the emulator.

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
[ -e "$GRTRACE_BUILD/bpf/drm_sched.bpf.o" ] || skip_all "no BPF programs in $GRTRACE_BUILD: tools/setup check, then make"

emulator() {
	local pid
	for pid in $(pgrep qemu-system); do
		tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF -- "$work" && echo "$pid"
	done
}

guest --timeout 400 --share "$work=/mnt/work" -- env GRTRACE_SRC=/mnt/host GRTRACE_BUILD=/mnt/build GRTRACE=/mnt/build/grtrace \
	bash /mnt/host/tests/vm/_host_stops_guest.sh >"$work/said" &
guest=$!
while ! grep -q '^# now' "$work/said" && kill -0 $guest 2>/dev/null; do sleep 0.2; done
# At a moment without a job on its way, nothing is late.
while ! grep -q '^# seen' "$work/said" && kill -0 $guest 2>/dev/null; do
	for pid in $(emulator); do
		kill -STOP "$pid"
		sleep 4
		kill -CONT "$pid"
	done
	sleep 1
done
wait $guest
join_tap <"$work/said"
