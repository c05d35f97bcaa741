#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What tests/vm/softgpu.sh runs in the guest: a black box beside the software GPU, whose jobs hang, fail and are
# late. The truth is what the GPU wrote of itself.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
player=$GRTRACE_BUILD/tools/softgpu-run
cd /tmp || exit 1
modprobe gpu_sched
modprobe drm_kms_helper 2>/dev/null
insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" timeout_ms=1500 2>/dev/null ||
	insmod "$GRTRACE_BUILD/kernel/grtrace_softgpu.ko" timeout_ms=1500 || skip_all "no grtrace_softgpu.ko"

# Records a workload under a black box; `output` is what the recorder said.
box() { # TRIGGERS WORKLOAD [PROGRAM...]
	rm -rf box.grt truth.csv
	printf '%s\n' "$2" >workload
	output=$("$GRTRACE" record -e drm --stack bpf --last 5 --after 0.2 --on "$1" -o box.grt -- "$player" -q -o truth.csv workload 2>&1)
	status=$?
}

# Of the job in the truth whose column has a value: ctx:seqno and pid.
truly() { # COLUMN VALUE
	awk -F, -v column="$1" -v value="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at[column] == value { print $at["ctx"] ":" $at["seqno"], $at["pid"]; exit }' truth.csv
}

# What the snapshot says of its incident, as truly().
told() {
	sed -nE 's/.*incident_of = "time=[0-9]+ pid=([0-9]+) tid=[0-9]+ ctx=([0-9]+) seqno=([0-9]+) .*/\2:\3 \1/p' box.grt/snapshot_000001/metadata
}

# The job, its process and its stack are those of the truth's row, and the snapshot stands alone.
right() { # NAME TRIGGER COLUMN VALUE
	check "$1: $2 is reported" says "^grtrace record: $2: "
	check "$1: one snapshot" test "$(compgen -G 'box.grt/snapshot_??????')" = box.grt/snapshot_000001
	check "$1: of the right job and process" test -n "$(told)" -a "$(told)" = "$(truly "$3" "$4")"
	run report --incident box.grt/snapshot_000001
	expect "$1: report --incident" 0 "^job $(truly "$3" "$4" | cut -d' ' -f1) on ring "
	check "$1: its submit's stack" says '^stack of its submit$'
	check "$1: names the program's function" says '^ +[0-9]+ (submit|ioctl|drmIoctl|main)'
	run report box.grt/snapshot_000001
	expect "$1: the snapshot is a whole recording" 0 '^every event is accounted for'
}

many='+0 gfx_0 300us count=200 every=2ms'
box 'job>400ms,fence-error,exit-by-signal,devcoredump,signal' '0 gfx 300us count=1500 every=1ms'
check "a steady run triggers nothing" test "$status" = 0 -a -z "$(compgen -G 'box.grt/snapshot_*')"
check "the message says that there was none" says '^grtrace record: 0 snapshots in box.grt: there was no incident$'

box 'job>400ms' "$many
+420ms gfx_0 1ms hang"
right "lost completion" job state timeout
run report --incident box.grt/snapshot_000001
check "lost completion: before the driver's own timeout" says 'complete +-$|complete .* after'
check "lost completion: with what the process did in the kernel" says '^  [0-9]+ softgpu-run: .* in [a-z_]'
check "lost completion: and its stack there" says '^      [a-z_0-9.]+\+0x'
check "lost completion: and in its own code" says '^ +[0-9]+ main\+0x[0-9a-f]+ \(softgpu-run\)$'

box 'job>400ms' "$many
+420ms gfx_0 1ms hang
+1ms gfx_0 300us count=5"
right "stuck ring" job state timeout
run report --incident box.grt/snapshot_000001
check "stuck ring: those behind it are counted" says ' 6 +[0-9.]+ m?s +[0-9]+ softgpu-run'

box 'job>400ms' "$many
+420ms gfx_0 900ms"
right "slow job" job duration 900000000

# A recorder that is kept waiting sees the submit and the end of a job at once.
rm -rf box.grt truth.csv
printf '%s\n' '+1500ms gfx_0 900ms' >workload
"$GRTRACE" record -e drm --stack bpf --last 5 --after 0.2 --on 'job>400ms' -o box.grt -- "$player" -q -o truth.csv workload 2>said &
recorder=$!
for ((i = 0; i < 200; i++)); do
	! pgrep -x softgpu-run >/dev/null || break
	sleep 0.05
done
kill -STOP $recorder
for ((i = 0; i < 100; i++)); do
	[ ! -s truth.csv ] || break
	sleep 0.1
done
kill -CONT $recorder
wait $recorder
output=$(<said)
check "slow job, busy recorder: it is reported" says '^grtrace record: job: a job was complete 90[0-9].* ms after its submit'
check "slow job, busy recorder: the right one" test -n "$(told)" -a "$(told)" = "$(truly duration 900000000)"

box 'fence-error' "$many
+420ms gfx_0 1ms hang
+1ms gfx_0 300us count=5"
right "reset after the driver's timeout" fence-error state timeout

