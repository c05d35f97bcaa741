#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One event is one JSON object, whichever command writes it.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

if ! command -v jq >/dev/null; then
	echo "1..0 # SKIP no jq: apt-get install jq"
	exit
fi

"$GRTRACE_BUILD/tests/golden/monitor_traces" || exit 1
"$GRTRACE_BUILD/tests/cli/traces" every every.grt
cp "$GRTRACE_SRC/tests/golden/nvsched/ours.in" tsg.in
g=$GRTRACE

"$g" dump --json drm.grt >dump
"$g" export -f jsonl drm.grt -o export 2>/dev/null
"$g" monitor all --json -i drm.grt >monitor
"$g" annotate --all --json -i drm.grt >annotate 2>/dev/null
"$g" merge --json drm.grt >merge 2>/dev/null
"$g" sched --json -v --include-failed -i tsg.in >sched
"$g" dump --json tsg.in >tsg

# The numbers of the jobs are those that the maker of the recording gave them, as text has them.
jobs=$("$g" dump --type submit drm.grt | grep -o 'seqno=[0-9]*' | cut -d= -f2 | xargs)
check "there are jobs" test -n "$jobs"
for from in dump export monitor annotate merge; do
	check "$from: one filter finds the jobs" test "$(jq 'select(.type=="SUBMIT") | .seqno' $from | xargs)" = "$jobs"
	check "$from: an event has a time, a type and a CPU" test "$(jq -s 'all(.[] | select(.type);
		(.time | type) == "number" and (.type | type) == "string" and (.cpu | type) == "number")' $from)" = true
done
check "sched: the filter finds none" test -z "$(jq 'select(.type=="SUBMIT") | .seqno' sched)"

# Whatever two commands write of an event is the same object.
same() { # A B TYPES: of these types, but for what only that command knows
	diff <(jq -cS "select(.type as \$t | \"$3\" | split(\" \") | index(\$t)) | del(.released, .partly_known)" "$1") \
		<(jq -cS "select(.type as \$t | \"$3\" | split(\" \") | index(\$t)) | del(.released, .partly_known)" "$2")
}
for other in export monitor annotate merge; do
	output=$(same dump $other "SUBMIT COMMIT START END COMPLETE WAIT_DEP FENCE ERROR")
	check "$other: the same objects as dump" silent
done
output=$(same tsg sched "TSG_INIT TSG_SCHEDULE TSG_TOKEN TSG_CHANNEL TSG_SET TSG_DESTROY")
check "sched: the same objects as dump" silent

# Numbers that were given to texts are these texts.
"$GRTRACE_BUILD/tests/cli/export_traces" cuda cuda.grt || exit 1
"$GRTRACE_BUILD/tests/cli/export_traces" all all.grt || exit 1
"$g" dump --json cuda.grt >cuda
"$g" dump --json all.grt >all
check "the names of kernels" test "$(jq -r 'select(.type=="GPU_KERNEL") | .name' cuda | xargs)" = "_Z5scalePfi plain plain plain"
check "calls, kinds and truths are words" test "$(jq -c 'select(.correlation==5) | [.call, .kind, .by_gpu]' cuda | xargs)" = \
	"[cudaLaunchKernel,null,null] [null,regular,false]"
check "a stamp that is not there has no key" test "$(jq -c 'select(.type=="GPU_KERNEL" and (has("start") | not)) | has("end")' cuda)" = false
check "a counter's name and unit" test "$(jq -r 'select(.type=="COUNTER") | "\(.counter_name) \(.unit)"' all | sort -u | grep -c '^power mW$')" = 1

# Words for numbers, and nothing for what is not known.
value() { # FILE FILTER
	jq -c "$2" "$1" | head -n 1
}
check "an engine of NVIDIA's has its name" test "$(value sched 'select(.type=="TSG_INIT") | [.nv_engine, .interleave, .bus, has("runlist")]')" = \
	'["GRAPHICS","MEDIUM","0000:00:06.0",false]'
check "an ioctl's name stands beside its number" test "$("$g" dump --json nvidia.grt |
	jq -c 'select(.cmd_name=="NV_ESC_RM_ALLOC" and .status_name=="OK") | [.cmd, .about_name]')" = '[3224389163,"KEPLER_CHANNEL_GROUP_A"]'
