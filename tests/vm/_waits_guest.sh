#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests/vm/waits.sh runs in the guest, with the seconds of each program:
# recordings of programs that render, and of tests/vm/wakers; their tables go to /out.

seconds=$1
export PATH=/mnt/build:$PATH XDG_RUNTIME_DIR=/tmp
cd /tmp || exit 1

look() { # NAME PROGRAM...
	grtrace record -e sched -F 0 --stack=none -o "$1.grt" -- "${@:2}" >"/out/$1.said" 2>"/out/$1.err"
	grtrace report "$1.grt" --by wait --json --top 0 >"/out/$1.json"
}

# From when a thread of this name waits for the GPU or the display first: it has begun to render.
look_at_loop() { # NAME THREAD
	local first
	first=$(grtrace dump --type asleep "$1.grt" | grep "($2)" | grep -m 1 -E 'reason=(4|9) ' | awk '{ print $1 }')
	[ -z "$first" ] || grtrace report "$1.grt" --from "$first" --by wait --json --top 0 >"/out/$2.json"
	grtrace report "$1.grt" --by wait >"/out/$1.txt"
}

modprobe gpu_sched
insmod "$GRTRACE_MODULES/grtrace_softgpu.ko"
look wakers /mnt/build/tests/vm/wakers gpu
rmmod grtrace_softgpu

# Until the time is over it renders to the display; kmscube ends with its standard input.
look kmscube sh -c "sleep $seconds | kmscube >/dev/null 2>&1"
look_at_loop kmscube kmscube
look glmark2 glmark2-es2-drm --off-screen -b "build:duration=$seconds"
look_at_loop glmark2 glmark2-es2-drm
look weston sh -c "
	weston --backend=drm-backend.so --tty=1 --idle-time=0 --log=/out/weston.log &
	weston=\$!
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ -S /tmp/wayland-1 ] && break
		sleep 0.3
	done
	WAYLAND_DISPLAY=wayland-1 timeout $seconds weston-simple-egl >/dev/null 2>&1
	kill \$weston
	wait"
look_at_loop weston weston
look_at_loop weston weston-simple-e
dmesg | grep -E 'BUG|WARNING|Oops|Call Trace' >/out/dmesg
true
