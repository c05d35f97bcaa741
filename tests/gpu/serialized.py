#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""serialized.py EVENTS: a recording of --pc-sampling=serialized (dump --json). Each sample has a launch, and its function is
the name of this launch's kernel; prints how many samples the launches of each kernel have. Exit 1 if a sample has none."""
import collections
import json
import statistics
import sys

kernels, samples, bad, none = {}, collections.Counter(), 0, 0
function, reasons, other = {}, {}, 0
events = [json.loads(line) for line in open(sys.argv[1])]
for e in events:
    if e["type"] == "GPU_KERNEL":
        kernels[e["correlation"]] = e
    elif e["type"] == "STALL_REASON":
        reasons[e["number"]] = e["name"]
for e in events:
    if e["type"] != "PC_SAMPLE" or reasons[e["reason"]].endswith("_not_issued"):
        continue
    launch = e.get("correlation")
    if not launch:
        none += e["samples"]
        continue
    bad += kernels[launch]["name"] != e["function"] if launch in kernels else 1
    samples[launch] += e["samples"]
    function[launch] = e["function"]
by = collections.defaultdict(list)
for launch, n in samples.items():
    k = kernels.get(launch)
    by[function[launch]].append(n / (k["end"] - k["start"]) * 1e3 if k else 0)
for name, n in sorted(by.items()):
    print(f"{name}: {len(n)} launches, {statistics.median(n):.2f} samples a us in the median, {min(n):.2f} to {max(n):.2f}")
print(f"{sum(samples.values())} samples of {len(samples)} of {len(kernels)} launches; {none} without a launch; {bad} records of another kernel")
sys.exit(not samples or bad or none)
