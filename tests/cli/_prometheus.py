#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Metrics in Prometheus' text format, read as its documentation says.

_prometheus.py check PAGE               the page is whole: types, histograms, no value twice
_prometheus.py agree PAGE REPORT...     its sums are those of `report --by process --json`
_prometheus.py grow PAGE PAGE           no counter of the second is less than that of the first
_prometheus.py value PAGE NAME LABEL=VALUE...   the sum of the values with these labels
"""
import json
import re
import sys
from decimal import Decimal

LINE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')


def read(path):
    types, values, helps = {}, {}, set()
    family = None
    for line in open(path, encoding='utf-8', newline='\n'):
        line = line.rstrip('\n')
        if line.startswith('# HELP '):
            family = line.split(' ')[2]
            assert family not in helps, f'{family} comes twice'
            helps.add(family)
        elif line.startswith('# TYPE '):
            _, _, name, kind = line.split(' ')
            assert name == family and name not in types, line
            types[name] = kind
        else:
            m = LINE.match(line)
            assert m, line
            labels, rest = [], m[2] or ''
            while rest:
                one = LABEL.match(rest)
                assert one, line
                labels.append((one[1], re.sub(r'\\(.)', lambda c: '\n' if c[1] == 'n' else c[1], one[2])))
                rest = rest[one.end():]
            assert m[1] == family or types[family] == 'histogram' and re.fullmatch(family + '_(bucket|sum|count)', m[1]), line
            key = (m[1], tuple(sorted(labels)))
            assert key not in values, f'{key} twice'
            values[key] = Decimal(m[3])
    return types, values


def counters(page):
    types, values = page
    return {k: v for k, v in values.items()
            if types.get(k[0]) == 'counter' or re.sub('_(bucket|sum|count)$', '', k[0]) in types and k[0] not in types}


def check(path):
    types, values = read(path)
    for name, kind in types.items():
        assert kind != 'counter' or name.endswith('_total'), name
        assert re.fullmatch('[a-z_]+', name), name
    buckets = {}
    for (name, labels), value in values.items():
        assert not {'kernel', 'seqno', 'ctx'} & set(dict(labels)), labels
        if name.endswith('_bucket'):
            rest = tuple(l for l in labels if l[0] != 'le')
            buckets.setdefault((name, rest), []).append((Decimal(dict(labels)['le'].replace('+Inf', 'Infinity')), value))
    for (name, labels), all_of_it in buckets.items():
        assert all_of_it == sorted(all_of_it) and [v for _, v in all_of_it] == sorted(v for _, v in all_of_it), name
        assert all_of_it[-1][1] == values[(name[:-7] + '_count', labels)], name


def total(values, name, **labels):
    return sum(v for (n, l), v in values.items() if n == name and labels.items() <= dict(l).items())


def agree(path, reports):
    _, values = read(path)
    rows = [r for path in reports for r in json.load(open(path))['processes']]
    same = [('jobs', 'jobs_total', 1), ('incomplete', 'incomplete_jobs_total', 1), ('waits', 'waits_total', 1),
            ('gpu_wait', 'wait_seconds_total', 10**9), ('exec_sum', 'job_exec_seconds_sum', 10**9),
            ('queue_sum', 'job_queue_seconds_sum', 10**9)]
    assert rows
    for key, name, scale in same:
        want = sum(r[key] or 0 for r in rows)
        for level in 'gpu', 'process', 'cgroup':
            got = total(values, f'grtrace_{level}_{name}') * scale
            # means of sampled jobs are rounded
            assert got == want or 'sampled' in path and abs(got - want) <= max(3, want * Decimal('0.001')), (level, name, got, want)
    for r in rows:
        got = total(values, 'grtrace_process_jobs_total', pid=str(r['pid'])) if r['pid'] else r['jobs']
        assert got == sum(x['jobs'] for x in rows if x['pid'] == r['pid']), (r, got)
    spans = [json.load(open(p))['span_ns'] for p in reports]
    if len(spans) == 1 and len({dict(l)['gpu'] for (n, l) in values if n == 'grtrace_process_jobs_total'}) == 1:
        for r in rows:
            if r['busy'] is not None and r['pid']:
                got = total(values, 'grtrace_process_busy_seconds_total', pid=str(r['pid'])) * 10**9
                want = Decimal(str(r['busy'])) * spans[0] / 100
                assert abs(got - want) <= spans[0] * Decimal('0.00001') + 1, (r, got, want)


def grow(before, after):
    old, new = counters(read(before)), counters(read(after))
    assert old
    for key, value in old.items():
        assert new[key] >= value, (key, value, new[key])


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == 'check':
        for path in args:
            check(path)
    elif what == 'agree':
        agree(args[0], args[1:])
    elif what == 'grow':
        grow(*args)
    elif what == 'value':
        print(total(read(args[0])[1], args[1], **dict(a.split('=', 1) for a in args[2:])).normalize().__format__('f'))


main()
