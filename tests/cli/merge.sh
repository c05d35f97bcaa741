#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace merge and grtrace annotate: options, files that are whole or not there, hostile and broken input, program names.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE_BUILD/tests/golden/merge_traces"

lines() { # N
	test "$(wc -l <<<"$output")" = "$1"
}

mode() { # FILE
	test "$(stat -c %a "$1")" = 600
}

alone() { # no file beside the ones that were there
	test "$(ls)" = "$files"
}

# --------------------------------------------------------------------- merge
run merge
expect "nothing to merge" 2 'give --cpu FILE and --gpu FILE'
run merge --cpu cpu.grt --gpu no-such
expect "an input that is not there" 1 'no-such: cannot open: No such file'
run merge --cpu cpu.grt --gpu gpu.grt --clock-offset 5x
expect "an offset that is no number" 2 "'5x' is neither a number of ns nor auto"
for inputs in gpu.grt '--cpu cpu.grt' '--cpu cpu.grt gpu.grt'; do
	# shellcheck disable=SC2086 # an option and its argument
	run merge $inputs --clock-offset -1000000000
	expect "an offset with $inputs" 2 'has no input to move: it applies to the --gpu input, and none was given'
	check "says what to type" says 'try: --gpu FILE'
done
run merge --gpu gpu.grt --clock-offset auto
expect "an estimate from one input" 2 'with one input: auto compares the jobs'
check "says what to type" says 'try: --cpu FILE, or a number of ns'
run merge --gpu gpu.grt --clock-offset -1000000000
expect "one --gpu input is moved" 0 'clock offset: -1000000000 ns added to both'
moved=$(grep '^\[' <<<"$output")
run merge --gpu gpu.grt
check "a single input: all of its events are moved" test "$(sed 's/^\[10/[9/' <<<"$output" | grep '^\[')" = "$moved"
run merge --cpu cpu.grt --gpu gpu.grt --stats-only --pretty
expect "statistics have no lines" 2 'prints no timeline'
run merge --cpu cpu.grt --gpu gpu.grt --json --pretty
expect "one form" 2 'exclude each other'
run merge --cpu cpu.grt --gpu gpu.grt --from 20
expect "a time that nothing has" 2 'the inputs go from 10.000000000 to 10.000420000'
run merge --cpu cpu.grt --gpu gpu.grt --from 10.0002 --to 10.0001
expect "a range that is none" 2 '--from is after --to'
run merge --cpu cpu.grt --gpu gpu.grt --from -20us
expect "from before the end" 0 'CPU CLOSE'
check "--from: no earlier event is printed" lines 6
printf 'neither\nthis\n' >garbage
run merge --cpu garbage --gpu gpu.grt
expect "no line that is understood" 1 'garbage: lines? 1 to 2: no events'
head -c 4096 /dev/urandom >noise
run merge --cpu cpu.grt --gpu noise
expect "no packet" 1 'noise: '

run merge --cpu cpu.grt --gpu gpu.grt -o timeline
check "--output: nothing is printed" silent
check "--output: the file has mode 0600" mode timeline
check "--output: the file has the events" test "$(grep -c '^\[' timeline)" = 52
cp timeline before
files=$(ls)
run merge --cpu gpu.grt --gpu cpu.grt -o timeline
expect "no event of either side" 1 'no events to merge'
check "an error leaves the file unchanged" cmp timeline before
check "an error leaves no other file" alone
run merge --cpu cpu.grt --gpu gpu.grt -o no-such/timeline
expect "a directory that is not there" 1 'cannot create no-such/timeline.*No such file'
run merge --cpu cpu.grt --gpu gpu.grt -o /dev/null
expect "a device is written to as it is" 0 '^$'
check "a device stays a device" test -c /dev/null
if [ -c /dev/full ]; then
	output=$("$GRTRACE" merge --cpu cpu.grt --gpu gpu.grt 2>&1 >/dev/full)
	status=$?
	expect "a full disk" 1 'cannot write to standard output: No space left'
fi
output=$("$GRTRACE" merge --cpu cpu.grt --gpu gpu.grt 2>err | head -n 1)
check "a reader that has seen enough" lines 1
output=$(cat err)
check "is no error" silent

# A pipe is read as it comes.
mkfifo pipe
"$GRTRACE" annotate -i cpu.grt -o pipe 2>/dev/null &
run merge --cpu pipe --gpu gpu.grt
expect "text from a pipe" 0 'CPU IOCTL_ENTER .*comm=my game'
check "is merged whole" test "$(grep -c '^\[' <<<"$output")" = 52
wait
output=$("$GRTRACE" annotate -i cpu.grt 2>/dev/null | "$GRTRACE" merge --cpu - --gpu gpu.grt --from +1us 2>&1)
status=$?
expect "a pipe has no start to count from" 2 'relative to the start or end need files'

