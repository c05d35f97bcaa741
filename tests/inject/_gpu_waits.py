#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# _gpu_waits.py DUMP FOLDED [polling]: what the GPU ran while threads slept in calls that wait for it, by `dump --json`,
# against `flame --weight wall -o FOLDED`. Each wait is cut where anything begins or ends; each piece is the work's that
# began first. With "polling", what it ran at each sample of threads that polled in such calls: shares of samples are
# shares of their time. Exit status 3: all is right, but there is too little of it.
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


def waits_of(tid, start, end, copies_too):
    return [c for c in events["LAUNCH"] if c["tid"] == tid and c["begin"] <= start and end <= c["time"] and
            (c["call"].endswith("Synchronize") or (copies_too and c["correlation"] in copies))]


def ran(call, near, a, b):
    running = [w for w in near if w[0] <= a and w[1] >= b]
    mine = next((m for m in ([w for w in running if aim(w[3])] for aim in aims(call)) if m), None)
    return mine[0][2] if mine else None


def slept():
    sums, waits = collections.Counter(), 0
    for sleep in events["ASLEEP"]:
        start, woken = sleep["start"], sleep["woken"]
        calls = waits_of(sleep["tid"], start, sleep["time"], True)
        if not calls:
            continue
        waits += 1
        near = [w for w in works if w[0] < woken and w[1] > start]
        cuts = sorted({start, woken} | {t for w in near for t in w[:2] if start < t < woken})
        for a, b in zip(cuts, cuts[1:]):
            sums[ran(calls[0], near, a, b) or "[gpu]"] += b - a
    return sums, waits


def polled():
    sums = collections.Counter()
    for sample in events["SAMPLE"]:
        calls = waits_of(sample["tid"], sample["time"], sample["time"], False)
        if calls:
            sums[ran(calls[0], works, sample["time"], sample["time"] + 1) or "[polling]"] += 1
    return sums, sum(sums.values())


state = "[polling]" if "polling" in sys.argv[3:] else "[gpu]"
sums, waits = polled() if state == "[polling]" else slept()
graph = collections.Counter()
for line in open(sys.argv[2]):
    stack, weight = line.rsplit(" ", 1)
    if state in stack:
        graph[stack.split(";")[-1]] += int(weight)
print(waits, "waits,", dict(graph))
print("by the dump", dict(sums))
if state == "[polling]":
    all_of_it = sum(graph.values())
    wrong = set(graph) != set(sums) or any(abs(graph[k] * waits - sums[k] * all_of_it) > 100 * waits for k in sums)
else:
    wrong = graph != sums
few = waits < 10 or len(sums) < (3 if state == "[polling]" else 5)
sys.exit(1 if wrong else 3 if few else 0)
