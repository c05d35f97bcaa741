# SPDX-License-Identifier: GPL-2.0
"""places.py PROGRAM OURS THEIRS: reads `grtrace dump` of a program that is not position independent. OURS gets a line
for each address of it behind a call: its functions, those inlined there first, with their lines. THEIRS gets what
addr2line has for the same addresses."""
import collections
import os
import re
import subprocess
import sys

program = os.path.realpath(sys.argv[1])
text, frames, places, seen = collections.defaultdict(str), {}, {}, {}
for line in sys.stdin:
    if m := re.search(r' FRAME_TEXT +number=(\d+) .*text="(.*?)"', line):
        text[m[1]] += m[2]
    elif m := re.search(r' FRAME +stack=(\d+) index=(\d+) .*ip=0x([0-9a-f]+) symbol="(.*?)"', line):
        frames[int(m[1]), int(m[2])] = int(m[3], 16), re.sub(r"\(.*", "", m[4])
    elif m := re.search(r" FRAME_PLACE +stack=(\d+) index=(\d+) module=(\S+) file=(\S+) line=(\S+) inlined=(\d)", line):
        places[int(m[1]), int(m[2])] = m[3], m[4], m[5], m[6]
functions = []
for (stack, index), (ip, name) in sorted(frames.items()):
    module, file, line, inlined = places.get((stack, index), ("-", "-", "-", "0"))
    functions.append("%s %s:%s" % (name, os.path.basename(text[file]) or "??", line.replace("-", "?")))
    if inlined == "0":
        if text[module] == program and index >= len(functions):
            seen[ip] = functions
        functions = []
with open(sys.argv[2], "w") as ours, open(sys.argv[3], "w") as theirs:
    for ip in sorted(seen):
        print("%x %s" % (ip, " < ".join(seen[ip])), file=ours)
        out = subprocess.run(["addr2line", "-Cfsie", program, hex(ip - 1)], capture_output=True, text=True).stdout.split("\n")
        both = [re.sub(r"\(.*", "", out[i]) + " " + re.sub(r" \(.*", "", out[i + 1]) for i in range(0, len(out) - 1, 2)]
        print("%x %s" % (ip, " < ".join(both)), file=theirs)
