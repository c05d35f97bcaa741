#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_counter_values.py GRTRACE SEED...: counters of devices and processes with random values, some of which end or are known
again, as a raw recording: table of counters and columns of the timeline, compared with sums."""

import fractions
import json
import random
import sys

import _raw
from _gpu_work import FAULTS, finish, read, same

ENDED = 1 << 5
UNITS = ("uW", "Hz", "mC", "%", "B", "rpm", "total ns", "total B")


def near(what, says, want):
    """A mean is a whole number on one side or the other."""
    same(what, says is not None and want is not None and abs(says - want) < 1 or says is want, True)
    if FAULTS and FAULTS[-1].startswith(what):
        FAULTS[-1] += f": {says}, {want if want is None else float(want)}"


class Counter:
    def __init__(self, rng, number, first):
        choice, now = rng.choice, first + rng.randrange(10**5)
        self.number, self.unit, self.device, self.instance = number, choice(UNITS), choice((5, 6)), choice((0, 0, 41))
        self.total, self.samples, value = self.unit.startswith("total"), [], 0
        if self.total:  # of a machine that booted long ago
            value = choice((0, 10**16, 2**61))
        scale = choice((1, 1000, 10**9, 10**14, 2**53 - 1))
        for _ in range(choice((1, 2, 3, 30))):
            ended = rng.random() < .1
            value = value + rng.randrange(0, min(scale, 10**9) + 2) if self.total else choice((0, 1, rng.randrange(scale), -rng.randrange(1000)))
            self.samples.append((now, value, ended))
            now += choice((1, 1000, 999999, 10**8))

    def events(self):
        return [_raw.event(time, "COUNTER", counter=self.number, instance=self.instance, pid=self.instance, device=self.device,
                           value=value, flags=ENDED if ended else 0) for time, value, ended in self.samples]

    def spans(self, first, last):
        """Begin, end and value of each time between two samples, of which the first one did not end it"""
        inside = [s for s in self.samples if (first is None or s[0] >= first) and (last is None or s[0] <= last)]
        for (begin, value, ended), (end, after, _) in zip(inside, inside[1:]):
            if not ended:
                yield begin, end, fractions.Fraction(after - value, end - begin) if self.total else value


def compare(grtrace, name, counters, span):
    first, last = span
    options = [word for key, time in zip(("--from", "--to"), span) if time is not None for word in (key, f"{time}ns")]
    rows = {row["counter"]: row for row in json.loads(read(grtrace, "report", "--json", *options, name)).get("counters", [])}
    for c in counters:
        known = [value for time, value, _ in c.samples if (first is None or time >= first) and (last is None or time <= last)]
        what = f"{' '.join([name, *options])}: counter {c.number} ({c.unit})"
        row = rows.get(c.number)
        if not known:
            continue
        same(f"{what}: has a row", row is not None, True)
        if row is None:
            continue
        same(f"{what}: values", (row["values"], row["unit"], row["device"]), (len(known), c.unit, c.device))
        spans = list(c.spans(first, last))
        time = sum(end - begin for begin, end, _ in spans)
        mean = fractions.Fraction(sum((end - begin) * value for begin, end, value in spans), time) if time else None
        if not c.total:
            same(f"{what}: least, most, last", (row["min"], row["max"], row["last"]), (min(known), max(known), known[-1]))
            if len(known) > 1 and time:
                near(f"{what}: mean", row["mean"], mean)
        else:
            same(f"{what}: growth", row["growth"], sum((end - begin) * value for begin, end, value in spans) if spans else None)
            if c.unit == "total ns" and spans:
                near(f"{what}: mean share", row["mean"], 100 * mean)
                near(f"{what}: least share", row["min"], 100 * min(v for _, _, v in spans))
                near(f"{what}: largest share", row["max"], 100 * max(v for _, _, v in spans))


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        rng, name = random.Random(seed), f"{seed}.raw"
        first = 10**9 * rng.randrange(1, 5000)
        counters = [Counter(rng, n + 1, first) for n in range(rng.choice((1, 4)))]
        _raw.write(name, [[e for c in counters for e in c.events()]],
                   lambda time: [_raw.name(time, 4, c.number, f"c{c.number}", c.unit) for c in counters])
        compare(grtrace, name, counters, (None, None))
        times = [time for c in counters for time, _, _ in c.samples]
        for _ in range(2):
            span = sorted(rng.choice(times) + rng.choice((-1, 0, 1)) for _ in range(2))
            if span[0] < span[1]:
                compare(grtrace, name, counters, span)
    finish(20)


main()
