#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Databases that `nsys export --type sqlite` writes, as an input: one with known contents, and what SQL counts in it.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

# Two processes on two GPUs, whose correlation ids are the same; ids of texts and rows in no order of time.
cat >make.py <<'END_PY'
import os, random, sqlite3, sys
random.seed(1)
path = sys.argv[1]
edit = sys.argv[2:]
if os.path.exists(path):
    os.remove(path)
db = sqlite3.connect(path)
db.execute("PRAGMA journal_mode = wal" if "wal" in edit else "PRAGMA journal_mode = delete")
db.executescript("""
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE MPI_RANKS (globalPid INTEGER NOT NULL, rank INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, registersPerThread INTEGER NOT NULL,
  gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL,
  blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
  dynamicSharedMemory INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER,
  bytes INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,
  globalPid INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,
  globalPid INTEGER, graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
  category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
  domainId INTEGER);
""")
texts = {}
def text(value):
    if value not in texts:
        texts[value] = 7 + 3 * len(texts)
        db.execute("INSERT INTO StringIds VALUES (?, ?)", (texts[value], value))
    return texts[value]
machine = (0x81 << 56) - (1 << 64)
rows = {t: [] for t in ("RUNTIME", "KERNEL", "MEMCPY", "MEMSET", "SYNCHRONIZATION", "GRAPH_TRACE")}
nvtx = []
for rank, pid in enumerate((4711, 4712)):
    globally = machine | pid << 24
    db.execute("INSERT INTO PROCESSES VALUES (?, ?, ?)", (globally, pid, f"/usr/bin/train{rank}"))
    db.execute("INSERT INTO MPI_RANKS VALUES (?, ?)", (globally, rank))
    ns = -50_000 + rank
    for n in range(1, int(os.environ.get("CALLS", 400)) + 1):
        step, tid = (n - 1) // 100, globally | pid + n % 2
        if n % 100 == 1:
            begin = ns
        kind = "MEMCPY" if n % 10 == 9 else "MEMSET" if n % 10 == 8 else "GRAPH_TRACE" if n % 50 == 7 else "KERNEL"
        call = {"MEMCPY": "cudaMemcpyAsync_v3020", "MEMSET": "cudaMemsetAsync_v3020", "GRAPH_TRACE": "cudaGraphLaunch_v10000",
                "KERNEL": "cuLaunchKernel" if n % 5 == 0 else "cudaLaunchKernel_v7000"}[kind]
        rows["RUNTIME"].append((ns, ns + random.randrange(2000, 9000), 0, tid, n, text(call), 0, None))
        if n % 3 == 0:
            # nsys profile --cudabacktrace: a second row of the call, around it, which its stack belongs to
            rows["RUNTIME"].append((ns - 300, ns + 9500, 67, tid, n, text(call.split("_v")[0]), 0, n))
        start = ns + 12_000
        place = (start, start + random.randrange(1000, 25_000), n % 2, 1 + n % 2, 7 + n % 3, n, globally)
        rows[kind].append(place + {
            "KERNEL": (text(f"void gemm_{n % 4}<float, {n % 4}>(float*)"), text(f"gemm_{n % 4}"), 32, n, 2, 1, 128, 1, 1, 1024, 64, None),
            "MEMCPY": (4096 + n, 1 + n % 2, None), "MEMSET": (0, 512), "GRAPH_TRACE": (5, 6)}[kind])
        ns += 31_000
        if n % 100 == 0:
            rows["RUNTIME"].append((ns, ns + 40_000, 0, tid, 5000 + n, text("cudaStreamSynchronize_v3020"), 0, None))
            rows["SYNCHRONIZATION"].append((ns + 10, ns + 39_000, 0, 1, 7, 5000 + n, globally, 3, -1))
            rows["RUNTIME"].append((ns, ns + 10, 0, tid, 9000 + n, text("cudaGetDevice_v3020"), 0, None))
            ns += 41_000
            nvtx.append((begin, ns, 59, None, None, None, f"step {step}", tid, None, None, 0))
    nvtx.append((10, 20_000, 60, 1, None, None, None, globally | pid, globally | pid + 1, text("started"), 0))
    nvtx.append((15, None, 34, None, None, None, "a mark", globally | pid, None, None, 0))
    nvtx.append((15, None, 59, None, None, None, "open", globally | pid, None, None, 0))
