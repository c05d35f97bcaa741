# SPDX-License-Identifier: GPL-2.0
"""python.py TRUTH SECONDS: waits so long, then sleeps in all ways of calling, and writes down where: a line for each
sleep, thread and frames, innermost first, as sys._getframe() has them."""
import asyncio
import functools
import sys
import threading
import time

truth = []


def nap():
    frame, frames = sys._getframe(1), []
    while frame:
        code = frame.f_code
        frames.append("%s (%s:%d)" % (getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back
    truth.append((threading.get_native_id(), frames))
    time.sleep(0.001)


class Layer:
    def __init__(self, depth):
        nap()
        self.inner = Layer(depth - 1) if depth else None

    def forward(self, x):
        if self.inner:
            return self.inner.forward(x + 1)
        nap()
        return x

    @property
    def size(self):
        nap()
        return 1

    @staticmethod
    def apply(fn):
        return fn()

    def __del__(self):
        nap()

    def __lt__(self, other):
        nap()
        return True


def generator(n):
    for i in range(n):
        nap()
        yield i
    yield from generator(n - 1) if n else ()


def deep(n):
    if n:
        return deep(n - 1)
    nap()


def closures():
    def inner():
        nap()
    return [inner() for _ in range(2)], {inner(): i for i in range(2)}, list(inner() for _ in range(2))


async def coroutine(n):
    nap()
    if n:
        await coroutine(n - 1)
    await asyncio.sleep(0)
    nap()


def caught():
    try:
        raise ValueError
    except ValueError:
        nap()
    finally:
        nap()


def made(number):
    names = {"nap": nap}
    exec(compile("\n" * number + "def f%d():\n\n  nap()\nf%d()\n" % (number, number), "made-%d" % number, "exec"), names)


source = "def long(nap):\n" + "".join(" x = %d + len('%s')\n" % (i, "x" * (i % 7)) for i in range(3000)) + " nap()\n"
names = {}
exec(compile(source, "long.py", "exec"), names)


def every():
    layer = Layer(2)
    layer.forward(0)
    layer.size
    Layer.apply(lambda: nap())
    sorted([layer, Layer(0)])
    del layer
    list(generator(2))
    deep(30)
    closures()
    asyncio.run(coroutine(2))
    caught()
    for number in range(30):
        made(number)
    names["long"](nap)
    functools.reduce(lambda a, b: nap(), range(3))
    list(map(lambda a: nap(), range(3)))
    functools.partial(nap)()
    max(range(3), key=lambda a: nap() or a)
    größe = lambda: nap()
    größe()


def main():
    time.sleep(float(sys.argv[2]))
    every()
    threads = [threading.Thread(target=every) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with open(sys.argv[1], "w") as out:
        for tid, frames in truth:
            print(tid, " < ".join(frames), file=out)


main()
