# SPDX-License-Identifier: GPL-2.0
# _ioctl_duty.py load SECONDS: ioctls of type d at a pace, of two processes; prints "load PID CALLS". The recorder that
# began it is stopped for half a second, as if the machine were too busy for it.
# _ioctl_duty.py WINDOWS WHOLE REPORT: events of a recording in windows, of one of all that was made beside it, and what
# `monitor nvidia` says of the first, all as JSON. Prints what is wrong, and facts. Estimates are computed anew here, from
# the windows one by one; the truth is what the other recording has.
import bisect
import fcntl
import json
import math
import os
import signal
import sys
import time


def load(pause, seconds):
    fd, until, n = os.open("/dev/null", os.O_RDONLY), time.monotonic() + seconds, 0
    while time.monotonic() < until:
        try:
            fcntl.ioctl(fd, 0x6400)
        except OSError:
            pass
        n += 1
        time.sleep(pause)
    print("load", os.getpid(), n, flush=True)


if sys.argv[1] == "load":
    recorder = os.getppid()
    busy = os.fork()
    if not busy:
        time.sleep(1)
        os.kill(recorder, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(recorder, signal.SIGCONT)
        os._exit(0)
    child = os.fork()
    load(0.0002 if child else 0.001, float(sys.argv[2]))
    if child:
        os.waitpid(child, 0)
        os.waitpid(busy, 0)
    sys.exit()


def student(v):
    z = 1.959963985
    return (z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2) +
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3))


def half(x, y, unseen):
    big_x, big_y = sum(x), sum(y)
    d = [(b - big_y / big_x * a) / (1 - a / big_x) for a, b in zip(x, y)]
    d2, d4 = sum(v**2 for v in d), sum(v**4 for v in d)
    freedom = max(3, min(len(x) - 1, 2 * len(x) / (len(x) * d4 / d2**2 - 1)))
    return student(freedom) * math.sqrt(unseen * (len(x) - 1) / len(x) * d2) / big_x


def calls_of(path):
    """(begin, end, pid) of each call, windows, all of the time"""
    events = [json.loads(line) for line in open(path)]
    inside, calls, windows, marks = {}, [], [], []
    for e in events:
        if e["type"] == "IOCTL_ENTER":
            inside[e["tid"]] = e
        elif e["type"] == "IOCTL_EXIT" and e["tid"] in inside:
            calls.append((inside.pop(e["tid"])["time"], e["time"], e["pid"]))
        elif e["type"] == "IOCTL_EXIT":
            print("wrong: an exit without an entry", e)
        elif e["type"] == "WINDOW" and e["what"] == 2:
            (windows if e["number"] else marks).append((e["begin"], e["end"]))
        elif e["type"] == "WINDOW" and not e["number"]:
            marks.append((e["begin"], e["end"]))
    if inside:
        print("wrong:", len(inside), "calls without an end")
    return calls, sorted(windows), marks


seen, windows, marks = calls_of(sys.argv[1])
all_calls, _, _ = calls_of(sys.argv[2])
begins = [w[0] for w in windows]


def window_of(moment):
    at = bisect.bisect_right(begins, moment) - 1
    return at if at >= 0 and moment < windows[at][1] else None


span = marks[-1][1] - marks[0][0]
watched = sum(e - b for b, e in windows)
print("windows", len(windows), "share", round(100 * watched / span))
# Both recorders make stamps of their own: at its edges a window has a call more or less of each process.
missing = 0
for i, (b, e) in enumerate(windows):
    for pid in {c[2] for c in all_calls}:
        here = sum(c[2] == pid and window_of(c[0]) == i for c in seen)
        there = sum(c[2] == pid and b <= c[0] < e for c in all_calls)
        missing += abs(here - there) > 2
far = sum(window_of(c[0]) is None and window_of(c[0] + 300000) is None and window_of(c[0] - 300000) is None for c in seen)
print("windows with other calls", missing, "calls far from a window", far)
rows = {r["pid"]: r for line in open(sys.argv[3]) for r in json.loads(line).get("processes", [])}
for pid in sorted({c[2] for c in seen}):
    y = [sum(e - b for b, e, p in seen if p == pid and window_of(b) == i) for i in range(len(windows))]
    n = sum(p == pid and window_of(b) is not None for b, e, p in seen)
    total, wide = sum(y) * span / watched, half([e - b for b, e in windows], y, 1 - watched / span) * span
    wanted = {"estimated_ioctls": n * span / watched, "estimated_ioctl_ns": total,
              "estimated_from": max(total - wide, sum(y)), "estimated_to": total + wide}
    for key, value in wanted.items():
        if abs(rows[pid][key] - value) > 1 + abs(value) * 1e-3:
            print("wrong:", pid, key, rows[pid][key], "and not", value)
    # what is true may be outside of an interval of 95 %, but not far; and no window need lie in the short time
    # before the first call or after the last
    mine = [b for b, _, p in all_calls if p == pid]
    true, idle = len(mine), span - (mine[-1] - mine[0])
    counts = [sum(p == pid and window_of(b) == i for b, e, p in seen) for i in range(len(windows))]
    wide = half([e - b for b, e in windows], counts, 1 - watched / span) * span
    if abs(n * span / watched - true) > 4 * wide + 20 + n * idle / watched:
        print("wrong:", pid, "calls", n * span / watched, "+-", wide, "are far from", true)
    print("process", true)
