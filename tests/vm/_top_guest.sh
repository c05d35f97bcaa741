#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What tests/vm/softgpu.sh runs in the guest: grtrace top beside the software GPU. The truth is what the GPU wrote of
# itself, and the recording of the same events that top keeps is read by report. Without a recording, the BPF programs
# sum up the jobs that are over before an update ends.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
player=$GRTRACE_BUILD/tools/softgpu-run
cd /tmp || exit 1
insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" 2>/dev/null ||
	insmod "$GRTRACE_BUILD/kernel/grtrace_softgpu.ko" || skip_all "no grtrace_softgpu.ko"

clients="first second third fourth"
players=() watchers=()
one_update="jobs are sums of one update"
# Jobs of four processes beside top: many short ones, some that wait for each other, and some that run through several
# updates.
watch_top() { # OPTIONS OF top...: makes updates, said, and first.csv, second.csv ..., which have the truth
	local top n i first second fourth
	rm -rf last.grt updates
	"$GRTRACE" top -e drm --json -s 0.4 "$@" >updates 2>said &
	top=$!
	for ((i = 0; i < 600; i++)); do
		[ ! -s updates ] || break
		sleep 0.1
	done
	check "$form: top begins" test -s updates
	# rings by their names: jobs for a type may go to any ring of it
	printf '%s\n' '0 gfx_0 3ms count=200 every=5ms' >first
	printf '%s\n' '0 sdma0 1ms count=100 every=10ms' >second
	printf '%s\n' '0 comp_1 700ms count=2 every=1s' >third
	printf '%s\n' '0 sdma0 2ms count=90 every=9ms' >fourth
	"$player" -q -o first.csv first &
	first=$!
	"$player" -q -o second.csv second &
	second=$!
	"$player" -q -o fourth.csv fourth &
	fourth=$!
	"$player" -q -o third.csv third
	wait $first $second $fourth
	# the update in which the last job ended, and one more, unless all jobs are in one
	n=$(($(wc -l <updates) + $([ "$form" = "$one_update" ] && echo 1 || echo 2)))
	for ((i = 0; i < 600; i++)); do
		[ "$(wc -l <updates)" -lt $n ] || break
		sleep 0.1
	done
	kill -INT $top
	wait $top
	check "$form: and ends" test $? = 0
}

