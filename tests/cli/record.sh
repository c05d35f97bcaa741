#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record against a stand-in for the kernel module: what is written, what is put back, how it ends.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
umask 022
command -v strace >/dev/null || skip_all "no strace: tools/setup check"

sum() { # DIR: events that dump sees
	"$GRTRACE" dump "$1" 2>/dev/null | wc -l
}

fake_start 2 40 100
run record -e kmod sleep 0.5
expect "a recording of a program" 0 '^grtrace record: [0-9.]+ MB, 8000 events, 6 lost in grtrace.out.grt$'
check "it ends with what to type next" test "$(tail -n 1 <<<"$output")" = '  next: grtrace report'
check "losses come with advice" says 'larger --buffer'
check "only the owner can enter the directory" test "$(stat -c %a grtrace.out.grt)" = 700
check "only the owner can read the files" test "$(stat -c %a grtrace.out.grt/* | sort -u)" = 600
check "dump sees as many events" test "$(sum grtrace.out.grt)" = 8000
check "the recording is complete" grep -q 'state = "complete"' grtrace.out.grt/metadata
check "the metadata has the command line" grep -q 'command = ".*grtrace record -e kmod sleep 0.5"' grtrace.out.grt/metadata
check "the metadata has the clocks of start and end" test "$(grep -c 'clock_.* = "monotonic=[0-9]* realtime=[0-9]* boottime=[0-9]* monotonic_raw=[0-9]*"' grtrace.out.grt/metadata)" = 2
check "the metadata has the module's counts" grep -q 'kmod_balance = "emitted=8006 delivered=8000' grtrace.out.grt/metadata
check "a module that was stopped is stopped again" settled control stopped

run record -e kmod -o a.grt sleep 0.5
check "-o sets the name" test -d a.grt
first=$(stat -c %i a.grt)
run record -e kmod -o a.grt/ sleep 0.3
check "an existing recording is renamed" test "$(stat -c %i a.grt.old)" = "$first"
second=$(stat -c %i a.grt)
run record -e kmod -o a.grt sleep 0.3
check "an older .old is replaced" test "$(stat -c %i a.grt.old)" = "$second"
check "no other directory is left" test "$(ls -d a.grt*)" = $'a.grt\na.grt.old'

mkdir precious && echo 1 >precious/thesis
run record -e kmod -o precious true
expect "a directory that is no recording is not replaced" 1 'cannot replace precious: it exists and has files that are not'
check "a directory that is not a recording is unchanged" test -f precious/thesis
touch a.grt/notes
run record -e kmod -o a.grt true
check "a recording with other files in it is not replaced" exits 1
rm a.grt/notes
touch a.grt.old/notes
run record -e kmod -o a.grt true
expect "nor an old one with other files" 1 'cannot replace a.grt.old'

# Killed at the calls by which the directory becomes a recording, and by which it is complete.
for call in fdatasync:1 renameat:1 fdatasync:2 renameat:2; do
	idle
	rm -rf killed.grt
	strace -f -qq -o /dev/null -e trace="${call%:*}" -e inject="${call%:*}:signal=KILL:when=${call#*:}" \
		"$GRTRACE" record -e kmod -o killed.grt sleep 0.1 >/dev/null 2>&1
	if [ "${call#*:}" = 2 ]; then
		run report killed.grt
		expect "killed at $call: what is there is a recording" 0 'the recorder did not finish this recording'
	else
		check "killed at $call: only the temporary metadata exist" grep -qxE '\.metadata\.new_[0-9]+_0' <<<"$(ls -A killed.grt)"
	fi
	idle
	run record -e kmod -o killed.grt sleep 0.1
	expect "killed at $call: the next recording takes its place" 0 'in killed.grt'
	check "killed at $call: the next recording removes the temporary metadata" test -z "$(compgen -G "killed.grt/.[!.]*")"
