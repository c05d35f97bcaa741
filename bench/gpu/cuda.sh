#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# cuda.sh BUILD: what tracing CUDA costs, untraced and traced in turns, medians and
# the better quartile: a PyTorch layer (iterations per second), and a loop that does
# nothing but launch (us per launch) at two depths of the stack. ROUNDS=N turns.
# Needs a GPU and nvcc.

src=$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")
build=$(realpath -- "${1:-$src/build}")
PATH=$PATH:/usr/local/cuda/bin
rounds=${ROUNDS:-7}
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
[ -x "$build/launches" ] && cp "$build/launches" . || nvcc -O2 -o launches "$src/tests/gpu/launches.cu" -lcuda || exit 1

# Of the best first: the median and the quartile.
middle() { # FORMAT [OPTION OF sort]
	sort -n ${2:+"$2"} | awk -v f="$1" '{ v[NR] = $1 }
		END { if (NR) printf f " " f "\n", v[int((NR + 1) / 2)], v[int((NR + 3) / 4)] }'
}

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

if python3 -c 'import torch' 2>/dev/null; then
	for ((i = 0; i < rounds; i++)); do
		for how in off none inproc; do
			traced $how python3 "$src/tests/gpu/torch_layer.py" eager "${SECONDS_EACH:-1.5}" |
				awk '$1 == "rate" { print $2 }' >>"torch.$how"
		done
	done
	for how in off none inproc; do
		printf '%-28s %-8s %s it/s\n' "PyTorch layer" $how "$(middle %8.1f -r <"torch.$how")"
	done
	"$build/tests/inject/joined" run.grt | head -2 | sed 's/^/    /'
fi
for depth in 4 40; do
	for ((i = 0; i < rounds; i++)); do
		for how in off none inproc; do
			traced $how ./launches bench 20000 $depth | awk '$1 == "us" { print $2 }' >>"$depth.$how"
		done
	done
	for how in off none inproc; do
		printf '%-28s %-8s %s us\n' "launch, $depth frames" $how "$(middle %8.3f <"$depth.$how")"
	done
done
"$build/tests/inject/joined" run.grt | head -2 | sed 's/^/    /'