check "an answer that the driver did not give has no name" test -z "$("$g" dump --json nvidia.grt |
	jq 'select(.ret < 0 and (.status_name or .status))')"

# A job is called the same in a report, and has the times that its events say.
"$g" report --by job --json drm.grt >report.job
of_report() {
	jq -c ".jobs[] | select(.$1 != null) | [.ctx, .seqno, .$1]" report.job | sort
}
of_events() {
	jq -c "select(.$1) | [.ctx, .seqno, .$1]" dump | sort
}
check "report: the jobs are those of the events" test "$(of_report submit | cut -d, -f1,2)" = \
	"$(jq -c 'select(.type=="SUBMIT") | [.ctx, .seqno, 0]' dump | sort | cut -d, -f1,2)"
check "report: there are times" test "$(of_report t_sched_ns | wc -l)" = 4
for time in t_sched_ns t_complete_ns; do
	check "report: $time is that of the events" test "$(of_report $time)" = "$(of_events $time)"
done
check "report: --sort takes the column's name and its key" cmp -s <("$g" report --by job --sort t_exec --json drm.grt) \
	<("$g" report --by job --sort t_exec_ns --json drm.grt)

# What else --json writes: each view and table of traces of every kind.
objects=()
object() { # COMMAND NAME ARGS...
	"$g" "$1" --json "${@:3}" >"$1.$2" 2>/dev/null
	objects+=("$1:$1.$2")
}
for by in $("$g" --tables | awk -F'\t' '$1 == "view" { print $2 }'); do
	object report "$by" --by "$by" every.grt
done
object report cuda cuda.grt
object report text -v tsg.in
object report gpu --device 0000:03:00.0 --by ring drm.grt
for trace in drm amdgpu virtio i915 nvidia vblank moves power; do
	object monitor $trace all -q -i $trace.grt
	object timeline $trace $trace.grt
done
object merge stats --stats-only drm.grt
object sched tsg -i tsg.in
object rocm report report --amd-log "$GRTRACE_SRC/tests/golden/amdlog/whole.log"
object rocm lines report --amd-log "$GRTRACE_SRC/tests/golden/amdlog/whole.log" --timeline
for file in "$GRTRACE_SRC"/tests/golden/{report,timeline,monitor,ftrace}/*.json; do
	name=$(basename "$(dirname "$file")")
	objects+=("${name/ftrace/report}:$file")
done
objects+=("merge:$GRTRACE_SRC/tests/golden/merge/stats.json")

# Everything is as the installed schema says, and the schema says no to what is not.
"$g" dump --json every.grt >every
grep -l '^{"time"' "$GRTRACE_SRC"/tests/golden/*/*.json >golden
mapfile -t golden <golden
output=$("$GRTRACE_SRC/tests/cli/_schema.py" dump export monitor annotate merge sched tsg every cuda all "${golden[@]}" "${objects[@]}" 2>&1)
status=$?
if [ $status = 4 ]; then
	ok "the schema # SKIP $output"
else
	check "every object is as the schema says" exits 0
	check "every event type is" test "$(jq -r .type every | sort -u | wc -l)" = "$(cat "$GRTRACE_SRC"/include/grtrace/events/*.def | grep -c '^GRT_EVENT(')"
	head -n 1 dump | sed 's/"type"/"event"/' >old
	head -n 1 dump | sed 's/}$/,"gpu":"card0"}/' >longer
	grep -m 1 '"SUBMIT"' dump | sed 's/"cmd":[0-9]*,//' >shorter
	grep -m 1 '"SUBMIT"' dump | sed 's/"cmd":[0-9]*/"cmd":"0x1"/' >worded
	jq '.jobs[0].seq = .jobs[0].seqno' report.job >named
	jq 'del(.jobs[0].seqno)' report.job >without
	jq '.jobs[0].ring = "gfx"' report.job >ring
	jq '.balance.closes = 1' report.job >closes
	jq '.more = []' report.job >added
	for wrong in old longer shorter worded report:{named,without,ring,closes,added}; do
		output=$("$GRTRACE_SRC/tests/cli/_schema.py" $wrong)
		check "the schema refuses an object that is not: $wrong" test $? = 1
	done
fi
plan
