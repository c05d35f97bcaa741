#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The stages that sum up by ring, aggregator and perf_mon, in the virtual
# machine.

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
guest --timeout 1200 --no-gpu -- sh tests/vm/_guest.sh "grtrace grtrace_aggregator grtrace_perf_mon" \
	/mnt/build/tests/kernel/grtrace_aggregator /mnt/build/tests/kernel/grtrace_perf_mon | join_tap
