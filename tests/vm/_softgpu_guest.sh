#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests/vm/softgpu.sh runs in the guest: NAME LIMIT_NS TRIES BUSY. BUSY:
# why durations say nothing on this host.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
mode=$1 limit=$2 tries=$3 busy=${4:-}
[ -z "$busy" ] || tries=1
strict=0
[ "$mode" != icount ] || strict=1
cd /tmp || exit 1
tracefs=/sys/kernel/tracing
player=$GRTRACE_BUILD/tools/softgpu-run
compare=$GRTRACE_BUILD/tests/vm/softgpu_compare
jobs=200

# Plays a pattern under a recorder and what it needs.
play() { # PATTERN RECORDER...
	"${@:2}" "$player" -q -p "$1" -j $jobs -o truth.csv 2>err
}

# ------------------------------------------------------------- captures

drm=("$GRTRACE" record -e drm -o drm.grt --)
kmod=("$GRTRACE" record -e kmod -o kmod.grt --)

by_drm() { # PATTERN
	play "$1" "${drm[@]}"
}

by_kmod() { # PATTERN
	play "$1" "${kmod[@]}"
}

# The kernel ends jobs that hung only after their program has ended.
ftrace_begin() {
	sleep 0.3
	echo >$tracefs/trace
	echo 1 >$tracefs/events/gpu_scheduler/enable
	echo 1 >$tracefs/events/dma_fence/enable
}

ftrace_end() {
	echo 0 >$tracefs/events/enable
	cat $tracefs/trace >ftrace.grt
}

by_ftrace() { # PATTERN
	ftrace_begin
	play "$1"
	ftrace_end
}

# All at once: the recorders one in the other.
by_all() { # PATTERN
	ftrace_begin
	play "$1" "${kmod[@]}" "${drm[@]}"
	ftrace_end
}

# ------------------------------------------------------------- comparison

# ftrace prints microseconds, and no errors; what its own events cost is not ours, so
# that it has no limit where that is not counted in instructions.
differs() { # SOURCE LIMIT
	local options=("$2" 0 truth.csv "$1.csv")
	[ "$1" != ftrace ] || options=($((strict * $2 * 3 / 2)) 1000 truth.csv ftrace.csv nostatus)
	"$GRTRACE" report "$1.grt" --by job --top 0 --csv >"$1.csv" 2>report.err
	"$compare" "${options[@]}" >"$1.result" 2>&1
}

# The results of softgpu_compare with their numbers here.
tell() { # NAME FILE
	local line
	while IFS= read -r line; do
		case ${busy:+busy }$line in
		'busy '*'ok - 99 %'*) ok "$1: ${line#*ok - } # SKIP the host is busy: $busy" ;;
		*'not ok - '*)
			output=$(cat err report.err 2>&1)
			not_ok "$1: ${line#not ok - }"
			;;
		*'ok - '*) ok "$1: ${line#ok - }" ;;
		*'# t_'*) echo "# $1: ${line#\# }" ;;
		*) echo "$line" ;;
		esac
	done <"$2"
}

# Of 200 jobs, three that an interrupt of the guest delays are more than 1 %: that may be repeated, and nothing else.
of_one() { # PATTERN SOURCE
	local i
	for ((i = 0; i < tries; i++)); do
		"by_$2" "$1"
		! differs "$2" "$limit" || break
		! grep -v ' - 99 %' "$2.result" | grep -q '^not ok' || break
	done
	tell "$mode, $1, $2" "$2.result"
}

# Three tracers at once slow each other down, so their limit is higher, and there is
# none where the host's other work counts.
of_all() { # PATTERN
	local source
	by_all "$1"
	for source in drm kmod ftrace; do
		differs $source $((strict * 10 * limit))
		tell "$mode, $1, $source with the others" $source.result
	done
}

refused() { # NAME REGEX ARGUMENTS: of the program, exit status 1 or 2
	output=$("$player" "${@:3}" 2>&1)
	status=$?
	check "$1 is told" says "$2"
	check "with an error" test $status -ge 1 -a $status -le 3
}

