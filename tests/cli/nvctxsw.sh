#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nvctxsw against a stand-in for NVIDIA's resource manager, which plays a script of context switches.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
here=$GRTRACE_SRC/tests/cli/nvctxsw
export GRTRACE_SYSROOT=$PWD/sys ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export RM_SCRIPT=$PWD/script RM_TRUTH=$PWD/truth
"${CC:-cc}" -shared -fPIC -o rm.so "$here/rm.c" || skip_all "no compiler: apt-get install gcc"

mkdir -p sys/proc/driver/nvidia/gpus
printf 'Character devices:\n195 nvidia\n195 nvidiactl\n' >sys/proc/devices
for i in 0 1; do
	dir=sys/proc/driver/nvidia/gpus/0000:c$((6 + i)):00.0
	mkdir -p "$dir"
	printf 'Model: \t\t A\nGPU UUID: \t GPU-%s\nDevice Minor: \t %s\n' aaaa-$i $i >"$dir/information"
done
# Two processes whose names are looked up.
sleep 60 &
A=$!
sleep 60 &
B=$!
trap 'kill "$A" "$B" 2>/dev/null' EXIT
mkdir -p "sys/proc/$A" "sys/proc/$B"
echo python3 >"sys/proc/$A/comm"
echo desk >"sys/proc/$B/comm"

play() { # ARGS...: grtrace with the stand-in and the script on standard input
	cat >script
	: >truth
	output=$(LD_PRELOAD=$PWD/rm.so "$GRTRACE" "$@" 2>&1 </dev/null)
	status=$?
}

nothing_left() {
	grep -qx 'left 0' truth
}

is_lost() { # N: in the account of the recording
	"$GRTRACE" report --json -i run.grt | python3 -c "
import json, sys
balance = json.load(sys.stdin)['balance']
sys.exit(balance['lost'] != $1 or not balance['closes'])"
}

switches() { # GPU FROM N CONTEXT PID CONTEXT PID: slices of 900 us in turn, 100 us between
	local i
	for ((i = 0; i < $3; i += 2)); do
		printf "at $1 %d 6 $4 $5\nat $1 %d 7 $4 $5\nat $1 %d 6 $6 $7\nat $1 %d 7 $6 $7\n" \
			$(($2 + i * 1000)) $(($2 + i * 1000 + 900)) $(($2 + i * 1000 + 1000)) $(($2 + i * 1000 + 1900))
	done
}

play doctor nvctxsw </dev/null
expect "doctor says that it works" 0 '^  nvctxsw +works'
check "and leaves no files" nothing_left

# A GPU whose clock runs 20 ppm too slow; then nobody for 200 ms, and a long slice, in two parts.
{ echo drift -20 && switches 0 101000 200 34 "$A" 35 "$B" && echo "at 0 501000 6 34 $A" && echo "at 0 2501000 7 34 $A"; } >frames
# A recorder that comes late sees the long one end at once: again, then.
for _ in {1..10}; do
	play record -e nvctxsw -d 2.7 -o run.grt <frames
	"$GRTRACE" dump --json run.grt >slices.json
	python3 "$here/compare.py" script truth slices.json 0 >compared 2>&1
	compared=$?
	grep -q 'slices=201 parts=201' compared || break
done
expect "a recording" 0 '0 lost'
check "and no files are left" nothing_left
output=$(<compared)
status=$compared
expect "every slice, each edge within 100 us" 0 'slices=201 parts=202'
run report -i run.grt --by gpu-process --csv
check "shares: 90 + 2000 ms" test "$(awk -F, -v pid="$A" '$6 == pid { print int($9 / 1e6 + 0.5) }' <<<"$output")" = 2090
check "90 ms" test "$(awk -F, -v pid="$B" '$6 == pid { print int($9 / 1e6 + 0.5) }' <<<"$output")" = 90
check "199 switches of 100 us" test "$(awk -F, '$5 == "switching" { print $10, int($9 / 1e5 + 0.5) }' <<<"$output")" = "199 199"
run report -i run.grt --by gpu-process
expect "names" 0 "^nvidia0 0000:c6:00.0 +$A +python3 .* 101 "
check "the recording has the UUID" grep -q 'nvctxsw_gpu0 = "nvidia0 0000:c6:00.0 GPU-aaaa-0: records=402 dropped=0 missing=0 ' run.grt/metadata
check "and the clock's drift" grep -qE 'clock_drift_ppm=-(19|20)\.' run.grt/metadata
run export -f chrome -o run.json run.grt
check "a track of the GPU" test "$(grep -c '"process on the GPU"' run.json)" = 1
run report -i run.grt -o run.html
python3 "$GRTRACE_SRC/tests/cli/_page.py" run.html lanes >lanes
output=$(cat lanes)
check "a lane of the page, which is busy as long as both processes together had the GPU" test "$(
	awk -F'\t' '/process on the GPU/ { sub("busy=", "", $6); print int($6 / 1e6 + 0.5) }' lanes)" = 2180
