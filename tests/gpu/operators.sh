#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Operators of PyTorch on a machine with an NVIDIA GPU: kernels by operator, from stacks alone, are what PyTorch's profiler
# counts in the same step; steps are the program's; a trace of the profiler itself gives the same kernels.
#
# By hand: GRTRACE_PLAIN=build tests/gpu/operators.sh. Needs PyTorch. GRTRACE_KEEP: a directory for the recording.

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=${GRTRACE:-$GRTRACE_PLAIN/grtrace}
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
python3 -c 'import torch' 2>/dev/null || { echo "no PyTorch: pip install torch" && exit 4; }
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
program=$GRTRACE_SRC/tests/gpu/operators.py

python3 "$program" count theirs.json 2>err | grep '^op ' >theirs
check "PyTorch's profiler counts operators: $(wc -l <theirs)" test -s theirs

# What a step launches is the difference of a long and a short run: the first steps prepare.
for n in 10 30; do
	run record -e cuda -o $n.grt -- python3 "$program" train $n
	check "$n steps are recorded" exits 0
	grep '^step ' <<<"$output" >steps.$n
	"$GRTRACE" report --by op --json $n.grt >op.$n.json
done
check "kernels of each operator, by itself, are PyTorch's" python3 - <<'PY'
import collections, json
def ours(n):
    rows = collections.Counter()
    for r in json.load(open(f"op.{n}.json"))["operators"]:
        rows[r["op"]] += r["kernels_self"]
    return rows
short, long = ours(10), ours(30)
theirs = {}
for line in open("theirs"):
    _, *name, n = line.split()
    theirs[" ".join(name)] = int(n)
wrong = 0
for name in sorted(set(long) | set(theirs), key=str):
    got = (long[name] - short[name]) / 20
    if got != theirs.get(name, 0):
        print(f"{name}: PyTorch {theirs.get(name, 0)}, here {got} (in {long[name]} of 30 steps)")
        wrong += 1
print(len(theirs), "operators,", sum(theirs.values()), "kernels a step")
assert not wrong
PY
"$GRTRACE" report --by op 30.grt | head -n 40 | sed 's/^/# /'
"$GRTRACE" report --by module 30.grt | sed -n '/^modules/,$p' | head -n 12 | sed 's/^/# /'

"$GRTRACE" report --by range --json 30.grt >range.json
"$GRTRACE" report --by step --json 30.grt >step.json
check "30 steps and ranges, which took what the program says, within 100 us" python3 - <<'PY'
import json
told = sorted(int(line.split()[2]) for line in open("steps.30"))
[row] = [r for r in json.load(open("range.json"))["ranges"] if r["range"] == "step #"]
assert row["count"] == len(told) == len(json.load(open("step.json"))["steps"]) == 30
print("in all", row["wall"], "told", sum(told), "longest", row["max"], "told", told[-1])
assert 0 <= sum(told) - row["wall"] < 30 * 100000 and 0 <= told[-1] - row["max"] < 200000
PY
"$GRTRACE" report 30.grt | head -n 12 | sed 's/^/# /'

"$GRTRACE" report --by kernel --json theirs.json >kernels.json
check "a trace of PyTorch's profiler: its kernels, here and by its own list" python3 - <<'PY'
import json
theirs = [e for e in json.load(open("theirs.json"))["traceEvents"] if e.get("cat") == "kernel"]
rows = json.load(open("kernels.json"))["kernels"]
got, want = sum(r["calls"] for r in rows), len(theirs)
assert got == want > 0, (got, want)
PY

# The recording carries its names: read where no file of the program is.
mkdir away
torch=$(dirname "$(python3 -c 'import torch; print(torch.__file__)')")
"$GRTRACE" flame 30.grt -o here.folded 2>err
unshare -m sh -c 'mount --bind away "$1" && exec "$2" flame 30.grt -o away.folded' - "$torch" "$GRTRACE" 2>>err
check "with PyTorch's files away, frames have their names" \
	test "$(grep -c 'at::_ops::' away.folded)" -gt 0 -a "$(md5sum <here.folded)" = "$(md5sum <away.folded)"
[ -z "${GRTRACE_KEEP:-}" ] || tar czf "$GRTRACE_KEEP/operators.tgz" 30.grt theirs.json theirs op.30.json steps.30
plan
