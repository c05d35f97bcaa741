#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace dump: lines, JSON, filters, damaged and hostile traces, closed pipes.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

for kind in job hostile many; do
	"$GRTRACE_BUILD/tests/cli/traces" $kind $kind.grt
done

has() { # TEXT: the output has this line
	grep -qxF -- "$1" <<<"$output"
}

lines() { # N
	test "$(wc -l <<<"$output")" = "$1"
}

run dump job.grt
check "a line per event, and nothing else" lines 9
check "fields, names and flags" has \
	'     0.000001000 [000] SUBMIT          ring=0(control) engine=graphics pid=12/13(kmscube) ctx=5 seqno=42 cmd=0x207 hw_ctx=1 fence_id=42 flags=commit'
check "signed fields" has \
	'   123.456789512 [001] COMPLETE        ring=0(control) engine=graphics pid=12/13(kmscube) ctx=5 seqno=42 status=-5 hw_ctx=1'
text=$output
cat job.grt/kmod_0 job.grt/kmod_1 >raw
run dump raw
check "a raw file gives the same output" test "$output" = "$text"
run dump -i job.grt --json
check "JSON: an object per event" lines 9
check "JSON: all fields" has \
	'{"time":123456789512,"cpu":1,"type":"COMPLETE","engine":"graphics","pid":12,"tid":13,"ctx":5,"seqno":42,"ring":0,"ring_name":"control","driver":"virtio_gpu","comm":"kmscube","process":"kmscube","status":-5,"hw_ctx":1,"t_complete_ns":500,"t_total_ns":123456788512}'

run dump -n 3 many.grt
check "-n limits the number of events" lines 3
run dump --ring 1 many.grt
check "--ring selects events of the ring" lines 25000
run dump --type Submit,COMPLETE job.grt
check "--type, in upper and lower case" lines 2
run dump --type name -n 1 --json job.grt
check "several filters at once" lines 1
run dump --type submit,sumbit job.grt
expect "a type that does not exist" 2 "'sumbit' is not an event type; there are: submit, commit, start, .*name, "
run dump --type '' job.grt
expect "an empty list of types" 2 "'' is not understood"
run dump job.grt many.grt
expect "two traces" 2 "more than one trace: 'many.grt'"
run dump -i job.grt many.grt
expect "two traces in two ways" 2 "more than one trace: 'many.grt'"

run dump
expect "no default input and no module" 3 'there is no ./grtrace.out.grt: nothing was recorded here, and the kernel module.*is not loaded'
check "without a recording, a message says how to make one" says 'try: grtrace record'
cp -r job.grt grtrace.out.grt
run dump
check "the default input is read" lines 9

# What a trace says never reaches the terminal as a control character.
run dump hostile.grt
check "hostile names are escaped" test -z "$(LC_ALL=C tr -d ' -~\n' <<<"$output")"
check "hostile names are printed escaped" says 'pid=0/1\(\\x1b\]0;owned\\x07\\xff\\xe2\\x80\\xae\)'
run dump --json hostile.grt
check "hostile names are escaped in JSON, too" test -z "$(LC_ALL=C tr -d ' -~\n' <<<"$output" | tr -d '\357\277\275')"
check "hostile names cannot add a line to JSON" lines 3

run dump --from 900 --to 800 job.grt
expect "an end before its begin, outside of the trace, too" 2 '--from is after --to'
run dump --from 900 job.grt
expect "a begin after the end of the trace" 2 'no event is between --from and --to'

size=$(stat -c %s many.grt/kmod_1)
truncate -s $((size - 1000)) many.grt/kmod_1
run dump many.grt
expect "a cut recording is an error" 1 'many.grt/kmod_1: offset [0-9]+: the last packet is cut after [0-9]+ bytes: '
check "the intact part of a cut recording is printed" test "$(wc -l <<<"$output")" -gt 49000
check "the message about a cut recording says what to type" says 'grtrace mend many.grt'
whole=$("$GRTRACE" report --json many.grt 2>/dev/null)
run report many.grt
expect "nor does its report say that all is accounted for" 1 'accounted +no +events where the files are cut or damaged are not counted$' \
	'the files are cut or damaged in 1 place: events may be missing there, and nothing counts them'
check "nor in JSON" grep -q '"closes": *false' <<<"$whole"
check "dump does not change the cut recording" test "$(stat -c %s many.grt/kmod_1)" = $((size - 1000))
run mend many.grt
expect "mend cuts it back" 0 '^many.grt: 1 file cut back to whole packets, [0-9]+ bytes less$'
check "mend removes as many bytes as it reports" test "$(sed -E 's/.*packets, ([0-9]+) bytes.*/\1/' <<<"$output")" = \
	$((size - 1000 - $(stat -c %s many.grt/kmod_1)))
run report many.grt
expect "what is left is accounted for" 0 'every event is accounted for'
run mend many.grt
expect "once" 0 '^many.grt: all packets are whole$'
run mend /dev/null
expect "a file that is not a recording has no files to list" 1 '/dev/null: not a trace|/dev/null: not a recording'
run mend many.grt/kmod_1
expect "nor has a single file" 1 'many.grt/kmod_1: not a recording: it is a file, and a recording is a directory'
run mend
expect "of nothing" 2 'no recording given'
run dump -n 1 many.grt
expect "and it is sound then" 0 '\[000\] START'
printf garbage >many.grt/notes
run dump many.grt
expect "a foreign file is named" 1 'many.grt/notes: not a file of packets'
check "and nothing is printed" lines 2
rm many.grt/notes
printf '\377' | dd of=many.grt/kmod_0 bs=1 seek=234 conv=notrunc status=none
run dump many.grt
expect "the error names the place of a broken record" 1 'many.grt/kmod_0: offset 224: broken record: '
sed 's/grtrace_format = [0-9]*/grtrace_format = 77/' job.grt/metadata >metadata.new
mv metadata.new job.grt/metadata
run dump job.grt
expect "another format is refused" 1 'job.grt/metadata: format 77, this tool reads [0-9]+\.\.[0-9]+'
sed 's/"complete"/"recording"/' grtrace.out.grt/metadata >metadata.new
mv metadata.new grtrace.out.grt/metadata
run dump
expect "a recording that was not closed is printed, and said to be" 0 'grtrace.out.grt: the recorder did not finish this recording'
check "in full" lines 10

output=$("$GRTRACE" dump many.grt 2>&1 >pipe.out | head -n 1)
check "messages go to standard error" says 'broken record'
"$GRTRACE_BUILD/tests/cli/traces" many pipe.grt
output=$("$GRTRACE" dump pipe.grt 2>err | head -n 1)
check "a reader that has seen enough" lines 1
output=$(cat err)
check "is no error" silent
if [ -c /dev/full ]; then
	output=$("$GRTRACE" dump raw 2>&1 >/dev/full)
	status=$?
	expect "a full disk is one" 1 'cannot write to standard output: No space left'
fi
plan
