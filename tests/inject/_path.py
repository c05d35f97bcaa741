#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# _path.py GRTRACE TIMED virtual|real [NAME...]: what `grtrace report --path` says a run would be shorter by,
# of scripts of tests/inject/mock/timed.c, each with one thing that takes half the time.
#
#	virtual	on the script's own clock, compared with a simulation of the changed script: any machine
#	real	compared with the changed script, which is run: a machine with nothing else to do
#
# Prints a line for each change; the last one says how many are within 5 % of the run, and their median.

import json, os, statistics, subprocess, sys

LATENCY = 3.0

# What is changed stands in front: a name of the script, or a statement's own.
SCRIPTS = {
    # launches far ahead of the GPU
    "bound_by_gpu": (["a", "b", "x"], "repeat 10\ncpu x 100\nkernel a 1 900\nkernel b 1 600\nend\nsync 1\n"),
    # the CPU is slower than the GPU
    "bound_by_cpu": (["x", "a"], "repeat 10\ncpu x 1500\nkernel a 1 700\nend\nsync 1\n"),
    # a wait in each round
    "each_round": (["x", "a", "copy"], "repeat 10\ncpu x 800\nkernel a 1 1200\npull 1 500\nend\n"),
    # two streams, of which the one that is slower counts, until it is not
    "two_streams": (["a", "b"], "repeat 5\ncpu x 200\nkernel a 1 2000\nkernel b 2 1600\nsync 0\nend\n"),
    # a stream that waits for another one
    "dependency": (["a", "b", "c"], "repeat 5\ncpu x 200\nkernel a 1 1500\nwait 2 1\nkernel b 2 900\nkernel c 1 1000\nsync 2\nsync 1\nend\n"),
    # one that waits for twelve, of which another is the slowest when the slowest takes half the time
    "gathers": (["a", "b", "z"], "repeat 5\ncpu x 100\nkernel a 1 2500\nkernel b 2 2300\n" +
                "".join("kernel c %d 600\n" % i for i in range(3, 13)) + "".join("wait 13 %d\n" % i for i in range(1, 13)) +
                "kernel z 13 900\nsync 13\nend\n"),
    # a sleep beside the GPU
    "sleeps": (["z", "a"], "repeat 5\nkernel a 1 1000\nsleep z 2500\nkernel b 1 300\nsync 1\nend\n"),
    # another thread, with nothing of CUDA; one of the sleeps is beside it
    "threads": (["h", "x"], "repeat 5\nhand h 2000\nsleep x 1200\ntake\nsleep x 700\nend\n"),
    # both
    "three": (["h", "a", "x"], "repeat 5\nhand h 1500\ncpu x 400\nkernel a 1 2600\ntake\nsleep y 300\nsync 1\nend\n"),
}


def parse(text):
    return [line.split() for line in text.splitlines()]


