#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tables of CSV that `rocprofv3` writes, as an input: some with known contents, in the forms of several versions.

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
want = {"kernels": collections.defaultdict(lambda: [0, 0]), "copies": collections.defaultdict(lambda: [0, 0])}
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
    calls.append(["HIP_RUNTIME_API" + ("" if old else "_EXT"), function, 4242, 4243, i, t, t + 2500])
marks = [["MARKER_CORE_RANGE_API", "train step", 4242, 4243, 1, 5_000_000_000_500, t], ["MARKER_CORE_API", "a moment", 4242, 4243, 2, t, t]]
hsa = [["HSA_CORE_API", "hsa_signal_load_relaxed", 4242, 4243, i, t - i, t] for i in range(50)]
call = ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
table("4242_kernel_trace.csv", ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id", "Start_Timestamp", "End_Timestamp", "Private_Segment_Size", "Group_Segment_Size", *(f"Workgroup_Size_{x}" for x in "XYZ"), *(f"Grid_Size_{x}" for x in "XYZ")], kernels)
table("4242_memory_copy_trace.csv", ["Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"], copies)
table("4242_hip_api_trace.csv", call, calls)
table("4242_hsa_api_trace.csv", call, hsa)
table("4242_marker_api_trace.csv", call, marks)
json.dump(want | {"calls": len(calls)}, open("want.json", "w"))
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
same("copies", {r["copy"]: [r["calls"], r["total"]] for r in report("copy")["copies"]}, want["copies"])
events = [json.loads(l) for l in subprocess.run([grtrace, "dump", "--json", path], stdout=subprocess.PIPE).stdout.splitlines()]
of = lambda type: [e for e in events if e["type"] == type]
same("launches", len(of("LAUNCH")), want["calls"])
same("ranges", len(of("RANGE")), 1)
grid = {tuple(e[f"grid_{x}"] for x in "xyz") + tuple(e[f"block_{x}"] for x in "xyz") for e in of("GPU_KERNEL")}
same("grid and block", grid, {(16, 2, 1, 64, 2, 1)})
same("of the stream and device", {(e["cuda_stream"], e["gpu"], e["pid"]) for e in of("GPU_KERNEL")}, {(2, 4, 4242)})
same("joined by correlation", len({e["correlation"] for e in of("GPU_KERNEL") + of("GPU_COPY")} & {e["correlation"] for e in of("LAUNCH")}), want["calls"])
print("\n".join(wrong) or "same")
END_PY
for form in new old; do
	python3 make.py ${form#new}
	for table in kernel memory_copy hip_api hsa_api marker_api; do
		output=$(python3 told.py "$GRTRACE" 4242_${table}_trace.csv 2>&1)
		check "$form tables, by that of ${table//_/ }" test "$output" = same
	done
done
mkdir alone
cp 4242_kernel_trace.csv alone/kernels.csv
run report --by kernel alone/kernels.csv
check "a table alone, of another name" exits 0
check "has its kernels" says 'gemm'
gzip -c 4242_kernel_trace.csv >alone/kernels.csv.gz
run report --by kernel alone/kernels.csv.gz
check "packed" exits 0
python3 -c 'import sqlite3; sqlite3.connect("results.db").execute("CREATE TABLE rocpd_string_0a1b (id INTEGER)")'
run report results.db
expect "its database" 1 'not a trace: it is a database of rocprofv3'
check "its database: what to type" says 'rocpd convert -i PATH'
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
