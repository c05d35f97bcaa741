#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# power on systems made of files: the counters of every driver, values that change, vanish or are no numbers.
# shows: amdgpu counters files COUNTER
# shows: i915 counters files COUNTER
# shows: xe counters files COUNTER
# shows: nouveau counters files COUNTER
# shows: intel_vpu counters files COUNTER
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
export GRTRACE_SYSROOT=$PWD/sys
unset LD_LIBRARY_PATH

put() { # FILE TEXT: below the made system
	mkdir -p "sys$(dirname "$1")"
	printf '%b\n' "$2" >"sys$1"
}

# A card with its render node. Its directory on the bus is sys/bus/N.
card() { # NUMBER DRIVER
	local dir=sys/sys/bus/$1 node
	mkdir -p "$dir" "sys/sys/drivers/$2"
	ln -sfn "../../drivers/$2" "$dir/driver"
	for node in card$1:$1 renderD$((128 + $1)):$((128 + $1)); do
		put "/sys/class/drm/${node%:*}/dev" "226:${node#*:}"
		ln -sfn "../../../bus/$1" "sys/sys/class/drm/${node%:*}/device"
	done
	mkdir -p "sys/sys/class/drm/card$1-HDMI-A-1"
}

# A process with a DRM file.
client() { # PID FD NODE COMM TEXT
	put "/proc/$1/comm" "$4"
	put "/proc/$1/fdinfo/$2" "pos:\t0\nflags:\t02100002\n$5"
	mkdir -p "sys/proc/$1/fd"
	ln -sfn "/dev/dri/$3" "sys/proc/$1/fd/$2"
	ln -sfn /dev/null "sys/proc/$1/fd/0"
}

hwmon=/sys/bus/0/hwmon/hwmon4
clean() {
	rm -rf sys
	mkdir -p sys/proc sys/sys
}

amdgpu() {
	card 0 amdgpu
	put $hwmon/power1_average 95000000
	put $hwmon/power1_label PPT
	put $hwmon/temp1_input 54000
	put $hwmon/temp1_label edge
	put $hwmon/temp2_input 61000
	put $hwmon/temp2_label junction
	put $hwmon/freq1_input 1350000000
	put $hwmon/freq1_label sclk
	put $hwmon/in0_input 850
	put $hwmon/in0_label vddgfx
	put $hwmon/fan1_input 1200
	put $hwmon/power1_cap 200000000
	put /sys/bus/0/gpu_busy_percent 20
	put /sys/bus/0/mem_busy_percent 5
	put /sys/bus/0/mem_info_vram_used 1073741824
	put /sys/bus/0/mem_info_gtt_used 67108864
	put /sys/bus/0/pp_dpm_mclk '0: 96Mhz\n1: 1000Mhz *\n2: 1250Mhz'
}

# The counters table of the last recording, a line per row: device pid name unit values min mean max last.
rows() {
	"$GRTRACE" report --json p.grt | python3 -c 'import json, sys
for r in json.load(sys.stdin).get("counters", []):
    print(*[r[k] for k in ("device", "pid", "counter_name", "unit", "values", "min", "mean", "max", "last", "growth")], sep="|")'
}

row() { # REGEX: whether a row is like this, "DEVICE|PID|NAME|UNIT|VALUES|MIN|MEAN|MAX|LAST"
	output=$(rows)
	grep -qE "^($1)" <<<"$output"
}

values() { # DEVICE NAME: how many
	rows | awk -F'|' -v d="$1" -v n="$2" '$1 == d && $3 == n { print $5 }'
}

drm=$((226 << 20)) nvidia=$((195 << 20))