truth() { # FILE COLUMN...: ring, pid, jobs, ns on the ring
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ n++; ns += $at["end"] - $at["start"]; ring = $at["ring"]; pid = $at["pid"] } END { print ring, pid, n, ns }' "$1"
}
# The rows of shares, of which there is no jq here: from, to, pid, ring, share, rate.
shares() { # FILE
	awk '
		function number(text, key) { return match(text, "\"" key "\": [0-9.]+") ? substr(text, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : "-" }
		function word(text, key) { return match(text, "\"" key "\": \"[^\"]*\"") ? substr(text, RSTART + length(key) + 5, RLENGTH - length(key) - 6) : "-" }
		{
			if (number($0, "span") != "-") { from = number($0, "from"); to = number($0, "to") }
			rows = split($0, row, "{")
			for (i = 1; i <= rows; i++)
				if (row[i] ~ /"p50"/ && number(row[i], "pid") > 0)
					print from, to, number(row[i], "pid"), word(row[i], "ring_name"), number(row[i], "share"), number(row[i], "rate")
		}' "$1"
}
# As truth(), of all updates.
seen() { # PID
	awk -v pid="$1" '$3 == pid { ring = $4; n += $6 * ($2 - $1) / 1e9; ns += $5 * ($2 - $1) / 100 } END { printf "%s %d %.0f %.0f\n", ring, pid, n, ns }' rows
}
# Each update has what the truth's jobs ran in its time, also of those that begin before it or end behind it.
true_share() { # FROM TO FILE
	awk -F, -v from="$1" -v to="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ a = $at["start"] > from ? $at["start"] : from; b = $at["end"] < to ? $at["end"] : to; ns += b > a ? b - a : 0 }
		END { printf "%.3f\n", ns * 100 / (to - from) }' "$3"
}
residency() { # PID
	awk -v RS='{' -v pid="$1" '/"residency"/ && $0 ~ "\"pid\": " pid "," { match($0, /"residency": [0-9]+/); ns += substr($0, RSTART + 13, RLENGTH - 13) } END { printf "%.0f\n", ns }' report.json
}
# Everything that top says of them, against the truth.
compare() {
	local client true got pid from to share
	local -A file
	n=0 right=0
	shares updates >rows
	for client in $clients; do
		true=$(truth "$client.csv")
		pid=$(cut -d' ' -f2 <<<"$true")
		file[$pid]=$client.csv
		got=$(seen "$pid")
		echo "# truth: $true; top: $got"
		check "$form, $client: ring, process and jobs of all updates are the truth's" test "${got% *}" = "${true% *}"
		# each job's ends are seen by tracepoints some us beside those in the driver
		check "$form, $client: and the time on the ring, but for a hundredth" awk -v a="${got##* }" -v b="${true##* }" \
			'BEGIN { exit !(b > 0 && a > b * 0.99 && a < b * 1.01) }'
	done
	while read -r from to pid _ share _; do
		n=$((n + 1))
		true=$(true_share "$from" "$to" "${file[$pid]}")
		if awk -v a="$share" -v b="$true" 'BEGIN { exit !(a - b < 0.1 && b - a < 0.1) }'; then
			right=$((right + 1))
		else
			echo "# from $from to $to: $share % of process $pid, in truth $true %"
		fi
	done <rows
	check "$form: each of $n shares is the truth's but for a tenth of a percent of the time" test "$n" -gt 2 -a "$right" = "$n"
	check "$form: nothing is lost" sh -c "! grep -Evq '\"lost_since\": 0[,}]' updates"
}
# What report says of the recording that top has kept.
compare_recording() {
	local client pid got
	output=$(<said)
	check "$form: the last time is a recording" says '^grtrace top: wrote last.grt: [0-9.]+ s, [0-9]+ events, '
	"$GRTRACE" report last.grt --by gpu-process --json >report.json 2>said
	for client in $clients; do
		pid=$(truth "$client.csv" | cut -d' ' -f2) got=$(seen "$(truth "$client.csv" | cut -d' ' -f2)")
		check "$form, $client: report of the recording has the same time" awk -v a="${got##* }" -v b="$(residency "$pid")" -v n="$n" \
			'BEGIN { print "# top: " a ", report: " b; d = a - b; exit !(b > 0 && d < 10000 * n && d > -10000 * n) }'
	done
	check "$form: every event of the recording is accounted for" sh -c "$GRTRACE report last.grt | grep -qE '(^|  )every event is accounted for'"
}

# Percentiles of an update that has all jobs of a process, against those of the truth: t_exec, and t_queue.
percentiles() { # FILE PID: p50 and p99 of t_exec, p99 of t_queue, ns
	awk -v RS='{' -v pid="$2" '
		function number(key) { return match($0, "\"" key "\": [0-9]+") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : "-" }
		$0 !~ "\"pid\": " pid "," { next }
		/"p50"/ { exec = number("p50") " " number("p99") }
		/"queue_p99"/ { queue = number("queue_p99") }
		END { print exec, queue }' "$1"
}
true_percentiles() { # FILE: the same
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["end"] - $at["start"] }' "$1" | sort -n >lengths
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["start"] - $at["run"] }' "$1" | sort -n >queues
	awk '{ v[FILENAME, FNR] = $1; n[FILENAME] = FNR }
		function rank(file, permille) { return v[file, int((n[file] * permille + 999) / 1000)] }
		END { print rank("lengths", 500), rank("lengths", 990), rank("queues", 990) }' lengths queues
}
near() { # TRUTH GOT: each within a hundredth and 20 us
	awk -v a="$1" -v b="$2" 'BEGIN {
		n = split(a, x, " "); m = split(b, y, " ")
		for (i = 1; i <= n; i++) { d = x[i] - y[i]; if (d < 0) d = -d; if (y[i] == "-" || d > x[i] / 100 + 20000) exit 1 }
		exit n != 3 || m != 3 }'
}

form="jobs are sums"
watch_top
compare
form=$one_update
watch_top -s 15
for client in $clients; do
	[ "$client" != third ] || continue
	pid=$(truth "$client.csv" | cut -d' ' -f2)
	true=$(true_percentiles "$client.csv") got=$(percentiles updates "$pid")
	echo "# $client: truth: $true; top: $got"
	check "$form, $client: percentiles of t_exec and t_queue are the truth's" near "$true" "$got"
