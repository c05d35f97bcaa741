#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests/vm/nvsched.sh runs in the guest.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
# shellcheck source=tests/cli/_nv_manual.sh
. "$GRTRACE_SRC/tests/cli/_nv_manual.sh"
cd /tmp || exit 1
calls=$GRTRACE_BUILD/tests/cli/nv_calls
insmod "$GRTRACE_KBUILD/tests/kernel/modules/nvidiactl.ko" || { echo "not ok 1 - the stand-in loads" && exit 1; }
mknod /dev/nvidiactl c 195 255

play() { # ARGS OF nv_calls
	# shellcheck disable=SC2016 # the shell's own
	run record -e nvsched -o run.grt -- bash -c '"$@"; sleep 1' bash "$calls" -f /dev/nvidiactl "$@"
	says ' 0 lost' || not_ok "record -- nv_calls $*"
}

count() { # TYPE [REGEX]
	"$GRTRACE" dump --type "$1" run.grt | grep -cE -- "${2:-}"
}

events() { # INITS CHANNELS SCHEDULES TOKENS SETS DESTROYS
	output="$(count tsg_init status=0x0) $(count tsg_channel bound=1) $(count tsg_schedule status=0x0) \
$(count tsg_token status=0x0) $(count tsg_set status=0x0) $(count tsg_destroy), gone $(count tsg_channel bound=0)"
	[ "$output" = "$1 $2 $3 $4 $5 $6, gone $2" ]
}

for how in "" -s -x; do
	# shellcheck disable=SC2086 # options
	play $how groups alone
	check "$how: every call that was accepted is an event" events 4 13 4 13 1 4
done
check "a subcontext has the number that the driver chose" test "$(count tsg_channel 'tsg=0x5c000014 .*bound=1 subctx=0x5c000015 veid=21')" = 2
check "the token is the driver's" test "$(count tsg_token 'tsg=0x5c000014 .*runlist=14 .*chid=273 token=0xe0111')" = 1

for end in free:1 client:2 device:2 space:2 close:3 exec:3 exit:4 kill:4; do
	play -e "${end%:*}" groups
	check "-e ${end%:*}: all are destroyed" events 3 12 3 12 1 3
	check "-e ${end%:*}: and why" test "$(count tsg_destroy "cause=${end#*:} ")" = 3
done
play -e fork groups
check "-e fork: they live as long as the child has the file" events 3 12 3 12 1 3
play -e dup groups
check "-e dup: the shared one with its last handle" test "$(count tsg_destroy 'tsg=0x5c000010 .*cause=1 ') $(count tsg_destroy)" = "1 3"

play -c 0xc1d00019 cuda
check "every call of a CUDA program is an event" events 4 20 4 20 1 4
check "its sequence is the manual's, but for the numbers that the driver chooses" is_as_in_the_manual numbers

play groups failed
check "a refusal is told with the driver's answer" test "$(count tsg_init 'tsg=0x5c000400 .*status=0x1f')" = 1
run sched -i run.grt
check "and shown on demand only" test "$(grep -c 5c000400 <<<"$output")" = 0
run sched -i run.grt --include-failed
check "by its name" says 'TASK_INIT .*TSG=.*:5c000400 .* status=INVALID_ARGUMENT$'
check "what is allowed says so" says 'SCHEDULE .*channels=7 .* allowed=yes$'
play groups hostile
check "pointers that lead nowhere fail in the driver, and change nothing" test "$(count tsg_destroy 'tsg=0x5c00001[048]')" = 3
run report -i run.grt
expect "the balance closes" 0 'every event is accounted for'
rmmod nvidiactl
plan
