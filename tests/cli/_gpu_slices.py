#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_gpu_slices.py GRTRACE SEED...: which process had NVIDIA GPUs, as slices in random parts, and the memory that it had of
them, in a raw recording: the tables and the timeline are compared with sums."""

import collections
import json
import random
import sys

import _raw
from _gpu_work import finish, mean, rank, read, same

SWITCH, GOES_ON, CUT, LOST = 1, 2, 3, 4
SWITCHING_NS = 1000000  # a longer gap is nobody's
DEVICES = {5: "0000:c6:00.0", 6: "0000:c7:00.0"}
BUS = {5: 0xc600, 6: 0xc700}

Slice = collections.namedtuple("Slice", "kind pid begin end came left")


class Card:
    """A GPU, and of what its time consists."""

    def __init__(self, rng, device, first, end):
        self.device, self.slices, self.events = device, [], []
        choice, now, lost = rng.choice, first, False
        at_begin = choice((True, False))
        if not at_begin:
            now += choice((1, 5000, 3 * 10**6))
            self.slices.append(Slice("nobody", None, first, now, True, True))
        while now < end:
            pid = choice((10, 11, 12))
            stays = min(now + choice((1, 1000, 54321, 2 * 10**6, 9 * 10**6)), end)
            begin = CUT if at_begin else LOST if lost else SWITCH
            lost = rng.random() < .05
            over = CUT if stays == end else LOST if lost else SWITCH
            self.put(rng, pid, now, stays, begin, over)
            self.slices.append(Slice("process", pid, now, stays, begin == SWITCH, over == SWITCH))
            now, at_begin = stays, False
            if now >= end:
                break
            gap = min(now + choice((0, 1, 2000, SWITCHING_NS, SWITCHING_NS + 1, 4 * 10**6)), end)
            if gap > now:
                kind = "unknown" if lost else "nobody" if gap - now > SWITCHING_NS or gap == end else "switching"
                self.slices.append(Slice(kind, None, now, gap, True, True))
            now = gap

    def put(self, rng, pid, begin, end, came, left):
        edges = sorted({begin, end, *(rng.randrange(begin, end + 1) for _ in range(rng.choice((0, 0, 1, 3))))})
        for start, stop in zip(edges, edges[1:]):
            self.events.append(_raw.event(stop, "GPU_SLICE", pid=pid, tid=pid, device=self.device, start=start, context=pid,
                                          begin=came if start == begin else GOES_ON, over=left if stop == end else GOES_ON,
                                          mig_gpu=255, mig_compute=255))


class Memory:
    """Of processes, by device: blocks that come and go."""

    def __init__(self, rng, first, end):
        self.events, self.steps = [], collections.defaultdict(list)
        live, now, number = {}, first, 0
        while now < end:
            pid, device = rng.choice((10, 11)), rng.choice((5, 6))
            mine = [key for key, value in live.items() if value[:2] == (pid, device)]
            if mine and rng.random() < .5:
                key = rng.choice(mine)
                self.put(now, 2, *live.pop(key), key)
            else:
                number += 1
                live[number] = pid, device, rng.choice((1, 4096, 2**21, 2**40, 2**44 + 1))
                self.put(now, 1, *live[number], number)
            now += rng.choice((1, 1000, 10**6))

    def put(self, time, what, pid, device, size, key):
        self.events.append(_raw.event(time, "NV_MEMORY", pid=pid, tid=pid, bytes=size, client=pid, object=key, bus=BUS[device],
                                      owner=pid, what=what, place=1, handles=what == 1, cause=what == 2))
        self.steps[pid, DEVICES[device]].append((time, size if what == 1 else -size))


def compare_slices(grtrace, name, cards, span, options):
    rows = json.loads(read(grtrace, "report", "--json", "--by", "gpu-process", "--top", "0", *options, name))["gpu_processes"]
    says = {(r["device"], r["kind"], r["pid"]): r for r in rows}
    first, last = span
    what = f"{name} {' '.join(options)}"
    wants = collections.defaultdict(list)
    for card in cards:
        # nothing is said of a card without a slice in this time
        if not any(s.kind == "process" and s.begin <= last and s.end >= first for s in card.slices):
            continue
        for s in card.slices:
            if s.begin < last and s.end > first:
                # whether a time at an edge is a switch is unknown
                at_edge = s.kind == "switching" and (s.begin < first or s.end > last)
                wants[card.device, "nobody" if at_edge else s.kind, s.pid].append(s)
    same(f"{what}: rows", sorted(map(str, says)), sorted(map(str, wants)))
    for key in set(says) & set(wants):
        row, mine = says[key], wants[key]
        had = sum(min(s.end, last) - max(s.begin, first) for s in mine)
        same(f"{what}: {key}: residency", row["residency"], had)
        same(f"{what}: {key}: share", abs(row["share"] - 100 * had / (last - first)) <= .001, True)
        if key[1] == "process":
            same(f"{what}: {key}: slices", row["slices"], sum(s.came and s.begin >= first for s in mine))
        if options:
            continue
        lengths = [s.end - s.begin for s in mine if s.came and s.left]
        same(f"{what}: {key}: max", row["max"], max(lengths, default=None))
        same(f"{what}: {key}: p50", row["p50"], rank(lengths, 500), .01)
        same(f"{what}: {key}: p99", row["p99"], rank(lengths, 990), .01)
        same(f"{what}: {key}: mean", row["mean"], mean(lengths))


def at(steps, time):
    return sum(step for when, step in steps if when <= time)


def compare_memory(grtrace, name, memory, span, options):
    rows = json.loads(read(grtrace, "report", "--json", "--by", "gpu-memory", "--top", "0", *options, name))["gpu_memory"]
    says = {(r["pid"], r["gpu"]): r for r in rows}
    first, last = span
    for key, steps in memory.steps.items():
        before = [s for s in steps if s[0] < first]
        inside = [s for s in steps if first <= s[0] <= last]
        if not before and not inside:
            continue
        what, row = f"{name} {' '.join(options)}: memory of {key}", says.get(key)
        live = sum(step for _, step in before)
        peak = max([live] + [live + sum(s for _, s in inside[:i + 1]) for i in range(len(inside))])
        if not row:
            same(f"{what}: has no row", (peak, inside), (0, []))
            continue
        same(f"{what}: peak", row["peak"], peak)
        same(f"{what}: live", row["live"], at(steps, last))
        same(f"{what}: allocations", (row["allocations"], row["bytes"]),
             (sum(s > 0 for _, s in inside), sum(s for _, s in inside if s > 0)))
        same(f"{what}: frees", row["frees"], sum(s < 0 for _, s in inside))


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        rng, name = random.Random(seed), f"{seed}.raw"
        first = 10**9 * rng.randrange(1, 5000)
        end = first + rng.choice((10**6, 5 * 10**7))
        cards = [Card(rng, device, first, end) for device in list(DEVICES)[:rng.choice((1, 2))]]
        memory = Memory(rng, first, end)
        edges = [_raw.event(time, "COUNTER", counter=1, value=0) for time in (first, end)]
        _raw.write(name, [[e for card in cards for e in card.events], memory.events, edges], lambda time: [
            _raw.name(time, 4, 1, "edge", "%"), *(_raw.name(time, 3, n, bus, f"nvidia{n - 5}") for n, bus in DEVICES.items()),
            *(_raw.name(time, 1, pid, f"p{pid}") for pid in (10, 11, 12))])
        windows = [(first, end)] + [tuple(sorted(rng.randrange(first, end) for _ in range(2))) for _ in range(2)]
        for span in windows:
            options = () if span == (first, end) else ("--from", f"{span[0]}ns", "--to", f"{span[1]}ns")
            compare_slices(grtrace, name, cards, span, options)
            compare_memory(grtrace, name, memory, span, options)
    finish(20)


main()
