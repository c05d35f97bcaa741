#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tests/kernel/grtrace_cycles.sh in the virtual machine: 20 load and unload
# cycles, in the long form 100.
# kernels in soak: debug

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
cycles=20
[ -z "${GRTRACE_SOAK:-}" ] || cycles=100
guest --timeout $((60 + cycles * 15)) -- env CYCLES="${CYCLES:-$cycles}" bash tests/kernel/grtrace_cycles.sh | join_tap
