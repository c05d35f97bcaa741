#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_nccl_sums.py GRTRACE SEED...: collectives of a communicator beside kernels that compute, as a raw recording: their sizes,
times, bandwidths and exposed shares are compared with sums."""

import collections
import random
import sys
from fractions import Fraction

import _raw
from _gpu_work import finish, same, table, union

UUID = "GPU-0fb7ac10-1d59-6d3a-6d35-4e4a5b8f4a0"
BYTES = {"ncclFloat32": 4, "ncclFloat16": 2}
# function: type, whether each rank has a part
FUNCTIONS = {"AllReduce": ("ncclFloat32", False), "AllGather": ("ncclFloat16", True), "ReduceScatter": ("ncclFloat32", True),
             "Broadcast": ("ncclFloat32", False)}
TEXTS = [*FUNCTIONS, *BYTES, *(f"ncclDevKernel_{name}_RING_LL(x)" for name in FUNCTIONS), "gemm"]

# kernels: begin and end by rank
Collective = collections.namedtuple("Collective", "function sequence elements kernels")


def text(name):
    return TEXTS.index(name) + 1


class Recording:
    def __init__(self, seed, name):
        rng, self.name, self.collectives, self.events = random.Random(seed), name, [], []
        self.ranks = rng.choice((2, 3, 8))
        self.recorded = self.ranks - rng.choice((0, 0, 1))
        self.computes = collections.defaultdict(list)
        count, now, self.number = collections.Counter(), 10**9 + 10**6, 0
        self.first = 10**9
        for rank in range(self.recorded):
            self.define(rank)
        for _ in range(rng.choice((3, 20, 60))):
            function = rng.choice(list(FUNCTIONS))
            kernels = [(now + rng.choice((0, 1, 500, 30000)), now + 30000 + rng.choice((1, 700, 10**6))) for _ in range(self.recorded)]
            c = Collective(function, count[function], rng.choice((1, 3, 1000, 1024, 1025, 10**6)), kernels)
            count[function] += 1
            self.collectives.append(c)
            self.put(rng, c)
            now = max(end for _, end in kernels) + rng.choice((1, 5000, 10**6))
        for rank in range(self.recorded):
            self.events.append(_raw.event(now + 10**7, "PROCESS", what=3, **self.of(rank)))
        _raw.write(name, [self.events])

    @staticmethod
    def of(rank):
        return {"ctx": 1000 + rank, "pid": 50 + rank, "tid": 50 + rank}

    def define(self, rank):
        def put(title, **values):
            self.events.append(_raw.event(self.first, title, **self.of(rank), **values))
        put("PROCESS", what=1)
        put("DEVICE", gpu=0, uuid=UUID + str(rank))
        for number, what in enumerate(TEXTS, 1):
            put("STRING", number=number, length=len(what), part=len(what), text=what)
        put("COMMUNICATOR", hash=0xfeed, number=1, rank=rank, ranks=self.ranks, nodes=1, version=4)

    def put(self, rng, c):
        for rank, (begin, end) in enumerate(c.kernels):
            self.launch(rank, begin, end, 7, text(f"ncclDevKernel_{c.function}_RING_LL(x)"))
            self.events.append(_raw.event(begin - 90, "COLLECTIVE", begin=begin - 250, sequence=c.sequence, elements=c.elements,
                                          correlation=self.number, communicator=1, function=text(c.function),
                                          datatype=text(FUNCTIONS[c.function][0]), peer=0xffffffff, channels=2, kind=1, **self.of(rank)))
            if rng.random() < .4:
                from_ = begin + rng.choice((0, 100, 20000))
                self.computes[rank].append((from_, from_ + rng.choice((1, 10000, 2 * 10**5))))
                self.launch(rank, *self.computes[rank][-1], 8, text("gemm"))

    def launch(self, rank, begin, end, stream, name):
        self.number += 1
        self.events.append(_raw.event(begin - 100, "LAUNCH", begin=begin - 200, correlation=self.number, call=211, context=1, **self.of(rank)))
        self.events.append(_raw.event(end, "GPU_KERNEL", start=begin, end=end, correlation=self.number, gpu=0, context=1,
                                      cuda_stream=stream, name=name, **self.of(rank)))

    def size(self, c):
        of_type, parts = FUNCTIONS[c.function]
        return c.elements * BYTES[of_type] * (self.ranks if parts else 1)


def compare(grtrace, r):
    says = {(row["collective"], row["smallest"]): row for row in table(grtrace, "collective", r.name)["collective_sums"]}
    groups = collections.defaultdict(list)
    for c in r.collectives:
        groups[c.function, (r.size(c) - 1).bit_length()].append(c)
    same(f"{r.name}: rows", sorted(says), sorted((function, min(map(r.size, those))) for (function, _), those in groups.items()))
    for (function, _), those in groups.items():
        row, n = says.get((function, min(map(r.size, those)))), r.ranks
        if not row:
            continue
        what = f"{r.name}: {function} of {row['smallest']}"
        size = sum(map(r.size, those))
        time = sum(max(end for _, end in c.kernels) - max(begin for begin, _ in c.kernels) for c in those)
        ran = [(rank, begin, end) for c in those for rank, (begin, end) in enumerate(c.kernels)]
        waits = [max(begin for begin, _ in c.kernels) - begin for c in those for begin, _ in c.kernels]
        hidden = sum(union(r.computes[rank], begin, end) for rank, begin, end in ran)
        all_of = sum(end - begin for _, begin, end in ran)
        factor = {"AllReduce": Fraction(2 * (n - 1), n), "Broadcast": 1}.get(function, Fraction(n - 1, n))
        same(what, (row["count"], row["bytes"], row["time"], row["kernels"], row["ranks"], row["recorded"], row["size"]),
             (len(those), size, time, all_of, n, r.recorded, max(map(r.size, those))))
        same(f"{what}: waits", (row["wait"], row["wait_max"]), (sum(waits), max(waits)) if r.recorded > 1 else (None, None))
        same(f"{what}: algbw", row["algbw"], size * 1e9 / time, 1e-6)
        same(f"{what}: busbw", row["busbw"], float(factor * size) * 1e9 / time, 1e-6)
        same(f"{what}: exposed", abs(row["exposed"] - 100 * (all_of - hidden) / all_of) <= .001, True)


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        compare(grtrace, Recording(seed, f"{seed}.raw"))
    finish(20)


main()
