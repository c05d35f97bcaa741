# SPDX-License-Identifier: GPL-2.0
"""_perfetto.py FILE: what a trace for Perfetto has, counted by its own rules: a line per kind.

protoc takes the file apart by _perfetto.proto, and this reads its text. What is not defined on its sequence
before it is used, what has a number twice, and fields that the .proto does not have are errors.
"""
import collections
import os
import re
import subprocess
import sys


def messages(lines):
    """The packets of protoc's text, each a dict: name -> list of texts or dicts."""
    stack = [collections.defaultdict(list)]
    for line in lines:
        line = line.strip()
        if re.match(r"\d", line):
            sys.exit(f"a field that nobody knows: {line}")
        if line.endswith(" {"):
            stack.append(collections.defaultdict(list))
        elif line == "}":
            inner = stack.pop()
            name = opened.pop()
            if name == "packet":
                yield inner
            else:
                stack[-1][name].append(inner)
            continue
        else:
            name, value = line.split(": ", 1)
            stack[-1][name].append(value.strip('"'))
            continue
        opened.append(line[:-2])


opened = []


def main():
    proto = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_perfetto.proto")
    with open(sys.argv[1], "rb") as f:
        text = subprocess.run(["protoc", "--proto_path", os.path.dirname(proto), "--decode=Trace", proto],
                              stdin=f, capture_output=True, text=True, check=True).stdout
    names = collections.defaultdict(dict)
    work, samples, gpus = [], [], []
    submitted, waited, numbers = [], [], set()
    for p in messages(text.splitlines()):
        known = names[p["sequence"][0]]
        if p["flags"] == ["1"]:
            known.clear()
        for interned in p["interned"]:
            for table, entries in interned.items():
                for entry in entries:
                    key = table, entry["iid"][0]
                    if key in known:
                        sys.exit(f"{key} is defined twice")
                    known[key] = entry
        for e in p["event"]:
            for c in e["correlation"]:
                submitted += c["submitted"]
                waited += c["waited"]
        for w in p["work"]:
            if w["number"][0] in numbers:
                sys.exit(f"work {w['number'][0]} is there twice")
            numbers.add(w["number"][0])
            stage, queue = known["specifications", w["stage"][0]], known["specifications", w["queue"][0]]
            pid = known["contexts", w["context"][0]]["pid"][0] if w["context"] else "-"
            args = [known["args", a["name_iid"][0]]["text"][0] for launch in w["launch"] for a in launch["args"]]
            kernel = [known["kernels", k] for k in w["kernel"]]
            work.append((stage["text"][0], int(w["duration"][0]), queue["text"][0], pid, args, kernel, w))
        for s in p["sample"]:
            frames = known["stacks", s["stack"][0]]["frames"]
            frames = [known["functions", known["frames", f]["function"][0]]["text"][0] for f in frames]
            samples.append((";".join(frames), int(s["weight"][0])))
        for info in p["gpu_info"]:
            gpus += info["gpus"]

    stages = collections.Counter(w[0] for w in work)
    for stage, n in sorted(stages.items()):
        print(f"work {stage} n={n} ns={sum(w[1] for w in work if w[0] == stage)}")
    print(f"flows {sum(n in numbers for n in submitted)} of {len(submitted)}")
    waits = waited + [n for w in work for n in w[6]["waits"]]
    print(f"waits {sum(n in numbers for n in waits)} of {len(waits)}")
    print(f"samples n={len(samples)} ns={sum(s[1] for s in samples)}")
    print("queues", ", ".join(sorted({f"{w[2]} of pid {w[3]}" for w in work})))
    for n, gpu in enumerate(gpus):
        print(f"gpu {n}", " ".join(f"{key}={value[0]}" for key, value in sorted(gpu.items()) if key != "extra"))
    for w in work:
        for k in w[5]:
            extents = [",".join(e[axis][0] for axis in "xyz" if e[axis])
                       for what in ("grid", "block") for launch in w[6]["launch"] for e in launch[what]]
            print("kernel", k["linked"][0], k["name"][0], " ".join(k["arch"] + extents), " ".join(w[4]))
    sums = collections.Counter()
    for stack, ns in samples:
        sums[stack] += ns
    for stack, ns in sorted(sums.items()):
        print(f"stack {stack} {ns}")


main()
