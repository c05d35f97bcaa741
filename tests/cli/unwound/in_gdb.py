# SPDX-License-Identifier: GPL-2.0
"""In gdb: prints the addresses of each different stack at clock_nanosleep or, where $at is "ioctl", at that call or,
where it is a function, at its first instruction, a line each; without frames that gdb only infers, of calls that were jumps."""
import gdb

gdb.execute("set pagination off")
for setting in ("backtrace past-main on", "backtrace past-entry on"):
    gdb.execute("set " + setting)
for signal in ("SIGUSR1", "SIGURG"):
    gdb.execute("handle %s nostop noprint pass" % signal)
at = gdb.convenience_variable("at")
call = "clock_nanosleep" if at is None else at.string() if at.string() == "ioctl" else None
gdb.execute("catch syscall " + call if call else "break *" + at.string())
gdb.execute("run")
seen = set()
for i in range(40):
    frame, ips = gdb.newest_frame(), []
    while frame is not None:
        # nothing is at 0, where goroutines begin for gdb
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME) and frame.pc():
            ips.append("%x" % frame.pc())
        frame = frame.older()
    seen.add(" ".join(ips))
    try:
        gdb.execute("continue")
    except gdb.error:
        break
print("\n".join("STACK " + s for s in sorted(seen)))
gdb.execute("kill")
