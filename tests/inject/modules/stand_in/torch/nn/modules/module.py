# SPDX-License-Identifier: GPL-2.0
import os

_global_forward_pre_hooks = {}
_global_forward_hooks = {}
_global_forward_hooks_always_called = {}


class RemovableHandle:
    number = 0

    def __init__(self, *of):
        RemovableHandle.number += 1
        self.id = RemovableHandle.number
        self.of = of

    def remove(self):
        for hooks in self.of:
            hooks.pop(self.id, None)


def register_module_forward_pre_hook(hook):
    handle = RemovableHandle(_global_forward_pre_hooks)
    _global_forward_pre_hooks[handle.id] = hook
    return handle


def register_old(hook):
    handle = RemovableHandle(_global_forward_hooks)
    _global_forward_hooks[handle.id] = hook
    return handle


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    handle = RemovableHandle(_global_forward_hooks, _global_forward_hooks_always_called)
    _global_forward_hooks[handle.id] = hook
    if always_call:
        _global_forward_hooks_always_called[handle.id] = True
    return handle


class Module:
    def __init__(self):
        self.__dict__["_modules"] = {}

    def __setattr__(self, name, value):
        if isinstance(value, Module):
            self._modules[name] = value
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name):
        if name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __getattr__(self, name):
        if name in self.__dict__["_modules"]:
            return self.__dict__["_modules"][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _wrapped_call_impl(self, *args, **kwargs):
        return self._call_impl(*args, **kwargs)

    def _call_impl(self, *args, **kwargs):
        if not (_global_forward_hooks or _global_forward_pre_hooks):
            return self.forward(*args, **kwargs)
        result = None
        called = set()

        def inner():
            nonlocal result, args, kwargs
            for hook in list(_global_forward_pre_hooks.values()):
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
            result = self.forward(*args, **kwargs)
            for number, hook in list(_global_forward_hooks.items()):
                if number in _global_forward_hooks_always_called:
                    called.add(number)
                changed = hook(self, args, result)
                if changed is not None:
                    result = changed
            return result

        if not _global_forward_hooks_always_called:
            return inner()
        try:
            return inner()
        except Exception:
            for number, hook in list(_global_forward_hooks.items()):
                if number in _global_forward_hooks_always_called and number not in called:
                    hook(self, args, result)
            raise

    def call_old(self, *args, **kwargs):
        if not (_global_forward_hooks or _global_forward_pre_hooks):
            return self.forward(*args, **kwargs)
        for hook in list(_global_forward_pre_hooks.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in list(_global_forward_hooks.values()):
            changed = hook(self, args, result)
            if changed is not None:
                result = changed
        return result

    __call__ = _wrapped_call_impl


if os.environ.get("OLD_TORCH"):
    register_module_forward_hook = register_old
    Module.__call__ = Module.call_old
