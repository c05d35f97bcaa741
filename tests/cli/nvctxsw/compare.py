#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""compare.py SCRIPT TRUTH DUMP GPU: slices of a recording against the script that the stand-in played.
Each slice of the script must be there once with its process and context, each edge within 100 us; a long one may
come in parts. Prints slices, parts and the largest difference."""
import json
import sys

script, truth, dump, gpu = sys.argv[1:]
on = [int(w[2]) for w in map(str.split, open(truth)) if w[0] == "on" and w[1] == gpu][-1]
wanted, begun = [], None
for word in map(str.split, open(script)):
    if word and word[0] == "at" and word[1] == gpu:
        time, tag, context, pid = on + int(word[2]) * 1000, int(word[3]), int(word[4], 16), int(word[5])
        if tag == 6:
            begun = time
        else:
            wanted.append((begun, time, context, pid))
            begun = None
got, parts = [], 0
for event in map(json.loads, open(dump)):
    if event["type"] != "GPU_SLICE" or event["device"] != 195 << 20 | int(gpu):
        continue
    parts += 1
    if event["begin"] == "goes_on":
        last = got.pop()
        assert last[4] == "goes_on" and last[2:4] == (event["context"], event["pid"]) and last[1] == event["start"], last
        got.append((last[0], event["time"], *last[2:4], event["over"]))
    else:
        got.append((event["start"], event["time"], event["context"], event["pid"], event["over"]))
assert len(got) == len(wanted), (len(got), len(wanted))
worst = 0
for have, want in zip(got, wanted):
    assert have[2:4] == want[2:4], (have, want)
    worst = max(worst, abs(have[1] - want[1]), abs(have[0] - want[0]) if want[0] else 0)
print(f"slices={len(got)} parts={parts} worst_ns={worst}")
sys.exit(worst > 100000)
