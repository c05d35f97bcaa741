#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Traces of PyTorch's profiler as an input: a file with known contents, and what a second program counts in it.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

# As Kineto writes: in no order of time, microseconds with a base, stamps with three decimals.
cat >make.py <<'END'
import gzip, json, random, sys
random.seed(int(sys.argv[1]))
events = [{"ph": "M", "name": "process_name", "ts": 0, "pid": 4711, "tid": 0, "args": {"name": "python3"}},
          {"ph": "M", "name": "process_name", "ts": 0, "pid": 0, "tid": 0, "args": {"name": "GPU 0"}}]
us = 1000
for step in range(20):
    begin = us
    for i in range(50):
        n = step * 50 + i + 1
        gpu, stream = i % 2, 7 + i % 3
        cat = "cuda_driver" if i % 5 == 0 else "cuda_runtime"
        call = "cuLaunchKernel" if i % 5 == 0 else "cudaLaunchKernel"
        if i % 10 == 9:
            call, cat = "cudaMemcpyAsync", "cuda_runtime"
        dur = random.randrange(2000, 9000) / 1000
        events.append({"ph": "X", "cat": cat, "name": call, "pid": 4711, "tid": 4711 + i % 2, "ts": us, "dur": dur,
                       "args": {"correlation": n, "External id": n}})
        events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 4711, "tid": 4711, "ts": us - 1,
                       "dur": dur + 2, "args": {"External id": n}})
        work = {"ph": "X", "cat": "kernel", "name": f"gemm_{i % 4}<int, {i % 4}>", "pid": gpu, "tid": stream,
                "ts": us + 15, "dur": random.randrange(1000, 20000) / 1000,
                "args": {"correlation": n, "device": gpu, "stream": stream, "context": 1 + gpu,
                         "registers per thread": 32, "shared memory": 1024, "grid": [n, 2, 1], "block": [128, 1, 1]}}
        if i % 10 == 9:
            work.update(cat="gpu_memcpy", name="Memcpy HtoD (Pageable -> Device)")
            work["args"]["bytes"] = 4096
        events.append(work)
        us += 30
    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaGetDevice", "pid": 4711, "tid": 4711, "ts": us,
                   "dur": 1, "args": {"correlation": 100000 + step}})
    events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 4711, "tid": 4711,
                   "ts": begin, "dur": us - begin})
random.shuffle(events)
json.dump({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
           "deviceProperties": [], "traceEvents": events, "baseTimeNanoseconds": 1700000000000000000,
           "traceName": "run.json"}, open("run.json", "w"), indent=1 if sys.argv[1] == "1" else None)
gzip.open("run.json.gz", "w").write(open("run.json", "rb").read())
END
# What is in it, in ns.
cat >count.py <<'END'
import collections, json
kernels, copies, spans = collections.defaultdict(lambda: [0, 0]), [0, 0, 0], collections.defaultdict(list)
ns = lambda us: round(us * 1000)
for e in json.load(open("run.json"))["traceEvents"]:
    if e.get("cat") not in ("kernel", "gpu_memcpy"):
        continue
    at = e["args"]
    spans[at["device"]].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
    if e["cat"] == "kernel":
        kernels[e["name"], at["device"]][0] += 1
        kernels[e["name"], at["device"]][1] += ns(e["dur"])
    else:
        copies[0] += 1
        copies[1] += ns(e["dur"])
        copies[2] += at["bytes"]
totals = collections.defaultdict(lambda: [0, 0])
for (name, _), (n, t) in kernels.items():
    totals[name][0] += n
    totals[name][1] += t
for name in sorted(totals):
    print("kernel", name, *totals[name])
print("copies", *copies)
for gpu in sorted(spans):
    busy = end = 0
    for a, b in sorted(spans[gpu]):
        busy += max(0, b - max(a, end))
        end = max(end, b)
    print("busy", gpu, busy)
