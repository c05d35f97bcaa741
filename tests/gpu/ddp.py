#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""ddp.py train RANKS STEPS LATE EVERY MS NOTES [sync]: data-parallel training on RANKS GPUs,
a process each: started here, or by torchrun. Rank LATE sleeps MS ms in step EVERY - 1 and in every
EVERY-th from there. Into NOTES.RANK goes for each step a line: PID, rank, number, ns that it
slept, gradient buckets that were reduced, CLOCK_MONOTONIC at its end (sync: the GPU's end).
ddp.py check STEPS.json RANKS.json LATE NOTES: reports (--by step, --by rank) against that."""
import json
import os
import subprocess
import sys
import time

buckets = 0


def build(rank):
    import torch
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

    def count(state, bucket):
        global buckets
        buckets += 1
        return allreduce_hook(state, bucket)

    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl")
    layers = [torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.GELU()) for _ in range(16)]
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers).cuda(), device_ids=[rank])
    net.register_comm_hook(None, count)
    return net, torch.optim.AdamW(net.parameters(), lr=1e-4), torch.randn(256, 1024, device="cuda")


def train(rank, steps, late, every, seconds, notes, sync):
    import torch

    net, optimizer, x = build(rank)
    for number in range(steps):
        begun, reduced = time.monotonic_ns(), buckets
        if rank == late and number % every == every - 1:
            time.sleep(seconds)  # SLEEPS
        slept = time.monotonic_ns() - begun
        loss = net(x).square().mean()  # AFTER
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # BEFORE
        if sync:
            torch.cuda.synchronize()  # SYNC
        print(os.getpid(), rank, number, slept, buckets - reduced, time.monotonic_ns(), file=notes)
    torch.cuda.synchronize()
    torch.distributed.destroy_process_group()


def start(argv):
    """A process for each rank, as torchrun does it, which may need a network."""
    where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511", "WORLD_SIZE": argv[2]}
    ranks = [subprocess.Popen([sys.executable, *argv], env={**os.environ, **where, "RANK": str(r), "LOCAL_RANK": str(r)})
             for r in range(int(argv[2]))]
    return max(r.wait() for r in ranks) != 0


def check(steps_file, ranks_file, late, prefix):
    steps, ranks = json.load(open(steps_file)), json.load(open(ranks_file))
    late, bad = int(late), []
    rows = {(s["rank"], s["step"]): s for s in steps["steps"]}
    wait = {c["step"]: 0 for c in ranks["collectives"]}
    for c in ranks["collectives"]:
        wait[c["step"]] += c["late"] if c["last"] == late else 0
    for r in ranks["ranks"]:
        notes = [[int(n) for n in line.split()] for line in open(f"{prefix}.{r['rank']}")]
        pid, rank, count = notes[0][0], notes[0][1], len(notes)
        found = sum((rank, n) in rows for n in range(count))
        extra = sum(s["rank"] == rank for s in steps["steps"]) - found
        # in steps 0 and 1 DDP has collectives of its own: it finds out the order of its buckets
        reduced, steady = sum(n[4] for n in notes[2:]), sum((c["step"] or 0) > 1 for c in ranks["collectives"])
        print(f"rank {rank}: {found} of {count} steps, {extra} others; "
              f"{steady} of {reduced} collectives of steps 2 and later; pid {r['pid']} is {pid}")
        # the first one may be start-up
        if found < count - 1 or extra or r["pid"] != pid or steady != reduced:
            bad.append(f"rank {rank}")
        ends = [(rows[rank, n[2]]["begin"] + rows[rank, n[2]]["time"] - n[5]) / 1e6 for n in notes if (rank, n[2]) in rows]
        print(f"  its steps end {-max(ends):.3f} to {-min(ends):.3f} ms before its clock was read")
        for n in notes[1:] if rank == late else ():
            own = rows.get((rank, n[2]))
            if own and n[3] > 1e6:
                print(f"  step {n[2]}: slept {n[3] / 1e6:.3f} ms, idle {own['idle'] / 1e6:.3f}, "
                      f"others waited {wait.get(n[2], 0) / 1e6:.3f}: {own['why']}")
                bad += [f"step {n[2]}"] * (not 0.8 * n[3] < wait.get(n[2], 0) < 1.5 * n[3] + 2e6)
    print("wrong: " + ", ".join(bad) if bad else "all is as it was")
    return bool(bad)


if sys.argv[1] == "check":
    sys.exit(check(*sys.argv[2:]))
if "RANK" not in os.environ:
    sys.exit(start(sys.argv))
me = int(os.environ["RANK"])
with open(f"{sys.argv[7]}.{me}", "w") as out:
    train(me, int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]) / 1e3, out, sys.argv[8:] == ["sync"])
