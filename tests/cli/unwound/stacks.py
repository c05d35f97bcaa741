# SPDX-License-Identifier: GPL-2.0
"""Reads `grtrace dump`: prints the addresses of each different stack that a thread slept with, a line each."""
import collections
import re
import sys

frames = collections.defaultdict(dict)
slept = []
for line in sys.stdin:
    m = re.search(r" FRAME +stack=(\d+) index=(\d+) .*?ip=0x([0-9a-f]+)", line)
    if m:
        frames[m[1]][int(m[2])] = m[3]
    m = re.search(r" ASLEEP .*user=(\d+)", line)
    if m:
        slept.append(m[1])
for line in {" ".join(frames[u][i] for i in sorted(frames[u])) for u in set(slept)}:
    print(line)