run export -f perfetto -o run.perfetto run.grt
output=$(python3 "$GRTRACE_SRC/tests/cli/_perfetto.py" run.perfetto)
status=$?
expect "and a GPU slice of Perfetto for each, which are as long" 0 'work context n=202 ns=2(179|180)[0-9]{6}$'

# The context that was there, and one that stays.
play record -e nvctxsw -d 0.4 -o run.grt <<EOF
at 0 200000 7 34 $A
at 0 200080 6 35 $B
EOF
run dump --json run.grt
expect "on the GPU from the start of the recording" 0 "\"pid\":$A.*\"begin\":\"cut\",\"over\":\"switch\""
expect "and to its end" 0 "\"pid\":$B,.*\"begin\":\"goes_on\",\"over\":\"cut\""

# No switch: who has the GPU is not known.
play record -e nvctxsw -d 0.2 -o run.grt </dev/null
run report -i run.grt --by gpu-process
expect "without a switch the owner is unknown" 0 '^nvidia0 .* - +unknown +100.0 %'

# Records are lost on the way: the time around them is nobody's known.
play record -e nvctxsw -d 0.4 -o run.grt <<EOF
at 0 101000 6 34 $A
at 0 102000 7 34 $A
at 0 102080 6 35 $B
skip 0 103000 3
at 0 109000 7 34 $A
at 0 109080 6 35 $B
at 0 110000 7 35 $B
EOF
run report -i run.grt --by gpu-process --csv
check "7 ms of them are unknown" test "$(awk -F, '$5 == "unknown" { print int($9 / 1e5 + 0.5) }' <<<"$output")" = 69
check "3 records are lost" is_lost 3

# More than the buffer holds, and than the records' numbers can say.
play record -e nvctxsw -d 1.7 -o run.grt <<EOF
burst 0 101000 16000 34 $A 35 $B
at 0 1500000 6 34 $A
at 0 1501000 7 34 $A
EOF
expect "32000 records fit" 0 '0 lost'
play record -e nvctxsw -d 1.7 -o run.grt <<EOF
burst 0 101000 100000 34 $A 35 $B
at 0 1500000 6 34 $A
at 0 1501000 7 34 $A
EOF
check "200000 do not: 167233 are lost" is_lost 167233
check "as the driver says" grep -qx 'dropped 0 167233' truth

# Two GPUs at once, none mixed; one alone.
{ echo gpus 2 && switches 0 101000 50 34 "$A" 35 "$B" && switches 1 101500 60 44 "$B" 45 4003; } >both
play record -e nvctxsw -d 0.4 -o run.grt <both
"$GRTRACE" dump --json run.grt >slices.json
for i in 0:50 1:60; do
	output=$(python3 "$here/compare.py" script truth slices.json "${i%:*}" 2>&1)
	status=$?
	expect "GPU ${i%:*}" 0 "slices=${i#*:} "
done
{ echo gpus 2 && switches 0 101000 20 34 "$A" 35 "$B" && switches 1 101500 20 44 "$B" 45 4003; } >both
mknod nvidia1 c 195 1
play record -e nvctxsw --device "$PWD/nvidia1" -d 0.4 -o run.grt <both
check "--device: the second one" test "$("$GRTRACE" dump --json run.grt | grep -c '"type":"GPU_SLICE".*"device_name":"nvidia1')" = 20
check "and no other" test "$("$GRTRACE" dump --json run.grt | grep -c '"type":"GPU_SLICE"')" = 20
for word in GPU-aaaa-1 nvidia1 c7:00.0 00000000:C7:00.0 1; do
	play record -e nvctxsw --device "$word" -d 0.4 -o run.grt <both
	check "--device $word: its slices" test "$("$GRTRACE" dump --json run.grt | grep -c '"type":"GPU_SLICE".*"device_name":"nvidia1')" = 20
	check "--device $word: no others" test "$("$GRTRACE" dump --json run.grt | grep -c '"type":"GPU_SLICE"')" = 20
