# SPDX-License-Identifier: GPL-2.0
"""In gdb: interrupts the program $stops times, wherever it is, and prints the addresses of its stack, a line each; of the thread
that computes. Frames that gdb only infers, of calls that were jumps, are none."""
import random
import signal
import subprocess
import time
import gdb

gdb.execute("set pagination off")
for setting in ("backtrace past-main on", "backtrace past-entry on"):
    gdb.execute("set " + setting)
for other in ("SIGUSR1", "SIGURG", "SIGPROF"):
    gdb.execute("handle %s nostop noprint pass" % other)
gdb.execute("handle SIGINT stop print nopass")


def stack():
    frame, ips = gdb.newest_frame(), []
    while frame is not None and len(ips) < 127:
        # nothing is at 0, where goroutines begin for gdb
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME) and frame.pc():
            ips.append("%x" % frame.pc())
        frame = frame.older()
    return " ".join(ips)


def thread():
    """The one that has used its CPU most."""
    def used(t):
        fields = open("/proc/%d/task/%d/stat" % t.ptid[:2]).read().rsplit(")", 1)[1].split()
        return int(fields[11])
    return max(gdb.selected_inferior().threads(), key=used)


gdb.execute("tbreak main.main" if gdb.lookup_static_symbol("main.main") else "tbreak main")
gdb.execute("run", to_string=True)
pid = gdb.selected_inferior().pid
wait = float(gdb.convenience_variable("wait"))
for i in range(int(gdb.convenience_variable("stops"))):
    after = wait if not i else random.uniform(0.005, 0.03)
    subprocess.Popen(["sh", "-c", "sleep %f; kill -INT %d" % (after, pid)])
    gdb.execute("continue", to_string=True)
    thread().switch()
    print("STACK", stack(), flush=True)
gdb.execute("kill")
