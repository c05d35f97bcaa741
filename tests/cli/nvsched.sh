#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Channel groups of NVIDIA's driver without it: a program asks /dev/null for them, real BPF decodes real calls.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
# shellcheck source=tests/cli/_nv_manual.sh
. "$GRTRACE_SRC/tests/cli/_nv_manual.sh"
calls=$GRTRACE_BUILD/tests/cli/nv_calls
export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0

run record -e nvsched --include-failed -o run.grt -- true
need_bpf
expect "record -e nvsched --include-failed" 0 'events, 0 lost in run.grt'

play() { # ARGS OF nv_calls: what it does, in run.grt
	run record -e nvsched --include-failed -o run.grt -- "$calls" "$@"
	exits 0 && says ' 0 lost' || not_ok "record -- nv_calls $*"
}

# The same for ends that come after the program's, or are not its own choice.
play_for() { # SECONDS ARGS...
	# shellcheck disable=SC2016 # the shell's own
	run record -e nvsched --include-failed -o run.grt -- bash -c '"${@:2}"; sleep "$1"' bash "$1" "$calls" "${@:2}"
}

count() { # TYPE [REGEX]
	"$GRTRACE" dump --type "$1" run.grt | grep -cE -- "${2:-}"
}

events() { # INITS CHANNELS SCHEDULES TOKENS SETS DESTROYS
	output="$(count tsg_init) $(count tsg_channel bound=1) $(count tsg_schedule) $(count tsg_token) \
$(count tsg_set) $(count tsg_destroy), gone $(count tsg_channel bound=0)"
	[ "$output" = "$1 $2 $3 $4 $5 $6, gone $2" ]
}

for branch in 535 550 570 580 610; do
	for how in "" -s -x "-s -x"; do
		# shellcheck disable=SC2086 # options
		play -l $branch $how -c 0xc1d00019 groups alone
		check "$branch $how: every call is an event" events 4 13 4 13 1 4
		check "$branch $how: the engine of the channel" test "$(count tsg_init \
			'tsg=0x5c000200 .*nv_engine=0xa .*flags=inferred')" = 1
	done
done

play -c 0xc1d00019 groups alone
check "a group has its client, GPU, engine and the driver's values" test "$(count tsg_init 'engine=graphics .*client=0xc1d00019 tsg=0x5c000010 bus=0xc600 grp=- runlist=- nv_engine=0x1 timeslice=1024 interleave=1 status=0xffffffe7')" = 1
check "a channel's subcontext has its handle and the driver's number" test "$(
	count tsg_channel 'tsg=0x5c000010 .*channel=0x5c000100 .*bound=1 subctx=0x5c000011 veid=63') $(
	count tsg_channel 'tsg=0x5c000010 .*bound=1 subctx=0x5c000011 veid=63') $(
	count tsg_channel 'tsg=0x5c000010 .*bound=1 subctx=0x5c000012 veid=62')" = "1 4 3"
check "a channel's subcontext, at the end of the channel" test "$(count tsg_channel 'tsg=0x5c000010 .*bound=0 subctx=0x5c00001[12] veid=6[23]')" = 7
check "a channel without a subcontext" test "$(count tsg_channel 'channel=0x5c000200 .*bound=1 subctx=0x0 veid=-')" = 1
check "a schedule of a group: its channels" test "$(count tsg_schedule 'tsg=0x5c000010 .*channels=7 channel=0x0 .*on=1')" = 1
check "a token has the numbers of channel and runlist" test "$(count tsg_token 'tsg=0x5c000014 .*runlist=13 nv_engine=0x9 channel=0x5c000111 channel_client=0xc1d00019 chid=17 token=0xd0011 ')" = 1
check "after the token, the runlist of the engine is known" test "$(count tsg_init 'tsg=0x5c000200 .*runlist=14')" = 1
check "the requested timeslice" test "$(count tsg_set 'tsg=0x5c000010 .*timeslice=2000 ')" = 1
check "a channel that was scheduled alone" test "$(count tsg_schedule 'tsg=0x5c000200 .*channels=1 channel=0x5c000200 ')" = 1
check "all groups end with the process" test "$(count tsg_destroy 'cause=4 .*flags=inferred')" = 4
run report -i run.grt
expect "the balance closes" 0 'every event is accounted for'

cause_of() { # END
	case $1 in
	free) echo 1 ;;
	client | device | space) echo 2 ;;
	close | exec) echo 3 ;;
	*) echo 4 ;;
	esac
}
for end in free client device space close exec kill; do
	play_for 0.4 -e $end groups
	check "-e $end: all groups are destroyed, with the right cause" test "$(count tsg_destroy "cause=$(cause_of $end) ")" = 3
	check "-e $end: all channels of the groups end" events 3 12 3 12 1 3
