#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_idle.py GRTRACE TRACE..., or _idle.py --files DUMP REPORT: busy time, idle time and its causes, computed from `dump --json` without any of the
library's joins, compared with `report --by idle --json`. Every gap is cut at all moments at which anything is known
to change, and each piece gets its cause by looking through all records."""

import collections
import json
import subprocess
import sys

WAITS = ("Synchronize",)


def read(grtrace, *args):
    return subprocess.run([grtrace, *args], stdout=subprocess.PIPE, text=True, check=False).stdout


class Work:
    def __init__(self, **kw):
        self.asked = self.handed = self.began = 0
        self.tid = self.pid = None
        self.call_end = 0
        self.fresh = self.unsure = False
        self.__dict__.update(kw)


def drm_work(events, began):
    """By ring: jobs of (ctx, seqno); a START that is missing is the later of COMMIT and the END before it."""
    jobs, rings = {}, collections.defaultdict(list)
    for e in events:
        if e["type"] in ("SUBMIT", "COMMIT", "START", "END", "COMPLETE") and e.get("ctx"):
            job = jobs.setdefault((e["ctx"], e["seqno"]), {"ring": e.get("ring", 0)})
            if e["type"] not in job:
                job[e["type"]] = e["time"]
                if e["type"] == "SUBMIT":
                    job["pid"], job["tid"] = e.get("pid"), e.get("tid")
    for job in jobs.values():
        rings[job["ring"]].append(job)
    result = {}
    for ring, members in rings.items():
        reached, work = 0, []
        # a job whose order in the ring nobody tells has no START; so has the one behind it
        members.sort(key=lambda j: j.get("COMMIT", j.get("SUBMIT", 0)))
        for j in members:
            commit, end = j.get("COMMIT"), j.get("END")
            start = j.get("START", max(commit, reached) if commit else None)
            w = Work(asked=j.get("SUBMIT", commit), pid=j.get("pid"), tid=j.get("tid"),
                     handed=commit or j.get("SUBMIT"), began=began.get(j.get("pid"), 0))
            if start is None or end is None or end < start:
                return None
            w.start, w.end = start, end
            reached = max(reached, end)
            work.append(w)
        result[("drm", ring, None)] = work
    return result


def cuda_work(events):
    launches, began, result, seen = {}, {}, collections.defaultdict(list), set()
    for e in events:
        if e["type"] == "LAUNCH":
            launches[e["pid"], e["correlation"]] = e
        if e["type"] == "PROCESS" and e["what"] == "began":
            began[e["pid"]] = e["time"] - e["age"] * 10**9
    for e in events:
        if e["type"] in ("GPU_KERNEL", "GPU_COPY") and e["start"] and e["end"]:
            launch = launches.get((e["pid"], e["correlation"]))
            w = Work(start=e["start"], end=e["end"], pid=e["pid"], began=began.get(e["pid"], 0))
            if launch:
                w.asked, w.tid, w.call_end = launch["begin"], launch["tid"], launch["time"]
            key = ("cuda", e["gpu"], e["pid"])
            name = (key, e["name"]) if e["type"] == "GPU_KERNEL" else None
            w.fresh = name is not None and name not in seen
            seen.add(name)
            result[key].append(w)
    return result


class Thread:
    """What is known of a thread: sleeps, calls, and from when on."""

    def __init__(self):
        self.known = None
        self.off = []
        self.calls = []

    def states(self, at):
        if self.known is None:
            return "not followed"
        if at < self.known:
            return "unknown"
        for start, woken, end, reason in self.off:
            if start <= at < (woken if start < woken < end else end):
                return reason
            if start < woken <= at < end:
                return "runnable"
        return "running"

    def call(self, at):
        for begin, end, name in self.calls:
            if begin <= at < end:
                return begin, name
        return None, None

    def cause(self, at):
        state, (begin, call) = self.states(at), self.call(at)
        waits = call is not None and any(w in call for w in WAITS)
        if state == "not followed" or (state == "unknown" and call):
            return "gpu" if waits else "call" if call else "code"
        if state == "running" and call:
            return "polling" if waits else "call"
        if waits and state not in ("runnable", "unknown"):
            # of two clocks: what seems to have begun before the call did not
            return "gpu"
        return state

    def edges(self):
        out = {self.known} if self.known is not None else set()
        for s, w, e, _ in self.off:
            out |= {s, w, e}
        for b, e, _ in self.calls:
            out |= {b, e}
        return out


def began_of(events):
    return {e["pid"]: e["time"] for e in events
            if e["type"] == "THREAD" and e["what"] == "made" and e["pid"] == e["tid"]}


def threads_of(events):
    threads, inside = collections.defaultdict(Thread), {}
    for e in events:
        key = e.get("pid"), e.get("tid")
        t = threads[key]
        if e["type"] in ("OFF_CPU", "ASLEEP"):
            woken, end = e.get("woken") or 0, e["time"]
            # its return was not seen: it ran from then on, or up to then it was ready to, by the next record
            if not e["over"] and "inferred" in e.get("flags", ()):
                end = woken
            t.off.append((e["start"], woken, end, e["reason"]))
            t.known = e["start"] if t.known is None else min(t.known, e["start"])
        elif e["type"] == "THREAD" and e["what"] in ("made", "seen_on", "seen_off"):
            t.known = e["time"] if t.known is None else min(t.known, e["time"])
        elif e["type"] == "LAUNCH":
            t.calls.append((e["begin"], e["time"], e["call"]))
        elif e["type"] == "IOCTL_ENTER":
            inside[key] = e["time"]
        elif e["type"] == "IOCTL_EXIT" and key in inside:
            t.calls.append((inside.pop(key), e["time"], "ioctl"))
    return threads


def gap_causes(kind, threads, work, first, low, high, add):
    """Of the gap before @work, from @low to @high; @first: it is the first of its device."""
    t = threads[work.pid, work.tid] if work.tid else Thread()
    asked = min(max(work.asked, low), high) if work.tid else high
    edges = {low, high, asked, work.handed, work.began, work.call_end} | t.edges()
    cuts = sorted(c for c in edges if c and low <= c <= high)
    for a, b in zip(cuts, cuts[1:]):
        if first and a < asked:
            add("start" if work.began and work.began >= first_of_trace[0] and a >= work.began else "first", b - a)
        elif not work.tid:
            add("unknown", b - a)
        elif a < asked:
            add(t.cause(a), b - a)
        elif kind == "drm":
            add("scheduler" if a < work.handed else "queued", b - a)
        elif a < work.call_end:
            add("set_up" if work.fresh else t.cause(a), b - a)
        else:
            add("queued", b - a)


first_of_trace = [0]


def causes(kind, threads, works, first, last):
    works = sorted(works, key=lambda w: w.start)
    reached, busy, sums, begun = first, 0, collections.Counter(), False
    for w in works:
        start, end = min(max(w.start, first), last), min(w.end, last)
        if start > reached:
            gap_causes(kind, threads, w, not begun, reached, start, lambda c, ns: sums.update({c: ns}))
        busy += max(0, end - max(start, reached))
        reached = max(reached, start, end)
        begun = True
    if last > reached:
        sums["end"] += last - reached
    return busy, {c: ns for c, ns in sums.items() if ns}


def compare(trace, dump, report):
    report = json.loads(report)
    events = [json.loads(line) for line in dump.splitlines()]
    first, last = report["recording"]["from"], report["recording"]["to"]
    first_of_trace[0] = first
    works = drm_work(events, began_of(events))
    assert works is not None, "jobs of this trace have no known times"
    works.update(cuda_work(events))
    threads, bad = threads_of(events), 0
    for d in report["idle_devices"]:
        key = (d["kind"], d["gpu"] if d["kind"] == "cuda" else d["ring"], d["pid"])
        busy, sums = causes(d["kind"], threads, works.pop(key), first, last)
        rows = collections.Counter()
        for r in report["idle"]:
            if r["device"] == d["device"]:
                rows[r["cause"]] += r["time"]
        told = {c[5:]: ns for c, ns in d.items() if c.startswith("idle_") and ns}
        for what, ours, theirs in (("busy", busy, d["busy"]), ("window", last - first, d["busy"] + d["idle"]),
                                   ("idle", d["idle"], sum(rows.values())), ("causes", sums, told),
                                   ("rows", sums, dict(rows))):
            if ours != theirs:
                print(f"{trace}: {d['device']}: {what}: computed {ours}, reported {theirs}")
                bad = 1
        print(f"{trace}: {d['device']}: busy {busy}, {sums}")
    if works or not report["idle_devices"]:
        print(f"{trace}: devices that are not reported: {list(works)}")
        bad = 1
    return bad


def main(program, *traces):
    if program == "--files":
        return compare(traces[1], *(open(name, encoding="utf-8").read() for name in traces))
    return max(compare(t, read(program, "dump", "--json", t), read(program, "report", "--by", "idle", "--json", t))
               for t in traces)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
