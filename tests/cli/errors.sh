#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An error has three parts, whatever the command: what failed and for which object, why, and what to type.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE_BUILD/tests/cli/traces" job job.grt
"$GRTRACE_BUILD/tests/golden/report_traces"
commands=$("$GRTRACE" --tables | awk -F'\t' '$1 == "option" && $3 == "input" { print $2 }')

damaged() { # KIND
	rm -rf in
	case $1 in
	missing) ;;
	empty) : >in ;;
	device) ln -s /dev/null in ;;
	directory) mkdir in ;;
	noise) printf '\1\2\3\0\377%.0s' {1..999} >in ;;
	metadata) cp -r job.grt in && sed -i 's/^env {/env [/' in/metadata ;;
	header) cp -r job.grt in && printf 'XXXX' | dd of=in/kmod_0 conv=notrunc status=none ;;
	cut) cp -r job.grt in && truncate -s -9 in/kmod_0 ;;
	gap) cp -r gap.grt in ;;
	esac
}

operands() { # COMMAND
	case $1 in
	monitor) echo all ;;
	export) echo -f csv ;;
	rocm) echo report ;;
	esac
}

# Each line begins with the command's name or is a part of what it says.
three_parts() {
	exits 1 || exits 3 || return 1
	says '^grtrace [a-z]+: .*: ' && says '^  try: [^ ]'
}

for kind in missing empty device directory noise metadata header cut gap; do
	said=
	for command in $commands; do
		# these say of any input why it is empty
		[ "$command" != doctor ] || continue
		damaged $kind
		# shellcheck disable=SC2046 # words
		output=$("$GRTRACE" "$command" $(operands "$command") -i in 2>&1 >/dev/null </dev/null)
		status=$?
		three_parts || said+="$command: status $status: $output"$'\n'
	done
	output=$said
	check "$kind: every command says what, why and what to type" silent
done

for place in /no/such/file . job.grt/metadata/file "$(printf 'a%.0s' {1..300})"; do
	for command in 'export -f csv -i' 'annotate -a -i' 'flame -i' 'merge --cpu job.grt --gpu'; do
		# shellcheck disable=SC2086 # words
		run $command job.grt -o "$place"
		check "${command%% *} -o ${place:0:30}: says what, why and what to type" three_parts
	done
done

# What to type names the input, where it can be typed as it is.
damaged cut
run dump in
check "what to type names the input" says '^  try: .*grtrace mend in cuts'
mv in 'an input'
run dump 'an input'
check "but not one that a shell would take for two" says '^  try: .*grtrace mend PATH cuts'
mkdir -p none
run report none
check "nor another word that contains it" says '^  try: babeltrace2 none, which reads traces of other programs$'
run report job.grt --by ring --sort zzzz
expect "a column that is not there: those that are" 2 '--sort zzzz: .* there are .*exec_sum, .*queue_p50'
output=$("$GRTRACE" report job.grt --device 0000:99:00.0 2>/dev/null)
check "of a GPU that is not there, no table is written" silent
output=$("$GRTRACE" --help 2>&1 >&-)
status=$?
expect "a closed output" 1 '^  try: .*without >&-$'
output=$("$GRTRACE" export -f csv job.grt 2>&1 >&-)
status=$?
expect "of an export, too" 1 '^  try: .*without >&-$'
output=$( (ulimit -f 0; trap '' XFSZ; "$GRTRACE" export -o limited.csv job.grt) 2>&1)
status=$?
expect "a limit of the size of files" 1 '^grtrace export: cannot write to limited.csv: File too large$'
check "says how to raise it" says '^  try: ulimit -f unlimited, before the command$'

run flame --cpu no.cpu --gpu no.gpu
expect "files of other tools that are not there" 1 '^grtrace flame: cannot open no.cpu: No such file or directory$'
check "what to type" says '^  try: ls, which shows the right name$'

# An output that would leave nothing of what is read.
printf '%s\n' '[1.000000] IOCTL_ENTER pid=1 tid=1 comm=a cmd=0xc0106444 arg=0x1' >text.txt
"$GRTRACE" dump job.grt >before
cp job.grt/kmod_0 raw
sums() {
	sha256sum text.txt raw job.grt/* | sha256sum
}
untouched=$(sums)
for command in 'export -f csv -i' 'annotate -a -i' 'flame -i' 'merge --cpu text.txt --gpu' 'merge'; do
	for pair in 'text.txt ./text.txt' 'raw raw' 'job.grt job.grt' 'job.grt job.grt/kmod_0' 'job.grt/ job.grt/new.folded'; do
		# shellcheck disable=SC2086 # words
		run $command ${pair% *} -o ${pair#* }
		expect "${command%% *} does not write $pair" 2 'is the input .*, or inside it'
	done
done
run flame job.grt --diff text.txt -o text.txt
check "nor flame over what it compares with" exits 2
check "and all is as it was" test "$(sums)" = "$untouched"

# A recording that cannot begin leaves nothing, so that the same command works when there is room.
mkdir small
if unshare -m sh -c 'mount -t tmpfs -o size=4k none small' 2>/dev/null; then
	output=$(GRTRACE="$GRTRACE" unshare -m sh -c 'mount -t tmpfs -o size=4k none small && head -c 8192 /dev/zero >small/full 2>/dev/null
		"$GRTRACE" record -e ioctl -o small/r.grt true 2>&1; echo "status $?"; ls -A small')
	if says 'status 3'; then
		ok "a full disk # SKIP no BPF here: grtrace doctor ioctl"
	else
		check "a full disk is an error" says 'No space left on device'
		check "and no directory is left" test "$(tail -n 1 <<<"$output")" = full
	fi
else
	ok "a full disk # SKIP no mount here: run as root"
fi
# a message is one write, not one for each of its bytes
if command -v strace >/dev/null && strace -o writes -e trace=write true 2>/dev/null; then
	ASAN_OPTIONS=detect_leaks=0 strace -o writes -e trace=write "$GRTRACE" report -i /nonexistent 2>/dev/null
	check "a message is written by lines" test "$(grep -c '^write(2' writes)" -lt 10
fi
plan
