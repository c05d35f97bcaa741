#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_windows.py GRTRACE jobs|cuda SEED...: random jobs as text of events, or CUDA work of several processes as a database
of Nsight Systems. What the program says of the whole, of a part of its time and of one process is compared with sums over
the numbers from which the input was made."""

import collections
import decimal
import json
import random
import sqlite3
import subprocess
import sys

FAULTS = []
COMPARED = 0


def read(*args):
    ran = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if ran.returncode > 1 or ran.stderr.startswith("grtrace: "):
        FAULTS.append(f"{args}: {ran.stderr}")
    return ran.stdout


def same(what, says, want):
    global COMPARED
    COMPARED += 1
    if says != want:
        FAULTS.append(f"{what}: says {says}, want {want}")


def union(spans, first, last):
    busy, reached = 0, first
    for start, end in sorted(spans):
        start, end = max(start, reached), min(end, last)
        busy += max(0, end - start)
        reached = max(reached, end)
    return busy


def percent(part, whole):
    return part * 100000 // whole / 1000 if whole else None


def weights(folded):
    return sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())


def options(span):
    """Of a part of the time; None: an end is not given."""
    return [word for name, time in zip(("--from", "--to"), span) if time is not None for word in (name, f"{time}ns")]


class Job:
    def __init__(self, ring, ctx, seqno, pid):
        self.ring, self.ctx, self.seqno, self.pid = ring, ctx, seqno, pid
        self.at = {}
        self.lost = None

    def text(self):
        for what, time in self.at.items():
            if what == self.lost:
                continue
            more = ", status=0" if what == "COMPLETE" else ""
            yield time, (f"[{time // 10**9}.{time % 10**9:09}] GPU {what} ctx_id={self.ctx:#x}, engine=graphics, "
                         f"ring={self.ring}, ring_name=ring{self.ring}, seqno={self.seqno}{more}, pid={self.pid}, "
                         f"tid={self.pid}, comm=app{self.pid}")

    def runs(self):
        return (self.at["START"], self.at["END"]) if {"START", "END"} <= set(self.at) else None


class Jobs:
    """Jobs of two rings, each of which runs one after another: the text of the second one has no START."""

    def __init__(self, seed):
        self.random, self.name, self.jobs = random.Random(seed), f"jobs-{seed}.txt", []
        for ring in (1, 2):
            self.fill(ring)
        lines = sorted((line for job in self.jobs for line in job.text() if not (job.ring == 2 and " START " in line[1])),
                       key=lambda line: line[0])
        self.times = [time for time, _ in lines]
        with open(self.name, "w", encoding="ascii") as out:
            out.write("\n".join(line for _, line in lines) + "\n")

    def fill(self, ring):
        now, reached, count = 10**10, 0, collections.Counter()
        for _ in range(self.random.choice((3, 30))):
            pid = self.random.choice((70, 80, 90))
            count[pid] += 1
            job = Job(ring, 1000 * ring + pid, count[pid], pid)
            now += 100 * self.random.choice((0, 1, 5, 60))
            job.at["SUBMIT"] = now
            job.at["COMMIT"] = commit = now + 100 * self.random.choice((0, 1, 10))
            job.at["START"] = start = max(commit, reached) + (100 * self.random.choice((0, 3)) if ring == 1 else 0)
            job.at["END"] = reached = start + 100 * self.random.choice((1, 4, 30, 300))
            job.at["COMPLETE"] = reached + 100 * self.random.choice((0, 1, 9))
            # without its COMMIT, nothing is known of the start where it is inferred
            job.lost = self.random.choice(("COMPLETE", "SUBMIT")) if self.random.random() < .1 else None
            now = commit
            self.jobs.append(job)
        # one that never ends
        job = Job(ring, 7, ring, 70)
        job.at = {"SUBMIT": now, "COMMIT": now}
        self.jobs.append(job)

    def known(self, job):
        return [time for what, time in job.at.items() if what != job.lost and (what != "START" or job.ring == 1)]

    def within(self, span):
        first, last = span
        for job in self.jobs:
            known = self.known(job)
            over = "END" in job.at
            if (last is None or min(known) <= last) and (first is None or not over or max(known) >= first):
                yield job

    def compare(self, grtrace, span, pid):
        args = [*options(span), *(("--pid", str(pid)) if pid else ())]
        what = f"{self.name} {' '.join(args)}"
        first, last = span[0] or min(self.times), span[1] or max(self.times)
        jobs = [job for job in self.within(span) if not pid or job.pid == pid]
        if not jobs:
            return
        total = sum(job.at["END"] - job.at["START"] for job in jobs if job.runs())
        for by, table, key in (("ring", "rings", "ring"), ("process", "processes", "pid")):
            rows = json.loads(read(grtrace, "report", "--json", "--by", by, *args, self.name))[table]
            same(f"{what}: {by}s", sorted(row[key] for row in rows), sorted({getattr(job, key) for job in jobs}))
            for row in rows:
                mine = [job for job in jobs if getattr(job, key) == row[key]]
                ran = [job.runs() for job in mine if job.runs()]
                same(f"{what}: jobs of {by} {row[key]}", row["jobs"], len(mine))
                same(f"{what}: exec of {by} {row[key]}", row["exec_sum"], sum(e - s for s, e in ran) if ran else None)
                same(f"{what}: busy of {by} {row[key]}", row["busy"],
                     percent(union(ran, first, last), last - first) if ran else None)
        for row in json.loads(read(grtrace, "report", "--json", "--by", "idle", *args, self.name))["idle_devices"]:
            mine = [job for job in jobs if job.ring == row["ring"]]
            same(f"{what}: idle: busy of {row['device']}", row["busy"],
                 union([job.runs() for job in mine if job.runs()], first, last))
            same(f"{what}: idle: all of {row['device']}", row["busy"] + row["idle"], last - first)
            same(f"{what}: idle: work of {row['device']}", row["work"], len(mine))
        drawn = json.loads(read(grtrace, "timeline", "--json", *args, self.name))
        for row in drawn["rings"]:
            ran = [job.runs() for job in jobs if job.ring == row["ring"] and job.runs()]
            same(f"{what}: timeline: busy of ring {row['ring']}", row["busy"] or 0, union(ran, first, last))
        same(f"{what}: flame", weights(read(grtrace, "flame", *args, self.name)), total)
        same(f"{what}: export -f folded", weights(read(grtrace, "export", "-f", "folded", *args, self.name)), total)
        self.compare_sums(grtrace, what, args, jobs, span)
        if not options(span):
            slices = json.loads(read(grtrace, "export", "-f", "chrome", *args, self.name))["traceEvents"]
            slices = [e for e in slices if e["ph"] == "X" and e.get("cat") == "job"]
            same(f"{what}: slices of export -f chrome", sum(round(e["dur"] * 1000) for e in slices), total)


    def compare_sums(self, grtrace, what, args, jobs, span):
        """Statistics of a monitor, and metrics: they have the same jobs"""
        ends = span[0] or min(self.times), span[1] or max(self.times)
        says = json.loads(read(grtrace, "monitor", "drm", "--quiet", "--json", "-i", self.name, *args).splitlines()[-1])
        for row in says["rings"]:
            mine = [job for job in jobs if job.ring == row["ring"]]
            same(f"{what}: monitor: jobs of ring {row['ring']}", (row["jobs"], row["incomplete"]),
                 (len(mine), sum(not {"SUBMIT", "COMPLETE"} <= set(job.at) - {job.lost} for job in mine)))
        for row in says["latency"]:
            took = [job.at["END"] - job.at["START"] for job in jobs if job.ring == row["ring"] and job.runs()]
            if row["what"] == "t_exec":
                same(f"{what}: monitor: ring {row['ring']}", (row["count"], row["max"]), (len(took), max(took)))
        page = dict(line.rsplit(" ", 1) for line in read(grtrace, "export", "-f", "prometheus", self.name, *args).splitlines())
        for pid in {job.pid for job in jobs}:
            ran = [job.runs() for job in jobs if job.pid == pid and job.runs()]
            for name, want in (("busy_seconds_total", union(ran, *ends)), ("job_exec_seconds_sum", sum(e - s for s, e in ran)),
                               ("jobs_total", 10**9 * sum(job.pid == pid for job in jobs))):
                value = page.get(f'grtrace_process_{name}{{gpu="unknown",pid="{pid}",comm="app{pid}"}}', "0")
                same(f"{what}: prometheus: {name} of {pid}", int(decimal.Decimal(value) * 10**9), want)


class Cuda:
    """Four processes on one GPU each, whose launches are in ranges; the correlation ids of all are the same."""

    BEGAN = 1700000000 * 10**9

    def __init__(self, seed):
        self.random, self.name, self.work, self.ranges = random.Random(seed), f"cuda-{seed}.sqlite", [], []
        self.db = sqlite3.connect(":memory:")
        self.db.executescript("""
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
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
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
  category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
  domainId INTEGER);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaMemcpyAsync_v3020'), (3, 'gemm'), (4, 'axpy');
