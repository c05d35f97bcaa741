#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# top: shares of recordings whose numbers are known by hand, counters of a system made of files, the screen.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
unset LD_LIBRARY_PATH COLUMNS

"$GRTRACE_BUILD/tests/golden/report_traces"
"$GRTRACE_BUILD/tests/golden/monitor_traces"

rows() { # TABLE MEMBER...: of the last output, a line per row, with the number of the update in front
	local table=$1
	shift
	jq -r -s --arg members "$*" 'to_entries[] | .key as $n | .value.'"$table"'[] as $row |
		[$n + 1, ($members / " " | .[] as $m | $row[$m] // "-")] | join(" ")' <<<"$output"
}

# ---- jobs: shares() of report_traces.c says when each one ran
run top -i shares.grt -s 0.00025 --json
check "shares of jobs and counters, by quarters of the millisecond" test "$(rows processes device_name pid ring_name share source | sort)" = "$(sort <<'END'
1 card0 80 cursor 100 jobs
1 card0 70 control 60 jobs
1 card1 70 busy render 40 counters
2 card0 80 control 80 jobs
2 card0 70 control 60 jobs
2 card1 80 busy render 60 counters
2 card1 70 busy render 0 counters
3 card0 70 control 40 jobs
3 card0 80 control 0 jobs
3 card1 70 busy render 0 counters
3 card1 80 busy render 0 counters
4 card1 70 busy render 28.571 counters
4 card1 80 busy render 9.259 counters
END
)"
check "rings, once in the time that two jobs share" test "$(rows engines ring_name busy | grep control)" = "1 control 60
2 control 100
3 control 40
4 control 0"
check "jobs that end, in a second" test "$(rows processes device_name pid rate | grep 'card0 80')" = "1 card0 80 0
2 card0 80 4000
3 card0 80 4000"
check "a GPU is as busy as its busiest ring" test "$(rows gpus device_name busy ring_name | grep card0)" = "1 card0 100 cursor
2 card0 100 control
3 card0 40 control
4 card0 0 control"
check "an Xid that nobody looked for is not 0" test "$(rows gpus device_name xids | sort -u | grep 0-)" = ""
whole() { # COMMAND...: what a process had of each ring, in percent
	"$GRTRACE" "$@" --json | jq -r '(.shares // .gpu_processes)[] | select(.pid and .source != "counters") |
		[.pid, .ring_name, .share, .p99] | map(tostring) | join(" ")' | sort
}
check "in one piece it is report --by gpu-process" test "$(whole top -i shares.grt -s 0.001)" = "$(whole report shares.grt --by gpu-process)"
run top -i slices.grt -s 0.005 --json
check "slices" test "$(rows processes pid share source | grep -E ' (70|80) [1-9]' | cut -d' ' -f2- | head -4)" = "70 40 slices
80 40 slices
70 23.2 slices
80 40 slices"
check "time without records is not busy" test "$(rows gpus busy | sed -n 4p | cut -d' ' -f2)" = 40
run top -i shares.grt -n 2 -s 0.00025 --json
check "-n ends" test "$(wc -l <<<"$output")" = 2
run top -i shares.grt -s 0.001
expect "text" 0 '^ 70  game +card0 +40.0 % +control +jobs +2000 /s'
run top -i virtio.grt
check "names are no terminal commands" test -z "$(grep -F $'\033' <<<"$output")"
run top -i empty.grt
expect "an empty recording" 1 'empty.grt: it is unknown when it begins'

# ---- usage
run top
expect "no terminal" 2 'there is no terminal for the screen: use -b'
run top -i shares.grt -e power
expect "a recording has no sources" 2 'not with -i'
run top -b -s 0.01
expect "an update is longer than a sample" 2 'at least 0.1 s'
run top -b -n 1 -e frob
expect "an unknown source" 2 "'frob' is not a source"

# ---- counters of files
export GRTRACE_SYSROOT=$PWD/sys
mkdir -p sys/proc sys/sys/bus/0/hwmon/hwmon4 sys/sys/drivers/amdgpu sys/proc/{100,101}/{fd,fdinfo}
put() { # FILE TEXT: below the made system
	mkdir -p "sys$(dirname "$1")"
	printf '%b\n' "$2" >"sys$1"
}
ln -s ../../drivers/amdgpu sys/sys/bus/0/driver
for node in card0:0 renderD128:128; do
	put "/sys/class/drm/${node%:*}/dev" "226:${node#*:}"
	ln -s ../../../bus/0 "sys/sys/class/drm/${node%:*}/device"
done
put /sys/bus/0/hwmon/hwmon4/power1_average 95000000
put /sys/bus/0/hwmon/hwmon4/freq1_input 1350000000
put /sys/bus/0/hwmon/hwmon4/temp1_input 54000
put /sys/bus/0/mem_info_vram_used 1073741824
put /proc/100/comm game
put /proc/101/comm 'ed\033[31m\\itor'
put /proc/100/cgroup '0::/user.slice/game.scope'
fdinfo() { # CLIENT NS: of the engine
	printf 'drm-client-id:\t%u\ndrm-pdev:\t0000:03:00.0\ndrm-resident-vram:\t2048 KiB\ndrm-engine-gfx:\t%u ns\n' "$1" "$2"
}
for pid in 100 101; do
	ln -s /dev/dri/renderD128 "sys/proc/$pid/fd/3"
	fdinfo $pid 5000000000 >sys/proc/$pid/fdinfo/3
done
# 100 has half of the engine for as long as this runs.
begun=$(date +%s%N)
while fdinfo 100 $((5000000000 + ($(date +%s%N) - begun) / 2)) >new && mv new sys/proc/100/fdinfo/3; do sleep 0.02; done &
writer=$!
trap 'kill $writer' EXIT
output=$("$GRTRACE" top -e power -n 3 -s 0.5 --json 2>/dev/null)
shares=$(rows processes pid share | awk '$2 == 100 { print $3 }' | paste -sd' ')
check "half of the engine" awk -v s="$shares" 'BEGIN { n = split(s, at, " "); exit !(n == 3 && at[3] > 40 && at[3] < 60) }'
check "what did not grow has no share that anybody saw" test "$(rows processes pid share source memory | grep ' 101 ' | sort -u -k2)" = "1 101 - - 2097152"
check "the GPU's counters" test "$(rows gpus device_name clock power temperature memory | tail -1)" = "3 card0 1350000000 95000000 54000 1073741824"
check "and the busiest engine, by its processes" test "$(rows gpus source ring_name | tail -1)" = "3 counters busy gfx"
check "the control group" test "$(rows processes pid cgroup | grep -c ' 100 /user.slice/game.scope')" = 3
run top -b -n 1 -s 0.2
expect "what is not here is told, and the rest works" 0 '^  sources +power$'
check "why" says '^grtrace top: .*nvidia|^grtrace top: '

# ---- the screen
screen() { # SIZE STEP... -- COMMAND...
	local size=$1
	shift
	output=$(LC_ALL=C.UTF-8 "$GRTRACE_SRC/tests/cli/_screen.py" "$size" "$@" 2>&1)
	status=$?
}
screen 80x24 'wait=(?s)\Agrtrace.*^card0  +[^ 0-9].*^100  game [^%]* [3-6][0-9]\.[0-9] %.*^101.*^Tab' show key=q -- "$GRTRACE" top -e power -s 0.3
if [ $status = 4 ]; then
	ok "the screen # SKIP ${output##*$'\n'}"
elif [ $status = 3 ]; then
	ok "the screen # SKIP built without ncurses: tools/setup build, then make"
else
	check "the screen, and q" exits 0
	check "no line is broken" test "$(sed '/^---/,$d' <<<"$output" | grep -cE '^(grtrace|device|card0|processes|pid|10|Tab|$)')" = 24
	check "the sources" says '^grtrace top: power \| '
	check "the GPU" says '^card0 +[0-9.]+ % +counters .* 1.35 GHz +95.0 W +54.0 C +1.00 GiB'
	check "its last updates" says '^card0 +[▁▂▃▄▅▆▇█]+$'
	check "a process" says '^100  game +card0 +[3-6][0-9]\.[0-9] % +busy gfx .* 2.00 MiB'
	check "a name is no terminal command" says '^101  ed\\x1b\[31m'
	check "keys" says 'Tab view'
	screen 80x24 'wait=^100  game' 'key=\t' 'wait=^GPUs by' 'key=\t' 'wait=^rings by busy' 'wait=^card0 +busy gfx +counters' show 'key=\t' 'wait=^processes by' \
		'key=/itor' 'wait=with itor' show 'key=\e' 'key=s' 'wait=^processes by ring' key=q -- "$GRTRACE" top -e power -s 0.3
	check "views, a filter and an order" exits 0
	check "rings" says '^card0 +busy gfx +counters '
	check "what the filter leaves out" test "$(sed -n '/with itor/,/^---/p' <<<"$output" | grep -c game)" = 0
	screen 80x24 'wait=^100  game' 'key=\n' 'wait=^process by share' 'wait=^card0 +busy gfx +100  game' 'key=\e' 'wait=^processes by' \
		'size=50x10' 'wait=(?s)\Agrtrace.*^pid  process.*^101.*^Tab' show 'size=100x30' 'wait=^pid .* source ' key=q -- "$GRTRACE" top -e power -s 0.3
	check "Enter, Esc and other sizes" exits 0
	check "ten lines of 50 columns are enough" test "$(sed '/^---/,$d' <<<"$output" | grep -cE '^(grtrace|device|card0|processes|pid|10|Tab|$)')" = 10
	mkdir -p sys/proc/{201..240}/{fd,fdinfo}
	for pid in {201..240}; do
		put /proc/$pid/comm worker
		ln -s /dev/dri/renderD128 "sys/proc/$pid/fd/3"
		fdinfo $pid 1 >"sys/proc/$pid/fdinfo/3"
	done
	screen 80x24 'wait=^201  worker' 'key=\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d' 'wait=(?s)\Agrtrace.*^219  worker.*^Tab' show \
		'key=\u' 'key=\n' 'wait=^process by' key=q -- "$GRTRACE" top -e power -s 0.3
	check "a mark below the last line moves the rows" says '^219  worker'
	check "those above are not there" test -z "$(grep '^100 ' <<<"$output")"
	screen 80x24 'wait=^100  game' -- timeout -s TERM 3 "$GRTRACE" top -e power -s 0.3 -n 2
	check "-n ends it, too" exits 0
fi
plan
