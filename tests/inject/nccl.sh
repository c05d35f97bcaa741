#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NCCL's profiler plugin: what the recording says of collectives is what a mock NCCL did, in each version of the interface.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
export NCCL_LOG=$PWD/nccl.log
PLAIN=$GRTRACE_PLAIN/grtrace

# Runs the program with the library alone; `want` are the lines of both mocks.
nccl() { # SCENE VERSION [ARGS]
	rm -rf out.grt log nccl.log
	output=$(MOCK_LOG=$PWD/log NCCL_PROFILER_PLUGIN=$LIBRARY CUDA_INJECTION64_PATH=$LIBRARY \
		GRTRACE_OUTPUT=$PWD/out.grt timeout 60 "$MOCK/nccl" "$@" 2>&1)
	status=$?
	touch nccl.log
	cat log >cuda.log
	grep '^[CK]' nccl.log >>log
	sed -i 's/of a thread/of%20a%20thread/' log
	records out.grt
}

json() { # VIEW FILTER
	"$GRTRACE" report --by "$1" --json out.grt | jq -r "$2"
}

as_it_was() { # WHAT VIEW
	"$GRTRACE" report --by "$2" --json out.grt >report.json &&
		output=$(python3 "$GRTRACE_SRC/tests/inject/_nccl.py" "$1" report.json cuda.log nccl.log)
}

for version in 4 5 6; do
	nccl basic $version
	exact "v$version: communicators and collectives, each with its launch"
	check "v$version: counts, bytes, times and bandwidths are those of the mocks" as_it_was sums collective
	check "v$version: launches are inferred in v4 alone" test \
		"$("$GRTRACE" dump out.grt | grep -c ' COLLECTIVE .*flags=inferred')" = $((version == 4 ? 11 : 0))
	check "v$version: when the program called is known from v5 on" test \
		"$("$GRTRACE" dump out.grt | grep -c ' COLLECTIVE .* begin=[1-9]')" = $((version == 4 ? 0 : 11))
done
cat >of_work.py <<'END_PY'
import collections, json, sys
wanted = collections.defaultdict(list)
for line in open("nccl.log"):
    w = line.split()
    if w[0] == "K":
        wanted[int(w[1]), int(w[13])].append((w[4], f"{int(w[3], 16):016x}", None if w[4] in ("Send", "Recv") else int(w[5])))
found, n = {}, 0
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] == "kernel":
        assert (r["job_id"], r["rank"]) == ("47_11", 3), r
        found[r["pid"], r["correlation"] % 2**40] = r["collective"], r["communicator"], r["sequence"]
for key, calls in wanted.items():
    assert found.get(key) == (calls[0] if len(calls) == 1 else (None, None, None)), (key, found.get(key), calls)
    n += len(calls) == 1
assert n == sum(f[0] is not None for f in found.values()), n
print(n, "kernels")
END_PY
RANK=3 SLURM_JOB_ID=47_11 nccl basic 5
"$GRTRACE" export -f jsonl-tables -o tables out.grt 2>/dev/null
output=$(python3 of_work.py tables/work/*/*/*.jsonl 2>&1)
check "each kernel in the exported tables has its collective, the rank and the job of its process" says '^[1-9][0-9]* kernels$'
run report --by collective out.grt
check "text" says '^fedcba0987654321 +- +2 +AllReduce +4.00 MiB +RING +SIMPLE +1 '
check "a note says that other ranks are not in the recording" says 'some collectives have ranks that were not recorded'
check "CSV has a row for each" test "$("$GRTRACE" report --by collective --csv out.grt 2>/dev/null | wc -l)" = 8
run report --by collective --sort busbw --top 1 out.grt
check "--sort, --top" says '6 more rows: --top 0 shows all'

nccl threads 5
exact "4 threads with communicators of their own"
nccl graph 5 10
exact "a collective that is captured"
check "each replay is one" test "$(json collective '.collective_sums[] | "\(.count) \(.time)"')" = "10 10000"
check "a note says that collectives of graphs have no numbers" test "$(json collective .notes[0] | grep -c '^10 collectives belong to CUDA graphs')" = 1
nccl many 5 20000
check "more than there is room for: they are there, or counted" test \
	$(($(grep -c '^K' got) + $(sed -n 's/^# faults=0 missing=0 .* balance=ok lost=//p' facts))) = 20000

for version in 4 5 6; do
	nccl hostile $version
	check "v$version: hostile calls, 1024 communicators at most" test "$status $(grep -c '^C' got)" = "0 1024"
	check "v$version: their collectives, and those of none else" test "$(grep -c '^K.* AllReduce ' got)" = 1023
	check "v$version: the recording is whole" fact '^# faults=0 missing=0 .* balance=ok lost=0'
	check "v$version: nothing is undefined" fact '^# undefined=0 '
	run report --by collective out.grt
	check "v$version: no control characters in text" test "$(tr -d '\n' <<<"$output" | LC_ALL=C grep -c '[[:cntrl:]]')" = 0
	check "v$version: JSON is valid" test "$(json collective '.collective_sums | length')" -ge 1023
