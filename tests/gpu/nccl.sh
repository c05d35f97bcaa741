#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NCCL's profiler plugin on two GPUs: bytes and bus bandwidth within 1 % of loops that time themselves; a rank that is 0.2,
# 1 or 5 ms late at random is named each time; a rank that does not come is named within 5 s, and when the job was killed.
#
# By hand: GRTRACE_PLAIN=build tests/gpu/nccl.sh. Needs two GPUs and PyTorch with NCCL 2.27 or later; takes some 2 minutes.
# KEEP=DIR: the recordings and reports are left there.

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=${GRTRACE:-$GRTRACE_PLAIN/grtrace}
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
nccl=$GRTRACE_SRC/tests/gpu/nccl.py
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
# What NCCL says of the plugin, to be read first when there are no collectives.
export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV NCCL_DEBUG_FILE=$PWD/nccl.%p.txt
python3 -c 'import torch; print("# PyTorch", torch.__version__, "NCCL", *torch.cuda.nccl.version())'

traced() { # NAME
	run record -e cuda -o "$1.grt" -- python3 "$nccl" "$1" "$1.notes"
	check "$1: it was recorded" exits 0
	"$GRTRACE" dump "$1.grt" 2>/dev/null | grep -m 2 ' COMMUNICATOR ' | sed 's/^/# /'
	grep -h -i 'profiler' nccl.*.txt 2>/dev/null | sort -u | head -n 4 | sed 's/^/# /'
}

matches() { # NAME VIEW
	"$GRTRACE" report "$1.grt" --by "$2" --json >"$1.json"
	output=$(timeout 60 python3 "$nccl" "check-$1" "$1.json" "$1.notes" 2>&1)
	status=$?
	sed 's/^/# /' <<<"$output"
	return $status
}

traced bandwidth
check "bytes, and bus bandwidth within 1 %" matches bandwidth collective
run report bandwidth.grt --by collective
sed 's/^/# /' <<<"$output"
"$GRTRACE" dump bandwidth.grt 2>/dev/null | grep ' COLLECTIVE ' >collectives.txt
check "all have their launch" test "$(grep -c ' correlation=[1-9]' collectives.txt)" = "$(wc -l <collectives.txt)"
echo "# $(wc -l <collectives.txt) collectives, $(grep -c 'flags=inferred' collectives.txt) launches inferred (with v4 alone)"
traced delays
check "the rank that was late, each time" matches delays rank

# The job hangs; report reads the recording that is being made.
timeout 100 "$GRTRACE" record -e cuda -o hang.grt -- python3 "$nccl" hang hang.notes >hang.out 2>&1 &
job=$!
for ((i = 0; i < 600; i++)); do
	[ ! -s hang.notes.0 ] || [ ! -s hang.notes.1 ] || break
	sleep 0.1
done
began=$(<hang.notes.0)
for ((i = 0; i < 40; i++)); do
	run report hang.grt
	! says '^rank 1 \(PID [0-9]+\) has not entered AllReduce #[0-9]+ of communicator ' || break
	sleep 0.2
done
took=$(python3 -c "import time; print(f'{(time.monotonic_ns() - ${began:-0}) / 1e9:.2f}')")
grep 'has not entered' <<<"$output" | sed 's/^/# /'
echo "# $took s after rank 0 had entered it"
check "a rank that does not come is named while the job runs" says '^rank 1 \(PID [0-9]+\) has not entered AllReduce '
check "within 5 s" test "${took%.*}" -lt 5
while read -r pid; do
	kill -KILL "$pid"
done < <("$GRTRACE" dump hang.grt 2>/dev/null | sed -n 's/.* COMMUNICATOR *pid=\([0-9]*\)\/.*/\1/p' | sort -u)
wait $job
run report hang.grt --by collective
grep 'has not entered' <<<"$output" | sed 's/^/# /'
check "and when it was killed" says '^rank 1 \(PID [0-9]+\) has not entered AllReduce '
plan