# Threads wait for jobs in every way that user space has: a row for each job, of
# sync_waits and of the report: ctx, seqno, waits, ns.
sync_waits() { # SOURCES LIMIT_NS: of one wait
	local name="$mode, waits, $1"
	"$GRTRACE" record -e "$1" -o waits.grt -- "$GRTRACE_BUILD/tests/vm/sync_waits" >waits.txt 2>err
	"$GRTRACE" report waits.grt --by job --top 0 --csv >waits.csv 2>report.err
	awk '{ key = $2 " " $3; ns[key] += $4; waits[key] += $4 > 0 }
		END { for (key in ns) print key, waits[key], ns[key] }' waits.txt | sort >waits.truth
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["ctx"], $at["seqno"], $at["waits"], $at["t_gpu_wait_ns"] + 0 }' waits.csv | sort >waits.told
	output=$(cat err report.err waits.txt)
	check "$name: 18 waits for 17 jobs, and 2 jobs without" \
		test "$(wc -l <waits.truth) $(awk '$4 > 0' waits.txt | wc -l)" = "19 18"
	output=$(diff <(cut -d ' ' -f 1-3 waits.truth) <(cut -d ' ' -f 1-3 waits.told))
	check "$name: each is a wait for its job, and no other" silent
	output=$(paste -d ' ' waits.truth waits.told | awk -v limit="$2" '{ d = $4 - $8; if (d < 0) d = -d }
		d > limit * $3 { print "job", $1, $2, "waited for", $4, "ns, the report has", $8 }')
	if [ -z "$busy" ]; then check "$name: for as long as the program says" silent; fi
	output=$("$GRTRACE" report waits.grt 2>&1)
	check "$name: the balance closes" says 'every event is accounted for'
	check "$name: no wait is without its job" says 'unjoined_waits +0 '
}

workloads() {
	refused "no such file" 'cannot read it' none.txt
	printf '0 gfx_0 10us\n0 gfx_9 10us\n' >bad.txt
	refused "no such ring" "bad.txt:2: ring 'gfx_9': there is none" bad.txt
	printf '0 gfx 1us after=x\n' >bad.txt
	refused "no such job" "after 'x': no job above" bad.txt
	printf '0 gfx 1us id=a\n0 gfx 1us client=1 after=a\n' >bad.txt
	refused "another client's fence" 'of another client' bad.txt
	printf '0 gfx 61s\n' >bad.txt
	refused "a job that is too long" 'up to 60s' bad.txt
	printf '1ms gfx 1us id=a\n0 gfx 1us after=a\n' >bad.txt
	refused "a job before what it waits for" 'comes later' bad.txt
	refused "no such pattern" "there is no pattern 'x'" -p x
	printf '# some\n0 gfx_0 10us id=a\n+5us compute 20us after=a priority=high count=3 every=1us chain\n' >good.txt
	output=$("$player" good.txt -f json 2>&1)
	check "a workload file is played" says '"ring":"comp_1".*"priority":"high".*"state":"done"'
	"$player" -p hang -j 60 --print -o printed.txt
	output=$("$player" -q printed.txt -o again.csv 2>&1)
	check "a pattern that was printed plays the same" \
		test "$(cut -d, -f 4,11,16,17 again.csv | md5sum)" = "$("$player" -q -p hang -j 60 | cut -d, -f 4,11,16,17 | md5sum)"
}

# Two processes at once: the time that each had each ring, by what the GPU says of its jobs, and the whole.
two_processes() { # LIMIT_NS: of a job
	"$GRTRACE" record -e drm -o two.grt -- sh -c '"$0" -q -p contended -j 60 -o a.csv & "$0" -q -p burst -j 60 -o b.csv; wait' "$player" 2>err
	"$GRTRACE" report two.grt --by gpu-process --csv >two.csv 2>report.err
	{ csv_columns a.csv ring pid start end && csv_columns b.csv ring pid start end; } | awk '$4 > $3' | sort -k 1,2 -k 3n |
		awk '{ key = $1 " " $2; from = $3 > to[key] ? $3 : to[key]; jobs[key]++
			if ($4 > from) { ns[key] += $4 - from; to[key] = $4 } }
			END { for (key in ns) printf "%s %d %.0f\n", key, jobs[key], ns[key] }' | sort >two.truth
	awk -F, '$5 == "process" { print $17, $6, $10, $9 }' two.csv | sort >two.told
	output=$(cat err report.err two.truth two.told)
	check "$mode, two processes: two have rings" test "$(cut -d ' ' -f 2 two.truth | sort -u | wc -l)" = 2
	check "$mode, two processes: each ring, process and number of jobs" cmp -s <(cut -d ' ' -f 1-3 two.truth) <(cut -d ' ' -f 1-3 two.told)
	output=$(paste -d ' ' two.truth two.told | awk -v limit="$1" '{ d = $4 - $8; if (d < 0) d = -d }
		d > limit * $3 { print $1, $2, "had it for", $4, "ns, the report has", $8 }')
	if [ -z "$busy" ]; then check "$mode, two processes: for as long as the GPU says" silent; fi
	output=$(cat two.csv)
	check "$mode, two processes: with nobody's time it is the whole, within 0.1 %" awk -F, 'NR > 1 { n[$17] += $8 }
		END { for (ring in n) bad += n[ring] < 99.9 || n[ring] > 100.1; exit bad > 0 }' two.csv
	"$GRTRACE" top -i two.grt -s 0.01 --json 2>top.err |
		grep -oE '"span": [0-9]+|"ring_name": "[^"]*", "pid": [0-9]+, "process": "[^"]*", "share": [0-9.]+' | tr -d '",' |
		awk '$1 == "span:" { span = $2; next } { ns[$2 " " $4] += $8 * span / 100 }
			END { for (key in ns) printf "%s %.0f\n", key, ns[key] }' | sort >two.top
	output=$(cat top.err; join -j 1 <(awk '{ print $1 ":" $2, $4 }' two.told) <(awk '{ print $1 ":" $2, $3 }' two.top) |
		awk '{ d = $2 - $3; if (d < 0) d = -d } d > $2 / 1000 { print $1, "had it for", $2, "ns, in top", $3 } END { if (NR < 2) print "no rows" }')
	check "$mode, two processes: the updates of top add up to that, within 0.1 %" silent
	check "$mode, two processes: by jobs" test "$(tail -n +2 two.csv | cut -d, -f 18 | sort -u)" = jobs
}

