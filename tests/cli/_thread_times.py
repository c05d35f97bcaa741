#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_thread_times.py GRTRACE SEED...: threads that run, are preempted and sleep for known times, as a raw recording: what
the report, the graph and the bars say of their states is compared with sums."""

import collections
import json
import random
import sys

import _raw
from _gpu_work import finish, read, same, table

REASONS = {"gpu": 4, "display": 9, "io": 5, "lock": 6, "sleep": 7, "child": 10, "other": 8}
STATES = ("running", "polling", "runnable", *REASONS, "unknown")
COMMS = ("app", "a b", 'q"x', "semi;colon", "back\\slash", "<b>", "ü€", "0", "-x", "kworker/0:1")
MADE, SEEN_ON, SEEN_OFF, ENDED, LEFT_ON = 1, 3, 4, 5, 6

Part = collections.namedtuple("Part", "state begin end")


class Thread:
    def __init__(self, choice, chance, pid, tid, comm):
        self.pid, self.tid, self.comm, self.parts, self.events, self.number = pid, tid, comm, [], [], 0
        self.choice, self.chance, self.losses = choice, chance, 0

    def put(self, time, title, **values):
        self.events.append(_raw.event(time, title, pid=self.pid, tid=self.tid, **values))

    def live(self, begin, end):
        """To its own end, or to that of the recording."""
        choice, now = self.choice, begin
        how = choice((MADE, SEEN_ON, SEEN_OFF))
        self.put(now, "THREAD", what=how, number=0)
        # of a thread that was seen asleep, the interval began before: its start is the time when it was seen
        if how == SEEN_OFF:
            now = self.off(now, end)
        while now is not None and now < end:
            ran = choice((1, 2, 1000, 12345, 999999))
            if now + ran >= end:
                break
            self.parts.append(Part("running", now, now + ran))
            if self.chance() < .02:
                self.put(now + ran, "THREAD", what=ENDED, number=self.number)
                return
            now = self.off(now + ran, end)
        if now is not None and now < end:
            self.parts.append(Part("running", now, end))
            self.put(end, "THREAD", what=LEFT_ON, number=self.number)

    def off(self, start, end):
        """Return: when it is back on the CPU, None: the recording ended before."""
        choice = self.choice
        self.number += 1
        slept = choice((None, 1, 5000, 777777))
        queued = choice((0, 1, 3000, 54321))
        reason = choice(sorted(REASONS))
        woken = start + (slept or 0)
        back = woken + queued
        over = back < end
        back = min(back, end)
        if slept is None:
            self.parts.append(Part("runnable", start, back))
            self.put(back, "OFF_CPU", start=start, number=self.number, state=0, reason=3, over=over, call=-1, fd=0xffffffff)
        else:
            woke = woken <= end
            self.parts.append(Part(reason, start, min(woken, end)))
            if woke:
                self.parts.append(Part("runnable", woken, back))
            self.put(back, "ASLEEP", start=start, woken=woken if woke else 0, number=self.number, state=1, reason=REASONS[reason],
                     over=over, call=-1, fd=0xffffffff, by=3 if woke else 0)
        return back if over else None


class Recording:
    def __init__(self, seed, name):
        self.random, self.name, self.threads = random.Random(seed), name, []
        first = 10**9 * self.random.randrange(1, 5000)
        self.end = first + 10**6 * self.random.choice((1, 10, 40))
        for n in range(self.random.choice((1, 3, 8))):
            pid = 100 + n // 3 * 10
            thread = Thread(self.random.choice, self.random.random, pid, pid + n % 3, self.random.choice(COMMS))
            thread.live(first + self.random.randrange(10**6) * (n > 0), self.end)
            self.threads.append(thread)
        streams = [[] for _ in range(4)]
        for thread in self.threads:
            for e in thread.events:
                self.random.choice(streams).append(e)
        _raw.write(name, [s for s in streams if s], lambda time: [_raw.name(time, 1, t.tid, t.comm, t.comm) for t in self.threads])

    def sums(self, thread, first, last):
        want = collections.Counter({s: 0 for s in STATES})
        for p in thread.parts:
            want[p.state] += max(0, min(p.end, last) - max(p.begin, first))
        return want


def compare(grtrace, r, span):
    """@span: --from and --to; a thread's time ends with its last record up to --to"""
    first, last = span
    options = [word for name, time in zip(("--from", "--to"), span) if time is not None for word in (name, f"{time}ns")]
    what = " ".join([r.name, *options])
    wants = {}
    for t in r.threads:
        records = [time for time, _ in t.events if last is None or time <= last]
        if records:
            wants[t.pid, t.tid] = t, r.sums(t, first or 0, max(records))
    if not any(sum(want.values()) for _, want in wants.values()):
        return
    rows = {(t["pid"], t["tid"]): t for t in json.loads(read(grtrace, "report", "--json", "--by", "thread", "--top", "0", *options, r.name))["threads"]}
    folded = collections.Counter()
    for line in read(grtrace, "flame", "--weight", "wall", *options, r.name).splitlines():
        stack, weight = line.rsplit(" ", 1)
        frames = stack.split(";")
        folded[frames[1].rsplit("(", 1)[1][:-1], frames[-1]] += int(weight)
    for key, (t, want) in wants.items():
        if not sum(want.values()):
            continue
        row = rows.get(key)
        same(f"{what}: {key} has a row", row is not None, True)
        if not row:
            continue
        same(f"{what}: {key}: name", row["thread"], t.comm)
        same(f"{what}: {key}: life", row["life"], sum(want.values()))
        for state in STATES:
            same(f"{what}: {key}: {state}", row[state], want[state])
            same(f"{what}: {key}: {state} in the graph", folded[str(t.tid), f"[{state}]"], want[state])
    # one that began after its last record has no time
    same(f"{what}: rows", sorted(k for k, row in rows.items() if row["life"]), sorted(k for k, (_, want) in wants.items() if sum(want.values())))


