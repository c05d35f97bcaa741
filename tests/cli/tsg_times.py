#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tsg_times.py DUMP REPORT: the GPU's time by channel group of `report --by tsg --json`, computed again from the
events of `dump --json`. Each life of a group has a list of the numbers that its channels had, from when; a slice
is of the life that took the number last, if that was before the slice began. Prints what was compared."""
import json
import sys

events = sorted(map(json.loads, open(sys.argv[1])), key=lambda e: e["time"])
report = json.load(open(sys.argv[2]))
slices = [e for e in events if e["type"] == "GPU_SLICE"]
groups = [e for e in events if e["type"].startswith("TSG_")]
BUS = {195 << 20: "0000:c6:00.0", 195 << 20 | 1: "0000:c7:00.0"}
NAME = "{:08x}:{:08x}"

lives, taken, freed = {}, [], []  # (client, tsg): its lives; (bus, number, time, life); (bus, number, time)
for e in groups:
    if e["type"] == "TSG_INIT":
        lives.setdefault((e["client"], e["tsg"]), []).append(e["time"])
    life = (e["client"], e["tsg"], len(lives.get((e["client"], e["tsg"]), [])), e["pid"])
    e["life"] = life
    if e["type"] == "TSG_CHANNEL":
        (taken if e["bound"] else freed).append((e.get("bus"), e["context"], e["time"], life))


def whose(s):
    had = [t for t in taken if t[0] in (BUS[s["device"]], None) and t[1] == s["context"] and t[2] < s["time"]]
    last = max(had, key=lambda t: t[2], default=None)
    return last if last and last[2] <= s["start"] else None


rows, alone, late, begun = {}, 0, 0, 0
for s in slices:
    found = whose(s)
    key = (s["device"], found[3] if found else None, found[3][3] if found else s["pid"])
    row = rows.setdefault(key, dict(residency=0, slices=0, lengths=[], since=None))
    row["residency"] += s["time"] - s["start"]
    row["slices"] += s["begin"] == "switch"
    if s["begin"] != "goes_on":
        row["since"] = s["start"] if s["begin"] == "switch" else None
        begun += 1
        alone += not found
        if found:
            gone = [f[2] for f in freed if f[:2] == found[:2] and found[2] < f[2] <= s["time"]]
            late += bool(gone and s["start"] > gone[0])
    if s["over"] == "switch" and row["since"] is not None:
        row["lengths"].append((row["since"], s["time"]))

got = {}
for r in report["tsg_times"]:
    got.setdefault((r["device"], r["tsg"], r["pid"]), []).append(
        tuple(r[k] for k in ("residency", "slices", "mean", "max")))
want = {}
for (device, life, pid), r in rows.items():
    n = [b - a for a, b in r["lengths"]]
    mean = (2 * sum(n) + len(n)) // (2 * len(n)) if n else None
    want.setdefault((device, NAME.format(*life[:2]) if life else None, pid), []).append(
        (r["residency"], r["slices"], mean, max(n) if n else None))
order = lambda d: {k: sorted(v, key=lambda t: t[:2]) for k, v in d.items()}
assert order(got) == order(want), [(k, got.get(k), want.get(k)) for k in {*got, *want}
                                   if order(got).get(k) != order(want).get(k)][:3]

# The processes' time is that of another table, which knows nothing of groups.
by_process = {}
for r in report["tsg_times"]:
    by_process[r["device"]] = by_process.get(r["device"], 0) + r["residency"]
total = {d: sum(s["time"] - s["start"] for s in slices if s["device"] == d) for d in BUS}
assert by_process == total, (by_process, total)
first, last = min(e["time"] for e in events), max(e["time"] for e in events)
for r in report["tsg_times"]:
    assert abs(r["share"] - r["residency"] * 100 / (last - first)) < 0.002, r

changes = [e for e in groups if e["type"] == "TSG_SET" and not e.get("status") and e.get("timeslice")]
wanted = []
for e in changes:
    mine = [c["time"] for c in changes if c["life"] == e["life"]]
    at = mine.index(e["time"])
    since, until = mine[at - 1] if at else 0, mine[at + 1] if at + 1 < len(mine) else 1 << 63
    spans = [x for (device, life, pid), r in rows.items() if life == e["life"] for x in r["lengths"]]
    before = [b - a for a, b in spans if a >= since and b <= e["time"]]
    after = [b - a for a, b in spans if a >= e["time"] and b <= until]
    mean = lambda n: (2 * sum(n) + len(n)) // (2 * len(n)) if n else None
    born = e["life"][2] > 0
    was = [c["timeslice"] for c in changes if c["life"] == e["life"] and c["time"] < e["time"]]
    wanted.append((e["time"], e["pid"], NAME.format(*e["life"][:2]), was[-1] if was else 1024 if born else None, e["timeslice"],
                   *((len(before), mean(before), len(after), mean(after)) if born else 4 * (None,))))
keys = "time pid tsg was_us now_us slices_before mean_before slices_after mean_after".split()
have = [tuple(r[k] for k in keys) for r in report["tsg_changes"]]
assert sorted(have, key=str) == sorted(wanted, key=str), [x for x in zip(sorted(have, key=str), sorted(wanted, key=str)) if x[0] != x[1]][:3]
assert any(w[5] is None for w in wanted)

note = " ".join(report["notes"])
assert f"{alone} of {begun} slice{'s' * (begun != 1)} of the GPU's time belong to no group" in note, note
assert not late or f"{late} slice{'s' * (late != 1)} began after" in note, (late, note)
print(f"rows={len(report['tsg_times'])} groups={sum(1 for k in rows if k[1])} slices={begun} alone={alone} "
      f"late={late} changes={len(wanted)} with_slices={sum(1 for w in wanted if w[5] and w[7])}")
