# SPDX-License-Identifier: GPL-2.0
# _duty.py DUMP REPORT LOG SAID: a recording in windows at random: what is in its windows is all that happened there, and
# the report's estimates are what the formula gives. DUMP and REPORT are JSON of the recording, LOG is the mock's, and
# SAID has lines "truth NAME CALLS NS", what the program has done. Prints a line for each thing that is wrong, and facts.
import bisect
import json
import math
import re
import sys

events = [json.loads(line) for line in open(sys.argv[1])]
report = json.load(open(sys.argv[2]))
logged = [int(line.split()[4]) for line in open(sys.argv[3]) if line.startswith("L ")]
truth = {w[1]: (int(w[2]), int(w[3])) for w in map(str.split, open(sys.argv[4])) if w and w[0] == "truth"}

windows = {}
for e in events:
    if e["type"] == "CAPTURE" and e.get("end"):
        windows[e["number"]] = (e["begin"], e["end"])
order = sorted(windows, key=lambda n: windows[n])
begins = [windows[n][0] for n in order]


def window_of(moment):
    at = bisect.bisect_right(begins, moment) - 1
    return order[at] if at >= 0 and moment <= windows[order[at]][1] else None


launches = {e["correlation"]: e for e in events if e["type"] == "LAUNCH"}
kernels = [e for e in events if e["type"] == "GPU_KERNEL"]
of_launch = {}
for k in kernels:
    of_launch.setdefault(k["correlation"], []).append(k)
seen = {n: [] for n in order}
for c, e in launches.items():
    n = window_of(e["begin"])
    if n is None:
        print("wrong: a launch outside of all windows", e)
    else:
        seen[n].append(c)
# One thread: in a window the log's numbers follow each other without a gap.
missing = without = 0
for n, list_of in seen.items():
    if list_of:
        lo, hi = min(list_of), max(list_of)
        between = logged[bisect.bisect_left(logged, lo):bisect.bisect_right(logged, hi)]
        missing += len(set(between) - set(list_of))
for c, e in launches.items():
    # cudaLaunchKernel of the runtime, or the driver's
    if e["call"] in (211, "cudaLaunchKernel", 65536 | 307, 32768 | 307, "cuLaunchKernel"):
        without += len(of_launch.get(c, [])) != 1
# On a busy machine windows are over before they can begin. If the program was stopped then they are not like the others.
missed = max(order) - min(order) + 1 - len(order)
said = sum(int(m[1]) for m in (re.match(r" *(\d+) more windows? (?:was|were) over before", note) for note in report["notes"]) if m)
if said != missed:
    print("wrong:", missed, "windows were not recorded, and the report says", said)
print("missed", missed)
print("windows", len(order), "launches", len(launches), "missing", missing, "without a kernel", without)
print("doubled", sum(len(v) > 1 for v in of_launch.values()))

begin = [e["time"] for e in events if e["type"] == "PROCESS"]
span = max(begin + [w[1] for w in windows.values()]) - min(begin)
watched = sum(e - b for b, e in windows.values())
names = {e["number"]: e["text"] for e in events if e["type"] == "STRING"}
n = len(order)


def student(v):
    z = 1.959963985
    return (z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2) +
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3))


def half(x, y, unseen):
    """The jackknife's, window by window."""
    big_x, big_y = sum(x), sum(y)
    d = [(b - big_y / big_x * a) / (1 - a / big_x) for a, b in zip(x, y)]
    d2, d4 = sum(v**2 for v in d), sum(v**4 for v in d)
    kurtosis = len(x) * d4 / d2**2
    freedom = max(3, min(len(x) - 1, 2 * len(x) / (kurtosis - 1)))
    return student(freedom) * math.sqrt(unseen * (len(x) - 1) / len(x) * d2) / big_x


ns = {}
for c, list_of in of_launch.items():
    if c in launches:
        for k in list_of:
            name = names[k["name"]] if isinstance(k["name"], int) else k["name"]
            row = ns.setdefault(name, dict.fromkeys(order, 0))
            row[window_of(launches[c]["begin"])] += k["end"] - k["start"]
length = [windows[i][1] - windows[i][0] for i in order]
together = [sum(row[i] for row in ns.values()) for i in order]
for r in report["kernels"]:
    y = [ns[r["kernel"]][i] for i in order]
    total = sum(y) * span / watched
    wide = half(length, y, 1 - watched / span) * span
    part = sum(y) / sum(together) * 100
    wide_part = half(together, y, 1) * 100
    wanted = {"total": sum(y), "estimated_total": total, "estimated_from": max(total - wide, sum(y)),
              "estimated_to": total + wide, "share_from": max(part - wide_part, 0), "share_to": part + wide_part}
    for key, value in wanted.items():
        if r[key] is None or abs(r[key] - value) > 0.002 + abs(value) * 1e-4:
            print("wrong:", r["kernel"], key, r[key], "and not", value)
    if set(r["estimated"]) != {"estimated_calls", "estimated_total", "estimated_from", "estimated_to", "share_from", "share_to"}:
        print("wrong: marks", r["estimated"])
    # what is true may be outside of an interval of 95 %, but not far
    true = truth[r["kernel"]][1]
    if not missed and not total - 3 * wide <= true <= total + 3 * wide:
        print("wrong:", r["kernel"], "is far from the truth", true, total, wide)
print("rows", len(report["kernels"]))
print("all_ns", round(sum(together) * span / watched))