def compare_waits(grtrace, r):
    """All waits are for interrupts, so that nothing is behind them but their own reason."""
    want = collections.defaultdict(list)
    for t in r.threads:
        for p in t.parts:
            if p.state in REASONS:
                want[t.tid, p.state].append(p.end - p.begin)
    says = collections.defaultdict(lambda: [0, 0, 0, 0])
    for row in table(grtrace, "wait", r.name)["waits"]:
        had = says[row["tid"], row["state"]]
        had[:] = had[0] + row["waits"], had[1] + row["time"], max(had[2], row["max"]), had[3] + row["behind_" + row["state"]]
    same(f"{r.name}: waits", dict(says), {k: [len(v), sum(v), max(v), sum(v)] for k, v in want.items()})


def compare_columns(grtrace, r):
    """Of a timeline: each column has the time of each state between its edges."""
    says = json.loads(read(grtrace, "timeline", "--json", "--width", "60", r.name))
    first, span, columns = (says["recording"][k] for k in ("from", "span", "columns"))
    edges = [first + span * i // columns for i in range(columns + 1)]
    rows = {(row["tid"], row["state"]): row for row in says["thread_states"]}
    wants = {}
    for t in r.threads:
        for state in STATES:
            parts = [p for p in t.parts if p.state == state and p.end > p.begin]
            if parts:
                wants[t.tid, state] = [sum(max(0, min(p.end, to) - max(p.begin, begin)) for p in parts) for begin, to in zip(edges, edges[1:])]
    same(f"{r.name}: rows of the timeline", sorted(rows), sorted(wants))
    for key in set(rows) & set(wants):
        same(f"{r.name}: columns of {key}", rows[key]["columns"], wants[key])
        same(f"{r.name}: busy of {key}", rows[key]["busy"], sum(wants[key]))


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        r = Recording(seed, f"{seed}.raw")
        times = sorted(time for t in r.threads for time, _ in t.events)
        compare(grtrace, r, (None, None))
        compare_waits(grtrace, r)
        compare_columns(grtrace, r)
        for _ in range(3):
            first, last = sorted(r.random.choice(times) + r.random.choice((-1, 0, 1, 500)) for _ in range(2))
            if first < last:
                compare(grtrace, r, (first, last))
    finish(20)


if __name__ == "__main__":
    main()
