#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_page.py FILE folded|heads|block NAME|same JSON|checks JSON|slots GRAPH|lanes: what is in a page that grtrace wrote, read
by another program than its own script:

    folded       the stacks of its flame graph as folded lines (both weights of a comparison)
    heads        what besides its blocks could run or be fetched: nothing is printed of a page that is alone
    block NAME   the text of one block
    same JSON... where its tables differ from the outputs of `grtrace report --json`, also with --by: nothing is
                 printed of the same
    checks JSON  lines for _browser.py: that the browser shows the figures of that output
    slots GRAPH  where a graph's weights by time do not add up to those of all time: nothing is printed where they do
    lanes        each lane: kind, group, name, how long it was busy; of a thread by state, of idle time by cause"""

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


MARKS = ("inferred", "estimated")


def value_of(kind, value):
    """A number that has a name or a unit stands before it."""
    return value[0] if kind in ("named", "amount") and isinstance(value, list) else value


def tables_of(page):
    """What `report --json` prints, of the sections of the page."""
    out = {}
    for s in json.loads(page.blocks["report"]):
        if "notes" in s:
            out["notes"] = s["notes"]
        elif "table" in s:
            columns = [(i, c["key"], c["kind"]) for i, c in enumerate(s["columns"]) if c["machine"]]
            out[s["table"]] = [{key: value_of(kind, row[i]) for i, key, kind in columns} for row in s["rows"]]
        elif s["fields"]:
            out[s["fields"]] = {f["name"]: value_of(f["kind"], f["value"]) for f in s["list"]}
        else:
            out.update((f["name"], value_of(f["kind"], f["value"])) for f in s["list"])
    return out


def same(page, outputs):
    got, wanted = tables_of(page), {}
    for output in outputs:
        notes = wanted.get("notes", []) + output.get("notes", [])
        # an output has an empty list of what it was not asked for
        wanted = {**output, **{k: v for k, v in wanted.items() if v != []}, "notes": notes}
    # a note may come with several of them, in another order
    wanted["notes"], got["notes"] = sorted(set(wanted["notes"])), sorted(set(got["notes"]))
    # words that only people read
    got.get("balance", {}).pop("accounted", None)
    for name in sorted(set(got) | set(wanted)):
        a, b = got.get(name), wanted.get(name)
        if isinstance(b, list) and b and isinstance(b[0], dict):
            b = [{k: v for k, v in row.items() if k not in MARKS or not isinstance(v, list)} for row in b]
        if a != b and (a or b):
            print(f"{name}: the page has {a}, --json has {b}")


def checks(page, wanted):
    print("# the figures of report --json")
    for name, rows in wanted.items():
        if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
            continue
        lists = {k for row in rows for k, v in row.items() if isinstance(v, list)}
        expected = [{k: "" if v is None else str(v).lower() if isinstance(v, bool) else str(v)
                     for k, v in row.items() if k not in lists} for row in rows]
        print(f"is (w => (t => t && (t.querySelector(':scope > button:not([hidden])')?.click(), [...t.querySelectorAll('tbody tr')]"
              ".length === w.length && [...t.querySelectorAll('tbody tr')].every((tr, i) => [...tr.children].every(td => "
              "!(td.dataset.key in w[i]) || td.dataset.value === w[i][td.dataset.key] || Number(td.dataset.value) === "
              f"Number(w[i][td.dataset.key])))))(document.querySelector('.report-table[data-table=\"{name}\"]')))({json.dumps(expected)})")
    pairs = [[f'[data-fields="{name}"] [data-key="{key}"]', str(value)]
             for name in ("health", "joins", "balance") for key, value in (wanted.get(name) or {}).items()
             if isinstance(value, int) and not isinstance(value, bool)]
    print(f"is {json.dumps(pairs)}.filter(([at, value]) => document.querySelector(at)?.dataset.value !== value)"
          ".join() === ''")


def numbers(data):
    out, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(number)
            number = shift = 0
    return out


def slots(page, graph):
    """What a graph's frames got in each part of the time is what they have."""
    own = [low | high << 32 for low, high in zip(column(page, graph + "-low", "I"), column(page, graph + "-high", "I"))]
    got = [0] * len(own)
    for frame, low, high in zip(*(column(page, f"{graph}-slot-{c}", "I") for c in ("frame", "low", "high"))):
        got[frame] += low | high << 32
    for i, (a, b) in enumerate(zip(own, got)):
        if a != b:
            print(f"frame {i} has {a}, its parts {b}")


def lanes(page):
    look = json.loads(page.blocks["lanes"])
    length, lost, name = (iter(numbers(page.blocks["lane-" + c])) for c in ("length", "busy", "name"))
    for lane in look["lanes"]:
        sums = {}
        for _ in range(lane["items"]):
            busy, text = next(length) - next(lost), look["names"][next(name)]
            key = text if lane["kind"] == "thread" else text.split(" ")[0] if lane["kind"] == "idle" else "busy"
            sums[key] = sums.get(key, 0) + busy
        if lane["kind"] != "value":
            assert sum(sums.values()) == lane["busy"], lane
        words = sorted(f"{k}={v}" for k, v in sums.items()) if lane["kind"] != "value" else [f"values={lane['items']}"]
        print(lane["kind"], lane["group"], lane["name"], lane["pid"], lane["tid"], *words, sep="\t")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = Page(file.read())
    if sys.argv[2] == "folded":
        folded(page)
    elif sys.argv[2] == "heads":
        heads(page)
    elif sys.argv[2] == "slots":
        slots(page, sys.argv[3])
    elif sys.argv[2] == "lanes":
        lanes(page)
    elif sys.argv[2] in ("same", "checks"):
        outputs = []
        for name in sys.argv[3:]:
            with open(name, encoding="utf-8") as file:
                outputs.append(json.load(file))
        if sys.argv[2] == "same":
            same(page, outputs)
        else:
            checks(page, outputs[0])
    else:
        sys.stdout.buffer.write(page.blocks[sys.argv[3]])


main()
