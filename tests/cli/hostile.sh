#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a trace says is harmless in the output of every command that reads one:
# names and log lines with control characters, quotes, markup, bytes that are no
# UTF-8, and 64 KiB of length. Commands and their formats come from the program's
# own table, so that a new one is tried here without a line.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

command -v python3 >/dev/null || { echo "no python3: apt-get install python3" && exit 4; }

# The names that all inputs use. No blank, so that they stay one word.
esc=$'\033]0;owned\a' quote="\"',\\<script>alert(1)</script>;%s%n" bad=$'\377\302\233\342\200\256\r'
evil="$esc$quote$bad"
long=$(head -c 65536 /dev/zero | tr '\0' A)

"$GRTRACE_BUILD/tests/cli/traces" hostile hostile.grt

# An input of each form of text, about the job 1 of a hostile ring and the thread of a hostile name.
form_bpftrace() { # NAME
	echo "TIME(ms)           EVENT        JOB_ID           RING         QUEUED   DETAILS"
	echo "10                 RUN          1                $1         0        hw=1"
	echo "11                 COMPLETE     0xffff01"
	echo "12 OPEN $1 4711 - GPU device opened"
	echo "13 IOCTL $1 4711 - cmd=0xc020462a"
	echo "14 XID_ERROR $1 4711 - dev=0000:01:00.0"
	echo "  Xid: 79 - $1"
	echo "15 RUN $1"
	echo "@map[$1]: 1"
}

form_kernlog() { # NAME
	echo "[    1.000000] Linux version 6.1.0"
	echo "[    1.000001] $1"
	echo "[    2.000000] NVRM: Xid (PCI:0000:01:00): 31, pid=4711, name=$1, $1"
	echo "[    3.000000] amdgpu 0000:03:00.0: amdgpu: ring ${1:0:24} timeout, $1"
	echo "[    4.000000] NVRM: Xid ($1"
}

form_ftrace() { # NAME
	echo "# tracer: nop"
	echo "# $1"
	echo "  $1-4711    [000] .....     1.000000: drm_sched_job: entity=00000000deadbee0, id=1, fence=00000000deadbee1, ring=$1, job count:0, hw job count:0"
	echo "  $1-4711    [000] .....     1.000100: drm_run_job: entity=00000000deadbee0, id=1, fence=00000000deadbee1, ring=$1, job count:0, hw job count:1"
	echo "  $1-4711    [000] .....     1.000200: drm_sched_process_job: fence=00000000deadbee1 signaled"
	echo "  $1-4711    [000] .....     1.000300: $1: $1"
	echo "  x-4711    [000] .....     1.000400: drm_run_job: $1"
}

form_annotate() { # NAME
	echo "# timeline"
	echo "# $1"
	echo "[1.000000] IOCTL_ENTER pid=4711 tid=4711 comm=$1 cmd=0xc0106444 arg=0x1"
	echo "[1.000100] IOCTL_EXIT pid=4711 tid=4711 comm=$1 ret=0 duration_ns=100000"
	echo "[1.000200] SUBMIT ctx=0x5 engine=$1 ring=0 seq=1"
	echo "[1.000300] COMPLETE ctx=0x5 engine=$1 ring=0 seq=1"
	echo "[1.000400] $1 $1=$1"
}

for form in bpftrace kernlog ftrace annotate; do
	form_$form "$evil" >$form.txt
	form_$form "$evil$long" >$form-long.txt
	# the same names without what ends a line early, and with NUL bytes
	form_$form "$evil" | tr 'w' '\0' >$form-nul.txt
done

cat >harmless.py <<'END'
"""harmless.py: tells which of the outputs of `tried` are no harmless text, JSON or CSV."""
import csv, json, re, unicodedata

# Control characters, and what changes the direction of a line or ends it.
UNSAFE = ("Cc", "Cf", "Zl", "Zp")


