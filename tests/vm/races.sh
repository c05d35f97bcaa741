#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tests/kernel/grtrace_races in the virtual machine, with the stages and while
# they come and go: half a minute, in the long form half an hour.
# kernels in soak: debug
# long

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
seconds=10
# it is several times as slow
[ "${GRTRACE_KERNEL:-}" != debug ] || seconds=40
[ -z "${GRTRACE_SOAK:-}" ] || seconds=600
guest --no-gpu --timeout $((3 * seconds + 500)) -- sh -c "
	sh tests/vm/_guest.sh 'grtrace grtrace_filter grtrace_sampling grtrace_aggregator grtrace_perf_mon' '/mnt/build/tests/kernel/grtrace_races $seconds'
	SECONDS_LONG=$((2 * seconds)) sh tests/kernel/grtrace_stage_cycles.sh /mnt/build/tests/kernel/grtrace_races" | join_tap