def halved(text, name):
    out = []
    for words in parse(text):
        if words[0] in ("kernel", "cpu", "sleep", "hand") and words[1] == name or name == "copy" and words[0] in ("copy", "pull"):
            words = words[:-1] + ["%d" % (int(words[-1]) // 2)]
        out.append(" ".join(words))
    return "\n".join(out) + "\n"


def simulate(text):
    """How long a script takes, in us."""
    script, busy, state = parse(text), {}, {"now": 0.0, "other": 0.0}

    def give(stream, us):
        busy[stream] = max(busy.get(stream, 0.0), state["now"] + LATENCY) + us

    def play(at):
        while at < len(script) and script[at][0] != "end":
            w = script[at]
            if w[0] == "repeat":
                for _ in range(int(w[1])):
                    after = play(at + 1)
                at = after
                continue
            if w[0] == "kernel":
                give(w[2], int(w[3]))
            elif w[0] in ("copy", "pull"):
                give(w[1], int(w[2]))
                if w[0] == "pull":
                    state["now"] = max(state["now"], busy[w[1]])
            elif w[0] == "wait":
                busy[w[1]] = max(busy.get(w[1], 0.0), busy.get(w[2], 0.0))
            elif w[0] == "sync":
                ends = busy.values() if w[1] == "0" else [busy.get(w[1], 0.0)]
                state["now"] = max(state["now"], *ends)
            elif w[0] in ("cpu", "sleep"):
                state["now"] += int(w[2])
            elif w[0] == "hand":
                state["other"] = max(state["other"], state["now"]) + int(w[2])
            elif w[0] == "take":
                state["now"] = max(state["now"], state["other"])
            at += 1
        return at + 1

    play(0)
    return state["now"]


def next_call(text, name):
    """The call before which a script runs or sleeps: this is how the report names the time between calls."""
    calls = {"kernel": "cuLaunchKernel", "copy": "cudaMemcpyAsync", "pull": "cudaMemcpy", "wait": "cudaStreamWaitEvent"}
    script = parse(text)
    at = next(i for i, w in enumerate(script) if w[0] in ("cpu", "sleep", "hand") and w[1] == name)
    for w in script[at:]:
        if w[0] in calls:
            return calls[w[0]]
        if w[0] == "sync":
            return "cudaDeviceSynchronize" if w[1] == "0" else "cudaStreamSynchronize"
    return None


def row_of(rows, text, name, real):
    """The row of the report that a name of the script is."""
    word = next(w[0] for w in parse(text) if w[0] == name or len(w) > 1 and w[1] == name or name == "copy" and w[0] in ("copy", "pull"))
    if word == "kernel":
        found = [r for r in rows if r["kind"] == "kernel" and r["what"] == name]
    elif name == "copy":
        found = [r for r in rows if r["kind"] == "copy"]
    elif real and word in ("sleep", "hand"):
        # until the unwind tables of a program are built its stacks lack functions: several rows of one place
        where = ("sleep in clock_nanosleep",) if word == "sleep" else ("up to libc.so", "up to pthread_cond", "up to __futex")
        found = [r for r in rows if r["kind"] == ("asleep" if word == "sleep" else "running") and
                 r["what"].startswith(where) and "inject_" not in r["what"] and "mock_" not in r["what"]]
        return {"half_saves": sum(r["half_saves"] or 0 for r in found)} if found else None
    else:
        call = next_call(text, name)
        found = [r for r in rows if r["kind"] == "running" and call and ("before %s " % call) in r["what"] + " "]
    # the largest: what runs once at the beginning has other stacks
    return max(found, key=lambda r: r["total"]) if found else None


# The machine has other things to do, too: what takes the shortest was disturbed the least.
RUNS = 7


def first(real):
    return ["chrt", "-f", "20"] if real and os.geteuid() == 0 else []


def record(grtrace, timed, text, real):
    """The recording of the shortest of some runs."""
    recordings = [record_once(grtrace, timed, text, real) for _ in range(RUNS if real else 1)]
    return min(recordings, key=lambda r: r[0])


def record_once(grtrace, timed, text, real):
    # without the threads a recording begins with the first call
    with open("script", "w") as f:
        f.write("sync 0\n" + text)
    subprocess.run(["rm", "-rf", "path.grt"], check=True)
    if real:
        command = [grtrace, "record", "-e", "sched,cuda", "-F", "0", "-o", "path.grt", "--", *first(real), timed, "script"]
    else:
        command = [grtrace, "record", "-e", "cuda", "-o", "path.grt", "--", timed, "-v", "script"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    report = json.loads(subprocess.run([os.environ.get("GRTRACE", grtrace), "report", "path.grt", "--path", "--json"],
                                       check=True, capture_output=True, text=True).stdout)
    assert sum(r["time"] for r in report["path_segments"]) == report["path_run"]["wall"], "the segments do not add up"
    return int(said) / 1e3, report


def run(timed, text):
    with open("changed", "w") as f:
        f.write(text)
    return min(int(subprocess.run([*first(True), timed, "changed"], check=True, capture_output=True, text=True).stdout) / 1e3
               for _ in range(RUNS))


def main():
    grtrace, timed, how, *names = sys.argv[1:]
    real, errors = how == "real", []
    for script, (changes, text) in SCRIPTS.items():
        if names and script not in names or not real and "hand" in text:
            continue
        wall, report = record(grtrace, timed, text, real)
        if real:
            wall = run(timed, text)
        for name in changes:
            row = row_of(report["path"], text, name, real)
            said = (row["half_saves"] or 0) / 1e3 if row else 0.0
            changed = run(timed, halved(text, name)) if real else simulate(halved(text, name))
            error = abs(said - (wall - changed)) / wall * 100
            errors.append(error)
            print("%-14s %-5s %9.1f us, says %9.1f us shorter, is %9.1f us: %5.2f %%%s" % (
                script, name, wall, said, wall - changed, error, "" if row else " (not on the path)"))
    print("%d of %d within 5 %%, median %.2f %%" % (sum(e <= 5 for e in errors), len(errors), statistics.median(errors)))


main()
