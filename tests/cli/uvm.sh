#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# uvm against a stand-in for NVIDIA's driver for unified memory, which plays a script of faults and migrations.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
here=$GRTRACE_SRC/tests/cli/uvm
export GRTRACE_SYSROOT=$PWD/sys ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export UVM_SCRIPT=$PWD/script UVM_TRUTH=$PWD/truth RM_SCRIPT=$PWD/rm_script
"${CC:-cc}" -shared -fPIC -o rm.so "$GRTRACE_SRC/tests/cli/nvctxsw/rm.c" &&
	"${CC:-cc}" -shared -fPIC -o driver.so "$here/driver.c" && "${CC:-cc}" -o target "$here/target.c" ||
	skip_all "no compiler: apt-get install gcc"

mkdir -p sys/dev sys/proc/driver/nvidia/gpus/0000:c6:00.0
# The programs' file is a device that is there everywhere and that nobody else in the system shown has open.
printf 'Character devices:\n195 nvidia\n195 nvidiactl\n  1 nvidia-uvm\n' >sys/proc/devices
printf 'Model: \t\t A\nGPU UUID: \t GPU-a5b0c36a-b698-9685-7ed4-d1714d6e7141\nDevice Minor: \t 0\n' \
	>sys/proc/driver/nvidia/gpus/0000:c6:00.0/information
mknod sys/dev/nvidia-uvm c 1 5 || skip_all "no device files: as root, with CAP_MKNOD"
: >rm_script

show() { # PID COMM: the process to grtrace
	mkdir -p "sys/proc/$1" && ln -sfn "/proc/$1/fd" "sys/proc/$1/fd" && echo "$2" >"sys/proc/$1/comm"
}

hide() { # PID...
	local pid
	for pid; do
		rm -f "sys/proc/$pid/fd" "sys/proc/$pid/comm"
	done
}

