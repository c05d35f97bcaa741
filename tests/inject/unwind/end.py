# SPDX-License-Identifier: GPL-2.0
"""end.py PROBE: Python ends while a thread that has let the GIL go takes stacks: the
states of such threads are freed by then, and their memory is used for other things."""
import ctypes
import sys
import threading
import time

by_name = ctypes.CDLL(sys.argv[1])  # lets the GIL go for the time of the call
with_gil = ctypes.PyDLL(sys.argv[1])
by_name.why_not.restype = ctypes.c_char_p
assert by_name.why_not() is None
threading.Thread(target=by_name.walk_on, daemon=True).start()
while by_name.walks() < 3:
    time.sleep(.01)


class Late:
    def __init__(self):
        self.reuse_memory = with_gil.reuse_memory

    def __del__(self):
        self.reuse_memory()


sys.late = Late()  # is deleted after the threads
