#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tests/kernel/grtrace_races in the virtual machine: 10 s, in the long form 10
# minutes.
# kernels in soak: debug

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
seconds=10
[ -z "${GRTRACE_SOAK:-}" ] || seconds=600
guest --no-gpu --parallel --timeout $((seconds + 120)) -- \
	sh tests/vm/_guest.sh grtrace "/mnt/build/tests/kernel/grtrace_races $seconds" | join_tap
