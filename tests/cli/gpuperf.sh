#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace gpuperf: its command line, and what it leaves behind; tests/inject/files.sh has programs that use CUDA.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

run gpuperf
expect "without a program" 2 'a program to run is needed'
run gpuperf --cpu-only --gpu-only true
expect "two modes" 2 'one of them'
run gpuperf --cpu-only -m m.folded true
expect "--cpu-only has no time of the GPU" 2 'leaves the GPU out'
run gpuperf --gpu-only -p cpu.txt true
expect "--gpu-only has no stacks" 2 'takes no CPU stacks'
for pair in '--no-gpu -m m.folded:leaves the GPU out' '--no-cpu --cpu-profile cpu.txt:takes no CPU stacks' \
	'--no-gpu --no-cpu:one of them' '--no-merge:leaves nothing to write' '--no-merge -m m.folded:use only one'; do
	# shellcheck disable=SC2086 # words
	run gpuperf ${pair%%:*} true
	expect "${pair%%:*}" 2 "${pair#*:}"
done
run gpuperf no-such-program-here
check "a program that is not there" test "$status" != 0
check "leaves no file" test ! -e merged.folded
ln -s "$GRTRACE" gpuperf
ln -s "$GRTRACE" gpuperf.py
for name in ./gpuperf ./gpuperf.py; do
	output=$($name --help)
	status=$?
	expect "$name is this command" 0 'usage: grtrace gpuperf '
done
TMPDIR=/no/such/dir run gpuperf true
expect "no room for the recording" 1 'cannot make /no/such/dir/gpuperf'
check "what to type" says 'try: TMPDIR=DIR'
run record --raw r.bin --folded f.folded true
expect "record: files are not made of packets in a file" 2 '--raw'
plan
