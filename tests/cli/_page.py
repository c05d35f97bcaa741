#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_page.py FILE folded|heads|block NAME: what is in a page that grtrace wrote, read by another program than
its own script: the stacks of its flame graph as folded lines (both weights of a comparison), what besides its
blocks could run or be fetched (nothing is printed of a page that is alone), or the text of one block."""

import array
import base64
import hashlib
import html.parser
import json
import re
import sys
import zlib


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.blocks, self.scripts, self.styles, self.policy, self.odd = {}, [], [], "", []
        self.open = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag in ("script", "style"):
            self.open = (tag, a)
        if a.get("http-equiv") == "Content-Security-Policy":
            self.policy = a["content"]
        self.odd += [f"{tag} {k}={v}" for k, v in a.items() if k in ("src", "href", "srcset") or k.startswith("on")]

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.open = None

    def handle_data(self, data):
        if not self.open:
            return
        tag, a = self.open
        if tag == "style":
            self.styles.append(data)
        elif a.get("type") == "text/plain":
            raw = base64.b64decode(data, validate=True)
            self.blocks[a["id"].removeprefix("data-")] = zlib.decompress(raw) if a["data-form"] == "deflate" else raw
        else:
            self.scripts.append(data)


def column(page, name, kind):
    out = array.array(kind, page.blocks[name])
    if sys.byteorder == "big":
        out.byteswap()
    return out


def folded(page):
    names = page.blocks["flame-names"].decode().split("\n")
    name, depth = column(page, "flame-name", "I"), column(page, "flame-depth", "H")
    sides = [s for s in ("flame-before-", "flame-") if s + "low" in page.blocks]
    weights = [list(map(lambda low, high: high << 32 | low, column(page, s + "low", "I"), column(page, s + "high", "I")))
               for s in sides]
    look = json.loads(page.blocks["flame"])
    assert look["frames"] == len(name) == len(depth) and sum(weights[-1]) == look["weight"]
    path = []
    for i in range(1, len(name)):
        path[depth[i] - 1:] = [names[name[i]]]
        inner = i + 1 < len(name) and depth[i + 1] > depth[i]
        if not inner or any(w[i] for w in weights):
            print(";".join(path), *(w[i] for w in weights))


def heads(page):
    """What must be so: the scripts and the style are those whose checksums the policy has, and nothing else."""
    for kind, parts in (("script", page.scripts), ("style", page.styles)):
        sums = {"'sha256-" + base64.b64encode(hashlib.sha256(p.encode()).digest()).decode() + "'" for p in parts}
        allowed = set(re.search(rf"{kind}-src ([^;]*)", page.policy).group(1).split())
        if sums != allowed or len(parts) != 1:
            print(f"{kind}: {sums} is not {allowed}")
    if "default-src 'none'" not in page.policy:
        print(page.policy)
    print(*page.odd, sep="\n", end="")
    for url in re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s'\"]*", "".join(page.scripts + page.styles)):
        print(url)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = Page(file.read())
    if sys.argv[2] == "folded":
        folded(page)
    elif sys.argv[2] == "heads":
        heads(page)
    else:
        sys.stdout.buffer.write(page.blocks[sys.argv[3]])


main()
