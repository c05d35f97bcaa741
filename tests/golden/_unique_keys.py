#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_unique_keys.py FILE: whether it is one JSON value in which no object has a key twice."""
import json
import sys


def once(pairs):
    keys = [k for k, _ in pairs]
    assert len(set(keys)) == len(keys), [k for k in set(keys) if keys.count(k) > 1]
    return dict(pairs)


json.load(open(sys.argv[1], encoding="utf-8"), object_pairs_hook=once)
