# SPDX-License-Identifier: GPL-2.0
"""In gdb: interrupts the program $stops times, wherever it is, and prints a line for each: between which two times it was
stopped, in ns of CLOCK_MONOTONIC, and the addresses of its stack; of the thread that computes. Frames that gdb only infers, of calls that were jumps, are none; where gdb is led to what is no code, as below
the first function of a system stack of Go, a line ends with "?"."""
import random
import re
import subprocess
import time
import gdb

gdb.execute("set pagination off")
for setting in ("backtrace past-main on", "backtrace past-entry on"):
    gdb.execute("set " + setting)
for other in ("SIGUSR1", "SIGURG", "SIGPROF"):
    gdb.execute("handle %s nostop noprint pass" % other)
gdb.execute("handle SIGINT stop print nopass")


def is_code(pc):
    for line in open("/proc/%d/maps" % pid):
        start, end, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
        if int(start, 16) <= pc < int(end, 16):
            return "x" in rights
    return False


def stack():
    frame, ips = gdb.newest_frame(), []
    while frame is not None and len(ips) < 127:
        # nothing is at 0, where goroutines begin for gdb
        if frame.pc() and not is_code(frame.pc()):
            return " ".join(ips + ["?"])
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME) and frame.pc():
            ips.append("%x" % frame.pc())
        frame = frame.older()
    return " ".join(ips)


def thread():
    """The one that was on a CPU most since the last stop."""
    def since(t):
        now = int(open("/proc/%d/task/%d/schedstat" % t.ptid[:2]).read().split()[0])
        last, used[t.ptid[1]] = used.get(t.ptid[1], 0), now
        return now - last
    return max(gdb.selected_inferior().threads(), key=since)


used = {}
gdb.execute("tbreak main.main" if gdb.lookup_global_symbol("main.main") else "tbreak main")
gdb.execute("run", to_string=True)
pid = gdb.selected_inferior().pid
wait = float(gdb.convenience_variable("wait"))
for i in range(int(gdb.convenience_variable("stops"))):
    after = wait if not i else random.uniform(0.005, 0.03)
    subprocess.Popen(["sh", "-c", "sleep %f; kill -INT %d" % (after, pid)])
    begin = time.monotonic_ns()
    gdb.execute("continue", to_string=True)
    end = time.monotonic_ns()
    thread().switch()
    print("STACK", begin, end, stack(), flush=True)
gdb.execute("kill")
