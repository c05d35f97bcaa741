#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_uvm_sums.py GRTRACE SEED...: unified memory as a raw recording: copies that overlap, of which one that ends late may have
begun before many others, faults in batches, and processors that wait for pages. Tables and bars, also of parts of the time,
are compared with sums and unions."""

import collections
import json
import random
import sys

import _raw
from _gpu_work import finish, mean, percent, read, same, union

GPUS = [(195 << 20) + n for n in range(2)]
CAUSES = (None, "user", "coherence", "prefetch", "eviction", "access_counters")
Copy = collections.namedtuple("Copy", "pid source target cause queued start end bytes")
Fault = collections.namedtuple("Fault", "pid gpu access met time batch")


class Recording:
    def __init__(self, seed, name):
        self.rng, self.name = random.Random(seed), name
        choice = self.rng.choice
        self.copies, self.faults, self.replays, self.waits = [], [], {}, []
        now = 10**9
        for number in range(choice((5, 60, 300))):
            now += choice((0, 1, 700, 9000))
            pid, gpu = choice((70, 80)), choice(GPUS)
            source, target = choice(((0, gpu), (gpu, 0), tuple(GPUS)))
            start = now + choice((0, 10, 2000))
            self.copies.append(Copy(pid, source, target, choice(range(1, 6)), now, start,
                                    start + choice((0, 1, 300, 5000, 90000)), 4096 * choice((1, 16, 512))))
            met, ends = now, now + choice((1, 500))
            for _ in range(choice((0, 1, 3))):
                ends = max(ends, met + 20)
                self.faults.append(Fault(pid, gpu, choice((1, 2, 3)), met + choice((0, 5)), ends, number))
                met += choice((0, 3))
            if choice((True, True, False)):
                self.replays[number] = ends + 10, choice((0, ends + 10, ends + 800, ends + 801))
            self.waits.append((pid, gpu, 4096 * number, now, now + choice((5, 4000))))
        events = [_raw.event(c.end, "UVM_MIGRATION", pid=c.pid, start=c.start, queued=c.queued, bytes=c.bytes, cause=c.cause,
                             from_device=c.source, to_device=c.target) for c in self.copies]
        events += [_raw.event(f.time, "UVM_FAULT", pid=f.pid, device=f.gpu, access=f.access, met=f.met, batch=f.batch)
                   for f in self.faults]
        # each program is told of each batch
        events += [_raw.event(time, "UVM_REPLAY", pid=pid, device=gpu, batch=batch, done=done)
                   for batch, (time, done) in self.replays.items() for pid in (70, 80) for gpu in GPUS]
        for pid, gpu, address, begin, end in self.waits:
            for time, what in ((begin, 11), (end, 12)):
                events.append(_raw.event(time, "UVM_PAGES", pid=pid, device=gpu, address=address, bytes=4096, what=what))
        self.times = sorted(time for time, _ in events)
        streams = [[], []]
        for event in events:
            choice(streams).append(event)
        _raw.write(name, streams, lambda time: [_raw.name(time, 3, gpu, f"nvidia{gpu & 1}") for gpu in GPUS])

    def compare(self, grtrace, span):
        first, last = span
        args = ("--json", "--from", f"{first}ns", "--to", f"{last}ns", self.name)
        what = f"{self.name} {first} {last}"
        copies = [c for c in self.copies if c.start <= last and c.end >= first]
        self.bars(what, json.loads(read(grtrace, "timeline", *args))["uvm"], copies, span)
        tables = json.loads(read(grtrace, "report", "--by", "uvm", "--top", "0", *args))
        within = lambda time: first <= time <= last
        self.sums(what, tables["uvm"], copies)
        self.repairs(what, tables, [f for f in self.faults if within(f.time)],
                     {n: done for n, (time, done) in self.replays.items() if within(time)})
        throttled = collections.defaultdict(list)
        for pid, gpu, _, begin, end in self.waits:
            if within(begin):
                throttled[pid, self.processor(gpu)].append(end - begin if within(end) else None)
        same(f"{what}: throttled", sorted((r["pid"], r["processor"], r["times"], r["time"] or 0) for r in tables["uvm_pages"]),
             sorted((*key, len(ns), sum(filter(None, ns))) for key, ns in throttled.items()))

    @staticmethod
    def processor(device):
        return f"nvidia{device & 1}" if device else "CPU"

    def bars(self, what, rows, copies, span):
        want = collections.defaultdict(list)
        for c in copies:
            want[c.pid, None, None].append(c)
            want[c.pid, self.processor(c.source), self.processor(c.target)].append(c)
        same(f"{what}: bars", sorted(str((r["pid"], r["from"], r["to"])) for r in rows), sorted(map(str, want)))
        for r in rows:
            mine = want[r["pid"], r["from"], r["to"]]
            spans, columns = [(c.start, c.end) for c in mine], len(r["columns"])
            same(f"{what}: {r['from']} {r['to']}", (r["copies"], r["bytes"], r["busy"], r["share"]),
                 (len(mine), sum(c.bytes for c in mine), union(spans, *span), percent(union(spans, *span), span[1] - span[0])))
            border = [span[0] + (span[1] - span[0]) * i // columns for i in range(columns + 1)]
            same(f"{what}: columns", r["columns"], [union(spans, *pair) for pair in zip(border, border[1:])])

    def sums(self, what, rows, copies):
        want = collections.defaultdict(list)
        for c in copies:
            want[c.pid, self.processor(c.source), self.processor(c.target), CAUSES[c.cause]].append(c)
        same(f"{what}: rows", sorted((r["pid"], r["from"], r["to"], r["cause"]) for r in rows), sorted(want))
        for r in rows:
            mine = want[r["pid"], r["from"], r["to"], r["cause"]]
            size, ns = sum(c.bytes for c in mine), sum(c.end - c.start for c in mine)
            same(f"{what}: {r['cause']}", (r["copies"], r["bytes"], r["copying"], r["per_s"], r["queued"]),
                 (len(mine), size, ns, size * 10**9 // ns if ns else None, mean([c.start - c.queued for c in mine])))

    def repairs(self, what, tables, faults, replays):
        kinds, batches = collections.defaultdict(list), collections.defaultdict(list)
        for f in faults:
            kinds[f.pid, self.processor(f.gpu), (None, "read", "write", "atomic")[f.access]].append(f.time - f.met)
            batches[f.pid, self.processor(f.gpu), f.batch].append(f.met)
        same(f"{what}: faults", sorted((r["pid"], r["processor"], r["access"], r["faults"], r["noticed"], r["noticed_max"])
                                       for r in tables["uvm_faults"]),
             sorted((*key, len(ns), mean(ns), max(ns)) for key, ns in kinds.items()))
        took, sums = collections.defaultdict(list), collections.defaultdict(collections.Counter)
        for (pid, gpu, batch), met in batches.items():
            took[pid, gpu] += [replays[batch] - min(met)] if replays.get(batch) else []
            sums[pid, gpu].update({"batches": 1, "faults": len(met)} if batch in replays else {"open": 1})
        # a time is unknown where all batches are open, or the end of their repair was not told
        same(f"{what}: repairs", sorted(str((r["pid"], r["processor"], r["batches"], r["faults"], r["repair"], r["repair_max"], r["open"]))
                                        for r in tables["uvm_repairs"]),
             sorted(str((*key, sums[key]["batches"], sums[key]["faults"], mean(ns), max(ns, default=None), sums[key]["open"]))
                    for key, ns in took.items()))


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        made = Recording(seed, f"uvm-{seed}.raw")
        spans = [(made.times[0], made.times[-1]), *(tuple(sorted(made.rng.sample(sorted(set(made.times)), 2))) for _ in range(2))]
        for span in spans:
            made.compare(grtrace, span)
    finish(100)


main()
