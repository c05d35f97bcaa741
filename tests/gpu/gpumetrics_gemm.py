# SPDX-License-Identifier: GPL-2.0
# gpumetrics_gemm.py [N [TIMES]]: products of N x N matrices in bfloat16; prints their operations, and the time by
# CUDA's events.
import sys
import time

import torch

n = int(sys.argv[1]) if len(sys.argv) > 1 else 8192
times = int(sys.argv[2]) if len(sys.argv) > 2 else 200
a = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
b = torch.randn_like(a)
c = torch.empty_like(a)
torch.mm(a, b, out=c)
torch.cuda.synchronize()
time.sleep(0.1)
begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
begun.record()
for _ in range(times):
    torch.mm(a, b, out=c)
ended.record()
torch.cuda.synchronize()
sms = torch.cuda.get_device_properties(0).multi_processor_count
print("products %d operations %d ms %.3f sms %d" % (times, 2 * n**3, begun.elapsed_time(ended), sms))