done
play_for 0.6 -e fork groups
check "-e fork: groups live as long as the child has the file open" events 3 12 3 12 1 3
lived=$("$GRTRACE" dump --type tsg_init,tsg_destroy run.grt | awk '{ t = $1 } NR == 1 { first = t } END { print int((t - first) * 10) }')
check "-e fork: groups live at least 0.4 s" test "$lived" -ge 4
play_for 0.6 -e dup groups
check "-e dup: all groups are destroyed" events 3 13 3 13 1 3
check "-e dup: a shared group is destroyed with its last handle" test "$(count tsg_destroy 'tsg=0x5c000010 .*cause=1 ')" = 1
check "-e dup: a channel of the other client with the same handle is another channel" test "$("$GRTRACE" report --by tsg -i run.grt |
	tr -s ' ' | grep -oE '[^ ]*5c000100 [0-9].*' | cut -d' ' -f2-5 | xargs)" = "77 5c000011 61 1 0 5c000011 63 1"

play -c 0xc1d00019 groups
run sched -i run.grt --include-failed -v
expect "grtrace sched: a group is born" 0 '^[0-9:]{8}\.[0-9]{6} \[CPU[0-9]{2}\] TASK_INIT    PID=[0-9]+ +nv_calls         TSG=c1d00019:5c000010 engine=GRAPHICS timeslice=1024 us interleave=MEDIUM runlist=\? gpu=0000:c6:00\.0 status=-ENOTTY$'
check "sched prints SCHEDULE" says ' SCHEDULE     PID=[0-9]+ +nv_calls         TSG=c1d00019:5c000014 channels=3 timeslice=1024 us interleave=MEDIUM allowed=no status=-ENOTTY$'
check "sched prints WORK_SUBMIT with the token" says ' WORK_SUBMIT  PID=[0-9]+ +nv_calls         TSG=c1d00019:5c000014 channel=17 handle=5c000111 token=851985 runlist=13 gpu=0000:c6:00\.0 '
check "sched prints TASK_SET with the timeslice" says ' TASK_SET     .*TSG=c1d00019:5c000010 timeslice=2000 us allowed=no'
check "sched prints CHANNEL_ADD with the subcontext" says ' CHANNEL_ADD  .*TSG=c1d00019:5c000010 channel=\? handle=5c000101 channels=2 subctx=5c000012 veid=62$'
check "sched prints TASK_DESTROY with the cause" says ' TASK_DESTROY .*TSG=c1d00019:5c000018 cause=exit$'
check "sched prints the counts" test "$(tail -n 6 <<<"$output" | xargs)" = "task_init 3 schedule 3 work_submit 12 task_destroy 3 refused 19 dropped 0"
run sched -i run.grt
check "without --include-failed: three lines with allowed=no, and no TASK_INIT" test "$(grep -c allowed=no <<<"$output") $(grep -c TASK_INIT <<<"$output")" = "3 0"
run sched -i run.grt --include-failed --json
check "--json: every line is an object" python3 -c 'import json, sys
lines = [json.loads(l) for l in sys.argv[1].splitlines()]
assert lines[-1]["statistics"]["task_destroy"] == 3 and lines[0]["tsg"] == 0x5c000010' "$output"
touch live
while [ -e live ]; do # until it is attached, and then some
	"$calls" -c 0xc1d00020 groups
	sleep 0.1
done &
run sched --include-failed -d 2
rm live
wait
expect "live" 0 'TASK_DESTROY .*TSG=c1d00020:5c000018 cause=exit'
check "a live run prints the number of dropped events" says '^dropped +0$'
run sched -p 999999999
expect "a process that is not there" 1 'cannot follow process'

play -c 0xc1d00019 groups alone
run report --by tsg -i run.grt
expect "report --by tsg: a group's life" 0 'nv_calls +c1d00019:5c000010 +GRAPHICS +0000:c6:00\.0 +0 +7 +2 .* exit +1 +7 +1024 +1 +MEDIUM$'
check "report --by tsg: the channels of each subcontext" test "$(grep -E ' c1d00019:5c000010 +5c0001' <<<"$output" |
	tr -s ' ' | cut -d' ' -f3-6 | xargs)" = "5c000100 0 5c000011 63 5c000102 2 5c000011 63 5c000104 4 5c000011 63 \
