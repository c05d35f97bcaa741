# SPDX-License-Identifier: GPL-2.0
"""A PyTorch that only has modules: their calls and hooks are made as in PyTorch's torch/nn/modules/module.py, of
release 1.13 where OLD_TORCH is set, else of 2.6."""
import os

from torch import nn
if not os.environ.get("OLD_TORCH"):
    from torch import compiler
