# SPDX-License-Identifier: GPL-2.0
"""Random GPU work whose numbers are known, as files of other tools: what _gpu_reports.py and _gpu_steps.py compare with.
Records are in no order; work takes no time, starts before its call (another clock), overlaps, lacks its call, or is one of
several of a call; ranges nest. The same streams and correlation ids are in each process."""

import collections
import csv
import json
import math
import os
import random
import sqlite3
import subprocess
import sys

FAULTS = []
COUNT = collections.Counter()

# kind: K: kernel, C: copy, S: fill; way: of a copy
Work = collections.namedtuple("Work", "kind name pid gpu context stream start end corr bytes way pageable")
Call = collections.namedtuple("Call", "pid tid corr name begin end")
Range = collections.namedtuple("Range", "pid tid name begin end")

HIP = {"cudaLaunchKernel": "hipLaunchKernel", "cuLaunchKernel": "hipModuleLaunchKernel", "cudaMemcpyAsync": "hipMemcpyAsync",
       "cudaMemsetAsync": "hipMemsetAsync"}
WAYS = {"HtoD": (1, "HOST_TO_DEVICE"), "DtoH": (2, "DEVICE_TO_HOST"), "DtoD": (8, "DEVICE_TO_DEVICE")}


def same(what, says, want, part=0):
    """@part: of the value, by which it may differ"""
    COUNT["compared"] += 1
    near = part and says is not None and want is not None and abs(says - want) <= part * abs(want)
    if says != want and not near:
        FAULTS.append(f"{what}: says {says}, want {want}")


def read(*args):
    ran = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if ran.returncode or ran.stderr.startswith("grtrace: "):
        FAULTS.append(f"{args}: {ran.returncode}: {ran.stderr}")
    return ran.stdout


def table(grtrace, by, name):
    return json.loads(read(grtrace, "report", "--json", "--by", by, "--top", "0", name))


def finish(least):
    print(f"{COUNT['compared']} numbers compared, {len(FAULTS)} differ")
    print("\n".join(fault[:400] for fault in FAULTS[:20]))
    sys.exit(bool(FAULTS) or COUNT["compared"] < least)


def union(spans, first, last):
    busy, reached = 0, first
    for start, end in sorted(spans):
        start, end = max(start, reached), min(end, last)
        busy += max(0, end - start)
        reached = max(reached, end)
    return busy


def rank(values, permille):
    """The value that so many of them do not exceed."""
    return sorted(values)[max(1, math.ceil(len(values) * permille / 1000)) - 1] if values else None


def mean(values):
    return (2 * sum(values) + len(values)) // (2 * len(values)) if values else None


def percent(part, whole):
    return part * 100000 // whole / 1000 if whole else None


def total(works):
    return sum(w.end - w.start for w in works)


class Truth:
    NAMES = ("gemm<int, 3>", "axpy(float*)", "k")

    def __init__(self, seed, pids, zero=False):
        """@zero: the first of it is at 0"""
        self.random, self.pids, self.works, self.calls, self.ranges = random.Random(seed), pids, [], [], []
        for pid in pids:
            self.fill(pid, 0 if zero else self.random.randrange(1, 10**6))

    def fill(self, pid, begin):
        choice, chance, corr = self.random.choice, self.random.random, 0
        free = collections.defaultdict(lambda: begin)
        for tid in (pid, pid + 1):
            now, nested = begin, []
            for _ in range(choice((5, 60, 200))):
                while nested and chance() < .3:
                    self.ranges.append(Range(pid, tid, *nested.pop(), now))
                    now += choice((0, 1, 50))
                while len(nested) < 4 and chance() < .3:
                    nested.append((choice(("load", "fwd", "bwd")), now))
                    now += choice((1, 50))
                corr += choice((1, 1, 2, 250))
                kind = choice("KKKKCS")
                call = {"K": choice(("cudaLaunchKernel", "cuLaunchKernel")), "C": "cudaMemcpyAsync", "S": "cudaMemsetAsync"}[kind]
                end = now + choice((0, 1, 5, 1000, 4321))
                if chance() > .05:
                    self.calls.append(Call(pid, tid, corr, call, now, end))
                if chance() > .05:
                    self.launch(free, kind, pid, corr, now)
                now = max(end + choice((0, 1, 777, 30000)), now + 1)
            while nested:
                self.ranges.append(Range(pid, tid, *nested.pop(), now))
                now += 1

    def launch(self, free, kind, pid, corr, now):
        choice = self.random.choice
        gpu, stream = choice((0, 1)), choice((7, 8, 9))
        for _ in range(choice((1, 1, 1, 3)) if kind == "K" else 1):
            start = max(free[gpu, stream], now + choice((0, 1, 500, 20000)))
            if self.random.random() < .03:
                start = max(0, now - choice((1, 100)))
            end = start + choice((0, 0, 1, 999, 1000, 1023, 1024, 12345, 1234567)) + choice((0, 1, 2))
            free[gpu, stream] = max(free[gpu, stream], end)
            way = choice(list(WAYS)) if kind == "C" else None
            self.works.append(Work(kind, choice(self.NAMES) if kind == "K" else None, pid, gpu, gpu + 1, stream, start, end, corr,
                                   0 if kind == "K" else choice((0, 1, 4096, 10**6)), way,
                                   kind == "C" and way != "DtoD" and choice((True, False))))

    def moved(self, ns):
        self.works = [w._replace(start=w.start + ns, end=w.end + ns) for w in self.works]
        self.calls = [c._replace(begin=c.begin + ns, end=c.end + ns) for c in self.calls]
        self.ranges = [r._replace(begin=r.begin + ns, end=r.end + ns) for r in self.ranges]
        return self

    def span(self):
        times = [t for w in self.works for t in (w.start, w.end)] + [t for c in self.calls + self.ranges for t in (c.begin, c.end)]
        return min(times), max(times)

    def call_of(self):
        return {(c.pid, c.corr): c for c in self.calls}

    def mixed(self, records):
        return self.random.sample(records, len(records))


