#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The GPU's time by channel group: slices of nvctxsw joined to groups of nvsched, against a program that computes
# the join from the events; and both sources at once, with stand-ins for the driver.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
here=$GRTRACE_SRC/tests/cli

for seed in 1 2 3 4 5 6 7 8; do
	"$GRTRACE_BUILD/tests/cli/tsg_traces" $seed random.grt || exit 1
	"$GRTRACE" dump --json random.grt >events.json
	"$GRTRACE" report --by tsg --json random.grt >report.json
	output=$(python3 "$here/tsg_times.py" events.json report.json 2>&1)
	status=$?
	expect "trace $seed: groups, slices of none, changes of timeslices" 0 \
		'groups=[1-9].* alone=[1-9].* changes=[1-9].* with_slices=[1-9]'
	echo "# $output"
	"$GRTRACE" sched --json random.grt | tail -n 1 >report.json
	output=$(python3 "$here/tsg_times.py" events.json report.json 2>&1)
	status=$?
	expect "trace $seed: the last line of sched --json has the same times" 0 'groups=[1-9].* with_slices=[1-9]'
done
"$GRTRACE" report --by tsg --json random.grt >report.json

# The time that a process had is the same by group as without groups.
run report --by gpu-process --json random.grt
python3 - "$output" <<'END'
import json, sys
process, group = {}, {}
for r in json.loads(sys.argv[1])["gpu_processes"]:
    if r["kind"] == "process": process[r["device"], r["pid"]] = r["residency"]
for r in json.load(open("report.json"))["tsg_times"]:
    group[r["device"], r["pid"]] = group.get((r["device"], r["pid"]), 0) + r["residency"]
sys.exit(process != group or len(group) < 5)
END
status=$?
check "by process the sums are those of report --by gpu-process" test $status = 0

run report --by tsg random.grt
expect "as text" 0 '^GPU time by channel group' '^changes of timeslices' 'slices of the GPU.s time belong to no group'
run report --by tsg --from +0.5 --to +0.7 --json random.grt
check "--from and --to: no more time than there is" python3 -c '
import json, sys
n = {}
for r in json.loads(sys.argv[1])["tsg_times"]: n[r["device"]] = n.get(r["device"], 0) + r["residency"]
sys.exit(not n or max(n.values()) > 200000000)' "$output"
run report --by tsg -i "$GRTRACE_SRC/tests/golden/nvsched/ours.in"
check "without slices there is no such table" test "$(grep -c 'GPU time' <<<"$output")" = 0

# Both sources: a program asks /dev/null for groups, whose channels have the numbers 0x22 and so on; then the
# stand-in of the resource manager plays slices of two of them, and of a channel that nobody made.
export GRTRACE_SYSROOT=$PWD/sys ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export RM_SCRIPT=$PWD/script RM_TRUTH=$PWD/truth
"${CC:-cc}" -shared -fPIC -o rm.so "$here/nvctxsw/rm.c" || skip_all "no compiler: apt-get install gcc"
mkdir -p sys/proc/driver/nvidia/gpus/0000:c6:00.0
printf 'Character devices:\n195 nvidia\n195 nvidiactl\n' >sys/proc/devices
printf 'Model: \t\t A\nGPU UUID: \t GPU-aaaa-0\nDevice Minor: \t 0\n' >sys/proc/driver/nvidia/gpus/0000:c6:00.0/information
{
	echo "when $PWD/made"
	for ((i = 0; i < 40; i++)); do # 0x24 is of the first group, 0x2a of the second
		for j in "24 0" "2a 300" "99 600"; do
			printf "at 0 %d 6 ${j% *} 70\nat 0 %d 7 ${j% *} 70\n" \
				$((1000 + i * 1000 + ${j#* })) $((1200 + i * 1000 + ${j#* }))
		done
	done
} >script
cat >both <<'END'
mkfifo answer
exec 3<>answer
"$1" -c 0xc1d00019 -k 0x22 -p groups <&3 | {
	read -r client
	touch made
	until grep -qx played truth; do sleep 0.05; done
	echo >&3
	echo "$client"
}
END
: >truth
LD_PRELOAD=$PWD/rm.so run record -e nvsched,nvctxsw --include-failed -o both.grt -- bash both "$GRTRACE_BUILD/tests/cli/nv_calls"
need_bpf
expect "a recording of both" 0 ' 0 lost'
check "the channel's number is in its event" test "$("$GRTRACE" dump --type tsg_channel both.grt |
	grep -cE 'tsg=0x5c000014 .*bound=1 .*context=0x2[9ab]')" = 3
run report --by tsg --json both.grt
check "each group has its slices" test "$(python3 -c '
import json, sys
print(*sorted((r["tsg"] or "none", r["slices"], round(r["residency"] / 1e5)) for r in json.loads(sys.argv[1])["tsg_times"]))
' "$output")" = "('c1d00019:5c000010', 40, 80) ('c1d00019:5c000014', 40, 80) ('none', 40, 80)"
run sched -v -i both.grt --include-failed
check "grtrace sched shows the number" says 'CHANNEL_ADD .*TSG=c1d00019:5c000014 .*context=0x2a'
check "and the time of each group" says '^nvidia0 0000:c6:00.0 .*c1d00019:5c000014 .* 40 '
"$GRTRACE" sched -v -i both.grt --include-failed >both.txt
"$GRTRACE" sched -v -i both.txt --include-failed 2>/dev/null | grep CHANNEL_ADD >again
check "which it reads again" test "$(grep -c CHANNEL_ADD both.txt)" = 12 -a -z "$(diff <(grep CHANNEL_ADD both.txt) again)"
plan
