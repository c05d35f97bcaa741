# SPDX-License-Identifier: GPL-2.0
#
# _wakers.py TOLD WAITS DUMP: what tests/vm/wakers says of its waits against `report --by wait --json
# --top 0` of it, and what was behind them against the sleep of the threads in `dump --json`, which
# _switches.py compares with the kernel's. Prints each difference, and at the end how many waits there are.
import collections, json, sys

LONG = 8000000

rows, asleep = collections.defaultdict(list), collections.defaultdict(list)
for row in json.load(open(sys.argv[2]))["waits"]:
    rows[row["tid"]].append(row)
for line in open(sys.argv[3]):
    event = json.loads(line)
    if event["type"] == "ASLEEP":
        # nothing has woken a thread that still sleeps at the end
        asleep[event["tid"]].append((event["start"], event.get("woken") or event["time"], event["reason"]))


def overlap(one, other):
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


waits = long_ones = 0
for line in open(sys.argv[1]):
    name, tid, state, waker, behind, ns = line.split()
    waits += 1
    # beside the call it may have waited for its exit, or for memory
    seen = max((row for row in rows[int(tid)] if row["state"] == state), key=lambda row: row["time"], default=None)
    if not seen:
        print(name, tid, "is not there among", rows[int(tid)])
        continue
    wait = max((a for a in asleep[int(tid)] if a[2] == state), key=lambda a: a[1] - a[0])
    # one that nobody's thread ended has only itself behind it
    expected = sum(overlap(wait, a) for a in asleep[int(waker)] if a[2] == behind) if int(waker) else wait[1] - wait[0]
    long_ones += expected >= LONG
    if (seen["waker_tid"] or 0) != int(waker) or seen["behind_" + behind] != expected:
        print(name, "is", seen, "not", line.strip(), "with", expected, "ns behind it")
    parts = sum(value for key, value in seen.items() if key.startswith("behind_"))
    if seen["time"] > int(ns) or parts != seen["time"] or seen["waits"] != 1:
        print(name, "took", ns, "ns, not", seen)
# what is behind them lasts 12 ms or more, in which a machine that is busy does other things, too
if long_ones * 2 < waits:
    print(f"only {long_ones} of {waits} were long")
print(waits, "waits")
