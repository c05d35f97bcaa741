# SPDX-License-Identifier: GPL-2.0
"""compare.py OWN: reads what ways prints and what `grtrace dump` says of a recording of it: without their OWN
innermost frames, the stacks by unwind tables must be those of backtrace(), all of them, to the program's entry."""
import collections
import re
import sys

own = int(sys.argv[1])
theirs, ours = set(), set()
frames, ends, node, launched = collections.defaultdict(dict), {}, {}, set()
for line in sys.stdin:
    if line.startswith("THEIRS "):
        theirs.add(tuple(line.split()[1:]))
    elif m := re.search(r" FRAME +stack=(\d+) index=(\d+) .*?ip=0x([0-9a-f]+)", line):
        frames[m[1]][int(m[2])] = m[3]
    elif m := re.search(r" STACK_END +stack=(\d+) end=(\d+)", line):
        ends[m[1]] = m[2]
    elif m := re.search(r" NODE .* node=(\d+) caller=(\d+) ip=0x([0-9a-f]+) module=\d+ function=(\d+)", line):
        node[m[1]] = m[2], m[3] + (m[4] if m[4] != "0" else "")
    elif m := re.search(r" LAUNCH .* node=(\d+)", line):
        launched.add(m[1])
for stack, end in ends.items():
    if end == "1":
        ours.add(tuple(ip for _, ip in sorted(frames[stack].items()))[own:])
for at in launched:
    ips = []
    while at in node:
        ips.append(node[at][1])
        at = node[at][0]
    # what ends by unwind tables at the program's entry has a node with neither address nor text there
    if ips[-1] == "0":
        ours.add(tuple(ips[own:-1]))
for what in ours - theirs:
    print("ours only:  ", " ".join(what))
for what in theirs - ours:
    print("theirs only:", " ".join(what))
print("%d stacks, of up to %d frames" % (len(ours), max(map(len, ours), default=0)))
sys.exit(len(ours) < 3 or ours != theirs)
