# SPDX-License-Identifier: GPL-2.0
"""compare.py LOG DUMP: what modules.py has logged, against the events of its recording (grtrace dump --json)."""
import collections
import json
import sys

log, told, unended = {}, collections.Counter(), 0
for line in open(sys.argv[1]):
    words = line.split()
    if words[0] == "calls":
        told[words[1]] = int(words[2])
    elif words[0] == "unended":
        unended = int(words[1])
    else:
        log[words[0]] = words[1]

strings, chains, launches, kernels, ranges = {}, {}, {}, {}, []
for line in open(sys.argv[2]):
    e = json.loads(line)
    if e["type"] == "STRING":
        strings[e["number"]] = strings.get(e["number"], "") + e["text"]
    elif e["type"] == "RANGE_NODE":
        chains[e["node"]] = e
    elif e["type"] == "LAUNCH":
        launches[e["correlation"]] = e
    elif e["type"] == "GPU_KERNEL":
        kernels[e["name"]] = e
    elif e["type"] == "RANGE":
        ranges.append(e)


def word(text):
    return text.encode("unicode_escape").decode().replace(" ", "\\x20")


def chain(number):
    if not number:
        return ""
    node = chains[number]
    return f"{chain(node['outer'])}/{strings[node['domain']]}:{word(strings[node['name']])}"


wrong = 0
for name, want in log.items():
    launch = launches.get(kernels[name]["correlation"]) if name in kernels else None
    got = (chain(launch["range"]) or "-") if launch else "no launch"
    if got != want:
        wrong += 1
        if wrong < 10:
            print(f"{name}: {got}, but the program says {want}")
counted = collections.Counter(word(strings[r["name"]]) for r in ranges)
for name in sorted(set(counted) | set(told)):
    if counted[name] != told[name]:
        wrong += 1
        print(f"{name}: {counted[name]} calls, but the program says {told[name]}")
open_ranges = sum(not r.get("end") for r in ranges)
if open_ranges != unended:
    wrong += 1
    print(f"{open_ranges} calls without an end, but the program says {unended}")
if set(kernels) != set(log):
    wrong += 1
    print(f"{len(kernels)} kernels, but the program says {len(log)}")
print(f"{len(log)} launches, {len(ranges)} calls of modules, {len(counted)} names, {unended} without an end")
sys.exit(wrong > 0 or not log)
