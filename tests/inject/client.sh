#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Another client of CUPTI that takes the activity buffers for a time, as PyTorch's profiler: what it had is counted and
# said, what was before and behind is whole, and it loses nothing by us.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"

client() { # SCENE [NUMBER]
	rm -rf out.grt
	output=$(CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt timeout 120 "$MOCK/client" "$@" 2>&1)
	status=$?
	happened=$output
	records out.grt
	check "$1: the program ends well" exits 0
	check "$1: the recording adds up" fact '^# faults=0 missing=0 finished=1 balance=ok'
}
kernels() { # NAME
	awk -v name="$1" '$1 == "G" && $3 == "kernel" && $7 == name' got | wc -l
}
printed() { # NAME, the sum of all lines
	awk -v name="$1" '$1 == name { n += $2 } END { print n + 0 }' <<<"$output"
}
# Of the last note: launches that have no record.
missing() {
	sed -n 's/.*inferred: another CUPTI client .* held .* s.*: \([0-9]*\) launches have no record.*/\1/p' facts | tail -n 1
}
launched() { # in the recording, and those that have a record
	awk '$1 == "L" && $4 == 33075' got | wc -l
}
all_kernels() {
	grep -c '^G [0-9]* kernel' got
}

client once
check "once: kernels before and after are complete" test "$(kernels before) $(kernels after)" = "100 100"
check "once: the client got what is not in the recording" test $((client_got = $(printed client))) -gt 100 -a \
	$(($(kernels during) + client_got)) = "$(printed during)"
check "once: these are counted" test "$(missing)" = "$client_got"
check "once: there is one note" test "$(grep -c 'another CUPTI client' facts)" = 1
run report --by kernel out.grt
check "once: report says it" says 'another CUPTI client \(such as torch.profiler\) held CUPTI.s activity buffers for [0-9.]+ s'
# to a tenth of a second
held_as_long() { # TEXT
	awk -v said="$(sed -n 's/.*activity buffers for \([0-9.]*\) s.*/\1/p' <<<"$1" | tail -n 1)" '$1 == "held" { least = $2; most = $3 }
		END { exit !(said && said * 1000 >= least - 60 && said * 1000 <= most + 60) }' <<<"$happened"
}
check "once: for as long as the client had them" held_as_long "$output"
check "once: report counts the same launches" says "^.*$client_got launches have no kernel in the trace"

client twice
check "twice: kernels before and after are complete" test "$(kernels before) $(kernels after)" = "100 200"
check "twice: launches without a record are counted" test "$(missing)" = $(($(launched) - $(all_kernels)))
check "twice: for both times" fact 'activity buffers for [0-9.]+ s, 2 times: '
check "twice: for as long as that" held_as_long "$(cat facts)"

client brief
check "brief: kernels before and long after are complete" test "$(kernels before) $(kernels after)" = "100 100"
check "brief: it is noticed when it is over, and counted" test "$(missing)" = $(($(launched) - $(all_kernels))) -a "$(missing)" -lt 40

client unended
check "unended: what was before is whole" test "$(kernels before)" = 100
check "unended: the client got its records until the end" test $(($(kernels during) + $(printed client))) = "$(printed during)"
check "unended: the others are counted" test "$(missing)" = "$(printed client)"

client none
check "none: all is there" test "$(kernels before) $(kernels after)" = "100 100"
check "none: there is no note" test "$(grep -c 'another CUPTI client' facts)" = 0

# A CUPTI that does not tell whether somebody records kernels: that is said.
export MOCK_BOTH_KINDS=1
client twice
check "without an answer: it is said that the end is not known" fact 'does not tell when the other client is done'
check "without an answer: the second time nothing is taken from the client" test \
	"$(grep '^client' <<<"$output" | tail -n 1 | cut -d ' ' -f 2)" -ge 140
unset MOCK_BOTH_KINDS

# From CUDA 13.3 on CUPTI may have several subscribers, where the environment asks for it.
export MOCK_VERSION=130300 GRTRACE_CUPTI_API=2
client beside
check "one of several: it may subscribe while the recording runs" says '^subscribed 0$'
check "one of several: it gets its kernels and calls" test "$(printed client) $(printed calls)" = "$(printed during) $(printed during)"
check "one of several: the recording has all kernels" test "$(kernels before) $(kernels during) $(kernels after)" = "100 $(printed during) 100"
check "one of several: all have their launch" test "$("$GRTRACE_BUILD/tests/inject/joined" out.grt | grep -oE -m 1 "[ ]matched=[0-9]+")" = " matched=$(all_kernels)"
check "one of several: nothing is said" test "$(grep -c 'what=[45]' facts)" = 0
check "one of several: time stamps are converted" fact 'what=3 .* version=130300 clock=2'
check "one of several: CUPTI is used as it wants it" says '^faults 0$'
unset GRTRACE_CUPTI_API
# Without being asked, where another one is there.
client first
check "the client was first: it gets its kernels" test "$(printed client)" = $((100 + $(printed during)))
check "the client was first: the recording has all kernels" test "$(kernels before) $(kernels during) $(kernels after)" = "100 $(printed during) 100"
rm -rf out.grt
output=$(CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt "$MOCK/client" alone 2>&1)
check "the client was first and allows no other: it gets its kernels" test "$(printed client)" = $((100 + $(printed during)))
check "the client allows no other: one line says so" test "$(grep -c '^grtrace: CUDA is not traced in process' <<<"$output")" = 1
records out.grt
check "the client allows no other: the recording says so" fact 'what=4 .* another tool uses CUPTI'

# A client that uses functions without a subscriber takes nothing from the recording, and gets nothing.
export GRTRACE_CUPTI_API=2
client once
check "an older client: it gets nothing" test "$(printed client)" = 0
check "an older client: the recording has all kernels" test "$(kernels before) $(kernels during) $(kernels after)" = "100 $(printed during) 100"
# An older driver, other stamps, kinds of records that are refused, and without being asked: as before CUDA 13.3.
for how in MOCK_OLD_DRIVER=1 MOCK_RAW_STAMPS=1 MOCK_REFUSES_KINDS=1 GRTRACE_CUPTI_API=; do
	export "${how?}"
	client once
	check "$how: the client got what is not in the recording" test "$(printed client)" -gt 100 -a \
		$(($(kernels during) + $(printed client))) = "$(printed during)"
	check "$how: these are counted" test "$(missing)" = "$(printed client)"
	unset "${how%=*}"
done
# A recording of the running program, in which a client has subscribed.
GRTRACE=$GRTRACE_PLAIN/grtrace
begin_waiting env CUDA_INJECTION64_PATH="$LIBRARY" "$MOCK/client" waiting
run record -e cuda -p "$pid" -d 0.5 -o r.grt
expect "recorded beside a client while it runs" 0 '[1-9][0-9]* events, 0 lost'
read -r all bad < <(whole r.grt)
check "while it runs: no kernel is missing between the first and the last" test "$all" -gt 0 -a "$bad" = 0
run record -e cuda -p "$pid" -d 0.2 -o r.grt
expect "a second time" 0 '[1-9][0-9]* events, 0 lost'
finish
check "while it runs: the client gets its kernels" test "$(printed client)" = "$(printed during)"
check "while it runs: CUPTI is used as it wants it" says '^faults 0$'
unset MOCK_VERSION

run record -e cuda -o r.grt "$MOCK/client" once
check "record says it" says 'another CUPTI client \(such as torch.profiler\) held'
plan
