#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace monitor: usage, live from the stand-in, damaged and hostile input, closed pipes.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE_BUILD/tests/golden/monitor_traces"
for kind in job hostile many; do
	"$GRTRACE_BUILD/tests/cli/traces" $kind $kind.grt
done

lines() { # N
	test "$(wc -l <<<"$output")" = "$1"
}

has_all() { # REGEX...
	local regex
	for regex; do says "$regex" || return; done
}

# Usage.
run monitor
expect "says what there is" 2 'no monitor given \(there are: drm, amdgpu, i915, vblank, virtio, nvidia, fence, nvctxsw, power, all\)'
run monitor amdgp -i drm.grt
expect "a monitor that does not exist" 2 "'amdgp' is unknown \(did you mean amdgpu\?\)"
run monitor drm vblank
expect "two monitors" 2 "more than one monitor: 'vblank'"
run monitor drm -i drm.grt -d 3
expect "-d with a recording" 2 '-d and -e work only on live events'
run monitor drm -i drm.grt -e kmod
expect "-e with a recording" 2 '-d and -e work only on live events'
run monitor drm -p 99999999999 -i drm.grt
expect "no process id" 2 "'99999999999' is out of range"
run monitor drm -e nonsense
expect "a source that does not exist" 2 "'nonsense' is not a source"
run monitor drm -i missing.grt
expect "a recording that is not there" 1 'missing.grt'

# Filters.
run monitor drm -q -i drm.grt -p 70
check "-p: the other process's jobs are not counted" has_all 'submits +4 ' 'completions +3 '
run monitor drm -q -i drm.grt -p 12345
check "-p of a pid without events" says 'submits +0 '
run monitor drm -i fence.grt --driver nouveau
check "--driver: events whose ring is only known from their context" has_all 'completions +2 ' '^ch +nouveau '
check "--driver: no events of other drivers" test "$(grep -c -E '^ *[0-9.]+ (SUBMIT|END|COMPLETE) ' <<<"$output")" = 6
run monitor drm -q -i fence.grt --driver none
check "--driver without events" says 'submits +0 '
run monitor amdgpu -q -i virtio.grt
check "another driver's jobs are left out, and counted" has_all 'submits +0 ' '^19 events .* were left out'
run monitor nvidia -i nvidia.grt --ioctl-sample 0
check "--ioctl-sample 0 prints none" test "$(grep -c ' IOCTL ' <<<"$output")" = 0
check "--ioctl-sample 0 counts all ioctls" says '^ 70 +python3 +2 +1 +1 +14 '
run monitor nvidia -i nvidia.grt --ioctl-sample 3
check "--ioctl-sample 3 prints every third" test "$(grep -c ' IOCTL ' <<<"$output")" = 5

# The inference of START looks at all jobs of a ring, also with -p.
run monitor drm -q -i drm.grt -p 80
check "-p: START follows the other process's jobs" says '^gfx +t_exec +1 +50.0 us\*'

# Live.
fake_start 2 4 1000
run monitor drm -e kmod -d 0.5
expect "live, for half a second: every event" 0 'submits +8000 '
check "lost events are shown by CPU" has_all '^events lost, by CPU' '^ +1 +[1-9]' 'every event is accounted for'
check "has lines" says '^ +[0-9]+\.[0-9]{9} [A-Z_]+ '
fake_start 1 2 100
run monitor all -e kmod -q --json -d 0.5
expect "live, JSON" 0 '^\{"run": \{"monitor": "all", "path": "live"'
check "one line" lines 1
fake_stop
unset GRTRACE_DEBUGFS
run monitor all -q -d 0.2
check "all: sources that need a program are left out" test -z "$(grep -iE 'cuda|hostlog|uprobe' <<<"$output")"
run monitor drm -e kmod
expect "no module" 3 'try: '

# Hostile and damaged input.
for what in drm virtio all; do
	run monitor $what -i hostile.grt
	check "$what: hostile names are escaped" test -z "$(LC_ALL=C tr -d ' -~\n' <<<"$output")"
	run monitor $what --json -i hostile.grt
	check "$what: also in JSON" test -z "$(LC_ALL=C tr -d ' -~\n' <<<"$output" | tr -d '\357\277\275')"
done
run monitor nvidia -i nvidia.grt
check "a driver's message is escaped" says '"Ch 00000008, \\x1b\[31mfault\\x0a": the GPU used an address'
run report nvidia.grt
check "a report begins with the errors: of whom, when, what to do" has_all \
	'^Xid 31 of python3 \(PID 70\) on GPU 0000:c6:00.0, 2 times, last at 10.000203000: the GPU used an address .*; what to do first: debug' \
	'^Xid 79 on GPU 0001:c6:00.0 at 10.000201000: the GPU does not answer' '^Xid 9999 on GPU 0000:c6:00.0 at 10.000202000$'
run report --by xid --sort last --json nvidia.grt
check "--by xid has them as rows" test "$(jq -r '.xids[] | "\(.code) \(.count) \(.pid) \(.process)"' <<<"$output" | tr '\n' ,)" = \
	'31 2 70 python3,9999 1 null null,79 1 null null,'
size=$(stat -c %s many.grt/kmod_1)
truncate -s $((size - 1000)) many.grt/kmod_1
run monitor drm -q -i many.grt
expect "a cut recording is an error" 1 'many.grt/kmod_1: offset [0-9]+: the last packet is cut'
check "after its intact part" says '^balance'

# Where lines go.
output=$("$GRTRACE" monitor drm -i many.grt 2>err | head -n 1)
check "a reader that has seen enough" says '^ +TIME EVENT '
output=$(cat err)
check "is no error" silent
if [ -c /dev/full ]; then
	output=$("$GRTRACE" monitor drm -i many.grt 2>&1 >/dev/full)
	status=$?
	expect "a full disk is one" 1 'cannot write to standard output: No space left'
	output=$("$GRTRACE" monitor drm -q --json -i drm.grt 2>&1 >/dev/full)
	status=$?
	expect "also for the statistics" 1 'cannot write to standard output: No space left'
fi
run monitor fence
expect "fence without a driver" 2 'name the driver, for example --driver nouveau'
plan
