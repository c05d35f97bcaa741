#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The rooms of the library stand in the order of lib/ROOMS: by the symbols that their objects need and by
# the headers that they include, a file uses its own room and those before it. No room is larger than a
# quarter of the library, and no two files of different rooms have one name. So stand the directories of the
# program over the library.

# nothing is written into the tree
work=$PWD
cd "$GRTRACE_SRC" || exit 1
order=$(sed '/^#/d; s/ .*//' lib/ROOMS)
checks=0
result() { # NAME WHY
	checks=$((checks + 1))
	if [ -z "$2" ]; then
		echo "ok $checks - $1"
	else
		echo "not ok $checks - $1"
		sed 's/^/# /' <<<"$2"
	fi
}

result "every room is in lib/ROOMS, and no other" "$(diff <(sort <<<"$order") <(cd lib && ls -d -- */ | tr -d / | sort))"

# `DIRECTORY/FILE D SYMBOL` for what the objects of files have, U for what they need, be it weakly.
symbols() { # FILE...
	(cd "$GRTRACE_PLAIN/obj" && nm -gA "${@/%.c/.o}") | sed 's/^\([^:]*\)\.o:/\1 /' |
		awk '{ print $1, $(NF - 1) ~ /^[Uwv]$/ ? "U" : "D", $NF }'
}
# A file that stands in no room is above all of them.
symbols lib/*.c lib/*/*.c 2>"$work/errors" | sed 's#^lib/##' >"$work/symbols"
result "the objects of all files are built" "$(cat "$work/errors")"
result "there are symbols to look at" "$([ "$(grep -c ' D ' "$work/symbols")" -gt 300 ] || echo "only $(grep -c ' D ' "$work/symbols")")"
result "no file needs a symbol of a room that comes after its own" "$(awk -v order="$order" '
	function place(f) { return f ~ /\// ? at[substr(f, 1, index(f, "/") - 1)] : 999 }
	BEGIN { n = split(order, room, "\n"); for (i = 1; i <= n; i++) at[room[i]] = i }
	NR == FNR { if ($2 == "D") owner[$3] = $1; next }
	$2 == "U" && $3 in owner && place(owner[$3]) > place($1) { print $1 " needs " $3 " of " owner[$3] }
' "$work/symbols" "$work/symbols")"
result "no file includes a header of a room that comes after its own" "$(grep -o '^#include "[^"]*/[^"]*"' -r lib --include='*.[ch]' |
	awk -v order="$order" -F'[:/"]' '
	BEGIN { n = split(order, room, "\n"); for (i = 1; i <= n; i++) at[room[i]] = i }
	($2 in at) && ($5 in at) && at[$5] > at[$2] { print $0 }')"

# The same of the program's directories.
over='lib host kmod sources cmds'
# shellcheck disable=SC2046 # no name has a space
symbols $(compgen -G '*/*.c' | grep -E "^(${over// /|})/") $(compgen -G '*/*/*.c' | grep -E "^(${over// /|})/" | grep -v '\.bpf\.c$') \
	>"$work/over" 2>"$work/errors"
result "the objects of the program are built" "$(cat "$work/errors")"
result "no directory of the program needs one that comes after it: $over" "$(awk -v order="$over" '
	function place(f) { return at[substr(f, 1, index(f, "/") - 1)] }
	BEGIN { n = split(order, room, " "); for (i = 1; i <= n; i++) at[room[i]] = i }
	NR == FNR { if ($2 == "D") owner[$3] = $1; next }
	$2 == "U" && $3 in owner && place(owner[$3]) > place($1) { print $1 " needs " $3 " of " owner[$3] }
' "$work/over" "$work/over"
	grep -rn '^#include "' lib host kmod sources cmds --include='*.[ch]' | awk -v order="$over" -F'[:/"]' '
	BEGIN { n = split(order, room, " "); for (i = 1; i <= n; i++) at[room[i]] = i }
	{ into = $0; sub(/.*#include "/, "", into); sub(/\/.*/, "", into) }
	(into in at) && at[into] > at[$1] { print $0 }')"

result "no room holds more than a quarter of the library" "$(cat lib/*/*.[ch] | wc -l >"$work/all"
	for room in $order; do
		lines=$(cat "lib/$room"/*.[ch] | wc -l)
		[ $((lines * 4)) -le "$(cat "$work/all")" ] || echo "$room: $lines of $(cat "$work/all") lines"
	done)"
result "no two files of the rooms have one name" "$(ls lib/*/*.[ch] | sed 's#.*/##' | sort | uniq -d)"

# The page's own rule: a file without a directory is in the one that was named before it.
result "every file that docs/architecture.md names is where it says" "$(grep -noE '`[^`]+`' docs/architecture.md | tr '` ,(' '\n' |
	awk '/^[0-9]+:$/ { line = $0 } /^[a-zA-Z0-9_.\/-]+(\.(c|h|def)|\/)$/ && !/foo/ { print line $0 }' |
	while IFS=: read -r line name; do
		[[ $name != grtrace/* ]] || name=include/$name
		if [[ $name == */* && -e $name ]]; then
			dir=${name%/*}
		elif [ ! -e "$dir/$name" ]; then
			echo "line $line: $name is not in ${dir:-the root}"
		fi
	done)"
echo "1..$checks"
