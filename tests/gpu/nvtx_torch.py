# SPDX-License-Identifier: GPL-2.0
"""nvtx_torch.py STEPS: trains a small model with ranges of its own and with emit_nvtx, and prints what it did.

Lines: "pushed COUNT NAME" for ranges and marks by torch.cuda.nvtx, and "linears N": how often such a step calls
aten::addmm, by PyTorch's profiler.
"""
import collections
import sys

import torch

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
pushed = collections.Counter()
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.randn(64, 256, device="cuda")
target = torch.randint(10, (64,), device="cuda")


def within(name):
    pushed[name] += 1
    return torch.cuda.nvtx.range(name)


def train(number):
    with within(f"step {number}"):
        with within("forward"):
            loss = torch.nn.functional.cross_entropy(model(data), target)
        with within("backward"):
            loss.backward()
        with within("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        torch.cuda.nvtx.mark("done")
        pushed["mark done"] += 1


for i in range(steps):
    train(i)
started = [torch.cuda.nvtx.range_start("asynchronous") for _ in range(5)]
for s in started:
    torch.cuda.nvtx.range_end(s)
torch.cuda.synchronize()
with torch.autograd.profiler.emit_nvtx():
    train(steps)
torch.cuda.synchronize()
# the same step once more, by PyTorch's own list of operators
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:
    train(steps + 1)
torch.cuda.synchronize()
linears = sum(1 for e in p.events() if e.name == "aten::addmm")
print("linears", linears)
for name, n in pushed.items():
    print(f"pushed {n} {name}")
