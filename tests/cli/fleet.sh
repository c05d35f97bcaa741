#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Recordings of 16 ranks on 4 hosts as roll-ups: the queries of sql/ find what is wrong in them, and how far the clocks of
# the hosts are apart, by DuckDB and by ClickHouse alike. Then those of 80 ranks that are played (--soak: 1,000 ranks and
# steps), whose injected causes nobody else knows.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

readers=$("$GRTRACE_SRC/tools/table-readers" 2>readers.err) || skip_all "$(tail -n 1 readers.err)"
clickhouse=$("$GRTRACE_SRC/tools/table-readers" clickhouse 2>clickhouse.err) || clickhouse=
queries=$(cd "$GRTRACE_SRC/sql" && for file in [a-z]*.sql; do echo "${file%.sql}"; done)

# ask DIR ENGINES QUERY...: DIR.ENGINE.json, and whether the engines say the same
ask() {
	local dir=$1 engines=$2 engine from
	[ -n "$clickhouse" ] || engines=duckdb
	shift 2
	for engine in $engines; do
		from=$readers
		[ "$engine" = duckdb ] || from=$clickhouse
		(cd "$dir" && node "$GRTRACE_SRC/tests/cli/_fleet.mjs" "$from" "$engine" "$GRTRACE_SRC/sql" "$@") \
			>"$dir.$engine.json" 2>"$dir.$engine.err" || not_ok "$dir: $engine runs the queries" "$(grep -m 1 -i error "$dir.$engine.err")"
	done
	[ "$engines" = duckdb ] || check "$dir: ClickHouse says the same as DuckDB" cmp "$dir.duckdb.json" "$dir.clickhouse.json"
}

# In steps 10 to 39: rank 6 has a slow GPU, rank 11 a slow thread, all of node2 are slow.
for cause in none gpu thread host; do
	mkdir traces.$cause
	(cd traces.$cause && "$GRTRACE_BUILD/tests/cli/fleet_traces" $cause)
	for host in 0 1 2 3; do
		sed -i 's/^\ttracer_name = .*/&\n\tclock_start = "monotonic=1000 realtime=1700000000'$host'00001000";\n\thostname = "node'$host'";\n\tcommand = "train --key secret";/; /^\tcommand = "trace_maker"/d' \
			traces.$cause/node$host.grt/metadata
		"$GRTRACE" export -f rollup -o $cause traces.$cause/node$host.grt 2>>err || not_ok "$cause, node$host: exported"
	done
	# shellcheck disable=SC2086 # a list of names
	case $cause in
	none | gpu) ask $cause "duckdb clickhouse" $queries ;;
	*) ask $cause duckdb $queries ;;
	esac