size=$(stat -c %s gpu.grt/kmod_0)
cp -r gpu.grt cut.grt
truncate -s $((size - 100)) cut.grt/kmod_0
run merge --cpu cpu.grt --gpu cut.grt
expect "a cut recording is an error" 1 'cut.grt/kmod_0: offset 0: the last packet is cut'
check "after what is left" says 'CPU IOCTL_EXIT'

# -------------------------------------------------------------------- clocks
for of in cpu gpu; do
	cp -r $of.grt $of-boot.grt
	sed -i "s/^\ttracer_name = .*/&\n\tboot_id = \"boot of $of\";/" $of-boot.grt/metadata
done
run merge --cpu cpu-boot.grt --gpu gpu-boot.grt
expect "recordings of two boots" 0 'cpu-boot.grt and gpu-boot.grt are of different boots, so their clocks differ'
check "says what to type" says 'try: --cpu FILE --gpu FILE --clock-offset NS|auto'
run merge --cpu cpu-boot.grt --gpu gpu-boot.grt --clock-offset 5
check "with an offset that is known" test -z "$(grep boots <<<"$output")"
run merge --cpu cpu-boot.grt --gpu gpu.grt
check "nothing is known of one of them" test -z "$(grep boots <<<"$output")"

# ------------------------------------------------------------------- hostile
{
	printf '[1.000001] IOCTL_ENTER pid=1 tid=1 comm=<script>alert("x")</script> cmd=0x1 arg=0x2\n'
	printf '[1.000002] IOCTL_EXIT pid=2 tid=2 comm=a\033]0;owned\007\xff\xe2\x80\xae ret=0\n'
	printf '[1.000003] IOCTL_EXIT pid=3 tid=3 comm=%s ret=0\n' "$(head -c 65536 /dev/zero | tr '\0' x)"
	printf '[1.000004] IOCTL_EXIT pid=4 tid=4 comm=nul\0here ret=0\n'
	printf '%s\n' "$(head -c 1000000 /dev/zero | tr '\0' =)"
	printf '[1.000005] %s key=1\n' "$(head -c 100000 /dev/zero | tr '\0' E)"
	printf '[1.000006] GPU SUBMIT ctx_id=0x5, ring=\033[2J, seqno=99999999999999999999'
} >hostile
for form in '' --pretty --json; do
	# shellcheck disable=SC2086 # an option or none
	run merge hostile $form
	expect "hostile names ${form:-in lines}" 0 script
	check "hostile names send no commands to the terminal" test -z "$(LC_ALL=C tr -d ' -~\n\200-\377' <<<"$output")"
	check "hostile names add no line" test "$(grep -c -e '^\[1\.' -e '^1\.' -e '^{' <<<"$output")" = 5
done
run merge hostile -v
check "a message has the number of the line that was not understood" says 'hostile: 1 of 7 lines were not understood, the first is line 5: ====='
check "a line that was not understood is printed in a line of its own" test "$(awk 'length > 300' <<<"$output" | wc -l)" = 0
check "an unknown event is counted" says 'hostile: 1 event is not about GPU jobs'

# ------------------------------------------------------------------ annotate
run annotate -i cpu.grt -d 5
expect "annotate: -d is for the system" 2 '-d works only on live events'
run annotate --all
expect "--all is for a trace" 2 '--all works only with -i'
run annotate cpu.grt
expect "a trace without -i" 2 "unexpected 'cpu.grt': give a trace with -i"
run annotate -p 99999999999
expect "a pid that is none" 2 'out of range'
run annotate -i cpu.grt -p 80 -o ioctls
expect "prints the counts" 0 '4 ioctls, 0 lost; 1 began before the trace: its duration is unknown; 1 did not end'
check "only the owner can read the file" mode ioctls
check "-p: the file has only events of the process" test "$(grep -c 'pid=80 ' ioctls)" = "$(wc -l <ioctls)"
run annotate -i garbage -o nothing
expect "a file that is not a trace" 1 'garbage: '
check "makes no file" test ! -e nothing
run annotate -i /no/such
expect "a file that does not exist" 1 '/no/such: cannot open'

# -------------------------------------------------------------- program names
ln -s "$GRTRACE" merge_timeline
ln -s "$GRTRACE" merge_timeline.py
ln -s "$GRTRACE" grtrace-bpf-annotate
for name in ./merge_timeline ./merge_timeline.py; do
	output=$($name --cpu cpu.grt --gpu gpu.grt --output by-name -v 2>&1)
	status=$?
	expect "$name is merge" 0 'cpu.grt: 23 events taken of 26 read'
	check "with the same result" cmp by-name timeline
done
output=$(./merge_timeline --help)
status=$?
expect "its help" 0 'grtrace merge: '
output=$(./grtrace-bpf-annotate -i cpu.grt 2>/dev/null)
status=$?
expect "grtrace-bpf-annotate is annotate" 0 'IOCTL_ENTER pid=70 tid=71 comm=my game cmd=0xc0406442 arg='
plan
