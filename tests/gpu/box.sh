#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# box.sh BUILD: a black box beside programs that fail on a card: an illegal access, a process that a signal ends, a
# kernel that never ends, a thread that waits for its own lock. The box is to name the right trigger, process and
# function, and to have its bundle on disk 2 s after it met the incident. It needs a card, nvcc with NVTX's headers, and
# root. Exit status 0: all were right.

set -u
build=$(realpath "${1:?box.sh BUILD}")
here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
grtrace=$build/grtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0
export PATH=$PATH:/usr/local/cuda/bin
if [ -x "${FAULTS:-}" ]; then
	cp "$FAULTS" faults
else
	nvcc -O1 -g -lineinfo -o faults "$here/faults.cu" || exit 1
fi

check() { # NAME COMMAND...
	if "${@:2}"; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		failed=1
	fi
}
says() { # REGEX FILE
	grep -qE -- "$1" "$2"
}

scene() { # FAULT TRIGGER SOURCES
	local pid at met late made start recorder i
	rm -rf box.grt
	"$grtrace" record -e "$3" --last 20 --after 0.3 --on "$2" -o box.grt -- ./faults "$1" >out 2>said </dev/null &
	recorder=$!
	for ((i = 0; i < 150; i++)); do
		grep -qs 'state = "complete"' box.grt/snapshot_000001/metadata && break
		kill -0 $recorder 2>/dev/null || break
		sleep 0.1
	done
	pid=$(awk '$1 == "pid" { print $2 }' out)
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
	wait $recorder 2>/dev/null
	echo "# $1: $(grep '^grtrace record' said | head -n 3 | tr '\n' '|')"
	at=$(awk '$1 == "pid" { print $4 }' out)
	"$grtrace" report --incident box.grt/snapshot_000001 >incident 2>&1
	sed 's/^/#   /' incident | grep -vE '^#       [a-z_0-9.]+\+0x' | head -n "${LINES_SHOWN:-60}"
	# shellcheck disable=SC2001 # a list
	check "$1: met by ${2//,/ or }" says "^incident: ($(sed 's/>[^,]*//g; s/,/|/g' <<<"$2"))\$" incident
	met=$(sed -nE 's/.*incident_of = "time=([0-9]+) .*/\1/p' box.grt/snapshot_000001/metadata 2>/dev/null)
	check "$1: of the right process ($pid)" grep -q "incident_of = \"time=[0-9]* pid=$pid " box.grt/snapshot_000001/metadata
	check "$1: with the function that failed" says "(^|[^a-z])(${4:-$1})([^a-z]|\$)" incident
	# the recording's first file is made when the incident is met, its description last when all is there
	made=$(stat -c %.9W box.grt/snapshot_000001/cuda_* 2>/dev/null | sort -n | head -n 1)
	start=$(sed -nE 's/.*clock_start = "monotonic=([0-9]+) realtime=([0-9]+) .*/\1 \2/p' box.grt/snapshot_000001/metadata 2>/dev/null)
	late=$(awk -v at="$met" -v made="$made" -v clock="$start" 'BEGIN { split(clock, c, " "); printf "%d\n", made * 1000 - (at - c[1] + c[2]) / 1000000 }')
	check "$1: on disk at most 2 s after it was met ($late ms; met $(((${met:-0} - ${at:-0}) / 1000000)) ms after the fault)" test "${late:-9999}" -le 2000
	"$grtrace" report box.grt/snapshot_000001 >report 2>&1
	check "$1: a whole recording" says 'every event is accounted for' report
}

# What each was: the stack is that of the thread's last launch.
scene killed 'exit-by-signal' cuda
scene endless 'step>2s' cuda
scene deadlock 'step>2s' cuda
scene illegal 'xid' cuda,nvidia
exit $failed
