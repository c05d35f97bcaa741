#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What root by sudo writes is the user's; links of the user lead no further than the user may go, and nothing that
# was there changes.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
readonly USER=65534

[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP only root can do something as another user: sudo tests/run cli" && exit 0; }

by_sudo() { # ARGS...
	output=$(SUDO_UID=$USER SUDO_GID=$USER ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
		timeout 60 "$GRTRACE" "$@" 2>&1 </dev/null)
	status=$?
}

fails() {
	[ "$status" = 1 ]
}

"$GRTRACE_BUILD/tests/cli/traces" job trace.grt
base=$(mktemp -d /tmp/grtrace-outputs.XXXXXX) && trap 'fake_stop; rm -rf "$base"' EXIT
chmod 755 "$base"
mkdir "$base/user" "$base/root" && chown $USER:$USER "$base/user"
cp -r trace.grt "$base/user/" && chown -R $USER:$USER "$base/user/trace.grt"
echo kept >"$base/root/text"
: >"$base/root/empty"
chmod 644 "$base/root/"*
ln -s "$base/root/text" "$base/user/text"
ln -s "$base/root/empty" "$base/user/empty"
ln -s "$base/root/new" "$base/user/new"
ln -s "$base/root" "$base/user/dir"
cd "$base/user" || exit 1

untouched() {
	[ "$(stat -c '%n %u %g %a' "$base"/root "$base"/root/*)" = "$base/root 0 0 755
$base/root/empty 0 0 644
$base/root/text 0 0 644" ] && [ "$(cat "$base/root/text")" = kept ]
}

of_user() { # FILES...
	[ "$(stat -c '%u %g' "$@" | sort -u)" = "$USER $USER" ]
}

by_sudo export -f csv -o out.csv trace.grt
check "a file is the user's" of_user out.csv
check "no other user can read it" test "$(stat -c %a out.csv)" = 600
check "the user can read it" setpriv --reuid $USER --regid $USER --clear-groups test -r out.csv
by_sudo flame -o graph.svg trace.grt
check "a graph, too" of_user graph.svg
for command in "export -f csv" "flame" "annotate -i"; do
	# shellcheck disable=SC2086 # words of a command
	case $command in
	annotate*) by_sudo annotate -o dir/made -i trace.grt ;;
	*) by_sudo $command -o dir/made trace.grt ;;
	esac
	expect "$command: not into a directory of root by a link" 1 'cannot create dir/made: Permission denied'
	check "$command: nothing is changed" untouched
done

fake_start 2 40 100
by_sudo record -e kmod -d 0.2 -o rec.grt
check "a recording is the user's" of_user rec.grt rec.grt/metadata
by_sudo record -e kmod -d 0.2 -o dir/rec.grt
check "no recording in root's directory by a link" fails
check "nothing is changed" untouched
mkdir roots && chmod 755 roots
by_sudo record -e kmod -d 0.2 -o roots
check "an empty directory of root stays root's" test "$(stat -c '%u %a' roots)" = "0 755"
check "and what is in it is for root only" test -z "$(find roots -type f \( -not -uid 0 -o -perm /077 \))"
mkdir "$base/root/none" && chmod 755 "$base/root/none"
by_sudo record -e hostlog -o dir/none -- true
expect "nor is an empty directory of root used by a link" 1 'cannot record into dir/none: it belongs to root'
check "it stays empty" test -z "$(ls "$base/root/none")"

# A user who is faster than the recorder puts something else in the place of what was made. The call that makes it
# takes a while, the longer the more often the user was late.
race() { # PATH CALL COMMAND ARGS...: the user runs a command when the path is there
	local seconds user
	for seconds in 1 4 16; do
		rm -rf way gone race.grt won && mkdir way && chown $USER:$USER way
		setpriv --reuid $USER --regid $USER --clear-groups sh -c \
			"while [ ! -e $1 ] && [ ! -e over ]; do :; done; $3; [ -e over ] || : >won" &
		user=$!
		output=$(SUDO_UID=$USER SUDO_GID=$USER ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
			timeout 120 strace -f -o /dev/null -e inject="$2:delay_exit=${seconds}000000" \
			sh -c '"$@"; status=$?; : >over; exit $status' sh "$GRTRACE" "${@:4}" 2>&1 </dev/null)
		status=$?
		: >over
		wait $user
		rm -f over
		[ ! -e won ] || return 0
	done
	return 1
}
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	if race way/none mkdir "mv way gone; ln -s ../root way" record -e hostlog -o way/none -- true; then
		expect "no directory of root is used in the place of a new one" 1 \
			'cannot record into way/none: it belongs to root'
		check "it keeps its mode" test "$(stat -c '%u %a' "$base/root/none")" = "0 755"
		check "and stays empty" test -z "$(ls "$base/root/none")"
	else
		ok "a race for a directory # SKIP the user lost: a machine that is less busy"
	fi
	if race race.grt/.packets bind "ln -sf ../../root/text race.grt/.packets" \
		record -e cuda --max-size 10M -o race.grt -- true; then
		check "root's file in the place of a socket keeps its mode" \
			test "$(stat -c '%u %a' "$base/root/text")" = "0 644"
	else
		ok "a race for a socket # SKIP the user lost: a machine that is less busy"
	fi
	rm -rf way gone race.grt won
else
	ok "races # SKIP no strace: tools/setup check"
fi
rmdir "$base/root/none"
check "and nothing else is changed" untouched
# where only root goes it is root's to make: a shell by sudo -i
mkdir "$base/only" && chmod 700 "$base/only"
by_sudo export -f csv -o "$base/only/out.csv" trace.grt
check "where only root goes, a file can be made" test -s "$base/only/out.csv"
fake_stop

run record --user nobody -e hostlog -o nobody.grt -- sh -c 'id -u; id -G; echo "$HOME $USER" >&2'
if getent passwd nobody | grep -q "^nobody:[^:]*:$USER:"; then
	expect "--user: the program is of that user" 0 "^$USER\$"
	check "with its name" says ' nobody$'
	check "and the recording" of_user nobody.grt nobody.grt/metadata
fi
run record --user nobody.there -- true
expect "--user: no such user" 2 'there is no such user'
run record --user nobody -d 1
expect "--user: without a program" 2 'needs a program to run'
run record --no-command-line -e hostlog -o quiet.grt -- true secret-word
check "--no-command-line: it is not kept" test -z "$(grep -rl secret-word quiet.grt)"
run record -e hostlog -o loud.grt -- true secret-word
check "else it is" grep -q secret-word loud.grt/metadata

# what a live command writes while it runs
by_sudo annotate -d 0.2 -o lines
if exits 3; then
	ok "annotate -o, --raw # SKIP ${output##*$'\n'}"
else
	by_sudo record -e ioctl -d 0.2 --raw new
	check "--raw: no file by a link" fails
	check "nothing is made" untouched
	by_sudo record -e ioctl -d 0.2 --raw empty
	check "--raw: root's empty file is not written" fails
	check "and stays root's" untouched
	by_sudo record -e ioctl -d 0.2 --raw raw.grt
	check "--raw: a file is the user's" of_user raw.grt
	check "annotate -o: the user's" of_user lines
	by_sudo annotate -d 0.2 -o text
	expect "annotate -o: root's file by a link" 1 'cannot create text: Permission denied'
	check "it is not emptied" untouched
fi

PATH=$PATH by_sudo rocm record -o dir/new/place -- true
expect "rocm record -o: no directory in root's by a link" 1 'cannot make the directory'
check "nothing is made in it" untouched
plan
