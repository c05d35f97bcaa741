#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Inputs that are packed by gzip and zstd, and files of other tools, in the commands that read traces.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

# As dump prints the plain text, from a file and from a pipe.
same() { # WHAT FILE
	"$GRTRACE" dump --json "$2" >got 2>err
	output=$(cat err; diff want got | head -n 3)
	check "$1" cmp -s want got
	"$GRTRACE" dump --json - <"$2" >got 2>err
	output=$(cat err; diff want got | head -n 3)
	check "$1, standard input" cmp -s want got
	cat "$2" | "$GRTRACE" dump --json - >got 2>err
	output=$(cat err; diff want got | head -n 3)
	check "$1, a pipe" cmp -s want got
}

for i in $(seq 4000); do
	echo "            Xorg-900   [001] ....   $((100 + i)).000000: i915_request_queue: dev=0, engine=0:0, ctx=1, seqno=$i, flags=0x0"
done >plain.txt
"$GRTRACE" dump --json plain.txt >want
check "there are events" test "$(grep -c . want)" -ge 4000
gzip -k plain.txt
zstd -q -k plain.txt
same gzip plain.txt.gz
same zstd plain.txt.zst
head -n 2000 plain.txt | gzip >members.gz
tail -n +2001 plain.txt | gzip >>members.gz
head -c 512 /dev/zero >>members.gz
same "gzip, two members and padding" members.gz
{ head -n 10 plain.txt | zstd -q; tail -n +11 plain.txt | zstd -q; } >frames.zst
same "zstd, two frames" frames.zst

# A file of each form of text, of text of CUPTI, and of packets; those of the other readers are packed by their scripts.
golden=$GRTRACE_SRC/tests/golden
"$GRTRACE_BUILD/tests/cli/traces" job job.grt
cp job.grt/kmod_0 cpu0.raw
cp "$golden"/ftrace/grtrace.trace "$golden"/annotate/merged.in "$golden"/nvsched/ours.in "$golden"/bpftrace/scheduler.txt \
	"$golden"/amdlog/era-57.log "$golden"/examples/kernel-log.txt "$golden"/examples/cupti-sample.txt .
printf '**** AMDGPU Device Coredump ****\nversion: 1\nkernel: 6.7.0\nmodule: amdgpu\ntime: 29.725011811\n' >dump.txt
files=(cpu0.raw grtrace.trace merged.in ours.in scheduler.txt era-57.log kernel-log.txt cupti-sample.txt dump.txt)
packed_alike "${files[@]}"
forms=$(for file in "${files[@]}"; do "$GRTRACE" report --json "$file" 2>/dev/null | jq -r '.text.form // empty'; done | sort -u)
wanted=$(sed -n 's/^GRT_TEXT(\([a-z_]*\),.*/\1/p' "$GRTRACE_SRC/lib/text/text.def" | sort -u)
check "every form of text is among them" test -z "$(comm -13 <(echo "$forms") <(echo "$wanted"))"

for how in gz zst; do
	head -c 3000 plain.txt.$how >cut.$how
	run dump cut.$how
	expect "$how that is cut" 1 "cut.$how: byte 3000: cannot unpack: the file ends before its data"
	check "$how that is cut: and what to type" says 'try: (zcat|zstdcat) cut[.]'
	{ head -c 2000 plain.txt.$how; printf 'damaged damaged damaged'; tail -c +2100 plain.txt.$how; } >bad.$how
	run dump bad.$how
	expect "$how that is damaged" 1 "bad.$how: byte [0-9]+: cannot unpack"
done
printf '\x1f\x8b\x08' >short.gz
run dump short.gz
expect "gzip of three bytes" 1 'short.gz: byte 3: cannot unpack: the file ends'
gzip -c plain.txt.gz >twice.gz
run dump twice.gz
expect "packed twice" 1 'twice.gz'
check "nothing is left in the directory for temporary files" \
	test -z "$(mkdir tmp; TMPDIR=$PWD/tmp "$GRTRACE" dump plain.txt.gz >/dev/null; ls tmp)"

output=$(TMPDIR=$PWD/none "$GRTRACE" dump plain.txt.gz 2>&1)
status=$?
expect "no such directory" 1 'plain.txt.gz: cannot unpack it into a temporary file in .*none: No such file'

