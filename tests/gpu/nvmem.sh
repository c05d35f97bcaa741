#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nvmem on a machine with an NVIDIA GPU: memory of a process against NVML, many allocations, what was there before.
#
# By hand, as root: GRTRACE=build/grtrace tests/gpu/nvmem.sh; needs python3 with PyTorch, nvcc or $NVMEM_LOOP. The number of
# allocations is $NVMEM_CALLS (100000), that of moments for each process $NVMEM_MOMENTS (400); with two GPUs, a process on each.
# shows: nvidia BPF card
set -u
GRTRACE=$(realpath -- "${GRTRACE:-build/grtrace}")
here=$(dirname -- "$(realpath -- "$0")")
PYTHON=${PYTHON:-python3}
calls=${NVMEM_CALLS:-100000}
n_moments=${NVMEM_MOMENTS:-400}
export CUDA_DEVICE_ORDER=PCI_BUS_ID
# GPUs that others share may not be put into a multicast group.
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1
dir=$(mktemp -d) && cd "$dir" || exit 1
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

echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c | xargs), Linux $(uname -r)"
loop=${NVMEM_LOOP:-}
[ -n "$loop" ] || { nvcc -O2 -arch=native -o loop "$here/nvmem_loop.cu" -ldl && loop=./loop; } || exit 1

# Both ranks draw the same numbers, so that their collectives are the same.
world=$(nvidia-smi -L | wc -l)
[ "$world" -lt 3 ] || world=2
cat >ranks.sh <<'END'
for ((rank = 1; rank < $4; rank++)); do
	"$1" "$2" "$3" 1 $rank "$4" &
done
"$1" "$2" "$3" 1 0 "$4"
wait
END
"$GRTRACE" record -e nvmem -o torch.grt -- bash ranks.sh "$PYTHON" "$here/nvmem_torch.py" "$n_moments" "$world" >moments 2>err
tail -n 3 err
check "none is lost" grep -q ' 0 lost' err
"$GRTRACE" dump --json torch.grt >events
check "$world processes with PyTorch, NCCL, cuBLAS, graphs: a process's memory is what NVML says" "$PYTHON" "$here/nvmem_compare.py" nvml moments events
check "the recording's own questions to NVML agree" "$PYTHON" -c "
import json
events = [e for e in map(json.loads, open('events')) if e['type'] == 'NV_MEMORY']
pid = int(open('moments').read().split()[2])
counts = [e['bytes'] for e in events if e['what'] in (6, 'counted') and e['owner'] == pid]
print(len(counts), 'questions', counts[:1], counts[-1:])
assert counts"

"$GRTRACE" record -e nvmem -o loop.grt -- "$loop" "$calls" >lines 2>err
tail -n 3 err
check "$calls allocations: none is lost" grep -q ' 0 lost' err
"$GRTRACE" dump --json loop.grt >events
check "each is there, and each is freed" "$PYTHON" "$here/nvmem_compare.py" loop lines events

rm moments
"$PYTHON" "$here/nvmem_torch.py" 100000 >moments &
program=$!
while [ ! -s moments ]; do sleep 0.1; done
"$GRTRACE" record -e nvmem -p $program -d 2 -o before.grt 2>err
tail -n 3 err
kill $program
"$GRTRACE" report --by gpu-memory before.grt | sed -n '/^memory/,/^$/p'
check "what it had before is counted by NVML, and what came since agrees with it" "$PYTHON" -c "
import json, sys
rows = {r['kind']: r for r in json.load(sys.stdin)['gpu_memory'] if r['gpu']}
print({k: r['live'] for k, r in rows.items()}, rows['allocated']['nvml'])
assert rows['before']['live'] > 0 and 'other' in rows and rows['allocated']['allocations'] > 0" < <("$GRTRACE" report --by gpu-memory --json before.grt)

"$GRTRACE" record -e nvmem --stack=bpf -o stack.grt -- "$PYTHON" "$here/nvmem_torch.py" 20 >moments 2>err
tail -n 3 err
"$GRTRACE" dump --json stack.grt >events
check "allocations have stacks" "$PYTHON" -c "
import json
events = [e for e in map(json.loads, open('events')) if e['type'] == 'NV_MEMORY' and e['what'] in (1, 'allocated')]
have = sum(e['user'] != 0 for e in events)
print(have, 'of', len(events))
assert have > 0.9 * len(events)"
"$GRTRACE" flame --weight peak -o peak.folded stack.grt && awk '{ print $NF, $0 }' peak.folded | sort -rn | head -n 8 | cut -c1-600
"$GRTRACE" report --by gpu-memory torch.grt
"$GRTRACE" timeline torch.grt | grep -A 4 'memory from NVIDIA'
exit $failed
