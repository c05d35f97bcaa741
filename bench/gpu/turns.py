# SPDX-License-Identifier: GPL-2.0
# turns.py ONLY_LIBRARY GRTRACE_LIBRARY: see turns.sh
import array
import os
import shutil
import statistics
import sys
import time

import torch

only, library = sys.argv[1:3]
rounds, seconds = int(os.environ.get("ROUNDS", 10)), float(os.environ.get("SECONDS_EACH", 1))
recording = os.path.join(os.getcwd(), "turn.grt")
traced = {"CUDA_INJECTION64_PATH": library, "GRTRACE_OUTPUT": recording}
ways = {
    "untraced": {},
    "CUPTI alone": {"CUDA_INJECTION64_PATH": only, "ONLY_KINDS": "10"},
    "CUPTI alone, whole graphs": {"CUDA_INJECTION64_PATH": only, "ONLY_KINDS": "10,51"},
    "without stacks": {**traced, "GRTRACE_STACK": "none"},
    "with stacks": {**traced, "GRTRACE_STACK": "inproc"},
    "with stacks and ranges": {**traced, "GRTRACE_STACK": "inproc", "NVTX_INJECTION64_PATH": library},
    "--graph=graph, with stacks": {**traced, "GRTRACE_STACK": "inproc", "GRTRACE_GRAPH": "graph"},
}
loops = {
    "layer": ["untraced", "CUPTI alone", "without stacks", "with stacks", "with stacks and ranges"],
    "replay": ["untraced", "CUPTI alone", "with stacks", "CUPTI alone, whole graphs", "--graph=graph, with stacks"],
}


class Layer(torch.nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attention = torch.nn.MultiheadAttention(width, 4, batch_first=True)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


def layer():
    net = Layer().cuda().half().eval()
    x = torch.randn(1, 16, 256, device="cuda", dtype=torch.half)
    return lambda: net(x)


def replay():
    x, graph, stream = torch.zeros(64, device="cuda"), torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            x.add_(1)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(190):
            x.add_(1)

    def step():
        graph.replay()
        torch.cuda.synchronize()

    return step


# us of an iteration: the mean, with a wait for the device after each 100, and the 50th and 99th percentile.
def measure(step):
    for _ in range(100):
        step()
    torch.cuda.synchronize()
    took, n, clock = array.array("d"), 0, time.perf_counter
    begun = clock()
    while clock() - begun < seconds:
        for _ in range(100):
            before = clock()
            step()
            took.append(clock() - before)
        torch.cuda.synchronize()
        n += 100
    mean, took = (clock() - begun) / n, sorted(took)
    return n + 100, mean * 1e6, took[n // 2] * 1e6, took[n * 99 // 100] * 1e6


# Return: iterations, the three numbers, and bytes of the recording
def turn(loop, way):
    shutil.rmtree(recording, ignore_errors=True)
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read)
        os.environ.update(ways[way])
        with torch.no_grad():
            numbers = measure(globals()[loop]())
        os.write(write, " ".join(map(str, numbers)).encode())
        os.close(write)
        sys.exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        numbers = [float(x) for x in f.read().split()]
    os.waitpid(pid, 0)
    files = os.listdir(recording) if os.path.isdir(recording) else []
    return numbers + [sum(os.path.getsize(os.path.join(recording, f)) for f in files)]


for loop, of in loops.items():
    rows = {way: [] for way in of}
    for _ in range(rounds):
        for way in of:
            rows[way].append(turn(loop, way))
    least = {way: [min(column) for column in zip(*rows[way])] for way in of}
    print(f"{loop}: us of an iteration, quietest of {rounds} turns (median)")
    for way in of:
        middle = [statistics.median(column) for column in zip(*rows[way])]
        numbers = "  ".join(f"{name} {least[way][i]:7.1f} ({middle[i]:7.1f})" for i, name in ((1, "mean"), (2, "p50"), (3, "p99")))
        size = statistics.median(r[4] / r[0] for r in rows[way])
        print(f"    {way:28} {numbers}  {least[way][1] / least['untraced'][1]:.2f} of untraced  {size:7.0f} bytes")
