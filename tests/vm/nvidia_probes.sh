#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Functions and the tracepoint of NVIDIA's modules in the virtual machine, where a
# module of the same names stands for them: each call and each Xid once.
# shows: nvidia BPF stand-in FUNC,XID
# kernels in soak: trixie sid

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
module=$GRTRACE_BUILD/$kbuild/tests/kernel/modules/nvidia_probed/nvidia.ko
[ -e "$module" ] || skip_all "no nvidia_probed/nvidia.ko in $GRTRACE_BUILD/$kbuild: make vm-tools"
guest --no-gpu --timeout 900 -- env GRTRACE_SRC=/mnt/host GRTRACE_BUILD=/mnt/build GRTRACE=/mnt/build/grtrace \
	bash /mnt/host/tests/vm/_nvidia_probes_guest.sh | join_tap
