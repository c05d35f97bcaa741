#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace flame: folded stacks and pictures of a recording and of folded stacks.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE_BUILD/tests/cli/stacks" stacks.grt || exit 1

output=$("$GRTRACE" flame stacks.grt 2>err)
status=$?
check "exit status" exits 0
check "the submitting stack, outermost first, and the ring" says '^app;main;draw:one;ioctl;\[GPU gfx\] 300$'
check "the kernel's frames follow the user's frames" says '^app;main;\[unknown\];sys_ioctl;drm_ioctl;\[GPU gfx\] 1000$'
check "stacks with equal names are one line" says '^other;main;\[GPU sdma0\] 70$'
check "a job without a stack is under its process" says '^app;\[GPU gfx\] 5$'
check "control characters cannot add a line" says '^app;\\x0abad\\x1b\[2J;\[GPU gfx\] 11$'
check "all lines are printed, sorted" test "$(wc -l <<<"$output") $(LC_ALL=C sort <<<"$output" | md5sum)" = \
	"5 $(md5sum <<<"$output")"
output=$(cat err)
check "a message has the number of jobs, their time, and the share under a stack" says '^grtrace flame: 7 jobs, 0.001 ms of GPU time, 99.6 % of it under a stack$'
# 1000, 300 and 70 of 1386 ns
check "a message has the share under stacks that reach the program's start" says "^grtrace flame: 98.8 % of GPU time under a stack that reaches the program's entry\$"
check "a message has the number of jobs that are left out" says '^  1 job is left out: its time on the GPU is unknown$'

run flame -v stacks.grt
check "-v: a message says why the remaining time has no stack" says '^  0.4 %, of 1 job, kernel or copy: no stack: '
run report stacks.grt --by ends --json
check "report has the same sums by end of stack" test "$(jq -c '[.stack_ends[] | [.end, .gpu, .works]]' <<<"$output")" = \
	'[["unknown",11,1],["entry",1370,5],["none",5,1]]'

run flame -i stacks.grt -o out.folded
expect "-o" 0 'under a stack'
check "-o: only the owner can read the file" test "$(stat -c %a out.folded)" = 600
check "-o: the file has the lines" test "$(wc -l <out.folded)" = 5
run flame stacks.grt -o no/such/out
expect "an output that cannot be written" 1 'cannot create no/such/out'
run flame stacks.grt --from 0.000001010
check "--from: stacks that were defined earlier are known" says '^app;main;draw:one;ioctl;\[GPU gfx\] 300$'
"$GRTRACE_BUILD/tests/golden/report_traces" || exit 1
run flame rounds.grt --to +34us
expect "kernels by when they ran" 0 '^game;draw;\[GPU_Kernel\]scale 15000$'
check "--from and --to: the message counts only kernels and copies between them" says '^grtrace flame: 3 kernels and 0 copies, 0.015 ms of GPU time; 3 \(100.00 %\)'
run flame rounds.grt --from +36us
expect "with launches from before" 0 '^game;draw;\[GPU_Kernel\]scale 15000$'
run flame --weight launches rounds.grt --from +38us --to +41us
check "a launch whose kernel ran after --to is not pending" test "$(grep -c Pending <<<"$output")" = 0
for weight in $("$GRTRACE" --complete flame --weight ''); do
	run flame --weight "$weight" stacks.grt
	check "--weight $weight is a part of an analysis" test "$status" -le 1
done
run flame stacks.grt --from +1s --to +2s
expect "nothing in this time" 2 "no event is between --from and --to"
run flame no.grt
expect "no such trace" 1 'no.grt: cannot open'
run flame
expect "no recording here" 1 'try: grtrace record --stack=bpf'
run flame stacks.grt other.grt
check "two traces are refused" exits 2

