#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""compare.py SCRIPT TRUTH DUMP PID: events of a recording against the script that the stand-in played.
Each entry must be there once, in its place in time within 100 us of what the script says, with the values of its
fields. Prints how many there were, and the largest difference of times in ns."""
import json
import sys

script, truth, dump, pid = sys.argv[1:4] + [int(sys.argv[4])]
on = [int(w[1]) for w in map(str.split, open(truth)) if w[0] == "on"][-1]
GPU = 195 << 20
causes = [None, "user", "coherence", "prefetch", "eviction", "access_counters"]
accesses = [None, "read", "write", "atomic", "prefetch"]


def device(index):
    return {0: 0, 1: GPU}.get(index, GPU | 0x10000 | index)


wanted = []
for word in map(str.split, open(script)):
    if not word or word[0] in ("gpu", "after", "slow", "refuse", "type"):
        continue
    us, n = int(word[1]), [int(x, 0) for x in word[2:]]
    time = on + us * 1000
    if word[0] == "mig":
        start = time + n[5] * 1000
        # between nodes of the CPU's memory the driver has other numbers of causes
        cause = causes[n[0]] if n[1] or n[2] else "user"
        want = {"type": "UVM_MIGRATION", "queued": time, "start": start, "time": start + n[6], "cause": cause,
                "from_device": device(n[1]), "to_device": device(n[2]), "address": n[3], "bytes": n[4]}
    elif word[0] == "fault":
        want = {"type": "UVM_FAULT", "time": time, "met": time - n[4] * 1000, "access": accesses[n[0]],
                "device": device(n[1]), "address": n[2], "batch": n[3], "unit": 3, "client": 36,
                "fault": "invalid_pte", "replayed": True}
    elif word[0] == "cpu":
        want = {"type": "UVM_FAULT", "time": time, "access": accesses[n[0]], "address": n[1], "pid": n[2],
                "tid": n[3], "met_by": n[4], "pc": 0x401000}
    elif word[0] == "replay":
        want = {"type": "UVM_REPLAY", "time": time, "device": device(n[0]), "batch": n[1], "done": time + n[2] * 1000}
    elif word[0] == "remote":
        want = {"type": "UVM_REMOTE", "time": time, "cause": [None, "coherence", "thrashing", "policy"][n[0]],
                "device": device(n[1]), "to_device": device(n[2]), "address": n[3], "bytes": n[4],
                "since": time + 5000}
    elif word[0] == "fatal":
        want = {"type": "UVM_FATAL", "time": time, "reason": "address", "access": accesses[n[1]],
                "device": device(n[2]), "address": n[3], "fault": "limit"}
    elif word[0] == "group":
        want = {"type": "UVM_PAGES", "time": time, "what": {10: "thrashing", 7: "read_duplicate"}[n[0]],
                "address": n[1], "bytes": n[2], "gpus": n[3] >> 1, "with_cpu": bool(n[3] & 1)}
    elif word[0] == "alone":
        want = {"type": "UVM_PAGES", "time": time, "device": device(n[1]), "address": n[2],
                "what": {8: "duplicate_ends", 11: "throttling", 12: "throttling_ends"}[n[0]]}
    else:
        want = {"type": "UVM_PAGES", "time": time, "what": "eviction", "device": device(n[0]), "address": n[2],
                "bytes": n[3], "other": n[4], "gpus": 1}
    want.setdefault("pid", pid)
    wanted.append(want)
got = [e for e in map(json.loads, open(dump)) if e["type"].startswith("UVM_")]
worst = 0
for want in wanted:
    times = ("time", "start", "queued", "met", "done", "since")
    like = [e for e in got if e["type"] == want["type"] and all(
        (int(e[k], 0) if isinstance(e.get(k), str) and isinstance(v, int) else e.get(k)) == v
        or (v in (0, None) and k not in e) for k, v in want.items() if k not in times)]
    assert len(like) == 1, (want, like or got)
    event = like[0]
    got.remove(event)
    for key in times:
        if key in want:
            worst = max(worst, abs(event[key] - want[key]))
            assert worst < 100000, (key, want, event)
assert not got, got
print(f"events={len(wanted)} worst_ns={worst}")