def read(path, ends):
    text = open(path, "rb").read().decode("utf-8")
    if ends == "csv":
        text = text.replace("\r\n", "\n")
    for c in set(text) - {"\n", "\t"}:
        if unicodedata.category(c) in UNSAFE:
            at = text.index(c)
            raise ValueError(f"{c!r} in {text[max(at - 40, 0):at + 20]!r}")
    return text


def look(kind, text):
    if kind == "json" and text:
        try:
            json.loads(text)
        except ValueError:
            for line in text.splitlines():
                json.loads(line)
    if kind == "csv" and len({len(row) for row in csv.reader(text.splitlines())}) > 1:
        raise ValueError("lines with different numbers of fields")


def judge(status, kind, number):
    look(kind, read(f"{number}.out", kind))
    err = read(f"{number}.err", "text")
    if int(status) > 3 or re.search("Sanitizer|runtime error:", err):
        raise ValueError(f"status {status}: {err[:300]}")
    if int(status) and not err:
        raise ValueError(f"status {status} without a message")


for line in open("tried"):
    status, kind, number, args = line.rstrip("\n").split(" ", 3)
    try:
        judge(status, kind, number)
    except ValueError as e:
        print(f"{args}: {e}")
END

# Runs a command; what it prints is looked at by look_at().
try_on() { # KIND ARGS...
	local kind=$1
	shift
	n=$((n + 1))
	timeout 60 "$GRTRACE" "$@" >$n.out 2>$n.err </dev/null
	echo "$? $kind $n $*" >>tried
}

all_harmless() {
	[ "$status" = 0 ] && silent
}

look_at() { # COMMAND
	output=$(python3 harmless.py 2>&1)
	status=$?
	check "$1: $n outputs are harmless" all_harmless
	rm -f tried ./*.out ./*.err
	n=0
}

# What a command needs before its options.
operands() { # COMMAND
	case $1 in
	monitor) echo all ;;
	esac
}

kind_of() { # FLAG
	case $1 in
	json | csv) echo "$1" ;;
	*) echo text ;;
	esac
}

"$GRTRACE" --tables >tables
flags() { # COMMAND: its options without a value
	awk -F'\t' -v c="$1" '$1 == "option" && $2 == c && $5 == "-" { print $3 }' tables
}

commands=$(awk -F'\t' '$1 == "option" && $3 == "input" { print $2 }' tables)
check "there are commands that read a trace" test "$(wc -w <<<"$commands")" -ge 2

n=0
for command in $commands; do
	for input in hostile.grt ./*.txt; do
		# shellcheck disable=SC2046 # words
		try_on text "$command" $(operands "$command") -i "$input"
		for flag in $(flags "$command"); do
			# shellcheck disable=SC2046 # words
			try_on "$(kind_of "$flag")" "$command" $(operands "$command") -i "$input" "--$flag"
		done
	done
	look_at "$command"
done

if grep -q '^command	merge' tables; then
	for gpu in hostile.grt ./ftrace*.txt ./bpftrace*.txt; do
		try_on text merge --cpu annotate.txt --gpu "$gpu"
		for flag in $(flags merge); do
			try_on "$(kind_of "$flag")" merge --cpu annotate-long.txt --gpu "$gpu" "--$flag"
		done
	done
	look_at merge
fi

# That names were not simply left out.
for input in hostile.grt bpftrace.txt kernlog.txt ftrace.txt annotate.txt; do
	run dump -i $input
	expect "dump tells the name of $input, escaped" 0 '\\x1b\]0;owned\\x07'
done
run dump -i bpftrace.txt
check "and markup as it is" says '<script>alert'

# Numbers that are far beyond all before them, of which each would take memory.
"$GRTRACE_BUILD/tests/cli/traces" far far.grt
for command in report "report --by stack" flame; do
	# shellcheck disable=SC2086 # words
	run $command far.grt
	expect "$command: definitions that are not believed" 0 \
		'^ *19 definitions of stacks and names were invalid or lost$'
done

plan
