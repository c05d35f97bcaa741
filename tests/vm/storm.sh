#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Everything at once: jobs of the software GPU, CPUs that come and go, start,
# stop, clear, other buffer sizes, readers, and stages and adapters that are
# loaded and unloaded. Nothing hangs, and the kernel has nothing to say.
# kernels in soak: rt
# kernels in soak: debug

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
seconds=10
[ "${GRTRACE_KERNEL:-}" != debug ] || seconds=40
[ "${GRTRACE_KERNEL:-}" != rt ] || seconds=60
[ -z "${GRTRACE_SOAK:-}" ] || seconds=600
guest --no-gpu --smp 4 --timeout $((3 * seconds + 400)) -- sh tests/vm/_storm_guest.sh "$seconds" | join_tap