done

events=$(sed -nE 's/.*"events": ([0-9]+).*/\1/p' updates | awk '{ n += $1 } END { print n }')
echo "# events: $events"
check "$form: few of the 392 jobs have a record" test "$events" -lt 100

form="a job is one record"
watch_top -o last.grt --last 60
compare
compare_recording
types() {
	"$GRTRACE" dump --json last.grt | sed -nE 's/.*"type":"(SUBMIT|COMMIT|END|COMPLETE|JOB)".*/\1/p' | sort -u | tr '\n' ' '
}
check "$form: and nothing else is of jobs" test "$(types)" = "JOB "

# Of many jobs the memory has the last ones only: which these are, and from when on, is exact.
form="jobs that have room"
rm -rf last.grt updates
"$GRTRACE" top -e drm --json -s 0.4 -o last.grt --last 60 --last-size 1M >updates 2>said &
top=$!
until [ -s updates ]; do
	kill -0 $top || break
	sleep 0.1
done
"$player" -q -p steady -j 12000 -r 4000 -t 50us -o truth.csv
for ((i = 0, n = $(wc -l <updates) + 2; i < 600; i++)); do
	[ "$(wc -l <updates)" -lt $n ] || break
	sleep 0.1
done
kill -INT $top
wait $top
check "$form: top ends" test $? = 0
# Their identities in the order in which they ended, each with that time.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["end"], $at["ctx"] ":" $at["seqno"] }' truth.csv | sort -n >all
"$GRTRACE" dump --json last.grt | sed -nE '/"type":"JOB"/{s/.*"ctx":([0-9]+).*"seqno":([0-9]+).*"complete":([0-9]+).*/\3 \1:\2/p}' | grep -v '^0 ' | sort -n >there
from=$(sed -nE 's/.*drm_window = "from=([0-9]+) .*/\1/p' last.grt/metadata)
echo "# $(wc -l <there) of $(wc -l <all) jobs from $from on; $(sed -n '$p' said)"
check "$form: top has counted all" test "$(sed -nE 's/.*"jobs": ([0-9]+).*/\1/p' updates | awk '{ n += $1 } END { print n }')" = 12000
check "$form: some are in the recording" test "$(wc -l <there)" -gt 1000 -a "$(wc -l <there)" -lt 11000
check "$form: they are the last ones without a gap" test "$(cut -d' ' -f2 there | sort)" = "$(tail -n "$(wc -l <there)" all | cut -d' ' -f2 | sort)"
check "$form: all earlier ones ended before it begins" \
	test "$(head -n -"$(wc -l <there)" all | tail -1 | cut -d' ' -f1)" -le "$from" -a "$(head -1 there | cut -d' ' -f1)" -ge "$from"
check "$form: every event of the recording is accounted for" sh -c "$GRTRACE report last.grt | grep -qE '(^|  )every event is accounted for'"
check "$form: and none is lost" sh -c "! grep -Evq '\"lost_since\": 0[,}]' updates"

form="with stacks"
watch_top -o last.grt --last 60 --stack
compare
compare_recording
check "$form: jobs are several events" test "$(types)" = "COMMIT COMPLETE END SUBMIT "

stacks_are() { # REGEX: all of the last update that has some
	stacks | awk -v regex="$1" '$1 != at { at = $1; bad = n = 0 } { n++; bad += $0 !~ regex } END { exit !(n && !bad) }'
}
# Each job that ended is under a stack. Their functions are named a little later; those of the last jobs are there.
stacks() { # rows of stacks by the time of their update: jobs, stack
	awk '
		{
			match($0, /"span": [0-9]+/); span = substr($0, RSTART + 8, RLENGTH - 8)
			rows = split(substr($0, index($0, "\"stacks\"")), row, "{")
			for (i = 2; i <= rows; i++) {
				match(row[i], /"rate": [0-9.]+/)
				jobs = substr(row[i], RSTART + 8, RLENGTH - 8) * span / 1e9
				print NR, jobs, match(row[i], /"stack": "[^"]*"/) ? substr(row[i], RSTART + 10, RLENGTH - 11) : "-"
			}
		}' updates
}
stacks | tail -3 | sed 's/^/# /'
check "each job is in the rows of stacks" test "$(stacks | awk '{ n += $2 } END { printf "%.0f\n", n }')" = 392
check "the last jobs came from the program's own functions" stacks_are 'submit[a-z_]* < .*play.* < main < '