# The dump that the driver made when it aborted a job; of those before the kernel keeps one.
for dump in /sys/class/devcoredump/devcd*/data; do
	[ ! -e "$dump" ] || echo 1 >"$dump"
done
for ((i = 0; i < 600; i++)); do
	compgen -G '/sys/class/devcoredump/devcd*' >/dev/null || break
	sleep 0.1
done
box 'devcoredump' "$many
+420ms gfx_0 1ms hang
+50ms gfx_0 300us count=1000 every=1ms"
check "a dump of the device is reported" says '^grtrace record: devcoredump: the kernel has a dump of a device, devcd[0-9]+'
check "a dump: its bytes are those of the driver" cmp /sys/class/devcoredump/devcd*/data box.grt/snapshot_000001.devcoredump
check "a dump: of that job" grep -qa "^grtrace_softgpu: ring gfx_0: job $(truly state timeout | sed 's/ / of process /') ran longer" \
	box.grt/snapshot_000001.devcoredump
run report --incident box.grt/snapshot_000001
expect "a dump: report --incident" 0 '^dump of the device, devcd[0-9]+: .*snapshot_000001\.devcoredump, 4096 bytes$'

box 'fence-error' "$many
+420ms gfx_0 300us error=EIO
+50ms gfx_0 300us count=100 every=2ms"
right "error fence" fence-error status -5

box 'fence-error' "$many
+420ms gfx_0 300us refuse=ENOSPC
+50ms gfx_0 300us count=100 every=2ms"
right "refused job" fence-error state refused

box 'job>400ms' "$many
+420ms gfx_0 1ms hang id=a
+1ms comp_0 300us after=a client=0"
right "a job that others wait for" job state timeout

run report --incident box.grt/snapshot_000001
check "a job that others wait for: the other one is named" test \
	"$(grep -A 1 '^what waited for it then$' <<<"$output" | grep -cE '^  job [0-9]+:[0-9]+ on ring comp_0 ')" = 1

# A job waits for the program, which waits for another job, which waits for the first one. The program says which jobs.
modprobe vgem
rm -rf box.grt
"$GRTRACE" record -e drm --stack bpf --last 5 --after 0.2 --on 'job>400ms' -o box.grt -- "$GRTRACE_BUILD/tests/vm/cycle" 2>said >made &
recorder=$!
for ((i = 0; i < 100; i++)); do
	! grep -q ' is complete: ' said || break
	sleep 0.1
done
pkill -TERM -x cycle
wait $recorder
check "cycle: neither job has run" test $? = 0
first=$(sed -n 1p made) second=$(sed -n 2p made)
check "cycle: the first job is reported" test -n "$first" -a "$(told | cut -d' ' -f1)" = "$first"
run report --incident box.grt/snapshot_000001
expect "cycle: report --incident" 0 "^job $first on ring gfx_0 "
check "cycle: it waits for the program's fence" says '^  waited for fence +[0-9]+:[0-9]+, not signalled at that time: of no job in the recording'
check "cycle: the second job waits for it, and the program for that one" test \
	"$(grep -A 2 '^what waited for it then$' <<<"$output" | sed -E 's/[0-9]+ cycle/PID cycle/g' | tail -n 2)" = \
	"  job $second on ring comp_0 grtrace_softgpu of process PID cycle
    thread PID cycle of process PID cycle"
check "cycle: where the program waits in the kernel" says '^  [0-9]+ cycle: .* in drm_syncobj_'
check "cycle: and in its own code" says '^ +[0-9]+ main\+0x[0-9a-f]+ \(cycle\)$'

# The time from the incident to the bundle: the truth has when the job was submitted, the file system when the last
# file was made.
rm -rf box.grt
printf '%s\n' "$many" '+420ms gfx_0 1ms hang' >workload
"$GRTRACE" record -e drm --last 5 --after 0.2 --on 'job>400ms' -o box.grt -- "$player" -q -o truth.csv workload >/dev/null 2>&1
at=$(sed -nE 's/.*incident_of = "time=([0-9]+) .*/\1/p' box.grt/snapshot_000001/metadata)
made=$(stat -c %.9W box.grt/snapshot_000001/drm_0)
late=$(sed -nE 's/.*clock_start = "monotonic=([0-9]+) realtime=([0-9]+) .*/\1 \2/p' box.grt/snapshot_000001/metadata |
	awk -v at="$at" -v made="$made" '{ printf "%d\n", made * 1000 - (at - $1 + $2) / 1000000 }')
check "the bundle is on disk within 2 s of the incident ($late ms)" test "${late:-9999}" -le 2000
submit=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["state"] == "timeout" { print $c["submit"] }' truth.csv)
check "which is at most 0.3 s after the limit ($(((at - submit) / 1000000)) ms after the submit)" \
	test $((at - submit)) -ge 400000000 -a $((at - submit)) -le 700000000

# 60 s at 10,000 jobs/s are kept in 64 MiB, by what each of these jobs takes packed.
rm -rf packed.grt
printf '%s\n' '0 gfx_0 100us count=3000 every=1ms' >workload
run record -e drm --compress -o packed.grt -- "$player" -q -o truth.csv workload
bytes=$(cat packed.grt/segment_*/drm_* | wc -c)
check "10,000 jobs/s for 60 s are kept in 64 MiB ($((bytes / 3000)) bytes a job)" test "$bytes" -gt 0 -a $((bytes * 200)) -le $((64 << 20))

