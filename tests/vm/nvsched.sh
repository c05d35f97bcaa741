#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Channel groups in the virtual machine, where a module stands for NVIDIA's
# control device and answers: births, refusals, ends of every kind.
# shows: nvidia BPF stand-in TSG_INIT,TSG_DESTROY
# kernels in soak: trixie sid

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
module=$GRTRACE_BUILD/$kbuild/tests/kernel/modules/nvidiactl.ko
[ -e "$module" ] || skip_all "no nvidiactl.ko in $GRTRACE_BUILD/$kbuild: make vm-tools"
guest --no-gpu --timeout 1500 -- env GRTRACE_SRC=/mnt/host GRTRACE_BUILD=/mnt/build GRTRACE=/mnt/build/grtrace \
	bash /mnt/host/tests/vm/_nvsched_guest.sh | join_tap
