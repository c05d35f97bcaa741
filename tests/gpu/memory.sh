#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# memory.sh: devices, windows and memory of a PyTorch program on the card, against PyTorch's own numbers.
# Needs a GPU, python3 with PyTorch, and a build (make).
# shellcheck disable=SC2016
set -u
GRTRACE=${GRTRACE:-build/grtrace}
PYTHON=${PYTHON:-python3}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

check() { # NAME COMMAND...
	local name=$1

	shift
	if "$@"; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		failed=1
	fi
}

cat >"$dir/program.py" <<'END'
import json, sys, torch
out = sys.argv[1]
p = torch.cuda.get_device_properties(0)
a = torch.randn(1024, 1024, device="cuda")
for i in range(20): a = a @ a
torch.cuda.synchronize()
torch.cuda.profiler.start()
for i in range(100): a = torch.relu(a)
torch.cuda.synchronize()
torch.cuda.profiler.stop()
for i in range(20): a = a @ a
torch.cuda.synchronize()
keep = [torch.empty(64 << 20, dtype=torch.uint8, device="cuda") for i in range(5)]
json.dump({"name": p.name, "sms": p.multi_processor_count, "uuid": str(getattr(p, "uuid", "")),
           "reserved": torch.cuda.memory_reserved(), "peak": torch.cuda.max_memory_reserved()}, open(out, "w"))
sys.stdout.flush()
import os, signal, time
time.sleep(0.5)
os._exit(0)
END

"$GRTRACE" record -e cuda --capture-range=cudaProfilerApi -o "$dir/r.grt" -- "$PYTHON" "$dir/program.py" "$dir/own.json"
for by in device kernel allocation; do
	"$GRTRACE" report --by $by --json "$dir/r.grt" >"$dir/$by.json"
done
"$GRTRACE" report --by device -v "$dir/r.grt"
"$GRTRACE" report --by kernel -v "$dir/r.grt"
"$GRTRACE" report --by allocation "$dir/r.grt" | cut -c1-300
cat "$dir/own.json"
compare() {
	(cd "$dir" && "$PYTHON" -c "
import json
own = json.load(open('own.json'))
device = json.load(open('device.json'))['devices'][0]
kernels = json.load(open('kernel.json'))['kernels']
memory = [r for r in json.load(open('allocation.json'))['allocations'] if r['gpu'] is not None]
assert $1")
}
check "the device's name and multiprocessors" compare "device['device'] == own['name'] and device['sms'] == own['sms'], device"
check "its UUID" compare "own['uuid'] in device['uuid'], (device['uuid'], own['uuid'])"
check "UUID as nvidia-smi has it" grep -q "$(nvidia-smi -i 0 --query-gpu=uuid --format=csv,noheader)" "$dir/device.json"
check "the window has 100 kernels, and no other" compare "sum(r['calls'] for r in kernels) == 100, kernels"
check "they have an occupancy" compare "all(r['occupancy'] for r in kernels), kernels"
check "memory that PyTorch has reserved, to the byte" compare "sum(r['live'] for r in memory if 'CUDACachingAllocator' in r['frames']) == own['reserved'], ([(r['kind'], r['live'], r['frames'].split(';')[-1]) for r in memory], own)"
exit $failed