done
idle
mkdir begun.grt && echo '/* CT' >begun.grt/.metadata.new && printf '/* CT' >begun.grt/.metadata.new_12_0
run record -e kmod -o begun.grt sleep 0.1
expect "a line that is no metadata's beginning is not ours, beside one that is" 1 'cannot replace begun.grt'
printf '/* CT' >begun.grt/.metadata.new
run record -e kmod -o begun.grt sleep 0.1
expect "metadata that several began, also an older recorder, gives way" 0 'in begun.grt'
check "and is gone" test -z "$(compgen -G "begun.grt/.[!.]*")"
for name in .metadata.new .metadata.new_7_0 .metadata.new_x .metadata.new_7 .metadata.new_7_0_1; do
	mkdir half.grt && echo mine >"half.grt/$name"
	run record -e kmod -o half.grt true
	expect "a file $name that is not ours stays" 1 'cannot replace half.grt'
	check "the directory is unchanged: $name" test "$(cat half.grt/* half.grt/.m* 2>/dev/null)" = mine
	rm -r half.grt
done
"$GRTRACE" stop >/dev/null
rm a.grt.old/notes
ln -s precious link.grt
run record -e kmod -o link.grt true
check "the directory to which a link leads is not replaced" exits 1
echo text >file.grt
run record -e kmod -o file.grt true
check "a file is not replaced" exits 1
mkdir empty.grt
run record -e kmod -o empty.grt sleep 0.3
expect "an empty directory is used" 0 'in empty.grt'
run record -e kmod -o "it's ä \$run.grt" sleep 0.3
check "the next command is quoted for the shell" test "$(eval "printf '%s|' $(sed -n 's/^  next: grtrace//p' <<<"$output")")" = \
	"report|-i|it's ä \$run.grt|"
run record -e kmod -o no/such/dir true
expect "a directory that cannot be made" 1 'cannot make the directory no/such/dir: No such file'
check "the module's tracing is stopped again" settled control stopped

run record -e kmod -o s.grt sh -c 'sleep 0.2; exit 7'
check "the program's status is returned" exits 7
run record -e kmod -o s.grt sh -c 'sleep 0.2; kill -9 $$'
check "the exit status is 128 + the number of the signal" exits 137
check "and the signal is named" says '^grtrace record: sh was ended by signal 9 \(Killed\)$'
run record -e kmod -o n.grt no-such-program-here
expect "a program that is not there" 127 'cannot run no-such-program-here: No such file'
check "no recording is left if the program does not exist" test ! -e n.grt
echo 'no program' >noexec
run record -e kmod -o n.grt ./noexec
expect "a file that is no program" 126 'cannot run ./noexec: Permission denied'
check "and what to type" says '^  try: chmod [+]x'
mkdir -p folder
run record -e kmod -o n.grt ./folder
expect "a directory" 126 'cannot run ./folder: Is a directory'
check "no recording is left of that" test ! -e n.grt
printf '#!/no/such/interpreter\n' >badexec && chmod +x badexec
run record -e kmod -o n.grt ./badexec
expect "a program whose interpreter is missing" 127 'cannot run ./badexec: No such file'
check "and where its name is" says '^  try: head -n 1 of this file'
check "tracing stops after the program" settled control stopped
idle
output=$("$GRTRACE" record -e kmod -o s.grt -- sh -c 'sleep 0.2; echo -o "$1"' x '-d' 2>/dev/null)
check "the program gets its arguments and writes its output" test "$output" = '-o -d'

run record -e kmod -o d.grt -d 0.3
expect "-d ends it" 0 'events, 6 lost in d.grt'
begun=$(date +%s%N)
run record -e kmod -o d.grt -d 0.2 sleep 1
check "-d does not end the program" test $(($(date +%s%N) - begun)) -ge 1000000000
check "a message says that record waits for the program" says 'waiting for the program to end'

for signal in INT TERM HUP; do
	idle
	rm -rf sig.grt
	"$GRTRACE" record -e kmod -o sig.grt 2>err &
	pid=$!
	check "before SIG$signal the metadata has the begin of the window, although nothing happens" window_begun sig.grt
	kill -$signal $pid
	wait $pid
	status=$?
	output=$(cat err)
	expect "SIG$signal ends it with status 0" 0 'events, 6 lost in sig.grt'
	check "SIG$signal: the recording is complete" grep -q 'state = "complete"' sig.grt/metadata
