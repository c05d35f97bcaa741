#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tables as a database: python's SQLite finds the rows and sums that reports print.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE_BUILD/tests/golden/report_traces" .
for kind in all cuda; do
	"$GRTRACE_BUILD/tests/cli/export_traces" $kind $kind.grt
done

cat >compare.py <<'END_PY'
import functools, json, sqlite3, subprocess, sys
grtrace, trace, path = sys.argv[1:]
db = sqlite3.connect(path)
wrong = []
def same(what, is_, wanted):
    if is_ != wanted:
        wrong.append(f"{what}: {is_}, reports have {wanted}")
def one(sql):
    return db.execute(sql).fetchone()[0]
@functools.cache
def report(by, *more):
    run = subprocess.run([grtrace, "report", "--by", by, "--top", "0", "--json", *more, trace], stdout=subprocess.PIPE)
    return json.loads(run.stdout)
same("integrity", one("PRAGMA integrity_check"), "ok")
compared = 0
# Tables that reports have, too: each number by its sum, each text by how often it is there.
for by, tables in (("step", ("steps", "step_ranks")), ("stack", ("stacks",)), ("idle", ("idle", "idle_devices"))):
    reported = report(by)
    for table in tables:
        rows = reported[table]
        same(f"{table}: rows", one(f"SELECT count(*) FROM {table}"), len(rows))
        columns = {c[1]: c[2] for c in db.execute(f"PRAGMA table_info({table})")}
        for key in rows[0] if rows else ():
            names = [n for n in (key, key + "_ns", key + "_percent", key + "_bytes") if n in columns]
            same(f"{table}.{key}: columns", len(names), 1)
            values = [r[key] for r in rows if r[key] is not None]
            if isinstance(values[0] if values else "", (str, list)):
                same(f"{table}.{key}", one(f'SELECT count("{names[0]}") FROM {table}'), len([v for v in values if v != []]))
            elif columns[names[0]] == "INTEGER":
                same(f"{table}.{key}", one(f'SELECT sum("{names[0]}") FROM {table}'), sum(values) if values else None)
            else:
                same(f"{table}.{key}", round(one(f'SELECT total("{names[0]}") FROM {table}'), 3), round(float(sum(values)), 3))
            compared += 1
# Each job, kernel and copy.
for by, table, where in (("kernel", "kernels", "kind = 'kernel'"), ("copy", "copies", "kind IN ('copy', 'set')")):
    rows = [r for r in report(by)[table]]
    same(f"work, {by}: rows", one(f"SELECT count(*) FROM work WHERE {where}"), sum(r["calls"] for r in rows))
    same(f"work, {by}: time", one(f"SELECT coalesce(sum(duration_ns), 0) FROM work WHERE {where}"), sum(r["total"] or 0 for r in rows))
    compared += len(rows)
same("work: bytes", one("SELECT coalesce(sum(bytes), 0) FROM work"), sum(r["bytes"] for r in report("copy")["copies"]))
names = dict(db.execute("SELECT name, count(*) FROM work WHERE kind = 'kernel' GROUP BY 1"))
wanted = {}
for r in report("kernel")["kernels"]:
    wanted[r["kernel"]] = wanted.get(r["kernel"], 0) + r["calls"]
same("work: names of kernels", names, wanted)
jobs = report("job", "--sort", "time")
rows = jobs["jobs"]
same("work, jobs: rows", one("SELECT count(*) FROM work WHERE kind = 'job'"), len(rows))
same("work, jobs: time", one("SELECT coalesce(sum(duration_ns), 0) FROM work WHERE kind = 'job'"), sum(r["t_exec_ns"] or 0 for r in rows))
same("work, jobs: inferred", one("SELECT count(*) FROM work WHERE inferred LIKE '%duration_ns%'"), sum("t_exec_ns" in r["inferred"] for r in rows))
same("work, jobs: identity", sorted(db.execute("SELECT ctx, seqno, pid, ring_name, engine FROM work WHERE kind = 'job'"), key=str),
     sorted(((r["ctx"], r["seqno"], r["pid"], r["ring_name"], r["engine"]) for r in rows), key=str))
