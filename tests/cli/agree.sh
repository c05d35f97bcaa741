#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One trace, one truth: what commands say of the same recording is the same number: events, jobs, time on the GPU.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

command -v python3 >/dev/null || { echo "no python3: apt-get install python3" && exit 4; }

for maker in merge monitor report timeline; do
	"$GRTRACE_BUILD/tests/golden/${maker}_traces"
done
for kind in job many hostile; do
	"$GRTRACE_BUILD/tests/cli/traces" $kind $kind.grt
done
for kind in all deep cuda; do
	"$GRTRACE_BUILD/tests/cli/export_traces" $kind export-$kind.grt
done

cat >agree.py <<'END'
"""agree.py GRTRACE TRACE: prints where commands say different things of a trace."""
import csv, io, json, subprocess, sys

program, trace = sys.argv[1:]


def say(*args):
    ran = subprocess.run([program, *args], stdin=subprocess.DEVNULL, capture_output=True)
    if ran.returncode > 1:
        print(f"{' '.join(args)}: status {ran.returncode}: {ran.stderr.decode()}")
    return ran.stdout.decode()


def rows(*args):
    return list(csv.DictReader(io.StringIO(say(*args, "--csv"))))


def same(what, **said):
    if len(set(map(str, said.values()))) > 1:
        print(what, said)


def weights(text):
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())


def total(table, column):
    return sum(int(row[column] or 0) for row in table)


def by_ring(table):
    return {(row["ring"], row["device"], row["engine"]): row for row in table}


report = json.loads(say("report", "--json", trace))
timeline = json.loads(say("timeline", "--json", trace))
monitor = json.loads(say("monitor", "drm", "--json", "--quiet", "-i", trace))
jobs = rows("report", "--by", "job", "--top", "0", trace)
rings, processes = (rows("report", "--by", by, trace) for by in ("ring", "process"))
engines = rows("report", "--by", "engine", trace)
kernels = rows("report", "--by", "kernel", trace) + rows("report", "--by", "copy", trace)
devices = rows("report", "--by", "device", trace)

same("events", dump=len(say("dump", trace).splitlines()), read=report["balance"]["read"],
     types=total(rows("report", "--by", "type", trace), "events"),
     csv=len(list(csv.DictReader(io.StringIO(say("export", "-f", "csv", "-i", trace))))),
     jsonl=len(say("export", "-f", "jsonl", "-i", trace).splitlines()))
same("jobs", rings=total(rings, "jobs"), processes=total(processes, "jobs"), engines=total(engines, "jobs"),
     monitor=sum(r["jobs"] for r in monitor["rings"]))
same("job records", jobs=len(jobs), rings=total(rings, "job_records"),
     timeline=sum(r["jobs"] for r in timeline["rings"]))
same("incomplete", rings=total(rings, "incomplete"), processes=total(processes, "incomplete"),
     monitor=sum(r["incomplete"] for r in monitor["rings"]))