done

# Waits until a program has made a file.
made() { # FILE
	await "[ -s '$1' ]"
}

idle
rm -rf sig.grt
"$GRTRACE" record -e kmod -o sig.grt sh -c 'trap "exit 5" TERM; echo >trap5; while :; do sleep 0.05; done' 2>err &
pid=$!
window_begun sig.grt
made trap5
kill -TERM $pid
wait $pid
status=$?
check "a signal sent to record reaches the program" exits 5

idle
rm -rf sig.grt
"$GRTRACE" record -e kmod -o sig.grt sh -c 'trap "" TERM; echo >trap6; sleep 6' 2>err &
pid=$!
window_begun sig.grt
made trap6
kill -TERM $pid
begun=$SECONDS
wait $pid
status=$?
output=$(cat err)
expect "a program that does not end is left running" 143 'sh \(process [0-9]+\) is left running: it did not end'
check "a program that a signal reached has time to end" test $((SECONDS - begun)) -ge 3
check "the recording is complete" grep -q 'state = "complete"' sig.grt/metadata
# One that waits for the program takes twice GRACE_NS each time; one that does not may on a busy machine.
for ((try = 1; try <= 10; try++)); do
	idle
	rm -rf stays asked sig.grt
	"$GRTRACE" record -e kmod -o sig.grt sh -c 'trap "echo >asked" TERM; echo $$ >stays; while :; do sleep 0.05; done' 2>err &
	pid=$!
	window_begun sig.grt
	made stays
	begun=$(date +%s%N)
	kill -TERM $pid
	made asked
	# two signals within a moment are one wish, as of timeout(1)
	sleep 0.4
	kill -TERM $pid
	wait $pid
	status=$?
	ms=$((($(date +%s%N) - begun) / 1000000))
	kill -KILL "$(cat stays)"
	[ $status = 143 ] && [ $ms -ge 4000 ] || break
done
check "a second signal ends record at once" test $status = 143 -a $ms -lt 4000
idle
"$GRTRACE" stop >/dev/null
settled control stopped

if command -v script >/dev/null; then
	idle
	output=$(script -qec "$GRTRACE record -o tty.grt -d 1.6" /dev/null 2>&1 | tr '\r' '\n')
	check "a terminal shows the progress" says '^[0-9.]+ MB, [0-9]+ events, [0-9]+ lost, 1 s'
fi

idle
"$GRTRACE" record -e kmod -o kill.grt 2>err &
pid=$!
await '[ "$(cat kill.grt/kmod_* 2>/dev/null | wc -c)" -ge 20000 ]'
kill -KILL $pid
wait $pid 2>/dev/null
check "a killed recorder leaves the state recording" grep -q 'state = "recording"' kill.grt/metadata
run dump kill.grt
check "the recording of a killed recorder is readable" test "$(sum kill.grt)" -gt 100
idle
"$GRTRACE" stop >/dev/null
settled control stopped

sleep 60 &
target=$!
begun=$SECONDS
(window_begun p.grt; kill $target) &
run record -e kmod -o p.grt -p $target
wait $target 2>/dev/null
expect "-p ends with the process" 0 'in p.grt'
check "-p: record ends with the process" test $((SECONDS - begun)) -lt 60
check "-p: the module's filter was set during the recording" grep -q "kmod_settings = \".*filter_pid=$target" p.grt/metadata
check "-p: the module's filter is restored" settled config '^filter_pid=0$'
run record -e kmod -p 999999999
expect "-p of a process that is not there" 1 'cannot follow process 999999999: No such process'

run record -e kmod -o b.grt --buffer 8M sleep 0.3
check "--buffer was set during the recording" grep -q 'kmod_buffer_size = "8388608"' b.grt/metadata
check "--buffer: the size is restored" settled config '^buffer_size=4194304$'