END
# The same by report.
cat >told.py <<'END'
import collections, json, subprocess, sys
def table(by, key):
    out = subprocess.run([*sys.argv[1:], "--by", by, "--top", "0", "--json"], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)[key]
totals = collections.defaultdict(lambda: [0, 0])
for r in table("kernel", "kernels"):
    totals[r["kernel"]][0] += r["calls"]
    totals[r["kernel"]][1] += r["total"]
for name in sorted(totals):
    print("kernel", name, *totals[name])
rows = table("copy", "copies")
print("copies", *(sum(r[k] for r in rows) for k in ("calls", "total", "bytes")))
for r in sorted(table("idle", "idle_devices"), key=lambda r: r["device"]):
    print("busy", r["device"].split()[1], r["busy"])
END

for seed in 1 2; do
	python3 make.py $seed && python3 count.py >want
	for file in run.json run.json.gz; do
		python3 told.py "$GRTRACE" report $file >got 2>err
		output=$(cat err; diff want got)
		check "kernels, copies and busy time of $file ($seed) are those of a second program" cmp -s want got
	done
done
run dump --type gpu_kernel --json run.json
check "a kernel's fields" says '"correlation":1,.*"gpu":0,"context":1,"cuda_stream":7,.*"grid_x":1,"grid_y":2,"grid_z":1,"block_x":128,.*"registers":32,"shared_static":1024'
check "all kernels" test "$(grep -c GPU_KERNEL <<<"$output")" = 900
run dump --json run.json
check "calls that launch, and no other" test "$(grep -c '"type":"LAUNCH"' <<<"$output")" = 1000
check "in the order of time" test "$(sed -n 's/.*"time":\([0-9]*\).*/\1/p' <<<"$output" | sort -n -c 2>&1; echo $?)" = 0
check "stamps have the base" says '"time":17000000000'
packed_alike run.json
run report --by rank run.json
expect "the rank and the process" 0 '^ +3 +4711 +python3 '
run report --by range run.json
expect "ranges" 0 'ProfilerStep'
run flame run.json
check "kernels under their calls" says '^python3;\[nvtx\] ProfilerStep#;\[op\] aten::mm;cuLaunchKernel;\[GPU0_Kernel\]gemm_0<int, 0> [0-9]+$' \
	'^python3;cuLaunchKernel;\[GPU1_Kernel\]gemm_1<int, 1> [0-9]+$'
run export -f perfetto -o run.pftrace run.json
check "an export" exits 0
"$GRTRACE" export -f chrome -o exported.json run.json 2>err
output=$(python3 "$GRTRACE_SRC/tests/cli/_hta.py" run.json exported.json 2>&1)
status=$?
check "its export as JSON is the same for Holistic Trace Analysis" exits 0
run report run.json
check "every event has its place" says '^text$' '^  form +cuda_json$'

for kind in "1 python" "2 python" "1 none"; do
	# shellcheck disable=SC2086
	output=$(python3 "$GRTRACE_SRC/tests/cli/_torch.py" "$GRTRACE" $kind 2>&1)
	status=$?
	check "operators, functions, modules and ranges are those in which launches were made ($kind)" exits 0
done
run report --by op ops.json
check "phases of operators" says '^aten::mm +backward ' '^aten::_foreach_add_ +optimizer '
run report --by step ops.json
check "annotations are steps" says 'the steps are the NVTX ranges "ProfilerStep#"'

head -c 20000 run.json >cut.json
run report cut.json
expect "a file that is cut" 1 'cut.json: cannot read further after event [0-9]+: the file ends before its trace does'
printf '{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{"ph": "X", "cat": "cpu_op"}]}\n' >none.json
run report none.json
expect "one without work of a GPU" 1 "none.json: event 1 to 1: nothing to read: none of its events is"
printf '{"deviceProperties": [}\n' >bad.json
run report bad.json
expect "one that is no JSON" 1 'bad.json: event 1: cannot read: it is no JSON'
plan
