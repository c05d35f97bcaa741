#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""attach_kernels.py EVENTS: kernels of a recording (dump --json) of a loop that launches the same kernels in each step, and
waits. Prints how many kernels there are, and how many are missing between the first and the last: launches without a
kernel, and launches that a step has less than most of the steps."""
import collections
import json
import sys

launches, kernels = [], collections.Counter()
for e in map(json.loads, open(sys.argv[1])):
    if e["type"] == "LAUNCH":
        launches.append((e["begin"], e["call"], e["correlation"]))
    elif e["type"] == "GPU_KERNEL":
        kernels[e["correlation"]] += 1
launches.sort()
with_kernel = [i for i, (_, _, c) in enumerate(launches) if kernels[c]]
steps, step, without, n = [], None, 0, sum(kernels.values())
for _, call, correlation in launches[with_kernel[0]:with_kernel[-1] + 1] if with_kernel else []:
    # a comparison of results waits for its stream, within a step
    if call in ("cuCtxSynchronize", "cudaDeviceSynchronize"):
        if step is not None:
            steps.append(step)
        step = 0
    elif "Launch" in call:
        without += kernels[correlation] != 1
        step = step if step is None else step + 1
usual = collections.Counter(steps).most_common(1)[0][0] if steps else 0
print(n, without + sum(max(usual - s, 0) for s in steps), f"# {len(steps)} steps of {usual}")
