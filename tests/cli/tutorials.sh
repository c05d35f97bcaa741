#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the tutorials show is what their commands print: else tools/tutorials --write PROGRAM examples/tutorials FILE.md...

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
for file in "$GRTRACE_SRC"/docs/tutorials/*.md; do
	name=${file##*/}
	output=$("$GRTRACE_SRC/tools/tutorials" "$GRTRACE" "$GRTRACE_SRC/examples/tutorials" "$file" 2>&1)
	status=$?
	check "$name: its commands print what it shows" exits 0
	output=$(grep -oE '^!\[[^]]+\]\([a-z-]+\.png\)$' "$file" | sed 's/.*(//; s/\.png)//' | while read -r picture; do
		[ -s "${file%/*}/$picture.png" ] && grep -qE "^$picture (axis|[0-9]+) " "$GRTRACE_SRC/tools/pictures" && echo "$picture"
	done)
	check "$name: its picture is one that make tutorials draws" test "$output" = "${name%.md}"
	check "$name: README.md leads to it" grep -qF "(docs/tutorials/$name)" "$GRTRACE_SRC/README.md"
done
for picture in $(grep -oE '\(docs/page-[a-z-]+\.png\)' "$GRTRACE_SRC/README.md" | sed 's/(docs\/\(.*\)\.png)/\1/'); do
	check "README.md: $picture is one that make tutorials draws" grep -qE "^\.\./$picture (axis|[0-9]+) " "$GRTRACE_SRC/tools/pictures"
done
tar -xf "$GRTRACE_SRC/examples/tutorials/slow-input.grt.tar.xz"
run report slow-input.grt --from +9.95s --to +10.12s
check "a step that took 0.08 % longer than the others is no finding" test "$(grep -c 'more than the median' <<<"$output") $(grep -c 'in an ordinary step' <<<"$output")" = "0 1"
sed 's/ordinary/strange/' "$GRTRACE_SRC/docs/tutorials/idle-gpu.md" >changed.md
output=$("$GRTRACE_SRC/tools/tutorials" "$GRTRACE" "$GRTRACE_SRC/examples/tutorials" changed.md 2>&1)
status=$?
check "a text that differs is seen" exits 1
check "and shown" says '^\+rank 0 .PID 556.: in an ordinary step'
sed 's/--after 0.4/--behind 0.4/' "$GRTRACE_SRC/docs/tutorials/late-frame.md" >changed.md
output=$("$GRTRACE_SRC/tools/tutorials" "$GRTRACE" "$GRTRACE_SRC/examples/tutorials" changed.md 2>&1)
status=$?
check "a recording with a wrong option is seen" exits 1
check "and why" says 'unknown option --behind'
plan