def kineto(truth, name, base=0):
    """As PyTorch's profiler writes it: one process; microseconds with three decimals, after a base."""
    def event(cat, what, pid, tid, start, end, **args):
        events.append(json.dumps({"ph": "X", "cat": cat, "name": what, "pid": pid, "tid": tid, "args": args})[:-1] +
                      f', "ts": {start // 1000}.{start % 1000:03}, "dur": {(end - start) // 1000}.{(end - start) % 1000:03}}}')
    events = [json.dumps({"ph": "M", "name": "process_name", "ts": 0, "pid": truth.pids[0], "tid": 0, "args": {"name": "python3"}})]
    for c in truth.calls:
        event("cuda_driver" if c.name == "cuLaunchKernel" else "cuda_runtime", c.name, c.pid, c.tid, c.begin, c.end, correlation=c.corr)
    for w in truth.works:
        place = {"correlation": w.corr, "device": w.gpu, "stream": w.stream, "context": w.context}
        if w.kind == "K":
            event("kernel", w.name, w.gpu, w.stream, w.start, w.end, grid=[1, 2, 3], block=[32, 1, 1], **place)
        elif w.kind == "S":
            event("gpu_memset", "Memset (Device)", w.gpu, w.stream, w.start, w.end, bytes=w.bytes, **place)
        else:
            host = "Pageable" if w.pageable else "Pinned"
            of = {"HtoD": (host, "Device"), "DtoH": ("Device", host), "DtoD": ("Device", "Device")}[w.way]
            event("gpu_memcpy", f"Memcpy {w.way} ({of[0]} -> {of[1]})", w.gpu, w.stream, w.start, w.end, bytes=w.bytes, **place)
    for r in truth.ranges:
        event("user_annotation", r.name, r.pid, r.tid, r.begin, r.end)
    with open(name, "w", encoding="ascii") as out:
        out.write(f'{{"schemaVersion": 1, "baseTimeNanoseconds": {base}, "traceEvents": [\n' + ",\n".join(truth.mixed(events)) +
                  '\n], "deviceProperties": []}')


def nsys(truth, name, base=0):
    """As `nsys export --type sqlite` writes it: several processes; nanoseconds after the begin of the session."""
    if os.path.exists(name):
        os.remove(name)
    db = sqlite3.connect(name)
    place = ("start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
             "correlationId INTEGER, globalPid INTEGER")
    db.executescript(f"""
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({place}, demangledName INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY ({place}, bytes INTEGER, copyKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET ({place}, bytes INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER);
""")
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?)", (base,))
    machine, texts = (0x81 << 56) - (1 << 64), {}

    def text(value):
        if value not in texts:
            texts[value] = 5 * len(texts) + 1
            db.execute("INSERT INTO StringIds VALUES (?, ?)", (texts[value], value))
        return texts[value]

    for pid in truth.pids:
        db.execute("INSERT INTO PROCESSES VALUES (?, ?, ?)", (machine | pid << 24, pid, f"/bin/p{pid}"))
    for c in truth.mixed(truth.calls):
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0)",
                   (c.begin, c.end, machine | c.pid << 24 | c.tid, c.corr, text(c.name + ("_v7000" if c.name[:3] == "cud" else ""))))
    for w in truth.mixed(truth.works):
        row = (w.start, w.end, w.gpu, w.context, w.stream, w.corr, machine | w.pid << 24)
        more = {"K": lambda: (text(w.name),), "C": lambda: (w.bytes, WAYS[w.way][0]), "S": lambda: (w.bytes,)}[w.kind]()
        kind = {"K": "KERNEL", "C": "MEMCPY", "S": "MEMSET"}[w.kind]
        db.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_{kind} VALUES ({','.join('?' * (7 + len(more)))})", row + more)
    for r in truth.mixed(truth.ranges):
        db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?)", (r.begin, r.end, r.name, machine | r.pid << 24 | r.tid))
    db.commit()
    db.close()