same("t_exec", rings=total(rings, "exec_sum"), processes=total(processes, "exec_sum"),
     engines=total(engines, "exec_sum"),
     jobs=sum(int(job["t_exec_ns"] or 0) * 100 // int(job["sample"] or 100) for job in jobs))
work = total(kernels, "total") + total(rings, "exec_sum")
same("time on the GPU", report=work, flame=weights(say("flame", trace)),
     export=weights(say("export", "-f", "folded", "-i", trace)))
same("devices", kernels=total(kernels, "total"), devices=total(devices, "total"))

known = {(str(r["ring"]), str(r["device"]), r["engine"]): r for r in timeline["rings"]}
for key, ring in by_ring(rings).items():
    at = known[key]
    if ring["busy"] and not at["estimated"]:
        same(f"busy of ring {key}", report=float(ring["busy"]), timeline=at["share"])
    for row in timeline["latencies"]:
        if (str(row["ring"]), str(row["device"]), row["engine"]) != key or row["phase"] != "t_exec":
            continue
        for column in "p50", "p95", "p99", "max":
            same(f"{column} of ring {key}", report=ring[f"exec_{column}"],
                 timeline="" if row[column] is None else row[column])
for row in rings + processes + engines + devices + rows("report", "--by", "stream", trace):
    if row["busy"] and float(row["busy"]) > 100:
        print("busier than can be:", row)
END

for trace in *.grt; do
	output=$(python3 agree.py "$GRTRACE" "$trace" 2>&1)
	status=$?
	check "of $trace all commands say the same" silent
done

# A file is known from end to end before it is read, a pipe is not.
cat >job.txt <<'END'
[10.000000000] GPU SUBMIT ctx_id=0x10, engine=graphics, ring=0, ring_name=gfx, seqno=1, pid=70, tid=70, comm=app
[10.000500000] GPU START ctx_id=0x10, engine=graphics, ring=0, seqno=1, pid=70, tid=70
[10.000600000] GPU END ctx_id=0x10, engine=graphics, ring=0, seqno=1, pid=70, tid=70
[10.000601000] GPU COMPLETE ctx_id=0x10, engine=graphics, ring=0, seqno=1, status=0, pid=70, tid=70
[10.001000000] GPU SUBMIT ctx_id=0x10, engine=graphics, ring=0, seqno=2, pid=70, tid=70
END
piped() { # ARGS...: says how the report of the pipe differs
	diff <("$GRTRACE" report "$@" job.txt 2>&1) <(cat job.txt | "$GRTRACE" report "$@" - 2>&1)
}
for span in "" "--from 10.0003 --to 10.0009" "--from 9 --to 10.0009" "--from 10.0001" "--to 20" "--to 10.0006"; do
	for by in ring process type; do
		# shellcheck disable=SC2086 # options are words
		output=$(piped --by $by --csv $span)
		check "report --by $by $span: of a pipe the same as of a file" silent
	done
done
exported() { # FORMAT ARGS...: says how the export of the pipe differs
	local format=$1
	shift
	diff <("$GRTRACE" export -f "$format" "$@" job.txt 2>/dev/null) \
		<(cat job.txt | "$GRTRACE" export -f "$format" "$@" - 2>/dev/null)
}
for span in "" "--from 10.0003 --to 10.0009" "--from 10.0001" "--to 10.0006"; do
	for format in csv chrome; do
		# shellcheck disable=SC2086 # options are words
		output=$(exported $format $span)
		check "export -f $format $span: of a pipe the same as of a file" silent
	done
	# shellcheck disable=SC2086
	output=$(diff <("$GRTRACE" flame $span -o - job.txt 2>&1) <(cat job.txt | "$GRTRACE" flame $span -o - /dev/stdin 2>&1 | sed 's,/dev/stdin,job.txt,'))
	check "flame $span: of a pipe the same as of a file" silent
done

of_pipe() { # ARGS...
	output=$(cat job.txt | "$GRTRACE" "$@" 2>&1)
	status=$?
}
for command in "export -f csv" timeline report; do
	# shellcheck disable=SC2086
	of_pipe $command --from +1 -
	expect "$command: a pipe has no start to count from" 2 'with \+ or - need a file: the begin and end of a pipe'
done
of_pipe timeline -
expect "timeline: a pipe is refused, and it says what to type" 1 '^grtrace timeline: -: no timeline of a pipe: the begin and end of a pipe are unknown until'
check "a file" says 'try: cat PIPE > FILE, then grtrace timeline FILE; or both --from T and --to T$'
output=$(diff <("$GRTRACE" timeline --from 10.0003 --to 10.0009 job.txt | grep -v " path ") \
	<(cat job.txt | "$GRTRACE" timeline --from 10.0003 --to 10.0009 - | grep -v " path "))
check "a pipe with both ends of the time is drawn as a file is" silent
echo 'Attaching 1 probe...' >none.txt
run export -f csv --from 1 none.txt
expect "a text without events has nothing after 1 s" 0 ' 0 events'
run export -f csv --from +1 none.txt
expect "and no start to count from" 2 'the trace has no event with a time to count from'

run report --by ring --csv --from 10.0003 --to 10.0009 job.txt
check "busy is the share of the time asked for" test "$status $(cell 0 engine) $(cell 0 ring_name) $(cell 0 jobs) $(cell 0 busy)" = \
	"0 graphics gfx 1 16.666"
run report --by type --csv --from 10.0007 job.txt
check "names of another time are not counted" eval 'says SUBMIT,1,1 && ! says NAME'
plan
