#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# DRM ioctls by BPF on the running kernel: a program makes a prime number of them, on any descriptor.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

count() { # TYPE
	"$GRTRACE" dump --type "$1" run.grt | wc -l
}

run record -e ioctl -o run.grt -- true
need_bpf
expect "record -e ioctl" 0 'events, 0 lost in run.grt'

run record -e ioctl -o run.grt -- "$GRTRACE_BUILD/bench/bench_ioctl" drm 1009 0
expect "a program that makes 5 x 1009 ioctls of type d" 0 '0 lost'
check "every one is entered" test "$(count ioctl_enter)" = 5045
check "and left" test "$(count ioctl_exit)" = 5045
check "on /dev/null, by its device number" test "$("$GRTRACE" dump --type ioctl_exit run.grt |
	grep -c 'cmd=0x6400 ret=-25 about=0x0 status=0x0 device=1048579 flags=bpf')" = 5045
check "by the program" test "$("$GRTRACE" dump --type ioctl_enter run.grt | grep -c '(bench_ioctl)')" = 5045
run report -i run.grt
expect "the balance closes" 0 'every event is accounted for'
if command -v babeltrace2 >/dev/null; then
	run dump run.grt
	dumped=$(grep -c . <<<"$output")
	check "babeltrace2 sees as many events" test "$(babeltrace2 run.grt | wc -l)" = "$dumped"
fi

run record -e ioctl -o run.grt -- "$GRTRACE_BUILD/bench/bench_ioctl" other 1009 0
expect "ioctls of another type" 0 '0 lost'
check "are no DRM ioctls" test "$(count ioctl_enter)" = 0

sleep 60 &
run record -e ioctl -d 1 -p $! -o run.grt
expect "-p: another process" 0 '0 lost'
check "has none" test "$(count ioctl_enter)" = 0
kill %%

# In a namespace of pids a number is one of there.
# shellcheck disable=SC2016 # for the shell inside
cat >inside <<'END'
rm -rf run.grt
(until grep -qs '_window = "from=' run.grt/metadata; do sleep 0.05; done; exec "$GRTRACE_BUILD/bench/bench_ioctl" drm 101 0) &
load=$!
[ "$1" = shell ] && followed=$$ || followed=$load
"$GRTRACE" record -e ioctl -p $followed -o run.grt &
recorder=$!
wait $load
# the recording of a program ends with that
[ "$1" != shell ] || kill -INT $recorder
wait $recorder
END
export GRTRACE GRTRACE_BUILD
if unshare --fork --pid --mount-proc true 2>/dev/null; then
	output=$(unshare --fork --pid --mount-proc sh ./inside program 2>&1)
	check "-p in a namespace of pids: that process" test "$(count ioctl_enter)" = 505
	output=$(unshare --fork --pid --mount-proc sh ./inside shell 2>&1)
	check "-p in a namespace of pids: another one" test "$(count ioctl_enter)" = 0
else
	skip 2 "no namespaces of pids: they need root"
fi
run record -e ioctl --comm bench_ioctl -o run.grt -- "$GRTRACE_BUILD/bench/bench_ioctl" drm 101 0
check "--comm: a thread of this name" test "$(count ioctl_enter)" = 505
run record -e ioctl --comm bench_ioct -o run.grt -- "$GRTRACE_BUILD/bench/bench_ioctl" drm 101 0
check "--comm: not one whose name begins like it" test "$(count ioctl_enter)" = 0
run report -i run.grt
check "what a filter rejects is counted" says 'filtered +1010 '
run record -e ioctl --device /dev/null -o run.grt -- "$GRTRACE_BUILD/bench/bench_ioctl" drm 101 0
check "--device: on this device file" test "$(count ioctl_exit)" = 505
run record -e ioctl --device /dev/zero -o run.grt -- "$GRTRACE_BUILD/bench/bench_ioctl" drm 101 0
check "--device: not on another" test "$(count ioctl_exit)" = 0
run record -e ioctl --type ioctl_exit -o run.grt -- "$GRTRACE_BUILD/bench/bench_ioctl" drm 101 0
check "--type: one half of them" test "$(count ioctl_enter) $(count ioctl_exit)" = "0 505"
run record -e ioctl --type frob -o run.grt -- true
expect "--type: no such type" 2 "'frob' is not an event type"
# A GPU is all its device files: here its render node is /dev/null.
mkdir -p sys/sys/class/drm/{card0,renderD128} sys/sys/bus/0000:03:00.0
for node in card0=1:5 renderD128=1:3; do
	echo "${node#*=}" >"sys/sys/class/drm/${node%=*}/dev"
	ln -s ../../../bus/0000:03:00.0 "sys/sys/class/drm/${node%=*}/device"