begin() { # COMM [MS MS]: a program; $program
	local name=$1
	shift
	mkfifo "$name.in" 2>/dev/null
	rm -f "$name.out"
	./target sys/dev/nvidia-uvm "$@" <>"$name.in" >"$name.out" 2>"$name.err" &
	program=$!
	show "$program" "$name"
	[ $# -gt 0 ] || until grep -q open "$name.out" 2>/dev/null; do sleep 0.02; done
}

play() { # ARGS...: grtrace with the stand-in and the script on standard input
	cat >script
	: >truth
	output=$(LD_PRELOAD=$PWD/driver.so:$PWD/rm.so "$GRTRACE" "$@" 2>&1 </dev/null)
	status=$?
}

nothing_left() {
	grep -qx 'left 0' truth && ! grep -q '^left [1-9]' truth
}

lost_are() { # N: in the account of the recording
	"$GRTRACE" report --json -i run.grt | python3 -c "
import json, sys
balance = json.load(sys.stdin)['balance']
sys.exit(balance['lost'] != $1 or not balance['closes'])"
}

# A file that is set up a moment later: its events come when the recording has begun.
gpu='gpu 1 a5b0c36ab69896857ed4d1714d6e7141
after 100000
slow 2'
begin python3
A=$program
trap 'kill $(jobs -p) 2>/dev/null' EXIT

play doctor uvm <<<"$gpu"
expect "doctor says that it works" 0 '^  uvm +works'
check "and leaves no files" nothing_left

# All that there is, with the values of each field.
play record -e uvm -d 0.7 -o run.grt <<EOF
$gpu
cpu 1000 2 0x7f0000001000 $A $((A + 1)) 3
fault 50000 1 1 0x7f0000010000 5 100
fault 50010 4 1 0x7f0000020000 5 40
mig 50100 2 0 1 0x7f0000010000 65536 20 4000
mig 50110 3 0 1 0x7f0000020000 131072 30 8000
replay 50200 1 5 30
mig 60000 4 1 0 0x7f0000400000 2097152 100 50000
evict 59990 1 0 0x7f0000400000 2097152 0x7f0000800000
mig 61000 6 0 0 0x7f0000900000 4096 0 2000
mig 62000 1 1 9 0x7f0000a00000 8192 10 1000
remote 70000 3 1 0 0x7f0000b00000 4096
group 80000 10 0x7f0000c00000 4096 3
group 80100 7 0x7f0000d00000 4096 3
alone 80200 8 1 0x7f0000d00000
alone 81000 11 1 0x7f0000c00000
alone 84000 12 1 0x7f0000c00000
fatal 90000 1 2 1 0x10
type 95000 40
EOF
expect "a recording" 0 '0 lost'
check "and no files are left" nothing_left
"$GRTRACE" dump --json run.grt >events.json
output=$(python3 "$here/compare.py" script truth events.json "$A" 2>&1)
status=$?
expect "every entry, with its values and times" 0 '^events=17 '
check "unknown entries are counted" grep -q 'uvm_queue = "programs=1 .* unknown=1 late=0 ' run.grt/metadata
check "and the GPU's clock" grep -qE 'uvm_gpu0 = "nvidia0 0000:c6:00.0 GPU-a5b0c36a-.*: clock_error_ns=' run.grt/metadata
run report --by uvm -i run.grt
expect "sums by cause and direction" 0 "^$A +python3 +CPU +nvidia0 0000:c6:00.0 +coherence +1 +64.0 KiB +4.00 us "
expect "an eviction" 0 "^$A +python3 +nvidia0 .* CPU +eviction +1 +2.00 MiB +(49.9|50.[01]) us "
expect "a GPU that has another number" 0 "^$A +python3 +nvidia0 .* user +1 +8.00 KiB"
expect "faults" 0 "^$A +python3 +nvidia0 .* prefetch +1 +(39.9|40.[01]) us +(39.9|40.[01]) us"
expect "batches of them" 0 "^$A +python3 +nvidia0 0000:c6:00.0 +1 +2 +(329|33[01]) us +(329|33[01]) us +0"
expect "throttling with its time" 0 "throttling +- +nvidia0 .* 1 +- +(2.99|3.0[01]) ms"
expect "pages that a processor uses remotely" 0 'remote +policy +nvidia0 0000:c6:00.0 +CPU +1 +4.00 KiB'
expect "and what cannot be" 0 'fatal +address +nvidia0'
run report --by uvm --csv -i run.grt
check "bytes are those of the script" test "$(awk -F, 'NR > 1 { n += $7 } END { print n }' <<<"$output")" = 2306048
run timeline -i run.grt
expect "a bar of each direction" 0 '^  CPU > nvidia0 +\|' 
run export -f chrome -o run.json run.grt
check "migrations are slices of a track" test "$(grep -o '"cat":"unified_memory"' run.json | wc -l)" = 5

# One process, one name.
begin other
B=$program
play record -e uvm -d 0.5 -o run.grt <<<"$gpu
mig 10000 2 0 1 0x1000 4096 1 1000
cpu 20000 1 0x1000 $A $A 1"
check "two programs, each with its queue" test "$("$GRTRACE" dump --json run.grt | grep -c '"type":"UVM_MIGRATION"')" = 2
play record -e uvm -p "$B" -d 0.5 -o run.grt <<<"$gpu
mig 10000 2 0 1 0x1000 4096 1 1000"
check "-p: its own" test "$("$GRTRACE" dump --json run.grt | grep '"type":"UVM_MIGRATION"' | grep -c "\"pid\":$B,")" = 1
check "and no other's" grep -q 'programs=1 ' run.grt/metadata
play record -e uvm --comm other -d 0.2 -o run.grt <<<"$gpu"
check "--comm" grep -q 'programs=1 ' run.grt/metadata
kill "$B"
wait "$B" 2>/dev/null
hide "$B"

# A program that begins while it is recorded, and ends before the recording does.
kill "$A"
wait "$A" 2>/dev/null
hide "$A"
cat >script <<EOF
gpu 1 a5b0c36ab69896857ed4d1714d6e7141
slow 20
mig 0 1 0 1 0x1000 65536 10 1000
fault 20 1 1 0x2000 9 10
EOF
: >truth
holds() { # whether the recorder has a program's file
	find "/proc/$R/fd" -lname '*sys/dev/nvidia-uvm' 2>/dev/null | grep -q .
}
LD_PRELOAD=$PWD/driver.so:$PWD/rm.so "$GRTRACE" record -e uvm -o run.grt >log 2>&1 </dev/null &
R=$!
until [ -d run.grt ] || ! kill -0 $R; do sleep 0.05; done
begin late
B=$program
until grep -q '^on' truth || ! kill -0 $R; do sleep 0.05; done
check "the recorder has the file of a program that has begun" holds
kill "$B"
wait "$B" 2>/dev/null
until ! holds; do sleep 0.05; done
check "and gives it back when the program has ended" kill -0 $R
kill -INT $R
wait $R
check "the recording ends well" test $? = 0
check "what the program did is there" test "$("$GRTRACE" dump --json run.grt | grep '"type":"UVM_' | grep -c "\"pid\":$B,")" = 2
check "no files are left" nothing_left
hide "$B"

