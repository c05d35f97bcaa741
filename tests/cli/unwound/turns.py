# SPDX-License-Identifier: GPL-2.0
"""turns.py: reads `grtrace dump` of a program that two functions of make an ioctl, in turn: fails unless their stacks
follow each other like that, once there are any by unwind tables."""
import re
import sys

outer, by_kernel, calls = {}, set(), []
for line in sys.stdin:
    if m := re.search(r" FRAME +stack=(\d+) index=(\d+) .*?ip=0x([0-9a-f]+)", line):
        outer.setdefault(m[1], {})[int(m[2])] = m[3]
    elif m := re.search(r" STACK_END +stack=(\d+) end=(\d+)", line):
        if m[2] in ("3", "7"):
            by_kernel.add(m[1])
    elif m := re.search(r" CALL_STACK .*user=(\d+)", line):
        calls.append(m[1])
stacks = [tuple(outer[c][i] for i in sorted(outer[c])) for c in calls if c not in by_kernel and len(outer[c]) > 30]
kinds = set(stacks)
wrong = sum(a == b for a, b in zip(stacks, stacks[1:]))
differ = sum(a != b for a, b in zip(*kinds)) if len(kinds) == 2 else 0
print(f"{len(stacks)} calls, {len(kinds)} stacks that differ in {differ} addresses, {wrong} twice in a row")
sys.exit(len(stacks) < 50 or len(kinds) != 2 or wrong or differ > 2)
