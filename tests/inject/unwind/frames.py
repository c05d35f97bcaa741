# SPDX-License-Identifier: GPL-2.0
"""frames.py PROBE: the Python frames that PROBE sees in its stack against those of
sys._getframe(): functions, files and lines, in all ways of calling. Prints TAP."""
import asyncio
import ctypes
import functools
import random
import sys
import sysconfig
import threading

by_name = ctypes.CDLL(sys.argv[1])  # lets the GIL go for the time of the call
with_gil = ctypes.PyDLL(sys.argv[1])
by_name.why_not.restype = ctypes.c_char_p
by_name.loop.restype = ctypes.c_double
checked = 0
without_lock = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def expected(frame):
    frames = []
    while frame:
        code = frame.f_code
        frames.append((getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back
    return frames


def seen(lines):
    return [(f[1], f[2], int(f[3])) for f in lines if f[0] == "python"]


def same(frame, ours):
    """Texts may have been cut."""
    return frame[2] == ours[2] and frame[0].startswith(ours[0]) and frame[1].endswith(ours[1])


def check(library=by_name):
    """The stack of the caller."""
    global checked
    text = ctypes.create_string_buffer(1 << 20)
    agree = library.probe(text, len(text)); wanted = expected(sys._getframe())
    lines = [line.split("\t") for line in text.value.decode().split("\n")[:-1]]
    ours = seen(lines)
    if (not agree or len(ours) != len(wanted) or not all(map(same, wanted, ours)) or lines[-1] != ["root", "1"]
            or any("EvalFrame" in f[1] for f in lines if f[0] == "native")):
        print("not ok - the frames differ; wanted")
        for i in range(max(len(wanted), len(ours))):
            print("#  ", wanted[i] if i < len(wanted) else None, ours[i] if i < len(ours) else None)
        print("#", agree, lines)
        sys.exit(1)
    codes = (ctypes.c_void_p * 4096)()
    n = library.calls(codes, 4096); frame = sys._getframe()
    running = []
    while frame:
        running.append(id(frame.f_code))
        frame = frame.f_back
    # between a class and its __init__() the interpreter has a frame that it does not show
    rest = iter(codes[:n])
    if codes[:2] != running[:2] or not all(code in rest for code in running):
        print("not ok - the calls that run differ")
        print("#", len(running), "run, here", n)
        sys.exit(1)
    checked += 1
    return lines


def passed(what):
    print("ok -", what, flush=True)


class Layer:
    def __init__(self, depth):
        check()
        self.inner = Layer(depth - 1) if depth else None

    def __call__(self, x):
        return self.forward(x)

    def forward(self, x):
        check()
        check(with_gil)
        return self.inner(x) if self.inner else x

    @property
    def prop(self):
        check()
        return 1

    def __getattr__(self, name):
        if name.startswith("get"):
            check()
        return 0

    def __lt__(self, other):
        check()
        return id(self) < id(other)

    def __del__(self):
        check()


def calls():
    model = Layer(6)
    for _ in range(3):
        model(1)
        model.prop
        model.getsomething
        sorted([model, model.inner, model.inner.inner])
        list(map(model, [1, 2]))
        [model(i) for i in (1, 2)]
        functools.partial(model, 3)()
    del model
    passed("methods, properties, comparisons, comprehensions, destructors")


def numbers(n):
    for i in range(n):
        check()
        yield i
    check()


def delegate():
    yield from numbers(2)
    yield from (x for x in numbers(2))


def generators():
    assert sum(delegate()) == 2
    assert sorted(numbers(3), key=lambda x: check() and -x) == [2, 1, 0]
    mixed = [numbers(3), numbers(3)]
    for _ in range(3):
        for g in mixed:
            next(g)
    mixed[0].close()
    passed("generators")


def coroutines():
    async def leaf(n):
        check()
        await asyncio.sleep(0)
        check()
        return n

    async def middle(n):
        return await leaf(n) + await leaf(n)

    async def top():
        return await asyncio.gather(*(middle(i) for i in range(3)))

    async def items():
        for i in range(2):
            check()
            yield i

    async def loop():
        async for _ in items():
            check()

    assert asyncio.run(top()) == [0, 2, 4]
    asyncio.run(loop())
    passed("coroutines")


def through_c(depth=4):
    """C to Python to C, each entry of the interpreter on a native stack of its own."""
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)

    @callback
    def back(left):
        check()
        return back(left - 1) if left else 0

    back(depth)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: 0 if check() else 1)
    ctypes.CDLL(None).qsort((ctypes.c_int * 4)(3, 1, 2, 0), ctypes.c_size_t(4), ctypes.c_size_t(4), compare)
    passed("callbacks from C")


def new_code():
    """Code objects that come and go, at one address more often than not."""
    places = set()
    for i in range(400):
        name, blank = "made_%d" % (i % 37), "\n" * (i % 5)
        space = {"check": check}
        code = compile("def %s():\n%s    check()\n%s    check()\n" % (name, blank, blank), "<made %d>" % (i % 3), "exec")
        exec(code, space)
        space[name]()
        places.add(id(space[name].__code__))
        del space, code
    # without the global lock code objects stay for good
    assert len(places) < 400 or without_lock, "no code object took another's place"
    passed("code objects that take another's place")