done
play record -e nvctxsw -p "$A" -d 0.4 -o run.grt <both
check "-p: its slices" test "$("$GRTRACE" dump --json run.grt | grep '"type":"GPU_SLICE"' | grep -c "\"pid\":$A,")" = 10
check "and no other's" test "$("$GRTRACE" dump --json run.grt | grep -c '"type":"GPU_SLICE"')" = 10
play monitor nvctxsw -d 0.4 <both
expect "monitor shows them" 0 "GPU_SLICE +python3 +$A"
expect "and their sums" 0 '^nvidia1 0000:c7:00.0 +4003 '

# Two instances of a divided GPU beside a whole one: contexts of all three are on at the same time.
{
	echo gpus 2 && switches 1 101500 20 44 "$B" 45 4003
	for ((i = 0; i < 20; i++)); do
		for j in "34 $A 100 0" "35 $B 200 300" "36 $A 201 600"; do
			read -r context pid instance late <<<"$j"
			printf "at 0 %d 6 $context $pid $instance\nat 0 %d 7 $context $pid $instance\n" \
				$((101000 + i * 1000 + late)) $((101900 + i * 1000 + late))
		done
	done | sort -n -k3
} >mig
play record -e nvctxsw -d 0.4 -o run.grt <mig
run dump --json run.grt
for i in "204472320 1 0 $A" "204472320 2 0 $B" "204472320 2 1 $A"; do
	read -r device gpu compute pid <<<"$i"
	check "20 slices of 900 us on instance $gpu.$compute" test "$(grep '"type":"GPU_SLICE"' <<<"$output" |
		sed -nE "s/.*\"time\":([0-9]+),.*\"pid\":$pid,.*\"device\":$device,.*\"start\":([0-9]+),.*\"mig_gpu\":$gpu,\"mig_compute\":${compute}[,}].*/\1 \2/p" |
		awk '{ ms = ($1 - $2) / 1e6 } ms > 0.8 && ms < 1 { n++ } END { print n, NR }')" = "20 20"
done
check "and those of the other GPU" test "$(grep -c '"device_name":"nvidia1.*"mig_gpu":255' <<<"$output")" = 20
run report -i run.grt --by gpu-process
expect "rows say of which instance they are" 0 "^nvidia0 0000:c6:00.0 +2 +1 +$A +python3 "

# Refusals, each with its reason.
play record -e nvctxsw -d 0.1 -o no.grt <<<'version 560.35.03'
expect "an older driver" 3 'version 560.35.03: its log of context switches was checked with 570 to 595'
play record -e nvctxsw -d 0.1 -o no.grt <<<'version 610.1'
expect "a newer one" 3 'version 610.1'
for i in 1:'older than Maxwell' 2:'does not log context switches on this GPU' 4:'only root' 5:'lacks a capability'; do
	play record -e nvctxsw -d 0.1 -o no.grt <<<"refuse 20801238 0x1b ${i%%:*}"
	expect "the bind is refused: ${i#*:}" 3 "${i#*:}"
done
play record -e nvctxsw -d 0.1 -o no.grt <<<'refuse 90cd 0x57 0'
expect "no event buffers" 1 'nvidia0: no buffer for its context switches \(status 0x57\)'
check "no files are left" nothing_left
play record -e nvctxsw -d 0.1 -o no.grt <<<'refuse 41 0x1a 0'
expect "no client" 1 'gives no client'
check "no recording is left of these" test ! -e no.grt
play record -e nvctxsw -d 0.2 -o run.grt <<<'most 70000'
expect "with little memory of one piece it takes less" 0 '0 lost'
play record -e nvctxsw -d 60 -o run.grt <<<"at 0 101000 6 34 $A
at 0 102000 7 34 $A
broken 0 200000"
expect "a log that makes no sense ends it" 1 'cannot read stream 0 of nvctxsw'
run dump --json run.grt
expect "what was before is there" 0 "\"pid\":$A,"

