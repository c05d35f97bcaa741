#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_ranks.py GRTRACE SEED...: two to five ranks that meet in two communicators, one of them of two ranks only; one rank may
lack the first or last steps. What report --by rank says is compared with sums over the arrivals."""

import collections
import json
import random
import sys

from _gpu_work import Call, Range, Truth, Work, finish, nsys, read, same

REDUCE, GATHER = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_AllGather_RING_LL"
STEP = 100000

# whole: all of its ranks are there; arrived: by pid
Collective = collections.namedtuple("Collective", "name step arrived end whole")


class Ranks(Truth):
    def __init__(self, seed):
        self.random = random.Random(seed)
        choice, steps = self.random.choice, self.random.choice((6, 15))
        self.pids = list(range(100, 100 + choice((2, 3, 4, 5))))
        self.works, self.calls, self.ranges, self.met, self.corr = [], [], [], [], collections.Counter()
        self.steps = {pid: range(steps) for pid in self.pids}
        if seed % 2:
            self.steps[choice(self.pids)] = range(choice((0, 1)), steps - choice((0, 1)))
        for step in range(steps):
            self.fill_step(step, 10**6 + STEP * step)

    def run(self, pid, name, stream, called, start, end):
        self.corr[pid] += 1
        self.calls.append(Call(pid, pid, self.corr[pid], "cudaLaunchKernel", called, called + 100))
        self.works.append(Work("K", name, pid, 0, 1, stream, start, end, self.corr[pid], 0, None, False))

    def fill_step(self, step, begin):
        here = [pid for pid in self.pids if step in self.steps[pid]]
        for pid in here:
            self.ranges.append(Range(pid, pid, f"ProfilerStep#{step}", begin, begin + 90000))
            self.run(pid, "gemm", 7, begin + 100, begin + 1000, begin + 20000 + self.random.randrange(10000))
        for n, (name, members) in enumerate(((REDUCE, self.pids), (GATHER, self.pids[:2]))):
            arrived = {pid: begin + 30000 * (n + 1) + self.random.choice((0, 10, 100, self.random.randrange(8000)))
                       for pid in members if pid in here}
            end = max(arrived.values(), default=0) + self.random.randrange(1000, 9000)
            for pid, start in arrived.items():
                self.run(pid, name + "(ncclDevKernelArgsStorage<4096ul>)", 20 + n, begin + 300 + 200 * n, start, end)
            self.met.append(Collective(name, step, arrived, end, len(arrived) == len(members)))

    def compare(self, grtrace, name):
        tables = json.loads(read(grtrace, "report", "--json", "--by", "rank", "--top", "0", name))
        rows = {(r["collective"], r["begin"]): r for r in tables["collectives"]}
        sums = {pid: collections.Counter() for pid in self.pids}
        for c in self.met:
            for pid in c.arrived:
                sums[pid].update({"collectives" if c.whole else "alone": 1})
            if c.whole:
                self.compare_one(name, c, rows, sums)
        same(f"{name}: collectives", len(rows), sum(c.whole for c in self.met))
        for r in tables["ranks"]:
            for column in ("collectives", "alone", "steady", "last", "late", "late_max", "waited"):
                same(f"{name}: {r['pid']}: {column}", r[column] or 0, sums[r["pid"]][column])

    def compare_one(self, name, met, rows, sums):
        times = sorted(met.arrived.values())
        last, others = times[-1], times[:-1]
        row = rows.get((met.name, last))
        if not row:
            same(f"{name}: {met}", None, "a row")
            return
        late = last - others[len(others) // 2]
        same(f"{name}: {met}", [row[c] for c in ("ranks", "late", "wait", "time", "step")],
             [len(times), late, last - times[0], met.end - last, met.step])
        # of two that came last at once, either
        same(f"{name}: last of {met}", met.arrived[row["pid"]], last)
        same(f"{name}: {met}: steady", row["steady"], met.step > self.steps[row["pid"]][0])
        if row["steady"]:
            for pid, time in met.arrived.items():
                sums[pid].update(steady=1, waited=last - time)
            mine = sums[row["pid"]]
            mine.update(last=late > 0, late=late)
            mine["late_max"] = max(mine["late_max"], late)


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        ranks = Ranks(seed)
        nsys(ranks, f"{seed}.sqlite")
        ranks.compare(grtrace, f"{seed}.sqlite")
    finish(30)


main()
