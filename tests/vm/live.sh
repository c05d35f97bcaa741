#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# report and dump on the running module, in the virtual machine.

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --timeout 120 -- sh tests/vm/_live_guest.sh | join_tap
