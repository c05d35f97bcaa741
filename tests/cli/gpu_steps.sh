#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Steps, causes of idle time, queues, critical paths and ranks of random GPU work, compared with models.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

command -v python3 >/dev/null || { echo "no python3: apt-get install python3" && exit 4; }
for seed in 1 2 3 4; do
	check "seed $seed: each number" python3 -B "$GRTRACE_SRC/tests/cli/_gpu_steps.py" "$GRTRACE" $seed
done
check "ranks: each number" python3 -B "$GRTRACE_SRC/tests/cli/_ranks.py" "$GRTRACE" 1 2 3 4 5 6
check "many copies that end before their calls return" python3 -B "$GRTRACE_SRC/tests/cli/_gpu_steps.py" "$GRTRACE" long
plan
