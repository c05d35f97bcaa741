# SPDX-License-Identifier: GPL-2.0
from torch.nn.modules.module import Module
from torch.nn.modules.container import ModuleList, Sequential
