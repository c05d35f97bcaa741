#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nvctxsw on a machine with an NVIDIA GPU: slices against what endless kernels saw themselves, lengths of slices against
# the timeslices that NVIDIA's control sets, shares against NVML, and what it costs programs that launch kernels.
#
# By hand, as root, with nvcc, python3 and, for cost, PyTorch: GRTRACE=build/grtrace tests/gpu/nvctxsw.sh [SECONDS [PART]...]
# PARTs: edges, waits, timeslices (shares too: SHARES seconds, default 60), cost (PAIRS, default 60), gpus (needs two); default: all.
# shows: nvidia log card

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE=$(realpath -- "${GRTRACE:-$GRTRACE_SRC/build/grtrace}")
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
unset GRTRACE_SYSROOT GRTRACE_DEBUGFS
seconds=${1:-24}
shift
idle() { :; }

for tool in nvcc python3 nvidia-smi; do
	command -v $tool >/dev/null || { echo "no $tool" && exit 4; }
done
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
nvcc -O2 -o gaps "$GRTRACE_SRC/tests/gpu/gaps.cu" && nvcc -O2 -o launches "$GRTRACE_SRC/tests/gpu/switch_load.cu" &&
	cc -O2 -shared -fPIC -I"$GRTRACE_SRC/lib" -o timeslice.so "$GRTRACE_SRC/tests/gpu/nv_timeslice.c" -ldl -pthread || exit 1

run doctor nvctxsw
expect "doctor says that it works" 0 '^  nvctxsw +works'

# Two kernels that never end: the time slices alternate.
edges() {
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
}

# A program that launches kernels beside one that never ends: what its kernels waited for.
waits() {
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
}

# A program whose timeslice is set while it runs, beside one with the driver's own: its whole slices follow, as the kernel
# itself sees them. Then the shares of both are those of NVML's samples.
timeslices() {
	local A B us recorder seconds=${SHARES:-60}
	: >us
	# from before the program, so that its groups are known
	"$GRTRACE" record -e nvctxsw,nvsched -d 22 -o slices.grt >record.err 2>&1 &
	recorder=$!
	sleep 1
	NV_TIMESLICES=us LD_PRELOAD=./timeslice.so ./gaps $((seconds + 28)) a.gaps >settings & A=$!
	./gaps $((seconds + 28)) b.gaps & B=$!
	sleep 7
	for us in 1000 2000 8000; do
		echo $us >>us
		sleep 4
	done
	wait $recorder
	# shellcheck disable=SC2094
	nvidia-smi pmon -s u -d 1 -c "$((seconds - 2))" >pmon &
	run record -e nvctxsw -d "$seconds" -o shares.grt
	expect "shares: a recording" 0 ' 0 lost'
	wait
	sed 's/^/# /' settings
	check "every group took every timeslice" test "$(awk '$5 == 0 && $4 > 0' settings | wc -l)" = 3
	"$GRTRACE" dump --json slices.grt >slices.json
	output=$(python3 "$GRTRACE_SRC/tests/gpu/timeslices.py" slices.json $A:a.gaps settings 2>&1)
	status=$?
	printf '%s\n' "$output" | sed 's/^/# /'
	expect "the kernel runs for the timeslice within 5 %, and its slices are 75 us longer, for which contexts are saved and restored" 0 '^8000 us: '
	"$GRTRACE" sched -i slices.grt | grep -A 8 'changes of timeslices' | sed 's/^/# /'
	"$GRTRACE" report --by gpu-process --json shares.grt >shares.json
	output=$(python3 - $A $B <<'END'
import json, sys
ours = {r.get("pid"): r for r in json.load(open("shares.json"))["gpu_processes"]}
rows = [l.split() for l in open("pmon") if not l.startswith("#")]
for pid in sys.argv[1:]:
    # a process that did not run in a sample has none
    sm = [0 if r[3] == "-" else float(r[3]) for r in rows if r[1] == pid]
    theirs, mine = sum(sm) / len(sm), ours[int(pid)]["share"]
    print(f"PID {pid}: {mine:.2f} %, NVML {theirs:.2f} % in {len(sm)} samples")
    assert abs(mine - theirs) < 2
END
	)
	status=$?
	printf '%s\n' "$output" | sed 's/^/# /'
	grep -v '^#' pmon | awk '{ print $1, $2, $4 }' | tail -n 24 | xargs -n 12 echo '#'
	expect "shares are within 2 points of NVML's in $seconds s" 0 '^PID'
}

# What it costs: see _in_turns.sh.
cost() {
	here=$GRTRACE_SRC/tests/gpu
	record=(-e nvctxsw)
	# shellcheck source=tests/gpu/_in_turns.sh
	. "$here/_in_turns.sh"
	nvcc -O2 -arch=native -o program "$here/nv_program.cu" -lcuda || return
	limit "ns for a launch" 0.5 "${PAIRS:-60}" 0.6 ./program launches 600
	limit "us for an iteration of a PyTorch layer" 0.5 "${PAIRS:-60}" 0.6 python3 "$here/torch_layer.py" eager 600 samples
}

# Two endless kernels on each of two GPUs: all four see their slices, each on its GPU.
gpus() {
	local pids=() files=() gpu i
	export CUDA_DEVICE_ORDER=PCI_BUS_ID
	for i in 0 1 2 3; do
		gpu=$((i / 2))
		CUDA_VISIBLE_DEVICES=$gpu ./gaps 14 $i.gaps & pids+=($!)
		files+=("$!:$i.gaps")
	done
	sleep 3
	run record -e nvctxsw -d 8 -o gpus.grt
	expect "two GPUs: a recording" 0 ' 0 lost'
	wait "${pids[@]}"
	"$GRTRACE" dump --json gpus.grt >gpus.json
	output=$(python3 "$GRTRACE_SRC/tests/gpu/gaps.py" gpus.json "${files[@]}" 2>&1)
	status=$?
	printf '%s\n' "$output" | sed 's/^/# /'
	expect "two GPUs: each gap of each kernel is a slice of another, edges within 100 us" 0 "^pid ${pids[3]}: "
	for i in 0 1 2 3; do
		output=$(grep GPU_SLICE gpus.json | grep "\"pid\": *${pids[i]}[,}]" | grep -oE '[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9]' | tr A-F a-f | sort -u)
		gpu=$(nvidia-smi -i $((i / 2)) --query-gpu=pci.bus_id --format=csv,noheader | tr A-F a-f)
		check "two GPUs: the slices of process $i are on GPU $((i / 2)) alone (${gpu#0000})" test "$output" = "${gpu#0000}"
	done
	"$GRTRACE" report --by gpu-process gpus.grt | sed 's/^/# /'
}

echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1), Linux $(uname -r)"
several=
[ "$(nvidia-smi -L | wc -l)" -lt 2 ] || several=gpus
for part in "${@:-edges waits timeslices cost $several}"; do
	for one in $part; do
		case $one in
		edges | waits | timeslices | cost | gpus) $one ;;
		*) echo "not edges, waits, timeslices, cost or gpus: $one" && exit 2 ;;
		esac
	done
done
plan