done
for word in card0 renderD128 03:00.0; do
	GRTRACE_SYSROOT=$PWD/sys run record -e ioctl --device "$word" -o run.grt -- "$GRTRACE_BUILD/bench/bench_ioctl" drm 101 0
	check "--device $word: calls on both files of the GPU" test "$(count ioctl_exit)" = 505
done
echo 1:7 >sys/sys/class/drm/renderD128/dev
GRTRACE_SYSROOT=$PWD/sys run record -e ioctl --device card0 -o run.grt -- "$GRTRACE_BUILD/bench/bench_ioctl" drm 101 0
check "--device card0: no calls on other files" test "$(count ioctl_exit)" = 0
run record -e ioctl --device /etc/passwd -o run.grt -- true
expect "--device: no device" 1 'it is not a character device'

run record -e ioctl --raw raw -- "$GRTRACE_BUILD/bench/bench_ioctl" drm 1009 0
expect "--raw: packets of all CPUs in one file" 0 'events, 0 lost in raw'
check "hold every ioctl" test "$("$GRTRACE" dump --type ioctl_exit raw | grep -c 'bench_ioctl')" = 5045

# In windows at random: what was entered in a window is recorded to its end, and estimates are those of the formula.
run record -e ioctl -o whole.grt -- "$GRTRACE" record -e ioctl --duty 20%,20ms -o windows.grt -- \
	python3 "$GRTRACE_SRC/tests/cli/_ioctl_duty.py" load 3
expect "--duty: a recording in windows, and one of all" 0 ' 0 lost in windows.grt'
"$GRTRACE" dump --json windows.grt >windows.json
"$GRTRACE" dump --json whole.grt >whole.json
"$GRTRACE" monitor nvidia -q --json -i windows.grt >calls.json
output=$(python3 "$GRTRACE_SRC/tests/cli/_ioctl_duty.py" windows.json whole.json calls.json 2>&1)
check "--duty: there are windows" says '^windows [1-9][0-9]+ share [0-9]+$'
check "--duty: each has its calls, and between windows there is none" says '^windows with other calls 0 calls far from a window 0$'
check "--duty: of both processes" test "$(grep -c '^process' <<<"$output")" = 2
check "--duty: nothing is wrong" test "$(grep -c wrong <<<"$output")" = 0
check "--duty: every window is accounted for" grep -q 'ioctl_windows = "recorded=[1-9][0-9]* missed=[1-9][0-9]* open=0"' windows.grt/metadata
run monitor nvidia -q -i windows.grt
check "--duty: estimates are marked" says ' ~[0-9]+ +~[0-9.]+ [mu]s '
check "--duty: with what they are" says 'random windows, .* were recorded'
run record -e ioctl,sched --duty 50%,5ms -o run.grt -- true
expect "--duty: a source beside it that does not obey" 0 '--duty has no effect on the source sched, which is recorded all the time'
run record -e power --duty 1% -o run.grt -- true
expect "--duty: sources that do not obey it" 2 'needs one of the sources cuda, drm and ioctl'

run record -e ioctl,kmod -o run.grt -- true
expect "a source that was named and does not work here is an error" 3 'cannot (load|find|open) '
run record -v -e auto -o run.grt -- true
expect "auto leaves it out; -v prints that" 0 'without kmod: '
plan
