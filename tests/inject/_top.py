# SPDX-License-Identifier: GPL-2.0
# _top.py UPDATES DUMP [live]: what `grtrace top --json` says of CUDA is what the records of the same recording say.
# DUMP is JSON of its kernels and copies. An update's rate counts the records with a stamp in its time. Its shares are the
# union of the work's own times, of the records that have come so far: from where the last ones ended to the end of an
# update, and are shown 0.5 s later at least; a note counts those that came too late for theirs. The shares of a
# recording's last update go up to its end. Live there is no last one, and the recording's later records have its end as
# their stamp. Prints a line for each difference.
import json
import sys

updates = [json.loads(line) for line in open(sys.argv[1])]
records = [json.loads(line) for line in open(sys.argv[2])]
LAG = 500000000
live = sys.argv[3:] == ["live"]


def union(parts, begin, end):
    total, at = 0, begin
    for start, stop in sorted((max(r["start"], begin), min(r["end"], end)) for r in parts):
        total += max(0, stop - max(start, at))
        at = max(at, stop)
    return total


def differ(what, there, wanted, by):
    if there is None or abs(there - wanted) > by:
        print(f"{what}: {there}, by the records {wanted}")


first = shown = until = updates[0]["update"]["from"]
checked = 0
for n, update in enumerate(updates):
    begin, end, span = (update["update"][key] for key in ("from", "to", "span"))
    last = n + 1 == len(updates) and not live
    over = live and n + 1 == len(updates)
    came = [r for r in records if begin < r["time"] <= end or (not n and r["time"] <= end)]
    if not over:
        differ(f"update {n + 1}, jobs", update["update"]["jobs"], len(came), 0)
    late = len([r for r in came if r["start"] < shown]) if shown > first else 0
    if not over and late != sum(int(x.split()[0]) for x in update["notes"] if "before" in x):
        print(f"update {n + 1}: {late} records came too late, {update['notes']}")
    for row in update["shares"]:
        if row["source"] != "kernels":
            continue
        gpu = int(row["device_name"].split()[-1])
        mine = [r for r in records if r["pid"] == row["pid"] and r["gpu"] == gpu and r["time"] <= end and
                (row["ring"] is None or r["cuda_stream"] == row["ring"])]
        name = f"update {n + 1}, {row['device_name']}, {row['ring_name']}"
        if not over:
            count = len([r for r in mine if r in came])
            differ(name + ", rate", row["rate"], count * 1e9 / span, 0.001)
        if over or not (last or end - until >= LAG):
            continue
        stop = end if last else until
        if stop > shown:
            differ(name + ", share", row["share"], union(mine, shown, stop) * 100 / (stop - shown), 0.00051)
            checked += 1
        elif row["share"] is not None:
            print(f"{name}: a share of no time")
    if end - until >= LAG:
        shown, until = until, end
if not checked:
    print("no share was there")
