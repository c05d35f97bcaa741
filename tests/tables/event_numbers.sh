#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Rows of events with a wrong number do not compile, and the message says what is wrong; the tables of events are in
# a program once.
n=0
check() { # NAME COMMAND...
	n=$((n + 1))
	if "${@:2}"; then echo "ok $n - $1"; else echo "not ok $n - $1" && cat log; fi
}

# A tree with one more row in a provider's file.
row() { # PROVIDER NUMBER NAME
	rm -rf include
	cp -r "$GRTRACE_SRC/include" include
	printf 'GRT_EVENT(%s, %s, %s, custom, NORMAL, CURRENT, , "a row of a test")\n' "$2" "$3" "${3,,}" \
		>>"include/grtrace/events/$1.def"
}

# The file that has the tables, and one that has only the types.
compiles() { # COMPILER [FILE]
	"$1" -std=gnu11 -D_GNU_SOURCE=1 -fsyntax-only -Iinclude -I"$GRTRACE_SRC/lib" "${2:-$GRTRACE_SRC/lib/trace/event_table.c}" >log 2>&1
}
refused() { # MESSAGE COMPILER [FILE]
	! compiles "${@:2}" && grep -qE "$1" log
}

echo '#include <grtrace/event.h>' >types.c
for cc in gcc clang; do
	command -v "$cc" >/dev/null || continue
	row cuda 191 ROW_OF_TEST
	check "$cc: the last number of a range is its provider's" compiles "$cc"
	row cuda 192 ROW_OF_TEST
	check "$cc: the next one is not" refused 'row_of_test: id is not of its provider.*range' "$cc" types.c
	row nvidia 5 ROW_OF_TEST
	check "$cc: nor is an old one" refused "GRT_EVENT_NUMBER_5\b" "$cc" types.c
	row custom 970 ROW_OF_TEST
	check "$cc: a number that no row has" compiles "$cc"
	row nvidia 38 ROW_OF_TEST
	check "$cc: new rows of other providers have none of the first" refused 'row_of_test: id is not of its provider.*range' "$cc" types.c
	row cuda 46 ROW_OF_TEST
	check "$cc: a number of two rows" refused "redefinition.*GRT_EVENT_NUMBER_46|redeclaration.*GRT_EVENT_NUMBER_46" "$cc" types.c
	row custom 0x3ca ROW_OF_TEST && printf 'GRT_EVENT(970, OTHER_ROW, other_row, custom, NORMAL, CURRENT, , "another")\n' >>include/grtrace/events/custom.def
	check "$cc: written in two ways" refused 'override' "$cc"
	row custom 1024 ROW_OF_TEST
	check "$cc: a number that no set of types has" refused 'row_of_test: id out of range' "$cc" types.c
	row core 0 ROW_OF_TEST
	check "$cc: the number of nothing" refused 'row_of_test: id out of range' "$cc" types.c
done

check "the table of events is in the program once" test "$(nm "$GRTRACE" | grep -c ' grt_event_table$')" = 1
echo "1..$n"
