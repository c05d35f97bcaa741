#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# power on a machine with an NVIDIA GPU: values of NVML against nvidia-smi over the same time, idle and under load.
#
# By hand: GRTRACE=build/grtrace tests/gpu/power.sh
# shows: nvidia log card

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE=$(realpath -- "${GRTRACE:-$GRTRACE_SRC/build/grtrace}")
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
unset GRTRACE_SYSROOT GRTRACE_DEBUGFS
readonly SECONDS_EACH=5

for tool in nvidia-smi python3; do
	command -v $tool >/dev/null || { echo "no $tool" && exit 4; }
done
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT

# Both at once, for a while.
measure() {
	nvidia-smi --query-gpu=power.draw,clocks.sm,clocks.mem,utilization.gpu,utilization.memory,memory.used,temperature.gpu \
		--format=csv,noheader,nounits -i 0 -lms 200 >smi &
	local smi=$!
	rm -rf p.grt p.grt.old
	run record -e power -o p.grt -d $SECONDS_EACH
	kill $smi
	wait $smi 2>/dev/null
	expect "$1: a recording" 0 'events, 0 lost'
	"$GRTRACE" report --json p.grt >values.json
}

# Means of one GPU: ours and nvidia-smi's, and whether they are close.
compare() { # PHASE COLUMN NAME SCALE RELATIVE ABSOLUTE
	output=$(python3 -c 'import json, sys
column, name, scale, relative, absolute = int(sys.argv[1]), sys.argv[2], *map(float, sys.argv[3:])
rows = [r for r in json.load(open("values.json"))["counters"] if r["counter_name"] == name and r["device"] == 195 << 20]
smi = [float(line.split(",")[column]) for line in open("smi") if line.count(",") == 6]
theirs, ours = sum(smi) / len(smi), rows[0]["mean"] / scale
print("%s: %.1f, nvidia-smi %.1f (%d values, %d here)" % (name, ours, theirs, len(smi), rows[0]["values"]))
sys.exit(abs(ours - theirs) > absolute + relative * abs(theirs))' "${@:2}" 2>&1)
	status=$?
	echo "# $1: $output"
	check "$1: $3 is what nvidia-smi says" exits 0
}

compare_all() { # PHASE: both are sampled at their own times, so what changes fast may differ
	compare "$1" 0 power 1000000 0.15 10
	compare "$1" 1 'clock sm' 1000000 0.15 60
	compare "$1" 2 'clock memory' 1000000 0.1 60
	compare "$1" 3 'busy gpu' 1 0.15 10
	compare "$1" 4 'busy memory' 1 0.15 10
	compare "$1" 5 'memory vram' 1048576 0.02 40
	compare "$1" 6 'temp gpu' 1000 0 3
}

run doctor power
expect "power works here" 0 '^  power +works'
measure idle
compare_all idle
run report p.grt
check "the GPU is named" says '^nvidia0 [0-9a-f:.]+ +- +- +clock sm'

if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
	python3 -c 'import time, torch
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
print("ready", flush=True)
end = time.time() + 60
while time.time() < end:
    for i in range(50):
        b = a @ a
    torch.cuda.synchronize()' >load &
	load=$!
	for ((i = 0; i < 600; i++)); do grep -q ready load && break; sleep 0.1; done
	sleep 2
	measure load
	kill $load
	wait $load 2>/dev/null
	compare_all load
	check "under load it is busy" python3 -c 'import json
r = [r for r in json.load(open("values.json"))["counters"] if r["counter_name"] == "busy gpu"]
assert r[0]["mean"] > 80'
else
	ok "load # SKIP no torch: pip install torch"
fi
echo "# $(grep -a -o 'power_samples = .*' p.grt/metadata)"
plan
