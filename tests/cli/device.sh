#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record --device: every word for a GPU selects this GPU and no other; a word that stands for none or for two is refused.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
export GRTRACE_SYSROOT=$PWD/sys
unset LD_LIBRARY_PATH

put() { # FILE TEXT: below the made system
	mkdir -p "sys$(dirname "$1")"
	printf '%b\n' "$2" >"sys$1"
}

node() { # NAME MINOR ADDRESS
	put "/sys/class/drm/$1/dev" "226:$2"
	mkdir -p "sys/sys/bus/$3"
	ln -sfn "../../../bus/$3" "sys/sys/class/drm/$1/device"
}

# card0 shows pictures only; card1 is a GPU of AMD; NVIDIA's two GPUs are card2 and without a card.
node card0 0 0000:02:00.0
node card1 1 0000:03:00.0
node renderD128 128 0000:03:00.0
node card2 2 0000:c7:00.0
node renderD129 129 0000:c7:00.0
mkdir -p sys/sys/class/drm/card1-DP-1
for i in 0 1; do
	put /sys/bus/0000:0$((i + 2)):00.0/hwmon/hwmon$i/temp1_input 54000
	put /proc/driver/nvidia/gpus/0000:c$((7 + i)):00.0/information \
		"Model: \t\t A\nGPU UUID: \t GPU-${i}2345678-9abc-def0-1234-56789abcdef0\nDevice Minor: \t $i"
done
put /proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1'
mkdir -p sys/usr/lib
"${CC:-cc}" -shared -fPIC -o sys/usr/lib/libnvidia-ml.so.1 "$GRTRACE_SRC/tests/cli/power/nvml.c" ||
	skip_all "no compiler: apt-get install gcc"

# The devices that have counters in the last recording.
devices() {
	"$GRTRACE" dump --json --type counter p.grt | python3 -c '
import json, sys
print(*sorted({json.loads(line)["device"] for line in sys.stdin}))'
}
drm=$((226 << 20)) nvidia=$((195 << 20))

run record -e power -o p.grt -d 0.1
check "without --device: all" test "$(devices)" = "$nvidia $((nvidia + 1)) $drm $((drm + 1))"

selects() { # DEVICE WORD...
	local wanted=$1 word
	shift
	for word; do
		run record -e power --device "$word" -o p.grt -d 0.1
		check "--device $word" test "$status $(devices)" = "0 $wanted"
	done
}
selects $((drm + 1)) card1 renderD128 /dev/dri/card1 /dev/dri/renderD128 0000:03:00.0 03:00.0 03:00 00000000:03:00.0
selects "$nvidia" nvidia0 /dev/nvidia0 card2 renderD129 2 0000:c7:00.0 C7:00.0 00000000:C7:00.0 \
	GPU-02345678-9abc-def0-1234-56789abcdef0 gpu-02345678-9ABC-DEF0-1234-56789ABCDEF0 GPU-02
selects $((nvidia + 1)) nvidia1 c8:00.0 GPU-12345678-9abc-def0-1234-56789abcdef0
selects "$drm" card0 02:00.0

# A number is that of cardN and of nvidiaN: here 0 and 1 are each two GPUs.
run record -e power --device 0 -o no.grt -d 0.1
expect "a number that is two GPUs" 1 "the GPU '0' may be card0 0000:02:00.0, or card2 renderD129 nvidia0 0000:c7:00.0 GPU-0" \
	'two GPUs of this system match' '^  try: --device 0000:02:00.0, or --device 0000:c7:00.0'
