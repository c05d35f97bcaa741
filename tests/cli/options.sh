#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The command line itself: help, versions, wrong commands and options, exit statuses.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

run
expect "grtrace alone shows the commands" 0 '^  record +record a trace'
run --help
expect "--help too" 0 '^The kernel module$'
run --version
expect "--version has version and format" 0 '^grtrace [0-9]+\.[0-9]+\.[0-9]+ \(format [0-9]+\)$'
run reprot
expect "a misspelt command is suggested" 2 "unknown command 'reprot' \(did you mean report\?\)"
run stats
expect "a command cut short is suggested" 2 'did you mean status'
run xyzzy
expect "an unknown command is refused" 2 "unknown command 'xyzzy'$"
run foo
expect "a short word that is none is not taken for another" 2 "unknown command 'foo'$"
run --frob
expect "an unknown option before the command is refused" 2 'unknown option --frob'
run help frob
expect "help of an unknown command is refused" 2 "unknown command 'frob'"

while IFS=$'\t' read -r kind command rest; do
	[ "$kind" = command ] || continue
	run "$command" --help
	expect "$command --help begins with its line" 0 "^grtrace $command: "
	text=$output
	check "$command --help has examples" test "$(sed -n '/^Examples:/,/^Manual/p' <<<"$output" | grep -cE '^  (sudo )?(grtrace|gpuperf) ')" -ge 2
	run help "$command"
	check "help $command is the same" test "$text" = "$output"
	run "$command" --frobnicate
	expect "$command refuses an unknown option" 2 "^grtrace $command: unknown option --frobnicate"
done < <("$GRTRACE" --tables)

run record --duratoin=3
expect "a misspelt option is suggested" 2 'did you mean --duration'
run record -d
expect "a short option without its value" 2 '^grtrace record: -d needs a value: SECONDS'
run record --duration
expect "a long option without its value" 2 -- '--duration needs a value'
run status --json=1
expect "a flag takes no value" 2 -- '--json takes no value'
for bad in 0 -1 x 1y nan inf 1e3 '' 99999999999; do
	run record -d "$bad"
	check "-d '$bad' is refused" exits 2
done
for bad in x 1X 1KK -5 '' 99999999999999999999 18446744073709551615G; do
	run record --buffer "$bad"
	check "--buffer '$bad' is refused" exits 2
done
for bad in 1 65535 1073741825 2G 18446744073709551615; do
	run record -e sched --buffer "$bad"
	check "--buffer '$bad' is out of range" exits 2 && check "--buffer '$bad': the error names the range" says "65536..1073741824"
done
for bad in x 1x 1.2.3 . 1. --1 1e3 '' 18446744074s 99999999999999999999ns; do
	run report -i none "--from=$bad"
	check "--from '$bad' is refused" exits 2
done
for good in 0 12.345678901 +1 -1 +1.5ms 3us 18446744073709551615ns 18446744073.709551615; do
	run report -i none "--from=$good"
	expect "--from '$good' is taken" 1 'none'
done
run record -p abc
check "-p abc is refused" exits 2
run record -e kmod,frob
expect "-e with an unknown source lists those there are" 2 'there are: kmod, drm, .*auto'
"$GRTRACE" --tables >../tables
taken=
while IFS=$'\t' read -r _ command option _ value _; do
	[ "$value" != - ] && [ "$command $option" != 'flame title' ] || continue
	output=$(timeout 120 "$GRTRACE" "$command" "--$option=" 2>&1 </dev/null)
	[ $? = 2 ] && says "try: grtrace $command --help" || taken+=" $command --$option"
done < <(grep ^option ../tables | grep -v $'\trecord\twatch\t')
output=$taken
check "no option takes an empty value, but a heading" silent
# Not everything, because 0 is how it looks when none is given.
for pid in 0 0x0 2147483648 18446744073709551615; do
	for command in record sched annotate 'monitor all'; do
		# shellcheck disable=SC2086 # words
		run $command -p $pid -d 0.1
		expect "$command -p $pid is an error" 2 "--pid: '$pid' is out of range \(wanted: a process id, from 1(, or gpu)?\)"
	done
done
for largest in 'timeline --width' 'timeline --pid' 'dump --ring' 'report --top'; do
	# shellcheck disable=SC2086 # two words
	run $largest 18446744073709551615 none
	expect "$largest does not take what stands for nothing given" 2 'out of range'
done
run record -e ''
check "-e without a source is refused" exits 2
run record --raw x -o y
check "--raw and --output exclude each other" exits 2
run record -p 1 true
check "-p and a program exclude each other" exits 2
run record --raw - true
check "--raw - and a program exclude each other" exits 2
run start frob
check "start takes no arguments" exits 2
run stop frob
check "stop takes no arguments" exits 2
run status frob
check "status takes no arguments" exits 2
check "no files are left" test -z "$(ls -A)"

"$GRTRACE" --help >/dev/full 2>err
status=$?
output=$(cat err)
expect "a full disk under standard output is an error" 1 'cannot write to standard output'
output=$("$GRTRACE" --help 2>&1 >&-)
status=$?
expect "and a closed one is" 1 'cannot write to standard output: Bad file descriptor'
output=$("$GRTRACE" frob 2>&1 >&-)
status=$?
check "a closed standard output does no harm" exits 2
output=$("$GRTRACE" $'fr\e[31mob' 2>&1)
check "control characters in messages are escaped" says 'fr.x1b'
plan
