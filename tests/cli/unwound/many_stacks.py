# SPDX-License-Identifier: GPL-2.0
"""many_stacks.py unnamed=COUNT TOLD: reads `grtrace dump` of many_codes.py. Fails unless each stack of its 20,000 calls
has a frame of `call`, one of the function that called it or one without a name, and that of the module. Of those
without a name there are COUNT, but for stacks that are missing; the file TOLD says both numbers."""
import collections
import re
import sys

frames, calls = collections.defaultdict(dict), collections.Counter()
for line in sys.stdin:
    if m := re.search(r" FRAME +stack=(\d+) index=(\d+) .*symbol=(?:\"([^\"]*)\"|(\S+))", line):
        frames[m[1]][int(m[2])] = m[3] or m[4]
    elif m := re.search(r" CALL_STACK .*user=(\d+)", line):
        calls[m[1]] += 1
count = int(sys.argv[1].split("=")[1])
named = unnamed = wrong = others = 0
for stack, n in calls.items():
    names = [frames[stack][i] for i in sorted(frames[stack])]
    python = [f for f in names if f in ("call", "[python]", "<module>") or re.fullmatch(r"one\d+", f)]
    if len(python) == 3:
        named += n * (python[1] != "[python]")
    wrong += n * (len(python) not in (0, 2, 3))
    others += n * (len(python) in (0, 2))
    unnamed += n * python.count("[python]")
print(f"{named} named, {unnamed} without a name, {count} counted, {others} others, {wrong} wrong")
told = open(sys.argv[2]).read()
lost = int((re.search(r"(\d+) stacks are missing", told) or [0, 0])[1])
sys.exit(
    wrong
    or not unnamed <= count <= unnamed + lost
    or f"{count} Python frames have no name" not in told
    or named < 8192
    or unnamed < 3000 - lost
    or others > lost + 64
)