done
[ -n "$clickhouse" ] || ok "ClickHouse # SKIP $(tail -n 1 clickhouse.err)"
"$GRTRACE" export -f parquet -o all traces.gpu/node1.grt 2>>err
output=$(node "$GRTRACE_SRC/tests/cli/_tables.mjs" "$readers" sql \
	"SELECT (SELECT (count(*), sum(duration_ns)) FROM 'all/work/*/*/*.parquet')::VARCHAR = (SELECT (sum(count), sum(time_ns)) FROM 'gpu/step_work/host=node1/*/*.parquet')::VARCHAR AS same,
	(SELECT max(duration_ns) FROM 'all/work/*/*/*.parquet' WHERE name = 'forward') = (SELECT max(max_ns) FROM 'gpu/step_work/host=node1/*/*.parquet' WHERE name = 'forward') AS longest,
	(SELECT (count(*), sum(end_ns - start_ns), max(end_ns)) FROM 'all/work/*/*/*.parquet' WHERE name LIKE 'nccl%')::VARCHAR =
		(SELECT (sum(count), sum(time_ns), max(end_ns)) FROM 'gpu/step_collectives/host=node1/*/*.parquet')::VARCHAR AS collectives,
	(SELECT DISTINCT (communicator, ranks, collective, bytes, count)::VARCHAR FROM 'gpu/step_collectives/*/*/*.parquet') AS what,
	(SELECT count(*) FROM 'gpu/step_collectives/*/*/*.parquet' WHERE sequence = step) AS numbered" 2>&1)
check "roll-ups have the number, time and maximum of all work" says '"same":true,"longest":true,"collectives":true'
check "and what NCCL told" says '"what":"\(000000000000feed, 16, AllReduce, 4194304, 1\)","numbered":"800"'
check "roll-ups have no rows of each kernel" test ! -e gpu/work
check "nor the command" test -z "$(grep -rl secret gpu)"
# Here most work is in no step, and some is copies.
"$GRTRACE_BUILD/tests/golden/report_traces" .
"$GRTRACE" export -f sqlite -o ops.sqlite ops.grt 2>>err
output=$(python3 -c 'import sqlite3
ask = sqlite3.connect("ops.sqlite").execute
print([ask("SELECT count(*), sum(duration_ns) FROM work WHERE kind = ?", (kind,)).fetchone() == ask("SELECT sum(count), sum(time_ns) FROM step_work WHERE kind = ?", (kind,)).fetchone() for kind in ("kernel", "copy")],
	*ask("SELECT count(*) FROM step_work WHERE step IS NULL").fetchone())' 2>&1)
check "also of work that is in no step" says '^\[True, True\] 13$'
cat >judge.py <<'END_PY'
import json, sys
q = {c: json.load(open(c + ".duckdb.json")) for c in ("none", "gpu", "thread", "host")}
inside = range(10, 40)
def check(name, is_, wanted):
    print(("ok" if is_ == wanted else "not ok") + f" - {name}" + ("" if is_ == wanted else f"\n# {is_}, wanted {wanted}"))
def steps(cause, row):
    rows = {int(r["step"]): r for r in q[cause]["stragglers"]}
    return sum(row(rows[i]) for i in inside), sum(float(rows[i]["late_percent"]) > 5 for i in rows if i not in inside)
check("a slow GPU: its rank in each step, by compute", steps("gpu", lambda r: (r["rank"], r["above_in"], float(r["late_percent"]) > 15) == ("6", "compute", True)), (30, 0))
check("a slow thread: its rank in each step, by idle time", steps("thread", lambda r: (r["rank"], r["above_in"]) == ("11", "idle")), (30, 0))
check("a slow host: one of its ranks in each step", steps("host", lambda r: r["host"] == "node2" and r["above_in"] == "idle"), (30, 0))
check("where nothing is wrong nobody is late", [r for r in q["none"]["stragglers"] if float(r["late_percent"]) > 5] + [r for r in q["none"]["ranks"] if r["late"] != "0"], [])
causes = lambda c: {(r["cause"], r["host"], r["rank"]) for r in q[c]["causes"]}, lambda c: [int(r["step"]) for r in q[c]["causes"]]
check("causes: a slow GPU", (causes[0]("gpu"), causes[1]("gpu")), ({("slow GPU", "node1", "6")}, list(inside)))
check("causes: a slow thread", (causes[0]("thread"), causes[1]("thread")), ({("slow host thread", "node2", "11")}, list(inside)))
check("causes: none", q["none"]["causes"], [])
first = lambda cause, query: q[cause][query][0]
late = lambda cause: [(r["host"], r["rank"], r["late"]) for r in q[cause]["ranks"] if r["late"] != "0"]
check("ranks: that with the slow GPU alone", late("gpu"), [("node1", "6", "30")])
check("ranks: that with the slow thread alone", late("thread"), [("node2", "11", "30")])
check("ranks: those of the slow host", sorted(late("host")), [("node2", str(r), "30") for r in (10, 11, 8, 9)])
check("ranks: 20 us in each of 30 steps, in compute", abs(int(first("gpu", "ranks")["compute_ns"]) - 600_000) < 30_000, True)
check("GPUs: 600 us of 3 ms more", [(r["host"], r["rank"]) for r in q["gpu"]["slow_gpus"] if float(r["slower"]) > 1.1], [("node1", "6")])
check("GPUs: none is slow where a thread or a host is", [r for c in ("none", "thread", "host") for r in q[c]["slow_gpus"] if float(r["slower"]) > 1.02], [])
check("hosts: the slow one", [(r["host"], r["late"]) for r in q["host"]["slow_hosts"] if r["late"] != "0"], [("node2", "30")])
check("hosts: none is where one rank is slow", [r for c in ("none", "gpu", "thread") for r in q[c]["slow_hosts"] if r["late"] != "0"], [])
check("idle: most of it passed in code before a launch", first("thread", "idle")["cause"], "code")
check("recordings: whole, of four hosts, with their clocks",
      [(r["host"], r["whole"], r["wall_offset_ns"]) for r in q["none"]["recordings"]], [(f"node{h}", "1", f"1700000000{h}00000000") for h in range(4)])
# A collective takes 10 us, and ranks come within 2 us of each other, or one comes 20 or 30 us late. node0's clock starts at
# 10 s; t ns later that of node n shows n * (1.5 ms + t / 100000) more.
for cause in q:
    off = []
    for r in q[cause]["clocks"]:
        n = int(r["host"][-1])
        t = (int(float(r["at_ns"])) - 10**10 - n * 1_500_000) / (1 + n / 100000)
        off.append((abs(float(r["offset_ns"]) - n * (1_500_000 + t / 100000)) <= float(r["error_ns"]) + 1, float(r["error_ns"]) < 15_000, r["contradict"]))
    check(f"clocks, {cause}: within their error, which is that of a collective", off, [(True, True, "0")] * 4)
check("late at collectives: the slow thread in each step, on one clock",
      [(int(r["step"]), r["host"], r["rank"]) for r in q["thread"]["late"]], [(s, "node2", "11") for s in inside])
check("late at collectives: nobody", q["none"]["late"], [])
END_PY
while read -r word rest; do
	case $word in
	ok) ok "${rest#- }" ;;
	not) not_ok "${rest#ok - }" ;;
	*) echo "$word $rest" ;;
	esac
