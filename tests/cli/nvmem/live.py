# SPDX-License-Identifier: GPL-2.0
"""live.py MOMENTS EVENTS: bytes that are live at moments, of a program's own account and of a recording.

MOMENTS: lines of nv_memory; EVENTS: grtrace dump --json. Prints how many moments agree; exit 1 where one does not.
"""
import json
import sys

events = []
for line in open(sys.argv[2]):
    e = json.loads(line)
    if e.get("type") == "NV_MEMORY":
        events.append(e)
events.sort(key=lambda e: e["time"])
moments = [[int(w) for w in line.split()] for line in open(sys.argv[1]) if len(line.split()) == 5]
good = 0
for time, pid, *want in moments:
    live = {}
    for e in events:
        if e["time"] > time or e["owner"] != pid:
            continue
        key = (e["client"], e["object"])
        if e["what"] in (1, "allocated"):
            assert key not in live, e
            live[key] = e
        elif e["what"] in (2, "freed"):
            assert live.pop(key)["bytes"] == e["bytes"], e
    sums = [0, 0]
    for e in live.values():
        sums[e["place"] in (2, "host")] += e["bytes"]
    got = [*sums, len(live)]
    if got != want:
        sys.exit(f"at {time} process {pid} has {want}, and the recording {got}")
    good += 1
print(f"{good} moments agree")
sys.exit(good == 0)
