#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What tests/vm/record.sh runs in the guest: the commands against the loaded module. Recordings go to /out.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
cd /out || exit 1
debugfs=/sys/kernel/debug/grtrace

render() { # SECONDS
	glmark2-es2-drm --off-screen -b "build:duration=$1" >/dev/null 2>&1
}

emit() { # COUNT
	local i
	for ((i = 0; i < $1; i++)); do echo "submit ring=0 ctx=77 seqno=$i engine=graphics" >$debugfs/emit; done
}

value() { # KEY: of `stats`
	sed -n "s/^$1 //p" $debugfs/stats
}

run status
expect "before the module is loaded" 3 'the kernel module grtrace is not loaded'
run start
expect "start loads the module" 0 '^loaded grtrace \('
check "and the adapter of the driver" says '^loaded grtrace_virtio_gpu'
check "and starts" says '^tracing is on$'
run status
expect "status shows the adapter's driver" 0 '^adapters +virtio_gpu: bound to driver virtio_gpu'
run stop
expect "stop" 0 '^tracing is off$'
run status --json
expect "status --json" 0 '"state":"stopped".*"balance_closes":true'

run record -o run.grt -- glmark2-es2-drm --off-screen -b build:duration=2
expect "record a program that renders" 0 'grtrace record: .* [1-9][0-9]+ events, 0 lost in run.grt'
run dump -n 100000 run.grt
for event in SUBMIT END COMPLETE; do
	check "it has $event" says "\b$event\b"
done
check "with the program's name" says glmark2
check "the module is stopped after it" grep -q stopped $debugfs/control
run report -i run.grt
expect "the report's balance closes" 0 'every event is accounted for'

# Settings: every key takes its default and refuses nonsense.
while IFS='=' read -r key value; do
	case $key in *count) continue ;; esac
	run config "$key=$value"
	check "config $key=$value" exits 0
	[ "$key" != watchlist ] || continue
	run config "$key=nonsense"
	expect "config $key=nonsense is refused" 1 "cannot set $key to 'nonsense': it takes"
	check "and has changed nothing" grep -qx "$key=$value" $debugfs/config
done < <(cat $debugfs/config)
for bad in sample=101 buffer_size=1 level=4 filter_ring_id=-2 flush_ms=60001; do
	run config $bad
	expect "config $bad is out of range" 1 'cannot set'
done
for alias in sampling sampling_rate; do
	run config $alias=50
	run config sample
	expect "config $alias=50 sets sample" 0 '^50$'
	run config sample=100
done
"$GRTRACE" start >/dev/null
run config buffer_size=8388608
expect "buffer_size of a running module" 3 'cannot change while tracing is on'
run record --buffer 8M true
expect "record --buffer of a running module" 3 'tracing is on already'
run record -o running.grt sh -c 'sleep 0.3'
check "record leaves a running module running" grep -q running $debugfs/control
"$GRTRACE" stop >/dev/null

run record -o buffer.grt --buffer 8M sh -c 'cat /sys/kernel/debug/grtrace/buffer_size'
expect "record --buffer sets it" 0 '^8388608$'
check "and puts it back" test "$(cat $debugfs/buffer_size)" = 4194304

# By sudo nothing of root's is left but open files; what only root may write is put back through them.
SUDO_UID=1000 SUDO_GID=1000 "$GRTRACE" record -e kmod --rate 1000000 --buffer 8M -o /tmp/sudo.grt 2>sudo.err &
recorder=$!
await 'grep -q "^NoNewPrivs:.1" /proc/$recorder/status'
output=$(cat /proc/$recorder/status)
check "record becomes who called sudo" says $'^Uid:\t1000\t1000\t1000\t1000$'
check "and has no capability" says $'^CapEff:\t0000000000000000$'
check "the settings are in force" test "$(cat $debugfs/buffer_size) $(cat $debugfs/max_events_per_sec)" = "8388608 1000000"
emit 101
kill -INT $recorder
wait $recorder
status=$?
output=$(cat sudo.err)
expect "it ends well" 0 'events, 0 lost in /tmp/sudo.grt'
check "with every event" test "$("$GRTRACE" dump /tmp/sudo.grt | grep -c 'ctx=77 ')" = 101
check "the recording is the user's" test "$(stat -c '%u %a' /tmp/sudo.grt/* | sort -u)" = "1000 600"
check "it has the module's balance" grep -q 'kmod_balance = "emitted=[1-9]' /tmp/sudo.grt/metadata
check "the settings are put back" test "$(cat $debugfs/buffer_size) $(cat $debugfs/max_events_per_sec)" = "4194304 0"
check "and the module is stopped" grep -q stopped $debugfs/control