# Schedulers that come and go, at addresses of others: each job is of the ring that it was of.
cat >come_and_go.sh <<'END'
for round in 1 2 3; do
	insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" gfx=1 compute=0 sdma=0 video=0
	"$1" -q -p steady --rings gfx -j 5 -o gfx$round.csv
	rmmod grtrace_softgpu
	insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" gfx=0 compute=0 sdma=0 video=1
	"$1" -q -p steady --rings video -j 7 -o video$round.csv
	rmmod grtrace_softgpu
done
END

# The named columns of a CSV with a header.
csv_columns() { # FILE COLUMN...
	awk -F, -v want="${*:2}" 'NR == 1 { n = split(want, w, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[w[i]], i < n ? " " : "\n" }' "$1"
}

# A job of a ring that is left out has a fence of no job: whoever waits for it is told when it is signalled. The driver
# is given by its module's name, which is not that of its platform driver.
fences_of_no_job() {
	for i in 1 2 3 4 5; do printf '0 sdma 3ms id=a%s\n0 gfx 1ms after=a%s\n' $i $i; done >half
	"$GRTRACE" record -e drm --driver grtrace_softgpu --ring gfx_0 -o half.grt -- "$player" -q -o half.csv half 2>err
	"$GRTRACE" dump half.grt >half.txt
	output=$(cat err half.txt)
	check "$mode, fences of no job: each that a job waits for, when it is signalled" \
		test "$(sed -nE 's/.* WAIT_DEP .* (dep_ctx=\S+ dep_seqno=\S+).*/\1/p' half.txt | sed 's/dep_//g')" = \
		"$(sed -nE 's/.* FENCE .*(ctx=\S+ seqno=\S+) .*/\1/p' half.txt)" -a "$(grep -c ' FENCE ' half.txt)" = 5
}

rings_come_and_go() { # SOURCE
	"$GRTRACE" record -e "$1" -o again.grt -- sh come_and_go.sh "$player" 2>err
	"$GRTRACE" report again.grt --by job --top 0 --csv >again.csv 2>>err
	output=$(cat err again.csv)
	check "$1, rings that come and go: the jobs of each as the GPU says" \
		test "$(csv_columns again.csv ring_name | sort | uniq -c)" = \
		"$(for i in gfx?.csv video?.csv; do csv_columns $i ring; done | sort | uniq -c)"
	check "$1, a number is of one ring" \
		test -z "$(csv_columns again.csv ring ring_name | sort -u | cut -d' ' -f1 | uniq -d)"
	check "$1, each ring is of its GPU" test "$(csv_columns again.csv gpu | sort -u)" = grtrace_softgpu
}

# shellcheck source=tests/vm/_softgpu_paths.sh
. "$GRTRACE_SRC/tests/vm/_softgpu_paths.sh"

# ------------------------------------------------------------- go

echo mono >$tracefs/trace_clock
echo nohash-ptr >$tracefs/trace_options
echo 16384 >$tracefs/buffer_size_kb
modprobe gpu_sched
insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" timeout_ms=500
insmod "$GRTRACE_MODULES/grtrace.ko" && insmod "$GRTRACE_MODULES/grtrace_drm_bridge.ko"
for pattern in steady burst contended dependency-chain hang; do
	for source in drm kmod ftrace; do
		of_one $pattern $source
	done
	case ${GRTRACE_SOAK:-}$pattern in 1* | steady | hang) of_all $pattern ;; esac
done
# on a clock of instructions a workload takes as long each time
[ $strict = 0 ] || paths drm rounds ${GRTRACE_SOAK:+one chain beside hidden}
sync_waits drm $((strict ? 200000 : 20000000))
sync_waits kmod,drm $((strict ? 200000 : 20000000))
two_processes "$limit"
workloads
fences_of_no_job
rmmod grtrace_softgpu
rings_come_and_go drm
rings_come_and_go kmod
check "kmod, a number is never given again" test "$(csv_columns again.csv ring | sort -u | wc -l)" = 6
insmod "$GRTRACE_MODULES/grtrace_softgpu.ko"
rmmod grtrace_drm_bridge grtrace
check "the software GPU unloads as soon as its last user has gone" rmmod grtrace_softgpu
check "no complaint of the kernel" test -z "$(dmesg | grep -E 'BUG|WARNING|Oops|Call Trace')"
plan
