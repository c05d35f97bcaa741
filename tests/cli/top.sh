#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# top: shares of recordings whose numbers are known by hand, counters of a system made of files, the screen.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
unset LD_LIBRARY_PATH COLUMNS

"$GRTRACE_BUILD/tests/golden/report_traces"
cp -r virtio.grt waits.grt
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
check "rings: time that two jobs share is counted once" test "$(rows engines ring_name busy | grep control)" = "1 control 60
2 control 100
3 control 40
4 control 0"
check "the rate counts jobs that ended in the second" test "$(rows processes device_name pid rate | grep 'card0 80')" = "1 card0 80 0
2 card0 80 4000
3 card0 80 4000"
check "a GPU is as busy as its busiest ring" test "$(rows gpus device_name busy ring_name | grep card0)" = "1 card0 100 cursor
2 card0 100 control
3 card0 40 control
4 card0 0 control"
check "the number of Xids is unknown, not 0, without a source for them" test "$(rows gpus device_name xids | sort -u | grep 0-)" = ""
whole() { # COMMAND...: what a process had of each ring, in percent
	"$GRTRACE" "$@" --json | jq -r '(.shares // .gpu_processes)[] | select(.pid and .source != "counters") |
		[.pid, .ring_name, .share, .p99] | map(tostring) | join(" ")' | sort
}
check "one update over the whole recording equals report --by gpu-process" test "$(whole top -i shares.grt -s 0.001)" = "$(whole report shares.grt --by gpu-process)"
run top -i slices.grt -s 0.005 --json
check "slices" test "$(rows processes pid share source | grep -E ' (70|80) [1-9]' | cut -d' ' -f2- | head -4)" = "70 40 slices
80 40 slices
70 23.2 slices
80 40 slices"
check "time without records is not counted as busy" test "$(rows gpus busy | sed -n 4p | cut -d' ' -f2)" = 40
run top -i shares.grt -n 2 -s 0.00025 --json
check "-n limits the number of updates" test "$(wc -l <<<"$output")" = 2
run top -i shares.grt -s 0.001
expect "text" 0 '^ 70  game +card0 +40.0 % +control +jobs +2000 /s'
# ---- what else is known of processes: traces whose events are few, by hand
run top -i waits.grt -s 0.001 --json
check "threads waited for jobs: 353 and 50 of 1000 us" test "$(rows processes pid gpu_wait | sort -u)" = "1 70 35.3
1 80 5"
run top -i frames.grt -s 1 --json
check "frames and late frames equal those of report --by frame" test \
	"$(jq -r '.update.span as $ns | .processes[] | "\(.pid) \(.frames * $ns / 1e9 | round) \(.late)"' <<<"$output")" = \
	"$("$GRTRACE" report frames.grt --by frame --json | jq -r '.frame_clients[] | "\(.pid) \(.frames) \(.late)"')"
run top -i frames.grt -s 0.08 --json
check "each frame is counted in the update in which it was shown" test "$(rows processes pid frames late)" = "1 70 37.5 0
2 70 37.5 2"
run top -i virtio.grt
check "names cannot send commands to the terminal" test -z "$(grep -F $'\033' <<<"$output")"
run top -i empty.grt
expect "an empty recording" 1 'empty.grt: it is unknown when it begins'

# ---- usage
run top
expect "no terminal" 2 'standard output is no terminal: use -b'
run top -i shares.grt -e power
expect "a recording has no sources" 2 'not with -i'
run top -i shares.grt -o x.grt
expect "nor anything to keep" 2 'not with -i'
run top -b --last 5
expect "nobody asks for what is kept" 2 'need -o'
run top -b --last-size 1k -o x.grt
expect "too little memory" 2 'at least 1M'
run top -b --no-last -o x.grt
expect "what is not kept is not written" 2 '[-]-no-last keeps nothing'
run top -i shares.grt --no-last
expect "of a recording nothing is kept" 2 'not with -i'
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
put /sys/class/drm/card0/gt/gt0/throttle_reason_pl1 1
put /sys/class/drm/card0/gt/gt0/throttle_reason_thermal 0
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
# 100 has half of the engine for as long as this runs, and two threads of it are without a CPU for a fifth of the time
# each. The second one was there before, and its time until now is not of interest.
begun=$(date +%s%N)
put /proc/100/task/100/schedstat '1 0 1'
put /proc/100/task/107/schedstat '1 77000000000 1'
while ns=$(($(date +%s%N) - begun)) && fdinfo 100 $((5000000000 + ns / 2)) >new && mv new sys/proc/100/fdinfo/3; do
	echo "1 $((ns / 5)) 1" >new && mv new sys/proc/100/task/100/schedstat
	echo "1 $((77000000000 + ns / 5)) 1" >new && mv new sys/proc/100/task/107/schedstat
	sleep 0.02
