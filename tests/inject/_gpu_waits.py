#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# _gpu_waits.py DUMP FOLDED: what the GPU ran while threads slept in calls that wait for it, by `dump --json`, against
# `flame --weight wall -o FOLDED`. Each wait is cut where anything begins or ends; each piece is the work's that began first.
import collections, json, sys

events = collections.defaultdict(list)
for line in open(sys.argv[1]):
    e = json.loads(line)
    events[e["type"]].append(e)
name = lambda w: "[GPU_Kernel]" + w["name"] if w["type"] == "GPU_KERNEL" else "[GPU_Memcpy %s]" % w["kind"]
works = sorted(((w["start"], w["end"], name(w), w) for w in events["GPU_KERNEL"] + events["GPU_COPY"]), key=lambda w: w[:3])
syncs = {s["correlation"]: s for s in events["GPU_SYNC"]}
copies = {c["correlation"]: c for c in events["GPU_COPY"]}


def aims(call):
    """Which work the call waited for, the nearest first."""
    sync, copy = syncs.get(call["correlation"]), copies.get(call["correlation"])
    context = lambda w: w["context"] == call["context"]
    if sync and sync["kind"] == "stream":
        return [lambda w: context(w) and w["cuda_stream"] == sync["cuda_stream"]]
    if copy:
        return [lambda w: context(w) and w["cuda_stream"] == copy["cuda_stream"], context]
    return [context]


sums, waits = collections.Counter(), 0
for sleep in events["ASLEEP"]:
    calls = [c for c in events["LAUNCH"] if c["tid"] == sleep["tid"] and
             (c["call"].endswith("Synchronize") or c["correlation"] in copies) and
             c["begin"] <= sleep["start"] and sleep["time"] <= c["time"]]
    if not calls:
        continue
    waits += 1
    near = [w for w in works if w[0] < sleep["woken"] and w[1] > sleep["start"]]
    cuts = sorted({sleep["start"], sleep["woken"]} | {t for w in near for t in w[:2] if sleep["start"] < t < sleep["woken"]})
    for a, b in zip(cuts, cuts[1:]):
        running = [w for w in near if w[0] <= a and w[1] >= b]
        mine = next((m for m in ([w for w in running if aim(w[3])] for aim in aims(calls[0])) if m), None)
        sums[mine[0][2] if mine else "[gpu]"] += b - a

graph = collections.Counter()
for line in open(sys.argv[2]):
    stack, weight = line.rsplit(" ", 1)
    if "[gpu]" in stack:
        graph[stack.split(";")[-1]] += int(weight)
print(waits, "waits,", dict(graph))
if graph != sums:
    print("by the dump", dict(sums))
sys.exit(graph != sums or waits < 10 or len(sums) < 5)
