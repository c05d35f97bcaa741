# SPDX-License-Identifier: GPL-2.0
# torch_profiler.py HOW [SESSIONS]: works with CUDA while `grtrace record -d` records it, and when that has ended looks
# at its own kernels with PyTorch's profiler. HOW it works until then:
#   busy     one kernel after the other     threads  the same in four threads
#   graph    replays of a CUDA graph        idle     no call from 1 s before the end until 3 s after it
#   soon     the same, until 0.2 s after it
# Untraced it works for 2 s. What it prints is for tests/gpu/cuda_back.sh.
import os
import sys
import threading
import time

import torch
from torch.profiler import ProfilerActivity, profile

N = 500
begun = time.monotonic()


def is_recorded():
    path = os.environ.get("GRTRACE_OUTPUT")
    if not path:
        return time.monotonic() - begun < 2
    with open(path + "/metadata") as f:
        return 'state = "recording"' in f.read()


x = torch.zeros(1024, device="cuda")
torch.cuda.synchronize()


def steps(n):
    for _ in range(n):
        x.add_(1)


# Ten kernels, captured while it is recorded.
def make_graph():
    steps(10)
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        steps(10)
    return g


def work_until(done, work):
    while not done():
        work()
        torch.cuda.synchronize()


def us_for_a_launch():
    best = 1e9
    for _ in range(20):
        torch.cuda.synchronize()
        t = time.perf_counter()
        steps(1000)
        best = min(best, (time.perf_counter() - t) * 1e3)
    torch.cuda.synchronize()
    return best


def session(work, kernels):
    before = time.time_ns()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        work()
        torch.cuda.synchronize()
    after = time.time_ns()
    events = p.profiler.kineto_results.events()
    of_gpu = [e for e in events if e.device_type() == torch.autograd.DeviceType.CUDA and "elementwise" in e.name()]
    launches = [e for e in events if e.name() in ("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel",
                                                  "cuLaunchKernelEx", "cudaGraphLaunch")]
    inside = sum(before <= e.start_ns() <= after for e in of_gpu)
    print("session: %d kernels ran, %d seen, %d in their time, %d launches" %
          (kernels, len(of_gpu), inside, len(launches)), flush=True)


def main():
    how, sessions = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    work, kernels = (lambda: steps(N)), N
    if how == "graph":
        g = make_graph()
        work, kernels = (lambda: [g.replay() for _ in range(N // 10)]), N
    print("ready %.1f" % time.monotonic(), flush=True)
    print("us %.2f recorded" % us_for_a_launch(), flush=True)
    rest = threading.Event()
    threads = [threading.Thread(target=work_until, args=(rest.is_set, work)) for _ in range(4 * (how == "threads"))]
    for t in threads:
        t.start()
    if how in ("idle", "soon"):
        torch.cuda.synchronize()
        while is_recorded():
            time.sleep(0.01)
        time.sleep(3 if how == "idle" else 0.2)
    else:
        work_until(lambda: not is_recorded(), work)
        end = time.monotonic() + 0.5
        work_until(lambda: time.monotonic() > end, work)
    rest.set()
    for t in threads:
        t.join()
    torch.cuda.synchronize()
    if how != "soon":
        print("us %.2f after it" % us_for_a_launch(), flush=True)
    try:
        for _ in range(sessions):
            session(work, kernels)
    except RuntimeError as e:
        print("session: failed: " + str(e).splitlines()[0], flush=True)
    print("us %.2f after the profiler" % us_for_a_launch(), flush=True)
    for _ in range(100):
        work()
    torch.cuda.synchronize()
    assert x[0].item() == x[1023].item() > 0
    print("done", flush=True)


main()
