# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# _lib.sh: what scripts of this directory share: checks that print TAP, and the
# stand-in for the kernel module (tests/cli/fake_module.c).

checks=0

# The last line that a command printed and its exit status, for check().
output=
status=0

ok() { # NAME
	checks=$((checks + 1))
	echo "ok $checks - $1"
}

not_ok() { # NAME [WHY]
	checks=$((checks + 1))
	echo "not ok $checks - $1"
	printf '%s\n' "${2:-}" "exit status $status, output:" "$output" | sed 's/^/# /'
}

check() { # NAME COMMAND...: passes when the command does
	local name=$1
	shift
	if "$@"; then ok "$name"; else not_ok "$name" "failed: $*"; fi
}

# Runs grtrace; its output (both) and status are kept for the checks after it.
run() { # ARGS...
	idle
	output=$("$GRTRACE" "$@" 2>&1 </dev/null)
	status=$?
	keep_json "$@"
}

json_dir=
json_kept=0

# What a command wrote with --json is held against its schema by plan(), without what it said beside it.
keep_json() { # ARGS...
	[ "$status" = 0 ] && [[ " $* " == *" --json "* ]] && [ "${output:0:1}" = '{' ] || return 0
	[ -n "$json_dir" ] || json_dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-json.XXXXXX")
	json_kept=$((json_kept + 1))
	grep -vE '^(grtrace|monitor)[: ]|^  (try|next): ' <<<"$output" >"$json_dir/$json_kept.$1"
}

check_json() {
	local why
	# a guest has no Python
	[ $json_kept -gt 0 ] && command -v python3 >/dev/null || return 0
	why=$(cd "$json_dir" && for file in *; do echo "${file##*.}:$file"; done | xargs "$GRTRACE_SRC/tests/cli/_schema.py" 2>&1)
	case $? in
	0) ok "each of $json_kept outputs of --json is as its schema says" ;;
	4) ok "outputs of --json # SKIP $why" ;;
	*) not_ok "each of $json_kept outputs of --json is as its schema says" "$why" ;;
	esac
	rm -rf -- "$json_dir"
}

exits() { # STATUS
	[ "$status" = "$1" ]
}

# Whether the last output has a line that matches.
says() { # REGEX
	grep -qE -- "$1" <<<"$output"
}

# Of the CSV in the last output: a cell of the first row whose first cell is KEY, by its column's name.
cell() { # KEY COLUMN
	awk -F, -v key="$1" -v column="$2" '
		at { if ($1 == key) { print $at; exit } next }
		{ for (i = 1; i <= NF; i++) if ($i == column) at = i }' <<<"$output"
}

# Packed, each of the files is dumped and reported as it is plain.
packed_alike() { # FILE...
	local file how wrong=
	for file in "$@"; do
		"$GRTRACE" dump --json "$file" >plain.dump 2>/dev/null
		"$GRTRACE" report --json "$file" 2>/dev/null | sed "s|$file|FILE|" >plain.report
		[ -s plain.dump ] && [ -s plain.report ] || wrong+="$file: nothing is read"$'\n'
		for how in gzip zstd; do
			$how -c <"$file" >packed.in
			"$GRTRACE" dump --json packed.in 2>/dev/null | cmp -s - plain.dump || wrong+="$file: $how: dump"$'\n'
			"$GRTRACE" report --json packed.in 2>/dev/null | sed 's|packed.in|FILE|' | cmp -s - plain.report ||
				wrong+="$file: $how: report"$'\n'
		done
	done
	# shellcheck disable=SC2034 # check() prints it
	output=$wrong
	check "packed by gzip and zstd they are what they are: $# files" silent
}

silent() {
	[ -z "$output" ]
}

# One line per call of run(): status and text at once.
expect() { # NAME STATUS REGEX...: the output matches each of them
	local name=$1 wanted=$2 regex
	shift 2
	exits "$wanted" || { not_ok "$name" "wanted status $wanted" && return; }
	for regex; do
		says "$regex" || { not_ok "$name" "wanted /$regex/" && return; }
	done
	ok "$name"
}

skip_all() { # REASON
	echo "1..0 # SKIP $1"
	exit 0
}

# After a first attempt: ends the test where BPF cannot be had.
need_bpf() {
	if says 'built without it'; then
		skip_all "built without BPF: tools/setup build, then make"
	elif exits 3 && [ "$(id -u)" != 0 ]; then
		skip_all "only root may load BPF programs: sudo tests/run"
	elif says 'PID namespace'; then
		skip_all "it needs the first PID namespace: run it outside of the container"
	fi
}

plan() {
	check_json
	echo "1..$checks"
}

fake_pid=

# Starts the stand-in below ./fake and points grtrace at it.
fake_start() { # CPUS PACKETS [EVENTS]
	fake_stop
	rm -rf fake fake.in
	mkfifo fake.in fake.out
	"$GRTRACE_BUILD/tests/cli/fake_module" fake "$@" <fake.in >fake.out &
	fake_pid=$!
	exec 7>fake.in
	read -r _ <fake.out
	rm -f fake.in fake.out
	export GRTRACE_DEBUGFS=$PWD/fake
}

fake_stop() {
	[ -n "$fake_pid" ] || return 0
	exec 7>&-
	wait "$fake_pid"
	fake_pid=
}

# Waits until the stand-in has done all that was written to it.
idle() {
	[ -n "$fake_pid" ] || return 0
	settled control '^(running|stopped)$' && settled config '^enable='
}

# Waits until a line of shell is true. The bound is for faults: no machine is as slow as that.
await() { # CONDITION
	local bound=$((SECONDS + 120))
	until eval "$1"; do
		[ $SECONDS -lt $bound ] || { echo "# in vain: $1" && return 1; }
		sleep 0.02
	done
}

# The same, for one effect.
settled() { # FILE REGEX
	await "grep -qE -- '$2' 'fake/$1' 2>/dev/null"
}

# Waits until a recorder has told from when on its recording is whole: what happens now is in it.
window_begun() { # RECORDING
	await "grep -qs '_window = \"from=' '$1/metadata'"
}
