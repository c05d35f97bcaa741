#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tables of CSV and JSON that `rocprofv3` writes, as an input: some with known contents, in the forms of several versions
# (ROCprofiler-SDK to 1.0: source/docs/data/*.csv, source/lib/output/generateJSON.cpp).

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

cat >make.py <<'END_PY'
import collections, csv, json, random, sys
random.seed(7)
old = len(sys.argv) > 1
quote = csv.QUOTE_NONNUMERIC
def table(name, header, rows):
    order = list(range(len(header)))
    if old:
        random.shuffle(order)
    with open(name, "w", newline="") as f:
        w = csv.writer(f, quoting=quote, lineterminator="\r\n" if old else "\n")
        w.writerow([header[i] for i in order])
        w.writerows([[row[i] for i in order] for row in rows])
names = ["void gemm<float, 4>(float*, int)", 'say "hi", twice', "relu(float*)"]
calls, kernels, copies, marks = [], [], [], []
want = {"kernels": collections.defaultdict(lambda: [0, 0]), "copies": collections.defaultdict(lambda: [0, 0, 0]), "unsized": collections.Counter()}
t = 5_000_000_000_000
for i in range(1, 301):
    t += random.randrange(20_000, 60_000)
    if i % 4:
        function, name = ("hipLaunchKernel", names[i % 3]) if i % 5 else ("hipModuleLaunchKernel", names[0])
        start = t + random.randrange(3000, 9000)
        length = random.randrange(500, 15_000)
        kernels.append(["KERNEL_DISPATCH", "Agent 4" if old else 4, 9, 2, 4242, i, 5, name, i, start, start + length, 0, 1024, 64, 2, 1, 1000, 4, 1])
        want["kernels"][name][0] += 1
        want["kernels"][name][1] += length
    else:
        function = "hipMemcpyAsync"
        start = t + random.randrange(3000, 9000)
        length = random.randrange(1000, 10_000)
        way = random.choice([("HOST_TO_DEVICE", "HtoD", 0, 4), ("DEVICE_TO_HOST", "DtoH", 4, 0), ("DEVICE_TO_DEVICE", "DtoD", 4, 4)])
        copies.append(["MEMORY_COPY", ("" if old else "MEMORY_COPY_") + way[0], 2, *way[2:], i, start, start + length])
        want["copies"][way[1]][0] += 1
        want["copies"][way[1]][1] += length
        # older versions do not write how many bytes, and newer ones do so in JSON alone
        bytes = None if old else i * 100
        copies[-1].append(bytes)
        want["copies"][way[1]][2] += bytes or 0
        want["unsized"][way[1]] += old
    calls.append(["HIP_RUNTIME_API" + ("" if old else "_EXT"), function, 4242, 4243, i, t, t + 2500])