# The same jobs without a tracer: what the driver itself has counted for each open file (fdinfo), which top reads as
# counters. Each player lives on for seconds, until a job on another ring, so that all of it is read.
form="beside fdinfo"
rm -rf updates
"$GRTRACE" top -e power --json -s 0.4 >updates 2>said &
top=$!
until [ -s updates ]; do
	kill -0 $top || break
	sleep 0.1
done
printf '%s\n' '2s gfx_0 3ms count=200 every=5ms' '9s comp_0 1us' >first
printf '%s\n' '2s sdma0 1ms count=100 every=10ms' '9s comp_0 1us' >second
printf '%s\n' '2s comp_1 700ms count=2 every=1s' '9s comp_0 1us' >third
for client in first second third; do
	"$player" -q -o $client.csv $client &
	player_pid=$!
	players+=($player_pid)
	while kill -0 $player_pid 2>/dev/null; do
		# the last one before the process ends
		cat /proc/$player_pid/fdinfo/* >$client.new 2>/dev/null
		! grep -q '^drm-engine-' $client.new || mv $client.new $client.fdinfo
		sleep 0.5
	done &
	watchers+=($!)
done
wait "${players[@]}" "${watchers[@]}"
kill -INT $top
wait $top
check "$form: top ends" test $? = 0
shares updates | sed 's/ busy / /' >rows
for client in first second third; do
	true=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["ring"] != "comp_0" { n += $at["end"] - $at["start"]; ring = $at["ring"]; pid = $at["pid"] } END { printf "%s %d %.0f\n", ring, pid, n }' $client.csv)
	ring=${true%% *} pid=$(cut -d' ' -f2 <<<"$true")
	check "$form, $client: the driver's count is the truth's, to the nanosecond" test \
		"$(sed -nE "s/^drm-engine-$ring:\t([0-9]+) ns\$/\1/p" $client.fdinfo)" = "${true##* }"
	got=$(awk -v pid="$pid" -v ring="$ring" '$3 == pid && $4 == ring && $5 != "-" { ns += $5 * ($2 - $1) / 100 } END { printf "%.0f\n", ns }' rows)
	echo "# truth: $true; top by counters: $got"
	# a share covers the time from sample to sample, which begins and ends up to a tenth of a second beside the update
	check "$form, $client: top's shares add up to it, but for a twentieth" awk -v a="$got" -v b="${true##* }" \
		'BEGIN { exit !(b > 0 && a > b * 0.95 && a < b * 1.05) }'
done

# The same jobs by the kernel module, in the live report: another program in the kernel, another in user space.
reported() { # PID: jobs and ns on the ring, of report -n
	awk -v RS='{' -v pid="$1" '
		function number(key) { return match($0, "\"" key "\": [0-9]+") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : "-" }
		$0 ~ "\"pid\": " pid "," && /"exec_sum"/ { print number("jobs"), number("exec_sum"); exit }' report.json
}
form="beside report -n"
insmod "$GRTRACE_MODULES/grtrace.ko" && insmod "$GRTRACE_MODULES/grtrace_drm_bridge.ko"
"$GRTRACE" start >/dev/null
"$GRTRACE" report -n 600 --json >report.json 2>said &
reader=$!
until "$GRTRACE" status | grep -qw $reader; do
	kill -0 $reader || break
	sleep 0.1
done
watch_top
compare
kill -INT $reader
wait $reader
check "$form: which ends as well" test $? = 0
for client in $clients; do
	pid=$(truth "$client.csv" | cut -d' ' -f2) got=$(seen "$(truth "$client.csv" | cut -d' ' -f2)")
	check "$form, $client: both have as many jobs, and the same time but for a hundredth" awk -v a="$got" -v b="$(reported "$pid")" \
		'BEGIN { print "# top: " a ", report -n: " b; split(a, x, " "); split(b, y, " ");
			d = x[4] - y[2]; exit !(x[3] > 0 && x[3] == y[1] && d < y[2] / 100 && d > -y[2] / 100) }'
done
"$GRTRACE" stop >/dev/null
rmmod grtrace_drm_bridge grtrace
rmmod grtrace_softgpu
plan
