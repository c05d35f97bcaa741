#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests/vm/nobtf.sh runs in the guest.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
cd /tmp || exit 1
jobs=200

# The scheduler as Debian builds it, and the same without its types (a section of another name) or signature.
scheduler=$(modinfo -n gpu_sched)
case $scheduler in
*.xz) xz -dc "$scheduler" >with.ko ;;
*) cp "$scheduler" with.ko ;;
esac
sed 's/\x00\.BTF\x00/\x00.XTF\x00/' with.ko | head -c -28 >without.ko

events() { # RECORDING TYPE FIELDS: values, in order of the job
	"$GRTRACE" dump "$1" --type "$2" | awk -v fields="$3" '{
		n = split(fields, want, "|")
		for (i = 4; i <= NF; i++)
			if (split($i, pair, "=") == 2)
				value[pair[1]] = pair[2]
		line = value[want[1]]
		for (i = 2; i <= n; i++)
			line = line "," value[want[i]]
		print line
	}' | sort -t, -n -k1,1 -k2,2
}

truth() { # CSV COLUMNS
	awk -F, -v columns="$2" '
		NR == 1 { n = split(columns, want, "|"); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ line = $at[want[1]]; for (i = 2; i <= n; i++) line = line "," $at[want[i]]; print line }' "$1" |
		sort -t, -n -k1,1 -k2,2
}

record_jobs() { # with|without PATTERN
	local name=$1-$2 type
	run record -e drm -o "$name.grt" -- "$GRTRACE_BUILD/tools/softgpu-run" -q -j $jobs -p "$2" -o "$name.csv"
	expect "$2, $1 BTF: recorded, nothing lost" 0 'events, 0 lost'
	truth "$name.csv" 'ctx|seqno' >"$name.truth"
	check "$2, $1 BTF: the software GPU tells of every job" test "$(wc -l <"$name.truth")" = $jobs
	for type in submit commit end complete; do
		events "$name.grt" $type 'ctx|seqno' >"$name.$type"
		check "$2, $1 BTF: $type of these jobs and no others" cmp "$name.truth" "$name.$type"
	done
}

try() { # with|without
	insmod "$1.ko" && insmod "$GRTRACE_BUILD/kernel/grtrace_softgpu.ko" || exit 1
	record_jobs "$1" burst
	record_jobs "$1" dependency-chain
	events "$1-dependency-chain.grt" wait_dep 'ctx|seqno|dep_ctx|dep_seqno' >"$1.deps"
	check "every job but the first waits, $1 BTF" test "$(wc -l <"$1.deps")" = $((jobs - 1))
	check "for one before it, $1 BTF" test "$(cut -d, -f3,4 "$1.deps" | sort -u | wc -l)" = $((jobs - 1))
	rmmod grtrace_softgpu gpu_sched
}

try with
check "nothing is left out with BTF" test "$(grep -c drm_without_btf with-burst.grt/metadata)" = 0
try without
check "the recording says what it had to do without" grep -q 'drm_without_btf = "drm_sched"' \
	without-burst.grt/metadata
run report without-burst.grt --by ring --csv
check "rings have their names" says ',graphics,gfx_0,'
plan
