#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# torch.profiler, and another client of CUPTI, inside `record -e cuda` on a machine with an NVIDIA GPU: the kernels of the
# phases before and behind the profiler are in the recording, all of them; those of the phase between are there, or a note
# says how many are not, and the profiler has seen what it sees without grtrace.
#
# By hand: GRTRACE_PLAIN=build tests/gpu/kineto.sh. Needs PyTorch with CUDA. It takes less than a minute.

here=$(dirname -- "$(realpath -- "$0")")
GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$here")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=$GRTRACE_PLAIN/grtrace
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null ||
	{ echo "no PyTorch with CUDA: pip install torch" && exit 4; }
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
export PYTHONFAULTHANDLER=1

timeout 60 python3 "$here/kineto.py" facts 2>&1 | sed 's/^/# facts: /'

# Of each phase: kernels that were launched, and that the recording has, by their times.
count() {
	"$GRTRACE" dump --json --type gpu_kernel run.grt >kernels.json 2>/dev/null
	"$GRTRACE" dump --json --type launch run.grt >launches.json 2>/dev/null
	python3 - program <<-'END'
		import json, sys
		kernels = [json.loads(line) for line in open("kernels.json")]
		numbers = {k["correlation"] for k in kernels}
		launches = [json.loads(line) for line in open("launches.json")]
		for line in open(sys.argv[1]):
		    word = line.split()
		    if word[:1] == ["phase"]:
		        begin, end, n = map(int, word[2:])
		        there = sum(begin - 10**8 <= k["start"] <= end + 10**8 for k in kernels)
		        alone = [l for l in launches if begin <= l["begin"] <= end and l["correlation"] not in numbers
		             and "Launch" in str(l["call"])]
		        print(word[1], n, there, len(alone))
		print("unstamped", sum(not k["start"] for k in kernels))
	END
}

phase() { # NAME COLUMN
	awk -v name="$1" -v column="$2" '$1 == name { print $column }' counts
}

for how in torch client; do
	python3 "$here/kineto.py" $how >untraced 2>&1
	alone=$(sed -n 's/^profiler //p' untraced)
	begun=$(date +%s%N)
	run record -e cuda -o run.grt -- timeout 60 python3 "$here/kineto.py" $how
	echo "# $how: recorded in $((($(date +%s%N) - begun) / 1000000)) ms"
	# shellcheck disable=SC2154
	grep -avE '^phase' <<<"$output" | sed "s/^/# $how: /" | cut -c1-300
	check "$how: the recorder and the program end well" exits 0
	grep -a '^phase' <<<"$output" >program
	"$GRTRACE" dump --type process run.grt 2>/dev/null | grep -a 'what=[35]' | sed "s/^.*image=[^ ]*/# $how: PROCESS:/"
	count >counts
	sed "s/^/# $how: phase, launched, in the recording, launches without a kernel: /" counts
	seen=$(sed -n 's/^profiler //p' <<<"$output")
	echo "# $how: the profiler saw $seen of $(phase middle 2) kernels; without grtrace $alone of $(sed -n 's/^phase middle .* //p' untraced)"
	check "$how: the phase before is complete" test "$(phase before 2)" = "$(phase before 3)"
	check "$how: the phase behind is complete" test "$(phase after 2)" = "$(phase after 3)"
	missing=$(($(phase middle 2) - $(phase middle 3)))
	said=$(sed -n 's/.*another CUPTI client .* held .*: \([0-9]*\) launches have no record.*/\1/p' <<<"$output" | tail -n 1)
	echo "# $how: $missing kernels of the middle are missing, ${said:-nothing} is said"
	if [ "$missing" = 0 ]; then
		check "$how: the middle is complete, and nothing is said" test -z "$said"
	else
		check "$how: the missing kernels of the middle are said" test "${said:-0}" -ge "$missing"
		without=$("$GRTRACE" report --by kernel run.grt 2>/dev/null | grep -o '[0-9,]* launches have no kernel' | head -n 1 | tr -cd 0-9)
		check "$how: and no more than the launches without one, ${without:-0}" test "${said:-0}" -le "${without:-0}"
	fi
	run report run.grt
	grep -aE 'CUPTI client|another tool' <<<"$output" | head -n 3 | sed "s/^/# $how: report: /"
done
check "the client lost nothing by the recording" test "$((seen + $(phase middle 3)))" -ge "$(phase middle 2)"
plan
