#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# duty.sh BUILD [COVER]: what `record -e cuda --duty` costs a program of the mock CUDA, whose CUPTI costs nothing by itself:
# the median of its launches, nearly all of which are between windows, asleep, where CUPTI goes after each window, where it
# stays, and in a complete recording; the peer is the same program without the library. Then how long calls of the program
# take at the windows' beginnings and ends beyond the 2 ms that the mock's cuptiFinalize() waits. With COVER, that many runs of
# known work: how often its true shares and totals are in the intervals of 95 %. ROUNDS (3), SECONDS_EACH (6).

set -eu
build=$(realpath -- "${1:?usage: bench/duty.sh BUILD [COVER]}")
work=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
cd "$work"
ROUNDS=${ROUNDS:-3} SECONDS_EACH=${SECONDS_EACH:-6} exec python3 - "$build" "${2:-0}" <<'END_OF_PYTHON'
import concurrent.futures
import json
import os
import re
import statistics
import subprocess
import sys

build, runs = sys.argv[1], int(sys.argv[2])
app, grtrace = build + "/tests/inject/mock/app", build + "/grtrace"
ms = str(int(float(os.environ["SECONDS_EACH"]) * 1000))
FINALIZE_NS = 2000000


def run(command, **env):
    return subprocess.run(command, env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=True).stdout


def record(*options):
    return [grtrace, "record", "-e", "cuda", "-o", "r.grt", *options, app, "durations", ms]


def windows():
    """The begin and end of each window of the recording."""
    out = []
    for line in run([grtrace, "dump", "--json", "-t", "capture", "r.grt"]).splitlines():
        if line.startswith("{"):
            e = json.loads(line)
            if e.get("end") and e.get("begin"):
                out.append((e["begin"], e["end"]))
    return out


def stops(text, edges):
    """The longest call that was running within 20 ms before or 50 ms after each edge, and within as long at moments beside."""
    calls = [(int(b), int(b) + int(ns)) for b, ns in re.findall(r"^long (\d+) (\d+)$", text, re.M)]

    def longest(at):
        return max([e - b for b, e in calls if e > at - 20000000 and b < at + 50000000], default=0)

    beside = [at + d for at in edges for d in (-300000000, 400000000)]
    return [longest(at) for at in edges], [longest(at) for at in beside if all(abs(at - e) > 200000000 for e in edges)]


ways = {"without the library": None, "asleep": None, "1 %, windows of 50 ms: CUPTI goes": "1%,50ms",
        "5 %, windows of 20 ms: CUPTI stays": "5%,20ms", "a complete recording": ""}
median = {way: [] for way in ways}
begin, end, beside = {}, {}, {}
for _ in range(int(os.environ["ROUNDS"])):
    for way, duty in ways.items():
        library = {"CUDA_INJECTION64_PATH": build + "/libgrtrace-cuda.so"} if way == "asleep" else {}
        text = run([app, "durations", ms], **library) if duty is None else run(record(*(["--duty", duty] if duty else [])))
        median[way].append(int(re.search(r"median (\d+)", text)[1]))
        assert " faults 0 " in text, text
        if duty:
            there = windows()
            for edges, to in ((0, begin), (1, end)):
                at, others = stops(text, [w[edges] for w in there])
                to.setdefault(way, []).extend(at)
                beside.setdefault(way, []).extend(others)
print(f"{'':38} {'ns a launch':>12} {'ratio':>6}")
base = min(median["without the library"])
for way, values in median.items():
    print(f"{way:38} {min(values):12} {min(values) / base:6.3f}")
print(f"\n{'longest call, us: median (at most)':38} {'begin':>16} {'end':>16} {'beside':>16}")
for way in begin:
    cells = [f"{statistics.median(v[way]) / 1000:.0f} ({max(v[way]) / 1000:.0f})" if v[way] else "-" for v in (begin, end, beside)]
    print(f"{way:38} {cells[0]:>16} {cells[1]:>16} {cells[2]:>16}   {len(begin[way])} windows")


def covered(n):
    """Of one run: how many of its true totals and shares lie in their interval, and of how many."""
    name = f"c{n}.grt"
    text = run([grtrace, "record", "-e", "cuda", "--duty", "20%,20ms", "-o", name, app, "shares", str(2000 + n % 7 * 100)])
    truth = {w[1]: int(w[3]) for w in map(str.split, text.splitlines()) if w and w[0] == "truth"}
    out = subprocess.run([grtrace, "report", "--by", "kernel", "--json", name], stdout=subprocess.PIPE, check=True).stdout
    good = [0, 0, 0]
    for r in json.loads(out)["kernels"]:
        true = truth[r["kernel"]]
        share = true / sum(truth.values()) * 100
        if r["estimated_from"] is not None:
            good[0] += r["estimated_from"] <= true <= r["estimated_to"]
            good[1] += r["share_from"] <= share <= r["share_to"]
            good[2] += 1
    subprocess.run(["rm", "-rf", name])
    return good


if runs:
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        sums = [sum(v) for v in zip(*pool.map(covered, range(runs)))]
    print(f"\n{runs} runs: {sums[0]} of {sums[2]} true totals ({sums[0] / sums[2] * 100:.1f} %) and {sums[1]} true shares "
          f"({sums[1] / sums[2] * 100:.1f} %) are in their intervals of 95 %")
END_OF_PYTHON
