#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_waits.py GRTRACE TRACE...: what kernels waited for, computed from `dump --json` alone, piece by piece between all
edges of slices and kernels, compared with `report --by kernel --json`."""

import collections
import json
import subprocess
import sys


def read(*args):
    return subprocess.run(args, stdout=subprocess.PIPE, text=True, check=True).stdout


def waits(events):
    """(pid, kernel) -> [others, own, unknown, longest, {pid: ns}]"""
    of = collections.defaultdict(lambda: [0, 0, 0, 0, collections.Counter()])
    kind = collections.defaultdict(list)
    for e in events:
        kind[e["type"]].append(e)
    bus = {(e["pid"], e["gpu"]): e["bus"].lower() for e in kind["DEVICE"]}
    called = {(e["pid"], e["correlation"]): e["begin"] for e in kind["LAUNCH"]}
    places = collections.defaultdict(list)
    for e in kind["GPU_SLICE"]:
        places[e["device_name"].split()[-1], e["mig_gpu"], e["mig_compute"]].append((e["start"], e["time"], e.get("pid")))
    ends = collections.defaultdict(int)
    for k in sorted(kind["GPU_KERNEL"], key=lambda k: called.get((k["pid"], k["correlation"]), 0)):
        pid, start, begin = k["pid"], k["start"], called.get((k["pid"], k["correlation"]))
        if begin is None or start < begin:
            continue
        before, stream = ends[pid, k["gpu"], k["cuda_stream"]], (pid, k["gpu"], k["cuda_stream"])
        ends[stream] = max(before, k["end"])
        mine = [s for (at, *_), s in places.items() if at == bus[pid, k["gpu"]] and any(x[2] == pid for x in s)]
        if len(mine) != 1:
            continue
        sums, here = of[pid, k["name"]], 0
        edges = sorted({begin, start} | {t for s in mine[0] for t in s[:2] if begin < t < start} |
                       ({before} if begin < before < start else set()))
        for a, b in zip(edges, edges[1:]):
            other = [p for s, e, p in mine[0] if s <= a and b <= e and p != pid]
            sums[0 if other else 1 if b <= before else 2] += b - a
            if other:
                sums[4][other[0]] += b - a
                here += b - a
        sums[3] = max(sums[3], here)
    return of


def main():
    grtrace = sys.argv[1]
    for trace in sys.argv[2:]:
        want = waits(map(json.loads, read(grtrace, "dump", "--json", trace).splitlines()))
        rows = json.loads(read(grtrace, "report", trace, "--by", "kernel", "--json"))["kernels"]
        names = "wait_others", "wait_own", "wait_unknown", "wait_longest", "had_pid"
        got = sorted(str([r["pid"], *(r[x] for x in names)]) for r in rows if r["wait_others"] is not None)
        # names may be mangled in the one and not in the other
        wanted = sorted(str([pid, *v[:4], v[4].most_common(1)[0][0] if v[4] else None]) for (pid, _), v in want.items())
        assert got == wanted, (got, wanted)
        assert any(v[0] for v in want.values()), "nothing to compare"
        print(f"{trace}: {len(got)} of {len(rows)} kernels")


main()
