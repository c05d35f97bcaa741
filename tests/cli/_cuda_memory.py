#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_cuda_memory.py GRTRACE SEED...: memory that CUDA programs allocate and free under random stacks, as a raw recording: the
table by stack, the graphs of the peak and of the end, and the timeline are compared with sums."""

import collections
import json
import random
import sys

import _raw
from _gpu_work import finish, read, same

KINDS = {1: "device", 2: "pool", 4: "managed", 5: "pinned"}
HOST = {5}
UUID = "GPU-0fb7ac10-1d59-6d3a-6d35-4e4a5b8f4a0"

Step = collections.namedtuple("Step", "time place pid stack kind bytes")


class Recording:
    """Blocks of two processes on two devices; a place is a device, or the host. One process may end before the other."""

    def __init__(self, seed, name):
        rng, self.name, self.steps, self.events = random.Random(seed), name, [], []
        self.first = now = 10**9 * rng.randrange(1, 5000)
        for pid in (50, 60):
            self.define(pid)
        live, number, count, pids = [], 0, rng.choice((3, 30, 200)), (50, 60)
        self.ended, self.left, self.called, ends = None, [], None, rng.choice((None, count // 2, count))
        for n in range(count + 1):
            now += rng.choice((1, 1000, 10**6))
            if n == ends:
                self.left = [(f"GPU{gpu}" if kind not in HOST else "Host", (pid, node, kind), size)
                             for pid, _, size, gpu, kind, node in live if pid == 50]
                live, pids, self.ended = [block for block in live if block[0] != 50], (60,), now
                self.end(50, now)
                now += rng.choice((1, 10**7))
                if rng.random() < .5:
                    self.called = now
                    self.events.append(_raw.event(now, "LAUNCH", begin=now, correlation=1, call=211, context=1, **self.of(60)))
            if n == count:
                break
            if live and rng.random() < .45:
                block = live.pop(rng.randrange(len(live)))
                self.put(now, 2, *block)
                continue
            number += 1
            live.append((rng.choice(pids), 4096 * number, rng.choice((1, 512, 2**21, 2**40, 2**45 + 1)), rng.choice((0, 1)),
                         rng.choice(list(KINDS)), rng.choice((0, 1, 2, 3))))
            self.put(now, 1, *live[-1])
        self.last = now + 1000
        for pid in pids:
            self.end(pid, self.last)
        # from then on it is known that the other process goes on
        self.seen_after = min([s.time for s in self.steps if self.ended and s.time > self.ended] + [self.called or self.last + 1])
        _raw.write(name, [self.events], lambda time: [_raw.name(time, 1, 50, "a", "a"), _raw.name(time, 1, 60, "b", "b")])

    def end(self, pid, time):
        self.events.append(_raw.event(time, "PROCESS", what=3, ctx=1000 + pid, pid=pid, tid=pid))

    @staticmethod
    def of(pid):
        return {"ctx": 1000 + pid, "pid": pid, "tid": pid}

    def define(self, pid):
        of = self.of(pid)
        def put(title, **values):
            self.events.append(_raw.event(self.first, title, **of, **values))
        put("PROCESS", what=1)
        for number, text in enumerate(("main", "load", "step"), 1):
            put("STRING", number=number, length=len(text), part=len(text), text=text)
        put("STRING", number=9, length=4, part=4, text="x.py")
        for gpu in (0, 1):
            put("DEVICE", gpu=gpu, uuid=UUID + str(gpu))
        for node, caller in ((1, 0), (2, 1), (3, 1)):
            put("NODE", node=node, caller=caller, function=node, file=9, line=node)

    def put(self, time, what, pid, address, size, gpu, kind, node):
        self.events.append(_raw.event(time, "ALLOC", ctx=1000 + pid, pid=pid, tid=pid, address=address, node=node if what == 1 else 0,
                                      bytes=size if what == 1 else 0, gpu=gpu, context=1, kind=0 if what == 2 and kind in (1, 2, 4) else kind, what=what))
        place = "Host" if kind in HOST else f"GPU{gpu}"
        self.steps.append(Step(time, place, pid, node, kind, size if what == 1 else -size))

    def peaks(self, place, first, last):
        """When the memory of a place was most; what each stack had then, and what it never freed"""
        had, most, best, never = collections.Counter(), 0, collections.Counter(), collections.Counter()
        steps = [(s.time, s.place, (s.pid, s.stack, s.kind), s.bytes) for s in self.steps]
        # the other process goes on: what the first one had at its end is free
        if self.ended and self.seen_after <= last:
            steps += [(self.ended, of, whose, -size) for of, whose, size in self.left]
            for of, whose, size in self.left:
                never[whose] += size if of == place else 0
        for time, of, whose, size in sorted(steps, key=lambda step: step[0]):
            if of != place or time > last:
                continue
            had[whose] += size
            if time < first or sum(had.values()) > most:
                best, most = +had, sum(had.values())
        return best, had + never


def compare_bars(grtrace, r, span, options):
    """What each place had, column by column; no step is at a moment that is not one."""
    first, last = span
    says = {"Host" if row["gpu"] is None else f"GPU{row['gpu']}": row
            for row in json.loads(read(grtrace, "timeline", "--json", *options, r.name))["memory"]}
    for place in ("Host", "GPU0", "GPU1"):
        steps = [(s.time, s.bytes) for s in r.steps if s.place == place]
        if r.ended and r.seen_after <= last:
            steps += [(r.ended, -size) for of, _, size in r.left if of == place]
        steps = sorted(step for step in steps if step[0] <= last)
        row, what = says.get(place), f"{r.name} {' '.join(options)}: bar of {place}"
        same(f"{what}: is there", row is not None, bool(steps))
        if not steps or not row:
            continue
        columns, had, spans, begin = len(row["columns"]), 0, [], first
        for time, size in [*steps, (last, 0)]:
            if time > begin:
                spans.append((begin, time, had))
                begin = time
            had += size
        border = [first + (last - first) * i // columns for i in range(columns + 1)]
        area = [sum(level * max(0, min(end, b) - max(begin, a)) for begin, end, level in spans) for a, b in zip(border, border[1:])]
        same(f"{what}: columns", row["columns"], [(sums + (b - a) // 2) // (b - a) if b > a else 0
                                                  for sums, a, b in zip(area, border, border[1:])])
        same(f"{what}: peak, live", (row["peak"], row["live"]), (max(level for *_, level in spans), had))


def compare(grtrace, r, span, options):
    first, last = span
    compare_bars(grtrace, r, span, options)
    what = f"{r.name} {' '.join(options)}"
    rows = json.loads(read(grtrace, "report", "--json", "--by", "allocation", "--top", "0", *options, r.name))["allocations"]
    says = collections.defaultdict(collections.Counter)
    for row in rows:
        place = "Host" if row["gpu"] is None else f"GPU{row['gpu']}"
        stack = {None: 0, "main": 1, "load": 2, "step": 3}[row["stack"] and row["stack"].split()[0]]
        says[place, row["pid"], stack, row["kind"]].update({k: row[k] for k in ("peak", "live", "allocations", "frees", "bytes")})
    want = collections.defaultdict(collections.Counter)
    for place in ("Host", "GPU0", "GPU1"):
        for column, of in zip(("peak", "live"), r.peaks(place, first, last)):
            for (pid, stack, kind), size in of.items():
                want[place, pid, stack, KINDS[kind]][column] += size
    for s in r.steps:
        if first <= s.time <= last and s.bytes > 0:
            want[s.place, s.pid, s.stack, KINDS[s.kind]].update({"allocations": 1, "bytes": s.bytes})
        elif first <= s.time <= last:
            want[s.place, s.pid, s.stack, KINDS[s.kind]]["frees"] += 1
    for key in set(says) | set(want):
        same(f"{what}: {key}", +says[key], +want[key])
    for weight in ("peak", "live"):
        total = sum(row[weight] for row in want.values())
        if total:
            lines = read(grtrace, "flame", "--weight", weight, *options, r.name).splitlines()
            same(f"{what}: graph of {weight}", sum(int(line.rsplit(" ", 1)[1]) for line in lines), total)


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        r = Recording(seed, f"{seed}.raw")
        compare(grtrace, r, (r.first, r.last), ())
        rng = random.Random(seed)
        for _ in range(3):
            span = sorted((rng.randrange(r.first, r.last), rng.randrange(r.first, r.last)))
            compare(grtrace, r, span, ("--from", f"{span[0]}ns", "--to", f"{span[1]}ns"))
    finish(20)


main()
