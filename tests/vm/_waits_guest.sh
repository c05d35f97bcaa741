#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests/vm/waits.sh runs in the guest, with the seconds of each program and
# whether it is the long form: recordings of programs that render, of
# tests/vm/wakers, of tests/vm/frames and of tests/vm/idle_causes; their tables go to /out.

seconds=$1 long=${2:-}
export PATH=/mnt/build:$PATH XDG_RUNTIME_DIR=/tmp
cd /tmp || exit 1

look() { # NAME PROGRAM...
	grtrace record -e "${sources:-sched}" -F 0 --stack=none -o "$1.grt" -- "${@:2}" >"/out/$1.said" 2>"/out/$1.err"
	grtrace report "$1.grt" --by wait --json --top 0 >"/out/$1.json"
}

# From its 10th wait for the GPU or the display to its last a thread of this name renders, or from its 10th
# call that shows a frame, where a busy machine lets it wait for neither: before and after it reads
# and frees what it needs.
look_at_loop() { # NAME THREAD [launch]
	grtrace dump --type "${3:-asleep}" "$1.grt" | grep "($2)" |
		if [ -n "${3:-}" ]; then cat; else grep -E 'reason=(4|9) '; fi | awk '{ print $1 }' >stamps
	grtrace report "$1.grt" --from "$(sed -n 10p stamps)" --to "$(tail -n 1 stamps)" --by wait --json --top 0 >"/out/$2.json"
}

modprobe gpu_sched
insmod "$GRTRACE_MODULES/grtrace_softgpu.ko"
# The kernel's own text of its switches, beside ours.
mount | grep -q ' /sys/kernel/tracing ' || mount -t tracefs tracefs /sys/kernel/tracing
kernels=/sys/kernel/tracing/instances/switches
mkdir $kernels
echo mono >$kernels/trace_clock
for event in sched_switch sched_waking; do echo 1 >$kernels/events/sched/$event/enable; done
sources=sched,drm look wakers /mnt/build/tests/vm/wakers gpu
echo 0 >$kernels/tracing_on
cat $kernels/trace >/out/wakers.ftrace
grep -hE '^(overrun|commit overrun|dropped events):' $kernels/per_cpu/cpu*/stats >/out/wakers.lost
rmdir $kernels
grtrace dump --json wakers.grt >/out/wakers.dump
sources=sched,drm,vblank,ioctl look frames /mnt/build/tests/vm/frames "${long:+10}4"
grtrace report frames.grt --by frame --json --top 0 >/out/frames.json
sources=sched,drm look idle /mnt/build/tests/vm/idle_causes
grtrace report idle.grt --by idle --json >/out/idle.json
grtrace report idle.grt --by idle --ring gfx_0 --json >/out/idle_ring.json
grtrace dump --json idle.grt >/out/idle.dump
grtrace report idle.grt >/out/idle.txt
grtrace flame --weight wall wakers.grt >/out/wakers.folded 2>/dev/null
rmmod grtrace_softgpu

# They render so much, however slow the machine is, and glmark2 for so long; kmscube would
# end with its standard input.
frames=$((20 * seconds))
[ -z "$long" ] || frames=5000
mkfifo input
sources=sched,drm,vblank,ioctl,present look kmscube sh -c "kmscube -c $frames <>input 2>&1 | grep Rendered >/out/kmscube.frames"
grtrace report kmscube.grt --by frame --json --top 0 >/out/kmscube.shown
look_at_loop kmscube kmscube
look glmark2 glmark2-es2-drm --off-screen -b "build:duration=$seconds"
look_at_loop glmark2 glmark2-es2-drm
if [ -n "$long" ]; then
	# without input devices, whose clients only take time to start
	printf '[core]\nrequire-input=false\n[input-method]\npath=/bin/false\n[shell]\npanel-position=none\nlocking=false\n' >weston.ini
	sources=sched,drm,vblank,ioctl,present look weston sh -c "
		weston --backend=drm-backend.so --tty=1 --config=/tmp/weston.ini --idle-time=0 --log=/out/weston.log &
		weston=\$!
		while [ ! -S /tmp/wayland-1 ] && kill -0 \$weston; do sleep 0.3; done
		sleep 6
		for i in 1 2; do
			WAYLAND_DISPLAY=wayland-1 WAYLAND_DEBUG=client weston-simple-egl >/dev/null 2>/out/client\$i &
			clients=\"\$clients \$!\"
		done
		for i in 1 2; do
			while kill -0 \$clients && [ \$(grep -c 'attach(wl_buffer' /out/client\$i) -lt $((frames / 2)) ]; do sleep 0.5; done
		done
		kill \$clients
		wait \$clients
		kill \$weston
		wait"
	grtrace report weston.grt --by frame --json --top 0 >/out/weston.shown
	grtrace dump --json --type launch weston.grt | grep '"comm":"weston-simple-e"' | grep -c wl_surface_commit >/out/weston.commits
	look_at_loop weston weston launch
	look_at_loop weston weston-simple-e launch
fi
dmesg | grep -E 'BUG|WARNING|Oops|Call Trace' >/out/dmesg
true