# Linkage names, which the recorder does not demangle. The second is longer than a record's field, the fourth
# is none.
names=(
	_ZN3gpu4draw5sceneEi
	_ZN2at6native27unrolled_elementwise_kernelINS0_13BinaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEESt5arrayIPcLm3EELi4E23TrivialOffsetCalculatorILi2EjES9_ILi1EjENS0_6memory12LoadWithCastILi2EEENSC_13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_
	_RNvNtCs1234_4demo3gpu6submit
	_ZN3gpu9unfinishedIN1
	main
)
"$GRTRACE_BUILD/tests/cli/stacks" linked.grt "${names[@]}" || exit 1
expected=$(for ((i = ${#names[@]} - 1; i >= 0; i--)); do c++filt -p "${names[i]}" | sed 's/\[[0-9a-f]*\]::/::/' |
	cut -b -175; done | paste -sd';')
run flame linked.grt
check "linkage names are demangled" grep -qxF "app;$expected;[GPU gfx] 100" <<<"$output"
check "one demangled name, compared with a fixed text" says ';gpu::draw::scene;\[GPU gfx\] 100$'
run dump linked.grt
check "the longer linkage name has one record more" test "$(grep -c ' FRAME ' <<<"$output")" = 6

# what it stands on, weighs and leaves out
output=$("$GRTRACE" flame stacks.grt --by stream 2>err)
check "--by stream: the ring is the outermost frame" says '^\[GPU gfx\];app;main;draw:one;ioctl;\[GPU gfx\] 300$'
output=$("$GRTRACE" flame stacks.grt --by device 2>err)
check "--by device" says '^\[GPU device 0\];other;main;\[GPU sdma0\] 70$'
"$GRTRACE_BUILD/tests/cli/export_traces" all named.grt
output=$("$GRTRACE" flame named.grt --by device 2>err)
check "--by device: a device with a name" says '^\[GPU device renderD128\];app;\[GPU gfx\] 270$'
output=$("$GRTRACE" flame stacks.grt --by graph 2>err)
check "--by graph: jobs have no graph" says '^\[no graph\];other;main;\[GPU sdma0\] 70$'
output=$("$GRTRACE" flame stacks.grt --weight launches 2>err)
check "--weight launches counts jobs" says '^app;main;draw:one;ioctl;\[GPU gfx\] 2$'
output=$("$GRTRACE" flame stacks.grt --only copies 2>err)
check "--only copies: rings that feed copy engines" test "$output" = ""
run flame stacks.grt --weight bytes
expect "--weight bytes" 1 'cannot add up bytes: jobs have no size in bytes'
# a digit too many in a line of CUPTI's text: an end in the year 2340
sed 's/1700000000000009900/11700000000000009900/' "$GRTRACE_SRC/tests/golden/examples/cupti-sample.txt" >damaged.txt
run flame damaged.txt -o damaged.svg
expect "times that are too long" 1 'damaged.txt: cannot add up: the sum of its times is more than 2\^63 ns'
for command in "export -f folded -o damaged.folded" "export -f pprof -o damaged.pprof" "report -o damaged.html"; do
	# shellcheck disable=SC2086 # a command and its words
	run $command damaged.txt
	expect "times that are too long: $command" 1 'cannot write to damaged.*: the times in the trace add up to more than 2\^63 ns'
	check "no file is written" test ! -e "${command##* }"
done
run flame stacks.grt --by ring
expect "an unknown word" 2 "--by: 'ring' is not one of: process, thread, device, stream, graph"
run flame stacks.grt --min wide
expect "no number of pixels" 2 "--min: 'wide' is not understood"

# folded stacks as the input
cat >in.folded <<'END'
a;b c 3
a;b c;d(x, y) 0.5
a;b c;d(x, y) 1.75

a;e;;f 0
no weight
x;&<>"' 10
END
printf 'bad;\x01\xff\xef\xbf\xbf\\ 7\r\n' >>in.folded
output=$("$GRTRACE" flame in.folded 2>err)
status=$?
check "folded stacks are read" exits 0
cat >want <<'END'
a;b c 3
a;b c;d(x, y) 2
a;e;[unknown];f 0
END
printf 'bad;\\x01\\xff\xef\xbf\xbf\\ 7\n%s\n' "x;&<>\"' 10" >>want
check "weights add up, fractions are carried, nothing is lost" diff want <(echo "$output")
check "what is written reads back the same" diff want <("$GRTRACE" flame - <want 2>/dev/null)
output=$(cat err)
check "lines are told" says '^grtrace flame: in.folded: 7 lines, 6 stacks$'
check "what is no stack, too" says '1 line does not end with a weight and is not in it, the first is line 6$'
cp in.folded stacks.txt
output=$("$GRTRACE" flame stacks.txt 2>/dev/null)
check "under any name" diff want <(echo "$output")
run flame in.folded --by stream
expect "they have no streams" 2 'in.folded is folded stacks: they have no --by'
printf 'nothing here\n' >no.folded
run flame no.folded
expect "a file without any" 1 'no.folded: no folded stacks: no line has the form FRAME;FRAME'
printf 'a;b 9223372036854775807\nc 1\n' >large.folded
run flame large.folded
expect "more than can be added up" 1 'cannot read large.folded: its weights add up to more than 2\^63'
head -c 3000000 /dev/zero | tr '\0' ';' >deep.folded
echo ' 5' >>deep.folded
output=$("$GRTRACE" flame deep.folded 2>err)
check "a stack without end is cut, its weight is kept" says '\[unknown\] 5$'
output=$(cat err)
check "and said to be" says '1 stack is too deep: it ends after 4096 frames'

# pictures
run flame in.folded -o out.svg
expect "an SVG" 0 '^  7 frames drawn; 3 with 0.00 % of the weight are narrower than 0.1 pixels$'
check "it is XML" xmllint --noout out.svg
check "names are escaped" grep -qF '<title>&#38;&#60;&#62;&#34;&#39;' out.svg
check "it names no other resource" test "$(grep -oE '(href|src|url\()[^ ]*' out.svg | wc -l)" = 0
"$GRTRACE" flame in.folded -o again.svg 2>/dev/null
check "the same input gives the same bytes" cmp out.svg again.svg
run flame in.folded -o out.svg --min 200
expect "--min leaves out narrow frames, and a message counts them" 0 '^  6 frames drawn; 4 with 9.09 %'
run flame in.folded -o out.html --title '</title><script>x</script>'
expect "a page" 0 'frames drawn'
check "with a title that is text" grep -qF '<title>&#60;/title&#62;&#60;script&#62;' out.html
check "it runs its own script alone, and fetches nothing" test -z "$(python3 "$GRTRACE_SRC/tests/cli/_page.py" out.html heads)"
check "no byte of a name stands in it as it came" test "$(grep -c -F 'd(x, y)' out.html)" = 0
check "it has every stack, to the last one" diff <("$GRTRACE" flame in.folded 2>err) \
	<(python3 "$GRTRACE_SRC/tests/cli/_page.py" out.html folded)
"$GRTRACE" flame in.folded -o again.html --title '</title><script>x</script>' 2>err
check "the same input gives the same page" cmp out.html again.html
run flame stacks.grt -o stacks.html
check "a recording's page has its stacks to the ns" diff <("$GRTRACE" flame stacks.grt 2>err) \
	<(python3 "$GRTRACE_SRC/tests/cli/_page.py" stacks.html folded)
check "and the losses that are told" grep -q '1 job is left out' <(python3 "$GRTRACE_SRC/tests/cli/_page.py" stacks.html block flame)
run flame stacks.grt -o out.svg
expect "a recording's" 0 'under a stack'
check "in units of time" grep -qF '1.00 us, ' out.svg
run flame want -o out.svg --unit us
check "--unit scales the weights of folded stacks" grep -qF '22.0 us in all' out.svg
run flame in.folded -o x.png
expect "an ending that is no form's" 2 '--output x.png: the ending .png is unknown; there are .folded'
check "no file is written for an unknown ending" test ! -e x.png
run flame in.folded -o some.dir/x
expect "a directory's dot is no ending" 1 'cannot create'
run flame in.folded -o no/such.svg
expect "a picture that cannot be written" 1 'cannot create no/such.svg'
check "no temporary file is left" test "$(find . -name '*.svg.*' | wc -l)" = 0
"$GRTRACE" flame in.folded >/dev/full 2>err
status=$? output=$(cat err)
expect "a full disk" 1 'cannot write to standard output'

# comparison
sed 's/^x.*/y;new 30/' in.folded >after.folded
output=$("$GRTRACE" flame after.folded --diff in.folded 2>/dev/null)
check "--diff as folded stacks: the values before and now" says '^y;new 0 30$'
check "--diff: stacks that only the first file has" says "^x;&<>\"' 10 0$"
run flame after.folded --diff in.folded -o out.svg
expect "--diff as a picture: a message has the weight that is gone" 0 '^  45.45 % of the weight before is gone$'
run flame after.folded --diff stacks.grt -o out.svg
expect "a recording to compare with" 0 'frames drawn'

# traces in JSON, as PyTorch's profiler writes them
cat >trace.json <<'END'
{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "a \"card\"", "x": [1, {"traceEvents": 2}]}],
 "traceEvents": [
 {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
 {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":1694039994071256.125,"dur":4,"args":{"correlation":5}},
 {"ph":"X","cat":"kernel","name":"add<\u0066loat>;\n","pid":0,"tid":7,"ts":1694039994071266.125,"dur":2.25,"args":{"device":0,"stream":7,"correlation":5}},
 {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":1694039994071270,"dur":1.500,"args":{"stream":7,"correlation":6,"bytes":4096}},
 {"ph":"X","cat":"kernel","name":"no time","pid":0,"tid":7,"ts":-1,"dur":1},
 {"ph":"s","id":5,"cat":"ac2g","name":"ac2g","ts":1}
 ], "traceName": "x"}
END
run flame --gpu trace.json -o json.folded
expect "a trace in JSON" 0 '0 CPU stacks; 1 launch and 2 kernels and copies, 0.004 ms'
check "a message counts lines of the GPU file that are not records" says "GPU file: 2 lines are not records, 1 record cannot be read"
check "JSON: times are exact, in us with the remainder carried over" test "$(awk '{ n += $NF } END { print n }' json.folded)" = 3
check "JSON: kernels have the names of the file" grep -qF '[GPU_Kernel]add<float>:' json.folded
check "JSON: copies have their direction" grep -q '^\[GPU_Memcpy HtoD\] ' json.folded
gzip -k trace.json
run flame --gpu trace.json.gz -o gz.folded
check "JSON: the same result from a gzip file" cmp gz.folded json.folded
echo '1694039994071257000 python 7 7 0 main;step' >cpu.txt
run flame --cpu cpu.txt --gpu trace.json
check "JSON: kernels are joined with CPU stacks" says "^main;step;\\[GPU_Kernel\\]add"
head -c 500 trace.json >cut.json
run flame --gpu cut.json -o cut.folded
expect "one that is cut within an event" 1 'cut.json: cut after event 3: its writer was killed, the disk was full, or the copy is incomplete'
check "a cut file: the message says what to type" says 'try: use the part that was read'
check "a cut file: the part before the cut is drawn" cmp cut.folded <(head -n 1 json.folded)
sed '/^ \]/,$d' trace.json >cut.json
run flame --gpu cut.json -o cut.folded
expect "a file that is cut after an event" 1 'cut.json: cut after event 6:'
check "is drawn whole" cmp cut.folded json.folded
sed 's/^ \].*/]/' trace.json >cut.json
run flame --gpu cut.json -o cut.folded
expect "one without its last brace" 1 'cut.json: cut after event 6:'
sed '/^{"schema/d; s/^ "traceEvents": //; /^ \]/,$d' trace.json | sed '$s/$/,/' | gzip >array.json.gz
run flame --gpu array.json.gz -o cut.folded
expect "an array that ends anywhere, within gzip" 0 '1 launch and 2 kernels'
check "is whole" cmp cut.folded json.folded
# zlib hands out whole blocks: without the file's last eight bytes only their sum is missing
head -c -8 array.json.gz >cut.json.gz
run flame --gpu cut.json.gz -o cut.folded
expect "gzip that is cut" 1 'cut.json.gz: cut after event 6:'
check "is drawn, too" cmp cut.folded json.folded
head -c 20 trace.json >cut.json
run flame --gpu cut.json -o none.folded
expect "one that is cut before its events" 1 'cut.json: cannot read further after event 0: it is not a trace in JSON, or it ends before the first'
sed '/no time/s/^/!/' trace.json >bad.json
run flame --gpu bad.json -o none.folded
expect "one that is no JSON further on" 1 'bad.json: cannot read further after event 4: it is not a trace in JSON'
check "leaves no files" test ! -e none.folded
printf '[{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2},' >array.json
run flame --gpu array.json
expect "an array that ends anywhere" 0 '\[GPU_Kernel\]k 2'
printf '[%s' "$(printf '[%.0s' {1..5000})" >deep.json
run flame --gpu deep.json
check "one that is nested without end" exits 1
printf '[{"ph":"X","cat":"kernel","name":"%s","ts":1,"dur":2}]' "$(printf 'x%.0s' {1..70000})" >long.json
run flame --gpu long.json -o long.folded
check "a long kernel name is cut" test "$(wc -c <long.folded)" -lt 66000
plan
