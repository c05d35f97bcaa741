#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace timeline: options, widths, forms of bars, inputs that are broken.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE_BUILD/tests/golden/timeline_traces" || exit 1
unset COLUMNS

# The longest line of the bars, in characters.
longest() {
	grep -E '\|.*\|' <<<"$output" | wc -L
}
lines_fit() { # WIDTH
	test "$(longest)" -le "$1" && test "$(longest)" -ge $(($1 - 1))
}
blocks() {
	grep -q '█' <<<"$output"
}
no_blocks() {
	! grep -qE '[▁▂▃▄▅▆▇█▏▎▍▌▋▊▉]' <<<"$output"
}

run timeline
expect "without an input it says how to get one" 1 'there is no ./grtrace.out.grt: nothing was recorded here$'
check "and what to type" says 'try: grtrace record -- PROGRAM, or grtrace timeline PATH'
cp -r frames.grt grtrace.out.grt
run timeline
expect "the default input" 0 '^gfx_0\.0\.0 graphics \|'
text=$output
run timeline frames.grt
check "a path gives the same output" test "${text//grtrace.out.grt/frames.grt}" = "$output"
text=$output
run timeline -i frames.grt
check "-i gives the same output" test "$text" = "$output"
cat frames.grt/kmod_0 frames.grt/kmod_1 >raw
run timeline raw
expect "a raw file" 0 '^gfx_0\.0\.0 graphics \|     █'

cat >lines.txt <<'END'
[1.000000000] START ctx=0x5 engine=graphics ring=0 seq=1
[1.000600000] START ctx=0x5 engine=graphics ring=0 seq=2
[1.000400000] END ctx=0x5 engine=graphics ring=0 seq=1
[1.001000000] END ctx=0x5 engine=graphics ring=0 seq=2
END
run timeline lines.txt --ascii --width 40
expect "text" 0 '^ring 0 \.\.\|@@@@@@@@    @@@@@@@@\|  80\.0 %$'

run timeline frames.grt many.grt
expect "two traces" 2 "more than one trace: 'many.grt'"
run timeline -i frames.grt many.grt
expect "two traces in two ways" 2 "more than one trace: 'many.grt'"
run timeline none.grt
expect "a trace that is not there" 1 'none.grt: cannot open: No such file'
for bad in 0 19 1001 -1 x 99999999999999999999 ''; do
	run timeline frames.grt "--width=$bad"
	check "--width '$bad' is refused" exits 2
done
for bad in 4294967296 -1 x ''; do
	run timeline frames.grt "--pid=$bad"
	check "--pid '$bad' is refused" exits 2
done
run timeline frames.grt --ring ''
expect "an empty ring is refused" 2 "--ring: '' is not understood"
run timeline frames.grt --ring 99999999999999999999
expect "a ring beyond all numbers, too" 2 'ring ids are at most 4294967295'
run timeline frames.grt --ring sdma1
expect "a ring that the trace does not have" 1 'frames.grt: --ring sdma1: the trace has no such ring; it has '
run timeline frames.grt --pid 81 --ring 0
expect "a process that it does not have" 1 'frames.grt: --pid 81 --ring 0: the trace has no such ring; it has '
run timeline frames.grt --from 30
expect "a time outside of the trace" 2 'no event is between --from and --to: the trace goes from 20.000000000 to 20.010000000'
run timeline frames.grt --from -1ms --to +1ms
expect "from after to" 2 -- '--from is after --to'

run timeline frames.grt --ring 1
expect "a ring by its id" 0 '^sdma0 copy'
text=$output
run timeline frames.grt --ring sdma0
check "--ring with the ring's name gives the same output" test "${text/only_ring  1/only_ring  sdma0}" = "$output"
check "--ring: no other ring is shown" eval '! says "^gfx_"'
run timeline frames.grt --pid 80
check "--pid: the process is named" says '^de.x09sk\(80\)'
check "--pid: a note says that the bars cover only its jobs" says 'cover the selected jobs only'
run timeline frames.grt --latency-only
expect "--latency-only has latencies" 0 '^gfx_0\.0\.0 +graphics +t_exec'
check "--latency-only shows no bars" eval '! says "gaps|^rings"'

for width in 20 39 40 80 1000; do
	run timeline frames.grt --width $width
	check "--width $width" lines_fit $width
done
COLUMNS=100 run timeline frames.grt
check "the width of COLUMNS" lines_fit 100
COLUMNS=7 run timeline frames.grt
check "an invalid COLUMNS is ignored" lines_fit 80
unset COLUMNS
run timeline frames.grt
check "without COLUMNS the width is 80" lines_fit 80
check "in a UTF-8 locale: blocks" blocks
run timeline frames.grt --ascii
check "--ascii: no block characters" no_blocks
LC_ALL=C run timeline frames.grt
check "C locale: no block characters" no_blocks
check "C locale: the same bars in ASCII" says '^gfx_0.0.0 graphics \|     @@@@@@@@@@@='
output=$(env LC_ALL=no_SUCH.UTF-8 "$GRTRACE" timeline frames.grt 2>&1)
status=$?
expect "nor in one that is not there" 0 '@@@@'
check "no colour on a pipe" eval '! says $'"'\033'"

# On a terminal: its width, and colour unless NO_COLOR says no.
if command -v script >/dev/null; then
	terminal() { # COMMAND...
		output=$(script -qec "stty cols 61; $*" /dev/null </dev/null | tr -d '\r')
	}
	terminal env -u NO_COLOR TERM=xterm "$GRTRACE" timeline frames.grt
	check "a terminal gets colour" says $'\033\\[32m'
	terminal env NO_COLOR=1 TERM=xterm "$GRTRACE" timeline frames.grt
	check "NO_COLOR: no colour" eval '! says $'"'\033'"
	check "the width of the terminal is used" lines_fit 61
	terminal env NO_COLOR=1 COLUMNS=200 "$GRTRACE" timeline frames.grt --width 50
	check "--width overrides the width of the terminal" lines_fit 50
fi

# Names are shown, their control characters are not.
run timeline hostile.grt --ascii
check "hostile names are escaped" test -z "$(LC_ALL=C tr -d ' -~\n\226\210\342' <<<"$output")"
check "hostile names are printed escaped" says '^a.x0db.x7f.xc2'
run timeline hostile.grt --json
check "also in JSON" test -z "$(LC_ALL=C tr -d ' -~\n\226\210\342' <<<"$output" | tr -d '\357\277\275')"

# Busy is what report says it is.
run report frames.grt --by ring --csv
share=$(cell 0 busy)
run timeline frames.grt --json
check "report has the same share ($share)" says "\"ring\": 0, .*\"share\": ${share:-none}, "

size=$(stat -c %s late.grt/kmod_0)
truncate -s $((size - 100)) late.grt/kmod_0
run timeline late.grt
expect "a cut recording is an error" 1 'late.grt/kmod_0: offset [0-9]+: the last packet is cut'
check "after what is intact" says '^balance$'
run timeline /dev/null
expect "a file that is not a trace is an error" 1 'grtrace timeline: /dev/null: '
if [ -c /dev/full ]; then
	output=$("$GRTRACE" timeline frames.grt 2>&1 >/dev/full)
	status=$?
	expect "a full disk is one" 1 'cannot write to standard output: No space left'
fi
plan
