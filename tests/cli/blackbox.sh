#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The black box: the last while in memory, a recording at an incident. A stand-in for the module gives packets;
# what jobs do to it is tested in a guest (tests/vm/softgpu.sh).
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

snapshots() {
	compgen -G 'box.grt/snapshot_*' | wc -l
}

# Waits for a recorder's box.
begun() {
	local i
	await '[ -f box.grt/metadata ] && [ "$(cat /proc/$box/comm 2>/dev/null)" = grtrace-box ]'
}

fake_start 2 400 500
"$GRTRACE" record -e kmod --last 0.5 --last-size 8M --after 0.2 --pause 1 -o box.grt >box.out 2>&1 </dev/null &
box=$!
begun
sleep 1.2
check "no snapshot is on disk before a request" test "$(snapshots)" = 0
check "the directory has only the metadata" test "$(ls -A box.grt)" = metadata
output=$("$GRTRACE" snapshot box.grt 2>&1)
status=$?
expect "snapshot DIR prints the recording" 0 '^box.grt/snapshot_000001$'
run report box.grt/snapshot_000001
expect "which is whole" 0 'every event is accounted for'
check "the snapshot is complete" grep -q 'state = "complete"' box.grt/snapshot_000001/metadata
check "the oldest packets were dropped, and counted" grep -qE 'dropped_oldest = "packets=[1-9][0-9]* events=[1-9]' box.grt/snapshot_000001/metadata
check "all events of the snapshot are inside its window" test "$("$GRTRACE" dump --json box.grt/snapshot_000001 2>/dev/null |
	python3 -c 'import json, sys; print(min(json.loads(l)["time"] for l in sys.stdin))')" -ge \
	"$(sed -nE 's/.*kmod_window = "from=([0-9]+).*/\1/p' box.grt/snapshot_000001/metadata)"
incident=$(sed -nE 's/.*incident_of = "time=([0-9]+) .*/\1/p' box.grt/snapshot_000001/metadata)
check "the window begins no more than --last before the incident" test "$(sed -nE 's/.*kmod_window = "from=([0-9]+).*/\1/p' \
	box.grt/snapshot_000001/metadata)" -ge $((incident - 500000000))
if command -v babeltrace2 >/dev/null; then
	check "babeltrace2 reads it" test "$(babeltrace2 box.grt/snapshot_000001 2>/dev/null | wc -l)" = \
		"$("$GRTRACE" dump box.grt/snapshot_000001 2>/dev/null | wc -l)"
fi
run report --incident box.grt/snapshot_000001
expect "report --incident says why" 0 '^incident: signal$'
run report box.grt
expect "the box is no recording" 1 'a black box has a recording for each incident'
sleep 1
output=$("$GRTRACE" snapshot $box 2>&1)
status=$?
expect "snapshot PID asks" 0 "^requested a snapshot from process $box$"
kill -USR1 $box
await '[ "$(snapshots)" = 2 ]'
# a busy machine may let this pause pass before the request
for _ in {1..20}; do
	taken=$(snapshots)
	kill -USR1 $box
	sleep 0.4
	[ "$(snapshots)" != "$taken" ] || break
done
check "during the pause no further snapshot is written" test "$(snapshots)" = "$taken"
check "between two snapshots there is the pause" awk -F'time=' '/incident_of = / { at[++n] = $2 + 0 }
	END { for (i = 2; i <= n; i++) if (at[i] - at[i - 1] < 1e9) exit 1; exit n < 2 }' box.grt/snapshot_*/metadata
kill -INT $box
wait $box
output=$(<box.out)
status=0
expect "at the end it says what it has seen" 0 "^grtrace record: $taken snapshots in box.grt; [1-9][0-9]* more incidents? within a pause ha(s|ve) none"
run snapshot box.grt
expect "the recorder has ended" 1 'no recorder with a black box writes to it'
run snapshot $$
expect "other processes are not signalled" 1 'it is not a recorder with a black box'