def lines():
    check(
    )
    for _ in range(2): check(); check()
    try:
        raise ValueError
    except ValueError:
        check()
    finally:
        check()
    with open("/dev/null"):
        check()
    (lambda: (
        check()))()
    exec("\n" * 300 + "check()", {"check": check})
    exec("\n" * 70000 + "check()", {"check": check})
    if True:



        check()
    passed("lines")


def names():
    space = {"check": check}
    exec(compile("def größe_函数_𝔲𝔫𝔦(): check()\ngröße_函数_𝔲𝔫𝔦()", "verzeichnis/ä/文件.py", "exec"), space)
    exec(compile("def %s(): check()\n%s()" % ("n" * 900, "n" * 900), "/d" * 900 + "/x.py", "exec"), space)
    exec(compile("def f(): check()\nf()", "ü" * 3000, "exec"), space)
    exec(compile("def f(): check()\nf()", "", "exec"), space)
    passed("names: not ASCII, long, empty")


def again():
    """Stacks that come again, from lines of one function and from functions of one size."""
    draw = random.Random(2)

    def first(which):
        if which == 0:
            check()
        elif which == 1:
            check()
        else:
            second(which - 2)

    def second(which):
        if which == 0:
            check()
        else:
            check()

    for _ in range(400):
        which = draw.randrange(4)
        if draw.randrange(2):
            first(which)
        else:
            first(which)
    passed("stacks that come again")


def traced():
    sys.settrace(lambda *a: None)
    Layer(1)(1)
    sys.settrace(None)
    sys.setprofile(lambda *a: None)
    Layer(1)(1)
    sys.setprofile(None)
    passed("under a tracer and a profiler")


def deep():
    def down(n):
        return down(n - 1) if n else check()

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(3000)
    # 3.10 has native frames for each of them, and stacks have a limit
    depth = 700 if sys.version_info >= (3, 11) else 300
    down(depth)
    sys.setrecursionlimit(limit)
    passed("%d frames deep" % depth)


def wander(state, depth):
    """The same function on changing paths: what was known of the last stack is wrong in all ways."""
    for _ in range(state.randrange(1, 3)):
        way = state.randrange(7)
        if not depth or way == 0:
            check(with_gil if state.randrange(2) else by_name)
        elif way == 1:
            wander(state, depth - 1)
        elif way == 2:
            list(map(lambda _: wander(state, depth - 1), [1]))
        elif way == 3:
            [wander(state, depth - 1) for _ in range(1)]
        elif way == 4:
            sorted([1, 2], key=lambda x: wander(state, depth - 1) or x)
        elif way == 5:
            functools.reduce(lambda a, b: wander(state, depth - 1), [1, 2, 3][:2])
        else:
            next(iter(wander(state, depth - 1) or 1 for _ in range(1)))


def wandering():
    before = checked
    state = random.Random(5)
    while checked - before < 600:
        wander(state, 7)
    passed("600 stacks of a random walk")


def threads():
    def run(seed):
        state = random.Random(seed)
        for _ in range(5):
            wander(state, 5)
        done.append(seed)

    done = []
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    started = [threading.Thread(target=run, args=(i,)) for i in range(6)]
    for t in started:
        t.start()
    for t in started:
        t.join()
    sys.setswitchinterval(old)
    assert len(done) == 6
    passed("6 threads")


def new_code_at_once():
    """Threads that see a function for the first time together give it one number all the same."""
    def run(seen):
        try:
            for function in made:
                together.wait()
                function()
                seen.append(function)
        except BaseException:
            together.abort()
            raise

    made, together, done = [], threading.Barrier(4), [[] for _ in range(4)]
    for i in range(600):
        space = {"check": check}
        exec(compile("def first_%d():\n    check()" % i, "<first %d>" % i, "exec"), space)
        made.append(space["first_%d" % i])
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    started = [threading.Thread(target=run, args=(seen,)) for seen in done]
    for t in started:
        t.start()
    for t in started:
        t.join()
    sys.setswitchinterval(old)
    assert all(seen == made for seen in done)
    passed("4 threads, new functions at once")


def speed():
    class Wrap:
        def __init__(self, inner):
            self.inner = inner

        def __call__(self):
            return self.forward()

        def forward(self):
            return self.inner()

    call = check
    for _ in range(6):
        call = Wrap(call)
    frames = call()
    call = functools.partial(by_name.loop, 500)
    for _ in range(6):
        call = Wrap(call)
    print("# %.0f ns a walk: %d native and %d Python frames, the innermost changes" % (
        call(), sum(f[0] == "native" for f in frames), sum(f[0] == "python" for f in frames)))


def main():
    why = by_name.why_not()
    assert why is None, why
    for part in (calls, generators, coroutines, through_c, new_code, lines, names, again, traced, deep, wandering, threads,
                 new_code_at_once):
        part()
    speed()
    print("# Python %s, %d stacks compared" % (sys.version.split()[0], checked))


main()