for name, of in rows.items():
    random.shuffle(of)
    if of:
        db.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_{name} VALUES ({','.join('?' * len(of[0]))})", of)
db.executemany(f"INSERT INTO NVTX_EVENTS VALUES ({','.join('?' * 11)})", nvtx)
for sql in edit:
    if sql != "wal":
        db.executescript(sql)
db.commit()
if "wal" in edit:
    # as a program that was killed leaves it: the last rows in a file beside it
    db.execute("PRAGMA wal_autocheckpoint = 0")
    os._exit(0)
END_PY
# What is in it, by SQL.
cat >count.py <<'END_PY'
import collections, sqlite3
db = sqlite3.connect("run.sqlite")
K = "CUPTI_ACTIVITY_KIND_"
for row in db.execute(f"""SELECT name, sum(n), sum(ns) FROM (
    SELECT s.value name, count(*) n, sum(k.end - k.start) ns FROM {K}KERNEL k JOIN StringIds s ON s.id = k.demangledName GROUP BY 1
    UNION ALL SELECT 'CUDA graph ' || graphId, count(*), sum(end - start) FROM {K}GRAPH_TRACE GROUP BY graphId) GROUP BY 1 ORDER BY 1"""):
    print("kernel", *row)
for row in db.execute(f"""SELECT kind, count(*), sum(ns), sum(bytes) FROM (
    SELECT CASE copyKind WHEN 1 THEN 'HtoD' ELSE 'DtoH' END kind, end - start ns, bytes FROM {K}MEMCPY
    UNION ALL SELECT 'set', end - start, bytes FROM {K}MEMSET) GROUP BY 1 ORDER BY 1"""):
    print("copy", *row)
for row in db.execute("SELECT text, count(*), sum(end - start) FROM NVTX_EVENTS WHERE eventType = 59 AND end IS NOT NULL GROUP BY 1 ORDER BY 1"):
    print("range", *row)
calls = collections.Counter()
for name, n in db.execute(f"SELECT s.value, count(*) FROM {K}RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE eventClass <> 67 GROUP BY 1"):
    calls[name.split("_v")[0]] += n
del calls["cudaGetDevice"]
for name in sorted(calls):
    print("call", name, calls[name])
# what ran under which process and call
for row in db.execute(f"""SELECT p.name, sc.value, sk.value, sum(k.end - k.start) FROM {K}KERNEL k
    JOIN {K}RUNTIME r ON r.correlationId = k.correlationId AND r.globalTid & ~0xffffff = k.globalPid AND r.eventClass <> 67
    JOIN StringIds sc ON sc.id = r.nameId JOIN StringIds sk ON sk.id = k.demangledName
    JOIN PROCESSES p ON p.globalPid = k.globalPid GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"""):
    print("stack", row[0].split("/")[-1], row[1].split("_v")[0], row[2], row[3])
