#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""uvm.py DUMP STEPS PID: what grtrace says of a run of uvm_load against what that printed.
Of each step that knows its bytes, the copies between its begin and its end must be so many; of a run with CUPTI's
counters the sums must be the same."""
import json
import sys

dump, steps, pid = sys.argv[1], sys.argv[2], int(sys.argv[3])
copies, faults, pages, remote = [], {"cpu": 0, "gpu": 0}, {}, 0
for e in map(json.loads, open(dump)):
    if e.get("pid") != pid or not e["type"].startswith("UVM_"):
        continue
    if e["type"] == "UVM_MIGRATION":
        assert e["queued"] <= e["start"] <= e["time"], e
        copies.append((e["start"], e["time"], e["bytes"], e["to_device"] != 0, e["cause"]))
    elif e["type"] == "UVM_FAULT":
        faults["cpu" if "met_by" in e else "gpu"] += 1
    elif e["type"] == "UVM_PAGES":
        pages[e["what"]] = pages.get(e["what"], 0) + 1
    elif e["type"] == "UVM_REMOTE":
        remote += 1
up = sum(c[2] for c in copies if c[3])
down = sum(c[2] for c in copies if not c[3])
wrong = []
for line in open(steps):
    word = line.split()
    if word[0] == "cupti" and word[1] in ("htod", "dtoh", "cpu_faults", "thrashing", "throttling", "remote"):
        ours = {"htod": up, "dtoh": down, "cpu_faults": faults["cpu"], "thrashing": pages.get("thrashing", 0),
                "throttling": pages.get("throttling", 0), "remote": remote}[word[1]]
        print(f"cupti {word[1]} {word[2]} grtrace {ours}")
        if int(word[2]) != ours:
            wrong.append(word[1])
    elif len(word) == 4:
        begin, end, wanted = map(int, word[1:])
        inside = [c for c in copies if c[0] >= begin and c[1] <= end]
        got = sum(c[2] for c in inside)
        span = sum(c[1] - c[0] for c in inside)
        print(f"step {word[0]} {wanted} grtrace {got} in {len(inside)} copies of {span} ns, "
              f"{sorted({c[4] for c in inside})}")
        if wanted >= 0 and got != wanted:
            wrong.append(word[0])
        cut = [c for c in copies if c[0] < end and c[1] > begin and c not in inside]
        if cut:
            wrong.append(f"{word[0]}: {len(cut)} copies across its edge")
print(f"up {up} down {down} faults {faults} pages {pages} remote {remote}")
sys.exit(f"wrong: {wrong}" if wrong else 0)
