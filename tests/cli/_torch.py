#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_torch.py GRTRACE SEED python|none: writes ops.json, a training step as PyTorch's profiler writes it, with operators,
functions of Python, modules and ranges, and compares what the reports say of it with what each launch was made in. That is
known where the launch is made, and not taken from the times. Ranges begin in a function that ends before they do, as with
PyTorch."""

import collections
import json
import random
import subprocess
import sys


class Trace:
    def __init__(self, seed, python):
        random.seed(seed)
        self.seed, self.python = seed, python
        self.events, self.ids, self.works = [], iter(range(1, 10**6)), iter(range(500, 10**6))
        self.flame, self.own, self.all, self.ranges, self.modules = (collections.Counter() for _ in range(5))


class Thread:
    def __init__(self, trace, tid):
        self.trace, self.tid, self.us = trace, tid, 1000.0
        self.frames, self.ops, self.ranges = [], [], []

    def event(self, cat, name, begin, **args):
        self.trace.events.append({"ph": "X", "cat": cat, "name": name, "pid": 4711, "tid": self.tid, "ts": round(begin, 3),
                                  "dur": round(self.us - begin, 3), "args": args})

    def function(self, name, body):
        """A function of Python, or a module."""
        begin, shown = self.us, name
        self.us += 1 + random.randrange(900) / 1000
        if name.startswith("nn.Module: "):
            shown = "[module] " + name[11:]
        elif "): " in name:
            place, function = name.split("): ")
            shown = "%s (%s)" % (function, place.split("/")[-1].replace("(", ":"))
        if self.trace.python:
            self.frames.append(shown)
        body()
        self.us += 1 + random.randrange(900) / 1000
        if self.trace.python:
            self.frames.pop()
            self.event("python_function", name, begin, **{"Python id": next(self.trace.ids)})

    def op(self, name, body):
        begin, number = self.us, next(self.trace.ids)
        self.us += 1 + random.randrange(900) / 1000
        self.ops.append((name, number))
        self.frames.append("[op] " + name)
        body()
        self.us += 1 + random.randrange(900) / 1000
        self.frames.pop()
        self.ops.pop()
        self.event("cpu_op", name, begin, **{"External id": number, "Ev Idx": number})

    def range(self, name, body):
        """Its beginning is inside of one function, its end inside of another."""
        step = name.startswith("Optimizer.step#")
        enter, begin = self.us, self.us + 1.5
        self.us += 2.75
        if self.trace.python:
            self.event("python_function", "torch/autograd/profiler.py(700): __enter__", enter)
        self.ranges.append(name)
        if step:
            self.frames.append("[op] " + name)
            self.ops.append((name, None))
        body()
        if step:
            self.ops.pop()
            self.frames.pop()
        self.ranges.pop()
        leave = self.us
        self.us += 1
        self.event("user_annotation", name, begin, **{"External id": next(self.trace.ids)})
        self.us += .5
        if self.trace.python:
            self.event("python_function", "torch/autograd/profiler.py(704): __exit__", leave)

    def launch(self, kernel, later=0):
        """@later: the clock of calls is ahead of that of operators."""
        n, ns, trace = next(self.trace.works), random.randrange(1000, 90000), self.trace
        begin, args = self.us + later, {"correlation": n}
        if self.ops and self.ops[-1][1]:
            args["External id"] = n if trace.seed == 2 else self.ops[-1][1]
        self.us = begin + 4.5
        self.event("cuda_runtime", "cudaLaunchKernel", begin, **args)
        self.us += 1.5 - later
        trace.events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": 10**5 + n * 100,
                             "dur": ns / 1000, "args": {"correlation": n, "device": 0, "stream": 7}})
        trace.flame[";".join(self.frames + ["cudaLaunchKernel", kernel])] += ns
        names = [name for name, _ in self.ops if not name.startswith("autograd::engine::")] or ["-"]
        modules = [f[9:] for f in self.frames if f.startswith("[module] ")] or ["-"]
        trace.own[names[-1]] += ns
        trace.modules[modules[-1]] += ns
        for name in set(names):
            trace.all[name] += ns
        for name in set(self.ranges):
            trace.ranges[name] += ns



def linear(t, number):
    def body():
        t.launch("bias")
        t.op("aten::addmm", lambda: t.launch("gemm"))
    t.function("nn.Module: Linear_%d" % number, lambda: t.function(
        "torch/nn/modules/linear.py(113): forward", lambda: t.function(
            "<built-in function linear>", lambda: t.op("aten::linear", body))))


def model(t):
    linear(t, 0)
    linear(t, 1)
    t.launch("own")


def step(main, back, number):
    def body():
        main.op("aten::zero_", lambda: main.launch("fill"))
        main.function("model.py(40): forward", lambda: model(main))
        if main.trace.seed == 1:
            main.op("aten::sum", lambda: main.launch("reduce", later=40))
            main.us += 100
        main.range("Optimizer.step#Adam.step", lambda: main.function(
            "torch/optim/adam.py(200): step", lambda: main.op("aten::_foreach_add_", lambda: main.launch("adam"))))
    main.function("train.py(1): <module>", lambda: main.range("ProfilerStep#%d" % number, body))
    main.launch("outside")
    back.op("autograd::engine::evaluate_function: AddmmBackward0", lambda: back.op(
        "AddmmBackward0", lambda: back.op("aten::mm", lambda: back.launch("gemm"))))


def make(seed, python):
    trace = Trace(seed, python)
    main, back = Thread(trace, 4711), Thread(trace, 4799)
    for number in range(6):
        step(main, back, number)
    random.shuffle(trace.events)
    with open("ops.json", "w") as out:
        json.dump({"deviceProperties": [], "traceEvents": trace.events, "baseTimeNanoseconds": 1700000000000000000}, out)
    return trace


def read(*args):
    return subprocess.run([sys.argv[1], *args, "ops.json"], stdout=subprocess.PIPE, check=True, text=True).stdout


def table(by, key, column, value):
    sums = collections.Counter()
    for r in json.loads(read("report", "--by", by, "--top", "0", "--json"))[key]:
        sums[r.get(column) or "-"] += r.get(value) or 0
    return sums


def folded():
    sums = collections.Counter()
    for line in read("flame", "--no-ranges").splitlines():
        stack, ns = line.rsplit(" ", 1)
        sums[stack.split(";", 1)[1].replace("[GPU_Kernel]", "").replace("[GPU0_Kernel]", "")] += int(ns)
    return sums


def main():
    trace, failed = make(int(sys.argv[2]), sys.argv[3] == "python"), 0
    fold = collections.Counter()
    for name, ns in trace.ranges.items():
        fold[name.split("#")[0] + "#" if name.startswith("ProfilerStep") else name] += ns
    for what, want, got in (("flame", trace.flame, folded()), ("op, own", trace.own, table("op", "operators", "op", "gpu_self")),
                            ("op, all", trace.all, table("op", "operators", "op", "gpu")),
                            ("module", trace.modules, table("module", "modules", "module", "gpu_self")),
                            ("range", fold, table("range", "ranges", "range", "gpu"))):
        for key in sorted(set(want) | set(got)):
            if want[key] != got[key]:
                print("%s: %s: made %u, reported %u" % (what, key, want[key], got[key]))
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
