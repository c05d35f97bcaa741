#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compares what queries found with what fleet_rollups has injected: `_fleet.py DIR ANSWERS LEAST STEPS`.

A step counts as found where its cause, host and rank are those of DIR/causes.csv, and one without a cause where
nothing is found in it. A clock counts where its offset and drift are within their stated errors. Prints a line for
each, and fails where less than LEAST percent are found. Nothing here knows how the queries do it.
"""
import csv
import json
import sys
from fractions import Fraction

directory, answers, least = sys.argv[1], json.load(open(sys.argv[2])), float(sys.argv[3])
truth = {int(r['step']): (r['cause'], r['host'], r['rank'] or None) for r in csv.DictReader(open(f'{directory}/causes.csv'))}
hosts = {r['host']: {k: Fraction(v) for k, v in r.items() if k != 'host'} for r in csv.DictReader(open(f'{directory}/hosts.csv'))}
failed = False


def tell(what, found, of, more=''):
    global failed
    failed |= not of or 100 * found < least * of
    print(f'{what}: {found} of {of}{more}')


causes = {int(r['step']): (r['cause'], r['host'], r['rank']) for r in answers['causes']}
steps = range(int(sys.argv[4]))
for cause in sorted({c for c, _, _ in truth.values()}):
    those = [s for s, t in truth.items() if t[0] == cause]
    tell(cause, sum(causes.get(s) == truth[s] for s in those), len(those))
clean = [s for s in steps if s not in truth]
tell('steps with nothing', sum(s not in causes for s in clean), len(clean))

# The offset of a host at the moment that the row is of, from the true clocks: stamp = start + t + offset + drift * t.
clocks = {r['host']: r for r in answers['clocks']}
reference = hosts[answers['clocks'][0]['reference']]
right, worst, steepest = 0, 0, 0
for name, h in hosts.items():
    r = clocks.get(name)
    if not r or r['offset_ns'] is None:
        continue
    t = (Fraction(r['at_ns']) - h['start_ns'] - h['offset_ns']) / (1 + h['drift'])
    offset = h['offset_ns'] - reference['offset_ns'] + (h['drift'] - reference['drift']) * t
    drift = ((1 + h['drift']) / (1 + reference['drift']) - 1) * 10**9
    # whole numbers, rounded down
    ok = abs(Fraction(r['offset_ns']) - offset) <= Fraction(r['error_ns']) + 2 and abs(Fraction(r['drift_ppb']) - drift) <= Fraction(r['drift_error_ppb']) + 2
    right += ok
    worst, steepest = max(worst, float(r['error_ns'])), max(steepest, float(r['drift_error_ppb']))
tell('clocks within their error', right, len(hosts), f', errors up to {worst / 1e6:.3f} ms and {steepest / 1e3:.3f} ppm')

# Who came last to the first collective after what made it late, and which host to the next, among five.
late = {}
for r in answers['late']:
    late.setdefault(int(r['step']), []).append(r)
own = [s for s, t in truth.items() if t[0] in ('slow GPU', 'slow host thread')]
tell('last of its host', sum(any(r['collective'] == 'AllGather' and r['rank'] == truth[s][2] for r in late.get(s, ())) for s in own), len(own))
tell('its host the last of five', sum(any(r['collective'] == 'ReduceScatter' and r['host'] == truth[s][1] for r in late.get(s, ())) for s in own), len(own))
tell('steps with nothing and nobody late', sum(s not in late for s in clean), len(clean))
sys.exit(failed)