done &
writer=$!
trap 'kill $writer' EXIT
# A busy machine lets neither of them run for a second now and then: what was not written cannot be seen.
for ((i = 0; i < 6; i++)); do
	rm -rf kept.grt
	output=$("$GRTRACE" top -e power -n 6 -s 0.5 --json -o kept.grt --last 2 2>said)
	shares=$(rows processes pid share | awk '$2 == 100 { print $3 }' | paste -sd' ')
	awk -v s="$shares" 'BEGIN { for (n = split(s, at, " "); n > 1; n--) if (at[n] < 30 || at[n] > 70) exit 1 }' || continue
	[ "$(rows processes pid runnable | awk '$2 == 100 { print ($3 > 20 && $3 < 60) }' | tail -1)" != 1 ] || break
done
keep_json top --json
check "the share of an engine that was busy half the time" awk -v s="$shares" 'BEGIN { n = split(s, at, " "); for (i = 2; i <= n; i++) sum += at[i]; exit !(n == 6 && sum > 200 && sum < 300) }'
check "the share is unknown for a counter that did not grow" test "$(rows processes pid share source memory | grep ' 101 ' | sort -u -k2)" = "1 101 - - 2097152"
check "the GPU's counters" test "$(rows gpus device_name clock power temperature memory | tail -1)" = "6 card0 1350000000 95000000 54000 1073741824"
check "the busiest engine, from its processes" test "$(rows gpus source ring_name | tail -1)" = "6 counters busy gfx"
check "the control group" test "$(rows processes pid cgroup | grep -c ' 100 /user.slice/game.scope')" = 6
check "the reason for throttling" test "$(rows gpus throttle | sort -u -k2)" = "1 pl1 gt0"
check "the time in which threads were runnable" awk -v s="$(rows processes pid runnable | awk '$2 == 100 { print $3 }' | tail -1)" 'BEGIN { exit !(s > 20 && s < 60) }'
check "a process whose threads cannot be read" test "$(rows processes pid runnable | awk '$2 == 101 { print $3 }' | sort -u)" = -
check "waits and frames without a source are unknown, not 0" test "$(rows processes gpu_wait frames late | sort -u -k2)" = "1 - - -"
check "the kept time is not longer than requested" test "$(jq -s 'map(.update.kept) | max <= 2000000000' <<<"$output")" = true
end=$(jq -s 'last.update.to' <<<"$output")
output=$(<said)
check "the last two seconds are written" says '^grtrace top: wrote kept.grt: 2.00 s, [0-9]+ events'
run report kept.grt
check "every event of it is accounted for" says '^every event is accounted for'
check "the recording ends at the last update" test "$("$GRTRACE" report kept.grt --json | jq '.recording.to')" = "$end"
run top -b -n 1 -s 0.2
expect "what is not here is told, and the rest works" 0 '^  sources +power$'
check "the reason is printed" says '^grtrace top: .*nvidia|^grtrace top: '

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
	check "the sources, and no rate of jobs, which no source has" says '^grtrace top \| last [0-9.]+ m?s \| lost 0, in all 0 \| power$'
	check "the GPU, and why it is throttled" says '^card0 +[0-9.]+ % +counters .* 1.35 GHz +95.0 W +54.0 C +1.00 GiB +pl1 gt0'
	check "its last updates" says '^card0 +busy +[▁▂▃▄▅▆▇█]+$'
	check "a process" says '^100  game +card0 +[3-6][0-9]\.[0-9] % +busy gfx .* 2.00 MiB'
	check "a name cannot send commands to the terminal" says '^101  ed\\x1b\[31m'
	check "unknown values have no column" test -z "$(grep -E 'queue_p99|gpu_wait' <<<"$output")"
	check "keys" says 'Tab view.* r record [0-9.]+ m?s \([0-9.]+ KiB\)'
	screen 80x24 'wait=^100  game' 'key=\t' 'wait=^GPUs by' 'key=\t' 'wait=^rings by busy' 'wait=^card0 +busy gfx +counters' show 'key=\t' 'wait=^processes by' \
		'key=/itor' 'wait=with itor' show 'key=\e' 'key=s' 'wait=^processes by ring' key=q -- "$GRTRACE" top -e power -s 0.3
	check "views, a filter and an order" exits 0
	check "rings" says '^card0 +busy gfx +counters '
	check "the number of rows that the filter leaves out" test "$(sed -n '/with itor/,/^---/p' <<<"$output" | grep -c game)" = 0
	screen 80x24 'wait=^100  game' 'key=\n' 'wait=^process 100 game by share$' 'wait=(?s)^device +ring +share .*^card0 +busy gfx ' \
		'key=/busy gfx\n' 'wait=^process .*share, with busy gfx$' 'key=\e' 'wait=(?s)^processes by share$.*^101' \
		'size=50x10' 'wait=(?s)\Agrtrace.*^pid  process.*^101.*^Tab' show 'size=100x30' 'wait=^pid .* source ' key=q -- "$GRTRACE" top -e power -s 0.3
	check "Enter, Esc and other sizes" exits 0
	check "ten lines of 50 columns are enough" test "$(sed '/^---/,$d' <<<"$output" | grep -cE '^(grtrace|device|card0|processes|pid|10|Tab|$)')" = 10
	screen 80x24 'wait=^101 ' 'key=\t\t\t\n' 'wait=^process 100 game by' 'key=\e' 'wait=^processes by' 'key=/itor\n\n' 'wait=^process 101 ed.x1b[^ ]* by' key=q -- \
		"$GRTRACE" top -e power -s 0.3
	check "keys that come together: each one refers to the rows after the one before it" exits 0
	# nothing is known of waits and frames, whose columns are between memory and cgroup
	screen 120x24 'wait=(?s)^processes by.*memory +runnable +cgroup' 'key=ssss' 'wait=^processes by runnable' 'key=s' 'wait=^processes by cgroup' 'key=s' \
		'wait=^processes by pid' key=q -- "$GRTRACE" top -e power -s 0.3
	check "s goes through the columns that are there" exits 0
	SCREEN_TERM=screen screen 80x24 'wait=memory +runnable' 'wait=^101 ' 'click=memory +runnable' 'wait=^processes by memory' \
		'click=ed.x1b' 'key=s' 'wait=^processes by [^m]' 'key=\n' 'wait=^process 101 ed.x1b[^ ]* by' 'wait=^hottest submit stacks: unknown; top --stack' \
		'key=\e' 'wait=^processes by' 'click=^pid' 'wait=^processes by pid' 'wheel=down' 'key=s' 'wait=^processes by process' 'key=\n' \
		'wait=^process 100 game by' 'key=\e' 'wait=^processes by' 'click=ed.x1b' 'key=\n' 'wait=^process 101 ed.x1b[^ ]* by' key=q -- "$GRTRACE" top -e power -s 0.3
	check "the mouse: columns, a row, the wheel, an Enter right behind a click" exits 0
	for n in 1 2; do
		screen 100x24 'wait=^100  game .* %' 'key=r' "wait=wrote mine.grt$([ $n = 1 ] || echo .2): .* events" show key=q -- "$GRTRACE" top -e power -s 0.3 -o mine.grt
		check "r writes a recording and does not replace an existing one ($n)" exits 0
	done
	run report mine.grt.2 --by gpu-process
	expect "which is one" 0 ' 100  game'
	screen 80x24 'wait=^100  game' 'key=r' 'wait=cannot' show key=q -- "$GRTRACE" top -e power -s 0.3 -o /dev/null/x
	check "a message reports a recording that cannot be written, and top continues" exits 0
	mkdir -p sys/proc/{201..240}/{fd,fdinfo}
	for pid in {201..240}; do
		put /proc/$pid/comm worker
		ln -s /dev/dri/renderD128 "sys/proc/$pid/fd/3"
		fdinfo $pid 1 >"sys/proc/$pid/fdinfo/3"
	done
	screen 80x24 'wait=^201  worker' 'key=\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d' 'wait=(?s)\Agrtrace.*^219  worker.*^Tab' show \
		'key=\u' 'key=\n' 'wait=^process [0-9]+ [^ ]+ by' key=q -- "$GRTRACE" top -e power -s 0.3
	check "a mark below the last line moves the rows" says '^219  worker'
	check "the rows above the mark are not shown" test -z "$(grep '^100 ' <<<"$output")"
	screen 80x24 'wait=^100  game' -- timeout -s TERM 120 "$GRTRACE" top -e power -s 0.3 -n 2
	check "-n ends it, too" exits 0
fi

# ---- live, with no source that works: the error at the end is the first, unless a privilege is missing
unset GRTRACE_SYSROOT
if [ "$(id -u)" != 0 ]; then
	ok "top without a GPU # SKIP only root is refused for another reason than a privilege: sudo tests/run"
elif run top -b -n 1 && exits 0; then
	ok "top without a GPU # SKIP this machine has one: run it in a virtual machine without"
else
	check "top without a GPU: the error is the first cause" test \
		"$(sed -n '1s/; try: .*//p' <<<"$output")" = "$(grep -v '^  try: ' <<<"$output" | tail -n 1)"
	check "which is that there is no GPU" says '^grtrace top: no counters of a GPU'
fi
plan
