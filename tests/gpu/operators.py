# SPDX-License-Identifier: GPL-2.0
"""operators.py train STEPS: trains a small transformer with Adam. operators.py count: how many kernels each operator of
such a step launches by itself, by PyTorch's profiler ("op NAME KERNELS"); its trace goes to FILE as JSON where that is given.

Each step is an NVTX range; "step N NS" is what it took by this program's clock, with its GPU work.
"""
import collections
import sys
import time

import torch

model = torch.nn.TransformerEncoder(
    torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, batch_first=True), 2).cuda()
head = torch.nn.Linear(64, 10).cuda()
optimizer = torch.optim.Adam(list(model.parameters()) + list(head.parameters()))
data = torch.randn(8, 16, 64, device="cuda")
target = torch.randint(10, (8,), device="cuda")


def train(number):
    begun = time.monotonic_ns()
    with torch.cuda.nvtx.range(f"step {number}"):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(head(model(data).mean(1)), target)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
    return time.monotonic_ns() - begun


def count(path):
    for i in range(5):
        train(i)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as p:
        train(5)
    rows = collections.Counter()
    for e in p.events():
        for k in getattr(e, "kernels", ()):
            # what the profiler does itself is there, too
            if not k.name.startswith("Mem") and not e.name.startswith("Activity Buffer"):
                rows[e.name] += 1
    for name, n in sorted(rows.items()):
        print("op", name, n)
    if path:
        p.export_chrome_trace(path)


if sys.argv[1] == "count":
    count(sys.argv[2] if len(sys.argv) > 2 else None)
else:
    for i in range(int(sys.argv[2])):
        print("step", i, train(i))