done

# Who came last, by how much, against the kernels of the mock's own log.
for ms in 0.2 5; do
	nccl ranks 5 3 20 $ms
	check "ranks that are $ms ms late: each collective's last rank, and by how much" as_it_was late rank
	check "and none without the others" test "$(json rank '[.ranks[].alone] | add')" = 0
done
check "waits are in the sums, too" test "$(json collective '[.collective_sums[].wait > 0] | all')" = true

# Three ranks wait in the fourth collective, and one has not come.
rm -rf out.grt nccl.log
env -u NCCL_PROFILER_PLUGIN -u CUDA_INJECTION64_PATH "$PLAIN" record -e cuda -o out.grt -- "$MOCK/nccl" hang 5 4 2 3 >record.out 2>&1 &
job=$!
missing='^rank 2 \(PID [0-9]+\) has not entered AllReduce #3 of communicator 0000000000000abc \(world\): ranks 0, 1, 3 wait since [1-9][0-9.]* s; its last was AllReduce #0 of 0000000000000def, '
for ((i = 0; i < 50; i++)); do
	sleep 0.1
	run report out.grt
	! says "$missing" || break
done
check "a rank that does not come is named while the job runs, within 5 s" says "$missing"
kill -KILL "$(pgrep -P $job -x nccl)"
wait $job
run report --by collective out.grt
check "and when it was killed" says "${missing#^}"
check "as the one rank" test "$(grep -c 'has not entered' <<<"$output")" = 1
run report --by collective --from +0.001 out.grt
check "a part of the time says nothing of it" test "$(grep -c 'has not entered' <<<"$output")" = 0

# The same for a black box, of which it is an incident: of the process of that rank.
rm -rf box.grt nccl.log
env -u NCCL_PROFILER_PLUGIN -u CUDA_INJECTION64_PATH "$PLAIN" record -e cuda --last 60 --after 0.1 --on 'collective>2s' -o box.grt -- "$MOCK/nccl" hang 5 4 2 3 >box.out 2>&1 &
job=$!
await 'grep -q "is complete" box.out'
output=$(<box.out)
check "a black box meets it" says '^grtrace record: collective: rank 2 has not called AllReduce #3 of communicator 0000000000000abc; another rank did [0-9.]+ m?s before, process [0-9]+ nccl$'
who=$("$PLAIN" dump -t communicator --json box.grt/snapshot_000001 2>/dev/null | jq -r 'select(.rank == 2 and .ranks == 4) | .pid')
check "in the process of that rank ($who)" says ", process $who nccl\$"
run report --incident box.grt/snapshot_000001
expect "its snapshot names the incident" 0 '^incident: collective$'
check "and where that process hangs" says '^ +[0-9]+ rank_that_hangs\+0x'
sleep 1
check "once for this collective" test "$(grep -c '^grtrace record: collective' box.out)" = 1
kill -KILL "$(pgrep -P $job -x nccl)"
wait $job
output=$(<box.out)
check "a black box that meets nothing else" says '1 snapshot in box.grt$'
for way in "ranks 5 3 8 30" "many 5 2000"; do
	# shellcheck disable=SC2086 # words
	output=$(env -u NCCL_PROFILER_PLUGIN -u CUDA_INJECTION64_PATH "$PLAIN" record -e cuda --last 60 --on 'collective>5s' -o none.grt -- "$MOCK/nccl" $way 2>&1)
	check "${way%% *}: ranks that come are none" says '0 snapshots in none.grt: there was no incident$'
done

# record sets the variable, and one that is set stays.
unset NCCL_PROFILER_PLUGIN CUDA_INJECTION64_PATH
output=$("$PLAIN" record -e cuda -o r.grt "$MOCK/nccl" basic 5 2>&1)
check "record -e cuda" test "$("$GRTRACE" dump r.grt | grep -c ' COLLECTIVE ')" = 11
output=$(NCCL_PROFILER_PLUGIN=other "$PLAIN" record -e cuda -o r.grt true 2>&1)
check "another plugin stays" says 'no collectives of NCCL: NCCL_PROFILER_PLUGIN is set, to other'

# A program that is asked later; before and after, NCCL calls nothing.
begin_waiting env CUDA_INJECTION64_PATH="$LIBRARY" NCCL_PROFILER_PLUGIN="$LIBRARY" "$MOCK/nccl" wait 5
output=$("$PLAIN" record -e cuda -p $pid -d 0.3 -o p.grt 2>&1)
check "record -p of a program that began with the library" exits 0
finish
check "the communicator is defined again" test "$("$GRTRACE" dump p.grt | grep -c ' COMMUNICATOR ')" = 1
n=$("$GRTRACE" dump p.grt | grep -c ' COLLECTIVE ')
check "collectives of this time alone" test "$n" -gt 0 -a "$n" -lt 1000
check "before and after, the mask requests no events from NCCL" test "$(grep -c '^mask 0' said)" = 2
plan