5c000106 6 5c000011 63 5c000101 1 5c000012 62 5c000103 3 5c000012 62 5c000105 5 5c000012 62"
check "report --by tsg: a channel without a subcontext" says ' c1d00019:5c000200 +5c000200 +99 +none +- +1$'
check "report --by tsg: the groups of a runlist" says '^0000:c6:00\.0 +14 +COPY1 +2 +2 +1 +[0-9]+$'
run report --by tsg --csv --sort channels --top 2 -i run.grt
check "subcontexts as CSV" grep -q 'c1d00019:5c000010,.*,7,2,63 62,' <<<"$output"
check "rows sorted by a column, as CSV" test "$(grep c1d00019 <<<"$output" | cut -d, -f3,8 | xargs)" = "c1d00019:5c000010,7 c1d00019:5c000014,3"

play -c 0xc1d00019 cuda
check "the calls of a CUDA program are as in the manual" is_as_in_the_manual
play -c 0xc1d00019 -e free cuda
check "after a reset of the device each group is freed by a call" test "$(count tsg_destroy 'cause=1 ') $(count tsg_destroy)" = "4 4"

play -c 0xc1d00019 groups old
check "a group from before the trace: its unknown values are not guessed" test "$(count tsg_schedule 'bus=- grp=- runlist=- nv_engine=- timeslice=- interleave=- .*channels=-')" = 1
run sched -i run.grt -v --include-failed
check "lines of groups from before the trace have known=partly" test "$(grep -c 'known=partly$' <<<"$output") $(grep -v 'TSG=c9' <<<"$output" | grep -c known=)" = "5 0"
check "groups from before the trace are counted" says '^partly_known +2$'
check "a subcontext from before the trace has a handle and no number" says 'CHANNEL_ADD .* subctx=5c000012 veid=\? known=partly$'
check "a channel from before the trace has the values of its token" test "$(count tsg_token 'tsg=- .*runlist=3 nv_engine=- channel=0x5c000100 channel_client=0x[0-9a-f]+ chid=5 ')" = 1
check "a group from before the trace ends with its process" test "$(count tsg_destroy 'nv_engine=- .*cause=4 ')" = 1

run report --by tsg -i run.grt
expect "report: a note counts older groups" 0 '^2 groups are partly unknown: they were created before the trace'

play groups failed
check "a refused group has an event" test "$(count tsg_init 'tsg=0x5c000400 .*timeslice=- interleave=-')" = 1
check "a refused group is not destroyed" test "$(count tsg_destroy tsg=0x5c000400)" = 0

play groups hostile
expect "pointers and sizes that lead nowhere" 0 '0 lost'
check "calls with bad pointers and sizes do not free existing groups" test "$(count tsg_destroy 'tsg=0x5c00001[048]')" = 3
check "calls with bad pointers and sizes schedule nothing" test "$(count tsg_schedule)" = 3
check "a group whose parameters cannot be read has no engine" test "$(count tsg_init 'tsg=0x5c000300 .*nv_engine=- ')" = 1

play monitor
check "1009 controls about other things are no events" test "$(count tsg_init)$(count tsg_schedule)" = 00
check "controls about other things are not passed to the decoder" grep -q 'nvsched_decoder = "calls=5 unknown=0' run.grt/metadata

play -n 101 -e close groups
check "groups that are created and closed 101 times: all events" events 303 1212 303 1212 101 303

many() { # PROCESSES
	local i
	for ((i = 0; i < $1; i++)); do
		"$calls" -c $((0xc1100000 + i)) groups &
	done
	wait
}
export calls
export -f many
run record -e nvsched --include-failed --buffer 16M -o run.grt -- bash -c 'many 1000'
expect "1000 processes at once" 0 ' 0 lost'
check "1000 processes at once: all events" events 3000 12000 3000 12000 1000 3000
check "1000 processes at once: each group has its client" test "$("$GRTRACE" dump --type tsg_destroy run.grt | grep -oE 'client=0x[0-9a-f]+' | sort | uniq -c |
	awk '$1 == 3' | wc -l)" = 1000
check "1000 processes at once: each group ends with its process" test "$("$GRTRACE" dump --type tsg_destroy run.grt | grep -c 'cause=4 ')" = 3000

run record -e nvsched -o run.grt -- "$calls" groups
check "without --include-failed a call that failed is no event" test "$(count tsg_init)" = 0
run record -e nvsched --include-failed --type tsg_init -o run.grt -- "$calls" groups
check "--type records only events of the type" test "$(count tsg_init) $(count tsg_token)" = "3 0"
sleep 60 &
run record -e nvsched --include-failed -p $! -d 1 -o run.grt
check "-p: no events of another process" test "$(count tsg_init)" = 0
kill %%
plan
