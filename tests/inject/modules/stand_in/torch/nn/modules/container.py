# SPDX-License-Identifier: GPL-2.0
from torch.nn.modules.module import Module


class ModuleList(Module):
    def __init__(self, modules):
        super().__init__()
        for i, module in enumerate(modules):
            self._modules[str(i)] = module

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, at):
        return list(self._modules.values())[at]

    def insert(self, at, module):
        rest = list(self._modules.values())
        rest.insert(at, module)
        self._modules = {str(i): m for i, m in enumerate(rest)}


class Sequential(ModuleList):
    def __init__(self, *modules):
        super().__init__(modules)

    def forward(self, x):
        for module in self:
            x = module(x)
        return x
