# SPDX-License-Identifier: GPL-2.0
"""stacks.py FILE: reads `grtrace dump`: prints the addresses of each different stack that a thread slept or made an
ioctl with, or that a function was called with, a line each; of those by unwind tables only. FILE has the stacks that are right:
printed are those that end where one of these does."""
import collections
import re
import sys

frames = collections.defaultdict(dict)
by_kernel, inlined = set(), set()
node, text = {}, {}
seen = set()
slept, called = [], []
for line in sys.stdin:
    if m := re.search(r" FRAME +stack=(\d+) index=(\d+) depth=(\d+) .*?ip=0x([0-9a-f]+)", line):
        if int(m[2]) < int(m[3]):  # the others are more of long names
            frames[m[1]][int(m[2])] = m[4]
    elif m := re.search(r" FRAME_PLACE +stack=(\d+) index=(\d+) .*inlined=1", line):
        inlined.add((m[1], int(m[2])))
    elif m := re.search(r" STACK_END +stack=(\d+) end=(\d+)", line):
        if m[2] in ("3", "7"):
            by_kernel.add(m[1])
    elif m := re.search(r" (?:ASLEEP|CALL_STACK) .*user=(\d+)", line):
        slept.append(m[1])
    elif m := re.search(r' STRING +pid=(\d+).* number=(\d+) .*text="(.*?)"', line):
        text[m[1], m[2]] = m[3]
    elif m := re.search(r" NODE +pid=(\d+).* node=(\d+) caller=(\d+) ip=(0x[0-9a-f]+|-|0) module=\S+ function=(\S+)", line):
        node[m[1], m[2]] = m[3], int(m[4], 16) if m[4] != "-" else 0, text.get((m[1], m[5]))
    elif m := re.search(r" LAUNCH +pid=(\d+).* node=(\d+)", line):
        called.append((m[1], m[2]))
for user in set(slept) - by_kernel:
    seen.add(" ".join(frames[user][i] for i in sorted(frames[user]) if (user, i) not in inlined))
for pid, at in set(called):
    ips = []
    while at != "0" and node[pid, at][1]:
        ips.append(node[pid, at][1])
        at = node[pid, at][0]
    # below the outermost frame of a walk stands why it ended
    if at != "0" and node[pid, at][2] != "[unwind tables not built yet]":
        ips[0] -= 1
        seen.add(" ".join("%x" % ip for ip in ips))
innermost = {line.split()[0] for line in open(sys.argv[1]) if line.strip()}
print("\n".join(s for s in seen if s.split(" ")[0] in innermost))