# what was launched in pushed ranges of its thread, whose names are folded
work = " UNION ALL ".join(f"SELECT globalPid p, correlationId c, end - start ns, {int(t == 'KERNEL' or t == 'GRAPH_TRACE')} k FROM {K}{t}" for t in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"))
for row in db.execute(f"""SELECT p.name, sum(w.k), sum(w.ns) FROM NVTX_EVENTS x JOIN PROCESSES p ON p.globalPid = x.globalTid & ~0xffffff
    JOIN {K}RUNTIME r ON r.globalTid = x.globalTid AND r.start >= x.start AND r.start < x.end AND r.eventClass <> 67
    JOIN ({work}) w ON w.c = r.correlationId AND w.p = r.globalTid & ~0xffffff
    WHERE x.eventType = 59 AND x.end IS NOT NULL GROUP BY 1 ORDER BY 1"""):
    print("launched in step #", row[0].split("/")[-1], *row[1:])
for row in db.execute("SELECT p.name, rank FROM MPI_RANKS m JOIN PROCESSES p USING (globalPid) ORDER BY rank"):
    print("rank", row[0].split("/")[-1], row[1])
spans = collections.defaultdict(list)
for table in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"):
    for gpu, a, b in db.execute(f"SELECT globalPid || '/' || deviceId, start, end FROM {K}{table}"):
        spans[gpu].append((a, b))
print("busy", *sorted(sum(b - a for a, b in s) for s in spans.values()))
END_PY
# The same by the commands.
cat >told.py <<'END_PY'
import collections, json, re, subprocess, sys
def out(*args):
    return subprocess.run([sys.argv[1], *args, *sys.argv[2:]], stdout=subprocess.PIPE, check=True).stdout.decode()
def table(by, key):
    return json.loads(out("report", "--by", by, "--top", "0", "--json"))[key]
totals = collections.defaultdict(lambda: [0, 0])
for r in table("kernel", "kernels"):
    totals[r["kernel"]][0] += r["calls"]
    totals[r["kernel"]][1] += r["total"]
for name in sorted(totals):
    print("kernel", name, *totals[name])
copies = collections.defaultdict(lambda: [0, 0, 0])
events = [json.loads(line) for line in out("dump", "--json").splitlines()]
calls, ranges, spans = collections.Counter(), collections.defaultdict(lambda: [0, 0]), collections.defaultdict(int)
texts = collections.defaultdict(dict)
for e in events:
    if e["type"] == "STRING":
        texts[e["ctx"]][e["number"]] = texts[e["ctx"]].get(e["number"], "") + e["text"]
for e in events:
    if e["type"] in ("GPU_COPY", "GPU_KERNEL"):
        spans[e["pid"], e["gpu"]] += e["end"] - e["start"]
    if e["type"] == "RANGE" and e.get("end") and e["kind"] == 1:
        name = texts[e["ctx"]][e["name"]]
        ranges[name][0] += 1
        ranges[name][1] += e["end"] - e["begin"]
for e in events:
    if e["type"] == "GPU_COPY":
        for i, v in enumerate((1, e["end"] - e["start"], e["bytes"])):
            copies[e["kind"]][i] += v
for kind in sorted(copies):
    print("copy", kind, *copies[kind])
for name in sorted(ranges):
    print("range", name, *ranges[name])
calls.update(e["call"] for e in events if e["type"] == "LAUNCH")
for name in sorted(calls):
    print("call", name, calls[name])
stacks = []
for line in out("flame").splitlines():
    frames, ns = line.rsplit(" ", 1)
    m = re.match(r"(?P<exe>[^;]*);(?:\[nvtx\] step #;)?(?P<call>cu\w*);\[GPU\d+_Kernel\](?P<name>.*gemm.*)$", frames)
    if m:
        stacks.append((m["exe"], m["call"], m["name"], int(ns)))
sums = collections.Counter()
for exe, call, name, ns in stacks:
    sums[exe, call, name] += ns
for key in sorted(sums):
    print("stack", *key, sums[key])
for r in sorted(table("range", "ranges"), key=lambda r: r["process"]):
    if r["range"] == "step #":
        print("launched in step #", r["process"], r["kernels"], r["gpu"])
for rank, process in sorted({(r["rank"], r["process"]) for r in table("rank", "ranks")}):
    print("rank", process, rank)
print("busy", *sorted(spans.values()))
END_PY

python3 make.py run.sqlite && python3 count.py >want
chmod a-w run.sqlite
ls -A >before
python3 told.py "$GRTRACE" run.sqlite >got 2>err
output=$(cat err; diff want got)
check "kernels, graphs, copies, ranges, calls, stacks, ranks and busy time are those of SQL" cmp -s want got
ls -A >after
check "nothing is made beside the database" test "$(diff before after | grep -vcE '(got|err|after|before)$|^[0-9]')" = 0
run report run.sqlite
expect "what it is" 0 '^  form +nsys$'
run dump --type gpu_kernel --json run.sqlite
check "a kernel's fields" says '"pid":4711,.*"correlation":1,.*"gpu":1,"context":2,"cuda_stream":8,.*"grid_x":1,"grid_y":2,"grid_z":1,"block_x":128,"block_y":1,"block_z":1,"registers":32,"shared_static":1024,"shared_dynamic":64'
check "in the order of time" test "$(sed -n 's/.*"time":\([0-9]*\).*/\1/p' <<<"$output" | sort -n -c 2>&1; echo $?)" = 0
check "the session's time is added" says '"time":17000000000'
gzip -k -c run.sqlite >run.sqlite.gz
python3 told.py "$GRTRACE" run.sqlite.gz >packed 2>err
check "packed by gzip it is the same" cmp -s want packed
packed_alike run.sqlite
run report --by range run.sqlite
check "what was launched in ranges that other threads end is unknown, and not 0" says '^started .* +- +- +-$'
run report run.sqlite
check "a call whose stack has a row of its own is one call" test "$(grep -c 'correlation id of an earlier one' <<<"$output")" = 0
run export -f perfetto -o run.pftrace run.sqlite
check "an export" exits 0

# Calls of the C library (nsys profile --trace osrt), also one of a process without CUDA, which begins before all else.
CALLS=40 python3 make.py plain.sqlite
CALLS=40 python3 make.py osrt.sqlite "
	CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
		correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, nestingLevel INTEGER, callchainId INTEGER);
	INSERT INTO StringIds VALUES (900001, 'pthread_cond_wait'), (900002, 'poll');
	INSERT INTO OSRT_API SELECT start + 100, end - 100, 27, globalTid, NULL, 900001, 0, NULL, NULL
		FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = 0 AND end - start > 300;
	INSERT INTO OSRT_API SELECT -60000, 90000000, 27, min(globalPid) & ~0xffffffffff | 4800 << 24 | 4801, NULL, 900002, 1, NULL, NULL
		FROM PROCESSES"
