# SPDX-License-Identifier: GPL-2.0
"""modules.py SCENE [NUMBER]: runs modules that launch kernels of the mock CUDA, with the PyTorch of stand_in or with
a real one.

Each kernel has a name of its own. The file of MODULES_LOG gets a line for each: its name, and the modules around it as
this program knows them, by a list of its own. At the end `calls NAME N` for each name, and `unended N`: calls
that ended by an exception of which PyTorch says nothing.
"""
import collections
import ctypes
import os
import sys
import threading
import time

mock = os.environ["MOCK"]
if not os.environ.get("LATE_TORCH"):
    import torch
ctypes.CDLL(f"{mock}/libcudart.so.13", ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(f"{mock}/libcuda.so.1", ctypes.RTLD_GLOBAL)
strdup = ctypes.CDLL(None).strdup
strdup.restype = ctypes.c_void_p
cuda.mock_call.argtypes = [ctypes.c_int, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint, ctypes.c_void_p]
cuda.cuInit(0)
if os.environ.get("LATE_TORCH"):
    import torch
    hooks = torch.nn.modules.module._global_forward_hooks
    while not hooks:
        time.sleep(0.001)
nn = torch.nn
old = not hasattr(torch, "compiler")

log = open(os.environ["MODULES_LOG"], "w")
calls = collections.Counter()
unended = 0
kernels = 0
lock = threading.Lock()
thread = threading.local()


class Running:
    """A module that runs, by the program's own account."""

    def __init__(self, module):
        if not hasattr(thread, "stack"):
            thread.stack = []
        self.module, self.prefix, self.name = module, "", None
        for outer in reversed(thread.stack):
            way = find(outer.module, module)
            if way:
                self.name = self.prefix = ".".join(filter(None, [outer.prefix, way]))
                break
        self.name = self.name or type(module).__name__

    def __enter__(self):
        thread.stack.append(self)
        with lock:
            calls[self.name] += 1

    def __exit__(self, kind, value, traceback):
        global unended
        thread.stack.pop()
        with lock:
            unended += kind is not None and (old or not issubclass(kind, Exception))


def find(tree, module):
    """The keys that lead to the module: the shortest way, the first of these."""
    level = [("", tree)]
    while level:
        below = []
        for name, at in level:
            for key, child in at._modules.items():
                if not isinstance(child, nn.Module) or not isinstance(key, str):
                    continue
                if child is module:
                    return name + key
                below.append((f"{name}{key}.", child))
        level = below
    return None


def word(text):
    return text.encode("unicode_escape").decode().replace(" ", "\\x20")


def launch():
    global kernels
    with lock:
        kernels += 1
        name = f"kernel_{kernels}"
        chain = "".join(f"/torch.nn:{word(r.name)}" for r in getattr(thread, "stack", [])) or "-"
        log.write(f"{name} {chain}\n")
    # CUPTI does not copy it
    cuda.mock_call(2, 211, 307, 1, strdup(name.encode()))


class Logged(nn.Module):
    def forward(self, x):
        with Running(self):
            launch()
            x = self.run(x)
            launch()
            return x

    def run(self, x):
        return x + 1


class Linear(Logged):
    pass


class Sequential(Logged):
    def __init__(self, *modules):
        super().__init__()
        for i, module in enumerate(modules):
            self._modules[str(i)] = module

    def run(self, x):
        for module in list(self._modules.values()):
            x = module(x)
        return x


class Attention(Logged):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = Linear(), Linear()

    def run(self, x):
        return self.out(self.qkv(x))


class Layer(Logged):
    def __init__(self, shared=None):
        super().__init__()
        self.attn = Attention()
        self.mlp = Sequential(Linear(), Linear())
        if shared:
            self.shared = shared

    def run(self, x):
        x = self.attn(x)
        x = self.mlp(x)
        return self.shared(x) if hasattr(self, "shared") else x


class Model(Logged):
    def __init__(self, layers=3, shared=None):
        super().__init__()
        self.layers = nn.ModuleList([Layer(shared) for _ in range(layers)])
        self.head = Linear()

    def run(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class Failing(Logged):
    """Ends by an exception at the @at-th of its calls."""

    def __init__(self, kind, at=1):
        super().__init__()
        self.inner, self.kind, self.left = Linear(), kind, at

    def run(self, x):
        x = self.inner(x)
        self.left -= 1
        if not self.left:
            raise self.kind("as it was asked to")
        return x


class Catching(Logged):
    """Goes on after its child has failed: with another child, at the same place and further down."""

    def __init__(self, failing):
        super().__init__()
        self.failing, self.other = failing, Linear()

    def run(self, x):
        try:
            x = self.failing(x)
        except BaseException:
            launch()
            deeper(3, lambda: self.other(x))
        x = self.other(x)
        return deeper(2, lambda: self.other(x))


def deeper(n, function):
    return deeper(n - 1, function) if n else list(map(lambda none: function(), [0]))[0]


def basic():
    model = Model()
    for _ in range(3):
        launch()
        model(1)
    model.head(1)
    other = Model(2, shared=Linear())
    other(1)
    model(1)


def changes():
    model = Model(2)
    model(1)
    model.layers.insert(0, Layer())
    model(1)
    model.layers[0].attn, model.layers[1].attn = model.layers[1].attn, model.layers[0].attn
    model(1)
    model.tail = model.head
    del model.head
    model.run = lambda x: model.tail(model.layers[0](x))
    model(1)
    # addresses of modules that are gone have others now
    for i in range(20):
        model = Model(i % 3)
        model.layers.insert(0, Linear())
        model(1)
        del model


class Strange(Logged):
    """Calls modules that are not its own, or nobody's, and itself."""

    def __init__(self, borrowed):
        super().__init__()
        self.own = Linear()
        self.__dict__["borrowed"] = borrowed

    def run(self, x):
        x = self.own(x)
        for m in self.borrowed:
            x = m(x)
        x = Attention()(x)
        return self(x) if x < 20 else x


def strange():
    root = Logged()
    root.rope = Linear()
    root.block = Strange([root.rope, Linear()])
    root._modules["nothing"] = None
    root._modules[7] = Linear()
    setattr(root, "a\n<b>;%s\x1b[1m", Linear())
    setattr(root, "long" * 500, Linear())
    root.run = lambda x: root.block(x) + sum(m(x) for m in list(root._modules.values())[3:])
    for _ in range(3):
        root(1)


def exceptions():
    for kind in ValueError, KeyboardInterrupt:
        Catching(Failing(kind))(1)
        Catching(Sequential(Linear(), Failing(kind), Linear()))(1)
        model = Sequential(Linear(), Failing(kind))
        try:
            model(1)
        except BaseException:
            launch()
        deeper(4, launch)
        deeper(4, lambda: model(1))
        deeper(2, lambda: Linear()(1))
        Linear()(1)
    # one that is in itself
    root = Failing(KeyboardInterrupt, 2)
    root.inner = root
    run, depth = root.run, [0]

    def inside(x):
        depth[0] += 1
        if depth[0] == 3:
            raise KeyboardInterrupt
        if depth[0] == 1:
            try:
                root(x)
            except KeyboardInterrupt:
                pass
            launch()
            return x
        return root(x)
    root.run = inside
    root(1)
    launch()


def threads(n):
    models = [Model() for _ in range(4)]

    def work(model):
        for _ in range(n):
            model(1)
            launch()
    all_of_them = [threading.Thread(target=work, args=(m,)) for m in models]
    for t in all_of_them:
        t.start()
    for t in all_of_them:
        t.join()


def deep(n):
    chain = Linear()
    for _ in range(n):
        outer = Logged()
        outer.inner = chain
        outer.run = lambda x, inner=chain: inner(x)
        chain = outer
    chain(1)


def many(n):
    """A tree that is too large to be looked through for each module that is not in it."""
    root = Logged()
    root.part = nn.ModuleList([Linear() for _ in range(n)])
    root.run = lambda x: root.part[0](Linear()(x))
    for _ in range(200):
        root(1)


def waits():
    model = Model()
    print("ready", flush=True)
    while not os.path.exists(os.environ["MOCK_GO"]):
        model(1)
        time.sleep(0.001)
    print("hooks", len(nn.modules.module._global_forward_hooks), len(nn.modules.module._global_forward_pre_hooks))


def cost(n):
    model = nn.Sequential(*[nn.Sequential() for _ in range(100)])
    best = 1e9
    for _ in range(n):
        begun = time.perf_counter_ns()
        model(1)
        best = min(best, (time.perf_counter_ns() - begun) / 101)
    print(f"a call of a module: {best:.0f} ns")


sys.setrecursionlimit(10000)
number = int(sys.argv[2]) if len(sys.argv) > 2 else None
globals()[sys.argv[1]](*([number] if number else []))
for name, n in sorted(calls.items()):
    log.write(f"calls {word(name)} {n}\n")
log.write(f"unended {unended}\n")
log.close()
