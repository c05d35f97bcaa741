#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_gpu_steps.py GRTRACE SEED|long...: steps and their parts, the causes of idle time, how much was queued, and the critical
path of random GPU work, compared with models that read the numbers of which the files were made, see _gpu_work.py."""

import bisect
import collections
import os
import sqlite3
import sys

from _gpu_work import Call, Range, Truth, Work, finish, kineto, nsys, percent, rank, read, same, table, union

PARTS = ("compute", "comm", "copy", "idle", "comm_hidden", "copy_hidden")
GROWN = ("compute", "exposed communication", "exposed copies", "idle time")
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
CLASSES = ("kernel", "collective", "copy")


def class_of(work):
    return 2 if work.kind != "K" else int(work.name == NCCL)


class Training(Truth):
    """Steps that the program marks; in some of them nothing is launched. No two works of a device start at once: which of
    them ended a gap could not be told."""

    def fill(self, pid, begin):
        choice = self.random.choice
        self.corr, self.now, self.free = 0, begin, collections.defaultdict(lambda: begin)
        for _ in range(choice((0, 2))):
            self.step_launch(pid, pid)
        first = choice((0, 5))
        for number in range(first, first + choice((3, 7, 20))):
            entered = self.now
            self.now += choice((1, 10))
            for _ in range(choice((0, 1, 3, 9, 9, 9))):
                self.step_launch(pid, choice((pid, pid, pid + 1)))
            self.now += choice((1, 20))
            self.ranges.append(Range(pid, pid, f"ProfilerStep#{number}", entered, self.now))
            self.now += choice((0, 5000))
        for _ in range(choice((0, 2))):
            self.step_launch(pid, pid)

    def step_launch(self, pid, tid):
        choice, begin = self.random.choice, self.now
        kind, gpu, stream = choice("KKKKCS"), choice((0, 0, 1)), choice((7, 8, 9))
        self.corr += choice((1, 300))
        self.now += choice((1, 5, 1000))
        self.calls.append(Call(pid, tid, self.corr, {"K": "cudaLaunchKernel", "C": "cudaMemcpyAsync", "S": "cudaMemsetAsync"}[kind],
                               begin, self.now))
        self.now += choice((0, 1, 700))
        start = max(self.free[gpu, stream], begin + choice((1, 500, 9000)))
        while any((w.pid, w.gpu, w.start) == (pid, gpu, start) for w in self.works):
            start += 1
        self.free[gpu, stream] = end = start + choice((0, 1, 999, 5000, 20000))
        self.works.append(Work(kind, choice(("gemm", "axpy", NCCL)) if kind == "K" else None, pid, gpu, gpu + 1, stream, start, end,
                               self.corr, 64, "HtoD" if kind == "C" else None, False))


def parts(works, begin, end):
    cuts = sorted({begin, end} | {t for w in works for t in (w.start, w.end) if begin < t < end})
    sums = [0] * len(PARTS)
    for at, to in zip(cuts, cuts[1:]):
        computes, communicates, copies = (any(w.start <= at and w.end >= to for w in works if class_of(w) == n) for n in range(3))
        sums[0 if computes else 1 if communicates else 2 if copies else 3] += to - at
        sums[4] += (to - at) * (computes and communicates)
        sums[5] += (to - at) * (copies and (computes or communicates))
    return sums


class Steps:
    def __init__(self, grtrace, name, truth):
        self.grtrace, self.name, self.truth = grtrace, name, truth
        self.ranks, self.works = {}, collections.defaultdict(lambda: [0, 0, 0])
        for pid in truth.pids:
            self.find(pid)

    def find(self, pid):
        """A step is from the end of the last launch before it to the end of its own last one."""
        works = [w for w in self.truth.works if w.pid == pid]
        over = {w.corr: w.end for w in works}
        calls = sorted((c for c in self.truth.calls if c.pid == pid), key=lambda c: c.begin)
        ranges = sorted((r for r in self.truth.ranges if r.pid == pid), key=lambda r: r.begin)
        begins, moments = [c.begin for c in calls], []
        for n, time in enumerate([*(r.begin for r in ranges), ranges[-1].end]):
            at = bisect.bisect_left(begins, time)
            moments.append(max([begins[at] if n == 0 or at == 0 else over[calls[at - 1].corr], *moments[-1:]]))
        first = int(ranges[0].name.split("#")[1])
        for gpu in {w.gpu for w in works if w.kind == "K"}:
            mine = [w for w in works if w.gpu == gpu]
            self.ranks[pid, gpu] = [(first + n, begin, end - begin, *parts(mine, begin, end))
                                    for n, (begin, end) in enumerate(zip(moments, moments[1:]))]
            for w in mine:
                n = bisect.bisect_right(moments, w.start) - 1
                sums = self.works[pid, gpu, first + n if 0 <= n < len(moments) - 1 else None, CLASSES[class_of(w)], w.name]
                sums[:] = sums[0] + 1, sums[1] + w.end - w.start, max(sums[2], w.end - w.start)

    def compare(self):
        tables = table(self.grtrace, "step", self.name)
        rows = collections.defaultdict(list)
        for s in tables["steps"]:
            rows[s["pid"], s["gpu"]].append((s["step"], s["begin"], s["time"], *(s[p] for p in PARTS)))
            self.compare_with_median(s)
        for key, want in self.ranks.items():
            same(f"{self.name}: steps of {key}", sorted(rows[key]), want)
        same(f"{self.name}: ranks", sorted((r["pid"], r["gpu"]) for r in tables["step_ranks"]), sorted(self.ranks))
        for r in tables["step_ranks"]:
            want = self.ranks[r["pid"], r["gpu"]]
            times = [row[2] for row in want]
            same(f"{self.name}: rank {r['pid']}/{r['gpu']}", (r["steps"], r["p50"], r["p99"], r["max"], r["slowest"]),
                 (len(want), rank(times, 500), rank(times, 990), max(times), want[times.index(max(times))][0]))
            same(f"{self.name}: rank {r['pid']}/{r['gpu']}: parts", [r[p] for p in PARTS], [sum(c) for c in list(zip(*want))[3:]])
        if os.path.exists("out.sqlite"):
            os.remove("out.sqlite")
        read(self.grtrace, "export", "-f", "sqlite", "-o", "out.sqlite", self.name)
        rows = sqlite3.connect("out.sqlite").execute("SELECT pid, gpu, step, kind, name, count, time_ns, max_ns FROM step_work")
        same(f"{self.name}: step_work", sorted(rows, key=str), sorted(((*key, *sums) for key, sums in self.works.items()), key=str))

    def compare_with_median(self, step):
        rows = self.ranks[step["pid"], step["gpu"]]
        over = step["time"] - rank([row[2] for row in rows], 500)
        grown = [step[part] - rank([row[3 + n] for row in rows], 500) for n, part in enumerate(PARTS[:4])]
        same(f"{self.name}: step {step['step']}: over, grew", (step["over"], step["grew"]),
             (over if over >= 0 else None, GROWN[grown.index(max(grown))] if over > 0 else None))


class Idle:
    """Each gap is divided: until the launch of the work that ended it, by what the thread did; then the call itself, and
    from its return on the work is queued."""

    def __init__(self, grtrace, name, truth):
        self.grtrace, self.name, self.truth, self.calls = grtrace, name, truth, truth.call_of()

    def causes(self, works):
        first, last = self.truth.span()
        reached, sums, known = first, collections.Counter(), set()
        for n, w in enumerate(sorted(works, key=lambda w: w.start)):
            fresh = w.kind == "K" and w.name not in known
            known.add(w.name)
            if w.start > reached:
                self.divide(sums, reached, w, n == 0, "set_up" if fresh else "call")
            reached = max(reached, w.end)
        sums["end"] += max(0, last - reached)
        return +sums

    def divide(self, sums, gap, work, is_first, called):
        call = self.calls.get((work.pid, work.corr))
        asked = min(max(gap, call.begin), work.start) if call else work.start
        if is_first:
            sums["before"] += asked - gap
        elif call:
            others = union([(c.begin, c.end) for c in self.truth.calls if (c.pid, c.tid) == (call.pid, call.tid)], gap, asked)
            sums.update(call=others, code=asked - gap - others)
        else:
            sums["unknown"] += work.start - gap
        if call:
            returned = min(max(asked, call.end), work.start)
            sums.update({called: returned - asked})
            sums["queued"] += work.start - returned

    def compare(self):
        tables = table(self.grtrace, "idle", self.name)
        for r in tables["idle_devices"]:
            want = self.causes([w for w in self.truth.works if (w.pid, w.gpu) == (r["pid"], r["gpu"])])
            says = collections.Counter({cause[5:]: ns for cause, ns in r.items() if cause.startswith("idle_")})
            rows = collections.Counter()
            for row in tables["idle"]:
                if row["device"] == r["device"]:
                    rows[row["cause"]] += row["time"]
                    same(f"{self.name}: share of {row['cause']}", row["share"], percent(row["time"], r["idle"]))
            for of, sums in (("causes", says), ("rows", rows)):
                sums["before"] = sums.pop("first", 0) + sums.pop("start", 0)
                same(f"{self.name}: {of} of {r['device']}", +sums, want)


class Streams:
    """How much of a stream was not complete at each of its calls; and busy times, to the nanosecond."""

    def __init__(self, grtrace, name, truth):
        self.grtrace, self.name, self.truth, self.calls = grtrace, name, truth, truth.call_of()

    @staticmethod
    def depths(works):
        """Of (call, end) in the order of calls."""
        queue, depths = collections.deque(), []
        for called, end in works:
            while queue and queue[0] <= called:
                queue.popleft()
            depths.append(len(queue))
            queue.append(end)
        return depths

    def compare(self):
        first, last = self.truth.span()
        for r in table(self.grtrace, "stream", self.name)["streams"]:
            mine = [w for w in self.truth.works if (w.pid, w.gpu, w.stream) == (r["pid"], r["gpu"], r["stream"])]
            works = sorted((self.calls[w.pid, w.corr].begin, w.end) for w in mine)
            depths, what = self.depths(works), f"{self.name}: stream {r['pid']}/{r['gpu']}/{r['stream']}"
            busy = union([(w.start, w.end) for w in mine], first, last)
            same(f"{what}: busy", r["busy"], percent(busy, last - first))
            # in which order two of them end at once is not told
            if len({end for _, end in works}) == len(works):
                same(f"{what}: depth", (r["depth_avg"], r["depth_max"]), (sum(depths) * 1000 // len(depths) / 1000, max(depths)))
        for r in table(self.grtrace, "idle", self.name)["idle_devices"]:
            mine = [(w.start, w.end) for w in self.truth.works if (w.pid, w.gpu) == (r["pid"], r["gpu"])]
            same(f"{self.name}: busy of {r['device']}", r["busy"], union(mine, first, last))


class Long(Truth):
    """More work than is held for sorting; each tenth of it is a copy that ends before its call returns."""

    def fill(self, pid, begin):
        now = free = begin
        for corr in range(1, 36000):
            copy = corr % 10 == 0
            start = max(now + 500, free)
            free = start + self.random.choice((300, 900, 2000))
            back = free + 700 if copy else now + 200
            self.calls.append(Call(pid, pid, corr, "cudaMemcpy" if copy else "cudaLaunchKernel", now, back))
            self.works.append(Work("C" if copy else "K", None if copy else "k", pid, 0, 1, 7, start, free, corr, 64 * copy,
                                   "HtoD" if copy else None, False))
            now = back + 300


class Path:
    """What must be true of any path: no gap, no overlap, and each piece is within what it is said to be."""

    def __init__(self, grtrace, name, truth):
        self.grtrace, self.name, self.truth = grtrace, name, truth

    def is_within(self, piece, begin, end):
        truth = self.truth
        if piece["kind"] == "kernel":
            return any(w.start <= begin and w.end >= end and w.name == piece["what"] for w in truth.works)
        if piece["kind"] == "copy":
            return any(w.start <= begin and w.end >= end and w.kind != "K" for w in truth.works)
        if piece["kind"] == "call":
            return any(c.begin <= begin and c.end >= end and c.name == piece["what"] for c in truth.calls)
        return True

    def compare(self):
        tables = table(self.grtrace, "path", self.name)
        run, reached, sums = tables["path_run"], 0, collections.Counter()
        for piece in sorted(tables["path_segments"], key=lambda p: p["at"]):
            same(f"{self.name}: {piece}: begin", piece["at"], reached)
            reached = piece["at"] + piece["time"]
            sums[piece["kind"]] += piece["time"]
            begin = run["first"] + piece["at"]
            same(f"{self.name}: {piece}: is that", self.is_within(piece, begin, begin + piece["time"]), True)
        same(f"{self.name}: whole path", (reached, run["pieces"]), (run["wall"], len(tables["path_segments"])))
        same(f"{self.name}: its end", run["end"], max([w.end for w in self.truth.works] + [c.end for c in self.truth.calls]))
        for row in tables["path"]:
            sums[row["kind"]] -= row["time"]
            same(f"{self.name}: share of {row['what']}", row["share"], percent(row["time"], run["wall"]))
            if row["kind"] == "kernel":
                times = [w.end - w.start for w in self.truth.works if (f"pid {w.pid}", w.name) == (row["who"], row["what"])]
                same(f"{self.name}: all of {row['what']}", (row["total"], row["times"]), (sum(times), sum(ns > 0 for ns in times)))
        same(f"{self.name}: rows and pieces", {kind: ns for kind, ns in sums.items() if ns}, {})


def main():
    grtrace, *seeds = sys.argv[1:]
    if seeds == ["long"]:
        truth = Long(1, [4711])
        nsys(truth, "long.sqlite")
        Streams(grtrace, "long.sqlite", truth).compare()
        finish(3)
    for seed in map(int, seeds):
        for write, name, pids in ((kineto, f"{seed}.json", [4711]), (nsys, f"{seed}.sqlite", [101, 103])):
            truth = Training(seed, pids)
            write(truth, name)
            for model in (Steps, Idle, Streams, Path):
                model(grtrace, name, truth).compare()
    finish(100)


main()
