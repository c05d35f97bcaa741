#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks a dashboard of Grafana, and what it and rules ask, against Prometheus.

_dashboard.py check DASHBOARD                       panels do not overlap, variables are defined
_dashboard.py ask DASHBOARD RULES URL               each expression on a Prometheus that has all metrics: it has values.
                                                    Prints those without, after three minutes of waiting, and how many there are
"""
import json
import re
import sys
import time
import urllib.parse
import urllib.request

what, path, *rest = sys.argv[1:]
dashboard = json.load(open(path))
panels = dashboard['panels']
exprs = [(p['title'], t['expr']) for p in panels for t in p.get('targets', ())]
variables = {v['name'] for v in dashboard['templating']['list']}


def check():
    taken = {}
    assert len({p['id'] for p in panels}) == len(panels), 'ids'
    for p in panels:
        g = p['gridPos']
        assert 0 <= g['x'] and g['x'] + g['w'] <= 24, p['title']
        for cell in ((x, y) for x in range(g['x'], g['x'] + g['w']) for y in range(g['y'], g['y'] + g['h'])):
            assert cell not in taken, (p['title'], taken[cell])
            taken[cell] = p['title']
        assert p['type'] == 'row' or p['targets'] and p['description'], p['title']
        assert len({t['refId'] for t in p.get('targets', ())}) == len(p.get('targets', ())), p['title']
    used = set(re.findall(r'\$\{?(\w+)', json.dumps(dashboard))) - {'__rate_interval', '__all'}
    assert used <= variables, used - variables
    assert variables - {'job'} <= used, variables - used


def get(url, name, **args):
    with urllib.request.urlopen(f'{url}/api/v1/{name}?' + urllib.parse.urlencode(args, doseq=True), timeout=20) as answer:
        data = json.load(answer)
    assert data['status'] == 'success', data
    return data['data']


def values(url, expr):
    """Those that are numbers: a quantile of nothing is none. An hour, since a test may take long."""
    expr = re.sub(r'\$(job|instance|gpu)\b', '.*', expr.replace('$__rate_interval', '1h').replace('[5m]', '[1h]'))
    return [r for r in get(url, 'query', query=expr)['result'] if r['value'][1] != 'NaN']


def ask(rules, url):
    left = exprs[:]
    # the expressions of recording rules; whether alerts come is tested with made-up series
    text = open(rules).read()
    names = re.findall(r'- record: (\S+)\n\s+expr: (.*)\n', text)
    assert names
    left += names
    for variable in dashboard['templating']['list']:
        if variable['type'] == 'query':
            metric, label = re.fullmatch(r'label_values\((.*), (\w+)\)', variable['definition']).groups()
            left.append((variable['name'], f'count by ({label}) ({metric})'))
    many = len(left)
    for _ in range(900):
        left = [(title, expr) for title, expr in left if not values(url, expr)]
        if not left:
            break
        time.sleep(0.2)
    for title, expr in left:
        print(f'no value: {title}: {expr}')
    print(f'{many - len(left)} of {many} expressions have values')
    return bool(left)


sys.exit(check() if what == 'check' else ask(*rest))
