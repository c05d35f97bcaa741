# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# For _softgpu_guest.sh, which has $player and check(): what `report --path` says a workload would be shorter by
# if the jobs of a ring took half the time, against the workload played with such jobs.

# shellcheck disable=SC2154,SC2034,SC2016 # of the script that sources this

# The workloads, a name in front; RING:TIME stands for a duration, of which the ring's is changed.
path_workloads() {
	cat <<-'END'
		# one ring
		one 0 gfx_0 gfx_0:4ms
		one 0 gfx_0 gfx_0:6ms
		one 0 gfx_0 gfx_0:4ms
		# a job waits for one of another ring, and that for one of a third
		chain 0 gfx_0 gfx_0:5ms id=a
		chain 0 sdma0 sdma0:3ms id=b after=a
		chain 0 comp_0 comp_0:4ms id=c after=b
		chain 0 gfx_0 gfx_0:2ms after=c
		# two rings at once, of which one is soon the shorter
		beside 0 gfx_0 gfx_0:9ms id=a
		beside 0 comp_0 comp_0:7ms id=b
		beside 0 sdma0 sdma0:3ms after=a,b
		# a dependency that costs nothing until the ring before it is faster
		hidden 0 gfx_0 gfx_0:6ms
		hidden 0 gfx_0 gfx_0:2ms id=a
		hidden 0 comp_0 comp_0:7ms id=b
		hidden 0 gfx_0 gfx_0:3ms after=b
		# rounds, in each of which two rings work for a third
		rounds 0 sdma0 sdma0:1ms id=a
		rounds 0 gfx_0 gfx_0:3ms id=b after=a
		rounds 0 comp_0 comp_0:2ms id=c after=a
		rounds 0 sdma0 sdma0:1ms id=d after=b,c
		rounds 0 gfx_0 gfx_0:3ms id=e after=d
		rounds 0 comp_0 comp_0:5ms id=f after=d
		rounds 0 sdma0 sdma0:1ms after=e,f
	END
}

# A workload with the durations of a ring halved.
path_workload() { # NAME [RING]
	path_workloads | awk -v name="$1" -v ring="${2:-}" '$1 == name {
		split($4, d, ":")
		$4 = d[1] == ring ? d[2] * 500 "us" : d[2]
		$1 = ""
		print substr($0, 2)
	}'
}

# From the first submit to the last end, in ns, by what the software GPU says.
path_truth() {
	csv_columns "$1" submit end | awk '!from || $1 < from { from = $1 } $2 > to { to = $2 } END { print to - from }'
}

# What the report says is shorter, ns.
path_says() { # RING
	"$GRTRACE" report path.grt --path --csv 2>report.err |
		awk -F, -v ring="$1" 'NR > 1 && $1 == ring && $2 == "job" { n += $9 } END { print n + 0 }'
}

# A workload, its rings each with half the time.
path_changes() { # SOURCE NAME
	local ring all is
	path_workload "$2" >work.txt
	"$GRTRACE" record -e "$1" -o path.grt -- "$player" -q -o truth.csv work.txt 2>err
	all=$(path_truth truth.csv)
	for ring in $(path_workloads | awk -v name="$2" '$1 == name && !seen[$3]++ { print $3 }'); do
		path_workload "$2" "$ring" >half.txt
		"$player" -q -o half.csv half.txt 2>>err
		is=$((all - $(path_truth half.csv)))
		echo "$2 $ring $all $is $(path_says "$ring")" | awk '{ d = $4 - $5; if (d < 0) d = -d
			printf "%s %s: %.3f ms, says %.3f ms shorter, is %.3f ms: %.2f %%\n", $1, $2, $3 / 1e6, $5 / 1e6, $4 / 1e6, d / $3 * 100 }'
	done
}

paths() { # SOURCE NAME...
	local source=$1 name
	shift
	for name; do
		path_changes "$source" "$name"
	done >path.said
	output=$(cat path.said)
	check "$source, --path: all changes are right to 5 % of the run" \
		awk '$(NF - 1) > 5 { bad = 1 } END { exit bad || NR < 3 }' path.said
	check "$source, --path: half of them to 2 %" awk '$(NF - 1) <= 2 { good++ } END { exit 2 * good < NR }' path.said
}
