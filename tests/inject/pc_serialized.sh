#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# record --pc-sampling=serialized: a sample has the number of its launch, and flame shows it under the stack of that
# launch, to the sample; what cannot be told apart, since one launch of a graph runs a kernel twice, is marked.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH MOCK_LOG
GRTRACE=$GRTRACE_PLAIN/grtrace
CUBIN=$GRTRACE_SRC/tests/inject/cubin

sample() { # OPTION [NAME=VALUE...]
	rm -rf pc.grt
	env "${@:2}" timeout 60 "$GRTRACE" record -e cuda "$1" -o pc.grt "$MOCK/sampled" "$CUBIN/lines.cubin" launches >happened 2>said
	status=$?
	"$GRTRACE" flame --weight samples -o samples.folded pc.grt 2>told
	"$GRTRACE" dump --json pc.grt >dump.json 2>&1
	output=$(<told)
}

# exact: each sample is under the function that launched its kernel. sums: of each kernel, under all of them.
cat >compare.py <<'END2'
import collections, json, sys
how, lines = sys.argv[1], sys.argv[2]
lines = {tuple(l.split()[:2]): l.rstrip().split(" ", 2)[2] for l in open(lines) if l[0] != "#"}
want, got = collections.Counter(), collections.Counter()
for w in map(str.split, open("happened")):
    line = lines.get((w[0], hex(int(w[1], 16))), "?")
    place = "lines.cu:" + line if line.isdigit() else "+" + hex(int(w[1], 16))
    want[w[0], w[4], place, w[2]] += int(w[3])
callers = {caller for _, caller, _, _ in want}
for l in open("samples.folded"):
    stack, n = l.rstrip().rsplit(" ", 1)
    host, _, below = stack.partition(";[GPU_Kernel]")
    kernel, *_, place, reason = below.split(";")
    caller = [f for f in host.split(";") if f in callers]
    got[kernel, caller[0] if caller else "none", place.split(" ")[-1], reason.strip("[]")] += int(n)
if how == "sums":
    def by_kernel(c):
        s = collections.Counter()
        for (kernel, _, place, reason), n in c.items(): s[kernel, place, reason] += n
        return s
    assert by_kernel(got) == by_kernel(want), (by_kernel(got), by_kernel(want))
    assert got != want, "the kernels' times are no help to tell that"
else:
    assert got == want, (got - want, want - got)
    print("samples", sum(got.values()), "of the graph", sum(n for k, n in got.items() if k[0] == "nodes"))
END2
compare() { python3 compare.py "$1" "$CUBIN/lines.txt"; }

# Each record's launch is there, and has a kernel of that name.
cat >joined.py <<'END2'
import json
events = [e for e in map(json.loads, open("dump.json")) if isinstance(e, dict)]
names = {e["number"]: e["text"] for e in events if e["type"] == "STRING"}
text = lambda v: names[v] if isinstance(v, int) else v
launches = {e["correlation"] for e in events if e["type"] == "LAUNCH"}
kernels = {(e["correlation"], text(e["name"])) for e in events if e["type"] == "GPU_KERNEL"}
samples = [e for e in events if e["type"] == "PC_SAMPLE"]
bad = [e for e in samples if e["correlation"] not in launches or (e["correlation"], text(e["function"])) not in kernels]
print("samples", len(samples), "of no launch", len(bad), "launches", len({e["correlation"] for e in samples}))
END2

sample --pc-sampling=serialized
check "the program ends" test $status = 0
check "it is said what serializing does" grep -q 'makes kernels run one by one' said
compare exact >facts 2>&1
output=$(<facts)
check "each sample is under the launch that CUPTI names" says '^samples [1-9][0-9]+ of the graph 1000$'
output=$(python3 joined.py)
check "by the number of the LAUNCH record" says '^samples [1-9][0-9]* of no launch 0 launches 136$'
output=$(<told)
all=$(sed -n 's/^samples \([0-9]*\) .*/\1/p' facts)
exact=$(awk -v a="${all:-1}" 'BEGIN { printf "%.1f", 100 * (a - 1000) / a }')
rest=$(awk -v a="${all:-1}" 'BEGIN { printf "%.1f", 100 * 1000 / a }')
check "which is said ($exact %)" says "$exact % belong to a launch that CUPTI names"
check "a kernel that one launch of a graph runs twice is marked ($rest %)" says "$rest % belong to kernels that several stacks launched: inferred"

sample --pc-sampling=serialized:12
check "serialized:PERIOD" compare exact

sample --pc-sampling
check "without it: all samples of each kernel, and not under the right functions" compare sums
output=$(<told)
check "without it they are inferred" says 'belong to kernels that several stacks launched: inferred'

sample --pc-sampling=serialized MOCK_PC=full
check "full: the program and its recording end" test "$status" = 0
"$GRTRACE" report --by stall pc.grt >stall.txt
check "full: it is said" grep -q "the hardware's buffer was full in 1 context" stall.txt
output=$(python3 joined.py)
check "full: what was before is of its launches" says '^samples [1-9][0-9]* of no launch 0 launches [1-9]'

sample --pc-sampling=serialized MOCK_VERSION=20
check "CUDA 12.2: refused, with what to type" grep -q 'no PC samples: .*CUDA 12.4 or later' said
check "CUDA 12.2: the rest is recorded" grep -q '"type":"GPU_KERNEL"' dump.json

for bad in serialized: serialized:4 serialized:32 serialized:x serializedx; do
	run record -e cuda --pc-sampling=$bad -o bad.grt true
	expect "--pc-sampling=$bad is refused" 2 'serialized:PERIOD'
done
plan
