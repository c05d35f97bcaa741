# SPDX-License-Identifier: GPL-2.0
# _grew.py CSV WARM STEP_MS: a line is fitted to each number of day.sh's processes over time, one slope for all processes of a
# name, and an offset for each. The first WARM seconds of a process are left out. Status 1: something grew.
import collections
import csv
import sys

# By how much a fitted line may rise from the first to the last line of the CSV. Segments fill up to their bound, which
# day.sh looks at. The ranks' steps have names of their own: a black box keeps a quarter of its 16 MiB for them; the
# library keeps each, in tables whose pages are touched at random, 20 MiB, and has 256 bytes for a step.
LIMITS = {"rss_kb": 1024, "library_kb": 256, "descriptors": 1, "threads": 1, "disk": 4096}
MORE = {("segments", "disk"): lambda span: 4 << 20,
        ("ranks", "rss_kb"): lambda span: 6 << 10,
        ("ranks: program", "rss_kb"): lambda span: (20 << 10) + span * 1000 / float(sys.argv[3]) * 256 / 1024}

rows = list(csv.DictReader(open(sys.argv[1])))
warm = float(sys.argv[2])
span = float(rows[-1]["seconds"]) - float(rows[0]["seconds"])
first = {}
of = collections.defaultdict(lambda: collections.defaultdict(list))
for r in rows:
    first.setdefault(r["pid"], float(r["seconds"]))
    if float(r["seconds"]) - first[r["pid"]] >= warm:
        of[r["what"]][r["pid"]].append(r)


def slope(lives, column):
    """Return: the slope per second, its standard error, the mean, and the number of lines; None: too few"""
    x, y, used = [], [], 0
    for life in lives.values():
        points = [(float(r["seconds"]), float(r[column])) for r in life if r[column] not in ("", "-")]
        if len(points) < 3:
            continue
        used += 1
        mean_x, mean_y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
        x += [p[0] - mean_x for p in points]
        y += [p[1] - mean_y for p in points]
    free = len(x) - used - 1
    if free < 1:
        return None
    xx = sum(a * a for a in x)
    b = sum(p * q for p, q in zip(x, y)) / xx
    error = (sum((q - b * p) ** 2 for p, q in zip(x, y)) / free / xx) ** 0.5
    values = [float(r[column]) for life in lives.values() for r in life if r[column] not in ("", "-")]
    return b, error, sum(values) / len(values), len(values)


bad = 0
print(f"{'what':22} {'number':12} {'lines':>6} {'mean':>12} {'per hour':>22} {'in all':>12}")
for what in sorted(of):
    for column, limit in LIMITS.items():
        if not (fit := slope(of[what], column)):
            continue
        b, error, mean, n = fit
        limit = MORE[what, column](span) if (what, column) in MORE else limit
        # beyond the limit, also when two standard errors are taken off
        grew = b * span > limit and (b - 2 * error) * span > 0
        bad += grew
        print(f"{what:22} {column:12} {n:6} {mean:12.0f} {b * 3600:13.2f} +- {error * 3600:5.2f} {b * span:12.1f}"
              + ("  GREW" if grew else ""))
sys.exit(bad != 0)
