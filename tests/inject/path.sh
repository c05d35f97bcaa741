#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# report --path: what it says a run would be shorter by is what a simulation of the changed program says. In soak
# the changed program is run, and measured.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"

changes() { # virtual|real WITHIN
	"$GRTRACE_SRC/tests/inject/_path.py" "$GRTRACE_PLAIN/grtrace" "$MOCK/timed" "$1" >said 2>&1
	status=$? output=$(cat said)
	tail -n 1 said | awk -v within="$2" '{ exit !($1 + 0 && $1 >= within * $3 && $(NF - 1) <= 2) }'
}

check "on the program's own clock all of it is right" changes virtual 1
check "to 0.1 % of the run" test -z "$(grep -E ' (0\.[1-9][0-9]|[1-9][0-9]*\.[0-9]+) %' said | grep -v within)"
run report path.grt --path
expect "as text" 0 'segments of the critical path'
check "a note names what the graph cannot show" grep -q "shares the GPU's cores" <<<"$output"
run report path.grt --path --from +0 --to "+0.000000001"
expect "a time in which nothing happens has no path, and a note says so" 0 \
	'^no thread, job or launch of the trace is between --from and --to, and so no part of the path$'
"$GRTRACE" report path.grt --path --csv >path.csv 2>err
check "as CSV" grep -q '^who,kind,time,share,segments,inferred,total,times,half_saves,half_share,what' path.csv
run report path.grt --path --by kernel
expect "--path is one view" 2 'path means --by path, which --by kernel contradicts'
if [ -n "${GRTRACE_SOAK:-}" ]; then
	check "programs that are run, and run changed" changes real 0.95
fi
plan
