#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# config and the settings of record against the real module, in the virtual machine.

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --timeout 400 -- env GRTRACE_SRC=/mnt/host GRTRACE=/mnt/build/grtrace bash /mnt/host/tests/vm/_config_guest.sh |
	join_tap
