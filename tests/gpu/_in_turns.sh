# shellcheck shell=bash disable=SC2154,SC2034
# SPDX-License-Identifier: GPL-2.0
# What a recording costs a program that runs throughout, without and with it in turns; to be sourced by scripts that have
# $here, the array record (options of `grtrace record`), check() and, if windows and samples are kept, $keep.

# A command that prints `BEGIN END VALUE` lines runs all the time; grtrace records for WINDOW
# seconds, then does not, PAIRS times. Each window has a median; a pair says how much more the
# traced one is; see in_turns.awk. The shorter a pair, the less the machine changes within it. The
# program stays on one processor, so that it does not wander.
in_turns() { # PAIRS WINDOW COMMAND...
	local pairs=$1 i program
	export window=$2
	shift 2
	: >windows
	taskset -c 1 "$@" >samples 2>err &
	program=$!
	while [ ! -s samples ] && kill -0 $program; do sleep 0.1; done
	for ((i = 0; i < pairs; i++)); do
		window off $i
		# as its program: it begins when all is attached
		"$GRTRACE" record "${record[@]}" -o speed.grt -- bash -c "window on $i" 2>record.err
	done
	kill $program
	wait $program 2>/dev/null
	awk -f "$here/in_turns.awk" windows samples
	[ -z "${keep:-}" ] || cat windows samples >"$keep/turns.${1##*/}"
}

window() { # off|on PAIR: $window seconds
	local begin
	begin=$(monotonic)
	sleep "$window"
	echo "$1 $2 $begin $(monotonic)" >>windows
}

monotonic() {
	python3 -c 'import time; print(time.monotonic())'
}
export -f window monotonic

limit() { # NAME PERCENT PAIRS WINDOW COMMAND...
	local name=$1 percent=$2 off on more error count
	read -r off on more error count <<<"$(in_turns "${@:3}")"
	output="$off $on $more $(cat err)"
	check "$name: $off without, $on with, $more % +- $error more in $count samples (at most $percent)" \
		awk "BEGIN { exit !(${count:-0} > 0 && ${more:-1000} <= $percent) }"
}