fake_start 2 40 100
run record -e kmod --last 1 -o box.grt sleep 0.3
expect "the next one goes on in the same directory" 0 '^grtrace record: 0 snapshots in box.grt'
check "with what was there" test "$(snapshots)" = "$taken"
run record -e kmod -o box.grt sleep 0.1
expect "which no recording replaces" 1 'cannot replace box.grt'
run record -e kmod --last 5 --on exit-by-signal -o box.grt sh -c 'sleep 0.3; kill -SEGV $$'
expect "a program that a signal ends" 139 '^grtrace record: exit-by-signal: the program was ended by signal 11'
next=box.grt/snapshot_00000$((taken + 1))
check "the next snapshot gets the next number" test -d $next
run report $next
check "every event of the snapshot is accounted for" says 'every event is accounted for'
run record -e kmod --last 5 --on exit-by-signal -o box.grt sh -c 'exit 3'
expect "one that ends by itself is no incident" 3 '^grtrace record: 0 snapshots'

# The default name: the last recording gives way to the next one. Each part has a stand-in of its own, since a recording ends
# with the stand-in cleared.
fake_start 2 400 500
"$GRTRACE" record -e kmod -d 0.1 -o was.grt >/dev/null 2>&1 </dev/null
"$GRTRACE" record -e kmod -d 0.1 --last 1 -o was.grt >was.out 2>&1 </dev/null
output=$(<was.out)
check "a black box takes the name of a recording" says '^grtrace record: 0 snapshots in was.grt: there was no incident'
check "which is kept" test -f was.grt.old/kmod_0
mkdir was.grt/snapshot_000001
run record -e kmod -d 0.1 -o was.grt
expect "but snapshots do not give way to a recording" 1 'cannot replace was.grt: it has snapshots of a black box'

