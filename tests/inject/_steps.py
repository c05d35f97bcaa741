# SPDX-License-Identifier: GPL-2.0
"""_steps.py REPORT RANKS LOG NOTES STEPS [ranked]: steps and ranks of reports (--by step --json, --by rank
--json) against what mock/steps.c did: its own notes, and the mock device's log of what ran from when to when.
Prints what differs."""
import json
import sys
from collections import defaultdict

report = json.load(open(sys.argv[1]))
ranks = json.load(open(sys.argv[2]))
count = int(sys.argv[5])
work, notes, bad = defaultdict(list), defaultdict(dict), []
for line in open(sys.argv[3]):
    if line[0] == "G":
        _, pid, what, _, start, end, name, _ = line.split()
        kind = "copy" if what != "kernel" else "comm" if "nccl" in name else "compute"
        work[int(pid)].append((int(start), int(end), kind, name))
for line in open(sys.argv[4]):
    _, pid, rank, number, slept = line.split()
    notes[int(pid)][int(number)] = (int(rank), int(slept))


def parts(pid, begin, end):
    """Of each moment, the most important thing that goes on in it."""
    near = [w for w in work[pid] if w[1] > begin and w[0] < end]
    edges = sorted({begin, end} | {min(max(t, begin), end) for w in near for t in w[:2]})
    total = dict.fromkeys(("compute", "comm", "copy", "idle", "comm_hidden"), 0)
    for a, b in zip(edges, edges[1:]):
        on = {w[2] for w in near if w[0] <= a and w[1] >= b}
        total[next((k for k in ("compute", "comm", "copy") if k in on), "idle")] += b - a
        total["comm_hidden"] += b - a if {"compute", "comm"} <= on else 0
    return total


def expect(what, got, want):
    if got != want:
        bad.append(f"{what}: {got}, not {want}")


steps = defaultdict(dict)
for s in report["steps"]:
    steps[s["pid"]][s["step"]] = s
expect("processes", sorted(steps), sorted(notes))
for pid in notes:
    expect(f"steps of {pid}", sorted(steps[pid]), list(range(count)))
    ends = sorted(w[1] for w in work[pid] if w[3] == "adam")
    first = min(w[0] for w in work[pid] if w[0] > max(x[1] for x in work[pid] if x[3] == "init"))
    for number, s in sorted(steps[pid].items()):
        rank, slept = notes[pid][number]
        begin, time = s["begin"], s["time"]
        expect(f"rank of {pid}", s["rank"], rank)
        expect(f"end of {number} of {rank}", begin + time, ends[number])
        if number:
            expect(f"begin of {number} of {rank}", begin, ends[number - 1])
        elif not first - 20000000 < begin <= first:
            bad.append(f"begin of the first step of {rank}: {begin}, its work begins at {first}")
        expect(f"parts of {number} of {rank}", {k: s[k] for k in parts(pid, begin, begin + time)},
               parts(pid, begin, begin + time))
        if number and s["idle"] < slept:
            bad.append(f"idle time of {number} of {rank}: {s['idle']}, it slept {slept}")

# The n-th collective of each process is one: the last to begin keeps the others waiting.
arrivals = [sorted(w[0] for w in work[pid] if w[2] == "comm") for pid in sorted(notes, key=lambda p: notes[p][0])]
numbers = sorted(next(iter(n.values()))[0] for n in notes.values())
sums = [dict(last=0, late=0, waited=0) for _ in arrivals]
expect("collectives", len(ranks["collectives"]), count)
for number, (c, starts) in enumerate(zip(ranks["collectives"], zip(*arrivals))):
    last = starts.index(max(starts))
    late = max(starts) - sorted(starts)[(len(starts) - 1) // 2 if len(starts) > 2 else 0]
    expect(f"collective {number}", (c["number"], c["last"], c["late"], c["step"], c["steady"]),
           (number, numbers[last], late, number, number > 0))
    for rank, start in enumerate(starts if number else ()):
        sums[rank]["waited"] += max(starts) - start
    sums[last]["last"] += number > 0
    sums[last]["late"] += late if number else 0
for r in ranks["ranks"]:
    expect(f"sums of rank {r['rank']}", {k: r[k] for k in sums[0]}, sums[numbers.index(r["rank"])])
    states = [ns for key, ns in r.items() if key.startswith("main_")]
    if states[0] is not None and r["late"]:
        expect(f"what rank {r['rank']} did while it was late", sum(states), r["late"])
    expect(f"rank {r['rank']} is inferred", "rank" in r["inferred"], len(sys.argv) == 6)
print("\n".join(bad))
sys.exit(bool(bad))
