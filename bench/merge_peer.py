#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# merge_peer.py CPU.TXT GPU.GRT: what bench/merge.sh compares `grtrace merge`
# with: annotate text and the packets of a recording, read, sorted, joined and
# printed in the plain way: a list of events, regular expressions, dictionaries,
# a format string.

import glob
import re
import struct
import sys

LINE = re.compile(r"\[(\d+)\.(\d+)\] (\w+) (.*)")
FIELD = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")
PACKET = struct.Struct("<IIHHIQQQQ")
EVENT = struct.Struct("<QHHHBBIIQQII")
NAMES = {1: "SUBMIT", 2: "COMMIT", 3: "START", 4: "END", 5: "COMPLETE"}


def read_text(path):
    events = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = LINE.match(line)
            if m:
                sec, frac, name, rest = m.groups()
                time = int(sec) * 10**9 + int(frac.ljust(9, "0"))
                events.append((time, "CPU", name, dict(FIELD.findall(rest))))
    return events


def read_stream(path):
    events = []
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        _, _, _, header, _, _, _, content, size = PACKET.unpack_from(data, at)
        record, end = at + header, at + content // 8
        while record < end:
            time, kind, length, _, engine, _, pid, tid, ctx, seqno, ring, _ = EVENT.unpack_from(data, record)
            if kind in NAMES:
                events.append((time, "GPU", NAMES[kind], {
                    "ctx_id": hex(ctx), "engine": engine, "ring": ring, "seqno": seqno, "pid": pid, "tid": tid}))
            record += length
        at += size // 8
    return events


def join(events):
    inside, jobs = {}, {}
    for time, _, name, fields in events:
        job = (fields.get("ctx_id"), fields.get("seqno"))
        if name == "IOCTL_ENTER":
            inside[int(fields["tid"])] = time
        elif name == "IOCTL_EXIT":
            inside.pop(int(fields["tid"]), None)
        elif name == "SUBMIT":
            if fields["tid"] in inside:
                fields["since_ioctl_ns"] = time - inside[fields["tid"]]
            jobs[job] = time
        elif name == "COMPLETE":
            jobs.pop(job, None)
        else:
            if job in jobs:
                fields["since_last_ns"] = time - jobs[job]
            jobs[job] = time


def main():
    events = read_text(sys.argv[1])
    for path in sorted(glob.glob(sys.argv[2] + "/kmod_*")):
        events += read_stream(path)
    events.sort(key=lambda e: e[0])
    join(events)
    for time, source, name, fields in events:
        text = ", ".join(f"{k}={v}" for k, v in fields.items())
        print(f"[{time // 10**9}.{time % 10**9:09}] {source} {name:<16} {text}")


main()
