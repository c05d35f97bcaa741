#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
_screen.py COLUMNSxLINES [STEP...] -- COMMAND...: runs a command on a terminal of this size and does the steps:

    wait=REGEX   until the screen has it, for 120 s at most
    key=TEXT     types; \\e, \\t, \\n, \\u and \\d are Esc, Tab, Enter, up and down
    click=REGEX  the mouse, where the first match on the screen begins; a key right behind it comes with it
    wheel=up     or down
    size=CxL     the terminal gets another size
    show         prints the screen, of which a wait should have seen head and foot

$SCREEN_TERM is the kind of terminal; one with a mouse is `screen`.
It ends with the exit status of the command, 128 + N where the signal N ended it; 99 where a wait was in vain,
and then the screen is printed. Exit status 4: the module that reads the screen is not installed.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

try:
    import pyte
except ImportError:
    print("no pyte: apt-get install python3-pyte")
    sys.exit(4)

KEYS = {"\\e": "\x1b", "\\t": "\t", "\\n": "\r", "\\u": "\x1b[A", "\\d": "\x1b[B"}


def size_of(text):
    columns, lines = text.split("x")
    return int(columns), int(lines)


class Terminal:
    def __init__(self, size, command):
        self.screen = pyte.Screen(*size)
        self.stream = pyte.ByteStream(self.screen)
        self.status = None
        self.child, self.fd = pty.fork()
        if not self.child:
            os.environ["TERM"] = os.environ.get("SCREEN_TERM", "linux")  # what pyte understands all of
            os.environ.pop("LINES", None)
            os.environ.pop("COLUMNS", None)
            time.sleep(0.1)
            os.execvp(command[0], command)
        self.resize(size)

    def resize(self, size):
        self.screen.resize(size[1], size[0])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def read(self, seconds):
        """What comes in this time. Return: whether the program is still there."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            part = os.read(self.fd, 65536)
        except OSError:
            part = b""
        self.stream.feed(part)
        return bool(part)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait(self, regex):
        end = time.monotonic() + 120
        while not re.search(regex, self.text(), re.MULTILINE):
            if time.monotonic() > end or not self.read(0.1):
                return bool(re.search(regex, self.text(), re.MULTILINE))
        return True

    def press(self, button, x, y):
        """What X10 sends of a button, and that it is let go; 64 and 65 are the wheel."""
        return b"".join(b"\x1b[M" + bytes([32 + code, 33 + x, 33 + y]) for code in [button] + [3] * (button < 3))

    def click(self, regex):
        self.wait(regex)
        for y, line in enumerate(self.screen.display):
            found = re.search(regex, line)
            if found:
                return self.press(0, found.start(), y)
        print(f"not there: {regex}")
        return b""

    def end(self):
        end = time.monotonic() + 120
        while self.read(0.1):
            if time.monotonic() > end:
                os.kill(self.child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        return status if status >= 0 else 128 - status


def main():
    split = sys.argv.index("--")
    t = Terminal(size_of(sys.argv[1]), sys.argv[split + 1:])
    clicked = b""
    for step in sys.argv[2:split]:
        what, _, value = step.partition("=")
        if what != "key":
            os.write(t.fd, clicked)
            clicked = b""
        if what == "wait" and not t.wait(value):
            print(f"in vain: {step}\n{t.text()}")
            os.kill(t.child, signal.SIGKILL)
            t.end()
            return 99
        if what == "key":
            for name, key in KEYS.items():
                value = value.replace(name, key)
            os.write(t.fd, clicked + value.encode())
            clicked = b""
        elif what == "click":
            clicked = t.click(value)
        elif what == "wheel":
            os.write(t.fd, t.press(64 if value == "up" else 65, 0, 0))
        elif what == "size":
            t.resize(size_of(value))
        elif what == "show":
            print(f"{t.text()}\n{'-' * t.screen.columns}")
    os.write(t.fd, clicked)
    return t.end()


sys.exit(main())