run record -e power --device GPU- -o no.grt -d 0.1
expect "the beginning of two UUIDs" 1 "the GPU 'GPU-' may be .*nvidia0.*, or nvidia1 "
lists() { # NAME WORD WHY
	run record -e power --device "$2" -o no.grt -d 0.1
	expect "$1" 1 "$3" 'try: a word of one of these lines' '^    card0 0000:02:00.0$' '^    card1 renderD128 0000:03:00.0$' \
		'^    card2 renderD129 nvidia0 0000:c7:00.0 GPU-02345678-9abc-def0-1234-56789abcdef0$' '^    nvidia1 0000:c8:00.0 GPU-1'
}
lists "an unknown name lists what there is" card7 "cannot find the GPU 'card7': no GPU of this system has this name"
lists "an unknown number" 7 "cannot find the GPU '7'"
lists "an unknown UUID" GPU-ffffffff-9abc-def0-1234-56789abcdef0 "cannot find the GPU 'GPU-ffffffff-"
lists "an unknown address" 0000:04:00.0 "cannot find the GPU '0000:04:00.0'"
run record -e power --device '' -o no.grt -d 0.1
expect "no word at all" 2 "--device: '' is not understood"
lists "an instance of a GPU" MIG-02345678-9abc-def0-1234-56789abcdef0 'an instance is a part of a GPU: type the name of the whole one'
lists "a file that is not there" /dev/dri/card7 'cannot find the device file /dev/dri/card7: No such file'
lists "a file that is no device" /etc/passwd '/etc/passwd is not the device file of a GPU: it is not a character device'
lists "a text that no terminal should get" $'card\e[31m' "cannot find the GPU 'card.*31m'"
check "no recording is left of these" test ! -e no.grt

# Files by their number, whatever they are called; and where the driver's directory is hidden, as in some containers.
if mknod a c 195 1 2>/dev/null && mknod b c 226 129; then
	selects $((nvidia + 1)) ./a "$PWD/a"
	selects "$nvidia" ./b
	mkdir -p sys/dev
	mknod sys/dev/nvidia1 c 195 1
	mv sys/proc/driver/nvidia/gpus hidden
	selects $((nvidia + 1)) nvidia1
	mv hidden sys/proc/driver/nvidia/gpus
else
	ok "--device FILE # SKIP no mknod here: run as root"
fi

# The recording has all words for its GPUs, and the reading commands take them.
run record -e power -o p.grt -d 0.1
check "the recording has them" test "$(sed -n 's/^.*gpus = "\(.*\)";/\1/p' p.grt/metadata | grep -oE 'card1|renderD128|nvidia1|GPU-1' | xargs)" = \
	"card1 renderD128 nvidia1 GPU-1"
shows() { # DEVICE WORD...
	local wanted=$1 word
	shift
	for word; do
		check "dump --device $word" test "$("$GRTRACE" dump --json --type counter --device "$word" p.grt | python3 -c '
import json, sys
print(*sorted({json.loads(line)["device"] for line in sys.stdin}))')" = "$wanted"
	done
}
shows $((nvidia + 1)) nvidia1 /dev/nvidia1 GPU-12345678-9abc-def0-1234-56789abcdef0 gpu-12 0000:c8:00.0 00000000:C8:00.0 c8:00.0
shows $((drm + 1)) card1 renderD128 /dev/dri/card1 03:00.0
shows "$nvidia" nvidia0 card2 2
run dump --device 0 p.grt
expect "dump --device: a number that is two GPUs" 1 'p.grt: --device 0 may be each of two GPUs: .*card0=0000:02:00.0 .*nvidia0=0000:c7:00.0'
run dump --device nvidia4 p.grt
expect "dump --device: none" 1 'no events of the GPU nvidia4 \(there are '

# A source that cannot obey says what it records.
run record -e hostlog --device card1 -o p.grt -- true
expect "a message names a source without this filter" 0 '--device has no effect on the source hostlog, which records the log of the runtime, which is of all GPUs'

rm -rf sys
mkdir -p sys/sys sys/proc
run record -e power --device card0 -o no.grt -d 0.1
expect "a system without a GPU" 1 "cannot find the GPU 'card0'" 'try: grtrace doctor, which shows why this system has no GPU'
plan
