# SPDX-License-Identifier: GPL-2.0
"""python_stacks.py TRUTH: reads `grtrace dump` of python.py: of how many of its sleeps the frames of Python are the same, and
the stack reaches the entry. A thread's sleeps come in their order; one may be over before it begins, on a slow machine."""
import collections
import difflib
import re
import sys

text, frames, places = collections.defaultdict(str), collections.defaultdict(dict), {}
slept, ends = collections.defaultdict(list), {}
names = collections.defaultdict(lambda: collections.defaultdict(str))
for line in sys.stdin:
    if m := re.search(r' FRAME_TEXT +number=(\d+) .*text="(.*?)"', line):
        text[m[1]] += m[2]
    elif m := re.search(r' FRAME +stack=(\d+) index=(\d+) depth=(\d+) (?:ip=(\S+) )?symbol="(.*?)"', line):
        depth, part = int(m[3]), int(m[2]) // int(m[3])
        names[m[1]][int(m[2]) % depth, part] = m[5]
        frames[m[1]][int(m[2]) % depth] = m[4]
    elif m := re.search(r" FRAME_PLACE +stack=(\d+) index=(\d+) module=(\S+) file=(\S+) line=(\S+) ", line):
        places[m[1], int(m[2])] = m[3], m[4], m[5]
    elif m := re.search(r" STACK_END +stack=(\d+) end=(\d+)", line):
        ends[m[1]] = m[2]
    elif m := re.search(r" ASLEEP +pid=\d+/(\d+).* user=(\d+) .* call=(?:230|23|270) ", line):
        slept[m[1]].append(m[2])


def python_of(stack):
    out = []
    for index in sorted(frames[stack]):
        module, file, number = places.get((stack, index), ("-", "-", "-"))
        name = "".join(names[stack][k] for k in [(index, 1), (index, 2), (index, 3), (index, 0)])
        if module in ("-", "0") and file not in ("-", "0"):
            out.append("%s (%s:%s)" % (name, text[file], number.replace("-", "0")))
    return out


wanted = collections.defaultdict(list)
for line in open(sys.argv[1]):
    tid, frame = line.rstrip("\n").split(" ", 1)
    wanted[tid].append(frame)
same = total = seen = entry = 0
for tid, theirs in wanted.items():
    ours = [(python_of(stack), stack) for stack in slept[tid]]
    ours = [(" < ".join(p[1:]), stack) for p, stack in ours if p and p[0].startswith("nap (")]
    total += len(theirs)
    seen += len(ours)
    entry += sum(ends.get(stack) == "1" for _, stack in ours)
    matcher = difflib.SequenceMatcher(None, theirs, [o[0] for o in ours], False)
    for what, a, b, c, d in matcher.get_opcodes():
        same += b - a if what == "equal" else 0
        if what != "equal":
            print("#", what, theirs[a:b], ours[c:d])
print("%d of %d sleeps seen, %d the same, %d to the entry" % (seen, total, same, entry))
sys.exit(seen < 200 or same < 0.99 * seen or entry < 0.95 * seen)
