# SPDX-License-Identifier: GPL-2.0
"""_nccl.py late|sums REPORT.json LOG NCCL_LOG: whether a report's collectives are what happened, by the mocks' logs."""
import collections
import json
import sys

what, report, log, nccl = sys.argv[1:]
report = json.load(open(report))
kernels, comms, calls = {}, {}, []
for line in open(log):
    w = line.split()
    if w[0] == "G" and w[2] == "kernel":
        kernels[int(w[1]), int(w[3])] = int(w[4]), int(w[5])
for line in open(nccl):
    w = line.split()
    if w[0] == "C":
        comms[w[2]] = int(w[4])
    elif w[0] == "K":
        calls.append((int(w[1]), w[3], w[4], int(w[5]), int(w[6]), w[7], int(w[13])))
bad = []


def same(name, got, want):
    if got != want:
        bad.append("%s: %s, not %s" % (name, got, want))


def late():
    ranks = collections.defaultdict(dict)
    for pid, comm, function, number, _, _, correlation in calls:
        ranks[comm, function, number][pid] = kernels[pid, correlation]
    same("collectives", len(report["collectives"]), len(ranks))
    for row in report["collectives"]:
        one = next(v for k, v in ranks.items() if k[2] == row["number"])
        starts = sorted(start for start, _ in one.values())
        last = max(one, key=lambda pid: one[pid][0])
        same("#%u: last" % row["number"], row["pid"], last)
        same("#%u: late" % row["number"], row["late"], starts[-1] - starts[(len(starts) - 1) // 2])
        same("#%u: wait" % row["number"], row["wait"], starts[-1] - starts[0])
        same("#%u: time" % row["number"], row["time"], max(end for _, end in one.values()) - starts[-1])
        same("#%u: inferred" % row["number"], "communicator" in row["inferred"], False)


# Of nccl-tests' documentation (PERFORMANCE.md): what counts as size, and the factor of the bus, for n ranks.
FACTORS = {
    "AllReduce": (lambda n: 1, lambda n: 2 * (n - 1) / n),
    "AllGather": (lambda n: n, lambda n: (n - 1) / n),
    "Broadcast": (lambda n: 1, lambda n: 1),
    "Send": (lambda n: 1, lambda n: 1),
    "Recv": (lambda n: 1, lambda n: 1),
}
BYTES = {"ncclFloat32": 4, "ncclInt8": 1, "ncclBfloat16": 2}


def sums():
    in_kernel = collections.defaultdict(float)
    for _, comm, function, _, count, datatype, correlation in calls:
        size, factor = FACTORS[function]
        in_kernel[correlation] += count * BYTES[datatype] * size(comms[comm]) * factor(comms[comm])
    rows = collections.defaultdict(lambda: [0, 0, 0.0, 0.0])
    for pid, comm, function, _, count, datatype, correlation in calls:
        size, factor = FACTORS[function]
        n = comms[comm]
        nbytes = count * BYTES[datatype] * size(n)
        start, end = kernels[pid, correlation]
        row = rows[comm, function, (nbytes - 1).bit_length()]
        row[0] += 1
        row[1] += nbytes
        row[2] += (end - start) * (nbytes * factor(n)) / in_kernel[correlation]
        row[3] += nbytes * factor(n)
    same("rows", len(report["collective_sums"]), len(rows))
    for got in report["collective_sums"]:
        count, nbytes, ns, carried = rows[got["communicator"], got["collective"], (got["size"] - 1).bit_length()]
        same("count", got["count"], count)
        same("bytes", got["bytes"], nbytes)
        for name, value in (("time", ns), ("algbw", nbytes * 1e9 / ns), ("busbw", carried * 1e9 / ns)):
            if abs(got[name] - value) > max(1, value * 1e-3):
                bad.append("%s: %s, not %s" % (name, got[name], value))


{"late": late, "sums": sums}[what]()
print("\n".join(bad))
sys.exit(bool(bad))
