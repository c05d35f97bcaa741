#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The sentences that a report begins with have the values to which the rows of its tables add up.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
for name in bug-report.tar.xz late-frame.grt.tar.xz scheduler.tar.xz; do
	tar xf "$GRTRACE_SRC/examples/tutorials/$name"
done

rows() { # FILE INPUT BY: as Python reads them
	"$GRTRACE" report "$2" --by "$3" --top 0 --csv >"$1" 2>/dev/null
}
# As tables have it: three digits, and the unit.
cat >_sums.py <<'PY'
import collections, csv, sys

def ns(value):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1)):
        if value >= size:
            return "%.*f %s" % (max(0, 3 - len(str(int(value / size)))), value / size, unit)
    return "0 ns"

def jobs(rows):
    rings = collections.defaultdict(list)
    processes = collections.defaultdict(list)
    for row in rows:
        if row["t_exec_ns"]:
            rings[row["ring_name"]].append((int(row["t_exec_ns"]), row))
        processes[row["process"], row["pid"]].append(row)
    for ring, all in rings.items():
        took = sorted(t for t, _ in all)
        most, row = max(all, key=lambda one: one[0])
        median = took[(len(took) - 1) // 2]
        if most // 10 >= median and most >= sum(took) // 4:
            print(f"{ring}: job {row['ctx']}:{row['seqno']} of {row['process']} (PID {row['pid']}) took {ns(most)} of the "
                  f"{ns(sum(took))} that all {len(took)} jobs ran (inferred); their median is {ns(median)} (report --by job).")
    for (name, pid), all in processes.items():
        sched = [int(row["t_sched_ns"]) for row in all if row["t_sched_ns"]]
        ran = [int(row["t_exec_ns"]) for row in all if row["t_exec_ns"]]
        if sum(sched) / len(sched) >= max(1e6, 10 * sum(ran) / len(ran)):
            print(f"Jobs of {name} (PID {pid}) waited {ns(sum(sched) // len(sched))} on average in the scheduler, for other jobs "
                  f"or dependencies, and ran for {ns(sum(ran) // len(ran))} (inferred) (report --by job --sort t_sched).")

def frames(rows):
    late = [row for row in rows if row["late"] == "1"]
    causes = collections.Counter(row["cause"] for row in late)
    most = max(late, key=lambda row: int(row["time"]))
    shown = int(most["shown"])
    print(f"{len(late)} {len(rows)} {' '.join(f'{c} {n}' for c, n in sorted(causes.items()))} "
          f"{shown // 10**9}.{shown % 10**9:09} {ns(int(most['time']))} {ns(int(most['runnable']))}")

{"jobs": jobs, "frames": frames}[sys.argv[1]](list(csv.DictReader(open(sys.argv[2]))))
PY

for input in bug-report/trace.txt scheduler/fifo.grt scheduler/rr.grt; do
	rows jobs.csv $input job
	python3 _sums.py jobs jobs.csv | sort >wanted
	"$GRTRACE" report $input | grep -E '^Jobs of |: job [0-9]+:[0-9]+ of ' | sort >said
	output=$(diff wanted said 2>&1)
	check "$input: long jobs and long waits are those of its rows" silent
	check "$input: there are some" test -s wanted
done
check "a client that no longer waits is not in it" test "$(grep -c '^Jobs of editor' said)" = 0
run report scheduler/fifo.grt --json
check "machines find them as notes" test "$(jq -r '.notes[]' <<<"$output" | grep -c '^Jobs of editor (PID 194) waited')" = 1
"$GRTRACE" report scheduler/fifo.grt --by ring | grep '^Jobs of' >said
check "a table that was asked for has none" test ! -s said

rows frames.csv late-frame.grt frame
"$GRTRACE" report late-frame.grt | sed -n 's/^kmscube (PID 200): \([0-9]*\) of \([0-9]*\) frames were late: \(.*\)\. The longest, shown at \(.*\), took \(.*\), \(.*\) of it without a CPU (report --by frame)\.$/\1|\2|\3|\4|\5|\6/p' >said
IFS='|' read -r late all causes shown took without <said
check "late frames: as many, of the same causes, and the same longest one as in the rows" test \
	"$late $all $(tr , '\n' <<<"$causes" | sed 's/^ //' | sort | tr '\n' ' ')$shown $took $without" = "$(python3 _sums.py frames frames.csv)"
run report late-frame.grt --to 72.59 --by frame
check "in its first moment there is one frame, of no known time" says '^kmscube +200 +0 +- +1 +-'
run report late-frame.grt --to 72.59
check "of which nothing is said" test "$(grep -cE 'frames? (was|were) late' <<<"$output")" = 0
plan
