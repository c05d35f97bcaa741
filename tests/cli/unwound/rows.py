# SPDX-License-Identifier: GPL-2.0
"""rows.py ROWS: reads `readelf --debug-dump=frames-interp`; ROWS is what unwind_rows prints. At each address where
readelf begins a row, ours must be the same; behind the last one of a function there must be none. Left out is what
readelf calls "exp", an expression, which it does not run; frames of signal handlers; and functions of assembly that keep their return address elsewhere."""
import bisect
import re
import sys

POINTERS = {"rsp": "sp", "sp": "sp", "rbp": "fp", "x29": "fp"}
SAVED_MAX, CFA_MAX = 0x7F * 8, 0x3FFF * 8

rows = [line.split() for line in open(sys.argv[1])]
address = [int(row[0], 16) for row in rows]
cie, functions, reader = {}, [], None
for line in sys.stdin:
    line = re.sub(r" \(\w+\)", "", line)  # a register by its other name
    if m := re.match(r'([0-9a-f]+) .* CIE "(.*?)".* ra=(\d+)', line):
        reader = cie[m[1]] = {"signal": "S" in m[2], "links": m[3] == "30", "known": m[3] in ("16", "30"), "rows": []}
    elif m := re.match(r"[0-9a-f]+ .* FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)", line):
        reader = {"cie": cie[m[1]], "begin": int(m[2], 16), "end": int(m[3], 16), "rows": []}
        functions.append(reader)
    elif line.split()[:1] == ["LOC"]:
        columns = line.split()
    elif re.match(r"[0-9a-f]{16} ", line):
        reader["rows"].append(dict(zip(columns, line.split())))


def below(cell):
    """Bytes from the CFA down to where a register was saved, 0: it was not; None: an expression."""
    m = re.fullmatch(r"c-(\d+)", cell)
    return int(m[1]) if m else 0 if cell in "su" else None


def expected(row, how):
    """What ours may be, as lists of words; none: it is not compared."""
    m = re.fullmatch(r"(\w+)\+(\d+)", row["CFA"])
    cell = row.get("ra", "s")
    fp, ra = below(row.get("rbp", row.get("x29", "s"))), below(cell)
    if cell == "u" and how["known"] and not how["links"]:
        return [["end"]]
    if how["signal"] or not how["known"] or not m or m[1] not in POINTERS or fp is None or ra is None:
        return []
    short = [POINTERS[m[1]], m[2], str(fp), str(ra)]
    if max(fp, ra) > SAVED_MAX or int(m[2]) > CFA_MAX:
        short = ["long"]
    # it is in its register, or there is none: readelf says the same of both
    return [short, ["end"]] if cell == "u" else [short]


def compare(at, may_be, what):
    have = rows[bisect.bisect_right(address, at) - 1][1:]
    if may_be and have not in may_be:
        sys.exit("at %x: ours is %s, readelf's %s" % (at, " ".join(have), what))
    return bool(may_be)


begins = sorted((f["begin"], f["end"]) for f in functions)
compared = left = 0
for f in functions:
    for row in f["rows"] or [dict(f["cie"]["rows"][0], LOC="%x" % f["begin"])]:
        if compare(int(row["LOC"], 16), expected(row, f["cie"]), row):
            compared += 1
        else:
            left += 1
    at = bisect.bisect_right(begins, (f["end"], 1 << 64)) - 1
    if begins[at][1] <= f["end"] and f["end"] > f["begin"]:
        compare(f["end"], [["-"]], "none")
print("%d rows are the same, %d are left out" % (compared, left))
sys.exit(not compared or left > compared // 20)