# The operator and the step of each kernel and copy.
of = {r["op"]: 0 for r in report("op")["operators"] if r["gpu_self"]}
for r in report("op")["operators"]:
    if r["gpu_self"]:
        of[r["op"]] += r["gpu_self"]
same("work: time by operator", dict(db.execute("SELECT op, sum(duration_ns) AS t FROM work WHERE kind != 'job' GROUP BY 1 HAVING t > 0")), of)
steps = report("step")["steps"]
same("work: the end of each step", dict(((s, p), e) for s, p, e in db.execute("SELECT step, pid, max(end_ns) FROM work WHERE step IS NOT NULL GROUP BY 1, 2")),
     {(r["step"], r["pid"]): r["begin"] + r["time"] for r in steps})
compared += len(of) + len(steps)
# What was lost, and the pairs.
for cause, events in db.execute("SELECT cause, sum(events) FROM losses GROUP BY cause"):
    if cause in jobs["balance"] and not jobs.get("text"):
        same(f"losses: {cause}", events, jobs["balance"][cause])
meta = dict(db.execute("SELECT key, value FROM meta"))
same("meta: format", meta["trace.format"], 5)
same("meta: span", meta["recording.span_ns"], jobs["span_ns"])
same("meta: events", meta["health.events"], jobs["health"]["events"])
print("\n".join(wrong) or f"{compared + len(rows)} compared")
END_PY
sum=0
for name in all drm gap ops ranks sampled; do
	trace=$name.grt
	run export -f sqlite -o "$name.sqlite" "$trace"
	# a gap in the trace is told as by report
	[ "$status" = 0 ] || [ $name = gap ] || not_ok "$name: it is written"
	output=$(python3 compare.py "$GRTRACE" "$trace" "$name.sqlite" 2>err)
	n=${output%% compared}
	[ "$n" -ge 0 ] 2>/dev/null || not_ok "$name: the rows and sums are those of reports"
	sum=$((sum + n))
done
check "the rows and sums of 6 traces are those of reports: $sum values" test $sum -gt 300
cp -r all.grt window.grt
sed -i 's/^env {/env {\n\tkmod_window = "from=950 to=1500 before_start=3 after_end=2 counted=0";/' window.grt/metadata
run export -f sqlite -o window.sqlite window.grt
output=$(python3 -c '
import sqlite3
for row in sqlite3.connect("window.sqlite").execute(
        "SELECT source, window_begin_ns, window_end_ns, cause, events FROM losses WHERE events ORDER BY cause"):
    print(*row)')
check "losses are told by source, window and cause" test "$output" = "$(printf '%s\n' 'kmod 950 1500 after_end 2' 'kmod 950 1500 before_start 3' 'kmod 950 1500 lost 13')"
check "a database is for its owner only" test "$(stat -c %a all.sqlite)" = 600
check "the clock is there" test "$(sqlite3 all.sqlite "SELECT value FROM meta WHERE key = 'trace.clock_start'" 2>/dev/null || python3 -c '
import sqlite3
print(sqlite3.connect("all.sqlite").execute("SELECT value FROM meta WHERE key = ?", ("trace.clock_start",)).fetchone()[0])')" \
	= "$(sed -n 's/.*clock_start = "\(.*\)";/\1/p' all.grt/metadata | head -n 1)"
run export -f sqlite all.grt
expect "not into a pipe" 2 'a database needs a regular file: use -o FILE'
run export -f sqlite -t submit -o x.sqlite all.grt
expect "events of some types make no rows" 2 -- '--type'
run export -o pid.sqlite --pid 1 all.grt
check "with a filter, by the ending" exits 0
ln -s /dev/full full.sqlite
run export -o full.sqlite all.grt
expect "a file that is not a regular one" 2 'needs a regular file'
(ulimit -f 40 && exec "$GRTRACE" export -o big.sqlite cuda.grt) >err 2>&1
check "a database that has no room is not left half" test ! -e big.sqlite
check "and nothing is beside it" test -z "$(find . -name '*.sqlite.*' -o -name '*-journal' -o -name '*-wal')"
plan
