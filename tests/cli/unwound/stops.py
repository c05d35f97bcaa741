# SPDX-License-Identifier: GPL-2.0
"""stops.py COMM FILE: reads `grtrace dump`; FILE has lines STACK BEGIN END ADDRESS..., of stacks of the process COMM when it was
stopped between these two times. Prints how many frames of these are those that it left the CPU with at this instruction, walked by unwind tables."""
import collections
import re
import sys

frames, inlined, by_kernel = collections.defaultdict(dict), set(), set()
slept = []
for line in sys.stdin:
    if m := re.search(r" FRAME +stack=(\d+) index=(\d+) depth=(\d+) .*?ip=0x([0-9a-f]+)", line):
        if int(m[2]) < int(m[3]):
            frames[m[1]][int(m[2])] = m[4]
    elif m := re.search(r" FRAME_PLACE +stack=(\d+) index=(\d+) .*inlined=1", line):
        inlined.add((m[1], int(m[2])))
    elif m := re.search(r" STACK_END +stack=(\d+) end=(\d+)", line):
        if m[2] in ("3", "7"):
            by_kernel.add(m[1])
    elif (m := re.search(r" (?:ASLEEP|OFF_CPU) .*?\((.*?)\) start=(\d+) .* user=(\d+)", line)) and m[1] == sys.argv[1]:
        slept.append((int(m[2]), m[3]))
ours = collections.defaultdict(list)
for start, stack in slept:
    ips = [frames[stack][i] for i in sorted(frames[stack]) if (stack, i) not in inlined]
    if ips and stack not in by_kernel:
        ours[ips[0]].append((start, ips))


def equal(a, b):
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


stops = unseen = all_frames = same = 0
for line in open(sys.argv[2]):
    if not line.startswith("STACK "):
        continue
    begin, end, *theirs = line.split()[1:]
    stops += 1
    # a loop may have left the CPU at the same instruction at another time, by another way
    mine = [ips for start, ips in ours[theirs[0]] if int(begin) <= start <= int(end)]
    if not mine:
        unseen += 1
        continue
    mine = max(mine, key=lambda mine: equal(mine, theirs))
    if theirs[-1] == "?":  # gdb went astray: what it had until there
        theirs.pop()
        mine = mine[:len(theirs)]
    n = equal(mine, theirs)
    all_frames += max(len(mine), len(theirs))
    same += n
    if n < max(len(mine), len(theirs)):
        print("differs after", n, "at", theirs[0], "gdb:", *theirs[n:n + 4], "ours:", *mine[n:n + 4])
print("stops", stops, "seen", stops - unseen, "frames", all_frames, "equal", same)