done < <(python3 judge.py 2>&1)

# The command: an engine in $PATH gets the same, of roll-ups, and of recordings, which are rolled up for it.
mkdir bin
for engine in duckdb ${clickhouse:+clickhouse}; do
	from=$readers
	[ "$engine" = duckdb ] || from=$clickhouse
	printf '#!/bin/sh\nexec "%s" "%s/tests/cli/_engine.mjs" "%s" %s "$@"\n' "$(command -v node)" "$GRTRACE_SRC" "$from" "$engine" >"bin/$engine"
	chmod +x "bin/$engine"
done
# answers ENGINE QUERY ARGS...: whether its rows are those that the query's own runner got
answers() {
	local engine=$1 query=$2
	shift 2
	PATH=$PWD/bin:$PATH "$GRTRACE" fleet --jsonl -e "$engine" -q "$query" "$@" >answer 2>answer.err &&
		python3 -c 'import json, sys
rows, wanted = [json.loads(line) for line in open("answer")], json.load(open("gpu.duckdb.json"))[sys.argv[1]]
same = lambda a, b: str(a) == str(b) or abs(float(a) - float(b)) < 1e-6 * abs(float(b))
sys.exit(not rows or len(rows) != len(wanted) or not all(a.keys() == b.keys() and all(map(same, a.values(), b.values())) for a, b in zip(rows, wanted)))' "$query"
}
check "fleet: causes of roll-ups, by DuckDB" answers duckdb causes gpu
check "which was asked for lines of JSON" grep -q '^told: .bail on .mode jsonlines$' answer.err
check "fleet: clocks, which need views before" answers duckdb clocks gpu
check "fleet: causes of recordings" answers duckdb causes traces.gpu/node{0,1,2,3}.grt
check "whose roll-ups are gone" test -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'grtrace-fleet.*' -newer bin/duckdb)"
[ -z "$clickhouse" ] || check "fleet: causes, by ClickHouse" answers clickhouse causes gpu
check "fleet: without -q and -e it is causes, by what is there, as a table" eval \
	'PATH=$PWD/bin:$PATH "$GRTRACE" fleet gpu 2>answer.err | cmp -s - <(PATH=$PWD/bin:$PATH "$GRTRACE" fleet --jsonl -q causes gpu 2>>err) && grep -q "^told: .bail on .mode box$" answer.err'