fake_start 2 40 100
# The threads of the program that is recorded, as the kernel has them: one sleeps, the other waits for a child.
"$GRTRACE" record -e kmod --last 5 --after 0.1 -o threads.grt sh -c 'sleep 60; true' >threads.out 2>&1 </dev/null &
box=$!
await '[ -f threads.grt/metadata ] && [ "$(cat /proc/$box/comm 2>/dev/null)" = grtrace-box ]'
sleep 0.5
helper=$(pgrep -P $box -x grtrace-threads)
check "a helper process of the recorder reads stacks" test -n "$helper"
check "the helper process has at most three capabilities" test $((16#$(awk '$1 == "CapEff:" { print $2 }' "/proc/$helper/status") & ~(1 << 21 | 1 << 19 | 1 << 2))) = 0
"$GRTRACE" snapshot threads.grt >/dev/null 2>&1
run report --incident threads.grt/snapshot_000001
expect "an incident has the threads of the program" 0 '^  [0-9]+ sh: S \(sleeping\), system call [0-9]+, in [a-z_]*wait'
if [ "$(id -u)" = 0 ] && grep -q . /proc/self/stack 2>/dev/null; then
	check "the stacks of threads include their frames in the kernel" says '^      [a-z_]*wait[a-z0-9_]*\+0x'
fi
check "only the owner can read the file of stacks" test "$(stat -c %a threads.grt/snapshot_000001.threads)" = 600
shell=$(pgrep -P $box -x sh)
kill -KILL $box
await '! kill -0 "$helper" 2>/dev/null'
check "the helper process ends with the recorder, even if that is killed" test ! -d "/proc/$helper"
wait $box 2>/dev/null
pkill -KILL -P "$shell"

# Where it hangs in its own code: by unwind tables, and with frame pointers alone, which the kernel has. As gdb says.
cat >hang.c <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static __attribute__((noinline)) void wait_for_lock(int deep)
	{
		if (deep)
			wait_for_lock(deep - 1);
		else
			pthread_mutex_lock(&lock);
		__asm__ volatile("");
	}
	static void *second(void *arg) { wait_for_lock(3); return arg; }
	static __attribute__((noinline)) int read_pipe(void) { int p[2]; char c; return pipe(p) ? 0 : read(p[0], &c, 1); }
	int main(void)
	{
		pthread_t thread;
		pthread_mutex_lock(&lock);
		pthread_create(&thread, 0, second, 0);
		return read_pipe() + 1;
	}
END
# The functions of the program that a thread is in, the innermost first; the last line is cut off: the kernel's are before.
chain() { # FILE NAME OF INNERMOST
	awk -v in_it="$2" '/^[0-9]/ { if (chain ~ " " in_it " ") print chain; chain = " " }
		/\(hang\)$/ && $2 !~ /^_/ { sub(/\+0x.*/, "", $2); chain = chain $2 " " }
		END { if (chain ~ " " in_it " ") print chain }' "$1"
}
for how in "-O2 -fomit-frame-pointer" "-O0"; do
	# shellcheck disable=SC2086 # words
	cc $how -o hang hang.c -lpthread
	rm -rf hung.grt
	# no other recorder may end what this one records
	fake_start 2 40 100
	"$GRTRACE" record -e kmod --last 5 --after 0.1 --pause 0.1 -o hung.grt ./hang >hung.out 2>&1 </dev/null &
	hung=$!
	await '[ -f hung.grt/metadata ] && [ "$(cat /proc/$hung/comm 2>/dev/null)" = grtrace-box ] && [ "$(compgen -G "/proc/$(pgrep -P $hung -x hang)/task/*" | wc -l)" = 2 ]'
	sleep 0.5
	# on a busy machine who reads stacks may not be ready, or late
	for ((i = 0; i < 30; i++)); do
		"$GRTRACE" snapshot hung.grt >/dev/null 2>&1
		threads=$(compgen -G 'hung.grt/snapshot_*.threads' | tail -n 1)
		[ "$(grep -sc 'in user space' "$threads")" != 2 ] || break
		sleep 0.2
	done
	output=$(cat "$threads")
	if [ "$how" != -O0 ] || { [ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ]; }; then
		check "$how: the stack of its first thread" test "$(chain "$threads" read_pipe)" = " read_pipe main "
		check "$how: the stack of its second thread" test "$(chain "$threads" wait_for_lock)" = \
			" wait_for_lock wait_for_lock wait_for_lock wait_for_lock second "
		check "$how: all stacks are complete" test -z "$(grep 'not known' "$threads")"
	fi
	if command -v gdb >/dev/null; then
		gdb -q -batch -p "$(pgrep -P $hung -x hang)" -ex 'thread apply all bt' 2>/dev/null >told
		check "$how: the same functions as in gdb" test "$(sed -nE 's/^#[0-9]+ .* in (wait_for_lock|second|read_pipe|main) .*/\1/p' told | tr '\n' ' ')" = \
			"wait_for_lock wait_for_lock wait_for_lock wait_for_lock second read_pipe main "
	fi
	pkill -KILL -P $hung -x hang
	kill -KILL $hung 2>/dev/null
	wait $hung 2>/dev/null
done

# Killed while it writes a snapshot.
fake_start 2 400 500
"$GRTRACE" record -e kmod --last 5 --after 5 -o killed.grt >/dev/null 2>&1 </dev/null &
box=$!
for ((i = 0; i < 500; i++)); do
	[ -f killed.grt/snapshot_000001/metadata ] && break
	[ "$(cat /proc/$box/comm 2>/dev/null)" != grtrace-box ] || kill -USR1 $box
	sleep 0.05
done
kill -9 $box
wait $box 2>/dev/null
# which may have been in the middle of a packet: that is said, until it is cut off
"$GRTRACE" mend killed.grt/snapshot_000001 >/dev/null 2>&1
run report killed.grt/snapshot_000001
expect "killed: the snapshot is readable" 0 'the recorder did not finish this recording'
fake_stop
unset GRTRACE_DEBUGFS

run record --last 1 --on 'job>' true
expect "a limit is missing" 2 "^grtrace record: --on job>: not an incident; there are job>TIME, fence-error, "
for word in 'xid>3' 'job>3x' 'frame>0.5x' 'nonsense' 'job>0'; do
	run record --last 1 --on "$word" true
	expect "--on $word" 2 'not an incident'
done
run record --ring 60s true
expect "--ring is about something else" 2 'use --last=60s to keep the last seconds'
run record --last 60z true
expect "a time without a unit that there is" 2 'or with us, ms, s, min, h or d'
run record -e ioctl --last 1 --on xid true
expect "an incident that no source shows" 2 '^grtrace record: --on xid: no source of -e ioctl shows it; these do: nvidia$'
run record -e nosuch --last 1 --on xid true
expect "an unknown source is named before that" 2 'nosuch: not a list of sources'
run record --on xid true
expect "--on alone" 2 'need --last'
run record --last 1 --max-size 8M true
expect "--last with --max-size" 2 'does not work with'
run record --last 1 --last-size 1K true
expect "too little memory" 2 '--last-size: at least 1M'

plan
