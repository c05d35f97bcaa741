#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""freeze.py [--seed N] [--longest SECONDS] [--gap SECONDS] COMMAND...: runs a command whose processes stop now and then

It does what a busy machine does: again and again some of the command's processes, or all of them,
stop for up to SECONDS (1), and go on; after each stop all run for up to --gap SECONDS (0.5). A test
passes all the same:

    tests/soak/freeze.py tests/run -o build cli/record inject/threads

Which processes stop, and when, follows the seed, which is printed. A process that is stopped or traced by
another is left alone, and one that a test stops itself could be continued here. The exit status is the command's.
"""

import argparse
import ctypes
import os
import random
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def processes():
    """Each process's parent and state."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", errors="replace") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        found[int(pid)] = int(parent), state
    return found


def below(ancestor):
    """Those that descend from it and run or wait, in the order of their numbers."""
    found = processes()
    inside = {ancestor}
    grown = True
    while grown:
        more = {pid for pid, (parent, _) in found.items() if parent in inside} - inside
        inside |= more
        grown = bool(more)
    return sorted(pid for pid in inside - {ancestor} if found[pid][1] not in "TtZX")


def traced(pid):
    """Whether another process has it, to which each stop would be an event."""
    try:
        with open(f"/proc/{pid}/status", errors="replace") as file:
            return "\nTracerPid:\t0\n" not in file.read()
    except OSError:
        return True


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            pass


def stop_some(args, chance):
    pids = [pid for pid in below(os.getpid()) if not traced(pid)]
    if not pids:
        return
    # one, some or all: a process that stops alone comes too late for the others
    count = chance.choice([1, 1, chance.randint(1, len(pids)), len(pids)])
    pids = chance.sample(pids, count)
    try:
        send(pids, signal.SIGSTOP)
        time.sleep(chance.uniform(0.1, args.longest))
    finally:
        send(pids, signal.SIGCONT)


def ended(child):
    """The command's exit status once it has ended; orphans come here too, and are forgotten."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if pid == child:
            return os.waitstatus_to_exitcode(status)
        if pid == 0:
            return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(2), "little"))
    parser.add_argument("--longest", type=float, default=1, metavar="SECONDS")
    parser.add_argument("--gap", type=float, default=0.5, metavar="SECONDS")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    if not args.command:
        parser.error("no command")
    print(f"freeze.py: seed {args.seed}", file=sys.stderr)
    chance = random.Random(args.seed)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.posix_spawnp(args.command[0], args.command, os.environ)
    status = None
    try:
        while status is None:
            time.sleep(chance.uniform(0.02, args.gap))
            stop_some(args, chance)
            status = ended(child)
    except KeyboardInterrupt:
        os.kill(child, signal.SIGINT)
        status = 130
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
