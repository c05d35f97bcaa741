#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A recording of two CPUs, written by the format's description, and what is in it.

packets.py DIR            DIR/raw with all packets, DIR/{longest,events,processes}: what is in them
packets.py --follow DIR OUTPUT COMMAND...
                          plays a recorder in DIR while COMMAND, which follows it, writes OUTPUT: the second half
                          comes when the first has arrived
"""
import fcntl
import os
import struct
import subprocess
import sys
import time

FORMAT, FATES = 5, 9
TYPES = {"SUBMIT": (1, 16), "COMMIT": (2, 8), "START": (3, 0), "END": (4, 16), "COMPLETE": (5, 8)}
JOBS = 60


def jobs():
    for i in range(1, JOBS + 1):
        begin = 1_000_000_000 + i * 2_000_000
        ran = i * 7919 % 1009 * 1000 + i
        at = {"SUBMIT": begin, "COMMIT": begin + 10_000, "START": begin + 20_000,
              "END": begin + 20_000 + ran, "COMPLETE": begin + 25_000 + ran}
        yield {"ctx": 100 + i % 3, "seqno": i, "pid": 1000 + i % 4, "cpu": i % 2, "ran": ran, "at": at}


def record(name, job):
    number, more = TYPES[name]
    return struct.pack("<QHHHBBIIQQII", job["at"][name], number, 48 + more, 0, 1, 0, job["pid"], job["pid"],
                       job["ctx"], job["seqno"], 7, 0) + bytes(more)


def packets(cpu):
    events = sorted((time, name, job) for job in jobs() if job["cpu"] == cpu
                    for name, time in ((n, job["at"][n]) for n in TYPES))
    for number, first in enumerate(range(0, len(events), 17)):
        part = events[first:first + 17]
        records = b"".join(record(name, job) for _, name, job in part)
        size = (64 + 2 * 8 * (1 + FATES) + len(records)) * 8
        balance = [struct.pack("<%dQ" % (1 + FATES), n, n, *[0] * (FATES - 1)) for n in (first, first + len(part))]
        yield struct.pack("<IIHHIQQQQQQ", 0xc1fc1fc1, 0, FORMAT, size // 8 - len(records), cpu, part[0][0],
                          part[-1][0], size, size, number, 0) + b"".join(balance) + records


def write(directory):
    with open(f"{directory}/raw", "wb") as f:
        f.write(b"".join(b"".join(packets(cpu)) for cpu in (0, 1)))
    with open(f"{directory}/longest", "w") as f:
        for j in sorted(jobs(), key=lambda j: -j["ran"])[:10]:
            print(f"{j['ran']} ns: job {j['ctx']}:{j['seqno']} of process {j['pid']}", file=f)
    with open(f"{directory}/events", "w") as f:
        for line in sorted(f"{t} cpu {j['cpu']} {n} {j['ctx']}:{j['seqno']}" for j in jobs() for n, t in j["at"].items()):
            print(line, file=f)
    with open(f"{directory}/processes", "w") as f:
        for pid in sorted({j["pid"] for j in jobs()}):
            ran = [j["ran"] for j in jobs() if j["pid"] == pid]
            print(f"{pid},{len(ran)},{sum(ran)},{max(ran)}", file=f)


def follow(directory, output, command):
    data = [b"".join(packets(cpu)) for cpu in (0, 1)]
    half = [len(d) // 2 for d in data]  # in the middle of a packet
    lock = os.open(directory, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    files = [open(f"{directory}/kmod_{cpu}", "wb", buffering=0) for cpu in (0, 1)]
    with open(output, "w") as out:
        follower = subprocess.Popen(command, stdout=out)
    for f, d, h in zip(files, data, half):
        f.write(d[:h])
    while not os.path.getsize(output) and follower.poll() is None:
        time.sleep(0.05)
    print("it prints while the recording is made:", "yes" if follower.poll() is None else "no")
    for at in range(0, max(map(len, data)), 1001):
        for f, d, h in zip(files, data, half):
            f.write(d[h + at:h + at + 1001])
    os.close(lock)
    sys.exit(follower.wait())


if sys.argv[1] == "--follow":
    follow(sys.argv[2], sys.argv[3], sys.argv[4:])
write(sys.argv[1])
