#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
_compare.py TRACE NAME=DUMP... [truth=CSV...]: what recorders (grtrace dump --json) say of
the jobs and commands of a run, against what `trace-cmd report -t` has of it, and what the
software GPU says itself. Prints TAP without plan.

A job is (device, context, seqno). Devices have other names in each of them: what
has one number in a dump must be one device and ring of trace-cmd's.
"""
import csv
import json
import re
import statistics
import sys
from collections import Counter

# The host may take the processor away between two tracers: of all stamps, and of half of them.
TOLERANCE, HALF = 2.0, 0.01

# The console has commands, too, also before the last recorder begins.
PROGRAM = "kmscube"

LINE = re.compile(r"^\s*(?P<task>.+-\d+)\s+\[\d+\]\s+(?P<time>\d+\.\d+): (?P<event>\w+):\s+(?P<rest>.*)$")
checks = 0
failed = False


def check(name, wrong):
    """A check passes where nothing is wrong."""
    global checks, failed
    wrong = list(wrong)
    checks += 1
    failed |= bool(wrong)
    print(f"{'not ' if wrong else ''}ok {checks} - {name}")
    for text in wrong[:8]:
        print(f"# {text}")


class Said(dict):
    """Of one recorder: SUBMIT, COMMIT, COMPLETE: a list of (job, time, ring, device); COMMAND: (device, code, time)."""

    def __missing__(self, phase):
        self[phase] = []
        return self[phase]

    def jobs(self, phase):
        return Counter(job for job, *_ in self[phase])


def of_trace(path):
    said, emitted, fence_of, finished = Said(), {}, {}, {}

    def job(phase, identity, time, ring=None, device=None):
        said[phase].append((identity, time, ring, device))

    for line in open(path, errors="replace"):
        m = LINE.match(line)
        if not m:
            continue
        task, time, event, rest = m["task"], float(m["time"]), m["event"], m["rest"]
        word = dict(re.findall(r"(\w+)=([^ ,]+)", rest))
        if event in ("dma_fence_init", "dma_fence_emit"):
            identity = int(word["context"]), int(word["seqno"])
            if event == "dma_fence_emit" or word["driver"] == "drm_sched":
                emitted[task] = identity
        elif event == "dma_fence_signaled":
            identity = int(word["context"]), int(word["seqno"])
            if identity in finished:
                job("COMPLETE", identity, time, *finished[identity])
        elif event in ("drm_sched_job", "drm_sched_job_queue"):
            # of a job's two fences that it is finished is made last; newer kernels name it
            identity = tuple(map(int, word["fence"].split(":"))) if ":" in word["fence"] else emitted[task]
            fence_of[word["fence"]] = identity
            finished[identity] = word["ring"], word.get("dev")
            job("SUBMIT", identity, time, word["ring"], word.get("dev"))
        elif event in ("drm_run_job", "drm_sched_job_run"):
            job("COMMIT", fence_of[word["fence"]], time, word["ring"], word.get("dev"))
        elif event == "virtio_gpu_cmd_queue" and int(word["fence_id"]):
            finished[emitted[task]] = None, word["vdev"]
            job("SUBMIT", emitted[task], time, None, word["vdev"])
        elif event == "virtio_gpu_cmd_queue" and task.startswith(PROGRAM):
            said["COMMAND"].append((word["vdev"], int(word["type"], 16), time))
    return said


def of_dump(path):
    said, device_of = Said(), {}
    for line in open(path):
        e = json.loads(line)
        if e["type"] in ("SUBMIT", "COMMIT", "COMPLETE") and "ctx" in e:
            identity = e["ctx"], e["seqno"]
            device = device_of.setdefault(identity, (e["driver"], e.get("device"), e.get("ring")))
            said[e["type"]].append((identity, e["time"] / 1e9, e.get("ring_name"), device))
        elif e["type"] == "COMMAND" and e.get("comm", "").startswith(PROGRAM):
            said["COMMAND"].append(((e.get("device"), e.get("ring")), e["cmd"], e["time"] / 1e9))
    return said


def apart(pairs):
    """Of pairs (ours, theirs): numbers of ours that are several of theirs."""
    for ours in {a for a, _ in pairs}:
        theirs = {b for a, b in pairs if a == ours}
        if len(theirs) > 1:
            yield f"{ours} is {len(theirs)} different ones: {sorted(theirs, key=str)}"


def compare_jobs(name, said, truth, phase):
    want, got = truth.jobs(phase), said.jobs(phase)
    wrong = [f"{n} times not there: {job}" for job, n in sorted((want - got).items())]
    wrong += [f"{n} times too often: {job}" for job, n in sorted((got - want).items())]
    check(f"{name}: {phase} of the same {sum(want.values())} jobs", wrong)
    theirs = {job: rest for job, *rest in truth[phase]}
    both = [(job, rest, theirs[job]) for job, *rest in said[phase] if job in theirs]
    late = [(job, abs(ours[0] - them[0])) for job, ours, them in both]
    wrong = [f"{job}: {by:.6f} s away" for job, by in late if by > TOLERANCE]
    if late and statistics.median(by for _, by in late) > HALF:
        wrong.append(f"half of them are more than {HALF} s away")
    check(f"{name}: at the same times", wrong)
    check(f"{name}: on the same rings", [f"{job}: {ours[1]} is {them[1]}" for job, ours, them in both
                                         if them[1] is not None and ours[1] != them[1]])
    if phase == "SUBMIT":
        # a number of a ring is one ring's for as long as the recording lasts
        check(f"{name}: devices and rings are told apart", apart({(ours[2], tuple(them[1:])) for _, ours, them in both}))


def by_device(said):
    devices = {}
    for device, code, _ in sorted(said["COMMAND"], key=lambda c: c[2]):
        devices.setdefault(device, []).append(code)
    return devices


def compare_commands(name, said, truth):
    want, got = by_device(truth), by_device(said)
    counts = {device: len(codes) for device, codes in want.items()}
    check(f"{name}: the same commands in the same order, of each of {len(want)} devices",
          [] if sorted(map(tuple, want.values())) == sorted(map(tuple, got.values())) else
          [f"trace-cmd: {counts}", f"{name}: {({str(d): len(c) for d, c in got.items()})}"])


def compare_truth(path, truth):
    """Contexts may be the same in two files: a file is of one software GPU."""
    jobs = Counter((int(row["ctx"]), int(row["seqno"])) for row in csv.DictReader(open(path)))
    for phase in ("SUBMIT", "COMMIT", "COMPLETE"):
        missing = jobs - truth.jobs(phase)
        check(f"trace-cmd has {phase} of the {sum(jobs.values())} jobs of the software GPU", sorted(missing))
    return jobs


def main():
    truth = of_trace(sys.argv[1])
    own = Counter()
    check("trace-cmd has events", [] if truth else [f"{sys.argv[1]}: none"])
    for word in sys.argv[2:]:
        name, path = word.split("=", 1)
        if name == "truth":
            own += compare_truth(path, truth)
            continue
        said = of_dump(path)
        for phase in ("SUBMIT", "COMMIT", "COMPLETE"):
            if truth[phase]:
                compare_jobs(name, said, truth, phase)
        if truth["COMMAND"]:
            compare_commands(name, said, truth)
    if own:
        check("and of no others", sorted(truth.jobs("SUBMIT") - own))
    sys.exit(failed)


main()
