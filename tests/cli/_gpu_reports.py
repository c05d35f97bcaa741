#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_gpu_reports.py GRTRACE kineto|nsys|rocprof|exports SEED...: what reports and exports say of GPU work in files of other
tools, each number compared with one computed from the numbers of which the file was made, see _gpu_work.py."""

import collections
import csv
import gzip
import io
import json
import os
import sqlite3
import sys

from _gpu_work import (Truth, as_rocprof, finish, kineto, mean, nsys, percent, rank, read, rocprof_csv, rocprof_json, same,
                       table, total, union)


class Reports:
    """Of one file; @sized: the sizes of copies are known; @placed: and their kinds of memory."""

    def __init__(self, grtrace, name, truth, base=0, sized=True, placed=True):
        self.grtrace, self.name, self.truth, self.sized, self.placed = grtrace, name, truth, sized, placed
        self.base = base or truth.span()[0] == 0
        self.first, self.last = truth.span()
        self.calls = truth.call_of()

    def busy(self, works):
        return union([(w.start, w.end) for w in works], self.first, self.last)

    def groups(self, by, rows, works, key, rows_key):
        """The columns that all these tables have."""
        sums = collections.defaultdict(list)
        for w in works:
            sums[key(w)].append(w)
        same(f"{self.name}: {by}s", sorted(rows_key(r) for r in rows), sorted(sums))
        same(f"{self.name}: {by}s in order", [r["total"] for r in rows], sorted((r["total"] for r in rows), reverse=True))
        for r in rows:
            mine, what = sums[rows_key(r)], f"{self.name}: {by} {rows_key(r)}"
            times = [w.end - w.start for w in mine]
            since = [w.start - self.calls[w.pid, w.corr].begin for w in mine if (w.pid, w.corr) in self.calls]
            late = [ns for ns in since if ns >= 0]
            for column, want, part in (
                    ("calls", len(mine), 0), ("untimed", 0, 0), ("total", sum(times), 0), ("min", min(times), 0), ("max", max(times), 0),
                    ("avg", mean(times), 0), ("p50", rank(times, 500), .001), ("p99", rank(times, 990), .001),
                    ("share", percent(sum(times), total(works)), 0), ("before_call", len(since) - len(late), 0),
                    ("latency_avg", mean(late), 0), ("latency_p50", rank(late, 500), .001), ("latency_p99", rank(late, 990), .001),
                    ("latency_max", max(late, default=None), 0)):
                same(f"{what}: {column}", r[column], want, part)
            yield what, r, mine

    def compare(self):
        works, copies = self.truth.works, [w for w in self.truth.works if w.kind != "K"]
        kernels = table(self.grtrace, "kernel", self.name)
        same(f"{self.name}: time", (kernels["recording"]["from"], kernels["recording"]["to"]),
             (self.first + self.base, self.last + self.base))
        list(self.groups("kernel", kernels["kernels"], [w for w in works if w.kind == "K"], lambda w: (w.pid, w.name),
                         lambda r: (r["pid"], r["kernel"])))
        for by, key, rows_key in (
                ("stream", lambda w: (w.pid, w.gpu, w.context, w.stream), lambda r: (r["pid"], r["gpu"], r["context"], r["stream"])),
                ("device", lambda w: (w.pid, w.gpu), lambda r: (r["pid"], r["gpu"]))):
            for what, r, mine in self.groups(by, table(self.grtrace, by, self.name)[by + "s"], works, key, rows_key):
                same(f"{what}: busy", r["busy"], percent(self.busy(mine), self.last - self.first))
                same(f"{what}: kernels", r["kernels"], sum(w.kind == "K" for w in mine))
                same(f"{what}: bytes", r["bytes"], sum(w.bytes for w in mine) if self.sized or r["kernels"] == r["calls"] else None)
        for what, r, mine in self.groups("copy", table(self.grtrace, "copy", self.name)["copies"], copies,
                                         lambda w: (w.pid, w.gpu, w.way or "set"), lambda r: (r["pid"], r["gpu"], r["copy"])):
            size = sum(w.bytes for w in mine)
            same(f"{what}: bytes", r["bytes"], size if self.sized else None)
            same(f"{what}: bandwidth", r["bandwidth"], size * 1e9 / total(mine) if self.sized and total(mine) else None, 1e-5)
            if self.placed and r["copy"] != "set":
                same(f"{what}: pageable", (r["pageable"], r["pageable_bytes"]),
                     (sum(w.pageable for w in mine), sum(w.bytes for w in mine if w.pageable)))
        self.stacks()
        self.idle()
        self.ranges()

    def stacks(self):
        want, got = collections.Counter(), collections.Counter()
        for w in self.truth.works:
            call = self.calls.get((w.pid, w.corr))
            want[w.pid, call.name if call else "[unmatched]"] += w.end - w.start
        rows = table(self.grtrace, "stack", self.name)["stacks"]
        for r in rows:
            got[r["pid"], (r["frames"] or r["stack"]).split(";")[-1]] += r["total"]
        same(f"{self.name}: time by call", got, want)
        same(f"{self.name}: work by stack", sum(r["calls"] for r in rows), len(self.truth.works))

    def idle(self):
        tables = table(self.grtrace, "idle", self.name)
        for r in tables["idle_devices"]:
            mine, what = [w for w in self.truth.works if (w.pid, w.gpu) == (r["pid"], r["gpu"])], f"{self.name}: {r['device']}"
            idle = self.last - self.first - self.busy(mine)
            same(f"{what}: busy, idle, work", (r["busy"], r["idle"], r["work"]), (self.busy(mine), idle, len(mine)))
            same(f"{what}: all causes", sum(ns for k, ns in r.items() if k.startswith("idle_")), idle)
            same(f"{what}: all rows", sum(x["time"] for x in tables["idle"] if x["device"] == r["device"]), idle)
        same(f"{self.name}: devices", len(tables["idle_devices"]), len({(w.pid, w.gpu) for w in self.truth.works}))

    def ranges(self):
        want, works, truth = {}, collections.defaultdict(list), self.truth
        for w in truth.works:
            works[w.pid, w.corr].append(w)
        for r in truth.ranges:
            sums = want.setdefault((r.pid, r.name), collections.Counter())
            sums.update(count=1, wall=r.end - r.begin)
            sums["max"] = max(sums["max"], r.end - r.begin)
        for c in truth.calls:
            around = self.around(c)
            mine = works[c.pid, c.corr]
            for name in {r.name for r in around}:
                want[c.pid, name].update(launches=1, gpu=total(mine), kernels=sum(w.kind == "K" for w in mine))
            if around:
                want[c.pid, around[-1].name].update(launches_self=1, gpu_self=total(mine))
        rows = table(self.grtrace, "range", self.name)["ranges"]
        same(f"{self.name}: ranges", sorted((r["pid"], r["range"]) for r in rows), sorted(want))
        for r in rows:
            for column in ("count", "wall", "max", "launches", "kernels", "gpu", "gpu_self", "launches_self"):
                same(f"{self.name}: range {r['pid']} {r['range']}: {column}", r[column], want[r["pid"], r["range"]][column])

    def around(self, call):
        """The ranges in which it was made, the innermost one at the end."""
        return sorted((r for r in self.truth.ranges if (r.pid, r.tid) == (call.pid, call.tid) and r.begin <= call.begin < r.end),
                      key=lambda r: (r.begin, -r.end))


class Exports(Reports):
    def export(self, form, *more):
        return read(self.grtrace, "export", "-f", form, *more, self.name)

    def compare(self):
        truth, base = self.truth, self.base
        timed = sorted((w.start + base, w.end + base, w.corr) for w in truth.works)
        lines = [json.loads(line) for line in self.export("jsonl").splitlines()]
        rows = list(csv.DictReader(io.StringIO(self.export("csv"))))
        for form, events in (("jsonl", lines), ("csv", rows)):
            same(f"{self.name}: {form}", sorted((int(e["start"]), int(e["end"]), int(e["correlation"]))
                                                for e in events if e["type"] in ("GPU_KERNEL", "GPU_COPY")), timed)
        self.sqlite()
        self.chrome()
        self.flames()
        self.again()

    def sqlite(self):
        want = []
        for w in self.truth.works:
            call = self.calls.get((w.pid, w.corr))
            around = self.around(call) if call else []
            want.append(({"K": "kernel", "C": "copy", "S": "set"}[w.kind], w.name or w.way, w.pid, w.gpu, w.context, w.stream, w.corr,
                         call and call.name, call and call.tid, call and call.begin + self.base, w.start + self.base,
                         w.end + self.base, w.end - w.start, None if w.kind == "K" else w.bytes, around[-1].name if around else None,
                         w.start - call.begin if call and w.start >= call.begin else None))
        if os.path.exists("out.sqlite"):
            os.remove("out.sqlite")
        self.export("sqlite", "-o", "out.sqlite")
        rows = sqlite3.connect("out.sqlite").execute(
            "SELECT kind, name, pid, gpu, context, stream, correlation, call, tid, submit_ns, start_ns, end_ns, duration_ns, bytes, "
            "range, queued_ns FROM work")
        for says, wanted in zip(sorted(rows, key=str), sorted(want, key=str)):
            same(f"{self.name}: row of work", says, wanted)
        same(f"{self.name}: rows of work", len(want), len(self.truth.works))

    def chrome(self):
        def ns(text):
            whole, _, rest = str(text).partition(".")
            return int(whole) * 1000 + int((rest + "000")[:3])
        trace = json.loads(self.export("chrome"), parse_float=str)
        slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        truth, base = self.truth, self.base - trace["baseTimeNanoseconds"]
        for cats, want in (
                (("kernel",), [(w.name, w.start, w.end, w.pid) for w in truth.works if w.kind == "K"]),
                (("gpu_memcpy", "gpu_memset"), [(w.bytes, w.start, w.end, w.pid) for w in truth.works if w.kind != "K"]),
                (("cuda_runtime", "cuda_driver"), [(c.name, c.begin, c.end, c.pid) for c in truth.calls]),
                (("user_annotation",), [(r.name, r.begin, r.end, r.pid) for r in truth.ranges])):
            same(f"{self.name}: chrome: {cats}",
                 sorted((e["args"]["bytes"] if "gpu_memset" in cats else e["name"], ns(e["ts"]) - base,
                         ns(e["ts"]) - base + ns(e["dur"]), e["pid"]) for e in slices if e["cat"] in cats), sorted(want))

    def flames(self):
        """By the last frame; the formats that have one number for each stack have the same sum."""
        want, got = collections.Counter(), collections.Counter()
        for w in self.truth.works:
            want[f"[GPU{w.gpu}_" + {"K": f"Kernel]{w.name}", "C": f"Memcpy {w.way}]", "S": "Memset]"}[w.kind]] += w.end - w.start
        for line in self.export("folded").splitlines():
            stack, ns = line.rsplit(" ", 1)
            got[stack.split(";")[-1]] += int(ns)
        same(f"{self.name}: folded", +got, +want)
        profiles = json.loads(self.export("speedscope"))["profiles"]
        same(f"{self.name}: speedscope", sum(sum(p["weights"]) for p in profiles), total(self.truth.works))
        self.export("pprof", "-o", "out.pprof")
        with open("out.pprof", "rb") as raw:
            samples = [sample for number, sample in fields(gzip.decompress(raw.read())) if number == 2]
        sums = [sum(column) for column in zip(*([value for number, value in fields(s) if number == 2] for s in samples))]
        same(f"{self.name}: pprof: {sums}", total(self.truth.works) in sums, True)

    def again(self):
        """Written and read again, each stream has what it had."""
        def streams(name):
            return sorted((r["pid"], r["gpu"], r["context"], r["stream"], r["calls"], r["total"], r["latency_avg"], r["bytes"])
                          for r in table(self.grtrace, "stream", name)["streams"])
        for form, name in (("chrome", "out.json"), ("perfetto", "out.pftrace")):
            self.export(form, "-o", name)
            same(f"{self.name}: {form} read again", streams(name), streams(self.name))
        # a record of CUPTI has no process, so only sums are the same where a call is not there
        self.export("cupti_text", "-o", "out.cupti")
        same(f"{self.name}: cupti_text read again", [sum(r[i] for r in streams("out.cupti")) for i in (4, 5, 7)],
             [sum(r[i] for r in streams(self.name)) for i in (4, 5, 7)])


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def fields(message):
    """Numbers and contents of a message of protobuf; those of other forms than numbers and bytes are left out."""
    at = 0

    def number():
        nonlocal at
        begin = at
        while message[at] > 127:
            at += 1
        at += 1
        return next(varints(message[begin:at]))
    while at < len(message):
        tag = number()
        if tag & 7 == 0:
            yield tag >> 3, number()
        elif tag & 7 == 2:
            size = number()
            yield tag >> 3, message[at:at + size]
            at += size
        else:
            at += 8 if tag & 7 == 1 else 4


def main():
    grtrace, kind, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        base, zero = 1700000000 * 10**9 * (seed % 2), seed % 2 == 0
        one, several = Truth(seed, [4711], zero), Truth(seed, [101, 103, 2**22 - 5], zero)
        compare = Exports if kind == "exports" else Reports
        if kind in ("kineto", "exports"):
            kineto(one, f"{seed}.json", base)
            compare(grtrace, f"{seed}.json", one, base).compare()
        if kind in ("nsys", "exports"):
            nsys(several, f"{seed}.sqlite", base)
            compare(grtrace, f"{seed}.sqlite", several, base, placed=False).compare()
        if kind == "rocprof":
            truth = as_rocprof(one)
            rocprof_json(truth, f"{seed}.json")
            Reports(grtrace, f"{seed}.json", truth, placed=False).compare()
            Reports(grtrace, rocprof_csv(truth, f"4711_{seed}"), truth, sized=False, placed=False).compare()
    finish(100)


main()
