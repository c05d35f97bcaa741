#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# top of processes with the library: what it says of a recording and of a program that runs is what the records say.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
GRTRACE=$GRTRACE_PLAIN/grtrace
unset MOCK_LOG

agree() { # TITLE RECORDING [live]: with `updates`
	"$GRTRACE" dump --json -t gpu_kernel,gpu_copy "$2" >records.json
	output=$(/usr/bin/python3 "$GRTRACE_SRC/tests/inject/_top.py" updates records.json "${@:3}" 2>&1)
	check "$1" test -z "$output"
}

# ---- recordings: two streams that overlap by known times
cat >script <<'END'
repeat 40
kernel a 1 2000
kernel b 2 3000
copy 2 1000
sync 0
sleep rest 2000
end
END
run record -e cuda -o known.grt -- "$MOCK/timed" script
check "a program of known times is recorded" exits 0
for step in 100 0.1 0.07; do
	"$GRTRACE" top -i known.grt -s $step --json >updates
	agree "its shares and rates are those of its records, by $step s" known.grt
done
"$GRTRACE" top -i known.grt -s 100 --json >updates
"$GRTRACE" report known.grt --by stream --json >streams.json
check "kernels, copies and percentiles are those of report --by stream" test \
	"$(jq -r '.update.span as $ns | .shares[] | select(.ring) | "\(.pid) \(.ring) \(.rate * $ns / 1e9 | round) \(.p50) \(.p99)"' updates | sort)" = \
	"$(jq -r '.streams[] | "\(.pid) \(.stream) \(.kernels + .copies) \(.p50) \(.p99)"' streams.json | sort)"
check "a process has a kernel once, of whichever stream" test "$(jq '[.processes[].rate] == [.gpus[].rate]' updates)" = true
check "and a GPU, and its work of both streams at a time once" test "$(jq '.gpus[0].busy == .processes[0].share and
	.gpus[0].busy < ([.engines[] | select(.ring) | .busy] | add)' updates)" = true
check "the only stack has the time of all work: 40 * (2 + 3 + 1) ms" test \
	"$(jq -c '[.stacks[] | .time, (.stack | test("main"))]' updates)" = '[240000000,true]'
run top -i known.grt -s 100
expect "text" 0 '^GPU 0 +stream [0-9]+ +kernels +[0-9.]+ %'

# Twelve turns to the left or to the right before each launch, in every way that there is.
play paths
"$GRTRACE" top -i out.grt -s 100 --json >updates
jq -r '.stacks[] | "\(.time) \([.stack | scan("turn_(left|right)")[0] | .[:1]] | add)"' updates | sort >got
# shellcheck disable=SC1083 # braces are expanded
printf '1000 %s\n' {l,r}{l,r}{l,r}{l,r}{l,r}{l,r}{l,r}{l,r}{l,r}{l,r}{l,r}{l,r} | sort >want
check "each of 4096 stacks has its functions and the time of its kernel" same

# ---- a program that runs
MOCK_LOG=$PWD/log MOCK_DEVICES=11,22 begin_waiting env CUDA_INJECTION64_PATH="$LIBRARY" "$MOCK/app" ask 1000
"$GRTRACE" top -e cuda -p $pid -n 4 -s 0.6 --json -o live.grt >updates 2>told
status=$?
output=$(<told)
check "top of a process that runs with the library" exits 0
check "four updates" test "$(wc -l <updates)" = 4
agree "live shares and rates are those of the recording's records" live.grt live
"$GRTRACE" top -i live.grt -s 100 --json >updates
agree "and of the recording" live.grt
"$GRTRACE" top -e cuda --stack -p $pid -n 4 -s 0.6 --json >updates 2>told
status=$?
output=$(<told)$(jq -c '.stacks' updates)
check "top --stack of the process" exits 0
check "shows the functions that launch its kernels, once they are known" test \
	"$(jq -s '.[-1].stacks | map(select(.stack // "" | test("^launch.* < ask_me < .*main"))) | length > 0' updates)" = true
run report live.grt
check "every event of it is accounted for" says '^every event is accounted for'
finish
# The mock has written what it did: so the numbers of top, which are those of the records, are those of the program.
kernels() { # process, number of the launch, duration and name of each
	awk '$1 == "G" && $3 == "kernel" { printf "%s %s %.0f %s\n", $2, $4, substr($6, length($6) - 14) - substr($5, length($5) - 14), $7 }' | sort
}
"$GRTRACE_BUILD/tests/inject/records" live.grt 2>&1 | kernels >got
kernels <log >want
# start and end are converted from CLOCK_REALTIME one by one, so a length may be 1 ns off
others=$(awk 'NR == FNR { took[$1, $2, $4] = $3; next }
	!(($1, $2, $4) in took) || ($3 - took[$1, $2, $4]) ^ 2 > 1' want got)
check "the records are kernels that the program ran" test "$(wc -l <got)" -gt 100 -a -z "$others"
check "and none of it is missing between the first and the last" test "$(whole live.grt | cut -d' ' -f2)" = 0
check "the program ends well, as without it" says '^sum [0-9a-f]+, 2 windows, 0 unclean, .* 0 faults, .* 0 disturbed$'
run top -b -e cuda
expect "cuda without a process" 3 'neither a program nor a process is given'
run top -b -e power,cuda -p gpu
expect "-p gpu is for CUDA" 2 'works only with -e cuda alone'
plan
