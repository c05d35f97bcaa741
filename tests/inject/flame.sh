#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# flame, report --by and export on recordings of CUDA, made with a mock: what they say is what happened.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"

# The recording is made by what is installed, read by the program under the sanitizers.
record() { # STACK SCENE [NUMBER]
	rm -f log
	MOCK_LOG=$PWD/log "$GRTRACE_PLAIN/grtrace" record -e cuda --stack="$1" -o c.grt -- "$MOCK/app" "$2" ${3+"$3"} >said 2>&1
	"$GRTRACE_BUILD/tests/inject/joined" c.grt >joined
}

# A number of the line that sums up all, as it is counted by the test's own program.
joined() { # NAME
	sed -n "1s/.*\b$1=\([0-9]*\).*/\1/p" joined
}

# Weights of a folded file, of the lines that have a regular expression.
weights() { # FILE [REGEX]
	grep -aE -- "${2:-.}" "$1" | awk '{ n += $NF } END { print n + 0 }'
}


sum_of() { # VIEW TABLE COLUMN
	"$GRTRACE" report c.grt --by "$1" --json | jq "[.$2[].$3] | add"
}

record inproc plain
run flame c.grt --weight launches -o l.folded
expect "a flame graph" 0 'kernels and [0-9]+ copies, .* of GPU time; .* \(100\.00 %\) under the stack of their launch'
work=$(($(joined kernels) + $(joined copies)))
check "each kernel and copy is in it once" test "$(weights l.folded)" = "$work"
check "under the functions of the program" test "$(weights l.folded '^app;.*;main;.*launches;launch;.*\[GPU_Kernel\]kernel')" -gt 0
run flame c.grt -o t.folded
ns=$(weights t.folded)
check "its time is the kernels'" test "$(printf '%d.%03d' $((ns / 1000000)) $((ns / 1000 % 1000)))" = \
	"$(sed -n '2s/.*gpu_ms=\([0-9.]*\).*/\1/p' joined)"
run export -f extended-folded -o x.cpu.txt c.grt
check "a line for each launch that has a stack: when, who, where" test \
	"$(grep -cE '^[0-9]+ app [0-9]+ [0-9]+ [0-9]+ [^;]+(;[^;]+)*$' x.cpu.txt)" = "$(joined launches)"
check "under the functions of the program" grep -qE '^[0-9]+ app [0-9]+ .*;main;.*launches;launch;' x.cpu.txt
run export -f folded -o e.folded c.grt
check "export makes the same" cmp e.folded t.folded
for by in process device stream graph; do
	run flame c.grt --weight launches --by $by -o x.folded
	check "--by $by leaves nothing out" test "$(weights x.folded)" = "$work"
done
run flame c.grt -o x.svg
check "a picture" grep -q '</svg>' x.svg
run flame c.grt -o x.html
check "a page" grep -q '</html>' x.html
run flame c.grt --diff c.grt -o x.svg
check "compared with itself" exits 0

# The recording has the names, inlined functions and lines: the program may be gone.
cp "$MOCK/app" app
for names in "" --no-symbols; do
	LD_LIBRARY_PATH=$MOCK MOCK_LOG=$PWD/log "$GRTRACE_PLAIN/grtrace" record $names -e cuda --stack=inproc \
		-o "names$names.grt" -- ./app plain >said 2>&1
done
run flame names--no-symbols.grt -o with.folded
rm app
run flame names.grt -o without.folded
check "with the program gone, its frames are as with it" cmp with.folded without.folded
check "and these have names" grep -q ';main;play;launches;launch;\[GPU_Kernel\]' without.folded
run flame names--no-symbols.grt
expect "not with --no-symbols" 0 '^app;app\+0x'
line=$(grep -n 'mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, KERNEL)' "$GRTRACE_SRC/tests/inject/mock/app.c" | head -n 1 | cut -d: -f1)
check "each function has its line" test "$("$GRTRACE" dump names.grt --json |
	jq -r 'select(.type == "CODE" and .function == "launch") | .line' | sort -u | head -n 1)" = "$line"
run report names.grt -v -w --by stack
expect "report -v has it, of all frames" 0 ";main \(app\.c:[0-9]+\);.*;launch \(app\.c:$line\)"
run flame names.grt -o names.svg
check "a picture has it where the mouse is" grep -q "<title>launch app.c:$line " < <(tr '\n' ' ' <names.svg)

# Work of graphs: under the code that made the node, and the launch of the graph is a frame there.
record inproc graphs
run flame c.grt --weight launches -o g.folded
# name, replayed by: launches, by the program's text: 3 or 2 nodes by 7, 100 and 20 replays
while read -r maker kernel by n; do
	check "$kernel, made by $maker, replayed by $by" test "$n" = "$(weights g.folded \
		"^app;.*;main;.*;graphs;$maker;.*\[graph replay at $by( \\([a-z.0-9:]+\\))?\\];\[GPU_Kernel\]$kernel")"
done <<-'NODES'
	capture_forward forward warm_up 21
	capture_forward forward serve 360
	add_loss loss warm_up 14
	add_loss loss serve 240
NODES
check "a node that was made before has the launch's stack" test 3 = "$(weights g.folded ';graphs;serve;.*\[GPU_Kernel\]old')"
check "nothing else is there" test 638 = "$(weights g.folded)"
run flame c.grt --weight launches --by graph -o b.folded
check "--by graph has the stack of the launch" test 600 = "$(weights b.folded ';graphs;serve;.*\[GPU_Kernel\](forward|loss)')"
"$GRTRACE" dump c.grt --json | jq -r 'select(.type == "GRAPH_NODE") | if .source == 0 then "made" else "cloned" end' |
	sort | uniq -c | awk '{ print $2, $1 }' >nodes
