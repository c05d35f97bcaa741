#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# record.sh BUILD [MIB]: how fast `grtrace record` moves packets, in memory,
# against `cat` of the same streams. See bench/record_bench.c.

set -eu
build=$(realpath -- "${1:?usage: bench/record.sh BUILD [MIB]}")
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
"$build/bench/record_bench" "$build/grtrace" "$dir/module" "${2:-1024}"
