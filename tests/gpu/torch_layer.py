# SPDX-License-Identifier: GPL-2.0
# torch_layer.py WHAT [SECONDS [samples]]: a transformer layer with PyTorch: eager, graph (captured), compiled
# (torch.compile with CUDA graphs), triton (a kernel of one's own). Prints iterations per second, and how many kernels
# the profiler would have to see; samples: for each 100 iterations begin and end in seconds of CLOCK_MONOTONIC, and us for an iteration.
import sys
import time

import torch


class Layer(torch.nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.norm1 = torch.nn.LayerNorm(width)
        self.attention = torch.nn.MultiheadAttention(width, 4, batch_first=True)
        self.norm2 = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


def triton_step():
    import triton
    import triton.language as tl

    @triton.jit
    def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

    x = torch.rand(4096, device="cuda")
    out = torch.empty_like(x)
    return lambda: add_kernel[(4,)](x, x, out, 4096, BLOCK=1024)


def layer_step(compiled):
    model = Layer().cuda().half().eval()
    if compiled:
        model = torch.compile(model, mode="reduce-overhead")
    x = torch.randn(1, 16, 256, device="cuda", dtype=torch.half)
    return lambda: model(x)


def graph_step():
    step, graph = layer_step(False), torch.cuda.CUDAGraph()
    for _ in range(20):
        step()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def measure(step, seconds):
    begun, n = time.time(), 0
    while time.time() - begun < seconds:
        for _ in range(100):
            step()
        n += 100
        torch.cuda.synchronize()
    return n, n / (time.time() - begun)


def sample(step, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.monotonic()
        for _ in range(100):
            step()
        torch.cuda.synchronize()
        now = time.monotonic()
        print("%.6f %.6f %.3f" % (begun, now, (now - begun) * 1e4), flush=True)


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "eager"
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 2
    with torch.no_grad():
        step = {"triton": triton_step, "graph": graph_step}.get(what, lambda: layer_step(what == "compiled"))()
        for _ in range(20):
            step()
        torch.cuda.synchronize()
        if sys.argv[3:] == ["samples"]:
            return sample(step, seconds)
        rates = [measure(step, seconds / 3) for _ in range(3)]
    print("iterations %d" % sum(n for n, _ in rates))
    print("rate %.1f" % sorted(r for _, r in rates)[1])


main()
