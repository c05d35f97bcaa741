#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_nccl_sums.py GRTRACE SEED...: collectives of a communicator beside kernels that compute, as a raw recording: their sizes,
times, bandwidths and exposed shares are compared with sums; some collectives lack the record of a rank. Then ranks that do
not come to a collective, each in a process of its own or all in one: the one that does not is named."""

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
             "Broadcast": ("ncclFloat32", False), "Reduce": ("ncclFloat16", False), "AlltoAll": ("ncclFloat32", True),
             "Gather": ("ncclFloat16", True), "Scatter": ("ncclFloat32", True)}
TEXTS = [*FUNCTIONS, *BYTES, *(f"ncclDevKernel_{name}_RING_LL(x)" for name in FUNCTIONS), "gemm"]

# kernels: begin and end by rank; None: the rank has no record of it
Collective = collections.namedtuple("Collective", "function sequence elements kernels")


def text(name):
    return TEXTS.index(name) + 1


class Recording:
    def __init__(self, seed, name):
        rng, self.name, self.collectives, self.events = random.Random(seed), name, [], []
        self.ranks = rng.choice((2, 3, 8))
        self.recorded = self.ranks - rng.choice((0, 0, 1))
        self.computes, self.loses = collections.defaultdict(list), rng.choice((0, .1))
        count, now, self.number = collections.Counter(), 10**9 + 10**6, 0
        self.first = 10**9
        for rank in range(self.recorded):
            self.define(rank)
        for _ in range(rng.choice((3, 20, 60))):
            function = rng.choice(list(FUNCTIONS))
            kernels = [(now + rng.choice((0, 1, 500, 30000)), now + 30000 + rng.choice((1, 700, 10**6))) for _ in range(self.recorded)]
            if rng.random() < self.loses:
                kernels[rng.randrange(self.recorded)] = None
            c = Collective(function, count[function], rng.choice((1, 3, 1000, 1024, 1025, 10**6)), kernels)
            count[function] += 1
            self.collectives.append(c)
            self.put(rng, c)
            now = max((k[1] for k in kernels if k), default=now) + rng.choice((1, 5000, 10**6))
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
        for rank, (begin, end) in ((rank, k) for rank, k in enumerate(c.kernels) if k):
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
    report = table(grtrace, "collective", r.name)
    says = {(row["collective"], row["smallest"]): row for row in report["collective_sums"]}
    same(f"{r.name}: ranks that lack", any("ranks that were not recorded" in note for note in report["notes"]),
         any(r.ranks > sum(k is not None for k in c.kernels) > 0 for c in r.collectives))
    groups = collections.defaultdict(list)
    for c in (c for c in r.collectives if any(c.kernels)):
        groups[c.function, (r.size(c) - 1).bit_length()].append(c)
    same(f"{r.name}: rows", sorted(says), sorted((function, min(map(r.size, those))) for (function, _), those in groups.items()))
    for (function, _), those in groups.items():
        row, n = says.get((function, min(map(r.size, those)))), r.ranks
        if not row:
            continue
        what = f"{r.name}: {function} of {row['smallest']}"
        size = sum(map(r.size, those))
        met = [[k for k in c.kernels if k] for c in those]
        time = sum(max(end for _, end in kernels) - max(begin for begin, _ in kernels) for kernels in met)
        ran = [(rank, *k) for c in those for rank, k in enumerate(c.kernels) if k]
        waits = [max(begin for begin, _ in kernels) - begin for kernels in met for begin, _ in kernels]
        hidden = sum(union(r.computes[rank], begin, end) for rank, begin, end in ran)
        all_of = sum(end - begin for _, begin, end in ran)
        factor = {"AllReduce": Fraction(2 * (n - 1), n), "Broadcast": 1, "Reduce": 1}.get(function, Fraction(n - 1, n))
        same(what, (row["count"], row["bytes"], row["time"], row["kernels"], row["ranks"], row["recorded"], row["size"]),
             (len(those), size, time, all_of, n, max(map(len, met)), max(map(r.size, those))))
        same(f"{what}: waits", (row["wait"], row["wait_max"]), (sum(waits), max(waits)) if max(map(len, met)) > 1 else (None, None))
        same(f"{what}: algbw", row["algbw"], size * 1e9 / time, 1e-6)
        same(f"{what}: busbw", row["busbw"], float(factor * size) * 1e9 / time, 1e-6)
        same(f"{what}: exposed", abs(row["exposed"] - 100 * (all_of - hidden) / all_of) <= .001, True)


class Hang(Recording):
    """Ranks in one process, or each in its own, in any order; one of them does not come to the last collective."""

    def __init__(self, seed, name):
        rng, self.name, self.collectives, self.events, self.number = random.Random(seed), name, [], [], 0
        self.ranks = self.recorded = rng.choice((2, 3, 4))
        self.one, self.first, self.computes = seed % 2, 10**9, collections.defaultdict(list)
        self.pids = [50] * self.ranks if self.one else rng.sample(range(50, 60), self.ranks)
        self.missing = rng.randrange(self.ranks)
        for rank in range(self.ranks):
            self.define(rank)
            # segments repeat definitions
            self.events += self.events[-1:] * rng.choice((0, 1))
        for number in range(5):
            self.meet(number, self.first + (number + 1) * 10**8)
        for rank in range(self.ranks):
            self.events.append(_raw.event(self.first + 5 * 10**9, "PROCESS", what=2, **self.of(rank)))
        _raw.write(name, [self.events])

    def of(self, rank):
        return {"ctx": 1000 + self.pids[rank], "pid": self.pids[rank], "tid": self.pids[rank] + 100 * rank}

    def define(self, rank):
        before = len(self.events)
        super().define(rank)
        if not self.one:
            return
        # the process has begun already, and has another device and communicator
        made, self.events = self.events[before:], self.events[:before]
        self.events += made[:1] if not rank else []
        self.events.append(_raw.event(self.first, "DEVICE", gpu=rank, uuid=UUID + str(rank), **self.of(rank)))
        self.events += made[2:-1] if not rank else []
        self.events.append(_raw.event(self.first, "COMMUNICATOR", hash=0xfeed, number=1 + rank, rank=rank, ranks=self.ranks,
                                      nodes=1, version=4, **self.of(rank)))

    def meet(self, number, time):
        for rank in range(self.ranks):
            if number == 4 and rank == self.missing:
                continue
            self.number += 1
            of = {"correlation": self.number, **self.of(rank)}
            self.events.append(_raw.event(time - 100, "LAUNCH", begin=time - 200, call=211, context=1 + rank, **of))
            self.events.append(_raw.event(time - 90, "COLLECTIVE", begin=time - 250, sequence=number, elements=1000, peer=0xffffffff,
                                          communicator=1 + (rank if self.one else 0), function=text("AllReduce"),
                                          datatype=text("ncclFloat32"), channels=2, kind=1, **of))
            if number < 4:
                self.events.append(_raw.event(time + 10**6, "GPU_KERNEL", start=time + 1000 * rank, end=time + 10**6, context=1 + rank,
                                              gpu=rank if self.one else 0, cuda_stream=7,
                                              name=text("ncclDevKernel_AllReduce_RING_LL(x)"), **of))


def compare_hang(grtrace, r):
    waits = f"rank {r.missing} (PID {r.pids[r.missing]}) has not entered AllReduce #4 of communicator 000000000000feed: "
    for by in ("collective", "rank"):
        report = table(grtrace, by, r.name)
        named = [note for note in report["notes"] if "AllReduce #4" in note]
        same(f"{r.name}: {by}: who is missing", [note[:len(waits)] for note in named], [waits])
        same(f"{r.name}: {by}: its last", all("its last was AllReduce #3, 4.60 s before" in note for note in named), True)
    same(f"{r.name}: numbers of ranks", [row["pid"] for row in report["ranks"]], r.pids)
    same(f"{r.name}: the last to come", {row["rank"]: row["last"] for row in report["ranks"]},
         {rank: 3 if rank == r.ranks - 1 else 0 for rank in range(r.ranks)})


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        compare(grtrace, Recording(seed, f"{seed}.raw"))
        compare_hang(grtrace, Hang(seed, f"hang{seed}.raw"))
    finish(20)


main()
