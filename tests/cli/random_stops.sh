#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that gdb stops anywhere: the stacks that they leave the CPU with are those that gdb has there.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
run record -e sched -o run.grt -- true
need_bpf
for program in g++ gdb; do
	command -v $program >/dev/null || skip_all "no $program: apt-get install g++ gdb"
done
here=$GRTRACE_SRC/tests/cli/unwound
frames=0 equal=0 programs=0
times=15
[ -z "$GRTRACE_SOAK" ] || times=40

# The first stacks of a program are by frame pointers; a busy machine builds the tables later.
stops() { # NAME WAY...
	local name=$1 way wait n seen f e
	shift
	for way; do
		for wait in 0.7 4 15; do
			"$GRTRACE" record -e sched -F 0 -o run.grt -- timeout -k 5 120 gdb -q -batch -ex "set \$stops = $times" \
				-ex "set \$wait = $wait" -x "$here/stops_in_gdb.py" --args ./busy "$way" >theirs 2>said </dev/null
			"$GRTRACE" dump run.grt | python3 "$here/stops.py" busy theirs >output
			read -r _ n _ seen _ f _ e < <(tail -n 1 output)
			[ $((2 * seen)) -le "$n" ] || break
		done
		output=$(cat output; tail -n 3 said)
		check "$name, $way: $seen of $n stops of gdb are here, $e of their $f frames are ours" \
			test $((2 * seen)) -gt "$n" -a $((100 * e)) -ge $((97 * f))
		programs=$((programs + 1)) frames=$((frames + f)) equal=$((equal + e))
	done
}
of() { # COMPILER FLAGS... -- WAYS
	local compiler=$1 flags=()
	shift
	if ! command -v "$compiler" >/dev/null; then
		ok "$compiler # SKIP no $compiler: apt-get install clang rustc golang-go musl-tools"
		return
	fi
	while [ "$1" != -- ]; do
		flags+=("$1") && shift
	done
	shift
	rm -f busy
	output=$(GO111MODULE=off GOCACHE=$PWD/gocache "$compiler" "${flags[@]}" 2>&1)
	check "$compiler ${flags[*]##*/}" test -x busy
	stops "$compiler ${flags[*]##*/}" "$@"
}
of g++ -O3 -fomit-frame-pointer -o busy "$here/busy.cc" -- throw signal
of g++ -O2 -static-pie -fomit-frame-pointer -o busy "$here/busy.cc" -- sort
if [ -n "$GRTRACE_SOAK" ]; then
	of g++ -O3 -fomit-frame-pointer -o busy "$here/busy.cc" -- deep tail sort text
	of g++ -O0 -o busy "$here/busy.cc" -- throw
	of g++ -Os -fomit-frame-pointer -o busy "$here/busy.cc" -- sort
	of g++ -O3 -flto -fomit-frame-pointer -o busy "$here/busy.cc" -- throw
	of g++ -O2 -static-pie -fomit-frame-pointer -o busy "$here/busy.cc" -- throw signal
	of clang++ -O3 -fomit-frame-pointer -o busy "$here/busy.cc" -- throw signal sort
	of gcc -O2 -static -fomit-frame-pointer -o busy "$here/busy.c" -- sort
	of musl-gcc -O2 -fasynchronous-unwind-tables -fomit-frame-pointer -o busy "$here/busy.c" -- deep
	of rustc -C opt-level=3 -g -o busy "$here/busy.rs" -- deep panic text
	of rustc -C opt-level=3 -C target-feature=+crt-static -o busy "$here/busy.rs" -- text
	of go build -o busy "$here/busy.go" -- deep main
fi
output="$equal of $frames"
check "of all $programs programs, $equal of $frames frames are equal: 99 % at least" \
	test "$frames" -gt 100 -a "$((100 * equal))" -ge "$((99 * frames))"
plan