marks = [["MARKER_CORE_RANGE_API", "train step", 4242, 4243, 2000, 5_000_000_000_500, t + 3000], ["MARKER_CORE_API", "a moment", 4242, 4243, 2001, t, t]]
hsa = [["HSA_CORE_API", "hsa_signal_load_relaxed", 4242, 4243, 1000 + i, t - i, t] for i in range(50)]
call = ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
table("4242_kernel_trace.csv", ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id", "Start_Timestamp", "End_Timestamp", "Private_Segment_Size", "Group_Segment_Size", *(f"Workgroup_Size_{x}" for x in "XYZ"), *(f"Grid_Size_{x}" for x in "XYZ")], kernels)
table("4242_memory_copy_trace.csv", ["Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"], [c[:-1] for c in copies])
table("4242_hip_api_trace.csv", call, calls)
table("4242_hsa_api_trace.csv", call, hsa)
table("4242_marker_api_trace.csv", call, marks)
json.dump(want | {"calls": len(calls)}, open("want.json", "w"))
# the same as JSON
kinds = ["NONE", "HSA_CORE_API", "HIP_RUNTIME_API", "MARKER_CORE_API" if old else "MARKER_CORE_RANGE_API", "MEMORY_COPY", "KERNEL_DISPATCH"]
ops = {"MEMORY_COPY": ["NONE", "HOST_TO_HOST", "HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE"], "HSA_CORE_API": ["hsa_init", "hsa_signal_load_relaxed"],
       "HIP_RUNTIME_API": ["hipLaunchKernel", "hipModuleLaunchKernel", "hipMemcpyAsync"], "KERNEL_DISPATCH": ["NONE", "ENQUEUE", "COMPLETE"], "NONE": [],
       kinds[3]: ["roctxMarkA", "roctxRangePushA"] if old else ["roctxMarkA", "roctxThreadRangeA", "roctxProcessRangeA"]}
if not old:
    ops["MEMORY_COPY"] = ["MEMORY_COPY_" + o for o in ops["MEMORY_COPY"]]
def base(kind, op, tid, corr, start, end):
    return {"size": 64, "kind": kinds.index(kind), "operation": ops[kind].index(op), "thread_id": tid, "correlation_id": {"internal": corr, "external": 0} | ({} if old else {"ancestor": 0}), "start_timestamp": start, "end_timestamp": end}
handle = lambda n: {"handle": n}
agents = [{"size": 320, "id": handle(h), "type": 1 + bool(n), "node_id": n + 1, "logical_node_id": n} for h, n in ((7001, 0), (7005, 4))]
handles = {a["logical_node_id"]: a["id"]["handle"] for a in agents}
xyz = lambda v: dict(zip("xyz", v))
buffers = {
    "kernel_dispatches" if old else "kernel_dispatch": [
        base("KERNEL_DISPATCH", "COMPLETE", 4243, k[8], k[9], k[10]) | {"dispatch_info": {"size": 120, "agent_id": handle(7005), "queue_id": handle(2 if old else 9), "kernel_id": names.index(k[7]) + 1,
         "dispatch_id": k[5], "private_segment_size": 0, "group_segment_size": 1024, "workgroup_size": xyz(k[13:16]), "grid_size": xyz(k[16:])}} | ({} if old else {"stream_id": handle(2)}) for k in kernels],
    "hip_api": [base("HIP_RUNTIME_API", c[1], c[3], *c[4:]) | {"args": [{"type": "int", "name": "start_timestamp", "value": "1"}]} for c in calls],
    "hsa_api": [base(*h[:2], *h[3:]) for h in hsa],
    "marker_api": [base(kinds[3], ops[kinds[3]][n], 4243, *m[4:]) for n, m in ((1, marks[0]), (0, marks[1]))],
    "memory_copies" if old else "memory_copy": [base("MEMORY_COPY", c[1], 4243, *c[5:8]) | {"dst_agent_id": handle(handles[c[4]]), "src_agent_id": handle(handles[c[3]])} | ({} if old else {"bytes": c[8], "stream_id": handle(2)}) for c in copies],
}
process = {"metadata": {"pid": 4242, "init_time": 1, "fini_time": 2, "config": {"kind": 5}, "command": ["/opt/app/train", "--steps"]}, "agents": agents, "counters": [],
    "strings": {"callback_records": [], "buffer_records": [{"kind": k, "operations": ops[k]} for k in kinds], "marker_api": [{"key": m[4], "value": m[1]} for m in marks]},
    "code_objects": [], "kernel_symbols": [{"kernel_id": i, "kernel_name": f"_Z{i}k.kd", "formatted_kernel_name": n, "truncated_kernel_name": "k"} for i, n in enumerate([""] + names)],
    "host_functions": [], "summary": [{"domain": "KERNEL_DISPATCH", "stats": {"count": 1}}], "callback_records": {"counter_collection": []}, "buffer_records": buffers}
if old:  # in another order
    process = dict(reversed(process.items()))
json.dump({"rocprofiler-sdk-tool": [process]}, open("4242_results.json", "w"), indent=1 if old else None)
END_PY
cat >told.py <<'END_PY'
import json, subprocess, sys
grtrace, path = sys.argv[1:]
want = json.load(open("want.json"))
def report(by):
    return json.loads(subprocess.run([grtrace, "report", "--by", by, "--top", "0", "--json", path], stdout=subprocess.PIPE).stdout)
wrong = []
def same(what, got, wanted):
    if got != wanted:
        wrong.append(f"{what}: {got}, in the file {wanted}")
same("kernels", {r["kernel"]: [r["calls"], r["total"]] for r in report("kernel")["kernels"]}, want["kernels"])
copies, sized = report("copy")["copies"], path.endswith("json") and not any(want["unsized"].values())
same("copies", {r["copy"]: [r["calls"], r["total"], r.get("bytes")] for r in copies}, {c: v[:2] + [v[2] if sized else None] for c, v in want["copies"].items()})
same("copies of unknown size", {r["copy"]: r["unsized"] for r in copies}, {c: 0 if sized else v[0] for c, v in want["copies"].items()})
same("bandwidth", [r["copy"] for r in copies if r.get("bandwidth", 0) and abs(r["bandwidth"] * want["copies"][r["copy"]][1] / 1e9 / want["copies"][r["copy"]][2] - 1) < 1e-6], [r["copy"] for r in copies if sized])
events = [json.loads(l) for l in subprocess.run([grtrace, "dump", "--json", path], stdout=subprocess.PIPE).stdout.splitlines()]
of = lambda type: [e for e in events if e["type"] == type]
same("launches", len(of("LAUNCH")), want["calls"])
same("ranges", len(of("RANGE")), 1)
same("sizes", sum("bytes" in e for e in of("GPU_COPY")), sum(v[0] for v in want["copies"].values()) if sized else 0)
inside = [r for r in report("range")["ranges"] if r["range"] == "train step"]
gpu = sum(v[1] for v in [*want["kernels"].values(), *want["copies"].values()])
same("GPU time of the range", [(r["launches"], r["gpu"]) for r in inside], [(want["calls"], gpu)])
grid = {tuple(e[f"grid_{x}"] for x in "xyz") + tuple(e[f"block_{x}"] for x in "xyz") for e in of("GPU_KERNEL")}
same("grid and block", grid, {(16, 2, 1, 64, 2, 1)})
same("of the stream and device", {(e["cuda_stream"], e["gpu"], e["pid"]) for e in of("GPU_KERNEL")}, {(2, 4, 4242)})
same("joined by correlation", len({e["correlation"] for e in of("GPU_KERNEL") + of("GPU_COPY")} & {e["correlation"] for e in of("LAUNCH")}), want["calls"])
print("\n".join(wrong) or "same")
END_PY
for form in new old; do
	python3 make.py ${form#new}
	output=$(python3 told.py "$GRTRACE" 4242_results.json 2>&1)
	check "$form JSON" test "$output" = same
	for table in kernel memory_copy hip_api hsa_api marker_api; do
		output=$(python3 told.py "$GRTRACE" 4242_${table}_trace.csv 2>&1)
		check "$form tables, by that of ${table//_/ }" test "$output" = same
	done
done
# As `rocpd convert --output-format csv` spells the columns of a database of rocprofv3.
cat >out_kernel_trace.csv <<'END'
"Guid","Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Lds_Block_Size","Scratch_Size","Vgpr_Count","Accum_Vgpr_Count","Sgpr_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"0000aaaa-00d1-70d1-a5cb-000000000000","KERNEL_DISPATCH","Agent 4",1,0,4243,1,3,"norm",1,1678314002982197,1678314003082277,8456,0,16,0,32,256,1,1,233472,1,1
END
run dump --type gpu_kernel --json out_kernel_trace.csv
check "a table of rocpd has registers and shared memory" says '"name":"norm","gpu":4,.*"grid_x":912,.*"block_x":256,.*"registers":16,"shared_static":8456,'
rm out_kernel_trace.csv
# HIP and HSA at once: work has the correlation of HSA's call, which was made in that of HIP. What the commands print
# is computed by hand: epoch runs from 100 to 900, in it load from 200 to 500, in that the copy; upload, which any
# thread may end, from 150 on.
cat >both.json <<'END'
{"rocprofiler-sdk-tool": [{"metadata": {"pid": 77, "command": ["/opt/app/infer"]},
 "agents": [{"id": {"handle": 10}, "type": 1, "logical_node_id": 0}, {"id": {"handle": 11}, "type": 2, "logical_node_id": 1}],
 "strings": {"buffer_records": [{"kind": "HSA_CORE_API", "operations": ["hsa_signal_store_screlease", "hsa_init"]},
   {"kind": "HSA_AMD_EXT_API", "operations": ["hsa_amd_memory_async_copy_on_engine"]},
   {"kind": "HIP_RUNTIME_API", "operations": ["hipLaunchKernel", "hipMemcpy", "hipDeviceSynchronize", "hipGetDevice"]},
   {"kind": "MARKER_CORE_RANGE_API", "operations": ["roctxMarkA", "roctxThreadRangeA", "roctxProcessRangeA"]},
   {"kind": "MEMORY_COPY", "operations": ["NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE"]},
   {"kind": "KERNEL_DISPATCH", "operations": ["NONE", "ENQUEUE", "COMPLETE"]}],
  "marker_api": [{"key": 1, "value": "epoch"}, {"key": 2, "value": "load"}, {"key": 3, "value": "upload"}, {"key": 4, "value": "now"}]},
 "kernel_symbols": [{"kernel_id": 5, "kernel_name": "_Z1kv.kd", "formatted_kernel_name": "k()"}],
 "buffer_records": {
  "kernel_dispatch": [{"kind": 5, "operation": 2, "thread_id": 78, "correlation_id": {"internal": 21, "external": 0}, "start_timestamp": 1000, "end_timestamp": 1700,
    "dispatch_info": {"agent_id": {"handle": 11}, "queue_id": {"handle": 3}, "kernel_id": 5, "workgroup_size": {"x": 64, "y": 1, "z": 1}, "grid_size": {"x": 130, "y": 1, "z": 1}}, "stream_id": {"handle": 4}}],
  "hip_api": [{"kind": 2, "operation": 1, "correlation_id": {"internal": 10}, "start_timestamp": 300, "end_timestamp": 400, "thread_id": 78},
   {"kind": 2, "operation": 0, "correlation_id": {"internal": 20}, "start_timestamp": 600, "end_timestamp": 700, "thread_id": 78},
   {"kind": 2, "operation": 3, "correlation_id": {"internal": 30}, "start_timestamp": 720, "end_timestamp": 730, "thread_id": 78},
   {"kind": 2, "operation": 2, "correlation_id": {"internal": 40}, "start_timestamp": 800, "end_timestamp": 1800, "thread_id": 79}],
  "hsa_api": [{"kind": 1, "operation": 0, "correlation_id": {"internal": 11, "ancestor": 10}, "start_timestamp": 310, "end_timestamp": 390, "thread_id": 78},
   {"kind": 0, "operation": 0, "correlation_id": {"internal": 21, "ancestor": 20}, "start_timestamp": 610, "end_timestamp": 690, "thread_id": 78},
   {"kind": 0, "operation": 1, "correlation_id": {"internal": 22, "ancestor": 20}, "start_timestamp": 691, "end_timestamp": 692, "thread_id": 78}],
  "marker_api": [{"kind": 3, "operation": 1, "correlation_id": {"internal": 1}, "start_timestamp": 100, "end_timestamp": 900, "thread_id": 78},
   {"kind": 3, "operation": 1, "correlation_id": {"internal": 2}, "start_timestamp": 200, "end_timestamp": 500, "thread_id": 78},
   {"kind": 3, "operation": 2, "correlation_id": {"internal": 3}, "start_timestamp": 150, "end_timestamp": 650, "thread_id": 78},
   {"kind": 3, "operation": 0, "correlation_id": {"internal": 4}, "start_timestamp": 160, "end_timestamp": 160, "thread_id": 78}],
  "memory_copy": [{"kind": 4, "operation": 2, "thread_id": 78, "correlation_id": {"internal": 11}, "start_timestamp": 400, "end_timestamp": 650,
    "dst_agent_id": {"handle": 11}, "src_agent_id": {"handle": 10}, "bytes": 4096, "stream_id": {"handle": 4}}]}}]}
END
run flame both.json
check "HSA's call is the launch, in HIP's, in the ranges" test "$(grep -v "^grtrace" <<<"$output" | sort)" = "$(printf '%s\n' \
	'infer;[nvtx] epoch;[nvtx] load;hipMemcpy;hsa_amd_memory_async_copy_on_engine;[GPU_Memcpy HtoD] 250' \
	'infer;[nvtx] epoch;hipLaunchKernel;hsa_signal_store_screlease;[GPU_Kernel]k() 700')"
output=$("$GRTRACE" report --by range --json both.json | jq -c '[.ranges[] | [.range, .count, .wall, .gpu]] | sort')
check "ranges" test "$output" = '[["epoch",1,800,950],["load",1,300,250],["upload",1,500,null]]'
output=$("$GRTRACE" dump --type launch --json both.json | jq -c '[.call, .tid, .begin]')
check "launches and waits, by thread" test "$output" = "$(printf '%s\n' '["hsa_amd_memory_async_copy_on_engine",78,310]' \
	'["hsa_signal_store_screlease",78,610]' '["hipDeviceSynchronize",79,800]')"
jq -S . both.json >sorted.json
"$GRTRACE" dump --json both.json >want
"$GRTRACE" dump --json sorted.json >got
check "records may stand before what their numbers mean" cmp -s want got
bad_json() { # NAME FILTER REGEX
	jq "$2" both.json >bad.json
	run report bad.json
	expect "JSON: $1" 1 "bad.json: $3"
}
tool='."rocprofiler-sdk-tool"[0].buffer_records'
bad_json "no end" "del($tool.hip_api[1].end_timestamp)" 'record 3: cannot read: it has no times'
bad_json "an end before the start" "$tool.hip_api[0].end_timestamp = 1" 'record 2: cannot read: it has no times, or ends before'
bad_json "no records" "$tool = {}" 'nothing to read in 0 records: none of its records'
head -c 3000 both.json >cut.json
run report cut.json
expect "JSON that is cut" 1 'cut.json: record [0-9]+: cannot read: it is no JSON, or ends before its trace does'
mkdir alone
"$GRTRACE" export -f perfetto 4242_kernel_trace.csv 2>err |
	protoc --proto_path "$GRTRACE_SRC/tests/cli" --decode=Trace "$GRTRACE_SRC/tests/cli/_perfetto.proto" >drawn.txt
output=$(sed -n '/contexts {/,/}/p; /HIP\|CUDA/p' drawn.txt | sort | uniq -c | awk '{ $1 = ""; print }')
check "in Perfetto it is work of HIP" says '^ api: 5$'
check "and so are its tracks" says '"HIP calls of thread 4243"'
check "none is CUDA's" test -z "$(grep -e 'api: 4' -e CUDA <<<"$output")"
cp 4242_kernel_trace.csv alone/kernels.csv
run report --by kernel alone/kernels.csv
check "a table alone, of another name" exits 0
check "has its kernels" says 'gemm'
packed_alike both.json alone/kernels.csv
run report .
expect "the directory" 1 '[.]: not a grtrace recording: it has tables of rocprofv3'
check "the directory: what to type" says 'try: one of them, such as .*NUMBER_kernel_trace[.]csv'
python3 -c 'import sqlite3; sqlite3.connect("results.db").execute("CREATE TABLE rocpd_string_0a1b (id INTEGER)")'
run report results.db
expect "its database" 1 'not a trace: it is a database of rocprofv3'
check "its database: what to type" says 'rocpd convert -i results.db'
# several processes in one table
python3 make.py
awk -F, -v OFS=, 'NR == 1 { print; next } { $3 = NR % 2 ? 4242 : 4343; print }' 4242_hip_api_trace.csv >alone/two.csv
run dump --json alone/two.csv
check "two processes in a table are two" test "$("$GRTRACE" dump --json --type launch alone/two.csv | jq -r .pid | sort | uniq -c | awk '{ print $1 $2 }' | xargs)" = "1504242 1504343"
bad() { # NAME LINE REGEX: the kernel's table with another 7th line
	sed "7s/.*/$2/" 4242_kernel_trace.csv >alone/bad.csv
	run report alone/bad.csv
	expect "$1" 1 "bad.csv.*: line 7: cannot read: $3"
}
bad "a row with fewer columns" '"KERNEL_DISPATCH",4,1' 'it has not the columns'
bad "an open quote" '"KERNEL_DISPATCH,4,1' 'it has not the columns'
head -n 1 4242_hip_api_trace.csv >alone/none.csv
run report alone/none.csv
expect "no rows" 1 'none.csv: nothing to read'
python3 make.py
sed -i '3s/,[0-9]*$/,1/' 4242_kernel_trace.csv
sed 's/\("KERNEL_DISPATCH",.*,\)5[0-9]*,\(5[0-9]*,0,1024\)/\1,\2/' 4242_kernel_trace.csv >alone/times.csv
run report alone/times.csv
expect "no time" 1 'it has no times'
plan