check "5 nodes were made and 15 cloned" test "$(tr '\n' ' ' <nodes)" = "cloned 15 made 5 "

# A graph in a graph, a conditional node's body that runs 4 times a replay, a node that gets another kernel: nodes by
# replays (and iterations), by the program's text.
record inproc nested-graphs
run flame c.grt --weight launches -o n.folded
while read -r maker kernel by n; do
	check "$kernel, made by $maker, replayed by $by" test "$n" = "$(weights n.folded \
		"^app;.*;main;.*;nested_graphs;$maker;.*\[graph replay at $by( \\([a-z.0-9:]+\\))?\];\[GPU_Kernel\]$kernel ")"
done <<-'NODES'
	capture_forward forward serve_loops 30
	capture_child attend serve_loops 20
	capture_body decode serve_loops 80
	capture_forward forward serve 15
	capture_child attend serve 5
	capture_child attend_better serve 5
NODES
check "nothing else is there" test 155 = "$(weights n.folded)"
"$GRTRACE" dump c.grt --json | jq -r 'select(.type == "GRAPH_NODE") | if .source == 0 then "made" else "cloned" end' |
	sort | uniq -c | awk '{ print $2, $1 }' >nodes
check "7 nodes were made and 9 cloned, 2 of these twice" test "$(tr '\n' ' ' <nodes)" = "cloned 9 made 7 "

# By operator: what a step of the program launches, by its text, 100 times; a kernel takes 1 us.
record inproc operators 100
rows() { # VIEW TABLE COLUMN
	"$GRTRACE" report c.grt --by "$1" --json |
		jq -r ".$2[] | [.$3 // \"-\", .phase // \"-\", .launches, .launches_self, .kernels, .kernels_self] | join(\" \")" | sort
}
cat >ops.want <<-'ROWS'
	- - 100 100 100 100
	AddmmBackward0 backward 400 100 400 100
	aten::add - 100 100 100 100
	aten::addmm - 300 300 300 300
	aten::copy_ - 100 100 0 0
	aten::linear - 300 0 300 0
	aten::mm backward 200 200 200 200
	aten::sum backward 100 100 100 100
ROWS
rows op operators op >ops.got
check "report --by op: functions of a real stack" diff ops.want ops.got
cat >ops.want <<-'ROWS'
	- - 400 400 300 300
	- backward 200 200 200 200
	cublasLtSSSMatmul - 200 200 200 200
	cublasLtSSSMatmul backward 200 200 200 200
	cublasSgemm_v2 - 200 0 200 0
	cublasSgemm_v2 backward 200 0 200 0
ROWS
rows library-call library_calls call >ops.got
check "report --by library-call" diff ops.want ops.got
check "all GPU time is in it" test "$(sum_of op operators gpu_self)" = \
	$(($(sum_of kernel kernels total) + $(sum_of copy copies total)))
check "another program computes the same" python3 "$GRTRACE_SRC/tests/golden/_ops.py" "$GRTRACE" c.grt

record inproc calls
work=$(($(joined kernels) + $(joined copies)))
run flame c.grt --weight launches -o l.folded
check "every function that launches" test "$(weights l.folded)" = $((work + $(joined nothing)))
for view in "kernel kernels" "stream streams" "device devices"; do
	set -- $view
	run report c.grt --by "$1"
	check "report --by $1" exits 0
	check "has all kernels" test "$(sum_of "$1" "$2" "$([ "$1" = kernel ] && echo calls || echo kernels)")" = "$(joined kernels)"
done
check "report --by stack has all" test "$(sum_of stack stacks calls)" = "$work"
run flame c.grt --weight bytes --only copies -o b.folded
check "bytes are the copies'" test "$(weights b.folded)" = "$(sum_of copy copies bytes)"
check "report --by copy has all copies" test "$(sum_of copy copies calls)" = "$(joined copies)"
check "the launches with a stack are those that were recorded" test "$("$GRTRACE" report c.grt --by stack --json | jq '[.stacks[] | select(.node > 0) | .calls] | add')" = "$(joined with_stack)"
run report c.grt --by device --csv
check "CSV" test "$(head -n 1 <<<"$output" | cut -d, -f1-3)" = pid,process,gpu
run report c.grt --by kernel --sort nothing
expect "a column that is none" 2 "has no such column"
run report c.grt
check "the summary has the kernels" says '^kernels$'

record none plain
run flame c.grt -o n.folded
check "without stacks, launches are named by their function" grep -qE '^app;cu[A-Za-z_]+;\[GPU' n.folded

"$GRTRACE_PLAIN/grtrace" record -e cuda --stack=none -o e.grt -- true >said 2>&1
run flame c.grt --weight bytes
expect "kernels have no bytes" 1 'nothing to draw: only copies have a size in bytes, and it shows none$'
check "other weights are named" says '^  try: --weight time or --weight launches$'
run flame c.grt --only copies
expect "no copies" 1 'nothing to draw: it has no copies$'
check "the rest is what it shows" says '^  try: grtrace flame PATH, without --only$'
run flame e.grt
expect "a recording without CUDA" 1 'nothing to draw: it has nothing with this weight'
run report e.grt --by kernel
check "prints the reason" says 'the trace has no CUDA events'
plan