"$GRTRACE" record -e kmod -o first.grt 2>first.err &
first=$!
window_begun first.grt
run record -e kmod -o second.grt true
expect "a second reader is refused, with the pid of the first" 3 "process $first \(grtrace\) reads it"
emit 101
kill -INT $first
wait $first
output=$(cat first.err)
check "the first has the events of its time" says '101 events, 0 lost|[0-9]{3,} events, 0 lost'
"$GRTRACE" dump first.grt >first.txt
check "every one of them" test "$(grep -c 'ctx=77 ' first.txt)" = 101

sleep 600 &
target=$!
"$GRTRACE" record -e kmod -o pid.grt -p $target 2>/dev/null &
recorder=$!
window_begun pid.grt
emit 10
kill $target
wait $recorder
status=$?
check "record -p ends with the process" exits 0
check "and has none of another's events" test "$("$GRTRACE" dump pid.grt | grep -c ctx=77)" = 0
check "the filter is put back" grep -qx filter_pid=0 $debugfs/config

"$GRTRACE" record -e kmod -o kill.grt 2>/dev/null &
recorder=$!
window_begun kill.grt
render 1
sleep 0.5
kill -KILL $recorder
wait $recorder 2>/dev/null
check "after SIGKILL nobody reads" test "$(value reader_pid)" = 0
check "and tracing that it had started is off" grep -qx stopped $debugfs/control
run record -e kmod -o after.grt sh -c 'sleep 0.2'
expect "and the next recording works" 0 'in after.grt'
check "which leaves it off" grep -qx stopped $debugfs/control
"$GRTRACE" start >/dev/null
"$GRTRACE" record -e kmod -o kill2.grt 2>/dev/null &
recorder=$!
window_begun kill2.grt
kill -KILL $recorder
wait $recorder 2>/dev/null
check "tracing that the user started stays on" grep -qx running $debugfs/control
"$GRTRACE" stop >/dev/null

echo clear >$debugfs/control
echo start >$debugfs/control
emit 53
echo stop >$debugfs/control
for file in "$debugfs"/events[0-9]; do cat "$file" >>"$(basename "$file").bin"; done
total=0
for file in events[0-9].bin; do
	total=$((total + $("$GRTRACE" dump "$file" | grep -c ctx=77)))
done
check "cat events0..N has every event" test $total = 53

echo clear >$debugfs/control
"$GRTRACE" record --raw - 2>/dev/null >raw.bin &
recorder=$!
await 'grep -q running $debugfs/control'
emit 31
kill -INT $recorder
wait $recorder
check "record --raw has every event" test "$("$GRTRACE" dump raw.bin | grep -c ctx=77)" = 31

# The module, BPF and ftrace end at one moment: tests/vm/record.sh holds them against what the program noted.
modprobe amdgpu && [ -c /dev/kfd ]
window=/mnt/build/tests/cli/window
"$window" stamps $debugfs/emit /dev/kfd &
program=$!
sleep 1
run record -e "kmod,ioctl,uprobe:$window:window_round,ftrace" -d 2 -o window.grt
expect "record -e kmod,ioctl,uprobe,ftrace" 0 ' 0 lost in window.grt'
sleep 0.5
kill $program
wait $program
check "the program came to its end" test $? = 0

# The smallest buffer, and nobody may read while it fills: what is lost is counted, to the event.
run config buffer_size=65536
echo clear >$debugfs/control
echo start >$debugfs/control
emit 3000
run status --json
expect "a full buffer loses events, and the balance still closes" 0 '"lost":[1-9][0-9]*.*"balance_closes":true'
"$GRTRACE" stop >/dev/null

check "no complaint of the kernel" test -z "$(dmesg | grep -E 'BUG|WARNING|Oops|Call Trace')"
plan
