#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What docs/install.md says that lockdown takes away, in the virtual machine: a
# module that is loaded when it comes stands for one that is signed.
# kernels in soak: trixie sid

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --no-gpu -- sh tests/vm/_lockdown_guest.sh | join_tap