# The queue is full: the driver counts what it drops.
begin python3
A=$program
play record -e uvm -d 0.5 -o run.grt <<<"$gpu
room 1000
burst 10000 3000"
check "1000 entries fit, 2000 are lost" lost_are 2000
check "as the driver says" grep -qx '3 1000 2000' truth
check "and the recording by type" grep -q 'dropped=2000 dropped_gpu_fault=2000' run.grt/metadata
play record -e uvm -d 0.5 -o run.grt <<<"$gpu
room 1000
burst 10000 900
burst 10001 900"
expect "nearly as many fit again and again" 0 ' 0 lost'

# The driver's own clock of the GPU is refused: times are from queue to notice, and marked.
echo 'refuse 20800406 0x56 0' >rm_script
play record -e uvm -d 0.5 -o run.grt <<<"$gpu
mig 10000 2 0 1 0x1000 4096 1 1000"
run dump --json run.grt
expect "without the GPU's clock times are inferred" 0 '"type":"UVM_MIGRATION".*inferred'
run report --by uvm -i run.grt
expect "and marked so" 0 'coherence +1 +4.00 KiB +[0-9.]+ [mu]s\*'
: >rm_script

# Refusals, each with its reason.
for version in 560.35.03 610.1; do
	echo "version $version" >rm_script
	play record -e uvm -d 0.1 -o no.grt <<<"$gpu"
	expect "driver $version" 3 "version $version: its queue of events of unified memory was checked with 570 to 595"
done
: >rm_script
UVM_NO_FILE=1 play record -e uvm -d 0.1 -o no.grt <<<"$gpu"
expect "no file of the tools" 3 'cannot open /dev/nvidia-uvm-tools'
check "no recording is left of these" test ! -e no.grt
for code in 0x1b 0x51; do
	play record -e uvm -d 0.2 -o run.grt <<<"$gpu
refuse 76 $code"
	expect "a program's queue is refused: $code" 0 "no events of the unified memory of PID $A: .* \\(status $code\\)"
	check "and no files are left" nothing_left
done
play record -e uvm -d 0.2 -o run.grt <<<"$gpu
refuse 58 0x1f"
expect "its events are refused" 0 "PID $A: .* \\(status 0x1f\\)"
play record -e uvm -d 60 -o run.grt <<<"$gpu
mig 10000 2 0 1 0x1000 4096 1 1000
broken 150000"
expect "a queue that makes no sense ends it" 1 'cannot read stream 0 of uvm'
run dump --json run.grt
expect "what was before is there" 0 '"type":"UVM_MIGRATION"'
GRTRACE_SYSROOT=$PWD/none play record -e uvm -d 0.1 -o no.grt <<<"$gpu"
expect "no driver" 3 "NVIDIA's driver is not loaded"
sed -i '/nvidia-uvm/d' sys/proc/devices
play record -e uvm -d 0.1 -o no.grt <<<"$gpu"
expect "none for unified memory, on a kernel that loads no modules" 3 "NVIDIA's driver for unified memory is not loaded" \
	'try: a kernel with this driver: this one loads no modules .CONFIG_MODULES.$'
: >sys/proc/modules
play record -e uvm -d 0.1 -o no.grt </dev/null
expect "and on one that loads them" 3 'try: sudo modprobe nvidia-uvm$'
rm sys/proc/modules
printf '  1 nvidia-uvm\n' >>sys/proc/devices

# The recorder dies: the program goes on, and nobody has its file.
echo "$gpu" >script
LD_PRELOAD=$PWD/driver.so:$PWD/rm.so "$GRTRACE" record -e uvm -d 60 -o killed.grt >/dev/null 2>&1 </dev/null &
R=$!
until holds || ! kill -0 $R 2>/dev/null; do sleep 0.05; done
check "the recorder has the program's file" kill -0 $R
kill -9 $R
wait $R 2>/dev/null
check "a recorder that is killed leaves the program" kill -0 "$A"
plan
