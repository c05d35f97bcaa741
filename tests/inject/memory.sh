#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory by call site, live and at the peak, to the byte, against the program's own books.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH
GRTRACE=$GRTRACE_PLAIN/grtrace

rm -rf m.grt
"$GRTRACE" record -e cuda -o m.grt "$MOCK/app" memory 200 2>said | sort >books
"$GRTRACE" report --by allocation --json m.grt >m.json
check "the program has books" grep -q '^all [0-9]* [0-9]*$' books
check "live and peak by site" python3 -c "
import json
rows = json.load(open('m.json'))['allocations']
books = {w[0]: (int(w[1]), int(w[2])) for w in (l.split() for l in open('books'))}
want = {n: v for n, v in books.items() if n != 'all'}
got = {}
for r in rows:
    for name in want:
        if name in (r['frames'] or ''):
            a = got.get(name, (0, 0))
            got[name] = (a[0] + r['live'], a[1] + r['peak'])
assert got == want, (got, want)
assert (sum(r['live'] for r in rows), sum(r['peak'] for r in rows)) == books['all'], rows"
check "kinds" test "$(python3 -c "
import json
for r in json.load(open('m.json'))['allocations']: print(r['kind'], r['allocations'])" | sort | tr '\n' ' ')" = \
	"device 8 managed 1 physical 1 pool 200 pool 200 "
check "a free of what is not there is counted" grep -q '1 frees are of memory whose allocation' m.json
plan
