# SPDX-License-Identifier: GPL-2.0
"""Writes a raw stream of packets by include/grtrace: for random recordings whose numbers are known."""

import os
import re
import struct

FATES, LOST = 9, 7
SOURCE = os.environ.get("GRTRACE_SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
COMMON = ("pid", "tid", "ctx", "seqno", "ring", "device", "flags", "engine", "sample")
CODES = {"8": "B", "16": "H", "32": "I", "64": "Q"}


def rows():
    """Each event with its number and the fields of its payload."""
    found, macros = {}, {}
    events = os.path.join(SOURCE, "include/grtrace/events")
    for name in sorted(os.listdir(events)):
        with open(os.path.join(events, name), encoding="ascii") as f:
            text = re.sub(r"\\\n", " ", f.read())
        macros.update(re.findall(r"#define (GRT_\w+_FIELDS)(.*)", text))
        for number, title, rest in re.findall(r"^GRT_EVENT\((\d+), (\w+),(.*?)\)\s*$(?=\n(?:GRT_|/\*|#|\n|\Z))|\Z", text, re.M | re.S):
            for macro, fields in macros.items():
                rest = rest.replace(macro, fields)
            if title:
                found[title] = int(number), re.findall(r"GRT_(U|I|STR)\((\d+), (\w+)", rest)
    return found


ROWS = rows()


def event(time, title, **values):
    """The record, of which every other value is 0; text is cut."""
    number, fields = ROWS[title]
    payload = b""
    for kind, size, name in fields:
        if kind == "STR":
            payload += struct.pack(f"{size}s", values.pop(name, "").encode())
        else:
            payload += struct.pack("<" + (CODES[size].lower() if kind == "I" else CODES[size]), values.pop(name, 0))
    of = {name: values.pop(name, 0) for name in COMMON}
    assert not values, (title, values)
    return time, struct.pack("<QHHHBBIIQQII", time, number, 48 + len(payload), of["flags"], of["engine"], of["sample"],
                             of["pid"], of["tid"], of["ctx"], of["seqno"], of["ring"], of["device"]) + payload


def name(time, kind, number, text, owner=""):
    return event(time, "NAME", kind=kind, id=number, name=text, owner=owner)


def packet(records, cpu, number, before, lost=(0, 0)):
    """@lost: events that the CPU has lost before the packet, and up to its end"""
    data = b"".join(record for _, record in records)
    size = (64 + 2 * 8 * (1 + FATES) + len(data)) * 8
    balance = [struct.pack(f"<{1 + FATES}Q", n + gone, n, *[0] * (LOST - 1), gone, *[0] * (FATES - LOST - 1))
               for n, gone in zip((before, before + len(records)), lost)]
    return struct.pack("<IIHHIQQQQQQ", 0xc1fc1fc1, 0, 5, size // 8 - len(data), cpu, records[0][0], records[-1][0],
                       size, size, number, lost[1]) + b"".join(balance) + data


def write(path, streams, names=lambda time: [], part=40):
    """@streams: of each CPU its events, in any order; one that is lost has None for its bytes. @names: the NAME records
    that each packet begins with"""
    with open(path, "wb") as out:
        for cpu, events in enumerate(streams):
            events, before, lost = sorted(events, key=lambda e: e[0]), 0, 0
            for number, first in enumerate(range(0, len(events), part)):
                records = events[first:first + part]
                kept = [record for record in records if record[1] is not None]
                gone = len(records) - len(kept)
                if kept:
                    kept = names(kept[0][0]) + kept
                    out.write(packet(kept, cpu, number, before, (lost, lost + gone)))
                before, lost = before + len(kept), lost + gone