""")
        for pid in (101, 102, 103, 104):
            self.fill(pid)
        with sqlite3.connect(self.name) as out:
            self.db.commit()
            self.db.backup(out)

    def fill(self, pid):
        globally = (0x81 << 56) - (1 << 64) | pid << 24
        self.db.execute("INSERT INTO PROCESSES VALUES (?, ?, ?)", (globally, pid, f"/bin/p{pid}"))
        # names without numbers, and one of a number alone
        names = [None, "load", "1", "2 load"]
        now = 1000 * self.random.randint(1, 20)
        for n in range(1, self.random.choice((4, 40))):
            name, begin, copy = self.random.choice(names), now, self.random.random() < .4
            end = begin + 100 * self.random.choice((1, 5))
            start = end + 100 * self.random.choice((0, 1, 40))
            over = start + 100 * self.random.choice((0, 3, 90))
            place = (start, over, 0, 1, 7 + n % 2, n, globally)
            self.db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0, NULL)",
                            (begin, end, globally | pid, n, 2 if copy else 1))
            if copy:
                self.db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, ?, ?, ?, ?, ?, 64, 1, NULL)", place)
            else:
                self.db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
                                "32, 1, 1, 1, 64, 1, 1, 0, 0, NULL)", (*place, 3 + n % 2, 3 + n % 2))
            if name:
                around = begin - 10, end + 10
                self.db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, NULL, NULL, ?, ?, NULL, NULL, 0)",
                                (*around, name, globally | pid))
                self.ranges.append((pid, name, *(self.BEGAN + time for time in around)))
            self.work.append((pid, name, copy, *(self.BEGAN + time for time in (begin, end, start, over))))
            now = end + 100 * self.random.choice((1, 2, 70))

    @property
    def times(self):
        return [time for work in self.work for time in work[3:]]

    def compare(self, grtrace, span, pid):
        args = [*options(span), *(("--pid", str(pid)) if pid else ())]
        what = f"{self.name} {' '.join(args)}"
        inside = lambda begin, end: (span[1] is None or begin <= span[1]) and (span[0] is None or end >= span[0])
        work = [w for w in self.work if inside(w[5], w[6]) and pid in (None, w[0])]
        total = sum(w[6] - w[5] for w in work)
        sums = collections.defaultdict(lambda: [0, 0, 0, 0])
        fold = {"load": "load", "1": "#", "2 load": "# load"}
        for of, name, begin, end in self.ranges:
            if inside(begin, end) and pid in (None, of):
                sums[of, fold[name]][0] += 1
        for of, name, _, begin, end, _, _ in self.work:
            if name and inside(begin, end) and pid in (None, of):
                sums[of, fold[name]][1] += 1
        for of, name, copy, _, _, start, over in work:
            if name:
                sums[of, fold[name]][2] += not copy
                sums[of, fold[name]][3] += over - start
        table = json.loads(read(grtrace, "report", "--json", "--by", "range", *args, self.name))
        first, last = table["recording"]["from"], table["recording"]["to"]
        same(f"{what}: ranges", sorted([r["pid"], r["range"], r["count"], r["launches"], r["kernels"], r["gpu"]]
                                       for r in table["ranges"]),
             sorted([*key, *row] for key, row in sums.items() if any(row)))
        for row in json.loads(read(grtrace, "report", "--json", "--by", "idle", *args, self.name))["idle_devices"]:
            mine = [(w[5], w[6]) for w in work if w[0] == row["pid"]]
            same(f"{what}: idle: busy of {row['device']}", row["busy"], union(mine, first, last))
            same(f"{what}: idle: all of {row['device']}", row["busy"] + row["idle"], last - first)
            same(f"{what}: idle: work of {row['device']}", row["work"], len(mine))
        for by, table in (("device", "devices"), ("stream", "streams"), ("stack", "stacks")):
            rows = json.loads(read(grtrace, "report", "--json", "--by", by, "--top", "0", *args, self.name))[table]
            same(f"{what}: time by {by}", sum(row["total"] or 0 for row in rows), total)
            same(f"{what}: calls by {by}", sum(row["calls"] for row in rows), len(work))
        same(f"{what}: flame", weights(read(grtrace, "flame", *args, self.name)), total)


def main():
    grtrace, kind, *seeds = sys.argv[1:]
    for seed in seeds:
        made = {"jobs": Jobs, "cuda": Cuda}[kind](int(seed))
        times = sorted(set(made.times))
        spans = [(None, None), (times[len(times) // 3], None), (None, times[len(times) // 3])]
        for _ in range(3):
            spans.append(tuple(sorted(made.random.sample(times, 2))))
        # within the longest time in which nothing is recorded
        at = max(range(len(times) - 1), key=lambda i: times[i + 1] - times[i])
        spans.append((times[at] + 1, times[at + 1] - 1))
        for span in spans:
            for pid in (None, made.random.choice((70, 80, 90) if kind == "jobs" else (101, 103))):
                made.compare(grtrace, span, pid)
    print(f"{COMPARED} numbers of {kind} compared")
    print("\n".join(FAULTS[:20]))
    sys.exit(bool(FAULTS) or COMPARED < 100)


main()