# One of two GPUs leaves the bus: what it had is there, who has it then is unknown, and the other one goes on.
{ echo gpus 2 && echo gone 0 300000 && switches 0 101000 20 34 "$A" 35 "$B" && switches 1 101500 400 44 "$B" 45 4003; } >both
play record -e nvctxsw -d 0.7 -o run.grt <both
expect "a GPU that has gone is named" 0 'nvidia0 .*: its log of context switches cannot be read any more; those of the other GPUs are: dmesg' ' 0 lost'
"$GRTRACE" dump --json run.grt >slices.json
for i in 0:20 1:400; do
	check "GPU ${i%:*}: every slice" test "$(grep '"type":"GPU_SLICE"' slices.json | grep -c "\"device_name\":\"nvidia${i%:*}.*\"over\":\"switch\"")" = "${i#*:}"
done
run report -i run.grt --by gpu-process --csv
check "afterwards, the process that has the GPU is unknown, and not none" test "$(awk -F, '$2 ~ /^nvidia0/ && $5 == "unknown" { print ($9 > 300000000) }' <<<"$output")" = 1
check "and the recording says when" grep -qE 'nvctxsw_gpu0 = .* failed_ns=[1-9]' run.grt/metadata
check "of the other nothing is unknown" test "$(grep -c '^[^,]*,nvidia1.*unknown' <<<"$output")" = 0
check "no files are left" nothing_left
play record -e nvctxsw -d 60 -o run.grt <<<"at 0 101000 6 34 $A
at 0 102000 7 34 $A
gone 0 200000"
expect "the only one: the recording fails" 1 'nvidia0 .*cannot be read any more: dmesg' 'cannot read stream 0 of nvctxsw'
run dump --json run.grt
expect "and what was before is there" 0 "\"pid\":$A,"

# The driver's timer stops for all where another tool's bind is refused: records come by flushes, and it is said.
{ echo stalled 0 50000 && switches 0 101000 200 34 "$A" 35 "$B" && switches 0 1201000 200 34 "$A" 35 "$B" && switches 0 2201000 900 34 "$A" 35 "$B"; } >frames
play record -e nvctxsw -d 3.4 -o run.grt <frames
expect "a driver that does not look by itself is named" 0 'nvidia0 .*: the driver does not look at its log of context switches by itself any more' ' 0 lost'
"$GRTRACE" dump --json run.grt >slices.json
output=$(python3 "$here/compare.py" script truth slices.json 0 2>&1)
status=$?
expect "and every slice is there" 0 'slices=1300 '
check "the recording says since when" grep -qE 'nvctxsw_gpu0 = .* stalled_ns=[1-9]' run.grt/metadata

# Live: lines come as the slices end. How late is said; what must hold however busy the machine is: each slice once.
switches 0 101000 300 34 "$A" 35 "$B" >script
: >truth
python3 -u - "$GRTRACE" <<'END' >ages
import json, os, subprocess, sys, time
environ = dict(os.environ, LD_PRELOAD=os.getcwd() + "/rm.so")
monitor = subprocess.Popen([sys.argv[1], "monitor", "nvctxsw", "-d", "0.6", "--json"], env=environ,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
for line in monitor.stdout:
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    e = json.loads(line)
    if e.get("over") == "switch": print(e["time"], now - e["time"])
END
check "monitor: each slice once" test "$(cut -d' ' -f1 ages | sort -u | wc -l) $(wc -l <ages)" = "300 300"
echo "# from the end of a slice to its line: $(cut -d' ' -f2 ages | sort -n | awk '{ a[NR] = $1 / 1e6 } END { printf "%.1f ms, 99th percentile %.1f ms", a[int(NR / 2)], a[int(NR * 0.99)] }')"

# A recorder that is killed: what it had written can be read, up to a packet's end.
switches 0 101000 400 34 "$A" 35 "$B" >script
: >truth
LD_PRELOAD=$PWD/rm.so "$GRTRACE" record -e nvctxsw -o killed.grt >/dev/null 2>&1 &
recorder=$!
await '"$GRTRACE" dump --type gpu_slice killed.grt 2>/dev/null | grep -q GPU_SLICE'
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
run report -i killed.grt --by gpu-process
expect "killed: the slices so far" 0 'GPU time by process' "$A +python3"
check "and that it is not complete" grep -q 'did not finish' <<<"$output"

GRTRACE_SYSROOT=$PWD/none play record -e nvctxsw -d 0.1 -o no.grt </dev/null
expect "no driver" 3 "NVIDIA's driver is not loaded"

# A part of the time: 1000 us of the slice before, a switch of 80, 920 of the slice behind. See monitor_traces.c.
"$GRTRACE_BUILD/tests/golden/monitor_traces" || exit 1
run report -i slices.grt --by gpu-process --csv --from 10.001 --to 10.003
check "--from and --to cut slices" test "$(awk -F, 'at { print $at } { for (i = 1; i <= NF; i++) if ($i == "residency_ns" || $i == "residency") at = i }' <<<"$output" | xargs)" = "1000000 920000 80000"
plan
