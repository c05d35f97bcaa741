# SPDX-License-Identifier: GPL-2.0
"""nvmem_torch.py MOMENTS [SEED [RANK WORLD]]: memory at random by PyTorch, with cuBLAS and graphs; with WORLD, also with
collectives of NCCL, as rank RANK of WORLD on the GPU of this number. At each moment what NVML says.

Prints a line for each moment: begin and end of the question (CLOCK_MONOTONIC, ns), process, bytes.
"""
import ctypes
import os
import random
import sys
import time

import torch


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gi", ctypes.c_uint), ("ci", ctypes.c_uint)]


rank, world = (int(w) for w in sys.argv[3:5]) if len(sys.argv) > 4 else (0, 0)
nvml = ctypes.CDLL("libnvidia-ml.so.1")
gpu = ctypes.c_void_p()
assert nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetHandleByIndex_v2(rank, ctypes.byref(gpu)) == 0


def moment():
    torch.cuda.synchronize()
    found, n = (Process * 64)(), ctypes.c_uint(64)
    begin = time.monotonic_ns()
    assert nvml.nvmlDeviceGetComputeRunningProcesses_v3(gpu, ctypes.byref(n), found) == 0
    end = time.monotonic_ns()
    mine = [found[i].used for i in range(n.value) if found[i].pid == os.getpid()]
    # one write: several ranks share standard output
    os.write(1, f"{begin} {end} {os.getpid()} {mine[0] if mine else 0}\n".encode())


random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
torch.cuda.set_device(rank)
if world:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517", RANK=str(rank), WORLD_SIZE=str(world))
    torch.distributed.init_process_group("nccl")
matrix = torch.randn(2048, 2048, device="cuda")
moment()
live = []
for i in range(int(sys.argv[1])):
    what = random.random()
    if what < 0.45:
        live.append(torch.empty(random.randrange(1, 80 << 20), dtype=torch.uint8, device="cuda"))
    elif what < 0.8 and live:
        live.pop(random.randrange(len(live)))
    elif what < 0.9:
        torch.cuda.empty_cache()
    elif what < 0.92 and world:
        torch.distributed.all_reduce(torch.ones(random.randrange(1, 8 << 20), device="cuda"))
    elif what < 0.95:
        n = random.choice([256, 1024, 3000])
        a = torch.randn(n, n, device="cuda", dtype=random.choice([torch.float32, torch.float16, torch.float64]))
        a @ a
    else:
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.relu(matrix @ matrix)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            result = torch.relu(matrix @ matrix)
        graph.replay()
    moment()
if world:
    torch.distributed.destroy_process_group()