cat >osrt.py <<'END_PY'
import collections, json, sqlite3, sys
db = sqlite3.connect("osrt.sqlite")
for row in db.execute("""SELECT globalTid >> 24 & 0xffffff, globalTid & 0xffffff, value, count(*), sum(end - start),
    min(start) + 1700000000000000000 FROM OSRT_API JOIN StringIds ON id = nameId GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"""):
    print(*row, file=sys.stderr)
calls = collections.defaultdict(list)
for line in sys.stdin:
    e = json.loads(line)
    calls[e["pid"], e["tid"], e["name"]].append((e["begin"], e["time"]))
for key, of in sorted(calls.items()):
    print(*key, len(of), sum(b - a for a, b in of), min(of)[0])
END_PY
"$GRTRACE" dump --type os_call --json osrt.sqlite 2>err | python3 osrt.py >got 2>want
output=$(cat err; diff want got)
check "calls of the C library by thread and function, their time and begin are those of SQL" cmp -s want got
check "there are some" test "$(wc -l <want)" -ge 5
run report osrt.sqlite
expect "a report counts them" 0 'calls? of the C library: dump, export$'
for of in plain osrt; do
	"$GRTRACE" report --by kernel --json $of.sqlite >$of.kernels 2>&1
	"$GRTRACE" dump --type launch --json $of.sqlite >$of.launches 2>&1
done
check "they change nothing about launches" cmp -s plain.launches osrt.launches
python3 - plain.kernels osrt.kernels <<'END_PY' >output 2>&1 || true
import json, sys
a, b = (json.load(open(p))["kernels"] for p in sys.argv[1:])
print("same" if a and a == b else (a[:2], b[:2]))
END_PY
output=$(cat output)
check "nor about kernels" says '^same$'
run export -f chrome -o osrt.json osrt.sqlite
check "they are slices of their thread" test "$(grep -c '"cat":"os_runtime".*"ph":"X"\|"ph":"X".*"cat":"os_runtime"' osrt.json)" = \
	"$(awk '{ n += $4 } END { print n }' want)"
