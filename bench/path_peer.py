#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# path_peer.py LAUNCHES: what bench/path.sh compares `grtrace report --path` with: the graph of bench_launches as
# a DiGraph, as Python tools for critical paths build it, and its longest path. Reading a trace is not measured.

import sys
import time

import networkx

launches = int(sys.argv[1])
begun = time.monotonic()
g = networkx.DiGraph()
last, stream_end = {}, {}


def edge(a, b):
    if a is not None:
        g.add_edge(a, b, weight=max(0, b[1] - a[1]))


for i in range(launches):
    thread, stream, t = i % 2, i % 4, i * 3000
    call, back = ("call", t, i), ("back", t + 2500, i)
    start, end = ("start", t + 6000, i), ("end", t + 8000 + i % 700, i)
    edge(last.get(thread), call)
    edge(call, back)
    edge(call, start)
    edge(stream_end.get(stream), start)
    edge(start, end)
    last[thread], stream_end[stream] = back, end
path = networkx.dag_longest_path(g)
took = time.monotonic() - begun
edges = g.number_of_edges()
print("%.0f edges/s: networkx, %d edges in %.2f s, %d points on the path" % (edges / took, edges, took, len(path)))
