#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_ops.py GRTRACE TRACE...: GPU work by operator, call of a library and module, computed from `dump --json` without any
of the library's joins and tables, with functions by nm, compared with `report --by op|library-call|module --json`."""

import bisect
import collections
import json
import os
import re
import subprocess
import sys

LOWER = ("out", "self_int", "int", "dim", "dims", "dtype_layout", "dtype", "correction", "generator", "grad_input", "padding",
         "src", "stable", "start", "start_step", "using_ints", "vec")
LIBRARY = re.compile(r"(cublasLt|cublas|cudnn|cufft|curand|cusolver|cusparse|cutensor|nccl)[A-Z]")


def read(*args):
    return subprocess.run(args, stdout=subprocess.PIPE, text=True, check=False).stdout


class Symbols:
    """Functions of an object file by address, as nm has them."""

    def __init__(self):
        self.table = {}

    def at(self, path, address):
        if path not in self.table:
            rows = {}
            for line in read("nm", "-C", "--defined-only", path).splitlines() if os.path.exists(path) else ():
                part = line.split(" ", 2)
                if len(part) == 3 and part[1] in "tTwW":
                    rows[int(part[0], 16)] = re.sub(r"\(.*\)( const)?$", "", part[2])
            self.table[path] = sorted(rows.items())
        rows = self.table[path]
        i = bisect.bisect(rows, (address, "\x7f")) - 1
        return rows[i][1] if i >= 0 else ""


def overload(name):
    """The operator's name: what begins with a capital letter, or is one of some words, is the overload."""
    name = re.sub(r"(?<=.)_[A-Z].*", "", name)
    while True:
        short = re.sub("(?<=.)_(" + "|".join(LOWER) + ")$", "", name)
        if short == name:
            return name
        name = short


def phase_of(function, file):
    if file is None and re.match(r"torch::autograd::(Engine::|(?!Function<).*::apply$)", function):
        return "backward"
    if file and "/torch/optim/" in file and function.endswith(".step"):
        return "optimizer"
    return "forward" if file and function.endswith(".forward") else None


class Trace:
    def __init__(self, events):
        self.nodes, self.mappings, self.launches, self.graph = {}, {}, {}, {}
        self.strings, self.works, self.symbols = collections.defaultdict(str), [], Symbols()
        for e in events:
            image = e.get("ctx", 0), e["pid"] if "pid" in e else 0
            if e["type"] == "STRING":
                self.strings[image, e["number"]] += e["text"]
            elif e["type"] == "NODE":
                self.nodes[image, e["node"]] = e
            elif e["type"] == "MAPPING":
                self.mappings[image, e["module"]] = e
            elif e["type"] == "LAUNCH":
                self.launches.setdefault((image, e["correlation"]), e)
            elif e["type"] == "GRAPH_NODE":
                self.graph[image, e["id"]] = e
            elif e["type"] in ("GPU_KERNEL", "GPU_COPY"):
                self.works.append((image, e))

    def stack(self, image, node):
        """(function, file, line), outermost first."""
        frames = []
        while node:
            n = self.nodes.get((image, node))
            if not n:
                break
            if n.get("ip"):
                m = self.mappings.get((image, n.get("module")))
                frames.append((self.symbols.at(m["path"], n["ip"] - 1 - m["bias"]) if m else "", None, 0))
            else:
                frames.append((n.get("function", ""), n.get("file"), n.get("line", 0)))
            node = n.get("caller", 0)
        return frames[::-1]

    def origin(self, image, graph_node):
        n = self.graph.get((image, graph_node))
        while n and n.get("source"):
            n = self.graph.get((image, n["source"]))
        return n.get("node", 0) if n else 0


def operators(frames, kernel):
    """Names with the phase in which each was entered; and that of what is in none of them."""
    out, phase, by_kernel = [], None, False
    for function, file, _ in frames:
        phase = phase or phase_of(function, file)
        name, kernels = None, False
        if file is None:
            m = re.match(r"at::_ops::(.*)::(call|redispatch)$", function)
            b = re.match(r"torch::autograd::(?:generated::)?(?!Function<)(.*)::apply$", function)
            name = "aten::" + overload(m.group(1)) if m else b.group(1) if b else None
        elif "/torch/optim/" in file and function.endswith(".step"):
            name = "Optimizer.step#" + function
        elif "/torchinductor_" in file and function in ("call", "Runner.call"):
            name, kernels = "call (%s)" % os.path.basename(file), True
        elif "/torch/_inductor/" in file or "/triton/" in file:
            by_kernel = True
        if name:
            out.append((name, phase))
            by_kernel = kernels
    if by_kernel and kernel:
        out.append((kernel, phase))
    return out, phase


def calls(frames, _):
    out, phase = [], None
    for function, file, _ in frames:
        phase = phase or phase_of(function, file)
        if file is None and LIBRARY.match(function):
            out.append((function, phase))
    return out, phase


def modules(frames, _):
    out, phase = [], None
    for i, (function, file, _) in enumerate(frames):
        phase = phase or phase_of(function, file)
        if file and function.endswith(".forward"):
            at = [f for f in frames[:i] if f[1] and "/torch/nn/modules/module.py" not in f[1]]
            where = "%s:%u" % (os.path.basename(at[-1][1]), at[-1][2]) if at else "?"
            out.append((function[:-len(".forward")] + " at " + where, phase))
    return out, phase


def compute(trace, find):
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    seen = set()
    for image, e in trace.works:
        launch = trace.launches.get((image, e["correlation"])) if e["correlation"] else None
        origin = trace.origin(image, e.get("graph_node", 0)) if launch else 0
        node = origin or (launch or {}).get("node", 0)
        first = launch is not None and (image, e["correlation"]) not in seen and not origin
        if launch:
            seen.add((image, e["correlation"]))
        kernel = e["type"] == "GPU_KERNEL"
        name = e.get("name", "")
        if name.startswith("_Z"):
            name = read("c++filt", name).strip()
        chain, phase = find(trace.stack(image, node), name if kernel else None)
        ns = max(e["end"] - e["start"], 0) if e.get("start") and e.get("end") else 0
        own = chain[-1] if chain else (None, phase)
        for row in set(chain or [own]):
            r = rows[row + (image[1],)]
            r[0] += first
            r[1] += kernel
            r[2] += ns
        rows[own + (image[1],)][3] += ns
    return {k: tuple(v) for k, v in rows.items()}


def reported(grtrace, path, view, table, column):
    rows = {}
    for r in json.loads(read(grtrace, "report", path, "--by", view, "--json"))[table]:
        rows[r.get(column), r.get("phase"), r["pid"]] = (r["launches"], r["kernels"], r["gpu"], r["gpu_self"])
    return rows


def main():
    failed = 0
    for path in sys.argv[2:]:
        trace = Trace(json.loads(line) for line in read(sys.argv[1], "dump", "--json", path).splitlines())
        for view, table, column, find in (("op", "operators", "op", operators), ("library-call", "library_calls", "call", calls),
                                          ("module", "modules", "module", modules)):
            want, got = compute(trace, find), reported(sys.argv[1], path, view, table, column)
            for key in sorted(set(want) | set(got), key=repr):
                if want.get(key) != got.get(key):
                    print("%s --by %s: %s: computed %s, reported %s" % (path, view, key, want.get(key), got.get(key)))
                    failed = 1
            print("%s --by %s: %u rows" % (path, view, len(got)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
