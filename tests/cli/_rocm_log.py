#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_rocm_log.py GRTRACE SEED...: writes logs as AMD's runtime does: two threads of each of two processes, with calls in
calls, commands whose addresses are used again, and queues of the same address in both. What rocm report says of them is
compared with sums over what was written."""

import collections
import json
import random
import sys

from _gpu_work import finish, mean, read, same

CALLS = ("hipMalloc", "hipFree", "hipLaunchKernel", "hipMemcpy", "hipStreamSynchronize")
COPY = ("HSA Copy copy_engine=0x1, dst=0x1, src=0x2, size={size}, forceSDMA=0, engineType=1, wait_event=0x0, "
        "completion_signal=0x7f08")
DISPATCH = ("SWq=0x10, HWq=0x{queue:x}, id=7, Dispatch Header = 0xb02 (type=2, barrier=1, acquire=1, release=1), setup=3, "
            "grid=[8192, 1, 1], workgroup=[256, 1, 1], private_seg_size=16, group_seg_size=65536, kernel_obj=0x7c4261e312c0, "
            "kernarg_address=0x7c4216d07680, completion_signal=0x{signal:x}, correlation_id=0, rptr={read}, wptr={write}")
BARRIER = ("SWq=0x10, HWq=0x{queue:x}, id=7, BarrierAND Header = 0x1503 (type=3, barrier=1, acquire=2, release=2), "
           "dep_signal=[0x0, 0x0, 0x0, 0x0, 0x0], completion_signal=0x7f0835fc4700, rptr=1, wptr=2")
SIGNAL = ("Signal = (0x{signal:x}), Translated start/end = 123456701000 / {end}, Elapsed = {ns} ns, ticks start/end = 1 / 2, "
          "Ticks elapsed = 1, Engine = 0")


class Log:
    def __init__(self, seed):
        self.random, self.lines, self.signals = random.Random(seed), [], 0x7f0200000
        self.calls = collections.defaultdict(lambda: [0, []])  # errors, times in ns
        self.outer = []
        self.kernels = collections.defaultdict(lambda: ([], [], []))  # waited, ran, on the GPU
        self.queues = collections.defaultdict(lambda: [0, 0, 0])  # dispatches, barriers, deepest
        self.sizes = []
        for pid in (812, 4321):
            for thread in (0x7f00aa11bb40, 0x7f00aa11cc40):
                Thread(self, pid, thread).run()
        self.lines.sort(key=lambda line: line[0])


class Thread:
    def __init__(self, log, pid, thread):
        self.log, self.pid, self.thread, self.pending = log, pid, thread, {}
        self.choice, self.us = log.random.choice, 100000 + log.random.randrange(1000)

    def put(self, level, text):
        self.log.lines.append((self.us, f":{level}:hip_module.cpp              :700 : {self.us:010} us: [pid:{self.pid:<5} "
                                        f"tid: {self.thread:#x}] {text}"))

    def run(self):
        for _ in range(self.choice((3, 40))):
            self.call(0)
        for command in list(self.pending):
            self.complete(command)

    def call(self, depth):
        name, begin = self.choice(CALLS), self.us
        self.put(3, f" {name} ( 0x1, {{64,2,1}}, stream:<null> ) ")
        self.us += self.choice((0, 1, 30))
        if depth < 3 and self.choice((True, False)):
            self.call(depth + 1)
        if name == "hipLaunchKernel":
            self.launch()
        if name == "hipMemcpy":
            self.log.sizes.append(self.log.random.randrange(1, 10**6))
            self.put(4, COPY.format(size=self.log.sizes[-1]))
        failed = self.choice((0, 0, 0, 1))
        self.us += self.choice((0, 1, 1000, 10**6))
        self.put(3, f"{name}: Returned {'hipErrorUnknown' if failed else 'hipSuccess'} : ")
        self.log.calls[name][0] += failed
        self.log.calls[name][1].append((self.us - begin) * 1000)
        if depth == 0:
            self.log.outer.append((self.us - begin) * 1000)
        self.us += self.choice((0, 1, 5))

    def launch(self):
        command = 0x55000 + (self.thread & 0xf000) + 16 * self.choice((1, 2, 3))
        if command in self.pending:
            self.complete(command)
        kernel = self.pid, self.choice(("void gemm<float, 4>(float*)", "axpy", "_Z3foov"))
        queue, enqueued, behind = self.choice((0x20, 0x21)), self.us, self.log.random.randrange(100)
        self.put(4, f"\t!Command (KernelExecution) enqueued: {command:#x} to queue: 0x66")
        self.us += self.choice((0, 1, 7))
        self.put(3, f"ShaderName : {kernel[1]}")
        depth = self.choice((0, 1, 8))
        self.log.signals += 64
        self.put(4, DISPATCH.format(queue=queue, signal=self.log.signals, read=behind, write=behind + depth))
        self.log.kernels[kernel][0].append((self.us - enqueued) * 1000)
        sums = self.log.queues[self.pid, queue]
        sums[0] += 1
        sums[2] = max(sums[2], depth)
        self.pending[command] = self.us, kernel, self.log.signals
        self.us += self.choice((0, 1))
        if self.choice((True, False)):
            self.put(4, BARRIER.format(queue=queue))
            sums[1] += 1

    def complete(self, command):
        dispatched, kernel, signal = self.pending.pop(command)
        self.us += self.choice((0, 1, 50))
        self.put(4, f"Command {command:#x} complete")
        self.log.kernels[kernel][1].append((self.us - dispatched) * 1000)
        ns = self.choice((None, 0, 999, 4500, 12345678))
        if ns is not None:
            self.put(4, SIGNAL.format(signal=signal, end=123456701000 + ns, ns=ns))
            self.log.kernels[kernel][2].append(ns)


def times(row):
    return tuple(row[column] for column in ("total", "mean", "min", "max"))


def sums_of(ns):
    return (sum(ns), mean(ns), min(ns), max(ns)) if ns else (None,) * 4


def compare(grtrace, name, log):
    report = json.loads(read(grtrace, "rocm", "report", "--amd-log", name, "--json"))
    same(f"{name}: time", (report["input"]["from"], report["input"]["to"]), (log.lines[0][0] * 1000, log.lines[-1][0] * 1000))
    same(f"{name}: calls", sorted(c["call"] for c in report["calls"]), sorted(log.calls))
    for c in report["calls"]:
        errors, ns = log.calls[c["call"]]
        same(f"{name}: {c['call']}", (c["calls"], c["errors"], c["ambiguous"]), (len(ns), errors, 0))
        same(f"{name}: {c['call']}: times", times(c), sums_of(ns))
    same(f"{name}: kernels", sorted((k["pid"], k["kernel"]) for k in report["kernels"]), sorted(log.kernels))
    for k in report["kernels"]:
        waited, ran, gpu = log.kernels[k["pid"], k["kernel"]]
        for column, want in (("dispatches", len(waited)), ("only_named", 0), ("wait_mean", mean(waited)), ("wait_max", max(waited)),
                             ("run_mean", mean(ran)), ("run_max", max(ran)), ("gpu_mean", mean(gpu)), ("gpu_total", sum(gpu) if gpu else None)):
            same(f"{name}: {k['pid']} {k['kernel']}: {column}", k[column], want)
    same(f"{name}: queues", sorted((q["pid"], int(q["hw_queue"], 16), q["dispatches"], q["barriers"], q["depth_max"]) for q in report["queues"]),
         sorted((*key, *sums) for key, sums in log.queues.items()))
    use = report["use"]
    same(f"{name}: copies", (use["copies"], use["copy_bytes"], use["copies_unsure"]), (len(log.sizes), sum(log.sizes), 0))
    same(f"{name}: packets", (use["user_queue_kernels"], use["user_queue_barriers"]),
         tuple(sum(q[n] for q in log.queues.values()) for n in (0, 1)))
    layers = {row["layer"]: row for row in report["layers"]}
    for layer, ns in (("HIP API", log.outer), ("runtime to queue", [t for k in log.kernels.values() for t in k[0]]),
                      ("from queued to complete", [t for k in log.kernels.values() for t in k[1]])):
        same(f"{name}: {layer}", times(layers[layer]), sums_of(ns))


def main():
    grtrace, *seeds = sys.argv[1:]
    for seed in map(int, seeds):
        log = Log(seed)
        with open(f"{seed}.log", "w", encoding="ascii") as out:
            out.write("\n".join(text for _, text in log.lines) + "\n")
        compare(grtrace, f"{seed}.log", log)
    finish(20)


main()