idle
"$GRTRACE" start >/dev/null
settled control running
run record -e kmod --buffer 8M true
expect "--buffer of a running module is refused" 3 'cannot change the buffer size: tracing is on already'
run record -e kmod -o r.grt sleep 0.3
check "tracing that was on stays on" settled control running
check "the recording is complete" grep -q 'state = "complete"' r.grt/metadata
idle
"$GRTRACE" stop >/dev/null
settled control stopped

idle
(ulimit -f 64; exec "$GRTRACE" record -e kmod -o full.grt sleep 0.4) >err 2>&1
status=$?
output=$(cat err)
expect "a full disk is an error" 1 'cannot write full.grt/kmod_[01]: File too large'
check "a full disk: the message says what to do" says 'ulimit -f'
check "a full disk: the files end with a complete packet" test "$(stat -c %s full.grt/kmod_0)" -le 65536
run dump full.grt
check "a full disk: the files are readable" test "$(sum full.grt)" -gt 100
check "a full disk: tracing is stopped" settled control stopped

idle
(ulimit -f 64; exec "$GRTRACE" record -e kmod -o full.grt sh -c 'sleep 0.5
	for i in $(seq 100); do ! grep -q stopped fake/control || break; sleep 0.05; done
	cat fake/control >seen') >err 2>&1
status=$?
output=$(cat err)
expect "a full disk while a program runs" 1 'recording has ended, waiting for the program to end'
check "a full disk: tracing stops while the program still runs" grep -qx stopped seen

run record -e kmod --raw raw.bin sleep 0.1
expect "--raw needs trace_pipe" 3 'trace_pipe: the module has no such file'
cat a.grt/kmod_0 a.grt/kmod_1 >fake/trace_pipe
run record -e kmod --raw raw.bin
expect "--raw ends where the stream does" 0 'events, .* lost in raw.bin$'
check "--raw: the packets are unchanged" cmp raw.bin fake/trace_pipe
check "--raw: only the owner can read the file" test "$(stat -c %a raw.bin)" = 600
run record -e kmod --raw raw.bin
check "--raw: an existing file is renamed" cmp raw.bin.old fake/trace_pipe
idle
"$GRTRACE" record -e kmod --raw - 2>err | cmp - fake/trace_pipe
check "--raw - writes to standard output" test "${PIPESTATUS[*]}" = '0 0'
echo text >raw.txt
run record -e kmod --raw raw.txt
expect "a file that is no recording is not replaced" 1 'cannot replace raw.txt'
ln -s raw.txt link.bin
run record -e kmod --raw link.bin
expect "nor one that a link leads to" 1 'cannot replace link.bin: it is a link to a file that is not empty'
check "--raw: the file has the text" grep -qx text raw.txt
ln -s linked.bin new.bin
run record -e kmod --raw new.bin
expect "a link to a file that is not there makes it" 0 'in new.bin$'
echo notes >raw.bin.old
run record -e kmod --raw raw.bin
expect "nor one of an older recording's name" 1 'cannot replace raw.bin.old'
check "--raw: another file is unchanged" grep -qx notes raw.bin.old
idle
"$GRTRACE" record -e kmod --raw - 2>err >/dev/full
status=$?
output=$(cat err)
expect "--raw on a full disk" 1 'cannot write standard output: No space left'
fake_stop

mkdir bare
GRTRACE_DEBUGFS=$PWD/bare run record -e kmod true
expect "a directory without the module's files" 3 'bare/version: the module has no such file'
GRTRACE_DEBUGFS=$PWD/none run record -e kmod true
expect "no module" 3 'the kernel module grtrace is not loaded'
check "no module: the message says what to type" says 'try: sudo grtrace start'
echo 'grtrace 9.0.0 format 7' >bare/version
GRTRACE_DEBUGFS=$PWD/bare run record -e kmod true
expect "a module of another format is refused" 3 'format 7, this tool reads [0-9]+\.\.[0-9]+'

# A recording that is being written stays where it is.
"$GRTRACE" record -e cuda -o x.grt sleep 60 2>err &
pid=$!
await 'grep -qs "state = .recording." x.grt/metadata'
run record -e cuda -o x.grt true
expect "a recording that is being made is not replaced" 1 'cannot replace x.grt: another grtrace has it open'
check "with what to type" says 'try: another name with -o'
check "the recording is not renamed" test -f x.grt/metadata -a ! -e x.grt.old
mv x.grt x.grt.old
run record -e cuda -o x.grt true
expect "beside it another one is made" 0 'in x.grt$'
run record -e cuda -o x.grt true
expect "but not in its place" 1 'cannot replace x.grt.old: another grtrace has it open'
check "it has its files" test -f x.grt.old/metadata -a -f x.grt.old/cuda_0
kill -TERM $pid
wait $pid
run record -e cuda -o x.grt true
expect "once it has ended it is" 0 'in x.grt$'
check "as an older one" grep -q 'record -e cuda -o x.grt true' x.grt.old/metadata

# Numbers of CPUs have gaps where some are offline. The last stand-in is stopped at the end of what follows.
export FAKE_GAP=1
fake_start 2 40 100
run record -e kmod -o gap.grt sleep 0.5
expect "CPUs 0 and 2: the events of both" 0 ' 8000 events, 6 lost in gap.grt$'
check "and as many by their number" test "$("$GRTRACE" dump gap.grt | grep -oE '\[00[0-9]\]' | sort | uniq -c | tr -d ' ' | paste -s)" = $'4000[000]\t4000[002]'
run record -e kmod --raw gap.raw sleep 0.5
check "--raw without a stream of all CPUs fails" exits 3
# Where no recording is, the module is read.
mkdir live
run_live() { # COMMAND: until it has read all events
	local reader
	idle
	"$GRTRACE" start >/dev/null
	settled control running
	# the shell would let what it starts beside itself ignore the signal
	(cd live && exec env --default-signal=INT "$@" >../live.out 2>&1 </dev/null) &
	reader=$!
	await '[ -e fake/all_read ]'
	kill -INT $reader
	wait $reader
	status=$?
	output=$(<live.out)
	idle
	"$GRTRACE" stop >/dev/null
	settled control stopped
}
run_live "$GRTRACE" report
expect "live, too" 0 '^  read +8000 '

# What the module has counted and nobody was given, as with a stream that is not there.
export FAKE_UNREAD=117
fake_start 2 40 100
run record -e kmod -o unread.grt sleep 0.5
expect "events that were not read are an error" 1 '117 events that the kernel module delivered are not in the recording: 117 of CPU 16$'
check "the remaining events are in the recording" says ' 8000 events, 6 lost in unread.grt$'
run report -i unread.grt
expect "they are a line of the balance" 1 '^  missing +117 '
check "the report says that not every event is accounted for" says '^  accounted +no'
check "a message has the number of missing events" says 'unread.grt: 117 events were delivered and are not here: its source counted more'
run doctor -i unread.grt
expect "doctor says it" 0 'unread.grt: 117 events were delivered and are not here'
for command in report dump 'monitor drm -e kmod'; do
	# shellcheck disable=SC2086
	run_live "$GRTRACE" $command
	expect "live they are an error of ${command%% *}" 1 '^grtrace [a-z]+: .*: [0-9]+ events were delivered and are not here'
done
unset FAKE_GAP FAKE_UNREAD
fake_stop

# A signal during set-up: to all as by Ctrl-C, or to the process that is to become the program.
interrupt() { # SYSCALL
	rm -f started
	output=$("$GRTRACE_BUILD/tests/cli/interrupt_at" "$1" "$GRTRACE" record -e cuda -o i.grt touch started 2>&1)
	status=$?
}

interrupt flock
expect "interrupted during set-up" 130 'touch was not started: Interrupt'
check "an interrupt before the start: the program does not run" test ! -e started
check "an interrupt before the start: the recording is complete" grep -q 'state = "complete"' i.grt/metadata
interrupt pidfd_open
check "the program is interrupted before it runs" exits 130
check "an interrupt before exec: the program does not run" test ! -e started
check "an interrupt before exec: the recording is complete" grep -q 'state = "complete"' i.grt/metadata
plan
