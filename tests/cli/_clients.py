#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Clients and a service manager for tests/cli/serve.sh.

_clients.py slow PORT N SECONDS   N clients that send a request byte by byte and never end it
_clients.py deaf PORT N SECONDS   N clients that request the page and do not read it
_clients.py manager NAME          prints what a service tells to @NAME, a line each, until it stops
_clients.py pages DIR             serves the files of a directory, prints at which port
_clients.py free                  a port that nobody has
"""
import functools
import http.server
import socket
import sys
import time


def connect(port, n, first):
    all_of_them = []
    for _ in range(n):
        s = socket.create_connection(('127.0.0.1', int(port)))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall(first)
        all_of_them.append(s)
    print('connected', flush=True)
    return all_of_them


what, args = sys.argv[1], sys.argv[2:]
if what == 'slow':
    clients = connect(args[0], int(args[1]), b'GET /metrics HT')
    for _ in range(int(float(args[2]) * 10)):
        time.sleep(0.1)
        for c in clients:
            try:
                c.send(b'x')
            except OSError:
                pass
elif what == 'deaf':
    clients = connect(args[0], int(args[1]), b'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n')
    time.sleep(float(args[2]))
elif what == 'manager':
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind('\0' + args[0])
    s.settimeout(300)
    print('bound', flush=True)
    said = ''
    while said != 'STOPPING=1':
        said = s.recv(4096).decode()
        print(said, flush=True)
elif what == 'pages':
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory=args[0]))
    print(server.server_address[1], flush=True)
    server.serve_forever()
elif what == 'free':
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    print(s.getsockname()[1])
