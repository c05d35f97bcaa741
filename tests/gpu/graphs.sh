#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record -e cuda on a machine with an NVIDIA GPU: kernels of CUDA graphs under the code that made their nodes.
#
# By hand: GRTRACE_PLAIN=build tests/gpu/graphs.sh. Needs nvcc; PyTorch is used where it is there. GRTRACE_KEEP:
# a directory for recordings and folded stacks.

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=${GRTRACE:-$GRTRACE_PLAIN/grtrace}
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "no nvcc: install CUDA's toolkit" && exit 4; }
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
nvcc -O2 -o graphs "$GRTRACE_SRC/tests/gpu/graphs.cu" || exit 1

# Launches of a folded file, of the lines that have a regular expression.
launches() { # FILE REGEX
	grep -aE -- "$2" "$1" | awk '{ n += $NF } END { print n + 0 }'
}

flame() { # NAME
	"$GRTRACE" flame run.grt --weight launches -o run.folded 2>said
	sed 's/^/# /' said
	[ -z "${GRTRACE_KEEP:-}" ] || { cp run.folded "$GRTRACE_KEEP/graphs-$1.folded" && cp -r run.grt "$GRTRACE_KEEP/graphs-$1.grt"; }
	# kernels and copies of graphs, by the records
	"$GRTRACE" dump run.grt --json >dump.json
	of_graphs=$(grep -cE '"type":"GPU_(KERNEL|COPY)".*"graph_node":[1-9]' dump.json)
}

for how in captured explicit clone children; do
	run record -e cuda -o run.grt ./graphs $how 1000
	grep -E '^(capture|add)' <<<"$output" >ran
	flame $how
	check "$how: the program ran" test -s ran
	# CUPTI does not say where the nodes of a child graph are from
	if [ $how = children ]; then
		check "children: all are where they were launched" test "$of_graphs" = \
			"$(launches run.folded ';replay_graphs;.*cudaGraphLaunch.*\[GPU_Kernel\]step')"
		continue
	fi
	while read -r maker n; do
		check "$how: $n kernels are under $maker, and where they were launched" test "$n" = \
			"$(launches run.folded ";$maker;.*\[graph replay at replay_graphs\];\[GPU_Kernel\]step")"
	done <ran
	check "$how: all work of graphs is" test "$of_graphs" = "$(launches run.folded '\[graph replay at ')"
done

python3 -c 'import torch' 2>/dev/null || plan_and_exit=1
for what in torch compiled; do
	[ -z "${plan_and_exit:-}" ] || break
	run record -e cuda -o run.grt python3 "$GRTRACE_SRC/tests/gpu/graphs.py" $what 500
	flame "$what"
	check "PyTorch, $what: it ran" says '^replays 500'
	check "PyTorch, $what: there is work of graphs" test "$of_graphs" -ge 2000
	check "PyTorch, $what: all $of_graphs of it is under the code that was captured" test "$of_graphs" = \
		"$(launches run.folded '\[graph replay at graphs.py:')"
	grep -a '\[graph replay' run.folded | sed 's/ [0-9]*$//; s/.*;\([^;]*graphs.py[^;]*\);/\1 ... /' | cut -c1-160 | sort -u | head -12 | sed 's/^/# /'
	if [ $what = torch ]; then
		both=$(launches run.folded 'Both.forward.*\[graph replay')
		check "PyTorch: the modules are in the stacks" test \
			"$(($(launches run.folded 'First.forward.*\[graph replay') + $(launches run.folded 'Second.forward.*\[graph replay')))" = "$both"
		check "PyTorch: all of it" test "$both" = "$of_graphs"
	fi
done
plan
