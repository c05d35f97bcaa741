#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# inject.sh BUILD: what the library in CUDA programs takes, with the mock CUDA of the tests: bytes and CPU time of a
# launch and its kernel, plain and with --compress, recorder included, which part of it the library's writer and the
# recorder take, and memory of each thread that launches. The peer is the same program without the library.

set -eu
build=$(realpath "${1:?usage: bench/inject.sh BUILD}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
LAUNCHES=${LAUNCHES:-1000000} ROUNDS=${ROUNDS:-5} python3 - "$build" <<'END_OF_PYTHON'
import glob
import os
import re
import resource
import shutil
import subprocess
import sys
import time

build = sys.argv[1]
app = build + "/tests/inject/mock/app"
launches, rounds = int(os.environ["LAUNCHES"]), int(os.environ["ROUNDS"])


def cpu(command):
    """ns of CPU a launch, and recorded events: a busy machine loses launches of a program that does nothing else."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, text=True).stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ((after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e9 / launches,
            sum(int(n) for n in re.findall(r"(\d+) events", said)))


def cpu_of(path):
    """ns of CPU of a thread, 0: it is gone."""
    try:
        with open(path + "/schedstat") as f:
            return int(f.read().split()[0])
    except OSError:
        return 0


def comm_of(path):
    try:
        with open(path + "/comm") as f:
            return f.read().strip()
    except OSError:
        return ""


def parts(command):
    """ns of CPU a launch of the library's writer and of the recorder, as long as they were seen every 10 ms."""
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         env={**os.environ, "MOCK_LINGER": "1"})
    writer = recorder = 0
    while p.poll() is None:
        recorder = max(recorder, cpu_of("/proc/%d" % p.pid))
        try:
            with open("/proc/%d/task/%d/children" % (p.pid, p.pid)) as f:
                children = f.read().split()
        except OSError:
            children = []
        for at in [at for child in children for at in glob.glob("/proc/%s/task/*" % child)]:
            writer = max(writer, cpu_of(at) if comm_of(at) == "grtrace" else 0)
        time.sleep(.01)
    return writer / launches, recorder / launches


def size():
    return sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk("r.grt") for f in files)


def peak(threads, env):
    """KiB of a program whose threads are all there at once."""
    shutil.rmtree("t.grt", ignore_errors=True)
    p = subprocess.Popen([app, "crowd", str(threads)], env={**os.environ, **env}, stdout=subprocess.DEVNULL)
    most = 0
    while p.poll() is None:
        try:
            with open("/proc/%d/status" % p.pid) as f:
                most = max([most] + [int(n) for n in re.findall(r"VmHWM:\s+(\d+)", f.read())])
        except OSError:
            pass
        time.sleep(.01)
    return most


ways = {"without": [app, "plain", str(launches)]}
for option in ("", "--compress"):
    ways["record " + option] = [build + "/grtrace", "record", "-e", "cuda", "-o", "r.grt", *option.split(), *ways["without"]]
least, bytes_, part = {}, {}, {}
for _ in range(rounds):
    for name, command in ways.items():
        for old in ("r.grt", "r.grt.old"):
            shutil.rmtree(old, ignore_errors=True)
        took, events = cpu(command)
        least[name] = min(least.get(name, 1e18), took)
        # of a launch and its kernel
        bytes_[name] = size() / events * 2 if events else 0
        if "record" in name:
            shutil.rmtree("r.grt")
            part[name] = [min(both) for both in zip(part.get(name, (1e18, 1e18)), parts(command))]
for name in ways:
    print("%-18s %6.0f ns of CPU a launch, ratio %.2f, %6.1f bytes" % (
        name, least[name], least[name] / least["without"], bytes_[name]))
for name in part:
    print("%-18s %6.0f ns of it in the library's writer, %6.0f ns in the recorder" % (name, *part[name]))
library = {"CUDA_INJECTION64_PATH": build + "/libgrtrace-cuda.so", "GRTRACE_OUTPUT": os.getcwd() + "/t.grt"}
bare, traced = ((peak(1000, env) - peak(200, env)) / 800 for env in ({}, library))
print("%-18s %6.1f KiB a thread, %.1f without" % ("memory", traced - bare, bare))
END_OF_PYTHON
