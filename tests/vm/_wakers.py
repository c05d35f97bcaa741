# SPDX-License-Identifier: GPL-2.0
#
# _wakers.py TOLD WAITS: what tests/vm/wakers says of its waits against `report --by
# wait --json --top 0` of it. Prints each difference, and at the end how many waits there are.
import collections, json, sys

rows = collections.defaultdict(list)
for row in json.load(open(sys.argv[2]))["waits"]:
    rows[row["tid"]].append(row)
waits = unseen = 0
for line in open(sys.argv[1]):
    name, tid, state, waker, behind, ns = line.split()
    waits += 1
    seen = max(rows[int(tid)], key=lambda row: row["time"], default=None)
    if not seen:
        print(name, "is not there")
        continue
    # the kernel leaves out an event of its scheduler now and then, which is told as not known
    unseen += not seen["by"]
    if not seen["by"] and unseen < 3:
        continue
    parts = sum(value for key, value in seen.items() if key.startswith("behind_"))
    if (seen["state"], seen["waker_tid"] or 0, seen["behind"]) != (state, int(waker), behind):
        print(name, "is", {k: seen[k] for k in ("state", "by", "cause", "waker_tid", "behind")}, "not", line.strip())
    if seen["time"] > int(ns) or parts != seen["time"] or seen["waits"] != 1:
        print(name, "took", ns, "ns, not", seen)
print(waits, "waits")
