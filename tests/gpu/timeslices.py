#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""timeslices.py DUMP PID:FILE SET: lengths of the slices of a recording (dump --json) of an endless kernel (gaps.cu), whose
timeslice was set (nv_timeslice.c, lines of SET) while another one wanted the GPU. For each setting: whole slices from 0.3 s
after it until the next one, their length from the kernel's first to its last look at the clock as it saw itself, and
the length of the slice in the recording. A context is on the GPU also while it is saved and restored, 75 us. Exit 1 if the median of the
kernel's runs is not the timeslice within 5 %, or if slices are not these and 75 us, within 5 us."""
import json
import statistics
import sys

from gaps import read

pid, name = sys.argv[2].split(":", 1)
gaps, _ = read(name)
sets = [[int(w) for w in line.split()[1:3]] for line in open(sys.argv[3]) if line.startswith("timeslice ")]
slices = [e for e in map(json.loads, open(sys.argv[1])) if e["type"] == "GPU_SLICE" and e.get("pid") == int(pid)]
slices = [(e["start"], e["time"]) for e in slices if e["begin"] == "switch" and e["over"] == "switch"]
last = slices[-1][1]
bad = len(sets) != 3
first = slices[0][0]
for (us, begin), (_, end) in zip([[0, first]] + sets, sets + [[0, last]]):
    begin, end = begin + 0.3e9, end - 0.05e9
    ours = [b - a for a, b in slices if begin < a and b < end]
    own = [b - a for (_, a), (b, _) in zip(gaps, gaps[1:]) if begin < a and b < end]
    if not ours or not own:
        print(f"{us} us: no slice")
        bad = True
        continue
    a, b = statistics.median(ours) / 1e3, statistics.median(own) / 1e3
    print(f"{us} us: {len(ours)} slices of {a:.1f} us ({min(ours) / 1e3:.1f} to {max(ours) / 1e3:.1f}), "
          f"the kernel ran {len(own)} times for {b:.1f} us" + (f", {(b / us - 1) * 100:+.2f} %" if us else ""))
    bad |= us != 0 and abs(b / us - 1) > 0.05 or abs(a - b - 75) > 5
    bad |= abs(len(ours) - len(own)) > 2
sys.exit(bad)