# Files of other tools, by what they begin with or are called.
foreign() { # FILE WHAT TRY
	run report "$1"
	expect "$1" 1 "$1: not a trace: $2"
	check "$1: what to type" says "try: .*$3"
}
printf 'PERFILE2\x68\0\0\0\0\0\0\0' >perf.data
printf '\x17\x08\x44tracing6\0' >trace.dat
printf 'SQLite format 3\0' >run.sqlite
printf 'nsys' >run.nsys-rep
printf '\x0a\x10\x0a\x05hello' >run.pftrace
printf '{\n "schemaVersion": 1\n}\n' >run.json
printf 'main;draw;ioctl 17\nmain 3\n' >run.folded
foreign perf.data 'it is a recording of perf' 'perf script -i perf.data'
foreign trace.dat 'it is a recording of trace-cmd' 'trace-cmd report trace.dat'
foreign run.sqlite 'it is a database' 'sqlite3'
foreign run.nsys-rep 'it is a report of Nsight Systems' 'grtrace record -e cuda'
run report run.pftrace
expect "run.pftrace" 1 'run.pftrace: byte 0: cannot read the packet of Perfetto there: the file ends in it'
printf 'anything' >run.qdrep
printf 'anything' >run.ncu-rep
foreign run.qdrep 'it is a report of Nsight Systems' 'nsys export --type sqlite run.qdrep'
foreign run.ncu-rep 'it is a report of Nsight Compute' 'ncu --import run.ncu-rep'
printf 'anything' >run.etl
printf 'anything' >run.qdstrm
foreign run.etl 'it is a trace of Windows' 'GPUView'
foreign run.qdstrm 'it is a stream of Nsight Systems' 'QdstrmImporter -i run.qdstrm'
gzip -k run.etl
zstd -q run.nsys-rep
foreign run.etl.gz 'it is a trace of Windows' 'unpack it, then GPUView'
foreign run.nsys-rep.zst 'it is a report of Nsight Systems' 'unpack it, then nsys export'
gzip -k perf.data
foreign perf.data.gz 'it is a recording of perf' 'unpack it, then perf script -i perf.data '
mkdir run.grt
printf 'anything' >run.grt/metadata
tar cf run.grt.tar run.grt
tar czf run.grt.tar.gz run.grt
xz -k run.grt.tar
zstd -q run.grt.tar
cp run.grt.tar.gz run.tgz
for archive in run.grt.tar run.grt.tar.gz run.tgz run.grt.tar.zst run.grt.tar.xz; do
	foreign "$archive" 'it is an archive of files' "(unpack it, then )?tar xf $archive, and give the recording"
done
printf '<!DOCTYPE html>\n<html>\n' >report.html
foreign report.html 'it is a page for a browser' 'xdg-open report.html'
foreign run.json 'it is JSON' 'jq keys run.json'
foreign run.folded 'its lines are folded stacks' 'grtrace flame run.folded'
# What this program writes and does not read.
"$GRTRACE" export -f parquet -o run.tables job.grt 2>err
cp "$(find run.tables/work -name '*.parquet')" run.parquet
foreign run.parquet 'it is a table of Apache Parquet' 'grtrace fleet DIR'
run report run.tables
expect "a directory of tables" 1 'run.tables: not a grtrace recording: it has tables that grtrace export wrote'
check "a directory of tables: what to type" says 'try: grtrace fleet run.tables'
for form in csv:'its lines are a table of events' prom:'it is a page of metrics' sqlite:'it is a database that grtrace export wrote' \
	speedscope.json:'it is a profile for speedscope'; do
	"$GRTRACE" export -o "run.${form%%:*}" job.grt 2>err
	foreign "run.${form%%:*}" "${form#*:}" ''
done
"$GRTRACE" dump job.grt >run.dump 2>err
foreign run.dump 'its lines are what grtrace dump prints' 'the recording that it printed'
printf '<?xml version="1.0"?>\n<svg>\n' >run.svg
foreign run.svg 'it is a picture or a page of XML' 'xdg-open run.svg'
foreign /bin/true 'it is a program' 'grtrace record -- PROGRAM'
run report plain.txt
check "and text that is a trace is read" exits 0
plan
