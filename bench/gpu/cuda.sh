#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# cuda.sh BUILD: what tracing CUDA costs, untraced and traced in turns, medians:
# a loop that does nothing but launch (us per launch), at two depths of the stack,
# and a PyTorch layer (iterations per second). Needs a GPU and nvcc.

src=$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")
build=$(realpath -- "${1:-$src/build}")
PATH=$PATH:/usr/local/cuda/bin
rounds=${ROUNDS:-3}
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
[ -x "$build/launches" ] && cp "$build/launches" . || nvcc -O2 -o launches "$src/tests/gpu/launches.cu" -lcuda || exit 1

median() { sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "-" }'; }

traced() { # HOW COMMAND...: HOW is off, or a way to take stacks
	local how=$1
	shift
	if [ "$how" = off ]; then
		"$@" 2>/dev/null
	else
		rm -rf run.grt run.grt.old
		"$build/grtrace" record -e cuda --stack="$how" -o run.grt -- "$@" 2>/dev/null
	fi
}

for depth in 4 40; do
	for ((i = 0; i < rounds; i++)); do
		for how in off none inproc; do
			traced $how ./launches bench 100000 $depth | awk '$1 == "us" { print $2 }' | median >>"$depth.$how"
		done
	done
	for how in off none inproc; do
		printf '%-28s %-8s %8.3f us\n' "launch, $depth frames" $how "$(median <"$depth.$how")"
	done
done
"$build/tests/inject/joined" run.grt | head -2 | sed 's/^/    /'
python3 -c 'import torch' 2>/dev/null || exit 0
for ((i = 0; i < rounds; i++)); do
	for how in off none inproc; do
		traced $how python3 "$src/tests/gpu/torch_layer.py" eager "${SECONDS_EACH:-3}" |
			awk '$1 == "rate" { print $2 }' >>"torch.$how"
	done
done
for how in off none inproc; do
	printf '%-28s %-8s %8.1f it/s\n' "PyTorch layer" $how "$(median <"torch.$how")"
done
"$build/tests/inject/joined" run.grt | head -2 | sed 's/^/    /'
