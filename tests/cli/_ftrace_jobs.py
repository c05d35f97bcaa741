#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_ftrace_jobs.py GRTRACE SEED...: random jobs of two rings and two processes, and waits of other threads for them, as text
of ftrace (gpu_scheduler from Linux 6.17 on). Each job, ring, process and cause of idle time is compared with a model."""

import collections
import random
import sys

from _gpu_work import finish, percent, rank, same, table, union

Job = collections.namedtuple("Job", "ring ctx seqno pid submit commit start end complete waited")
US = 1000


class Trace:
    def __init__(self, seed, name):
        self.random, self.lines, self.jobs = random.Random(seed), [], []
        self.waits = collections.defaultdict(list)
        for ring, ctx in (("gfx_0.0.0", 142), ("sdma0", 150)):
            self.fill(ring, ctx)
        self.lines.sort(key=lambda line: line[0])
        self.span = self.lines[0][0], self.lines[-1][0]
        with open(name, "w", encoding="ascii") as out:
            out.write("# tracer: nop\n#\n" + "\n".join(text for _, text in self.lines) + "\n")

    def put(self, time, cpu, comm, pid, text):
        self.lines.append((time, f"{comm:>16}-{pid:<5} [{cpu:03}] ..... {time // 10**9:5}.{time % 10**9 // US:06}: {text}"))

    def fill(self, ring, ctx):
        choice, count, reached = self.random.choice, collections.Counter(), 0
        now = 5 * 10**9 + US * self.random.randrange(1000)
        for _ in range(choice((3, 40))):
            pid = choice((2510, 2511))
            count[pid] += 1
            now = submit = now + US * choice((0, 1, 5, 200))
            now = commit = submit + US * choice((0, 1, 9))
            # no event tells the start: a ring runs one job after the other
            start = max(commit, reached)
            reached = end = start + US * choice((1, 7, 300))
            complete = end + US * choice((0, 1, 4))
            fence = ctx + 1000 * (pid - 2510), count[pid]
            waited = self.wait(ring, fence, submit, complete) if choice((True, False)) else None
            self.jobs.append(Job(ring, *fence, pid, submit, commit, start, end, complete, waited))
            of = f"dev=0000:03:00.0, fence={fence[0]}:{fence[1]}, ring={ring}, job count:0, hw job count"
            self.put(submit, 0, f"app{pid}", pid, f"drm_sched_job_queue: {of}:0, client_id:14")
            self.put(commit, 2, "kworker/u32:3", 812, f"drm_sched_job_run: {of}:1, client_id:14")
            self.put(end, 1, "<idle>", 0, f"drm_sched_job_done: fence={fence[0]}:{fence[1]} signaled")
            self.put(complete, 1, "<idle>", 0, f"dma_fence_signaled: driver=drm_sched timeline={ring} context={fence[0]} seqno={fence[1]}")

    def wait(self, ring, fence, submit, complete):
        """Of up to two threads that wait for nothing else then. Return: how long, None: there is none"""
        sum_of, any_of = 0, False
        for tid in self.random.sample((3001, 3002, 3003), 2):
            begin = submit + US * self.random.randrange(1, 10)
            end = max(begin, complete) + US * self.random.choice((1, 3))
            if any(begin <= other[1] and end >= other[0] for other in self.waits[tid]):
                continue
            self.waits[tid].append((begin, end))
            for time, what in ((begin, "start"), (end, "end")):
                self.put(time, 3, "waiter", tid, f"dma_fence_wait_{what}: driver=drm_sched timeline={ring} context={fence[0]} seqno={fence[1]}")
            sum_of, any_of = sum_of + end - begin, True
        return sum_of if any_of else None


def compare_jobs(grtrace, name, trace):
    says = sorted((j["ctx"], j["seqno"], j["pid"], j["t_sched_ns"], j["t_queue_ns"], j["t_exec_ns"], j["t_complete_ns"], j["t_gpu_wait_ns"])
                  for j in table(grtrace, "job", name)["jobs"])
    want = sorted((j.ctx, j.seqno, j.pid, j.commit - j.submit, j.start - j.commit, j.end - j.start, j.complete - j.end, j.waited)
                  for j in trace.jobs)
    same(f"{name}: jobs", len(says), len(want))
    for one, other in zip(says, want):
        same(f"{name}: job", one, other)


def compare_groups(grtrace, name, trace):
    first, last = trace.span
    for by, rows, column, member in (("ring", "rings", "ring_name", "ring"), ("process", "processes", "pid", "pid")):
        for r in table(grtrace, by, name)[rows]:
            mine = [j for j in trace.jobs if getattr(j, member) == r[column]]
            ran, queued = [j.end - j.start for j in mine], [j.start - j.commit for j in mine]
            waited = [j.waited for j in mine if j.waited is not None]
            what = f"{name}: {by} {r[column]}"
            same(what, (r["jobs"], r["exec_sum"], r["exec_max"], r["queue_sum"] if by == "ring" else 0, r["queue_max"]),
                 (len(mine), sum(ran), max(ran), sum(queued) if by == "ring" else 0, max(queued)))
            same(f"{what}: waits", r["gpu_wait"], sum(waited) if waited else None)
            same(f"{what}: busy", r["busy"], percent(union([(j.start, j.end) for j in mine], first, last), last - first))
            for column_of, values, permille in (("exec_p50", ran, 500), ("exec_p95", ran, 950), ("queue_p50", queued, 500)):
                same(f"{what}: {column_of}", r[column_of], rank(values, permille), .001)


def compare_idle(grtrace, name, trace):
    """What the submitter did before a submit has no event here; then a job is in the scheduler, and then on the ring."""
    first, last = trace.span
    for r in table(grtrace, "idle", name)["idle_devices"]:
        want, reached = collections.Counter(), first
        for n, j in enumerate(sorted((j for j in trace.jobs if j.ring in r["device"]), key=lambda j: j.start)):
            asked = min(max(reached, j.submit), j.start)
            handed = min(max(asked, j.commit), j.start)
            if j.start > reached:
                want.update({"submitter" if n else "before": asked - reached, "scheduler": handed - asked, "queued": j.start - handed})
            reached = max(reached, j.end)
        want["end"] += last - reached
        says = collections.Counter()
        for cause, ns in r.items():
            if cause.startswith("idle_"):
                says[{"first": "before", "start": "before", "code": "submitter", "unknown": "submitter"}.get(cause[5:], cause[5:])] += ns
        same(f"{name}: idle time of {r['device']}", +says, +want)


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        name = f"{seed}.trace"
        trace = Trace(seed, name)
        for compare in (compare_jobs, compare_groups, compare_idle):
            compare(grtrace, name, trace)
    finish(20)


main()
