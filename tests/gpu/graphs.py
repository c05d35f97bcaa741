# SPDX-License-Identifier: GPL-2.0
# graphs.py WHAT REPLAYS: a CUDA graph of two modules with PyTorch: torch (torch.cuda.graph) or compiled
# (torch.compile, reduce-overhead). Prints how often it was replayed.
import sys

import torch


class First(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(256, 256), torch.nn.Linear(256, 256)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


class Second(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(256)

    def forward(self, x):
        return torch.sigmoid(self.norm(x)) * x


class Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = First(), Second()

    def forward(self, x):
        return self.second(self.first(x))


def captured(model, x):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x)
    return graph.replay


def compiled(model, x):
    model = torch.compile(model, mode="reduce-overhead")
    for _ in range(10):
        model(x)
    return lambda: model(x)


def serve(step, n):
    for _ in range(n):
        step()
    torch.cuda.synchronize()


def main():
    what, n = sys.argv[1], int(sys.argv[2])
    model, x = Both().cuda().half().eval(), torch.randn(8, 256, device="cuda", dtype=torch.half)
    with torch.no_grad():
        step = (captured if what == "torch" else compiled)(model, x)
        torch.cuda.synchronize()
        serve(step, n)
    print("replays %d" % n)


main()
