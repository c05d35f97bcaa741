#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
_terminal.py COLUMNS COMMAND...: runs a command on a terminal of this width, prints what it shows,
and ends with its exit status; 128 + N where the signal N ended it.
"""
import fcntl
import os
import pty
import struct
import sys
import termios

master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
child = os.fork()
if not child:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in 0, 1, 2:
        os.dup2(slave, fd)
    os.closerange(3, 64)
    os.execvp(sys.argv[2], sys.argv[2:])
os.close(slave)
while True:
    try:
        part = os.read(master, 65536)
    except OSError:
        break
    if not part:
        break
    sys.stdout.buffer.write(part.replace(b"\r", b""))
sys.stdout.flush()
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(status if status >= 0 else 128 - status)
