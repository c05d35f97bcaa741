# SPDX-License-Identifier: GPL-2.0
#
# _frames.py NOTES REPORT: what tests/vm/frames noted of its frames against `report --by
# frame --json --top 0` of it. Prints the first differences, and at the end how many frames
# there are and how many delays are blamed rightly. A delayed frame counts where by the program's
# own clock the delay of 40 ms took less than 60, and two thirds of the frame or more, and the
# frame 1.6 times the median: a machine that is busy delays frames, too.
import collections, json, statistics, sys

BLAME = {
    "flipper": {"cpu": "CPU-bound", "sleep": "waited: sleep", "gpu": "GPU-bound", "fence": "GPU-bound", "hog": "no CPU", "compositor": "waited: sleep"},
    "client": {"cpu": "CPU-bound", "gpu": "GPU-bound", "compositor": "compositor late"},
}
PARTS = "running runnable gpu io lock sleep child other compositor display unknown".split()

report = json.load(open(sys.argv[2]))
who = {c["pid"]: "client" if c["compositor"] else "flipper" for c in report["frame_clients"]}
frames = collections.defaultdict(list)
for f in sorted(report["frames"], key=lambda f: f["frame"]):
    frames[who[f["pid"]]].append(f)
notes = [line.split() for line in open(sys.argv[1])]
clients = {tuple(n[3:5]) for n in notes if n[0] == "client"}
right, disturbed, asked = 0, 0, collections.Counter()
faults, blamed = [], []
for name in ("flipper", "client"):
    mine = [n for n in notes if n[0] == name]
    if len(mine) != len(frames[name]):
        faults.append((name, "showed", len(mine), "frames, the report has", len(frames[name])))
    usual = statistics.median(int(n[9]) for n in mine)
    for n, f in zip(mine, frames[name]):
        cause, (ctx, seqno, before, after, event, delay, total) = n[2], map(int, n[3:])
        call = f["flip" if name == "flipper" else "submit"]
        if not before <= call <= after or not 0 <= f["shown"] - event + 1000 <= 20000000 or not f["flip"] <= f["shown"]:
            faults.append((*n, "is", f))
        if (f["job_ctx"], f["job_seqno"]) != (ctx, seqno) or not f["job_end"]:
            faults.append((*n, "shows another job:", f))
        if f["time"] and sum(f[part] for part in PARTS) != f["time"]:
            faults.append((*n, "has parts that are not its time:", f))
        if cause == "-":
            continue
        if delay * 3 < total * 2 or delay > 60000000 or total * 10 < usual * 16:
            disturbed += 1
            continue
        # what its client does the flipper waits for
        expected = "waited: io" if name == "flipper" and tuple(n[3:5]) in clients and cause == "cpu" else BLAME[name][cause]
        asked[name, cause] += 1
        right += f["cause"] == expected and f["late"]
        if f["cause"] != expected or not f["late"]:
            blamed.append((*n, "is blamed on", f["cause"], "late" if f["late"] else "on time", "not", expected, {p: f[p] for p in PARTS if f[p]}))
for fault in (faults + blamed)[:5]:
    print(*fault)
if len(faults + blamed) > 5:
    print(len(faults + blamed) - 5, "more")
print(len(notes), "frames,", right, "of", sum(asked.values()), "delays,", disturbed, "disturbed")
# a guest on a busy host has delays of its own, which its program cannot tell from those on purpose
sys.exit(bool(faults) or not asked or len(blamed) * 10 > sum(asked.values()))
