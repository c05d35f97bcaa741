#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""gaps.py DUMP PID:FILE...: slices of a recording (dump --json) against the gaps
that endless kernels saw themselves (gaps.cu). Prints for each process: gaps that lie
within the recording, those with exactly one slice of the process ending and beginning there,
and by how many us the edges differ: a kernel stops before its context leaves, and goes on after it has come."""
import bisect
import json
import sys


def line(samples):
    """Monotonic from the GPU's clock by the first and the last sample."""
    (b0, g0, a0), (b1, g1, a1) = samples[0], samples[-1]
    m0, m1 = (a0 + b0) / 2, (a1 + b1) / 2
    return lambda g: m0 + (g - g0) * (m1 - m0) / (g1 - g0)


def read(name):
    samples, gaps = [], []
    for row in open(name):
        word, *numbers = row.split()
        (samples if word == "clock" else gaps).append([int(n) for n in numbers])
    to_host = line(samples)
    return [(to_host(a), to_host(b)) for a, b in gaps], max(a - b for b, _, a in samples)


def main():
    slices = {}
    for row in open(sys.argv[1]):
        event = json.loads(row)
        if event["type"] == "GPU_SLICE":
            slices.setdefault(event.get("pid"), []).append(event)
    bad = 0
    for word in sys.argv[2:]:
        pid, name = word.split(":", 1)
        gaps, width = read(name)
        mine = slices.get(int(pid), [])
        ends = [s["time"] for s in mine if s["over"] == "switch"]
        starts = [s["start"] for s in mine if s["begin"] == "switch"]
        first, last = mine[0]["start"], mine[-1]["time"]
        inside = [g for g in gaps if g[0] > first + 5e6 and g[1] < last - 5e6]
        left, came, one = [], [], 0
        for a, b in inside:
            i = bisect.bisect_left(ends, a - 1e6)
            k = bisect.bisect_right(starts, b + 1e6) - 1
            exact = bisect.bisect_right(ends, b) - i == 1 and k + 1 - bisect.bisect_left(starts, a) == 1
            one += exact
            left.append((ends[i] - a) / 1e3)
            came.append((b - starts[k]) / 1e3)
        left.sort(), came.sort()
        worst = max(map(abs, left + came)) if left else -1
        print(f"pid {pid}: {len(inside)} gaps, {one} with one slice's edges, "
              f"leaves after the kernel stopped {left[0]:.1f} {left[len(left) // 2]:.1f} {left[-1]:.1f} us, "
              f"goes on after it came {came[0]:.1f} {came[len(came) // 2]:.1f} {came[-1]:.1f} us, "
              f"host sample {width} ns")
        bad += one != len(inside) or worst > 100 or not inside
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