# ---- where it does not work
clean
run record -e power -d 0.2 -o p.grt
expect "no GPU" 3 'no counters of a GPU: there is no DRM device, and NVIDIA'
check "no GPU: the message says what to type" says '^  try: load the GPU'
check "leaves no recording" test ! -e p.grt
run doctor power
expect "doctor shows the same" 3 '^  power +NO +no counters of a GPU'
card 0 virtio_gpu
run doctor power
expect "a driver without counters" 3 'no counters of card0 \(virtio_gpu\): its driver has no counters in sysfs'
run record -e power -d 0.2 -o p.grt
expect "by name it waits for a process" 0 'power: no counters yet'
clean
put /proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1'
run doctor power
expect "NVIDIA's driver without its library" 3 'libnvidia-ml.so.1 was not found; try: install it: libnvidia-ml1'

# ---- amdgpu: every file, values that change
clean
amdgpu
run doctor power
expect "amdgpu works" 0 '^  power +works'
cat >change.sh <<'END'
sleep 0.55
echo 100 >sys/sys/bus/0/gpu_busy_percent
rm sys/sys/bus/0/hwmon/hwmon4/fan1_input
echo garbage >sys/sys/bus/0/hwmon/hwmon4/temp2_input
sleep 0.5
END
began=$(date +%s%N)
run record -e power -o p.grt sh change.sh
tenths=$((($(date +%s%N) - began) / 100000000))
expect "a recording of counters" 0 'events, 0 lost in p.grt'
# Before a segment is closed all values leave at once, and a counter may end before the next sample.
mv sys kept
clean
amdgpu
cat >vanish.sh <<'END'
cd sys/sys/bus/0/hwmon/hwmon4
sleep 0.3
for f in power1_average temp1_input temp2_input in0_input fan1_input; do
	rm $f
	sleep 0.05
done
END
run record -e power --max-time 1.6 -o s.grt sh vanish.sh
expect "counters that vanish between segments" 0 'events, 0 lost in s.grt'
ended=$("$GRTRACE" dump s.grt | grep -c flags=ended)
check "each of the five has an end ($ended)" test "$ended" = 5
rm -rf sys
mv kept sys
if ! command -v python3 >/dev/null; then
	plan
	exit
