# SPDX-License-Identifier: GPL-2.0
"""_timeline.py perfetto|chrome FILE: reads an exported timeline as its readers do and prints it.

A line for each slice, instant and counter value, sorted, in one form for both
formats, so that they can be compared; then a line of counts. It shares no code
with the writers: the protocol buffers are taken apart here, by the rules of
Perfetto's documentation. What a reader would drop or misread ends it with a
message and status 1: names that are not interned, state that was not cleared,
time that goes back, ends without a beginning, events of a track that was not
told, arrows that come from nowhere.
"""
import json
import re
import sys
from decimal import Decimal


class Bad(Exception):
    pass


# ------------------------------------------------------------ the wire format

def varint(data, at):
    shift = value = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at += 1
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a message: number -> list of values."""
    out, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        elif wire == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise Bad("a field is cut")
            value, at = data[at:at + size], at + size
        else:
            raise Bad(f"wire type {wire}")
        out.setdefault(key >> 3, []).append(value)
    return out


def one(message, number, otherwise=None):
    return message[number][-1] if number in message else otherwise


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def text(value):
    return value.decode("utf-8")  # an invalid one is an error


# ------------------------------------------------------------------ the picture

class Picture:
    """What is drawn, in the common form."""

    def __init__(self):
        self.lines = []
        self.open = {}   # track -> stack of [start, name, args, flows]
        self.ends = {}   # track -> end of its last slice
        self.flows_out = set()
        self.flows_in = set()
        self.counts = {"slices": 0, "instants": 0, "values": 0}

    def put(self, what, start, length, track, name, args, flows=()):
        words = [f"{key}={value}" for key, value in sorted(args.items())]
        words += [f"{mark}{value:x}" for mark, value in flows]
        line = f"{start:012d}+{length:<9} {what:8} [{track}] {name} {' '.join(words)}"
        self.lines.append(re.sub(r"[\x00-\x1f\x7f]", lambda c: f"\\x{ord(c[0]):02x}", line.rstrip()))
        for mark, value in flows:
            (self.flows_out if mark == ">" else self.flows_in).add(value)

    def begin(self, track, start, name, args, flows=()):
        self.counts["slices"] += 1
        self.open.setdefault(track, []).append([start, name, dict(args), list(flows)])

    def end(self, track, at, args, path):
        stack = self.open.get(track)
        if not stack:
            raise Bad(f"an end at {at} on {path} ends nothing")
        start, name, more, flows = stack.pop()
        more.update(args)
        self.put("slice", start, at - start, path, name, more, flows)

    def finish(self, path):
        for track, stack in self.open.items():
            for start, name, args, flows in stack:
                self.put("slice", start, "open", path(track), name, args, flows)
        lonely = self.flows_in - self.flows_out
        print("\n".join(sorted(self.lines)))
        print("counts", " ".join(f"{k}={v}" for k, v in self.counts.items()),
              f"arrows={len(self.flows_in & self.flows_out)} from_nowhere={len(lonely)}")


# ------------------------------------------------------------------- Perfetto

class Perfetto:
    CLOCKS = {1: "realtime", 3: "monotonic", 6: "boottime"}

    def __init__(self, data):
        self.picture = Picture()
        self.tracks = {}
        self.processes = {}
        self.state = {}
        self.primary = None
        self.work = []   # slices of GPUs, whose names come at the end
        self.gpus = []
        for packet in fields(data).get(1, []):
            self.packet(fields(packet))

    def packet(self, p):
        sequence = one(p, 10, 0)
        if not sequence:
            raise Bad("a packet without a sequence")
        flags = one(p, 13, 0)
        if flags & 1:
            self.state[sequence] = {"names": {}, "defaults": {}, "clock": None, "last": None}
        state = self.state.get(sequence)
        if flags & 2 and state is None:
            raise Bad(f"sequence {sequence} needs a state that was never cleared")
        if 59 in p:
            state["defaults"] = fields(one(p, 59))
        if 12 in p:
            for table, entries in fields(one(p, 12)).items():
                for entry in map(fields, entries):
                    if table in (6, 7):  # frames and stacks are numbers of names
                        continue
                    if (table, one(entry, 1)) in state["names"]:
                        raise Bad(f"iid {one(entry, 1)} of table {table} is interned twice")
                    whole = table in (23, 1000)  # contexts, kernels
                    state["names"][table, one(entry, 1)] = entry if whole else text(one(entry, 2))
        if 6 in p:
            self.snapshot(fields(one(p, 6)), state)
        if 60 in p:
            self.track(fields(one(p, 60)))
        if 11 in p:
            self.event(p, fields(one(p, 11)), state)
        if 53 in p:
            self.render_stage(fields(one(p, 53)), self.time(p, state), state)
        if 128 in p:
            self.gpus = [text(one(fields(g), 1)) for g in fields(one(p, 128))[1]]

    def snapshot(self, s, state):
        clocks = [fields(c) for c in s.get(1, [])]
        if 2 in s:
            self.primary = one(s, 2)
            print("clocks", " ".join(f"{self.CLOCKS[one(c, 1)]}={one(c, 2)}" for c in clocks),
                  f"primary={self.CLOCKS[self.primary]}")
        for clock in clocks:
            if one(clock, 1) >= 64:
                other = [c for c in clocks if one(c, 1) == 3]
                if not one(clock, 3) or not other or one(other[0], 2) != one(clock, 2):
                    raise Bad("a private clock without its monotonic time")
                state["clock"] = one(clock, 2)

    def track(self, t):
        uuid = one(t, 1)
        parent = one(t, 5, 0)
        if 3 in t:
            process = fields(one(t, 3))
            name = f"{text(one(process, 6, b''))} {one(process, 1)}"
            self.processes[one(process, 1)] = uuid
        elif 4 in t:
            thread = fields(one(t, 4))
            name = f"{text(one(thread, 5, b''))} {one(thread, 2)}"
            parent = self.processes[one(thread, 1)]
        else:
            name = text(one(t, 2, b""))
            if 8 in t and 6 in fields(one(t, 8)):
                name += f" [{text(one(fields(one(t, 8)), 6))}]"
        self.tracks[uuid] = (name, parent)

    def path(self, uuid):
        names = []
        while uuid:
            if uuid not in self.tracks:
                raise Bad(f"track {uuid} was never told")
            name, uuid = self.tracks[uuid]
            names.insert(0, name)
        return "/".join(names)

    def time(self, p, state):
        clock = one(p, 58) or one(state["defaults"] if state else {}, 58)
        if clock == 3:
            return one(p, 8)
        if clock != 64 or state["clock"] is None:
            raise Bad(f"stamp of clock {clock}, which is not known")
        state["clock"] += one(p, 8)
        return state["clock"]

    def name(self, state, table, iid):
        if (table, iid) not in state["names"]:
            raise Bad(f"iid {iid} of table {table} is not interned")
        return state["names"][table, iid]

    def args(self, e, state):
        out = {}
        for a in map(fields, e.get(4, [])):
            name = text(one(a, 10)) if 10 in a else self.name(state, 3, one(a, 1))
            if 2 in a:
                out[name] = "true" if one(a, 2) else "false"
            elif 3 in a:
                out[name] = one(a, 3)
            elif 4 in a:
                out[name] = signed(one(a, 4))
            elif 7 in a:
                out[name] = hex(one(a, 7))
            else:
                out[name] = text(one(a, 6))
        return out

    def event(self, p, e, state):
        defaults = fields(one(state["defaults"], 11, b"")) if state else {}
        track = one(e, 11) or one(defaults, 11)
        path, at, kind = self.path(track), self.time(p, state), one(e, 9)
        if track == 0xffffffff:
            print(text(one(e, 23)), " ".join(f"{k}={v}" for k, v in self.args(e, state).items()))
            return
        for category in e.get(3, []):
            self.name(state, 1, category)
        correlation = fields(one(e, 3000, b""))
        flows = [(">", f) for f in correlation.get(1, [])]
        name = self.name(state, 2, one(e, 10)) if 10 in e else ""
        if kind == 1:
            self.picture.begin(track, at, name, self.args(e, state), flows)
        elif kind == 2:
            self.picture.end(track, at, self.args(e, state), path)
        elif kind == 3:
            self.picture.counts["instants"] += 1
            self.picture.put("instant", at, 0, path, name, self.args(e, state), flows)
        elif kind == 4:
            self.picture.counts["values"] += 1
            self.picture.put("counter", at, 0, path, "", {"value": signed(one(e, 30))})
        else:
            raise Bad(f"event type {kind}")

    # As the values of the same slice are called in the other format.
    ARGS = {"registers_per_thread": "registers", "shared_mem_static": "shared_static",
            "shared_mem_dynamic": "shared_dynamic"}

    def launch(self, launch, state):
        out = {}
        for a in map(fields, launch.get(3, [])):
            name = self.name(state, 1001, one(a, 1))
            value = signed(one(a, 3)) if 3 in a else one(a, 4) if 4 in a else text(one(a, 6))
            if name in ("start_inferred", "end_inferred"):  # has no boolean
                value = "true" if value else "false"
            out[self.ARGS.get(name, name)] = value
        for field, what in ((1, "grid"), (2, "block")):
            for axis, value in fields(one(launch, field, b"")).items():
                out[f"{what}_{' xyz'[axis]}"] = value[-1]
        return out

    def render_stage(self, e, at, state):
        name = self.name(state, 2, one(e, 20)) if 20 in e else ""
        self.name(state, 24, one(e, 14))
        if 19 in e:
            kernel = self.name(state, 1000, one(e, 19))
            if text(one(kernel, 3)) != name:
                raise Bad(f"a kernel is {name} and {text(one(kernel, 3))}")
        context = self.name(state, 23, one(e, 5)) if 5 in e else {}
        queue = self.name(state, 24, one(e, 13))
        self.picture.counts["slices"] += 1
        self.work.append((at, one(e, 2), queue, context, one(e, 11), name,
                          self.launch(fields(one(e, 21, b"")), state), one(e, 1)))

    def put_work(self, at, length, queue, context, gpu, name, args, number):
        if one(context, 3) == 4:  # of CUDA: a stream of a process
            place = self.path(self.processes[one(context, 2)])
        else:
            place = self.gpus[gpu] if gpu is not None else ""
        if "pid" in args and one(context, 2, 0) != args["pid"]:
            raise Bad(f"work of {args['pid']} is that of {one(context, 2, 0)}")
        # the numbers of jobs without a submit, and of what has no identity, are no arrows
        flows = [("<", number)] if number in self.picture.flows_out else []
        self.picture.put("slice", at, length, f"{place}/{queue}", name, args, flows)

    def finish(self):
        if self.primary != 3:
            raise Bad("no primary clock")
        for work in self.work:
            self.put_work(*work)
        self.picture.finish(self.path)


# --------------------------------------------------------------------- Chrome

class Chrome:
    def __init__(self, data):
        top = json.loads(data.decode("utf-8"), parse_float=Decimal)
        self.picture = Picture()
        self.base = top["baseTimeNanoseconds"]
        self.processes, self.threads = {}, {}
        self.slices = {}
        print("balance", " ".join(f"{k}={v}" for k, v in top["otherData"].items()))
        flows = {}
        for e in top["traceEvents"]:
            if e["ph"] in "sf":
                flows.setdefault((e["pid"], e["tid"], e["ts"]), []).append(
                    (">" if e["ph"] == "s" else "<", int(e["id"], 16)))
                if e["ph"] == "f" and e.get("bp") != "e":
                    raise Bad("an arrow that does not end where it says")
        for e in top["traceEvents"]:
            self.event(e, flows)

    def event(self, e, flows):
        kind, track = e["ph"], (e["pid"], e["tid"])
        if kind == "M":
            table, key = (self.processes, e["pid"]) if e["name"] == "process_name" else (self.threads, track)
            table[key] = e["args"]["name"]
            return
        if kind in "sf":
            return
        if e["ts"] < 0:
            raise Bad("a stamp before 0, which Perfetto drops")
        at = self.ns(e["ts"]) + self.base
        args = {k: str(v).lower() if isinstance(v, bool) else v for k, v in e.get("args", {}).items()}
        name, path = e.get("name", ""), self.path(track)
        arrows = flows.get((*track, e["ts"]), [])
        if kind == "B":
            self.picture.begin(track, at, name, args)
        elif kind == "E":
            self.picture.end(track, at, args, path)
        elif kind == "X":
            if at < self.picture.ends.get(track, 0):
                raise Bad(f"slices overlap on {path}")
            self.picture.ends[track] = at + self.ns(e["dur"])
            self.picture.counts["slices"] += 1
            self.picture.put("slice", at, self.ns(e["dur"]), path, name, args, arrows)
        elif kind == "i":
            self.picture.counts["instants"] += 1
            self.picture.put("instant", at, 0, path, name, args, arrows if e["cat"] == "submit" else ())
        elif kind == "C":
            self.picture.counts["values"] += 1
            self.picture.put("counter", at, 0, self.path((e["pid"], None)) + "/" + name, "", args)
        else:
            raise Bad(f"phase {kind}")

    @staticmethod
    def ns(us):
        ns = Decimal(us) * 1000
        if ns != int(ns):
            raise Bad(f"a part of a ns: {us}")
        return int(ns)

    def path(self, track):
        pid, tid = track
        process = self.processes.get(pid, "")
        if pid < 0x40000000:
            process = f"{process} {pid}"
        if tid is None or tid == pid and tid >= 0x40000000:
            return process
        thread = re.sub(r" \(\d+\)$", "", self.threads.get(track, ""))
        return f"{process}/{thread} {tid}" if tid < 0x40000000 else f"{process}/{thread}"

    def finish(self):
        self.picture.finish(self.path)


def main():
    with open(sys.argv[2], "rb") as f:
        data = f.read()
    try:
        {"perfetto": Perfetto, "chrome": Chrome}[sys.argv[1]](data).finish()
    except (Bad, UnicodeDecodeError, ValueError, KeyError, IndexError, TypeError) as problem:
        sys.exit(f"{sys.argv[2]}: {type(problem).__name__}: {problem}")


if __name__ == "__main__":
    main()
