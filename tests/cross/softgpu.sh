#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The DRM scheduler's jobs by the module, by BPF and by trace-cmd: of rings that are freed
# and made again, on CPUs that are offline, come and go.
# kernels in soak: trixie sid rt

# shellcheck source=tests/cross/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
cross softgpu "gfx video hang 1 2 3 4 5 6" --no-gpu --smp 4 | join_tap
