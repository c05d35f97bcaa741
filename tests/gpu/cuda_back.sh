#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record -d on a machine with an NVIDIA GPU: what a PyTorch program gets of CUPTI when the recording has ended before it.
#
# By hand: GRTRACE_PLAIN=build tests/gpu/cuda_back.sh [CYCLES]. Needs PyTorch; kernels that wait for the program need nvcc.
# GRTRACE_OLD: a build directory to compare with; its results are told, and are no checks.

here=$(dirname -- "$(realpath -- "$0")")
GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$here")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=$GRTRACE_PLAIN/grtrace
old=${GRTRACE_OLD:+$(realpath -- "$GRTRACE_OLD")/grtrace}
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
PATH=$PATH:/usr/local/cuda/bin
cycles=${1:-10}
python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null ||
	{ echo "no PyTorch with CUDA: pip install torch" && exit 4; }
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
export PYTHONFAULTHANDLER=1

begun() {
	awk '{ print $1 }' /proc/uptime
}

# The output is there when the program has ended, and not only the recorder.
torch() { # HOW [SECONDS]: recorded for so long
	if [ -n "${2:-}" ]; then
		run record -d "$2" -e cuda -o run.grt -- timeout 100 python3 "$here/torch_profiler.py" "$1"
	else
		output=$(timeout 100 python3 "$here/torch_profiler.py" "$1" 2>&1)
		status=$?
	fi
	grep -aE '^(us|session)' <<<"$output" | sed "s/^/# $1${2:+, recorded for $2 s}: /"
}

# All three sessions saw all kernels at the time when they ran, and as many launches as without a recording.
sees_all() { # WANT
	[ "$(grep '^session' <<<"$output" | sort | uniq -c | sed 's/^ *//')" = "3 $1" ] &&
		grep -qE '^session: ([0-9]+) kernels ran, \1 seen, \1 in their time, [1-9]' <<<"$1"
}
ends_well() {
	[ "$status" = 0 ] && grep -qx 'done' <<<"$output"
}

torch busy
want=$(grep -m 1 '^session' <<<"$output")
check "untraced: the profiler sees all" sees_all "$want"
from=$(begun)
torch graph
want_graph=$(grep -m 1 '^session' <<<"$output")
check "untraced, a graph: the profiler sees all" sees_all "$want_graph"
# Until it works, and 3 s more.
seconds=$(sed -n 's/^ready //p' <<<"$output" | awk -v from="$from" '{ print int($1 - from) + 4 }')

for ((cycle = 0; cycle < cycles; cycle++)); do
	case $((cycle % 10)) in
	[0-3]) how=busy ;; [45]) how=threads ;; [67]) how=graph ;; 8) how=idle ;; 9) how=soon ;;
	esac
	torch "$how" "$seconds"
	check "$cycle, $how: the recorder and the program end well" ends_well
	# CUPTI stays in a program with a graph: what its profiler gets then is PyTorch's and CUPTI's matter
	if [ "$how" != graph ]; then
		check "$cycle, $how: the profiler sees all" sees_all "$want"
	elif sees_all "$want_graph"; then
		echo "# $cycle, $how: the profiler sees all"
	else
		echo "# $cycle, $how: the profiler does not see all"
	fi
	kernels=$("$GRTRACE" dump --type gpu_kernel run.grt | wc -l)
	check "$cycle, $how: it was recorded" test "$kernels" -gt 1000
	check "$cycle, $how: the recording is complete" grep -q 'state = "complete"' run.grt/metadata
	echo "# $cycle, $how: $kernels kernels in the recording"
done

# Kernels that end when the program says so: nothing may wait for them.
if command -v nvcc >/dev/null && nvcc -O2 -o launches "$here/launches.cu" -lcuda; then
	for how in kernel_waits kernel_waits_idle; do
		run record -d 2 -e cuda -o run.grt -- timeout 40 ./launches $how 6000
		check "$how: the program ends well" grep -q '^ran 1 wanted 1' <<<"$output"
		grep -a '^longest' <<<"$output" | sed "s/^/# $how: /"
		"$GRTRACE" dump --type gpu_kernel run.grt | head -n 3 | sed 's/^/# /'
	done
fi

if [ -n "$old" ]; then
	GRTRACE=$old
	torch busy "$seconds"
	ends_well && sees_all "$want" && echo "# before: the profiler sees all" ||
		printf '# before: it does not: status %s\n%s\n' "$status" "$(tail -n 12 <<<"$output" | sed 's/^/#   /')"
fi
plan
