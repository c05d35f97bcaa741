#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NVTX on a machine with an NVIDIA GPU: ranges that PyTorch pushed = ranges in the recording, and each kernel's launch
# has the ranges that it was made in.
#
# By hand: GRTRACE_PLAIN=build tests/gpu/nvtx.sh. Needs PyTorch.

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=${GRTRACE:-$GRTRACE_PLAIN/grtrace}
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
python3 -c 'import torch' 2>/dev/null || { echo "no PyTorch: pip install torch" && exit 4; }
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
steps=20

# Lines of the recording by kind: ranges, marks, and the ranges of launches.
ranges() {
	"$GRTRACE_PLAIN/tests/inject/records" run.grt >all 2>&1
	grep -a '^R ' all >ranges
	grep -a '^M ' all >marks
	grep -a '^X ' all >chains
	grep -a '^#' all >facts
}

run record -e cuda -o run.grt python3 "$GRTRACE_SRC/tests/gpu/nvtx_torch.py" $steps
program=$output
check "a training step with ranges" exits 0
ranges
while read -r _ n name; do
	case $name in
	"mark done") check "marks: $n" test "$(grep -c ' done ' marks)" = "$n" ;;
	*) check "$name: $n" test "$(grep -cE "^R [0-9]+ [0-9]+ 1 - ${name// /%20} " ranges)" = "$n" ;;
	esac
done < <(grep '^pushed' <<<"$program")
check "started and ended: 5" test "$(grep -cE '^R [0-9]+ [0-9]+ 2 - asynchronous ' ranges)" = 5
linears=$(sed -n 's/^linears //p' <<<"$program")
check "emit_nvtx: as many aten::addmm as PyTorch's profiler counts in such a step" test "$linears" -gt 0 -a \
	"$(grep -cE '^R [0-9]+ [0-9]+ 1 - aten::addmm(%|,| )' ranges)" = "$linears"
check "nothing is lost or cut" grep -qE 'what=3 .* ranges_lost=0 cut=0' facts
check "the recording adds up" grep -qE '^# faults=0 missing=0 .* balance=ok' facts
check "launches of the forward pass say so" test "$(grep -c -- '/-:step%20[0-9]*/-:forward' chains)" -ge $((steps * 3))
awk '{ print "# " $0 }' facts | head -n 20
echo "# $(wc -l <ranges) ranges, $(wc -l <chains) launches in ranges"

run report --by range run.grt
check "report --by range" exits 0
head -n 30 <<<"$output" | sed 's/^/# /'
run flame run.grt -o r.folded
check "frames of ranges" grep -q '\[nvtx\] step #;\[nvtx\] forward;' r.folded
run flame run.grt --no-ranges -o n.folded
check "and without: the same GPU time" test "$(awk '{ n += $NF } END { print n }' r.folded)" = "$(awk '{ n += $NF } END { print n }' n.folded)"

run record -e cuda --no-nvtx -o run.grt python3 "$GRTRACE_SRC/tests/gpu/nvtx_torch.py" 2
ranges
check "--no-nvtx: none" test "$(wc -l <ranges)" = 0

# ns of a push and a pop, from Python and from C, traced and not
cat >cost.py <<'END'
import time, torch
nvtx = torch.cuda.nvtx
best = 1e9
for _ in range(200):
    begun = time.perf_counter_ns()
    for _ in range(100):
        nvtx.range_push("forward"), nvtx.range_pop()
    best = min(best, (time.perf_counter_ns() - begun) / 100)
    time.sleep(0.001)
print(f"push and pop from Python: {best:.0f} ns")
END
echo "# untraced: $(python3 cost.py)"
run record -e cuda -o cost.grt python3 cost.py
echo "# traced: $(grep 'push and pop' <<<"$output")"
if [ -x "$GRTRACE_PLAIN/tests/inject/mock/ranges" ]; then
	echo "# from C, traced: $(NVTX_INJECTION64_PATH=$GRTRACE_PLAIN/libgrtrace-cuda.so GRTRACE_OUTPUT=$dir/c.grt \
		"$GRTRACE_PLAIN/tests/inject/mock/ranges" cost)"
fi
plan
