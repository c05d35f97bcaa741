#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tests/kernel/grtrace_smoke and grtrace_smoke.sh in the virtual machine.
# kernels in soak: trixie sid rt
# kernels in soak: debug

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --no-gpu -- sh -c '
	sh tests/kernel/grtrace_smoke.sh
	sh tests/vm/_guest.sh "grtrace grtrace_filter grtrace_sampling" /mnt/build/tests/kernel/grtrace_smoke' | join_tap
