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
    right = (seen["state"], seen["waker_tid"] or 0) == (state, int(waker))
    # the kernel leaves out an event of its scheduler now and then: who woke the thread is not known then, the
    # waker's sleep looks as if it had run, or the thread as if it had not slept yet
    left_out = not seen["by"] or (behind == "sleep" and seen["behind_running"] >= 8000000) or \
        (right and seen["behind_" + behind] < 8000000)
    unseen += left_out
    if left_out and unseen < 3:
        continue
    parts = sum(value for key, value in seen.items() if key.startswith("behind_"))
    # what is behind it lasts 12 ms or more, in which a machine that is busy does other things, too
    if not right or seen["behind_" + behind] < 8000000:
        print(name, "is", {k: seen[k] for k in ("state", "by", "cause", "waker_tid", "behind")}, "not", line.strip())
    if seen["time"] > int(ns) or parts != seen["time"] or seen["waits"] != 1:
        print(name, "took", ns, "ns, not", seen)
print(waits, "waits")
