# SPDX-License-Identifier: GPL-2.0
"""Makes an ioctl of type 'd' in each of 20,000 functions, which are all there at once: more than have a name."""
import fcntl
import time

null = open("/dev/null", "rb")


def call():
    try:
        fcntl.ioctl(null, 0x6400)
    except OSError:
        pass


functions = []
for number in range(20000):
    names = {"call": call}
    exec(f"def one{number}(): call()", names)
    functions.append(names[f"one{number}"])
call()
time.sleep(0.5)
for function in functions:
    function()
