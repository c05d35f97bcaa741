#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What runs has fewer privileges than what starts: capabilities, user, files, and what is put back at the end.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
readonly USER=65534 NONE=0000000000000000

[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP only root has privileges to give up: sudo tests/run cli" && exit 0; }

# A process of another user may not be looked into, not even by its own leak check.
as_sudo() { # COMMAND...
	SUDO_UID=$USER SUDO_GID=$USER ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 "$@"
}

# Runs it in the background until its status has a line that matches; then that status is in `seen`.
seen=
begin() { # REGEX COMMAND...
	"${@:2}" >out 2>err &
	pid=$!
	await "seen=\$(cat /proc/$pid/status 2>/dev/null); grep -qE -- '$1' <<<\"\$seen\""
}

finish() {
	kill -INT $pid 2>/dev/null
	wait $pid
	status=$?
	output=$(cat out err)
}

has() { # FIELD VALUE
	local words
	read -ra words < <(sed -n "s/^$1://p" <<<"$seen")
	[ "${words[*]}" = "$2" ]
}

readonly CONFINED='^NoNewPrivs:.*1'

cp "$GRTRACE" set-id && chown $USER:$USER set-id && chmod 4755 set-id
output=$(./set-id --version 2>&1)
status=$?
expect "a set-user-ID program refuses" 1 'does not run with a set-user-ID'
chmod 2755 set-id
output=$(./set-id --version 2>&1)
status=$?
expect "so does a set-group-ID program" 1 'does not run with a set-user-ID or set-group-ID bit'
rm set-id

fake_start 2 40 100
begin "$CONFINED" "$GRTRACE" record -e kmod --sample 7 -o root.grt
check "root keeps no capability" has CapEff $NONE
check "root cannot get any capability again" has CapPrm $NONE
check "executed programs cannot get privileges" has NoNewPrivs 1
check "the user is still root" has Uid '0 0 0 0'
check "the setting is in force" settled config '^sample=7$'
sleep 0.3
finish
expect "ends as ever" 0 'events, 6 lost in root.grt'
check "as root: the recording is complete" grep -q 'state = "complete"' root.grt/metadata
check "as root: the files belong to root" test "$(stat -c '%u %a' root.grt/* | sort -u)" = "0 600"
check "as root: settings are restored" settled config '^sample=100$'
check "as root: tracing is stopped" settled control stopped

idle
begin "$CONFINED" as_sudo exec "$GRTRACE" record -e kmod --sample 7 -o user.grt
check "with sudo: the process changes to the user" has Uid "$USER $USER $USER $USER"
check "with sudo: the process changes to the user's group" has Gid "$USER $USER $USER $USER"
check "with sudo: the process has no other groups" has Groups "$USER"
check "with sudo: the process has no capability" has CapEff $NONE
sleep 0.3
finish
expect "ends as ever" 0 'events, 6 lost in user.grt'
check "with sudo: the recording is complete" grep -q 'state = "complete"' user.grt/metadata
check "with sudo: the files belong to the user" test "$(stat -c '%u %g %a' user.grt/* | sort -u)" = "$USER $USER 600"
check "with sudo: the directory belongs to the user" test "$(stat -c '%u %g %a' user.grt)" = "$USER $USER 700"
check "with sudo: settings that only root may write are restored" settled config '^sample=100$'
check "with sudo: tracing is stopped" settled control stopped

mkdir -m 700 theirs.grt && chown $USER:$USER theirs.grt
idle
begin "$CONFINED" env ASAN_OPTIONS=detect_leaks=0 "$GRTRACE" record -e kmod -o theirs.grt
check "in a user's directory it becomes that user" has Uid "$USER $USER $USER $USER"
sleep 0.3
finish
expect "ends as ever" 0 'events, 6 lost in theirs.grt'
check "the files belong to the directory's owner" test "$(stat -c '%u %g %a' theirs.grt/* | sort -u)" = "$USER $USER 600"

# 1 << CAP_KILL
idle
begin "$CONFINED" as_sudo exec "$GRTRACE" record -e kmod -o prog.grt -- \
	sh -c 'trap "exit 5" INT; grep -E "^(Uid|CapEff|NoNewPrivs)" /proc/self/status >prog; while :; do sleep 0.05; done'
check "with a program to end, only the capability to signal it is kept" has CapEff 0000000000000020
await '[ "$(wc -l 2>/dev/null <prog)" = 3 ]'
check "the program has the privileges of its caller" test "$(cat prog)" = \
	"$(grep -E '^(Uid|CapEff|NoNewPrivs)' /proc/self/status)"
finish
check "the program gets the signal to end" exits 5
fake_stop
unset GRTRACE_DEBUGFS

# Capabilities are a thread's own: also the one that reads what another program writes.
each_thread() { # REGEX [BUT]: of each one's status, but for one
	local thread
	for thread in /proc/$pid/task/*; do
		[ "${thread##*/}" = "${2-}" ] || grep -qsE -- "$1" "$thread/status" || return 1
	done
}
all_threads() { # REGEX [BUT]
	await "each_thread '$1' '${2-}'"
}
cat >logs <<'END'
#!/bin/sh
echo ":3:hip_memory.cpp            :770 : 0000123456 us: [pid:4321  tid: 0x7f00aa11bb40]  hipMalloc ( 0x7ffe, 4096 ) " >"$AMD_LOG_LEVEL_FILE"
END
chmod +x logs
# By sudo the text is the user's, and the program is root's: with fs.protected_regular=2, as in Debian, root may
# not open for writing what is another's in a sticky directory.
mkdir temp
export TMPDIR=$PWD/temp
chmod 1777 temp
cat >whose <<'END'
#!/bin/sh
stat -c '%a %u' "$(dirname "$AMD_LOG_LEVEL_FILE")" "$AMD_LOG_LEVEL_FILE"
exec ./logs
END
chmod +x whose
output=$(as_sudo "$GRTRACE" record -e hostlog -o whose.grt -- ./whose 2>/dev/null)
check "the text of a program is in a directory of its own" test "$output" = "700 $USER
600 $USER"
check "is read" test "$("$GRTRACE" dump whose.grt | grep -c LOG_CALL)" = 1
rm -r theirs.grt && mkdir -m 700 theirs.grt && chown $USER:$USER theirs.grt
output=$(ASAN_OPTIONS=detect_leaks=0 "$GRTRACE" record -e hostlog -o theirs.grt -- ./logs 2>&1)
status=$?
check "a text is read by who we become" exits 0
check "all of it" test "$("$GRTRACE" dump theirs.grt | grep -c LOG_CALL)" = 1
check "and nothing of it stays" test -z "$(find "$TMPDIR" -name amd_log.txt)"
for by in '' as_sudo; do
	begin "$CONFINED" $by exec "$GRTRACE" record -e hostlog -o log.grt -- sleep 60
	check "hostlog${by:+, $by}: it has a thread" await '[ "$(find /proc/$pid/task -mindepth 1 -maxdepth 1 | wc -l)" = 2 ]'
	check "none of its threads gets a privilege by executing" all_threads "$CONFINED"
	check "the other one has no capability" all_threads "^CapPrm:.*$NONE" $pid
	finish
	check "and ends at the signal" exits 130
done

run record -e ioctl -o run.grt -- true
if exits 0; then
	for command in "record -e ioctl -o bpf.grt" annotate "monitor nvidia" "monitor all"; do
		# shellcheck disable=SC2086 # words
		begin "$CONFINED" as_sudo exec "$GRTRACE" $command
		check "$command: becomes the user" has Uid "$USER $USER $USER $USER"
		check "$command: keeps no capability" has CapEff $NONE
		"$GRTRACE_BUILD/bench/bench_ioctl" drm 101 0 >/dev/null
		finish
		check "$command: ends well" exits 0
	done
	run report bpf.grt
	expect "what was captured without privileges is whole" 0 'accounted for: 1,0[12][0-9] emitted'
	expect "and counted" 0 'every event is accounted for'
	begin "$CONFINED" as_sudo exec "$GRTRACE" annotate -o lines
	"$GRTRACE_BUILD/bench/bench_ioctl" drm 101 0 >/dev/null
	finish
	expect "annotate -o" 0 '505 ioctls, 0 lost'
else
	ok "sources by BPF # SKIP ${output##*$'\n'}"
fi
plan
