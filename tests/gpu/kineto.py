# SPDX-License-Identifier: GPL-2.0
"""kineto.py HOW: launches a known number of kernels in three phases, the middle one with a profiler in the process.

HOW:
  torch   the profiler is torch.profiler
  client  the profiler registers CUPTI's activity callbacks itself, without a subscription, as Kineto does from 2026-08 on
  facts   no phases: what CUPTI answers to the calls on which grtrace relies (to be run without grtrace)

It prints "phase NAME BEGIN END KERNELS" (ns of CLOCK_MONOTONIC) and "profiler KERNELS", the kernels that the profiler saw.
"""
import ctypes
import sys
import time

import torch

KERNEL, CONCURRENT_KERNEL, MEMCPY, MEMSET = 3, 10, 1, 2
x = torch.zeros(1024, device="cuda")
torch.cuda.synchronize()


def launches(n):
    for _ in range(n):
        x.add_(1)
    torch.cuda.synchronize()


def phase(name, work):
    begin = time.monotonic_ns()
    n = work()
    print("phase", name, begin, time.monotonic_ns(), n, flush=True)
    time.sleep(0.3)


def plain():
    launches(2000)
    return 2000


def for_two_seconds():
    end, n = time.monotonic() + 2, 0
    while time.monotonic() < end:
        launches(100)
        n += 100
        time.sleep(0.005)
    return n


class Client:
    """A second client of CUPTI. Buffers that are not its own are left alone, as Kineto does."""

    def __init__(self):
        with open("/proc/self/maps") as f:
            paths = sorted({line.split()[-1] for line in f if "libcupti.so" in line})
        print("cupti", *paths, flush=True)
        self.cupti = ctypes.CDLL(paths[0])
        self.buffers, self.kernels, self.foreign, self.other = {}, 0, 0, 0
        void, number, size = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_size_t
        p = ctypes.POINTER
        self.request_type = ctypes.CFUNCTYPE(None, p(void), p(size), p(size))
        self.complete_type = ctypes.CFUNCTYPE(None, void, number, void, size, size)
        self.callbacks = self.request_type(self.request), self.complete_type(self.complete)

    def request(self, at, size, most):
        buffer = ctypes.create_string_buffer(1 << 20)
        address = ctypes.addressof(buffer)
        self.buffers[address] = buffer
        at[0], size[0], most[0] = address, 1 << 20, 0

    def complete(self, context, stream, at, size, valid):
        if at not in self.buffers:
            self.foreign += 1
            return
        record = ctypes.c_void_p()
        while valid and not self.cupti.cuptiActivityGetNextRecord(ctypes.c_void_p(at), ctypes.c_size_t(valid),
                                                                  ctypes.byref(record)):
            kind = ctypes.cast(record, ctypes.POINTER(ctypes.c_uint32))[0]
            self.kernels += kind in (KERNEL, CONCURRENT_KERNEL)
            self.other += kind not in (KERNEL, CONCURRENT_KERNEL)

    def start(self):
        print("register", self.cupti.cuptiActivityRegisterCallbacks(*self.callbacks), flush=True)
        for kind in MEMCPY, MEMSET, CONCURRENT_KERNEL:
            print("enable", kind, self.cupti.cuptiActivityEnable(kind), flush=True)

    def stop(self):
        torch.cuda.synchronize()
        for kind in MEMCPY, MEMSET, CONCURRENT_KERNEL:
            print("disable", kind, self.cupti.cuptiActivityDisable(kind), flush=True)
        print("flush", self.cupti.cuptiActivityFlushAll(1), flush=True)

    def told(self):
        return f"{self.kernels} kernels, {self.other} other records, {self.foreign} buffers of somebody else"


def with_client():
    client = Client()
    client.start()
    n = for_two_seconds()
    client.stop()
    print("profiler", client.kernels, flush=True)
    print("client:", client.told(), flush=True)
    return n


def with_torch():
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        n = for_two_seconds()
    events = p.profiler.kineto_results.events()
    kernels = sum(e.device_type() == torch.autograd.DeviceType.CUDA and "elementwise" in e.name() for e in events)
    print("profiler", kernels, flush=True)
    return n


def facts():
    client = Client()
    other = Client()
    client.start()
    launches(100)
    print("KERNEL beside CONCURRENT_KERNEL:", client.cupti.cuptiActivityEnable(KERNEL), "(14: not compatible)", flush=True)
    print("and disabled:", client.cupti.cuptiActivityDisable(KERNEL), flush=True)
    launches(100)
    # not flushed: whose is the buffer that CUPTI has?
    other.start()
    launches(100)
    other.stop()
    print("first client:", client.told(), flush=True)
    print("second client:", other.told(), flush=True)
    left = 0
    for at, buffer in client.buffers.items():
        record = ctypes.c_void_p()
        for _ in range(10000):
            r = client.cupti.cuptiActivityGetNextRecord(ctypes.c_void_p(at), ctypes.c_size_t(1 << 20), ctypes.byref(record))
            if r:
                print("the end of a buffer that was not full:", r, "(12: limit, 21: invalid kind)", flush=True)
                break
            kind = ctypes.cast(record, ctypes.POINTER(ctypes.c_uint32))[0]
            if not kind:
                print("the end of a buffer that was not full: a record of kind 0", flush=True)
                break
            left += 1
    print("records in the first client's buffers:", left, flush=True)
    print("KERNEL, with CONCURRENT_KERNEL disabled:", client.cupti.cuptiActivityEnable(KERNEL), flush=True)
    client.cupti.cuptiActivityDisable(KERNEL)
    client.start()
    launches(100)
    client.stop()
    print("first client, registered again:", client.told(), flush=True)


how = sys.argv[1]
print("torch", torch.__version__, "cuda", torch.version.cuda, flush=True)
if how == "facts":
    facts()
else:
    # away from the kernel that made x
    time.sleep(0.3)
    phase("before", plain)
    phase("middle", with_torch if how == "torch" else with_client)
    time.sleep(0.7)
    phase("after", plain)
