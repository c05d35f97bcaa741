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
# As flame graphs, with the same books: by process, and by device.
cat >flame.py <<'END'
import collections, sys
books = [l.split() for l in open("books")]
column = {"live": 1, "peak": 2}[sys.argv[1]]
got, all_, devices = collections.Counter(), 0, set()
for line in sys.stdin:
    stack, bytes_ = line.rsplit(" ", 1)
    frames = stack.split(";")
    assert frames[-1].startswith("[GPU0_Memory "), stack
    all_ += int(bytes_)
    devices.add(frames[0])
    for frame in frames:
        got[frame.split(" (")[0]] += int(bytes_)
for words in books:
    want = int(words[column])
    assert (all_ if words[0] == "all" else got[words[0]]) == want, (words, all_, got[words[0]])
assert devices == {sys.argv[2]}, devices
END
for weight in live peak; do
	check "flame --weight $weight" bash -c "'$GRTRACE' flame --weight $weight m.grt 2>>said | python3 flame.py $weight app"
	check "flame --weight $weight --by device" bash -c \
		"'$GRTRACE' flame --weight $weight --by device m.grt 2>>said | python3 flame.py $weight '[GPU device 0]'"
done
# Over time: the most and the last of each line are those of the books. What was allocated before a part is in it.
"$GRTRACE" timeline --json m.grt >line.json
"$GRTRACE" export -f chrome -o m.chrome m.grt 2>>said
"$GRTRACE" report -o m.html m.grt >>said 2>&1
middle=$("$GRTRACE" dump --json --type alloc m.grt | python3 -c "
import json, sys
times = [json.loads(l)['time'] for l in sys.stdin]
print('%d.%09d' % divmod(times[len(times) // 2], 10**9))")
"$GRTRACE" export -f chrome --from "$middle" -o part.chrome m.grt 2>>said
"$GRTRACE" report --by allocation --from "$middle" --json m.grt >part.json
"$GRTRACE" dump --json --type alloc --from "$middle" m.grt >part.events
cat >line.py <<'END'
import json
books = {l.split()[0]: l.split()[1:] for l in open("books")}
live, peak = map(int, books["all"])
line, = json.load(open("line.json"))["memory"]
assert (line["live"], line["peak"], line["gpu"]) == (live, peak, 0), line
assert line["columns"][-1] == live and max(line["columns"]) <= peak, line
values = [e["args"]["value"] for e in json.load(open("m.chrome"))["traceEvents"] if e["ph"] == "C" and e["name"] == "CUDA memory [B]"]
assert (values[-1], max(values)) == (live, peak), values[-3:]
part = [e["args"]["value"] for e in json.load(open("part.chrome"))["traceEvents"] if e["ph"] == "C" and e["name"] == "CUDA memory [B]"]
assert len(part) < len(values) and part == values[-len(part):], (part[:3], values[:3])
rows = json.load(open("part.json"))["allocations"]
assert sum(r["live"] for r in rows) == live
made = [e["bytes"] for e in map(json.loads, open("part.events")) if e["type"] == "ALLOC" and e["what"] == 1]
assert made and (sum(r["allocations"] for r in rows), sum(r["bytes"] for r in rows)) == (len(made), sum(made)), rows
END
check "the line of a device's memory, and that of a part" python3 line.py
check "and in a page" grep -q '^value.*CUDA memory' <(python3 "$GRTRACE_SRC/tests/cli/_page.py" m.html lanes)
check "kinds" test "$(python3 -c "
import json
for r in json.load(open('m.json'))['allocations']: print(r['kind'], r['allocations'])" | sort | uniq -c | awk '{print $1 "x", $2, $3}' | tr '\n' ' ')" = \
	"60x device 1 1x device 8 1x managed 1 1x physical 1 2x pool 200 "
check "a free of what is not there is counted" grep -q '1 free belongs to memory whose allocation' m.json

# Memory of the host is no memory of a device, and copies that are slow because of it are counted.
"$GRTRACE" record -e cuda -o h.grt "$MOCK/app" host-memory >said 2>&1
check "pinned and registered memory of the host, live and at the peak" test "$("$GRTRACE" report --by allocation --json h.grt |
	jq -r '.allocations[] | "\(.kind) \(.gpu) \(.live) \(.peak)"' | sort | tr '\n' ',')" = \
	'device 0 5000 5000,pinned null 0 30002,pinned null 70001 70001,registered null 0 4321,registered null 1234 1234,'
check "a line of its own" test "$("$GRTRACE" timeline --json h.grt | jq -c '.memory[] | [.gpu, .live, .peak]' | sort | tr '\n' ' ')" = \
	'[0,5000,5000] [null,71235,105558] '
check "copies from pageable memory" test "$("$GRTRACE" report --by copy --json h.grt | jq -c '[.copies[] | .pageable, .pageable_bytes]')" = '[2,8192]'
plan
