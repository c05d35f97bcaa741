# SPDX-License-Identifier: GPL-2.0
"""torch_modules.py train STEPS: trains a transformer; each call of a module is an NVTX range, too, by hooks that this program
registers for each module, with the name of named_modules(): launches have both. Prints `calls NAME N`, `unnamed N`.
compile: a compiled model: `graphs N breaks N recompiles N`, and whether it computes what the eager one does.
wait FILE: eager iterations until the file is there; `ready` first, then how many iterations. nvtx SECONDS: us for an
iteration in emit_nvtx, and without; and what torch.profiler says in it.
"""
import collections
import contextlib
import os
import sys
import time

import torch


class Block(torch.nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attn = torch.nn.MultiheadAttention(width, 4, batch_first=True)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(),
                                       torch.nn.Linear(4 * width, width))
        self.scale = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0] * self.scale
        return x + self.mlp(self.norm2(x))


class Model(torch.nn.Module):
    def __init__(self, layers=4):
        super().__init__()
        self.embed = torch.nn.Embedding(100, 64)
        self.layers = torch.nn.ModuleList([Block() for _ in range(layers)])
        self.head = torch.nn.Linear(64, 100)

    def forward(self, x):
        x = self.embed(x) * 2
        for layer in self.layers:
            x = layer(x)
        return self.head(x.relu())


calls = collections.Counter()


def log_modules(model):
    for name, module in model.named_modules():
        name = name or type(model).__name__

        def begins(module, args, name=name):
            calls[name] += 1
            torch.cuda.nvtx.range_push(name)

        def ends(module, args, output):
            torch.cuda.nvtx.range_pop()
        module.register_forward_pre_hook(begins)
        module.register_forward_hook(ends)


def train(steps):
    torch.manual_seed(1)
    model = Model().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.randint(100, (8, 16), device="cuda")
    log_modules(model)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data).flatten(0, 1), data.flatten())
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    for name, n in sorted(calls.items()):
        print("calls", name, n)
    print("loss %.6f" % loss.item())


def compiled():
    from torch._dynamo.utils import counters
    torch.manual_seed(1)
    model = Model().cuda().eval()
    data = torch.randint(100, (8, 16), device="cuda")
    backend = os.environ.get("BACKEND", "inductor")
    with torch.no_grad():
        want = model(data)
        model.compile(backend=backend)
        for _ in range(5):
            got = model(data)
    torch.cuda.synchronize()
    print("graphs", counters["stats"]["unique_graphs"], "breaks", sum(counters["graph_break"].values()),
          "recompiles", sum(counters["recompiles"].values()) if "recompiles" in counters else 0)
    print("same", torch.allclose(want, got, atol=1e-3))


def wait(path):
    model = Model().cuda().eval()
    data = torch.randint(100, (8, 16), device="cuda")
    n = 0
    with torch.no_grad():
        while not os.path.exists(path):
            model(data)
            n += 1
            if n == 20:
                print("ready", flush=True)
    torch.cuda.synchronize()
    hooks = torch.nn.modules.module
    print("iterations", n, "hooks", len(hooks._global_forward_hooks) + len(hooks._global_forward_pre_hooks))


def iterations(step, seconds):
    end, took = time.monotonic() + seconds, []
    while time.monotonic() < end:
        begun = time.perf_counter()
        for _ in range(50):
            step()
        torch.cuda.synchronize()
        took.append((time.perf_counter() - begun) / 50 * 1e6)
    return sorted(took)[len(took) // 2]


def emit_nvtx(seconds):
    model = Model().cuda().eval()
    data = torch.randint(100, (8, 16), device="cuda")
    with torch.no_grad():
        for emits in (False, True) * 4:
            with torch.autograd.profiler.emit_nvtx() if emits else contextlib.nullcontext():
                print("emit_nvtx" if emits else "without", "%.1f us" % iterations(lambda: model(data), seconds / 8))
        with torch.autograd.profiler.emit_nvtx():
            try:
                with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
                    model(data)
                print("torch.profiler in it: works")
            except RuntimeError as e:
                print("torch.profiler in it:", str(e).split("\n")[0])


what = sys.argv[1]
if what == "train":
    train(int(sys.argv[2]))
elif what == "compile":
    compiled()
elif what == "wait":
    wait(sys.argv[2])
else:
    emit_nvtx(float(sys.argv[2]))
