#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests/vm/rings.sh runs in the guest: two GPUs of one driver, and more rings than
# any table has places for, as BPF and the kernel module tell them, against what the
# software GPUs say themselves.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
cd /tmp || exit 1
player=$GRTRACE_BUILD/tools/softgpu-run

# The named columns of a CSV with a header.
csv_columns() { # FILE COLUMN...
	awk -F, -v want="${*:2}" 'NR == 1 { n = split(want, w, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[w[i]], i < n ? " " : "\n" }' "$1"
}

card_of() { # ADDRESS
	basename "$(find "/sys/devices/platform/$1/drm" -maxdepth 1 -name 'card*')"
}

# Every GPU of the module at once: one file of truth for each, PREFIX.ADDRESS.csv.
play_all() { # PREFIX OPTIONS OF softgpu-run...
	local gpu node
	for node in /sys/devices/platform/grtrace_softgpu.*/drm/renderD*; do
		gpu=${node%/drm/*}
		gpu=${gpu##*/}
		"$player" -q -p steady "${@:2}" --device "/dev/dri/${node##*/}" -o "$1.$gpu.csv" &
	done
	wait
}

jobs_of() { # FILE CTX SEQNO: which, sorted
	csv_columns "$1" "$2" "$3" | sort
}

dump_jobs() { # of JSON lines
	sed -n 's/.*"type":"COMPLETE".*"ctx":\([0-9]*\),"seqno":\([0-9]*\).*/\1 \2/p' | sort
}

# Two GPUs of one driver with rings of the same names: the jobs of each, by every name that it has.
two_gpus() { # SOURCE
	local gpu name number
	insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" cards=2 gfx=1 compute=1 sdma=0 video=0
	"$GRTRACE" record -e "$1" -o two.grt -- bash "$0" play_all two -j 40 2>err
	for gpu in grtrace_softgpu.0 grtrace_softgpu.1; do
		number=$(card_of $gpu)
		for name in $gpu "$number" "${number#card}"; do
			"$GRTRACE" report two.grt --by job --top 0 --csv --device "$name" >two.csv 2>>err
			output=$(cat err two.csv)
			check "$1, two GPUs: the jobs of $gpu by --device $name as it says itself" \
				test "$(jobs_of two.csv ctx seqno)" = "$(jobs_of two.$gpu.csv ctx seqno)"
		done
		output=$("$GRTRACE" dump --json --device $gpu two.grt)
		check "$1, two GPUs: the same of dump, $gpu" \
			test "$(dump_jobs <<<"$output")" = "$(jobs_of two.$gpu.csv ctx seqno)"
		"$GRTRACE" export -f jsonl --device $gpu two.grt 2>>err >two.jsonl
		check "$1, two GPUs: the same of an export, $gpu" \
			test "$(dump_jobs <two.jsonl)" = "$(jobs_of two.$gpu.csv ctx seqno)"
		output=$("$GRTRACE" timeline --json --device $gpu two.grt | sed -n 's/.*"joined": \([0-9]*\).*/\1/p')
		check "$1, two GPUs: as many in timeline, $gpu" test "$output" = "$(jobs_of two.$gpu.csv ctx seqno | wc -l)"
	done
	output=$("$GRTRACE" report two.grt --by ring --csv 2>>err | csv_columns - gpu device_name | sort -u)
	check "$1, two GPUs: the card of each" \
		test "$output" = "$(for gpu in grtrace_softgpu.0 grtrace_softgpu.1; do echo $gpu "$(card_of $gpu)"; done)"
	output=$("$GRTRACE" report two.grt --device card63 2>&1)
	status=$?
	check "$1, two GPUs: one that is not there" test $status = 1
	check "$1, two GPUs: and those that are" says 'there are grtrace_softgpu\.[01], grtrace_softgpu\.[01]'
	"$GRTRACE" record -e "$1" --device grtrace_softgpu.1 -o one.grt -- bash "$0" play_all two -j 40 2>err
	if [ "$1" = drm ]; then
		"$GRTRACE" report one.grt --by job --top 0 --csv >two.csv 2>>err
		check "$1, two GPUs: one of them recorded" \
			test "$(jobs_of two.csv ctx seqno)" = "$(jobs_of two.grtrace_softgpu.1.csv ctx seqno)"
	fi
	rmmod grtrace_softgpu
}

# 1,088 rings, 256 at a time, then 64. No two have a name in common: a ring at the address of an
# earlier one is told from it by its device and its name.
cards_come_and_go() {
	local round
	for round in 1 2 3 4 5; do
		insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" \
			cards=$((round < 5 ? 8 : 2)) gfx=8 compute=8 sdma=8 video=8 first=$((8 * round))
		play_all "many$round" -j 32 -r 4000 -t 20us --rings gfx,compute,sdma,video
		rmmod grtrace_softgpu
	done
}

many_rings() {
	local file source
	"$GRTRACE" record -e kmod -o kmod.grt -- "$GRTRACE" record -e drm -o drm.grt -- \
		bash "$0" cards_come_and_go 2>err
	for file in many?.*.csv; do
		csv_columns "$file" ring | sort | uniq -c | sed "s/\$/ ${file#many?.}/; s/\.csv$//"
	done | awk '{ print $1, $2, $3 }' | sort >rings.truth
	check "many rings: 1,088 by the GPUs themselves" test "$(wc -l <rings.truth)" = 1088
	for source in drm kmod; do
		"$GRTRACE" report $source.grt --by job --top 0 --csv >all.csv 2>>err
		csv_columns all.csv ring ring_name gpu | sort | uniq -c | awk '{ print $1, $3, $4 }' | sort >rings.told
		output=$(cat err; diff rings.truth rings.told | head -n 20)
		check "$source, many rings: each has its number" \
			test "$(csv_columns all.csv ring | sort -u | grep -c .)" = 1088
		check "$source, many rings: the jobs of each ring" cmp -s rings.truth rings.told
	done
}

# What records is a program: it calls one of these.
case ${1:-} in
play_all | cards_come_and_go)
	"$@"
	exit
	;;
esac

modprobe gpu_sched
modprobe drm_kms_helper
insmod "$GRTRACE_MODULES/grtrace.ko" && insmod "$GRTRACE_MODULES/grtrace_drm_bridge.ko"
run doctor amdgpu
check "doctor: amdgpu's source needs amdgpu, not the DRM scheduler alone" \
	says '^  amdgpu +NO +no GPU of amdgpu on this system'
for source in drm kmod; do
	two_gpus $source
done
many_rings
check "no complaint of the kernel" test -z "$(dmesg | grep -E 'BUG|WARNING|Oops|Call Trace')"
plan
