#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_duty_jobs.py GRTRACE SEEDS: recordings of all jobs, of which only those in random windows are written. Estimates are
compared with sums over the windows, and their intervals with all jobs; nothing may be said of the time between windows."""

import json
import random
import sys

import _raw
from _gpu_work import finish, read, same, table

MS, FIRST = 10**6, 10**12


class Recording:
    def __init__(self, seed, name):
        rng = random.Random(seed)
        self.name, self.jobs, self.part, self.parts, periods = name, [], 10 * MS, rng.choice((5, 10, 20)), rng.choice((30, 60))
        self.all = self.part * self.parts * periods
        begins = [FIRST + (n * self.parts + rng.randrange(self.parts)) * self.part for n in range(periods)]
        self.windows = [(begin, begin + self.part) for begin in begins]
        now = FIRST
        while now < FIRST + self.all - 10 * MS:
            now += int(rng.expovariate(1 / (2 * MS))) + 1000
            ran = min(int(rng.paretovariate(1.5) * 100000), 8 * MS) if seed % 2 else rng.randrange(100000, 900000)
            self.jobs.append((rng.choice((70, 70, 70, 80)), now, now + ran))
            now += ran
        self.seen = [job for job in self.jobs if any(begin <= job[1] < end for begin, end in self.windows)]
        _raw.write(name, [list(self.events(periods))], lambda time: [
            _raw.name(time, 1, 70, "a", "a"), _raw.name(time, 1, 80, "b", "b"), _raw.name(time, 2, 0, "gfx")])

    def events(self, periods):
        def window(time, number, begin, end, what):
            return _raw.event(time, "WINDOW", begin=begin, end=end, number=number, parts=self.parts, of=1, what=what)
        yield window(FIRST, 0, FIRST, FIRST, 1)
        for number, (begin, end) in enumerate(self.windows, 1):
            yield window(max(FIRST, begin - MS), number, begin, end, 1)
            yield window(end, number, begin, end, 2)
        yield window(FIRST + self.all, 0, FIRST + self.all, FIRST + self.all, 2)
        for number, (pid, start, end) in enumerate(self.seen, 1):
            for what, time in (("SUBMIT", start), ("COMMIT", start), ("START", start), ("END", end), ("COMPLETE", end)):
                yield _raw.event(time, what, ctx=100, seqno=number, ring=0, pid=pid, tid=pid)


def compare(grtrace, r):
    """Return: of each process, whether the interval has the truth."""
    watched, hits = sum(end - begin for begin, end in r.windows), []
    rows = table(grtrace, "process", r.name)["processes"]
    same(f"{r.name}: processes", sorted(row["pid"] for row in rows), sorted({job[0] for job in r.seen}))
    for row in rows:
        what, mine = f"{r.name}: {row['pid']}", [end - start for pid, start, end in r.seen if pid == row["pid"]]
        same(f"{what}: measured", (row["jobs"], row["exec_sum"], row["busy"]), (len(mine), sum(mine), None))
        same(f"{what}: estimated jobs", row["estimated_jobs"], len(mine) * r.all // watched, .001)
        same(f"{what}: estimated time", row["estimated_exec_sum"], sum(mine) * r.all // watched, .001)
        if row["estimated_from"] is not None:
            truth = sum(end - start for pid, start, end in r.jobs if pid == row["pid"])
            hits.append(row["estimated_from"] <= truth <= row["estimated_to"])
    folded = read(grtrace, "flame", r.name).splitlines()
    same(f"{r.name}: graph", sum(int(line.rsplit(" ", 1)[1]) for line in folded), sum(row["estimated_exec_sum"] for row in rows), .001)
    device = table(grtrace, "idle", r.name)["idle_devices"][0]
    busy = sum(end - start for _, start, end in r.seen)
    # a job that a window does not contain is busy to its end
    over = busy - sum(max(0, min(end, to) - max(start, begin)) for _, start, end in r.seen for begin, to in r.windows)
    same(f"{r.name}: busy", device["busy"], busy)
    same(f"{r.name}: busy and idle", device["busy"] + device["idle"], watched + over)
    timeline = json.loads(read(grtrace, "timeline", "--json", r.name))
    same(f"{r.name}: gaps", (timeline["ring_gaps"], timeline["process_gaps"]), ([], []))
    shares = table(grtrace, "gpu-process", r.name)["gpu_processes"]
    same(f"{r.name}: nobody", [row for row in shares if row["kind"] != "process"], [])
    return hits


def main():
    grtrace, seeds = sys.argv[1:]
    hits = [hit for seed in range(int(seeds)) for hit in compare(grtrace, Recording(seed, f"duty-{seed}.raw"))]
    # 95 % of them should: with heavy tails, the manual says that it may be fewer
    same("intervals with the truth", sum(hits) * 100 >= 80 * len(hits) > 0, True)
    finish(20)


main()
