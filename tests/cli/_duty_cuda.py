#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_duty_cuda.py GRTRACE SEEDS: CUDA programs of which only random windows are recorded, some of which never end; kernels are
written at once, as in long windows. Estimates, graphs and profiles are compared with sums over the windows that ended."""

import json
import random
import sys

import _raw
from _gpu_work import finish, read, same, table

MS, FIRST = 10**6, 10**12
UUID = "GPU-0fb7ac10-1d59-6d3a-6d35-4e4a5b8f4a01"
TEXTS = ("gemm", "relu", "main", "one", "two", "x.py")


class Recording:
    def __init__(self, seed, name):
        self.rng, self.name, self.part = random.Random(seed), name, 10 * MS
        self.parts, periods, self.work, self.all = self.rng.choice((5, 10)), self.rng.choice((30, 50)), [], []
        self.end = FIRST + self.part * self.parts * periods
        begins = [FIRST + (n * self.parts + self.rng.randrange(self.parts)) * self.part for n in range(periods)]
        self.windows = [(begin, begin + self.part) for begin in begins]
        # a program that was killed in its last window: nothing is known from there on
        self.killed = self.rng.random() < .3
        self.of = {"ctx": 1000, "pid": 50, "tid": 50}
        events = [_raw.event(FIRST, "PROCESS", what=1, **self.of), _raw.event(FIRST, "DEVICE", gpu=0, uuid=UUID, **self.of)]
        events += [_raw.event(FIRST, "STRING", number=n, length=len(t), part=len(t), text=t, **self.of) for n, t in enumerate(TEXTS, 1)]
        events += [_raw.event(FIRST, "NODE", node=n, caller=n > 1, function=n + 2, file=6, line=n, **self.of) for n in (1, 2, 3)]
        for number, (begin, end) in enumerate(self.windows, 1):
            events.append(_raw.event(begin, "CAPTURE", begin=begin, end=0, number=number, parts=self.parts, **self.of))
            if not (self.killed and number == periods):
                events.append(_raw.event(end, "CAPTURE", begin=begin, end=end, number=number, parts=self.parts, **self.of))
        events += self.fill()
        events.append(_raw.event(self.windows[-1][0] if self.killed else self.end, "PROCESS", what=2 if self.killed else 3, **self.of))
        _raw.write(name, [events])
        if self.killed:
            self.end = self.windows.pop()[0]

    def fill(self):
        now = free = FIRST
        while now < self.end - 5 * MS:
            now += int(self.rng.expovariate(1 / MS)) + 1000
            kind, node = self.rng.choice((1, 1, 2)), self.rng.choice((2, 3))
            start = max(free, now + self.rng.choice((0, 20000)))
            free = start + (self.rng.randrange(100000, 900000) if kind == 1 else self.rng.randrange(1000, 200000))
            self.all.append((kind, now, free - start))
            if any(begin <= now < end for begin, end in self.windows):
                self.work.append((kind, now, free - start, node))
                place = {"correlation": len(self.work), "context": 1, **self.of}
                yield _raw.event(now + 500, "LAUNCH", begin=now, call=211, node=node, **place)
                yield _raw.event(free, "GPU_KERNEL", start=start, end=free, gpu=0, cuda_stream=7, name=kind, **place)


def compare(grtrace, r):
    """Return: of each kernel, whether the intervals of its time and of its share have the truth."""
    watched, hits = sum(end - begin for begin, end in r.windows), []
    scale, seen = (r.end - FIRST) / watched, [w for w in r.work if any(begin <= w[1] < end for begin, end in r.windows)]
    true = [w for w in r.all if w[1] < r.end]
    for row in table(grtrace, "kernel", r.name)["kernels"]:
        kind = TEXTS.index(row["kernel"]) + 1
        what = f"{r.name}: {row['kernel']}"
        mine = [w[2] for w in seen if w[0] == kind]
        same(f"{what}: measured", (row["calls"], row["total"]), (sum(w[0] == kind for w in r.work), sum(w[2] for w in r.work if w[0] == kind)))
        same(f"{what}: estimated time", row["estimated_total"], sum(mine) * scale, 1e-3)
        same(f"{what}: estimated calls", abs(row["estimated_calls"] - len(mine) * scale) <= 1, True)
        time = sum(w[2] for w in true if w[0] == kind)
        share = 100 * time / sum(w[2] for w in true)
        hits += [row["estimated_from"] <= time <= row["estimated_to"], row["share_from"] <= share <= row["share_to"]]
    stacks = {}
    for line in read(grtrace, "flame", r.name).splitlines():
        place, weight = line.rsplit(" ", 1)
        stacks[place.split(";")[-2].split()[0], place.rsplit("]", 1)[1]] = int(weight)
    want = {(TEXTS[node + 1], TEXTS[kind - 1]): sum(w[2] for w in seen if (w[0], w[3]) == (kind, node)) * scale
            for kind in (1, 2) for node in (2, 3) if any((w[0], w[3]) == (kind, node) for w in seen)}
    same(f"{r.name}: stacks", sorted(stacks), sorted(want))
    for key in set(stacks) & set(want):
        same(f"{r.name}: {key}", stacks[key], want[key], 1e-3)
    read(grtrace, "export", "-o", "duty.speedscope.json", r.name)
    with open("duty.speedscope.json", encoding="utf-8") as f:
        same(f"{r.name}: profile", sum(sum(p["weights"]) for p in json.load(f)["profiles"]), sum(want.values()), 1e-3)
    return hits


def main():
    grtrace, seeds = sys.argv[1:]
    hits = [hit for seed in range(int(seeds)) for hit in compare(grtrace, Recording(seed, f"cuda-{seed}.raw"))]
    same("intervals with the truth", sum(hits) * 100 >= 85 * len(hits) > 0, True)
    finish(20)


main()
