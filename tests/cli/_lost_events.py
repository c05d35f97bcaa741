#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_lost_events.py GRTRACE SEED...: jobs of a ring, of which random events are lost. What can still be known of each job is
compared with a model; sums that are lower bounds and gaps in which jobs may have run have to say so."""

import json
import random
import sys

import _raw
from _gpu_work import finish, read, same, table, union

STAMPS = ("submit", "commit", "start", "end", "complete")
PHASES = (("t_sched_ns", 0, 1), ("t_queue_ns", 1, 2), ("t_exec_ns", 2, 3), ("t_complete_ns", 3, 4))
COLUMNS = 50


class Recording:
    def __init__(self, seed, name):
        self.rng, self.name, self.jobs = random.Random(seed), name, {}
        choice, now, streams = self.rng.choice, 10**9 * seed, ([], [])
        rate, self.lost, self.seen = choice((0, .01, .05, .3)), 0, []
        for number in range(1, choice((3, 60, 400))):
            times = [now + choice((0, 1000, 200000, 2 * 10**6))]
            for most in (500, 900, 10**6, 1200):
                times.append(times[-1] + choice((0, most)))
            for title, time in zip(STAMPS, times):
                self.put(streams[title in STAMPS[3:]], title, time, number, self.rng.random() < rate)
            now = times[3]
        self.first, self.last = min(self.seen), max(self.seen)
        _raw.write(name, streams, lambda time: [_raw.name(time, 1, 70, "app", "app"), _raw.name(time, 2, 0, "gfx")])
        self.infer()

    def put(self, stream, title, time, number, lost):
        record = _raw.event(time, title.upper(), pid=70, tid=70, ctx=5, seqno=number, engine=1)
        stream.append((time, None) if lost else record)
        self.lost += lost
        if not lost:
            self.jobs.setdefault(number, {})[title] = time
            self.seen.append(time)

    def infer(self):
        """The ring was free when the job before it had ended."""
        reached = 0
        for job in sorted((j for j in self.jobs.values() if "end" in j), key=lambda j: j["end"]):
            start = max(job.get("commit", 0), reached)
            if "start" not in job and "commit" in job and start <= job["end"]:
                job["start"], job["inferred"] = start, True
            reached = max(reached, job["end"])

    def runs(self):
        return [(j["start"], j["end"]) for j in self.jobs.values() if "start" in j and "end" in j]

    def gaps(self):
        """Of the ring, and how many jobs without a beginning or end may have run in each"""
        reached, gaps = self.first, []
        runs = sorted(run for run in self.runs() if run[0] < run[1])
        for begin, end in [*runs, (self.last, self.last)] if runs else []:
            if (begin - reached) * COLUMNS > self.last - self.first:
                gaps.append([reached, begin, 0])
            reached = max(reached, end)
        for job in self.jobs.values():
            if "start" in job and "end" in job:
                continue
            begin = max((job[s] for s in STAMPS[:3] if s in job), default=None)
            end = max((job[s] for s in STAMPS[3:] if s in job), default=None)
            later = [gap for gap in gaps if begin is None or gap[1] > begin]
            before = [gap for gap in gaps if end is None or gap[0] < end]
            for gap in later[:1] if end is None else before[-1:] if begin is None else [g for g in later if g in before]:
                gap[2] += 1
        return [tuple(gap) for gap in gaps]


def compare(grtrace, r):
    rows = {row["seqno"]: row for row in table(grtrace, "job", r.name)["jobs"]}
    same(f"{r.name}: jobs", sorted(rows), sorted(r.jobs))
    for number, job in r.jobs.items():
        for phase, begin, end in PHASES:
            want = job[STAMPS[end]] - job[STAMPS[begin]] if {STAMPS[begin], STAMPS[end]} <= job.keys() else None
            same(f"{r.name}: {phase} of {number}", rows[number][phase], want)
        same(f"{r.name}: inferred times of {number}", "start" in rows[number]["inferred"], "inferred" in job)
    runs, untimed = r.runs(), len(r.jobs) - len(r.runs())
    busy, span = union(runs, r.first, r.last), r.last - r.first
    for by, name in (("ring", "rings"), ("process", "processes")):
        row = table(grtrace, by, r.name)[name][0]
        near = abs(row["busy"] - 100 * busy / span) <= .001 if row["busy"] is not None else None
        same(f"{r.name}: {by}", (row["jobs"], row["exec_sum"], near),
             (len(r.jobs), sum(end - begin for begin, end in runs), True) if runs and span else (len(r.jobs), None, None))
        same(f"{r.name}: {by}: lower bounds", row["estimated"], ["busy", "exec_sum"] if untimed and runs else [])
    lines = json.loads(read(grtrace, "timeline", "--json", r.name))
    same(f"{r.name}: timeline", (lines["rings"][0]["busy"], lines["rings"][0]["drawn"]), (busy if runs else None, len(runs)))
    same(f"{r.name}: timeline: lower bounds", lines["rings"][0]["estimated"], ["busy", "share"] if untimed and runs else [])
    for name in ("ring_gaps", "process_gaps"):
        same(f"{r.name}: {name}", [(g["from"], g["to"], g["unsure"] or 0) for g in lines[name]], r.gaps())
    device = table(grtrace, "idle", r.name)["idle_devices"][0]
    same(f"{r.name}: idle", (device["busy"], device["busy"] + device["idle"]), (busy, span))
    same(f"{r.name}: the sentence", "at least" in device["sentence"], r.lost > 0 or untimed > 0)
    same(f"{r.name}: lost", table(grtrace, "ring", r.name)["balance"]["lost"], r.lost)


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        compare(grtrace, Recording(seed, f"{seed}.raw"))
    finish(20)


main()
