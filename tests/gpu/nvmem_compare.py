# SPDX-License-Identifier: GPL-2.0
"""nvmem_compare.py nvml|loop LINES EVENTS: a recording of nvmem against what NVML or the program itself says.

LINES: of nvmem_torch.py or nvmem_loop; EVENTS: grtrace dump --json. nvml: bytes of the GPU that the process has
at each moment; loop: how much was allocated and freed meanwhile. Exit 1 where they differ.
"""
import json
import sys

events = [e for e in map(json.loads, open(sys.argv[3])) if e["type"] == "NV_MEMORY" and e["place"] in (1, "gpu")]
events.sort(key=lambda e: e["time"])
IS = {1: "allocated", 2: "freed", 4: "passed"}
for e in events:
    e["what"] = IS.get(e["what"], e["what"])


def live(pid, time):
    memory = {}
    for e in events:
        if e["time"] > time:
            break
        if e["what"] in IS.values():
            memory.pop((e["client"], e["object"]), None)
        if e["what"] in ("allocated", "passed"):
            memory[e["client"], e["object"]] = e
    return sum(e["bytes"] for e in memory.values() if e["owner"] == pid)


lines = [[int(w) for w in line.split()] for line in open(sys.argv[2]) if len(line.split()) == 4]
if sys.argv[1] == "loop":
    (begin, end, pid, made), = lines
    for what in ("allocated", "freed"):
        n = sum(e["what"] == what and e["owner"] == pid and begin <= e["time"] <= end for e in events)
        print(f"{what}: {n}, the program made {made} in {(end - begin) / 1e9:.3f} s")
        if n != made:
            sys.exit(1)
    sys.exit()
worst, equal = 0, 0
for begin, end, pid, bytes in lines:
    mine = live(pid, begin)
    equal += mine == bytes
    worst = max(worst, abs(mine - bytes) / bytes)
print(f"{len(lines)} moments, {equal} of them to the byte, at most {100 * worst:.4f} % apart")
asked = sum(1 for _ in open(sys.argv[2]))
sys.exit(len(lines) < 100 or len(lines) < asked or worst > 0.01)
