#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# grtrace_nvidia in the virtual machine, to the event, with modules that stand
# for NVIDIA's of two branches and of one that is not known.
# shows: nvidia module stand-in TSG_INIT,TSG_SCHEDULE,TSG_DESTROY
# kernels in soak: trixie sid
# kernels in soak: debug

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --no-gpu --timeout 1500 -- sh -c '
	for branch in 535 580 999; do
		sh tests/vm/_guest.sh "grtrace ../tests/kernel/modules/nvidia_$branch/nvidia grtrace_nvidia" \
			/mnt/build/tests/kernel/grtrace_nvidia
	done
	sh tests/vm/_guest.sh "grtrace grtrace_nvidia ../tests/kernel/modules/nvidia_580/nvidia" \
		"/mnt/build/tests/kernel/grtrace_nvidia every"' | join_tap
