#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# report --by step and --by rank of data-parallel training on two GPUs, of which one rank sleeps 30 ms in every tenth
# step: that rank, these steps and the lines around the sleep are named, and all steps and collectives are found.
#
# By hand: GRTRACE_PLAIN=build tests/gpu/ddp.sh. Needs two GPUs and PyTorch. KEEP=DIR: the recordings are left there.

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=${GRTRACE:-$GRTRACE_PLAIN/grtrace}
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
ddp=$GRTRACE_SRC/tests/gpu/ddp.py
gpus=$(python3 -c 'import torch; print(torch.cuda.device_count())' 2>/dev/null)
[ "${gpus:-0}" -ge 2 ] || { echo "needs PyTorch and two GPUs" && exit 4; }
if [ -n "${KEEP:-}" ]; then
	mkdir -p "$KEEP" && cd "$KEEP" || exit 1
else
	dir=$(mktemp -d) && cd "$dir" || exit 1
	trap 'rm -rf -- "$dir"' EXIT
fi

# GPUs that others share may not be put into a multicast group.
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1

line() { # MARK: its line in ddp.py
	grep -n "# $1\$" "$ddp" | cut -d: -f1
}

reports() { # NAME
	"$GRTRACE" report "$1.grt" --by step --json >"$1.steps.json" && "$GRTRACE" report "$1.grt" --by rank --json >"$1.ranks.json" &&
		output=$(python3 "$ddp" check "$1.steps.json" "$1.ranks.json" 1 "$1.notes" 2>&1)
}

named() { # NAME LINE_BEFORE
	pid=$(awk '{ print $1; exit }' "$1.notes.1")
	lines="code between ddp.py:$(line "$2") and ddp.py:$(line AFTER) \\(train\\)"
	run report "$1.grt" --by rank
	tee "$1.rank.txt" <<<"$output" | grep '^rank 1' | sed 's/^/# /'
	expect "$1: the rank, its steps and lines are named" 0 \
		"^rank 1 \\(PID $pid\\) arrived last in .* collectives, [23][0-9]\\.[0-9] ms late on average, in steps 9, 19, 29, 39, 49, 59: $lines"
	run report "$1.grt" --by step
	tee "$1.step.txt" <<<"$output" | grep -E '^(rank 1 \(|the steps are)' | sed 's/^/# /'
	expect "$1: and its slow steps" 0 \
		"^rank 1 \\(PID $pid\\): 6 of (60|59) steps \\(9, 19, 29, 39, 49, 59\\) took [23][0-9]\\.[0-9] ms more than the median on average, mostly idle time: $lines"
	check "$1: the optimizer's step() is how they were found" says "step\\(\\) called by train \\(ddp.py:$(line BEFORE)\\)"
	check "$1: all steps and collectives" reports "$1"
	sed 's/^/# /' <<<"$output"
	run report "$1.grt"
	cp /dev/null "$1.txt" && echo "$output" >"$1.txt"
	expect "$1: the summary names the rank, too" 0 "^rank 1 \\(PID $pid\\)"
}

run record -e cuda -o own.grt -- python3 "$ddp" train 2 60 1 10 30 own.notes
expect "training of two ranks" 0 'own.grt$'
named own BEFORE
run record -e cuda -o sync.grt -- python3 "$ddp" train 2 60 1 10 30 sync.notes sync
expect "the same, waiting for the GPU in every step" 0 'sync.grt$'
named sync SYNC
run record -e cuda -o torchrun.grt -- python3 -m torch.distributed.run --nproc_per_node=2 --master_addr=127.0.0.1 \
	--master_port=29512 "$ddp" train 2 60 1 10 30 torchrun.notes
expect "the same by torchrun" 0 'torchrun.grt$'
named torchrun BEFORE
plan
