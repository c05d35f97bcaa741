#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record --torch on a machine with an NVIDIA GPU: the module of each launch of a training step is what the program's own
# hooks say; torch.compile makes the same graphs; a program that runs; what an iteration costs, in turns.
#
# By hand: GRTRACE_PLAIN=build tests/gpu/torch.sh. Needs PyTorch. ROUNDS: of the cost, 5.

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=${GRTRACE:-$GRTRACE_PLAIN/grtrace}
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
python3 -c 'import torch' 2>/dev/null || { echo "no PyTorch: pip install torch" && exit 4; }
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
here=$GRTRACE_SRC/tests/gpu
program=$here/torch_modules.py
python3 -c 'import torch, sys; print("# PyTorch", torch.__version__, "CUDA", torch.version.cuda, torch.cuda.get_device_name(), "Python", sys.version.split()[0])'

# ---- the module of each launch

run record -e cuda --torch -o train.grt python3 "$program" train 10
check "ten training steps" exits 0
grep -E '^(calls|loss)' <<<"$output" >program
grep 'cuda: process' <<<"$output" | sed 's/^/# /'
"$GRTRACE" dump --json train.grt >dump.json 2>/dev/null
output=$(python3 "$here/torch_compare.py" dump.json program 2>&1)
status=$?
check "modules of launches: $(tail -n 1 <<<"$output")" exits 0
output=$(python3 "$program" train 10 | grep '^loss')
# sums of the GPU are not the same each time
check "the program computes what it does untraced: $output" awk -v untraced="${output#loss }" '$1 == "loss" { d = $2 - untraced }
	END { exit !(untraced > 0 && d < 0.01 && d > -0.01) }' program
run report --by range --top 12 train.grt
check "report --by range" says 'layers\.0\.attn \[torch\.nn\]'
sed -n '/^range/,$p' <<<"$output" | head -n 14 | sed 's/^/# /'
run flame train.grt -o f.folded
check "frames of modules" grep -q '\[nvtx\] layers.1 \[torch.nn\];.*\[nvtx\] layers.1.attn \[torch.nn\]' f.folded
run record -e cuda -o plain.grt python3 "$program" train 2
check "without --torch: no module" test "$("$GRTRACE" dump --json --type string plain.grt 2>/dev/null | grep -c '"torch.nn"')" = 0

# ---- torch.compile

compiled() { # OPTION...
	run record -e cuda "$@" -o c.grt python3 "$program" compile
	grep -E '^(graphs|same)' <<<"$output"
}
without=$(compiled)
with=$(compiled --torch)
tail -n 20 <<<"$output" | grep -iE 'warn|error' | sed 's/^/# /'
output="$without / $with"
check "torch.compile: the same graphs, breaks and results: ${with//$'\n'/, }" test -n "$with" -a "$without" = "$with"

# ---- a program that runs

python3 "$program" wait go >said 2>err &
pid=$!
for ((i = 0; i < 600; i++)); do
	! grep -q ready said || break
	sleep 0.1
done
run record -e cuda -p $pid --torch -d 2 -o a.grt
check "record -p --torch" exits 0
"$GRTRACE" report --by range --json a.grt >a.json 2>/dev/null
check "it has modules" grep -q 'layers\.3\.mlp\.2 \[torch\.nn\]' a.json
touch go
wait $pid
status=$?
output=$(cat said err)
check "the program ends well, its hooks are gone" says 'hooks 0'
check "with status 0" exits 0

# ---- the cost: rounds of a transformer layer, in turns: us for an iteration, medians

rate() { # COMMAND...
	"$@" 2>/dev/null | sed -n 's/^rate //p' | awk '{ printf "%.1f\n", 1e6 / $1 }'
}
for ((i = 0; i < ${ROUNDS:-5}; i++)); do
	rate python3 "$here/torch_layer.py" eager 3 >>bare
	rate "$GRTRACE" record -e cuda -o t.grt python3 "$here/torch_layer.py" eager 3 >>traced
	rate "$GRTRACE" record -e cuda --torch -o t.grt python3 "$here/torch_layer.py" eager 3 >>torch
done
median() { # FILE
	sort -n "$1" | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "-" }'
}
for what in bare traced torch; do
	echo "# an iteration of an eager layer (6 modules), $what: median $(median $what) us of $(tr '\n' ' ' <$what)"
done
check "each round has a figure" test "$(cat bare traced torch | wc -l)" = $((3 * ${ROUNDS:-5}))

# ---- why operators are not recorded by emit_nvtx

run record -e cuda -o n.grt python3 "$program" nvtx 8
grep -E '^(emit_nvtx|without|torch.profiler)' <<<"$output" | sed 's/^/# /'
plan
