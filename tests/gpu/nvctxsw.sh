#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nvctxsw on a machine with an NVIDIA GPU: slices against what endless kernels saw themselves, shares against NVML,
# and what it costs a program that launches kernels.
#
# By hand, as root, with nvcc and python3: GRTRACE=build/grtrace tests/gpu/nvctxsw.sh [SECONDS]
# shows: nvidia log card

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE=$(realpath -- "${GRTRACE:-$GRTRACE_SRC/build/grtrace}")
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
unset GRTRACE_SYSROOT GRTRACE_DEBUGFS
seconds=${1:-24}
idle() { :; }

for tool in nvcc python3 nvidia-smi; do
	command -v $tool >/dev/null || { echo "no $tool" && exit 4; }
done
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
nvcc -O2 -o gaps "$GRTRACE_SRC/tests/gpu/gaps.cu" && nvcc -O2 -o launches "$GRTRACE_SRC/tests/gpu/switch_load.cu" || exit 1

run doctor nvctxsw
expect "doctor says that it works" 0 '^  nvctxsw +works'

# Two kernels that never end: the time slices alternate.
./gaps $((seconds + 3)) a.gaps & A=$!
./gaps $((seconds + 3)) b.gaps & B=$!
sleep 2
run record -e nvctxsw -d "$seconds" -o run.grt
expect "a recording" 0 ' 0 lost'
wait $A $B
"$GRTRACE" dump --json run.grt >slices.json
output=$(python3 "$GRTRACE_SRC/tests/gpu/gaps.py" slices.json $A:a.gaps $B:b.gaps 2>&1)
status=$?
echo "${output//$'\n'/$'\n# '}" | sed '1s/^/# /'
expect "each gap of each kernel is a slice of the other, edges within 100 us" 0 "^pid $A: "
run report -i run.grt --by gpu-process --csv
output=$(python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
wall = sum(int(r["residency"]) for r in rows)
for r in rows:
    print(r["kind"], r["pid"], r["residency"], r["share"], r["slices"], r["p50"], r["max"])
print("wall", wall)' <<<"$output")
echo "${output//$'\n'/$'\n# '}" | sed '1s/^/# /'
wall=$(awk '/^wall/ { print $2 }' <<<"$output")
check "residency, switching and nobody are the time of the recording within 0.1 %" \
	awk -v wall="$wall" -v s="$seconds" 'BEGIN { exit !(wall / 1e9 > s * 0.999 && wall / 1e9 < s * 1.001 + 0.05) }'
check "and nothing is unknown" grep -qv '^unknown' <<<"$output"

# A program that launches kernels beside one that never ends: what its kernels waited for.
./gaps 7 a.gaps & A=$!
sleep 2
run record -e cuda,nvctxsw -o run.grt -- ./launches 2 500 1000
expect "beside cuda" 0 'events'
wait $A
output=$(python3 "$GRTRACE_SRC/tests/golden/_waits.py" "$GRTRACE" run.grt 2>&1)
status=$?
expect "what kernels waited for is what a second program computes" 0 'kernels$'
run report -i run.grt
expect "and the summary begins with it" 0 "because other processes had the GPU, gaps\($A\)"
printf '%s\n' "$output" | sed -n '/because other processes/s/^/# /p'

# Shares while two programs launch kernels, one twice as often: against NVML's own samples.
./launches 12 500 0 >/dev/null & A=$!
./launches 12 500 1500 >/dev/null & B=$!
sleep 1
run record -e nvctxsw,power -d 9 -o run.grt
expect "beside power" 0 ' 0 lost'
wait $A $B
run report -i run.grt --by gpu-process
printf '%s\n' "$output" | sed -n '/^device/,/^$/s/^/# /p'
check "both are there" test "$(grep -cE "^nvidia0 .* ($A|$B) " <<<"$output")" = 2

# What it costs: launches in a row and one at a time, in turns.
for i in 1 2 3 4 5 6 7 8 9 10; do
	./launches 1 0 0 >>off
	"$GRTRACE" record -e nvctxsw -o "on$i.grt" -- ./launches 1 0 0 2>/dev/null >>on
	"$GRTRACE" record -e nvctxsw -o "on_$i.grt" -- ./launches 1 0 0 2>/dev/null >>on
	./launches 1 0 0 >>off
done
output=$(python3 -c '
from statistics import median
off, on = ([float(x) for x in open(f)] for f in ("off", "on"))
print(f"launch: {median(off):.3f} us ({min(off):.3f} to {max(off):.3f}), with nvctxsw {median(on):.3f} us ({min(on):.3f} to {max(on):.3f})")')
status=$?
echo "# $output"
expect "cost" 0 '^launch'
plan