fi
check "hwmon: power, with its label" row "$drm\|None\|power PPT\|uW\|[0-9]+\|95000000\|95000000\|95000000\|95000000"
check "hwmon: temperature" row "$drm\|None\|temp edge\|mC\|[0-9]+\|54000\|54000"
check "hwmon: clock" row "$drm\|None\|clock sclk\|Hz\|[0-9]+\|1350000000"
check "hwmon: voltage" row "$drm\|None\|voltage vddgfx\|mV\|[0-9]+\|850"
check "amdgpu: used memory" row "$drm\|None\|memory vram\|B\|[0-9]+\|1073741824"
check "amdgpu: the clock in pp_dpm is that of the line with the star" row "$drm\|None\|dpm mclk\|Hz\|[0-9]+\|1000000000\|1000000000\|1000000000"
check "amdgpu: utilization that changed from 20 to 100 %" row "$drm\|None\|busy gpu\|%\|[0-9]+\|20\|[0-9.]+\|100\|100"
mean=$(rows | awk -F'|' '$3 == "busy gpu" { print $7 }')
# of its records: each value from its time to the next one's
by_time=$("$GRTRACE" dump --json p.grt | python3 -c 'import json, sys
at = [(e["time"], e["value"]) for e in map(json.loads, sys.stdin) if e["type"] == "COUNTER" and e["counter_name"] == "busy gpu"]
print(sum(v * (u - t) for (t, v), (u, _) in zip(at, at[1:])) / (at[-1][0] - at[0][0]))')
check "the mean over time equals that of the records ($mean, $by_time)" awk -v m="$mean" -v t="$by_time" 'BEGIN { exit !(t > 20 && t < 100 && m > t - 0.5 && m < t + 0.5) }'
check "limits of hwmon are not recorded as counters" test -z "$(rows | grep 200000000)"
check "a constant value is written seldom" test "$(values $drm 'temp edge')" -le $((2 + tenths / 10))
check "a counter whose file vanished gets no further values" row "$drm\|None\|fan\|rpm\|[0-9]+\|1200\|1200\|1200\|1200"
last=$(run dump p.grt; grep -E 'COUNTER.*value=1200\b' <<<"$output" | tail -1)
check "its last value is marked as the end" grep -q ' flags=ended$' <<<"$last"
check "a file without a number gives no value" row "$drm\|None\|temp junction\|mC\|[0-9]+\|61000\|61000\|61000\|61000"
check "the metadata lists the counters" grep -q 'power_counters = "power PPT \[uW\]' p.grt/metadata
check "the metadata has the number of samples" grep -qE 'power_samples = "period_ms=100 samples=[0-9]+ missed=[0-9]+ values=[0-9]+ stopped=1 ' p.grt/metadata
# Beside those of the timer there are three: at the beginning, when the recording is about to end, and at its end.
samples=$(sed -n 's/.*power_samples = "period_ms=100 samples=\([0-9]*\) missed=\([0-9]*\) .*/\1 + \2/p' p.grt/metadata)
check "one each tenth of a second ($samples of $tenths)" test $((samples)) -ge 10 -a $((samples)) -le $((tenths + 3))
run report p.grt
check "text output has readable units" says '^card0 +- +- +power PPT +[0-9]+ +95.0 W +95.0 W'
check "text output names the device node" says '^card0 .* clock sclk .* 1.35 GHz'
check "monitor: every event is accounted for" says 'every event is accounted for'
run monitor power -d 0.4
expect "monitor power, live" 0 ' counter=power PPT value=95.0 W'
check "report: the table has each counter" says '^card0 +- +- +power PPT +[0-9]+ +95.0 W +95.0 W +95.0 W +95.0 W'
check "report: every event is accounted for" says 'every event is accounted for'
run report --by ring p.grt
check "other views show no counters" test -z "$(grep 'power PPT' <<<"$output")"
if command -v babeltrace2 >/dev/null; then
	check "babeltrace2 reads it" test "$(babeltrace2 p.grt 2>/dev/null | grep -c 'COUNTER:')" -gt 10
fi

put /sys/bus/0/power/runtime_status suspended
run record -e power -o p.grt -d 0.4
check "a card in runtime suspend is not read" test -z "$(rows)"
rm sys/sys/bus/0/power/runtime_status
: >sys/sys/bus/0/gpu_busy_percent
printf '101' >sys/sys/bus/0/mem_busy_percent
printf '99999999999999999999' >sys/sys/bus/0/mem_info_vram_used
printf '12 monkeys' >sys/sys/bus/0/mem_info_gtt_used
printf '0: 96Mhz\n1: 1000Mhz' >sys/sys/bus/0/pp_dpm_mclk
head -c 5000 /dev/urandom >sys$hwmon/temp1_input
mkfifo sys$hwmon/temp3_input
mkdir sys$hwmon/temp4_input
printf 'a\033[31mb"\\\\%s\n' '<script>' >sys$hwmon/power1_label
run record -e power -o p.grt -d 0.4
expect "garbage is survived" 0 'in p.grt'
check "values out of range are not recorded" test -z "$(rows | grep -E 'busy memory|memory vram|dpm mclk|temp edge')"
check "an empty file gives no value" test -z "$(rows | grep 'busy gpu')"
run report p.grt
check "a label cannot send commands to the terminal" test -z "$(grep -F $'\033' <<<"$output")"
check "the label is printed escaped" says 'power a\\x1b\[31mb'

# ---- Intel: energy becomes power
clean
card 1 i915
put /sys/bus/1/hwmon/hwmon1/energy1_input 7000000000000
put /sys/bus/1/hwmon/hwmon1/in0_input 750
put /sys/class/drm/card1/gt/gt0/rps_act_freq_mhz 300
put /sys/class/drm/card1/gt/gt0/rps_cur_freq_mhz 900
put /sys/class/drm/card1/gt/gt1/rps_act_freq_mhz 400
put /sys/class/drm/card1/gt/gt0/rc6_residency_ms 1000
put /sys/class/drm/card1/gt_act_freq_mhz 300
put /sys/class/drm/card1/gt/gt0/throttle_reason_pl1 1
put /sys/class/drm/card1/gt/gt0/throttle_reason_thermal 0
card 2 xe
put /sys/bus/2/tile0/gt0/freq0/throttle/reason_prochot 1
put /sys/bus/2/tile0/gt0/freq0/act_freq 1150
put /sys/bus/2/tile1/gt2/freq0/cur_freq 1250
put /sys/bus/2/tile0/gt0/gtidle/idle_residency_ms 50
put /sys/bus/2/hwmon/hwmon2/energy1_input 0
put /sys/bus/2/hwmon/hwmon2/energy1_label card
put /sys/bus/2/hwmon/hwmon2/energy2_input 100
put /sys/bus/2/hwmon/hwmon2/energy2_label pkg
card 3 nouveau
put /sys/bus/3/hwmon/hwmon3/temp1_input 45000
put /sys/bus/3/hwmon/hwmon3/power1_input 12000000
# an NPU is no card
put /sys/class/accel/accel0/dev 261:0
put /sys/bus/7/npu_busy_time_us 5000
put /sys/bus/7/npu_memory_utilization 8192
put /sys/bus/7/npu_current_frequency_mhz 1400
ln -s ../../../bus/7 sys/sys/class/accel/accel0/device
put /sys/class/devfreq/fde60000.gpu/cur_freq 800000000
put /sys/class/devfreq/fde60000.gpu/load 45@800000000Hz
put /sys/class/devfreq/dmc/cur_freq 528000000
# Counters are written over (1<>), not made empty first: a reader never sees that in a kernel.
cat >change.sh <<'END'
begun=$(date +%s%N)
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	ms=$((($(date +%s%N) - begun) / 1000000))
	echo $((7000000000000 + ms * 25000)) 1<>sys/sys/bus/1/hwmon/hwmon1/energy1_input
	echo $((1000 + ms / 4)) 1<>sys/sys/class/drm/card1/gt/gt0/rc6_residency_ms
	sleep 0.045
done
echo 5 >sys/sys/bus/2/hwmon/hwmon2/energy2_input
sleep 0.15
END
run record -e power -o p.grt sh change.sh
expect "a recording of four drivers" 0 'events, 0 lost'
i915=$((drm + 1)) xe=$((drm + 2)) nouveau=$((drm + 3))
npu=$((261 << 20))
# read once a second, and it grows between two readings only
check "an NPU: its busy time" row "$npu\|None\|busy npu\|total ns\|[0-9]+\|(0|None)\|"
check "an NPU: busy time in ns, as the driver counts it" grep -q 'COUNTER.*value=5000000\b' <("$GRTRACE" dump p.grt)
check "an NPU: its memory" row "$npu\|None\|memory npu\|B\|[0-9]+\|8192"
check "an NPU: its clock" row "$npu\|None\|clock\|Hz\|[0-9]+\|1400000000"
check "i915: clock by GT" row "$i915\|None\|clock gt0\|Hz\|[0-9]+\|300000000"
check "i915: clock of the other GT" row "$i915\|None\|clock gt1\|Hz\|[0-9]+\|400000000"
check "i915: the requested clock" row "$i915\|None\|clock asked gt0\|Hz\|[0-9]+\|900000000"
check "i915: the old file for the same clock is not recorded" test "$(rows | grep -c "^$i915|None|clock|")" = 0
check "power that is computed from energy has this in its name" row "$i915\|None\|power from energy\|uW"
check "the first energy value gives no power" test "$(rows | awk -F'|' '$1 == '$i915' && $3 == "power from energy" { print $8 < 100000000000 }')" = 1
run dump p.grt
check "the mean power times the time is the energy, up to the last sample" python3 -c 'import re, sys
names, at, sum, begun = {}, None, 0, None
for line in sys.argv[1].splitlines():
    name = re.search(r"NAME .*kind=4 id=(\d+) name=\"([^\"]*)\"", line)
    value = re.match(r" *([\d.]+) .*COUNTER +counter=(\d+) .*value=(-?\d+).*device=" + sys.argv[2], line)
    if name:
        names[name[1]] = name[2]
    if value:
        t = float(value[1])
        begun = begun or t
        if names[value[2]] == "power from energy":
            sum += int(value[3]) * (t - (at or begun))
            at = t
grown = int(open("sys/sys/bus/1/hwmon/hwmon1/energy1_input").read()) - 7000000000000
sys.exit(not grown * 0.98 < sum < grown * 1.02)
' "$output" $i915
check "idle time is a share" row "$i915\|None\|idle gt0\|total ns\|[0-9]+\|[0-9.]+\|[1-9][0-9]*(\.[0-9]+)?\|"
check "xe: clocks by tile and GT" row "$xe\|None\|clock tile0 gt0\|Hz\|[0-9]+\|1150000000"
check "i915: an active reason for throttling" row "$i915\|None\|throttle pl1 gt0\|on\|[0-9]+\|1\|1\|1\|1"
check "i915: an inactive reason for throttling" row "$i915\|None\|throttle thermal gt0\|on\|[0-9]+\|0\|0\|0\|0"
check "xe: an active reason for throttling" row "$xe\|None\|throttle prochot tile0 gt0\|on\|[0-9]+\|1\|1\|1\|1"
check "xe: requested clock of another tile" row "$xe\|None\|clock asked tile1 gt2\|Hz\|[0-9]+\|1250000000"
check "xe: energy with its label" row "$xe\|None\|power from energy card\|uW\|[0-9]+\|0\|0\|0\|0"
check "an energy counter that went back gives no value" row "$xe\|None\|power from energy pkg\|uW\|[0-9]+\|0\|0\|0\|0"
check "nouveau: power" row "$nouveau\|None\|power\|uW\|[0-9]+\|12000000"
check "devfreq of a GPU" row "0\|None\|clock fde60000.gpu\|Hz\|[0-9]+\|800000000|None\|None\|clock fde60000.gpu\|Hz\|[0-9]+\|800000000"
check "devfreq: load of a GPU" row "None\|None\|busy fde60000.gpu\|%\|[0-9]+\|45"
check "devfreq: a device that is not a GPU is not recorded" test -z "$(rows | grep dmc)"

# ---- processes
clean
card 0 amdgpu
card 1 xe
client 100 3 renderD128 game 'drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t2048 KiB\ndrm-resident-vram:\t2048 KiB\ndrm-total-vram:\t3 MiB\ndrm-memory-gds:\t0\ndrm-engine-gfx:\t5000000000 ns\ndrm-engine-dec:\t0 ns\ndrm-engine-capacity-dec:\t2'
cp sys/proc/100/fdinfo/3 sys/proc/100/fdinfo/4 && ln -s /dev/dri/card0 sys/proc/100/fd/4
client 101 5 renderD128 helper 'drm-client-id: 7\ndrm-pdev: 0000:03:00.0\ndrm-engine-gfx: 5000000000 ns\ndrm-total-vram: 3 MiB'
client 102 3 renderD128 old 'drm-client-id:\t8\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t4 KiB\ndrm-engine-gfx:\t1 ns'
client 103 3 renderD129 xegame 'drm-driver:\txe\ndrm-client-id:\t7\ndrm-pdev:\t0000:04:00.0\ndrm-cycles-rcs:\t1000\ndrm-total-cycles-rcs:\t100000\ndrm-cycles-bcs:\t5'
client 104 3 renderD128 liar 'drm-client-id:\tx\ndrm-engine-gfx:\t1 ns'
client 105 3 renderD128 odd 'drm-client-id:\t9\ndrm-engine-gfx:\t99999999999999999999 ns\ndrm-engine-:\t5 ns\ndrm-total-vram:\t17 parsecs\ndrm-total-gtt:\t-5 KiB\n:::\ndrm-engine'
client 106 3 renderD128 editor 'drm-client-id:\t10\ndrm-engine-gfx:\t10 ns'
put /proc/100/status 'Name:\tgame\nUid:\t1000\t1001\t1000\t1000\nGid:\t5'
put /proc/100/cgroup '0::/user.slice/game.scope'
printf 'HOME=/\0SLURM_PROCID=9\0RANK=3\0LOCAL_RANK=1x\0SLURM_LOCALID=1\0WORLD_SIZE=8\0SECRET=none of ours\0SLURM_JOB_ID=4711\0' >sys/proc/100/environ
printf 'RANK=\0WORLD_SIZE=8\0SLURM_JOB_ID=4711\0' >sys/proc/102/environ
printf 'SLURM_PROCID=0\0TORCHELASTIC_RUN_ID=none' >sys/proc/103/environ
put /proc/103/status 'Name:\txegame\nUid:\t1002\t1002\t1002\t1002'
put /proc/107/comm shell
mkdir -p sys/proc/107/fd && ln -s /dev/pts/0 sys/proc/107/fd/0
ln -s /nowhere sys/proc/self
run doctor power
expect "processes are enough" 0 '^  power +works'
# As in a kernel, no reader sees a file between two states, or a directory without it: of the same
# length it is written at once, else a new one takes its place.
cat >change.sh <<'END'
before='pos:\t0\nflags:\t02100002\ndrm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t2048 KiB\ndrm-resident-vram:\t2048 KiB\ndrm-total-vram:\t3 MiB\ndrm-memory-gds:\t0\n'
behind='drm-engine-dec:\t0 ns\ndrm-engine-capacity-dec:\t2'
begun=$(date +%s%N)
for i in 1 2 3 4 5 6 7 8 9 10; do
	ns=$(($(date +%s%N) - begun))
	printf "${before}drm-engine-gfx:\t$((5000000000 + ns / 2)) ns\n$behind" >new
	dd if=new of=sys/proc/100/fdinfo/3 conv=notrunc status=none
	dd if=new of=sys/proc/100/fdinfo/4 conv=notrunc status=none
	printf "drm-client-id:\t7\ndrm-pdev:\t0000:04:00.0\ndrm-cycles-rcs:\t$((1000 + i * 2500))\ndrm-total-cycles-rcs:\t$((100000 + i * 10000))\n" >new
	mv new sys/proc/103/fdinfo/3
	[ $i != 5 ] || rm -r sys/proc/106
	sleep 0.09
done
echo $((ns / 2)) >grown
END
run record -e power -o p.grt sh change.sh
expect "a recording of processes" 0 'events, 0 lost'
check "fdinfo: busy time is shown as a share of time" row "$drm\|100\|busy gfx\|total ns\|[0-9]+\|[0-9.]+\|[1-9][0-9]*(\.[0-9]+)?\|"
check "fdinfo: all busy time is counted" row "$drm\|100\|busy gfx\|total ns\|.*\|$(cat grown)$"
check "fdinfo: two descriptors of a client count once" row "$drm\|100\|total vram\|B\|[0-9]+\|3145728\|3145728"
check "fdinfo: another process with the same client does not count" test -z "$(rows | grep '|101|')"
check "fdinfo: a value under its old and its new name counts once" row "$drm\|100\|resident vram\|B\|[0-9]+\|2097152\|2097152\|2097152\|2097152"
check "fdinfo: a value under its old name only" row "$drm\|102\|resident vram\|B\|[0-9]+\|4096"
check "fdinfo: an engine that was never used has no counter" test -z "$(rows | grep 'busy dec')"
check "fdinfo: the capacity of an engine is not a counter" test -z "$(rows | grep capacity)"
check "fdinfo: memory that is 0 has no counter" test -z "$(rows | grep gds)"
check "xe: the same client number on another device, cycles as share" row "$((drm + 1))\|103\|busy rcs\|total ns\|[0-9]+\|[0-9.]+\|[1-9][0-9]*(\.[0-9]+)?\|(25|24\.9)"
check "fdinfo: cycles without the total of cycles give no value" test -z "$(rows | grep 'busy bcs')"
check "fdinfo: a descriptor that is not a DRM client gives no value" test -z "$(rows | grep -E '\|10[45]\|')"
run report p.grt
check "text output has the names of processes" says '^card0 +100 +game +busy gfx '
check "inferred values are marked" says '^card1 +103 +xegame +busy rcs .*[0-9] %\*'
"$GRTRACE" report p.grt --by gpu-process --json >shares.json
share() { # PID COLUMN
	jq -r --arg pid "$1" ".gpu_processes[] | select(.pid == (\$pid | tonumber) and .kind == \"process\" and .source == \"counters\") | .$2" shares.json
}
check "report --by gpu-process: what the driver counted for a process" test "$(share 100 residency)" = "$(cat grown)"
check "report --by gpu-process: the share is the busy time divided by the time" awk -v share="$(share 100 share)" -v busy="$(share 100 residency)" \
	-v span="$(jq .span_ns shares.json)" 'BEGIN { off = share - 100 * busy / span; exit !(busy && span && off < 0.01 && off > -0.01) }'
check "report --by gpu-process: rows by engine" test "$(share 103 ring_name)" = "busy rcs"
check "a time from clock cycles is marked as inferred" test "$(share 103 'inferred | index("residency") != null')" = true
check "report --by gpu-process: counters have no jobs" test "$(share 100 slices)" = null
whose() { # VIEW TABLE COLUMN
	"$GRTRACE" report p.grt --by "$1" --json | jq -r ".$2[] | select(.ring_name == \"busy gfx\" and .kind == \"process\") | [.$3, .residency] | join(\" \")"
}
check "report --by gpu-cgroup: the control group and its time" test "$(whose gpu-cgroup gpu_cgroups cgroup)" = "/user.slice/game.scope $(cat grown)"
run dump -t owner_rank p.grt
check "the launcher of a process is found in its environment: the first rule that matches" says ' pid=100/100.* rank=3 local_rank=1 world=8 length=4 job="4711"$'
check "a process whose environment has only its rank" says ' pid=103/103.* rank=0 local_rank=- world=- '
check "an environment without a rank has no OWNER_RANK" test "$(grep -c OWNER_RANK <<<"$output")" = 2
check "nothing else of the environment is recorded" test -z "$(grep -rl "none of ours" p.grt)"
check "report --by gpu-user: the effective user" test "$(whose gpu-user gpu_users uid)" = "1001 $(cat grown)"
check "the rest of the time is attributed to no process" test "$(jq -r '[.gpu_processes[] | select(.ring_name == "busy gfx") | .residency] | add' shares.json)" = \
	"$(jq -r .span_ns shares.json)"
run record -e power -p $$ -o p.grt -d 0.3
check "-p: no counters of other processes" test -z "$(rows | grep '|100|')"

run record -e power --comm editor -o p.grt -d 0.3
check "--comm: no counters of processes with other names" test -z "$(rows | grep '|100|')"
run record -e power -t submit -o p.grt -d 0.3
expect "--type without counters" 1 'no counters to record: --type excludes counters'
run record -e power -t counter -o p.grt -d 0.3
expect "and with them" 0 'in p.grt'
check "--comm: counters of the process with this name" row "$drm\|102\|resident vram"
put /sys/bus/1/tile0/gt0/freq0/act_freq 1150
if mknod node c 226 129 2>/dev/null; then
	run record -e power --device ./node -o p.grt -d 0.3
	check "--device: a render node selects its card" row "$((drm + 1))\|None\|clock tile0 gt0"
	check "--device: no counters of other cards" test -z "$(rows | grep "^$drm|")"
else
	ok "--device # SKIP no mknod here: run as root"
fi

# ---- NVIDIA
clean
put /proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1'
mkdir -p sys/usr/lib
if "${CC:-cc}" -shared -fPIC -o sys/usr/lib/libnvidia-ml.so.1 "$GRTRACE_SRC/tests/cli/power/nvml.c"; then
	run doctor power
	expect "driver and library are enough" 0 '^  power +works'
	run record -e power -o p.grt -d 0.6
	expect "a recording with NVML" 0 'events, 0 lost'
	check "NVML: a GPU by its PCI address" test "$("$GRTRACE" dump p.grt | grep -c 'name="nvidia0 0000:c7:00.0" owner="nvidia"')" -gt 0
	check "NVML: memory of a process" row "$nvidia\|4001\|memory vram\|B\|[0-9]+\|3221225472\|3221225472"
	check "NVML: use by a process, each sample once" row "$nvidia\|4001\|busy sm\|%\|2\|55\|[0-9.]+\|65\|65"
	check "NVML: use of memory's bandwidth by a process" row "$nvidia\|4001\|busy memory\|%\|2\|21\|[0-9.]+\|23\|23"
	check "NVML: a process whose memory is unknown has no value" test -z "$(rows | grep '|4002|')"
	check "NVML: power" row "$nvidia\|None\|power\|uW\|[0-9]+\|70000000\|70000000\|70000000\|70000000"
	check "NVML: clocks" row "$nvidia\|None\|clock sm\|Hz\|[0-9]+\|1410000000"
	check "NVML: clock of the memory" row "$nvidia\|None\|clock memory\|Hz\|[0-9]+\|2619000000"
	check "NVML: use" row "$nvidia\|None\|busy gpu\|%\|[0-9]+\|37"
	check "NVML: use of the memory" row "$nvidia\|None\|busy memory\|%\|[0-9]+\|12"
	check "NVML: memory, without the memory that the driver reserves" row "$nvidia\|None\|memory vram\|B\|[0-9]+\|21474836480\|21474836480"
	check "NVML: temperature" row "$nvidia\|None\|temp gpu\|mC\|[0-9]+\|41000"
	check "NVML: an active reason for throttling" row "$nvidia\|None\|throttle power cap\|on\|[0-9]+\|1\|1\|1\|1"
	check "NVML: an inactive reason for throttling" row "$nvidia\|None\|throttle hw thermal\|on\|[0-9]+\|0\|0\|0\|0"
	check "NVML: a GPU without ECC has no ECC counter" test -z "$(rows | grep "^$nvidia|None|ecc")"
	check "NVML: the other GPU has an ECC counter" row "$((nvidia + 1))\|None\|ecc uncorrected\|errors\|[0-9]+\|2"
	check "NVML: a lost GPU has no further power values" test "$(run dump p.grt; grep -c "device=$((nvidia + 1)) .*value=70000000" <<<"$output")" -le 2
	run report p.grt
	check "NVML: text output has the names of GPUs" says '^nvidia1 0000:c8:00\.0 +- +- +clock sm +[0-9]+ +1.41 GHz'
	run record -e power -o p.grt -d 3
	check "NVML: an idle process with memory has no use" row \
		"$nvidia\|4001\|busy sm\|%\|3\|0\|[0-9.]+\|65\|0"
	NVML_OLD=1 run record -e power -o p.grt -d 0.3
	check "NVML: a driver that does not report its reserved memory" row "$nvidia\|None\|memory vram\|B\|[0-9]+\|22548578304\|22548578304"
	echo 'no library' >sys/usr/lib/libnvidia-ml.so.1
	run record -e power -o p.grt -d 0.3
	expect "a library that cannot be loaded" 3 'no counters of NVIDIA'
else
	ok "NVML # SKIP no compiler: apt-get install gcc"
fi

plan
