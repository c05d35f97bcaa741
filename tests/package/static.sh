#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make STATIC=1: the program runs where nothing but itself is, and says of a recording what the other one says.
# long

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

# The BPF programs are those that are built already, and the optimizer changes nothing of what is looked at.
out=$PWD/static
mkdir -p "$out"
[ ! -d "$GRTRACE_PLAIN/bpf" ] || cp -a "$GRTRACE_PLAIN/bpf" "$out/"
output=$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$GRTRACE_SRC" O="$out" STATIC=1 KDIR= CFLAGS=-O0 -j2 "$out/grtrace" 2>&1)
status=$?
check "make STATIC=1" exits 0
check "no library and no loader is asked for" test -z "$(readelf -ldW "$out/grtrace" | grep -E 'NEEDED|INTERP')"

mkdir -p alone/tmp
cp "$out/grtrace" alone/
"$GRTRACE_BUILD/tests/cli/traces" job alone/run.grt
gzip -c "$GRTRACE_SRC/tests/golden/examples/bpftrace-drm-sample.txt" >alone/drm.txt.gz
# Not even /proc is there, and no locale. Without root in a name space, where that is allowed.
as_root=()
[ "$(id -u)" = 0 ] || as_root=(unshare -r)
"${as_root[@]}" chroot alone /grtrace --version >/dev/null 2>&1 || [ "$(id -u)" = 0 ] ||
	skip_all "chroot needs root, or name spaces of users: sudo tests/run tests/package/static.sh"
there() { # ARGS...
	output=$("${as_root[@]}" env -i PATH="$PATH" LC_ALL=C chroot alone /grtrace "$@" 2>&1)
	status=$?
}
there --version
expect "it runs where nothing else is" 0 "^grtrace $("$GRTRACE" --version | cut -d' ' -f2)"
same() { # ARGS...
	there "$@"
	check "$*: as the other program" test "$output" = "$(cd alone && env -i LC_ALL=C "$GRTRACE" "$@" 2>&1)"
}
same report run.grt
same report run.grt --json
same dump run.grt -n 20
same timeline run.grt -w 100
same top -i run.grt -s 60
same report drm.txt.gz --by ring
there export run.grt -f sqlite -o run.sqlite
expect "it writes databases" 0 ''
check "which SQLite reads" test "$(head -c 15 alone/run.sqlite)" = 'SQLite format 3'
there record -e drm -d 1 -o new.grt
check "an error names what cannot be recorded" test "$status" -ge 1 -a "$status" -le 3
check "and what it needs" says '^grtrace record: '
there top
expect "a screen without a terminal" 2 'use -b'
plan
