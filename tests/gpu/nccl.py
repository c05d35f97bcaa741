#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""nccl.py bandwidth NOTES: two ranks, a process each, time loops of collectives of 1 GiB by CUDA events; into
NOTES.RANK goes for each a line: function, collectives, bytes of one, ns of all.
nccl.py delays NOTES: 100 all-reduces for each of 0.2, 1 and 5 ms, by which a random rank comes late; into NOTES.RANK
goes for each a line: CLOCK_MONOTONIC of the call, ms.
nccl.py hang NOTES: rank 1 leaves out the sixth all-reduce, and sleeps; rank 0 notes CLOCK_MONOTONIC of its own.
nccl.py check-bandwidth|check-delays REPORT.json NOTES: a report (--by collective, --by rank) against that."""
import collections
import json
import os
import random
import subprocess
import sys
import time

GIB = 1 << 30
# ns: what PyTorch and NCCL take from a call to the collective differs by less between the ranks
SAME = 50_000


def begin(rank):
    import torch

    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl")
    return torch


def loop(torch, call, warm, count):
    """Return: ns of the device for so many, which both ranks begin together."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    warm()
    torch.cuda.synchronize()
    begin.record()
    for _ in range(count):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e6


def bandwidth(rank, notes):
    torch = begin(rank)
    dist = torch.distributed
    whole = torch.ones(GIB // 4, device="cuda")
    part = torch.ones(GIB // 8, device="cuda")
    # of another size, because connections are made at the first call
    some, few = whole[:GIB // 16], part[:GIB // 32]
    calls = (
        ("AllReduce", lambda: dist.all_reduce(whole), lambda: dist.all_reduce(some)),
        ("AllGather", lambda: dist.all_gather_into_tensor(whole, part), lambda: dist.all_gather_into_tensor(some, few)),
        ("ReduceScatter", lambda: dist.reduce_scatter_tensor(part, whole), lambda: dist.reduce_scatter_tensor(few, some)),
    )
    for name, call, warm in calls:
        ns = loop(torch, call, warm, 40)
        print(name, 40, GIB, round(ns), file=notes, flush=True)
    dist.destroy_process_group()


def delays(rank, notes):
    torch = begin(rank)
    x, rng = torch.ones(1 << 18, device="cuda"), random.Random(7)
    for _ in range(10):
        torch.distributed.all_reduce(x)
        torch.cuda.synchronize()
    for ms in (0.2, 1, 5):
        for _ in range(100):
            late = rng.randrange(2)
            until = time.monotonic_ns() + ms * 1e6
            while rank == late and time.monotonic_ns() < until:
                pass
            called = time.monotonic_ns()
            torch.distributed.all_reduce(x)
            torch.cuda.synchronize()
            print(called, ms, file=notes, flush=True)
    torch.distributed.destroy_process_group()


def hang(rank, notes):
    torch = begin(rank)
    x = torch.ones(1 << 18, device="cuda")
    for _ in range(5):
        torch.distributed.all_reduce(x)
        torch.cuda.synchronize()
    if rank == 0:
        torch.distributed.all_reduce(x)
    print(time.monotonic_ns(), file=notes, flush=True)
    time.sleep(600)


def start(argv):
    """A process for each rank, as torchrun does it, which may need a network."""
    where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29517", "WORLD_SIZE": "2"}
    ranks = [subprocess.Popen([sys.executable, *argv], env={**os.environ, **where, "RANK": str(r), "LOCAL_RANK": str(r)})
             for r in range(2)]
    return max(r.wait() for r in ranks) != 0


def check_bandwidth(report, prefix):
    rows = collections.defaultdict(list)
    bad = 0
    for row in json.load(open(report))["collective_sums"]:
        rows[row["collective"], row["size"]].append(row)
    lines = [[line.split() for line in open(f"{prefix}.{rank}")] for rank in range(2)]
    for (name, count, size, ns), (_, _, _, other) in zip(*lines):
        # of 2 ranks each link carries as much as an all-reduce has, else half of it
        best, carried = min(int(ns), int(other)), int(size) * (1 if name == "AllReduce" else 0.5)
        want = carried * int(count) * 1e9 / best
        got = rows[name, int(size)]
        good = len(got) == 1 and got[0]["count"] == int(count) and got[0]["bytes"] == int(count) * int(size) \
            and abs(got[0]["busbw"] / want - 1) < 0.01
        bad += not good
        print(f"{name}: {want / 1e9:.2f} GB/s by its own clock; " + "; ".join(
            f"{g['count']} of {g['size']} bytes, busbw {g['busbw'] / 1e9:.2f} GB/s ({(g['busbw'] / want - 1) * 100:+.2f} %), "
            f"{g['algorithm']} {g['protocol']} {g['channels']} channels, kernels {g['kernels'] / 1e6:.2f} ms, "
            f"wait {(g['wait'] or 0) / 1e6:.3f} ms, {g['recorded']} ranks, inferred {g['inferred']}" for g in got) +
            ("" if good else "  WRONG"))
    return bad or not lines[0]


def check_delays(report, prefix):
    """The ranks share a clock, so each call's own time says which rank came last: now and then that is not the delayed one,
    which the machine has let run sooner. Calls within SAME ns of each other have no last rank."""
    notes = [[line.split() for line in open(f"{prefix}.{rank}")] for rank in range(2)]
    rows = sorted((c for c in json.load(open(report))["collectives"] if "AllReduce" in c["collective"]),
                  key=lambda c: c["number"])[-len(notes[0]):]
    named, n, same = collections.Counter(), collections.Counter(), collections.Counter()
    late, off = collections.defaultdict(list), collections.defaultdict(list)
    for (zero, ms), (one, _), row in zip(*notes, rows):
        by = int(one) - int(zero)
        if abs(by) < SAME:
            same[ms] += 1
            continue
        n[ms] += 1
        named[ms] += row["last"] == (by > 0)
        late[ms].append(abs(by) / 1e6)
        off[ms].append(abs(row["late"] - abs(by)) / 1e3)
    for ms in n:
        late[ms].sort()
        off[ms].sort()
        print(f"{ms} ms: {named[ms]} of {n[ms]} named, {same[ms]} came at once; late {late[ms][0]:.3f} to {late[ms][-1]:.3f} ms "
              f"by their own clock, median {late[ms][n[ms] // 2]:.3f}; the report differs by {off[ms][n[ms] // 2]:.1f} us, "
              f"at most {off[ms][-1]:.1f}")
    return named != n or len(rows) != 300 or sum(same.values()) > 15


if sys.argv[1] == "check-bandwidth":
    sys.exit(bool(check_bandwidth(*sys.argv[2:])))
if sys.argv[1] == "check-delays":
    sys.exit(bool(check_delays(*sys.argv[2:])))
if "RANK" not in os.environ:
    sys.exit(start(sys.argv))
me = int(os.environ["RANK"])
with open(f"{sys.argv[2]}.{me}", "w") as out:
    {"bandwidth": bandwidth, "delays": delays, "hang": hang}[sys.argv[1]](me, out)