# Frames are named by a process beside the recorder, whose first answer comes after its streams were read once.
rm -rf stacks.grt
printf '%s\n' '0 gfx_0 300us count=20 every=2ms' '+5ms gfx_0 1ms' >workload
run record -e drm --stack bpf -o stacks.grt -- "$player" -q -o truth.csv workload
expect "stacks: a recording" 0 ' 0 lost in stacks.grt$'
run dump stacks.grt
for event in SUBMIT STACK COMPLETE; do
	check "stacks: $event of every job" test "$(grep -c "\] $event " <<<"$output")" = $(($(wc -l <truth.csv) - 1))
done

rm -rf box.grt
run record -e drm --last 5 --on exit-by-signal -o box.grt -- sh -c "$player -q -p steady -j 100 -o truth.csv; kill -SEGV \$\$"
expect "a program killed by a signal" 139 '^grtrace record: exit-by-signal: the program was ended by signal 11 \(Segmentation fault\), process [0-9]+'
run report --incident box.grt/snapshot_000001
expect "its snapshot" 0 '^  process +[0-9]+'
check "has the jobs of before" says '^ +100 +100 +0 +0 '
rm -rf box.grt
run record -e drm --last 5 --on fence-error --after 0.1 --pause 60 -o box.grt -- "$player" -q -p hang -j 200 -o truth.csv
check "many errors make one snapshot" test "$(compgen -G 'box.grt/snapshot_??????')" = box.grt/snapshot_000001
check "and are counted" says '; [1-9][0-9]* more incidents? within a pause ha(s|ve) none$'

# Windows at random: by what the GPU wrote of itself, each job that was submitted in a window is there to its end, and the
# time of all jobs is within three times its interval of the estimate.
rm -rf duty.grt
run record -e drm --duty 20%,50ms -o duty.grt -- "$player" -q -p steady -j 1200 -r 300 -t 1ms --rings gfx -o truth.csv
expect "--duty: jobs in windows" 0 ' 0 lost in duty.grt'
"$GRTRACE" dump duty.grt >duty.txt
output=$(awk '
	function value(key) { return match($0, " " key "=[0-9]+") ? substr($0, RSTART + length(key) + 2, RLENGTH - length(key) - 2) : "" }
	FNR == NR && / WINDOW / && value("what") == 2 && value("number") { begin[++n] = value("begin"); end[n] = value("end"); next }
	FNR == NR && / SUBMIT / { submit[value("ctx") ":" value("seqno")] = 1; next }
	FNR == NR && / END / { ended[value("ctx") ":" value("seqno")] = 1; next }
	FNR == NR && / COMPLETE / { complete[value("ctx") ":" value("seqno")] = 1; next }
	FNR == NR { next }
	FNR == 1 { split($0, names, ","); for (i in names) at[names[i]] = i; next }
	{
		split($0, row, ",")
		job = row[at["ctx"]] ":" row[at["seqno"]]
		all++
		for (i = 1; i <= n; i++)
			# the GPU has the stamp of the call, and the event comes later
			if (row[at["submit"]] >= begin[i] + 0 && row[at["submit"]] < end[i] - 10000000) {
				inside++
				missing += !(submit[job] && ended[job] && complete[job])
			}
	}
	END { printf "windows %d jobs %d inside %d missing %d\n", n, all, inside, missing }' duty.txt FS=, truth.csv)
check "--duty: none of a window is missing" says '^windows [1-9][0-9]* jobs 1200 inside [1-9][0-9]+ missing 0$'
check "--duty: windows are counted" grep -q 'drm_windows = "recorded=[1-9][0-9]* missed=[0-9]* ' duty.grt/metadata
"$GRTRACE" report --by process --csv duty.grt >duty.csv
output=$(awk -F, 'FNR == NR && FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	FNR == NR { value = $at["estimated_exec_sum"]; low = $at["estimated_from"]; high = $at["estimated_to"]; next }
	FNR == 1 { for (i = 1; i <= NF; i++) of[$i] = i; next }
	{ true += $of["end"] - $of["start"] }
	END { print (value > 0 && true > value - 3 * (value - low) && true < value + 3 * (high - value) ? "near" : "far"), true, low, value, high }' duty.csv truth.csv)
check "--duty: the estimate is near to the truth ($output)" says '^near '
value=${output#* } value=$(cut -d' ' -f3 <<<"$value")
sum=$("$GRTRACE" flame duty.grt 2>told | awk '{ s += $NF } END { printf "%.0f", s }')
output=$(<told)
check "--duty: flame has as much ($sum of $value)" awk -v a="$sum" -v b="$value" 'BEGIN { exit !(b > 0 && a > 0.999 * b && a < 1.001 * b) }'
check "--duty: with its interval" says 'weights of jobs are estimated for the whole recording, .* 95 % interval [0-9.]+ to [0-9.]+ ms'
rmmod grtrace_softgpu
plan
