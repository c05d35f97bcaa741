#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_display_frames.py GRTRACE SEED...: clients that each flip pages on a display of their own, with jobs, threads that sleep
and vertical blanks at which they are shown, as a raw recording: the frames and their sums are compared with a model. Some
events of flips are lost: these are no frames, and when the next one began is unknown."""

import collections
import json
import random
import statistics
import sys

import _raw
from _gpu_work import finish, rank, read, same

FLIP, FLAGS = 0xc01864b0, 0x80000001
SUBMIT_IS_COMMIT, NO_RING = 2, 0xffffffff
REASONS = {"lock": 6, "io": 5, "sleep": 7, "display": 9}
CAUSES = {"running": "CPU-bound", "runnable": "no CPU", "gpu": "GPU-bound", "display": "display", "lock": "waited: lock",
          "io": "waited: io", "sleep": "waited: sleep"}
PARTS = ("running", "runnable", "gpu", "io", "lock", "sleep", "child", "other", "compositor", "display", "unknown")
MS = 10**6

Frame = collections.namedtuple("Frame", "number begin shown vseq flip job ready")


class Client:
    def __init__(self, rng, pid, crtc, first, frames):
        self.rng, self.pid, self.tid, self.crtc = rng, pid, pid + 1, crtc
        self.period, self.ctx, self.loses = rng.choice((4, 16, 20)) * MS, 1000 * pid, rng.choice((0, 0, .1))
        self.origin, self.events, self.frames, self.states, self.number = first, [], [], [], 0
        self.put(first, "THREAD", what=3)
        now, before, vseq, self.gap = first + 1000, None, 0, False
        for n in range(1, frames + 1):
            now, before, vseq = self.frame(n, now, before, vseq)
        self.put(now, "THREAD", what=6, number=self.number)
        self.states.append(("running", now, now))

    def put(self, time, title, **values):
        self.events.append(_raw.event(time, title, pid=self.pid, tid=self.tid, **values))

    def spend(self, now):
        """Runs, and then maybe sleeps and waits for a CPU. Return: when it goes on"""
        choice = self.rng.choice
        ran = now + choice((1000, 100000, 2 * MS, 9 * MS))
        self.states.append(("running", now, ran))
        if choice((True, False)):
            return ran
        reason = choice(sorted(REASONS))
        slept = ran + choice((1000, 500000, 3 * MS, 3 * MS, 40 * MS))
        back = slept + choice((0, 0, 2000, 5 * MS))
        self.states += [(reason, ran, slept), ("runnable", slept, back)]
        self.number += 1
        self.put(back, "ASLEEP", start=ran, woken=slept, number=self.number, state=1, reason=REASONS[reason], over=1, call=202,
                 fd=0xffffffff, by=3)
        return back

    def frame(self, n, now, before, vseq):
        """@before: when the previous one was shown; one flip at a time. Return: the same for the next one"""
        choice = self.rng.choice
        submit, job = None, None
        now = self.spend(now)
        if self.rng.random() < .9:
            submit, end = now, now + choice((1000, 300000, 3 * MS, 20 * MS))
            job = submit, end
            of = {"ring": self.crtc, "ctx": self.ctx, "seqno": n, "engine": 0}
            self.put(submit, "SUBMIT", flags=SUBMIT_IS_COMMIT, cmd=1, **of)
            for what in ("END", "COMPLETE"):
                self.put(end, what, **of)
            now += 1000
            self.states.append(("running", submit, now))
            if choice((True, False)):
                now = self.spend(now)
        if before and now <= before:
            self.states.append(("running", now, before + 1000))
            now = before + 1000
        flip = now
        ready = max(flip, job[1] if job else 0)
        # the next vertical blank, or one later
        vseq = max(vseq + 1, (ready - self.origin) // self.period + 1 + (self.rng.random() < .1))
        shown = self.origin + vseq * self.period
        self.put(flip, "IOCTL_ENTER", cmd=FLIP, fd=5, device=7)
        self.put(flip + 500, "IOCTL_EXIT", cmd=FLIP, about=FLAGS, device=7)
        self.states.append(("running", flip, flip + 1000))
        delivered = _raw.event(shown, "VBLANK_DELIVERED", pid=self.pid, crtc=self.crtc, vseq=vseq, file=self.pid, ring=NO_RING, device=7)
        lost = self.rng.random() < self.loses
        self.events.append((shown, None) if lost else delivered)
        self.events.append(_raw.event(shown + 5000, "VBLANK", crtc=self.crtc, vseq=vseq, stamp=shown, high_prec=1, ring=NO_RING, device=7))
        if not lost:
            self.frames.append(Frame(len(self.frames) + 1, None if self.gap else before, shown, vseq, flip, job, ready))
        self.gap = lost
        # it goes on at once, or when the frame was shown
        now = flip + 1000
        if choice((True, True, False)):
            wake = shown + choice((1000, 200000))
            self.number += 1
            self.put(wake, "ASLEEP", start=now, woken=shown, number=self.number, state=1, reason=9, over=1, call=7,
                     fd=0xffffffff, by=3)
            self.states += [("display", now, shown), ("runnable", shown, wake)]
            now = wake
        return now, shown, vseq

    def parts(self, f):
        """Up to the flip by state of the thread, up to the end of the job the GPU, up to the event the display."""
        want = collections.Counter({part: 0 for part in PARTS})
        for state, begin, end in self.states:
            want[state] += max(0, min(end, f.flip) - max(begin, f.begin))
        want["gpu"] += f.ready - f.flip
        want["display"] += f.shown - f.ready
        return want

    def causes(self, f, want, middles, late):
        """What the manual allows: several if they are equal"""
        over = {part: want[part] - (middles[part] if late else 0) for part in PARTS if want[part]}
        # each frame that misses a vertical blank waits for the next one
        if late:
            wait = f.shown - f.ready
            over["display"] = max(0, wait - self.period) + max(0, want["display"] - wait - middles["display"])
        return {CAUSES[part] for part in over if over[part] == max(over.values()) > 0} or {None}


def compare(grtrace, name, clients):
    says = json.loads(read(grtrace, "report", "--json", "--by", "frame", "--top", "0", "-v", name))
    rows = {(r["pid"], r["frame"]): r for r in says["frames"]}
    for c in clients:
        timed = [f for f in c.frames if f.begin]
        times = [f.shown - f.begin for f in timed]
        row = [r for r in says["frame_clients"] if r["pid"] == c.pid]
        what = f"{name}: client {c.pid}"
        same(what, len(row), bool(c.frames))
        if not row or not times:
            continue
        row = row[0]
        same(f"{what}: frames", row["frames"], len(c.frames))
        for column, permille in (("p50", 500), ("p95", 950), ("p99", 990), ("max", 1000)):
            same(f"{what}: {column}", row[column], rank(times, permille), .01)
        same(f"{what}: fps", row["fps_milli"], len(times) * 1e12 / sum(times), .001)
        missed = [b.vseq - a.vseq - 1 for a, b in zip(c.frames, c.frames[1:]) if b.begin]
        same(f"{what}: missed", row["missed"], sum(missed))
        middle = rank(times, 500)
        late = [2 * t >= 3 * middle for t in times]
        same(f"{what}: late", row["late"], sum(late))
        parts = [c.parts(f) for f in timed]
        middles = {part: rank([p[part] for p in parts], 500) for part in PARTS}
        for f, gone, is_late, want in zip(timed, missed, late, parts):
            r = rows.get((c.pid, f.number))
            of = f"{what}: frame {f.number} of {f}"
            same(f"{of}: is there", r is not None, True)
            if r is None:
                continue
            same(f"{of}: time", (r["time"], r["shown"], r["missed"], r["late"], r["flip"]), (f.shown - f.begin, f.shown, gone, is_late, f.flip))
            for part in PARTS:
                same(f"{of}: {part}", r[part], want[part])
            causes = c.causes(f, want, middles, is_late)
            same(f"{of}: cause {r['cause']} of {causes} {want}, {middles}", r["cause"] in causes, True)


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        rng, name = random.Random(seed), f"{seed}.raw"
        first = 10**9 * rng.randrange(1, 5000)
        clients = [Client(rng, 70 + 10 * n, n, first, rng.choice((2, 3, 4, 40))) for n in range(rng.choice((1, 2)))]
        _raw.write(name, [c.events for c in clients], lambda time: [
            *(_raw.name(time, 1, c.pid, f"p{c.pid}") for c in clients), *(_raw.name(time, 2, c.crtc, f"gfx{c.crtc}") for c in clients)])
        compare(grtrace, name, clients)
    finish(20)


main()