def as_rocprof(truth):
    """What rocprofv3 can say: no fills, no contexts, no kinds of memory; a range that takes no time would be a mark."""
    truth.works = [w._replace(context=0, kind="C" if w.kind == "S" else w.kind, way=w.way or (w.kind == "S" and "DtoD") or None,
                              pageable=False) for w in truth.works]
    truth.calls = [c._replace(name=HIP[c.name]) for c in truth.calls]
    truth.ranges = [r for r in truth.ranges if r.end > r.begin]
    return truth.moved(5000 * 10**9)


def rocprof_csv(truth, prefix):
    """Tables without the sizes of copies. Return: one of them, which stands for all."""
    def write(name, head, rows):
        with open(f"{prefix}_{name}_trace.csv", "w", newline="", encoding="ascii") as out:
            writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
            writer.writerow(head.split())
            writer.writerows(truth.mixed(rows))
    write("kernel", "Kind Agent_Id Queue_Id Stream_Id Thread_Id Kernel_Name Correlation_Id Start_Timestamp End_Timestamp",
          [["KERNEL_DISPATCH", f"Agent {w.gpu}", 99, w.stream, 1, w.name, w.corr, w.start, w.end] for w in truth.works if w.kind == "K"])
    write("memory_copy", "Kind Direction Stream_Id Source_Agent_Id Destination_Agent_Id Correlation_Id Start_Timestamp End_Timestamp",
          [["MEMORY_COPY", "MEMORY_COPY_" + WAYS[w.way][1], w.stream, f"Agent {9 if w.way == 'HtoD' else w.gpu}",
            f"Agent {9 if w.way == 'DtoH' else w.gpu}", w.corr, w.start, w.end] for w in truth.works if w.kind == "C"])
    head = "Domain Function Process_Id Thread_Id Correlation_Id Start_Timestamp End_Timestamp"
    write("hip_api", head, [["HIP_RUNTIME_API_EXT", c.name, c.pid, c.tid, c.corr, c.begin, c.end] for c in truth.calls])
    write("marker_api", head, [["MARKER_CORE_RANGE_API", r.name, r.pid, r.tid, 0, r.begin, r.end] for r in truth.ranges])
    return f"{prefix}_kernel_trace.csv"


def rocprof_json(truth, name):
    def handle(n):
        return {"handle": n}

    def record(kind, operation, tid, corr, start, end, **more):
        return {"kind": list(ops).index(kind), "operation": ops[kind].index(operation), "thread_id": tid, "start_timestamp": start,
                "end_timestamp": end, "correlation_id": {"internal": corr, "external": 0}, **more}
    ops = {"NONE": [], "HIP_RUNTIME_API": sorted(HIP.values()), "MARKER_CORE_RANGE_API": ["roctxThreadRangeA"],
           "MEMORY_COPY": ["MEMORY_COPY_" + way for _, way in WAYS.values()], "KERNEL_DISPATCH": ["NONE", "COMPLETE"]}
    names, marks = sorted(Truth.NAMES), list(enumerate(truth.ranges, 10**9))
    buffers = {
        "kernel_dispatch": [record("KERNEL_DISPATCH", "COMPLETE", 1, w.corr, w.start, w.end, stream_id=handle(w.stream), dispatch_info={
            "agent_id": handle(7000 + w.gpu), "queue_id": handle(3), "kernel_id": names.index(w.name) + 1}) for w in truth.works if w.kind == "K"],
        "memory_copy": [record("MEMORY_COPY", "MEMORY_COPY_" + WAYS[w.way][1], 1, w.corr, w.start, w.end, bytes=w.bytes, stream_id=handle(w.stream),
                               src_agent_id=handle(7099 if w.way == "HtoD" else 7000 + w.gpu),
                               dst_agent_id=handle(7099 if w.way == "DtoH" else 7000 + w.gpu)) for w in truth.works if w.kind == "C"],
        "hip_api": [record("HIP_RUNTIME_API", c.name, c.tid, c.corr, c.begin, c.end) for c in truth.calls],
        "marker_api": [record("MARKER_CORE_RANGE_API", "roctxThreadRangeA", r.tid, n, r.begin, r.end) for n, r in marks]}
    process = {
        "metadata": {"pid": truth.pids[0], "command": ["/opt/train"]},
        "agents": [{"id": handle(7000 + n), "type": 2, "node_id": n + 1, "logical_node_id": n} for n in (0, 1)] +
                  [{"id": handle(7099), "type": 1, "node_id": 0, "logical_node_id": 9}],
        "strings": {"buffer_records": [{"kind": k, "operations": o} for k, o in ops.items()],
                    "marker_api": [{"key": n, "value": r.name} for n, r in marks]},
        "kernel_symbols": [{"kernel_id": i, "kernel_name": f"_Z{i}", "formatted_kernel_name": n} for i, n in enumerate([""] + names)],
        "buffer_records": {k: truth.mixed(v) for k, v in buffers.items()}}
    with open(name, "w", encoding="ascii") as out:
        json.dump({"rocprofiler-sdk-tool": [process]}, out)
