#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What reports say of random jobs in text of ftrace, compared with a model.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

command -v python3 >/dev/null || { echo "no python3: apt-get install python3" && exit 4; }
for seed in 1 2 3 4; do
	check "seed $seed: each number" python3 -B "$GRTRACE_SRC/tests/cli/_ftrace_jobs.py" "$GRTRACE" $seed
done
plan