CALLS=40 python3 make.py wal.sqlite wal
cp wal.sqlite main.sqlite
run report wal.sqlite
check "nothing is done to a database that its program has left in the middle" test "$(ls wal.sqlite*; cmp wal.sqlite main.sqlite && echo same)" = "$(printf '%s\n' wal.sqlite wal.sqlite-shm wal.sqlite-wal same)"

# Databases that are not what they seem.
wrong() { # NAME REGEX SQL...
	local name=$1 regex=$2
	shift 2
	CALLS=40 python3 make.py wrong.sqlite "$@"
	run report wrong.sqlite
	expect "$name" 1 "wrong.sqlite: $regex"
}
kernel=CUPTI_ACTIVITY_KIND_KERNEL
wrong "text for a time" "$kernel, row 3: cannot read: its start is text" "UPDATE $kernel SET start = 'soon' WHERE rowid = 3"
wrong "a time before 1970" "$kernel, row 2: cannot read: its start is before 1970" \
	"UPDATE $kernel SET start = -9000000000000000000 WHERE rowid = 2"
wrong "a negative time without the session's" "$kernel, row 1: cannot read: its start is .*negative" \
	"DROP TABLE TARGET_INFO_SESSION_START_TIME; DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME; UPDATE $kernel SET start = -1 WHERE rowid = 1"
wrong "an end before the start" "$kernel, row 9: cannot read: it ends before it starts" \
	"UPDATE $kernel SET end = start - 1 WHERE rowid = 9"
wrong "a negative size" "CUPTI_ACTIVITY_KIND_MEMCPY, row 1: cannot read: its bytes is negative" \
	"UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = -1"
wrong "a blob for a name" "$kernel, row 1: cannot read: its demangledName is a blob" "UPDATE StringIds SET value = x'00ff' WHERE value LIKE 'void%'"
wrong "a table without a column" "$kernel, row 1: cannot read: it has no column end" "ALTER TABLE $kernel RENAME COLUMN end TO ende"
wrong "texts without a key" "not a trace: it is a database of SQLite whose StringIds cannot be read: its id is no key" \
	"CREATE TABLE t AS SELECT * FROM StringIds; DROP TABLE StringIds; ALTER TABLE t RENAME TO StringIds"
wrong "a view in place of a table" "$kernel.* cannot read: it is no table of rows" \
	"DROP TABLE $kernel; CREATE VIEW $kernel AS WITH RECURSIVE c(start) AS (SELECT 1 UNION ALL SELECT start FROM c) SELECT start, start AS end FROM c"
wrong "a column that is computed" "$kernel.* cannot read: it has columns that are computed" \
	"DROP TABLE $kernel; CREATE TABLE $kernel (start INTEGER, end INTEGER AS (start + length(zeroblob(1000000000)))); INSERT INTO $kernel VALUES (1)"
wrong "a row of 20 MB" "NVTX_EVENTS, row [0-9]+: cannot read: string or blob too big" "UPDATE NVTX_EVENTS SET text = printf('%.*c', 20000000, 'x') WHERE rowid = 2"
wrong "no tables of CUDA" "not a trace: it is a database of SQLite without tables" \
	"$(printf 'DROP TABLE CUPTI_ACTIVITY_KIND_%s;' RUNTIME KERNEL MEMCPY MEMSET SYNCHRONIZATION GRAPH_TRACE) DROP TABLE NVTX_EVENTS"
wrong "empty tables" "nothing to read in 4 rows: none of its rows" \
	"$(printf 'DELETE FROM CUPTI_ACTIVITY_KIND_%s;' RUNTIME KERNEL MEMCPY MEMSET SYNCHRONIZATION GRAPH_TRACE) DELETE FROM NVTX_EVENTS"
CALLS=40 python3 make.py fewer.sqlite "ALTER TABLE $kernel DROP COLUMN graphNodeId; ALTER TABLE $kernel DROP COLUMN globalPid; DROP TABLE PROCESSES;
	DROP TABLE StringIds; UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 11"
run report fewer.sqlite
check "an older version, which has fewer columns" exits 0
head -c 50000 run.sqlite >cut.sqlite
run report cut.sqlite
expect "one that is cut" 1 'cut.sqlite: .*cannot .*(malformed|disk I/O error)'
plan