output=$("$GRTRACE" fleet --sql -q late 2>&1)
check "fleet --sql: the SQL, in the order of the manual" test "$output" = "$(cat "$GRTRACE_SRC"/sql/{_duckdb,_clocks,late}.sql)"
check "fleet: the manual has each query, and no other" test "$queries" = "$(sed -n 's/^\.It Cm //p' "$GRTRACE_SRC/docs/grtrace-fleet.1" | sort)"
output=$(PATH=/nonexistent "$GRTRACE" fleet gpu 2>&1)
status=$?
expect "fleet: without an engine it says what to install" 3 'duckdb or clickhouse is needed to read tables: it is not in .PATH'
run fleet
expect "fleet: of nothing" 2 'no input given: grtrace fleet DIR'
PATH=/nonexistent run fleet nosuch
expect "fleet: an input that is not there is named before the engine" 1 'cannot open nosuch: No such file'
run fleet gpu host
expect "fleet: tables of two places" 2 'rsync -a DIR/ FLEET/'
run fleet -q nothing gpu
expect "fleet: a query that is not there" 2 'causes.*stragglers'
PATH=$PWD/bin:$PATH run fleet traces.gpu/node0.grt /dev/null
expect "fleet: a file that is not a recording" 1 '/dev/null'
mkdir empty empty/meta
PATH=$PWD/bin:$PATH run fleet empty
expect "fleet: without tables, the engine and the command print errors" 1 'no answer from duckdb: it failed, with the message above'

# Numbers of steps that are not the same on all hosts: what is taken for one collective is not, and there is no clock.
mkdir shifted && cp -r none/* shifted
node "$GRTRACE_SRC/tests/cli/_tables.mjs" "$readers" sql "COPY (SELECT * EXCLUDE (host, date) REPLACE (step + 1 AS step) FROM read_parquet('none/step_collectives/host=node3/*/*.parquet') WHERE step % 2 = 0
	UNION ALL SELECT * EXCLUDE (host, date) FROM read_parquet('none/step_collectives/host=node3/*/*.parquet') WHERE step % 2 = 1)
	TO '$(echo shifted/step_collectives/host=node3/*/*.parquet)'" >/dev/null 2>shifted.err || not_ok "steps are shifted" "$(<shifted.err)"
ask shifted duckdb clocks
check "clocks: bounds that contradict each other give none" test \
	"$(python3 -c 'import json; print([(r["host"], r["contradict"], r["offset_ns"] is None) for r in json.load(open("shifted.duckdb.json"))["clocks"] if r["contradict"] != "0"])')" = "[('node3', '1', True)]"

hosts=10 steps=60
[ -z "${GRTRACE_SOAK:-}" ] || hosts=125 steps=1000
"$GRTRACE_BUILD/tests/cli/fleet_rollups" played $hosts $steps 1
ask played "duckdb clickhouse" clocks late causes
output=$(python3 "$GRTRACE_SRC/tests/cli/_fleet.py" played played.duckdb.json 99 $steps 2>&1)
status=$?
expect "of $((8 * hosts)) ranks and $steps steps at least 99 % of what was injected are found" 0 '^slow link: [0-9]+ of [0-9]+$'
printf '# %s\n' "${output//$'\n'/, }"
plan
