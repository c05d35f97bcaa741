# SPDX-License-Identifier: GPL-2.0
#
# _switches.py FTRACE DUMP: the kernel's own text of sched_switch and sched_waking, which was written at
# the same time, against `dump --json` of a recording: each thread has left the CPU and come back as
# often, in the same states, between the switches before and after, and was woken by the same thread.
# Prints each difference, and how many switches there are.
import collections, json, re, sys

LINE = re.compile(r".*-(\d+) +\[\d+\] (\S+) +(\d+)\.(\d+): (sched_\w+): (.*)")
SWITCH = re.compile(r"prev_comm=.* prev_pid=(\d+) prev_prio=\S+ prev_state=(\w)\+? ==> next_comm=.* next_pid=(\d+) ")
WAKING = re.compile(r"comm=.* pid=(\d+) prio=")

since, intervals = {}, collections.defaultdict(list)
for line in open(sys.argv[2]):
    event = json.loads(line)
    if event["type"] == "THREAD":
        since.setdefault(event["tid"], event["time"])
    elif event["type"] in ("ASLEEP", "OFF_CPU") and event["over"]:
        intervals[event["tid"]].append(event)

# by thread: when it came, when and how it had left, when and by whom it was woken in between
came, left, woken = collections.defaultdict(list), {}, {}
for line in open(sys.argv[1]):
    found = LINE.match(line)
    if not found:
        continue
    time, text = int(found[3]) * 1000000000 + int(found[4]) * 1000, found[6]
    if found[5] == "sched_waking":
        tid = int(WAKING.search(text)[1])
        # the first of those since it left, else the last before; in an interrupt by nobody
        if tid not in woken or tid not in left or woken[tid][0] < left[tid][0]:
            woken[tid] = (time, 0 if found[2][2] in "hHZ" else int(found[1]))
        continue
    before, state, after = SWITCH.match(text).groups()
    before, after = int(before), int(after)
    if time + 999 >= since.get(before, float("inf")):
        left[before] = (time, state)
    if time + 999 >= since.get(after, float("inf")):
        came[after].append((time, *left.pop(after, (since[after], "R")), *woken.pop(after, (0, 0))))

switches = 0
for tid in since:
    theirs, ours = came[tid], intervals[tid]
    switches += 2 * len(theirs)
    if len(theirs) != len(ours):
        print(f"thread {tid} came {len(theirs)} times, not {len(ours)}")
        continue
    for i, ((back, out, state, wake, waker), event) in enumerate(zip(theirs, ours)):
        next_out = theirs[i + 1][1] if i + 1 < len(theirs) else float("inf")
        # text has whole microseconds; within a switch the virtual processor may stand still for long
        at = (event["state"], event["number"]) == (state, i + 1) and out <= event["start"] < back + 1000 and \
            back <= event["time"] < next_out + 1000
        by = event["type"] != "ASLEEP" or (wake and (event.get("waker") or 0) == waker)
        if not at or not by:
            print(f"thread {tid}, {out} to {back}, {state}, woken {wake} by {waker}, not", event)
print(switches, "switches")
