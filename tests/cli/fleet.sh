#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Recordings of 16 ranks on 4 hosts as one directory of tables: the queries of sql/ find what is wrong in them.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

readers=$("$GRTRACE_SRC/tools/table-readers" 2>readers.err) || skip_all "$(tail -n 1 readers.err)"

# In steps 10 to 39: rank 6 has a slow GPU, rank 11 a slow thread, all of node2 are slow.
for cause in none gpu thread host; do
	mkdir $cause
	(cd $cause && "$GRTRACE_BUILD/tests/cli/fleet_traces" $cause)
	for host in 0 1 2 3; do
		# clocks of the hosts differ
		sed -i 's/^\ttracer_name = .*/&\n\tclock_start = "monotonic=1000 realtime=1700000000'$host'00001000";\n\thostname = "node'$host'";/' \
			$cause/node$host.grt/metadata
		"$GRTRACE" export -f parquet -o $cause/fleet $cause/node$host.grt 2>>err || not_ok "$cause, node$host: exported"
	done
	(cd $cause/fleet && node "$GRTRACE_SRC/tests/cli/_tables.mjs" "$readers" files "$GRTRACE_SRC"/sql/*.sql) >$cause.json 2>&1 ||
		not_ok "$cause: the queries run" "$(tail -n 5 $cause.json)"
done
cat >judge.py <<'END_PY'
import json, sys
q = {c: json.load(open(c + ".json")) for c in ("none", "gpu", "thread", "host")}
inside = range(10, 40)
def check(name, is_, wanted):
    print(("ok" if is_ == wanted else "not ok") + f" - {name}" + ("" if is_ == wanted else f"\n# {is_}, wanted {wanted}"))
def steps(cause, row):
    rows = {int(r["step"]): r for r in q[cause]["stragglers"]}
    return sum(row(rows[i]) for i in inside), sum(rows[i]["late_percent"] > 5 for i in rows if i not in inside)
check("a slow GPU: its rank in each step, by compute", steps("gpu", lambda r: (r["rank"], r["by"], r["late_percent"] > 15) == ("6", "compute", True)), (30, 0))
check("a slow thread: its rank in each step, by idle time", steps("thread", lambda r: (r["rank"], r["by"]) == ("11", "idle")), (30, 0))
check("a slow host: one of its ranks in each step", steps("host", lambda r: r["host"] == "node2" and r["by"] == "idle"), (30, 0))
check("where nothing is wrong nobody is late", [r for r in q["none"]["stragglers"] if r["late_percent"] > 5] + [r for r in q["none"]["ranks"] if r["late"] != "0"], [])
first = lambda cause, query: q[cause][query][0]
late = lambda cause: [(r["host"], r["rank"], r["late"]) for r in q[cause]["ranks"] if r["late"] != "0"]
check("ranks: that with the slow GPU alone", late("gpu"), [("node1", "6", "30")])
check("ranks: that with the slow thread alone", late("thread"), [("node2", "11", "30")])
check("ranks: those of the slow host", sorted(late("host")), [("node2", str(r), "30") for r in (10, 11, 8, 9)])
check("ranks: 20 us in each of 30 steps, in compute", abs(int(first("gpu", "ranks")["compute_ns"]) - 600_000) < 30_000, True)
check("GPUs: 600 us of 3 ms more", [(r["host"], r["rank"]) for r in q["gpu"]["slow_gpus"] if r["slower"] > 1.1], [("node1", "6")])
check("GPUs: none is slow where a thread or a host is", [r for c in ("none", "thread", "host") for r in q[c]["slow_gpus"] if r["slower"] > 1.02], [])
check("hosts: the slow one", [(r["host"], r["late"]) for r in q["host"]["slow_hosts"] if r["late"] != "0"], [("node2", "30")])
check("hosts: none is where one rank is slow", [r for c in ("none", "gpu", "thread") for r in q[c]["slow_hosts"] if r["late"] != "0"], [])
check("idle: most of it passed in code before a launch", first("thread", "idle")["cause"], "code")
check("recordings: whole, of four hosts, with their clocks",
      [(r["host"], r["whole"], r["wall_offset_ns"]) for r in q["none"]["recordings"]], [(f"node{h}", True, f"1700000000{h}00000000") for h in range(4)])
END_PY
while read -r word rest; do
	case $word in
	ok) ok "${rest#- }" ;;
	not) not_ok "${rest#ok - }" ;;
	*) echo "$word $rest" ;;
	esac
done < <(python3 judge.py 2>&1)
plan
