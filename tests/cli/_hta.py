#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_hta.py PROFILE EXPORT: whether a trace in JSON of PyTorch's profiler and our export of it are the same for Holistic Trace
Analysis: rows with a duration and a category are events; those with a stream are work of a GPU, the others the program's;
work is joined to the call with its correlation; the name of an annotation has the number of the step; the file's rank is
the first number behind "rank": and a blank in a line. The reader of HTA is not needed for it."""

import collections
import json
import re
import sys
from decimal import Decimal

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")


def rows(path):
    with open(path) as file:
        return [e for e in json.load(file, parse_float=Decimal)["traceEvents"] if "dur" in e and "cat" in e]


def ns(us):
    return round(us * 1000)


def work(events):
    """Each kernel and copy by its place, and how long after the call it began."""
    calls = {e["args"]["correlation"]: e for e in events if e["cat"] in CALLS}
    found = collections.Counter()
    for e in events:
        if e["cat"] in WORK:
            args, call = e["args"], calls[e["args"]["correlation"]]
            found[e["cat"], e["name"], args["device"], args["stream"], args["correlation"], ns(e["dur"]),
                  call["cat"], call["name"], ns(call["dur"]), ns(e["ts"] - call["ts"])] += 1
    return found


def steps(events):
    return sorted((int(re.match(r"ProfilerStep\s*#\s*(\d+)", e["name"]).group(1)), ns(e["dur"])) for e in events
                  if e["cat"] == "user_annotation" and e["name"].startswith("ProfilerStep"))


def rank(path):
    with open(path) as file:
        for line in file:
            match = re.search(r'"rank":\s+(\d+)', line)
            if match:
                return int(match.group(1))
    return None


def arrows(path):
    with open(path) as file:
        ends = [(e["ph"], e["id"]) for e in json.load(file)["traceEvents"] if e.get("cat") == "ac2g"]
    return {i for ph, i in ends if ph == "s"}, {i for ph, i in ends if ph == "f"}


def main():
    want, got = rows(sys.argv[1]), rows(sys.argv[2])
    assert work(want) == work(got), ((work(want) - work(got)).most_common(2), (work(got) - work(want)).most_common(2))
    assert steps(want) == steps(got), (steps(want)[:3], steps(got)[:3])
    assert rank(sys.argv[1]) == rank(sys.argv[2]), (rank(sys.argv[1]), rank(sys.argv[2]))
    strays = [e for e in got if e["cat"] not in WORK and "stream" in e.get("args", {})]
    assert not strays, strays[:2]
    begin, end = arrows(sys.argv[2])
    assert end and end <= begin, (len(begin), len(end))
    with open(sys.argv[1]) as one, open(sys.argv[2]) as other:
        want, got = json.load(one).get("distributedInfo"), json.load(other).get("distributedInfo")
    assert want["world_size"] == got["world_size"], (want, got)


if __name__ == "__main__":
    main()
