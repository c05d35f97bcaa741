# SPDX-License-Identifier: GPL-2.0
def is_compiling():
    return False
