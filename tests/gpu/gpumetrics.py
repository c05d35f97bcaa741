# SPDX-License-Identifier: GPL-2.0
# gpumetrics.py WHAT EVENTS.jsonl [PROGRAM'S OUTPUT]: counters of a recording against what its kernels are known to
# have done. The counters are joined with kernels here, without grtrace's own analyses.
#	edges	where "sm active" rises and falls, against the kernels' own stamps
#	copy	bytes of the GPU's memory, against the program's
#	gemm	tensor cores, against the program's operations at the clock that was recorded
import bisect
import collections
import json
import sys


class Counter:
    def __init__(self):
        self.time, self.value, self.ended = [], [], []

    def add(self, e):
        if self.time and self.time[-1] == e["time"]:
            self.value[-1] = e.get("value", 0)
            self.ended[-1] = "ended" in e.get("flags", [])
            return
        self.time.append(e["time"])
        self.value.append(e.get("value", 0))
        self.ended.append("ended" in e.get("flags", []))

    def integral(self, start, end):
        """Of the values by time, and the time that is known."""
        area = known = 0
        i = max(bisect.bisect_right(self.time, start) - 1, 0)
        while i < len(self.time) - 1 and self.time[i] < end:
            low, high = max(start, self.time[i]), min(end, self.time[i + 1])
            if high > low and not self.ended[i]:
                area += self.value[i] * (high - low)
                known += high - low
            i += 1
        return area, known


def read(path):
    counters, kernels = collections.defaultdict(Counter), []
    for line in open(path):
        e = json.loads(line)
        if e["type"] == "COUNTER":
            counters[e["counter_name"]].add(e)
        elif e["type"] == "GPU_KERNEL" and e["start"]:
            kernels.append((e["start"], e["end"]))
    return counters, sorted(kernels)


def middle(values):
    values = sorted(values)
    return values[len(values) // 2]


def edges(counters, kernels):
    c, ups, downs, length = counters["sm active"], [], [], []
    for start, end in kernels:
        if end - start < 4000000:
            continue
        around = [i for i in range(len(c.time) - 1) if c.time[i + 1] > start - 1500000 and c.time[i] < end + 1500000]
        whole = [i for i in around if c.value[i] > 99000]
        if not whole or whole[0] == 0:
            continue
        # the sample before the first whole one was busy for a part at its end; values that do not change last on
        a, b = whole[0], whole[-1]
        before = c.value[a - 1] / 1e5 * (c.time[a] - c.time[a - 1]) if c.time[a] - c.time[a - 1] < 1500000 else 0
        behind = c.value[b + 1] / 1e5 * (c.time[b + 2] - c.time[b + 1]) if b + 2 < len(c.time) else 0
        ups.append(c.time[a] - before - start)
        downs.append(c.time[b + 1] + behind - end)
    print("edges of %d of %d kernels: up %d to %d us, middle %.1f; down %d to %d us, middle %.1f" % (
        len(ups), len(kernels), min(ups) / 1e3, max(ups) / 1e3, middle(ups) / 1e3, min(downs) / 1e3, max(downs) / 1e3,
        middle(downs) / 1e3))
    print("first and last: up %.1f, %.1f us" % (ups[0] / 1e3, ups[-1] / 1e3))
    sys.exit(not (len(ups) > 10 and all(abs(x) < 200000 for x in ups + downs) and abs(middle(ups)) < 50000))


def copy(counters, kernels, said):
    n, bytes, ms = int(said[1]), int(said[3]), float(said[5])
    kernels = kernels[-n:]
    ok = True
    for name in "dram read", "dram write":
        area, known = counters[name].integral(kernels[0][0] - 2000000, kernels[-1][1] + 2000000)
        of_kernels = counters[name].integral(kernels[0][0], kernels[-1][1])
        rate, want = of_kernels[0] / of_kernels[1] / 1e9, n * bytes / ms / 1e6
        print("%s: %.0f bytes of %d (%.4f); %.1f GB/s, by CUDA's events %.1f" % (
            name, area / 1e9, n * bytes, area / 1e9 / (n * bytes), rate, want))
        ok &= abs(rate / want - 1) < 0.05
    area, known = counters["dram busy"].integral(kernels[0][0], kernels[-1][1])
    print("dram busy: %.1f %%" % (area / known / 1e3))
    sys.exit(not ok)


def gemm(counters, kernels, said):
    n, operations, ms, sms = int(said[1]), int(said[3]), float(said[5]), int(said[7])
    kernels = [k for k in kernels if k[1] - k[0] > 500000][-n:]
    area, known = counters["tensor active"].integral(kernels[0][0], kernels[-1][1])
    hz = counters["clock gpc"].integral(kernels[0][0], kernels[-1][1])
    share, clock = area / known / 1e3, hz[0] / hz[1]
    # dense operations of bfloat16 in a cycle of a multiprocessor of Hopper
    want = 100 * n * operations / (ms / 1e3) / (sms * 4096 * clock)
    print("tensor active %.1f %%; %.1f TFLOP/s of %.1f at %.0f MHz are %.1f %%" % (
        share, n * operations / ms / 1e9, sms * 4096 * clock / 1e12, clock / 1e6, want))
    sys.exit(abs(share - want) > 5)


counters, kernels = read(sys.argv[2])
said = ([[]] + [l.split() for l in open(sys.argv[3])])[-1] if len(sys.argv) > 3 else []
if sys.argv[1] == "edges":
    edges(counters, kernels)
elif sys.argv[1] == "copy":
    copy(counters, kernels, said)
else:
    gemm(counters, kernels, said)
