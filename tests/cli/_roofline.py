#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_roofline.py GRTRACE SEED...: kernels on two GPUs whose counters are sampled, each at its own rate, with gaps, as a raw
recording: the means while each kernel ran, and its share of the samples, are compared with sums."""

import collections
import fractions
import random
import sys

import _raw
from _gpu_work import finish, same, table

ENDED = 1 << 5
COUNTERS = {1: ("dram busy", "m%"), 2: ("tensor active", "m%"), 3: ("dram read", "B/s")}
COLUMNS = {1: ("dram", 1000), 2: ("tensor", 1000), 3: ("dram_read", 1)}
KERNELS = {1: "gemm", 2: "norm"}
UUID = "GPU-0fb7ac10-1d59-6d3a-6d35-4e4a5b8f4a0"
PROGRAM = {"ctx": 1050, "pid": 50, "tid": 50}


class Gpu:
    def __init__(self, rng, number, first, end):
        choice = rng.choice
        self.number, self.phase, self.interval = number, first + 77 * number, choice((1000, 10**5, 10**6))
        self.values, self.runs = collections.defaultdict(list), collections.defaultdict(list)
        now = self.phase
        while now < end:
            for counter in COUNTERS:
                self.values[counter].append((now, None if rng.random() < .05 else rng.randrange(10**5)))
            now += self.interval * choice((1, 1, 1, 3))
            end = min(end, self.phase + 1000 * self.interval)
        for counter in COUNTERS:
            self.values[counter].append((now, None))
        start = first + rng.randrange(1000)
        for _ in range(choice((1, 5, 60))):
            over = start + choice((1, 700, self.interval // 2, self.interval * 3 + 5))
            self.runs[choice(list(KERNELS))].append((start, over))
            start = over + choice((0, 1, 500, self.interval * 2))

    def events(self, last):
        yield _raw.event(self.phase, "DEVICE", gpu=self.number, uuid=UUID + str(self.number), **PROGRAM)
        yield _raw.event(self.phase, "GPU_SAMPLER", device=600 + self.number, interval=self.interval, uuid=UUID + str(self.number))
        for counter, values in self.values.items():
            for time, value in values:
                yield _raw.event(time, "COUNTER", device=600 + self.number, counter=counter, value=value or 0,
                                 flags=ENDED if value is None else 0)
        # records of kernels come when the counters of their time are there
        for kernel, runs in self.runs.items():
            for start, over in runs:
                yield _raw.event(last, "GPU_KERNEL", start=start, end=over, name=kernel, gpu=self.number, cuda_stream=7, **PROGRAM)

    def mean(self, runs, counter):
        """In which so much time is known"""
        area = known = 0
        for (begin, value), (end, _) in zip(self.values[counter], self.values[counter][1:]):
            for start, over in runs if value is not None else ():
                common = max(0, min(end, over) - max(begin, start))
                area, known = area + value * common, known + common
        return (2 * area + known) // (2 * known) if known else None, known

    def own(self, runs):
        """Each sample counts for the time of the kernel in it, with the kernel's share of it"""
        samples = collections.Counter()
        for start, over in runs:
            while start < over:
                n = max(0, start - self.phase) // self.interval
                until = min(over, self.phase + (n + 1) * self.interval)
                samples[n] += until - start
                start = until
        times = [min(ns, self.interval) for ns in samples.values()]
        return 100 * fractions.Fraction(sum(ns * ns for ns in times), self.interval * sum(times)), len(times) / sum(times)


def compare(grtrace, name, gpus):
    rows = {(r["kernel"], r["uuid"]): r for r in table(grtrace, "roofline", name)["roofline"]}
    same(f"{name}: rows", sorted(rows), sorted((KERNELS[kernel], UUID + str(gpu.number)) for gpu in gpus for kernel in gpu.runs))
    for gpu in gpus:
        for kernel, runs in gpu.runs.items():
            row, what = rows[KERNELS[kernel], UUID + str(gpu.number)], f"{name}: {KERNELS[kernel]} on {gpu.number}"
            time = sum(over - start for start, over in runs)
            same(f"{what}: time", (row["calls"], row["total"]), (len(runs), time))
            means = {counter: gpu.mean(runs, counter) for counter in COUNTERS}
            for counter, (column, unit) in COLUMNS.items():
                mean = means[counter][0]
                same(f"{what}: {column}", row[column], mean if mean is None else mean / unit if unit > 1 else mean)
            same(f"{what}: known", abs(row["known"] - 100 * max(known for _, known in means.values()) / time) < .0011, True)
            # a sample's part of a nanosecond is left out
            own, parts = gpu.own(runs)
            same(f"{what}: own {row['own']}, {float(own)}", own - 100 * parts - .001 <= row["own"] <= own + .001, True)


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        rng, name, first = random.Random(seed), f"{seed}.raw", 10**9
        end = first + rng.choice((10**6, 2 * 10**7))
        gpus = [Gpu(rng, number, first, end) for number in (0, 1)]
        events = [_raw.event(first, "PROCESS", what=1, **PROGRAM)]
        events += [_raw.event(first, "STRING", number=n, length=len(text), part=len(text), text=text, **PROGRAM)
                   for n, text in KERNELS.items()]
        last = max(over for gpu in gpus for runs in gpu.runs.values() for _, over in runs) + end
        _raw.write(name, [events + [event for gpu in gpus for event in gpu.events(last)]],
                   lambda time: [_raw.name(time, 4, n, *counter) for n, counter in COUNTERS.items()], part=1000)
        compare(grtrace, name, gpus)
    finish(20)


main()
