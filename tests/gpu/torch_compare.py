# SPDX-License-Identifier: GPL-2.0
"""torch_compare.py DUMP PROGRAM: of each launch of torch_modules.py train (grtrace dump --json) the innermost module, as
record --torch has it, and as the program's own ranges have it; then how often each was called."""
import collections
import json
import sys

strings, chains, kinds = {}, {}, collections.Counter()
counted = {"": collections.Counter(), "torch.nn": collections.Counter()}
wrong = []


def innermost(number, domain):
    while number:
        node = chains[number]
        if strings.get(node["domain"], "") == domain:
            return strings[node["name"]]
        number = node["outer"]
    return None


for line in open(sys.argv[1]):
    e = json.loads(line)
    if e["type"] == "STRING":
        strings[e["number"]] = strings.get(e["number"], "") + e["text"]
    elif e["type"] == "RANGE_NODE":
        chains[e["node"]] = e
    elif e["type"] == "RANGE":
        counted[strings.get(e["domain"], "")][strings[e["name"]]] += 1
    elif e["type"] == "LAUNCH":
        ours, theirs = (innermost(e["range"], d) for d in ("torch.nn", ""))
        kinds["in modules" if theirs else "outside of modules"] += 1
        if ours != theirs:
            wrong.append((e["correlation"], ours, theirs))
told = collections.Counter()
for line in open(sys.argv[2]):
    if line.startswith("calls "):
        told[line.split()[1]] = int(line.split()[2])
for correlation, ours, theirs in wrong[:10]:
    print(f"launch {correlation}: {ours}, but the program says {theirs}")
for name in sorted(set(told) | set(counted["torch.nn"])):
    if not told[name] == counted["torch.nn"][name] == counted[""][name]:
        print(f"{name}: {counted['torch.nn'][name]} calls, but the program says {told[name]}")
        wrong.append(name)
print(f"{kinds['in modules']} launches in {len(told)} modules, all but {len(wrong)} as the program says;",
      f"{kinds['outside of modules']} outside; {sum(told.values())} calls of modules")
sys.exit(bool(wrong) or not kinds["in modules"] or not told)
