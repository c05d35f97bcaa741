#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs of the DRM scheduler where its module has no BTF are the same jobs, in
# the virtual machine with the software GPU.

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
[ -e "$GRTRACE_BUILD/bpf/drm_format.bpf.o" ] ||
	skip_all "no BPF programs in $GRTRACE_BUILD: tools/setup check, then make"
guest --no-gpu --modules drm --timeout 400 -- env GRTRACE_SRC=/mnt/host GRTRACE_BUILD=/mnt/build \
	GRTRACE=/mnt/build/grtrace bash /mnt/host/tests/vm/_nobtf_guest.sh | join_tap
