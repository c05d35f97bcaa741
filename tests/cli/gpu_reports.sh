#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# GPU work in files of other tools: each number of reports and exports, compared with sums over the numbers of random files.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

command -v python3 >/dev/null || { echo "no python3: apt-get install python3" && exit 4; }
for kind in "kineto 1" "kineto 2" "nsys 1" "nsys 2" "rocprof 1" "exports 2"; do
	# shellcheck disable=SC2086 # a kind and a seed
	check "$kind: each number" python3 -B "$GRTRACE_SRC/tests/cli/_gpu_reports.py" "$GRTRACE" $kind
done
plan
