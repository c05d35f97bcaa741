#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tests/kernel/grtrace_modules.sh in the virtual machine: 20 cycles, in the long
# form GRTRACE_SOAK_CYCLES, 1000.
# kernels in soak: trixie sid
# long

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
cycles=20
timeout=1200
[ -z "${GRTRACE_SOAK:-}" ] || cycles=${GRTRACE_SOAK_CYCLES:-1000} timeout=0
guest --timeout $timeout --no-gpu -- sh -c "CYCLES=$cycles SEED=1 RUN=/mnt/build/tools/softgpu-run \
	bash tests/kernel/grtrace_modules.sh" | join_tap
